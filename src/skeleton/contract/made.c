/* What is made of a contraction's results where tiles have them: elements of the same index, and folds of the result's
 * last dimension. Lanes are rows of these folds, so that a step is a vector of elements, one of each; what a lane's row
 * has come to waits in shared memory from tile to tile. The trees are those that the folds have alone
 * (docs/determinism.md). Operators that commute: 128 accumulators, then halves, then pieces from left to right.
 * Operators that keep order: a counter in binary; level l of a stack has the total of 2^l elements where bit l of their
 * number is set. */
#include "skeleton/contract/contract.h"

enum { UNORDERED, ORDERED };
enum { STACK = 18 }; /* levels of rows of at most 32 pieces */

static int64_t slots_of(bool brief, unsigned kind)
{
    return brief ? 1 : kind == UNORDERED ? SK_ACCUMULATORS : STACK;
}

static bool keeps_order(const l_program *l, ir_id fold)
{
    return !(ir_at(l->ir, fold)->flags & IR_COMMUTES);
}

/* --- members --- */

static void find_fold(sk_made *m, const l_op *op, const sk_index *at)
{
    sk_lower *lw = m->lw;
    unsigned kind = keeps_order(lw->l, op->term) ? ORDERED : UNORDERED;
    sk_folds *s = &m->fold[kind];
    const ir_array *info = ir_info(lw->l->ir, op->term);
    ir_array *resolved = arena_copy(lw->arena, info, sizeof *info);
    resolved->fn = sk_operator(&lw->body, info->fn);
    sk_fold f = {.op = op, .info = resolved, .n = info->components};
    f.identity = sk_fold_identity(lw, info->fn, f.n);
    f.element = arena_copy(lw->arena, sk_define(&lw->body, op->term, at), f.n * sizeof(ir_id));
    f.fused_product = kind == UNORDERED && sk_fold_product(lw, &f);
    vec_push(lw->arena, &s->fold, f);
}

void sk_made_find(sk_made *m, sk_folds *s)
{
    sk_lower *lw = m->lw = s->lw;
    const l_cluster *c = lw->cluster->loop;
    sk_index at = {.rank = (uint8_t)(c->rank - 1)};
    memcpy(at.at, lw->at.at, at.rank * sizeof(ir_id));
    m->fold[UNORDERED].lw = m->fold[ORDERED].lw = lw;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        ir_id *given = arena_array(lw->arena, ir_id, f->n);
        for (uint32_t k = 0; k < f->n; k++)
            given[k] = ir_var(lw->l->ir, f->info->type[k]);
        sk_give(&lw->body, f->op->term, given);
        vec_push(lw->arena, &m->given, given);
    }
    for (uint32_t i = 0; i < c->op.n; i++) {
        const l_op *op = &c->op.at[i];
        if (!op->outer || (op->kind == L_ELEMENT && !op->stored)) /* computed where it is used */
            continue;
        for (uint32_t k = 0; k < ir_info(lw->l->ir, op->term)->components && op->stored; k++)
            sk_array_memory(lw, op->term, k, true);
        if (op->kind == L_FOLD)
            find_fold(m, op, &at);
        else
            vec_push(lw->arena, &m->element, ((sk_made_element){op, sk_define(&lw->body, op->term, &at)}));
    }
}

int64_t sk_made_bytes(const sk_cluster *c, bool brief)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        const ir_array *info = ir_info(c->l->ir, op->term);
        for (uint32_t k = 0; k < info->components && op->outer && op->kind == L_FOLD; k++)
            bytes += (int64_t)ir_type_size(info->type[k]) *
                     (slots_of(brief, keeps_order(c->l, op->term) ? ORDERED : UNORDERED) + 1);
    }
    return bytes;
}

void sk_made_declare(sk_made *m, int64_t panels)
{
    for (unsigned kind = 0; kind < 2; kind++)
        m->state[kind] = sk_fold_memory(&m->fold[kind], true, panels * slots_of(m->brief, kind) * m->lanes, "state");
    m->fold[ORDERED].by_position = !m->brief;
    if (!m->brief)
        m->total = sk_fold_memory(&m->fold[UNORDERED], true, panels * m->lanes, "total");
}

/* --- elements --- */

void sk_made_give(sk_made *m, uint32_t fold, uint32_t components, const k_val *value)
{
    for (uint32_t k = 0; k < components; k++)
        sk_bind(m->lw, m->given.at[fold][k], value[k]);
}

void sk_made_store(sk_made *m, k_val at)
{
    sk_lower *lw = m->lw;
    for (uint32_t i = 0; i < m->element.n; i++) {
        const sk_made_element *e = &m->element.at[i];
        const uint32_t n = ir_info(lw->l->ir, e->op->term)->components;
        k_val *value = arena_array(lw->arena, k_val, n);
        sk_emit(lw, n, e->term, value);
        for (uint32_t k = 0; k < n; k++)
            k_store(&lw->b, sk_array_memory(lw, e->op->term, k, true), at, value[k]);
    }
}

/* --- folds --- */

/* Where a lane of a panel has slot `slot` of its state. */
static k_val state_at(const sk_made *m, unsigned kind, const sk_made_place *p, k_val slot)
{
    sk_lower *lw = m->lw;
    k_val first = sk_mul(lw, p->panel, k_i64(&lw->b, slots_of(m->brief, kind)));
    return sk_add(lw, sk_mul(lw, sk_add(lw, first, slot), k_i64(&lw->b, m->lanes)), p->lane);
}

static void take_elements(sk_made *m, sk_folds *s, k_val started, k_val **acc)
{
    sk_lower *lw = m->lw;
    k_val value[IR_MAX_COMPONENTS + 1];
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        sk_emit(lw, sk_fold_terms(f), f->fused_product ? ir_args(lw->l->ir, f->element[0]) : f->element, value);
        sk_fold_take(s, f, value, started, acc[i]);
    }
}

static k_val within_piece(const sk_made *m, k_val position)
{
    k_builder *b = &m->lw->b;
    return k_let(b, OP_BIT_AND, position, k_i64(b, SK_PIECE - 1), 0);
}

/* One behind the other, into one accumulator, or into the position's own. */
static void take_into(sk_made *m, unsigned kind, const sk_made_place *p)
{
    k_builder *b = &m->lw->b;
    sk_folds *s = &m->fold[kind];
    k_val zero = k_i64(b, 0), at, started;
    if (m->brief) {
        at = state_at(m, kind, p, zero);
        started = k_let(b, OP_GT, p->position, zero, 0);
    } else {
        k_val within = within_piece(m, p->position), last = k_i64(b, SK_ACCUMULATORS - 1);
        at = state_at(m, kind, p, k_let(b, OP_BIT_AND, within, last, 0));
        started = k_let(b, OP_GT, within, last, 0);
    }
    k_val **acc = sk_fold_accumulators(s);
    k_if(b, started);
    sk_fold_take_kept(s, m->state[kind], at, acc);
    k_end(b);
    take_elements(m, s, started, acc);
    sk_fold_keep(s, m->state[kind], at, acc);
}

/* The total of 2^level elements, the last ones of the first `end` of these blocks, goes onto the stack. */
static void push(sk_made *m, const sk_made_place *p, int64_t level, k_val end, k_val **acc)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_folds *s = &m->fold[ORDERED];
    k_val first = k_i64(b, level), full = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, end, 0, 0));
    k_val next = k_for(b, k_i64(b, 0), full, false);
    k_val at = state_at(m, ORDERED, p, sk_add(lw, first, next));
    sk_fold_merge_behind(s, sk_fold_kept(s, m->state[ORDERED], at), acc);
    k_end(b);
    sk_fold_keep(s, m->state[ORDERED], state_at(m, ORDERED, p, sk_add(lw, first, full)), acc);
}

/* Element `p->row` of a tile: stack[l] has the total of 2^l of its elements where bit l of their number is set. */
static void take_in_order(sk_made *m, const sk_made_place *p, k_val ***stack)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_folds *s = &m->fold[ORDERED];
    k_val **acc = sk_fold_accumulators(s), one = k_i64(b, 1);
    take_elements(m, s, k_literal(b, T_BOOL, 0), acc);
    if (p->row < 0) {
        push(m, p, 0, sk_add(lw, p->position, one), acc);
        return;
    }
    int64_t level = 0, levels = 0;
    for (; p->row >> level & 1; level++) {
        sk_fold_merge(s, stack[level], acc, 0);
        acc = stack[level];
    }
    stack[level] = acc;
    while (m->rows >> levels > 1)
        levels++;
    if (level == levels) {
        k_val tiles = k_let(b, OP_SHR, sk_add(lw, p->position, one), k_i64(b, levels), 0);
        push(m, p, levels, tiles, acc);
    }
}

void sk_made_take(sk_made *m, const sk_made_place *p, k_val ***stack)
{
    if (m->fold[UNORDERED].fold.n)
        take_into(m, UNORDERED, p);
    if (m->fold[ORDERED].fold.n && m->brief)
        take_into(m, ORDERED, p);
    else if (m->fold[ORDERED].fold.n)
        take_in_order(m, p, stack);
}

/* The first `count` accumulators of a piece become one, in variables. */
static k_val **add_halves(sk_made *m, const sk_made_place *p, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_folds *s = &m->fold[UNORDERED];
    k_mem **state = m->state[UNORDERED];
    k_val zero = k_i64(b, 0);
    for (int64_t half = SK_ACCUMULATORS / 2; half; half /= 2) {
        k_val distance = k_i64(b, half),
              there = sk_max(lw, zero, sk_sub(lw, sk_min(lw, count, k_i64(b, 2 * half)), distance));
        k_val l = k_for(b, zero, there, false), at = state_at(m, UNORDERED, p, l);
        k_val **acc = sk_fold_kept(s, state, at);
        sk_fold_combine(s, acc, sk_fold_kept(s, state, state_at(m, UNORDERED, p, sk_add(lw, l, distance))), acc);
        sk_fold_keep(s, state, at, acc);
        k_end(b);
    }
    return sk_fold_kept(s, state, state_at(m, UNORDERED, p, zero));
}

void sk_made_behind(sk_made *m, const sk_made_place *p)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_folds *s = &m->fold[UNORDERED];
    if (m->brief || !s->fold.n)
        return;
    k_val within = sk_add(lw, within_piece(m, p->position), k_i64(b, 1)), size = k_i64(b, SK_PIECE);
    k_val last = k_let(b, OP_EQ, sk_add(lw, p->position, k_i64(b, 1)), p->length, 0);
    k_if(b, k_let(b, OP_OR, last, k_let(b, OP_EQ, within, size, 0), 0));
    k_val **acc = add_halves(m, p, within), at = sk_add(lw, sk_mul(lw, p->panel, k_i64(b, m->lanes)), p->lane);
    k_if(b, k_let(b, OP_GE, p->position, size, 0));
    sk_fold_combine(s, sk_fold_kept(s, m->total, at), acc, acc);
    k_end(b);
    sk_fold_keep(s, m->total, at, acc);
    k_end(b);
}

/* Totals of the stack's levels that `length` has a bit for, the highest one leftmost. */
static k_val **add_levels(sk_made *m, const sk_made_place *p)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_folds *s = &m->fold[ORDERED];
    k_val one = k_i64(b, 1), lowest = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, p->length, 0, 0));
    k_val **acc = sk_fold_kept(s, m->state[ORDERED], state_at(m, ORDERED, p, lowest));
    k_val level = k_for(b, sk_add(lw, lowest, one), k_i64(b, STACK), false);
    k_val bit = k_let(b, OP_BIT_AND, k_let(b, OP_SHR, p->length, level, 0), one, 0);
    k_if(b, k_let(b, OP_NE, bit, k_i64(b, 0), 0));
    sk_fold_combine(s, sk_fold_kept(s, m->state[ORDERED], state_at(m, ORDERED, p, level)), acc, acc);
    k_end(b);
    k_end(b);
    return acc;
}

void sk_made_finish(sk_made *m, k_val panel, k_val lane, k_val length, k_val row)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const sk_made_place p = {.panel = panel, .lane = lane, .length = length};
    lw->element = row;
    for (unsigned kind = 0; kind < 2; kind++) {
        sk_folds *s = &m->fold[kind];
        if (!s->fold.n)
            continue;
        k_val **acc;
        if (m->brief)
            acc = sk_fold_kept(s, m->state[kind], state_at(m, kind, &p, k_i64(b, 0)));
        else if (kind == ORDERED)
            acc = add_levels(m, &p);
        else
            acc = sk_fold_kept(s, m->total, sk_add(lw, sk_mul(lw, panel, k_i64(b, m->lanes)), lane));
        sk_fold_finish_all(s, row, row, acc, 0);
    }
}
