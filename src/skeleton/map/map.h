/* What the loops of maps share: the values that they compute and store. */
#ifndef SN_SKELETON_MAP_H
#define SN_SKELETON_MAP_H

#include "skeleton/element/forms.h"
#include "skeleton/element/interleave.h"
#include "skeleton/variants.h"

/* Begins a kernel that stores elements: what sk_open wants is set. Collects the terms of all that is stored, in order
 * of operations and components, and declares its memory: launches list that first. Lanes are as many as suit them. */
void sk_open_map(sk_lower *lw, sk_outputs *out);
/* Thread-level code that computes the element and stores it at this row-major position. */
void sk_store_element(sk_lower *lw, const sk_outputs *o, k_val position);

/* The gangs of a short row: as many as fit, and one at its end, which overlaps them; 0: they fit as they are. */
typedef struct sk_row_gangs {
    int64_t lanes, last;
    int64_t behind; /* where lanes have groups of elements: how many elements there are behind the last group */
    bool cut;       /* a row is cut where index arithmetic changes its form, into gangs that are not whole */
} sk_row_gangs;
/* In one number: sk_geometry.row. */
static inline int64_t sk_row_of_gangs(sk_row_gangs g)
{
    return g.lanes | g.behind << 12 | g.last << 16 | (int64_t)g.cut << 32;
}
static inline sk_row_gangs sk_row_gangs_of(int64_t row)
{
    return (sk_row_gangs){
        .lanes = row & 0xfff, .behind = row >> 12 & 0xf, .last = row >> 16 & 0xffff, .cut = row >> 32 & 1};
}

/* The dimension where the run begins that reads lie together along while they lie apart along the innermost run, plus
 * 1; 0: there is none, or loops over it do not suit the elements. After sk_find_runs. */
uint8_t sk_find_across(sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at);

/* The reads that do, of the dimension found: c->across. */
opt_ids sk_reads_across(sk_lower *lw, const sk_outputs *out, const sk_index *at);

/* Are rows of the innermost extent copied as they are, from places that do not follow each other as rows do? */
bool sk_copies_short_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at);

/* Is it known where all neighbours in the innermost dimension read? */
bool sk_knows_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at);
/* Do neighbours in the innermost dimension read what lies together, or one element for all, but not only that? */
bool sk_reads_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at);
/* Is a gang for each row of so many elements quicker than a lane? Where such rows are copied from places that lie
 * apart, or where it is known where they read. */
bool sk_gang_beats_lane(int64_t extent, bool copies, bool knows);
/* A lane has all elements of innermost dimensions, whose extents are small and known, if that helps the reads. */
sk_factor sk_lane_factor(const sk_lower *lw, const sk_outputs *out, const sk_index *at);
/* Is all of a small and known innermost extent a lane's? */
bool sk_is_of_a_lane(const sk_lower *lw, const sk_outputs *out, const sk_index *at);
/* Is a lane's what a gang has where results stay in the caches, but not in this call? */
bool sk_lane_streams(const sk_call *x);
/* Sets a cluster's `of_lane`, `pairs`, `lane` and what belongs to it (map_lane.c). After sk_find_runs. */
void sk_find_lanes(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at);

/* The variables of a loop along rows, of the run of dimensions that begins at `column`. */
sk_directions sk_directions_of_rows(const sk_lower *lw, ir_id linear, unsigned column);

/* How a term depends on the lane. It is the same in all; or a number that is known; or a sum of such numbers, each of
 * which may be multiplied by what is the same in all lanes. */
typedef enum { SK_LANES_UNKNOWN, SK_LANES_SHARED, SK_LANES_NUMBERED, SK_LANES_SUM } sk_lanes_kind;

typedef struct sk_lanes_term {
    sk_lanes_kind kind;
    bool reads;       /* something in memory */
    bool bent;        /* known of each lane, but not by adding to its number */
    uint8_t mentions; /* bits: dimensions from the one on that lanes go along */
} sk_lanes_term;

/* Quotients and remainders, by divisors of `by`, of a term that grows by one from position to position. */
typedef struct sk_period {
    int64_t by; /* 0: there are none */
    ir_id of;
    uint32_t n;
    ir_id term[SK_MOST_DIVIDED];
} sk_period;

/* What is known of the terms of gangs whose lanes go along dimension `column`, or a run that begins there: of a period,
 * which a gang has all of, or the elements of blocks, whose dimensions are the ones behind it (period: NULL). */
typedef struct sk_lanes {
    const ir_program *p;
    const sk_index *at;
    unsigned column;
    const sk_period *period;
    bool alone; /* blocks: a gang has one, whose index along the column is the same for all lanes, */
    bool told;  /* ... and extents that have names count as numbers, as they are where a call's are small */
    opt_ids ids;
    sk_lanes_term *term; /* of ids.at[i] in [i + 1]; [0]: of what is not there */
    map64 number;        /* of a term in ids, plus 1 */
    map64 rounds;        /* variables that are the number of a loop's round -> 1 */
} sk_lanes;

/* Of what is stored; p, at, column and period are set. */
void sk_find_lanes_terms(sk_lanes *l, const sk_lower *lw, const sk_outputs *out);
sk_lanes_term sk_lanes_term_of(const sk_lanes *l, ir_id term);
/* Is it known of all reads where lanes read? And do loops have a known number of rounds, and nothing says what it
 * computes: gangs may run twice. */
bool sk_lanes_know_reads(const sk_lanes *l);

/* Sets a cluster's `block_digits` and what belongs to it (map_blocks.c). After sk_find_lanes. */
void sk_find_blocks(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at);

/* Sets a cluster's `period` (map_periods.c). After sk_find_lanes. */
void sk_find_periods(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at);

/* sk_geometry.row of flat loops and rows: the innermost extent, all of which is a lane's, if only the launch knows it,
 * so many bits further up; and the bit of rows of the two innermost dimensions that are launched for that. */
enum { SK_OF_PAIRS = 33, SK_LANE_EXTENT };

/* 1 + the dimension that reads of the innermost run are moved along, if their indices along it are affine but for a few
 * cuts, and it is used in no other way; else 0. After sk_find_runs. */
uint8_t sk_find_moved(sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at);
/* Elements of the rows of such a loop. */
int64_t sk_moved_columns(const sk_cluster *c, const int64_t *extent);
/* Fetches the lines that rows store soon behind this position, for gangs of so many elements; 0: of all of a row. */
void sk_fetch_results(sk_lower *lw, const sk_outputs *out, k_val position, int64_t gang);

typedef struct sk_across { /* what such loops write: outer x turns x between x columns */
    int64_t outer, turns, between, columns;
} sk_across;
sk_across sk_shape_across(const sk_cluster *c, const int64_t *extent);
/* Bytes of an element of each of these reads. After sk_open_space. */
uint32_t sk_bytes_across(sk_lower *lw, sk_cluster *c, const sk_outputs *out);

/* The loop that all elements are made of, if rows and columns of these share what it reads; else 0. */
ir_id sk_find_shared(sk_lower *lw, const sk_outputs *out);

#endif
