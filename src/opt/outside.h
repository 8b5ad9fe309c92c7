/* What is the same in all rounds of a loop of arrays, before the loop. */
#ifndef SN_OPT_OUTSIDE_H
#define SN_OPT_OUTSIDE_H

#include "ir/term.h"

/* Moves operations out of the regions of loops that depend on nothing which changes from round to round, cannot fail, and
 * cost more than reading their results; out of inner loops first, so as far as they can go. Linear in the size of the
 * program, with all its regions. */
void opt_move_outside(ir_program *p);

#endif
