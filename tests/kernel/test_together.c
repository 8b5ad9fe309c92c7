/* Which accesses of neighbouring elements one access can do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/together.h"

static const char head[] =
    "kernel k lanes 1 { global @1:u8 global @2:f64 global @3:f32 written once global @4:i32 written "
    "global @5:bool arg %1:i64 arg %2:i64 if either true { for_all %3:i64 < 16 { "
    "%4:i64 = mul %3, 4 %5:i64 = mul %3, %1 %6:i64 = add %5, %4 ";

typedef struct {
    const char *body;
    uint32_t groups, factors;
} example;

#define LOADS(base)                                                                                                    \
    "%10:i64 = add " base ", 1 %11:i64 = add " base ", 2 %12:i64 = add 3, " base " %13:u8 = load @1[" base             \
    "] %14:u8 = load @1[%10] %15:u8 = load @1[%11] %16:u8 = load @1[%12] "

static const example examples[] = {
    {LOADS("%6"), 1, 1},
    {LOADS("%4"), 1, 0},
    {"%7:i64 = mul %3, 8 %8:i64 = add %7, -4 " LOADS("%8"), 1, 0},
    /* the first of them is no multiple */
    {"%8:i64 = add %6, 1 " LOADS("%8"), 0, 0},
    {"%7:i64 = mul %3, 2 " LOADS("%7"), 0, 0},
    {LOADS("%3"), 0, 0},
    {"%7:i64 = mul %1, %2 " LOADS("%7"), 1, 1},
    /* one is missing, or elsewhere */
    {"%10:i64 = add %4, 1 %11:i64 = add %4, 3 %13:u8 = load @1[%4] %14:u8 = load @1[%10] %15:u8 = load @1[%11]", 0, 0},
    {"%7:bool = lt %3, 3 if %7 { " LOADS("%4") "}", 1, 0},
    {"%7:bool = lt %3, 3 %9:u8 = load @1[%4] if %7 { %10:i64 = add %4, 1 %11:u8 = load @1[%10] }", 0, 0},
    /* two of eight bytes */
    {"%10:i64 = add %4, 1 %11:f64 = load @2[%10] %12:f64 = load @2[%4]", 1, 0},
    /* stores, in any order */
    {"%10:i64 = add %4, 1 %11:i64 = add %4, 2 %12:i64 = add %4, 3 store @3[%11] = 1.0:f32 store @3[%4] = 2.0:f32 "
     "store @3[%12] = 3.0:f32 store @3[%10] = 4.0:f32",
     1, 0},
    /* others may see it, or it is no number */
    {"%10:i64 = add %4, 1 %11:i64 = add %4, 2 %12:i64 = add %4, 3 store @4[%11] = 1:i32 store @4[%4] = 2:i32 "
     "store @4[%12] = 3:i32 store @4[%10] = 4:i32",
     0, 0},
    {"%10:i64 = add %4, 1 %11:i64 = add %4, 2 %12:i64 = add %4, 3 %13:bool = load @5[%4] %14:bool = load @5[%10] "
     "%15:bool = load @5[%11] %16:bool = load @5[%12]",
     0, 0},
    /* lanes may leave in between */
    {"check 1: false, %4, 0, 0 " LOADS("%4"), 0, 0},
};

static void groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
        arena a;
        const char *message = "", *why = "";
        k_togethers found = {0};
        arena_init(&a, NULL);
        kernel *k = k_parse(&a, arena_printf(&a, "%s%s } } }", head, examples[i].body), &message);
        if (!k || !k_verify(k, &a, &why))
            fail_msg("%s: %s%s", examples[i].body, message, why);
        for (k_ref r = 1; r < k->stmt.n; r++)
            if (k->stmt.at[r].op == K_IF && k->stmt.at[r].sub == K_EITHER)
                k_find_together(k, r, &a, &found);
        if (found.group.n != examples[i].groups || found.factor.n != examples[i].factors)
            fail_msg("%s: %u, %u", examples[i].body, found.group.n, found.factor.n);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(groups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
