/* One place, or a few, of sorted rows of a few elements. */
#ifndef SN_OPT_PICKS_H
#define SN_OPT_PICKS_H

#include "ir/term.h"

/* pick c (sort x), where rows of x have few elements, as many as the program says, c is a number, and nobody else reads
 * the sorted elements:
 *
 *   map {x1, ..., xk -> number c of these in order} (x at 0) ... (x at k - 1)
 *
 * The function compares by exchanges that do not look at what they find: Batcher's merge exchange (Knuth, The Art of
 * Computer Programming 3, 5.2.2, algorithm M), of which only those stay that the place depends on. Floats are compared
 * as integers, in total order; the NaN that is picked from several may be another one. Linear. */
enum { OPT_MOST_PICKED_FROM = 25, OPT_MOST_PICKS = 4 };
void opt_pick_sorted(ir_program *p);

#endif
