/* Permutes to places that are the source's own, in another order. */
#ifndef SN_OPT_PLACES_H
#define SN_OPT_PLACES_H

#include "ir/term.h"

/* Where the place of each element is its own index with dimensions exchanged or turned round, and the defaults have just
 * these places, each of them gets one element:
 *
 *     permute f d (generate (i, k -> k, n - 1 - i)) x  =  map f (backpermute (k, i -> n - 1 - i, k) x) d
 *
 * So it is a loop over the result, which transposes are, too. Operators that may fail stay: failures are those of
 * elements of the source. Linear. */
void opt_invert_places(ir_program *p);

#endif
