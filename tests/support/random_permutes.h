/* Elements that go to places of their own. */
#ifndef SN_TESTS_RANDOM_PERMUTES_H
#define SN_TESTS_RANDOM_PERMUTES_H

#include "support/random_scalar.h"

ir_id random_permute(random_maker *m);

#endif
