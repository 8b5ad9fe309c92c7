/* One operation of any kind. */
#ifndef SN_TESTS_RANDOM_OPERATION_H
#define SN_TESTS_RANDOM_OPERATION_H

#include "support/random_scalar.h"

ir_id random_operation(random_maker *m);

#endif
