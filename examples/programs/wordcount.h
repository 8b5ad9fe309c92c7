/* The words of a text: how many there are, as wc counts them, and which are the most frequent ones. */
#ifndef PROGRAMS_WORDCOUNT_H
#define PROGRAMS_WORDCOUNT_H

#include <sinter/sinter.h>

/* text -> line ends, words. A word is a run of bytes that are no white space. */
#define WORDCOUNT_SIGNATURE "[n]u8 -> i64, i64"

static sn_scalar wordcount_ends_line(sn_scalar c)
{
    return sn_eq(c, '\n');
}

static sn_scalar wordcount_is_ink(sn_scalar c)
{
    return sn_and(sn_ne(c, ' '), sn_or(sn_lt(c, '\t'), sn_gt(c, '\r')));
}

/* Is this the first of a run of true ones? */
static sn_scalar wordcount_begins(void *env, sn_scalar i, sn_scalar inside)
{
    sn_scalar before = sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0));
    return sn_and(inside, sn_or(sn_eq(i, 0), sn_not(before)));
}

static sn_acc wordcount_beginnings(sn_acc inside)
{
    return sn_imap(sn_closure(wordcount_begins, &inside), inside);
}

static sn_acc wordcount(sn_acc text)
{
    return sn_results(sn_count(sn_map(wordcount_ends_line, text)),
                      sn_count(wordcount_beginnings(sn_map(wordcount_is_ink, text))));
}

/* text, how many -> of the most frequent words: where each stands first, its letters, how often it occurs; of equally
 * frequent ones the first comes first. Here a word is a run of the letters a to z, capital or not. Words are told
 * apart by a number of 64 bits that is made of their letters: that two of a million words share it happens once in
 * millions of texts. */
#define WORDCOUNT_FREQUENT_SIGNATURE "[n]u8, i64 -> [k]i64, [k]i64, [k]i64"

static sn_scalar wordcount_small(sn_scalar c)
{
    return sn_bit_or(c, 32);
}

static sn_scalar wordcount_is_letter(sn_scalar c)
{
    sn_scalar small = wordcount_small(c);
    return sn_and(sn_ge(small, 'a'), sn_le(small, 'z'));
}

/* A text as a number to some base, and the base to the power of its length: of two texts one behind the other it is
 * computed from those of the two. */
static sn_scalar wordcount_hash(sn_scalar c)
{
    return sn_tuple(sn_to_u64(wordcount_small(c)), sn_u64(0x9e3779b97f4a7c15u));
}

static sn_scalar wordcount_join(sn_scalar a, sn_scalar b)
{
    sn_scalar base = sn_snd(b);
    return sn_tuple(sn_add(sn_mul(sn_fst(a), base), sn_fst(b)), sn_mul(sn_snd(a), base));
}

struct wordcount_firsts {
    sn_acc first;
    sn_scalar end;
};

static sn_scalar wordcount_length(void *env, sn_scalar k, sn_scalar first)
{
    const struct wordcount_firsts *f = env;
    sn_scalar next = sn_add(k, 1);
    return sn_sub(sn_if(sn_lt(next, sn_size(f->first)), sn_index(f->first, next), f->end), first);
}

/* Of two words (times, place, length): more often, or as often and further in front. */
static sn_scalar wordcount_more(sn_scalar a, sn_scalar b)
{
    sn_scalar times = sn_get(a, 0), other = sn_get(b, 0);
    return sn_or(sn_gt(times, other), sn_and(sn_eq(times, other), sn_lt(sn_get(a, 1), sn_get(b, 1))));
}

static sn_acc wordcount_frequent(sn_acc text, sn_acc most)
{
    sn_acc is_letter = sn_map(wordcount_is_letter, text), begins = wordcount_beginnings(is_letter);
    sn_acc letters = sn_pack(is_letter, text), places = sn_pack(begins, sn_iota(sn_size(text)));
    /* Without what stands between them words are segments of the letters. */
    sn_scalar end = sn_size(letters);
    struct wordcount_firsts f = {sn_pack(sn_pack(is_letter, begins), sn_iota(end)), end};
    sn_acc lengths = sn_imap(sn_closure(wordcount_length, &f), f.first);
    sn_acc hashes =
        sn_fst(sn_fold_seg(wordcount_join, sn_tuple(sn_u64(0), sn_u64(1)), lengths, sn_map(wordcount_hash, letters)));
    sn_acc times, words;
    sn_group(hashes, sn_zip(places, lengths), &times, &words);
    sn_acc firsts = sn_gather(sn_prescan(sn_add, 0, times), words);
    sn_acc sorted = sn_take(sn_the(most), sn_sort_by(wordcount_more, sn_zip(times, sn_fst(firsts), sn_snd(firsts))));
    return sn_results(sn_get(sorted, 1), sn_get(sorted, 2), sn_get(sorted, 0));
}

#endif
