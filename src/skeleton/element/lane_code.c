#include "skeleton/element/lane_code.h"

/* How a term depends on which of a lane's elements it is for. */
enum { DIGITS = 1, VARIABLE = 2, KNOWN = 4 /* it is a number then */ };

static uint32_t dependence_of(const ir_program *p, const sk_lane *lane, const map64 *of, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    const ir_id *arg = p->arg.at + n->args;
    uint32_t mentions = id == lane->variable ? VARIABLE : 0, known = n->kind == IR_CONST ? KNOWN : 0;
    for (unsigned d = 0; d < lane->digits; d++)
        if (id == lane->digit[d])
            return DIGITS | KNOWN;
    if (n->kind == IR_OP && !n->partial)
        known = KNOWN;
    for (uint32_t k = 0; k < n->n; k++) {
        const uint32_t operand = map64_get(of, arg[k]);
        mentions |= operand & (DIGITS | VARIABLE);
        known &= operand;
    }
    return mentions | known;
}

sk_lane_code sk_code_of_lane(const ir_program *p, arena *a, const opt_ids *ids, const sk_lane *lane)
{
    map64 of = {0};
    sk_lane_code code = {0};
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        const uint32_t depends = dependence_of(p, lane, &of, ids->at[i]);
        const bool made = n->kind == IR_COND && map64_get(&of, p->arg.at[n->args]) & KNOWN;
        const bool works = (n->kind == IR_OP || n->kind == IR_COND) && n->type != T_I64;
        if (depends)
            map64_put(a, &of, ids->at[i], depends);
        if (depends & KNOWN || made)
            continue;
        code.terms += (depends & DIGITS ? lane->elements : 1) * (depends & VARIABLE ? lane->steps : 1);
        code.own += depends & DIGITS;
        code.work += works;
        code.own_work += works && depends & DIGITS;
    }
    map64_free(a, &of);
    return code;
}
