/* While loops in eager turns. Such a loop of simple arithmetic costs more in masks, tests and branches than in work.
 * Where no lane has left for a while, several turns are taken at once on copies of the state; if every test held in
 * every lane that was on, the copies become the state. Otherwise the turns are taken again one by one, each lane
 * stopping where it must.
 *
 * The gang goes round together, the lanes that are on in a variable of the loop's own. States that are the same in all
 * lanes that are on (counters) so stay scalars, and so do the parts of the test that depend on nothing else; a lane
 * takes their values with it when it leaves. */
#include "skeleton/element/eager.h"

#include "opt/rewrite.h"

#include <math.h>

enum {
    EAGER_WORK = 96, /* steps in one group of eager turns, about */
    LEAST_TURNS = 4,
    MOST_TURNS = 12,
    CAREFUL_TURNS = 4,
    EAGER_STEPS = 48, /* the largest loop */
    CALM = 3,         /* groups of careful turns without a lane leaving, after which turns are eager */
    MOST_PARTS = 4
};

typedef struct bound { /* a part of the test that compares x with a limit that is the same in all turns */
    ir_id x, limit;
    ir_op op;      /* x op limit; LT, LE, or for integers GT, GE, too */
    ir_op worse;   /* of two x: MAX or MIN */
    k_val extreme; /* the worst x in the turns so far, floats by their bits as unsigned integers; 0: none yet */
    ir_id part[MOST_PARTS]; /* floats: x < limit holds where all of these are below 2; none: that is not known */
    unsigned parts;
    k_val ored;  /* the bits of the parts in the turns so far */
    k_val edge;  /* plain bounds: a literal; x keeps its bound where its bits are below, or above for MIN */
    k_val worst; /* plain loops: variable, the worst x of a lane's careful turns; lanes that left are past `edge` */
} bound;

typedef struct eager {
    sk_lower *lw;
    const ir_step *s;
    const ir_loop *loop;
    VEC(ir_id) conjunct; /* the test is all of them */
    VEC(bound) bound;    /* those of them that eager turns need not look at one by one */
    bool *shared;        /* per state: the same in all lanes that are on */
    k_val *variable;     /* per state */
    k_val *left;         /* per shared state that is read after the loop: a lane's value when it left */
    k_val *state;        /* per state: the values in the turn being emitted */
    bool plain;          /* what lanes test for themselves is plain bounds only */
    k_val on, calm;      /* variables */
    k_val doubted; /* variable: the quick tests of bounds failed, and no lane has left since; 0: no bound has one */
    map64 same;    /* term of the test or the body -> 1 + whether it is the same in all lanes that are on */
} eager;

/* --- which loops --- */

/* only total arithmetic and selects */
static bool simple_block(const sk_lower *lw, const ir_block *block)
{
    for (uint32_t i = 0; block && i < block->step.n; i++) {
        const ir_step *s = &block->step.at[i];
        const ir_node *n = ir_at(lw->l->ir, s->term);
        if (n->partial || !(n->kind == IR_OP || (n->kind == IR_COND && !s->then)))
            return false;
        if (n->kind == IR_OP && (ir_ops[n->op].flags & OP_MATH))
            return false;
    }
    return true;
}

static uint32_t steps_of(const ir_step *s)
{
    return (s->test ? s->test->step.n : 0) + (s->body ? s->body->step.n : 0);
}

bool sk_may_run_eagerly(const sk_lower *lw, const ir_step *s)
{
    const ir_loop *loop = ir_at(lw->l->ir, s->term)->u.loop;
    return loop->cond && lw->options->vector_bytes && simple_block(lw, s->test) && simple_block(lw, s->body) &&
           steps_of(s) <= EAGER_STEPS;
}

/* --- what is the same in all lanes that are on --- */

static bool same_term(const eager *e, ir_id term)
{
    uint32_t known = map64_get(&e->same, term);
    return known ? known == 2 : ir_at(e->lw->l->ir, term)->scope == 0;
}

static void note(eager *e, ir_id term, bool same)
{
    map64_put(e->lw->arena, &e->same, term, same ? 2 : 1);
}

/* Operands come before their users. */
static void note_block(eager *e, const ir_block *block)
{
    const ir_program *p = e->lw->l->ir;
    for (uint32_t i = 0; block && i < block->step.n; i++) {
        ir_id term = block->step.at[i].term;
        bool same = true;
        for (uint32_t k = 0; k < ir_at(p, term)->n; k++)
            same &= same_term(e, ir_args(p, term)[k]);
        note(e, term, same);
    }
}

/* The largest set of states that start the same and whose next values depend on nothing but themselves. */
static void find_shared(eager *e)
{
    const ir_loop *loop = e->loop;
    e->shared = arena_array(e->lw->arena, bool, loop->states);
    for (uint32_t i = 0; i < loop->states; i++)
        e->shared[i] = ir_at(e->lw->l->ir, loop->init[i])->scope == 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < loop->states; i++)
            note(e, loop->var[i], e->shared[i]);
        note_block(e, e->s->test);
        note_block(e, e->s->body);
        for (uint32_t i = 0; i < loop->states; i++) {
            if (!e->shared[i] || same_term(e, loop->next[i]))
                continue;
            e->shared[i] = false;
            changed = true;
        }
    }
}

static void find_conjuncts(eager *e)
{
    const ir_program *p = e->lw->l->ir;
    vec_push(e->lw->arena, &e->conjunct, e->loop->cond);
    for (uint32_t i = 0; i < e->conjunct.n;) {
        const ir_node *n = ir_at(p, e->conjunct.at[i]);
        if (n->kind != IR_OP || n->op != OP_AND) {
            i++;
            continue;
        }
        const ir_id *arg = ir_args(p, e->conjunct.at[i]);
        e->conjunct.at[i] = arg[0];
        vec_push(e->lw->arena, &e->conjunct, arg[1]);
    }
}

/* --- bounds ---
 * Numbers that are not negative are ordered like their bits, NaNs last. So in place of x < limit in each of several
 * turns, the largest bits of x are compared with the limit once. That is right for every x, if the sign of the largest
 * is looked at, too; but worth it only where negative ones are not to be expected. */

static bool at_least_zero(const ir_program *p, ir_id term, bool minus_0)
{
    enum { DEEP = 4 };
    ir_id left[DEEP] = {term};
    for (unsigned n = 1; n > 0;) {
        ir_id t = left[--n];
        const ir_node *x = ir_at(p, t);
        const ir_id *arg = x->kind == IR_OP ? ir_args(p, t) : NULL;
        if (!arg)
            return false;
        if (x->op == OP_ABS || (x->op == OP_SQRT && minus_0) || (x->op == OP_MUL && arg[0] == arg[1]))
            continue;
        if (n + 2 > DEEP || !(x->op == OP_ADD || (x->op == OP_FMA && arg[0] == arg[1])))
            return false;
        left[n++] = arg[x->n - 1];
        if (x->op == OP_ADD)
            left[n++] = arg[0];
    }
    return true;
}

static ir_op turned(ir_op op)
{
    return op == OP_LT ? OP_GT : op == OP_LE ? OP_GE : op == OP_GT ? OP_LT : OP_LE;
}

static bool as_bound(const eager *e, ir_id test, bound *out)
{
    const ir_program *p = e->lw->l->ir;
    const ir_node *n = ir_at(p, test);
    if (n->kind != IR_OP || !(n->op == OP_LT || n->op == OP_LE || n->op == OP_GT || n->op == OP_GE) ||
        same_term(e, test))
        return false;
    const ir_id *arg = ir_args(p, test);
    bool right = map64_get(&e->same, arg[1]); /* the limit is not computed in the loop */
    *out = (bound){.x = arg[right], .limit = arg[!right], .op = right ? turned((ir_op)n->op) : (ir_op)n->op};
    bool upper = out->op == OP_LT || out->op == OP_LE;
    out->worse = upper ? OP_MAX : OP_MIN;
    ir_type t = (ir_type)ir_at(p, out->x)->type;
    if (map64_get(&e->same, out->limit) || t == T_BOOL || t == T_CHAR)
        return false;
    if (ir_type_size(t) == 8 && e->lw->options->vector_bytes < 64)
        return false; /* no such maxima */
    return !ir_type_float(t) || (upper && at_least_zero(p, out->x, true));
}

/* Numbers that are not negative are below 2 where the or of their bits is, as the exponent of 2 is a single bit above
 * those of all smaller numbers. Two numbers cost one instruction, in place of two maxima. So if the limit is large
 * enough, looking at the summands of x will do, which the body often computes anyway: where it does, x itself needs not
 * be computed. */
static void find_parts(eager *e, bound *b)
{
    ir_program *p = e->lw->l->ir;
    if (!ir_type_float((ir_type)ir_at(p, b->x)->type))
        return;
    opt_ids body = {0};
    opt_reach(p, e->lw->arena, e->loop->states, e->loop->next, &body);
    map64 in_body = {0};
    for (uint32_t i = 0; i < body.n; i++)
        map64_put(e->lw->arena, &in_body, body.at[i], 1);
    ir_id left[MOST_PARTS] = {b->x};
    for (unsigned n = 1; n > 0;) {
        ir_id t = left[--n];
        const ir_node *x = ir_at(p, t);
        bool sum = x->kind == IR_OP && x->op == OP_ADD && !map64_get(&in_body, t);
        if (sum && b->parts + n + 2 <= MOST_PARTS) {
            left[n++] = ir_args(p, t)[0];
            left[n++] = ir_args(p, t)[1];
        } else {
            b->part[b->parts++] = t;
        }
    }
    bool f32 = ir_at(p, b->x)->type == T_F32;
    ir_id below = ir_const(p, f32 ? T_F32 : T_F64, f32 ? ir_bits_f32(nextafterf(2, 0)) : ir_bits_f64(nextafter(2, 0)));
    ir_id most, from[MOST_PARTS] = {below, below, below, below};
    opt_rewrite(p, e->lw->arena, b->parts, b->part, from, NULL, NULL, 1, &b->x, &most);
    ir_id holds = ir_op2(p, 0, b->op, most, b->limit);
    if (holds != ir_bool(p, true))
        b->parts = 0;
}

static ir_type type_of_extreme(const eager *e, const bound *b)
{
    ir_type t = (ir_type)ir_at(e->lw->l->ir, b->x)->type;
    return t == T_F32 ? T_U32 : t == T_F64 ? T_U64 : t;
}

/* The best x there is: what the worst so far begins with, and an edge that no x keeps. */
static ir_bits best(ir_type t, ir_op worse)
{
    unsigned bits = ir_type_bits(t);
    bool most = worse == OP_MIN;
    if (!ir_type_signed(t))
        return ir_bits_i64(t, most ? -1 : 0);
    return ir_bits_i64(t, most ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits));
}

/* A bound whose limit is known here. Of floats: a positive limit of an x that is never -0, as bits decide that. */
static void find_plain(eager *e, bound *b)
{
    const ir_program *p = e->lw->l->ir;
    const ir_node *limit = ir_at(p, b->limit);
    ir_type t = (ir_type)ir_at(p, b->x)->type, as = type_of_extreme(e, b);
    if (limit->kind != IR_CONST)
        return;
    ir_bits edge = limit->u.literal, infinite = t == T_F32 ? ir_bits_f32(INFINITY) : ir_bits_f64(INFINITY);
    if (ir_type_float(t) && (edge - 1 >= infinite || !at_least_zero(p, b->x, false)))
        return;
    if (b->op == OP_LE || b->op == OP_GE) {
        if (edge == best(as, b->worse == OP_MAX ? OP_MIN : OP_MAX))
            return; /* holds always */
        edge = ir_bits_i64(as, (int64_t)edge + (b->op == OP_LE ? 1 : -1));
    }
    b->edge = k_literal(&e->lw->b, as, edge);
}

static void find_bounds(eager *e)
{
    uint32_t kept = 0;
    e->plain = true;
    for (uint32_t i = 0; i < e->conjunct.n; i++) {
        bound b;
        if (as_bound(e, e->conjunct.at[i], &b)) {
            find_parts(e, &b);
            find_plain(e, &b);
            e->plain &= b.edge != 0;
            vec_push(e->lw->arena, &e->bound, b);
        } else {
            e->plain &= same_term(e, e->conjunct.at[i]);
            e->conjunct.at[kept++] = e->conjunct.at[i];
        }
    }
    e->conjunct.n = kept;
    e->plain &= e->bound.n > 0;
}

static k_val bits_of(eager *e, ir_id term)
{
    bool f32 = ir_at(e->lw->l->ir, term)->type == T_F32;
    if (!ir_type_float((ir_type)ir_at(e->lw->l->ir, term)->type))
        return sk_value(e->lw, term);
    return k_convert(&e->lw->b, OP_BITCAST, f32 ? T_U32 : T_U64, sk_value(e->lw, term));
}

static void note_bounds(eager *e, bool quick)
{
    k_builder *b = &e->lw->b;
    for (uint32_t i = 0; i < e->bound.n; i++) {
        bound *at = &e->bound.at[i];
        for (unsigned part = 0; quick && part < at->parts; part++) {
            k_val bits = bits_of(e, at->part[part]);
            at->ored = at->ored ? k_let(b, OP_BIT_OR, at->ored, bits, 0) : bits;
        }
        if (quick && at->parts)
            continue;
        k_val bits = bits_of(e, at->x);
        at->extreme = at->extreme ? k_let(b, at->worse, at->extreme, bits, 0) : bits;
    }
}

/* Is the worst x within its limit? Of floats, -0 becomes 0; a limit that is negative or a NaN is never kept. */
static k_val extreme_kept(eager *e, const bound *at)
{
    k_builder *b = &e->lw->b;
    ir_type t = (ir_type)ir_at(e->lw->l->ir, at->x)->type;
    k_val limit = sk_value(e->lw, at->limit);
    if (!ir_type_float(t))
        return k_let(b, at->op, at->extreme, limit, 0);
    k_val zero = k_literal(b, t, 0);
    limit = k_let(b, OP_ADD, limit, zero, 0);
    k_val bits = k_convert(b, OP_BITCAST, type_of_extreme(e, at), limit);
    k_val sensible = k_let(b, OP_GE, limit, zero, 0);
    return k_let(b, OP_AND, sensible, k_let(b, at->op, at->extreme, bits, 0), 0);
}

/* Did all x so far keep their bounds? */
static k_val bounds_kept(eager *e, bool quick, k_val so_far)
{
    k_builder *b = &e->lw->b;
    for (uint32_t i = 0; i < e->bound.n; i++) {
        bound *at = &e->bound.at[i];
        bool f32 = ir_at(e->lw->l->ir, at->x)->type == T_F32;
        k_val two = k_literal(b, f32 ? T_U32 : T_U64, f32 ? ir_bits_f32(2) : ir_bits_f64(2));
        k_val kept = quick && at->parts ? k_let(b, OP_LT, at->ored, two, 0) : extreme_kept(e, at);
        so_far = k_let(b, OP_AND, so_far, kept, 0);
        at->extreme = at->ored = 0;
    }
    return so_far;
}

/* --- one turn --- */

static k_val both(eager *e, k_val x, k_val y)
{
    return x ? k_let(&e->lw->b, OP_AND, x, y, 0) : y;
}

static k_val not(eager * e, k_val x)
{
    return k_let(&e->lw->b, OP_NOT, x, 0, 0);
}

static void bind_states(eager *e)
{
    for (uint32_t i = 0; i < e->loop->states; i++)
        sk_bind(e->lw, e->loop->var[i], e->state[i]);
}

/* The steps of a block that are not known yet; `shared`: only those that are the same in all lanes. */
static void run_block(eager *e, const ir_block *block, bool shared)
{
    for (uint32_t i = 0; block && i < block->step.n; i++)
        if (!shared || same_term(e, block->step.at[i].term))
            sk_run_step(e->lw, &block->step.at[i]);
}

static void read_states(eager *e)
{
    for (uint32_t i = 0; i < e->loop->states; i++)
        e->state[i] = k_get(&e->lw->b, e->variable[i]);
}

static bool read_later(const eager *e, uint32_t state)
{
    return map64_get(&e->lw->projected, ((uint64_t)e->s->term << 32) | state);
}

/* --- eager turns --- */

/* Do the parts of the test that all lanes share hold in each of the turns? 0: there are none. */
static k_val shared_tests(eager *e, uint32_t turns)
{
    k_val held = 0;
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t mark = sk_scope(e->lw);
        bind_states(e);
        run_block(e, e->s->test, true);
        for (uint32_t i = 0; i < e->conjunct.n; i++)
            if (same_term(e, e->conjunct.at[i]))
                held = both(e, held, sk_value(e->lw, e->conjunct.at[i]));
        run_block(e, e->s->body, true);
        for (uint32_t i = 0; i < e->loop->states; i++)
            e->state[i] = e->shared[i] ? sk_value(e->lw, e->loop->next[i]) : e->state[i];
        sk_scope_end(e->lw, mark);
    }
    return held ? k_all(&e->lw->b, held) : 0;
}

/* The rest of the test in the same turns, in the lanes that are on; e->state ends as the state behind them. */
static k_val lane_tests(eager *e, uint32_t turns, bool quick, k_val on)
{
    k_val held = on;
    for (uint32_t turn = 0; turn < turns; turn++) {
        uint32_t mark = sk_scope(e->lw);
        bind_states(e);
        run_block(e, e->s->test, false);
        for (uint32_t i = 0; i < e->conjunct.n; i++)
            if (!same_term(e, e->conjunct.at[i]))
                held = both(e, held, sk_value(e->lw, e->conjunct.at[i]));
        note_bounds(e, quick);
        run_block(e, e->s->body, false);
        for (uint32_t i = 0; i < e->loop->states; i++)
            e->state[i] = sk_value(e->lw, e->loop->next[i]);
        sk_scope_end(e->lw, mark);
    }
    return bounds_kept(e, quick, held);
}

/* Goes on until a test fails; leaves the state before the turns in which it did. */
static void eager_turns(eager *e, bool quick)
{
    k_builder *b = &e->lw->b;
    uint32_t turns = EAGER_WORK / (steps_of(e->s) + 1);
    turns = turns < LEAST_TURNS ? LEAST_TURNS : turns > MOST_TURNS ? MOST_TURNS : turns;
    k_val on = k_get(b, e->on);
    k_loop(b);
    read_states(e);
    k_val shared = shared_tests(e, turns);
    if (shared)
        k_break_if(b, not(e, shared));
    read_states(e);
    k_val gone = k_let(b, OP_AND, on, not(e, lane_tests(e, turns, quick, on)), 0);
    k_break_if(b, not(e, k_all(b, not(e, gone))));
    for (uint32_t i = 0; i < e->loop->states; i++) {
        k_val value = e->state[i];
        if (!e->shared[i] && read_later(e, i))
            value = k_select(b, on, value, k_get(b, e->variable[i]));
        k_set(b, e->variable[i], value);
    }
    k_end(b);
}

static k_val is(eager *e, k_val variable, ir_op op, unsigned number)
{
    k_builder *b = &e->lw->b;
    return k_all(b, k_let(b, op, k_get(b, variable), k_literal(b, T_I32, number), 0));
}

/* The quick tests of bounds, until they fail without need: then the others, until a lane leaves. */
static void eager_turns_if_calm(eager *e)
{
    k_builder *b = &e->lw->b;
    k_if(b, is(e, e->calm, OP_GE, CALM));
    if (e->doubted) {
        k_if(b, is(e, e->doubted, OP_EQ, 0));
        eager_turns(e, true);
        k_set(b, e->doubted, k_literal(b, T_I32, 1));
        k_else(b);
    }
    eager_turns(e, false);
    if (e->doubted)
        k_end(b);
    k_set(b, e->calm, k_literal(b, T_I32, 0));
    for (uint32_t i = 0; i < e->loop->states && e->plain; i++)
        if (e->left[i])
            k_set(b, e->left[i], k_select(b, k_get(b, e->on), k_get(b, e->variable[i]), k_get(b, e->left[i])));
    k_end(b);
}

/* --- careful turns --- */

static k_val shared_test(eager *e, k_val so_far)
{
    for (uint32_t i = 0; i < e->conjunct.n; i++)
        if (same_term(e, e->conjunct.at[i]))
            so_far = both(e, so_far, sk_value(e->lw, e->conjunct.at[i]));
    return so_far;
}

/* The lanes that stay on. */
static k_val test(eager *e, k_val on)
{
    k_builder *b = &e->lw->b;
    run_block(e, e->s->test, false);
    for (uint32_t i = 0; i < e->conjunct.n; i++)
        if (!same_term(e, e->conjunct.at[i]))
            on = both(e, on, sk_value(e->lw, e->conjunct.at[i]));
    for (uint32_t i = 0; i < e->bound.n; i++) {
        const bound *at = &e->bound.at[i];
        on = both(e, on, k_let(b, at->op, sk_value(e->lw, at->x), sk_value(e->lw, at->limit), 0));
    }
    k_val shared = shared_test(e, 0);
    return shared ? k_select(b, k_all(b, shared), on, k_literal(b, T_BOOL, 0)) : on;
}

/* The same in plain loops. Masks that are kept from turn to turn must be packed into one register, and taken apart
 * again for each use; comparisons of the worst so far give them where they are needed. *shared: have the shared tests
 * held so far? */
static k_val plain_test(eager *e, k_val *shared)
{
    k_builder *b = &e->lw->b;
    k_val on = 0;
    run_block(e, e->s->test, false);
    *shared = shared_test(e, *shared);
    k_val go = *shared ? k_all(b, *shared) : 0;
    for (uint32_t i = 0; i < e->bound.n; i++) {
        bound *at = &e->bound.at[i];
        ir_type t = type_of_extreme(e, at);
        k_val none = k_literal(b, t, best(t, at->worse));
        k_val edge = go ? k_select(b, go, at->edge, none) : at->edge;
        at->extreme = k_let(b, at->worse, at->extreme, bits_of(e, at->x), 0);
        on = both(e, on, k_let(b, at->worse == OP_MAX ? OP_LT : OP_GT, at->extreme, edge, 0));
    }
    return on;
}

/* Lanes that have left keep what is read after the loop; of the rest they compute what nobody looks at. */
static void careful_turn(eager *e, k_val on)
{
    run_block(e, e->s->body, false);
    for (uint32_t i = 0; i < e->loop->states; i++) {
        k_val next = sk_value(e->lw, e->loop->next[i]), now = sk_value(e->lw, e->loop->var[i]);
        e->state[i] = !e->shared[i] && read_later(e, i) ? k_select(&e->lw->b, on, next, now) : next;
    }
}

/* Counts whether lanes have gone. */
static k_val end_careful(eager *e, k_val on_before, k_val on)
{
    k_builder *b = &e->lw->b;
    for (uint32_t i = 0; i < e->loop->states; i++)
        k_set(b, e->variable[i], e->state[i]);
    k_set(b, e->on, on);
    k_val gone = k_let(b, OP_AND, on_before, not(e, on), 0);
    k_val none_gone = k_all(b, not(e, gone));
    k_val one_more = k_let(b, OP_ADD, k_get(b, e->calm), k_literal(b, T_I32, 1), 0);
    k_set(b, e->calm, k_select(b, none_gone, one_more, k_literal(b, T_I32, 0)));
    return none_gone;
}

/* Careful turns of plain loops. Gives whether no lane is on any more. */
static k_val plain_turns(eager *e)
{
    k_builder *b = &e->lw->b;
    k_val shared = 0, on = 0, before = k_get(b, e->on);
    k_val *left = arena_array(e->lw->arena, k_val, e->loop->states);
    for (uint32_t i = 0; i < e->loop->states; i++)
        left[i] = e->left[i] ? k_get(b, e->left[i]) : 0;
    for (uint32_t i = 0; i < e->bound.n; i++)
        e->bound.at[i].extreme = k_get(b, e->bound.at[i].worst);
    read_states(e);
    for (uint32_t turn = 0; turn < CAREFUL_TURNS; turn++) {
        uint32_t mark = sk_scope(e->lw);
        bind_states(e);
        on = plain_test(e, &shared);
        careful_turn(e, on);
        sk_scope_end(e->lw, mark);
        for (uint32_t i = 0; i < e->loop->states; i++)
            left[i] = left[i] ? k_select(b, on, e->state[i], left[i]) : 0;
    }
    for (uint32_t i = 0; i < e->loop->states; i++)
        if (left[i])
            k_set(b, e->left[i], left[i]);
    for (uint32_t i = 0; i < e->bound.n; i++) {
        k_set(b, e->bound.at[i].worst, e->bound.at[i].extreme);
        e->bound.at[i].extreme = 0;
    }
    k_val none_gone = end_careful(e, before, on);
    if (e->doubted)
        k_set(b, e->doubted, k_select(b, none_gone, k_get(b, e->doubted), k_literal(b, T_I32, 0)));
    return k_all(b, not(e, on));
}

/* Gives whether no lane is on any more. */
static k_val careful_turns(eager *e)
{
    k_builder *b = &e->lw->b;
    uint32_t n = e->loop->states;
    k_val on[CAREFUL_TURNS + 1] = {k_get(b, e->on)};
    k_val *was = arena_array(e->lw->arena, k_val, CAREFUL_TURNS * n); /* the states of each turn */
    read_states(e);
    for (uint32_t turn = 0; turn < CAREFUL_TURNS; turn++) {
        uint32_t mark = sk_scope(e->lw);
        memcpy(was + turn * n, e->state, n * sizeof(k_val));
        bind_states(e);
        on[turn + 1] = test(e, on[turn]);
        careful_turn(e, on[turn + 1]);
        sk_scope_end(e->lw, mark);
    }
    k_val none_gone = end_careful(e, on[0], on[CAREFUL_TURNS]);
    k_if(b, not(e, none_gone));
    if (e->doubted)
        k_set(b, e->doubted, k_literal(b, T_I32, 0));
    for (uint32_t i = 0; i < n; i++) {
        k_val value = e->left[i] ? k_get(b, e->left[i]) : 0;
        for (uint32_t turn = 0; turn < CAREFUL_TURNS && value; turn++)
            value = k_select(b, on[turn], was[turn * n + i], value);
        if (value)
            k_set(b, e->left[i], value);
    }
    k_end(b);
    return k_all(b, not(e, on[CAREFUL_TURNS]));
}

/* --- the loop --- */

static void declare(eager *e)
{
    sk_lower *lw = e->lw;
    uint32_t n = e->loop->states;
    e->variable = arena_array(lw->arena, k_val, n);
    e->left = arena_array(lw->arena, k_val, n);
    e->state = arena_array(lw->arena, k_val, n);
    for (uint32_t i = 0; i < n; i++) {
        k_val init = sk_value(lw, e->loop->init[i]);
        e->variable[i] = k_decl(&lw->b, init, e->shared[i] ? "shared" : "state");
        e->left[i] = e->shared[i] && read_later(e, i) ? k_decl(&lw->b, init, "left") : 0;
    }
    e->on = k_decl(&lw->b, k_literal(&lw->b, T_BOOL, 1), "on");
    e->calm = k_decl(&lw->b, k_literal(&lw->b, T_I32, 0), "calm");
    bool quick = false;
    for (uint32_t i = 0; i < e->bound.n; i++) {
        bound *at = &e->bound.at[i];
        quick |= at->parts > 0;
        ir_type t = type_of_extreme(e, at);
        if (e->plain)
            at->worst = k_decl(&lw->b, k_literal(&lw->b, t, best(t, at->worse)), "worst");
    }
    e->doubted = quick ? k_decl(&lw->b, k_literal(&lw->b, T_I32, 0), "doubted") : 0;
}

void sk_eager_loop(sk_lower *lw, const ir_step *s)
{
    eager e = {.lw = lw, .s = s, .loop = ir_at(lw->l->ir, s->term)->u.loop};
    k_builder *b = &lw->b;
    find_conjuncts(&e);
    find_shared(&e);
    find_bounds(&e);
    declare(&e);
    k_loop(b);
    eager_turns_if_calm(&e);
    k_break_if(b, e.plain ? plain_turns(&e) : careful_turns(&e));
    k_end(b);
    for (uint32_t i = 0; i < e.loop->states; i++)
        if (read_later(&e, i))
            sk_bind(lw, ir_proj(lw->l->ir, s->term, i), k_get(b, e.left[i] ? e.left[i] : e.variable[i]));
}
