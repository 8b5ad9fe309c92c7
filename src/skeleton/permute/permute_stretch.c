/* The elements of a stretch: places and values are computed in lanes, into shared memory, in one of three ways. Where
 * indices are used, rows are gone along one after the other, as that takes no division; where the innermost extents are
 * small and known, a lane has all elements of these; else elements are as many positions. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"

/* Is all that is read at the loop's own position? Then lanes read what lies together as it is. */
static bool reads_own_alone(const sk_permute *m, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    bool alone = true;
    opt_reach(m->lw->l->ir, m->lw->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_kind kind = (ir_kind)ir_at(m->lw->l->ir, ids.at[i])->kind;
        alone &= kind != IR_COND && (kind != IR_READ || sk_permute_is_own_read(m, ids.at[i]));
    }
    return alone;
}

/* Is nothing dear, nor said what is computed? */
static bool may_run_twice(const sk_permute *m, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    bool may = true;
    opt_reach(m->lw->l->ir, m->lw->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(m->lw->l->ir, ids.at[i]);
        may &= t->kind != IR_LOOP && !(t->kind == IR_OP && ir_ops[t->op].flags & OP_TRACES);
    }
    return may;
}

void sk_permute_open_stretches(sk_permute *m)
{
    sk_lower *lw = m->lw;
    sk_outputs out = {0};
    for (unsigned d = 0; d < m->to->rank; d++)
        vec_push(lw->arena, &out.term, m->target[d]);
    for (uint32_t c = 0; c < m->all->n; c++)
        if (!sk_is_alike(lw->l->ir, m->element[c]))
            vec_push(lw->arena, &out.term, m->element[c]);
    m->factor = (sk_factor){.by = 1, .steps = 1};
    if (lw->options->group || !lw->options->vector_bytes || m->rows)
        return;
    const bool own = reads_own_alone(m, out.term.n, out.term.at);
    const unsigned last = lw->cluster->loop->rank - 1u;
    if (last > 0 && !own && lw->cluster->uses_index && lw->space.run[last] == 1 && lw->space.used[last])
        m->factor = sk_lane_factor(lw, &out, &lw->at);
    if (m->factor.by > 1)
        sk_make_elements(lw, &m->factor, m->to->rank + m->all->n, m->term);
    if (m->factor.by == 1 && !own)
        m->factor = sk_find_factor(lw, out.term.n, out.term.at, lw->at.linear);
    for (int64_t by = m->factor.by; by > 1 && lw->out->k->lanes > 8; by = (by + 1) / 2)
        lw->out->k->lanes /= 2;
    m->along = m->factor.by == 1 && lw->options->row & SK_PERMUTE_ALONG;
    if (!m->along)
        return;
    m->column = lw->cluster->loop->rank - lw->cluster->inner;
    const sk_directions d = sk_directions_of_rows(lw, lw->at.linear, m->column);
    m->cuts = sk_find_stretches(lw, out.term.n, out.term.at, &d);
    m->overlaps = !m->cuts.n && may_run_twice(m, out.term.n, out.term.at);
    while (m->overlaps && lw->options->row & SK_PERMUTE_SHORT && lw->out->k->lanes > SK_PERMUTE_SHORT_LANES)
        lw->out->k->lanes /= 2;
}

/* Is the element one that the worker combines? 0: all are. */
static k_val is_own(sk_permute *m, const sk_permute_found *f)
{
    k_builder *b = &m->lw->b;
    if (!m->divided || m->sifts)
        return f->inside;
    k_val mine = k_let(b, OP_AND, k_let(b, OP_GE, f->place, m->low, 0), k_let(b, OP_LT, f->place, m->high, 0), 0);
    return f->inside ? k_let(b, OP_AND, f->inside, mine, 0) : mine;
}

/* The place of an element that has none, or whose place is another worker's. */
static k_val no_place(sk_permute *m)
{
    return m->may_drop ? sk_permute_nowhere(m) : k_literal(&m->lw->b, m->places_type, 0);
}

static void store_place(sk_permute *m, k_val j, const sk_permute_found *f)
{
    k_builder *b = &m->lw->b;
    k_val own = is_own(m, f), place = sk_permute_place(m, f->place);
    k_store(b, m->at, j, own ? k_select(b, own, place, no_place(m)) : place);
}

/* The element at hand, number j of the stretch. */
static void compute_element(sk_permute *m, k_val j)
{
    sk_permute_found f;
    sk_permute_find_here(m, m->term, &f);
    if (m->vector)
        sk_permute_store_vector(m, j, f.value);
    for (uint32_t c = 0; c < m->all->n; c++)
        if (m->value[c])
            k_store(&m->lw->b, m->value[c], j, f.value[c]);
    store_place(m, j, &f);
    sk_permute_report(m, &f);
}

/* --- positions --- */

static void compute_positions(sk_permute *m, k_val first, k_val count, k_val (*loop)(k_builder *b, k_val count))
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val j = sk_add(lw, first, loop(b, count));
    uint32_t mark = sk_scope(lw);
    sk_permute_bind_position(m, sk_add(lw, m->from, j));
    compute_element(m, j);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- rows --- */

typedef struct row { /* what the stretch has of it */
    sk_permute *m;
    k_val first; /* element of the stretch */
    k_val left;  /* its column */
    k_val j;
} row;

static void begin_column(void *env, k_val position)
{
    row *r = env;
    sk_permute *m = r->m;
    sk_lower *lw = m->lw;
    r->j = sk_add(lw, r->first, position);
    lw->element = sk_add(lw, m->from, r->j);
    if (lw->space.used[m->column])
        sk_bind_run(lw, m->column, sk_add(lw, r->left, position));
    sk_bind(lw, lw->at.linear, lw->element);
}

static void compute_column(void *env)
{
    row *r = env;
    compute_element(r->m, r->j);
}

/* Whole gangs, the last of which may compute again what the one before it has: one that is not whole takes longer. */
static void compute_gangs(row *r, k_val columns)
{
    sk_lower *lw = r->m->lw;
    k_builder *b = &lw->b;
    const sk_positions of = {r, begin_column, compute_column, 0, false};
    const k_val size = k_i64(b, lw->out->k->lanes), zero = k_i64(b, 0), first = r->first, left = r->left;
    k_val rest = k_let(b, OP_REM, columns, size, 0), whole = sk_sub(lw, columns, rest);
    k_val any = k_let(b, OP_GT, whole, zero, 0), again = k_select(b, k_let(b, OP_GT, rest, zero, 0), size, zero);
    k_val turn = k_for(b, zero, k_select(b, any, k_i64(b, 2), zero), false), last = k_let(b, OP_GT, turn, zero, 0);
    k_val from = k_select(b, last, sk_sub(lw, columns, size), zero);
    uint32_t mark = sk_scope(lw);
    r->first = sk_add(lw, first, from);
    r->left = sk_add(lw, left, from);
    sk_for_whole_positions(lw, zero, k_select(b, last, again, whole), &of);
    sk_scope_end(lw, mark);
    k_end(b);
    r->first = first;
    r->left = left;
    sk_for_few_positions(lw, zero, k_select(b, any, zero, columns), &of);
}

static void compute_rows(sk_permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const l_cluster *loop = lw->cluster->loop;
    k_val one = k_i64(b, 1), zero = k_i64(b, 0), end = sk_add(lw, m->from, count);
    k_val length = sk_max(lw, sk_product(lw, lw->cluster->inner, loop->shape + m->column), one);
    k_val first = k_let(b, OP_QUOT, m->from, length, 0);
    k_val last = k_let(b, OP_QUOT, sk_add(lw, end, sk_sub(lw, length, one)), length, 0);
    sk_odometer count_up = {0};
    sk_begin_odometer(lw, &count_up, 0, m->column, first);
    k_val number = k_for(b, first, last, false), begin = sk_mul(lw, number, length), around = lw->element;
    uint32_t mark = sk_scope(lw);
    if (count_up.n)
        sk_bind_odometer(lw, &count_up);
    else
        sk_bind_runs(lw, 0, m->column, number);
    row r = {.m = m, .left = sk_max(lw, zero, sk_sub(lw, m->from, begin))};
    r.first = sk_sub(lw, sk_add(lw, begin, r.left), m->from);
    k_val columns = sk_sub(lw, sk_min(lw, length, sk_sub(lw, end, begin)), r.left);
    if (m->overlaps)
        compute_gangs(&r, columns);
    else
        sk_for_stretches(lw, &m->cuts, columns, &(sk_positions){&r, begin_column, compute_column, 0, false});
    sk_scope_end(lw, mark);
    lw->element = around;
    sk_move_odometer(lw, &count_up);
    k_end(b);
}

/* --- lanes of several elements --- */

typedef struct lanes {
    sk_permute *m;
    sk_permute_found found[SK_MOST_FACTOR];
} lanes;

static k_val begin_in_lane(void *env, k_val position, k_val before)
{
    const lanes *l = env;
    sk_lower *lw = l->m->lw;
    const sk_factor *f = &l->m->factor;
    lw->element = sk_add(lw, l->m->from, position);
    sk_bind(lw, lw->at.linear, lw->element);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank - f->digits, f->digits ? before : lw->element);
    return position;
}

static void find_in_lane(void *env, int64_t which, const ir_id *term)
{
    lanes *l = env;
    sk_permute_find_here(l->m, term, &l->found[which]);
    sk_permute_judge(l->m, &l->found[which]);
}

/* Component by component, so that what lies together is stored together. */
static void store_lane(void *env, const k_val *at)
{
    const lanes *l = env;
    sk_permute *m = l->m;
    sk_lower *lw = m->lw;
    const int64_t n = m->factor.by;
    for (int64_t i = 0; i < n && m->vector; i++)
        sk_permute_store_vector(m, at[i], l->found[i].value);
    for (uint32_t c = 0; c < m->all->n; c++)
        for (int64_t i = 0; i < n && m->value[c]; i++)
            k_store(&lw->b, m->value[c], at[i], l->found[i].value[c]);
    for (int64_t i = 0; i < n; i++)
        store_place(m, at[i], &l->found[i]);
    for (int64_t i = 0; i < n; i++) {
        lw->element = sk_add(lw, m->from, at[i]);
        sk_permute_report_judged(m, &l->found[i]);
    }
}

static void compute_few(void *env, k_val from, k_val count)
{
    const lanes *l = env;
    compute_positions(l->m, from, count, k_for_few);
}

/* --- all --- */

void sk_permute_compute(sk_permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (m->may_fail) {
        k_val lane = k_for_all(b, count);
        k_store(b, m->at, lane, no_place(m));
        k_end(b);
    }
    lanes l = {.m = m};
    if (m->factor.by > 1)
        sk_for_interleaved(lw, &m->factor, m->from, count,
                           &(sk_interleaved){.env = &l,
                                             .begin = begin_in_lane,
                                             .single = compute_few,
                                             .n = m->to->rank + m->all->n,
                                             .term = m->term,
                                             .make = find_in_lane,
                                             .store = store_lane});
    else if (m->along)
        compute_rows(m, count);
    else
        compute_positions(m, k_i64(b, 0), count, k_for_all);
}

/* --- those that are combined --- */

/* Opens loops over the stretch, a gang at a time; gives its first element, and the one of the lane. */
static k_val open_gangs(sk_permute *m, k_val count, k_val *begin)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, lw->out->k->lanes);
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, lw->out->k->lanes - 1)), size, 0);
    *begin = sk_mul(lw, k_for(b, k_i64(b, 0), gangs, false), size);
    return sk_add(lw, *begin, k_for_all(b, sk_min(lw, size, sk_sub(lw, count, *begin))));
}

/* Is it the worker's own place? */
static k_val is_mine(sk_permute *m, k_val place)
{
    k_builder *b = &m->lw->b;
    k_val at = m->places_type == T_I64 ? place : k_convert(b, OP_CONVERT, T_I64, place);
    k_val mine = k_let(b, OP_GE, at, m->low, 0);
    return m->divided ? k_let(b, OP_AND, mine, k_let(b, OP_LT, at, m->high, 0), 0) : mine;
}

static void count_kept(sk_permute *m, k_val count, k_val kept)
{
    k_builder *b = &m->lw->b;
    k_val begin, j = open_gangs(m, count, &begin);
    k_set(b, kept, sk_add(m->lw, k_get(b, kept), k_count(b, is_mine(m, k_load(b, m->at, j)))));
    k_end(b);
    k_end(b);
}

/* Gangs write no further than they have read. */
static void move_kept(sk_permute *m, k_val count, k_val kept)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val begin, j = open_gangs(m, count, &begin), value[IR_MAX_COMPONENTS];
    k_val place = k_load(b, m->at, j), mine = is_mine(m, place), at = k_get(b, kept);
    for (uint32_t c = 0; c < m->all->n; c++)
        value[c] = m->value[c] ? k_load(b, m->value[c], j) : 0;
    k_compact_over(b, m->at, at, place, mine);
    for (uint32_t c = 0; c < m->all->n; c++)
        if (value[c])
            k_compact_over(b, m->value[c], at, value[c], mine);
    k_set(b, kept, sk_add(lw, at, k_count(b, mine)));
    k_end(b);
    k_end(b);
}

k_val sk_permute_sift(sk_permute *m, k_val count)
{
    k_builder *b = &m->lw->b;
    k_val kept = k_decl(b, k_i64(b, 0), "kept");
    if (!m->divided) { /* often all are */
        count_kept(m, count, kept);
        k_if(b, k_let(b, OP_LT, k_get(b, kept), count, 0));
        k_set(b, kept, k_i64(b, 0));
    }
    move_kept(m, count, kept);
    if (!m->divided)
        k_end(b);
    return k_get(b, kept);
}
