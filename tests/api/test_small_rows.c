/* Arrays whose last dimensions are small and known: matrices of a few rows and columns, and points. A lane has a whole
 * matrix, whose 9 to 16 elements are read and written in blocks (emit/cpu/llvm/dense.c): the interpreter's bits, of
 * every number of matrices around that of a gang. */
#include "both.h"

#define COUNTS 0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 47, 100, 1000, 4099

static sn_acc products(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 2), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL)));
}

static void products_of_matrices(void **state)
{
    (void)state;
    both("[n,4,4]T, [n,4,4]T -> [n,4,4]T", products, "f32 f64 i32 i64 u32", SMALL, COUNTS);
    both("[n,3,3]T, [n,3,3]T -> [n,3,3]T", products, "f32 f64 i32 i64", SMALL, COUNTS);
    both("[n,2,5]T, [n,5,6]T -> [n,2,6]T", products, "f32 f64 i32", SMALL, COUNTS);
    both("[n,5,3]T, [n,3,2]T -> [n,5,2]T", products, "f32 f64 i32", SMALL, COUNTS);
    both("[n,3,5]T, [n,5,5]T -> [n,3,5]T", products, "f32 f64", SMALL, COUNTS);
    both("[n,7,2]T, [n,2,2]T -> [n,7,2]T", products, "f32 f64", SMALL, COUNTS);
    both("[n,4,4]T, [n,4,4]T -> [n,4,4]T", products, "f32 f64", MIXED, 33, 1000);
}

/* Several loops read the same rows, and what they make has as many columns. */
static sn_acc folds(sn_acc x)
{
    sn_acc turned = sn_transpose(x);
    return sn_results(sn_sum(x), sn_fold(sn_max, 0, turned), sn_zip_with(sn_add, x, sn_map(sn_neg, turned)));
}

static void rows_and_columns(void **state)
{
    (void)state;
    both("[n,4,4]T -> [n,4]T, [n,4]T, [n,4,4]T", folds, "f32 f64 i32", SMALL, COUNTS);
    both("[n,3,3]T -> [n,3]T, [n,3]T, [n,3,3]T", folds, "f32 f64 i64", SMALL, COUNTS);
}

static sn_acc columns_too(sn_acc x)
{
    return sn_results(sn_sum(x), sn_fold(sn_max, 1, sn_transpose(x)));
}

static void rows_of_other_lengths(void **state)
{
    (void)state;
    both("[n,3,4]T -> [n,3]T, [n,4]T", columns_too, "f32 f64 i32", SMALL, COUNTS);
    both("[n,2,7]T -> [n,2]T, [n,7]T", columns_too, "f32 f64", SMALL, COUNTS);
    both("[n,5,3]T -> [n,5]T, [n,3]T", columns_too, "f32 f64", SMALL, COUNTS);
    both("[n,11,1]T -> [n,11]T, [n,1]T", columns_too, "f32 f64", SMALL, COUNTS);
}

/* The indices of another array in between, which lies apart from the first. */
static sn_acc with_neighbours(sn_acc x, sn_acc y)
{
    sn_acc sums = sn_zip_with(sn_add, sn_sum(x), sn_sum(sn_transpose(y)));
    return sn_results(sums, sn_sum(sn_zip_with(sn_mul, x, sn_transpose(y))));
}

static void two_arrays(void **state)
{
    (void)state;
    both("[n,4,3]T, [n,3,4]T -> [n,4]T, [n,4]T", with_neighbours, "f32 f64 i32", SMALL, COUNTS);
    both("[n,2,5]T, [n,5,2]T -> [n,2]T, [n,2]T", with_neighbours, "f32 f64", SMALL, COUNTS);
}

/* --- neighbours in rows that a lane goes along: reads that are a turn or two apart share a tile --- */

static sn_acc steps(sn_acc x)
{
    return sn_sum(sn_zip_with(sn_sub, sn_init(x), sn_tail(x)));
}

static sn_acc steps_back(sn_acc x)
{
    return sn_maximum(sn_zip_with(sn_sub, sn_tail(x), sn_init(x)));
}

static sn_acc second_differences(sn_acc x)
{
    sn_acc middle = sn_init(sn_tail(x)), both = sn_zip_with(sn_add, sn_tail(sn_tail(x)), sn_init(sn_init(x)));
    return sn_sum(sn_zip_with(sn_sub, sn_zip_with(sn_sub, both, middle), middle));
}

static sn_acc from_the_middle(sn_acc x)
{
    sn_acc middle = sn_init(sn_tail(x)), first = sn_zip_with(sn_mul, middle, sn_init(sn_init(x)));
    return sn_sum(sn_zip_with(sn_sub, first, sn_tail(sn_tail(x))));
}

static sn_acc two_and_three_apart(sn_acc x)
{
    sn_acc a = sn_init(sn_init(sn_init(x))), b = sn_tail(sn_init(sn_init(x)));
    sn_acc c = sn_init(sn_tail(sn_tail(x))), d = sn_tail(sn_tail(sn_tail(x)));
    return sn_sum(sn_zip_with(sn_mul, sn_zip_with(sn_add, a, d), sn_zip_with(sn_sub, c, b)));
}

static sn_acc of_two_arrays(sn_acc x, sn_acc y)
{
    sn_acc both = sn_zip_with(sn_mul, sn_init(x), sn_tail(y));
    return sn_sum(sn_zip_with(sn_add, both, sn_zip_with(sn_mul, sn_tail(x), sn_init(y))));
}

/* Rows and columns. */
#define ROWS(m) 1, m, 31, m, 130, m
#define NARROW ROWS(3), ROWS(4), ROWS(5), ROWS(8), ROWS(9), ROWS(15), ROWS(16), ROWS(17), ROWS(18)
#define WIDE ROWS(19), ROWS(20), ROWS(29), ROWS(31), ROWS(32), ROWS(33), ROWS(34), ROWS(35), ROWS(50)
#define SOME ROWS(3), ROWS(9), ROWS(16), ROWS(18), ROWS(31), ROWS(33), ROWS(50)

static void neighbours(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", steps, "f32", SMALL, NARROW, WIDE);
    both("[n,m]T -> [n]T", steps, "f64 i32", SMALL, SOME);
    both("[n,m]T -> [n]T", steps_back, "f32 u8 i16", MIXED, SOME);
    both("[n,m]T -> [n]T", second_differences, "f64", SMALL, SOME);
    both("[n,m]T -> [n]T", from_the_middle, "f32", SMALL, SOME);
    both("[n,m]T -> [n]T", two_and_three_apart, "f32 i64", SMALL, NARROW, WIDE);
    both("[n,m]T, [n,m]T -> [n]T", of_two_arrays, "f32 f64", SMALL, SOME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(rows_and_columns),
        cmocka_unit_test(rows_of_other_lengths),
        cmocka_unit_test(two_arrays),
        cmocka_unit_test(neighbours),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
