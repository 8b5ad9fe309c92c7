/* Sorts of which the first elements alone are read: texts in, texts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/firsts.h"
#include "support/program_text.h"

#define INPUT "extents n\na1 = input [n]f32\n"
#define FIRSTS                                                                                                         \
    "a2 = sort: backpermute safe step [quot(n, 256) * 256] a1 {x1: i64 -> x1}\n"                                       \
    "a3 = sort: reshape step [quot(n, 256), 256] a2\n"                                                                 \
    "a4 = sort: fold commutes step a3 {x1: f32, x2: f32 -> min(x1, x2)}\n"                                             \
    "a5 = sort step keys 1 a4\n"                                                                                       \
    "a6 = sort: map step a1 {x1: f32 -> if quot(n, 256) < 3 then true else !(x1 > a5[safe 2])}\n"                      \
    "a7 = map step a6 {x1: bool -> i64(x1)}\n"                                                                         \
    "a8 = fold commutes step a7 seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"                                                \
    "a9 = sort: pack step [a8[safe]] a6, a1\n"                                                                         \
    "a10 = sort keys 1 a9\n"                                                                                           \
    "a11 = backpermute safe [min(n, 3)] a10 {x1: i64 -> x1}\n"                                                         \
    "output a11\n"

static void firsts_are_looked_for(void **state)
{
    arena a;
    const char *why = NULL;
    (void)state;
    arena_init(&a, NULL);
    ir_program *p = parse(&a, INPUT "s = sort keys 1 a1 t = backpermute safe [min(n, 3)] s {i: i64 -> i} output t");
    opt_take_firsts(p);
    if (!ir_check_program(p, &a, &why))
        fail_msg("%s\n%s", why, print(&a, p));
    assert_string_equal(print(&a, p), INPUT FIRSTS);
    opt_take_firsts(p); /* there is nothing left to do */
    assert_string_equal(print(&a, p), INPUT FIRSTS);
    arena_free(&a);
}

static void other_sorts_stay(void **state)
{
    static const char *const others[] = {
        /* all elements are wanted, here or elsewhere */
        INPUT "s = sort keys 1 a1 output s",
        INPUT "s = sort keys 1 a1 t = backpermute safe [min(n, 3)] s {i: i64 -> i} output s, t",
        INPUT "s = sort keys 1 a1 t = backpermute safe [min(n, 3)] s {i: i64 -> i} "
              "u = generate [1] {i: i64 -> s[0]} output t, u",
        /* as many as the call says, or very many */
        "extents n, k\na1 = input [n]f32\nb = input [k]f32\n"
        "s = sort keys 1 a1 t = backpermute safe [min(n, k)] s {i: i64 -> i} output t, b",
        INPUT "s = sort keys 1 a1 t = backpermute safe [min(n, 1000)] s {i: i64 -> i} output t",
        /* not the first ones */
        INPUT "s = sort keys 1 a1 t = backpermute [3] s {i: i64 -> i + 1} output t",
        /* by comparison, and by two keys */
        INPUT "s = sort a1 {a: f32, b: f32 -> a < b} t = backpermute safe [min(n, 3)] s {i: i64 -> i} output t",
        "extents n\na1 = input [n](f32, i32)\ns = sort keys 2 a1 t = backpermute safe [min(n, 3)] s {i: i64 -> i} "
        "output t",
    };
    (void)state;
    stay(opt_take_firsts, ARRAY_LENGTH(others), others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(firsts_are_looked_for),
        cmocka_unit_test(other_sorts_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
