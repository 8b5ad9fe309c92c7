/* Contraction of products into sums, function by function. */
#include "opt/contract.h"

#include "opt/rewrite.h"

typedef struct contraction {
    ir_program *p;
    arena *arena;
    map64 uses; /* term -> number of uses within the function */
    bool any;
} contraction;

static void count(contraction *c, ir_id id)
{
    if (id)
        map64_put(c->arena, &c->uses, id, map64_get(&c->uses, id) + 1);
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

static void count_uses(contraction *c, const ir_fn *fn)
{
    opt_ids ids = {0};
    opt_reach(c->p, c->arena, fn->results, fn->result, &ids);
    c->uses = (map64){0};
    c->any = false;
    for (uint32_t i = 0; i < fn->results; i++)
        count(c, fn->result[i]);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(c->p, ids.at[i]);
        bool sum = is_sum(n);
        for (uint32_t k = 0; k < n->n; k++) {
            ir_id operand = c->p->arg.at[n->args + k];
            count(c, operand);
            c->any |= sum && is_product(c->p, operand);
        }
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
        if (!is_product(p, product) || map64_get(&c->uses, product) != 1 || !is_product(p, operand[side]))
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

static void contract_fn(ir_program *p, ir_fn *fn)
{
    contraction c = {.p = p, .arena = p->arena};
    count_uses(&c, fn);
    if (c.any)
        opt_rewrite_ops(p, p->arena, contract_sum, &c, fn->results, fn->result, fn->result);
}

void opt_contract(ir_program *p)
{
    uint32_t nodes = p->node.n;
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id))
            continue;
        const ir_array *info = ir_info(p, id);
        bool declared = ir_at(p, id)->flags & IR_COMMUTES;
        if (!info->fn || (ir_at(p, id)->kind == IR_FOLD && !declared && ir_commutes(p, info->fn)))
            continue;
        contract_fn(p, info->fn);
        for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
            if (info->stencil[i].function)
                contract_fn(p, info->stencil[i].function);
    }
}
