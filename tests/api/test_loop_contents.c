/* What is in the loops of a program: loads, index arithmetic, loops that were unrolled, rows that stencils keep, products
 * that contract; and that memory is used again. */
#include "counts.h"
#include "support/occurrences.h"

#include <stdlib.h>

static float *numbers(int64_t n)
{
    float *x = malloc((size_t)n * sizeof(float));
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i % 11) - 5;
    return x;
}

enum { LARGE = 300000 };

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar next(sn_scalar x)
{
    return sn_add(sn_mul(x, 2), 1);
}

static sn_scalar before(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_max(sn_sub(i, 1), 0));
}

/* --- loads --- */

static sn_scalar third_of_four(sn_scalar x)
{
    return sn_add(sn_get(x, 2), sn_f32(1));
}

static sn_acc one_of_four(sn_acc x)
{
    return sn_map(third_of_four, x);
}

static sn_acc two_of_a_zip(sn_acc a, sn_acc b)
{
    return sn_map(sn_fst, sn_zip(sn_map(square, a), sn_map(next, b)));
}

static sn_acc only_its_size(sn_acc a)
{
    sn_acc b = sn_map(square, a);
    return sn_fill(sn_shape(sn_extent(b, 1)), sn_add(sn_size(b), 1));
}

static sn_acc used_by_its_shape_and_once(sn_acc a)
{
    sn_acc b = sn_map(square, a);
    return sn_generate(sn_extent(b, 0), sn_closure(before, &b));
}

/* Loads of each body: on other devices whole pieces and the last one have a body each. */
static unsigned loads(sn_program *p)
{
    const char *said = sn_explain(p, "kernels");
    unsigned bodies = on_cpu() ? 1 : occurrences(said, "for_all");
    assert_int_equal(occurrences(said, " = load ") % bodies, 0);
    return occurrences(said, " = load ") / bodies;
}

/* What a component, or an array whose shape alone matters, would cost to load: nothing. */
static void what_is_not_used_is_not_loaded(void **state)
{
    (void)state;
    float a[6] = {1, 2, 3, 4, 5, 6}, r[6];
    sn_program *p = compiled_in(both_cpu(), "[n](f32, f32, f32, f32) -> [n]f32", SN_BODY(one_of_four));
    assert_int_equal(sn_call(p, sn_in(a, 1), sn_in(a, 1), sn_in(a + 4, 1), sn_in(a, 1), sn_into(r, 1)), SN_OK);
    assert_true(r[0] == 6);
    assert_int_equal(loads(p), 1);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> [n]f32", SN_BODY(two_of_a_zip));
    assert_int_equal(sn_call(p, sn_in(a, 6), sn_in(a, 6), sn_into(r, 6)), SN_OK);
    assert_true(r[5] == 36);
    assert_int_equal(loads(p), 1);
    sn_drop(p);
    int64_t n[3];
    p = compiled_in(both_cpu(), "[n,m]f32 -> [m]i64", SN_BODY(only_its_size));
    assert_int_equal(sn_call(p, sn_in(a, 2, 3), sn_into(n, 3)), SN_OK);
    assert_int_equal(n[2], 7);
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    assert_int_equal(occurrences(sn_explain(p, "kernels"), "load"), 0);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(used_by_its_shape_and_once));
    expect_counts(p, .clusters = 1);
    sn_drop(p);
}

/* --- linear indexing --- */

static sn_acc in_three_dimensions(sn_acc a, sn_acc b)
{
    return sn_map(next, sn_zip_with(sn_add, a, sn_map(square, b)));
}

static sn_acc other_shapes(sn_acc a)
{
    sn_scalar n = sn_extent(a, 0), m = sn_extent(a, 1);
    sn_acc flat = sn_map(next, sn_reshape(sn_mul(n, m), sn_map(square, a)));
    return sn_reshape(sn_shape(m, n), flat);
}

/* Arrays of one shape, and the same elements in another, are read at row-major positions: nothing is divided. */
static void row_major_positions_are_not_taken_apart(void **state)
{
    (void)state;
    float a[24], r[24];
    for (int i = 0; i < 24; i++)
        a[i] = (float)i;
    sn_program *p = compiled_in(both_cpu(), "[n,m,k]f32, [n,m,k]f32 -> [n,m,k]f32", SN_BODY(in_three_dimensions));
    assert_int_equal(sn_call(p, sn_in(a, 2, 3, 4), sn_in(a, 2, 3, 4), sn_into(r, 2, 3, 4)), SN_OK);
    assert_true(r[5] == 2 * 30 + 1);
    assert_int_equal(occurrences(sn_explain(p, "kernels"), "quot") + occurrences(sn_explain(p, "kernels"), "rem"), 0);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n,m]f32 -> [m,n]f32", SN_BODY(other_shapes));
    assert_int_equal(sn_call(p, sn_in(a, 4, 6), sn_into(r, 6, 4)), SN_OK);
    assert_true(r[5] == 2 * 25 + 1);
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    assert_int_equal(occurrences(sn_explain(p, "kernels"), "quot") + occurrences(sn_explain(p, "kernels"), "rem"), 0);
    sn_drop(p);
}

static sn_acc three_rows(sn_acc a)
{
    return sn_map(next, sn_reshape(sn_shape(3, sn_extent(a, 0)), sn_map(square, a)));
}

/* A fused reshape has its condition all the same. */
static void fused_reshapes_are_checked(void **state)
{
    (void)state;
    float a[6] = {0}, r[18];
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [3,n]f32", SN_BODY(three_rows));
    expect_counts(p, .clusters = 1);
    assert_int_equal(sn_call(p, sn_in(a, 6), sn_into(r, 3, 6)), SN_SHAPE_MISMATCH);
    if (!strstr(sn_message(both_cpu()), "reshape"))
        fail_msg("%s", sn_message(both_cpu()));
    assert_int_equal(sn_call(p, sn_in(a, 0), sn_into(r, 3, 0)), SN_OK);
    sn_drop(p);
}

/* --- loop recovery --- */

static sn_scalar escape_step(sn_scalar z, sn_scalar c)
{
    sn_scalar x = sn_get(z, 0), y = sn_get(z, 1), n = sn_get(z, 2), xx = sn_mul(x, x), yy = sn_mul(y, y);
    sn_scalar inside = sn_lt(sn_add(xx, yy), 4);
    sn_scalar next_x = sn_add(sn_sub(xx, yy), sn_fst(c)), next_y = sn_add(sn_mul(sn_mul(2, x), y), sn_snd(c));
    return sn_if(inside, sn_tuple(next_x, next_y, sn_add(n, 1)), sn_tuple(x, y, n));
}

static sn_scalar nothing_yet(sn_scalar x)
{
    return sn_tuple(sn_sub(x, x), sn_f32(0), sn_i32(0));
}

enum { TURNS = 90 };

/* Mandelbrot's set as unrolled zips: Accelerate's thesis, §6.4.1. */
static sn_acc unrolled(sn_acc x, sn_acc y)
{
    sn_acc c = sn_zip(x, y), z = sn_map(nothing_yet, x);
    for (int i = 0; i < TURNS; i++)
        z = sn_zip_with(escape_step, z, c);
    return sn_map(sn_neg, sn_get(z, 2));
}

/* The 45th turn is a result, too: two chains. */
static sn_acc unrolled_with_a_stop(sn_acc x, sn_acc y)
{
    sn_acc c = sn_zip(x, y), z = sn_map(nothing_yet, x), half = z;
    for (int i = 0; i < TURNS; i++) {
        z = sn_zip_with(escape_step, z, c);
        half = i == TURNS / 2 - 1 ? z : half;
    }
    return sn_results(sn_get(half, 2), sn_get(z, 2));
}

static void unrolled_loops_are_loops_again(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    enum { N = 1000 };
    float x[N], y[N];
    int32_t deep[2][N], half[N], full[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 40) * 0.07f - 2;
        y[i] = (float)(i / 40) * 0.1f - 1.2f;
    }
    for (int off = 0; off < 2; off++) {
        sn_options o = {.size = sizeof(o), .simplify = off ? SN_OFF : SN_ON};
        sn_context *cx = sn_open(&o);
        sn_program *p = compiled_in(cx, "[n]f32, [n]f32 -> [n]i32", SN_BODY(unrolled));
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(deep[off], N)), SN_OK);
        assert_int_equal(occurrences(sn_explain(p, "term"), "= zip_with:"), off ? TURNS : 1);
        if (!off) {
            expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
            assert_true(strlen(sn_explain(p, "kernels")) < 8000);
        }
        sn_drop(p);
        if (!off) {
            p = compiled_in(cx, "[n]f32, [n]f32 -> [n]i32, [n]i32", SN_BODY(unrolled_with_a_stop));
            assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(half, N), sn_into(full, N)), SN_OK);
            expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
            sn_drop(p);
        }
        sn_close(cx);
    }
    assert_memory_equal(deep[0], deep[1], sizeof(deep[0]));
    bool some = false;
    for (int i = 0; i < N; i++) {
        some |= full[i] > TURNS / 2 && full[i] < TURNS;
        assert_int_equal(full[i], -deep[0][i]);
        assert_int_equal(half[i], full[i] < TURNS / 2 ? full[i] : TURNS / 2);
    }
    assert_true(some);
}

static sn_scalar weigh(sn_scalar c, sn_scalar z)
{
    return sn_add(sn_mul(z, 3), sn_to_i64(c));
}

static sn_scalar share_of(sn_scalar c, sn_scalar z)
{
    return sn_quot(sn_add(z, 1000), sn_to_i64(c));
}

/* Carried second; then as many divisions, which may fail: they stay. */
static sn_acc weighed_and_shared(sn_acc c)
{
    sn_acc z = sn_map(sn_to_i64, c), s;
    for (int i = 0; i < 10; i++)
        z = sn_zip_with(weigh, c, z);
    s = z;
    for (int i = 0; i < 10; i++)
        s = sn_zip_with(share_of, c, s);
    return sn_results(z, s);
}

static void loops_that_may_fail_stay_unrolled(void **state)
{
    (void)state;
    int32_t c[4] = {1, -7, 12, 3};
    int64_t z[4], s[4];
    sn_program *p = compiled_in(both_cpu(), "[n]i32 -> [n]i64, [n]i64", SN_BODY(weighed_and_shared));
    assert_int_equal(occurrences(sn_explain(p, "term"), "= zip_with:"), 1 + 10);
    assert_int_equal(sn_call(p, sn_in(c, 4), sn_into(z, 4), sn_into(s, 4)), SN_OK);
    for (int i = 0; i < 4; i++) {
        int64_t x = c[i], y;
        for (int k = 0; k < 10; k++)
            x = 3 * x + c[i];
        y = x;
        for (int k = 0; k < 10; k++)
            y = (y + 1000) / c[i];
        assert_true(z[i] == x && s[i] == y);
    }
    c[2] = 0;
    assert_int_equal(sn_call(p, sn_in(c, 4), sn_into(z, 4), sn_into(s, 4)), SN_DIVISION);
    sn_drop(p);
}

/* --- results that are components of folds --- */

static sn_scalar both_sums(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_fst(x), sn_fst(y)), sn_max(sn_snd(x), sn_snd(y)));
}

static sn_acc sums_and_maxima(sn_acc a)
{
    return sn_fold(both_sums, sn_tuple(sn_f32(0), sn_f32(-100)), sn_zip(a, sn_map(square, a)));
}

static sn_acc unzipped_fold(sn_acc a)
{
    sn_acc part[2];
    sn_unzip(sums_and_maxima(a), 2, part);
    return sn_results(part[1], part[0], part[1]);
}

static sn_acc one_component(sn_acc a)
{
    return sn_argmax(a);
}

static sn_acc component_and_more(sn_acc a)
{
    sn_acc part[2], forced_part[2];
    sn_unzip(sums_and_maxima(a), 2, part);
    sn_unzip(sn_force(sn_zip(part[0], sn_map(next, part[1]))), 2, forced_part);
    return sn_results(part[0], forced_part[1], sn_map(next, part[0]));
}

static void components_of_folds_are_results_as_they_are(void **state)
{
    (void)state;
    enum { ROWS = 3, COLUMNS = 5 };
    float x[ROWS * COLUMNS], sum[ROWS], most[ROWS], again[ROWS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i * 7 % 11);
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> [n]f32, [n]f32, [n]f32", SN_BODY(unzipped_fold));
    assert_int_equal(sn_call(p, sn_in(x, ROWS, COLUMNS), sn_into(most, ROWS), sn_into(sum, ROWS), sn_into(again, ROWS)),
                     SN_OK);
    for (int i = 0; i < ROWS; i++) {
        float s = 0, m = 0;
        for (int j = 0; j < COLUMNS; j++) {
            float v = x[i * COLUMNS + j];
            s += v;
            m = v * v > m ? v * v : m;
        }
        assert_true(sum[i] == s && most[i] == m && again[i] == m);
    }
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    says(p, "edges", "fused: computed where it is used");
    sn_drop(p);

    int64_t at;
    p = compiled_in(both_cpu(), "[n]f32 -> i64", SN_BODY(one_component));
    assert_int_equal(sn_call(p, sn_in(x, 15), sn_value(&at)), SN_OK);
    assert_int_equal(at, 3); /* 21 % 11 == 10 */
    expect_counts(p, .clusters = 1, .buffers = 1, .kernels = 1, .launches = 1);
    sn_drop(p);

    p = compiled_in(both_cpu(), "[n,m]f32 -> [n]f32, [n]f32, [n]f32", SN_BODY(component_and_more));
    assert_int_equal(sn_call(p, sn_in(x, ROWS, COLUMNS), sn_into(sum, ROWS), sn_into(most, ROWS), sn_into(again, ROWS)),
                     SN_OK);
    for (int i = 0; i < ROWS; i++)
        assert_true(most[i] > 0 && again[i] == 2 * sum[i] + 1);
    expect_counts(p, .clusters = 2, .buffers = 2, .kernels = 2, .launches = 2);
    sn_drop(p);
}

/* --- stencils --- */

static sn_scalar across(sn_scalar s)
{
    return sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1));
}

static sn_scalar down(sn_scalar s)
{
    return sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0));
}

static sn_acc separable(sn_acc a)
{
    return sn_stencil(down, sn_pattern(3, 1), sn_clamp, sn_stencil(across, sn_pattern(1, 3), sn_clamp, a));
}

static void chained_stencils_keep_rows(void **state)
{
    (void)state;
    float *x = numbers(LARGE), *y = numbers(LARGE);
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> [n,m]f32", SN_BODY(separable));
    assert_int_equal(sn_call(p, sn_in(x, 500, 600), sn_into(y, 500, 600)), SN_OK);
    unsigned loops = on_cpu() ? 1 : 2;
    expect_counts(p, .clusters = loops, .buffers = loops - 1, .kernels = loops, .launches = loops);
    says(p, "edges",
         on_cpu() ? "neighbours kept in rows of shared memory" : "memory costs less than rows kept for neighbours");
    free(x), free(y);
    sn_drop(p);
}

static sn_acc edges_and_more(sn_acc a)
{
    sn_acc edges = sn_stencil(down, sn_pattern(3, 1), sn_clamp, a);
    return sn_results(edges, sn_map(next, edges));
}

static sn_acc edges_and_turned(sn_acc a)
{
    sn_acc edges = sn_stencil(down, sn_pattern(3, 1), sn_clamp, a);
    return sn_results(edges, sn_map(next, sn_reverse(edges)));
}

/* What follows a stencil stays in its loop, unless it reads it elsewhere. */
static void loops_of_stencils_take_what_follows(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> [n,m]f32, [n,m]f32", SN_BODY(edges_and_more));
    expect_counts(p, .clusters = 1);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n,m]f32 -> [n,m]f32, [n,m]f32", SN_BODY(edges_and_turned));
    expect_counts(p, .clusters = 2);
    sn_drop(p);
}

/* --- memory --- */

static sn_acc pipeline(sn_acc x)
{
    for (int i = 0; i < 6; i++)
        x = sn_force(sn_map(next, x));
    return sn_map(next, x);
}

static sn_acc one_step(sn_acc x)
{
    return sn_map(next, x);
}

/* Six boundaries, but two buffers at a time; and calls find the memory of earlier ones. What devices with memory of their own need
   for x and y is there before. */
static void memory_is_used_again(void **state)
{
    (void)state;
    float *x = numbers(LARGE), *y = numbers(LARGE);
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(pipeline));
    sn_program *warm = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(one_step));
    assert_int_equal(sn_call(warm, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    sn_drop(warm);
    run_pool *pool = both_cpu()->engine.pool;
    size_t before = run_pool_kept(pool);
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    size_t first = run_pool_kept(pool);
    assert_true(first - before <= 2 * (LARGE * sizeof(float) + LARGE / 2));
    for (int i = 0; i < 10; i++)
        assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    assert_int_equal(run_pool_kept(pool), first);
    free(x), free(y);
    sn_drop(p);
}

/* --- contraction --- */

static sn_scalar multiply_add(sn_scalar x, sn_scalar y)
{
    return sn_sub(sn_add(sn_mul(x, y), sn_f32(0.1f)), sn_mul(y, y));
}

static sn_acc contracted(sn_acc x, sn_acc y)
{
    return sn_zip_with(multiply_add, x, y);
}

static void products_contract_unless_switched_off(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    float x[3] = {1.1f, 2.3f, 3.7f}, y[3] = {0.3f, 0.7f, 1e-3f}, r[3];
    sn_context *cx = sn_open(NULL);
    sn_program *p = compiled_in(cx, "[n]f32, [n]f32 -> [n]f32", SN_BODY(contracted));
    says(p, "term", "fma(");
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(y, 3), sn_into(r, 3)), SN_OK);
    for (int i = 0; i < 3; i++)
        assert_true(r[i] == __builtin_fmaf(-y[i], y[i], __builtin_fmaf(x[i], y[i], 0.1f)));
    sn_drop(p);
    sn_close(cx);
    p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> [n]f32", SN_BODY(contracted));
    assert_null(strstr(sn_explain(p, "term"), "fma"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(y, 3), sn_into(r, 3)), SN_OK);
    for (int i = 0; i < 3; i++) {
        float a = x[i] * y[i], b = y[i] * y[i];
        assert_true(r[i] == a + 0.1f - b);
    }
    sn_drop(p);
}

static sn_scalar inside(sn_scalar r, sn_scalar i, sn_scalar count)
{
    return sn_land(sn_lt(sn_add(sn_mul(r, r), sn_mul(i, i)), sn_f32(4)), sn_lt(count, sn_i32(60)));
}

static sn_scalar orbit(void *env, sn_scalar r, sn_scalar i, sn_scalar count)
{
    const sn_scalar *c = env;
    sn_scalar real = sn_add(sn_sub(sn_mul(r, r), sn_mul(i, i)), c[0]);
    return sn_tuple(real, sn_add(sn_mul(sn_add(r, r), i), c[1]), sn_add(count, sn_i32(1)));
}

static sn_scalar escape(sn_scalar row, sn_scalar column)
{
    sn_scalar c[2] = {sn_mul(sn_to_f32(row), 0.01f), sn_mul(sn_to_f32(column), 0.01f)};
    return sn_get(sn_while(inside, sn_closure(orbit, c), sn_tuple(sn_f32(0), sn_f32(0), sn_i32(0))), 2);
}

static sn_acc escapes(sn_acc like)
{
    return sn_generate(sn_shape_of(like), escape);
}

static void loops_in_two_dimensions_go_in_tiles(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    enum { ROWS = 8, COLUMNS = 128 };
    uint8_t like[ROWS * COLUMNS] = {0};
    int32_t count[ROWS * COLUMNS];
    sn_program *p = compiled_in(both_cpu(), "[n,m]u8 -> [n,m]i32", SN_BODY(escapes));
    assert_int_equal(sn_call(p, sn_in(like, ROWS, COLUMNS), sn_into(count, ROWS, COLUMNS)), SN_OK);
    says(p, "kernels", "map_tiles");
    if (strstr(sn_explain(p, "asm"), "(%rsp), %zmm")) /* spilled registers of 64 bytes do not cross cache lines */
        says(p, "asm", "$-64, %rsp");
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_used_is_not_loaded),
        cmocka_unit_test(row_major_positions_are_not_taken_apart),
        cmocka_unit_test(fused_reshapes_are_checked),
        cmocka_unit_test(unrolled_loops_are_loops_again),
        cmocka_unit_test(loops_that_may_fail_stay_unrolled),
        cmocka_unit_test(components_of_folds_are_results_as_they_are),
        cmocka_unit_test(chained_stencils_keep_rows),
        cmocka_unit_test(loops_of_stencils_take_what_follows),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(products_contract_unless_switched_off),
        cmocka_unit_test(loops_in_two_dimensions_go_in_tiles),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
