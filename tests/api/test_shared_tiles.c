/* Devices whose blocks are many threads: tiles of arrays that are read along another axis than they are written, and
 * the operands of contractions, go through shared memory. Extents around those of tiles, and enough of them for large
 * tiles, against the interpreter. */
#include "counts.h"

static sn_acc transpose(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar turned(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_tuple(b, c, a);
}

/* The first dimension becomes the last one, within which neighbours were apart by all others. */
static sn_acc first_is_last(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 2), sn_extent(x, 0), sn_extent(x, 1)), turned, x);
}

static sn_scalar in_each(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_tuple(a, c, b);
}

static sn_acc each_transposed(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 2), sn_extent(x, 1)), in_each, x);
}

/* As it lies, across, and across twice: two tiles, of elements of two sizes. */
static sn_acc sums(sn_acc x, sn_acc y, sn_acc z)
{
    sn_acc s = sn_zip_with(sn_add, sn_zip_with(sn_mul, x, sn_transpose(y)), sn_transpose(sn_map(sn_neg, y)));
    return sn_results(s, sn_zip_with(sn_sub, sn_map(sn_to_f64, s), sn_map(sn_to_f64, sn_transpose(z))));
}

static void transposes(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    both("[n,m]T -> [m,n]T", transpose, "bool u8 i16 f32 f64", MIXED, 7, 300, 8, 8, 31, 33, 64, 64, 65, 129, 300, 16);
    both("[n,m]T -> [m,n]T", transpose, "u8 f32", MIXED, 1100, 1030);
    both("[n,m,k]T -> [n,k,m]T", each_transposed, "u8 f32 i64", MIXED, 3, 33, 40, 1, 64, 65, 5, 8, 100);
    both("[n,m,k]T -> [k,n,m]T", first_is_last, "u8 f32 i64", MIXED, 3, 13, 40, 40, 3, 35, 70, 2, 9);
    both("[n,m]f32, [m,n]f32, [m,n]u8 -> [n,m]f32, [n,m]f64", sums, NULL, SMALL, 33, 40, 64, 100, 9, 200);
}

static sn_acc of_rows(sn_acc x, sn_acc y)
{
    return sn_replicate(x, SN_ALL, sn_extent(y, 0), SN_ALL);
}

static sn_acc of_columns(sn_acc x, sn_acc y)
{
    return sn_replicate(y, sn_extent(x, 0), SN_ALL, SN_ALL);
}

static sn_acc product(sn_acc x, sn_acc y)
{
    y = sn_transpose(y);
    return sn_sum(sn_zip_with(sn_mul, of_rows(x, y), of_columns(x, y)));
}

static sn_scalar square(sn_scalar a, sn_scalar b)
{
    sn_scalar d = sn_sub(a, b);
    return sn_mul(d, d);
}

static sn_acc distances(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(square, of_rows(x, y), of_columns(x, y)));
}

static sn_acc shortest(sn_acc x, sn_acc y)
{
    return sn_minimum(sn_zip_with(sn_add, of_rows(x, y), of_columns(x, y)));
}

static sn_scalar later_if_any(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(b, 0), b, a);
}

/* The last product of each row and column that is not negative: keeps order. */
static sn_acc last_ones(sn_acc x, sn_acc y)
{
    return sn_fold1(later_if_any, sn_zip_with(sn_mul, of_rows(x, y), of_columns(x, y)));
}

/* Of each of some pairs of matrices. */
static sn_acc products(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 1), SN_ALL);
    sn_acc columns = sn_replicate(y, SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, columns));
}

/* Rows and columns, and what is folded: around tiles, from left to right, in accumulators of one element, of which some
 * have one more than others, of some slices, and in pieces. */
#define LENGTHS                                                                                                        \
    64, 3, 130, 33, 32, 65, 65, 33, 33, 20, 64, 70, 66, 100, 40, 130, 129, 140, 33, 300, 64, 20, 2049, 70, 17, 5000, 40

static void contractions(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    both("[n,k]T, [k,m]T -> [n,m]T", product, "f32 i64", MIXED, LENGTHS);
    both("[n,k]T, [m,k]T -> [n,m]T", distances, "f32 u32", SMALL, LENGTHS);
    both("[n,k]T, [m,k]T -> [n,m]T", shortest, "f64 i32", MIXED, 40, 30, 64, 65, 257, 70);
    both("[n,k]T, [m,k]T -> [n,m]T", last_ones, "i32 f32", SMALL, 40, 20, 64, 200, 64, 70, 64, 257, 70);
    both("[b,n,k]T, [b,m,k]T -> [b,n,m]T", products, "f32", SMALL, 3, 20, 70, 40, 2, 64, 150, 128);
}

static void which_loop_it_is(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> [m,n]f32", SN_BODY(transpose));
    float x[40 * 50] = {0}, y[40 * 50];
    assert_int_equal(sn_call(p, sn_in(x, 40, 50), sn_into(y, 50, 40)), SN_OK);
    says(p, "kernels", "map_staged");
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(product));
    enum { N = 260, K = 5 }; /* tiles enough for all units of a large device */
    static float rows[N * K], product_of[N * N];
    assert_int_equal(sn_call(p, sn_in(rows, N, K), sn_in(rows, K, N), sn_into(product_of, N, N)), SN_OK);
    says(p, "kernels", "contract");
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposes), cmocka_unit_test(contractions),
                                       cmocka_unit_test(which_loop_it_is)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
