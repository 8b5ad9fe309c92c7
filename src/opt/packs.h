/* Packs go outwards: what is done with some elements of an array is done in a loop over all of them (LiveFusion,
 * §5.3.3: a filter's rate is that of its parent). */
#ifndef SN_OPT_PACKS_H
#define SN_OPT_PACKS_H

#include "ir/term.h"

/* Over arrays packed by one `keep` K, of parents x, y:
 * - maps:  map f (pack K x) (pack K y)  =  pack K (map (if k then f x y else nothing) K x y), where "nothing" are
 * zeros: what may fail, or takes long, is computed for kept elements only
 * - packs: pack (pack K q) (pack K x)  =  pack (map (and) K q) x, and counts likewise
 * - folds with an initial value: fold f z (pack K x)  =  fold f z (map (if k then x else identity) K x); operators that
 * have no identity that we know are lifted to (has a value, value)
 * - scans: the same, and packed.
 * Folds without an initial value stay (of no kept elements they are an error), as do maps that look at their index. So
 * nothing iterates over kept elements but what reads a packed array from memory: its index in it matters.
 *
 * Whatever fusion makes of it, this changes the order in which floats are combined; so it is always done. What fails is
 * reported for the element of the parent. Behind contraction, before clusters are made; linear. */
void opt_move_packs(ir_program *p);

#endif
