/* A program in which some names of extents are numbers: the same operations, made anew, so that everything that follows
 * from the numbers is simplified on the way. */
#ifndef SN_IR_SPECIALISE_H
#define SN_IR_SPECIALISE_H

#include "ir/term.h"

/* Makes it in the arena `a`, of the outputs and conditions of `from`, and so the programs of regions, in which numbers
 * from outside are known that are so now; places, data and foreign code are those of `from`, which has to stay. Names
 * keep their numbers (IR_DIM). No pass has been over it, whatever has been over `from`. NULL: nothing would come of it but an error (a condition that never holds). With none
 * known it is a copy. Uses the working memory of `from` and its regions, whose arena needs a handler for failures, as
 * `a` does. */
ir_program *ir_specialise(ir_program *from, arena *a, uint32_t n, const ir_number *known);

#endif
