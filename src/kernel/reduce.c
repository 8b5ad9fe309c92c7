/* Strength reduction: the quotient and the remainder of a loop's index by something that does not change go along with
 * the index. A division takes as long as dozens of additions, and there would be one in every turn.
 *
 * Only where the divisor is at least 1, and the index not negative, so that it does not matter how quotients are
 * rounded; and not in kernels whose indices are known to have 32 bits, where divisions are cheap, and variables no
 * index arithmetic. */
#include "kernel/edit.h"
#include "kernel/passes.h"
#include "kernel/ranges.h"

enum { MOST_DIVISORS = 8 }; /* of one loop: each keeps two values */

typedef struct divisor {
    k_val by;
    k_val quotient, rest; /* variables; quotient 0: nobody wants it */
} divisor;

typedef struct reducing {
    k_edit e;
    k_builder b; /* for literals */
    k_ranges ranges;
    k_ref loop; /* whose body is looked at */
    divisor divisor[MOST_DIVISORS];
    unsigned divisors;
} reducing;

static bool divides(const k_stmt *s)
{
    return s->op == K_LET && (s->sub == OP_QUOT || s->sub == OP_REM || s->sub == OP_DIV || s->sub == OP_MOD);
}

/* Is it there before the loop? */
static bool before(const reducing *r, k_val v)
{
    const k_value *x = &r->e.k->value.at[v];
    return x->kind == KV_LITERAL || x->kind == KV_ARG || (x->kind == KV_RESULT && r->e.owner.at[x->def] != r->loop);
}

static bool suits(const reducing *r, k_ref at)
{
    const kernel *k = r->e.k;
    const k_stmt *s = &k->stmt.at[at], *loop = &k->stmt.at[r->loop];
    if (!divides(s) || s->in[0] != loop->dst || !before(r, s->in[1]))
        return false;
    return r->ranges.of[loop->dst].low >= 0 && r->ranges.of[s->in[1]].low >= 1;
}

static k_val new_value(kernel *k, k_value_kind kind, ir_type t)
{
    vec_push(k->arena, &k->value, ((k_value){.kind = (uint8_t)kind, .type = (uint8_t)t}));
    return k->value.n - 1;
}

/* A value computed in front of the loop, or at the end of its body. */
static k_val compute(reducing *r, bool last, k_stmt s, k_value_kind kind, ir_type t)
{
    s.dst = new_value(r->e.k, kind, t);
    if (last)
        k_insert_last(&r->e, r->loop, &s);
    else
        k_insert(&r->e, r->loop, &s);
    return s.dst;
}

static k_val begin(reducing *r, ir_op op, k_val by)
{
    k_val first = r->e.k->stmt.at[r->loop].in[0];
    k_val x = compute(r, false, (k_stmt){.op = K_LET, .sub = (uint8_t)op, .in = {first, by}}, KV_RESULT, T_I64);
    return compute(r, false, (k_stmt){.op = K_DECL, .in = {x}}, KV_VARIABLE, T_I64);
}

/* The divisor's variables; NULL: there are too many. */
static divisor *find(reducing *r, k_val by)
{
    for (unsigned i = 0; i < r->divisors; i++)
        if (r->divisor[i].by == by)
            return &r->divisor[i];
    if (r->divisors == MOST_DIVISORS)
        return NULL;
    r->divisor[r->divisors] = (divisor){.by = by, .rest = begin(r, OP_REM, by)};
    return &r->divisor[r->divisors++];
}

static k_val in_turn(reducing *r, ir_op op, k_val x, k_val y, ir_type t)
{
    return compute(r, true, (k_stmt){.op = K_LET, .sub = (uint8_t)op, .in = {x, y}}, KV_RESULT, t);
}

static void set(reducing *r, k_val variable, k_val value)
{
    k_insert_last(&r->e, r->loop, &(k_stmt){.op = K_SET, .dst = variable, .in = {value}});
}

static k_val chosen(reducing *r, k_val condition, k_val x, k_val y)
{
    return compute(r, true, (k_stmt){.op = K_SELECT, .in = {condition, x, y}}, KV_RESULT, T_I64);
}

/* To the next index: the remainder grows until it is the divisor, which is one more of the quotient. */
static void go_along(reducing *r, const divisor *d)
{
    k_val one = k_i64(&r->b, 1);
    k_val rest = in_turn(r, OP_ADD, d->rest, one, T_I64);
    k_val full = in_turn(r, OP_EQ, rest, d->by, T_BOOL);
    set(r, d->rest, chosen(r, full, k_i64(&r->b, 0), rest));
    if (!d->quotient)
        return;
    k_val now = compute(r, true, (k_stmt){.op = K_LET, .sub = OP_BITCAST, .in = {d->quotient}}, KV_RESULT, T_I64);
    set(r, d->quotient, chosen(r, full, in_turn(r, OP_ADD, now, one, T_I64), now));
}

static void reduce_loop(reducing *r, k_ref loop)
{
    kernel *k = r->e.k;
    r->loop = loop;
    r->divisors = 0;
    for (k_ref at = k->stmt.at[loop].body; at; at = k->stmt.at[at].next) {
        divisor *d = suits(r, at) ? find(r, k->stmt.at[at].in[1]) : NULL;
        if (!d)
            continue;
        bool quotient = k->stmt.at[at].sub == OP_QUOT || k->stmt.at[at].sub == OP_DIV;
        if (quotient && !d->quotient)
            d->quotient = begin(r, OP_QUOT, d->by);
        k_stmt *s = &k->stmt.at[at];
        *s = (k_stmt){
            .op = K_LET, .sub = OP_BITCAST, .dst = s->dst, .in = {quotient ? d->quotient : d->rest}, .next = s->next};
    }
    for (unsigned i = 0; i < r->divisors; i++)
        go_along(r, &r->divisor[i]);
}

void k_reduce(kernel *k, arena *a)
{
    if (k->narrow)
        return;
    reducing r = {.ranges = k_ranges_start(k, a)};
    VEC(k_ref) loops = {0};
    k_begin(&r.b, k);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        k_ranges_meet(&r.ranges, s);
        if (s->op == K_FOR && !s->sub)
            vec_push(a, &loops, w.at);
    }
    if (loops.n)
        k_edit_begin(&r.e, k, a);
    for (uint32_t i = 0; i < loops.n; i++)
        reduce_loop(&r, loops.at[i]);
}
