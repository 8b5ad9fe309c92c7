/* Stencils whose result nothing but folds of all elements read: these compute it where they use it. */
#ifndef SN_LOOP_FOLDED_H
#define SN_LOOP_FOLDED_H

#include "loop/uses.h"

/* A use of an array, noted users first: does it lead to a fold of all elements, at the same position in row-major
 * order? */
void l_note_use(ir_program *p, l_nodes *nodes, ir_id user, ir_id array, l_access access);

/* An operand that is delayed: the stencils in it are the reader's, too. */
void l_note_delayed(ir_program *p, l_nodes *nodes, ir_id id, ir_id from, l_access access);
/* All operands have been seen. */
void l_note_operands(ir_program *p, l_nodes *nodes, ir_id id);

/* Is what reads a stencil computed within the folds that use it, instead of being kept in memory? */
bool l_folded(ir_program *p, const l_nodes *nodes, const l_options *options, ir_id id);

#endif
