/* Contraction of products into sums, function by function. */
#include "opt/contract.h"

#include "opt/remake.h"

typedef struct contraction {
    ir_program *p;
    opt_remake remake;
    uint32_t *uses; /* term -> number of uses within the function at hand; 0 for those outside */
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

static ir_fn *contract_function(void *env, ir_id array, ir_fn *fn)
{
    contraction *c = env;
    (void)array;
    opt_ids ids = {0};
    opt_reach(c->p, c->p->arena, fn->results, fn->result, &ids);
    count_uses(c, fn, &ids);
    ir_fn *made = opt_remake_function(&c->remake, contract_sum, c, fn);
    for (uint32_t i = 0; i < ids.n; i++)
        c->uses[ids.at[i]] = 0;
    vec_free(c->p->arena, &ids);
    return made;
}

void opt_contract(ir_program *p)
{
    if (p->contracted)
        return;
    p->contracted = true;
    const uint32_t nodes = p->node.n;
    contraction c = {.p = p, .uses = arena_array(p->arena, *c.uses, nodes)};
    opt_remake_begin(&c.remake, p);
    c.remake.function = contract_function;
    c.remake.env = &c;
    for (ir_id id = 1; id < c.remake.nodes; id++)
        if (ir_is_array(p, id) && ir_at(p, id)->kind != IR_INPUT)
            opt_remake_array(&c.remake, id);
    opt_remake_end(&c.remake);
    arena_release(p->arena, c.uses, nodes * sizeof(*c.uses));
}
