/* Stretches of a loop along which index arithmetic is affine: the comparisons, minima, maxima, remainders and quotients
 * of a row's positions change at a few places only. The loop is cut there, so that emitters see rows in memory, and
 * conditions that all lanes share. */
#ifndef SN_SKELETON_STRETCHES_H
#define SN_SKELETON_STRETCHES_H

#include "skeleton/element/forms.h"

typedef enum { SK_CUT_SIGN, SK_CUT_ZERO, SK_CUT_PERIOD, SK_CUT_EXTREME } sk_cut_kind;

/* A term of one form between two cuts: of SIGN (a comparison) there is one cut, where x - y changes its sign; of ZERO
 * (= and
 * !=) there are two, around the place where x is y; of PERIOD (mod, rem, div, quot) one where x is a multiple of y.
 * EXTREMEs (a minimum or maximum of what moves, x, and what does not, y; an absolute value is the maximum of x and 0,
 * where it is x) are x between two cuts; beyond these nothing is known. */
typedef struct sk_cut {
    sk_cut_kind kind;
    ir_id term, x, y;
    int64_t step;  /* of x - y from one position to the next: a small number; of ZERO 1 or -1 */
    uint8_t guard; /* of SIGN, sk_guard: what it is where something is read that is not read else; 0: no such thing */
} sk_cut;

typedef enum { SK_GUARD_HOLDS = 1, SK_GUARD_FAILS } sk_guard;

enum { SK_MOST_CUTS = 16, SK_MOST_PERIODS = 4 /* among these: loops within loops */ };

typedef struct sk_stretches {
    uint32_t n;
    bool guarded; /* there are guards of reads in steps. Where all guards let through, these are read together: that is
                     a stretch with code of its own */
    sk_cut cut[SK_MOST_CUTS];
} sk_stretches;

/* A loop over positions: `begin` binds the variables at a position that is counted from the loop's start, `body` emits
 * what is done there. What the cuts are made of moves by one from so many positions to the next (`each`; 0: from one),
 * and there are no periods then. */
typedef struct sk_positions {
    void *env;
    void (*begin)(void *env, k_val position);
    void (*body)(void *env);
    k_val each;
    bool rows; /* positions are rows of elements, one after the other: `body` has FOR_ALLs of its own */
} sk_positions;

/* Finds the cuts of a loop that computes n terms, if they make a difference to what it reads. Else none. */
sk_stretches sk_find_stretches(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d);
/* Emits FOR_ALLs over positions 0 ... count - 1 in order, at piece level. */
void sk_for_stretches(sk_lower *lw, const sk_stretches *s, k_val count, const sk_positions *of);

/* Of a piece of `count` positions, at least one: does each comparison among the cuts come out the same at all of them?
 * Its value goes to state[k]. The other cuts are left alone. At piece level, or where all lanes are at one piece. Worth
 * another copy of the piece's code, in which these terms are bound (sk_bind_signs); 0: there is none to bind. */
k_val sk_signs_stand(sk_lower *lw, const sk_stretches *s, k_val count, const sk_positions *of,
                     k_val state[SK_MOST_CUTS]);
void sk_bind_signs(sk_lower *lw, const sk_stretches *s, const k_val state[SK_MOST_CUTS]);

/* Of `count` positions those from *low on, up to *high, at which all guards let through, if `guarded`; at piece level.
 * The result: are there as many as `least`? */
k_val sk_find_let_through(sk_lower *lw, const sk_stretches *s, k_val count, int64_t least, const sk_positions *of,
                          k_val *low, k_val *high);
void sk_bind_guards(sk_lower *lw, const sk_stretches *s);

/* One FOR_ALL over positions from ... from + count - 1, which are whole gangs. */
void sk_for_whole_positions(sk_lower *lw, k_val from, k_val count, const sk_positions *of);
/* The same over those of which there are few. */
void sk_for_few_positions(sk_lower *lw, k_val from, k_val count, const sk_positions *of);

#endif
