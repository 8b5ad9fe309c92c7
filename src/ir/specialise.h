/* A program in which some names of extents are numbers: the same operations, made anew, so that everything that follows
 * from the numbers is simplified on the way. */
#ifndef SN_IR_SPECIALISE_H
#define SN_IR_SPECIALISE_H

#include "ir/term.h"

/* Makes it in the arena of the result, of the `from` program's outputs and conditions; places, data and foreign code are
 * those of `from`, which has to stay. Names keep their numbers (IR_DIM). NULL: it cannot be made (some control has
 * regions, which would be both programs'), or nothing would come of it but an error (a condition that never holds).
 * Uses the working memory of `from`, whose arena needs a handler for failures, as `a` does. */
ir_program *ir_specialise(ir_program *from, arena *a, uint32_t n, const ir_number *known);

#endif
