/* Finds results that are reshapes of moved elements, and marks copies of them; and permutes of reshapes. */
#include "opt/reshapes.h"

#include "opt/needed.h"
#include "opt/remake.h"

enum { DEEPEST = 16 /* maps one around the other */ };

/* Is it an array that is computed where it is used, and are its elements moved, or made from their indices? */
static bool is_moved(const ir_program *p, ir_id id, unsigned depth)
{
    const ir_array *info = ir_info(p, id);
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    bool moved = kind == IR_BACKPERMUTE || kind == IR_GENERATE;
    if (kind != IR_MAP || depth == DEEPEST)
        return moved;
    for (uint32_t i = 0; i < info->inputs; i++) {
        ir_kind of = (ir_kind)ir_at(p, info->input[i])->kind;
        bool simple = of == IR_INPUT || of == IR_BACKPERMUTE || of == IR_GENERATE || of == IR_MAP;
        if (!simple)
            return false;
        moved |= is_moved(p, info->input[i], depth + 1);
    }
    return moved;
}

/* The array before its reshapes; 0: it is none, or goes along another one already. */
static ir_id source_of(const ir_program *p, ir_id id)
{
    ir_id of = id;
    while (ir_at(p, of)->kind == IR_RESHAPE && !ir_is_along(p, of))
        of = ir_info(p, of)->input[0];
    return of == id ? 0 : of;
}

/* The map of the reshape, as a map of what is reshaped; 0: it is none. */
static ir_id mapped_source(ir_program *p, ir_id id)
{
    const ir_array *info = ir_info(p, id);
    const ir_node n = *ir_at(p, id);
    ir_id of = n.kind == IR_MAP && info->inputs == 1 && !(n.flags & (IR_INDEXED | IR_ALONG)) ? info->input[0] : 0;
    ir_id source = of ? source_of(p, of) : 0;
    if (!source || !is_moved(p, source, 0) || ir_info(p, source)->rank < 2)
        return 0;
    ir_id map = ir_map(p, n.site, 1, &source, info->fn, 0);
    return map ? ir_mark_step(p, map) : 0;
}

/* Does the operation go over what it reads in loops whose order is its own, so that elements are best in memory? */
static bool reads_memory(ir_kind kind, uint32_t operand)
{
    bool first = kind == IR_SCAN || kind == IR_SORT || kind == IR_SCAN_SEG;
    return kind == IR_STENCIL || (first && !operand) || (kind == IR_PERMUTE && operand == 2);
}

/* The reshape, or those that the maps are of. */
static void keep(ir_program *p, ir_id id, unsigned depth)
{
    const ir_array *info = ir_info(p, id);
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    if (kind == IR_RESHAPE && ir_info(p, info->input[0])->rank > 1 && is_moved(p, info->input[0], 0))
        p->node.at[id].flags |= IR_SOURCE;
    for (uint32_t i = 0; kind == IR_MAP && depth < DEEPEST && i < info->inputs; i++)
        keep(p, info->input[i], depth + 1);
}

static void keep_in_memory(ir_program *p)
{
    for (ir_id id = 1; id < p->node.n; id++)
        for (uint32_t i = 0; ir_is_array(p, id) && i < ir_info(p, id)->inputs; i++)
            if (reads_memory((ir_kind)ir_at(p, id)->kind, i))
                keep(p, ir_info(p, id)->input[i], 0);
}

/* --- permutes --- */

typedef struct unshaping {
    ir_program *p;
    opt_remake remake;
    const uint32_t *readers; /* of each array */
    ir_array to;             /* has the shape before the reshapes */
} unshaping;

static bool has_shape(const ir_program *p, ir_id id, const ir_array *of)
{
    const ir_array *info = ir_info(p, id);
    return info->rank == of->rank && !memcmp(info->shape, of->shape, of->rank * sizeof(ir_id));
}

/* Is it a map that nothing else needs, of elements without their indices? */
static bool is_own_map(const unshaping *u, ir_id id)
{
    const ir_node *n = ir_at(u->p, id);
    return n->kind == IR_MAP && !(n->flags & (IR_INDEXED | IR_ALONG)) && u->readers[id] <= 1;
}

/* What the first of the reshapes that the operand is made of is of; NULL: there is none, or it has one dimension. */
static const ir_array *before_reshapes(const unshaping *u, ir_id id, unsigned depth)
{
    const ir_array *info = ir_info(u->p, id), *found = NULL;
    const ir_id source = source_of(u->p, id);
    if (source)
        return ir_info(u->p, source)->rank > 1 ? ir_info(u->p, source) : NULL;
    for (uint32_t i = 0; is_own_map(u, id) && depth < DEEPEST && i < info->inputs && !found; i++)
        found = before_reshapes(u, info->input[i], depth + 1);
    return found;
}

/* Are all elements that it makes the same? */
static bool ignores_index(ir_program *p, const ir_fn *fn)
{
    opt_ids ids = {0};
    bool ignores = true;
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        for (uint32_t k = 0; k < fn->params; k++)
            ignores &= ids.at[i] != fn->param[k];
    vec_free(p->arena, &ids);
    return ignores;
}

/* Can it be made in the shape before? */
static bool can_unshape(const unshaping *u, ir_id id, unsigned depth)
{
    const ir_array *info = ir_info(u->p, id);
    const ir_id source = source_of(u->p, id);
    if (source)
        return has_shape(u->p, source, &u->to);
    if (ir_at(u->p, id)->kind == IR_GENERATE)
        return ignores_index(u->p, info->fn);
    bool can = is_own_map(u, id) && depth < DEEPEST;
    for (uint32_t i = 0; can && i < info->inputs; i++)
        can = can_unshape(u, info->input[i], depth + 1);
    return can;
}

static ir_fn *of_other_indices(unshaping *u, ir_fn *fn)
{
    ir_type type[IR_MAX_RANK];
    for (unsigned d = 0; d < u->to.rank; d++)
        type[d] = T_I64;
    fn = opt_remake_function(&u->remake, NULL, NULL, fn);
    return ir_fn_close(u->p, ir_fn_new(u->p, u->to.rank, type), fn->results, fn->result);
}

static ir_id unshaped(unshaping *u, ir_id id)
{
    const ir_node node = *ir_at(u->p, id);
    const ir_array *info = ir_info(u->p, id);
    const ir_id source = source_of(u->p, id);
    ir_id made;
    if (source)
        return u->remake.array[source] ? u->remake.array[source] : source;
    if (node.kind == IR_GENERATE) {
        made = ir_generate(u->p, node.site, u->to.rank, u->to.shape, of_other_indices(u, info->fn));
    } else {
        ir_id *in = arena_array(u->p->arena, ir_id, info->inputs);
        for (uint32_t i = 0; i < info->inputs; i++)
            in[i] = unshaped(u, info->input[i]);
        ir_fn *fn = opt_remake_function(&u->remake, NULL, NULL, info->fn);
        made = ir_map(u->p, node.site, info->inputs, in, fn, 0);
    }
    u->p->node.at[made].u.info->name = info->name;
    if (node.flags & IR_FUSED)
        ir_fuse(u->p, made);
    return node.flags & IR_STEP ? ir_mark_step(u->p, made) : made;
}

/* A permute takes its elements in row-major order, whatever their shape. */
static bool unshape_permute(unshaping *u, ir_id id)
{
    const ir_array *old = ir_info(u->p, id);
    const ir_array *to = before_reshapes(u, old->input[1], 0);
    to = to ? to : before_reshapes(u, old->input[2], 0);
    u->to = to ? *to : (ir_array){0};
    if (!to || !can_unshape(u, old->input[1], 0) || !can_unshape(u, old->input[2], 0))
        return false;
    ir_array info = *old;
    memcpy(u->to.shape, opt_remake_terms(&u->remake, NULL, NULL, to->rank, u->to.shape), to->rank * sizeof(ir_id));
    info.input = arena_copy(u->p->arena, old->input, old->inputs * sizeof(ir_id));
    info.input[0] = u->remake.array[old->input[0]] ? u->remake.array[old->input[0]] : old->input[0];
    for (uint32_t i = 1; i < 3; i++)
        info.input[i] = unshaped(u, old->input[i]);
    info.fn = opt_remake_function(&u->remake, NULL, NULL, old->fn);
    memcpy(info.shape, opt_remake_terms(&u->remake, NULL, NULL, info.rank, info.shape), info.rank * sizeof(ir_id));
    opt_remake_as(&u->remake, id, &info);
    return true;
}

static void unshape_permutes(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n && !any; id++)
        any = ir_at(p, id)->kind == IR_PERMUTE;
    if (!any)
        return;
    unshaping u = {.p = p, .readers = opt_count_readers(p)};
    opt_remake_begin(&u.remake, p);
    for (ir_id id = 1; id < u.remake.nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        if (ir_at(p, id)->kind != IR_PERMUTE || !unshape_permute(&u, id))
            opt_remake_array(&u.remake, id);
    }
    opt_remake_end(&u.remake);
}

void opt_go_along_sources(ir_program *p)
{
    unshape_permutes(p);
    const uint32_t *reads = opt_count_reads(p);
    keep_in_memory(p);
    const uint32_t nodes = p->node.n;
    for (uint32_t k = 0; k < p->output.n; k++) {
        ir_id id = p->output.at[k], source = id < nodes && !reads[id] ? source_of(p, id) : 0;
        for (uint32_t i = 0; i < p->output.n; i++) /* several results have it */
            source = i != k && p->output.at[i] == id ? 0 : source;
        if (source && (ir_info(p, source)->rank < 2 || !is_moved(p, source, 0)))
            continue;
        if (!source && id < nodes && !reads[id])
            source = mapped_source(p, id);
        if (!source)
            continue;
        const ir_array *info = ir_info(p, id);
        ir_id along = ir_reshape_along(p, ir_at(p, id)->site, info->rank, info->shape, source);
        if (!along)
            continue;
        p->node.at[along].u.info->name = ir_info(p, id)->name;
        p->output.at[k] = along;
    }
}
