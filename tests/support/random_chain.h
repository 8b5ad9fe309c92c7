/* Random programs of another style: one chain of stencils, backpermutes, folds and maps, each over the one before, whose scalar
 * code goes where mistakes are likely: reads at computed indices, divisions and reads outside behind conditions, shifts by the
 * width and more, conversions of NaN, infinity and huge floats between narrow types, the least integer divided by -1 behind a
 * mask; extents 0, 1 and primes around the widths of vectors. */
#ifndef SN_TESTS_RANDOM_CHAIN_H
#define SN_TESTS_RANDOM_CHAIN_H

#include "support/random_scalar.h"

/* Adds inputs, the chain and the outputs; gives the inputs' values. */
ir_value *random_chain(random_maker *m);

#endif
