/* Rows taken apart. */
#include "opt/apart.h"

#include "ir/inside.h"

static ir_id step(const opt_apart *s, ir_id array, const char *name)
{
    if (array)
        s->p->node.at[array].u.info->name = name;
    return array ? ir_mark_step(s->p, array) : 0;
}

/* The first function's results are the second one's indices. */
static ir_fn *composed(ir_program *p, const ir_fn *first, const ir_fn *second)
{
    ir_type index[IR_MAX_RANK];
    ir_id *between = arena_array(p->arena, ir_id, first->results),
          *result = arena_array(p->arena, ir_id, second->results);
    for (uint32_t d = 0; d < first->params; d++)
        index[d] = T_I64;
    ir_fn *fn = ir_fn_new(p, first->params, index);
    ir_instantiate(p, first, fn->param, between);
    ir_instantiate(p, second, between, result);
    return ir_fn_close(p, fn, second->results, result);
}

bool opt_never_fails(ir_program *p, const ir_array *info)
{
    const ir_fn *fn = info->fn;
    opt_ids ids = {0};
    map64 below = {0};
    bool safe = true;
    for (uint32_t i = 0; i < fn->results; i++)
        safe &= !ir_at(p, fn->result[i])->partial;
    if (safe)
        return true;
    for (unsigned d = 0; d < info->rank && fn->params == info->rank; d++)
        map64_put(p->arena, &below, fn->param[d], info->shape[d]);
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    safe = true;
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        const bool op = n->kind == IR_OP && !ir_op_guarded((ir_op)n->op, (ir_type)ir_at(p, p->arg.at[n->args])->type);
        const bool read = n->kind == IR_READ &&
                          (n->flags & IR_SAFE || ir_read_surely_inside_of(p, &below, info->rank, info->shape, n));
        safe &= !n->partial || op || read || n->kind == IR_COND;
    }
    vec_free(p->arena, &ids);
    return safe;
}

bool opt_reads_inside(ir_program *p, ir_id backpermute)
{
    const ir_array *info = ir_info(p, backpermute), *from = ir_info(p, info->input[0]);
    map64 below = {0};
    bool inside = true;
    if (ir_at(p, backpermute)->flags & IR_SAFE)
        return true;
    for (unsigned d = 0; d < info->rank; d++)
        map64_put(p->arena, &below, info->fn->param[d], info->shape[d]);
    for (unsigned d = 0; d < from->rank; d++)
        inside &= ir_surely_inside(p, &below, info->fn->result[d], from->shape[d]);
    return inside;
}

static bool mixes(ir_program *p, const ir_fn *fn, ir_id term)
{
    opt_ids ids = {0};
    bool last = false, other = false;
    opt_reach(p, p->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        for (uint32_t k = 0; k < fn->params; k++)
            *(k + 1 == fn->params ? &last : &other) |= ids.at[i] == fn->param[k];
    vec_free(p->arena, &ids);
    return last && other;
}

bool opt_mixes_last(ir_program *p, const ir_fn *fn)
{
    opt_ids ids = {0};
    bool any = false;
    for (uint32_t i = 0; i < fn->results && !any; i++)
        any = ir_at(p, fn->result[i])->type == T_I64 && mixes(p, fn, fn->result[i]);
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n && !any; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        for (uint32_t k = 0; n->kind == IR_READ && k < n->n && !any; k++)
            any = mixes(p, fn, ir_args(p, ids.at[i])[k]);
    }
    vec_free(p->arena, &ids);
    return any;
}

/* The places of a row are apart, so no element of it is computed twice. */
static ir_id elements_of(const opt_apart *s, ir_fn *to, ir_id from, unsigned flags, unsigned deep)
{
    enum { DEEPEST = 8 };
    ir_program *p = s->p;
    const uint32_t site = ir_at(p, s->like)->site;
    const ir_array *shape = ir_info(p, s->like), *info = ir_info(p, from);
    const bool own = from < s->remake->nodes && !s->remake->array[from] && s->readers[from] == 1;
    const bool plain =
        own && flags & IR_SAFE && !(ir_at(p, from)->flags & ~(unsigned)(IR_SAFE | IR_STEP)) && deep < DEEPEST;
    ir_id made = 0;
    if (plain && ir_at(p, from)->kind == IR_GENERATE && opt_never_fails(p, info)) {
        ir_fn *fn = composed(p, to, info->fn);
        made = fn ? ir_generate(p, site, shape->rank, shape->shape, fn) : 0;
    } else if (plain && ir_at(p, from)->kind == IR_BACKPERMUTE && opt_reads_inside(p, from) &&
               opt_never_fails(p, info)) {
        ir_fn *fn = composed(p, to, info->fn);
        const bool shared = s->once && opt_mixes_last(p, info->fn);
        return fn ? elements_of(s, fn, info->input[0], flags, shared ? DEEPEST : deep + 1) : 0;
    } else if (plain && ir_at(p, from)->kind == IR_MAP && opt_never_fails(p, info)) {
        ir_id *input = arena_array(p->arena, ir_id, info->inputs);
        for (uint32_t i = 0; i < info->inputs; i++)
            if (!(input[i] = elements_of(s, to, info->input[i], flags, deep + 1)))
                return 0;
        made = ir_map(p, site, info->inputs, input, info->fn, 0);
    } else {
        const ir_id source = from < s->remake->nodes && s->remake->array[from] ? s->remake->array[from] : from;
        made = ir_backpermute(p, site, shape->rank, shape->shape, to, source, flags & IR_SAFE);
    }
    return step(s, made, shape->name);
}

ir_id opt_elements_of(const opt_apart *s, ir_fn *to, ir_id from, unsigned flags)
{
    return elements_of(s, to, from, flags, 0);
}
