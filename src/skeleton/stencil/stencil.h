/* The stages of a stencil loop: how far they read into each other, what is kept of them, how many rows are computed at
 * once. */
#ifndef SN_SKELETON_STENCIL_H
#define SN_SKELETON_STENCIL_H

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"
#include "skeleton/variants.h"

/* Columns: rows start at multiples of FULL vectors, and are kept at multiples of a LINE of the cache, so that all but
 * neighbours are read and written without crossing lines. */
enum { FULL = 16, LINE = 64 };

typedef struct halo {
    int64_t up, down, left, right;
} halo;

/* An array in memory: its rows that are read `lead` rows ahead of the base row, and down to `below` a band. */
typedef struct fetch {
    ir_id array;
    uint32_t component;
    int64_t lead, below;
} fetch;

typedef struct stage {
    const l_op *op;
    const ir_array *info;
    halo need;          /* beyond the tile, rows and columns of this stage that others read */
    halo own;           /* the farthest neighbours its own stencils read, other than from padded rows; to the left a
                           multiple of full vectors */
    int64_t left;       /* the same to the left, as it is */
    int pad;            /* PAD_...: what readers find left and right of the array, of copies also above and below */
    int64_t lead, ring; /* rows ahead of the base row; rows kept */
    bool block;         /* several rows are computed at once: they share what they read */
    bool inside;      /* ... of blocks whose neighbours all lie inside: boundaries that cost more than a clamped row */
    bool edges;       /* ... and so are the columns beside whole gangs: their code is short */
    bool ends;        /* rows end in whole gangs, of which each lane knows what lies outside (sk_edge) */
    int64_t up, down; /* how far it reads rows above and below */
    bool copy;        /* of an array that is in memory: `op` is none of the cluster's */
    const ir_stencil *beyond; /* of a copy: what lies outside of the array is kept, too, as this one's boundary says */
    bool free;                /* all neighbours that it reads are in such copies: none needs care */
    int64_t start;      /* columns computed left of a tile: need.left and what makes rows start at a full vector */
    int64_t width;      /* columns of a kept row */
    VEC(fetch) fetches; /* what its loop fetches for the next step */
    k_mem *rows;        /* per component */
    k_val first_column; /* of the kept rows, this tile */
    k_val first_row;    /* that is kept of this band: rows computed at once lie one behind the other, as rings hold a
                           multiple of them */
} stage;

/* Values above PAD_NONE are 1 + an ir_boundary. */
enum { PAD_UNKNOWN = -1, PAD_NONE = 0 };

typedef struct stages {
    sk_lower *lw;
    bool aligned;     /* the device has vectors */
    int64_t rows;     /* computed by each stage a step */
    VEC(stage) stage; /* in order of evaluation */
    sk_index at;
    unsigned column;  /* the dimension of columns: neighbours are read along none behind it, */
    int64_t channels; /* ... which have so many elements, each a column */
    bool any_channels; /* that number is not known: pixels are taken one by one, all of them as those at the edges */
    int64_t lanes;    /* of whole gangs; a kernel for short rows may have fewer */
    enum { SK_EITHER, SK_ENDS, SK_NO_ENDS } only; /* of rows in gangs and other ones: what the launch has */
    ir_id end_column;                             /* the first one of a gang at the right end of a row */
    ir_id lane;                                   /* the number of a lane in a gang at an end, of several channels */
    k_val base;                                   /* the base row of a step */
    const stage *copying;                         /* the copy whose code is being made */
} stages;

/* An element of a stencil loop, of all that it stores: what it takes to compute it without what is computed beside it.
 */
typedef struct stencil_element {
    halo beyond;                        /* the farthest neighbours that are read */
    int64_t reads, operations, results; /* of numbers */
    int64_t arrays;                     /* components of arrays that are read */
    int64_t words, narrowest;           /* registers of the widest number; bytes of the narrowest in memory */
    bool alone;                         /* it loops, may fail, or tells that it was computed */
} stencil_element;
/* False: the loop reads what it computes itself beside its own index. channels: dimensions that count as columns of the
 * one before them. */
bool sk_stencil_element(sk_cluster *c, unsigned channels, arena *a, stencil_element *out);

/* Finds the stages of lw's cluster, and all that is fixed before code is made. They live in `a`. */
stages sk_stencil_stages(sk_lower *lw, const sk_options *options, arena *a);
/* A body whose neighbours are those of these stages' columns. */
void sk_stage_body(const stages *s, sk_body *b, sk_columns columns, arena *a);
/* Columns of a block's rows. */
static inline sk_columns sk_block_columns(const stage *g)
{
    return g->inside || g->free ? SK_INSIDE : SK_INTERIOR;
}
/* Are rows that end in gangs of so many lanes done in gangs throughout? Where several rows are computed at once, also
 * beside the edges, and what is computed twice is not kept. Then so many columns are enough: one gang's, and as many
 * more as neighbours are away, so that each gang at an end has to do with its own end only; where there are columns
 * between two of them, there is room for a gang that reads no neighbours beyond the edges. 0: they are not. */
int64_t sk_stencil_gangs(const stages *s, const stage *g, int64_t lanes);
/* Lanes of the kernel for these stages. */
uint16_t sk_stencil_lanes(stages *s, const sk_options *options, arena *a);

#endif
