/* Several rounds of a loop of arrays at once. */
#ifndef SN_OPT_ROUNDS_H
#define SN_OPT_ROUNDS_H

#include "ir/term.h"

/* Gives counted loops whose rounds are short chains of stencils regions of several rounds, as many as one sweep over
 * memory may have (`stages`), and fewer for what is left over. Linear in the size of the regions. */
void opt_join_rounds(ir_program *p, uint32_t stages);

#endif
