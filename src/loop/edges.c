/* Which edges fuse, and for each edge of the program the answer. */
#include "loop/fusing.h"
#include "opt/rewrite.h"

/* May anchor `to` use what the loop has computed for the row when it has gone along it: a fold's result, or what is
 * made of such results? */
static bool fusable_after_row(const l_fusing *c, ir_id from, ir_id to, l_access access)
{
    if (!l_same_shape(l_loop_rate(c, from), l_loop_rate(c, to)) || c->class[from] == L_CLASS_STENCIL ||
        c->class[to] == L_CLASS_SEGMENT)
        return false;
    if (c->outer[to])
        return access == L_SAME;
    return access == L_OUTER && c->options->rows && !c->options->one_sweep && c->class[to] != L_CLASS_STENCIL;
}

/* Is every read of `from` with this access, in a loop with these segments, at the reader's own segment? */
static bool in_own_segment(const l_fusing *c, ir_id from, ir_id to)
{
    const l_node *n = l_at(c->node, to);
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].array == from && n->dep.at[i].access == L_OUTER)
            return l_view_is_segment(c->p, to, from, &n->dep.at[i].view) &&
                   ir_info(c->p, n->dep.at[i].view.by)->input[0] == c->segments[from];
    return false;
}

/* May anchor `to` use what the loop has computed for the segment at hand? */
static bool fusable_after_segment(const l_fusing *c, ir_id from, ir_id to, l_access access)
{
    if (!c->segments[from] || c->segments[from] != c->segments[to] ||
        !l_same_shape(l_loop_rate(c, from), l_loop_rate(c, to)))
        return false;
    if (c->outer[to])
        return access == L_SAME;
    return access == L_OUTER && c->options->rows && !c->options->threads && in_own_segment(c, from, to);
}

bool l_knows_segment(const l_fusing *c, ir_id from, ir_id to)
{
    const l_node *n = l_at(c->node, to);
    bool knows =
        ir_at(c->p, from)->kind == IR_SEGMENT_OF && c->segments[to] && c->segments[to] == ir_info(c->p, from)->input[0];
    for (uint32_t i = 0; i < n->dep.n && knows; i++)
        knows = n->dep.at[i].array != from || n->dep.at[i].access == L_SAME || n->dep.at[i].access == L_NUMBER;
    return knows && from != to;
}

bool l_fusable(const l_fusing *c, ir_id from, ir_id to, l_access access, l_why *why)
{
    const ir_program *p = c->p;
    ir_kind kind = (ir_kind)ir_at(p, from)->kind;
    if (kind == IR_INPUT)
        return *why = L_NOT_INPUT, false;
    if (kind == IR_PART || ir_at(p, to)->kind == IR_CONTROL)
        return *why = L_NOT_CONTROL, false;
    if (kind == IR_CONTROL)
        return *why = L_FUSED_REGISTER, true;
    if (!c->options->fuse)
        return *why = L_NOT_ENABLED, false;
    if ((kind == IR_FOLD || c->outer[from]) && fusable_after_row(c, from, to, access))
        return *why = c->tile[to] ? L_FUSED_TILE : L_FUSED_SWEEP, true;
    if ((kind == IR_FOLD_SEG || c->outer[from]) && fusable_after_segment(c, from, to, access))
        return *why = L_FUSED_SEGMENT, true;
    if (kind == IR_FOLD || kind == IR_FOLD_SEG || l_goes_along(p, from))
        return *why = L_NOT_AFTER, false;
    if (l_knows_segment(c, from, to) && (access == L_SAME || access == L_NUMBER))
        return *why = L_FUSED_REGISTER, true;
    if (access == L_DEFAULTS)
        return *why = L_NOT_DEFAULTS, false;
    if (kind == IR_FORCE)
        return *why = L_NOT_FORCED, false;
    if (kind == IR_SORT || ir_at(p, to)->kind == IR_SORT)
        return *why = L_NOT_SORT, false;
    if (kind == IR_PERMUTE || ir_at(p, to)->kind == IR_PERMUTE)
        return *why = L_NOT_PERMUTE, false;
    if (ir_is_along(p, from) || kind == IR_PACK || c->outer[from] || c->outer[to] ||
        !l_same_shape(ir_info(p, from), l_loop_rate(c, to)))
        return *why = L_NOT_RATE, false;
    if (access == L_RANDOM || access == L_VIEW || access == L_HOST || access == L_OUTER)
        return *why = L_NOT_RANDOM, false;
    if ((c->class[from] == L_CLASS_STENCIL) != (c->class[to] == L_CLASS_STENCIL) || l_stages(c, to))
        return *why = L_NOT_CLASS, false;
    if (c->segments[from] != c->segments[to] || l_goes_along(p, to))
        return *why = L_NOT_CLASS, false;
    if (c->class[to] == L_CLASS_STENCIL && ir_info(p, to)->rank > 2)
        return *why = L_NOT_CLASS, false;
    if (access == L_HALO && c->class[to] != L_CLASS_STENCIL)
        return *why = L_NOT_CLASS, false;
    if (access == L_HALO && c->options->threads)
        return *why = L_NOT_BLOCK, false;
    return *why = access == L_HALO ? L_FUSED_ROWS : L_FUSED_REGISTER, true;
}

static bool wraps(const ir_program *p, ir_id reader, ir_id from)
{
    const ir_array *info = ir_info(p, reader);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
        if (info->input[i] == from && info->stencil[i].boundary == IR_WRAP)
            return true;
    return false;
}

/* the cluster a node is computed in: its own, or that of the anchor it is delayed into */
static uint32_t home(const l_fusing *c, ir_id id)
{
    while (id && !l_at(c->node, id)->anchor)
        id = l_at(c->node, id)->user > id ? l_at(c->node, id)->user : 0;
    return id;
}

/* Is it computed nowhere, as the results made of it are components of what is in memory? */
static bool only_picked(const l_fusing *c, ir_id id)
{
    while (!l_at(c->node, id)->picked && l_at(c->node, id)->user > id)
        id = l_at(c->node, id)->user;
    return l_at(c->node, id)->picked;
}

static bool reads(const l_fusing *c, ir_id anchor, ir_id from, l_access access)
{
    const l_node *n = l_at(c->node, anchor);
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].array == from && n->dep.at[i].access == access)
            return true;
    return false;
}

/* How the anchor that an operation is delayed into reads what the operation reads, or the anchor itself. */
static l_access access_of(const l_fusing *c, ir_id from, ir_id to, ir_id reader, l_access asked)
{
    if (asked == L_HALO)
        return wraps(c->p, to, from) ? L_RANDOM : L_HALO;
    bool own = to == reader && asked == L_SAME;
    if (asked == L_RANDOM && reads(c, reader, from, L_NUMBER) && !reads(c, reader, from, L_RANDOM))
        return L_NUMBER;
    return !own && reads(c, reader, from, L_OUTER) && !reads(c, reader, from, L_RANDOM) ? L_OUTER : asked;
}

/* Does scalar code of `to` read `from`, wherever it likes? */
static bool reads_in_code(const l_fusing *c, ir_id from, ir_id to)
{
    const ir_fn *fn = ir_info(c->p, to)->fn;
    opt_ids ids = {0};
    bool found = false;
    if (fn)
        opt_reach(c->p, c->p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n && !found; i++)
        found = ir_at(c->p, ids.at[i])->kind == IR_READ && ir_at(c->p, ids.at[i])->array == from;
    vec_free(c->p->arena, &ids);
    return found;
}

/* Does `to` read only what belongs to its own row: the first indices of `from`, which it shares? */
static bool row_step(const l_fusing *c, ir_id from, ir_id to)
{
    const ir_program *p = c->p;
    const ir_array *info = ir_info(p, to);
    ir_kind kind = (ir_kind)ir_at(p, to)->kind;
    bool same = kind == IR_MAP || kind == IR_FOLD || kind == IR_FORCE, found = false;
    for (uint32_t i = 0; i < info->inputs; i++)
        found |= info->input[i] == from;
    if (!found || (!same && kind != IR_BACKPERMUTE))
        return false;
    for (unsigned d = 0; d < ir_info(p, from)->rank && !same; d++)
        if (info->fn->result[d] != info->fn->param[d])
            return false;
    return !reads_in_code(c, from, to);
}

/* Does everything between a fold of rows and the anchor that `to` is delayed into keep to the rows? */
static bool row_by_row(const l_fusing *c, ir_id fold, ir_id to)
{
    if (!ir_info(c->p, fold)->rank)
        return false;
    for (ir_id from = fold;;) {
        if (!row_step(c, from, to))
            return false;
        if (l_at(c->node, to)->anchor)
            return true;
        from = to;
        to = l_at(c->node, to)->user;
        if (to <= from)
            return false;
    }
}

/* Is what is computed in `to`, and from there on, seen as one row on its way to its reader? */
static bool flattens(const l_fusing *c, ir_id to, ir_id reader)
{
    for (ir_id before = 0; to > before && to < reader; to = l_at(c->node, to)->user) {
        if (ir_at(c->p, to)->kind == IR_RESHAPE)
            return true;
        before = to;
    }
    return false;
}

/* What stands in the way, where what was found first is not all there is to say. */
static l_why honest(const l_fusing *c, ir_id from, ir_id to, ir_id reader, l_why why)
{
    if (why == L_NOT_AFTER && row_by_row(c, from, to))
        return L_NOT_ROW;
    /* the same elements as one row: a loop over them would still be no stencil's */
    if (why == L_NOT_RATE && c->class[from] == L_CLASS_STENCIL && c->class[reader] == L_CLASS_FOLD &&
        flattens(c, to, reader))
        return L_NOT_CLASS;
    return why;
}

static void add_edge(l_fusing *c, ir_id from, ir_id to, l_access asked)
{
    l_access access = asked;
    l_why why = L_FUSED_DELAYED;
    if (ir_at(c->p, from)->kind == IR_INPUT) {
        why = L_NOT_INPUT;
    } else if (l_at(c->node, from)->anchor) {
        ir_id reader = home(c, to);
        if (reader)
            access = access_of(c, from, to, reader, asked);
        bool can = reader && l_fusable(c, from, reader, access, &why);
        why = reader ? honest(c, from, to, reader, why) : why;
        bool one =
            reader && (c->out->cluster_of[from] == c->out->cluster_of[reader] || l_knows_segment(c, from, reader));
        if (one && !can) /* a reshape, to the same extents */
            why = asked == L_HALO ? L_FUSED_ROWS : L_FUSED_REGISTER;
        else if (!one && (can || (!reader && !only_picked(c, to))))
            why = l_at(c->node, from)->why == L_NOT_CAP || l_at(c->node, reader)->cut ? L_NOT_CAP
                  : reads(c, reader, from, L_RANDOM) ? L_NOT_RANDOM /* as a whole, through another edge */
                                                     : L_NOT_CLASS;
        else if (can && c->sweep[from] != c->sweep[reader] && why != L_FUSED_TILE)
            why = c->segments[from] ? L_FUSED_SEGMENT : L_FUSED_SWEEP;
    }
    if (why == L_NOT_RANDOM && asked == L_HALO && wraps(c->p, to, from))
        why = L_NOT_BOUNDARY;
    vec_push(c->p->arena, &c->out->edge, ((l_edge){from, to, asked, why}));
}

void l_find_edges(l_fusing *c)
{
    map64 read_by = {0}; /* array -> the last node that reads its elements */
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!ir_is_array(c->p, id) || !l_at(c->node, id)->live)
            continue;
        const ir_array *info = ir_info(c->p, id);
        ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
        for (uint32_t i = 0; i < info->inputs && kind != IR_PART; i++)
            if (l_at(c->node, info->input[i])->live || !l_only_picked(l_at(c->node, id)))
                add_edge(c, info->input[i], id, l_access_of_operand(kind, i));
        opt_ids ids = {0};
        if (info->fn)
            opt_reach(c->p, c->p->arena, info->fn->results, info->fn->result, &ids);
        for (uint32_t i = 0; i < ids.n; i++) {
            if (ir_at(c->p, ids.at[i])->kind != IR_READ)
                continue;
            ir_id from = ir_at(c->p, ids.at[i])->array;
            if (map64_get(&read_by, from) != id) /* one edge, however many elements and components are read */
                add_edge(c, from, id, L_RANDOM);
            map64_put(c->p->arena, &read_by, from, id);
        }
        vec_free(c->p->arena, &ids);
    }
}
