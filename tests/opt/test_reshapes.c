/* Which reshapes go along what they are made of: texts in, texts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/reshapes.h"
#include "support/program_text.h"

#define TURNED                                                                                                         \
    "extents n, m\n"                                                                                                   \
    "a1 = input [n, m]f32\n"                                                                                           \
    "a2 = backpermute safe [m, n] a1 {x1: i64, x2: i64 -> x2, x1}\n"

static const struct {
    const char *before, *after;
} marked[] = {
    /* a result that is a flattened transpose; its loop goes over the transpose */
    {TURNED "y = reshape [n * m] a2 output y", TURNED "a3 = reshape along [n * m] a2\noutput a3\n"},
    /* the same twice, one behind the other */
    {TURNED "y = reshape [n * m] a2 z = reshape [n * m, 1] y output z",
     TURNED "a3 = reshape along [n * m, 1] a2\noutput a3\n"},
    /* what is made of each element is made before */
    {TURNED "y = reshape [n * m] a2 z = map y {a: f32 -> a + 1.0f32} output z",
     TURNED "a3 = map step a2 {x1: f32 -> x1 + 1.0f32}\na4 = map: reshape along [n * m] a3\noutput a4\n"},
    /* a scan takes elements in an order of its own */
    {TURNED "y = reshape [n * m] a2 s = scan y {a: f32, b: f32 -> a + b} output s",
     TURNED "a3 = reshape along [n * m] a2\na4 = scan a3 {x1: f32, x2: f32 -> x1 + x2}\noutput a4\n"},
    /* ... also of maps of them */
    {TURNED "y = reshape [n * m] a2 z = map y {a: f32 -> a * a} s = scan z {a: f32, b: f32 -> a + b} output s",
     TURNED "a3 = reshape along [n * m] a2\na4 = map a3 {x1: f32 -> x1 * x1}\n"
            "a5 = scan a4 {x1: f32, x2: f32 -> x1 + x2}\noutput a5\n"},
    /* a permute takes what is before the reshapes, and what is the same everywhere */
    {TURNED
     "d = input [8]f32 k = reshape [n * m] a2 t = map k {a: f32 -> i64(a)} o = generate [n * m] {i: i64 -> 1.0f32} "
     "p = permute d, t, o {a: f32, b: f32 -> a + b} output p",
     TURNED "a3 = input [8]f32\na4 = map a2 {x1: f32 -> i64(x1)}\na5 = generate [m, n] {x1: i64, x2: i64 -> 1.0f32}\n"
            "a6 = permute a3, a4, a5 {x1: f32, x2: f32 -> x1 + x2}\noutput a6\n"},
    /* ... of several arrays */
    {"extents n, m d = input [8]f32 x = input [n, m]f32 k = input [n, m]i64 y = reshape [n * m] x t = reshape [n * m] "
     "k "
     "z = map y {a: f32 -> a * a} p = permute d, t, z {a: f32, b: f32 -> a + b} output p",
     "extents n, m\na1 = input [8]f32\na2 = input [n, m]f32\na3 = input [n, m]i64\n"
     "a4 = map a2 {x1: f32 -> x1 * x1}\na5 = permute a1, a3, a4 {x1: f32, x2: f32 -> x1 + x2}\noutput a5\n"},
};

static const char *const others[] = {
    /* a permute's elements are not all reshaped, or know their positions, or are there anyway */
    "extents n, m d = input [8]f32 t = input [n * m]i64 x = input [n, m]f32 y = reshape [n * m] x "
    "p = permute d, t, y {a: f32, b: f32 -> a + b} output p",
    "extents n, m d = input [8]f32 k = input [n, m]i64 t = reshape [n * m] k o = generate [n * m] {i: i64 -> f32(i)} "
    "p = permute d, t, o {a: f32, b: f32 -> a + b} output p",
    "extents n, m d = input [8]f32 k = input [n, m]i64 x = input [n, m]f32 t = reshape [n * m] k y = reshape [n * m] x "
    "z = map y {a: f32 -> a * a} p = permute d, t, z {a: f32, b: f32 -> a + b} output p, z",
    /* elements stay where they are */
    "extents n, m x = input [n,m]f32 y = reshape [n * m] x output y",
    "extents n, m x = input [n,m]f32 z = map x {a: f32 -> a + 1.0f32} y = reshape [n * m] z output y",
    /* somebody else reads it */
    TURNED "y = reshape [n * m] a2 z = map y {a: f32 -> a + 1.0f32} w = map y, z {a: f32, b: f32 -> a * b} output y, w",
    /* with other arrays */
    TURNED "y = reshape [n * m] a2 c = input [n * m]f32 z = map y, c {a: f32, b: f32 -> a * b} output z",
    /* its index counts */
    TURNED "y = reshape [n * m] a2 z = map indexed y {i: i64, a: f32 -> f32(i) + a} output z",
    /* there is one dimension */
    "extents n x = input [n]f32 b = backpermute safe [n] x {i: i64 -> n - 1 - i} y = reshape [n, 1] b output y",
};

static void results_are_marked(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(marked); k++) {
        arena a;
        const char *why = NULL;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, marked[k].before);
        opt_go_along_sources(p);
        if (!ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, print(&a, p));
        assert_string_equal(print(&a, p), marked[k].after);
        opt_go_along_sources(p); /* there is nothing left to do */
        assert_string_equal(print(&a, p), marked[k].after);
        assert_string_equal(print(&a, parse(&a, marked[k].after)), marked[k].after);
        arena_free(&a);
    }
}

static void others_stay(void **state)
{
    (void)state;
    stay(opt_go_along_sources, ARRAY_LENGTH(others), others);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_marked),
        cmocka_unit_test(others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
