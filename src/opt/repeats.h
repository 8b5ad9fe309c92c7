/* What is the same for all elements along a dimension is computed once for all of them. */
#ifndef SN_OPT_REPEATS_H
#define SN_OPT_REPEATS_H

#include "ir/term.h"

/* In the function of a map or generate, a term that depends on few of the element's indices (on some of them themselves,
 * on elements of arrays that were replicated along the other dimensions, on reads at these indices) has the same value
 * all along the others. If it takes long, as divisions, roots and elementary functions do, it becomes a map over the
 * dimensions on which it depends, whose result is replicated: the reciprocals of the columns' deviations, by which every
 * row is scaled. A map that has nothing but such elements is itself the replicate of a small one. A backpermute whose
 * places have such terms reads its source at them.
 * - Integer arithmetic of indices stays, as loops go along with it, but for quotients of the innermost dimension whose
 *   dividends are no moved index: the columns of a picture that is resized. Divisors are extents of the elements, which
 *   cannot fail where there are any.
 * - Terms that may fail, or tell that they were computed, stay: they are computed for elements that there are.
 * - Terms that the rest of the function outweighs stay, as do those of dimensions that are short.
 * What stands in a term is as it was, so bits stay: it is run after contraction, which looks at whole functions.
 * Linear in the size of the functions. */
enum { OPT_REPEATS_LEAST = 16 /* elements along the other dimensions */, OPT_REPEATS_LEVELS = 3 };
void opt_compute_once(ir_program *p);

#endif
