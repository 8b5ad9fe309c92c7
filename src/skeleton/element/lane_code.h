/* What a lane computes that has several neighbouring elements: all elements of innermost dimensions whose extents are
 * small, or those of several values of an index that is divided. */
#ifndef SN_SKELETON_LANE_CODE_H
#define SN_SKELETON_LANE_CODE_H

#include "opt/rewrite.h"

enum {
    SK_MOST_LANE_CODE = 320, /* terms, for all elements of a lane */
    SK_MOST_IN_LANE = 16,    /* elements of four and eight bytes, for which emitters have ways of their own; */
    SK_FEW_IN_LANE = 8       /* ... of any type */
};

typedef struct sk_lane {
    int64_t elements; /* in the dimensions whose indices are the digits */
    unsigned digits;
    const ir_id *digit;
    int64_t steps;  /* values of the variable that is divided, for each of which there are so many elements; or 1, */
    ir_id variable; /* and 0: none is divided */
} sk_lane;

typedef struct sk_lane_code {
    int64_t terms;    /* for all elements of a lane */
    int64_t own;      /* those of one element that mention digits */
    int64_t work;     /* operations of one element besides index arithmetic, */
    int64_t own_work; /* and those of them that mention digits */
} sk_lane_code;

/* Of terms, operands before users. Those that mention digits or the divided variable are there for each value of these
 * in a lane, but for what is a number then, and for choices that are made by one. */
sk_lane_code sk_code_of_lane(const ir_program *p, arena *a, const opt_ids *ids, const sk_lane *lane);

#endif
