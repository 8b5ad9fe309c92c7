/* The element computations of a cluster: pull arrays composed down to memory (Obsidian §4.2; Accelerate, ICFP'13 §4.2).
 */
#ifndef SN_SKELETON_BODY_H
#define SN_SKELETON_BODY_H

#include "skeleton/element/bounds.h"
#include "skeleton/skeleton.h"

/* An index into an array, inside wherever it is evaluated: its components, and its row-major position where that is
 * known. What the user wrote is checked before it becomes one (IR_WITHIN). */
typedef struct sk_index {
    uint8_t rank;
    ir_id at[IR_MAX_RANK]; /* at[0] == 0 with rank > 0: only `linear` is known */
    ir_id linear;          /* 0: not known */
    bool guarded;          /* inside only where the program's own conditions hold: reads stay behind them */
} sk_index;

/* 1 + the dimension of which the term is the component, or 0. */
unsigned sk_component(const sk_index *at, ir_id term);

/* How the columns of a stencil are treated in the body being composed: neighbours may lie outside, or do not along rows
 * (INTERIOR), nor above and below (INSIDE), or not above and below alone (BESIDE). */
typedef enum { SK_GENERIC, SK_INTERIOR, SK_INSIDE, SK_BESIDE } sk_columns;

/* One gang of columns at an end of the row that is computed: `lane` counts them from 0 on, and the row has so many more
 * that neighbours are outside at this end at most. So what an index becomes there is known of each lane beforehand. */
typedef struct sk_edge {
    enum { SK_NO_EDGE, SK_LEFT, SK_RIGHT } side;
    ir_id lane;
    ir_id first;   /* RIGHT: its first column, to which `lane` is added */
    ir_id extent;  /* of the row */
    int64_t lanes; /* a neighbour is no more columns away than this */
    int64_t channels; /* > 0: a column has so many lanes, */
    ir_id column;     /* ... and this is its index */
} sk_edge;

typedef struct sk_body {
    const l_program *l;
    const sk_cluster *cluster;
    arena *arena;
    sk_columns columns;
    uint8_t behind; /* dimensions behind that of columns, of which no stencil reads neighbours */
    sk_edge edge;
    bool composes; /* stencil loops: what the loop computes is read at its own index, where it is composed again */
    bool several;  /* rows that share neighbours are composed: equal rows must be equal terms */
    sk_facts facts;
    sk_index own;       /* what the kernel computes: failures of other elements say which */
    ir_id op;           /* being composed; 0: none */
    const sk_index *at; /* its element */
    VEC(struct sk_pulled) memo;
    map64 memo_of;
    VEC(const ir_id *) given; /* see sk_give */
    map64 given_of;
    map64 kept; /* see sk_keep */
} sk_body;

typedef struct sk_pulled {
    ir_id array;
    sk_index index;
    bool define;
    ir_id *value;
    uint32_t next; /* 1 + next with the same hash */
} sk_pulled;

void sk_body_init(sk_body *b, const sk_cluster *c, sk_columns columns, arena *a);

/* `array` is not to be read or computed wherever its elements are asked for from now on: these terms, one per
 * component, are the only element that the loop reads. */
void sk_give(sk_body *b, ir_id array, const ir_id *value);
/* From now on the elements of `array`, which the same loop has stored before, are read: from its memory, or where the
 * skeleton says (sk_place). What was composed so far is forgotten. */
void sk_keep(sk_body *b, ir_id array);
/* The components of an anchor's operand number `input`, at an index of the anchor's own loop. */
const ir_id *sk_operand(sk_body *b, ir_id anchor, unsigned input, const sk_index *at);
/* The components of `array` at an index: read from memory, or computed. */
const ir_id *sk_pull(sk_body *b, ir_id array, const sk_index *at);
/* The components of an anchor computed here, whether or not it also is in memory. For a fold: the element it
 * accumulates. */
const ir_id *sk_define(sk_body *b, ir_id anchor, const sk_index *at);

/* A function of the cluster's elements, with the same parameters and reads that are composed: a fold's operator. */
ir_fn *sk_operator(sk_body *b, ir_fn *fn);

/* The index that stands for position i of a stencil's input with this extent: inside, unless the extent is 0. */
ir_id sk_adjust(ir_program *p, ir_boundary boundary, ir_id i, ir_id extent);
/* The element at an index outside of a stencil's input, of boundaries that say it themselves (IR_CONSTANT,
 * IR_FUNCTION). */
const ir_id *sk_beyond(sk_body *b, ir_id array, const ir_stencil *s, const sk_index *raw);

#endif
