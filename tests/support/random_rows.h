/* What is kept of rows, and rows in order. */
#ifndef SN_TESTS_RANDOM_ROWS_H
#define SN_TESTS_RANDOM_ROWS_H

#include "support/random_scalar.h"

ir_id random_pack(random_maker *m);
ir_id random_sort(random_maker *m);

#endif
