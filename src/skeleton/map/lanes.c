/* What is known of each lane of gangs that always have the same part of an array: all elements of blocks, or all
 * positions of a quotient. */
#include "skeleton/map/map.h"

sk_lanes_term sk_lanes_term_of(const sk_lanes *l, ir_id term)
{
    return l->term[map64_get(&l->number, term)];
}

static sk_lanes_kind kind_of(const sk_lanes *l, ir_id term)
{
    return sk_lanes_term_of(l, term).kind;
}

static sk_lanes_kind kind_of_operator(const sk_lanes *l, const ir_node *n)
{
    const ir_id *arg = l->p->arg.at + n->args;
    bool shared = true, numbered = true;
    for (uint32_t i = 0; i < n->n; i++) {
        const sk_lanes_kind k = kind_of(l, arg[i]);
        shared &= k == SK_LANES_SHARED;
        const ir_node *x = ir_at(l->p, arg[i]);
        numbered &= k == SK_LANES_NUMBERED || x->kind == IR_CONST || (l->told && !x->scope);
        if (k == SK_LANES_UNKNOWN)
            return SK_LANES_UNKNOWN;
    }
    if (shared || n->type != T_I64)
        return shared ? SK_LANES_SHARED : SK_LANES_UNKNOWN;
    const bool known =
        n->op == OP_QUOT || n->op == OP_REM || n->op == OP_DIV || n->op == OP_MOD || n->op == OP_MIN || n->op == OP_MAX;
    if (numbered && (known || n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL))
        return SK_LANES_NUMBERED;
    if (n->op == OP_ADD || n->op == OP_SUB)
        return SK_LANES_SUM;
    const bool product =
        n->op == OP_MUL && (kind_of(l, arg[0]) == SK_LANES_SHARED || kind_of(l, arg[1]) == SK_LANES_SHARED);
    return product ? SK_LANES_SUM : SK_LANES_UNKNOWN;
}

/* Of a quotient or remainder of what has a period: the quotient by all of it is the same for a gang. */
static sk_lanes_kind kind_in_period(const sk_lanes *l, ir_id id)
{
    const ir_node *n = ir_at(l->p, id);
    for (uint32_t i = 0; l->period && i < l->period->n; i++) {
        if (l->period->term[i] != id)
            continue;
        const ir_node *by = ir_at(l->p, l->p->arg.at[n->args + 1]);
        const bool whole = ir_i64_bits(T_I64, by->u.literal) == l->period->by;
        return n->op == OP_REM || n->op == OP_MOD ? SK_LANES_NUMBERED : whole ? SK_LANES_SHARED : SK_LANES_SUM;
    }
    return SK_LANES_UNKNOWN;
}

static sk_lanes_kind find_kind(const sk_lanes *l, ir_id id)
{
    const ir_node *n = ir_at(l->p, id);
    const unsigned d = sk_component(l->at, id);
    const sk_lanes_kind divided = kind_in_period(l, id);
    if (divided != SK_LANES_UNKNOWN)
        return divided;
    if (d)
        return d - 1 < l->column + l->alone      ? SK_LANES_SHARED
               : d - 1 == l->column || l->period ? SK_LANES_SUM
                                                 : SK_LANES_NUMBERED;
    if (id == l->at->linear)
        return SK_LANES_SUM;
    switch (n->kind) {
    case IR_CONST:
    case IR_DIM:
        return SK_LANES_SHARED;
    case IR_VAR: /* of a loop: the number of a round is that of all lanes */
        return map64_get(&l->rounds, id) ? SK_LANES_SHARED : SK_LANES_UNKNOWN;
    case IR_WITHIN:
        return kind_of(l, l->p->arg.at[n->args]);
    case IR_OP:
        return kind_of_operator(l, n);
    default:
        return SK_LANES_UNKNOWN;
    }
}

void sk_find_lanes_terms(sk_lanes *l, const sk_lower *lw, const sk_outputs *out)
{
    opt_reach(lw->l->ir, lw->arena, out->term.n, out->term.at, &l->ids);
    l->term = arena_array(lw->arena, sk_lanes_term, l->ids.n + 1);
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        if (n->kind == IR_LOOP && !n->u.loop->cond && n->u.loop->index)
            map64_put(lw->arena, &l->rounds, n->u.loop->index, 1);
    }
    for (uint32_t i = 0; i < l->ids.n; i++) { /* operands before users */
        const ir_id id = l->ids.at[i];
        const ir_node *n = ir_at(l->p, id);
        const unsigned d = sk_component(l->at, id);
        sk_lanes_term *t = &l->term[i + 1];
        t->kind = find_kind(l, id);
        t->reads = n->kind == IR_READ || n->kind == IR_LOOP;
        t->mentions = (uint8_t)(d > l->column ? 1u << (d - 1 - l->column) : 0u);
        t->bent = t->kind == SK_LANES_NUMBERED && n->kind == IR_OP && n->op != OP_ADD && n->op != OP_SUB;
        for (uint32_t k = 0; k < n->n; k++) {
            const sk_lanes_term of = sk_lanes_term_of(l, l->p->arg.at[n->args + k]);
            t->reads |= of.reads;
            t->bent |= n->kind != IR_READ && of.bent;
            t->mentions |= of.mentions;
        }
        map64_put(lw->arena, &l->number, id, i + 1);
    }
    l->term[0] = (sk_lanes_term){0};
}

/* Do all lanes have the same rounds of a loop, of which there are few? */
static bool same_rounds(const sk_lanes *l, const ir_loop *loop)
{
    enum { FEW = 32 };
    int64_t rounds;
    return !loop->cond && ir_extent_constant(l->p, loop->count, &rounds) && rounds <= FEW;
}

/* Where only some lanes read it is not known which. */
bool sk_lanes_know_reads(const sk_lanes *l)
{
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        const ir_id *arg = l->p->arg.at + n->args;
        if ((n->kind == IR_LOOP && !same_rounds(l, n->u.loop)) ||
            (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES) ||
            (n->kind == IR_COND && (sk_lanes_term_of(l, arg[1]).reads || sk_lanes_term_of(l, arg[2]).reads)))
            return false;
        for (uint32_t k = 0; k < n->n && n->kind == IR_READ; k++)
            if (kind_of(l, arg[k]) == SK_LANES_UNKNOWN)
                return false;
    }
    return true;
}
