/* Scans of what lies in columns: the kernels whose lanes are neighbouring columns against the interpreter, which goes
 * along rows that were brought together in memory. */
#include "both.h"

#include <stdlib.h>
#include <string.h>

/* rows x columns, on both sides of a gang of 64, of lines that are taken together, of a piece, of a window of pieces */
#define SHAPES                                                                                                         \
    33, 15, 33, 16, 33, 17, 32, 40, 5, 1000, 63, 64, 64, 65, 65, 130, 72, 9, 100, 33, 127, 16, 128, 100, 129, 257,     \
        400, 31, 1100, 20, 0, 20, 20, 0, 1, 50, 4096, 17, 4097, 9, 9001, 8, 33, 1, 300, 1, 200, 2, 5000, 7, 31, 2500
#define ENDS 33, 20, 65, 130, 300, 17, 7, 40, 4097, 9
#define FEW_SHAPES 7, 40, 33, 20, 65, 130, 300, 64, 4100, 17, 130, 3

#define along(f, x) sn_transpose(sn_scanl1(f, sn_transpose(x)))

static sn_acc sums(sn_acc x)
{
    return along(sn_add, x);
}

static sn_acc products(sn_acc x)
{
    return along(sn_mul, x);
}

static sn_acc extremes(sn_acc x)
{
    return sn_results(along(sn_max, x), along(sn_min, x));
}

/* order matters: x -> a x + b, the left one applied first */
static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc maps(sn_acc x)
{
    sn_acc both = along(after, sn_zip(x, x));
    return sn_results(sn_map(sn_fst, both), sn_map(sn_snd, both));
}

static sn_acc maps_from_right(sn_acc x)
{
    sn_acc both = sn_transpose(sn_scanr1(after, sn_transpose(sn_zip(x, x))));
    return sn_results(sn_map(sn_fst, both), sn_map(sn_snd, both));
}

/* no identity that we know */
static sn_scalar larger_of(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_gt(b, a), b, a);
}

static sn_acc larger(sn_acc x)
{
    return along(larger_of, x);
}

/* the last number that is none, the first one, and the one where a flag is: the same in every tree */
static sn_scalar last_number(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_is_nan(b), a, b);
}

static sn_scalar first_number(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_is_nan(a), b, a);
}

static sn_scalar last_flagged(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_or(sn_fst(a), sn_fst(b)), sn_if(sn_fst(b), sn_snd(b), sn_snd(a)));
}

static sn_scalar with_flag(sn_scalar x)
{
    return sn_tuple(sn_gt(x, 1), x);
}

static sn_acc last_of_some(sn_acc x)
{
    sn_acc t = sn_transpose(x), flagged = along(last_flagged, sn_map(with_flag, x));
    return sn_results(along(last_number, x), sn_transpose(sn_scanr1(first_number, t)),
                      sn_transpose(sn_scanl(last_number, 0, t)), sn_map(sn_fst, flagged), sn_map(sn_snd, flagged));
}

static sn_acc from_left(sn_acc x)
{
    sn_acc t = sn_transpose(x), total, before = sn_scanl_x(sn_add, 5, t, &total);
    return sn_results(sn_transpose(sn_scanl(sn_add, 5, t)), sn_transpose(sn_prescan(sn_add, 5, t)),
                      sn_transpose(sn_postscan(sn_add, 5, t)), sn_transpose(before), total);
}

static sn_acc from_right(sn_acc x)
{
    sn_acc t = sn_transpose(x), total, before = sn_scanr_x(sn_add, 5, t, &total);
    return sn_results(sn_transpose(sn_scanr(sn_add, 5, t)), sn_transpose(sn_scanr1(sn_add, t)),
                      sn_transpose(sn_prescanr(sn_add, 5, t)), sn_transpose(sn_postscanr(sn_add, 5, t)),
                      sn_transpose(before), total);
}

/* Rows of scans, or one of two that are scanned together, which nobody reads but a fold. */
static sn_acc folded(sn_acc x)
{
    sn_acc t = sn_transpose(x);
    return sn_results(sn_minimum(sn_zip_with(sn_sub, t, sn_scanl1(sn_max, t))),
                      sn_fold(sn_add, 3, sn_scanr1(sn_min, sn_transpose(x))));
}

static sn_acc one_of_two(sn_acc x)
{
    sn_acc t = sn_transpose(x);
    return sn_results(sn_map(sn_snd, along(after, sn_zip(x, x))),
                      sn_sum(sn_map(sn_fst, sn_scanl1(after, sn_zip(t, t)))));
}

static void columns_of_all_lengths(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T", sums, "u8 i32 f32 f64", MIXED, SHAPES);
    both("[n,m]T -> [n,m]T", larger, "f32", MIXED, SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T, [l,m]T, [n,m]bool, [n,m]T", last_of_some, "f32 f64", MIXED, SHAPES);
    both("[n,m]T -> [m]T, [m]T", folded, "u8 i32 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n,m]T, [m]T", one_of_two, "f32 f64", POSITIVE, SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T", maps, "f64", SMALL, SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T", maps_from_right, "f32", POSITIVE, SHAPES);
}

static void operators(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T", products, "i16 f32", POSITIVE, FEW_SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T", extremes, "u8 i64 f32 f64", MIXED, FEW_SHAPES);
    both("[n,m]T -> [n,m]T", sums, "i8 u16 u32 i64 u64", MIXED, FEW_SHAPES);
}

static void ends(void **state)
{
    (void)state;
    both("[n,m]T -> [l,m]T, [n,m]T, [n,m]T, [n,m]T, [m]T", from_left, "i32 f32 f64", MIXED, ENDS);
    both("[n,m]T -> [l,m]T, [n,m]T, [n,m]T, [n,m]T, [n,m]T, [m]T", from_right, "i32 f32", MIXED, ENDS);
}

static sn_acc larger_and_sums(sn_acc x)
{
    return sn_results(larger(x), sums(x));
}

static void windows_of_pieces(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T, [n,m]T", larger_and_sums, "f32", MIXED, 4096 * 129 + 70, 3);
}

/* --- what shares the loop --- */

static sn_scalar twice(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar with_index(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_add(x, sn_sub(sn_mul(i, 3), j));
}

static sn_acc mapped(sn_acc x)
{
    sn_acc before = sn_imap(with_index, sn_map(sn_to_i64, x));
    sn_acc s = sn_map(twice, sn_scanl1(sn_add, sn_map(twice, sn_transpose(before))));
    sn_acc after_all = sn_imap(with_index, sn_transpose(s));
    return sn_results(after_all, sn_transpose(sn_scanl1(sn_max, sn_transpose(after_all))));
}

static sn_acc twice_along(sn_acc x)
{
    sn_acc s = sums(x);
    return sn_results(s, sums(s), sn_zip_with(sn_mul, s, x), sn_fold(sn_max, 0, sn_transpose(s)),
                      sn_fold(sn_max, 0, s));
}

static sn_acc integral(sn_acc x)
{
    return sums(sn_scanl1(sn_add, x));
}

static sn_acc integral_columns_first(sn_acc x)
{
    return sn_scanl1(sn_add, sums(x));
}

static sn_acc both_ends(sn_acc x)
{
    sn_acc t = sn_transpose(x), left = sn_scanl1(sn_add, t), right = sn_scanr1(sn_add, t);
    return sn_results(sn_transpose(sn_zip_with(sn_sub, left, right)), sn_scanl1(sn_add, x));
}

/* the scan's own order is wanted, too; and a transpose of what lies in rows */
static sn_acc not_only(sn_acc x)
{
    sn_acc s = sn_scanl1(sn_add, sn_transpose(x));
    return sn_results(s, sn_transpose(s), sn_transpose(sn_scanl1(sn_add, x)));
}

static sn_scalar modulo(sn_scalar a, sn_scalar b)
{
    return sn_mod(sn_add(a, b), sn_sub(sn_add(a, b), 3)); /* fails where the sum is 3 */
}

static sn_acc moduli(sn_acc x)
{
    return along(modulo, x);
}

static void in_one_loop(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]i64, [n,m]i64", mapped, "u8 i32", POSITIVE, FEW_SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T, [n,m]T, [m]T, [n]T", twice_along, "i32 f32", POSITIVE, FEW_SHAPES);
    both("[n,m]T -> [n,m]T", integral, "u32 f32 f64", MIXED, FEW_SHAPES);
    both("[n,m]T -> [n,m]T", integral_columns_first, "f32", MIXED, FEW_SHAPES);
    both("[n,m]T -> [n,m]T, [n,m]T", both_ends, "f32", MIXED, FEW_SHAPES);
    both("[n,m]T -> [m,n]T, [n,m]T, [m,n]T", not_only, "f32", MIXED, FEW_SHAPES);
    both("[n,m]T -> [n,m]T", moduli, "i32", POSITIVE, FEW_SHAPES);
}

/* --- other ranks --- */

static sn_scalar outermost_last(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(k, i, j);
}

static sn_scalar outermost_first(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(j, k, i);
}

static sn_acc outer(sn_acc x)
{
    sn_acc t = sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 2), sn_extent(x, 0)), outermost_last, x);
    return sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 1), sn_extent(x, 2)), outermost_first,
                          sn_scanl1(sn_add, t));
}

static sn_scalar weighted(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    return sn_add(sn_mul(x, i), sn_sub(sn_mul(k, 3), j));
}

static sn_acc outer_weighted(sn_acc x)
{
    return outer(sn_imap(weighted, sn_map(sn_to_i64, x)));
}

static sn_acc all_three(sn_acc x)
{
    return outer(sums(sn_scanl1(sn_add, x)));
}

static void other_ranks(void **state)
{
    (void)state;
    both("[k,n,m]T -> [k,n,m]T", sums, "i32 f32", MIXED, 3, 40, 20, 0, 40, 20, 2, 70, 65, 5, 33, 16, 100, 70, 3);
    both("[k,n,m]T -> [k,n,m]T", outer, "i32 f32", MIXED, 40, 3, 20, 70, 2, 65, 33, 5, 16, 200, 1, 7);
    both("[k,n,m]T -> [k,n,m]i64", outer_weighted, "i32", SMALL, 40, 3, 20, 70, 2, 65, 33, 5, 16);
    both("[k,n,m]T -> [k,n,m]T", all_three, "i32 f32", MIXED, 40, 3, 20, 70, 20, 65, 33, 35, 16);
    both("[l,k,n,m]T -> [l,k,n,m]T", sums, "f32", MIXED, 3, 2, 40, 20, 2, 2, 65, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_all_lengths), cmocka_unit_test(operators),   cmocka_unit_test(ends),
        cmocka_unit_test(windows_of_pieces),      cmocka_unit_test(in_one_loop), cmocka_unit_test(other_ranks),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
