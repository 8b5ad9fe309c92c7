/* Places of short sorted rows: texts in, texts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/picks.h"
#include "support/program_text.h"

#define INPUT "extents n\na1 = input [n, 3]i32\n"

#define PLACES                                                                                                         \
    "a2 = backpermute safe step [n] a1 {x1: i64 -> x1, 0}\n"                                                           \
    "a3 = backpermute safe step [n] a1 {x1: i64 -> x1, 1}\n"                                                           \
    "a4 = backpermute safe step [n] a1 {x1: i64 -> x1, 2}\n"

static void places_are_picked(void **state)
{
    (void)state;
    becomes(opt_pick_sorted, INPUT "s = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 1} output t",
              INPUT PLACES "a5 = backpermute: map a2, a3, a4 {x1: i32, x2: i32, x3: i32 -> "
                           "min(max(min(x1, x3), x2), max(x1, x3))}\noutput a5\n");
    /* largest first */
    becomes(opt_pick_sorted, INPUT "s = sort descending keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 0} output t",
              INPUT PLACES "a5 = backpermute: map a2, a3, a4 {x1: i32, x2: i32, x3: i32 -> "
                           "max(max(x1, x3), x2)}\noutput a5\n");
    /* the rows are made where they are picked from */
    becomes(opt_pick_sorted, "extents n\na1 = input [n]i32\ng = generate [n, 2] {i: i64, j: i64 -> a1[safe i] + i32(j)} "
              "s = sort keys 1 g t = backpermute safe [n] s {i: i64 -> i, 1} output t",
              "extents n\na1 = input [n]i32\n"
              "a2 = backpermute: generate step [n] {x1: i64 -> a1[safe x1]}\n"
              "a3 = backpermute: generate step [n] {x1: i64 -> a1[safe x1] + 1i32}\n"
              "a4 = backpermute: map a2, a3 {x1: i32, x2: i32 -> max(x1, x2)}\noutput a4\n");
    /* what they read is there for sure */
    becomes(opt_pick_sorted, "extents n\na1 = input [n]i32\ng = generate [n, 2] {i: i64, j: i64 -> a1[max(min(i + j, n + -1), 0)]} "
              "s = sort keys 1 g t = backpermute safe [n] s {i: i64 -> i, 1} output t",
              "extents n\na1 = input [n]i32\n"
              "a2 = backpermute: generate step [n] {x1: i64 -> a1[max(min(x1, n + -1), 0)]}\n"
              "a3 = backpermute: generate step [n] {x1: i64 -> a1[max(min(x1 + 1, n + -1), 0)]}\n"
              "a4 = backpermute: map a2, a3 {x1: i32, x2: i32 -> max(x1, x2)}\noutput a4\n");
    becomes(opt_pick_sorted, 
        "extents n\na1 = input [n]i32\ng = backpermute safe [n, 2] a1 {i: i64, j: i64 -> max(min(i + j, n + -1), 0)} "
        "s = sort keys 1 g t = backpermute safe [n] s {i: i64 -> i, 0} output t",
        "extents n\na1 = input [n]i32\n"
        "a2 = backpermute safe step [n] a1 {x1: i64 -> max(min(x1, n + -1), 0)}\n"
        "a3 = backpermute safe step [n] a1 {x1: i64 -> max(min(x1 + 1, n + -1), 0)}\n"
        "a4 = backpermute: map a2, a3 {x1: i32, x2: i32 -> min(x1, x2)}\noutput a4\n");
    /* or it is not known to be */
    becomes(opt_pick_sorted, "extents n\na1 = input [n]i32\ng = generate [n, 2] {i: i64, j: i64 -> a1[i + j]} "
              "s = sort keys 1 g t = backpermute safe [n] s {i: i64 -> i, 1} output t",
              "extents n\na1 = input [n]i32\n"
              "a2 = generate [n, 2] {x1: i64, x2: i64 -> a1[x1 + x2]}\n"
              "a3 = backpermute safe step [n] a2 {x1: i64 -> x1, 0}\n"
              "a4 = backpermute safe step [n] a2 {x1: i64 -> x1, 1}\n"
              "a5 = backpermute: map a3, a4 {x1: i32, x2: i32 -> max(x1, x2)}\noutput a5\n");
    becomes(opt_pick_sorted, "extents n\na1 = input [n]i32\ng = backpermute [n, 2] a1 {i: i64, j: i64 -> i + j} "
              "s = sort keys 1 g t = backpermute safe [n] s {i: i64 -> i, 1} output t",
              "extents n\na1 = input [n]i32\n"
              "a2 = backpermute [n, 2] a1 {x1: i64, x2: i64 -> x1 + x2}\n"
              "a3 = backpermute safe step [n] a2 {x1: i64 -> x1, 0}\n"
              "a4 = backpermute safe step [n] a2 {x1: i64 -> x1, 1}\n"
              "a5 = backpermute: map a3, a4 {x1: i32, x2: i32 -> max(x1, x2)}\noutput a5\n");
}

static void other_sorts_stay(void **state)
{
    static const char *const others[] = {
        /* the rows are read elsewhere */
        INPUT "s = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 1} output t, s",
        INPUT "s = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 1} "
              "u = generate [n] {i: i64 -> s[safe i, 0]} output t, u",
        /* the place, and how many there are, is not known */
        INPUT "s = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, rem(i, 3)} output t",
        "extents n, k\na1 = input [n, k]i32\ns = sort keys 1 a1 t = backpermute [n] s {i: i64 -> i, 1} output t",
        "extents n\na1 = input [n, 26]i32\ns = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 1} output t",
        /* by comparison, and with values */
        INPUT "s = sort a1 {a: i32, b: i32 -> a < b} t = backpermute safe [n] s {i: i64 -> i, 1} output t",
        "extents n\na1 = input [n, 3](i32, i32)\ns = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 1} "
        "output t",
        /* more places than are worth it */
        INPUT
        "s = sort keys 1 a1 t = backpermute safe [n] s {i: i64 -> i, 0} u = backpermute safe [n] s {i: i64 -> i, 1} "
        "v = backpermute safe [n] s {i: i64 -> i, 2} w = backpermute safe [2 * n] s {i: i64 -> rem(i, n), 0} "
        "x = backpermute safe [2 * n] s {i: i64 -> rem(i, n), 1} output t, u, v, w, x",
    };
    (void)state;
    stay(opt_pick_sorted, ARRAY_LENGTH(others), others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_picked),
        cmocka_unit_test(other_sorts_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
