/* What changes nothing when it is combined. */
#ifndef SN_OPT_IDENTITY_H
#define SN_OPT_IDENTITY_H

#include "ir/term.h"

/* The primitive that combines the two values of component c, in either order; OP_COUNT: its result is something else.
 */
ir_op opt_primitive_of(const ir_program *p, const ir_fn *fn, uint32_t c);
/* The identity of an operator of 2 n parameters, one for each of the n components, if every component is a primitive of
 * the two same components that has one. False: there is none that we know. */
bool opt_find_identity(const ir_program *p, const ir_fn *fn, ir_bits *out);
/* Primitives of integers and bool, component by component: they give the same in any order. */
bool opt_any_order(const ir_program *p, const ir_fn *fn);
/* Are all of them operations that devices have as atomic ones? Of operators in any order. */
bool opt_atomic(const ir_program *p, const ir_fn *fn);

#endif
