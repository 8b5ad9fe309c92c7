/* Clusters: groups of array operations that share one iteration space (a rate) and become one loop nest.
 *
 * Every array node that must be computed as a whole is an *anchor*: results of the program, folds, forced arrays, and
 * producers that would cost too much to compute at each of their uses. All other producers are delayed: they are
 * composed into the index functions of the anchors that use them (Accelerate, ICFP'13 §4). Anchors over the same
 * extents whose connecting edges allow it form a cluster: typed fusion by (rate, number of fusion-preventing edges on
 * the longest path), linear and acyclic by construction (LiveFusion §5.3, rates). Values pass from anchor to anchor in
 * registers, and to neighbours (stencils) through rows kept in shared memory.
 *
 * A row loop (L_CLASS_ROW) goes along the innermost dimension of its rate, in order, row by row. It has the scans and
 * packs, and, where rows are several, also folds whose results elements of the same row read (L_OUTER): the row is gone
 * over again, in another sweep, when they are known. Scans may go along another dimension (l_cluster.behind): then
 * there is nothing in the loop but these and elements. Softmax is one such loop of three sweeps: the maximum;
 * exponentials and their sum; the quotients. All other reads within a row loop are L_SAME.
 *
 * A segment loop (L_CLASS_SEGMENT) goes over rows that are cut into segments, a rate below that of the rows: its folds
 * have a result for each segment, and its elements know in which segment they are (IR_SEGMENT_OF), so that what belongs
 * to a segment is read once for it. All its members have the same offsets. What is made of folds' results alone is
 * computed once a segment, and elements that read what belongs to their own segment (L_OUTER) go over it again, in
 * another sweep, as in row loops.
 *
 * A tile loop (L_CLASS_TILES) has folds whose elements are made of operands that do not change along some dimension of
 * the result (contractions), and what is made of the results at the same index: elements, and folds of their last
 * dimension. Where the device computes results in tiles, these pass on from there. */
#ifndef SN_LOOP_CLUSTER_H
#define SN_LOOP_CLUSTER_H

#include "ir/term.h"

/* how an operation reads an array */
typedef enum {
    L_SAME,     /* at its own index */
    L_VIEW,     /* at an index computed from its own (backpermute, reshape) */
    L_HALO,     /* at neighbouring indices (stencil) */
    L_RANDOM,   /* at any index, from scalar code */
    L_OUTER,    /* an element of a row reads what belongs to its row */
    L_NUMBER,   /* an element reads the number of the segment that its innermost index is in (IR_SEGMENT_OF) */
    L_DEFAULTS, /* it begins with these elements, and combines others into them */
    L_HOST      /* by the host: an extent or a seed depends on it */
} l_access;

/* why an edge fused, or not */
typedef enum {
    L_FUSED_DELAYED,  /* composed into the consumer's index function */
    L_FUSED_REGISTER, /* one loop; the value passes in a register */
    L_FUSED_ROWS,     /* one loop; neighbours are kept in rows of shared memory */
    L_FUSED_SWEEP,    /* one loop over rows; the row is gone over again when the producer's result is known */
    L_FUSED_SEGMENT,  /* one loop over segments; a result for a segment is known before what is made of it there */
    L_FUSED_TILE,     /* one loop; tiles of results pass on to what is made of them */
    L_NOT_INPUT,      /* the producer is an argument of the program: already in memory */
    L_NOT_RATE,       /* the two iterate over different extents */
    L_NOT_RANDOM,     /* the consumer reads at computed indices, recomputation would cost too much */
    L_NOT_AFTER,      /* a fold's result is needed whole before the consumer starts */
    L_NOT_ROW,        /* a fold of rows is read by its own row only, but loops do not hold a fold and its readers */
    L_NOT_COST,       /* recomputing the producer at each use costs more than memory */
    L_NOT_CAP,        /* the kernel would exceed the cap on its size */
    L_NOT_FORCED,     /* the user asked for it (force) */
    L_NOT_SORT,       /* a sort goes over whole rows, several times, in loops of its own */
    L_NOT_CLASS,      /* the loops have different combination trees or neighbourhood handling */
    L_NOT_DEFAULTS,   /* elements that others are combined into are in memory before that begins */
    L_NOT_PERMUTE,    /* elements that go to places of their own have a loop of their own */
    L_NOT_BLOCK,      /* rows kept for neighbours are waited for by all threads of a block: memory costs less */
    L_NOT_BOUNDARY,   /* a wrapped stencil needs far rows */
    L_NOT_CONTROL,    /* one of them is a loop or choice of arrays, which takes and gives what is in memory */
    L_NOT_ENABLED     /* fusion is switched off */
} l_why;

typedef struct l_edge {
    ir_id from, to;
    l_access access;
    l_why why;
} l_edge;

typedef enum {
    L_ELEMENT,
    L_FOLD,
    L_FOLD_SEG, /* of the segments of a row */
    L_SCAN,     /* its result is an element, computed with a carry from the element before */
    L_PACK,     /* stores some elements of the loop, one behind the other */
    L_SORT,     /* stores the elements of a row in another order */
    L_RESULT,   /* of a control: stored where it is made */
    L_PERMUTE   /* combines elements of the loop into places that they name */
} l_kind;

typedef struct l_op { /* an anchor in its cluster */
    ir_id term;
    l_kind kind;
    bool stored;   /* its result goes to memory */
    bool staged;   /* neighbours of it are read within the cluster */
    bool outer;    /* ROW: an element computed once a row, from folds of the row and from what is in memory at the row's
                      index.  Its extents are the rate's without the innermost. SEGMENT: the same of a segment; the
                      segments stand in place of the innermost extent. TILES: an element of the folds' results, or
                      a fold of such elements */
    uint8_t sweep; /* ROW, SEGMENT: in which sweep over the row or segment, from 0; outer: before that sweep, or behind
                      the last one if it is l_cluster.sweeps. A fold's result is there from the next sweep on, in
                      registers whether stored or not */
    double flops;  /* its part of the cluster's */
    bool again; /* ROW, elements that later sweeps read: these compute it again. Otherwise, and always if it is a scan,
                   they read back what its own sweep stored. Within its sweep it passes in a register */
} l_op;

typedef enum {
    L_CLASS_PLAIN,
    L_CLASS_STENCIL,
    L_CLASS_FOLD,
    L_CLASS_ROW,  /* sweeps over rows, elements in order: scans and packs, and folds whose results the same row reads */
    L_CLASS_SORT, /* one sort, alone */
    L_CLASS_CONTROL, /* no loop: programs within the program, run by the plan. Its operations: the control, its parts */
    L_CLASS_PERMUTE, /* over the source of the one permute that it has */
    L_CLASS_SEGMENT, /* rows segment by segment: folds of these, and elements that know their segment */
    L_CLASS_TILES    /* folds, and what is made of their results, tile by tile */
} l_class;

typedef struct l_cluster {
    l_class class;
    uint8_t rank;
    ir_id shape[IR_MAX_RANK]; /* the rate: extents of the iteration space */
    uint32_t level;
    ir_id segments;      /* SEGMENT: their offsets in a row, as of all rows; read whether memory has them or not */
    ir_id segment_count; /* SEGMENT: how many a row has, a closed term */
    VEC(ir_id) numbers;  /* SEGMENT: the IR_SEGMENT_OF that its elements read, which the loop knows without memory */
    bool right;          /* ROW: its scans go from right to left; such a loop has no folds and no packs */
    uint8_t behind;      /* ROW: dimensions behind the one that it goes along; not 0: it has scans and elements only */
    uint8_t sweeps;      /* ROW: over each row, at least 1; more only if the rate has a dimension besides the row's.
                            SEGMENT: over each segment */
    bool ordered;        /* folds: their operators keep order (but see mixed); ROW: some fold's does */
    bool mixed;          /* FOLD: ordered, and some of its folds commute: those that keep order each choose an element, and
                            the choice is the same in any tree */
    bool trees_differ;   /* SEGMENT: some of its folds keep order, others do not, and their results show it */
    VEC(l_op) op;        /* in order of evaluation; ROW: by sweeps, and before a sweep what is computed once a row */
    VEC(ir_id) reads;    /* arrays read from memory; PERMUTE: the defaults only if they are also read elsewhere */
    VEC(ir_id)
    staged; /* folds of all elements: delayed arrays with stencils, which a block of the loop may compute
               before it folds them; at the same position in row-major order, whatever their rank */
    double flops, reads_per_element; /* what an element costs, as fusion counts it */
    double staged_flops;             /* of these, what is spent on `staged` */
} l_cluster;

enum { L_DEFAULT_CAP = 6000 };

/* What nobody makes of a fold's results in its own loop. */
enum { L_TILES_NO_FOLDS = 1, L_TILES_NOTHING = 2 };

/* Stencils in one loop, at most. Measured (chains of 3 x 3 heat steps, f32): six take 0.84 (512 x 512) and 0.46 (2048 x
 * 2048) of the time that they take one by one, more gain nothing, as rows around a band are computed again for each,
 * and each adds to the time of compiling. A long chain becomes equal loops, which share a kernel. */
enum { L_MOST_STAGES = 6 };

typedef struct l_options {
    bool fuse;       /* false: every operation is an anchor in a cluster of its own */
    bool cost_model; /* false: producers are always delayed (as Accelerate does) */
    bool large;      /* arrays are beyond the caches: computing again costs less than memory more often */
    bool rows; /* folds along rows fuse with what reads their results in the same rows: row loops of several sweeps */
    bool one_sweep; /* ... but not here: rows are short, or fewer than would keep the workers busy: a row has one worker
                     */
    bool threads;   /* a block of the device is many threads */
    bool tiles;     /* what is made of a contraction's results shares its loop, */
    const uint8_t *no_tiles; /* ... but for these: per node L_TILES_..., or NULL: which folds are contractions is found
                                out when loops are there */
    uint32_t cap;   /* most scalar nodes in a cluster, but for an operation that has more; 0: the default */
} l_options;

typedef struct l_part { /* one component of a result, and where it is */
    ir_id array;
    uint32_t component;
} l_part;

typedef struct l_program {
    ir_program *ir;
    VEC(l_cluster) cluster; /* in order of execution */
    VEC(l_edge) edge;
    uint32_t nodes;       /* length of the two tables below */
    uint32_t *cluster_of; /* per array node: 1 + its cluster if it is an anchor, else 0 */
    bool sized;           /* some choice depends on whether arrays are `large` */
    bool rows;            /* some loop goes over its rows several times: some calls want `one_sweep` (api/versions.c) */
    bool tiles;           /* some loop is a tile loop: some calls want none */
    bool *manifest;       /* per array node: it is in memory at some time (inputs included) */
    l_part *part; /* per component of all results, in order: itself, or the fold or forced array it is picked from */
    uint64_t *wanted; /* per array node: the components that anybody reads (loop/wanted.h) */
    uint32_t *number; /* per array node: n of its name "an" in texts, as ir_print numbers them */
} l_program;

/* Linear in the size of the program. Everything lives in the program's arena. */
l_program *l_clusters(ir_program *p, const l_options *options);
void l_forget(l_program *l);                 /* one that nobody uses any more: gives back what is large */
void l_print(const l_program *l, text *out); /* both of: */
void l_print_clusters(const l_program *l, text *out);
void l_print_edges(const l_program *l, text *out);
/* Edges that did not fuse and do not come from arguments: what there is to be gained. */
void l_print_unfused(const l_program *l, text *out);
void l_print_json(const l_program *l,
                  text *out); /* {arrays, clusters, edges}: docs/fusion.md; its words do not change */
void l_print_dot(const l_program *l, text *out); /* for Graphviz */
const char *l_why_text(l_why why);               /* a sentence for explain */

#endif
