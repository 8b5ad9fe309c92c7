/* Bytes, strings and codes. */
#include "functions.h"

void nb_make_text(const struct nb_call *call);
void nb_make_digits(const struct nb_call *call);
void nb_make_padded(const struct nb_call *call);
void nb_make_hexadecimal(const struct nb_call *call);
void nb_make_lines(const struct nb_call *call);
void nb_make_dates(const struct nb_call *call);
void nb_make_powers(const struct nb_call *call);
void nb_make_columns(const struct nb_call *call);
void nb_make_text_offsets(const struct nb_call *call);
void nb_make_dna(const struct nb_call *call);
void nb_make_dna_two(const struct nb_call *call);
void nb_make_rare(const struct nb_call *call);
void nb_make_utf8(const struct nb_call *call);
void nb_make_varints(const struct nb_call *call);

/* --- counts --- */

F1(letter, sn_sub(sn_bit_or(x, 32), 'a'))
F1(is_letter, sn_lt(letter(x), 26))
static sn_acc letters(sn_acc x)
{
    return sn_histogram(26, sn_map(letter, sn_filter(is_letter, x)));
}

static sn_acc byte_pairs(sn_acc x)
{
    return sn_histogram(sn_shape(256, 256), sn_zip(sn_init(x), sn_tail(x)));
}

static sn_scalar information(void *env, sn_scalar count)
{
    sn_scalar p = sn_div(sn_to_f64(count), sn_to_f64(*(sn_scalar *)env));
    return sn_if(sn_eq(count, 0), 0.0, sn_mul(sn_neg(p), sn_log2(p)));
}
static sn_acc entropy(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_sum(sn_map(sn_closure(information, &n), sn_histogram(256, x)));
}

static sn_scalar turned_by(sn_scalar x, sn_scalar by)
{
    sn_scalar k = sn_rem(sn_add(letter(x), by), 26);
    return sn_if(is_letter(x), sn_add(sn_add(k, 'A'), sn_bit_and(x, 32)), x);
}
F1(by_13, turned_by(x, sn_u8(13)))
static sn_acc rot_13(sn_acc x)
{
    return sn_map(by_13, x);
}
static sn_scalar by_key(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc key = *(sn_acc *)env;
    return turned_by(x, sn_index(key, sn_rem(i, sn_size(key))));
}
static sn_acc vigenere(sn_acc x, sn_acc key)
{
    return sn_imap(sn_closure(by_key, &key), x);
}

/* --- checksums --- */

F2(fnv_next_32, sn_mul(sn_bit_xor(x, sn_to_u32(y)), sn_u32(16777619)))
F2(fnv_next_64, sn_mul(sn_bit_xor(x, sn_to_u64(y)), sn_u64(1099511628211)))
static sn_scalar fnv_32_of(void *env, sn_scalar i)
{
    return sn_sfold(fnv_next_32, sn_u32(2166136261), *(sn_acc *)env, i);
}
static sn_scalar fnv_64_of(void *env, sn_scalar i)
{
    return sn_sfold(fnv_next_64, sn_u64(14695981039346656037U), *(sn_acc *)env, i);
}
static sn_acc fnv_32(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(fnv_32_of, &x));
}
static sn_acc fnv_64(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(fnv_64_of, &x));
}

struct row {
    sn_acc x, table;
    sn_scalar i;
};
static sn_scalar fnv_step(void *env, sn_scalar j, sn_scalar hash)
{
    struct row *r = env;
    return fnv_next_32(hash, sn_index(r->x, r->i, j));
}
static sn_scalar fnv_looped(void *env, sn_scalar i)
{
    struct row r = {.x = *(sn_acc *)env, .i = i};
    return sn_loop(sn_extent(r.x, 1), sn_closure(fnv_step, &r), sn_u32(2166136261));
}
static sn_acc fnv_loop(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(fnv_looped, &x));
}

static sn_scalar adler_next(sn_scalar s, sn_scalar x)
{
    sn_scalar a = sn_add(sn_fst(s), sn_to_u32(x));
    return sn_tuple(a, sn_add(sn_snd(s), a));
}
static sn_scalar adler_of(void *env, sn_scalar i)
{
    sn_scalar s = sn_sfold(adler_next, sn_tuple(sn_u32(1), sn_u32(0)), *(sn_acc *)env, i);
    return sn_bit_or(sn_shl(sn_rem(sn_snd(s), 65521), 16), sn_rem(sn_fst(s), 65521));
}
static sn_acc adler_of_rows(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(adler_of, &x));
}

static sn_scalar from_end(void *env, sn_scalar i, sn_scalar x)
{
    return sn_mul(sn_sub(*(sn_scalar *)env, i), sn_to_i64(x));
}
static sn_acc adler(sn_acc x)
{
    sn_scalar n = sn_size(x);
    sn_scalar a = sn_add(sn_the(sn_sum(sn_map(sn_to_i64, x))), 1);
    sn_scalar b = sn_add(sn_the(sn_sum(sn_imap(sn_closure(from_end, &n), x))), n);
    return sn_unit(sn_to_u32(sn_bit_or(sn_shl(sn_rem(b, 65521), 16), sn_rem(a, 65521))));
}

static sn_scalar crc_next(void *env, sn_scalar crc, sn_scalar x)
{
    struct row *r = env;
    return sn_bit_xor(sn_shr(crc, 8), sn_index(r->table, sn_to_i64(sn_bit_and(sn_bit_xor(crc, sn_to_u32(x)), 255))));
}
static sn_scalar crc_of(void *env, sn_scalar i)
{
    struct row *r = env;
    return sn_bit_not(sn_sfold(sn_closure(crc_next, r), sn_u32(0xffffffff), r->x, i));
}
static sn_acc crc_of_rows(sn_acc table, sn_acc x)
{
    struct row r = {.x = x, .table = table};
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(crc_of, &r));
}

static sn_scalar fletcher_next(sn_scalar s, sn_scalar x)
{
    sn_scalar a = sn_rem(sn_add(sn_fst(s), sn_to_u16(x)), 255);
    return sn_tuple(a, sn_rem(sn_add(sn_snd(s), a), 255));
}
static sn_scalar fletcher_of(void *env, sn_scalar i)
{
    sn_scalar s = sn_sfold(fletcher_next, sn_tuple(sn_u16(0), sn_u16(0)), *(sn_acc *)env, i);
    return sn_bit_or(sn_shl(sn_snd(s), 8), sn_fst(s));
}
static sn_acc fletcher(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(fletcher_of, &x));
}

F1(digit_of, sn_sub(x, '0'))
F3(luhn_digit,
   ((void)x, sn_if(sn_eq(sn_rem(y, 2), 0),
                   sn_add(sn_quot(sn_mul(digit_of(z), 2), 10), sn_rem(sn_mul(digit_of(z), 2), 10)), digit_of(z))))
F1(by_10, sn_eq(sn_rem(x, 10), 0))
static sn_acc luhn(sn_acc x)
{
    return sn_map(by_10, sn_sum(sn_imap(luhn_digit, x)));
}

/* --- numbers in digits --- */

F2(next_digit, sn_add(sn_mul(x, 10), sn_to_u32(digit_of(y))))
F2(next_digit_64, sn_add(sn_mul(x, 10), sn_to_u64(digit_of(y))))
static sn_scalar number_of(void *env, sn_scalar i)
{
    return sn_sfold(next_digit, sn_u32(0), *(sn_acc *)env, i);
}
static sn_scalar number_of_64(void *env, sn_scalar i)
{
    return sn_sfold(next_digit_64, sn_u64(0), *(sn_acc *)env, i);
}
static sn_acc digits_fold(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(number_of, &x));
}
static sn_acc digits_u64(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(number_of_64, &x));
}
F2(weighed, sn_mul(sn_to_u32(digit_of(x)), y))
static sn_acc digits_by_weights(sn_acc x, sn_acc weights)
{
    return sn_sum(sn_zip_with(weighed, x, sn_replicate(weights, sn_extent(x, 0), SN_ALL)));
}

/* Spaces, perhaps a sign, digits. */
static sn_scalar padded_next(sn_scalar s, sn_scalar x)
{
    sn_scalar is_digit = sn_land(sn_ge(x, '0'), sn_le(x, '9'));
    return sn_tuple(sn_lor(sn_fst(s), sn_eq(x, '-')),
                    sn_if(is_digit, sn_add(sn_mul(sn_snd(s), 10), sn_to_i32(digit_of(x))), sn_snd(s)));
}
static sn_scalar padded_of(void *env, sn_scalar i)
{
    sn_scalar s = sn_sfold(padded_next, sn_tuple(sn_bool(false), sn_i32(0)), *(sn_acc *)env, i);
    return sn_if(sn_fst(s), sn_neg(sn_snd(s)), sn_snd(s));
}
static sn_acc padded_to_number(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(padded_of, &x));
}

F1(hexadecimal_digit, sn_to_u32(sn_if(sn_le(x, '9'), sn_sub(x, '0'), sn_sub(sn_bit_or(x, 32), 'a' - 10))))
F2(next_hexadecimal, sn_bit_or(sn_shl(x, 4), hexadecimal_digit(y)))
static sn_scalar hexadecimal_of(void *env, sn_scalar i)
{
    return sn_sfold(next_hexadecimal, sn_u32(0), *(sn_acc *)env, i);
}
static sn_acc of_hexadecimal(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(hexadecimal_of, &x));
}

/* Each byte is a function of the number so far: times 10 and the digit; a newline gives 0. */
F1(is_newline, sn_eq(x, '\n'))
F1(step_of_number, sn_if(is_newline(x), sn_tuple(sn_i32(0), sn_i32(0)), sn_tuple(sn_i32(10), sn_to_i32(digit_of(x)))))
F2(step_after, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_snd(x), sn_fst(y)), sn_snd(y))))
static sn_acc lines_to_numbers(sn_acc x)
{
    sn_acc number = sn_snd(sn_scanl1(step_after, sn_map(step_of_number, x)));
    return sn_pack(sn_map(is_newline, sn_tail(x)), sn_init(number));
}

static sn_scalar digits_at(sn_acc x, sn_scalar i, int from, int count)
{
    sn_scalar v = sn_i32(0);
    for (int k = 0; k < count; k++)
        v = sn_add(sn_mul(v, 10), sn_to_i32(digit_of(sn_index(x, i, from + k))));
    return v;
}
/* YYYY-MM-DD to days since 1970. */
static sn_scalar days_of(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar y = digits_at(x, i, 0, 4), m = digits_at(x, i, 5, 2), d = digits_at(x, i, 8, 2);
    y = sn_if(sn_le(m, 2), sn_sub(y, 1), y);
    sn_scalar era = sn_quot(y, 400), year = sn_sub(y, sn_mul(era, 400));
    sn_scalar day = sn_sub(sn_add(sn_quot(sn_add(sn_mul(153, sn_rem(sn_add(m, 9), 12)), 2), 5), d), 1);
    day = sn_add(sn_add(sn_sub(sn_add(sn_mul(year, 365), sn_quot(year, 4)), sn_quot(year, 100)), day),
                 sn_sub(sn_mul(era, 146097), 719468));
    return day;
}
static sn_acc dates(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(days_of, &x));
}

static sn_scalar decimal_3_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar x = sn_index(*(sn_acc *)env, i);
    sn_scalar d = sn_if(sn_eq(j, 0), sn_quot(x, 100), sn_if(sn_eq(j, 1), sn_rem(sn_quot(x, 10), 10), sn_rem(x, 10)));
    return sn_add(d, '0');
}
static sn_acc decimal_3(sn_acc x)
{
    return sn_generate(sn_shape(sn_size(x), 3), sn_closure(decimal_3_at, &x));
}
static sn_scalar decimal_5_at(void *env, sn_scalar i, sn_scalar j)
{
    static const int power[] = {10000, 1000, 100, 10, 1};
    sn_scalar x = sn_index(*(sn_acc *)env, i), d = x;
    for (int k = 3; k >= 0; k--) {
        sn_scalar q = sn_quot(x, power[k]);
        d = sn_if(sn_eq(j, k), q, d);
    }
    return sn_if(sn_land(sn_eq(d, 0), sn_lt(j, 4)), sn_u8(' '), sn_add(sn_to_u8(sn_rem(d, 10)), '0'));
}
static sn_acc decimal_5(sn_acc x)
{
    return sn_generate(sn_shape(sn_size(x), 5), sn_closure(decimal_5_at, &x));
}
static sn_scalar decimal_10_at(sn_scalar power, sn_scalar x)
{
    return sn_add(sn_to_u8(sn_rem(sn_quot(x, power), 10)), '0');
}
static sn_acc decimal_10(sn_acc powers, sn_acc x)
{
    return sn_zip_with(decimal_10_at, sn_replicate(powers, sn_size(x), SN_ALL), sn_replicate(x, SN_ALL, 10));
}

/* --- tokens and lines --- */

F1(is_space, sn_le(x, ' '))
F1(begins_word, sn_land(sn_not(is_space(sn_at(x, 0))), is_space(sn_at(x, -1))))
static sn_acc word_starts(sn_acc x)
{
    return sn_pack(sn_stencil(begins_word, sn_pattern(3), sn_constant(sn_u8(' ')), x), sn_iota(sn_size(x)));
}

F1(one_if_newline, sn_to_i32(is_newline(x)))
static sn_acc line_numbers(sn_acc x)
{
    return sn_prescan(sn_add, sn_i32(1), sn_map(one_if_newline, x));
}
F2(behind_newline, sn_if(is_newline(y), sn_add(sn_to_i32(x), 1), sn_i32(0)))
F2(column_of, sn_sub(sn_to_i32(x), y))
static sn_acc column_numbers(sn_acc x)
{
    return sn_imap(column_of, sn_prescan(sn_max, sn_i32(0), sn_imap(behind_newline, x)));
}

/* The number of its field in its line, for each byte; commas and newlines in quotes are not counted. */
F1(is_quote, sn_to_u8(sn_eq(x, '"')))
F2(is_comma_outside, sn_to_i32(sn_land(sn_eq(x, ','), sn_eq(y, 0))))
F3(commas_at_line, sn_if(sn_land(is_newline(x), sn_eq(y, 0)), z, sn_i32(0)))
static sn_acc fields_quoted(sn_acc x)
{
    sn_acc inside = sn_scanl1(sn_bit_xor, sn_map(is_quote, x));
    sn_acc commas = sn_scanl1(sn_add, sn_zip_with(is_comma_outside, x, inside));
    sn_acc before = sn_scanl1(sn_max, sn_zip_with(commas_at_line, x, inside, commas));
    return sn_zip_with(sn_sub, commas, before);
}

F2(stays_before, sn_not(sn_land(sn_eq(x, '\r'), sn_eq(y, '\n'))))
static sn_acc crlf_to_lf(sn_acc x)
{
    sn_acc next = sn_append(sn_tail(x), sn_fill(1, sn_u8(0)));
    return sn_pack(sn_zip_with(stays_before, x, next), x);
}
F1(always, ((void)x, sn_bool(true)))
static sn_acc lf_to_crlf(sn_acc x)
{
    sn_acc tags = sn_interleave(sn_map(is_newline, x), sn_map(always, x));
    return sn_pack(tags, sn_interleave(sn_fill(sn_shape_of(x), sn_u8('\r')), x));
}
F1(stays_behind, sn_lor(sn_ne(sn_at(x, 0), ' '), sn_ne(sn_at(x, -1), ' ')))
static sn_acc collapse_spaces(sn_acc x)
{
    return sn_pack(sn_stencil(stays_behind, sn_pattern(3), sn_constant(sn_u8(0)), x), x);
}

F3(length_if_filled, ((void)x, sn_if(sn_eq(z, ' '), sn_i32(0), sn_add(sn_to_i32(y), 1))))
static sn_acc trimmed_lengths(sn_acc x)
{
    return sn_fold(sn_max, sn_i32(0), sn_imap(length_if_filled, x));
}
static sn_scalar justified_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    sn_scalar from = sn_sub(j, sn_sub(sn_extent(p[0], 1), sn_to_i64(sn_index(p[1], i))));
    return sn_if(sn_lt(from, 0), sn_u8(' '), sn_index(p[0], i, from));
}
static sn_acc right_justified(sn_acc x)
{
    sn_acc p[] = {x, trimmed_lengths(x)};
    return sn_generate(sn_shape_of(x), sn_closure(justified_at, p));
}
static sn_scalar column_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    sn_scalar at = sn_add(sn_index(p[0], i), j);
    return sn_if(sn_lt(at, sn_index(p[0], sn_add(i, 1))), sn_index(p[1], at), sn_u8(' '));
}
static sn_acc to_columns(sn_acc offsets, sn_acc x)
{
    sn_acc p[] = {offsets, x};
    return sn_generate(sn_shape(sn_sub(sn_size(offsets), 1), 12), sn_closure(column_at, p));
}

/* --- strings of fixed lengths --- */

static sn_acc like_rows(sn_acc pattern, sn_acc x)
{
    return sn_replicate(pattern, sn_extent(x, 0), SN_ALL);
}
static sn_acc equal_to_pattern(sn_acc x, sn_acc pattern)
{
    return sn_all(sn_zip_with(sn_eq, x, like_rows(pattern, x)));
}
static sn_acc starts_with(sn_acc x, sn_acc pattern)
{
    return sn_count(equal_to_pattern(sn_take(4, x), pattern));
}
F2(sign_of_difference, sn_to_i8(sn_signum(sn_sub(sn_to_i32(x), sn_to_i32(y)))))
F2(first_that_differs, sn_if(sn_ne(x, 0), x, y))
static sn_acc compare_with(sn_acc x, sn_acc pattern)
{
    return sn_fold1(first_that_differs, sn_zip_with(sign_of_difference, x, like_rows(pattern, x)));
}
static sn_acc neighbours_equal(sn_acc x)
{
    sn_acc behind, before, last;
    sn_split_along(0, 1, x, &behind);
    before = sn_split_along(0, sn_sub(sn_extent(x, 0), 1), x, &last);
    return sn_count(sn_all(sn_zip_with(sn_eq, before, behind)));
}
static sn_acc palindromes(sn_acc x)
{
    return sn_all(sn_zip_with(sn_eq, x, sn_reverse(x)));
}
F2(differ, sn_to_i32(sn_ne(x, y)))
static sn_acc hamming_to_one(sn_acc x, sn_acc pattern)
{
    return sn_sum(sn_zip_with(differ, x, like_rows(pattern, x)));
}
static sn_acc hamming_rows(sn_acc x, sn_acc y)
{
    return sn_count(sn_zip_with(sn_ne, x, y));
}
F2(bits_apart, sn_popcount(sn_bit_xor(x, y)))
static sn_acc nearest_codes(sn_acc x, sn_acc y)
{
    return sn_minimum(sn_zip_with(bits_apart, sn_replicate(x, SN_ALL, sn_size(y)), like_rows(y, x)));
}

/* --- DNA --- */

F1(complement, sn_if(sn_eq(x, 'A'), 'T', sn_if(sn_eq(x, 'C'), 'G', sn_if(sn_eq(x, 'G'), 'C', sn_u8('A')))))
static sn_acc reverse_complement(sn_acc x)
{
    return sn_reverse(sn_map(complement, x));
}
F1(base_of, sn_bit_and(sn_shr(x, 1), 3))
static sn_scalar four_bases(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar v = sn_u8(0);
    for (int k = 0; k < 4; k++)
        v = sn_bit_or(v, sn_shl(base_of(sn_index(x, i, k)), 2 * k));
    return v;
}
static sn_acc bases_packed(sn_acc x)
{
    sn_acc fours = sn_reshape(sn_shape(sn_quot(sn_size(x), 4), 4), x);
    return sn_generate(sn_shape(sn_extent(fours, 0)), sn_closure(four_bases, &fours));
}
F3(base_in_place, ((void)x, sn_shl(base_of(z), sn_to_u8(sn_mul(y, 2)))))
static sn_acc bases_packed_fold(sn_acc x)
{
    return sn_fold1(sn_bit_or, sn_imap(base_in_place, sn_reshape(sn_shape(sn_quot(sn_size(x), 4), 4), x)));
}
static sn_scalar base_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    return sn_index(p[0], sn_to_i64(sn_bit_and(sn_shr(sn_index(p[1], i), sn_to_u8(sn_mul(j, 2))), 3)));
}
static sn_acc bases_unpacked(sn_acc table, sn_acc x)
{
    sn_acc p[] = {table, x};
    return sn_generate(sn_shape(sn_size(x), 4), sn_closure(base_at, p));
}

struct kmer {
    sn_acc x;
    int k;
    sn_type type;
};
static sn_scalar kmer_at(void *env, sn_scalar i)
{
    struct kmer *w = env;
    sn_scalar v = sn_to(w->type, sn_index(w->x, i));
    for (int k = 1; k < w->k; k++)
        v = sn_bit_or(sn_shl(v, 2), sn_to(w->type, sn_index(w->x, sn_add(i, k))));
    return v;
}
static sn_acc kmers(sn_acc x, int k, sn_type type)
{
    struct kmer w = {sn_map(base_of, x), k, type};
    return sn_generate(sn_shape(sn_sub(sn_size(x), k - 1)), sn_closure(kmer_at, &w));
}
static sn_acc kmers_8(sn_acc x)
{
    return kmers(x, 8, SN_U16);
}
static sn_acc kmer_counts(sn_acc x)
{
    return sn_histogram(4096, kmers(x, 6, SN_I32));
}
F1(scrambled, sn_bit_xor(sn_mul(x, sn_u32(2654435761)), sn_shr(x, 7)))
static sn_acc minimizers(sn_acc x)
{
    sn_acc hash = sn_map(scrambled, kmers(x, 8, SN_U32));
    return sn_minimum(sn_backpermute(sn_shape(sn_sub(sn_size(hash), 9), 10), sn_add, hash));
}
F1(is_gc, sn_lor(sn_eq(x, 'G'), sn_eq(x, 'C')))
static sn_scalar share_of(void *env, sn_scalar count)
{
    return sn_div(sn_to_f32(count), sn_to_f32(*(sn_scalar *)env));
}
static sn_acc gc_of_reads(sn_acc x)
{
    sn_scalar m = sn_extent(x, 1);
    return sn_map(sn_closure(share_of, &m), sn_count(sn_map(is_gc, x)));
}

/* --- patterns --- */

struct match {
    sn_acc x, pattern;
    sn_scalar i;
};
static sn_scalar match_step(void *env, sn_scalar k, sn_scalar so_far)
{
    struct match *m = env;
    return sn_land(so_far, sn_eq(sn_index(m->x, sn_add(m->i, k)), sn_index(m->pattern, k)));
}
static sn_scalar match_at(void *env, sn_scalar i)
{
    struct match m = *(struct match *)env;
    m.i = i;
    return sn_loop(sn_size(m.pattern), sn_closure(match_step, &m), sn_bool(true));
}
static sn_scalar places_of(sn_acc x, sn_acc pattern)
{
    return sn_add(sn_sub(sn_size(x), sn_size(pattern)), 1);
}
static sn_acc count_pattern_loop(sn_acc x, sn_acc pattern)
{
    struct match m = {.x = x, .pattern = pattern};
    return sn_count(sn_generate(sn_shape(places_of(x, pattern)), sn_closure(match_at, &m)));
}
static sn_acc matches(sn_acc x, sn_acc pattern)
{
    sn_acc windows = sn_backpermute(sn_shape(places_of(x, pattern), sn_size(pattern)), sn_add, x);
    return sn_all(sn_zip_with(sn_eq, windows, sn_replicate(pattern, places_of(x, pattern), SN_ALL)));
}
static sn_acc count_pattern_windows(sn_acc x, sn_acc pattern)
{
    return sn_count(matches(x, pattern));
}
static sn_acc find_all(sn_acc x, sn_acc pattern)
{
    return sn_pack(matches(x, pattern), sn_iota(places_of(x, pattern)));
}
F2(index_if, sn_if(y, x, sn_i64(-1)))
static sn_acc last_of_pattern(sn_acc x, sn_acc pattern)
{
    return sn_maximum(sn_imap(index_if, matches(x, pattern)));
}

/* --- encodings --- */

static sn_scalar base64_at(void *env, sn_scalar i)
{
    sn_acc *p = env;
    sn_scalar group = sn_mul(sn_quot(i, 4), 3), place = sn_to_u32(sn_rem(i, 4)), word = sn_u32(0);
    for (int k = 0; k < 3; k++)
        word = sn_bit_or(sn_shl(word, 8), sn_to_u32(sn_index(p[1], sn_add(group, k))));
    return sn_index(p[0], sn_to_i64(sn_bit_and(sn_shr(word, sn_sub(18, sn_mul(place, 6))), 63)));
}
static sn_acc base64(sn_acc table, sn_acc x)
{
    sn_acc p[] = {table, x};
    return sn_generate(sn_shape(sn_mul(sn_quot(sn_size(x), 3), 4)), sn_closure(base64_at, p));
}
static sn_scalar base64_back_at(void *env, sn_scalar group, sn_scalar place)
{
    sn_acc *p = env;
    sn_scalar word = sn_u32(0);
    for (int k = 0; k < 4; k++)
        word = sn_bit_or(sn_shl(word, 6),
                         sn_to_u32(sn_index(p[0], sn_to_i64(sn_index(p[1], sn_add(sn_mul(group, 4), k))))));
    return sn_to_u8(sn_shr(word, sn_to_u32(sn_sub(16, sn_mul(place, 8)))));
}
static sn_acc base64_back(sn_acc table, sn_acc x)
{
    sn_acc p[] = {table, x};
    return sn_flatten(sn_generate(sn_shape(sn_quot(sn_size(x), 4), 3), sn_closure(base64_back_at, p)));
}

F1(begins_code_point, sn_ne(sn_bit_and(x, 0xc0), 0x80))
static sn_acc code_points(sn_acc x)
{
    return sn_count(sn_map(begins_code_point, x));
}
static sn_scalar more_bits(sn_scalar head, sn_scalar s, int count)
{
    for (int k = 1; k <= count; k++)
        head = sn_bit_or(sn_shl(head, 6), sn_to_u32(sn_bit_and(sn_at(s, k), 63)));
    return head;
}
static sn_scalar code_point_at(sn_scalar s)
{
    sn_scalar x = sn_at(s, 0), c = sn_to_u32(x);
    return sn_if(sn_lt(x, 0x80), c,
                 sn_if(sn_lt(x, 0xe0), more_bits(sn_bit_and(c, 31), s, 1),
                       sn_if(sn_lt(x, 0xf0), more_bits(sn_bit_and(c, 15), s, 2), more_bits(sn_bit_and(c, 7), s, 3))));
}
static sn_acc utf8_to_utf32(sn_acc x)
{
    sn_acc decoded = sn_stencil(code_point_at, sn_pattern(7), sn_constant(sn_u8(0)), x);
    return sn_pack(sn_map(begins_code_point, x), decoded);
}
F1(is_high, sn_ge(x, 0x80))
F1(first_byte, sn_bit_or(sn_shr(x, 6), 0xc0))
F1(last_byte, sn_if(is_high(x), sn_bit_or(sn_bit_and(x, 63), 0x80), x))
static sn_acc latin1_to_utf8(sn_acc x)
{
    return sn_pack(sn_interleave(sn_map(is_high, x), sn_map(always, x)),
                   sn_interleave(sn_map(first_byte, x), sn_map(last_byte, x)));
}

/* (whether a number begins here, bits so far, value so far) */
F2(varint_step, sn_tuple(x, sn_u32(7), sn_to_u32(sn_bit_and(y, 127))))
static sn_scalar varint_join(sn_scalar x, sn_scalar y)
{
    sn_scalar joined = sn_tuple(sn_get(x, 0), sn_add(sn_get(x, 1), sn_get(y, 1)),
                                sn_bit_or(sn_get(x, 2), sn_shl(sn_get(y, 2), sn_get(x, 1))));
    return sn_if(sn_get(y, 0), y, joined);
}
F1(ends_varint, sn_lt(x, 128))
static sn_acc varints(sn_acc x)
{
    sn_acc ends = sn_map(ends_varint, x), begins = sn_append(sn_fill(1, sn_bool(true)), sn_init(ends));
    return sn_pack(ends, sn_get(sn_scanl1(varint_join, sn_zip_with(varint_step, begins, x)), 2));
}

static sn_acc deltas(sn_acc x)
{
    return sn_scanl1(sn_add, sn_map(sn_to_i32, x));
}
F1(zigzag, sn_bitcast(SN_I32, sn_bit_xor(sn_shr(x, 1), sn_neg(sn_bit_and(x, 1)))))
static sn_acc zigzag_deltas(sn_acc x)
{
    return sn_scanl1(sn_add, sn_map(zigzag, x));
}

static sn_scalar swapped(sn_scalar x, int by, int mask)
{
    return sn_bit_or(sn_bit_and(sn_shr(x, by), mask), sn_shl(sn_bit_and(x, mask), by));
}
F1(reversed, swapped(swapped(swapped(x, 4, 0x0f), 2, 0x33), 1, 0x55))
static sn_acc bits_reversed(sn_acc x)
{
    return sn_map(reversed, x);
}
static sn_scalar from_gray(sn_scalar x)
{
    for (int k = 1; k <= 16; k *= 2)
        x = sn_bit_xor(x, sn_shr(x, k));
    return x;
}
static sn_acc gray_back(sn_acc x)
{
    return sn_map(from_gray, x);
}
F1(swapped_bytes,
   sn_bit_or(sn_bit_and(sn_rotl(x, 8), sn_u32(0x00ff00ff)), sn_bit_and(sn_rotr(x, 8), sn_u32(0xff00ff00))))
static sn_acc bytes_swapped(sn_acc x)
{
    return sn_map(swapped_bytes, x);
}
F1(parity, sn_bit_and(sn_to_u8(sn_popcount(x)), 1))
static sn_acc parity_of_rows(sn_acc x)
{
    return sn_map(parity, sn_fold1(sn_bit_xor, x));
}
F1(bits_of, sn_to_i64(sn_popcount(x)))
static sn_acc bits_of_rows(sn_acc x)
{
    return sn_sum(sn_map(bits_of, x));
}

#define NB_GROUP text
#define NB_TABLE "text.def"
#include "../table.h"
