/* Rows of a few elements taken apart: each place of all rows becomes an array of its own. */
#ifndef SN_OPT_APART_H
#define SN_OPT_APART_H

#include "opt/remake.h"

typedef struct opt_apart {
    ir_program *p;
    const opt_remake *remake;
    const uint32_t *readers; /* per array */
    ir_id like;              /* an operation that has the shape, the name and the line of what is made */
    bool once;               /* what elements of several rows are made of is not computed for each of them */
} opt_apart;

/* May an operation's function not fail, for any index inside of the array? What fails names the element that it fails
 * for, so it stays where it is. */
bool opt_never_fails(ir_program *p, const ir_array *info);
/* Does the backpermute read inside for sure? */
bool opt_reads_inside(ir_program *p, ir_id backpermute);
/* Does an index of the result of a backpermute's function, or of a read in it, depend on the last parameter and on
 * another one, as in windows? */
bool opt_mixes_last(ir_program *p, const ir_fn *fn);

/* Elements of `from`, which is an array of the program as it was when the remake began, at the indices that `to` gives.
 * A generate, map or backpermute that nobody else reads, and that cannot fail, is made for these alone. flags: IR_SAFE,
 * or indices are checked. 0: an error. */
ir_id opt_elements_of(const opt_apart *s, ir_fn *to, ir_id from, unsigned flags);

#endif
