/* Results that are reshaped: their loops go along what they are made of. */
#ifndef SN_OPT_RESHAPES_H
#define SN_OPT_RESHAPES_H

#include "ir/term.h"

/* A reshape changes no element's place in memory, so a loop may go over the shape before it. Where elements come from
 * other places (a transposed matrix, blocks of a picture), their indices are plain there, and divisions and remainders
 * after it.
 * - A result that is a reshape of such elements, and that nothing else reads, is marked to go along them (IR_SOURCE).
 * - A map of one reshape of such elements is a reshape of a map of them, if that is a result.
 * - A permute of reshapes of arrays of one shape takes their elements from there.
 * - Another one that a scan, a stencil, a sort or a permute reads is marked, too: it goes to memory.
 * Linear. */
void opt_go_along_sources(ir_program *p);

#endif
