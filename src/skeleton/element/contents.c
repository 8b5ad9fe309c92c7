/* What is known of the elements of arrays that kernels read. */
#include "skeleton/element/contents.h"

#include "opt/rewrite.h"

uint32_t sk_few_elements(const ir_program *p, const ir_array *info)
{
    enum { FEW = 256 };
    int64_t all = 1, extent;
    for (unsigned d = 0; d < info->rank; d++) {
        if (!ir_extent_constant(p, info->shape[d], &extent) || extent > FEW)
            return 0;
        all *= extent;
        all = all > FEW ? 0 : all;
    }
    return info->rank ? (uint32_t)all : 0;
}

/* --- places: what goes along with an index is near for neighbours --- */

/* All operands but one are the same everywhere. */
static bool one_moves(const ir_program *p, const ir_node *n, uint32_t first)
{
    bool others = false;
    for (uint32_t i = 0; i < n->n; i++)
        others |= i != first && ir_at(p, p->arg.at[n->args + i])->scope;
    return !others;
}

static bool goes_along(const ir_program *p, const ir_node *n)
{
    if (!n->scope || n->kind == IR_VAR)
        return true;
    if (n->kind != IR_OP)
        return false;
    switch ((ir_op)n->op) {
    case OP_CONVERT:
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_MIN:
    case OP_MAX:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_ROUND:
        return true;
    case OP_MUL:
        return one_moves(p, n, 0) || one_moves(p, n, 1);
    case OP_FMA: {
        const ir_id *arg = p->arg.at + n->args;
        return !ir_at(p, arg[0])->scope || !ir_at(p, arg[1])->scope;
    }
    case OP_QUOT:
    case OP_DIV:
    case OP_SHR:
        return one_moves(p, n, 0);
    default:
        return false;
    }
}

bool sk_holds_near_places(ir_program *p, arena *a, ir_id array, uint32_t component)
{
    const ir_array *info = ir_info(p, array);
    if (ir_at(p, array)->kind != IR_GENERATE || info->rank != 1 || info->type[component] != T_I64)
        return false;
    opt_ids ids = {0};
    bool all = true;
    opt_reach(p, a, 1, &info->fn->result[component], &ids);
    for (uint32_t i = 0; i < ids.n && all; i++)
        all = goes_along(p, ir_at(p, ids.at[i]));
    vec_free(a, &ids);
    return all;
}
