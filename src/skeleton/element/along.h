/* Loops in scalar code that combine the elements of a row, with lanes along the row. */
#ifndef SN_SKELETON_ALONG_H
#define SN_SKELETON_ALONG_H

#include "ir/schedule.h"
#include "skeleton/element/lower.h"

/* How the elements of a map whose loops go along rows are computed, one after the other: at first by a single lane,
 * which goes along rows from left to right, but for long ones; if an element has any it is computed anew by a whole
 * gang, whose lanes are positions of these. */
typedef struct sk_along {
    bool alone;      /* a thread computes an element, whatever its rows, with accumulators of its own: where blocks are
                        many threads. Nothing below is of use then but `accumulators` */
    VEC(k_mem) accumulators; /* alone: those of loops so far, which later ones may have, too */
    bool first;      /* a single lane computes it */
    k_val some_long; /* first: a variable, whether there are long rows */
    k_val lane;      /* else: of the gang */
    sk_tree tree;
    uint32_t loops; /* first: how many such loops there are; behind each an IF is left open: there were no long rows */
    VEC(ir_id) checked; /* first: indices that have been checked before the first of these, */
    VEC(ir_id) extent;  /* and extents that they are inside of */
} sk_along;

/* Is the loop of this step such a loop, by its looks? */
bool sk_goes_along(const sk_lower *lw, const ir_step *s);
/* Emits it and binds its projections, those that are read. Rows of at most SK_SHORT elements go from left to right, and
 * so do those that read what is not there. In longer ones lanes are positions: accumulator i mod 128 takes element i of
 * a piece, as in folds of rows, and pieces are combined from left to right. */
void sk_along_loop(sk_lower *lw, const ir_step *s);

#endif
