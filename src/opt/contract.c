/* Contraction of products into sums, function by function. */
#include "opt/contract.h"

#include "opt/rewrite.h"

typedef struct contraction {
    ir_program *p;
    arena *arena;
    uint32_t *uses; /* term -> number of uses within the function at hand; 0 for those outside */
    ir_id *array;   /* array -> what replaces it, 0: nothing */
    uint32_t nodes; /* length of both: the program's when it started */
    bool replaces;  /* some array is replaced */
} contraction;

static void count(contraction *c, ir_id id)
{
    c->uses[id] += id != 0;
}

static void count_loop(contraction *c, const ir_loop *loop)
{
    for (uint32_t i = 0; i < loop->states; i++) {
        count(c, loop->init[i]);
        count(c, loop->next[i]);
    }
    count(c, loop->cond);
    count(c, loop->count);
}

static bool is_sum(const ir_node *n)
{
    return n->kind == IR_OP && (n->op == OP_ADD || n->op == OP_SUB) && ir_type_float((ir_type)n->type);
}

static bool is_product(const ir_program *p, ir_id id)
{
    return ir_at(p, id)->kind == IR_OP && ir_at(p, id)->op == OP_MUL;
}

static void count_uses(contraction *c, const ir_fn *fn, const opt_ids *ids)
{
    for (uint32_t i = 0; i < fn->results; i++)
        count(c, fn->result[i]);
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(c->p, ids->at[i]);
        for (uint32_t k = 0; k < n->n; k++)
            count(c, c->p->arg.at[n->args + k]);
        if (n->kind == IR_LOOP)
            count_loop(c, n->u.loop);
    }
}

static ir_id contract_sum(void *env, ir_id id, const ir_id *operand)
{
    contraction *c = env;
    ir_program *p = c->p;
    ir_node n = *ir_at(p, id);
    if (!is_sum(&n))
        return 0;
    for (unsigned side = 0; side < 2; side++) {
        ir_id product = p->arg.at[n.args + side];
        /* the product, and what has become of it */
        if (!is_product(p, product) || c->uses[product] != 1 || !is_product(p, operand[side]))
            continue;
        ir_id x = ir_args(p, operand[side])[0], y = ir_args(p, operand[side])[1], z = operand[1 - side];
        if (n.op == OP_SUB && side == 0)
            z = ir_op1(p, n.site, OP_NEG, z);
        if (n.op == OP_SUB && side == 1)
            x = ir_op1(p, n.site, OP_NEG, x);
        return ir_op3(p, n.site, OP_FMA, x, y, z);
    }
    return 0;
}

/* --- operations made anew --- */

static ir_id replaced(const contraction *c, ir_id array)
{
    return array < c->nodes && c->array[array] ? c->array[array] : array;
}

static ir_id replace_read(void *env, const ir_node *read, const ir_id *index)
{
    const contraction *c = env;
    ir_id other = replaced(c, read->array);
    if (other == read->array)
        return 0;
    return ir_read(c->p, read->site, other, (uint32_t)read->u.literal, read->flags, read->n, index);
}

/* The terms with what they read replaced and, in functions, products contracted; the same list if nothing changes. */
static ir_id *rebuilt(contraction *c, bool contract, uint32_t n, ir_id *term)
{
    if (!term || !n || (!contract && !c->replaces))
        return term;
    ir_id *out = arena_alloc(c->arena, n * sizeof(ir_id));
    opt_rewrite_ops(c->p, c->arena, contract ? contract_sum : NULL, replace_read, c, n, term, out);
    return memcmp(out, term, n * sizeof(ir_id)) ? out : term;
}

static ir_fn *rebuilt_fn(contraction *c, bool contract, ir_fn *fn)
{
    if (!fn)
        return NULL;
    opt_ids ids = {0};
    if (contract) {
        opt_reach(c->p, c->arena, fn->results, fn->result, &ids);
        count_uses(c, fn, &ids);
    }
    ir_id *result = rebuilt(c, contract, fn->results, fn->result);
    for (uint32_t i = 0; i < ids.n; i++)
        c->uses[ids.at[i]] = 0;
    if (result == fn->result)
        return fn;
    ir_fn *copy = arena_copy(c->arena, fn, sizeof(*fn));
    copy->result = result;
    return copy;
}

static bool rebuild_stencil(contraction *c, ir_array *info, const ir_array *old)
{
    bool changed = false;
    info->stencil = arena_copy(c->arena, old->stencil, old->inputs * sizeof(ir_stencil));
    for (uint32_t i = 0; i < old->inputs; i++) {
        ir_stencil *s = &info->stencil[i];
        s->constant = rebuilt(c, false, ir_info(c->p, old->input[i])->components, s->constant);
        s->function = rebuilt_fn(c, true, s->function);
        changed |= s->constant != old->stencil[i].constant || s->function != old->stencil[i].function;
    }
    return changed;
}

static void rebuild_array(contraction *c, ir_id id)
{
    ir_program *p = c->p;
    const ir_array *old = ir_info(p, id);
    ir_array info = *old;
    ir_node node = *ir_at(p, id);
    bool declared = node.flags & IR_COMMUTES;
    bool contract = node.kind != IR_FOLD || declared || !old->fn || !ir_commutes(p, old->fn);
    info.fn = rebuilt_fn(c, contract, old->fn);
    info.seed = rebuilt(c, false, old->components, old->seed);
    bool changed = info.fn != old->fn || info.seed != old->seed;
    ir_id *shape = rebuilt(c, false, info.rank, info.shape);
    if (shape != info.shape) {
        memcpy(info.shape, shape, info.rank * sizeof(ir_id));
        changed = true;
    }
    if (old->stencil)
        changed |= rebuild_stencil(c, &info, old);
    info.input = arena_copy(c->arena, old->input, old->inputs * sizeof(ir_id));
    for (uint32_t i = 0; i < old->inputs; i++) {
        info.input[i] = replaced(c, old->input[i]);
        changed |= info.input[i] != old->input[i];
    }
    if (!changed)
        return;
    node.u.info = arena_copy(c->arena, &info, sizeof(info));
    vec_push(p->arena, &p->node, node);
    c->array[id] = p->node.n - 1;
    c->replaces = true;
}

void opt_contract(ir_program *p)
{
    contraction c = {.p = p, .arena = p->arena, .nodes = p->node.n};
    c.uses = arena_alloc(p->arena, c.nodes * sizeof(*c.uses));
    c.array = arena_alloc(p->arena, c.nodes * sizeof(*c.array));
    for (ir_id id = 1; id < c.nodes; id++)
        if (ir_is_array(p, id) && ir_at(p, id)->kind != IR_INPUT)
            rebuild_array(&c, id);
    if (!c.replaces)
        return;
    for (uint32_t i = 0; i < p->output.n; i++)
        p->output.at[i] = replaced(&c, p->output.at[i]);
    for (uint32_t i = 0; i < p->check.n; i++) {
        ir_check *check = &p->check.at[i];
        ir_id side[2] = {check->left, check->right};
        const ir_id *now = rebuilt(&c, false, 2, side);
        check->left = now[0];
        check->right = now[1];
    }
}
