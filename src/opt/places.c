/* Permutes to places that are the source's own, in another order, become maps. */
#include "opt/places.h"

#include "opt/remake.h"

static bool is_number(const ir_program *p, ir_id term, int64_t value)
{
    const ir_node *n = ir_at(p, term);
    return n->kind == IR_CONST && n->type == T_I64 && ir_i64_bits(T_I64, n->u.literal) == value;
}

/* y, where the term is y - 1; 0: it is something else. */
static ir_id next_of(const ir_program *p, ir_id term)
{
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind != IR_OP || (n->op != OP_SUB && n->op != OP_ADD))
        return 0;
    if (is_number(p, arg[1], n->op == OP_SUB ? 1 : -1))
        return arg[0];
    return n->op == OP_ADD && is_number(p, arg[0], -1) ? arg[1] : 0;
}

static bool is_difference(const ir_program *p, ir_id term, ir_id *x, ir_id y)
{
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind != IR_OP || n->op != OP_SUB || arg[1] != y)
        return false;
    *x = arg[0];
    return true;
}

/* Is the term the index, or that from the other end? */
static bool is_index(const ir_program *p, ir_id term, ir_id index, ir_id extent, bool *turned)
{
    const ir_id next = next_of(p, term);
    ir_id x = 0;
    *turned = term != index;
    if (!*turned || (next && is_difference(p, next, &x, index) && x == extent))
        return true;
    return is_difference(p, term, &x, index) && next_of(p, x) == extent;
}

/* The index in the source of the element for each place; NULL: not every place has one and no more. */
static ir_fn *source_of_places(ir_program *p, const ir_fn *place, const ir_array *from, const ir_array *to)
{
    ir_type types[IR_MAX_RANK];
    ir_id index[IR_MAX_RANK] = {0};
    if (from->rank != to->rank || place->params != from->rank || place->results != to->rank)
        return NULL;
    for (unsigned d = 0; d < to->rank; d++)
        types[d] = T_I64;
    ir_fn *fn = ir_fn_new(p, to->rank, types);
    for (unsigned d = 0; d < to->rank; d++)
        for (unsigned k = 0; k < from->rank; k++) {
            bool turned = false;
            if (index[k] || to->shape[d] != from->shape[k] ||
                !is_index(p, place->result[d], place->param[k], from->shape[k], &turned))
                continue;
            const ir_id last = ir_op2(p, 0, OP_SUB, from->shape[k], ir_i64(p, 1));
            index[k] = turned ? ir_op2(p, 0, OP_SUB, last, fn->param[d]) : fn->param[d];
            break;
        }
    for (unsigned k = 0; k < from->rank; k++)
        if (!index[k])
            return NULL;
    return ir_fn_close(p, fn, from->rank, index);
}

/* Can it fail or trace? Does it look at the old element? */
static bool is_total(ir_program *p, const ir_fn *fn, bool *needs_old)
{
    opt_ids ids = {0};
    bool total = true;
    *needs_old = false;
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        total &= !n->partial && !(n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES);
        for (uint32_t k = fn->params / 2; k < fn->params; k++)
            *needs_old |= fn->param[k] == ids.at[i];
    }
    vec_free(p->arena, &ids);
    return total;
}

/* fn(new..., old...) without the old element. */
static ir_fn *of_new(ir_program *p, const ir_fn *fn)
{
    ir_type type[IR_MAX_COMPONENTS];
    ir_id given[2 * IR_MAX_COMPONENTS], result[IR_MAX_COMPONENTS];
    const uint32_t n = fn->params / 2;
    for (uint32_t k = 0; k < n; k++)
        type[k] = (ir_type)ir_at(p, fn->param[k])->type;
    ir_fn *made = ir_fn_new(p, n, type);
    for (uint32_t k = 0; k < n; k++) {
        given[k] = made->param[k];
        given[n + k] = ir_const(p, type[k], 0);
    }
    ir_instantiate(p, fn, given, result);
    return ir_fn_close(p, made, fn->results, result);
}

static ir_id now(const opt_remake *r, ir_id array)
{
    return r->array[array] ? r->array[array] : array;
}

static ir_id inverted(opt_remake *r, ir_id id)
{
    ir_program *p = r->p;
    const ir_node node = *ir_at(p, id);
    ir_array info = *ir_info(p, id);
    const ir_id defaults = info.input[0], targets = info.input[1], source = info.input[2];
    bool needs_old = false;
    if (ir_at(p, targets)->kind != IR_GENERATE || (info.fn && !is_total(p, info.fn, &needs_old)))
        return 0;
    ir_fn *from = source_of_places(p, ir_info(p, targets)->fn, ir_info(p, source), ir_info(p, defaults));
    if (!from)
        return 0;
    from = opt_remake_function(r, NULL, NULL, from);
    const ir_id *shape = opt_remake_terms(r, NULL, NULL, info.rank, info.shape);
    ir_id in[2] = {ir_backpermute(p, node.site, info.rank, shape, from, now(r, source), IR_SAFE), now(r, defaults)};
    ir_id made = in[0];
    if (made && info.fn) {
        ir_fn *fn = opt_remake_function(r, NULL, NULL, info.fn);
        ir_mark_step(p, made);
        made = ir_map(p, node.site, needs_old ? 2 : 1, in, needs_old ? fn : of_new(p, fn), 0);
    }
    if (!made)
        return 0;
    p->node.at[made].u.info->name = info.name;
    if (node.flags & IR_FUSED)
        ir_fuse(p, made);
    return node.flags & IR_STEP ? ir_mark_step(p, made) : made;
}

void opt_invert_places(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n && !any; id++)
        any = ir_at(p, id)->kind == IR_PERMUTE;
    if (!any)
        return;
    opt_remake remake;
    opt_remake_begin(&remake, p);
    for (ir_id id = 1; id < remake.nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        const ir_id made = ir_at(p, id)->kind == IR_PERMUTE ? inverted(&remake, id) : 0;
        if (made) {
            remake.array[id] = made;
            remake.replaces = true;
        } else {
            opt_remake_array(&remake, id);
        }
    }
    opt_remake_end(&remake);
}
