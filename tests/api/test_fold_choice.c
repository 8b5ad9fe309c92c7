/* Folds that choose an element by a comparison: argmax and its like, with equal keys, NaNs, zeros of both signs and
 * extremes. Where the order of combination makes no difference, against the interpreter; where a NaN may stay, against
 * the tree of docs/determinism.md written out. */
#include "both.h"
#include "counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* around registers, rounds of eight of them and pieces, one row and many */
#define SHAPES                                                                                                         \
    1, 1, 3, 33, 40, 64, 3, 127, 2, 128, 3, 129, 2, 255, 3, 256, 2, 257, 3, 399, 2, 400, 5, 513, 2, 1000, 3, 1024, 2,  \
        1025, 20, 500, 1, 4161, 1, 32769, 1, 65537, 1, 100000, 0, 300, 3, 0

#define LENGTHS 1, 32, 33, 127, 129, 399, 400, 1000, 4096, 4161, 65536, 70001, 300007

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

/* --- ties written out: places ascend along a row --- */

static sn_scalar greater_or_sooner(sn_scalar a, sn_scalar b)
{
    sn_scalar sooner = sn_and(sn_eq(sn_fst(a), sn_fst(b)), sn_lt(sn_snd(b), sn_snd(a)));
    return sn_if(sn_or(sn_gt(sn_fst(b), sn_fst(a)), sooner), b, a);
}

static sn_scalar less_or_later(sn_scalar a, sn_scalar b)
{
    sn_scalar later = sn_if(sn_eq(sn_fst(b), sn_fst(a)), sn_ge(sn_snd(b), sn_snd(a)), sn_bool(false));
    return sn_if(sn_lt(sn_fst(b), sn_fst(a)), b, sn_if(later, b, a));
}

static sn_scalar extremes_of_each(sn_scalar a, sn_scalar b)
{
    sn_scalar sooner = sn_min(sn_snd(a), sn_snd(b)), same = sn_eq(sn_fst(a), sn_fst(b));
    sn_scalar place = sn_if(same, sooner, sn_if(sn_gt(sn_fst(a), sn_fst(b)), sn_snd(a), sn_snd(b)));
    return sn_tuple(sn_max(sn_fst(a), sn_fst(b)), place);
}

static sn_acc by_ties(sn_acc a)
{
    return two_results(sn_fold1(greater_or_sooner, sn_imap(with_column, a)));
}

static sn_acc by_later_ties(sn_acc a)
{
    return two_results(sn_fold1(less_or_later, sn_imap(with_column, a)));
}

static sn_acc by_each(sn_acc a)
{
    return two_results(sn_fold1(extremes_of_each, sn_imap(with_column, a)));
}

static sn_scalar with_place_from_behind(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    return sn_tuple(x, sn_sub(7, sn_add(sn_to_i32(column), 3)));
}

static sn_acc by_ties_from_behind(sn_acc a)
{
    return two_results(sn_fold1(greater_or_sooner, sn_imap(with_place_from_behind, a)));
}

/* Places that ascend in rows of up to 128 elements, and begin again in longer ones. */
static sn_scalar with_small_column(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    return sn_tuple(x, sn_to_i8(column));
}

static sn_acc by_small_ties(sn_acc a)
{
    return two_results(sn_fold1(greater_or_sooner, sn_imap(with_small_column, a)));
}

static sn_scalar remainder_as_place(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    return sn_tuple(x, sn_to_i32(sn_rem(column, 5)));
}

static sn_acc by_ties_of_remainders(sn_acc a)
{
    return two_results(sn_fold1(greater_or_sooner, sn_imap(remainder_as_place, a)));
}

static sn_acc by_ties_seed(sn_acc a)
{
    return two_results(sn_fold(greater_or_sooner, sn_tuple(3, -1), sn_imap(with_column, a)));
}

static void ties_written_out(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]i32", by_ties, INTEGERS " " FLOATS, SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_ties, INTEGERS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_later_ties, INTEGERS " " FLOATS, SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_each, INTEGERS, SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_ties_from_behind, "u8 i32 f32", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i8", by_small_ties, "i8 i32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_ties_of_remainders, "i8 i64 f32", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", by_ties_seed, "i16 i32 f32", SMALL, SHAPES);
}

/* --- beside folds that commute, of one vector --- */

static sn_scalar squared(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar added(sn_scalar a, sn_scalar b)
{
    return sn_add(a, b);
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 2);
}

static sn_scalar place_too(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, i);
}

static sn_acc position_beside_sum(sn_acc a)
{
    return sn_results(sn_argmax(a), sn_fold1(added, a));
}

static sn_acc positions_beside_others(sn_acc a)
{
    return sn_results(sn_argmin(a), sn_fold1(added, sn_map(squared, a)), sn_argmax(a), sn_count(sn_map(is_large, a)),
                      sn_minimum(a), sn_map(squared, a));
}

static sn_acc last_beside_greatest(sn_acc a)
{
    sn_acc part[2];
    sn_unzip(sn_fold1(last_less, sn_imap(place_too, a)), 2, part);
    return sn_results(part[0], part[1], sn_maximum(a));
}

static void beside_others(void **state)
{
    (void)state;
    both("[n]T -> i64, T", position_beside_sum, INTEGERS " " FLOATS, MIXED, LENGTHS);
    both("[n]T -> i64, T, i64, i64, T, [n]T", positions_beside_others, "u8 i16 i64 f32 f64", MIXED, LENGTHS);
    both("[n]T -> T, i64, T", last_beside_greatest, "i8 u32 f64", SMALL, LENGTHS);
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

/* --- several at once, of the first and of the last of equals, and what is stored on the way --- */

static sn_acc several(sn_acc a)
{
    sn_acc y = sn_map(sn_neg, a), pairs = sn_imap(with_column, y);
    sn_acc first = sn_fold1(first_greater, pairs), last = sn_fold1(last_less, pairs);
    return sn_results(y, sn_argmax(y), sn_snd(first), sn_snd(last), sn_argmin(a), sn_fst(last));
}

static void several_at_once(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T, [n]i64, [n]i32, [n]i32, [n]i64, [n]T", several, "u8 i32 f32", SMALL, SHAPES);
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

/* --- what NaNs decide: the tree --- */

typedef struct pair {
    float value;
    int32_t at;
} pair;

typedef pair (*operator)(pair a, pair b);

static pair left_to_right(operator f, const pair *x, int64_t n)
{
    pair p = x[0];
    for (int64_t i = 1; i < n; i++)
        p = f(p, x[i]);
    return p;
}

/* Neighbours, pairs of pairs, ... (docs/determinism.md) */
static pair balanced(operator f, const pair *x, int64_t n)
{
    int64_t half = 1;
    if (n == 1)
        return x[0];
    while (2 * half < n)
        half *= 2;
    return f(balanced(f, x, half), balanced(f, x + half, n - half));
}

static pair by_tree(operator f, const pair *x, int64_t n)
{
    enum { SHORT = 32 };
    return n > SHORT ? balanced(f, x, n) : left_to_right(f, x, n);
}

/* Ways to write it, each in C and as a program: where NaNs stay, are taken, are passed over or passed on. */
#define WAYS(WAY)                                                                                                      \
    WAY(stays_first, OF(GT(bv, av), b, a))                                                                             \
    WAY(stays_last, OF(GE(bv, av), b, a))                                                                              \
    WAY(takes_first, OF(GE(av, bv), a, b))                                                                             \
    WAY(takes_last, OF(LT(av, bv), b, OF(GT(av, bv), a, b)))                                                           \
    WAY(takes_least, OF(LE(av, bv), a, b))                                                                             \
    WAY(ties_stay, OF(OR(GT(bv, av), AND(EQ(bv, av), LT(bi, ai))), b, a))                                              \
    WAY(ties_take, OF(OR(GT(av, bv), AND(EQ(bv, av), GT(bi, ai))), a, b))                                              \
    WAY(no_less, OF(NOT(LT(av, bv)), a, b))                                                                            \
    WAY(no_greater, OF(NOT(GT(av, bv)), b, a))                                                                         \
    WAY(by_index_alone, OF(OR(LT(av, bv), AND(NOT(GT(av, bv)), LT(bi, ai))), b, a))                                    \
    WAY(numbers_first, OF(OR(GT(bv, av), AND(NAN_IS(av), NOT(NAN_IS(bv)))), b, a))                                     \
    WAY(numbers_first_last, OF(OR(GE(bv, av), NE(av, av)), b, a))                                                      \
    WAY(numbers_last_first, OF(OR(GE(av, bv), AND(NE(bv, bv), EQ(av, av))), a, b))                                     \
    WAY(passed_on, OF(OR(GT(bv, av), NAN_IS(bv)), b, a))

#define OF(test, x, y) ((test) ? (x) : (y))
#define GT(x, y) ((x) > (y))
#define GE(x, y) ((x) >= (y))
#define LT(x, y) ((x) < (y))
#define LE(x, y) ((x) <= (y))
#define EQ(x, y) ((x) == (y))
#define NE(x, y) ((x) != (y))
#define AND(x, y) ((x) && (y))
#define OR(x, y) ((x) || (y))
#define NOT(x) (!(x))
#define NAN_IS(x) isnan(x)
#define IN_C(name, result)                                                                                             \
    static pair name##_in_c(pair a, pair b)                                                                            \
    {                                                                                                                  \
        float av = a.value, bv = b.value;                                                                              \
        int32_t ai = a.at, bi = b.at;                                                                                  \
        (void)ai, (void)bi;                                                                                            \
        return result;                                                                                                 \
    }
WAYS(IN_C)
#undef OF
#undef GT
#undef GE
#undef LT
#undef LE
#undef EQ
#undef NE
#undef AND
#undef OR
#undef NOT
#undef NAN_IS

#define OF(test, x, y) sn_if(test, x, y)
#define GT(x, y) sn_gt(x, y)
#define GE(x, y) sn_ge(x, y)
#define LT(x, y) sn_lt(x, y)
#define LE(x, y) sn_le(x, y)
#define EQ(x, y) sn_eq(x, y)
#define NE(x, y) sn_ne(x, y)
#define AND(x, y) sn_and(x, y)
#define OR(x, y) sn_or(x, y)
#define NOT(x) sn_not(x)
#define NAN_IS(x) sn_is_nan(x)
#define IN_SINTER(name, result)                                                                                        \
    static sn_scalar name##_of(sn_scalar a, sn_scalar b)                                                               \
    {                                                                                                                  \
        sn_scalar av = sn_fst(a), bv = sn_fst(b), ai = sn_snd(a), bi = sn_snd(b);                                      \
        (void)ai, (void)bi;                                                                                            \
        return result;                                                                                                 \
    }                                                                                                                  \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        sn_acc y = sn_map(sn_neg, a), chosen = sn_fold1(name##_of, sn_imap(with_column, y));                           \
        return sn_results(sn_fst(chosen), sn_snd(chosen), y);                                                          \
    }
WAYS(IN_SINTER)

/* `by_keys`: the fast way is taken. */
static void same_as_tree(sn_body body, operator f, bool by_keys)
{
    enum { MOST = 300000, CASES = 9 };
    static const int64_t length[CASES] = {1, 40, 400, 4096, 4097, 16641, 65536, 65537, MOST};
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n,m]f32 -> [n]f32, [n]i32, [n,m]f32", body);
    assert_non_null(p);
    float *x = malloc(MOST * sizeof *x);
    pair *pairs_of = malloc(MOST * sizeof *pairs_of);
    float *negated = malloc(MOST * sizeof *negated);
    assert_true(x && pairs_of && negated);
    uint32_t seed = 9;
    for (int c = 0; c < CASES; c++)
        for (int often = 1; often < 20000;
             often *= 3) { /* one in `often` is a NaN; zeros and equals among the others */
            int64_t n = length[c];
            for (int64_t i = 0; i < n; i++) {
                seed = seed * 1664525u + 1013904223u;
                x[i] = (seed >> 8) % (uint32_t)often == 0 ? NAN : often % 2 ? (float)(seed >> 28) - 20 : -0.0f;
                pairs_of[i] = (pair){-x[i], (int32_t)i};
            }
            pair expected = by_tree(f, pairs_of, n), got;
            assert_int_equal(
                sn_call(p, sn_in(x, 1, n), sn_into(&got.value, 1), sn_into(&got.at, 1), sn_into(negated, 1, n)), SN_OK);
            assert_int_equal(got.at, expected.at);
            for (int64_t i = 0; i < n; i++)
                assert_true(negated[i] == -x[i] || isnan(x[i]));
            assert_true(got.value == expected.value || (isnan(got.value) && isnan(expected.value)));
        }
    const char *kernels = sn_explain(p, "kernels");
    assert_non_null(kernels);
    assert_int_equal(strstr(kernels, "fold_choice") != NULL, by_keys && on_cpu());
    free(x);
    free(pairs_of);
    free(negated);
    sn_drop(p);
}

static void nans(void **state)
{
    (void)state;
#define SAME(name, result) same_as_tree(SN_BODY(name), name##_in_c, name##_in_c != passed_on_in_c);
    WAYS(SAME)
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
    assert_true(strstr(kernels, "fold_choice") || !on_cpu());
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_ones),
        cmocka_unit_test(all_ties),
        cmocka_unit_test(ties_written_out),
        cmocka_unit_test(beside_others),
        cmocka_unit_test(computed_keys),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(columns),
        cmocka_unit_test(nans),
        cmocka_unit_test(nothing_better_than_the_worst),
        cmocka_unit_test(finds_places_first),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
