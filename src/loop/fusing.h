/* While clusters are made: what is known of anchors, and which of them may share a loop. */
#ifndef SN_LOOP_FUSING_H
#define SN_LOOP_FUSING_H

#include "loop/rows.h"
#include "loop/tiles.h"

/* What the loops of a group are like. */
enum {
    SIDE_LEFT = 1,  /* folds, packs, or scans from left to right */
    SIDE_RIGHT = 2, /* scans from right to left: no loop has both */
    SIDE_ROW = 4,   /* a row loop */
    SIDE_ALONG = 8  /* ... along the innermost dimension; times 2 to the power of k: along the one that has k others
                       behind it. No loop has several of them */
};

static inline bool l_opposite(unsigned sides)
{
    return (sides & (SIDE_LEFT | SIDE_RIGHT)) == (SIDE_LEFT | SIDE_RIGHT);
}
static inline bool l_across(unsigned sides)
{
    unsigned along = sides / SIDE_ALONG;
    return along & (along - 1);
}

typedef struct l_fusing {
    ir_program *p;
    const l_options *options;
    l_program *out;
    l_nodes *node;
    uint32_t *level; /* per anchor */
    ir_id *set;      /* union-find over anchors */
    l_class *class;  /* per anchor */
    uint16_t *sides; /* per root of `set` */
    uint8_t *sweep;  /* per anchor: of a row loop or a segment loop */
    bool *behind;    /* per anchor: of a segment loop: it needs what a scan of its sweep has come to, or is one */
    ir_id *segments; /* per anchor: of a segment loop: its offsets; else 0 */
    ir_id *outer;    /* per anchor: computed once a row, or segment, along which this fold runs; 0: it is not */
    bool *tile;      /* per anchor with `outer`: it is made of tiles of the fold's results */
    bool *counts;    /* per anchor: a fold that counts what a pack keeps */
    uint32_t *slot;  /* working memory, zero */
    map64 reader;    /* (key, array, right) -> an anchor that reads the array there */
} l_fusing;

/* What has the extents of the loop that an anchor belongs to. */
static inline const ir_array *l_loop_rate(const l_fusing *c, ir_id anchor)
{
    return l_rate_of(c->p, c->outer[anchor] ? c->outer[anchor] : anchor);
}

/* Is it a fold that computes stencils? It shares loops with its like only. */
static inline bool l_stages(const l_fusing *c, ir_id anchor)
{
    return ir_at(c->p, anchor)->kind == IR_FOLD && l_at(c->node, anchor)->staged.n;
}

/* Is `from` the numbers of segments, of which anchor `to` wants that of its own element only, which its loop knows? */
bool l_knows_segment(const l_fusing *c, ir_id from, ir_id to);

/* May anchor `to`, which reads `from`, run in the loop that computes `from`? */
bool l_fusable(const l_fusing *c, ir_id from, ir_id to, l_access access, l_why *why);

/* When clusters are made: what they read and keep in memory; and why each edge of the program fused, or not. */
void l_find_storage(l_fusing *c);
void l_find_edges(l_fusing *c);

#endif
