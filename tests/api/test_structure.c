/* What becomes of programs: how many loops, launches, kernels and buffers, and what explain says about it. */
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

static sn_scalar change(sn_scalar x, sn_scalar y)
{
    return sn_abs(sn_sub(x, y));
}

static sn_acc largest_change(sn_acc m) /* a step of a solver, and how far it moved */
{
    sn_acc next = sn_stencil(below, sn_pattern(3, 3), sn_clamp, m);
    return sn_results(next, sn_fold_all(sn_max, 0, sn_zip_with(change, next, m)));
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
    says(own, "edges", sweep);
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
        {"[n,m]f32 -> [n,m]f32, f32", SN_BODY(largest_change), "not fused: the loops are of different kinds",
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
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
