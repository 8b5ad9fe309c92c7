/* What becomes of scans between transposes: texts in, texts out. What programs mean then, tests/api/test_scan_columns.c
 * and random programs tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/axes.h"
#include "support/program_text.h"

#define MATRIX "extents n, m x = input [n, m]f32 "
#define INPUT                                                                                                          \
    "extents n, m\n"                                                                                                   \
    "a1 = input [n, m]f32\n"
#define TO "backpermute safe [m, n] "
#define FROM "backpermute safe [n, m] "
#define TURN " {i: i64, j: i64 -> j, i} "
#define SUM " {a: f32, b: f32 -> a + b} "
#define SUM_AFTER " {x1: f32, x2: f32 -> x1 + x2}\n"

static const struct {
    const char *before, *after;
} turned[] = {
    {MATRIX "t = " TO "x" TURN "s = scan t" SUM "r = " FROM "s" TURN "output r",
     INPUT "a2 = scan behind 1 a1" SUM_AFTER "output a2\n"},
    /* maps on the way */
    {MATRIX "t = " TO "x" TURN "u = map t {a: f32 -> a * 2.0f32} s = scan right u" SUM "v = map s {a: f32 -> exp(a)} "
            "r = " FROM "v" TURN "output r",
     INPUT "a2 = map a1 {x1: f32 -> x1 * 2.0f32}\n"
           "a3 = scan right behind 1 a2" SUM_AFTER "a4 = map a3 {x1: f32 -> exp(x1)}\n"
           "output a4\n"},
    /* nothing is read, but results are written */
    {"extents n, m t = generate [m, n] {i: i64, j: i64 -> f32(i * 2 + j)} s = scan t" SUM "r = " FROM "s" TURN
     "output r",
     "extents n, m\n"
     "a1 = generate [n, m] {x1: i64, x2: i64 -> f32(x2 * 2 + x1)}\n"
     "a2 = scan behind 1 a1" SUM_AFTER "output a2\n"},
    /* one after the other: all along memory */
    {MATRIX "s = scan x" SUM "t = " TO "s" TURN "u = scan t" SUM "r = " FROM "u" TURN "output r",
     INPUT "a2 = scan a1" SUM_AFTER "a3 = scan behind 1 a2" SUM_AFTER "output a3\n"},
    /* the outermost of three */
    {"extents k, n, m x = input [k, n, m]f32 t = backpermute safe [n, m, k] x {i: i64, j: i64, l: i64 -> l, i, j} "
     "s = scan t" SUM "r = backpermute safe [k, n, m] s {i: i64, j: i64, l: i64 -> j, l, i} output r",
     "extents k, n, m\n"
     "a1 = input [k, n, m]f32\n"
     "a2 = scan behind 2 a1" SUM_AFTER "output a2\n"},
    /* rows of it are folded */
    {MATRIX "t = " TO "x" TURN "s = scan t" SUM "u = map s, t {a: f32, b: f32 -> a - b} f = fold u" SUM "output f",
     INPUT "a2 = scan behind 1 a1" SUM_AFTER "a3 = map a2, a1 {x1: f32, x2: f32 -> x1 - x2}\n"
           "a4 = backpermute safe step [m, n] a3 {x1: i64, x2: i64 -> x2, x1}\n"
           "a5 = fold commutes a4" SUM_AFTER "output a5\n"},
};

/* What stays: rows are along memory; the scan is wanted as it is, too; something may fail. */
static const char *const stays[] = {
    MATRIX "s = scan x" SUM "f = fold s" SUM "output f",
    "extents n, m g = generate [m, n] {i: i64, j: i64 -> f32(i * 2 + j)} s = scan g" SUM "f = fold s" SUM "output f",
    MATRIX "t = " TO "x" TURN "s = scan t" SUM "f = fold s" SUM "output f, s",
    MATRIX "s = scan x" SUM "r = " TO "s" TURN "output r",
    MATRIX "t = " TO "x" TURN "s = scan t" SUM "r = " FROM "s" TURN "output r, s",
    MATRIX "t = " TO "x" TURN "u = map t {a: f32 -> x[i64(a), 0]} s = scan u" SUM "r = " FROM "s" TURN "output r",
    MATRIX "t = " TO "x" TURN "s = scan t {a: f32, b: f32 -> a + x[i64(b), 0]} r = " FROM "s" TURN "output r",
};

static void scans_are_turned(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(turned); k++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, turned[k].before);
        opt_turn_scans(p);
        const char *why = NULL;
        assert_true(ir_check_program(p, &a, &why));
        assert_string_equal(print(&a, p), turned[k].after);
        arena_free(&a);
    }
}

static void others_are_not(void **state)
{
    (void)state;
    stay(opt_turn_scans, ARRAY_LENGTH(stays), stays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_are_turned),
        cmocka_unit_test(others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
