/* Lowest common ancestors in a tree that grows at its leaves: every node keeps its parent and one far ancestor, chosen
 * as in Myers' skew-binary lists, so that climbing to a given depth takes O(log n) steps. */
#include "ir/block_tree.h"

void block_tree_init(block_tree *t, arena *a)
{
    *t = (block_tree){.arena = a};
    block_place root = {0};
    vec_push(a, &t->at, root);
}

uint32_t block_tree_add(block_tree *t, uint32_t parent)
{
    const block_place *p = &t->at.at[parent], *j = &t->at.at[p->jump];
    bool same_span = p->depth - j->depth == j->depth - t->at.at[j->jump].depth;
    block_place n = {.parent = parent, .depth = p->depth + 1, .jump = same_span ? j->jump : parent};
    vec_push(t->arena, &t->at, n);
    return t->at.n - 1;
}

static uint32_t lift(const block_tree *t, uint32_t x, uint32_t depth)
{
    while (t->at.at[x].depth > depth) {
        uint32_t far = t->at.at[x].jump;
        x = t->at.at[far].depth >= depth ? far : t->at.at[x].parent;
    }
    return x;
}

/* For x and y at one depth and different: climbs both to the children of their lowest common ancestor. */
static void climb_apart(const block_tree *t, uint32_t *x, uint32_t *y)
{
    while (t->at.at[*x].parent != t->at.at[*y].parent) {
        const block_place *p = &t->at.at[*x], *q = &t->at.at[*y];
        bool far = p->jump != q->jump;
        *x = far ? p->jump : p->parent;
        *y = far ? q->jump : q->parent;
    }
}

uint32_t block_tree_common(const block_tree *t, uint32_t x, uint32_t y)
{
    uint32_t dx = t->at.at[x].depth, dy = t->at.at[y].depth;
    x = lift(t, x, dy);
    y = lift(t, y, dx);
    if (x == y)
        return x;
    climb_apart(t, &x, &y);
    return t->at.at[x].parent;
}

bool block_tree_above(const block_tree *t, uint32_t x, uint32_t y)
{
    return lift(t, y, t->at.at[x].depth) == x;
}

bool block_tree_before(const block_tree *t, uint32_t x, uint32_t y)
{
    uint32_t dx = t->at.at[x].depth, dy = t->at.at[y].depth;
    x = lift(t, x, dy);
    y = lift(t, y, dx);
    if (x == y)
        return dx < dy;
    climb_apart(t, &x, &y);
    return x < y;
}
