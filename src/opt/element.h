/* A round of a loop over arrays, element by element: each element of the new state as a term over elements of the old
 * one, if all that it needs are the elements at its own place and slices, which are few. */
#ifndef SN_OPT_ELEMENT_H
#define SN_OPT_ELEMENT_H

#include "opt/rewrite.h"

enum { OPT_MOST_SLICES = 12 };

/* Elements of a part of the state at indices of which some are the same for all that read them. */
typedef struct opt_slice {
    uint32_t part;
    uint32_t closed;          /* set of 1 << dimension: those whose index is the same for all */
    ir_id index[IR_MAX_RANK]; /* of these: a closed term, that may depend on the number of the round */
} opt_slice;

/* The new elements of a part. */
typedef struct opt_element {
    bool passed; /* it stays as it is, and is read as what comes from outside */
    uint8_t rank, components;
    const ir_type *type;
    const ir_id *shape;
    ir_id x[IR_MAX_RANK]; /* variables: an element's index */
    ir_id *term;          /* one a component, with reads of the old state's inputs as they were written */
    uint32_t site;
    bool *own; /* per part: does it read that one's element at its own index? */
} opt_element;

typedef struct opt_round {
    ir_program *p;
    uint32_t parts;
    const ir_id *state; /* inputs of p: the old state */
    opt_element *part;
    uint32_t slices;
    opt_slice slice[OPT_MOST_SLICES];
} opt_round;

/* `result`: arrays of r->p that are the new state, r->state and r->parts are set. False: it is no such round. */
bool opt_find_elements(opt_round *r, const ir_id *result);

/* Terms of a part's new element, read at `index` in round `step` of those that are done at once (a term), where slices
 * lie in arrays of their own, `slice`: [rounds, indices that are not closed...]. `round`: the extent that is the number
 * of the round, 0: there is none; it becomes round + step. `own`: per part, terms of the components at its own index.
 * NULL in an entry of the table that is not needed. */
void opt_element_terms(const opt_round *r, uint32_t part, const ir_id *index, ir_id round, ir_id step,
                       const ir_id *slice, ir_id *const *own, ir_id *out);
/* The slice of the part in which that one's own elements lie, when those of slice `of` are computed. */
uint32_t opt_own_slice(const opt_round *r, uint32_t of, uint32_t part);

#endif
