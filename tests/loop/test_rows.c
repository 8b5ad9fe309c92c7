/* Row loops: which operations share them, in which sweeps, and what is said of it. Terms in, clusters out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "loop/cluster.h"

static arena memory;

static int setup(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

static const l_options rows = {.fuse = true, .cost_model = true, .rows = true};

static l_program *clusters_of(const char *source, const l_options *options)
{
    const char *message = NULL;
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s", message);
    return l_clusters(p, options);
}

static void expect_with(const l_options *options, const char *source, const char *expected)
{
    l_program *l = clusters_of(source, options);
    text t;
    text_init(&t, &memory);
    l_print(l, &t);
    assert_string_equal(t.at, expected);
    assert_true(l->cluster.n > 0);
}

static void expect(const char *source, const char *expected)
{
    expect_with(&rows, source, expected);
}

#define MAXIMUM "{x: f32, y: f32 -> max(x, y)}"
#define SUM "{x: f32, y: f32 -> x + y}"
#define ALONG_ROWS "safe [n, m] "

static const char softmax[] = "extents n, m\n"
                              "x = input [n, m]f32\n"
                              "top = fold commutes x seed -inf_f32 " MAXIMUM "\n"
                              "tops = replicate: backpermute safe [n, m] top {i: i64, j: i64 -> i}\n"
                              "e = map x, tops {x: f32, y: f32 -> exp(x - y)}\n"
                              "sum = fold commutes e seed 0.0f32 " SUM "\n"
                              "sums = replicate: backpermute safe [n, m] sum {i: i64, j: i64 -> i}\n"
                              "r = map e, sums {x: f32, y: f32 -> x / y}\n"
                              "output r\n";

static void softmax_is_one_loop(void **state)
{
    (void)state;
    expect(softmax, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(softmax_is_one_loop, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
