/* Arrays that are joined of others, one behind the other along the outermost dimension: each part lies together in the
 * whole, so a part that is computed by a loop of its own can be computed there. Whoever wrote it: what counts is that
 * an element is that of the first array up to its extent, and that of the second behind it. */
#include "plan/joined.h"

/* Is this term component k of an array at the index whose first component is `first`, and others the variables? The
 * array; 0: it is not. */
static ir_id read_at(const ir_program *p, const ir_array *info, ir_id term, uint32_t k, ir_id first)
{
    const ir_node *n = ir_at(p, term);
    if (n->kind != IR_READ || n->flags & IR_LINEAR || n->u.literal != k || n->n != info->rank)
        return 0;
    const ir_array *from = ir_info(p, n->array);
    for (unsigned d = 0; d < info->rank; d++)
        if (ir_args(p, term)[d] != (d ? info->fn->param[d] : first) || (d && from->shape[d] != info->shape[d]))
            return 0;
    return from->components == info->components ? n->array : 0;
}

/* The two parts of an array; false: it is not made so. */
static bool halves(const ir_program *p, ir_id id, ir_id part[2])
{
    const ir_array *info = ir_info(p, id);
    if (ir_at(p, id)->kind != IR_GENERATE || !info->rank)
        return false;
    const ir_id i = info->fn->param[0];
    for (uint32_t k = 0; k < info->components; k++) {
        const ir_node *choice = ir_at(p, info->fn->result[k]);
        if (choice->kind != IR_COND)
            return false;
        const ir_id *arg = p->arg.at + choice->args;
        const ir_node *test = ir_at(p, arg[0]), *second = ir_at(p, arg[2]);
        if (test->kind != IR_OP || test->op != OP_LT || p->arg.at[test->args] != i || second->kind != IR_READ)
            return false;
        const ir_id bound = p->arg.at[test->args + 1], behind = second->n ? p->arg.at[second->args] : 0;
        const ir_node *less = behind ? ir_at(p, behind) : NULL;
        if (!less || less->kind != IR_OP || less->op != OP_SUB || p->arg.at[less->args] != i ||
            p->arg.at[less->args + 1] != bound)
            return false;
        const ir_id a = read_at(p, info, arg[1], k, i), b = read_at(p, info, arg[2], k, behind);
        if (!a || !b || ir_extent(p, a, 0) != bound || (k && (a != part[0] || b != part[1])))
            return false;
        part[0] = a;
        part[1] = b;
    }
    return info->components > 0;
}

uint32_t plan_parts_of(const l_program *l, ir_id array, ir_id part[PLAN_MOST_PARTS])
{
    ir_id todo[PLAN_MOST_PARTS] = {array}, two[2] = {0, 0};
    uint32_t waiting = 1, n = 0;
    while (waiting) {
        ir_id id = todo[--waiting];
        bool delayed = id == array || !l->cluster_of[id];
        if (delayed && ir_at(l->ir, id)->kind == IR_GENERATE && halves(l->ir, id, two)) {
            if (waiting + 2 > PLAN_MOST_PARTS)
                return 0;
            todo[waiting++] = two[1];
            todo[waiting++] = two[0];
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            if (part[i] == id)
                return 0; /* twice */
        if (id == array || n == PLAN_MOST_PARTS)
            return 0;
        part[n++] = id;
    }
    return n;
}
