/* Contractions: products of matrices and their like, which are folded in tiles of the result. Against the interpreter,
 * which follows the tree of docs/determinism.md, and with products that are rounded once against that tree in C. */
#include "both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* rows, folded, columns: on both sides of a tile, of where rows are folded from left to right, of all accumulators
 * having something, of a piece; many rows and columns; few */
#define PRODUCTS                                                                                                       \
    12, 40, 40, 13, 33, 64, 11, 64, 65, 4, 300, 31, 25, 1, 700, 24, 2, 400, 40, 3, 150, 31, 31, 31, 9, 32, 128, 7,     \
        100, 47, 12, 127, 32, 12, 128, 33, 40, 129, 16, 5, 257, 70, 4, 4095, 17, 5, 4096, 16, 4, 4097, 18, 4, 9000,    \
        16, 150, 40, 150, 50, 130, 300, 3, 400, 40, 0, 40, 40, 40, 0, 40, 40, 40, 0, 5, 5000, 6, 7, 9000, 7, 4, 4097,  \
        5

static sn_acc rows_of(sn_acc x, sn_scalar columns)
{
    return sn_replicate(x, SN_ALL, columns, SN_ALL);
}

static sn_acc columns_of(sn_acc rows, sn_acc x)
{
    return sn_replicate(x, sn_extent(rows, 0), SN_ALL, SN_ALL);
}

static sn_acc product(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, rows_of(x, sn_extent(y, 1)), columns_of(x, sn_transpose(y))));
}

static sn_acc product_with_rows(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 5, sn_zip_with(sn_mul, rows_of(x, sn_extent(y, 0)), columns_of(x, y)));
}

static sn_acc transposed_product(sn_acc x, sn_acc y)
{
    sn_acc t = sn_transpose(x);
    return sn_sum(sn_zip_with(sn_mul, rows_of(t, sn_extent(y, 1)), columns_of(t, sn_transpose(y))));
}

static void products_of_all_shapes(void **state)
{
    (void)state;
    both("[n,k]T, [k,m]T -> [n,m]T", product, "f32", SMALL, PRODUCTS);
    both("[n,k]T, [k,m]T -> [n,m]T", product, "u64", MIXED, 12, 40, 40, 13, 33, 64, 25, 1, 700, 12, 127, 32, 4, 4097,
         18);
    both("[n,k]T, [m,k]T -> [n,m]T", product_with_rows, "f64", SMALL, 12, 40, 40, 13, 100, 64, 4, 300, 31, 40, 9, 50);
    both("[k,n]T, [k,m]T -> [n,m]T", transposed_product, "f32 i32", SMALL, 40, 12, 40, 100, 13, 64, 300, 4, 31);
    /* one to fifteen columns of many rows: lanes are rows */
    both("[n,k]T, [k,m]T -> [n,m]T", product, "f32 f64", SMALL, 5000, 4, 1, 5000, 8, 2, 500, 33, 3, 1000, 100, 4, 700,
         300, 5, 400, 129, 7, 333, 64, 10, 200, 5000, 15, 33, 700, 6);
    both("[n,k]T, [k,m]T -> [n,m]T", product, "u64", MIXED, 5000, 8, 1, 1000, 100, 4, 700, 300, 9);
    both("[k,n]T, [k,m]T -> [n,m]T", transposed_product, "f32 i32", SMALL, 300, 1000, 3, 5000, 70, 7, 20, 900, 12);
    /* few columns: tiles of half a register, and no more rows than lanes */
    both("[k,n]T, [k,m]T -> [n,m]T", transposed_product, "f32 f64 i32", SMALL, 5000, 8, 8, 5000, 10, 10, 700, 12, 11,
         4100, 9, 15, 300, 13, 9, 2000, 4, 4, 9000, 5, 7, 500, 30, 8, 1000, 7, 5);
}

struct operands {
    sn_acc x, y;
};

static sn_scalar product_at(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const struct operands *o = env;
    return sn_mul(sn_index(o->x, i, k), sn_index(o->y, k, j));
}

/* The same with reads in scalar code; of square matrices, where all indices are inside for sure. */
static sn_acc generated(sn_acc x, sn_acc y)
{
    struct operands o = {x, y};
    sn_scalar n = sn_extent(x, 0);
    return sn_sum(sn_generate(sn_shape(n, n, n), sn_closure(product_at, &o)));
}

static sn_acc checked(sn_acc x, sn_acc y)
{
    struct operands o = {x, y};
    return sn_sum(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 1), sn_extent(x, 1)), sn_closure(product_at, &o)));
}

static sn_scalar row_and_step(sn_scalar i, sn_scalar j, sn_scalar k)
{
    (void)j;
    return sn_tuple(i, k);
}

static sn_scalar step_and_column(sn_scalar i, sn_scalar j, sn_scalar k)
{
    (void)i;
    return sn_tuple(k, j);
}

static sn_acc backpermuted(sn_acc x, sn_acc y)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_extent(y, 1), sn_extent(x, 1));
    return sn_sum(
        sn_zip_with(sn_mul, sn_backpermute(shape, row_and_step, x), sn_backpermute(shape, step_and_column, y)));
}

static void formulations(void **state)
{
    (void)state;
    both("[n,n]T, [n,n]T -> [n,n]T", generated, "f32", SMALL, 40, 64, 100, 33);
    both("[n,k]T, [k,m]T -> [n,m]T", checked, "f32", SMALL, 40, 30, 40, 13, 100, 64);
    both("[n,k]T, [l,m]T -> [n,m]T", checked, "f32", SMALL, 40, 30, 30, 40, 40, 30, 29, 40);
    both("[n,k]T, [k,m]T -> [n,m]T", backpermuted, "f32", SMALL, 40, 30, 40, 13, 100, 64);
}

/* --- other operators and elements --- */

static sn_acc pairs(sn_scalar (*f)(sn_scalar, sn_scalar), sn_acc x, sn_acc y)
{
    return sn_zip_with(f, rows_of(x, sn_extent(y, 0)), columns_of(x, y));
}

static sn_scalar square_apart(sn_scalar x, sn_scalar y)
{
    sn_scalar apart = sn_sub(x, y);
    return sn_mul(apart, apart);
}

static sn_acc distances(sn_acc x, sn_acc y)
{
    return sn_sum(pairs(square_apart, x, y));
}

static sn_acc least_sums(sn_acc x, sn_acc y)
{
    return sn_minimum(pairs(sn_add, x, y));
}

static sn_acc greatest_products(sn_acc x, sn_acc y)
{
    return sn_maximum(pairs(sn_mul, x, y));
}

static sn_acc any_both(sn_acc x, sn_acc y)
{
    return sn_any(pairs(sn_land, x, y));
}

static sn_scalar larger_bits(sn_scalar a, sn_scalar b)
{
    return sn_bit_or(a, sn_bit_or(b, 1));
}

/* commutes, and has no identity that is known */
static sn_acc without_identity(sn_acc x, sn_acc y)
{
    return sn_fold1(sn_commutative(larger_bits), pairs(sn_mul, x, y));
}

static sn_scalar times_and_plus(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_max(sn_snd(a), sn_snd(b)));
}

static sn_scalar both_of(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_mul(x, y), sn_sub(x, y));
}

static sn_acc two_components(sn_acc x, sn_acc y)
{
    sn_acc all = sn_fold1(sn_commutative(times_and_plus), pairs(both_of, x, y));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static sn_acc several_folds(sn_acc x, sn_acc y)
{
    sn_acc all = pairs(sn_mul, x, y);
    return sn_results(sn_sum(all), sn_maximum(all), sn_minimum(all));
}

static sn_scalar in_f64(sn_scalar x)
{
    return sn_to_f64(x);
}

static sn_acc wider(sn_acc x, sn_acc y)
{
    return sn_sum(pairs(sn_mul, sn_map(in_f64, x), sn_map(in_f64, y)));
}

static sn_scalar weighted(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    return sn_add(sn_mul(x, sn_to_i64(i)), sn_sub(sn_mul(k, 3), j));
}

static sn_acc with_indices(sn_acc x, sn_acc y)
{
    return sn_sum(sn_imap(weighted, sn_map(sn_to_i64, pairs(sn_mul, x, y))));
}

static sn_scalar chosen(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_gt(x, y), sn_mul(x, 3), sn_add(y, 1));
}

static sn_acc conditions(sn_acc x, sn_acc y)
{
    return sn_sum(pairs(chosen, x, y));
}

static void operators_and_elements(void **state)
{
    (void)state;
    both("[n,k]T, [m,k]T -> [n,m]T", distances, "f32 f64", SMALL, 12, 3, 500, 40, 33, 40, 13, 100, 64, 5, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]T", least_sums, "f32 i8", MIXED, 40, 30, 40, 13, 100, 64, 5, 300, 40, 4, 4100, 17);
    both("[n,k]T, [m,k]T -> [n,m]T", greatest_products, "f32 u32", MIXED, 40, 30, 40, 13, 100, 64, 4, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]T", distances, "f32 f64", SMALL, 400, 3, 5, 2000, 40, 3, 300, 100, 1, 500, 300, 12);
    both("[n,k]T, [m,k]T -> [n,m]T", least_sums, "f32 i8", MIXED, 400, 30, 3, 1000, 100, 6, 50, 4100, 2);
    both("[n,k]T, [m,k]T -> [n,m]T, [n,m]T", two_components, "f32 i32", SMALL, 400, 30, 7, 300, 100, 2);
    both("[n,k]T, [m,k]T -> [n,m]T, [n,m]T, [n,m]T", several_folds, "f32", SMALL, 400, 30, 4, 300, 100, 6);
    both("[n,k]T, [m,k]T -> [n,m]i64", with_indices, "u8", SMALL, 400, 30, 4, 300, 100, 6);
    both("[n,k]T, [m,k]T -> [n,m]T", any_both, "bool", MIXED, 40, 30, 140, 13, 100, 164, 9, 300, 140);
    both("[n,k]T, [m,k]T -> [n,m]T", without_identity, "i32", MIXED, 40, 30, 40, 13, 100, 64, 5, 300, 40, 4, 4100, 17);
    both("[n,k]T, [m,k]T -> [n,m]T, [n,m]T", two_components, "f32 i32", SMALL, 40, 30, 40, 13, 100, 64, 5, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]T, [n,m]T, [n,m]T", several_folds, "f32", SMALL, 40, 30, 40, 13, 100, 64, 9, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]f64", wider, "f32 u8", SMALL, 40, 30, 40, 13, 100, 64, 5, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]i64", with_indices, "u8", SMALL, 40, 30, 40, 13, 100, 64, 5, 300, 40);
    both("[n,k]T, [m,k]T -> [n,m]T", conditions, "f32", SMALL, 40, 30, 40, 13, 100, 64, 5, 300, 40);
}

/* --- higher ranks --- */

static sn_acc batched(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 2), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL)));
}

/* The rows are of the first dimension; the second one is read by columns. */
static sn_acc tensor(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 0), sn_extent(y, 1), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(y, sn_extent(x, 0), SN_ALL, SN_ALL, SN_ALL)));
}

static void higher_ranks(void **state)
{
    (void)state;
    both("[b,n,k]T, [b,k,m]T -> [b,n,m]T", batched, "f32", SMALL, 3, 20, 40, 33, 2, 13, 100, 64, 5, 4, 7, 130, 3, 500,
         40, 5, 2, 300, 9, 2);
    both("[n,k]T, [l,m,k]T -> [n,l,m]T", tensor, "f32", SMALL, 20, 40, 3, 33, 13, 100, 2, 64);
}

/* --- loops in elements --- */

struct place {
    sn_acc x, y;
    sn_scalar i, j;
};

static sn_scalar next_sum(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_mul(sn_index(p->x, p->i, k), sn_index(p->y, k, p->j)));
}

static sn_scalar sum_at(void *env, sn_scalar i, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.j = j;
    return sn_sub(sn_loop(sn_extent(p.x, 1), sn_closure(next_sum, &p), 1), sn_index(p.x, i, 0));
}

static sn_acc product_by_loops(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 1)), sn_closure(sum_at, &p));
}

static sn_scalar nearer(void *env, sn_scalar k, sn_scalar best)
{
    const struct place *p = env;
    sn_scalar apart = sn_abs(sn_sub(sn_index(p->x, p->i, k), sn_index(p->y, p->j, k)));
    sn_scalar is = sn_lt(apart, sn_fst(best));
    return sn_tuple(sn_if(is, apart, sn_fst(best)), sn_if(is, k, sn_snd(best)));
}

static sn_scalar nearest_at(void *env, sn_scalar i, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.j = j;
    return sn_loop(sn_extent(p.x, 1), sn_closure(nearer, &p), sn_tuple(1000, sn_sub(0, i)));
}

/* Two states, of which one begins with an index; both are read along rows. */
static sn_acc nearest_by_loops(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    sn_acc all = sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 0)), sn_closure(nearest_at, &p));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static void loops_in_elements(void **state)
{
    (void)state;
    both("[n,k]T, [k,m]T -> [n,m]T", product_by_loops, "f32 f64 i32", POSITIVE, 64, 40, 64, 65, 33, 67, 7, 100, 600, 3,
         5, 2000, 100, 1, 50, 41, 300, 130, 200, 7, 33, 64, 0, 64, 2, 40, 3000);
    both("[n,k]T, [m,k]T -> [n,m]T, [n,m]i64", nearest_by_loops, "f32 i32", POSITIVE, 64, 40, 64, 65, 33, 67, 7, 100,
         600);
}

/* --- the same bits as those of elements that are in memory --- */

static sn_acc both_ways(sn_acc x, sn_acc y)
{
    sn_acc apart = pairs(square_apart, x, y), sums = pairs(sn_add, x, y);
    return sn_results(sn_sum(apart), sn_sum(sn_force(apart)), sn_maximum(sums), sn_maximum(sn_force(sums)));
}

static void bits_do_not_depend_on_tiles(void **state)
{
    static const int64_t extents[][3] = {{12, 32, 40},  {13, 33, 64},  {25, 100, 33}, {9, 128, 47},
                                         {30, 300, 33}, {5, 5000, 16}, {7, 9000, 5}};
    enum { MOST = 1024 };
    static double result[4][MOST];
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,k]f64, [m,k]f64 -> [n,m]f64, [n,m]f64, [n,m]f64, [n,m]f64", both_ways);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
        int64_t n = extents[e][0], k = extents[e][1], m = extents[e][2];
        double *x = malloc((size_t)(n * k) * sizeof *x), *y = malloc((size_t)(m * k) * sizeof *y);
        assert_true(x && y && n * m <= MOST);
        for (int64_t i = 0; i < n * k; i++)
            x[i] = (double)(rand() % 2000 - 1000) / 777;
        for (int64_t i = 0; i < m * k; i++)
            y[i] = (double)(rand() % 2000 - 1000) / 555;
        assert_int_equal(sn_call(p, sn_in(x, n, k), sn_in(y, m, k), sn_into(result[0], n, m), sn_into(result[1], n, m),
                                 sn_into(result[2], n, m), sn_into(result[3], n, m)),
                         SN_OK);
        assert_memory_equal(result[0], result[1], (size_t)(n * m) * sizeof(double));
        assert_memory_equal(result[2], result[3], (size_t)(n * m) * sizeof(double));
        free(x);
        free(y);
    }
    sn_drop(p);
}

/* --- products that are rounded once --- */

enum { ACCUMULATORS = 128, PIECE = 4096, SHORT = 32 };

static sn_acc dot_products(sn_acc x, sn_acc y)
{
    return sn_sum(pairs(sn_mul, x, y));
}

static float tree_of_row(const float *x, const float *y, int64_t n)
{
    float piece[16], acc[ACCUMULATORS] = {0};
    int64_t pieces = 0;
    if (n <= SHORT) {
        for (int64_t i = 0; i < n; i++)
            acc[0] = i ? fmaf(x[i], y[i], acc[0]) : x[i] * y[i];
        return acc[0];
    }
    for (int64_t begin = 0; begin < n; begin += PIECE, pieces++) {
        int64_t count = n - begin < PIECE ? n - begin : PIECE;
        for (int64_t i = 0; i < count; i++) {
            float *a = &acc[i % ACCUMULATORS];
            *a = i < ACCUMULATORS ? x[begin + i] * y[begin + i] : fmaf(x[begin + i], y[begin + i], *a);
        }
        for (int64_t half = ACCUMULATORS / 2; half; half /= 2)
            for (int64_t l = 0; l < half; l++)
                if (l + half < count)
                    acc[l] += acc[l + half];
        piece[pieces] = acc[0];
    }
    for (int64_t i = 1; i < pieces; i++)
        piece[0] += piece[i];
    return piece[0];
}

static void bits_of_the_tree(void **state)
{
    static const int64_t extents[][3] = {{12, 32, 40}, {13, 33, 64},  {25, 100, 33}, {9, 128, 47},   {30, 300, 33},
                                         {5, 513, 70}, {4, 4096, 16}, {7, 9000, 19}, {100, 64, 130}, {24, 2048, 32}};
    (void)state;
    sn_context *cx = sn_open(NULL);
    assert_non_null(cx);
    sn_program *p = sn_compile(cx, "[n,k]f32, [m,k]f32 -> [n,m]f32", dot_products);
    if (!p)
        fail_msg("%s", sn_message(cx));
    for (size_t e = 0; e < sizeof extents / sizeof *extents; e++) {
        int64_t n = extents[e][0], k = extents[e][1], m = extents[e][2];
        float *x = malloc((size_t)(n * k) * sizeof *x), *y = malloc((size_t)(m * k) * sizeof *y);
        float *z = malloc((size_t)(n * m) * sizeof *z);
        assert_true(x && y && z);
        for (int64_t i = 0; i < n * k; i++)
            x[i] = (float)(rand() % 2000 - 1000) / 777;
        for (int64_t i = 0; i < m * k; i++)
            y[i] = (float)(rand() % 2000 - 1000) / 555;
        if (sn_call(p, sn_in(x, n, k), sn_in(y, m, k), sn_into(z, n, m)) != SN_OK)
            fail_msg("%s", sn_message(cx));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++) {
                float expected = tree_of_row(x + i * k, y + j * k, k);
                if (memcmp(&expected, &z[i * m + j], sizeof expected))
                    fail_msg("%dx%dx%d: element %d, %d is %.9g, not %.9g", (int)n, (int)k, (int)m, (int)i, (int)j,
                             (double)z[i * m + j], (double)expected);
            }
        free(x);
        free(y);
        free(z);
    }
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_all_shapes), cmocka_unit_test(formulations),
        cmocka_unit_test(operators_and_elements), cmocka_unit_test(higher_ranks),
        cmocka_unit_test(loops_in_elements),      cmocka_unit_test(bits_do_not_depend_on_tiles),
        cmocka_unit_test(bits_of_the_tree),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
