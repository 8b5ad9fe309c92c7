/* Folds that choose an element by a comparison: argmax and its like, with equal keys, NaNs, zeros of both signs and
 * extremes. Where the order of combination makes no difference, against the interpreter; where a NaN may stay, against
 * the tree of docs/determinism.md written out. */
#include "both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* around registers, rounds of eight of them and pieces, one row and many */
#define SHAPES                                                                                                         \
    1, 1, 3, 33, 40, 64, 3, 127, 2, 128, 3, 129, 2, 255, 3, 256, 2, 257, 3, 399, 2, 400, 5, 513, 2, 1000, 3, 1024, 2,  \
        1025, 20, 500, 1, 4161, 1, 32769, 1, 65537, 1, 100000, 0, 300, 3, 0

static sn_acc positions(sn_acc a)
{
    return sn_results(sn_argmax(a), sn_argmin(a));
}

static sn_acc greatest(sn_acc a)
{
    return sn_argmax(a);
}

static sn_scalar with_column(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    return sn_tuple(x, sn_to_i32(column));
}

static sn_acc two_results(sn_acc folded)
{
    sn_acc part[2];
    sn_unzip(folded, 2, part);
    return sn_results(part[0], part[1]);
}

static sn_scalar first_greater(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_gt(sn_fst(b), sn_fst(a)), b, a);
}

static sn_scalar last_less(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_fst(a), sn_fst(b)), b, a);
}

/* the other way round: for integers only, a NaN would win */
static sn_scalar first_less(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_le(sn_fst(a), sn_fst(b)), a, b);
}

static sn_scalar last_greater(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_lt(sn_fst(b), sn_fst(a)), a, b);
}

static sn_acc by_first_greater(sn_acc a)
{
    return two_results(sn_fold1(first_greater, sn_imap(with_column, a)));
}

static sn_acc by_last_less(sn_acc a)
{
    return two_results(sn_fold1(last_less, sn_imap(with_column, a)));
}

static sn_acc by_first_less(sn_acc a)
{
    return two_results(sn_fold1(first_less, sn_imap(with_column, a)));
}

static sn_acc by_last_greater(sn_acc a)
{
    return two_results(sn_fold1(last_greater, sn_imap(with_column, a)));
}

static void named_ones(void **state)
{
    (void)state;
    both("[n,m]T -> [n]i64, [n]i64", positions, INTEGERS " " FLOATS " bool char", MIXED, SHAPES);
    both("[n,m]T -> [n]i64", greatest, INTEGERS " " FLOATS, MIXED, SHAPES);
    both("[n,m]T -> [n]i64", greatest, INTEGERS " " FLOATS, SMALL, SHAPES);
}

static void all_ties(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]i32", by_first_greater, INTEGERS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_last_less, INTEGERS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_first_less, INTEGERS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_last_greater, INTEGERS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_first_greater, FLOATS, SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_last_less, FLOATS, SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_last_greater, FLOATS, SMALL, SHAPES);
}

/* --- keys that are computed, a seed, several components --- */

static sn_scalar distance(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    sn_scalar d = sn_sub(x, 3);
    return sn_tuple(sn_mul(d, d), x, column);
}

static sn_scalar nearer(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_lt(sn_fst(b), sn_fst(a)), b, a);
}

static sn_acc nearest(sn_acc a)
{
    sn_acc part[3];
    sn_unzip(sn_fold(nearer, sn_tuple(2, 77, -1), sn_imap(distance, a)), 3, part);
    return sn_results(part[0], part[1], part[2]);
}

static void computed_keys(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]T, [n]i64", nearest, "i32 i64 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]T, [n]i64", nearest, "i16 i32 u64", MIXED, SHAPES);
}

/* --- of columns, few and many of them, long and short: around groups of eight lines, and those taken together --- */

#define COLUMNS                                                                                                        \
    33, 1, 40, 3, 33, 16, 64, 33, 127, 65, 128, 64, 129, 100, 200, 15, 513, 1, 520, 7, 600, 2, 600, 33, 1025, 17, 300, \
        130, 3000, 20, 1500, 66, 9000, 5, 70000, 2, 70, 2100

static sn_acc column_positions(sn_acc a)
{
    return positions(sn_transpose(a));
}

static sn_acc column_first_greater(sn_acc a)
{
    return by_first_greater(sn_transpose(a));
}

static sn_acc column_last_less(sn_acc a)
{
    return by_last_less(sn_transpose(a));
}

static sn_acc column_nearest(sn_acc a)
{
    return nearest(sn_transpose(a));
}

static sn_scalar among_all(sn_scalar row, sn_scalar column, sn_scalar x)
{
    return sn_tuple(sn_add(x, sn_to_i32(sn_rem(sn_add(row, sn_mul(column, 5)), 7))), row, column);
}

/* keys that need the indices */
static sn_acc column_nearest_of_all(sn_acc a)
{
    sn_acc part[3];
    sn_unzip(sn_fold1(nearer, sn_imap(among_all, sn_transpose(a))), 3, part);
    return sn_results(part[0], part[1], part[2]);
}

static sn_acc middle_positions(sn_acc a)
{
    return positions(sn_transpose(a)); /* of each matrix */
}

static void columns(void **state)
{
    (void)state;
    both("[n,m]T -> [m]i64, [m]i64", column_positions, "i8 u16 u64 f32 f64", MIXED, COLUMNS);
    both("[n,m]T -> [m]i64, [m]i64", column_positions, "u8 i32 f32", SMALL, COLUMNS);
    both("[n,m]T -> [m]T, [m]i32", column_first_greater, "i16 u32 i64", SMALL, COLUMNS);
    both("[n,m]T -> [m]T, [m]i32", column_last_less, "u8 i32 i64", SMALL, COLUMNS);
    both("[n,m]T -> [m]T, [m]i32", column_last_less, "i8 i16", MIXED, COLUMNS);
    both("[n,m]T -> [m]T, [m]T, [m]i64", column_nearest, "i32 f64", SMALL, COLUMNS);
    both("[n,m]T -> [m]T, [m]i64, [m]i64", column_nearest_of_all, "i32", SMALL, COLUMNS);
    both("[l,n,m]T -> [l,m]i64, [l,m]i64", middle_positions, "u8 f32", MIXED, 3, 100, 40, 2, 33, 33, 5, 600, 3, 2, 1000,
         20);
}

/* --- NaNs that stay: the tree --- */

typedef struct pair {
    float value;
    int32_t at;
} pair;

static pair chosen(pair a, pair b)
{
    return b.value > a.value ? b : a;
}

static pair left_to_right(const pair *x, int64_t n)
{
    pair p = x[0];
    for (int64_t i = 1; i < n; i++)
        p = chosen(p, x[i]);
    return p;
}

/* Neighbours, pairs of pairs, ... (docs/determinism.md) */
static pair balanced(const pair *x, int64_t n)
{
    int64_t half = 1;
    if (n == 1)
        return x[0];
    while (2 * half < n)
        half *= 2;
    return chosen(balanced(x, half), balanced(x + half, n - half));
}

static pair by_tree(const pair *x, int64_t n)
{
    enum { SHORT = 32 };
    return n > SHORT ? balanced(x, n) : left_to_right(x, n);
}

static void nans_stay(void **state)
{
    enum { MOST = 300000, CASES = 9 };
    static const int64_t length[CASES] = {1, 40, 400, 4096, 4097, 16641, 65536, 65537, MOST};
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32 -> [n]f32, [n]i32", by_first_greater);
    assert_non_null(p);
    float *x = malloc(MOST * sizeof *x);
    pair *pairs_of = malloc(MOST * sizeof *pairs_of);
    assert_true(x && pairs_of);
    uint32_t seed = 9;
    for (int c = 0; c < CASES; c++)
        for (int often = 1; often < 5000; often *= 3) { /* one in `often` is a NaN; zeros and equals among the others */
            int64_t n = length[c];
            for (int64_t i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                x[i] = (seed >> 8) % (uint32_t)often == 0 ? NAN : often % 2 ? (float)(seed >> 28) - 20 : -0.0f;
                pairs_of[i] = (pair){x[i], (int32_t)i};
            }
            pair expected = by_tree(pairs_of, n), got;
            assert_int_equal(sn_call(p, sn_in(x, 1, n), sn_into(&got.value, 1), sn_into(&got.at, 1)), SN_OK);
            assert_int_equal(got.at, expected.at);
            assert_true(got.value == expected.value || (isnan(got.value) && isnan(expected.value)));
        }
    free(x);
    free(pairs_of);
    sn_drop(p);
}

/* nothing but infinities of the worse sign and NaNs: rounds do not tell them apart */
static void nothing_better_than_the_worst(void **state)
{
    enum { N = 3000 };
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> i64", greatest);
    assert_non_null(p);
    float x[N];
    int64_t at;
    for (int64_t first = 0; first < N; first += 371) {
        for (int i = 0; i < N; i++)
            x[i] = i < first ? NAN : i % 7 ? -INFINITY : NAN;
        x[first] = -INFINITY;
        assert_int_equal(sn_call(p, sn_in(x, N), sn_value(&at)), SN_OK);
        assert_int_equal(at, first);
    }
    for (int i = 0; i < N; i++)
        x[i] = NAN;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_value(&at)), SN_OK);
    assert_int_equal(at, 0);
    sn_drop(p);
}

static void finds_places_first(void **state)
{
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]u8 -> [n]u8, [n]i32", by_last_greater);
    assert_non_null(p);
    uint8_t x[2000] = {0}, value[2];
    int32_t at[2];
    x[700] = x[400] = 9;
    assert_int_equal(sn_call(p, sn_in(x, 2, 1000), sn_into(value, 2), sn_into(at, 2)), SN_OK);
    assert_int_equal(value[0], 9);
    assert_int_equal(at[0], 700);
    assert_int_equal(at[1], 999);
    const char *kernels = sn_explain(p, "kernels");
    assert_non_null(kernels);
    assert_non_null(strstr(kernels, "fold_choice"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_ones),         cmocka_unit_test(all_ties),
        cmocka_unit_test(computed_keys),      cmocka_unit_test(columns),
        cmocka_unit_test(nans_stay),          cmocka_unit_test(nothing_better_than_the_worst),
        cmocka_unit_test(finds_places_first),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
