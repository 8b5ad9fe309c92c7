/* Programs of the embedding, interpreted: what the operations that choose elements or make their own operators mean. */
#include "embed_test.h"
#include <math.h>

static const numbers matrix = {2, {2, 3}, (const double[]){1, 2, 3, 4, 5, 6}};
static const numbers nothing = {1, {0}, (const double[]){0}};

#define VALUES(...) (int)(sizeof(NUMBERS(__VA_ARGS__)) / sizeof(double)), NUMBERS(__VA_ARGS__)
#define VECTOR(...) ((numbers){1, {(int64_t)(sizeof(NUMBERS(__VA_ARGS__)) / sizeof(double))}, NUMBERS(__VA_ARGS__)})

static sn_acc turn(sn_acc a)
{
    return sn_results(sn_transpose(a), sn_reverse(a));
}

static void transpose_and_reverse(void **state)
{
    (void)state;
    expect_values(build("[n,m]f32 -> [m,n]f32, [n,m]f32", turn), &matrix, VALUES(1, 4, 2, 5, 3, 6, 3, 2, 1, 6, 5, 4));
}

static sn_acc spread(sn_acc a)
{
    sn_acc row = sn_slice(a, 1, SN_ALL), column = sn_slice(a, SN_ALL, sn_sub(sn_extent(a, 1), 1));
    return sn_results(row, column, sn_replicate(column, SN_ALL, 2), sn_replicate(column, 2, SN_ALL));
}

static void slice_and_replicate(void **state)
{
    (void)state;
    expect_values(build("[n,m]i32 -> [m]i32, [n]i32, [n,2]i32, [2,n]i32", spread), &matrix,
                  VALUES(4, 5, 6, 3, 6, 3, 3, 6, 6, 3, 6, 3, 6));
}

static sn_acc extremes(sn_acc a)
{
    return sn_results(sn_argmax(a), sn_argmin(a), sn_maximum(a), sn_minimum(a));
}

static void extremes_take_the_first_and_ignore_nan(void **state)
{
    (void)state;
    numbers ties = VECTOR(2, 7, 1, 7, 1), with_nan = VECTOR(NAN, 3, NAN, 5, 5), only_nan = VECTOR(NAN, NAN);
    expect_values(build("[n]f64 -> i64, i64, f64, f64", extremes), &ties, VALUES(1, 2, 7, 1));
    expect_values(build("[n]f64 -> i64, i64, f64, f64", extremes), &with_nan, VALUES(3, 1, 5, 3));
    expect_values(build("[n]f64 -> i64, i64, f64, f64", extremes), &only_nan, VALUES(0, 0, NAN, NAN));
    expect_values(build("[n]u8 -> i64, i64, u8, u8", extremes), &ties, VALUES(1, 2, 7, 1));
}

static sn_acc sums(sn_acc a)
{
    return sn_results(sn_sum(a), sn_product(a));
}

static void small_integers_add_up_in_32_bits(void **state)
{
    (void)state;
    numbers large = VECTOR(200, 100, 2);
    expect_values(build("[n]u8 -> u32, u32", sums), &large, VALUES(302, 40000));
    expect_values(build("[n]u8 -> u32, u32", sums), &nothing, VALUES(0, 1));
    expect_values(build("[n]f64 -> f64, f64", sums), &large, VALUES(302, 40000));
}

static sn_acc tests(sn_acc a)
{
    return sn_results(sn_all(a), sn_any(a), sn_count(a));
}

static void tests_of_bools(void **state)
{
    (void)state;
    numbers some = VECTOR(1, 0, 1), every = VECTOR(1, 1);
    expect_values(build("[n]bool -> bool, bool, i64", tests), &some, VALUES(0, 1, 2));
    expect_values(build("[n]bool -> bool, bool, i64", tests), &every, VALUES(1, 1, 2));
    expect_values(build("[n]bool -> bool, bool, i64", tests), &nothing, VALUES(1, 0, 0));
}

static sn_acc folds(sn_acc a)
{
    return sn_results(sn_fold(sn_sub, 100, a), sn_fold_all(sn_add, 1, a), sn_fold1(sn_sub, a));
}

/* The seed is the left operand of what the elements of the row come to: 100 - ((1 - 2) - 3). */
static void folds_along_rows_and_over_all(void **state)
{
    (void)state;
    expect_values(build("[n,m]f32 -> [n]f32, f32, [n]f32", folds), &matrix, VALUES(104, 107, 22, -4, -7));
}

static sn_scalar left_and_up(sn_scalar s)
{
    return sn_sub(sn_at(s, 0, 1), sn_mul(10, sn_at(s, -1, 0)));
}

static sn_scalar coded_index(sn_scalar i, sn_scalar j)
{
    return sn_to_i32(sn_add(sn_mul(i, 100), j));
}

static sn_acc borders(sn_acc a)
{
    sn_pattern p = sn_pattern(3, 3);
    return sn_results(sn_stencil(left_and_up, p, sn_clamp, a), sn_stencil(left_and_up, p, sn_mirror, a),
                      sn_stencil(left_and_up, p, sn_wrap, a), sn_stencil(left_and_up, p, sn_constant(7), a),
                      sn_stencil(left_and_up, p, sn_outside(coded_index), a));
}

static void stencils_at_borders(void **state)
{
    (void)state;
    expect_values(build("[n,m]i32 -> [n,m]i32, [n,m]i32, [n,m]i32, [n,m]i32, [n,m]i32", borders), &matrix,
                  VALUES(2 - 10, 3 - 20, 3 - 30, 5 - 10, 6 - 20, 6 - 30, /* clamp */
                         2 - 40, 3 - 50, 2 - 60, 5 - 10, 6 - 20, 5 - 30, /* mirror */
                         2 - 40, 3 - 50, 1 - 60, 5 - 10, 6 - 20, 4 - 30, /* wrap */
                         2 - 70, 3 - 70, 7 - 70, 5 - 10, 6 - 20, 7 - 30, /* constant */
                         2 + 1000, 3 + 990, 3 + 980, 5 - 10, 6 - 20, 103 - 30));
}

static sn_scalar collatz_goes_on(sn_scalar x, sn_scalar n)
{
    return sn_and(sn_ne(x, 1), sn_lt(n, 1000));
}

static sn_scalar collatz_next(sn_scalar x, sn_scalar n)
{
    sn_scalar next = sn_if(sn_eq(sn_mod(x, 2), 0), sn_quot(x, 2), sn_add(sn_mul(x, 3), 1));
    return sn_tuple(next, sn_add(n, 1));
}

static sn_scalar collatz(sn_scalar x)
{
    return sn_snd(sn_while(collatz_goes_on, collatz_next, sn_tuple(x, 0)));
}

static sn_scalar halve(sn_scalar x)
{
    return sn_quot(x, 2);
}

/* The condition and the step of a loop each contain a loop. */
static sn_scalar large_when_halved(sn_scalar x)
{
    sn_scalar quarter = sn_iterate(2, halve, x);
    return sn_gt(quarter, 1);
}

static sn_scalar halve_thrice(sn_scalar x)
{
    return sn_add(sn_iterate(3, halve, x), sn_mul(x, 0));
}

static sn_scalar nested(sn_scalar x)
{
    return sn_while(large_when_halved, halve_thrice, x);
}

static sn_acc nested_loops(sn_acc a)
{
    return sn_map(nested, a);
}

static void loops_in_both_functions_of_a_loop(void **state)
{
    (void)state;
    numbers from = VECTOR(7, 8, 1000);
    expect_values(build("[n]i32 -> [n]i32", nested_loops), &from, VALUES(7, 1, 1));
}

static sn_scalar add_index(sn_scalar i, sn_scalar x)
{
    return sn_add(sn_mul(x, 10), i);
}

static sn_scalar digits(sn_scalar x)
{
    return sn_loop(x, add_index, sn_i64(0));
}

static sn_acc loops(sn_acc a)
{
    return sn_results(sn_map(collatz, a), sn_map(digits, a));
}

static void scalar_loops(void **state)
{
    (void)state;
    numbers from = VECTOR(1, 6, 7);
    expect_values(build("[n]i32 -> [n]i32, [n]i64", loops), &from, VALUES(0, 8, 16, 0, 12345, 123456));
}

typedef struct table {
    sn_acc of;
} table;

static sn_scalar row_and_element(void *env, sn_scalar i)
{
    table *t = env;
    return sn_tuple(sn_sfold(sn_sub, 0, t->of, i), sn_index(t->of, i, 2), sn_linear_index(t->of, i));
}

static sn_acc readings(sn_acc a)
{
    table t = {a};
    return sn_generate(sn_extent(a, 0), sn_closure(row_and_element, &t));
}

static void reads_of_arrays(void **state)
{
    (void)state;
    expect_values(build("[n,m]f32 -> [n](f32, f32, f32)", readings), &matrix, VALUES(-6, 3, 1, -15, 6, 2));
}

static sn_acc chosen(sn_acc a, sn_acc index)
{
    return sn_results(sn_gather(index, a), sn_flatten(a), sn_reshape(sn_shape(sn_extent(a, 1), sn_extent(a, 0)), a));
}

static void gather_and_reshape(void **state)
{
    (void)state;
    numbers in[2] = {matrix, {1, {2}, NUMBERS(1, 2, 0, 1)}};
    expect_values(build("[n,m]f32, [k](i32, u8) -> [k]f32, [s]f32, [m,n]f32", chosen), in,
                  VALUES(6, 2, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(transpose_and_reverse),
        cmocka_unit_test(slice_and_replicate),
        cmocka_unit_test(extremes_take_the_first_and_ignore_nan),
        cmocka_unit_test(small_integers_add_up_in_32_bits),
        cmocka_unit_test(tests_of_bools),
        cmocka_unit_test(folds_along_rows_and_over_all),
        cmocka_unit_test(stencils_at_borders),
        cmocka_unit_test(scalar_loops),
        cmocka_unit_test(loops_in_both_functions_of_a_loop),
        cmocka_unit_test(reads_of_arrays),
        cmocka_unit_test(gather_and_reshape),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
