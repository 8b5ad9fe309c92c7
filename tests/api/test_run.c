/* Every operation on arrays, on the CPU against the interpreter: types, ranks, empty, one, odd, large, and extents that
 * are no multiple of the vector width. Contraction is off, numbers are such that folds are exact: bits must agree. */
#include "both.h"

#include <math.h>
#include <stdlib.h>

/* --- elementwise --- */

static sn_scalar twice_and_one(sn_scalar x)
{
    return sn_add(sn_mul(x, 2), 1);
}

static sn_acc map(sn_acc a)
{
    return sn_map(twice_and_one, a);
}

static sn_acc zip_with(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_sub, a, b);
}

/* Much work an element, of which a thread of a GPU takes several. */
static sn_scalar laborious(sn_scalar x, sn_scalar y)
{
    sn_scalar a = sn_add(sn_log(x), sn_mul(sn_log2(y), sn_exp(x))), b = sn_sub(sn_log10(sn_abs(y)), sn_exp(sn_neg(y)));
    return sn_add(sn_mul(a, b), sn_div(sn_sqrt(sn_abs(x)), y));
}

static sn_acc logarithms(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(sn_log, a), sn_map(sn_log2, b), sn_zip_with(laborious, a, b));
}

static sn_scalar weighted(sn_scalar i, sn_scalar x)
{
    return sn_add(sn_to_i64(x), sn_mul(i, 3));
}

static sn_acc imap(sn_acc a)
{
    return sn_imap(weighted, a);
}

static sn_scalar weighted2(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_add(sn_to_i64(x), sn_sub(sn_mul(i, 3), j));
}

static sn_acc imap2(sn_acc a)
{
    return sn_imap(weighted2, a);
}

static sn_acc zip_unzip(sn_acc a, sn_acc b)
{
    sn_acc part[2];
    sn_unzip(sn_zip(a, b), 2, part);
    return sn_results(part[1], part[0], sn_zip(b, a, b));
}

static sn_scalar swap(sn_scalar t)
{
    return sn_tuple(sn_snd(t), sn_fst(t), sn_add(sn_fst(t), sn_snd(t)));
}

static sn_acc tuples(sn_acc a, sn_acc b)
{
    return sn_map(swap, sn_zip(a, b));
}

static void elementwise(void **state)
{
    (void)state;
    both("[n]T -> [n]T", map, INTEGERS " " FLOATS, MIXED, SIZES);
    both("[n,m]T -> [n,m]T", map, "f32 u8", MIXED, MATRICES);
    both("T -> T", map, "f32 i64", MIXED, 1);
    both("[n,m,k,l]T -> [n,m,k,l]T", map, "f64", MIXED, 2, 3, 4, 5, 1, 0, 2, 2, 7, 1, 1, 70);
    both("[n]T, [n]T -> [n]T", zip_with, INTEGERS " " FLOATS, MIXED, SIZES);
    both("[n]T -> [n]i64", imap, "u8 i32 f32", SMALL, SIZES);
    both("[n,m]T -> [n,m]i64", imap2, "u8 i64 f64", SMALL, MATRICES);
    both("[n]T, [n]f32 -> [n]f32, [n]T, [n](f32, T, f32)", zip_unzip, ALL_TYPES, MIXED, SIZES);
    both("[n]T, [n]T -> [n](T, T, T)", tuples, "i16 f64", MIXED, SIZES);
    both("[n]T, [n]T -> [n]T, [n]T, [n]T", logarithms, FLOATS, MIXED, 0, 1, 1023, 1024, 5000, 70001);
}

/* --- generate --- */

static sn_scalar square(sn_scalar i)
{
    return sn_to_f32(sn_mul(i, i));
}

static sn_acc squares(sn_acc a)
{
    return sn_generate(sn_extent(a, 0), square);
}

static sn_scalar difference(sn_scalar i, sn_scalar j)
{
    return sn_sub(sn_mul(i, 7), j);
}

static sn_acc table(sn_acc a)
{
    return sn_generate(sn_shape(sn_extent(a, 1), sn_extent(a, 0)), difference);
}

static sn_acc filled(sn_acc a)
{
    return sn_results(sn_fill(sn_shape_of(a), sn_f64(2.5)), sn_iota(sn_size(a)), sn_unit(sn_i32(7)));
}

static void generated(void **state)
{
    (void)state;
    both("[n]u8 -> [n]f32", squares, NULL, SMALL, SIZES);
    both("[n,m]u8 -> [m,n]i64", table, NULL, SMALL, MATRICES);
    both("[n,m]u8 -> [n,m]f64, [k]i64, i32", filled, NULL, SMALL, 3, 4, 0, 0, 40, 31);
}

/* --- index space --- */

static sn_scalar backwards(void *env, sn_scalar i)
{
    const sn_scalar *n = env;
    return sn_sub(sn_sub(*n, 1), i);
}

static sn_acc reversed_by_hand(sn_acc a)
{
    sn_scalar n = sn_extent(a, 0);
    return sn_backpermute(n, sn_closure(backwards, &n), a);
}

static sn_acc gather(sn_acc index, sn_acc a)
{
    return sn_gather(index, a);
}

static sn_acc replicate_rows(sn_acc a, sn_acc like)
{
    return sn_results(sn_replicate(a, sn_extent(like, 0), SN_ALL), sn_replicate(a, SN_ALL, 3));
}

static sn_acc slices(sn_acc a)
{
    return sn_results(sn_slice(a, 1, SN_ALL), sn_slice(a, SN_ALL, 2), sn_slice(a, 0, 0));
}

static sn_acc reshaped(sn_acc a)
{
    return sn_results(sn_flatten(a), sn_reshape(sn_shape(sn_extent(a, 1), sn_extent(a, 0)), a), sn_transpose(a),
                      sn_reverse(a));
}

static sn_acc views_of_maps(sn_acc a)
{
    sn_acc b = sn_map(twice_and_one, a);
    return sn_zip_with(sn_sub, sn_transpose(sn_transpose(b)), sn_reshape(sn_shape_of(b), sn_reverse(sn_flatten(b))));
}

static sn_acc same_twice(sn_acc a)
{
    sn_acc b = sn_reverse(a);
    return sn_results(b, a, b, a);
}

static void index_space(void **state)
{
    (void)state;
    both("[n]T -> [n]T", reversed_by_hand, ALL_TYPES, MIXED, SIZES);
    both("[m]T, [n]f32 -> [m]f32", gather, "i32 i64 u8", INDICES, 0, 0, 5, 5, 100, 5, 200, 131);
    both("[m]T, [n]T -> [m]T", gather, "i64", SMALL, 5, 5, 100, 4, 3, 0); /* some out of range */
    both("[m]T, [n,m]T -> [n,m]T, [m,k]T", replicate_rows, "f32 u16", MIXED, 0, 0, 1, 5, 33, 5, 100, 3);
    both("[n,m]T -> [m]T, [n]T, T", slices, "f32 bool", MIXED, 2, 3, 5, 100, 33, 65, 1, 3, 2, 2);
    both("[n,m]T -> [k]T, [m,n]T, [m,n]T, [n,m]T", reshaped, "f32 u8 i64", MIXED, MATRICES);
    both("[n]T -> [n]T, [n]T, [n]T, [n]T", same_twice, "f32 u8", MIXED, SIZES);
    both("[n,m]T -> [n,m]T", views_of_maps, "f32 i16", SMALL, MATRICES);
}

/* --- folds --- */

static sn_acc sums(sn_acc a)
{
    return sn_results(sn_fold(sn_add, 0, a), sn_fold(sn_max, 1, a), sn_fold_all(sn_add, 5, a));
}

static sn_acc of_nothing(sn_acc a)
{
    return sn_fold1(sn_add, a);
}

static sn_acc extremes(sn_acc a)
{
    return sn_results(sn_minimum(a), sn_maximum(a), sn_argmin(a), sn_argmax(a));
}

static sn_acc named_folds(sn_acc a)
{
    return sn_results(sn_sum(a), sn_product(a));
}

static sn_scalar above(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_acc tests_of_bools(sn_acc a)
{
    sn_acc b = sn_map(above, a);
    return sn_results(sn_all(b), sn_any(b), sn_count(b));
}

/* x -> p*x + q and x -> r*x + s, one after the other: associative, not commutative */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc composed(sn_acc a, sn_acc b)
{
    return sn_fold(compose, sn_tuple(sn_i32(1), sn_i32(0)), sn_zip(a, b));
}

/* the last of the elements: order is everything */
static sn_scalar second(sn_scalar x, sn_scalar y)
{
    (void)x;
    return y;
}

static sn_acc last(sn_acc a)
{
    return sn_results(sn_fold1(second, a), sn_fold1_all(second, a));
}

/* a seed that is the value of another fold, and of a single value */
static sn_acc seeded(sn_acc a, sn_acc z)
{
    sn_acc total = sn_fold_all(sn_add, sn_the(z), a);
    return sn_results(sn_fold(sn_max, sn_the(total), a), total);
}

static sn_scalar add_twice(sn_scalar i, sn_scalar x)
{
    return sn_add(sn_add(x, x), sn_to_i32(i));
}

static sn_scalar below_100(sn_scalar x)
{
    return sn_lt(x, 100);
}

static sn_scalar triple(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

/* seeds that take loops, conditions and divisions to compute, in part guarded */
static sn_acc computed_seeds(sn_acc a, sn_acc z)
{
    sn_scalar x = sn_the(z);
    sn_scalar looped = sn_loop(3, add_twice, x), until = sn_while(below_100, triple, sn_abs(x));
    sn_scalar guarded = sn_if(sn_eq(x, 0), 7, sn_quot(100, x));
    return sn_results(sn_fold(sn_add, looped, a), sn_fold(sn_max, until, a), sn_fold(sn_add, guarded, a),
                      sn_fold(sn_add, sn_linear_index(a, 0), a));
}

static sn_acc fold_and_map(sn_acc a)
{
    sn_acc b = sn_map(twice_and_one, a);
    return sn_results(b, sn_fold(sn_add, 0, b), sn_fold(sn_add, 0, sn_zip_with(sn_mul, b, a)));
}

static sn_acc plain_sum(sn_acc a)
{
    return sn_fold(sn_add, 0, a);
}

static void folds(void **state)
{
    (void)state;
    both("[n]T -> T, T, T", sums, INTEGERS " " FLOATS, SMALL, SIZES, 65536, 65537, 131072, 200001);
    both("[n,m]T -> [n]T, [n]T, T", sums, "i32 i64 f32 u8", SMALL, MATRICES, 3, 70000, 1000, 16, 1000, 17, 70000, 2, 3,
         33);
    both("[n,m,k]T -> [n,m]T, [n,m]T, T", sums, "f32", SMALL, 2, 3, 5, 0, 3, 2, 3, 0, 2, 2, 3, 0, 3, 4, 100);
    both("[n]T -> T", of_nothing, "i32 f64", SMALL, SIZES);
    both("[n,m]T -> [n]T", of_nothing, "i32 f64", SMALL, MATRICES);
    both("[n]T -> T, T, i64, i64", extremes, INTEGERS " " FLOATS, MIXED, SIZES);
    both("[n,m]T -> [n]T, [n]T, [n]i64, [n]i64", extremes, "u8 f32", MIXED, MATRICES);
    both("[n,m]T -> [n]T, [n]T", named_folds, "i32 i64 u32", SMALL, MATRICES);
    both("[n]u8 -> u32, u32", named_folds, NULL, SMALL, 0, 1, 100, 5000);
    both("[n]T -> bool, bool, i64", tests_of_bools, "i32 f32", SMALL, SIZES);
    both("[n]i32, [n]i32 -> (i32, i32)", composed, NULL, SMALL, SIZES, 200001);
    both("[n,m]i32, [n,m]i32 -> [n](i32, i32)", composed, NULL, SMALL, MATRICES, 3, 40000);
    both("[n,m]T -> [n]T, T", last, "i64 f32 u8", MIXED, 1, 1, 3, 17, 17, 3, 33, 65, 2, 20000, 20000, 2);
    both("[n,m]T, T -> [n]T, T", seeded, "i32 f64", SMALL, MATRICES);
    both("[n]i32, i32 -> i32, i32, i32, i32", computed_seeds, NULL, SMALL, 0, 1, 2, 3, 4, 5, 6, 100, 70000);
    both("[n,m]T -> [n,m]T, [n]T, [n]T", fold_and_map, "f32 i64", SMALL, MATRICES);
    /* rows of a few pieces, as many of them as a GPU has blocks at a time, and fewer */
    both("[n,m]T -> [n]T", plain_sum, "f32", POSITIVE, 70, 4096, 70, 4097, 130, 8300, 64, 33000, 3, 33000);
    both("[n,m]T, T -> [n]T, T", seeded, "f64", SMALL, 70, 4097);
}

/* --- float folds: the tree is not the interpreter's, the error is bounded --- */

/* A piece of 4096 elements in 128 accumulators: at most 31 additions one after the other, and 7 to combine them; as
 * many again for the pieces. So |error| <= 76 u (sum of |x|), u = 2^-24. */
static void float_sums(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> f32", plain_sum);
    assert_non_null(p);
    for (int64_t n = 1; n < 3000000; n = n * 7 + 3) {
        float *x = malloc((size_t)n * sizeof(float)), r = 0;
        double exact = 0, magnitude = 0;
        for (int64_t i = 0; i < n; i++) {
            x[i] = sinf((float)i * 0.7f) * 3;
            exact += (double)x[i];
            magnitude += fabs((double)x[i]);
        }
        assert_int_equal(sn_call(p, sn_in(x, n), sn_value(&r)), SN_OK);
        assert_true(fabs((double)r - exact) <= 76 * 0x1p-24 * magnitude);
        free(x);
    }
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise), cmocka_unit_test(generated),  cmocka_unit_test(index_space),
        cmocka_unit_test(folds),       cmocka_unit_test(float_sums),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
