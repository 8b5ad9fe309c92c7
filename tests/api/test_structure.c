/* What becomes of programs: how many loops, launches, kernels and buffers; what explain says about it; and that memory
 * is used again. */
#include "counts.h"

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

/* --- programs --- */

static sn_acc dot(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, x, y));
}

static void a_dot_product_is_one_loop(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> f32", SN_BODY(dot));
    float *x = numbers(LARGE), r;
    expect_counts(p, .clusters = 1);
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_in(x, LARGE), sn_value(&r)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 2, .launches = 2); /* pieces; their results */
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_in(x, LARGE), sn_value(&r)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 2, .launches = 4);
    assert_int_equal(sn_call(p, sn_in(x, 1000), sn_in(x, 1000), sn_value(&r)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 3, .launches = 5); /* one piece makes the result itself */
    says(p, "edges", "zip_with");
    says(p, "edges", "fused: computed where it is used");
    says(p, "clusters", "fold loop over [n]");
    says(p, "plan", "1 clusters, 0 buffers");
    says(p, "kernels", "for_all");
    if (on_cpu()) {
        says(p, "llvm", "define");
        says(p, "asm", "ret");
    } else {
        const char *kind = both_cpu()->engine.device->limits->kind;
        says(p, kind, strcmp(kind, "cuda") ? "__kernel" : "__global__");
    }
    assert_ptr_equal(sn_explain(p, "plan"), sn_explain(p, "plan"));
    free(x);
    sn_drop(p);
}

static sn_scalar deviation(void *env, sn_scalar x)
{
    const sn_scalar *mean = env;
    sn_scalar d = sn_sub(x, *mean);
    return sn_mul(d, d);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

/* one pass: sum and sum of squares */
static sn_acc mean_and_variance(sn_acc x)
{
    sn_acc sum = sn_fold(sn_add, 0, x), squares = sn_fold(sn_add, 0, sn_map(square, x));
    return sn_results(sum, squares);
}

/* two passes: the mean must be known first */
static sn_acc centred(sn_acc x)
{
    sn_scalar mean = sn_div(sn_the(sn_fold(sn_add, 0, x)), sn_to_f32(sn_size(x)));
    return sn_fold(sn_add, 0, sn_map(sn_closure(deviation, &mean), x));
}

static void several_folds_share_a_loop(void **state)
{
    (void)state;
    float *x = numbers(LARGE), s, q;
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> f32, f32", SN_BODY(mean_and_variance));
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_value(&s), sn_value(&q)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 2, .launches = 2);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> f32", SN_BODY(centred));
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_value(&s)), SN_OK);
    expect_counts(p, .clusters = 2, .buffers = 1, .kernels = 4, .launches = 4);
    says(p, "edges", "not fused: a fold must be complete before its result is used");
    sn_drop(p);
    free(x);
}

static sn_acc own_sum(sn_acc m)
{
    return sn_zip_with(sn_sub, m, sn_map(sn_neg, sn_replicate(sn_sum(m), SN_ALL, sn_extent(m, 1))));
}

static sn_acc negated_sums(sn_acc m)
{
    return sn_map(sn_neg, sn_sum(m));
}

static sn_acc other_sum(sn_acc m) /* of the row that has the number of the column */
{
    return sn_zip_with(sn_sub, m, sn_replicate(sn_sum(m), sn_extent(m, 0), SN_ALL));
}

static sn_acc turned_sums(sn_acc m)
{
    return sn_map(sn_neg, sn_reverse(sn_sum(m)));
}

static sn_acc sum_of_sums(sn_acc m)
{
    return sn_sum(sn_sum(m));
}

static sn_scalar below(sn_scalar s)
{
    return sn_sub(sn_at(s, 0, 0), sn_at(s, 1, 0));
}

static sn_acc all_slopes(sn_acc m)
{
    sn_acc slopes = sn_stencil(below, sn_pattern(3, 3), sn_clamp, m);
    return sn_results(slopes, sn_fold_all(sn_add, 0, slopes));
}

static sn_acc other_shape(sn_acc m) /* of a stencil's result: no fold, but other extents */
{
    return sn_map(sn_exp, sn_flatten(sn_stencil(below, sn_pattern(3, 3), sn_clamp, m)));
}

/* A fold of rows must be complete before the next row reads it, or only before its own does: what stands in the way is
 * then the kind of loop. What fuses is the same. */
static void rows_wait_for_their_own(void **state)
{
    (void)state;
    static const char sweep[] = "fused: one loop over rows, for a later sweep";
    sn_program *own = compiled_in(both_cpu(), "[n,m]f32 -> [n,m]f32", SN_BODY(own_sum));
    says(own, "edges", on_cpu() ? sweep : "not fused: each row reads its own fold only");
    sn_drop(own);
    static const char row[] = "not fused: each row reads its own fold only",
                      whole[] = "not fused: a fold must be complete";
    const struct {
        const char *signature;
        sn_body body;
        const char *answer, *other;
    } rows[] = {
        {"[n,m]f32 -> [n]f32", SN_BODY(negated_sums), row, whole},
        {"[n,n]f32 -> [n,n]f32", SN_BODY(other_sum), whole, row},
        {"[n,m]f32 -> [n]f32", SN_BODY(turned_sums), whole, row},
        {"[n,m]f32 -> f32", SN_BODY(sum_of_sums), row, whole},
        {"[n]f32 -> f32", SN_BODY(centred), whole, row},
        {"[n,m]f32 -> [n,m]f32, f32", SN_BODY(all_slopes), "not fused: the loops are of different kinds",
         "different extents"},
        {"[n,m]f32 -> [k]f32", SN_BODY(other_shape), "not fused: the two iterate over different extents", "kinds"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        sn_program *p = sn_compile_at(SN_HERE, both_cpu(), rows[i].signature, rows[i].body);
        assert_non_null(p);
        says(p, "unfused", rows[i].answer);
        if (strstr(sn_explain(p, "edges"), rows[i].other))
            fail_msg("%s: %s", rows[i].other, sn_explain(p, "edges"));
        says(p, "json", rows[i].answer == row ? "\"answer\": \"row\"" : "\"answer\": \"");
        sn_drop(p);
    }
}

static sn_scalar next(sn_scalar x)
{
    return sn_add(sn_mul(x, 2), 1);
}

static sn_acc chain_of_maps(sn_acc x)
{
    return sn_map(next, sn_map(next, sn_map(next, x)));
}

static sn_acc forced(sn_acc x)
{
    return sn_map(next, sn_force(sn_map(next, x)));
}

static sn_acc two_results(sn_acc x)
{
    sn_acc y = sn_map(next, x);
    return sn_results(y, sn_map(next, y), sn_fold(sn_add, 0, y));
}

static void maps(void **state)
{
    (void)state;
    float *x = numbers(LARGE), *y = numbers(LARGE), *z = numbers(LARGE), s;
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(chain_of_maps));
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(forced));
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    expect_counts(p, .clusters = 2, .buffers = 1, .kernels = 2, .launches = 2);
    says(p, "edges", "not fused: forced to memory");
    says(p, "plan", "alloc");
    says(p, "plan", "free");
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> [n]f32, [n]f32, f32", SN_BODY(two_results));
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE), sn_into(z, LARGE), sn_value(&s)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 2, .launches = 2);
    sn_drop(p);
    free(x), free(y), free(z);
}

static sn_acc apart(sn_acc x, sn_acc y)
{
    return sn_results(sn_map(next, x), sn_map(square, y), sn_fold(sn_add, 0, y));
}

static sn_acc nine_in_turn(sn_acc x)
{
    sn_acc r = sn_map(next, x);
    for (int i = 0; i < 9; i++) /* each reads what is forced, and nothing else */
        r = sn_force(sn_map(next, r));
    return r;
}

static sn_acc many_apart(sn_acc a, sn_acc b, sn_acc c, sn_acc d, sn_acc e, sn_acc f)
{
    return sn_results(sn_map(next, a), sn_map(next, b), sn_map(next, c), sn_map(next, d), sn_map(next, e),
                      sn_map(next, f));
}

/* Small loops of one extent share a launch though they share no array; not if that makes too many streams. */
static void loops_of_one_extent(void **state)
{
    (void)state;
    float *x = numbers(LARGE), *y = numbers(LARGE), s, r[6][10], sum = 0;
    sn_program *p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> [n]f32, [n]f32, f32", SN_BODY(apart));
    assert_int_equal(sn_call(p, sn_in(x, 10), sn_in(y, 10), sn_into(r[0], 10), sn_into(r[1], 10), sn_value(&s)), SN_OK);
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    for (int i = 0; i < 10; i++) {
        sum += y[i];
        assert_true(r[0][i] == 2 * x[i] + 1 && r[1][i] == y[i] * y[i]);
    }
    assert_true(s == sum);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32, [m]f32 -> [n]f32, [m]f32, f32", SN_BODY(apart));
    expect_counts(p, .clusters = 2);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(nine_in_turn));
    expect_counts(p, .clusters = 9, .buffers = 8);
    sn_drop(p);
    p = compiled_in(both_cpu(),
                    "[n]f32, [n]f32, [n]f32, [n]f32, [n]f32, [n]f32 -> [n]f32, [n]f32, [n]f32, [n]f32, [n]f32, [n]f32",
                    SN_BODY(many_apart));
    expect_counts(p, .clusters = 2);
    assert_int_equal(sn_call(p, sn_in(x, 10), sn_in(x + 10, 10), sn_in(x + 20, 10), sn_in(x + 30, 10),
                             sn_in(x + 40, 10), sn_in(x + 50, 10), sn_into(r[0], 10), sn_into(r[1], 10),
                             sn_into(r[2], 10), sn_into(r[3], 10), sn_into(r[4], 10), sn_into(r[5], 10)),
                     SN_OK);
    for (int i = 0; i < 60; i++)
        assert_true(r[i / 10][i % 10] == 2 * x[i] + 1);
    sn_drop(p);
    free(x), free(y);
}

static sn_acc not_fused(sn_acc x)
{
    return chain_of_maps(x);
}

static void fusion_can_be_switched_off(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    sn_options o = {.size = sizeof(o), .fusion = SN_OFF};
    sn_context *cx = sn_open(&o);
    float *x = numbers(100), *y = numbers(100);
    sn_program *p = compiled_in(cx, "[n]f32 -> [n]f32", SN_BODY(not_fused));
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(y, 100)), SN_OK);
    expect_counts(p, .clusters = 3, .buffers = 2, .kernels = 3, .launches = 3);
    says(p, NULL, "not fused: fusion is switched off");
    sn_drop(p);
    sn_close(cx);
    free(x), free(y);
}

/* --- simplification --- */

static sn_scalar roundabout(sn_scalar x)
{
    sn_scalar y = sn_add(sn_mul(sn_add(x, 0), 1), sn_mul(sn_sub(7, 7), x));
    return sn_if(sn_lt(2, 3), sn_neg(sn_neg(y)), sn_div(y, sn_sub(2, 1)));
}

static sn_acc simplified(sn_acc x)
{
    return sn_map(roundabout, x);
}

static void simplification_can_be_switched_off(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    int32_t x[5] = {1, -2, 3, INT32_MIN, INT32_MAX}, y[5];
    for (int off = 0; off < 2; off++) {
        sn_options o = {.size = sizeof(o), .simplify = off ? SN_OFF : SN_ON};
        sn_context *cx = sn_open(&o);
        sn_program *p = compiled_in(cx, "[n]i32 -> [n]i32", SN_BODY(simplified));
        assert_int_equal(sn_call(p, sn_in(x, 5), sn_into(y, 5)), SN_OK);
        assert_memory_equal(x, y, sizeof(x));
        bool negates = strstr(sn_explain(p, "term"), "-") && strstr(sn_explain(p, "kernels"), "neg");
        assert_int_equal(negates, off);
        sn_drop(p);
        sn_close(cx);
    }
}

static sn_scalar twelve_roots(sn_scalar x)
{
    for (int i = 0; i < 12; i++)
        x = sn_sqrt(sn_add(x, 1));
    return x;
}

static sn_scalar before(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_max(sn_sub(i, 1), 0));
}

/* What is dear is computed once, as a whole, and then read at other indices. */
static sn_acc dear_and_read(sn_acc x)
{
    sn_acc roots = sn_map(twelve_roots, x);
    return sn_generate(sn_extent(x, 0), sn_closure(before, &roots));
}

static sn_acc dear_and_read_twice(sn_acc x)
{
    sn_acc roots = sn_map(twelve_roots, x);
    return sn_zip_with(sn_add, roots, sn_reverse(roots));
}

static sn_acc dear_and_read_backwards(sn_acc x)
{
    return sn_zip_with(sn_add, x, sn_reverse(sn_map(twelve_roots, x)));
}

/* What has two readers is stored without the cost model, whatever it costs; what has one is not. */
static void readers_are_counted_without_the_cost_model(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    sn_options o = {.size = sizeof(o), .cost_model = SN_OFF};
    sn_context *cx = sn_open(&o);
    sn_program *p = compiled_in(cx, "[n]f32 -> [n]f32", SN_BODY(dear_and_read_twice));
    expect_counts(p, .clusters = 2, .buffers = 1);
    sn_drop(p);
    p = compiled_in(cx, "[n]f32 -> [n]f32", SN_BODY(dear_and_read_backwards));
    expect_counts(p, .clusters = 1);
    sn_drop(p);
    sn_close(cx);
}

static void the_cost_model_can_be_switched_off(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    float *x = numbers(100), result[2][100];
    for (int i = 0; i < 100; i++)
        x[i] += 5;
    for (int off = 0; off < 2; off++) {
        sn_options o = {.size = sizeof(o), .cost_model = off ? SN_OFF : SN_ON};
        sn_context *cx = sn_open(&o);
        sn_program *p = compiled_in(cx, "[n]f32 -> [n]f32", SN_BODY(dear_and_read));
        assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(result[off], 100)), SN_OK);
        expect_counts(p, .clusters = off ? 1 : 2, .buffers = off ? 0 : 1, .kernels = off ? 1 : 2,
                      .launches = off ? 1 : 2);
        sn_drop(p);
        sn_close(cx);
    }
    assert_memory_equal(result[0], result[1], sizeof(result[0]));
    free(x);
}

/* --- the cap on kernels --- */

static sn_scalar large_function(void *env, sn_scalar x)
{
    sn_scalar a = x, b = sn_add(x, *(const int *)env);
    for (int i = 0; i < 190; i++) {
        sn_scalar c = i & 1 ? sn_mul(a, b) : sn_sub(b, a);
        a = b;
        b = c;
    }
    return b;
}

/* 40 functions of 191 operations */
static sn_acc large_chain(sn_acc x)
{
    for (int i = 0; i < 40; i++)
        x = sn_map(sn_closure(large_function, &i), x);
    return x;
}

static sn_acc large_results(sn_acc x)
{
    sn_acc half = x;
    for (int i = 0; i < 20; i++)
        half = sn_map(sn_closure(large_function, &i), half);
    sn_acc whole = half;
    for (int i = 20; i < 33; i++)
        whole = sn_map(sn_closure(large_function, &i), whole);
    return sn_results(half, whole);
}

static void large_kernels_are_cut(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]i32 -> [n]i32", SN_BODY(large_chain));
    expect_counts(p, .clusters = 2, .buffers = 1);
    says(p, "edges", "not fused: the kernel would be too large");
    int32_t x[20], y[20], right[20];
    for (int i = 0; i < 20; i++)
        right[i] = x[i] = i * 7 - 60;
    for (int k = 0; k < 40; k++)
        for (int i = 0; i < 20; i++) {
            uint32_t a = (uint32_t)right[i], b = a + (uint32_t)k, c;
            for (int j = 0; j < 190; j++, a = b, b = c)
                c = j & 1 ? a * b : b - a;
            right[i] = (int32_t)b;
        }
    assert_int_equal(sn_call(p, sn_in(x, 20), sn_into(y, 20)), SN_OK);
    assert_memory_equal(y, right, sizeof(y));
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]i32 -> [n]i32, [n]i32", SN_BODY(large_results)); /* 3820 and 2483 */
    expect_counts(p, .clusters = 2);
    says(p, "edges", "not fused: the kernel would be too large");
    sn_drop(p);
}

/* --- loads --- */

static unsigned occurrences(const char *where, const char *part)
{
    unsigned n = 0;
    for (; where && (where = strstr(where, part)); where++)
        n++;
    return n;
}

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
    expect_counts(p, .clusters = 1, .kernels = 1, .launches = 1);
    says(p, "edges", "neighbours kept in rows of shared memory");
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

/* Six boundaries, but two buffers at a time; and calls find the memory of earlier ones. */
static void memory_is_used_again(void **state)
{
    (void)state;
    float *x = numbers(LARGE), *y = numbers(LARGE);
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(pipeline));
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
        cmocka_unit_test(a_dot_product_is_one_loop),
        cmocka_unit_test(several_folds_share_a_loop),
        cmocka_unit_test(rows_wait_for_their_own),
        cmocka_unit_test(maps),
        cmocka_unit_test(loops_of_one_extent),
        cmocka_unit_test(fusion_can_be_switched_off),
        cmocka_unit_test(simplification_can_be_switched_off),
        cmocka_unit_test(the_cost_model_can_be_switched_off),
        cmocka_unit_test(readers_are_counted_without_the_cost_model),
        cmocka_unit_test(large_kernels_are_cut),
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
