/* Several rounds of a loop of arrays at once. */
#ifndef SN_OPT_ROUNDS_H
#define SN_OPT_ROUNDS_H

#include "ir/term.h"

/* Gives counted loops whose rounds are short chains of stencils a second region of several rounds, as many as one sweep
 * over memory may have (`stages`). What is left over takes the first. Linear in the size of the regions. */
void opt_join_rounds(ir_program *p, uint32_t stages);

#endif
