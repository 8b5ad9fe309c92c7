/* Inputs and their values. */
#ifndef SN_TESTS_RANDOM_INPUTS_H
#define SN_TESTS_RANDOM_INPUTS_H

#include "support/random_scalar.h"

/* Names every extent; the first inputs, of rank 1, determine those that no other does. */
ir_value *random_inputs(random_maker *m);

#endif
