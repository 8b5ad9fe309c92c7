/* Intervals of index arithmetic, for passes that know something of where it begins: launches (narrow.c), and what
 * holds in any launch (decide.c). */
#ifndef SN_KERNEL_RANGES_H
#define SN_KERNEL_RANGES_H

#include "kernel/kernel.h"

/* The farthest from 0 that an interval whose numbers are computed with may reach: sums and products of such are numbers
 * of 64 bits. Splitting (k_split) adds indices of tiles to what fits here, and emitters add threads of a block. */
#define K_MOST_INDEX ((int64_t)INT32_MAX - (1 << 16))

typedef struct k_range {
    int64_t low, high;
} k_range;

typedef struct k_ranges {
    const kernel *k;
    const bool *index; /* per value: is it index arithmetic? Of others nothing is known */
    k_range *of;       /* per value */
} k_ranges;

int64_t k_range_magnitude(k_range x);
k_range k_range_hull(k_range x, k_range y);
k_range k_range_counted(int64_t from, int64_t last); /* from ... last; at least `from` */
/* Of what an index statement (k_find_indices) defines, from the intervals of its operands, none of which is beyond
 * K_MOST_INDEX. */
k_range k_range_of(const k_ranges *r, const k_stmt *s);

/* What holds in every launch: arguments may be anything, but natural ones, pieces and threads are not negative; where every launch of the
 * kernel is known to have indices of 32 bits, none is beyond K_MOST_INDEX. An end beyond that stands for all numbers
 * further out. First what no statement defines, then statement by statement, in the order of the text. */
k_ranges k_ranges_start(const kernel *k, arena *a);
void k_ranges_meet(k_ranges *r, const k_stmt *s);

#endif
