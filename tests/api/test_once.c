/* What is the same along a dimension is computed once: rows and columns that are scaled by functions of numbers of
 * their own, in kernels against the interpreter. */
#include "both.h"

static sn_acc of_columns(sn_acc v, sn_acc x)
{
    return sn_replicate(v, sn_extent(x, 0), SN_ALL);
}

static sn_acc of_rows(sn_acc v, sn_acc x)
{
    return sn_replicate(v, SN_ALL, sn_extent(x, 1));
}

static sn_scalar over_root(sn_scalar x, sn_scalar v)
{
    return sn_div(x, sn_sqrt(v));
}

static sn_acc columns(sn_acc x, sn_acc v)
{
    return sn_zip_with(over_root, x, of_columns(v, x));
}

static sn_acc rows(sn_acc x, sn_acc v)
{
    return sn_zip_with(over_root, x, of_rows(v, x));
}

static sn_acc other_columns(sn_acc x, sn_acc v)
{
    return sn_transpose(sn_zip_with(over_root, sn_transpose(x), sn_transpose(of_columns(v, x))));
}

static sn_scalar scaled(sn_scalar x, sn_scalar r, sn_scalar c)
{
    return sn_mul(sn_sub(sn_mul(x, sn_div(1, r)), c), sn_max(sn_sqrt(c), sn_div(c, 3)));
}

static sn_acc rows_and_columns(sn_acc x, sn_acc r, sn_acc c)
{
    return sn_zip_with(scaled, x, of_rows(r, x), of_columns(c, x));
}

static sn_scalar plus_1(sn_scalar x)
{
    return sn_add(x, 1);
}

/* The elements that are scaled are folded; what scales them is a map of what was replicated. */
static sn_acc sums(sn_acc x, sn_acc v)
{
    sn_acc s = sn_zip_with(over_root, x, sn_map(plus_1, of_columns(v, x)));
    return sn_results(sn_maximum(s), sn_maximum(sn_transpose(s)));
}

static sn_scalar by(void *env, sn_scalar x)
{
    return sn_div(x, *(const sn_scalar *)env);
}

static sn_acc mean_of_columns(sn_acc x)
{
    sn_scalar n = sn_to_f64(sn_extent(x, 0));
    return sn_map(sn_closure(by, &n), sn_sum(sn_transpose(x)));
}

static sn_scalar squared_distance(sn_scalar x, sn_scalar m)
{
    return sn_mul(sn_sub(x, m), sn_sub(x, m));
}

static sn_scalar standardised(sn_scalar x, sn_scalar m, sn_scalar v)
{
    return sn_div(sn_sub(x, m), sn_sqrt(sn_add(v, 1)));
}

static sn_acc standardise(sn_acc x)
{
    sn_acc m = mean_of_columns(x), v = mean_of_columns(sn_zip_with(squared_distance, x, of_columns(m, x)));
    return sn_zip_with(standardised, x, of_columns(m, x), of_columns(v, x));
}

/* Of planes, of rows in all planes, and of all but the row. */
static sn_scalar of_three(sn_scalar x, sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_mul(x, sn_sqrt(a)), sn_add(sn_div(a, b), sn_sqrt(c)));
}

static sn_acc three(sn_acc x, sn_acc a, sn_acc b, sn_acc c)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), k = sn_extent(x, 2);
    return sn_zip_with(of_three, x, sn_replicate(a, SN_ALL, m, k), sn_replicate(b, n, SN_ALL, k),
                       sn_replicate(c, SN_ALL, m, SN_ALL));
}

static sn_scalar by_index(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    sn_acc *v = env;
    (void)i;
    return sn_add(sn_mul(x, sn_sqrt(sn_index(*v, j))), sn_sqrt(sn_to_f32(j)));
}

static sn_acc indexed(sn_acc x, sn_acc v)
{
    return sn_imap(sn_closure(by_index, &v), x);
}

static sn_scalar of_indices(sn_scalar i, sn_scalar j)
{
    return sn_mul(sn_sqrt(sn_to_f64(i)), sn_div(1, sn_to_f64(j)));
}

static sn_acc generated(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), of_indices);
}

/* Quotients of integers fail if there are elements, and only then. */
static sn_scalar quotient(sn_scalar x, sn_scalar v)
{
    return sn_add(x, sn_div(100, v));
}

static sn_acc quotients(sn_acc x, sn_acc v)
{
    return sn_zip_with(quotient, x, of_columns(v, x));
}

static sn_scalar hundred_by(sn_scalar v)
{
    return sn_div(100, v);
}

static sn_acc small_quotients(sn_acc x, sn_acc v)
{
    return sn_zip_with(sn_add, x, of_columns(sn_map(hundred_by, v), x));
}

static void one_dimension(void **state)
{
    (void)state;
    both("[n,m]T, [m]T -> [n,m]T", columns, FLOATS, MIXED, MATRICES);
    both("[n,m]T, [n]T -> [n,m]T", rows, FLOATS, MIXED, MATRICES);
    both("[n,m]T, [m]T -> [n,m]T", other_columns, FLOATS, MIXED, MATRICES);
    both("[n,m]T, [m]T -> [n,m]T", indexed, "f32", MIXED, MATRICES);
    both("[n,m]f32 -> [n,m]f64", generated, NULL, MIXED, MATRICES);
}

static void several_dimensions(void **state)
{
    (void)state;
    both("[n,m]T, [n]T, [m]T -> [n,m]T", rows_and_columns, FLOATS, MIXED, MATRICES);
    both("[n,m,k]T, [n]T, [m]T, [n,k]T -> [n,m,k]T", three, FLOATS, MIXED, 0, 3, 4, 3, 0, 4, 3, 4, 0, 1, 1, 1, 5, 33, 7,
         33, 2, 65);
}

static void with_folds(void **state)
{
    (void)state;
    both("[n,m]T, [m]T -> [n]T, [m]T", sums, FLOATS, POSITIVE, 1, 1, 3, 17, 33, 65, 64, 5, 300, 40, 40, 1025);
    both("[n,m]f64 -> [n,m]f64", standardise, NULL, SMALL, MATRICES, 30, 700, 700, 30);
}

/* Nobody asks for quotients of columns without elements. */
static void no_elements(sn_body body)
{
    const int32_t v[5] = {0, 1, 2, 3, 4};
    int32_t x[1] = {0}, result[1];
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n,m]i32, [m]i32 -> [n,m]i32", body);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, 0, 5), sn_in(v, 5), sn_into(result, 0, 5)), SN_OK);
    sn_drop(p);
}

static void what_may_fail(void **state)
{
    (void)state;
    no_elements(SN_BODY(quotients));
    no_elements(SN_BODY(small_quotients));
    both("[n,m]i32, [m]i32 -> [n,m]i32", quotients, NULL, INDICES, 5, 0, 5, 9, 1, 1);
    both("[n,m]i32, [m]i32 -> [n,m]i32", small_quotients, NULL, INDICES, 5, 0, 5, 9, 1, 1);
    both("[n,m]i32, [m]i32 -> [n,m]i32", small_quotients, NULL, POSITIVE, 0, 5, 5, 0, 5, 9, 40, 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_dimension), cmocka_unit_test(several_dimensions),
                                       cmocka_unit_test(with_folds), cmocka_unit_test(what_may_fail)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
