/* Who reads what, how, and at what cost: the facts that decide which operations are delayed. */
#ifndef SN_LOOP_USES_H
#define SN_LOOP_USES_H

#include "loop/cluster.h"
#include "loop/view.h"

#include <string.h>

typedef struct l_dep { /* an array that must be in memory (or in the same cluster) for a node to be computed */
    ir_id array;
    l_access access;
    l_view view; /* of all reads with this access */
} l_dep;

typedef VEC(ir_id) l_ids;

typedef struct l_node { /* per array node */
    bool live;
    uint32_t uses[L_HOST + 1]; /* by access; uses of a shape alone do not count */
    ir_id user;                /* the last user seen */
    bool output;
    bool indexed;              /* elements are made of their indices in several dimensions: of one that is asked for by its
                                  position these are found by divisions */
    bool picked;               /* it is a result, or leads to one, whose components are those of other arrays in memory */
    bool grows;                /* some user reads an element more often than once: it ignores an index of its own */
    bool repeats;              /* ... and so often that whatever takes long is better computed once */
    bool fails;                /* computing an element may fail, delayed operands included */
    bool anchor;
    l_why why;                 /* anchors: why it was not delayed */
    bool cut;                  /* anchors: it did not fit into a cluster of its group any more */
    bool stencil;              /* its loop handles neighbours */
    ir_id fold;                /* one of the folds of all elements that uses lead to */
    bool elsewhere;            /* some use does not */
    uint8_t folds;             /* times that another fold was found */
    bool chain;                /* some stencil delayed into it reads rows that its own loop computes */
    uint32_t neighbours;       /* that the stencils delayed into it read */
    bool flat;                 /* some of these stencils have other indices than it has: reshape */
    l_ids staged;              /* folds: arrays delayed into them, with stencils, that a block may compute first */
    double flops, reads;       /* per element, delayed operands included */
    double bytes;              /* of what is read */
    uint32_t size;             /* scalar nodes, delayed operands included */
    uint32_t depth;            /* of delayed operands */
    VEC(l_dep) dep;            /* what its element computation reads, through everything delayed */
} l_node;

typedef struct l_nodes { /* of a program; most of its nodes are scalars, which have none */
    uint32_t *slot;      /* per node: its place in `at`, 0 for scalars */
    l_node *at;          /* at[0] belongs to nobody and stays empty */
    uint32_t arrays, all; /* lengths of `at`, less one, and of `slot` */
    l_part *part;        /* of results, see l_program */
    bool sized;          /* see l_program */
    arena *arena;        /* of all that is told of nodes */
} l_nodes;

static inline l_node *l_at(const l_nodes *nodes, ir_id id)
{
    return &nodes->at[nodes->slot[id]];
}

/* Is it computed nowhere, as the results made of it are components of what is in memory? */
static inline bool l_only_picked(const l_node *n)
{
    uint32_t uses = 0;
    for (l_access access = 0; access <= L_HOST; access++)
        uses += n->uses[access];
    return n->picked && !uses;
}

static inline bool l_same_shape(const ir_array *x, const ir_array *y)
{
    return x->rank == y->rank && !memcmp(x->shape, y->shape, x->rank * sizeof(ir_id));
}

/* What has the extents that an operation runs over: a fold or permute runs over its source, a pack over what it chooses
 * from. */
const ir_array *l_rate_of(const ir_program *p, ir_id id);

/* Is it made of loops that combine the elements of rows of their own, in the order of folds? It has a loop of its own. */
bool l_goes_along(const ir_program *p, ir_id id);

/* How an operation of a kind reads its operand number i. */
l_access l_access_of_operand(ir_kind kind, uint32_t i);

/* Can the rows of a stencil's input be kept while the stencil runs, as they are computed in the same loop? */
bool l_rows_possible(const ir_program *p, const l_nodes *nodes, ir_id stencil, ir_id from);

/* Uses, costs, and the choice of anchors. */
l_nodes *l_uses(ir_program *p, const l_options *options);
void l_uses_free(l_nodes *nodes); /* `part` stays */

#endif
