/* Terms and operations of one program made anew in another. */
#include "ir/graft.h"

#include "ir/intern.h"

void ir_graft_note(ir_graft *g, ir_id from, ir_id to)
{
    if (to)
        map64_put(g->to->arena, &g->made, from, to);
}

ir_id ir_graft_made(const ir_graft *g, ir_id from)
{
    return map64_get(&g->made, from);
}

static ir_id array_of(ir_graft *g, ir_id id)
{
    ir_id made = ir_graft_made(g, id);
    if (made)
        return made;
    made = g->leaf(g->env, id);
    ir_graft_note(g, id, made);
    return made;
}

/* --- scalars --- */

static ir_id *made_list(ir_graft *g, uint32_t n, const ir_id *from)
{
    ir_id *to = arena_array(g->to->arena, *to, n + 1);
    for (uint32_t i = 0; i < n; i++)
        to[i] = ir_graft_made(g, from[i]);
    return to;
}

static void fresh_variables(ir_graft *g, const ir_loop *loop)
{
    for (uint32_t i = 0; i < loop->states; i++)
        ir_graft_note(g, loop->var[i], ir_var(g->to, (ir_type)ir_at(g->from, loop->var[i])->type));
    if (loop->index)
        ir_graft_note(g, loop->index, ir_var(g->to, T_I64));
}

static ir_id make_loop(ir_graft *g, uint32_t site, const ir_loop *loop)
{
    ir_loop copy = {
        .states = loop->states,
        .init = made_list(g, loop->states, loop->init),
        .var = made_list(g, loop->states, loop->var),
        .next = made_list(g, loop->states, loop->next),
        .cond = loop->cond ? ir_graft_made(g, loop->cond) : 0,
        .count = loop->count ? ir_graft_made(g, loop->count) : 0,
        .index = loop->index ? ir_graft_made(g, loop->index) : 0,
    };
    for (uint32_t i = 0; i < loop->states; i++)
        if (!copy.init[i] || !copy.next[i])
            return 0;
    return ir_loop_new(g->to, site, &copy);
}

static ir_id make_op(ir_graft *g, const ir_node *n, const ir_id *arg)
{
    ir_program *p = g->to;
    if (ir_ops[n->op].signature == SIGNATURE_CONVERT)
        return ir_convert(p, n->site, (ir_op)n->op, (ir_type)n->type, arg[0]);
    if (n->n == 1)
        return ir_op1(p, n->site, (ir_op)n->op, arg[0]);
    if (n->n == 2)
        return ir_op2(p, n->site, (ir_op)n->op, arg[0], arg[1]);
    return ir_op3(p, n->site, (ir_op)n->op, arg[0], arg[1], arg[2]);
}

static ir_id make(ir_graft *g, ir_id id)
{
    const ir_node node = *ir_at(g->from, id);
    ir_id arg[IR_MAX_RANK + 1] = {0};
    if (node.kind == IR_LOOP)
        return make_loop(g, node.site, node.u.loop);
    for (uint32_t i = 0; i < node.n; i++) {
        arg[i] = ir_graft_made(g, ir_args(g->from, id)[i]);
        if (!arg[i])
            return 0;
    }
    switch (node.kind) {
    case IR_CONST:
        return ir_const(g->to, (ir_type)node.type, node.u.literal);
    case IR_DIM:
        return g->leaf(g->env, id);
    case IR_OP:
        return make_op(g, &node, arg);
    case IR_COND:
        return ir_cond(g->to, node.site, arg[0], arg[1], arg[2]);
    case IR_PROJ:
        return ir_proj(g->to, arg[0], (uint32_t)node.u.literal);
    case IR_READ: {
        ir_id other = !node.n ? g->leaf(g->env, id) : 0;
        if (other)
            return other;
        ir_id array = array_of(g, node.array);
        return array ? ir_read(g->to, node.site, array, (uint32_t)node.u.literal, node.flags, node.n, arg) : 0;
    }
    case IR_CALL:
        return ir_call(g->to, node.site, node.u.code, node.n, arg);
    case IR_AFTER:
        return ir_after(g->to, arg[0], node.n - 1, arg + 1);
    default: /* a variable of what is not made; made where kernels are composed */
        return 0;
    }
}

void ir_graft_terms(ir_graft *g, uint32_t n, const ir_id *term, ir_id *out)
{
    ir_id *reached;
    uint32_t count = ir_terms(g->from, g->to->arena, n, term, &reached);
    ir_follow_sites(g->to);
    for (uint32_t i = count; i-- > 0;) /* outer loops first: their variables are older than those inside */
        if (ir_at(g->from, reached[i])->kind == IR_LOOP && !ir_graft_made(g, reached[i]))
            fresh_variables(g, ir_at(g->from, reached[i])->u.loop);
    for (uint32_t i = 0; i < count; i++)
        if (!ir_graft_made(g, reached[i]))
            ir_graft_note(g, reached[i], make(g, reached[i]));
    for (uint32_t i = 0; i < n; i++)
        out[i] = ir_graft_made(g, term[i]);
    arena_release(g->to->arena, reached, count * sizeof *reached);
}

ir_id ir_graft_term(ir_graft *g, ir_id term)
{
    ir_id out;
    ir_graft_terms(g, 1, &term, &out);
    return out;
}

/* --- operations --- */

static bool graft_list(ir_graft *g, uint32_t n, ir_id **list)
{
    if (!*list || !n)
        return true;
    ir_id *to = arena_array(g->to->arena, *to, n);
    ir_graft_terms(g, n, *list, to);
    *list = to;
    for (uint32_t i = 0; i < n; i++)
        if (!to[i])
            return false;
    return true;
}

static bool graft_fn(ir_graft *g, ir_fn **fn)
{
    if (!*fn)
        return true;
    ir_fn *copy = arena_copy(g->to->arena, *fn, sizeof **fn);
    copy->param = arena_array(g->to->arena, *copy->param, copy->params + 1);
    for (uint32_t i = 0; i < copy->params; i++) {
        copy->param[i] = ir_graft_made(g, (*fn)->param[i]); /* several operations may have one function */
        if (copy->param[i])
            continue;
        copy->param[i] = ir_var(g->to, (ir_type)ir_at(g->from, (*fn)->param[i])->type);
        ir_graft_note(g, (*fn)->param[i], copy->param[i]);
    }
    *fn = copy;
    return graft_list(g, copy->results, &copy->result);
}

static bool graft_stencil(ir_graft *g, ir_array *a, const ir_array *old)
{
    a->stencil = arena_copy(g->to->arena, old->stencil, old->inputs * sizeof *a->stencil);
    for (uint32_t i = 0; i < old->inputs; i++)
        if (!graft_list(g, ir_info(g->from, old->input[i])->components, &a->stencil[i].constant) ||
            !graft_fn(g, &a->stencil[i].function))
            return false;
    return true;
}

static bool graft_control(ir_graft *g, ir_array *a)
{
    if (!a->control)
        return true;
    a->control = arena_copy(g->to->arena, a->control, sizeof *a->control); /* its regions are both programs' */
    return graft_list(g, a->control->values, &a->control->value);
}

ir_id ir_graft_array(ir_graft *g, ir_id id)
{
    ir_node node = *ir_at(g->from, id);
    ir_array a = *node.u.info;
    if (a.components)
        a.type = arena_copy(g->to->arena, a.type, a.components * sizeof *a.type);
    a.input = arena_array(g->to->arena, *a.input, a.inputs + 1);
    for (uint32_t i = 0; i < a.inputs; i++) {
        a.input[i] = array_of(g, node.u.info->input[i]);
        if (!a.input[i])
            return 0;
    }
    ir_graft_terms(g, a.rank, node.u.info->shape, a.shape);
    for (unsigned d = 0; d < a.rank; d++) {
        a.shape[d] = ir_extent_normal(g->to, node.site, a.shape[d]);
        if (!a.shape[d])
            return 0;
    }
    if (!graft_fn(g, &a.fn) || !graft_list(g, a.components, &a.seed) ||
        (a.stencil && !graft_stencil(g, &a, node.u.info)) || !graft_control(g, &a))
        return 0;
    ir_follow_sites(g->to);
    node.u.info = arena_copy(g->to->arena, &a, sizeof a);
    vec_push(g->to->arena, &g->to->node, node);
    ir_graft_note(g, id, g->to->node.n - 1);
    return g->to->node.n - 1;
}

/* --- programs --- */

static void reach_terms(ir_program *p, arena *a, bool *live, uint32_t n, const ir_id *term)
{
    ir_id *reached;
    if (!term || !n)
        return;
    uint32_t count = ir_terms(p, a, n, term, &reached);
    for (uint32_t i = 0; i < count; i++)
        if (ir_at(p, reached[i])->kind == IR_READ)
            live[ir_at(p, reached[i])->array] = true;
    arena_release(a, reached, count * sizeof *reached);
}

static void reach_operands(ir_program *p, arena *a, bool *live, ir_id id)
{
    const ir_array *info = ir_info(p, id);
    for (uint32_t i = 0; i < info->inputs; i++)
        live[info->input[i]] = true;
    reach_terms(p, a, live, info->rank, info->shape);
    reach_terms(p, a, live, info->components, info->seed);
    if (info->control)
        reach_terms(p, a, live, info->control->values, info->control->value);
    if (info->fn)
        reach_terms(p, a, live, info->fn->results, info->fn->result);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++) {
        const ir_stencil *s = &info->stencil[i];
        reach_terms(p, a, live, ir_info(p, info->input[i])->components, s->constant);
        if (s->function)
            reach_terms(p, a, live, s->function->results, s->function->result);
    }
}

void ir_graft_program(ir_graft *g)
{
    ir_program *p = g->from;
    arena *a = g->to->arena;
    bool *live = arena_alloc(a, p->node.n + 1);
    for (uint32_t i = 0; i < p->output.n; i++)
        live[p->output.at[i]] = true;
    for (uint32_t i = 0; i < p->check.n; i++)
        reach_terms(p, a, live, 2, (ir_id[]){p->check.at[i].left, p->check.at[i].right});
    for (ir_id id = p->node.n; id-- > 1;)
        if (live[id] && ir_is_array(p, id))
            reach_operands(p, a, live, id);
    for (ir_id id = 1; id < p->node.n; id++)
        if (live[id] && ir_is_array(p, id) && !ir_graft_made(g, id))
            ir_graft_array(g, id);
    for (uint32_t i = 0; i < p->check.n; i++) {
        const ir_check *c = &p->check.at[i];
        ir_id side[2];
        ir_graft_terms(g, 2, (ir_id[]){c->left, c->right}, side);
        ir_check_equal(g->to, c->site, side[0], side[1], c->what);
    }
    arena_release(a, live, p->node.n + 1);
}
