/* Which indices are inside an extent for sure: what a text claims to be safe is believed only if this says so. */
#ifndef SN_IR_INSIDE_H
#define SN_IR_INSIDE_H

#include "ir/term.h"

/* Extents that a call gives to a program from a text are at most this large, so that sums and multiples of few of them
 * do not wrap. */
#define IR_LARGEST_EXTENT ((int64_t)1 << 48)

/* Is the index inside 0 .. extent - 1 wherever it has a value? `below` maps variables to extents that they are inside
 * of. True is certain; false may only be hard to see. Bounded work. */
bool ir_surely_inside(const ir_program *p, const map64 *below, ir_id index, ir_id extent);
/* The same of all indices of a read; of one for an element of an array of `rank` extents, none of which is 0. */
bool ir_read_surely_inside(const ir_program *p, const map64 *below, const ir_node *read);
bool ir_read_surely_inside_of(const ir_program *p, const map64 *below, unsigned rank, const ir_id *extent,
                              const ir_node *read);

#endif
