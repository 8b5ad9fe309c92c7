/* Loops that take a few neighbouring elements at a time: where their code depends on the position modulo a small
 * number, as in arrays whose innermost extent is small, or that interleave others, a lane has that many elements, each
 * with code of its own. Their indices are affine again; what they store lies together. */
#ifndef SN_SKELETON_INTERLEAVE_H
#define SN_SKELETON_INTERLEAVE_H

#include "skeleton/element/lower.h"

#include "skeleton/element/lane_code.h"

enum { SK_MOST_FACTOR = SK_MOST_IN_LANE, SK_MOST_DIVIDED = 8 };

typedef struct sk_factor {
    int64_t by;     /* elements of a lane; 1: nothing is gained by more */
    int64_t steps;  /* ... in which the variable has so many values: all elements, unless there are digits */
    ir_id variable; /* the position that is divided: in all that is behind the digits, if there are */
    uint32_t n;     /* quotients and remainders of it, whose divisors divide `steps` */
    ir_id term[SK_MOST_DIVIDED];
    unsigned digits; /* so many of the innermost dimensions are a lane's, whose indices are these */
    ir_id digit[IR_MAX_RANK];
    int64_t extent[IR_MAX_RANK];
    const ir_id *made; /* the terms of each element along the digits, one after the other, with numbers in place of
                          these; NULL: the terms as they are */
} sk_factor;

/* Of a loop that computes n terms. */
sk_factor sk_find_factor(const sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable);
/* The same where a lane has all elements of so many of the innermost dimensions, if their extents are small and known.
 */
sk_factor sk_factor_of_extents(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, unsigned digits);

/* Makes the n terms of each element along the digits: what these decide is decided then, and is not computed. */
void sk_make_elements(const sk_lower *lw, sk_factor *f, uint32_t n, const ir_id *term);

/* Has a lane of digits elements of several neighbours along the dimension before them, too, as its index is divided? */
sk_factor sk_factor_of_divided(const sk_lower *lw, const sk_factor *f, uint32_t n, const ir_id *term, ir_id variable);

/* All terms that a lane computes at one value of the variable: *n of them. */
const ir_id *sk_terms_of_lane(const sk_factor *f, const ir_id *term, uint32_t *n);
/* The n terms of a lane's element number `which`. */
const ir_id *sk_terms_of_element(const sk_factor *f, uint32_t n, const ir_id *term, int64_t which);

/* What a lane would compute that has all elements of the innermost dimension, whose index is the digit. */
sk_lane_cost sk_cost_of_lane(const sk_lower *lw, uint32_t n, const ir_id *term, ir_id digit);
/* Do lanes take less time for what they compute than gangs that have a row each? */
bool sk_lane_computes_less(const sk_lane_cost *c, int64_t extent);
/* Does it pay for this extent? */
bool sk_lane_pays(const sk_lane_cost *c, int64_t extent);
/* The factor of a launch that knows it. */
sk_factor sk_factor_of_launch(const sk_index *at, int64_t extent);

/* Binds what depends on which of a lane's elements it is, number `which`; the quotient is that of the variable, by the
 * factor. */
void sk_bind_divided(sk_lower *lw, const sk_factor *f, k_val quotient, int64_t which);

/* `begin` binds the loop's variables, but digits, at a position counted from the loop's start, and gives where the
 * element is stored; `before` is the position in all dimensions before the digits, if there are. `single` emits
 * FOR_ALLs of `count` elements from `from` on, without the factor. */
typedef struct sk_interleaved {
    void *env;
    k_val (*begin)(void *env, k_val position, k_val before);
    void (*single)(void *env, k_val from, k_val count);
    void (*fetch)(void *env); /* behind `begin`: fetches what is stored soon. NULL: nothing does */
    uint32_t n;
    const ir_id *term;
    const k_mem *memory;
    /* If these terms are not stored as they are: emits what element number `which` of a lane needs, of which these are
     * the terms, and stores all of a lane, at positions that `begin` gave. */
    void (*make)(void *env, int64_t which, const ir_id *term);
    void (*store)(void *env, const k_val *at);
} sk_interleaved;

/* Emits what stores elements 0 ... count - 1; the divided position of the first one is `start`. */
void sk_for_interleaved(sk_lower *lw, const sk_factor *f, k_val start, k_val count, const sk_interleaved *of);
/* The same of one gang of so many lanes, whose first lane begins `behind` elements, fewer than a lane has, behind the
 * beginning of group number `first`; the divided position of element 0 is 0, and there are no digits. */
void sk_for_gang_of_groups(sk_lower *lw, const sk_factor *f, k_val first, int64_t behind, int64_t lanes,
                           const sk_interleaved *of);

#endif
