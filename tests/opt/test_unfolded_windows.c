/* Folds of windows of a few elements: texts in, texts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/windows.h"
#include "support/program_text.h"

#define INPUT "extents n, m\na1 = input [n, m]i32\n"
#define SUM "{a: i32, b: i32 -> a + b} "

static void windows_are_unfolded(void **state)
{
    (void)state;
    becomes(opt_unfold_windows,
            INPUT "w = backpermute [n - 2, m, 3] a1 {i: i64, j: i64, k: i64 -> i + k, j} "
                  "f = fold commutes w " SUM "output f",
            "extents n, m\n"
            "a1 = input [n, m]i32\n"
            "a2 = fold: backpermute safe step [n + -2, m] a1 {x1: i64, x2: i64 -> x1, x2}\n"
            "a3 = fold: backpermute safe step [n + -2, m] a1 {x1: i64, x2: i64 -> x1 + 1, x2}\n"
            "a4 = fold: backpermute safe step [n + -2, m] a1 {x1: i64, x2: i64 -> x1 + 2, x2}\n"
            "a5 = fold: map a2, a3, a4 {x1: i32, x2: i32, x3: i32 -> x1 + x2 + x3}\n"
            "output a5\n");
    /* a seed comes first; the last function of the row's elements is theirs */
    becomes(opt_unfold_windows,
            INPUT "w = backpermute safe [n, m, 2] a1 {i: i64, j: i64, k: i64 -> max(i - k, 0), j} "
                  "d = map w {x: i32 -> x * x} f = fold d seed 7i32 {a: i32, b: i32 -> a - b} output f",
            "extents n, m\n"
            "a1 = input [n, m]i32\n"
            "a2 = fold: backpermute safe step [n, m] a1 {x1: i64, x2: i64 -> max(x1, 0), x2}\n"
            "a3 = fold: map step a2 {x1: i32 -> x1 * x1}\n"
            "a4 = fold: backpermute safe step [n, m] a1 {x1: i64, x2: i64 -> max(x1 + -1, 0), x2}\n"
            "a5 = fold: map step a4 {x1: i32 -> x1 * x1}\n"
            "a6 = fold: map a3, a5 {x1: i32, x2: i32 -> 7i32 - (x1 - x2)}\n"
            "output a6\n");
    /* neighbours, of blocks side by side */
    becomes(opt_unfold_windows,
            INPUT "g = generate [n, quot(m, 2), 2] {i: i64, j: i64, k: i64 -> a1[i, j * 2 + k]} "
                  "f = fold commutes g " SUM "output f",
            "extents n, m\n"
            "a1 = input [n, m]i32\n"
            "a2 = fold: generate step [n, quot(m, 2)] {x1: i64, x2: i64 -> a1[x1, x2 * 2]}\n"
            "a3 = fold: generate step [n, quot(m, 2)] {x1: i64, x2: i64 -> a1[x1, x2 * 2 + 1]}\n"
            "a4 = fold: map a2, a3 {x1: i32, x2: i32 -> x1 + x2}\n"
            "output a4\n");
    /* two results; elements that are made */
    becomes(opt_unfold_windows,
            "extents n\na1 = input [n]f32\n"
            "g = generate [n, 2] {i: i64, k: i64 -> a1[safe min(i + k, n - 1)], f32(k)} "
            "f = fold g {a: f32, b: f32, c: f32, d: f32 -> if a >= c then a else c, if a >= c then b else d} output f",
            "extents n\n"
            "a1 = input [n]f32\n"
            "a2 = fold: generate step [n] {x1: i64 -> a1[safe min(x1, n - 1)], 0.0f32}\n"
            "a3 = fold: generate step [n] {x1: i64 -> a1[safe min(x1 + 1, n - 1)], 1.0f32}\n"
            "a4 = fold: map a2, a3 {x1: f32, x2: f32, x3: f32, x4: f32\n"
            "    t1 = x1 >= x3\n"
            "    -> if t1 then x1 else x3, if t1 then x2 else x4}\n"
            "output a4\n");
    /* what is gathered from is computed once for all windows */
    becomes(opt_unfold_windows,
            INPUT "s = map a1 {x: i32 -> x * x} w = backpermute [n - 1, m, 2] s {i: i64, j: i64, k: i64 -> i + k, j} "
                  "f = fold commutes w " SUM "output f",
            "extents n, m\n"
            "a1 = input [n, m]i32\n"
            "a2 = map a1 {x1: i32 -> x1 * x1}\n"
            "a3 = fold: backpermute safe step [n + -1, m] a2 {x1: i64, x2: i64 -> x1, x2}\n"
            "a4 = fold: backpermute safe step [n + -1, m] a2 {x1: i64, x2: i64 -> x1 + 1, x2}\n"
            "a5 = fold: map a3, a4 {x1: i32, x2: i32 -> x1 + x2}\n"
            "output a5\n");
}

static void other_folds_stay(void **state)
{
    static const char *const others[] = {
        /* rows as they are, turned, or more than a few */
        INPUT "f = fold commutes a1 " SUM "output f",
        "extents n\na1 = input [3, n]i32\nt = backpermute safe [n, 3] a1 {i: i64, k: i64 -> k, i} "
        "f = fold commutes t " SUM "output f",
        INPUT "w = backpermute [n - 8, m, 9] a1 {i: i64, j: i64, k: i64 -> i + k, j} f = fold commutes w " SUM
              "output f",
        INPUT "w = backpermute [n - m, m, m] a1 {i: i64, j: i64, k: i64 -> i + k, j} f = fold commutes w " SUM
              "output f",
        /* blocks, of which neighbouring results read other rows or the same elements */
        INPUT "g = generate [quot(n, 2), quot(m, 2), 2, 2] "
              "{i: i64, j: i64, y: i64, k: i64 -> a1[i * 2 + y, j * 2 + k]} f = fold commutes g " SUM "output f",
        /* windows that others read, too */
        INPUT "w = backpermute [n - 2, m, 3] a1 {i: i64, j: i64, k: i64 -> i + k, j} f = fold commutes w " SUM
              "output f, w",
        /* what may fail names the element: an index that may be outside, a divisor that may be 0 */
        INPUT "w = backpermute [n, m, 3] a1 {i: i64, j: i64, k: i64 -> i + k, j} f = fold commutes w " SUM "output f",
        INPUT "w = backpermute [n - 2, m, 3] a1 {i: i64, j: i64, k: i64 -> i + k, j} f = fold w "
              "{a: i32, b: i32 -> quot(a, b)} output f",
        INPUT
        "w = backpermute [n - 2, m, 3] a1 {i: i64, j: i64, k: i64 -> i + k, j} d = map w {x: i32 -> quot(9i32, x)} "
        "f = fold commutes d " SUM "output f",
    };
    (void)state;
    stay(opt_unfold_windows, ARRAY_LENGTH(others), others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_unfolded),
        cmocka_unit_test(other_folds_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
