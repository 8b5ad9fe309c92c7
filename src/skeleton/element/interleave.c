#include "skeleton/element/interleave.h"

enum {
    MOST_TERMS = 160, /* counted as many times as there are elements */
    FEW = SK_FEW_IN_LANE
};

/* Does the term divide the variable, which is not negative, or a little more than it, by a small number? */
static bool divides(const ir_program *p, const ir_node *n, ir_id variable, int64_t *by, int64_t *more)
{
    if (n->kind != IR_OP || n->type != T_I64 ||
        (n->op != OP_QUOT && n->op != OP_DIV && n->op != OP_REM && n->op != OP_MOD))
        return false;
    const ir_node *x = ir_at(p, p->arg.at[n->args]), *y = ir_at(p, p->arg.at[n->args + 1]);
    *by = y->kind == IR_CONST ? ir_i64_bits(T_I64, y->u.literal) : 0;
    *more = 0;
    if (*by < 2 || *by > FEW)
        return false;
    if (p->arg.at[n->args] == variable)
        return true;
    if (x->kind != IR_OP || x->op != OP_ADD || p->arg.at[x->args] != variable)
        return false;
    const ir_node *c = ir_at(p, p->arg.at[x->args + 1]);
    *more = c->kind == IR_CONST ? ir_i64_bits(T_I64, c->u.literal) : -1;
    return *more >= 0 && *more <= FEW;
}

static bool has_lanes(const sk_lower *lw)
{
    return !lw->options->group && lw->options->vector_bytes;
}

/* Elements at the end are computed twice, and a lane has code for each of its own: so nothing that loops, or says what
 * it computes. */
static bool suits(const sk_lower *lw, const opt_ids *ids)
{
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(lw->l->ir, ids->at[i]);
        if (n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return false;
    }
    return true;
}

static int64_t largest_divisor(const ir_program *p, const opt_ids *ids, ir_id variable)
{
    int64_t largest = 1, by, more;
    for (uint32_t i = 0; i < ids->n; i++)
        if (divides(p, ir_at(p, ids->at[i]), variable, &by, &more))
            largest = by > largest ? by : largest;
    return largest;
}

static void find_divided(const ir_program *p, const opt_ids *ids, sk_factor *f)
{
    int64_t by, more;
    for (uint32_t i = 0; i < ids->n && f->steps > 1 && f->n < SK_MOST_DIVIDED; i++)
        if (divides(p, ir_at(p, ids->at[i]), f->variable, &by, &more) && f->steps % by == 0)
            f->term[f->n++] = ids->at[i];
}

sk_factor sk_find_factor(const sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable)
{
    const ir_program *p = lw->l->ir;
    sk_factor f = {.by = 1, .steps = 1, .variable = variable};
    opt_ids ids = {0};
    if (!has_lanes(lw))
        return f;
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    if (!suits(lw, &ids))
        return f;
    f.by = largest_divisor(p, &ids, variable);
    if (ids.n * f.by > MOST_TERMS)
        f.by = 1;
    f.steps = f.by;
    find_divided(p, &ids, &f);
    return f;
}

/* Are all values of four or eight bytes that are read, stored, or neither? */
static bool are_words(const sk_lower *lw, const opt_ids *ids, uint32_t n, const ir_id *term)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_type_size((ir_type)ir_at(lw->l->ir, term[i])->type) < 4)
            return false;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *t = ir_at(lw->l->ir, ids->at[i]);
        if (t->kind == IR_READ && ir_type_size((ir_type)t->type) < 4)
            return false;
    }
    return true;
}

/* All terms of a lane, and what its elements have of their own. */
static sk_lane_code code_of(const sk_lower *lw, const opt_ids *ids, const sk_factor *f)
{
    const sk_lane lane = {.elements = f->by / f->steps,
                          .digits = f->digits,
                          .digit = f->digit,
                          .steps = f->steps,
                          .variable = f->steps > 1 ? f->variable : 0};
    return sk_code_of_lane(lw->l->ir, lw->arena, ids, &lane);
}

sk_lane_cost sk_cost_of_lane(const sk_lower *lw, uint32_t n, const ir_id *term, ir_id digit)
{
    const sk_factor f = {.by = 1, .steps = 1, .digits = 1, .digit = {digit}};
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    sk_lane_cost c = {.suits = suits(lw, &ids) && ids.n <= SK_MOST_LANE_CODE, .words = are_words(lw, &ids, n, term)};
    if (!c.suits)
        return c;
    const sk_lane_code code = code_of(lw, &ids, &f);
    c.own = (uint16_t)code.own;
    c.terms = (uint16_t)(code.terms - code.own);
    c.own_work = (uint16_t)code.own_work;
    c.work = (uint16_t)(code.work - code.own_work);
    c.lanes = (uint8_t)(SK_LINE / sk_widest(lw->l, &ids, n, term));
    return c;
}

/* A gang for each row computes all of an element in each lane. Lanes compute once what all of their elements share, and
 * take as long as half an operation of a gang for each element to bring it to its place. */
bool sk_lane_computes_less(const sk_lane_cost *c, int64_t extent)
{
    if (!c->suits)
        return false;
    const int64_t gangs = (extent + c->lanes - 1) / c->lanes, work = c->work + c->own_work;
    return (c->work + c->own_work * extent) * 2 + extent * c->lanes < gangs * work * 2 * c->lanes;
}

bool sk_lane_pays(const sk_lane_cost *c, int64_t extent)
{
    return c->suits && extent >= 2 && extent <= (c->words ? SK_MOST_FACTOR : FEW) &&
           c->terms + c->own * extent <= SK_MOST_LANE_CODE;
}

sk_factor sk_factor_of_launch(const sk_index *at, int64_t extent)
{
    return (sk_factor){.by = extent, .steps = 1, .digits = 1, .digit = {at->at[at->rank - 1]}, .extent = {extent}};
}

sk_factor sk_factor_of_extents(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, unsigned digits)
{
    const l_cluster *loop = lw->cluster->loop;
    const sk_factor none = {.by = 1, .steps = 1};
    sk_factor f = none;
    opt_ids ids = {0};
    if (!has_lanes(lw))
        return none;
    for (; f.digits < digits; f.digits++) {
        const unsigned d = loop->rank - 1u - f.digits;
        f.digit[f.digits] = at->at[d];
        if (!ir_extent_constant(lw->l->ir, loop->shape[d], &f.extent[f.digits]) || f.extent[f.digits] < 2 ||
            f.extent[f.digits] > SK_MOST_FACTOR / f.by)
            return none;
        f.by *= f.extent[f.digits];
    }
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    const int64_t most = are_words(lw, &ids, n, term) ? SK_MOST_FACTOR : FEW;
    return suits(lw, &ids) && f.by <= most && code_of(lw, &ids, &f).terms <= SK_MOST_LANE_CODE ? f : none;
}

void sk_make_elements(const sk_lower *lw, sk_factor *f, uint32_t n, const ir_id *term)
{
    ir_program *p = lw->l->ir;
    const int64_t each = f->by / f->steps;
    ir_id *made = arena_array(lw->arena, ir_id, (size_t)each * n + 1), number[IR_MAX_RANK];
    for (int64_t i = 0; i < each; i++) {
        int64_t rest = i;
        for (unsigned d = 0; d < f->digits; rest /= f->extent[d++])
            number[d] = ir_i64(p, rest % f->extent[d]);
        opt_rewrite(p, lw->arena, f->digits, f->digit, number, NULL, NULL, n, term, made + i * n);
    }
    f->made = made;
}

const ir_id *sk_terms_of_lane(const sk_factor *f, const ir_id *term, uint32_t *n)
{
    *n *= f->made ? (uint32_t)(f->by / f->steps) : 1;
    return f->made ? f->made : term;
}

const ir_id *sk_terms_of_element(const sk_factor *f, uint32_t n, const ir_id *term, int64_t which)
{
    return f->made ? f->made + which % (f->by / f->steps) * n : term;
}

sk_factor sk_factor_of_divided(const sk_lower *lw, const sk_factor *f, uint32_t n, const ir_id *term, ir_id variable)
{
    sk_factor wide = *f;
    opt_ids ids = {0};
    term = sk_terms_of_lane(f, term, &n);
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    wide.variable = variable;
    wide.steps = largest_divisor(lw->l->ir, &ids, variable);
    wide.by *= wide.steps;
    const int64_t most = are_words(lw, &ids, n, term) ? SK_MOST_FACTOR : FEW;
    if (!f->digits || wide.by > most || code_of(lw, &ids, &wide).terms > SK_MOST_LANE_CODE)
        return *f;
    find_divided(lw->l->ir, &ids, &wide);
    return wide;
}

void sk_bind_divided(sk_lower *lw, const sk_factor *f, k_val quotient, int64_t which)
{
    k_builder *b = &lw->b;
    const int64_t each = f->by / f->steps; /* elements at each of the variable's values */
    const int64_t step = which / each;
    int64_t rest = which;
    for (unsigned d = 0; d < f->digits; rest /= f->extent[d++])
        sk_bind(lw, f->digit[d], k_i64(b, rest % f->extent[d]));
    for (uint32_t i = 0; i < f->n; i++) {
        const ir_node *t = ir_at(lw->l->ir, f->term[i]);
        int64_t by, more;
        if (!divides(lw->l->ir, t, f->variable, &by, &more))
            continue;
        bool remains = t->op == OP_REM || t->op == OP_MOD;
        k_val whole = sk_mul(lw, quotient, k_i64(b, f->steps / by));
        sk_bind(lw, f->term[i],
                remains ? k_i64(b, (step + more) % by) : sk_add(lw, whole, k_i64(b, (step + more) / by)));
    }
}

/* The elements before the first whole lane, and behind the last one. */
static void ends(sk_lower *lw, const sk_interleaved *of, k_val head, k_val tail, k_val count)
{
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), side = k_for(b, zero, k_i64(b, 2), false), before = k_let(b, OP_EQ, side, zero, 0);
    of->single(of->env, k_select(b, before, zero, tail), k_select(b, before, head, sk_sub(lw, count, tail)));
    k_end(b);
}

/* The elements of a lane, from number `behind` of its group on: group number `lane` behind the first one, whose
 * quotient is `first`, and which begins at element `head`. */
static void store_group(sk_lower *lw, const sk_factor *f, k_val lane, k_val first, k_val head, int64_t behind,
                        const sk_interleaved *of)
{
    k_builder *b = &lw->b;
    k_val *value = arena_array(lw->arena, k_val, (size_t)f->by * of->n), at[SK_MOST_FACTOR];
    k_val quotient = sk_add(lw, lane, first), position = sk_add(lw, sk_mul(lw, lane, k_i64(b, f->by)), head);
    for (int64_t i = 0; i < f->by; i++) {
        uint32_t mark = sk_scope(lw);
        k_val before = sk_add(lw, sk_mul(lw, quotient, k_i64(b, f->steps)), k_i64(b, i / (f->by / f->steps)));
        at[i] = of->begin(of->env, sk_add(lw, position, k_i64(b, i + behind)), before);
        if (!i && of->fetch)
            of->fetch(of->env);
        sk_bind_divided(lw, f, quotient, i + behind);
        const ir_id *term = sk_terms_of_element(f, of->n, of->term, (i + behind) % f->by);
        if (of->make)
            of->make(of->env, i, term);
        else
            sk_emit(lw, of->n, term, value + i * of->n);
        sk_scope_end(lw, mark);
    }
    if (of->store)
        of->store(of->env, at);
    for (uint32_t k = 0; k < of->n && !of->store; k++)
        for (int64_t i = 0; i < f->by; i++)
            k_store(b, of->memory[k], at[i], value[i * of->n + k]);
}

void sk_for_gang_of_groups(sk_lower *lw, const sk_factor *f, k_val first, int64_t behind, int64_t lanes,
                           const sk_interleaved *of)
{
    k_builder *b = &lw->b;
    k_val around = lw->element, zero = k_i64(b, 0), lane = k_for_whole(b, k_i64(b, lanes));
    store_group(lw, f, sk_add(lw, lane, first), zero, zero, behind, of);
    k_end(&lw->b);
    lw->element = around;
}

void sk_for_interleaved(sk_lower *lw, const sk_factor *f, k_val start, k_val count, const sk_interleaved *of)
{
    k_builder *b = &lw->b;
    k_val by = k_i64(b, f->by), up = sk_add(lw, start, k_i64(b, f->by - 1));
    k_val first = k_let(b, OP_QUOT, up, by, 0); /* quotient of the first whole lane */
    k_val head = sk_min(lw, count, sk_sub(lw, sk_mul(lw, first, by), start));
    k_val lanes = k_let(b, OP_QUOT, sk_sub(lw, count, head), by, 0);
    k_val tail = sk_add(lw, head, sk_mul(lw, lanes, by));
    k_val around = lw->element, zero = k_i64(b, 0);
    /* Whole gangs, then one that ends where the last lane does, which stores some elements again: masked stores of
     * several elements a lane would take longer. Where there are not enough lanes, no gang. */
    k_val gang = k_i64(b, lw->out->k->lanes), rest = k_let(b, OP_REM, lanes, gang, 0), whole = sk_sub(lw, lanes, rest);
    k_val any = k_let(b, OP_GT, whole, zero, 0);
    k_val turn = k_for(b, zero, k_select(b, any, k_i64(b, 2), zero), false), is_last = k_let(b, OP_GT, turn, zero, 0);
    k_val again = k_select(b, k_let(b, OP_GT, rest, zero, 0), gang, zero);
    k_val lane = k_for_whole(b, k_select(b, is_last, again, whole));
    lane = sk_add(lw, lane, k_select(b, is_last, sk_sub(lw, lanes, gang), zero));
    store_group(lw, f, lane, first, head, 0, of);
    k_end(b);
    k_end(b);
    lw->element = around;
    ends(lw, of, k_select(b, any, head, zero), k_select(b, any, tail, zero), count);
}
