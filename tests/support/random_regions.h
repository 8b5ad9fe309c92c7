/* Loops and choices of arrays. */
#ifndef SN_TESTS_RANDOM_REGIONS_H
#define SN_TESTS_RANDOM_REGIONS_H

#include "support/random_scalar.h"

ir_id random_control(random_maker *m);

#endif
