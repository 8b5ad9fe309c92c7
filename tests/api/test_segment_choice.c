/* Segments of which an element is chosen by its key, around the lengths from which on keys alone are scanned: equal
 * keys, NaNs, zeros of both signs and extremes, the first or the last of equals; alone, beside counts and extremes of
 * integers, elements that are stored and what is packed. */
#include "both.h"

/* segments and their length */
#define SHAPES                                                                                                         \
    1, 0, 5, 1, 3, 33, 40, 64, 3, 129, 5, 319, 5, 320, 3, 321, 7, 500, 3, 511, 3, 513, 2, 1000, 2, 2048, 1, 4095, 3,   \
        4096, 2, 4097, 1, 8193, 2, 20000, 1, 70001

#define LENGTHS 2, 66, 638, 640, 1000, 8190, 8194, 40000, 140002
#define FEW 640, 2, 99, 3, 10000, 2, 20485, 5, 70001, 1, 100000, 2

typedef struct cut {
    sn_acc x, lengths;
} cut;

static cut cut_rows(sn_acc a)
{
    sn_scalar rows = sn_extent(a, 0), columns = sn_extent(a, 1);
    return (cut){sn_reshape(sn_shape(sn_mul(rows, columns)), a), sn_fill(sn_shape(rows), columns)};
}

static sn_scalar numbered(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, i);
}

static sn_scalar left_if_no_less(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_fst(a), sn_fst(b)), a, b);
}

static sn_scalar left_if_greater(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_gt(sn_fst(a), sn_fst(b)), a, b);
}

static sn_scalar right_if_less(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_lt(sn_fst(b), sn_fst(a)), b, a);
}

static sn_scalar right_if_no_greater(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_le(sn_fst(b), sn_fst(a)), b, a);
}

/* of: the better of two (x, number) */
#define CHOSEN(name, better)                                                                                           \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        cut c = cut_rows(a);                                                                                           \
        sn_acc best = sn_fold1_seg(better, c.lengths, sn_imap(numbered, c.x));                                         \
        return sn_results(sn_fst(best), sn_snd(best));                                                                 \
    }
CHOSEN(first_greatest, left_if_no_less)
CHOSEN(last_greatest, left_if_greater)
CHOSEN(first_least, right_if_less)
CHOSEN(last_least, right_if_no_greater)

/* Of equals the first one, by its number in the segment, or the last one. */
static sn_scalar first_of_equals(sn_scalar a, sn_scalar b)
{
    sn_scalar equal = sn_and(sn_eq(sn_fst(a), sn_fst(b)), sn_lt(sn_snd(a), sn_snd(b)));
    return sn_if(sn_or(sn_gt(sn_fst(a), sn_fst(b)), equal), a, b);
}

static sn_scalar last_of_equals(sn_scalar a, sn_scalar b)
{
    sn_scalar equal = sn_and(sn_eq(sn_fst(a), sn_fst(b)), sn_gt(sn_snd(a), sn_snd(b)));
    return sn_if(sn_or(sn_gt(sn_fst(a), sn_fst(b)), equal), a, b);
}

static sn_acc by_number(sn_acc a)
{
    cut c = cut_rows(a);
    sn_acc all = sn_zip(c.x, sn_iota_seg(sn_size(c.x), c.lengths));
    return sn_results(sn_snd(sn_fold1_seg(first_of_equals, c.lengths, all)),
                      sn_snd(sn_fold1_seg(last_of_equals, c.lengths, all)));
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 1);
}

/* Beside counts and extremes of integers; conditions decide what is packed, and are stored, too. */
static sn_acc beside(sn_acc a)
{
    cut c = cut_rows(a);
    sn_acc large = sn_map(is_large, c.x), best = sn_fold1_seg(left_if_no_less, c.lengths, sn_imap(numbered, c.x));
    return sn_results(sn_snd(best), sn_count_seg(c.lengths, large), sn_pack(large, c.x), large,
                      sn_fold1_seg(sn_max, c.lengths, sn_map(sn_to_i8, large)));
}

/* Two choices, of the first and of the last of equals. */
static sn_acc two(sn_acc a)
{
    cut c = cut_rows(a);
    sn_acc both = sn_imap(numbered, c.x);
    return sn_results(sn_snd(sn_fold1_seg(left_if_no_less, c.lengths, both)),
                      sn_snd(sn_fold1_seg(right_if_no_greater, c.lengths, both)),
                      sn_count_seg(c.lengths, sn_map(is_large, c.x)));
}

/* What the segment's best is, is subtracted: the loop goes over segments twice. */
static sn_scalar apart(sn_scalar x, sn_scalar best, sn_scalar number)
{
    return sn_tuple(sn_sub(x, best), number);
}

static sn_acc used_again(sn_acc a)
{
    cut c = cut_rows(a);
    sn_acc best = sn_fold1_seg(left_if_no_less, c.lengths, sn_imap(numbered, c.x));
    sn_scalar n = sn_size(c.x);
    sn_acc out = sn_zip_with(apart, c.x, sn_replicate_seg(n, c.lengths, sn_fst(best)),
                             sn_replicate_seg(n, c.lengths, sn_snd(best)));
    return sn_results(sn_fst(out), sn_snd(out));
}

/* Of equal keys the element that lies further right decides: an operator that is no choice by a key alone. */
static sn_scalar with_squares(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, sn_rem(sn_mul(i, i), 97));
}

static sn_scalar by_both(sn_scalar a, sn_scalar b)
{
    sn_scalar equal = sn_and(sn_eq(sn_fst(a), sn_fst(b)), sn_ge(sn_snd(a), sn_snd(b)));
    return sn_if(sn_or(sn_gt(sn_fst(a), sn_fst(b)), equal), a, b);
}

static sn_acc no_choice(sn_acc a)
{
    cut c = cut_rows(a);
    sn_acc best = sn_fold1_seg(by_both, c.lengths, sn_imap(with_squares, c.x));
    return sn_results(sn_fst(best), sn_snd(best));
}

/* The number of the point that is furthest from its segment's line, as another number, and how many points are on the
 * line's left side: something is made of what is chosen, beside a count. */
static sn_scalar from_line(sn_scalar x, sn_scalar y, sn_scalar slope, sn_scalar height)
{
    return sn_sub(sn_mul(x, slope), sn_add(y, height));
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar further(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_snd(a), sn_snd(b)), a, b);
}

static sn_acc furthest(sn_acc x, sn_acc y, sn_acc slopes, sn_acc heights)
{
    sn_scalar n = sn_size(x), segments = sn_size(slopes);
    sn_acc lengths = sn_fill(sn_shape(segments), sn_quot(n, segments));
    sn_acc far =
        sn_zip_with(from_line, x, y, sn_replicate_seg(n, lengths, slopes), sn_replicate_seg(n, lengths, heights));
    sn_acc best = sn_fst(sn_fold1_seg(further, lengths, sn_zip(sn_iota_seg(n, lengths), far)));
    return sn_results(sn_map(sn_to_f64, best), sn_count_seg(lengths, sn_map(is_positive, far)));
}

static const contents all_contents[] = {SMALL, MIXED};

static void choices_have_the_interpreters_bits(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        both("[r,n]T -> [s]T, [s]i64", first_greatest, "i8 i32 u16 i64 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [s]T, [s]i64", last_greatest, "u8 i32 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [s]T, [s]i64", first_least, "i16 u32 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [s]i64, [s]i64", by_number, "u8 i32 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [s]T, [s]i64", last_least, "i32 u64 f32 f64", all_contents[i], SHAPES);
    }
}

static void others_share_the_loop(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        both("[r,n]T -> [s]i64, [s]i64, [k]T, [m]bool, [s]i8", beside, "i32 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [s]i64, [s]i64, [s]i64", two, "u8 i32 f32 f64", all_contents[i], SHAPES);
        both("[r,n]T -> [m]T, [m]i64", used_again, "i32 f32 f64", all_contents[i], SHAPES);
        both("[n]T, [n]T, [2]T, [2]T -> [2]f64, [2]i64", furthest, "f32 f64 i32", all_contents[i], LENGTHS);
        both("[n]T, [n]T, [r]T, [r]T -> [r]f64, [r]i64", furthest, "f32 f64 i32", all_contents[i], FEW);
        both("[r,n]T -> [s]T, [s]i64", no_choice, "i32 f32 f64", all_contents[i], SHAPES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choices_have_the_interpreters_bits),
                                       cmocka_unit_test(others_share_the_loop)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
