/* Row loops on the kernel interpreter: against the reference interpreter of terms, and with the same bits on all devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"
#include "support/share.h"

static const l_options fused = {.fuse = true, .cost_model = true, .rows = true}, unfused = {.fuse = false};
static const sk_options devices[] = {
    {.vector_bytes = 64, .workers = 2, .chains = true, .checks = true}, /* states go from piece to piece */
    {.vector_bytes = 64, .workers = 1, .checks = true},                 /* rows are walked as a whole */
    {.workers = 2, .checks = true},
    {.group = 256, .scratch = 48 << 10, .most_scratch = 200 << 10, .workers = 2, .checks = true},
};

static const char inclusive[] = "extents n\n"
                                "x = input [n]f32\n"
                                "s = scan x {x: f32, y: f32 -> x + y}\n"
                                "output s\n";
static const char exclusive[] = "extents n\n"
                                "x = input [n]i32\n"
                                "s = scan exclusive x seed 7i32 {x: i32, y: i32 -> x + y}\n"
                                "output s\n";
static const char maximum[] = "extents n\n"
                              "x = input [n]f32\n"
                              "s = scan x seed 3.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                              "output s\n";
static const char right[] = "extents n\n"
                            "x = input [n]i64\n"
                            "y = map x {x: i64 -> x * 3}\n"
                            "s = scan right y {x: i64, y: i64 -> x + y}\n"
                            "t = scan exclusive right y seed 5 {x: i64, y: i64 -> x * 3 + y}\n"
                            "output s\n";
/* x -> a x + b, one after the other: associative, but does not commute, and has no identity that is known */
static const char affine[] = "extents n\n"
                             "x = input [n]i64\n"
                             "p = map indexed x {i: i64, x: i64 -> i + 1, x}\n"
                             "s = scan p {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                             "e = scan exclusive p seed 1, 0 {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                             "f = fold p {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                             "output s, e, f\n";
static const char affine_right[] = "extents n\n"
                                   "x = input [n]i64\n"
                                   "p = map indexed x {i: i64, x: i64 -> i + 1, x}\n"
                                   "s = scan right p {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                                   "output s\n";
/* The same without the fold, which all threads of a block do together. */
static const char affine_rows[] = "extents n, m\n"
                                  "x = input [n, m]i64\n"
                                  "p = map indexed x {k: i64, i: i64, x: i64 -> i + k + 1, x}\n"
                                  "s = scan p {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                                  "e = scan exclusive p seed 1, 0 {a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}\n"
                                  "output s, e\n";
/* Folds beside scans, of what these come to and of what they are made of; and how often a condition holds. */
static const char beside_scans[] = "extents n, m\n"
                                   "x = input [n, m]f32\n"
                                   "s = scan x {x: f32, y: f32 -> x + y}\n"
                                   "e = scan exclusive x seed 0.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                                   "d = map s, e {s: f32, e: f32 -> s - e}\n"
                                   "t = fold commutes d seed 2.0f32 {x: f32, y: f32 -> x + y}\n"
                                   "u = fold commutes x seed 1.0f32 {x: f32, y: f32 -> x + y}\n"
                                   "p = map x {x: f32 -> i32(x > 0.0f32)}\n"
                                   "c = fold commutes p seed 0i32 {x: i32, y: i32 -> x + y}\n"
                                   "output s, d, t, u, c\n";
static const char kept[] = "extents n\n"
                           "x = input [n]i32\n"
                           "p = map x {x: i32 -> x > 100i32}\n"
                           "v = map x {x: i32 -> x * 2i32, f32(x)}\n"
                           "k = pack p, v\n"
                           "output k\n";
static const char kept_of_scan[] = "extents n\n"
                                   "x = input [n]i64\n"
                                   "p = map x {x: i64 -> x > 100}\n"
                                   "s = scan x {x: i64, y: i64 -> x + y}\n"
                                   "k = pack p, s\n"
                                   "output k, s\n";
static const char kept_by_scan[] = "extents n\n"
                                   "x = input [n]i64\n"
                                   "s = scan x {x: i64, y: i64 -> x + y}\n"
                                   "p = map s {x: i64 -> x > 0}\n"
                                   "k = pack p, x\n"
                                   "output k\n";
/* How often conditions hold: of the elements, of a scan's results, and of what nothing else keeps. */
static const char counts[] = "extents n\n"
                             "x = input [n]i32\n"
                             "s = scan x seed 3i32 {x: i32, y: i32 -> x + y}\n"
                             "p = map x {x: i32 -> x > 10i32}\n"
                             "q = map s, x {s: i32, x: i32 -> mod(s, 3i32) == x - x}\n"
                             "a = map p {p: bool -> i64(p)}\n"
                             "b = map q {q: bool -> i32(q)}\n"
                             "c = map x {x: i32 -> u8(x < 0i32)}\n"
                             "k = fold commutes a seed 0 {x: i64, y: i64 -> x + y}\n"
                             "l = fold commutes b seed 5i32 {x: i32, y: i32 -> x + y}\n"
                             "m = fold commutes c seed 250u8 {x: u8, y: u8 -> x + y}\n"
                             "t = fold commutes x seed 0i32 {x: i32, y: i32 -> max(x, y)}\n"
                             "u = pack p, s\n"
                             "v = pack q, x\n"
                             "output k, l, m, t, u, v\n";
static const char many[] =
    "extents n\n"
    "x = input [n]i64\n"
    "s = fold commutes x seed 4 {x: i64, y: i64 -> x + y}\n"
    "sc = scan x {x: i64, y: i64 -> max(x, y)}\n"
    "t = fold commutes sc seed 0 {x: i64, y: i64 -> x + y}\n"
    "i = map indexed x {c: i64, v: i64 -> v, c}\n"
    "best = fold i {a: i64, b: i64, c: i64, d: i64 -> if a >= c then a else c, if a >= c then b else d}\n"
    "y = map sc, x {s: i64, x: i64 -> s - x}\n"
    "output s, sc, best, t, y\n";
/* An operator that may fail where nothing is there to combine. */
static const char modulo[] = "extents n\n"
                             "m = input []i64\n"
                             "x = input [n]i64\n"
                             "s = scan x {x: i64, y: i64 -> mod(x + y, m[])}\n"
                             "f = fold x {x: i64, y: i64 -> mod(x + y, m[])}\n"
                             "output s, f\n";
static const char matrix[] = "extents n, m\n"
                             "x = input [n, m]f32\n"
                             "s = scan x seed 0.5f32 {x: f32, y: f32 -> x + y}\n"
                             "f = fold x seed 0.5f32 {x: f32, y: f32 -> x + y}\n"
                             "output s, f\n";
static const char matrix_right[] = "extents n, m\n"
                                   "x = input [n, m]i64\n"
                                   "s = scan exclusive right x seed 9 {x: i64, y: i64 -> x + y}\n"
                                   "output s\n";
/* Three sweeps, and what belongs to a row. */
static const char normalised[] =
    "extents n, m\n"
    "x = input [n, m]f32\n"
    "top1 = fold commutes x seed -inf_f32 {x: f32, y: f32 -> max(x, y)}\n"
    "top = backpermute safe [n, m] top1 {i: i64, j: i64 -> i}\n"
    "e = map x, top {x: f32, m: f32 -> (x - m) * 0.25f32}\n"
    "total = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
    "factor = map total {s: f32 -> 1.0f32 / sqrt(1.0f32 - s)}\n"
    "every = backpermute safe [n, m] factor {i: i64, j: i64 -> i}\n"
    "r = map e, every {e: f32, s: f32 -> e * s}\n"
    "output r, factor\n";
/* The running sum of a row as a share of the row's sum. */
static const char shares[] = "extents n, m\n"
                             "x = input [n, m]i64\n"
                             "t = fold commutes x seed 0 {x: i64, y: i64 -> x + y}\n"
                             "u = backpermute safe [n, m] t {i: i64, j: i64 -> i}\n"
                             "s = scan x {x: i64, y: i64 -> x + y}\n"
                             "r = map s, u {s: i64, t: i64 -> s * 2 - t}\n"
                             "output r\n";

static void fill(ir_value *v, const ir_array *info, const int64_t *extent, arena *a)
{
    int64_t n = 1;
    *v = (ir_value){.rank = info->rank, .components = 1, .type = {info->type[0]}};
    for (unsigned d = 0; d < info->rank; d++)
        n *= v->extent[d] = extent[d];
    v->data[0] = arena_alloc(a, (size_t)n * 8 + 8);
    for (int64_t i = 0; i < n; i++) {
        int r = rand() % 2000 - 1000;
        if (!info->rank)
            ((int64_t *)v->data[0])[0] = 1009;
        else if (info->type[0] == T_F32)
            ((float *)v->data[0])[i] = (float)r / 8;
        else if (info->type[0] == T_I32)
            ((int32_t *)v->data[0])[i] = r;
        else
            ((int64_t *)v->data[0])[i] = r;
    }
}

static void same(const char *what, const ir_value *x, const ir_value *y, double tolerance)
{
    int64_t n = 1;
    assert_int_equal(x->rank, y->rank);
    for (unsigned d = 0; d < x->rank; d++) {
        assert_int_equal(x->extent[d], y->extent[d]);
        n *= x->extent[d];
    }
    for (unsigned c = 0; c < x->components; c++) {
        size_t size = ir_type_size(x->type[c]);
        for (int64_t i = 0; i < n; i++) {
            if (!memcmp((char *)x->data[c] + (size_t)i * size, (char *)y->data[c] + (size_t)i * size, size))
                continue;
            double a = x->type[c] == T_F32 ? (double)((float *)x->data[c])[i] : 0;
            double b = x->type[c] == T_F32 ? (double)((float *)y->data[c])[i] : 0;
            if (x->type[c] == T_F32 && a - b <= tolerance && b - a <= tolerance)
                continue;
            fail_msg("%s: component %u, element %ld of %ld differ: %g, %g", what, c, (long)i, (long)n, a, b);
        }
    }
}

static void check(const char *source, const int64_t *extent, double tolerance)
{
    arena a;
    ir_value input[4], expected[8];
    ir_failure failure = {0};
    const char *message = "";
    arena_init(&a, NULL);
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    srand(7);
    for (uint32_t i = 0; i < p->input.n; i++)
        fill(&input[i], ir_info(p, p->input.at[i]), extent, &a);
    bool good = ir_interpret(p, &a, input, expected, &failure);
    run_result first = {0};
    /* long ones take the interpreter long: fused, where most can go wrong */
    const bool both_ways = extent[0] <= 4 * 4096 || getenv("SINTER_TEST_LONG");
    for (size_t d = 0; d < (both_ways ? 2 : 1) * ARRAY_LENGTH(devices); d++) {
        const l_options *options = d < ARRAY_LENGTH(devices) ? &fused : &unfused;
        run_result r = run_clusters(p, options, &devices[d % ARRAY_LENGTH(devices)], &a, input);
        if (r.why)
            fail_msg("%s: device %zu, row of %ld\n%s", r.why, d, (long)extent[0], source);
        assert_int_equal(r.error.site != 0, !good);
        for (uint32_t i = 0; i < p->output.n && good; i++) {
            same(source, &r.output[i], &expected[i], tolerance);
            if (d)
                same(source, &r.output[i], &first.output[i], 0);
        }
        if (!d)
            first = r;
    }
    arena_free(&a);
}

static const int64_t lengths[] = {0, 1, 2, 31, 32, 33, 64, 65, 127, 128, 129, 200, 1000, 4095, 4096, 4097, 3 * 4096 + 5, 40 * 4096 + 1};

/* The longest, which takes most of the time, is for one of so many programs, and for none where only mistakes in memory are
 * looked for: windows() has more pieces. */
static void vector(const char *source, double tolerance, size_t from)
{
    static unsigned number;
    const bool longest = test_share() <= 2 && number++ % test_share() == 0;
    for (size_t i = from; i < ARRAY_LENGTH(lengths) - !longest; i++)
        check(source, &lengths[i], tolerance * (double)(lengths[i] + 1));
}

static void rows(const char *source, double tolerance)
{
    static const int64_t extents[][2] = {{3, 1}, {5, 7}, {33, 32}, {2, 33}, {7, 100}, {3, 4096}, {2, 9000}, {1, 34000}, {0, 5}, {4, 0},
                                          {3, 400}, {2, 1023}, {2, 8192}};
    for (size_t i = 0; i < ARRAY_LENGTH(extents); i++)
        check(source, extents[i], tolerance * (double)(extents[i][1] + 1));
}

static void scans(void **state)
{
    (void)state;
    vector(inclusive, 1e-3, 0);
    vector(exclusive, 0, 0);
    vector(maximum, 0, 0);
    vector(right, 0, 0);
}

static void order_is_kept(void **state)
{
    (void)state;
    vector(affine, 0, 1);
    vector(affine_right, 0, 0);
}

/* More pieces than a window has. */
static void windows(void **state)
{
    (void)state;
    const int64_t n = 130 * 4096 + 77;
    check(inclusive, &n, 1e3);
}

static void packs(void **state)
{
    (void)state;
    vector(kept, 0, 0);
    vector(kept_of_scan, 0, 0);
    vector(kept_by_scan, 0, 0);
    vector(counts, 0, 0);
}

static void what_shares_a_loop(void **state)
{
    (void)state;
    vector(many, 0, 1);
}

static void operators_that_may_fail(void **state)
{
    (void)state;
    vector(modulo, 0, 1);
}

static void matrices(void **state)
{
    (void)state;
    rows(matrix, 1e-3);
    rows(matrix_right, 0);
    rows(affine_rows, 0);
    rows(beside_scans, 1e-2);
}

static void several_sweeps(void **state)
{
    (void)state;
    rows(normalised, 1e-2);
    rows(shares, 0);
    /* more pieces than are combined from left to right */
    check(normalised, (const int64_t[]){2, 40 * 4096 + 1}, 1e4);
    check(shares, (const int64_t[]){2, 130 * 4096 + 77}, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans),          cmocka_unit_test(order_is_kept), cmocka_unit_test(windows),
        cmocka_unit_test(packs),          cmocka_unit_test(what_shares_a_loop),
        cmocka_unit_test(operators_that_may_fail), cmocka_unit_test(matrices), cmocka_unit_test(several_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
