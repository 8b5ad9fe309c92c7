/* What a program looks at: arrays, and components of its inputs. */
#ifndef SN_OPT_NEEDED_H
#define SN_OPT_NEEDED_H

#include "ir/term.h"

/* Sets needed[k] for component k of all inputs, counted in their order, where something that leads to a result may read
 * its elements; the others are false. Careful rather than exact: only maps, stencils and reads are looked into. Linear.
 */
void opt_needed(ir_program *p, bool *needed);

/* Per array: how often operations read it, and scalar code its elements. */
uint32_t *opt_count_reads(const ir_program *p);
/* The same, and how often it is a result. */
uint32_t *opt_count_readers(const ir_program *p);

#endif
