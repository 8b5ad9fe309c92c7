/* Skeletons: a cluster becomes kernels and the host's knowledge of how to launch them.
 *
 * A skeleton owns the loops and asks for elements: sk_body composes the index functions of everything delayed
 * (pull arrays, Obsidian §4.2) and the stores (push arrays, §4.4) at the index the skeleton chose. */
#ifndef SN_SKELETON_SKELETON_H
#define SN_SKELETON_SKELETON_H

#include "kernel/kernel.h"
#include "loop/cluster.h"

/* what a pointer of a launch is */
typedef enum {
    SK_ARRAY,      /* component `component` of array node `array` */
    SK_PARTIAL_IN, /* partial results of a fold: component number `component` over all folds of the cluster */
    SK_PARTIAL_OUT,
    SK_STATE /* words of 64 bits, the same ones for all launches of a cluster in a call, zero before the first;
                those behind the first `component` words of each piece of the launch */
} sk_role;

typedef struct sk_binding {
    sk_role role;
    ir_id array;
    uint32_t component;
    ir_type type;
} sk_binding;

/* what a scalar argument of a launch is */
typedef struct sk_argument {
    ir_id term;    /* a closed scalar term, evaluated by the host; 0: geometry */
    uint32_t slot; /* index into the geometry's values */
} sk_argument;

typedef struct sk_kernel {
    kernel *k;
    VEC(sk_binding) memory;    /* k's globals in order */
    VEC(sk_argument) argument; /* k's arguments in order */
} sk_kernel;

/* Variants of a cluster's kernel; each is built and compiled when a call first needs it. */
typedef enum {
    SK_MAP_FLAT,    /* one loop over all elements; index components by division where needed */
    SK_MAP_ROWS,    /* rows and columns: index components are loop variables */
    SK_MAP_TILES,   /* the same, a gang being a tile of a few rows: elements that loop until a condition of their own */
    SK_MAP_ACROSS,  /* the same, a gang going along the axis that reads lie together in, which is not the innermost */
    SK_STENCIL,     /* bands of rows, columns in tiles, interior and borders apart */
    SK_FOLD_SHORT,  /* lanes over rows, each row left to right: rows of at most SK_SHORT elements */
    SK_FOLD_BESIDE, /* the same along one dimension, a lane having all rows of small dimensions behind it */
    SK_FOLD_ROWS,   /* lanes over rows, operators that keep order */
    SK_FOLD_CHOICE, /* operators that choose an element by its key: its place first, then the element */
    SK_FOLD_TREE,   /* lanes within a row; one partial result per piece */
    SK_FOLD_COLUMNS,   /* rows that are neighbours in memory: line by line, a line having an element of each */
    SK_CHOOSE_COLUMNS, /* the same of operators that choose an element by its key */
    SK_COMBINE_SHORT,  /* SK_FOLD_SHORT and SK_FOLD_TREE over partial results */
    SK_COMBINE_TREE,
    /* Blocks of many threads, on devices with a `group`. */
    SK_GROUP_PIECE,         /* commuting folds: a block folds one piece of a row */
    SK_GROUP_ROWS,          /* commuting folds: a block folds several rows of one piece each */
    SK_GROUP_CHUNKS,        /* in order: each thread walks a stretch of a row, staged through shared memory */
    SK_GROUP_COMBINE_PIECE, /* the same three over partial results */
    SK_GROUP_COMBINE_ROWS,
    SK_GROUP_COMBINE_CHUNKS,
    /* Row loops (l_cluster.class ROW). */
    SK_ROW_BLOCK,   /* a block walks along whole rows, sweep after sweep */
    SK_ROW_LANES,   /* lanes over rows, each from left to right: rows of at most SK_SHORT elements */
    SK_ROW_CHAIN,   /* a block takes a piece of a row; states of scans go from piece to piece */
    SK_ROW_COMBINE, /* SK_ROW_BLOCK over partial results */
    /* Where no piece may wait for another, three launches: */
    SK_ROW_SUMS,   /* a block takes a piece and leaves what it adds to the state */
    SK_ROW_STATES, /* a block takes a row and makes these the states before its pieces */
    SK_ROW_APPLY,  /* a block takes a piece and the state before it */
    SK_VARIANTS
} sk_variant;

/* Constants of the combination tree (docs/determinism.md): rows that are folded from left to right, elements of a piece
 * of longer ones, accumulators of a piece of operators that commute. */
enum { SK_SHORT = 32, SK_PIECE = 4096, SK_ACCUMULATORS = 128 };
/* Most pieces that a worker claims at once, a power of two; not more than SK_SHORT, so that blocks can finish rows. */
enum { SK_BLOCK_LOG = 4, SK_BLOCK = 1 << SK_BLOCK_LOG };

/* How gangs go through the tree, which is a free choice: lanes * streams = SK_ACCUMULATORS neighbours at a time. */
typedef struct sk_tree {
    int64_t lanes, streams;
} sk_tree;
sk_tree sk_tree_of(bool wide);

typedef struct sk_options {
    uint32_t vector_bytes; /* of the device; 0: it has no gangs whose lanes exchange values */
    uint32_t workers;
    /* Devices whose blocks are many threads; 0 where a block is one core. */
    uint32_t group;        /* most threads a block may have */
    uint32_t gang;         /* threads in step that exchange values; 0 or 1: none */
    size_t scratch;        /* shared memory a block may use, bytes */
    bool chains;   /* a piece may wait for what the piece before it hands on */
    bool checks;   /* false: the program is `unchecked` */
    bool contract; /* products feeding a + fold become fma */
    bool stream;   /* results are written past the caches */
    bool ahead;    /* folds: elements come from memory */
    bool final;    /* folds: this launch makes the result (seed applied) */
    int64_t row; /* SK_MAP_ROWS: gangs of short rows (sk_row_gangs); 0: they need not be whole. SK_STENCIL: not 0 if the
                    image is narrow. Folds of rows: their length if the kernel is made for it; below 0: made for this
                    number of groups of lanes, the last of which is not whole; 0: for any length */
    bool narrow;   /* launches satisfy k_indices_fit; others need a kernel without this */
} sk_options;

enum { SK_SLOTS = 8 };

/* A cluster runs in passes, one after the other. A pass that has nothing to do for the extents of a call has no pieces. */
typedef enum {
    SK_PASS_LOOP,    /* all elements; folds: to partial results of pieces */
    SK_PASS_COMBINE, /* folds: partial results, again until one a row is left */
    SK_PASS_SUMS,    /* rows: what each piece adds to the state */
    SK_PASS_STATES,  /* rows: the states before all pieces */
    SK_PASS_APPLY,   /* rows: all elements, with these states */
    SK_PASSES
} sk_pass;

typedef struct sk_round { /* one launch of a cluster */
    sk_pass pass;
    int64_t partials; /* COMBINE: partial results a row; else 0 */
} sk_round;

/* How to launch: computed by the host from the extents of a call. */
typedef struct sk_geometry {
    sk_variant variant;
    int64_t pieces;
    int64_t slot[SK_SLOTS]; /* geometry arguments of the kernel, as the skeleton numbers them */
    int64_t partials;       /* folds: partial results per row this launch writes; 1: the result itself */
    int64_t state_words;    /* of SK_STATE: the same in all passes of a cluster that use it */
    bool stream, ahead;
    int64_t row;
    double work; /* a rough number of scalar operations, to keep small launches on the caller's thread */
} sk_geometry;

/* The passes of a cluster, in order; returns how many. */
uint32_t sk_passes(const l_cluster *c, const sk_options *options, sk_pass out[SK_PASSES]);
bool sk_carries(const l_cluster *c); /* something goes from element to element: its kernels may have a SK_STATE */

/* Once per program, after l_clusters: learns what launches must know of the clusters' code (uses_index, tiles, columns). Changes the terms. */
void sk_prepare(l_program *l);

/* rows = product of the outer extents, row = innermost extent (1 x size for PLAIN clusters without index use). `extent` holds the
 * values of cluster->shape. */
void sk_plan_launch(const l_program *l, const l_cluster *c, const sk_options *options, const int64_t *extent, sk_round round,
                    size_t cache_bytes, sk_geometry *out);

/* Why there is no kernel. Compilers of programs have limits: then the program asks for more than can be translated.
 * Anything else is a mistake of this compiler. */
typedef struct sk_reason {
    const char *text;
    bool unsupported;
} sk_reason;

/* Builds the kernel of a variant, verified by the caller. NULL and *why if there is none. */
sk_kernel *sk_build(const l_program *l, const l_cluster *c, sk_variant variant, const sk_options *options, arena *a,
                    sk_reason *why);

#endif
