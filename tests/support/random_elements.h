/* Operations element by element: generate, map, stencils. */
#ifndef SN_TESTS_RANDOM_ELEMENTS_H
#define SN_TESTS_RANDOM_ELEMENTS_H

#include "support/random_scalar.h"

ir_id random_generate(random_maker *m);
ir_id random_map(random_maker *m);
ir_id random_stencil_of(random_maker *m);

#endif
