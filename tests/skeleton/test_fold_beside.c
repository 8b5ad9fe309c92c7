/* Folds of short rows beside each other, whose lanes have several of them, of windows, whose lanes are rows, and of
 * products of matrices, which have tiles: the
 * same bits as on devices that fold them otherwise, and the reference interpreter's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const l_options options = {.fuse = true, .cost_model = true, .rows = true};
static const sk_options devices[] = {
    {.group = 256, .scratch = 48 << 10, .workers = 2, .checks = true},
    {.vector_bytes = 16, .workers = 1, .checks = true},
    {.vector_bytes = 32, .workers = 2, .checks = true},
    {.vector_bytes = 64, .workers = 1, .checks = true, .narrow = true},
};

#define ADD "fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"

static const char points[] = "extents n\nx = input [n, 3]f32\nm = input [3, 3]f32\n"
                             "p = backpermute safe [n, 3, 3] x {i: i64, j: i64, k: i64 -> i, k}\n"
                             "q = backpermute safe [n, 3, 3] m {i: i64, j: i64, k: i64 -> j, k}\n"
                             "e = map p, q {x: f32, y: f32 -> x * y}\ns = " ADD "output s\n";
static const char batched[] = "extents n\nx = input [n, 4, 4]f32\ny = input [n, 4, 4]f32\n"
                              "p = backpermute safe [n, 4, 4, 4] x {b: i64, i: i64, j: i64, k: i64 -> b, i, k}\n"
                              "q = backpermute safe [n, 4, 4, 4] y {b: i64, i: i64, j: i64, k: i64 -> b, k, j}\n"
                              "e = map p, q {x: f32, y: f32 -> x * y}\ns = " ADD "output s\n";
static const char distances[] = "extents n, m\nx = input [n, 3]f32\ny = input [m, 3]f32\n"
                                "p = backpermute safe [n, m, 3] x {i: i64, j: i64, k: i64 -> i, k}\n"
                                "q = backpermute safe [n, m, 3] y {i: i64, j: i64, k: i64 -> j, k}\n"
                                "e = map p, q {x: f32, y: f32 -> (x - y) * (x - y)}\ns = " ADD "output s\n";
/* Checked, and what a lane reads depends on a quotient. */
static const char pool[] =
    "extents n, m, k, l\nx = input [k, l]f32\nu = input [n, m]f32\n"
    "e = backpermute [n, m, 4] x {i: i64, j: i64, h: i64 -> i * 2 + quot(h, 2), j * 2 + rem(h, 2)}\n"
    "s = fold commutes e {x: f32, y: f32 -> max(x, y)}\noutput s\n";
/* Keeps order, has no identity that is known, two components, and its index counts. */
static const char in_order[] = "extents n\nx = input [n, 2, 5]f32\n"
                               "p = map indexed x {i: i64, j: i64, k: i64, x: f32 -> f32(i + j * 3 + k) * 0.25f32, x}\n"
                               "s = fold p {a: f32, b: f32, c: f32, d: f32 -> a * c, b * c + d}\noutput s\n";
static const char windows[] = "extents n, m, k\nx = input [k]f32\nu = input [n, m]f32\n"
                              "e = backpermute [n, m] x {i: i64, j: i64 -> i + j}\ns = " ADD "output s\n";
static const char convolution[] = "extents n, m, k\nx = input [k]f32\nu = input [n, m]f32\nw = input [m]f32\n"
                                  "p = backpermute [n, m] x {i: i64, j: i64 -> i + j}\n"
                                  "q = backpermute safe [n, m] w {i: i64, j: i64 -> j}\n"
                                  "e = map p, q {x: f32, y: f32 -> x * y}\ns = " ADD "output s\n";
static const char greatest[] = "extents n, m, k\nx = input [k]f32\nu = input [n, m]f32\n"
                               "e = backpermute [n, m] x {i: i64, j: i64 -> i + j}\n"
                               "s = fold commutes e seed -inf_f32 {x: f32, y: f32 -> max(x, y)}\noutput s\n";

/* Windows of 3 x 3, and of 7 x 7, of two dimensions; of the third extent, n + m, and twice the second one. */
#define SQUARE(K, COUNT, FOLD)                                                                                         \
    "extents n, m, k, l\nx = input [k, l]f32\nu = input [n, m]f32\n"                                                  \
    "e = backpermute [n, m, " COUNT "] x {i: i64, j: i64, h: i64 -> i + quot(h, " K "), j + rem(h, " K ")}\ns = " FOLD  \
    "output s\n"
static const char square_3[] = SQUARE("3", "9", "fold commutes e seed -inf_f32 {x: f32, y: f32 -> max(x, y)}\n");
static const char square_7[] = SQUARE("7", "49", ADD);
static const char square_3_in_order[] = SQUARE("3", "9", "fold e {x: f32, y: f32 -> x + y * 0.0f32}\n");

static const char product[] = "extents n, m, k\nx = input [n, k]f32\ny = input [k, m]f32\n"
                              "p = backpermute safe [n, m, k] x {i: i64, j: i64, k: i64 -> i, k}\n"
                              "q = backpermute safe [n, m, k] y {i: i64, j: i64, k: i64 -> k, j}\n"
                              "e = map p, q {x: f32, y: f32 -> x * y}\ns = " ADD "output s\n";
static const char least_sum[] = "extents n, m, k\nx = input [n, k]f32\ny = input [m, k]f32\n"
                                "p = backpermute safe [n, m, k] x {i: i64, j: i64, k: i64 -> i, k}\n"
                                "q = backpermute safe [n, m, k] y {i: i64, j: i64, k: i64 -> j, k}\n"
                                "e = map p, q {x: f32, y: f32 -> x + y}\n"
                                "s = fold commutes e seed inf_f32 {x: f32, y: f32 -> min(x, y)}\noutput s\n";

static bool dim_value(void *env, ir_id array, uint32_t component, ir_bits *out)
{
    (void)env, (void)array, (void)component, (void)out;
    return false;
}

static void fill(const ir_program *p, ir_id input, const int64_t *dims, ir_value *v, arena *a)
{
    const ir_array *info = ir_info(p, input);
    const ir_host host = {.dims = dims, .scalar = dim_value};
    int64_t n = 1;
    *v = (ir_value){.rank = info->rank, .components = 1, .type = {T_F32}};
    for (unsigned d = 0; d < info->rank; d++) {
        ir_bits extent = 0;
        assert_true(ir_evaluate(p, a, info->shape[d], &host, &extent));
        n *= v->extent[d] = (int64_t)extent;
    }
    v->data[0] = arena_alloc(a, (size_t)n * 4 + 4);
    for (int64_t i = 0; i < n; i++)
        ((float *)v->data[0])[i] = (float)(rand() % 2000 - 1000) / 800;
}

static void same(const char *source, size_t device, const ir_value *x, const ir_value *y, double tolerance)
{
    int64_t n = 1;
    for (unsigned d = 0; d < x->rank; d++)
        n *= x->extent[d];
    for (unsigned c = 0; c < x->components; c++)
        for (int64_t i = 0; i < n; i++) {
            float one = ((float *)x->data[c])[i], two = ((float *)y->data[c])[i];
            double apart = (double)one - (double)two;
            if (memcmp(&one, &two, sizeof one) && !(apart <= tolerance && -apart <= tolerance && tolerance > 0))
                fail_msg("device %zu: element %ld of %ld is %.9g, not %.9g\n%s", device, (long)i, (long)n, (double)one,
                         (double)two, source);
        }
}

/* The third extent is twice the first one, or their sum. */
static void check(const char *source, int64_t n, int64_t m, bool twice)
{
    arena a;
    const char *message = "";
    const int64_t dims[] = {n, m, twice ? 2 * n : n + m, 2 * m};
    ir_value input[3], expected[2];
    ir_failure failure = {0};
    arena_init(&a, NULL);
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    srand(5);
    for (uint32_t i = 0; i < p->input.n; i++)
        fill(p, p->input.at[i], dims, &input[i], &a);
    if (!ir_interpret(p, &a, input, expected, &failure))
        fail_msg("%s\n%s", failure.message, source);
    run_result first = {0};
    for (size_t d = 0; d < ARRAY_LENGTH(devices); d++) {
        run_result r = run_clusters(p, &options, &devices[d], &a, input);
        if (r.why)
            fail_msg("%s\n%s", r.why, source);
        assert_int_equal(r.error.site, 0);
        same(source, d, &r.output[0], &expected[0], 1e-3);
        if (d)
            same(source, d, &r.output[0], &first.output[0], 0);
        else
            first = r;
    }
    arena_free(&a);
}

static void several_rows_a_lane(void **state)
{
    static const int64_t lanes[] = {1, 15, 16, 33, 64, 700};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(lanes); i++) {
        check(points, lanes[i], 0, false);
        check(batched, lanes[i], 0, false);
        check(in_order, lanes[i], 0, false);
    }
}

static void rows_in_places(void **state)
{
    static const int64_t extents[][2] = {{1, 16}, {3, 40}, {40, 3}, {17, 129}, {200, 33}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
        check(distances, extents[i][0], extents[i][1], false);
        check(pool, extents[i][0], extents[i][1], true);
    }
}

static void long_windows(void **state)
{
    static const int64_t extents[][2] = {{255, 40}, {256, 33}, {300, 100}, {1000, 128}, {257, 700}, {90, 20}, {300, 1}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
        check(windows, extents[i][0], extents[i][1], false);
        check(convolution, extents[i][0], extents[i][1], false);
        check(greatest, extents[i][0], extents[i][1], false);
    }
}

static void short_windows(void **state)
{
    static const int64_t extents[][2] = {{255, 32}, {256, 2}, {300, 17}, {1000, 31}, {257, 9}, {90, 20}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
        check(windows, extents[i][0], extents[i][1], false);
        check(convolution, extents[i][0], extents[i][1], false);
        check(greatest, extents[i][0], extents[i][1], false);
    }
}

static void windows_of_two_dimensions(void **state)
{
    static const int64_t extents[][2] = {{6, 64}, {7, 100}, {300, 65}, {9, 40}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
        check(square_3, extents[i][0], extents[i][1], false);
        check(square_3_in_order, extents[i][0], extents[i][1], false);
        check(square_7, extents[i][0], extents[i][1], false);
    }
}

static void tiles(void **state)
{
    static const int64_t extents[][2] = {{12, 30}, {13, 65}, {4, 124}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
        check(product, extents[i][0], extents[i][1], false);
        check(least_sum, extents[i][0], extents[i][1], false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_rows_a_lane),
        cmocka_unit_test(rows_in_places),
        cmocka_unit_test(long_windows),
        cmocka_unit_test(short_windows),
        cmocka_unit_test(windows_of_two_dimensions),
        cmocka_unit_test(tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
