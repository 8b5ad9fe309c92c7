/* Contraction: products that are used once become part of a fused multiply-add. */
#ifndef SN_OPT_CONTRACT_H
#define SN_OPT_CONTRACT_H

#include "ir/term.h"

/* Within each of the program's functions, for floats: x*y + z becomes fma(x, y, z), x*y - z fma(x, y, -z) and z - x*y
 * fma(-x, y, z), where the product has no other use. One user function is one scope, so what fuses afterwards changes
 * nothing. An operator of a fold that commuted as it was written counts as commuting still.
 * Operations that change are made anew, with all that depend on them, behind the others: ids stay in order. Before
 * clusters are made; linear. A program is contracted once: what is composed of its functions later stays as it is. */
void opt_contract(ir_program *p);

#endif
