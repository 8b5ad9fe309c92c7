/* The builders behind sk_build, one per variant. */
#ifndef SN_SKELETON_VARIANTS_H
#define SN_SKELETON_VARIANTS_H

#include "skeleton/element/spans.h"

typedef struct sk_outputs { /* values a loop stores, component by component */
    VEC(ir_id) term;
    VEC(ir_id) array;
    VEC(uint32_t) component;
} sk_outputs;

/* Sets whether the cluster's elements depend on index components, beyond the row-major position, and whether tiles suit
 * them. */
void sk_map_prepare(sk_cluster *c, arena *a);
/* Are what folds read of stencils computed before they read it on this device? Then the operations of an element that
 * are left for the folds' own loop. */
bool sk_stages(const sk_cluster *c, const sk_options *o);
void sk_stage_prepare(sk_cluster *c); /* sets `staged_pieces` */
double sk_fold_flops(const sk_cluster *c, const sk_options *o);
/* Sets what a fold cluster's `fold_bytes`, `rows_together` and `span` are; are sums of small numbers narrower on this
 * device; and how gangs go through the tree then, in kernels of SK_FOLD_TREE that do not combine. */
void sk_narrow_prepare(sk_cluster *c, arena *a);
bool sk_narrows(const sk_cluster *c, const sk_options *o);
/* Have pieces of SK_FOLD_TREE several short rows, which are folded at a time? */
enum { SK_ROWS_TOGETHER = 8 };
bool sk_takes_rows(const sk_cluster *c, const sk_options *o);
sk_tree sk_tree_of_fold(const sk_cluster *c, const sk_options *o);
/* Is it a fold whose operator commutes? */
bool sk_commutes(const sk_cluster *c, const l_op *op);
/* Sets what a fold cluster's `choice` and the like are. */
void sk_choice_prepare(sk_cluster *c, arena *a);
int64_t sk_choice_piece(const sk_cluster *c); /* elements of a piece; any number where the choice is free */
/* Sets what a stencil cluster's `tile` and bytes are: rows kept in shared memory have the tile's width plus their halo.
 */
void sk_stencil_prepare(sk_cluster *c, arena *a);
/* ... and rows and columns of a thread where blocks are many threads. */
void sk_group_stencil_prepare(sk_cluster *c, arena *a);
/* Bytes that an element's results take in memory. */
size_t sk_stored_bytes(const sk_cluster *c);
/* Do results of so many elements go past the caches? */
bool sk_streams(const sk_cluster *c, const sk_options *o, double elements, size_t cache_bytes);
/* A gang's tile has SK_TILE_ROWS rows; all widths that tiles have divide SK_TILE_COLUMNS. */
enum { SK_TILE_ROWS = 4, SK_TILE_COLUMNS = 64 };
/* Images of at most so many columns have kernels of their own, whose tiles are so wide: rows that are kept lie close to
 * each other. */
enum { SK_NARROW = 128 };
/* sk_geometry.row of stencils: the image is narrow; rows are computed one after the other; all tiles have at least, or
 * fewer than, sk_cluster.gang_columns columns. */
enum { SK_STENCIL_NARROW = 1, SK_STENCIL_BY_ROW = 2, SK_STENCIL_LONG = 4, SK_STENCIL_SHORT = 8 };
/* ... and, if they have fewer, at most 1 << (row >> SK_STENCIL_LOG), and more than half as many unless that is the
 * least there is. */
enum { SK_STENCIL_LOG = 4, SK_STENCIL_LEAST_LOG = 2 };
/* ... and from here on: the elements of sk_cluster.channels, if they count as columns. */
enum { SK_STENCIL_CHANNELS = 32 };
/* ... of which only the launch knows the number, or of which the kernel takes any number. */
enum { SK_STENCIL_TOLD = 1 << 30, SK_STENCIL_ANY = 1 << 29 };
/* How many these are, if they do in a launch for these extents; else 0. */
int64_t sk_channels(const sk_cluster *c, const sk_options *o, const int64_t *extent);
/* Columns a tile of a stencil loop has on this device. */
int64_t sk_tile(const sk_cluster *c, const sk_options *options);

enum { SK_ROW_LOG = 24 }; /* of the longest row of SK_FOLD_ROWS */

/* Do the cluster's folds read memory in larger steps within a row than from row to row? Then also sets `beside`,
 * `dense` and `indexed`. */
bool sk_folds_columns(sk_cluster *c, arena *a);
/* Do terms at the indices lw->at read memory whose elements lie apart within a row? */
bool sk_reads_far(sk_lower *lw, uint32_t n, const ir_id *term);
/* How many reads that these terms reach are of elements that lie apart where this index grows by one. */
uint32_t sk_far_reads(sk_lower *lw, uint32_t n, const ir_id *term, ir_id index);
/* Maps: sets `along` and `along_wide`. */
void sk_along_prepare(sk_cluster *c, arena *a);
/* Row loops: sets `chains`, `state_words` and the like. */
void sk_row_prepare(sk_cluster *c, arena *a);

/* Permutes: sets `permuted`, `any_order` and the like. */
void sk_permute_prepare(sk_cluster *c, arena *a);

/* --- devices whose blocks are many threads: sk_options.group --- */

typedef struct sk_group_size { /* of a fold whose threads walk stretches of rows, or lanes within several rows */
    int64_t lanes;             /* threads of a block, a power of two */
    int64_t tile;              /* elements of each stretch staged at a time, a power of two; 0: none */
} sk_group_size;

/* Rows folded by one block: lanes / the tree's lanes of them. */
sk_group_size sk_group_rows(const sk_cluster *c, const sk_options *o);
/* Stretches walked by one block. */
sk_group_size sk_group_chunks(const sk_cluster *c, const sk_options *o, bool combine);
/* Elements that a thread folds one after the other. */
int64_t sk_group_chunk(const sk_cluster *c, sk_group_size size);

/* Elements that a block takes at a time; rows of a stencil's band. */
int64_t sk_group_piece(const sk_cluster *c);
int64_t sk_group_band(const sk_options *o, int64_t rows, int64_t tiles);

/* --- the table (schedule.c) --- */

typedef struct sk_call { /* a launch to be planned */
    const sk_cluster *c;
    const sk_options *o;
    const int64_t *extent;
    sk_pass pass;
    int64_t rows, columns; /* the second: elements of a row, or partial results where these are combined */
    sk_digit digit;        /* sorts, as in sk_round; and `partials` of it: */
    int64_t left;
    int64_t places;
    int64_t segments; /* of a row */
    size_t cache_bytes;
} sk_call;

/* Elements a piece of independent work has: enough to pay for claiming it, few enough to balance the load. */
int64_t sk_piece_elements(const sk_call *x, int64_t total);

/* sk_launch_X: does the schedule suit the launch? Then how it is launched, in *g. sk_build_X: its kernel, in lw->out;
 * what sk_open wants is set. */
bool sk_launch_map_along(const sk_call *x, sk_geometry *g);
void sk_build_map_along(sk_lower *lw);
bool sk_launch_map_across(const sk_call *x, sk_geometry *g);
void sk_build_map_across(sk_lower *lw);
bool sk_launch_map_staged(const sk_call *x, sk_geometry *g);
void sk_build_map_staged(sk_lower *lw);
bool sk_launch_map_shared(const sk_call *x, sk_geometry *g);
void sk_build_map_shared(sk_lower *lw);
bool sk_launch_map_tiles(const sk_call *x, sk_geometry *g);
void sk_build_map_tiles(sk_lower *lw);
bool sk_launch_map_moved(const sk_call *x, sk_geometry *g);
void sk_build_map_moved(sk_lower *lw);
bool sk_launch_map_blocks(const sk_call *x, sk_geometry *g);
void sk_build_map_blocks(sk_lower *lw);
bool sk_launch_map_periods(const sk_call *x, sk_geometry *g);
void sk_build_map_periods(sk_lower *lw);
bool sk_launch_map_rows(const sk_call *x, sk_geometry *g);
void sk_build_map_rows(sk_lower *lw);
bool sk_launch_map_flat(const sk_call *x, sk_geometry *g);
void sk_build_map_flat(sk_lower *lw);
bool sk_launch_stencil(const sk_call *x, sk_geometry *g);
void sk_build_stencil(sk_lower *lw);
bool sk_launch_group_stencil(const sk_call *x, sk_geometry *g);
void sk_build_group_stencil(sk_lower *lw);
bool sk_launch_contract(const sk_call *x, sk_geometry *g);
void sk_build_contract(sk_lower *lw);
bool sk_launch_group_contract(const sk_call *x, sk_geometry *g);
void sk_build_group_contract(sk_lower *lw);
bool sk_launch_fold_windows(const sk_call *x, sk_geometry *g);
void sk_build_fold_windows(sk_lower *lw);
bool sk_launch_fold_columns(const sk_call *x, sk_geometry *g);
void sk_build_fold_columns(sk_lower *lw);
bool sk_launch_fold_parts(const sk_call *x, sk_geometry *g);
void sk_build_fold_parts(sk_lower *lw);
bool sk_launch_choose_columns(const sk_call *x, sk_geometry *g);
void sk_build_choose_columns(sk_lower *lw);
bool sk_launch_fold_beside(const sk_call *x, sk_geometry *g);
void sk_build_fold_beside(sk_lower *lw);
bool sk_launch_fold_choice(const sk_call *x, sk_geometry *g);
void sk_build_fold_choice(sk_lower *lw);
/* The innermost dimensions that rows are neighbours in may have so few indices, as the program says, that they are blocks
 * of at most 64 rows. */
typedef struct row_gang {
    int64_t block; /* rows; 1: there are none */
    int64_t rows;  /* of a gang: whole blocks */
    int64_t lanes; /* that it has, a power of two */
} row_gang;
row_gang row_gang_of(const sk_cluster *c);
/* Are short rows in such blocks better folded by a lane each than by one that has all rows of a block? */
bool sk_rows_in_blocks(const sk_call *x);
bool sk_launch_lanes(const sk_call *x, sk_geometry *g);
void sk_build_lanes(sk_lower *lw);
bool sk_launch_fold_rows(const sk_call *x, sk_geometry *g);
void sk_build_fold_rows(sk_lower *lw);
bool sk_launch_fold_tree(const sk_call *x, sk_geometry *g);
void sk_build_fold_tree(sk_lower *lw);
bool sk_launch_group_choice(const sk_call *x, sk_geometry *g);
void sk_build_group_choice(sk_lower *lw);
bool sk_launch_group_chunks(const sk_call *x, sk_geometry *g);
void sk_build_group_chunks(sk_lower *lw);
bool sk_launch_group_rows(const sk_call *x, sk_geometry *g);
void sk_build_group_rows(sk_lower *lw);
bool sk_launch_group_piece(const sk_call *x, sk_geometry *g);
void sk_build_group_piece(sk_lower *lw);
bool sk_launch_sort_chunks(const sk_call *x, sk_geometry *g);
void sk_build_sort_chunks(sk_lower *lw);
bool sk_launch_sort_count(const sk_call *x, sk_geometry *g);
void sk_build_sort_count(sk_lower *lw);
bool sk_launch_sort_places(const sk_call *x, sk_geometry *g);
void sk_build_sort_places(sk_lower *lw);
bool sk_launch_sort_scatter(const sk_call *x, sk_geometry *g);
void sk_build_sort_scatter(sk_lower *lw);
bool sk_launch_sort_lanes(const sk_call *x, sk_geometry *g);
void sk_build_sort_lanes(sk_lower *lw);
bool sk_launch_sort_rows(const sk_call *x, sk_geometry *g);
void sk_build_sort_rows(sk_lower *lw);
bool sk_launch_sort_buckets(const sk_call *x, sk_geometry *g);
void sk_build_sort_buckets(sk_lower *lw);
bool sk_launch_sort_runs(const sk_call *x, sk_geometry *g);
void sk_build_sort_runs(sk_lower *lw);
bool sk_launch_sort_splits(const sk_call *x, sk_geometry *g);
void sk_build_sort_splits(sk_lower *lw);
bool sk_launch_sort_merge(const sk_call *x, sk_geometry *g);
void sk_build_sort_merge(sk_lower *lw);
bool sk_launch_row_columns(const sk_call *x, sk_geometry *g);
void sk_build_row_columns(sk_lower *lw);
bool sk_launch_row_states(const sk_call *x, sk_geometry *g);
void sk_build_row_states(sk_lower *lw);
bool sk_launch_row_pieces(const sk_call *x, sk_geometry *g);
void sk_build_row_pieces(sk_lower *lw);
bool sk_launch_permute_atomic(const sk_call *x, sk_geometry *g);
void sk_build_permute_atomic(sk_lower *lw);
bool sk_launch_permute_last(const sk_call *x, sk_geometry *g);
void sk_build_permute_last(sk_lower *lw);
bool sk_launch_permute(const sk_call *x, sk_geometry *g);
void sk_build_permute(sk_lower *lw);
bool sk_launch_group_row(const sk_call *x, sk_geometry *g);
void sk_build_group_row(sk_lower *lw);
bool sk_launch_row_block(const sk_call *x, sk_geometry *g);
void sk_build_row_block(sk_lower *lw);
bool sk_launch_segments(const sk_call *x, sk_geometry *g);
void sk_build_segments(sk_lower *lw);
bool sk_launch_segments_join(const sk_call *x, sk_geometry *g);
void sk_build_segments_join(sk_lower *lw);

#endif
