/* Skeletons: a cluster becomes kernels and the host's knowledge of how to launch them.
 *
 * A skeleton owns the loops and asks for elements: sk_body composes the index functions of everything delayed
 * (pull arrays, Obsidian §4.2) and the stores (push arrays, §4.4) at the index the skeleton chose. */
#ifndef SN_SKELETON_SKELETON_H
#define SN_SKELETON_SKELETON_H

#include "kernel/kernel.h"
#include "loop/cluster.h"

typedef enum {
    SK_NO_CHOICE,
    SK_CHOICE,     /* the one fold of the cluster chooses an element by its key (opt/choice.h) */
    SK_CHOICE_FREE /* and makes the same choice whatever the order of combination */
} sk_choice;

/* A read of memory: each element that the loop's dimensions `each` tell apart, and as many as sums of indices have
 * values, but no more than the dimensions `any` tell apart. Bits are dimensions. */
typedef struct sk_span {
    ir_id array;
    uint32_t component;
    uint8_t bytes; /* of an element */
    uint8_t each, any;
    uint8_t sums, sum[IR_MAX_RANK];
} sk_span;

/* What a lane would compute that has all elements of the innermost dimension, whose extent only a launch knows. */
typedef struct sk_lane_cost {
    bool suits;          /* it may have them, */
    bool words;          /* ... up to SK_MOST_FACTOR, else eight */
    uint8_t lanes;       /* of a register */
    uint16_t own, terms; /* terms that mention the index there, and others */
    uint16_t own_work, work; /* operations among them, besides index arithmetic */
} sk_lane_cost;

/* What a thread of a stencil loop computes on devices with a `group`. */
typedef struct sk_thread_block {
    uint8_t rows, columns; /* at most; 0: none computes more than it reads */
    int64_t up, down, left, right; /* the farthest neighbours that these read */
} sk_thread_block;

/* A cluster, and what launches must know of its code. */
typedef struct sk_cluster {
    const l_program *l;
    const l_cluster *loop;
    bool wide; /* an accumulated component has 8 bytes */
    /* PLAIN: */
    bool uses_index;          /* index components matter, not only the row-major position */
    uint8_t run[IR_MAX_RANK]; /* how many dimensions from here on matter by the position in them only; 0: inside such a
                                 run */
    bool used[IR_MAX_RANK];   /* the index in the run that begins here matters */
    uint8_t inner;            /* dimensions of the innermost run; 0 counts as 1 */
    sk_lane_cost lane;        /* all of the innermost dimension may be a lane's: not of four elements and more where */
    bool lane_copies;         /* ... short rows are copied from places apart, nor of more than eight where */
    bool lane_knows;          /* ... it is known where they read */
    bool of_lane;             /* innermost extents are small and known, and all of them is one lane's; */
    bool lane_streams;        /* they are where results go past the caches, but not where these hold them */
    bool pairs;               /* ... those of one dimension, also of `lane`: rows are those of the two innermost ones */
    uint8_t block_digits;     /* so many innermost dimensions are blocks, all of which a gang may have; 0: none are */
    uint8_t block_elements, blocks_together; /* of a block; of a gang */
    uint64_t block_names;     /* rows would be such blocks if the extents that have these names were small numbers: of the
                                 first 64 of the program */
    uint8_t period;           /* rows are cut into gangs of so many positions, by which they are divided; 0: they are not */
    uint8_t row_cuts;         /* a loop over a row is cut at so many places, where index arithmetic changes its form */
    uint8_t row_bytes;        /* gangs along a row may overlap; of the widest element. 0: they may not */
    uint8_t group;            /* elements of a row that a lane has (element/interleave.h); 1: it has one */
    uint8_t moved;            /* 1 + the dimension that reads are moved along, and that is a run with the innermost one
                                 where they are; 0: none */
    uint8_t across;           /* 1 + the dimension where the run begins that reads lie together along, but not along the
                                 innermost run; 0: none */
    uint16_t across_lanes;    /* of gangs that do */
    uint32_t across_bytes;    /* of an element of each of these reads */
    bool along, along_wide;   /* elements are loops along rows of their own; of elements of 8 bytes */
    bool tiles;               /* elements that loop, with neighbours in two dimensions */
    uint8_t shared, shared_bytes; /* elements are loops over what rows and columns of them share: states, and bytes of
                                     the widest value; 0: they are not */
    /* FOLD: */
    sk_choice choice;
    uint8_t choice_bytes;   /* the size of its key */
    int64_t choice_longest; /* ... in rows that are no longer */
    uint8_t staged_pieces;  /* pieces of folds that a block may compute at once */
    uint8_t fold_bytes;     /* of the widest element or accumulator where sums of small numbers are narrower; 0: order is
                               kept */
    VEC(sk_span) span;      /* what is read */
    bool whole_reads;       /* some of it is another element wherever the loop is */
    bool rows_together;     /* short rows may be folded several at a time: there is little to compute, and nothing fails */
    bool columns;           /* what a row reads lies further apart than what its neighbours read */
    bool own_rows;          /* all that is read are the rows' own elements, one row behind the other */
    bool either;            /* what its neighbours read lies as close together */
    bool windows;           /* neighbours in the last dimension of the result read neighbours, and rows overlap */
    uint8_t beside;         /* how many dimensions of the result, the last ones, are one run in all that is read */
    bool dense;             /* the folded dimension and these are one run */
    bool indexed;           /* the indices matter besides, which are values then */
    bool keys_indexed;      /* the same for what is compared by operators that choose */
    const struct sk_contraction *contraction; /* of operands that do not change along some dimension (contract.h); NULL:
                                                 it is none */
    /* STENCIL: */
    uint8_t channels; /* so many dimensions, the last ones, may count as columns of the one before: no stencil reads
                         neighbours along them; 0: none */
    bool channels_told; /* only a launch knows their extents */
    int64_t tile;                                   /* columns of a tile */
    int64_t column_bytes, halo_bytes;               /* shared memory that rows take a column of the tile, and besides */
    int64_t gang_columns; /* stencils: so many columns of a tile are done in gangs throughout, where gangs have most
                             lanes; 0: never */
    uint32_t light_bytes; /* elements of all arrays that are read and stored, in bytes, if moving them takes longer than
                             computing, row by row; else 0 */
    sk_thread_block block, pixel_block; /* where channels are rows of their own, and where they count as columns */
    /* ROW: */
    bool chains;          /* states can go from piece to piece: */
    uint32_t state_words; /* words per piece that they take, */
    size_t kept_bytes;    /* what sweeps may leave for later ones, bytes at each position of a row */
    bool by_threads;      /* SK_GROUP_ROW has a kernel for it, */
    size_t thread_kept, thread_folded, thread_scanned; /* which keeps, folds and scans that many at each position */
    uint32_t late_words;  /* of these at the end, for packs that keep what states of scans decide */
    bool far;             /* elements of a row lie apart in some array that is read */
    bool lines;           /* rows go along another dimension than the innermost, and its scans only compute */
    bool any_tree;        /* scans give the same bits in every tree over the elements in their order (opt/any_tree.h) */
    bool joins;           /* and so do partial results of folds, which a launch of their own combines */
    bool *counted;        /* per operation: a fold that is the sum of what is 1 or 0 */
    /* PERMUTE: */
    const struct sk_permuted *permuted; /* what is combined (permute.h) */
    bool any_order;                     /* its operators give the same bits in any order of combination */
    bool counts;                        /* elements are all alike, and added up */
    bool by_rows;                       /* the source's last index is the place's, and the others do not depend on it */
    bool chooses; /* some operator gives the new element or the old one */
    bool atomic;  /* in any order, and each component is an operation that devices have as an atomic one */
} sk_cluster;

typedef struct sk_program {
    l_program *l;
    sk_cluster *cluster; /* l->cluster.n of them */
} sk_program;

/* what a pointer of a launch is */
typedef enum {
    SK_ARRAY,      /* component `component` of array node `array` */
    SK_PARTIAL_IN, /* partial results of a fold: component number `component` over all folds of the cluster */
    SK_PARTIAL_OUT,
    SK_STATE, /* words of 64 bits, the same ones for all launches of a cluster in a call, zero before the first but for
                 permutes, whose kernels take them for elements of any type; those behind the first `component` words of
                 each piece of the launch */
    SK_SORTED_FROM, /* component number `component` of what a sort is at work on: where the launch before left it, */
    SK_SORTED_TO    /* and where this one puts it: the result, or memory beside it, by turns */
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

/* Schedules: which axes of a cluster's loop are blocks of the launch, lanes of a gang, and loops. Of those that suit a
 * launch the first one here is taken: each is faster than those behind it where it suits. Kernels are built and
 * compiled when a call first needs them. */
typedef enum {
    /* elements, each for itself */
    SK_MAP_ALONG,  /* elements one after the other, a gang going along the row that an element's loop combines */
    SK_MAP_ACROSS, /* rows and columns, a gang going along the axis that reads lie together in, which is not the
                      innermost */
    SK_MAP_STAGED, /* tiles of rows and columns, devices with a `group`: what lies together along another axis than the
                      innermost goes through shared memory */
    SK_MAP_SHARED, /* several rows at a time, a gang along them: elements that are loops over what these share */
    SK_MAP_TILES,  /* the same, a gang being a tile of a few rows: elements that loop until a condition of their own */
    SK_MAP_MOVED,  /* rows and columns, a row being those of several dimensions, of which reads are moved along the first */
    SK_MAP_BLOCKS, /* blocks of small and known innermost dimensions, a gang having all elements of some */
    SK_MAP_PERIODS, /* rows, a gang having all positions of one quotient by a number */
    SK_MAP_ROWS,   /* the same, gangs along rows: index components are loop variables */
    SK_MAP_FLAT,   /* one loop over all elements; index components by division where needed */
    SK_GROUP_STENCIL, /* devices with a `group`: a thread computes some neighbouring rows and columns */
    SK_STENCIL,    /* bands of rows, columns in tiles, interior and borders apart */
    /* folds */
    SK_CONTRACT,       /* contractions: tiles of the result in registers, operands packed in the order of the tree */
    SK_GROUP_CONTRACT, /* the same on devices with a `group`: operands go through shared memory, slice by slice */
    SK_FOLD_WINDOWS,   /* lanes over rows that overlap, of at most some dozen elements, each in registers from end to end */
    SK_FOLD_COLUMNS,   /* rows that are neighbours in memory: line by line, a line having an element of each */
    SK_FOLD_PARTS,     /* what parts of the lines have come to is combined */
    SK_CHOOSE_COLUMNS, /* the same of operators that choose an element by its key */
    SK_FOLD_BESIDE,    /* lanes over rows along one dimension, a lane having all rows of small dimensions behind it */
    SK_FOLD_CHOICE,    /* operators that choose an element by its key: its place first, then the element */
    /* row loops (L_CLASS_ROW) */
    SK_ROW_COLUMNS, /* rows that are neighbours in memory: line by line, a line having an element of each */
    SK_ROW_STATES, /* a block takes a row and makes what its pieces add the states before them */
    SK_ROW_PIECES, /* a block takes a piece of a row; states of scans go from piece to piece, or by SK_ROW_STATES */
    /* both */
    SK_LANES, /* lanes over rows, each from left to right: rows of at most SK_SHORT elements */
    /* folds */
    SK_FOLD_ROWS, /* lanes over rows, operators that keep order */
    SK_FOLD_TREE, /* lanes within a row; one partial result per piece */
    /* sorts */
    SK_SORT_LANES,   /* lanes sort short rows, each its own */
    SK_SORT_ROWS,    /* a core sorts whole rows, by digits, in its caches */
    SK_SORT_CHUNKS,  /* a thread sorts some neighbours; rows that are no longer are done then */
    SK_SORT_COUNT,   /* by digits: a block counts those of a piece */
    SK_SORT_PLACES,  /* a block adds up what a row's pieces have counted */
    SK_SORT_SCATTER, /* a block moves a piece's elements */
    SK_SORT_BUCKETS, /* a core sorts those that one digit has put together, in its caches */
    SK_SORT_RUNS,    /* a block counts elements of a piece that come before the one before them, and notes the last one's
                        position: two words of the state */
    SK_SORT_SPLITS,  /* by comparison: a block cuts two sorted runs into units */
    SK_SORT_MERGE,   /* a thread merges a unit */
    /* the same where blocks are many threads: devices with a `group` */
    SK_GROUP_CHOICE, /* operators that choose an element by its key: a block has a piece, each thread every so many-th
                        element of it */
    SK_GROUP_CHUNKS, /* in order: each thread walks a stretch of a row, staged through shared memory */
    SK_GROUP_ROWS,   /* commuting folds: a block folds several rows of one piece each */
    SK_GROUP_PIECE,  /* commuting folds: a block folds one piece of a row, or a row of few pieces */
    /* permutes */
    SK_PERMUTE_ATOMIC, /* threads combine their elements with what is in memory, in any order */
    SK_PERMUTE_LAST,   /* of several elements for one place the last one stays: which it is, and then it goes there */
    SK_PERMUTE,        /* in order, block by block of the source, and range by range of the places */
    /* row loops */
    SK_GROUP_ROW, /* devices with a `group`: all threads of a block walk along a row together */
    SK_ROW_BLOCK, /* a block walks along whole rows, sweep after sweep */
    /* segment loops (L_CLASS_SEGMENT) */
    SK_SEGMENTS,      /* pieces of as many elements and segments; lanes are short segments, or positions of longer ones */
    SK_SEGMENTS_JOIN, /* segments of several pieces of the tree: partial results are combined */
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

typedef struct sk_over { /* an array's component whose memory becomes that of a result */
    ir_id from;
    uint32_t from_component;
    ir_id to;
    uint32_t to_component;
} sk_over;

typedef struct sk_options {
    uint32_t vector_bytes; /* of the device; 0: it has no gangs whose lanes exchange values */
    uint32_t workers;
    /* Devices whose blocks are many threads; 0 where a block is one core. */
    uint32_t group;        /* most threads a block may have */
    uint32_t gang;         /* threads in step that exchange values; 0 or 1: none */
    size_t scratch;        /* shared memory a block may use, bytes; */
    size_t most_scratch;   /* where few others share its unit; 0: no more */
    bool chains;   /* a piece may wait for what the piece before it hands on */
    bool checks;   /* false: the program is `unchecked` */
    bool contract; /* products feeding a + fold become fma */
    bool stream;   /* results are written past the caches */
    bool ahead;    /* folds: elements come from memory */
    bool final;    /* folds: this launch makes the result (seed applied) */
    int64_t row; /* SK_MAP_ROWS: gangs of short rows (sk_row_gangs); 0: they need not be whole. SK_MAP_MOVED: elements of
                    the innermost run, if the kernel is made for so many. SK_STENCIL: bits (variants.h).
                    SK_GROUP_STENCIL: rows of a thread; 0: as many as suit.
                    Folds of rows: their length if the kernel is made for it; below 0: made for this
                    number of groups of lanes, the last of which is not whole; 0: for any length. SK_ROW_BLOCK: not 0
                    if rows are short enough for what sweeps leave for later ones (row_keep.c). Sorts: sk_pack_radix */
    bool narrow;   /* launches satisfy k_indices_fit; others need a kernel without this */
    uint64_t without;    /* 1 << variant: those that launches do not take */
    const sk_over *over; /* ... which are read for the last time, where sk_may_write_over */
    uint32_t overs;
} sk_options;

enum {
    SK_SLOTS = 9,
    SK_RUN = 1,   /* SPLITS, MERGE: elements of a run */
    SK_SHIFT = 3, /* COUNT, SCATTER: where the digit begins in its key */
    SK_SKEW = SK_SLOTS - 1, /* a slot that each launch sets: how many elements of SK_SORTED_TO, component 0, lie between
                               the line end before it and its first one, on devices whose blocks are host memory */
    SK_LINE = 64            /* bytes of a line */
};

/* A cluster runs in passes, one after the other. A pass that has nothing to do for the extents of a call has no pieces. */
typedef enum {
    SK_PASS_LOOP,    /* all elements; folds: to partial results of pieces */
    SK_PASS_COMBINE, /* folds: partial results, again until one a row is left */
    SK_PASS_SUMS,    /* rows: what each piece adds to the state */
    SK_PASS_STATES,  /* rows: the states before all pieces */
    SK_PASS_APPLY,   /* rows: all elements, with these states */
    /* sorts, behind LOOP, again and again: */
    SK_PASS_RUNS,    /* of rows that may be two sorted ones: they go to memory, and where do elements fall? */
    SK_PASS_CHUNKS,  /* and if they are not, and are sorted by comparison: chunks, */
    SK_PASS_COUNT,   /* by digits: how many of each each piece has, */
    SK_PASS_PLACES,  /* where they go, */
    SK_PASS_SCATTER, /* and there they go; */
    SK_PASS_BUCKETS, /* where the digit was the most significant one: and are sorted by the others, which ends it */
    SK_PASS_SPLITS,  /* by comparison: where pairs of sorted runs are cut, */
    SK_PASS_MERGE,   /* and become one */
    SK_PASS_TOTALS,  /* permutes: the totals of blocks into the result */
    SK_PASS_JOIN,    /* segments: of those that several blocks have worked at, partial results are combined */
    SK_PASS_FAR,     /* segments that are gone over several times, of the longest: for each sweep pieces, their totals,
                        pieces with what scans have come to, totals of these */
    SK_PASSES = SK_PASS_FAR + 16
} sk_pass;

typedef struct sk_digit { /* of a key, some bits from `shift` on */
    uint8_t component, shift;
    bool first; /* of the first round, which takes elements from the program */
    bool top;   /* makes buckets: perhaps of fewer bits than others, so that lines of all buckets lie closer */
} sk_digit;

typedef struct sk_round { /* one launch of a cluster */
    sk_pass pass;
    int64_t partials; /* COMBINE: partial results a row; SPLITS, MERGE: 1 + rounds that are left; else 0 */
    sk_digit digit;   /* COUNT, PLACES, SCATTER; SPLITS, MERGE: `first` for a row that is two sorted ones, of
                         which the launch sets how long the first one is: slot SK_RUN */
    int64_t places;   /* of permutes: elements of the result; else 0 */
    int64_t segments; /* of a row, in segment loops; else 0 */
} sk_round;

/* How to launch: computed by the host from the extents of a call. */
typedef struct sk_geometry {
    sk_variant variant;
    sk_pass pass;
    int64_t pieces;
    int64_t slot[SK_SLOTS]; /* geometry arguments of the kernel, as the skeleton numbers them */
    int64_t partials;       /* folds: partial results per row this launch writes; 1: the result itself. LOOP of a sort:
                               more than 1 if rounds follow, by comparison 1 + how many */
    int64_t state_words;    /* of SK_STATE: the same in all passes of a cluster that use it */
    bool stream, ahead;
    bool lines; /* stream: only where the memory of results begins on a line */
    int64_t row; /* fewer than SK_ROW_BITS: they are part of what kernels are found by */
    double work; /* a rough number of scalar operations, to keep small launches on the caller's thread */
} sk_geometry;
enum { SK_ROW_BITS = 44 };

/* What the state holds of a sort by digits: words of places; behind them, for each of so many pieces and each key, the
 * bits that some and that all of its numbers have (geometry of SK_PASS_COUNT of the first round). */
typedef struct sk_sort_words {
    int64_t places, pieces;
    uint32_t keys;
    uint8_t digit_bits;   /* of this digit; */
    uint8_t other_bits, top_bits; /* of those that are not `top`, and that are */
    int64_t room;         /* elements of a digit that SK_PASS_BUCKETS may find, at most; 0: it is not for this device */
    int64_t pieces_a_row; /* a row's words of places are those of the first digit, piece by piece, then of the second ... */
    int64_t row_length;
} sk_sort_words;
sk_sort_words sk_words_of_sort(const sk_cluster *c, const sk_options *options, const sk_geometry *counted);
bool sk_sorts(const sk_cluster *c); /* it is a sort, */
bool sk_sorts_by_digits(const sk_cluster *c);
bool sk_sorts_runs(const sk_cluster *c); /* of a row that may be two sorted ones */

/* The passes of a cluster, in order; returns how many. */
uint32_t sk_passes(const sk_cluster *c, const sk_options *options, sk_pass out[SK_PASSES]);
bool sk_carries(const sk_cluster *c); /* its launches hand words to each other: its kernels may have a SK_STATE */
/* ... and these must be zeros before the first launch. */
bool sk_carries_zeros(const sk_cluster *c, const sk_options *options);

/* Once per program, after l_clusters: learns what launches must know of the clusters' code. Changes the terms, and
 * lives as long as they do. */
const sk_program *sk_prepare(l_program *l);

/* The names of extents that would make rows blocks if a call's were at most SK_MOST_OF_BLOCK: a set of the first 64. */
uint64_t sk_names_of_blocks(const sk_program *p);
enum { SK_MOST_OF_BLOCK = 64 };

/* Tile loops (L_CLASS_TILES) that cannot be: of a fold that is no contraction, or whose results are folded though they go
 * to memory, which suits other kernels. Notes in `no`, per node, what is to be left out (l_options.no_tiles), and returns
 * whether there is anything. */
bool sk_refuse_tiles(const sk_program *p, uint8_t *no);
/* Is there a kernel of a tile loop for these extents? Reads no terms. */
bool sk_tiles_suit(const sk_cluster *c, const sk_options *options, const int64_t *extent);
/* Do all threads of a block walk along rows of this length together, sweep after sweep? The same. */
bool sk_threads_suit(const sk_cluster *c, const sk_options *options, int64_t length);

/* False: all variants that suit are among options->without.
 * rows = product of the outer extents, row = innermost extent (1 x size for PLAIN clusters without index use). `extent`
 * holds the values of cluster->loop->shape. */
bool sk_plan_launch(const sk_cluster *c, const sk_options *options, const int64_t *extent, sk_round round,
                    size_t cache_bytes, sk_geometry *out);

/* The same launch by a kernel that is made for less: for any length of rows, elements that come from anywhere. Where
 * the skeleton has no such kernel it is the same one. */
sk_geometry sk_general(const sk_geometry *g);

/* Why there is no kernel. Compilers of programs have limits: then the program asks for more than can be translated.
 * Anything else is a mistake of this compiler. */
typedef struct sk_reason {
    const char *text;
    bool unsupported;
} sk_reason;

/* May the loop write this result over what it reads? It reads no element elsewhere, and computes none twice. Composes
 * the loop's elements in `a`, as building does. */
bool sk_may_write_over(sk_cluster *c, const sk_over *over, arena *a);
/* Builds the kernel of a variant for launches in a pass, verified by the caller. NULL and *why if there is none. */
sk_kernel *sk_build(const sk_cluster *c, sk_variant variant, sk_pass pass, const sk_options *options, arena *a,
                    sk_reason *why);

#endif
