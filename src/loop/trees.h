/* The trees by which folds combine (docs/determinism.md), and which of them share a loop. */
#ifndef SN_LOOP_TREES_H
#define SN_LOOP_TREES_H

#include "ir/term.h"

typedef enum {
    L_COMMUTES = 1, /* accumulators by position */
    L_CHOOSES = 2,  /* one element is chosen, the same one in any tree over the elements in their order */
    L_IN_ORDER = 4, /* the balanced tree */
    L_EXACT = 8     /* of segments: sums and extremes of integers, which are the same in every tree */
} l_tree;

/* Does the operator keep order, as it was built: rewriting must not change the tree? */
bool l_keeps_order(const ir_program *p, ir_id fold);

/* `chooses`: choices are told from others that keep order. */
l_tree l_tree_of(ir_program *p, ir_id fold, bool chooses);

/* May folds of these trees (bits) be in one loop? */
bool l_trees_share(unsigned trees);

/* Have folds of segments, of these anchors, different trees, and does it matter? */
bool l_trees_differ(const ir_program *p, uint32_t n, const ir_id *anchor);

#endif
