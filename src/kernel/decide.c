/* What is known where it stands. Intervals (ranges.h) decide comparisons, minima, maxima and absolute values of index
 * arithmetic, for every launch: arguments may be anything, but where every launch of the kernel is known to have
 * indices of 32 bits. An IF, a CHECK and a BREAK_IF decide their own condition for what comes after them. */
#include "kernel/edit.h"
#include "kernel/passes.h"
#include "kernel/ranges.h"

typedef enum { OPEN, HOLDS, FAILS } truth;

typedef struct deciding {
    kernel *k;
    arena *arena;
    k_builder b;
    k_ranges ranges;
    uint32_t values;     /* the kernel's when the pass began: the length of what is per value */
    k_val *stands;       /* per value: what is used in its place */
    uint8_t *truth;      /* per value: what is known of a condition here */
    VEC(k_val) learnt;   /* conditions of which something is known, in the order in which it was learnt */
    VEC(uint32_t) mark;  /* per open list: learnt.n at its start */
    bool exchanges;      /* lanes may take values from lanes that a CHECK has taken away */
    VEC(k_ref) resolved; /* IFs whose condition is known */
} deciding;

/* --- intervals --- */

static truth compare(ir_op op, k_range x, k_range y)
{
    switch (op) {
    case OP_LT:
        return x.high < y.low ? HOLDS : x.low >= y.high ? FAILS : OPEN;
    case OP_LE:
        return x.high <= y.low ? HOLDS : x.low > y.high ? FAILS : OPEN;
    case OP_GT:
        return compare(OP_LT, y, x);
    case OP_GE:
        return compare(OP_LE, y, x);
    case OP_EQ:
        return x.high < y.low || y.high < x.low                       ? FAILS
               : x.low == x.high && y.low == y.high && x.low == y.low ? HOLDS
                                                                      : OPEN;
    case OP_NE: {
        truth same = compare(OP_EQ, x, y);
        return same == OPEN ? OPEN : same == HOLDS ? FAILS : HOLDS;
    }
    default:
        return OPEN;
    }
}

/* --- values --- */

static k_val truth_value(deciding *d, truth t)
{
    return k_literal(&d->b, T_BOOL, t == HOLDS);
}

static bool literal_is(const kernel *k, k_val v, bool wanted)
{
    const k_value *x = &k->value.at[v];
    return x->kind == KV_LITERAL && x->type == T_BOOL && (x->bits != 0) == wanted;
}

/* Of conditions: the operand that decides, or is left. */
static k_val combined(deciding *d, const k_stmt *s)
{
    const kernel *k = d->k;
    bool neutral = s->sub == OP_AND;
    if (s->sub == OP_NOT && literal_is(k, s->in[0], true))
        return truth_value(d, FAILS);
    if (s->sub == OP_NOT && literal_is(k, s->in[0], false))
        return truth_value(d, HOLDS);
    for (unsigned i = 0; (s->sub == OP_AND || s->sub == OP_OR) && i < 2; i++) {
        if (literal_is(k, s->in[i], neutral))
            return s->in[1 - i];
        if (literal_is(k, s->in[i], !neutral))
            return s->in[i];
    }
    return 0;
}

static k_val of_indices(deciding *d, const k_stmt *s)
{
    if (ir_ops[s->sub].arity == 2 && s->in[1] >= d->values)
        return 0;
    k_range x = d->ranges.of[s->in[0]], y = ir_ops[s->sub].arity == 2 ? d->ranges.of[s->in[1]] : x;
    switch ((ir_op)s->sub) {
    case OP_ABS:
        return x.low >= 0 ? s->in[0] : 0;
    case OP_MIN:
        return x.high <= y.low ? s->in[0] : y.high <= x.low ? s->in[1] : 0;
    case OP_MAX:
        return x.low >= y.high ? s->in[0] : y.low >= x.high ? s->in[1] : 0;
    default: {
        truth t = compare((ir_op)s->sub, x, y);
        return t == OPEN ? 0 : truth_value(d, t);
    }
    }
}

/* What the value is, if that is known; 0: it is not. */
static k_val decided(deciding *d, const k_stmt *s)
{
    const k_value *value = d->k->value.at;
    k_val v = 0;
    if (s->op == K_SELECT && value[s->in[0]].kind == KV_LITERAL)
        v = s->in[value[s->in[0]].bits ? 1 : 2];
    else if (s->op == K_LET && value[s->in[0]].type == T_BOOL)
        v = combined(d, s);
    else if (s->op == K_LET && value[s->in[0]].type == T_I64 && s->in[0] < d->values)
        v = of_indices(d, s);
    if (!v || d->k->value.at[v].kind == KV_VARIABLE)
        return 0;
    /* Whether indices fit in 32 bits was asked of what was index arithmetic before: nothing more becomes such. */
    return v < d->values && d->ranges.index[v] && !d->ranges.index[s->dst] ? 0 : v;
}

/* --- conditions --- */

static void learn_one(deciding *d, k_val v, bool holds)
{
    if (v >= d->values || d->k->value.at[v].kind != KV_RESULT || d->truth[v] != OPEN)
        return;
    d->truth[v] = holds ? HOLDS : FAILS;
    vec_push(d->arena, &d->learnt, v);
}

/* What follows of a condition's parts, if they are few. */
static void learn(deciding *d, k_val v, bool holds)
{
    enum { MOST = 16 };
    k_val open[MOST] = {v};
    bool as[MOST] = {holds};
    for (unsigned n = 1; n;) {
        const k_value *x = &d->k->value.at[v = open[--n]];
        bool now = as[n];
        const k_stmt *s = &d->k->stmt.at[x->def];
        learn_one(d, v, now);
        if (x->kind != KV_RESULT || s->op != K_LET || n + 2 > MOST)
            continue;
        bool both = (s->sub == OP_AND && now) || (s->sub == OP_OR && !now);
        for (unsigned i = 0; i < 2 && both; i++, n++) {
            open[n] = s->in[i];
            as[n] = now;
        }
        if (s->sub == OP_NOT) {
            open[n] = s->in[0];
            as[n++] = !now;
        }
    }
}

static void open_list(deciding *d)
{
    vec_push(d->arena, &d->mark, d->learnt.n);
}

static void close_list(deciding *d)
{
    uint32_t mark = d->mark.at[--d->mark.n];
    while (d->learnt.n > mark)
        d->truth[d->learnt.at[--d->learnt.n]] = OPEN;
}

static void replace(void *env, k_val *v)
{
    deciding *d = env;
    if (*v >= d->values)
        return;
    *v = d->stands[*v];
    if (*v < d->values && d->truth[*v] != OPEN)
        *v = truth_value(d, (truth)d->truth[*v]);
}

/* --- the walk --- */

/* A CHECK that fails where it stands, and a way out of a loop, keep the condition that is asked there. */
static void keep_condition(deciding *d, k_ref r, k_val condition)
{
    k_stmt *s = &d->k->stmt.at[r];
    if (s->op == K_BREAK_IF || (s->op == K_CHECK && literal_is(d->k, s->in[0], false)))
        s->in[0] = d->stands[condition];
}

static void visit(deciding *d, const k_walk *w)
{
    kernel *k = d->k;
    const k_val condition = k->stmt.at[w->at].in[0];
    k_each_operand(k, w->at, replace, d);
    keep_condition(d, w->at, condition);
    const k_stmt s = k->stmt.at[w->at];
    k_ranges_meet(&d->ranges, &s);
    k_val v = s.op == K_LET || s.op == K_SELECT ? decided(d, &s) : 0;
    if (v) {
        d->stands[s.dst] = v;
        k_remove(k, w->at);
        return;
    }
    if (k_compound(&s))
        open_list(d);
    if (s.op == K_IF && k->value.at[s.in[0]].kind == KV_LITERAL)
        vec_push(d->arena, &d->resolved, w->at);
    else if (s.op == K_IF)
        learn(d, s.in[0], true);
    else if (s.op == K_BREAK_IF)
        learn(d, s.in[0], false);
    else if (s.op == K_CHECK && literal_is(k, s.in[0], true))
        k_remove(k, w->at);
    else if (s.op == K_CHECK && w->for_all && !d->exchanges) /* a piece that fails goes on in some way of its own */
        learn(d, s.in[0], true);
}

static void leave(deciding *d, k_ref r)
{
    const k_stmt *s = &d->k->stmt.at[r];
    close_list(d);
    for (unsigned j = 0; s->op == K_CHAIN && j < s->chain->arity; j++)
        replace(d, &s->chain->result[j]);
}

/* The branch that is taken stands in place of the IF. */
static void resolve(kernel *k, k_ref r)
{
    const k_stmt s = k->stmt.at[r];
    k_ref first = k->value.at[s.in[0]].bits ? s.body : s.orelse, last = first;
    k_remove(k, r);
    while (last && k->stmt.at[last].next)
        last = k->stmt.at[last].next;
    if (!first)
        return;
    k->stmt.at[last].next = s.next;
    k->stmt.at[r].next = first;
}

void k_decide(kernel *k, arena *a)
{
    deciding d = {.k = k, .arena = a, .ranges = k_ranges_start(k, a), .values = k->value.n};
    k_begin(&d.b, k);
    d.stands = arena_array(a, *d.stands, d.values);
    d.truth = arena_alloc(a, d.values);
    for (k_val v = 0; v < d.values; v++)
        d.stands[v] = v;
    for (k_ref r = 1; r < k->stmt.n; r++)
        d.exchanges |= k->stmt.at[r].op == K_SHUFFLE;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event == K_WALK_AT) {
            visit(&d, &w);
        } else if (w.event == K_WALK_ELSE) {
            close_list(&d);
            open_list(&d);
            learn(&d, s->in[0], false);
        } else {
            leave(&d, w.at);
        }
    }
    for (uint32_t i = 0; i < d.resolved.n; i++)
        resolve(k, d.resolved.at[i]);
    k_sweep(k);
}
