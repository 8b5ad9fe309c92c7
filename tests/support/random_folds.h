/* Folds and scans, and what reads them beside the rows they are of. */
#ifndef SN_TESTS_RANDOM_FOLDS_H
#define SN_TESTS_RANDOM_FOLDS_H

#include "support/random_scalar.h"

/* An operator of elements of an array, and initial values. */
ir_fn *random_operator(random_maker *m, const ir_array *a, ir_id *seed);
ir_id random_fold(random_maker *m);
ir_id random_scan(random_maker *m);
/* Elements of rows, and what belongs to their row: most often the result of a fold, or what is made of it. */
ir_id random_row_reader(random_maker *m);

#endif
