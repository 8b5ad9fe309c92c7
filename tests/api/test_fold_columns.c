/* Folds of what lies in columns: the kernels whose lanes are neighbouring columns against the interpreter, and against
 * the bits of the same rows brought together in memory first. */
#include "both.h"

#include <stdlib.h>
#include <string.h>

/* rows x columns, on both sides of where that kernel begins, of a group of lanes and of a piece */
#define SHAPES                                                                                                         \
    33, 15, 33, 16, 33, 17, 32, 40, 63, 64, 64, 65, 65, 130, 100, 33, 127, 16, 128, 100, 129, 257, 400, 31, 1100, 20,  \
        0, 20, 20, 0, 1, 50, 40000, 17, 70001, 16, 33, 1, 300, 1, 200, 2, 9000, 3, 5000, 7, 31, 70, 33, 2500, 150,     \
        1300

static sn_acc sums(sn_acc x)
{
    return sn_fold(sn_add, 5, sn_transpose(x));
}

static sn_scalar larger_pair(sn_scalar a, sn_scalar b)
{
    sn_scalar right =
        sn_lor(sn_gt(sn_fst(b), sn_fst(a)), sn_land(sn_eq(sn_fst(b), sn_fst(a)), sn_lt(sn_snd(b), sn_snd(a))));
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_scalar with_row(sn_scalar column, sn_scalar row, sn_scalar x)
{
    (void)column;
    return sn_tuple(x, sn_to_i32(row));
}

/* commutes, and has no identity that we know; of no rows an error */
static sn_acc greatest(sn_acc x)
{
    sn_acc all = sn_fold1(sn_commutative(larger_pair), sn_imap(with_row, sn_transpose(x)));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static sn_acc several(sn_acc x)
{
    sn_acc t = sn_transpose(x);
    return sn_results(sn_minimum(t), sn_sum(sn_zip_with(sn_mul, t, t)), sn_maximum(t));
}

static sn_acc leftmost(sn_acc x)
{
    sn_acc all = sn_fold1(larger_pair, sn_imap(with_row, sn_transpose(x)));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static sn_scalar modulo(sn_scalar a, sn_scalar b)
{
    return sn_mod(sn_add(a, b), sn_sub(sn_add(a, b), 3)); /* fails where the sum is 3 */
}

static sn_acc moduli(sn_acc x)
{
    return sn_fold1(sn_commutative(modulo), sn_transpose(x));
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 1);
}

/* Counts of what is narrow, beside another sum and alone. */
static sn_acc counts(sn_acc x)
{
    sn_acc large = sn_map(is_large, sn_transpose(x));
    return sn_results(sn_count(large), sn_sum(sn_map(sn_to_i32, large)), sn_any(large));
}

static sn_acc count(sn_acc x)
{
    return sn_count(sn_map(is_large, sn_transpose(x)));
}

static void columns_of_all_lengths(void **state)
{
    (void)state;
    both("[n,m]T -> [m]T", sums, "i16 i64 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [m]T, [m]i32", greatest, "u8 i32 f64", POSITIVE, SHAPES);
    both("[n,m]T -> [m]T, [m]i32", leftmost, "f32", POSITIVE, SHAPES);
    both("[n,m]T -> [m]T, [m]T, [m]T", several, "i32 f32", SMALL, 33, 20, 65, 130, 300, 64, 40000, 17);
    both("[n,m]T -> [m]T", moduli, "i32", POSITIVE, 33, 40);
    both("[n,m]T -> [m]i64, [m]i32, [m]bool", counts, "u8 i16 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [m]i64", count, "u8 i8 i16 i32", SMALL, SHAPES);
}

/* Workers share the lines of few pieces, whose last one may have so few that one worker takes them. */
static void parts_of_the_lines(void **state)
{
    (void)state;
#define PARTED 300, 400, 4100, 28, 4160, 28, 4161, 28, 130, 1040
    both("[n,m]T -> [m]T", sums, "f64", SMALL, PARTED);
    both("[n,m]T -> [m]T, [m]i32", greatest, "u8 i32", POSITIVE, PARTED);
    both("[n,m]T -> [m]T, [m]T, [m]T", several, "f32", MIXED, PARTED);
    both("[n,m]T -> [m]T", moduli, "i32", POSITIVE, 500, 400);
    both("[n,m]T -> [m]i64, [m]i32, [m]bool", counts, "u8 i16", SMALL, PARTED);
#undef PARTED
}

/* --- products of matrices --- */

static sn_acc product(sn_acc a, sn_acc b)
{
    sn_scalar rows = sn_extent(a, 0), columns = sn_extent(b, 1);
    return sn_fold(sn_add, 0,
                   sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, columns, SN_ALL),
                               sn_replicate(sn_transpose(b), rows, SN_ALL, SN_ALL)));
}

static sn_acc batch(sn_acc x)
{
    return sn_sum(sn_transpose(x)); /* of each of the matrices */
}

static void higher_ranks(void **state)
{
    (void)state;
    both("[n,k]T, [k,m]T -> [n,m]T", product, "i32 f32 f64", SMALL, 3, 40, 20, 17, 100, 65, 1, 33, 16, 2, 0, 20, 0, 40,
         20);
    both("[l,n,m]T -> [l,m]T", batch, "u32 f64", SMALL, 3, 40, 20, 2, 70, 65, 5, 33, 16);
    both("[a,l,n,m]T -> [a,l,m]T", batch, "f32", SMALL, 2, 3, 40, 20, 3, 2, 64, 64);
}

static sn_scalar from_outermost(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(k, i, j);
}

static sn_acc outermost_last(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 2), sn_extent(x, 0)), from_outermost, x);
}

static sn_acc outer(sn_acc x)
{
    sn_acc t = outermost_last(x);
    return sn_results(sn_maximum(t), sn_fold(sn_add, 5, t));
}

static sn_scalar weighted(sn_scalar j, sn_scalar k, sn_scalar i, sn_scalar x)
{
    return sn_add(sn_mul(x, i), sn_sub(sn_mul(k, 3), j));
}

/* what needs the indices of all dimensions */
static sn_acc outer_weighted(sn_acc x)
{
    return sn_sum(sn_imap(weighted, sn_map(sn_to_i64, outermost_last(x))));
}

static void outer_and_middle_dimensions(void **state)
{
    (void)state;
    both("[l,n,m]T -> [n,m]T, [n,m]T", outer, "u8 i32 f32 f64", SMALL, 3, 40, 20, 40, 3, 5, 33, 20, 65, 130, 2, 1, 200,
         7, 33, 4100, 3, 2);
    both("[l,n,m]T -> [n,m]i64", outer_weighted, "u8 i32", SMALL, 3, 40, 20, 40, 3, 5, 33, 20, 65, 130, 2, 1, 4100, 3,
         2);
    both("[l,n,m]T -> [l,m]T", batch, "i32 f32", SMALL, 3, 5, 40, 20, 200, 3, 4, 33, 33, 2, 4500, 7, 6, 70, 1);
}

/* --- the same bits --- */

static sn_acc both_ways(sn_acc x)
{
    sn_acc t = sn_transpose(x), rows = sn_force(t);
    return sn_results(sn_sum(t), sn_sum(rows));
}

static void bits_do_not_depend_on_where_elements_lie(void **state)
{
    static const int64_t shape[][2] = {{33, 16},    {64, 70},   {127, 33},  {129, 64},  {1000, 200}, {40000, 18},
                                       {70001, 40}, {33, 3},    {100, 1},   {257, 7},   {9000, 5},   {4100, 60},
                                       {4161, 60},  {600, 400}, {8200, 60}, {130, 2500}};
    (void)state;
    sn_program *f32 = sn_compile(both_cpu(), "[n,m]f32 -> [m]f32, [m]f32", both_ways);
    sn_program *f64 = sn_compile(both_cpu(), "[n,m]f64 -> [m]f64, [m]f64", both_ways);
    assert_true(f32 && f64);
    for (size_t k = 0; k < sizeof(shape) / sizeof(shape[0]); k++) {
        int64_t n = shape[k][0], m = shape[k][1];
        float *x = malloc((size_t)(n * m) * sizeof(*x)), direct[2500], gathered[2500];
        double *y = malloc((size_t)(n * m) * sizeof(*y)), direct64[2500], gathered64[2500];
        uint32_t random = 7;
        assert_true(x && y && m <= 2500);
        for (int64_t i = 0; i < n * m; i++) {
            random = random * 1664525 + 1013904223;
            x[i] = (float)(random >> 8) * 0x1p-20f - 3;
            y[i] = (double)random * 0x1p-28 - 3;
        }
        assert_int_equal(sn_call(f32, sn_in(x, n, m), sn_into(direct, m), sn_into(gathered, m)), SN_OK);
        assert_memory_equal(direct, gathered, (size_t)m * sizeof(float));
        assert_int_equal(sn_call(f64, sn_in(y, n, m), sn_into(direct64, m), sn_into(gathered64, m)), SN_OK);
        assert_memory_equal(direct64, gathered64, (size_t)m * sizeof(double));
        free(x);
        free(y);
    }
    sn_drop(f32);
    sn_drop(f64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_all_lengths),
        cmocka_unit_test(parts_of_the_lines),
        cmocka_unit_test(higher_ranks),
        cmocka_unit_test(outer_and_middle_dimensions),
        cmocka_unit_test(bits_do_not_depend_on_where_elements_lie),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
