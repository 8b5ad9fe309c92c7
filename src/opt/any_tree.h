/* Operators that give the same bits in every tree over the elements in their order: for scans and folds that may then
 * be combined from left to right, wherever that is cheaper. */
#ifndef SN_OPT_ANY_TREE_H
#define SN_OPT_ANY_TREE_H

#include "ir/term.h"

/* Is the operator (of components left, components right) one of these? They are
 * - primitives of integers and of bool, component by component, and extremes of floats,
 * - choices by a key before which NaNs give way (opt/choice.h),
 * - operators that take the right operand, or the left one, where a condition holds of the right one alone, or of the
 *   left one alone: the last number that is none, the value of the last flag.
 * False: not that we know. */
bool opt_any_tree(ir_program *p, arena *a, const ir_fn *fn);

#endif
