/* Batches of small matrices and blocks of known extents: lanes take their rows in gangs of whole blocks, of powers of
 * two and others, with rows left over; loops of a known number of rounds in such gangs; reshapes that leave dimensions
 * alone. The same bits as the interpreter's. */
#include "both.h"
#include "sinter/sinter.h"

#include <stdio.h>

static sn_acc products(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 2), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL)));
}

typedef struct element {
    const sn_acc *of;
    sn_scalar i, row, column;
} element;

static sn_scalar one_more(void *env, sn_scalar k, sn_scalar sum)
{
    const element *e = env;
    return sn_add(sum, sn_mul(sn_index(e->of[0], e->i, e->row, k), sn_index(e->of[1], e->i, k, e->column)));
}

static sn_scalar row_times_column(void *env, sn_scalar i, sn_scalar row, sn_scalar column)
{
    element e = {env, i, row, column};
    return sn_loop(sn_extent(e.of[0], 2), sn_closure(one_more, &e), 0);
}

static sn_acc products_loop(sn_acc x, sn_acc y)
{
    sn_acc of[2] = {x, y};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), sn_extent(y, 2)), sn_closure(row_times_column, of));
}

static sn_scalar of_vector(sn_scalar i, sn_scalar row, sn_scalar column)
{
    (void)row;
    return sn_tuple(i, column);
}

static sn_acc vectors(sn_acc a, sn_acc x)
{
    return sn_sum(sn_zip_with(sn_mul, a, sn_backpermute(sn_shape_of(a), of_vector, x)));
}

static sn_acc points(sn_acc x, sn_acc m)
{
    sn_acc each = sn_replicate(x, SN_ALL, sn_extent(m, 0), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, each, sn_replicate(m, sn_extent(x, 0), SN_ALL, SN_ALL)));
}

/* Rows of matrices of a plane: two dimensions stand before those of the block. */
static sn_scalar turned(sn_scalar i, sn_scalar j, sn_scalar row, sn_scalar column)
{
    return sn_tuple(j, i, column, row);
}

static sn_acc planes(sn_acc x, sn_acc y)
{
    sn_acc other = sn_backpermute(sn_shape_of(x), turned, y);
    return sn_maximum(sn_zip_with(sn_sub, x, other));
}

static sn_scalar of_block(sn_scalar i, sn_scalar j, sn_scalar row, sn_scalar column)
{
    return sn_tuple(i, row, j, column);
}

/* The first dimensions stay, the last ones become one; and the other way round. */
static sn_acc blocks(sn_acc x)
{
    const sn_scalar n = sn_extent(x, 0), k = sn_extent(x, 1), m = sn_extent(x, 2), l = sn_extent(x, 3);
    sn_acc by_block = sn_backpermute(sn_shape(n, m, k, l), of_block, x);
    sn_acc joined = sn_reshape(sn_shape(n, m, sn_mul(k, l)), by_block);
    sn_acc first = sn_reshape(sn_shape(sn_mul(n, m), k, l), by_block);
    sn_acc apart = sn_reshape(sn_shape(n, m, l, k), sn_map(sn_neg, joined));
    return sn_results(sn_sum(joined), sn_transpose(first), apart,
                      sn_sum(sn_reshape(sn_shape(n, sn_mul(m, k), l), by_block)));
}

static void batches(void **state)
{
    static const int extent[][2] = {{3, 3}, {4, 4}, {5, 5}, {8, 8}, {2, 7}, {6, 2}, {16, 4}, {4, 16}, {33, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof(extent) / sizeof(*extent); i++) {
        const int m = extent[i][0], k = extent[i][1];
        char s[200];
        snprintf(s, sizeof s, "[n,%d,%d]T, [n,%d,%d]T -> [n,%d,%d]T", m, k, k, m, m, m);
        both(s, products, "f32 f64", SMALL, 0, 1, 2, 7, 33, 130);
        both(s, products_loop, "f32 i32", SMALL, 0, 1, 2, 7, 33, 130);
        snprintf(s, sizeof s, "[n,%d,%d]T, [n,%d]T -> [n,%d]T", m, k, k, m);
        both(s, vectors, "f32 f64 i64", SMALL, 0, 1, 2, 15, 16, 17, 33, 400);
        snprintf(s, sizeof s, "[n,%d]T, [%d,%d]T -> [n,%d]T", k, m, k, m);
        both(s, points, "f32 f64", SMALL, 0, 1, 15, 16, 17, 33, 1000);
    }
}

static void planes_of_blocks(void **state)
{
    (void)state;
    both("[n,m,4,4]T, [m,n,4,4]T -> [n,m,4]T", planes, "f32 i16", SMALL, 1, 1, 3, 5, 17, 9, 0, 3);
    both("[n,m,8,8]T, [m,n,8,8]T -> [n,m,8]T", planes, "f32 f64", SMALL, 1, 1, 3, 5, 17, 9);
    both("[n,m,5,5]T, [m,n,5,5]T -> [n,m,5]T", planes, "f32", SMALL, 1, 1, 3, 5, 17, 9);
}

static void reshapes_keep_dimensions(void **state)
{
    (void)state;
    both("[n,4,m,4]T -> [n,m]T, [l,4,4]T, [n,m,4,4]T, [n,k]T", blocks, "f32", SMALL, 1, 1, 1, 4, 3, 5, 15, 20, 17, 9,
         153, 36);
    both("[n,3,m,2]T -> [n,m]T, [l,2,3]T, [n,m,2,3]T, [n,k]T", blocks, "i32", SMALL, 1, 1, 1, 3, 3, 5, 15, 15, 17, 9,
         153, 27, 0, 2, 0, 6);
}

static sn_acc rows_and_columns(sn_acc x, sn_acc row, sn_acc column)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_acc of_column = sn_replicate(column, SN_ALL, m);
    return sn_results(sn_zip_with(sn_add, x, sn_replicate(row, n, SN_ALL)), sn_zip_with(sn_mul, x, of_column),
                      of_column, sn_zip_with(sn_mul, sn_replicate(row, n, SN_ALL), of_column));
}

static sn_acc times_column(sn_acc x, sn_acc column)
{
    return sn_zip_with(sn_mul, x, sn_replicate(column, SN_ALL, sn_extent(x, 1)));
}

/* Elements of short rows by what all rows, or all columns, have in common; results that go past the caches, too. */
static void rows_with_columns(void **state)
{
    (void)state;
    for (int m = 2; m <= 16; m++) {
        char s[200];
        snprintf(s, sizeof s, "[n,%d]T, [%d]T, [n]T -> [n,%d]T, [n,%d]T, [n,%d]T, [n,%d]T", m, m, m, m, m, m);
        both(s, rows_and_columns, "f32 f64 u8 i16", SMALL, 0, 1, 2, 7, 15, 16, 17, 64, 1001, 20011);
        snprintf(s, sizeof s, "[n,%d]T, [n]T -> [n,%d]T", m, m);
        both(s, times_column, "f32 f64 u8", SMALL, 0, 1, 2, 15, 63, 64, 65, 4099);
    }
    both("[n,5]T, [n]T -> [n,5]T", times_column, "f32 f64", SMALL, 2000003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batches), cmocka_unit_test(planes_of_blocks),
                                       cmocka_unit_test(rows_with_columns), cmocka_unit_test(reshapes_keep_dimensions)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
