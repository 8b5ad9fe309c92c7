/* Folds of windows of 2 to 128 elements, along one dimension and of two: their values and bits on the device and by the
 * interpreter, of every number of elements and of windows around those that make a gang or a piece; and windows that
 * are not all there. */
#include "both.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_scalar one_of_window(sn_scalar i, sn_scalar k)
{
    return sn_add(i, k);
}

static sn_acc windows(sn_acc a, sn_acc like, sn_acc weights)
{
    return sn_backpermute(sn_shape(sn_size(like), sn_size(weights)), one_of_window, a);
}

static sn_acc folds(sn_acc a, sn_acc like, sn_acc weights)
{
    sn_acc w = windows(a, like, weights);
    sn_acc products = sn_zip_with(sn_mul, w, sn_replicate(weights, sn_size(like), SN_ALL));
    return sn_results(sn_sum(w), sn_fold(sn_max, 3, w), sn_fold(sn_add, 5, products));
}

static void devices_agree(void **state)
{
    (void)state;
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32 f32 f64", SMALL, 400, 300, 33, 1000, 873, 128, 1000, 870,
         129);
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "f32", MIXED, 1200, 1063, 100, 300, 268, 32);
    /* the last windows are not there, or a window in between */
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32", SMALL, 1100, 1063, 100, 20, 300, 40, 299, 300, 33);
}

static void short_ones(void **state)
{
    (void)state;
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32 f32 f64", SMALL, 400, 300, 32, 1000, 990, 2, 1000, 980,
         20, 301, 300, 1, 5000, 4990, 7);
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "f32 f64", MIXED, 1200, 1063, 31, 300, 268, 5);
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32", SMALL, 1100, 1063, 39, 1010, 1000, 12, 20, 300, 4);
}

/* --- as long as the program says, along the dimension before the last: few are a map's, more are folded --- */

static sn_scalar one_below(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(sn_add(i, k), j);
}

static sn_scalar later_than(sn_scalar a, sn_scalar b)
{
    return sn_sub(a, sn_add(b, b));
}

static sn_scalar with_square(sn_scalar x)
{
    return sn_tuple(x, sn_mul(x, x));
}

static sn_scalar add_both(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_add(sn_snd(a), sn_snd(b)));
}

static sn_acc folds_below(void *env, int count, const sn_acc *x)
{
    int64_t length = *(const int64_t *)env;
    assert_int_equal(count, 1);
    sn_scalar places = sn_sub(sn_extent(x[0], 0), length - 1);
    sn_acc w[4];
    for (int k = 0; k < 4; k++)
        w[k] = sn_backpermute(sn_shape(places, sn_extent(x[0], 1), length), one_below, x[0]);
    sn_acc both = sn_fold1(add_both, sn_map(with_square, w[3]));
    return sn_results(sn_fold(sn_associative(later_than), 7, w[0]), sn_fold1(sn_min, w[1]), sn_fold(sn_add, 1, w[2]),
                      sn_fst(both), sn_snd(both));
}

static void along_the_dimension_before(void **state)
{
    static const int64_t lengths[] = {2, 3, 5, 8, 9};
    (void)state;
    for (int k = 0; k < 5; k++) {
        const int64_t n = lengths[k], extents[] = {39 + n, 33, 299 + n, 7, n, 1, 19 + n, 129, 2 + n, 200, -1};
        both_at(__FILE__, __LINE__, "[n,m]T -> [p,m]T, [p,m]T, [p,m]T, [p,m]T, [p,m]T",
                sn_body_env(folds_below, (void *)&lengths[k]), "i32 u8 f32 f64", MIXED, extents);
    }
}

/* --- of two dimensions --- */

/* Keeps order: the first that is not 0. */
static sn_scalar first_of_both(void *env, sn_scalar x, sn_scalar y)
{
    (void)env;
    return sn_if(sn_ne(x, 0), x, y);
}

#define SQUARE(K)                                                                                                      \
    static sn_scalar of_square_##K(sn_scalar i, sn_scalar j, sn_scalar k)                                              \
    {                                                                                                                  \
        return sn_tuple(sn_add(i, sn_quot(k, K)), sn_add(j, sn_rem(k, K)));                                            \
    }                                                                                                                  \
    static sn_acc squares_##K(sn_acc a, sn_acc rows, sn_acc columns)                                                   \
    {                                                                                                                  \
        sn_acc w = sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), K * K), of_square_##K, a);                 \
        return sn_results(sn_sum(w), sn_maximum(w), sn_fold(sn_closure(first_of_both, NULL), 0, w));                   \
    }
SQUARE(2)
SQUARE(5)

/* An operator that commutes, of more elements than are folded from left to right; rows and columns of a picture from a
 * place on that is given, each with a weight. */
static sn_scalar of_square_7(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(sn_add(i, sn_quot(k, 7)), sn_add(j, sn_rem(k, 7)));
}

static sn_scalar one_weight(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    (void)env, (void)i, (void)j;
    return k;
}

static sn_acc squares_7(sn_acc a, sn_acc rows, sn_acc columns, sn_acc weights)
{
    sn_scalar n = sn_size(rows), m = sn_size(columns);
    sn_acc w = sn_backpermute(sn_shape(n, m, 49), of_square_7, a);
    sn_acc of_each = sn_backpermute(sn_shape(n, m, 49), sn_closure(one_weight, NULL), weights);
    return sn_results(sn_fold(sn_min, 3, w), sn_sum(sn_zip_with(sn_mul, w, of_each)));
}

static sn_acc maxima(sn_acc a, sn_acc rows, sn_acc columns)
{
    return sn_maximum(sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), 25), of_square_5, a));
}

static void of_two_dimensions(void **state)
{
    (void)state;
    const char *signature = "[a,b]T, [n]u8, [m]u8 -> [n,m]T, [n,m]T, [n,m]T";
    both(signature, squares_5, "i32 f32", SMALL, 24, 104, 20, 100, 44, 68, 40, 64, 8, 304, 4, 300, 20, 70, 16, 63);
    both(signature, squares_5, "f64 u32", SMALL, 34, 164, 30, 160);
    both(signature, squares_2, "i32 f32 f64", SMALL, 24, 104, 20, 100, 21, 101, 20, 100);
    /* the last column, the last row, or all of them are missing */
    both(signature, squares_5, "i32", SMALL, 24, 103, 20, 100, 23, 104, 20, 100, 3, 104, 20, 100);
    both(signature, squares_2, "f32", SMALL, 24, 100, 20, 100, 20, 101, 20, 100);
    both("[a,b]T, [n]u8, [m]u8 -> [n,m]T", maxima, "u8 i16 f32", MIXED, 24, 204, 20, 200, 44, 68, 40, 64);
    signature = "[a,b]T, [n]u8, [m]u8, [k]T -> [n,m]T, [n,m]T";
    both(signature, squares_7, "i32 f32", SMALL, 26, 106, 20, 100, 49, 10, 306, 4, 300, 50, 26, 106, 20, 100, 48, 25,
         106, 20, 100, 49);
}

enum { N = 3000, MOST = 128 };

static float tree(const float *x, int n)
{
    float acc[MOST];
    for (int l = 0; l < MOST; l++)
        acc[l] = l < n ? x[l] : -0.0f;
    for (int half = MOST / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            acc[l] += acc[l + half];
    return acc[0];
}

static sn_acc sums(sn_acc a, sn_acc like, sn_acc weights)
{
    return sn_sum(windows(a, like, weights));
}

static void bits(void **state)
{
    (void)state;
    static float x[N + MOST], found[N], weights[MOST];
    static uint8_t like[N];
    for (int i = 0; i < N + MOST; i++)
        x[i] = sinf((float)i) * 100;
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[a]f32, [n]u8, [m]f32 -> [n]f32", SN_BODY(sums));
    for (int m = 33; m <= MOST; m += m == 127 ? 1 : 47) {
        if (!p || sn_call(p, sn_in(x, N + MOST), sn_in(like, N), sn_in(weights, m), sn_into(found, N)) != SN_OK)
            fail_msg("%s", sn_message(both_cpu()));
        for (int i = 0; i < N; i++) {
            float wanted = tree(x + i, m);
            if (memcmp(&found[i], &wanted, sizeof(wanted)))
                fail_msg("window %d of %d: %.9g, not %.9g", i, m, (double)found[i], (double)wanted);
        }
    }
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree), cmocka_unit_test(short_ones),
                                       cmocka_unit_test(along_the_dimension_before),
                                       cmocka_unit_test(of_two_dimensions), cmocka_unit_test(bits)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
