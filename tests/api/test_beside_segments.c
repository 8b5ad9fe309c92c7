/* Short segments beside each other whose elements are results: scans from the right, and elements that ask where in
 * their segment they are, or which segment it is; and greatest and least floats of segments of some more elements.
 * Against the interpreter, for segments of one length and of several, and for matrices whose rows are short. */
#include "both.h"

#include <math.h>

static sn_acc from_right(sn_acc x)
{
    return sn_results(sn_scanr1(sn_add, x), sn_prescanr(sn_max, 1, x), sn_postscanr(sn_add, 2, x));
}

static sn_acc from_both_sides(sn_acc x)
{
    return sn_results(sn_scanr1(sn_add, x), sn_scanl1(sn_add, x));
}

/* Which order has the bits of a sum shows in these. */
static sn_scalar halved(sn_scalar before, sn_scalar x)
{
    return sn_add(sn_mul(before, 3), x);
}

static sn_acc reversed(sn_acc x)
{
    return sn_fold(sn_associative(halved), 1, sn_reverse(x));
}

static sn_acc reversed_and_not(sn_acc x)
{
    return sn_fold(sn_associative(halved), 1, sn_zip_with(sn_sub, sn_reverse(x), x));
}

#define ROWS                                                                                                           \
    0, 0, 0, 5, 5, 0, 1, 1, 40, 1, 40, 2, 33, 3, 70, 4, 65, 5, 100, 7, 40, 8, 65, 10, 100, 15, 90, 16, 66, 17, 80, 31, \
        70, 32, 40, 33, 5, 300

static void rows_from_the_right(void **state)
{
    (void)state;
    both("[r,n]T -> [r,n]T, [r,n]T, [r,n]T", from_right, INTEGERS " " FLOATS, SMALL, ROWS);
    both("[r,n]T -> [r,n]T, [r,n]T", from_both_sides, "f32 i16 f64", MIXED, ROWS);
    both("[r,n]T -> [r]T", reversed, INTEGERS " " FLOATS, SMALL, ROWS);
    both("[r,n]T -> [r]T", reversed_and_not, "f32 u8 f64", SMALL, ROWS);
}

static void rows_of_known_length(void **state)
{
    (void)state;
    both("[r,3]T -> [r,3]T, [r,3]T, [r,3]T", from_right, "f32 u8 i64", SMALL, 0, 1, 31, 32, 33, 100, 1000);
    both("[r,4]T -> [r]T", reversed, "f32 u8 i64", SMALL, 0, 1, 31, 32, 33, 100, 1000);
    both("[r,7]T -> [r]T", reversed, "f32 i16 f64", SMALL, 0, 1, 31, 32, 33, 100, 1000);
    both("[r,8]T -> [r]T", reversed_and_not, "f32 u16 f64", SMALL, 0, 1, 31, 32, 33, 100, 1000);
    both("[r,20]T -> [r]T", reversed, "f32 u8 f64", SMALL, 0, 1, 31, 32, 33, 100, 1000);
}

/* --- segments: those of one length k, and others, a few elements longer and shorter by turns --- */

static sn_scalar alike(void *k, sn_scalar i)
{
    (void)i;
    return *(const sn_scalar *)k;
}

static sn_scalar by_turns(void *k, sn_scalar i)
{
    sn_scalar turn = sn_rem(i, 6), length = *(const sn_scalar *)k, half = sn_quot(length, 2);
    sn_scalar more = sn_if(sn_lt(turn, 3), sn_mul(half, sn_rem(turn, 3)), sn_neg(sn_mul(half, sn_rem(turn, 3))));
    return sn_add(length, more);
}

/* There are s segments; `sizes` has [s, k] elements. */
static sn_acc lengths_of(sn_acc sizes, sn_scalar (*of)(void *, sn_scalar))
{
    sn_scalar k = sn_extent(sizes, 1);
    return sn_generate(sn_extent(sizes, 0), sn_closure(of, &k));
}

static sn_scalar step_at(void *env, sn_scalar i, sn_scalar place)
{
    sn_acc x = *(sn_acc *)env;
    return sn_if(sn_eq(place, 0), sn_index(x, i), sn_sub(sn_index(x, i), sn_index(x, sn_sub(i, 1))));
}

static sn_acc steps(sn_acc lengths, sn_acc x)
{
    return sn_imap(sn_closure(step_at, &x), sn_iota_seg(sn_extent(x, 0), lengths));
}

static sn_acc right_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    return sn_results(sn_scanr1_seg(sn_add, lengths, x), sn_prescanr_seg(sn_max, 1, lengths, x));
}

static sn_acc steps_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    return steps(lengths_of(sizes, of), x);
}

static sn_acc places_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    return sn_iota_seg(sn_size(x), lengths_of(sizes, of));
}

static sn_acc repeated(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    return sn_zip_with(sn_add, x, sn_replicate_seg(sn_size(x), lengths, sn_map(sn_neg, lengths)));
}

static sn_acc appended(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    return sn_append_seg(lengths, x, lengths, sn_reverse(x));
}

/* The second of the two may have segments of other lengths. */
static sn_acc mixed_up(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    return sn_append_seg(lengths_of(sizes, of), x, lengths_of(sizes, by_turns), x);
}

/* Rows of x, each of s segments. */
static sn_acc appended_rows(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    sn_acc rows = sn_replicate(x, 5, SN_ALL);
    return sn_append_seg(lengths, rows, lengths, rows);
}

#define BOTH_WAYS(f)                                                                                                   \
    static sn_acc f##_alike(sn_acc sizes, sn_acc x, sn_acc other)                                                      \
    {                                                                                                                  \
        (void)other;                                                                                                   \
        return f(sizes, x, alike);                                                                                     \
    }                                                                                                                  \
    static sn_acc f##_by_turns(sn_acc sizes, sn_acc x, sn_acc other)                                                   \
    {                                                                                                                  \
        (void)other;                                                                                                   \
        return f(sizes, x, by_turns);                                                                                  \
    }
BOTH_WAYS(right_of)
BOTH_WAYS(steps_of)
BOTH_WAYS(places_of)
BOTH_WAYS(repeated)
BOTH_WAYS(appended)
BOTH_WAYS(mixed_up)
BOTH_WAYS(appended_rows)

#define OF(s, k) 6 * (s), k, 6 * (s) * (k), 12 * (s) * (k)
#define SEGMENTS                                                                                                       \
    OF(0, 5), OF(5, 0), OF(1, 1), OF(30, 1), OF(30, 2), OF(30, 3), OF(20, 4), OF(20, 7), OF(20, 8), OF(20, 10),        \
        OF(20, 11), OF(20, 16), OF(20, 17), OF(20, 23), OF(20, 31), OF(20, 32), OF(20, 33), OF(13, 40), OF(12, 100),   \
        OF(2, 1000)

static void scans_from_the_right(void **state)
{
    (void)state;
    both("[s,k]bool, [n]T, [m]bool -> [n]T, [n]T", right_of_alike, INTEGERS " " FLOATS, SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [n]T, [n]T", right_of_by_turns, "f32 i16 f64", SMALL, SEGMENTS);
}

static void places_in_segments(void **state)
{
    (void)state;
    both("[s,k]bool, [n]T, [m]bool -> [n]T", steps_of_alike, INTEGERS " " FLOATS, SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [n]T", steps_of_by_turns, INTEGERS " " FLOATS, SMALL, SEGMENTS);
    both("[s,k]bool, [n]f32, [m]bool -> [n]i64", places_of_alike, NULL, SMALL, SEGMENTS);
    both("[s,k]bool, [n]f32, [m]bool -> [n]i64", places_of_by_turns, NULL, SMALL, SEGMENTS);
    both("[s,k]bool, [n]i64, [m]bool -> [n]i64", repeated_alike, NULL, SMALL, SEGMENTS);
    both("[s,k]bool, [n]i64, [m]bool -> [n]i64", repeated_by_turns, NULL, SMALL, SEGMENTS);
}

static void segments_joined(void **state)
{
    (void)state;
    both("[s,k]bool, [n]T, [m]bool -> [m]T", appended_alike, INTEGERS " " FLOATS, SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [m]T", appended_by_turns, INTEGERS " " FLOATS, SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [m]T", mixed_up_alike, "f32 u8", SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [m]T", mixed_up_by_turns, "f32", SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [5,m]T", appended_rows_alike, "f32 u8 i64", SMALL, SEGMENTS);
    both("[s,k]bool, [n]T, [m]bool -> [5,m]T", appended_rows_by_turns, "f32 u8 i64", SMALL, SEGMENTS);
}

/* --- rows of few segments, and elements that ask for their place in the row --- */

static sn_acc weighted_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of), rows = sn_replicate(sn_map(sn_neg, x), 9, SN_ALL);
    sn_acc weights = sn_replicate(sn_reverse(x), 9, SN_ALL), all = sn_zip_with(sn_mul, rows, weights);
    return sn_results(sn_sum_seg(lengths, all), sn_fold_seg(sn_max, 1, lengths, sn_zip_with(sn_sub, weights, rows)));
}

/* Each row of x has 6 segments and more. */
static sn_scalar in_row(void *x, sn_scalar i, sn_scalar j, sn_scalar a)
{
    return sn_if(sn_lt(sn_rem(i, 3), 1), a, sn_mul(a, sn_index(*(const sn_acc *)x, j)));
}

static sn_acc beside_vector(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of), rows = sn_replicate(x, 40, SN_ALL);
    return sn_sum_seg(lengths, sn_imap(sn_closure(in_row, &x), rows));
}

BOTH_WAYS(weighted_of)
BOTH_WAYS(beside_vector)

#define FEW                                                                                                            \
    OF(1, 1), OF(1, 2), OF(1, 4), OF(2, 5), OF(3, 7), OF(5, 16), OF(6, 31), OF(7, 32), OF(1, 33), OF(4, 50),           \
        OF(9, 64), OF(1, 100)

static void rows_of_segments(void **state)
{
    (void)state;
    both("[s,k]bool, [n]T, [m]bool -> [9,s]T, [9,s]T", weighted_of_alike, "f32 i32 f64", POSITIVE, FEW);
    both("[s,k]bool, [n]T, [m]bool -> [9,s]T, [9,s]T", weighted_of_by_turns, "f32 i64 f64", SMALL, FEW);
    both("[s,k]bool, [n]T, [m]bool -> [40,s]T", beside_vector_alike, "f32 f64", SMALL, FEW);
    both("[s,k]bool, [n]T, [m]bool -> [40,s]T", beside_vector_by_turns, "f32 i32", SMALL, FEW);
}

/* --- greatest and least elements --- */

static sn_acc extremes_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    return sn_results(sn_fold_seg(sn_max, -5, lengths, x), sn_fold_seg(sn_min, 5, lengths, x),
                      sn_fold_seg(sn_max, -2, lengths, sn_map(sn_neg, sn_map(sn_abs, x))), sn_sum_seg(lengths, x));
}

/* Whole segments of what decides nothing: infinities, NaNs, zeros of both signs. */
static sn_scalar nothing_much(sn_scalar i, sn_scalar x)
{
    sn_scalar part = sn_rem(sn_quot(i, 100), 5), zero = sn_mul(x, 0);
    sn_scalar infinite = sn_neg(sn_abs(sn_div(1, zero))), none = sn_div(zero, zero);
    return sn_if(sn_eq(part, 0), x, sn_if(sn_eq(part, 1), infinite, sn_if(sn_eq(part, 2), none, zero)));
}

static sn_acc rare_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of), y = sn_imap(nothing_much, x);
    return sn_results(sn_fold_seg(sn_max, -INFINITY, lengths, y), sn_fold_seg(sn_min, INFINITY, lengths, y), y);
}

/* What is read as it is. */
static sn_acc greatest_of(sn_acc sizes, sn_acc x, sn_scalar (*of)(void *, sn_scalar))
{
    sn_acc lengths = lengths_of(sizes, of);
    return sn_results(sn_fold_seg(sn_max, -INFINITY, lengths, x), sn_fold_seg(sn_min, INFINITY, lengths, x));
}

BOTH_WAYS(extremes_of)
BOTH_WAYS(rare_of)
BOTH_WAYS(greatest_of)

#define LONGER                                                                                                         \
    OF(0, 40), OF(30, 1), OF(20, 20), OF(20, 33), OF(20, 50), OF(20, 64), OF(20, 65), OF(20, 85), OF(20, 100),         \
        OF(20, 128), OF(20, 129)

static void greatest_and_least(void **state)
{
    (void)state;
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T, [s]T, [s]T", extremes_of_alike, FLOATS, SMALL, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T, [s]T, [s]T", extremes_of_by_turns, FLOATS, SMALL, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T, [n]T", rare_of_alike, FLOATS, SMALL, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T, [n]T", rare_of_by_turns, FLOATS, SMALL, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T", greatest_of_alike, FLOATS, SIGNALS, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T", greatest_of_by_turns, FLOATS, MIXED, LONGER);
    both("[s,k]bool, [n]T, [m]bool -> [s]T, [s]T", greatest_of_alike, FLOATS, POSITIVE, LONGER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_from_the_right),  cmocka_unit_test(rows_of_known_length),
        cmocka_unit_test(scans_from_the_right), cmocka_unit_test(places_in_segments),
        cmocka_unit_test(segments_joined),      cmocka_unit_test(rows_of_segments),
        cmocka_unit_test(greatest_and_least),
    };
    return cmocka_run_group_tests_name("beside_segments", tests, both_open, both_close);
}
