/* Finds results that are reshapes of moved elements, and marks copies of them. */
#include "opt/reshapes.h"

#include "opt/needed.h"

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

void opt_go_along_sources(ir_program *p)
{
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
