/* Random numbers, bits, codes and whole numbers. */
#ifndef NEIGHBOURS_SOLVERS_BITS_H
#define NEIGHBOURS_SOLVERS_BITS_H

#include "functions.h"

/* --- random numbers --- */

static sn_scalar pcg_of(sn_scalar state)
{
    state = sn_add(sn_mul(state, sn_u64(6364136223846793005U)), sn_u64(1442695040888963407U));
    sn_scalar mixed = sn_to_u32(sn_shr(sn_bit_xor(sn_shr(state, 18), state), 27));
    return sn_rotr(mixed, sn_to_u32(sn_shr(state, 59)));
}

static sn_acc pcg(sn_acc states)
{
    return sn_map(pcg_of, states);
}

static sn_scalar splitmix(sn_scalar i)
{
    sn_scalar z = sn_mul(sn_add(sn_to_u64(i), 1), sn_u64(0x9e3779b97f4a7c15U));
    z = sn_mul(sn_bit_xor(z, sn_shr(z, 30)), sn_u64(0xbf58476d1ce4e5b9U));
    z = sn_mul(sn_bit_xor(z, sn_shr(z, 27)), sn_u64(0x94d049bb133111ebU));
    return sn_bit_xor(z, sn_shr(z, 31));
}

static sn_scalar in_circle(sn_scalar i)
{
    sn_scalar z = splitmix(i);
    sn_scalar x = sn_mul(sn_to_f64(sn_to_u32(z)), 0x1p-32), y = sn_mul(sn_to_f64(sn_to_u32(sn_shr(z, 32))), 0x1p-32);
    return sn_lt(sn_add(sn_mul(x, x), sn_mul(y, y)), 1);
}

static sn_acc splitmix_pi(sn_acc n)
{
    return sn_count(sn_generate(sn_size(n), in_circle));
}

static sn_scalar walk_step(sn_scalar s, sn_scalar at, sn_scalar furthest)
{
    s = sn_bit_xor(s, sn_shl(s, 13));
    s = sn_bit_xor(s, sn_shr(s, 17));
    s = sn_bit_xor(s, sn_shl(s, 5));
    at = sn_add(at, sn_if(sn_eq(sn_bit_and(s, 1), 1), sn_i32(1), sn_i32(-1)));
    return sn_tuple(s, at, sn_max(furthest, sn_abs(at)));
}

static sn_scalar furthest_of(sn_scalar seed)
{
    sn_scalar init = sn_tuple(sn_bit_or(seed, 1), sn_i32(0), sn_i32(0));
    return sn_get(sn_iterate(64, walk_step, init), 2);
}

static sn_acc walks(sn_acc seeds)
{
    return sn_map(furthest_of, seeds);
}

F1(way_of, sn_if(sn_eq(sn_bit_and(x, 1), 1), sn_i32(1), sn_i32(-1)))

static sn_acc walk_rows(sn_acc bits)
{
    return sn_maximum(sn_map(sn_abs, sn_scanl1(sn_add, sn_map(way_of, bits))));
}

/* --- cells in bits --- */

static sn_scalar rule_110(sn_scalar s)
{
    sn_scalar x = sn_at(s, 0), left = sn_bit_or(sn_shl(x, 1), sn_shr(sn_at(s, -1), 63));
    sn_scalar right = sn_bit_or(sn_shr(x, 1), sn_shl(sn_at(s, 1), 63));
    return sn_bit_and(sn_bit_or(x, right), sn_bit_not(sn_bit_and(left, sn_bit_and(x, right))));
}

static sn_acc rule_110_packed(sn_acc x)
{
    return sn_stencil(rule_110, sn_pattern(3), sn_wrap, x);
}

static sn_scalar moved_bits(sn_scalar s, int row, int way)
{
    sn_scalar x = sn_at(s, row, 0);
    if (way == 0)
        return x;
    return way < 0 ? sn_bit_or(sn_shl(x, 1), sn_shr(sn_at(s, row, -1), 63))
                   : sn_bit_or(sn_shr(x, 1), sn_shl(sn_at(s, row, 1), 63));
}

static sn_scalar life_word(sn_scalar s)
{
    sn_scalar ones = sn_u64(0), twos = sn_u64(0), fours = sn_u64(0), x = sn_at(s, 0, 0);
    for (int row = -1; row < 2; row++)
        for (int way = -1; way < 2; way++)
            if (row != 0 || way != 0) {
                sn_scalar b = moved_bits(s, row, way), carry = sn_bit_and(ones, b);
                ones = sn_bit_xor(ones, b);
                fours = sn_bit_or(fours, sn_bit_and(twos, carry));
                twos = sn_bit_xor(twos, carry);
            }
    return sn_bit_and(sn_bit_and(twos, sn_bit_not(fours)), sn_bit_or(ones, x));
}

static sn_acc life_packed(sn_acc x)
{
    return sn_stencil(life_word, sn_pattern(3, 3), sn_wrap, x);
}

/* --- bits --- */

static sn_scalar swap_bits(sn_scalar x, int by, uint64_t mask)
{
    sn_scalar t = sn_bit_and(sn_bit_xor(x, sn_shr(x, by)), sn_u64(mask));
    return sn_bit_xor(sn_bit_xor(x, t), sn_shl(t, by));
}

static sn_scalar turned_8x8(sn_scalar x)
{
    x = swap_bits(x, 7, 0x00aa00aa00aa00aaU);
    x = swap_bits(x, 14, 0x0000cccc0000ccccU);
    return swap_bits(x, 28, 0x00000000f0f0f0f0U);
}

static sn_acc bit_transpose(sn_acc x)
{
    return sn_map(turned_8x8, x);
}

static sn_scalar turned_bits(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar byte = sn_u8(0), by = sn_to_u8(j);
    for (int k = 0; k < 8; k++)
        byte = sn_bit_or(byte, sn_shl(sn_bit_and(sn_shr(sn_index(x, i, k), by), 1), k));
    return byte;
}

static sn_acc bit_transpose_rows(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(turned_bits, &x));
}

static sn_scalar count_both(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_popcount(sn_bit_and(x, y)), sn_popcount(sn_bit_or(x, y)));
}

F2(add_two, sn_tuple(sn_add(sn_fst(x), sn_fst(y)), sn_add(sn_snd(x), sn_snd(y))))
F2(share, sn_div(sn_to_f32(x), sn_to_f32(y)))

static sn_scalar share_of_pair(sn_scalar p)
{
    return share(sn_fst(p), sn_snd(p));
}

static sn_acc jaccard(sn_acc x, sn_acc y)
{
    sn_acc counts = sn_zip_with(count_both, x, sn_replicate(y, sn_extent(x, 0), SN_ALL));
    return sn_map(share_of_pair, sn_fold(add_two, sn_tuple(sn_i32(0), sn_i32(0)), counts));
}

static sn_scalar hash_of(sn_scalar x, sn_scalar k)
{
    x = sn_mul(sn_bit_xor(x, sn_mul(sn_to_u32(k), sn_u32(0x9e3779b9U))), sn_u32(0x85ebca6bU));
    return sn_bit_xor(x, sn_shr(x, 15));
}

static sn_scalar bit_in_word(void *env, sn_scalar i, sn_scalar k)
{
    return sn_shl(sn_u32(1), sn_bit_and(hash_of(sn_index(*(sn_acc *)env, i), k), 31));
}

enum { BLOOM_WORDS = 4096 };

static sn_scalar word_of(sn_scalar h)
{
    return sn_to_i64(sn_bit_and(sn_shr(h, 5), BLOOM_WORDS - 1));
}

static sn_scalar word_at(void *env, sn_scalar i, sn_scalar k)
{
    return word_of(hash_of(sn_index(*(sn_acc *)env, i), k));
}

static sn_acc bloom_set(sn_acc x)
{
    sn_acc bits = sn_generate(sn_shape(sn_size(x), 3), sn_closure(bit_in_word, &x));
    return sn_permute(sn_bit_or, sn_fill(BLOOM_WORDS, sn_u32(0)), sn_closure(word_at, &x), bits);
}

static sn_scalar has_bit(sn_acc words, sn_scalar x, int k)
{
    sn_scalar h = hash_of(x, sn_i64(k)), word = sn_index(words, word_of(h));
    return sn_eq(sn_bit_and(sn_shr(word, sn_bit_and(h, 31)), 1), 1);
}

static sn_scalar is_member(void *env, sn_scalar x)
{
    sn_acc words = *(sn_acc *)env;
    return sn_and(has_bit(words, x, 0), sn_and(has_bit(words, x, 1), has_bit(words, x, 2)));
}

static sn_acc bloom_test(sn_acc words, sn_acc x)
{
    return sn_map(sn_closure(is_member, &words), x);
}

F1(bucket_of, sn_shr(sn_mul(x, sn_u64(0x9e3779b97f4a7c15U)), 54))

static sn_acc hash_buckets(sn_acc x)
{
    return sn_histogram(1024, sn_map(bucket_of, x));
}

static sn_scalar spread_bits(sn_scalar x)
{
    static const uint32_t mask[] = {0x00ff00ff, 0x0f0f0f0f, 0x33333333, 0x55555555};
    for (int k = 0; k < 4; k++)
        x = sn_bit_and(sn_bit_or(x, sn_shl(x, 8 >> k)), sn_u32(mask[k]));
    return x;
}

static sn_scalar morton_of(sn_scalar x, sn_scalar y)
{
    return sn_bit_or(spread_bits(sn_to_u32(x)), sn_shl(spread_bits(sn_to_u32(y)), 1));
}

static sn_acc morton(sn_acc x, sn_acc y)
{
    return sn_zip_with(morton_of, x, y);
}

static sn_scalar close_bits(sn_scalar x)
{
    static const uint32_t mask[] = {0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
    x = sn_bit_and(x, sn_u32(0x55555555));
    for (int k = 0; k < 4; k++)
        x = sn_bit_and(sn_bit_or(x, sn_shr(x, 1 << k)), sn_u32(mask[k]));
    return sn_to_u16(x);
}

F1(morton_x, close_bits(x))
F1(morton_y, close_bits(sn_shr(x, 1)))

static sn_acc morton_back(sn_acc codes)
{
    return sn_results(sn_map(morton_x, codes), sn_map(morton_y, codes));
}

/* Eight numbers of 5 bits in five bytes, the first one in the lowest bits. */
static sn_scalar packed_byte(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar bit = sn_mul(i, 8), first = sn_quot(bit, 5), word = sn_u32(0), last = sn_sub(sn_size(x), 1);
    for (int k = 0; k < 3; k++) {
        sn_scalar value = sn_bit_and(sn_to_u32(sn_index(x, sn_min(sn_add(first, k), last))), 31);
        word = sn_bit_or(word, sn_shl(value, 5 * k));
    }
    return sn_to_u8(sn_shr(word, sn_to_u32(sn_rem(bit, 5))));
}

static sn_acc pack_5(sn_acc x)
{
    return sn_generate(sn_quot(sn_mul(sn_size(x), 5), 8), sn_closure(packed_byte, &x));
}

struct packed {
    sn_acc words;
    sn_scalar width;
};

static sn_scalar unpacked_at(void *env, sn_scalar i)
{
    struct packed *p = env;
    sn_scalar bit = sn_mul(i, p->width), word = sn_shr(bit, 5);
    sn_scalar low = sn_to_u64(sn_index(p->words, word));
    sn_scalar high = sn_to_u64(sn_index(p->words, sn_min(sn_add(word, 1), sn_sub(sn_size(p->words), 1))));
    sn_scalar both = sn_bit_or(low, sn_shl(high, 32));
    sn_scalar mask = sn_sub(sn_shl(sn_u64(1), sn_to_u64(p->width)), 1);
    return sn_to_u32(sn_bit_and(sn_shr(both, sn_to_u64(sn_bit_and(bit, 31))), mask));
}

static sn_acc unpack_11(sn_acc words, sn_acc n)
{
    struct packed p = {words, sn_i64(11)};
    return sn_generate(sn_size(n), sn_closure(unpacked_at, &p));
}

static sn_acc unpack_any(sn_acc words, sn_acc width, sn_acc n)
{
    struct packed p = {words, sn_to_i64(sn_the(width))};
    return sn_generate(sn_size(n), sn_closure(unpacked_at, &p));
}

static sn_scalar bytes_of(sn_scalar x)
{
    return sn_max(sn_quot(sn_sub(38, sn_clz(x)), 7), 1);
}

F1(length_of, sn_to_u8(bytes_of(x)))

static sn_acc varint_lengths(sn_acc x)
{
    sn_acc lengths = sn_map(length_of, x);
    return sn_results(lengths, sn_sum(sn_map(sn_to_i64, lengths)));
}

static sn_scalar varint_byte(void *env, sn_scalar i, sn_scalar k)
{
    sn_scalar x = sn_index(*(sn_acc *)env, i);
    sn_scalar bits = sn_bit_and(sn_to_u8(sn_shr(x, sn_to_u32(sn_mul(k, 7)))), 127);
    return sn_bit_or(bits, sn_if(sn_lt(k, sn_sub(sn_to_i64(bytes_of(x)), 1)), sn_u8(128), sn_u8(0)));
}

static sn_scalar varint_used(void *env, sn_scalar i, sn_scalar k)
{
    return sn_lt(k, sn_to_i64(bytes_of(sn_index(*(sn_acc *)env, i))));
}

static sn_acc varint_encode(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_size(x), 5);
    return sn_pack(sn_generate(shape, sn_closure(varint_used, &x)), sn_generate(shape, sn_closure(varint_byte, &x)));
}

/* --- text --- */

F1(hex_digit, sn_add(x, sn_if(sn_lt(x, 10), sn_u8('0'), sn_u8('a' - 10))))

static sn_scalar dumped(void *env, sn_scalar row, sn_scalar column) /* "xx xx ... xx\n" */
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar byte = sn_index(x, sn_add(sn_mul(row, 16), sn_quot(column, 3))), part = sn_rem(column, 3);
    sn_scalar space = sn_if(sn_eq(column, 47), sn_u8('\n'), sn_u8(' '));
    return sn_if(sn_eq(part, 0), hex_digit(sn_shr(byte, 4)),
                 sn_if(sn_eq(part, 1), hex_digit(sn_bit_and(byte, 15)), space));
}

static sn_acc hex_dump(sn_acc x)
{
    return sn_generate(sn_shape(sn_quot(sn_size(x), 16), 48), sn_closure(dumped, &x));
}

/* --- whole numbers --- */

struct sieve {
    sn_acc flags;
    sn_scalar p;
};

static sn_scalar multiple(void *env, sn_scalar i)
{
    sn_scalar p = *(sn_scalar *)env;
    return sn_mul(sn_add(i, p), p);
}

static sn_acc without_multiples(void *env, int parts, const sn_acc *flags)
{
    (void)parts;
    sn_scalar p = *(sn_scalar *)env, n = sn_size(*flags);
    sn_scalar count = sn_max(sn_sub(sn_add(sn_quot(sn_sub(n, 1), p), 1), p), 0);
    return sn_permute(sn_land, *flags, sn_closure(multiple, &p), sn_fill(count, sn_bool(false)));
}

static sn_acc same(sn_acc flags)
{
    return flags;
}

static sn_acc sieve_round(sn_acc k, sn_acc flags)
{
    sn_scalar p = sn_add(sn_the(k), 2);
    return sn_acond(sn_index(flags, p), sn_body_of(without_multiples, &p, 1), same, flags);
}

F1(at_least_2, sn_ge(x, 2))

static sn_acc sieve(sn_acc n)
{
    sn_scalar root = sn_to_i64(sn_sqrt(sn_to_f64(sn_size(n))));
    return sn_aloop(sn_sub(root, 1), sieve_round, sn_generate(sn_size(n), at_least_2));
}

static sn_scalar may_divide(void *env, sn_scalar d)
{
    sn_scalar n = *(sn_scalar *)env;
    return sn_and(sn_le(sn_mul(d, d), n), sn_ne(sn_rem(n, d), 0));
}

static sn_scalar next_odd(void *env, sn_scalar d)
{
    (void)env;
    return sn_add(d, 2);
}

static sn_scalar is_prime(sn_scalar x)
{
    sn_scalar n = sn_bit_or(sn_bit_and(x, 0xffff), 1);
    sn_scalar d = sn_while(sn_closure(may_divide, &n), sn_closure(next_odd, &n), sn_u32(3));
    return sn_gt(sn_mul(d, d), n);
}

static sn_acc primes_trial(sn_acc x)
{
    return sn_map(is_prime, x);
}

static sn_scalar power_bit(void *env, sn_scalar result, sn_scalar base, sn_scalar e)
{
    sn_scalar modulus = *(sn_scalar *)env;
    sn_scalar times = sn_rem(sn_mul(result, base), modulus);
    return sn_tuple(sn_if(sn_eq(sn_bit_and(e, 1), 1), times, result), sn_rem(sn_mul(base, base), modulus),
                    sn_shr(e, 1));
}

static sn_scalar power_of(sn_scalar x, sn_scalar e)
{
    sn_scalar modulus = sn_u64(1000003);
    sn_scalar init = sn_tuple(sn_u64(1), sn_rem(sn_to_u64(x), modulus), sn_bit_and(e, 0xffff));
    return sn_to_u32(sn_fst(sn_iterate(16, sn_closure(power_bit, &modulus), init)));
}

static sn_acc modular_powers(sn_acc x, sn_acc e)
{
    return sn_zip_with(power_of, x, e);
}

/* A carry: 0 none, 1 made here, 2 handed on. */
static sn_scalar carry_of(sn_scalar x, sn_scalar y)
{
    sn_scalar sum = sn_add(x, y);
    return sn_if(sn_lt(sum, x), sn_u8(1), sn_if(sn_eq(sum, sn_u32(0xffffffffU)), sn_u8(2), sn_u8(0)));
}

F2(carry_after, sn_if(sn_eq(y, 2), x, y))
F3(with_carry, sn_add(sn_add(x, y), sn_to_u32(sn_bit_and(z, 1))))

static sn_acc big_add(sn_acc x, sn_acc y)
{
    sn_acc carries = sn_prescan(carry_after, sn_u8(0), sn_zip_with(carry_of, x, y));
    return sn_zip_with(with_carry, x, y, carries);
}

/* --- fixed point, products, transforms --- */

struct taps {
    sn_acc x, w;
    sn_scalar i;
};

static sn_scalar add_tap(void *env, sn_scalar k, sn_scalar sum)
{
    struct taps *t = env;
    return sn_add(sum, sn_mul(sn_to_i32(sn_index(t->x, sn_add(t->i, k))), sn_to_i32(sn_index(t->w, k))));
}

static sn_scalar filtered(void *env, sn_scalar i)
{
    struct taps t = *(struct taps *)env;
    t.i = i;
    sn_scalar sum = sn_loop(sn_size(t.w), sn_closure(add_tap, &t), sn_i32(0));
    return sn_to_i16(sn_max(sn_min(sn_shr(sn_add(sum, 1 << 14), 15), 32767), -32768));
}

static sn_acc fir_q15(sn_acc x, sn_acc w)
{
    struct taps t = {.x = x, .w = w};
    return sn_generate(sn_add(sn_sub(sn_size(x), sn_size(w)), 1), sn_closure(filtered, &t));
}

F2(saturated, sn_to_i16(sn_max(sn_min(sn_add(sn_to_i32(x), sn_to_i32(y)), 32767), -32768)))

static sn_acc saturating_add(sn_acc x, sn_acc y)
{
    return sn_zip_with(saturated, x, y);
}

static sn_scalar complex_times(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_sub(sn_mul(sn_fst(a), sn_fst(b)), sn_mul(sn_snd(a), sn_snd(b))),
                    sn_add(sn_mul(sn_fst(a), sn_snd(b)), sn_mul(sn_snd(a), sn_fst(b))));
}

static sn_acc complex_products(sn_acc x)
{
    return sn_fold(complex_times, sn_tuple(sn_f32(1), sn_f32(0)), x);
}

static sn_scalar walsh_at(void *env, sn_scalar i, sn_scalar x)
{
    struct packed *p = env;
    sn_scalar other = sn_index(p->words, sn_bit_xor(i, p->width));
    return sn_if(sn_eq(sn_bit_and(i, p->width), 0), sn_add(x, other), sn_sub(other, x));
}

static sn_acc walsh_stage(sn_acc x, sn_acc h)
{
    struct packed p = {x, sn_shl(sn_i64(1), sn_the(h))};
    return sn_imap(sn_closure(walsh_at, &p), x);
}

static sn_scalar walsh_of_rows(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    struct packed *p = env;
    sn_scalar other = sn_index(p->words, i, sn_bit_xor(j, p->width));
    return sn_if(sn_eq(sn_bit_and(j, p->width), 0), sn_add(x, other), sn_sub(other, x));
}

static sn_acc walsh_round(sn_acc k, sn_acc x)
{
    struct packed p = {x, sn_shl(sn_i64(1), sn_the(k))};
    return sn_imap(sn_closure(walsh_of_rows, &p), x);
}

static sn_acc walsh_256(sn_acc x)
{
    return sn_aloop(8, walsh_round, x);
}

F2(haar_sum, sn_mul(sn_add(x, y), 0.70710678f))
F2(haar_difference, sn_mul(sn_sub(x, y), 0.70710678f))

static sn_acc haar_back(sn_acc low, sn_acc high)
{
    return sn_interleave(sn_zip_with(haar_sum, low, high), sn_zip_with(haar_difference, low, high));
}

static sn_scalar haar_2d_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar k = sn_mul(i, 2), l = sn_mul(j, 2), a = sn_index(x, k, l), b = sn_index(x, k, sn_add(l, 1));
    sn_scalar c = sn_index(x, sn_add(k, 1), l), d = sn_index(x, sn_add(k, 1), sn_add(l, 1));
    sn_scalar p = sn_add(a, b), q = sn_add(c, d), r = sn_sub(a, b), s = sn_sub(c, d);
    return sn_tuple(sn_mul(0.5f, sn_add(p, q)), sn_mul(0.5f, sn_add(r, s)), sn_mul(0.5f, sn_sub(p, q)),
                    sn_mul(0.5f, sn_sub(r, s)));
}

static sn_acc haar_2d(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2));
    return sn_generate(shape, sn_closure(haar_2d_at, &x));
}

#endif
