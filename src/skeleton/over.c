/* Results written over what they are computed from. An element's inputs are read before it is stored, and a kernel in
 * which both are one memory says so to everybody who looks at it; what is left to find out is whether elements are read
 * elsewhere, or computed twice. */
#include "skeleton/element/interleave.h"
#include "skeleton/map/map.h"
#include "skeleton/element/runs.h"

/* At the loop's own index, in an array of its extents. */
static bool at_own_place(const sk_lower *lw, const ir_node *read)
{
    const l_cluster *c = lw->cluster->loop;
    const ir_array *info = ir_info(lw->l->ir, read->array);
    const ir_id *index = lw->l->ir->arg.at + read->args;
    if (info->rank != c->rank || memcmp(info->shape, c->shape, c->rank * sizeof(ir_id)) != 0)
        return false;
    if (read->flags & IR_LINEAR)
        return index[0] == lw->at.linear;
    for (unsigned d = 0; d < c->rank; d++)
        if (index[d] != lw->at.at[d] && !(c->rank == 1 && index[d] == lw->at.linear))
            return false;
    return true;
}

bool sk_may_write_over(sk_cluster *c, const sk_over *over, arena *a)
{
    const sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_outputs out = {0};
    opt_ids ids = {0};
    if (c->loop->class != L_CLASS_PLAIN || !c->loop->rank || c->uses_index || c->tiles || c->across)
        return false; /* loops over rows may compute the last elements of a row twice */
    sk_open_map(&lw, &out);
    sk_open_space(&lw);
    if (sk_find_factor(&lw, out.term.n, out.term.at, lw.at.linear).by > 1)
        return false; /* the same at their ends */
    opt_reach(c->l->ir, a, out.term.n, out.term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(c->l->ir, ids.at[i]);
        if (n->kind == IR_READ && n->array == over->from && n->u.literal == over->from_component &&
            !at_own_place(&lw, n))
            return false;
    }
    return true;
}
