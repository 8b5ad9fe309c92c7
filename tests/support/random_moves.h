/* The same elements elsewhere: backpermutes of all kinds, reshapes. */
#ifndef SN_TESTS_RANDOM_MOVES_H
#define SN_TESTS_RANDOM_MOVES_H

#include "support/random_scalar.h"

ir_id random_backpermute(random_maker *m);
ir_id random_reshape(random_maker *m);

#endif
