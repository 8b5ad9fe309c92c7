/* Contractions: folds of elements that are made of operands each of which does not change along some dimension of the
 * result. Two of these dimensions are the rows and the columns of tiles in registers: what does not depend on the
 * column is read once for all columns of a tile, what does not depend on the row once for all its rows. */
#ifndef SN_SKELETON_CONTRACT_H
#define SN_SKELETON_CONTRACT_H

#include "skeleton/fold/fold.h"

typedef enum { SK_OF_ROW, SK_OF_COLUMN, SK_SIDES } sk_side;

typedef struct sk_operands { /* of one side */
    VEC(ir_id) term;         /* as the element has them */
    VEC(ir_id) variable;     /* what stands for each in sk_contraction.element */
    bool along;              /* neighbours along the folded dimension lie together, not those along the side's own */
} sk_operands;

typedef struct sk_contraction {
    unsigned dimension[SK_SIDES]; /* of rows and of columns: the last one of the result */
    sk_operands side[SK_SIDES];
    ir_id **element;     /* per fold: its terms (sk_fold_terms), made of variables */
    uint32_t components; /* accumulated, of all folds */
    size_t widest;       /* bytes of what is in registers */
} sk_contraction;

/* Are the folds of this kind, with this dimension of rows? Allocates in the arena of s->lw. */
bool sk_find_contraction(sk_folds *s, unsigned row_dimension, sk_contraction *out);
/* Sets a fold cluster's `contraction`. */
void sk_contract_prepare(sk_cluster *c, arena *a);

#endif
