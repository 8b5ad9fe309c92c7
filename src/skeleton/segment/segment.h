/* Segment loops: rows cut into segments of any lengths (segment.c, segment_rows.c). A launch's work is counted in
 * elements and segments together, and cut evenly; a block searches the offsets for its first segment. */
#ifndef SN_SKELETON_SEGMENT_H
#define SN_SKELETON_SEGMENT_H

#include "skeleton/row/row.h"

typedef struct sk_offsets { /* of the loop's segments */
    sk_lower *lw;
    ir_id at, offset;       /* a variable, and the offset of this number */
    ir_id segment;          /* the variable of elements that stands for their segment */
    VEC(uint32_t) site;     /* of operations that have offsets, which are checked for each */
    VEC(uint32_t) filled;   /* of those of which no segment may be empty */
    k_val length;           /* of a row */
    k_val count;            /* segments a row */
    k_val all;              /* segments */
    struct sk_gangs *gangs; /* of sk_open_gangs; NULL: rows are one, or blocks are many threads */
} sk_offsets;

typedef struct sk_segment { /* one of all */
    k_val global, row, number, begin, end, length;
    k_val base; /* where it begins among all elements */
    k_val good; /* it lies in the row; `length` is 0 else */
} sk_segment;

/* Where a block's part of the work lies. */
typedef struct sk_block {
    k_val work, end;   /* of it */
    k_val first, last; /* segments that begin in it; */
    k_val before;      /* ... and the one before the first, if it may have pieces in it, else the first */
} sk_block;

/* Where the kernel is open (slots: 0 row length, 1 segments a row, 2 segments). */
void sk_open_offsets(sk_offsets *x, sk_lower *lw);
sk_block sk_block_of(sk_offsets *x); /* slots: 5 work a block, 6 work */
k_val sk_offset(sk_offsets *x, k_val number);
sk_segment sk_find_segment(sk_offsets *x, k_val global);
/* The first segment with at least so much work before it, of `total`. */
k_val sk_search_segment(sk_offsets *x, k_val work, k_val total);
/* For each operation that has offsets: they are what they should be. The second does nothing where one comparison says
 * so. */
void sk_check_segment(sk_offsets *x, const sk_segment *s);
void sk_check_unless_fine(sk_offsets *x, const sk_segment *s);
void sk_check_any_segment(sk_offsets *x); /* without a segment no element is in one */

/* Gangs: segments one behind the other, `of` and those behind it, a lane each. Where there are several rows, all their
 * segments are one row of segments, as a row's last one ends where the next row begins: a gang goes from row to row.
 *
 * Opening takes the number of lanes. Noting, at piece level, comes before all that follows, and is false if offsets are
 * not what they should be, or may not be: of one row, if the gang has its first segment or its last. */
void sk_open_gangs(sk_offsets *x, int64_t lanes);
k_val sk_note_gang(sk_offsets *x, const sk_segment *of);
/* Where the segment of a lane begins among all elements, or, of a lane too many, where the last one ends; its row, and
 * its number there. */
k_val sk_gang_edge(sk_offsets *x, const sk_segment *of, k_val lane);
void sk_gang_place(sk_offsets *x, const sk_segment *of, k_val lane, k_val *row, k_val *number);
/* Do all have the length of `of`, and are they short? The first must hold before the second is asked. */
k_val sk_may_be_rows(sk_offsets *x, const sk_segment *of, int64_t lanes);
k_val sk_end_alike(sk_offsets *x, const sk_segment *of, int64_t lanes);
/* The segment of a lane, where they do. `one_row`: the gang stays in a row. */
sk_segment sk_gang_row(sk_offsets *x, const sk_segment *of, k_val lane, bool one_row);
k_val sk_gang_stays(sk_offsets *x, const sk_segment *of, int64_t lanes);
/* Do the terms ask for indices, in loops of several dimensions? Code for gangs that stay in a row is faster then. */
bool sk_asks_for_indices(sk_lower *lw, uint32_t n, const ir_id *term);

typedef struct sk_once { /* what is computed once a segment, of folds' results */
    const l_op *op;
    uint32_t n;
    const ir_id *element;
    ir_id *given; /* variables that stand for it where others read it */
} sk_once;

typedef struct sk_packs sk_packs;

typedef struct sk_segments {
    sk_folds folds;
    VEC(sk_once) once;
    ir_id **given; /* per fold, the same for its result */
    sk_lower *lw;
    sk_offsets of;
    k_mem **order;            /* memory of operators that keep order; */
    sk_chooser *chooser;      /* ... if they choose; or NULL */
    k_val notes;              /* number of the word of the first note */
    k_val row, number, begin; /* of the segment at hand: its row, its number there, where it begins there */
    k_val base;               /* ... and among all elements */
    int64_t shortest;         /* longer segments are a gang's */
    bool alone;               /* one lane is at work */
    k_mem longer;             /* where blocks are many threads: how many of a gang's segments are longer, and, */
    bool side_by_side;        /* if segments of one round of the tree are taken so, how many of these */
    struct sk_mixed *mixed;   /* of sk_open_mixed */
    sk_packs *packs;          /* of sk_open_packs */
    k_val chained;            /* words of the state before all others, which blocks hand on; 0: none */
} sk_segments;

void sk_use_segment(sk_segments *x, const sk_segment *s); /* elements are this one's from now on */
/* The totals of a segment become results, and what is made of these. `empty`: as of sk_fold_finish. */
void sk_finish_segment(sk_segments *x, k_val row, k_val number, k_val global, k_val *const *acc, k_val empty);

/* As many segments as a gang has lanes, of any lengths up to SK_MIXED (segment_mixed.c). Opening looks for extremes
 * (sk_find_extremes), and says whether the loop's folds may be taken so; only then the rest is asked and taken, one
 * behind the other, where code is at piece level. */
enum { SK_MIXED = 128 };
bool sk_open_mixed(sk_segments *x);
k_val sk_may_be_mixed(sk_segments *x, const sk_segment *of);
void sk_take_mixed(sk_segments *x, const sk_segment *of);

/* As many segments as a gang has lanes, of any lengths up to SK_MIXED, in loops that fold nothing (segment_stored.c).
 * Which loops are taken so; do their elements read what conditions decide? The length of the longest segment, rounded
 * up, or more than SK_MIXED if they cannot be taken so. */
bool sk_stores_suit(const sk_segments *x);
bool sk_reads_under_conditions(const sk_segments *x);
k_val sk_longest_stored(sk_segments *x, const sk_segment *of);
void sk_take_stored(sk_segments *x, const sk_segment *of, k_val longest);

/* As many segments as a gang of a row loop has lanes, of any lengths up to SK_SHORT, sweep after sweep
 * (segment_short.c). NULL: loops of this kind do not take them so. */
typedef struct sk_short sk_short;
sk_short *sk_open_short(row_loop *r, sk_offsets *of); /* behind row_declare_kept */
k_val sk_may_be_short(sk_short *x, const sk_segment *of);
void sk_take_short(sk_short *x, const sk_segment *of);

/* What is packed of the elements of all segments, which have one row, and how much that is (segment_packs.c). Folds
 * leave what decides on their way. A block opens, says at piece level which elements the folds are about to go over, in
 * their order, and finishes; nothing is done in loops that pack nothing. */
bool sk_segments_pack(const sk_cluster *c);
sk_packs *sk_open_packs(sk_segments *s); /* behind sk_fold_find */
void sk_begin_packs(sk_segments *s);
void sk_pack_elements(sk_segments *s, k_val begin, k_val count);
void sk_finish_packs(sk_segments *s, k_val last);
int64_t sk_packs_work(void);                 /* of a block, at most */
int64_t sk_packs_words(const sk_cluster *c); /* that a block hands on */

/* Does the loop go over segments several times, scan them, or fold them by different trees? Then its kernels are those
 * of segment_rows.c. */
bool sk_segments_are_rows(const sk_cluster *c);
uint32_t sk_segment_passes(const sk_cluster *c, sk_pass *out); /* of these; returns how many */
bool sk_launch_segment_rows(const sk_call *x, sk_geometry *g);
void sk_build_segment_rows(sk_lower *lw);

#endif
