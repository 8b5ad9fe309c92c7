/* Loop recovery: a loop that was unrolled into a chain of maps becomes a loop again (Accelerate's thesis, §6.4.2). */
#ifndef SN_OPT_RECOVER_H
#define SN_OPT_RECOVER_H

#include "ir/term.h"

/* A chain of at least OPT_LEAST_TURNS maps (zip_with ...) of one function, each over its predecessor, which nobody else
 * uses, and otherwise over the same arrays, becomes one map whose function is a counted loop: its kernel has the size
 * of one turn, however long the chain. Functions that may fail stay unrolled, as their errors name an operation each,
 * and so do those with loops inside. Exact: the same operations in the same order. Before contraction; linear. */
enum { OPT_LEAST_TURNS = 8 };
void opt_recover_loops(ir_program *p);

#endif
