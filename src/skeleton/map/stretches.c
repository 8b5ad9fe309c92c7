/* Cuts loops where index arithmetic changes its form: array shifts, rotations, padding, periodic arrays, clamped
 * positions. One analysis of the terms finds which of them are affine in the position but for a few cuts; the loop over
 * a piece (or a row of it) becomes a loop over each of them, and their positions are known before it begins. */
#include "skeleton/map/stretches.h"

enum {
    MOST_TERMS = 400,
    MOST_STEP = 16,
    LEAST_PERIOD = 16 /* elements of a stretch that take longer one by one than a gang that is not whole */
};
/* Sums of such numbers do not wrap; nor do they if each step has several positions. */
static const int64_t farthest = INT64_C(1) << 60, farthest_step = INT64_C(1) << 44;

/* --- which terms --- */

typedef struct analysis {
    sk_forms forms;
    ir_program *p;
    bool *feeds; /* of term i in [i + 1]: it is in an index, or in a condition on which it depends what is read */
} analysis;

static void feed(analysis *a, ir_id term)
{
    a->feeds[map64_get(&a->forms.number, term)] = true;
}

/* From users to operands. */
static void find_feeds(analysis *a)
{
    for (uint32_t i = a->forms.ids.n; i-- > 0;) {
        const ir_node *n = ir_at(a->p, a->forms.ids.at[i]);
        const ir_id *arg = a->p->arg.at + n->args;
        bool decides =
            n->kind == IR_COND && (sk_form_of(&a->forms, arg[1]).reads || sk_form_of(&a->forms, arg[2]).reads);
        for (uint32_t k = 0; k < n->n; k++)
            if (n->kind == IR_READ || a->feeds[i + 1] || (decides && k == 0))
                feed(a, arg[k]);
        for (uint32_t k = 0; n->kind == IR_LOOP && k < n->u.loop->states; k++)
            if (ir_at(a->p, n->u.loop->init[k])->type == T_I64)
                feed(a, n->u.loop->init[k]);
        if (n->kind == IR_LOOP && n->u.loop->count)
            feed(a, n->u.loop->count);
    }
}

static bool is_small(int64_t step)
{
    return step && step >= -MOST_STEP && step <= MOST_STEP;
}

/* What is reflected at the ends of rows. */
static bool find_cut_of_sign(const analysis *a, ir_id id, sk_cut *out)
{
    const ir_id x = ir_args(a->p, id)[0];
    const sk_form form = sk_form_of(&a->forms, x);
    if (ir_at(a->p, x)->type != T_I64 || ir_at(a->p, x)->partial || form.kind != SK_MOVING)
        return false;
    *out = (sk_cut){.kind = SK_CUT_EXTREME, .term = id, .x = x, .y = ir_i64(a->p, 0), .step = form.step};
    return is_small(form.step);
}

static bool find_cut(const analysis *a, ir_id id, sk_cut *out)
{
    const ir_node *n = ir_at(a->p, id);
    if (n->kind == IR_OP && n->op == OP_ABS)
        return find_cut_of_sign(a, id, out);
    if (n->kind != IR_OP || n->n != 2)
        return false;
    const ir_id *arg = a->p->arg.at + n->args;
    sk_form x = sk_form_of(&a->forms, arg[0]), y = sk_form_of(&a->forms, arg[1]);
    int64_t by, step = x.step - y.step;
    if (ir_at(a->p, arg[0])->partial || ir_at(a->p, arg[1])->partial)
        return false; /* it is only evaluated where the program does */
    if (ir_at(a->p, arg[0])->type != T_I64 || x.kind == SK_UNKNOWN || y.kind == SK_UNKNOWN)
        return false;
    *out = (sk_cut){.term = id, .x = arg[0], .y = arg[1], .step = step};
    switch ((ir_op)n->op) {
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        out->kind = SK_CUT_SIGN;
        return is_small(step);
    case OP_MIN:
    case OP_MAX:
        *out = (sk_cut){.kind = SK_CUT_EXTREME, .term = id, .x = arg[!x.step], .y = arg[x.step != 0]};
        out->step = x.step ? x.step : y.step;
        return (x.kind == SK_FIXED) != (y.kind == SK_FIXED) && is_small(step);
    case OP_EQ:
    case OP_NE:
        out->kind = SK_CUT_ZERO;
        return step == 1 || step == -1;
    case OP_MOD:
    case OP_REM:
    case OP_DIV:
    case OP_QUOT: /* a small divisor would leave stretches of a few elements */
        out->kind = SK_CUT_PERIOD;
        return x.step == 1 && y.kind == SK_FIXED && !(sk_small_literal(a->p, arg[1], &by) && by < 256);
    default:
        return false;
    }
}

/* --- guards --- */

enum { WANTED_BOTH = SK_GUARD_HOLDS | SK_GUARD_FAILS };

static void want(const analysis *a, uint8_t *wanted, ir_id term, uint8_t what)
{
    wanted[map64_get(&a->forms.number, term)] |= what;
}

static bool is_constant(const analysis *a, ir_id term, ir_bits bits)
{
    const ir_node *n = ir_at(a->p, term);
    return n->kind == IR_CONST && n->u.literal == bits;
}

/* What conditions are where a choice reads something that it does not read else, from users to operands. */
static uint8_t *find_wanted(const analysis *a, arena *memory)
{
    uint8_t *wanted = arena_alloc(memory, a->forms.ids.n + 1);
    for (uint32_t i = a->forms.ids.n; i-- > 0;) {
        const ir_node *n = ir_at(a->p, a->forms.ids.at[i]);
        const ir_id *arg = a->p->arg.at + n->args;
        const uint8_t own = wanted[i + 1];
        if (n->kind == IR_COND) {
            const bool left = sk_form_of(&a->forms, arg[1]).reads, right = sk_form_of(&a->forms, arg[2]).reads;
            if (left != right)
                want(a, wanted, arg[0], left ? SK_GUARD_HOLDS : SK_GUARD_FAILS);
            if (own == SK_GUARD_HOLDS && is_constant(a, arg[2], false)) /* both */
                want(a, wanted, arg[1], own);
            if (own == SK_GUARD_FAILS && is_constant(a, arg[1], true)) /* neither */
                want(a, wanted, arg[2], own);
        }
        if (n->kind != IR_OP || !own || own == WANTED_BOTH)
            continue;
        for (uint32_t k = 0; k < n->n; k++) {
            if (n->op == OP_NOT)
                want(a, wanted, arg[k], own ^ WANTED_BOTH);
            if (n->op == (own == SK_GUARD_HOLDS ? OP_AND : OP_OR))
                want(a, wanted, arg[k], own);
        }
    }
    return wanted;
}

static void find_guards(const analysis *a, arena *memory, sk_stretches *s)
{
    const uint8_t *wanted = find_wanted(a, memory);
    for (uint32_t k = 0; k < s->n; k++) {
        sk_cut *c = &s->cut[k];
        const uint8_t what = c->kind == SK_CUT_SIGN ? wanted[map64_get(&a->forms.number, c->term)] : 0;
        c->guard = what == WANTED_BOTH ? 0 : what;
        s->guarded |= c->guard && c->step != 1 && c->step != -1;
    }
}

sk_stretches sk_find_stretches(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d)
{
    sk_stretches s = {0};
    if (lw->options->group || !lw->options->vector_bytes) /* a thread takes its own way */
        return s;
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    const bool many = ids.n > MOST_TERMS;
    vec_free(lw->arena, &ids);
    if (many)
        return s;
    analysis a = {.forms = sk_find_forms(lw, n, term, d), .p = lw->l->ir};
    a.feeds = arena_alloc(lw->arena, a.forms.ids.n + 1);
    find_feeds(&a);
    uint32_t periods = 0;
    for (uint32_t i = 0; i < a.forms.ids.n && s.n < SK_MOST_CUTS; i++) {
        bool found = a.feeds[i + 1] && find_cut(&a, a.forms.ids.at[i], &s.cut[s.n]);
        if (found && s.cut[s.n].kind == SK_CUT_PERIOD)
            found = periods++ < SK_MOST_PERIODS;
        s.n += found;
    }
    find_guards(&a, lw->arena, &s);
    return s;
}

/* --- loops --- */

typedef struct stretch {
    sk_lower *lw;
    const sk_stretches *cuts;
    const sk_positions *of;
    k_val count;
    k_val x[SK_MOST_CUTS], y[SK_MOST_CUTS]; /* where the loop begins */
    k_val state[SK_MOST_CUTS]; /* SIGN: x < y (or x <= y, as the term asks); ZERO: x = y; PERIOD: x div y */
} stretch;

/* Positions of so many steps of what the cuts are made of. */
static k_val positions_of(stretch *t, k_val steps)
{
    return t->of->each ? sk_mul(t->lw, steps, t->of->each) : steps;
}

/* How often the k-th cut's step goes into x; the same, up. */
static k_val steps_in(stretch *t, uint32_t k, k_val x)
{
    const int64_t step = t->cuts->cut[k].step, size = step > 0 ? step : -step;
    return size == 1 ? x : k_let(&t->lw->b, OP_DIV, x, k_i64(&t->lw->b, size), 0);
}

static k_val steps_up_to(stretch *t, uint32_t k, k_val x)
{
    const int64_t step = t->cuts->cut[k].step, size = step > 0 ? step : -step;
    return steps_in(t, k, sk_add(t->lw, x, k_i64(&t->lw->b, size - 1)));
}

static ir_op operator_of(const stretch *t, uint32_t k)
{
    return (ir_op)ir_at(t->lw->l->ir, t->cuts->cut[k].term)->op;
}

/* Does the sign tell x <= y from x > y, instead of x < y from x >= y? */
static bool with_equal(ir_op op)
{
    return op == OP_LE || op == OP_GT;
}

static void at_start(stretch *t)
{
    sk_lower *lw = t->lw;
    uint32_t mark = sk_scope(lw);
    t->of->begin(t->of->env, k_i64(&lw->b, 0));
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        k_val both[2];
        sk_emit(lw, 2, (ir_id[]){t->cuts->cut[k].x, t->cuts->cut[k].y}, both);
        t->x[k] = both[0];
        t->y[k] = both[1];
        if (t->cuts->cut[k].kind == SK_CUT_EXTREME) /* others are made of it */
            sk_bind(lw, t->cuts->cut[k].term, both[0]);
    }
    sk_scope_end(lw, mark);
}

static k_val and (stretch * t, k_val x, k_val y)
{
    return x ? k_let(&t->lw->b, OP_AND, x, y, 0) : y;
}

static k_val moderate(stretch *t, k_val all, k_val x)
{
    k_builder *b = &t->lw->b;
    if (t->lw->out->k->value.at[x].kind == KV_LITERAL)
        return all;
    const int64_t most = t->of->each ? farthest_step : farthest;
    all = and(t, all, k_let(b, OP_GE, x, k_i64(b, -most), 0));
    return and(t, all, k_let(b, OP_LE, x, k_i64(b, most), 0));
}

/* Is the cut an end of the stretch at which all guards let through? */
static bool is_guard(const stretch *t, uint32_t k)
{
    return t->cuts->guarded && t->cuts->cut[k].guard && !t->of->each;
}

/* A guard that says of an index that it is below an extent. */
typedef struct bounded {
    ir_id index, extent; /* 0: it says nothing like that */
    bool left;           /* the index is the cut's x */
} bounded;

static bool is_closed(const sk_lower *lw, ir_id term)
{
    opt_ids ids = {0};
    bool closed = true;
    opt_reach(lw->l->ir, lw->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        closed &= ir_at(lw->l->ir, ids.at[i])->kind != IR_VAR && ir_at(lw->l->ir, ids.at[i])->kind != IR_READ;
    return closed;
}

static bounded bounded_by(const stretch *t, uint32_t k)
{
    const ir_program *p = t->lw->l->ir;
    const sk_cut *c = &t->cuts->cut[k];
    const ir_op op = operator_of(t, k);
    const bool holds = c->guard == SK_GUARD_HOLDS, left = (op == OP_LT || op == OP_LE) == holds;
    const bool strict = (op == OP_LT || op == OP_GT) == holds;
    bounded b = {left ? c->x : c->y, left ? c->y : c->x, left};
    if (!strict) { /* at most one less */
        const ir_node *n = ir_at(p, b.extent);
        int64_t more;
        const bool one_less =
            n->kind == IR_OP && n->op == OP_ADD && sk_small_literal(p, ir_args(p, b.extent)[1], &more) && more == -1;
        b.extent = one_less ? ir_args(p, b.extent)[0] : 0;
    }
    return b.extent && is_closed(t->lw, b.extent) && !is_closed(t->lw, b.index) ? b : (bounded){0};
}

/* Are such indices not negative from *low to *high? Then they are inside. */
static k_val not_negative(stretch *t, k_val good, k_val low, k_val high)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        const bounded at = is_guard(t, k) ? bounded_by(t, k) : (bounded){0};
        if (!at.index)
            continue;
        const int64_t step = at.left ? t->cuts->cut[k].step : -t->cuts->cut[k].step;
        k_val least = step > 0 ? low : sk_sub(lw, high, k_i64(b, 1));
        least = sk_add(lw, at.left ? t->x[k] : t->y[k], sk_mul(lw, least, k_i64(b, step)));
        good = and(t, good, k_let(b, OP_GE, least, k_i64(b, 0), 0));
    }
    return good;
}

/* Are positions of cuts computed without wrapping, and the loop and its periods long enough, for a register or so? Of
 * several cuts, gangs that are not whole cost more than they gain in short rows. */
static k_val suits(stretch *t)
{
    k_builder *b = &t->lw->b;
    uint32_t cuts = t->cuts->n;
    for (uint32_t k = 0; k < t->cuts->n; k++)
        cuts -= is_guard(t, k);
    const int64_t registers = cuts > 1 ? 16 : 1, lanes = t->of->rows ? 1 : t->lw->out->k->lanes;
    k_val all = k_let(b, OP_GE, t->count, k_i64(b, (registers * lanes + 3) / 4), 0);
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        all = moderate(t, all, t->x[k]);
        all = moderate(t, all, t->y[k]);
        if (t->cuts->cut[k].kind != SK_CUT_PERIOD)
            continue;
        all = and(t, all, k_let(b, OP_GE, t->y[k], k_i64(b, LEAST_PERIOD), 0));
        if (operator_of(t, k) == OP_REM || operator_of(t, k) == OP_QUOT)
            all = and(t, all, k_let(b, OP_GE, t->x[k], k_i64(b, 0), 0));
    }
    return all;
}

/* The term's value in the stretch at hand, where the variables are bound. */
static void bind_cut(stretch *t, uint32_t k)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    const sk_cut *c = &t->cuts->cut[k];
    ir_op op = operator_of(t, k);
    k_val x;
    if (is_guard(t, k)) {
        const bounded at = bounded_by(t, k);
        sk_bind(lw, c->term, k_literal(b, T_BOOL, c->guard == SK_GUARD_HOLDS));
        if (at.index)
            sk_note_extent(lw, at.index, at.extent);
        return;
    }
    switch (op) {
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_QUOT:
    case OP_DIV:
        sk_bind(lw, c->term, t->state[k]);
        return;
    case OP_GT:
    case OP_GE:
    case OP_NE:
        sk_bind(lw, c->term, k_let(b, OP_NOT, t->state[k], 0, 0));
        return;
    case OP_MIN:
    case OP_MAX:
    case OP_ABS:
        sk_emit(lw, 1, &c->x, &x);
        sk_bind(lw, c->term, x);
        sk_stand_for(lw, c->term, c->x, 0);
        return;
    default: { /* MOD, REM */
        const k_val before = sk_mul(lw, t->state[k], t->y[k]);
        sk_emit(lw, 1, &c->x, &x);
        sk_bind(lw, c->term, sk_sub(lw, x, before));
        sk_stand_for(lw, c->term, c->x, before);
    }
    }
}

static k_val loop_over(stretch *t, k_val count)
{
    k_builder *b = &t->lw->b;
    return t->of->rows ? k_for(b, k_i64(b, 0), count, false) : k_for_all(b, count);
}

static void positions(stretch *t, k_val lane, k_val from, bool cut)
{
    sk_lower *lw = t->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element;
    t->of->begin(t->of->env, sk_add(lw, lane, from));
    for (uint32_t k = 0; k < t->cuts->n && cut; k++)
        bind_cut(t, k);
    t->of->body(t->of->env);
    sk_scope_end(lw, mark);
    lw->element = around;
    k_end(&lw->b);
}

/* The cut of a period before the k-th that is in the same places; k: there is none. */
static uint32_t same_period(const stretch *t, uint32_t k)
{
    for (uint32_t i = 0; i < k; i++)
        if (t->cuts->cut[i].kind == SK_CUT_PERIOD && t->x[i] == t->x[k] && t->y[i] == t->y[k])
            return i;
    return k;
}

/* How many steps of what the cuts are made of there are before a position. */
static k_val steps_to(stretch *t, k_val position)
{
    return t->of->each ? k_let(&t->lw->b, OP_QUOT, position, t->of->each, 0) : position;
}

/* Positions [low, high), between the cuts of periods before the k-th; all else is known there. */
static void in_periods(stretch *t, uint32_t k, k_val low, k_val high)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1);
    for (; k < t->cuts->n && (t->cuts->cut[k].kind != SK_CUT_PERIOD || same_period(t, k) < k); k++)
        if (t->cuts->cut[k].kind == SK_CUT_PERIOD)
            t->state[k] = t->state[same_period(t, k)];
    if (k == t->cuts->n) {
        positions(t, loop_over(t, sk_max(lw, sk_sub(lw, high, low), k_i64(b, 0))), low, true);
        return;
    }
    k_val first = sk_add(lw, t->x[k], steps_to(t, low)), last = sk_add(lw, t->x[k], steps_to(t, sk_sub(lw, high, one)));
    k_val end = sk_add(lw, k_let(b, OP_DIV, last, t->y[k], 0), one);
    t->state[k] = k_for(b, k_let(b, OP_DIV, first, t->y[k], 0), end, false);
    k_val from = positions_of(t, sk_sub(lw, sk_mul(lw, t->state[k], t->y[k]), t->x[k]));
    in_periods(t, k + 1, sk_max(lw, low, from), sk_min(lw, high, sk_add(lw, from, positions_of(t, t->y[k]))));
    k_end(b);
}

/* The first position behind the cut of a comparison; of ZERO the first one at which both are equal. */
static k_val place_of(stretch *t, uint32_t k)
{
    sk_lower *lw = t->lw;
    const sk_cut *c = &t->cuts->cut[k];
    bool up = c->step > 0;
    k_val at = up ? sk_sub(lw, t->y[k], t->x[k]) : sk_sub(lw, t->x[k], t->y[k]);
    if (c->kind == SK_CUT_SIGN && with_equal(operator_of(t, k)))
        at = sk_add(lw, at, k_i64(&lw->b, up ? 1 : -1));
    at = up ? steps_up_to(t, k, at) : steps_in(t, k, at);
    return positions_of(t, c->kind == SK_CUT_SIGN && !up ? sk_add(lw, at, k_i64(&lw->b, 1)) : at);
}

typedef struct places { /* where stretches begin */
    uint32_t n;
    k_val at[2 * SK_MOST_CUTS];
} places;

/* Are both equal at the positions from `low` on, up to the next place? */
static k_val equal_from(stretch *t, k_val place, k_val low)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    if (!t->of->each)
        return k_let(b, OP_EQ, low, place, 0);
    k_val end = sk_add(lw, place, t->of->each);
    return k_let(b, OP_AND, k_let(b, OP_GE, low, place, 0), k_let(b, OP_LT, low, end, 0), 0);
}

/* What is known from `low` on, up to the next place. */
static void know(stretch *t, const k_val *place, k_val low)
{
    k_builder *b = &t->lw->b;
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        const sk_cut *c = &t->cuts->cut[k];
        if (c->kind == SK_CUT_ZERO)
            t->state[k] = equal_from(t, place[k], low);
        if (c->kind == SK_CUT_SIGN && !is_guard(t, k))
            t->state[k] = k_let(b, c->step > 0 ? OP_LT : OP_GE, low, place[k], 0);
    }
}

/* From place to place, in order: each turn goes as far as the next one. */
static void between(stretch *t, k_val low, k_val high)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    k_val place[SK_MOST_CUTS] = {0}, zero = k_i64(b, 0), one = k_i64(b, 1);
    places all = {0};
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        const sk_cut *c = &t->cuts->cut[k];
        if ((c->kind != SK_CUT_SIGN && c->kind != SK_CUT_ZERO) || is_guard(t, k))
            continue;
        place[k] = all.at[all.n++] = place_of(t, k);
        if (c->kind == SK_CUT_ZERO)
            all.at[all.n++] = sk_add(lw, place[k], positions_of(t, one));
    }
    if (!all.n) {
        in_periods(t, 0, low, high);
        return;
    }
    k_val done = k_decl(b, low, "done");
    k_for(b, zero, k_i64(b, all.n + 1), false);
    k_val from = k_get(b, done), to = high;
    for (uint32_t i = 0; i < all.n; i++)
        to = sk_min(lw, to, k_select(b, k_let(b, OP_GT, all.at[i], from, 0), all.at[i], to));
    know(t, place, from);
    in_periods(t, 0, from, to);
    k_set(b, done, to);
    k_end(b);
}

/* The positions at which a guard lets through are those before its place, or those from there on. */
static void narrow_by_guard(stretch *t, uint32_t k, k_val *low, k_val *high)
{
    const sk_cut *c = &t->cuts->cut[k];
    const ir_op op = operator_of(t, k);
    const bool less = op == OP_LT || op == OP_LE, holds = c->guard == SK_GUARD_HOLDS;
    const k_val place = place_of(t, k);
    if ((less == holds) == (c->step > 0))
        *high = sk_min(t->lw, *high, place);
    else
        *low = sk_max(t->lw, *low, place);
}

/* The positions at which all extremes are what moves, and guards let through. */
static void find_middle(stretch *t, k_val *low, k_val *high)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    *low = k_i64(b, 0);
    *high = t->count;
    for (uint32_t k = 0; k < t->cuts->n; k++) {
        const sk_cut *c = &t->cuts->cut[k];
        if (is_guard(t, k))
            narrow_by_guard(t, k, low, high);
        if (c->kind != SK_CUT_EXTREME)
            continue;
        k_val apart = c->step > 0 ? sk_sub(lw, t->y[k], t->x[k]) : sk_sub(lw, t->x[k], t->y[k]);
        if ((operator_of(t, k) == OP_MIN) == (c->step > 0))
            *high = sk_min(lw, *high, positions_of(t, sk_add(lw, steps_in(t, k, apart), k_i64(b, 1))));
        else
            *low = sk_max(lw, *low, positions_of(t, steps_up_to(t, k, apart)));
    }
}

void sk_for_stretches(sk_lower *lw, const sk_stretches *s, k_val count, const sk_positions *of)
{
    k_builder *b = &lw->b;
    stretch t = {.lw = lw, .cuts = s, .of = of, .count = count};
    k_val zero = k_i64(b, 0);
    if (!s->n) {
        positions(&t, loop_over(&t, count), zero, false);
        return;
    }
    k_val around = lw->element, low, high;
    at_start(&t);
    lw->element = around;
    find_middle(&t, &low, &high);
    k_val good = not_negative(&t, suits(&t), low, high);
    good = and(&t, good, k_let(b, OP_LT, low, high, 0));
    k_if(b, good);
    between(&t, low, high);
    k_end(b);
    low = k_select(b, good, low, count);
    high = k_select(b, good, high, count);
    /* before and behind them, or all */
    k_val side = k_for(b, zero, k_i64(b, 2), false), first = k_let(b, OP_EQ, side, zero, 0);
    k_val from = k_select(b, first, zero, high), to = k_select(b, first, low, count);
    positions(&t, loop_over(&t, sk_sub(lw, to, from)), from, false);
    k_end(b);
}

/* --- pieces on one side of all cuts --- */

k_val sk_signs_stand(sk_lower *lw, const sk_stretches *s, k_val count, const sk_positions *of,
                     k_val state[SK_MOST_CUTS])
{
    k_builder *b = &lw->b;
    stretch t = {.lw = lw, .cuts = s, .of = of};
    k_val around = lw->element, good = 0, last = sk_sub(lw, count, k_i64(b, 1));
    if (s->n)
        at_start(&t);
    lw->element = around;
    for (uint32_t k = 0; k < s->n; k++) {
        const sk_cut *c = &s->cut[k];
        if (c->kind != SK_CUT_SIGN)
            continue;
        good = moderate(&t, good, t.x[k]);
        good = moderate(&t, good, t.y[k]);
        ir_op op = operator_of(&t, k);
        k_val far = sk_add(lw, t.x[k], sk_mul(lw, last, k_i64(b, c->step))); /* as far from y as x will be */
        state[k] = k_let(b, op, t.x[k], t.y[k], 0);
        good = and(&t, good, k_let(b, OP_EQ, state[k], k_let(b, op, far, t.y[k], 0), 0));
    }
    return good;
}

void sk_bind_signs(sk_lower *lw, const sk_stretches *s, const k_val state[SK_MOST_CUTS])
{
    for (uint32_t k = 0; k < s->n; k++)
        if (s->cut[k].kind == SK_CUT_SIGN)
            sk_bind(lw, s->cut[k].term, state[k]);
}

/* --- rows whose guards let through --- */

k_val sk_find_let_through(sk_lower *lw, const sk_stretches *s, k_val count, int64_t least, const sk_positions *of,
                          k_val *low, k_val *high)
{
    k_builder *b = &lw->b;
    stretch t = {.lw = lw, .cuts = s, .of = of, .count = count};
    k_val around = lw->element, good = 0;
    *low = k_i64(b, 0);
    *high = count;
    at_start(&t);
    lw->element = around;
    for (uint32_t k = 0; k < s->n; k++) {
        if (!is_guard(&t, k))
            continue;
        good = moderate(&t, good, t.x[k]);
        good = moderate(&t, good, t.y[k]);
        narrow_by_guard(&t, k, low, high);
    }
    good = not_negative(&t, good, *low, *high);
    return and(&t, good, k_let(b, OP_GE, sk_sub(lw, *high, *low), k_i64(b, least), 0));
}

void sk_bind_guards(sk_lower *lw, const sk_stretches *s)
{
    stretch t = {.lw = lw, .cuts = s, .of = &(sk_positions){0}};
    for (uint32_t k = 0; k < s->n; k++)
        if (is_guard(&t, k))
            bind_cut(&t, k);
}

void sk_for_whole_positions(sk_lower *lw, k_val from, k_val count, const sk_positions *of)
{
    stretch t = {.lw = lw, .cuts = &(sk_stretches){0}, .of = of};
    positions(&t, k_for_whole(&lw->b, count), from, false);
}

void sk_for_few_positions(sk_lower *lw, k_val from, k_val count, const sk_positions *of)
{
    stretch t = {.lw = lw, .cuts = &(sk_stretches){0}, .of = of};
    positions(&t, k_for_few(&lw->b, count), from, false);
}
