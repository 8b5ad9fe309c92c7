/* Iterated operations that differ in numbers only (Floyd-Warshall's k, the weights of a filter) share a kernel: the
 * numbers become inputs. */
#ifndef SN_LOOP_LITERALS_H
#define SN_LOOP_LITERALS_H

#include "loop/cluster.h"

typedef struct l_literal { /* an input of rank 0, behind those that the program had */
    ir_id input;
    ir_type type;
    ir_bits bits; /* its element */
} l_literal;

typedef VEC(l_literal) l_literals;

/* Operations that are alike but for literals in their functions, and are computed in at least L_LEAST_ALIKE loops, read
 * these literals from new inputs, listed in *out. Then clusters are to be made again, as operations are others. Not
 * taken are literals of which something is known that matters: divisors, and what is computed of extents alone. Exact.
 * Linear in the size of the program. */
enum { L_LEAST_ALIKE = 4 };
void l_share_literals(const l_program *l, l_literals *out);

#endif
