/* Maps over rows of many lengths, and those that read along other axes than they write: permuted dimensions of every
 * element size, of extents around those of gangs and tiles, against the interpreter. */
#include "counts.h"

/* Dimension k of the result is dimension `order` of the array; the function has the array's index for the result's. */
#define PERMUTE_3(order, first, second, third, A, B, C)                                                                \
    static sn_scalar index_##order(sn_scalar a, sn_scalar b, sn_scalar c)                                              \
    {                                                                                                                  \
        return sn_tuple(first, second, third);                                                                         \
    }                                                                                                                  \
    static sn_acc permute_##order(sn_acc x)                                                                            \
    {                                                                                                                  \
        return sn_backpermute(sn_shape(sn_extent(x, A), sn_extent(x, B), sn_extent(x, C)), index_##order, x);          \
    }
PERMUTE_3(021, a, c, b, 0, 2, 1)
PERMUTE_3(102, b, a, c, 1, 0, 2)
PERMUTE_3(210, c, b, a, 2, 1, 0)
PERMUTE_3(120, c, a, b, 1, 2, 0)
PERMUTE_3(201, b, c, a, 2, 0, 1)

#define PERMUTE_4(order, first, second, third, fourth, A, B, C, D)                                                     \
    static sn_scalar index_##order(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d)                                 \
    {                                                                                                                  \
        return sn_tuple(first, second, third, fourth);                                                                 \
    }                                                                                                                  \
    static sn_acc permute_##order(sn_acc x)                                                                            \
    {                                                                                                                  \
        return sn_backpermute(sn_shape(sn_extent(x, A), sn_extent(x, B), sn_extent(x, C), sn_extent(x, D)),            \
                              index_##order, x);                                                                       \
    }
PERMUTE_4(3210, d, c, b, a, 3, 2, 1, 0)
PERMUTE_4(0321, a, d, c, b, 0, 3, 2, 1)
PERMUTE_4(2301, c, d, a, b, 2, 3, 0, 1)
PERMUTE_4(1302, c, a, d, b, 1, 3, 0, 2)

static sn_acc transpose(sn_acc x)
{
    return sn_transpose(x);
}

/* Two results, of an array as it lies and one across; their elements differ in size. */
static sn_acc mixed(sn_acc x, sn_acc y)
{
    sn_acc across = sn_transpose(y);
    return sn_results(sn_zip_with(sn_add, x, across), sn_map(sn_to_i64, across));
}

static sn_acc across_and_broadcast(sn_acc x, sn_acc row, sn_acc column)
{
    sn_acc y = sn_transpose(x);
    sn_acc of_rows = sn_replicate(row, sn_extent(y, 0), SN_ALL);
    sn_acc of_columns = sn_replicate(column, SN_ALL, sn_extent(y, 1));
    return sn_zip_with(sn_mul, sn_zip_with(sn_add, y, of_rows), of_columns);
}

#define ELEMENTS "u8 i16 f32 i64 bool"
#define CUBES                                                                                                          \
    0, 4, 4, 1, 1, 1, 16, 17, 3, 33, 5, 16, 7, 64, 18, 65, 16, 1, 2, 3, 130, 70, 66, 5, 3, 40, 16, 600, 19, 3, 20,     \
        1025, 17

static void matrices(void **state)
{
    (void)state;
    both("[n,m]T -> [m,n]T", transpose, ALL_TYPES, MIXED, MATRICES, 16, 16, 130, 16, 16, 130, 600, 70, 70, 600);
    both("[n,m]T, [m,n]T -> [n,m]T, [n,m]i64", mixed, "u8 i16 i32 i64 f32", SMALL, MATRICES, 600, 70, 70, 600);
    both("[n,m]T, [n]T, [m]T -> [m,n]T", across_and_broadcast, "u8 f32 f64", SMALL, MATRICES, 600, 70, 70, 600);
}

static void permutations_of_three(void **state)
{
    (void)state;
    both("[n,m,k]T -> [n,k,m]T", permute_021, ELEMENTS, MIXED, CUBES);
    both("[n,m,k]T -> [m,n,k]T", permute_102, ELEMENTS, MIXED, CUBES);
    both("[n,m,k]T -> [k,m,n]T", permute_210, ELEMENTS, MIXED, CUBES);
    both("[n,m,k]T -> [m,k,n]T", permute_120, ELEMENTS, MIXED, CUBES);
    both("[n,m,k]T -> [k,n,m]T", permute_201, ELEMENTS, MIXED, CUBES);
}

#define FOURTH 1, 1, 1, 1, 16, 17, 3, 2, 33, 5, 16, 3, 7, 64, 18, 4, 65, 16, 1, 20, 2, 3, 70, 33, 3, 0, 16, 16

static void permutations_of_four(void **state)
{
    (void)state;
    both("[n,m,k,l]T -> [l,k,m,n]T", permute_3210, ELEMENTS, MIXED, FOURTH);
    both("[n,m,k,l]T -> [n,l,k,m]T", permute_0321, ELEMENTS, MIXED, FOURTH);
    both("[n,m,k,l]T -> [k,l,n,m]T", permute_2301, ELEMENTS, MIXED, FOURTH);
    both("[n,m,k,l]T -> [m,l,n,k]T", permute_1302, ELEMENTS, MIXED, FOURTH);
}

static sn_acc broadcast(sn_acc x, sn_acc row, sn_acc column)
{
    sn_acc of_rows = sn_replicate(row, sn_extent(x, 0), SN_ALL);
    sn_acc of_columns = sn_replicate(column, SN_ALL, sn_extent(x, 1));
    return sn_zip_with(sn_sub, sn_zip_with(sn_add, sn_reverse(x), of_rows), of_columns);
}

static sn_scalar in_chosen_row(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *p = env;
    return sn_index(p[0], sn_index(p[1], i), sn_to_i32(j));
}

/* SMALL numbers of rows, of which some are not there. */
static sn_acc choose_rows(sn_acc x, sn_acc rows)
{
    sn_acc p[] = {x, rows};
    return sn_generate(sn_shape(sn_extent(rows, 0), sn_extent(x, 1)), sn_closure(in_chosen_row, p));
}

/* Gangs that overlap at the ends of rows. */
static void rows_of_many_lengths(void **state)
{
    (void)state;
    both("[n,m]T, [m]T, [n]T -> [n,m]T", broadcast, "u8 i16 f32 i64", SMALL, 5, 1, 5, 3, 5, 4, 5, 5, 9, 7, 9, 8, 40, 11,
         9, 15, 9, 16, 9, 17, 9, 31, 9, 32, 300, 33, 3, 47, 3, 63, 3, 64, 3, 65, 3, 100, 3, 128, 3, 130, 3, 250, 3, 257,
         3, 1023, 3, 1025);
    both("[n,m]T, [k]i32 -> [k,m]T", choose_rows, "u8 f32", INDICES, 5, 3, 4, 7, 33, 20, 9, 100, 3, 90, 1000, 7, 7, 64,
         40);
    both("[n,m]T, [k]i32 -> [k,m]T", choose_rows, "u8 f32", SMALL, 9, 3, 4, 9, 33, 20, 9, 100, 3, 9, 1000, 7);
}

/* A gang walks the rows of what lies across; what lies as it is written does not become a walk. */
static void which_loop_it_is(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_program *p = compiled_in(both_cpu(), "[n,m,k]f32 -> [m,k,n]f32", SN_BODY(permute_120));
    float x[2 * 3 * 40] = {0}, y[2 * 3 * 40];
    assert_int_equal(sn_call(p, sn_in(x, 40, 2, 3), sn_into(y, 2, 3, 40)), SN_OK);
    says(p, "kernels", "map_across");
    says(p, "llvm", "i32 1, i32 3, i32 1)"); /* the next rows are fetched, to be written */
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n,m,k]f32 -> [m,n,k]f32", SN_BODY(permute_102));
    assert_int_equal(sn_call(p, sn_in(x, 2, 3, 40), sn_into(y, 3, 2, 40)), SN_OK);
    says(p, "kernels", "map_rows");
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices), cmocka_unit_test(permutations_of_three),
                                       cmocka_unit_test(permutations_of_four), cmocka_unit_test(rows_of_many_lengths),
                                       cmocka_unit_test(which_loop_it_is)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
