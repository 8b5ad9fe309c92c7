/* How launches of permutes are divided: what their schedules and whoever gives them memory must agree on. */
#ifndef SN_SKELETON_PERMUTE_H
#define SN_SKELETON_PERMUTE_H

#include "skeleton/variants.h"

/* slots of both passes */
enum {
    SK_PERMUTE_ELEMENTS, /* of the source */
    SK_PERMUTE_PLACES,
    SK_PERMUTE_BLOCKS, /* of the source, each with a table of totals if they are several */
    SK_PERMUTE_LENGTH, /* of a block */
    SK_PERMUTE_RANGES, /* of places */
    SK_PERMUTE_RANGE   /* places in each */
};

/* sk_geometry.row: what kernels are made for */
enum {
    SK_PERMUTE_TABLES = 1,
    SK_PERMUTE_DIVIDED = 2,
    SK_PERMUTE_COUNTS = 4,  /* tables say how many elements there are, in 32 bits */
    SK_PERMUTE_RARELY = 16, /* most elements change nothing */
    SK_PERMUTE_FEW = 8      /* the places of all blocks are numbers of 32 bits */
};

typedef struct sk_permute_cut {
    int64_t blocks, length, ranges, range;
    bool tables, counts, rarely;
} sk_permute_cut;

/* Blocks and ranges; of operators whose bits depend on the order of combination the blocks depend on these two numbers
 * only. */
sk_permute_cut sk_permute_plan(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places);

#endif
