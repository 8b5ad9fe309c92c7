/* Operations made anew, and all that depend on them. */
#include "opt/remake.h"

void opt_remake_begin(opt_remake *r, ir_program *p)
{
    *r = (opt_remake){.p = p, .nodes = p->node.n};
    r->array = arena_array(p->arena, ir_id, p->node.n);
}

static ir_id replaced(const opt_remake *r, ir_id array)
{
    return array < r->nodes && r->array[array] ? r->array[array] : array;
}

static ir_id replace_read(void *env, const ir_node *read, const ir_id *index)
{
    const opt_remake *r = env;
    if (r->number && read->array < r->nodes && r->number[read->array])
        return r->number[read->array];
    ir_id other = replaced(r, read->array);
    if (other == read->array)
        return 0;
    return ir_read(r->p, read->site, other, (uint32_t)read->u.literal, read->flags, read->n, index);
}

/* Both hooks of a rewriting have one environment. */
typedef struct hooks {
    opt_remake *remake;
    opt_op_hook op;
    void *env;
} hooks;

static ir_id pass_op(void *env, ir_id id, const ir_id *operand)
{
    const hooks *h = env;
    return h->op(h->env, id, operand);
}

static ir_id pass_read(void *env, const ir_node *read, const ir_id *index)
{
    const hooks *h = env;
    return replace_read(h->remake, read, index);
}

ir_id *opt_remake_terms(opt_remake *r, opt_op_hook hook, void *env, uint32_t n, ir_id *term)
{
    if (!term || !n || (!hook && !r->replaces))
        return term;
    hooks h = {r, hook, env};
    ir_id *out = arena_array(r->p->arena, ir_id, n);
    opt_rewrite_ops(r->p, r->p->arena, hook ? pass_op : NULL, pass_read, &h, n, term, out);
    if (memcmp(out, term, n * sizeof(ir_id)))
        return out;
    arena_release(r->p->arena, out, n * sizeof(ir_id));
    return term;
}

ir_fn *opt_remake_function(opt_remake *r, opt_op_hook hook, void *env, ir_fn *fn)
{
    if (!fn)
        return NULL;
    ir_id *result = opt_remake_terms(r, hook, env, fn->results, fn->result);
    if (result == fn->result)
        return fn;
    ir_fn *copy = arena_copy(r->p->arena, fn, sizeof(*fn));
    copy->result = result;
    return copy;
}

static ir_fn *remade_function(opt_remake *r, ir_id id, ir_fn *fn)
{
    if (!fn)
        return NULL;
    return r->function ? r->function(r->env, id, fn) : opt_remake_function(r, NULL, NULL, fn);
}

static ir_id *remade_closed(opt_remake *r, uint32_t n, ir_id *term)
{
    if (!term || !n)
        return term;
    return r->closed ? r->closed(r->env, n, term) : opt_remake_terms(r, NULL, NULL, n, term);
}

static bool remake_stencil(opt_remake *r, ir_id id, ir_array *info, const ir_array *old)
{
    bool changed = false;
    info->stencil = arena_copy(r->p->arena, old->stencil, old->inputs * sizeof(ir_stencil));
    for (uint32_t i = 0; i < old->inputs; i++) {
        ir_stencil *s = &info->stencil[i];
        s->constant = remade_closed(r, ir_info(r->p, old->input[i])->components, s->constant);
        s->function = remade_function(r, id, s->function);
        changed |= s->constant != old->stencil[i].constant || s->function != old->stencil[i].function;
    }
    return changed;
}

void opt_remake_as(opt_remake *r, ir_id id, const ir_array *info)
{
    ir_node node = *ir_at(r->p, id);
    node.u.info = arena_copy(r->p->arena, info, sizeof(*info));
    vec_push(r->p->arena, &r->p->node, node);
    r->array[id] = r->p->node.n - 1;
    r->replaces = true;
}

void opt_remake_array(opt_remake *r, ir_id id)
{
    ir_program *p = r->p;
    const ir_array *old = ir_info(p, id);
    ir_array info = *old;
    info.fn = remade_function(r, id, old->fn);
    info.seed = remade_closed(r, old->components, old->seed);
    bool changed = info.fn != old->fn || info.seed != old->seed;
    ir_id *shape = remade_closed(r, info.rank, info.shape);
    if (shape != info.shape) {
        memcpy(info.shape, shape, info.rank * sizeof(ir_id));
        changed = true;
    }
    if (old->control) {
        ir_id *value = remade_closed(r, old->control->values, old->control->value);
        if (value != old->control->value) {
            info.control = arena_copy(p->arena, old->control, sizeof(*info.control));
            info.control->value = value;
            changed = true;
        }
    }
    if (old->stencil)
        changed |= remake_stencil(r, id, &info, old);
    bool other_input = false;
    for (uint32_t i = 0; i < old->inputs && !other_input; i++)
        other_input = replaced(r, old->input[i]) != old->input[i];
    if (other_input) {
        info.input = arena_copy(p->arena, old->input, old->inputs * sizeof(ir_id));
        for (uint32_t i = 0; i < old->inputs; i++)
            info.input[i] = replaced(r, old->input[i]);
    }
    if (changed || other_input)
        opt_remake_as(r, id, &info);
}

static void replace_outputs(opt_remake *r)
{
    ir_program *p = r->p;
    for (uint32_t i = 0; i < p->output.n; i++)
        p->output.at[i] = replaced(r, p->output.at[i]);
    for (uint32_t i = 0; i < p->check.n; i++) {
        ir_check *check = &p->check.at[i];
        ir_id side[2] = {check->left, check->right};
        const ir_id *now = opt_remake_terms(r, NULL, NULL, 2, side);
        check->left = now[0];
        check->right = now[1];
    }
}

void opt_remake_end(opt_remake *r)
{
    if (r->replaces)
        replace_outputs(r);
    arena_release(r->p->arena, r->array, r->nodes * sizeof(*r->array));
    r->array = NULL;
}
