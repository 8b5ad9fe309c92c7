/* Which accesses of a loop's rounds are neighbours, and when threads should take several neighbouring elements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/pack.h"

static const char head[] =
    "kernel k lanes 8 { global @1:f32 global @2:f32 written once global @3:f32 written global @4:bool "
    "shared @5:f32[64] arg %1:i64 arg %2:i64 for_all %3:i64 < 16 { %4:i64 = mul %3, 4 "
    "for %5:i64 = 0 to 4 pack { ";

typedef struct {
    const char *body;
    int packed; /* accesses */
    bool pays;
} example;

static const example examples[] = {
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%6] store @2[%6] = %7", 2, true},
    {"%6:i64 = add %5, %4 %8:i64 = add %1, %6 %9:i64 = add %8, %2 %7:f32 = load @1[%9] store @2[%9] = %7", 2, true},
    {"%7:f32 = load @1[%5]", 1, true},
    {"%6:i64 = add %4, %5 %7:f32 = load @5[%6] store @2[%6] = %7", 1, true},
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%6] %8:f32 = load @1[0] %9:f32 = add %7, %8 store @2[%6] = %9", 2, true},
    /* one of them somewhere else */
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%6] %8:i64 = add %6, 1 store @2[%8] = %7", 2, false},
    {"%6:i64 = add %4, %5 %8:i64 = mul %5, 2 %7:f32 = load @1[%8] store @2[%6] = %7", 1, false},
    {"%6:i64 = add %5, %5 %7:f32 = load @1[%6]", 0, false},
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%4] store @2[%6] = %7", 1, false},
    {"%6:i64 = add %4, %5 %8:bool = lt %6, %1 if %8 { %7:f32 = load @1[%6] } store @2[%6] = 1.0:f32", 1, false},
    /* others may see it */
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%6] store @3[%6] = %7", 1, false},
    {"%6:i64 = add %4, %5 %7:f32 = load @3[%6] store @2[%6] = %7", 1, false},
    {"%6:i64 = add %4, %5 %7:f32 = load @2[%6] store @2[%6] = %7", 0, false},
    {"%6:i64 = add %4, %5 %7:bool = load @4[%6]", 0, false},
    /* the smallest failure is reported */
    {"%6:i64 = add %4, %5 %7:f32 = load @1[%6] check 1: false, %6, 0, 0 store @2[%6] = %7", 2, false},
    {"store @5[%5] = 1.0:f32", 0, false},
};

static void accesses(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
        arena a;
        const char *message = "", *why = "";
        int packed = 0;
        k_ref loop = 0;
        arena_init(&a, NULL);
        kernel *k = k_parse(&a, arena_printf(&a, "%s%s } } }", head, examples[i].body), &message);
        if (!k || !k_verify(k, &a, &why))
            fail_msg("%s: %s%s", examples[i].body, message, why);
        for (k_ref r = 1; r < k->stmt.n; r++)
            loop = k->stmt.at[r].op == K_FOR ? r : loop;
        for (k_ref r = k->stmt.at[loop].body; r; r = k->stmt.at[r].next) {
            k_pack p;
            packed += k_pack_access(k, loop, &k->stmt.at[r], &p);
        }
        if (packed != examples[i].packed || k_packs_pay(k, &a) != examples[i].pays)
            fail_msg("%s: %d", examples[i].body, packed);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accesses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
