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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(rows_and_columns),
        cmocka_unit_test(rows_of_other_lengths),
        cmocka_unit_test(two_arrays),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
