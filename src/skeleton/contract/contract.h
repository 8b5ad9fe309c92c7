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
    unsigned dimension[SK_SIDES]; /* of rows and of columns. The last one of the result is that of columns or, where
                                     results are folded along it, of rows */
    bool folds;                   /* there are such folds; */
    int64_t made_bytes[2];        /* bytes that they take for each lane, by whether rows are short */
    sk_operands side[SK_SIDES];
    ir_id **element;     /* per fold: its terms (sk_fold_terms), made of variables */
    uint32_t components; /* accumulated, of all folds */
    size_t widest;       /* bytes of what is in registers */
} sk_contraction;

/* Are the folds of this kind, where this dimension besides the last one of the result makes tiles? Allocates in the
 * arena of s->lw. */
bool sk_find_contraction(sk_folds *s, unsigned other, sk_contraction *out);
/* Sets the `contraction` of a cluster of folds or tiles. */
void sk_contract_prepare(sk_cluster *c, arena *a);

/* --- launches (contract_launch.c) --- */

enum { /* slots */
    SK_CONTRACT_LENGTH,
    SK_CONTRACT_PIECES,
    SK_CONTRACT_ROW_BLOCKS,
    SK_CONTRACT_COLUMN_BLOCKS,
    SK_CONTRACT_ROWS,
    SK_CONTRACT_COLUMNS,
    SK_CONTRACT_GROUP,
    SK_CONTRACT_ROW_GROUP
};

/* With so many rows and columns at most packing counts: the places of accumulators in a panel are an odd number of
 * positions apart then, so that those that follow each other in the array's order are in all sets of the cache. */
enum { SK_CONTRACT_FEW = 256 };

typedef struct sk_contract_tile { /* of results, in registers */
    int64_t rows, lanes;
    bool brief;      /* rows are folded from left to right */
    bool once;       /* no accumulator has more than one position */
    bool made_brief; /* results are folded from left to right */
    bool turned;     /* rows are columns, and the other way round: lanes are results that do not lie together */
} sk_contract_tile;

/* The tile that a kernel is made for, from sk_geometry.row; without one the largest that registers have room for. */
sk_contract_tile sk_tile_of_row(int64_t row);
sk_contract_tile sk_largest_tile(const sk_contraction *of, const sk_options *o);
/* Elements of an operand that panels have room for. */
int64_t sk_room_of(const sk_contraction *of, sk_side side);
/* Panels of columns whose folds of results go on at the same time. */
int64_t sk_panels_made(const sk_contraction *of, sk_contract_tile t);
/* Rows are columns, and the other way round. */
sk_contraction sk_turn_contraction(const sk_contraction *of);

/* Accumulators are visited so that the tree of docs/determinism.md needs a stack alone: x with its lowest `bits` bits in the
 * other order; it has no others, and these are less than eight. */
k_val sk_turned(sk_lower *lw, k_val x, k_val bits);
k_val sk_logarithm(sk_lower *lw, k_val power_of_two);

/* --- what is made of tiles (made.c) --- */

typedef struct sk_made_element {
    const l_op *op;
    const ir_id *term;
} sk_made_element;

/* Of the results of a contraction: elements, and folds of the last dimension, along which tiles come in order, from the
 * first row to the last. Lanes are results of these folds. */
typedef struct sk_made {
    sk_lower *lw;
    VEC(const ir_id *) given; /* per fold of the contraction: variables that stand for a result */
    VEC(sk_made_element) element;
    sk_folds fold[2]; /* by whether the operator keeps order */
    bool brief;       /* there are at most SK_SHORT elements: from left to right */
    int64_t lanes, rows;
    k_mem **state[2]; /* a panel of lanes has as many elements as sk_made_slots says, of each lane */
    k_mem **total;    /* of pieces, where the operator commutes */
} sk_made;

/* Finds them, and declares the memory of results; behind sk_fold_begin(s). */
void sk_made_find(sk_made *m, sk_folds *s);
/* Bytes that a lane's states take. */
int64_t sk_made_bytes(const sk_cluster *c, bool brief);
/* The memory of states: m->brief, lanes and rows (a power of two) are set. */
void sk_made_declare(sk_made *m, int64_t panels);
/* The results are known, per fold of the contraction; elements are stored as number `at`. In a scope in which indices
 * are bound. */
void sk_made_give(sk_made *m, uint32_t fold, uint32_t components, const k_val *value);
void sk_made_store(sk_made *m, k_val at);
typedef struct sk_made_place {
    k_val panel, lane, position;
    k_val length; /* of all that is folded */
    int64_t row;  /* of a whole tile; -1: it stands alone */
} sk_made_place;
/* An element of the folds, made of the results that are known. `stack` belongs to the tile: SK_MADE_STACK places. */
enum { SK_MADE_STACK = 8 };
void sk_made_take(sk_made *m, const sk_made_place *p, k_val ***stack);
/* Behind the last element of a tile, which is `p`. */
void sk_made_behind(sk_made *m, const sk_made_place *p);
/* Results of a panel's lane: number `row`. */
void sk_made_finish(sk_made *m, k_val panel, k_val lane, k_val length, k_val row);

#endif
