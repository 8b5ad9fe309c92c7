/* A tree that grows at its leaves, with lowest common ancestors and preorder comparison in O(log n) (jump pointers:
 * Myers, "An applicative random-access stack", 1983). The scheduler's blocks stand in one. Node 0 is the root. */
#ifndef SN_IR_BLOCK_TREE_H
#define SN_IR_BLOCK_TREE_H

#include "base/base.h"

typedef struct block_place {
    uint32_t parent, depth, jump;
} block_place;

typedef struct block_tree {
    arena *arena;
    VEC(block_place) at;
} block_tree;

void block_tree_init(block_tree *t, arena *a); /* with its root */
uint32_t block_tree_add(block_tree *t, uint32_t parent);
uint32_t block_tree_common(const block_tree *t, uint32_t x, uint32_t y);
bool block_tree_above(const block_tree *t, uint32_t x, uint32_t y); /* is x an ancestor of y, or y itself? */
/* Does x come strictly before y in preorder (ancestors first, siblings by age)? */
bool block_tree_before(const block_tree *t, uint32_t x, uint32_t y);

#endif
