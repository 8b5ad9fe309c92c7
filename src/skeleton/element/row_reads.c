/* Indices that grow by one along a row. */
#include "skeleton/element/row_reads.h"

enum { STILL = 1, ONE, ANY }; /* of a term, from one place to the next */

static unsigned step_of(const map64 *of, ir_id term)
{
    unsigned known = map64_get(of, term);
    return known ? known : STILL; /* what is not made of the variable stands still */
}

static unsigned step_of_node(const ir_program *p, const map64 *of, const ir_node *n)
{
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind == IR_LOOP)
        return ANY;
    bool moves = false;
    for (uint32_t k = 0; k < n->n; k++)
        moves |= step_of(of, arg[k]) != STILL;
    if (!moves)
        return STILL;
    unsigned x = step_of(of, arg[0]), y = n->n > 1 ? step_of(of, arg[1]) : STILL;
    if (n->kind == IR_WITHIN)
        return x;
    if (n->kind != IR_OP || n->type != T_I64)
        return ANY;
    if (n->op == OP_ADD && x != ANY && y != ANY && x + y <= STILL + ONE)
        return x + y - STILL;
    return n->op == OP_SUB && y == STILL ? x : ANY;
}

void sk_find_row_reads(sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable, uint32_t states, const ir_id *state,
                       opt_ids *out)
{
    ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    map64 of = {0}, always = {0};
    *out = (opt_ids){0};
    opt_reach(p, lw->arena, n, term, &ids);
    map64_put(lw->arena, &of, variable, ONE);
    for (uint32_t k = 0; k < states; k++)
        map64_put(lw->arena, &of, state[k], ANY);
    for (uint32_t i = 0; i < ids.n; i++) {
        unsigned step = step_of_node(p, &of, ir_at(p, ids.at[i]));
        if (step != STILL)
            map64_put(lw->arena, &of, ids.at[i], step);
    }
    for (uint32_t i = 0; i < n; i++)
        map64_put(lw->arena, &always, term[i], 1);
    for (uint32_t i = ids.n; i-- > 0;) {
        const ir_node *t = ir_at(p, ids.at[i]);
        const ir_id *arg = p->arg.at + t->args;
        if (!map64_get(&always, ids.at[i]) || t->kind == IR_LOOP)
            continue;
        for (uint32_t k = 0; k < (t->kind == IR_COND ? 1 : t->n); k++)
            map64_put(lw->arena, &always, arg[k], 1);
        if (t->kind == IR_WITHIN && t->n == 1 && step_of(&of, arg[0]) != ANY)
            vec_push(lw->arena, out, ids.at[i]);
    }
    map64_free(lw->arena, &of);
    map64_free(lw->arena, &always);
    vec_free(lw->arena, &ids);
}

k_val sk_row_is_there(sk_lower *lw, const opt_ids *within, const k_val *first, const k_val *last)
{
    k_builder *b = &lw->b;
    k_val good = k_literal(b, T_BOOL, 1), zero = k_i64(b, 0);
    for (uint32_t i = 0; i < within->n; i++) {
        const ir_node n = *ir_at(lw->l->ir, within->at[i]);
        k_val below = k_let(b, OP_LT, last[i], sk_extent_within(lw, &n), 0);
        k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, first[i], zero, 0), below, 0);
        good = k_let(b, OP_AND, good, k_let(b, OP_AND, inside, k_let(b, OP_GE, last[i], first[i], 0), 0), 0);
    }
    return good;
}

void sk_note_row_reads(sk_lower *lw, const opt_ids *within)
{
    ir_program *p = lw->l->ir;
    for (uint32_t i = 0; i < within->n; i++) {
        const ir_node *n = ir_at(p, within->at[i]);
        unsigned dimension = ir_within_dimension(n);
        ir_id index = p->arg.at[n->args], array = n->array;
        sk_note_extent(lw, index, dimension == IR_WHOLE ? ir_size(p, array) : ir_info(p, array)->shape[dimension]);
    }
}
