/* Loops in scalar code that combine the elements of a row, which become folds of rows. */
#ifndef SN_OPT_ROW_LOOPS_H
#define SN_OPT_ROW_LOOPS_H

#include "ir/term.h"

/* A counted loop in the function of a generate or map whose every step is state = state (+) e, where (+) is a primitive
 * that associates and commutes and e does not depend on the states, is a fold along a row. It becomes a fold of an
 * array that nobody stores, and what is left of the function a map over its result, where
 * - some read goes along its array's rows as the loop runs, while neighbouring elements read it far apart, or wherever
 *   their data say: loops whose neighbours read the same, or neighbours, stay loops, one an element;
 * - its number of rounds is the same for all elements, and not a small constant;
 * - it cannot fail, and is computed for every element.
 * Other such loops, of as many rounds as each element says, or that may fail, stay loops; their operation is marked
 * (IR_ALONG) if they do little beside reading, and may have more rounds than folds take from left to right anyway.
 * Sums of floats are combined as folds combine them from then on (docs/determinism.md). Always run: results must not
 * depend on options. Linear in the size of the functions. */
enum { OPT_LEAST_ROUNDS = 8, OPT_ROUNDS_IN_ORDER = 32, OPT_MOST_LEVELS = 4, OPT_WORK_OF_A_READ = 8 };
void opt_fold_row_loops(ir_program *p);

/* The operator by which state k of a loop is combined with with[0], or with the product of both if with[1] is not 0;
 * OP_COUNT: it is not. Whether these depend on states the caller must see. */
ir_op opt_combines(const ir_program *p, const ir_loop *loop, uint32_t k, ir_id *with);

#endif
