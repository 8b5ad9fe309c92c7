/* Folds whose elements simplify to constants, or of which a component does: every operator, type and variant of kernel,
 * against the interpreter. Where an operand is a literal, what makes kernels leaves operations out. */
#include "both.h"

/* A row folded in one go, by gangs, in pieces; few long rows and many short ones; nothing. */
#define ROWS 0, 3, 1, 1, 1, 32, 40, 1, 40, 31, 3, 33, 40, 33, 40, 64, 3, 200, 2, 1041, 20, 1041, 2, 5003, 1, 70001
#define COUNTING "i8 u32 i64 f64"

/* Of element x, numbers that do not depend on it. */
static sn_scalar zero(sn_scalar x)
{
    return sn_mul(x, 0);
}

static sn_scalar one(sn_scalar x)
{
    return sn_bit_or(sn_bit_xor(x, x), 1);
}

static sn_scalar all_bits(sn_scalar x)
{
    return sn_bit_not(sn_bit_xor(x, x));
}

static sn_scalar yes(sn_scalar x)
{
    return sn_or(sn_eq(x, x), true);
}

static sn_scalar no(sn_scalar x)
{
    return sn_and(sn_eq(x, x), false);
}

/* A function, not a macro: the element of every fold below. */
typedef sn_scalar element(sn_scalar x);

static sn_acc every_result(element *f, sn_acc a)
{
    sn_acc x = sn_map(f, a);
    return sn_results(sn_sum(x), sn_product(x), sn_fold(sn_min, 1, x), sn_fold(sn_max, 0, x));
}

static sn_acc of_zeros(sn_acc a)
{
    return every_result(zero, a);
}

static sn_acc of_ones(sn_acc a)
{
    return every_result(one, a);
}

static sn_acc of_all_bits(sn_acc a)
{
    return every_result(all_bits, a);
}

/* Each by itself, so that none is computed beside another. */
#define ALONE(name, fold)                                                                                              \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return fold;                                                                                                   \
    }
ALONE(sum_of_zeros, sn_sum(sn_map(zero, a)))
ALONE(sum_of_filled, sn_sum(sn_fill(sn_shape_of(a), sn_i32(0))))
ALONE(sum_of_sevens, sn_sum(sn_fill(sn_shape_of(a), sn_u8(7))))
ALONE(product_of_zeros, sn_fold(sn_mul, 1, sn_map(zero, a)))
ALONE(product_of_ones, sn_fold(sn_mul, 1, sn_map(one, a)))
ALONE(least_zero, sn_fold(sn_min, 5, sn_map(zero, a)))
ALONE(greatest_bits, sn_fold(sn_max, 0, sn_map(all_bits, a)))
ALONE(and_of_bits, sn_fold(sn_bit_and, 5, sn_map(all_bits, a)))
ALONE(and_of_zeros, sn_fold(sn_bit_and, 5, sn_map(zero, a)))
ALONE(or_of_zeros, sn_fold(sn_bit_or, 5, sn_map(zero, a)))
ALONE(xor_of_zeros, sn_fold(sn_bit_xor, 5, sn_map(zero, a)))
ALONE(xor_of_ones, sn_fold(sn_bit_xor, 5, sn_map(one, a)))
ALONE(places, sn_results(sn_argmin(sn_map(zero, a)), sn_argmax(sn_map(zero, a))))
ALONE(alike, sn_results(sn_minimum(sn_map(zero, a)), sn_maximum(sn_map(zero, a))))
ALONE(truths, sn_results(sn_all(sn_map(yes, a)), sn_any(sn_map(yes, a)), sn_count(sn_map(yes, a))))
ALONE(lies, sn_results(sn_all(sn_map(no, a)), sn_any(sn_map(no, a)), sn_count(sn_map(no, a))))
ALONE(all_at_once, sn_results(sn_fold_all(sn_add, 0, sn_map(zero, a)), sn_fold_all(sn_max, 0, sn_map(zero, a))))
/* lanes are neighbouring rows */
ALONE(sum_of_columns, sn_sum(sn_transpose(sn_map(zero, a))))
ALONE(columns_beside, sn_results(sn_sum(sn_transpose(a)), sn_sum(sn_transpose(sn_map(zero, a)))))
/* results that are stored besides, and read */
ALONE(stored_too, sn_results(sn_sum(sn_map(zero, a)), sn_map(zero, a)))
ALONE(beside_others, sn_results(sn_sum(a), sn_sum(sn_map(zero, a)), sn_maximum(a)))

static void sums_and_the_like(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", sum_of_zeros, "i32 u64 f32 f64", SMALL, ROWS);
    both("[n,m]T -> [n]i32", sum_of_zeros, "i8", SMALL, ROWS);
    both("[n,m]T -> [n]u32", sum_of_zeros, "u16", SMALL, ROWS);
    both("[n,m]T -> [n]i32", sum_of_filled, "i32", SMALL, ROWS);
    both("[n,m]T -> [n]u32", sum_of_sevens, "u8", SMALL, ROWS);
    both("[n,m]T -> [n]T", product_of_zeros, COUNTING, SMALL, ROWS);
    both("[n,m]T -> [n]T", product_of_ones, "u16 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T", least_zero, COUNTING, SMALL, ROWS);
    both("[n,m]T -> [n]T", greatest_bits, "u16 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T, [n]T, [n]T", of_zeros, "i32 f64", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T, [n]T, [n]T", of_ones, "u64", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T, [n]T, [n]T", of_all_bits, "i32", SMALL, ROWS);
}

static void bits(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", and_of_bits, "u8 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T", and_of_zeros, "u8 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T", or_of_zeros, "u8 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T", xor_of_zeros, "u8 i64", SMALL, ROWS);
    both("[n,m]T -> [n]T", xor_of_ones, "u8 i64", SMALL, ROWS);
}

static void places_and_counts(void **state)
{
    (void)state;
    both("[n,m]T -> [n]i64, [n]i64", places, "u8 i64 f32", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T", alike, "u8 i64 f32", SMALL, ROWS);
    both("[n,m]T -> [n]bool, [n]bool, [n]i64", truths, "i32", SMALL, ROWS);
    both("[n,m]T -> [n]bool, [n]bool, [n]i64", lies, "f64", SMALL, ROWS);
}

static void other_kernels(void **state)
{
    (void)state;
    both("[n,m]T -> T, T", all_at_once, "i32 u8 f32", SMALL, ROWS);
    both("[n,m]T -> [m]T", sum_of_columns, "i32 f64", SMALL, 40, 33, 70, 20, 200, 64, 5003, 17);
    both("[n,m]T -> [m]T, [m]T", columns_beside, "i32 f64", SMALL, 40, 33, 70, 20, 200, 64, 5003, 17);
    both("[n,m]T -> [n]T, [n,m]T", stored_too, "i32 f64", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T, [n]T", beside_others, "i32 f64", SMALL, ROWS);
}

/* --- tuples with a constant component --- */

static sn_scalar with_zero(sn_scalar x)
{
    return sn_tuple(x, sn_mul(x, 0));
}

static sn_scalar add_both(sn_scalar s, sn_scalar t)
{
    return sn_tuple(sn_add(sn_fst(s), sn_fst(t)), sn_add(sn_snd(s), sn_snd(t)));
}

static sn_acc parts(sn_acc pairs)
{
    sn_acc part[2];
    sn_unzip(pairs, 2, part);
    return sn_results(part[0], part[1]);
}

static sn_acc sums_of_pairs(sn_acc a)
{
    return parts(sn_fold(add_both, sn_tuple(0, 1), sn_map(with_zero, a)));
}

/* x -> a x + b, which keeps order: all of them with the same a, or the same b */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc compositions(sn_acc a)
{
    return parts(sn_fold1(compose, sn_map(with_zero, a)));
}

static sn_scalar zero_with(sn_scalar x)
{
    return sn_tuple(sn_mul(x, 0), x);
}

static sn_acc other_compositions(sn_acc a)
{
    return parts(sn_fold1(compose, sn_map(zero_with, a)));
}

static sn_scalar second(sn_scalar x, sn_scalar y)
{
    (void)x;
    return y;
}

static sn_acc last_zero(sn_acc a)
{
    return sn_fold1(second, sn_map(zero, a));
}

/* the element with the greatest key, where keys, or elements, are all the same */
static sn_scalar better(sn_scalar s, sn_scalar t)
{
    return sn_if(sn_gt(sn_fst(t), sn_fst(s)), t, s);
}

static sn_acc chosen_of_equal_keys(sn_acc a)
{
    return parts(sn_fold1(better, sn_map(zero_with, a)));
}

static sn_acc chosen_of_equal_elements(sn_acc a)
{
    return parts(sn_fold1(better, sn_map(with_zero, a)));
}

#define SOME_ROWS 1, 1, 40, 33, 3, 200, 20, 1041, 2, 5003, 1, 70001

static void components(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]T", sums_of_pairs, "i8 u64 f32", SMALL, ROWS);
    both("[n,m]T -> [n]T, [n]T", compositions, "u64", SMALL, SOME_ROWS);
    both("[n,m]T -> [n]T, [n]T", other_compositions, "u64", SMALL, SOME_ROWS);
    both("[n,m]T -> [n]T", last_zero, "i8 f64", SMALL, SOME_ROWS);
    both("[n,m]T -> [n]T, [n]T", chosen_of_equal_keys, "i8 u64 f32", SMALL, SOME_ROWS);
    both("[n,m]T -> [n]T, [n]T", chosen_of_equal_elements, "i8 u64 f32", SMALL, SOME_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_the_like), cmocka_unit_test(bits),       cmocka_unit_test(places_and_counts),
        cmocka_unit_test(other_kernels),     cmocka_unit_test(components),
    };
    return cmocka_run_group_tests_name("folds of constants", tests, both_open, both_close);
}
