/* Reads at indices that are computed and often near each other: what lies between the least and the greatest is loaded
 * and permuted, in all types, of one register or two, and gathered where it is far. */
#include "both.h"

#define LENGTHS 1, 7, 8, 16, 33, 64, 100, 129, 1000, 4099
#define SHAPES 3, 5, 7, 33, 20, 100, 2, 1000, 33, 64, 5, 17, 130, 9

static sn_scalar inside(sn_scalar i, sn_scalar n)
{
    return sn_max(sn_min(i, sn_sub(n, 1)), 0);
}

/* halves with their neighbours, thirds, fractions that only a call tells, bits turned over, both ways */
static sn_scalar halves(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_size(x), h = sn_quot(i, 2), sum = sn_index(x, inside(h, n));
    sum = sn_add(sum, sn_mul(sn_index(x, inside(sn_sub(h, 1), n)), 2));
    return sn_add(sum, sn_mul(sn_index(x, inside(sn_add(h, 1), n)), 3));
}

static sn_scalar fractions(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_size(x), third = sn_quot(sn_mul(i, 2), 3), part = sn_quot(sn_mul(i, n), sn_add(n, 5));
    sn_scalar more = sn_quot(sn_mul(i, 8), 5);
    return sn_sub(sn_add(sn_index(x, inside(third, n)), sn_index(x, inside(part, n))), sn_index(x, inside(more, n)));
}

static sn_scalar turned_over(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_size(x), low = inside(sn_bit_xor(i, 5), n), pairs = inside(sn_bit_or(i, 1), n);
    sn_scalar far = inside(sn_bit_xor(i, sn_quot(n, 2)), n), fours = sn_bit_and(i, -4);
    return sn_add(sn_add(sn_index(x, low), sn_index(x, pairs)), sn_sub(sn_index(x, far), sn_index(x, fours)));
}

static sn_scalar chosen(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_size(x), odd = sn_eq(sn_rem(i, 2), 1);
    sn_scalar beside = sn_if(odd, sn_add(i, 3), sn_sub(i, 3)), seven = sn_rem(i, 7);
    return sn_add(sn_index(x, inside(beside, n)), sn_index(x, inside(sn_sub(i, seven), n)));
}

static sn_acc of_one(sn_acc x)
{
    sn_scalar n = sn_shape(sn_size(x));
    return sn_results(sn_generate(n, sn_closure(halves, &x)), sn_generate(n, sn_closure(fractions, &x)),
                      sn_generate(n, sn_closure(turned_over, &x)), sn_generate(n, sn_closure(chosen, &x)));
}

/* twice as many rows and columns */
static sn_scalar enlarged(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), k = sn_quot(i, 2), l = sn_quot(j, 2);
    sn_scalar next = inside(sn_add(k, sn_rem(i, 2)), n), beside = inside(sn_add(l, sn_rem(j, 2)), m);
    return sn_add(sn_add(sn_index(x, k, l), sn_index(x, next, l)),
                  sn_sub(sn_index(x, k, beside), sn_index(x, next, beside)));
}

static sn_acc of_two(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(sn_extent(x, 0), 2), sn_mul(sn_extent(x, 1), 2)), sn_closure(enlarged, &x));
}

/* read by some lanes only */
static sn_scalar some(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar h = sn_quot(sn_mul(i, 3), 4), n = sn_size(x);
    return sn_if(sn_lt(sn_rem(i, 5), 3), sn_index(x, inside(sn_sub(h, 2), n)), sn_index(x, i));
}

/* the same by a number that may have 64 bits; nobody of a whole register, here and there */
static sn_scalar some_turned(void *env, sn_scalar i)
{
    const sn_acc *in = env;
    sn_scalar other = sn_bit_xor(i, sn_bit_and(sn_to_i64(sn_the(in[1])), 15)), n = sn_size(in[0]);
    sn_scalar block = sn_rem(sn_quot(i, 24), 3);
    return sn_if(sn_eq(block, 1), sn_index(in[0], inside(other, n)), sn_index(in[0], i));
}

static sn_acc of_some(sn_acc x, sn_acc by)
{
    sn_acc in[] = {x, by};
    sn_scalar n = sn_shape(sn_size(x));
    return sn_results(sn_generate(n, sn_closure(some, &x)), sn_generate(n, sn_closure(some_turned, in)));
}

/* fails where an index is outside, and only if it is computed */
static sn_scalar unchecked(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_sub(sn_quot(sn_mul(i, 5), 4), 2));
}

static sn_acc failing(sn_acc x)
{
    return sn_generate(sn_shape(sn_size(x)), sn_closure(unchecked, &x));
}

static void reads(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T, [n]T", of_one, "i8 u8 i16 u16 i32 i64 f32 f64", SMALL, LENGTHS);
    both("[n,m]T -> [k,l]T", of_two, "u8 u16 i32 f32 f64", SMALL, SHAPES);
    both("[n]T, i64 -> [n]T, [n]T", of_some, "u8 i16 f32 f64", MIXED, LENGTHS);
    both("[n]T -> [n]T", failing, "u8 f32", MIXED, LENGTHS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
