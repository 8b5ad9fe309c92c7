/* Which operations may be made of tiles of a fold's results: elements of the same index, what is made of these, and
 * folds of the last dimension. A fold comes into question if its result has two dimensions or more; whether it is a
 * contraction is found out by skeletons, when loops are there (l_options.no_tiles). */
#include "loop/tiles.h"

/* Does it compute an element for each index, without neighbours? */
static bool is_element(const ir_program *p, const l_node *n, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    bool known = kind == IR_MAP || kind == IR_GENERATE || kind == IR_BACKPERMUTE || kind == IR_RESHAPE;
    return known && n->anchor && !n->stencil && !n->flat && !l_goes_along(p, id);
}

static bool is_fold(const ir_program *p, const l_node *n, ir_id id)
{
    return ir_at(p, id)->kind == IR_FOLD && n->anchor && !n->staged.n;
}

/* Per fold: some element of its rows reads its result, so that a row loop is better. */
static bool *read_by_rows(const ir_program *p, const l_nodes *nodes)
{
    bool *read = arena_array(p->arena, *read, nodes->all);
    for (ir_id id = 1; id < nodes->all; id++) {
        if (!ir_is_array(p, id) || !l_at(nodes, id)->anchor)
            continue;
        const l_node *n = l_at(nodes, id);
        for (uint32_t i = 0; i < n->dep.n; i++) {
            ir_id from = n->dep.at[i].array;
            if (n->dep.at[i].access == L_OUTER && ir_at(p, from)->kind == IR_FOLD &&
                l_same_shape(l_rate_of(p, from), l_rate_of(p, id)))
                read[from] = true;
        }
    }
    return read;
}

/* Does it read something at other indices than all of its own? Else elements share no operands. */
static bool shares_operands(const l_node *n)
{
    bool shares = false;
    for (uint32_t i = 0; i < n->dep.n; i++)
        shares |= n->dep.at[i].access != L_SAME;
    return shares;
}

typedef struct tiles {
    const ir_program *p;
    const l_options *options;
    const l_nodes *nodes;
    const ir_id *outer;
    const bool *tile, *read;
} tiles;

/* The fold of whose results an operation with this dependence is made; 0: there is none. */
static ir_id fold_before(const tiles *t, ir_id id, const l_dep *d)
{
    bool passes = t->tile[d->array] && ir_at(t->p, d->array)->kind != IR_FOLD;
    ir_id fold = passes ? t->outer[d->array] : d->array;
    const l_node *n = l_at(t->nodes, fold);
    if (d->access != L_SAME || !is_fold(t->p, n, fold) || !shares_operands(n) || t->outer[fold] || t->read[fold] ||
        !l_same_shape(ir_info(t->p, d->array), l_rate_of(t->p, id)))
        return 0;
    uint8_t no = t->options->no_tiles ? t->options->no_tiles[fold] : 0;
    bool folds = ir_at(t->p, id)->kind == IR_FOLD;
    return ir_info(t->p, fold)->rank >= 2 && no < (folds ? L_TILES_NO_FOLDS : L_TILES_NOTHING) ? fold : 0;
}

static ir_id fold_of(const tiles *t, ir_id id)
{
    const l_node *n = l_at(t->nodes, id);
    ir_id found = 0;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id fold = fold_before(t, id, &n->dep.at[i]);
        found = fold ? fold : found;
    }
    return found;
}

bool *l_tiles_outer(ir_program *p, const l_options *options, const l_nodes *nodes, ir_id *outer)
{
    bool *tile = arena_array(p->arena, *tile, nodes->all);
    if (!options->fuse || !options->tiles)
        return tile;
    bool *read = read_by_rows(p, nodes);
    const tiles t = {p, options, nodes, outer, tile, read};
    for (ir_id id = 1; id < nodes->all; id++) {
        if (!ir_is_array(p, id) || outer[id] ||
            (!is_element(p, l_at(nodes, id), id) && !is_fold(p, l_at(nodes, id), id)))
            continue;
        outer[id] = fold_of(&t, id);
        tile[id] = outer[id] != 0;
    }
    arena_release(p->arena, read, nodes->all * sizeof(*read));
    return tile;
}
