/* Components of inputs that a program looks at. */
#ifndef SN_OPT_NEEDED_H
#define SN_OPT_NEEDED_H

#include "ir/term.h"

/* Sets needed[k] for component k of all inputs, counted in their order, where something that leads to a result may read
 * its elements; the others are false. Careful rather than exact: only maps, stencils and reads are looked into. Linear.
 */
void opt_needed(ir_program *p, bool *needed);

#endif
