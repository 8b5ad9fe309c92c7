/* Iterated operations that differ in numbers only (Floyd-Warshall's k, the weights of a filter, how many elements are
 * taken) share a kernel: the numbers become extents with a known value, which launches pass to their kernel. */
#ifndef SN_LOOP_LITERALS_H
#define SN_LOOP_LITERALS_H

#include "loop/cluster.h"

/* Makes terms of named numbers (ir_named_number) of literals in which operations differ that are alike otherwise and
 * are computed in at least L_LEAST_ALIKE loops: in functions, extents, and seeds. True if it did: then clusters are to
 * be made again, as operations are others. Exact. Linear in the size of the program. */
enum { L_LEAST_ALIKE = 4 };
bool l_share_literals(const l_program *l);

#endif
