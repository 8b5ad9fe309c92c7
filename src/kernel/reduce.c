/* Strength reduction: the quotient and the remainder of a loop's index by something that does not change go along with
 * the index. A division takes as long as dozens of additions, and there would be one in every turn, or in every lane of
 * a loop in it.
 *
 * Only where the divisor is not negative, and the index not either, so that it does not matter how quotients are
 * rounded. A divisor that may be 0, as an extent may, is taken as 1 then: nobody looks at a quotient by 0. Not where a
 * condition decides whether it is divided, and not in kernels whose indices are known to have 32 bits, where divisions
 * are cheap, and variables no index arithmetic. */
#include "kernel/edit.h"
#include "kernel/passes.h"
#include "kernel/ranges.h"

enum { MOST_DIVISORS = 8 }; /* of one loop: each keeps two values */

typedef struct divisor {
    k_val of;                     /* as it is written */
    k_val by;                     /* at least 1 */
    k_val quotient, rest;         /* variables; quotient 0: nobody wants it */
    k_val quotient_now, rest_now; /* values at the beginning of a turn, for loops in this one; 0: none wants them */
} divisor;

typedef struct reducing {
    k_edit e;
    k_builder b; /* for literals */
    k_ranges ranges;
    uint32_t *last;     /* per statement that is a loop: 1 + the last one of these that belongs to it; 0: none */
    VEC(k_ref) at;      /* divisions */
    VEC(uint32_t) next; /* the one before it that belongs to the same loop, as in `last` */
    k_ref loop;         /* whose divisions are looked at */
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
    enum { FAR = 64 };
    const k_value *x = &r->e.k->value.at[v];
    if (x->kind == KV_LITERAL || x->kind == KV_ARG)
        return true;
    if (x->kind != KV_RESULT || x->def == r->loop)
        return false;
    k_ref around = r->e.owner.at[x->def];
    for (unsigned n = 0; around && around != r->loop && n < FAR; n++)
        around = r->e.owner.at[around];
    return !around;
}

/* The counted loop whose index is divided here, in its body or in loops in it; 0: there is none. */
static k_ref loop_of(const kernel *k, const k_walk *w)
{
    const k_stmt *s = &k->stmt.at[w->at];
    const k_value *x = &k->value.at[s->in[0]];
    if (!divides(s) || x->kind != KV_RESULT || k->stmt.at[x->def].op != K_FOR || k->stmt.at[x->def].sub)
        return 0;
    for (uint32_t i = w->open.n; i-- > 0;) {
        k_ref around = k_walk_open(w, i);
        if (around == x->def)
            return around;
        if (k->stmt.at[around].op != K_FOR_ALL && k->stmt.at[around].op != K_FOR)
            return 0;
    }
    return 0;
}

static bool suits(const reducing *r, k_ref at)
{
    const kernel *k = r->e.k;
    const k_stmt *s = &k->stmt.at[at], *loop = &k->stmt.at[r->loop];
    return before(r, s->in[1]) && r->ranges.of[loop->dst].low >= 0 && r->ranges.of[s->in[1]].low >= 0;
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
        if (r->divisor[i].of == by)
            return &r->divisor[i];
    if (r->divisors == MOST_DIVISORS)
        return NULL;
    divisor *d = &r->divisor[r->divisors++];
    *d = (divisor){.of = by, .by = by};
    if (r->ranges.of[by].low < 1)
        d->by = compute(r, false, (k_stmt){.op = K_LET, .sub = OP_MAX, .in = {by, k_i64(&r->b, 1)}}, KV_RESULT, T_I64);
    d->rest = begin(r, OP_REM, d->by);
    return d;
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

/* What a variable holds at the beginning of a turn. */
static k_val at_first(reducing *r, k_val variable, k_val *now)
{
    kernel *k = r->e.k;
    if (!*now) {
        *now = new_value(k, KV_RESULT, T_I64);
        k_stmt s = {.op = K_LET, .sub = OP_BITCAST, .dst = *now, .in = {variable}};
        k_insert(&r->e, k->stmt.at[r->loop].body, &s);
    }
    return *now;
}

static void replace(reducing *r, k_ref at, divisor *d)
{
    kernel *k = r->e.k;
    bool quotient = k->stmt.at[at].sub == OP_QUOT || k->stmt.at[at].sub == OP_DIV;
    if (quotient && !d->quotient)
        d->quotient = begin(r, OP_QUOT, d->by);
    k_val x = quotient ? d->quotient : d->rest;
    if (r->e.owner.at[at] != r->loop)
        x = at_first(r, x, quotient ? &d->quotient_now : &d->rest_now);
    k_stmt *s = &k->stmt.at[at];
    *s = (k_stmt){.op = K_LET, .sub = OP_BITCAST, .dst = s->dst, .in = {x}, .next = s->next};
}

static void reduce_loop(reducing *r, k_ref loop)
{
    r->loop = loop;
    r->divisors = 0;
    for (uint32_t i = r->last[loop]; i; i = r->next.at[i - 1]) {
        divisor *d = suits(r, r->at.at[i - 1]) ? find(r, r->e.k->stmt.at[r->at.at[i - 1]].in[1]) : NULL;
        if (d)
            replace(r, r->at.at[i - 1], d);
    }
    for (unsigned i = 0; i < r->divisors; i++)
        go_along(r, &r->divisor[i]);
}

void k_reduce(kernel *k, arena *a)
{
    if (k->narrow)
        return;
    reducing r = {.ranges = k_ranges_start(k, a), .last = arena_array(a, uint32_t, k->stmt.n)};
    VEC(k_ref) loops = {0};
    k_begin(&r.b, k);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event != K_WALK_AT)
            continue;
        k_ranges_meet(&r.ranges, &k->stmt.at[w.at]);
        k_ref loop = loop_of(k, &w);
        if (!loop)
            continue;
        if (!r.last[loop])
            vec_push(a, &loops, loop);
        vec_push(a, &r.at, w.at);
        vec_push(a, &r.next, r.last[loop]);
        r.last[loop] = r.at.n;
    }
    if (loops.n)
        k_edit_begin(&r.e, k, a);
    for (uint32_t i = 0; i < loops.n; i++)
        reduce_loop(&r, loops.at[i]);
}
