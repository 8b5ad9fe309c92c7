/* The skeleton of loops whose iterations are independent: one flat loop, or rows and columns where index components are
 * needed (a division per row instead of one per element), or tiles where elements differ in what they cost. */
#include "skeleton/map/map.h"

#include "skeleton/element/interleave.h"
#include "skeleton/element/runs.h"
#include "skeleton/element/walks.h"
#include "skeleton/map/stretches.h"

#include "kernel/pack.h"
#include "opt/rewrite.h"

static void collect_outputs(sk_lower *lw, sk_outputs *out)
{
    for (uint32_t i = 0; i < lw->cluster->loop->op.n; i++) {
        const l_op *op = &lw->cluster->loop->op.at[i];
        if (!op->stored)
            continue;
        const ir_id *value = sk_define(&lw->body, op->term, &lw->at);
        for (uint32_t c = 0; c < ir_info(lw->l->ir, op->term)->components; c++) {
            vec_push(lw->arena, &out->term, value[c]);
            vec_push(lw->arena, &out->array, op->term);
            vec_push(lw->arena, &out->component, c);
        }
    }
}

void sk_open_map(sk_lower *lw, sk_outputs *out)
{
    sk_open(lw, 1);
    collect_outputs(lw, out);
    lw->out->k->lanes = sk_lanes_for(lw->l, lw->arena, out->term.n, out->term.at, lw->options->vector_bytes);
    for (uint32_t i = 0; i < out->term.n; i++)
        sk_array_memory(lw, out->array.at[i], out->component.at[i], true);
}

void sk_store_element(sk_lower *lw, const sk_outputs *o, k_val position)
{
    k_val *value = arena_array(lw->arena, k_val, o->term.n + 1);
    sk_emit(lw, o->term.n, o->term.at, value);
    for (uint32_t i = 0; i < o->term.n; i++)
        k_store(&lw->b, sk_array_memory(lw, o->array.at[i], o->component.at[i], true), position, value[i]);
}

/* Do neighbours in both directions take similar numbers of turns, at no price? */
static bool suits_tiles(sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    const ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, out->term.n, out->term.at, &ids);
    bool loop = false;
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || (n->kind == IR_READ && n->scope) || ids.at[i] == at->linear)
            return false;
        loop |= n->kind == IR_LOOP && n->u.loop->cond;
    }
    return loop && at->rank == 2;
}

sk_directions sk_directions_of_rows(const sk_lower *lw, ir_id linear, unsigned column)
{
    const sk_space *s = &lw->space;
    sk_directions d = {.along = 1, .moving = {linear}, .between = true};
    if (s->run[column] == 1 && s->used[column])
        d.moving[d.along++] = s->var[column];
    for (unsigned i = 0; i < column; i++)
        if (s->run[i] == 1 && s->used[i])
            d.fixed[d.still++] = s->var[i];
    return d;
}

static sk_directions directions_of_dimension(const sk_lower *lw, unsigned dimension)
{
    sk_directions d = {.along = 1, .moving = {lw->at.at[dimension]}, .between = true};
    for (unsigned i = 0; i < dimension; i++)
        d.fixed[d.still++] = lw->at.at[i];
    return d;
}

/* Elements may be computed twice, but for their traces. */
static uint8_t bytes_where_gangs_may_overlap(sk_lower *lw, const sk_cluster *c, const sk_outputs *out,
                                             const sk_index *at)
{
    const ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, out->term.n, out->term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return 0;
    }
    if (!c->uses_index || (c->inner == 1 && sk_is_of_a_lane(lw, out, at)))
        return 0;
    return (uint8_t)sk_widest(lw->l, &ids, out->term.n, out->term.at);
}

/* Elements of a row that are a lane's. */
static sk_factor factor_of_row(const sk_lower *lw, const sk_outputs *out, unsigned column)
{
    if (lw->space.run[column] != 1 || !lw->space.used[column])
        return (sk_factor){.by = 1, .steps = 1};
    return sk_find_factor(lw, out->term.n, out->term.at, lw->at.at[column]);
}

static void find_shared(sk_lower *lw, sk_cluster *c, const sk_outputs *out)
{
    ir_id loop = sk_find_shared(lw, out);
    opt_ids ids = {0};
    if (!loop)
        return;
    opt_reach(lw->l->ir, lw->arena, out->term.n, out->term.at, &ids);
    c->shared = (uint8_t)ir_at(lw->l->ir, loop)->u.loop->states;
    c->shared_bytes = (uint8_t)sk_widest(lw->l, &ids, out->term.n, out->term.at);
}

void sk_map_prepare(sk_cluster *c, arena *a)
{
    if (c->loop->rank < 2)
        return;
    const sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_outputs out = {0};
    sk_open_map(&lw, &out);
    sk_find_runs(c->l->ir, c, a, out.term.n, out.term.at, &lw.at);
    sk_open_space(&lw);
    c->tiles = c->uses_index && suits_tiles(&lw, &out, &lw.at);
    sk_directions d = sk_directions_of_rows(&lw, lw.at.linear, c->loop->rank - (unsigned)c->inner);
    uint32_t cuts = sk_find_stretches(&lw, out.term.n, out.term.at, &d).n;
    c->row_cuts = (uint8_t)(cuts < UINT8_MAX ? cuts : UINT8_MAX);
    sk_find_lanes(&lw, c, &out, &lw.at);
    sk_find_blocks(&lw, c, &out, &lw.at);
    sk_find_periods(&lw, c, &out, &lw.at);
    c->row_bytes = bytes_where_gangs_may_overlap(&lw, c, &out, &lw.at);
    c->group = (uint8_t)factor_of_row(&lw, &out, c->loop->rank - (unsigned)c->inner).by;
    c->across = sk_find_across(&lw, c, &out, &lw.at);
    c->moved = sk_find_moved(&lw, c, &out, &lw.at);
    c->across_lanes = sk_lanes_for(lw.l, a, out.term.n, out.term.at, none.vector_bytes);
    c->across_bytes = sk_bytes_across(&lw, c, &out);
    find_shared(&lw, c, &out);
}

enum { SMALL = 64, PACKED = 200 }; /* operations of an element: for which code is made twice, and for neighbours */

/* Blocks of many threads know how many elements a piece has at most. */
static k_val bounded(sk_lower *lw, k_val count)
{
    if (!lw->options->group)
        return count;
    lw->out->k->group = (uint16_t)(lw->options->group < 256 ? lw->options->group : 256);
    return sk_min(lw, k_i64(&lw->b, sk_group_piece(lw->cluster)), count);
}

static void bind_element(sk_lower *lw, ir_id linear, k_val position)
{
    sk_bind(lw, linear, position);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, position);
}

/* Elements of a piece, or of a row of it. */
typedef struct elements {
    sk_lower *lw;
    const sk_outputs *out;
    sk_stretches cuts;
    sk_factor factor;
    ir_id linear;
    unsigned column; /* ROWS: the dimension of columns */
    k_val first;     /* element */
    k_val left;      /* ROWS: first column */
    int64_t gang;    /* ROWS: lanes of a gang at a time; 0: all of the row, in as many gangs as it takes */
    k_val at;
    /* Where a lane has all elements of small dimensions: cuts along the dimension of lanes; the first lane's index
     * there, and its first element; how an element of a lane begins; and what is bound of it. */
    sk_stretches lane_cuts;
    k_val first_lane, head;
    k_val (*begin_of_lane)(void *env, k_val position, k_val lane);
    k_val lane;
} elements;

/* Where a lane has all elements of small dimensions, but of one that is divided, whose quotients are not looked at. */
static bool have_elements_apart(const sk_lower *lw, const sk_outputs *out, const elements *e)
{
    const sk_factor *f = &e->factor;
    if (!f->digits || f->steps > 1 || f->digits == lw->cluster->loop->rank)
        return false;
    sk_directions d = directions_of_dimension(lw, lw->cluster->loop->rank - 1u - f->digits);
    d.moving[d.along++] = lw->at.linear;
    uint32_t n = out->term.n;
    const ir_id *term = sk_terms_of_lane(f, out->term.at, &n);
    return sk_lanes_walk_alone(lw, f, n, term, &d);
}

/* Where a lane has several elements, registers are for these: as many lanes as leave a register a value, but not more
 * than 16 for that, or, where elements are taken apart in blocks of a line, a line. */
static void adjust_lanes(sk_lower *lw, const sk_outputs *out, const elements *e, const sk_directions *d)
{
    enum { LEAST = 8, WHOLE = 16, BLOCKS = 8 /* elements of a lane: of more */ };
    kernel *k = lw->out->k;
    if (e->factor.by > 1) {
        opt_ids ids = {0};
        opt_reach(lw->l->ir, lw->arena, out->term.n, out->term.at, &ids);
        const uint32_t widest = sk_widest(lw->l, &ids, out->term.n, out->term.at);
        const uint32_t line = SK_LINE / widest, vector = lw->options->vector_bytes / widest;
        const uint32_t least = vector < LEAST ? LEAST : vector < WHOLE ? vector : WHOLE;
        for (int64_t by = e->factor.by; by > 1 && k->lanes > least; by = (by + 1) / 2)
            k->lanes /= 2;
        if (e->factor.by > BLOCKS && k->lanes < line)
            k->lanes = (uint16_t)line;
    }
    if (sk_walks_alone(lw, out->term.n, out->term.at, d) || have_elements_apart(lw, out, e))
        k->lanes = 1;
}

static void store_element(void *env)
{
    elements *e = env;
    sk_store_element(e->lw, e->out, e->at);
}

/* Rows begin anywhere in a line, so gangs store to two lines at a time, and ends of rows out of order: where these are
 * not in the first level yet, all stores behind them wait. Fetching them before takes half the time of rows that are in
 * the second level. */
void sk_fetch_results(sk_lower *lw, const sk_outputs *out, k_val position, int64_t gang)
{
    enum { AHEAD_BYTES = 512 };
    if (lw->options->group || !lw->options->vector_bytes || lw->options->stream)
        return;
    for (uint32_t i = 0; i < out->term.n; i++) {
        int64_t size = (int64_t)ir_type_size((ir_type)ir_at(lw->l->ir, out->term.at[i])->type);
        if (gang && gang * size < SK_LINE)
            continue;
        k_mem to = sk_array_memory(lw, out->array.at[i], out->component.at[i], true);
        k_fetch(&lw->b, to, sk_add(lw, position, k_i64(&lw->b, AHEAD_BYTES / size)), k_i64(&lw->b, 0));
    }
}

static void fetch_row(void *env)
{
    const elements *e = env;
    sk_fetch_results(e->lw, e->out, e->at, e->gang);
}

static void store_in_row(void *env)
{
    fetch_row(env);
    store_element(env);
}

static void begin_flat(void *env, k_val position)
{
    elements *e = env;
    e->at = sk_add(e->lw, e->first, position);
    e->lw->element = e->at;
    bind_element(e->lw, e->linear, e->at);
}

static void few_flat(void *env, k_val from, k_val count)
{
    elements *e = env;
    sk_for_few_positions(e->lw, from, count, &(sk_positions){e, begin_flat, store_element, 0, false});
}

static k_val begin_interleaved(void *env, k_val position, k_val before)
{
    elements *e = env;
    const sk_cluster *c = e->lw->cluster;
    e->at = sk_add(e->lw, e->first, position);
    e->lw->element = e->at;
    sk_bind(e->lw, e->linear, e->at);
    if (c->loop->rank > 1)
        sk_bind_runs(e->lw, 0, c->loop->rank - e->factor.digits, e->factor.digits ? before : e->at);
    return e->at;
}

static sk_interleaved interleaved(elements *e, k_val (*begin)(void *env, k_val position, k_val before),
                                  void (*single)(void *env, k_val from, k_val count), void (*fetch)(void *env))
{
    k_mem *memory = arena_array(e->lw->arena, k_mem, e->out->term.n + 1);
    for (uint32_t i = 0; i < e->out->term.n; i++)
        memory[i] = sk_array_memory(e->lw, e->out->array.at[i], e->out->component.at[i], true);
    return (sk_interleaved){e, begin, single, fetch, e->out->term.n, e->out->term.at, memory, NULL, NULL};
}

static void interleaved_elements(elements *e, k_val start, k_val count,
                                 k_val (*begin)(void *env, k_val position, k_val before),
                                 void (*single)(void *env, k_val from, k_val count), void (*fetch)(void *env))
{
    const sk_interleaved of = interleaved(e, begin, single, fetch);
    sk_for_interleaved(e->lw, &e->factor, start, count, &of);
}

static void begin_lane(void *env, k_val position)
{
    elements *e = env;
    e->lane = position;
    e->begin_of_lane(e, sk_add(e->lw, sk_mul(e->lw, position, k_i64(&e->lw->b, e->factor.by)), e->head),
                     sk_add(e->lw, position, e->first_lane));
}

static void store_lane(void *env)
{
    elements *e = env;
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    const uint32_t n = e->out->term.n;
    const k_val lane = sk_add(lw, e->lane, e->first_lane);
    const k_val position = sk_add(lw, sk_mul(lw, e->lane, k_i64(b, e->factor.by)), e->head);
    k_val *value = arena_array(lw->arena, k_val, (size_t)e->factor.by * n + 1), at[SK_MOST_FACTOR];
    for (int64_t i = 0; i < e->factor.by; i++) {
        uint32_t mark = sk_scope(lw);
        at[i] = sk_add(lw, e->first, sk_add(lw, position, k_i64(b, i)));
        lw->element = at[i];
        sk_bind(lw, e->linear, at[i]);
        sk_bind_divided(lw, &e->factor, lane, i);
        sk_emit(lw, n, sk_terms_of_element(&e->factor, n, e->out->term.at, i), value + i * n);
        sk_scope_end(lw, mark);
    }
    for (uint32_t k = 0; k < n; k++)
        for (int64_t i = 0; i < e->factor.by; i++)
            k_store(b, sk_array_memory(lw, e->out->array.at[k], e->out->component.at[k], true), at[i],
                    value[i * n + k]);
}

/* Lanes of several elements, stretch by stretch, and the elements before and behind them. */
static void stretches_of_lanes(elements *e, k_val start, k_val count,
                               k_val (*begin)(void *env, k_val position, k_val lane),
                               void (*single)(void *env, k_val from, k_val count))
{
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    k_val by = k_i64(b, e->factor.by), up = sk_add(lw, start, k_i64(b, e->factor.by - 1));
    e->first_lane = k_let(b, OP_QUOT, up, by, 0);
    e->head = sk_min(lw, count, sk_sub(lw, sk_mul(lw, e->first_lane, by), start));
    e->begin_of_lane = begin;
    k_val lanes = k_let(b, OP_QUOT, sk_sub(lw, count, e->head), by, 0);
    k_val tail = sk_add(lw, e->head, sk_mul(lw, lanes, by)), zero = k_i64(b, 0);
    sk_for_stretches(lw, &e->lane_cuts, lanes, &(sk_positions){e, begin_lane, store_lane, 0, false});
    k_val side = k_for(b, zero, k_i64(b, 2), false), before = k_let(b, OP_EQ, side, zero, 0);
    single(e, k_select(b, before, zero, tail), k_select(b, before, e->head, sk_sub(lw, count, tail)));
    k_end(b);
}

/* Cuts along dimension d, whose lanes have all elements of the dimensions behind it. Where there are none, lanes may
 * have those of several neighbours along it. */
static void find_lane_cuts(elements *e, const sk_outputs *out, unsigned d)
{
    const sk_lower *lw = e->lw;
    const sk_directions of = directions_of_dimension(lw, d);
    uint32_t n = out->term.n;
    const ir_id *term = sk_terms_of_lane(&e->factor, out->term.at, &n);
    e->lane_cuts = sk_find_stretches(lw, n, term, &of);
    if (!e->lane_cuts.n)
        e->factor = sk_factor_of_divided(lw, &e->factor, out->term.n, out->term.at, lw->at.at[d]);
}

static bool has_periods(const sk_stretches *s)
{
    bool has = false;
    for (uint32_t k = 0; k < s->n; k++)
        has |= s->cut[k].kind == SK_CUT_PERIOD;
    return has;
}

/* At how many places of a piece at a time a loop reads and writes that waits for the memory; 1: at one. More places
 * are more that is on its way: processors fetch ahead for each of them. (Two to four take 0.85 to 0.9 of the time of
 * one on an Emerald Rapids, for two arrays read and one written past the caches.) */
static unsigned places_of(const elements *e)
{
    enum { MOST_ARRAYS = 16, MOST_FLOPS = 16 };
    sk_lower *lw = e->lw;
    const ir_program *p = lw->l->ir;
    const sk_options *o = lw->options;
    opt_ids ids = {0};
    unsigned arrays = e->out->term.n;
    if (!o->stream || o->group || o->vector_bytes < 16 || e->cuts.n || e->factor.by > 1 || lw->out->k->lanes == 1)
        return 1;
    opt_reach(lw->l->ir, lw->arena, e->out->term.n, e->out->term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return 1;
        arrays += n->kind == IR_READ;
    }
    unsigned places = o->vector_bytes < 64 || arrays * 4 > MOST_ARRAYS ? 2 : 4;
    return arrays * places <= MOST_ARRAYS && lw->cluster->loop->flops <= MOST_FLOPS ? places : 1;
}

/* Elements at several places, the stores together. Moves on to what is left of the piece, or row, and returns how many.
 */
static k_val elements_at_places(elements *e, k_val count, unsigned places, void (*begin)(void *env, k_val position))
{
    enum { WHOLE = 256 }; /* elements: whole lines, and whole gangs of most */
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    const sk_outputs *out = e->out;
    k_val whole = k_i64(b, WHOLE), around = lw->element;
    k_val part = sk_mul(lw, k_let(b, OP_QUOT, count, sk_mul(lw, k_i64(b, places), whole), 0), whole);
    k_val i = k_for_all(b, part);
    k_val *at = arena_array(lw->arena, k_val, places), **value = arena_array(lw->arena, *value, places);
    for (unsigned k = 0; k < places; k++) {
        uint32_t mark = sk_scope(lw);
        begin(e, sk_add(lw, sk_mul(lw, part, k_i64(b, k)), i));
        at[k] = e->at;
        value[k] = arena_array(lw->arena, k_val, out->term.n + 1);
        sk_emit(lw, out->term.n, out->term.at, value[k]);
        sk_scope_end(lw, mark);
    }
    for (uint32_t c = 0; c < out->term.n; c++)
        for (unsigned k = 0; k < places; k++)
            k_store(b, sk_array_memory(lw, out->array.at[c], out->component.at[c], true), at[k], value[k][c]);
    k_end(b);
    lw->element = around;
    k_val done = sk_mul(lw, part, k_i64(b, places));
    e->first = sk_add(lw, e->first, done);
    e->left = e->left ? sk_add(lw, e->left, done) : 0;
    return sk_sub(lw, count, done);
}

/* Periods begin anywhere in a line, as rows do. */
static void flat_elements(elements *e, k_val count)
{
    sk_positions of = {e, begin_flat, has_periods(&e->cuts) ? store_in_row : store_element, 0, false};
    unsigned places = places_of(e);
    if (places > 1)
        count = elements_at_places(e, count, places, begin_flat);
    if (e->factor.by > 1 && e->lane_cuts.n)
        stretches_of_lanes(e, e->first, count, begin_interleaved, few_flat);
    else if (e->factor.by > 1)
        interleaved_elements(e, e->first, count, begin_interleaved, few_flat, NULL);
    else
        sk_for_stretches(e->lw, &e->cuts, count, &of);
}

/* Where the innermost extent is small and known, it is one lane's, if the elements use an index at all. */
static sk_factor factor_of_flat(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    const sk_cluster *c = lw->cluster;
    unsigned last = c->loop->rank - 1u;
    sk_factor f = {.by = 1, .steps = 1};
    bool used = false;
    for (unsigned d = 0; d <= last && c->loop->rank > 1; d++)
        used |= lw->space.run[d] && lw->space.used[d];
    if (lw->options->row >> SK_LANE_EXTENT)
        f = sk_factor_of_launch(at, lw->options->row >> SK_LANE_EXTENT);
    else if (used && lw->space.run[last] == 1)
        f = sk_lane_factor(lw, out, at);
    if (f.by > 1)
        sk_make_elements(lw, &f, out->term.n, out->term.at);
    return f.by > 1 ? f : sk_find_factor(lw, out->term.n, out->term.at, at->linear);
}

/* A row of pairs: its lanes, or single elements. */
static k_val begin_pair(void *env, k_val position, k_val lane)
{
    elements *e = env;
    e->at = sk_add(e->lw, e->first, position);
    e->lw->element = e->at;
    sk_bind_run(e->lw, e->column, lane);
    sk_bind(e->lw, e->linear, e->at);
    return e->at;
}

static void begin_of_pair(void *env, k_val position)
{
    elements *e = env;
    k_builder *b = &e->lw->b;
    const l_cluster *loop = e->lw->cluster->loop;
    k_val column = sk_add(e->lw, e->left, position);
    k_val of = sk_max(e->lw, sk_closed(e->lw, loop->shape[loop->rank - 1]), k_i64(b, 1));
    begin_pair(e, position, k_let(b, OP_QUOT, column, of, 0));
    sk_bind(e->lw, e->lw->at.at[loop->rank - 1], k_let(b, OP_REM, column, of, 0));
}

static void few_of_pairs(void *env, k_val from, k_val count)
{
    elements *e = env;
    sk_for_few_positions(e->lw, from, count, &(sk_positions){e, begin_of_pair, store_element, 0, false});
}

static void begin_column(void *env, k_val position)
{
    elements *e = env;
    e->at = sk_add(e->lw, e->first, position);
    e->lw->element = e->at;
    if (e->lw->cluster->used[e->column])
        sk_bind_run(e->lw, e->column, sk_add(e->lw, e->left, position));
    sk_bind(e->lw, e->linear, e->at);
}

static void row_elements(elements *e, k_val count)
{
    unsigned places = places_of(e);
    if (places > 1)
        count = elements_at_places(e, count, places, begin_column);
    sk_for_stretches(e->lw, &e->cuts, count, &(sk_positions){e, begin_column, store_in_row, 0, false});
}

static void few_columns(void *env, k_val from, k_val count)
{
    elements *e = env;
    sk_for_few_positions(e->lw, from, count, &(sk_positions){e, begin_column, store_element, 0, false});
}

static k_val begin_interleaved_column(void *env, k_val position, k_val before)
{
    (void)before;
    begin_column(env, position);
    return ((elements *)env)->at;
}

static void gang_of(elements *e, k_val first, int64_t lanes)
{
    e->gang = lanes;
    sk_for_whole_positions(e->lw, first, k_i64(&e->lw->b, lanes),
                           &(sk_positions){e, begin_column, store_in_row, 0, false});
}

/* Whole gangs, and at the end of the row a smaller one, which may compute again what the one before it has: one that is
 * not whole takes longer. It comes first: what it computes of the row need not be computed in the loop. */
static void overlapping_gangs(elements *e, k_val count, sk_row_gangs g)
{
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, g.lanes);
    if (g.last)
        gang_of(e, sk_sub(lw, count, k_i64(b, g.last)), g.last);
    k_val gang = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, count, lanes, 0), false);
    gang_of(e, sk_mul(lw, gang, lanes), g.lanes);
    k_end(b);
}

/* Where all guards of a row let through, gangs that overlap, and the others one by one: their reads in steps are made
 * together, which is not so where lanes are off. */
static void gangs_let_through(elements *e, k_val count, sk_row_gangs g)
{
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    const sk_positions of = {e, begin_column, store_in_row, 0, false};
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), lanes = k_i64(b, g.lanes), low, high;
    k_if(b, sk_find_let_through(lw, &e->cuts, count, g.lanes, &of, &low, &high));
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, high, low), k_i64(b, g.lanes - 1)), lanes, 0);
    k_val gang = k_for(b, zero, gangs, false), first = sk_add(lw, low, sk_mul(lw, gang, lanes));
    uint32_t mark = sk_scope(lw);
    sk_bind_guards(lw, &e->cuts);
    gang_of(e, sk_min(lw, first, sk_sub(lw, high, lanes)), g.lanes);
    sk_scope_end(lw, mark);
    k_end(b);
    k_val rest = k_for(b, zero, sk_add(lw, low, sk_sub(lw, count, high)), false);
    k_val before = k_let(b, OP_LT, rest, low, 0), behind = sk_add(lw, high, sk_sub(lw, rest, low));
    sk_for_whole_positions(lw, k_select(b, before, rest, behind), one, &of);
    k_end(b);
    k_else(b);
    overlapping_gangs(e, count, g);
    k_end(b);
}

static void gang_of_groups(elements *e, k_val first, int64_t behind, int64_t lanes)
{
    const sk_interleaved of = interleaved(e, begin_interleaved_column, few_columns, fetch_row);
    e->gang = lanes * e->factor.by;
    sk_for_gang_of_groups(e->lw, &e->factor, first, behind, lanes, &of);
}

/* The same where lanes have groups of elements. Those of the gang at the end of the row begin where the last one ends
 * with the row. */
static void overlapping_groups(elements *e, k_val count, sk_row_gangs g)
{
    sk_lower *lw = e->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, g.lanes), groups = k_let(b, OP_QUOT, count, k_i64(b, e->factor.by), 0);
    if (g.last)
        gang_of_groups(e, sk_sub(lw, groups, k_i64(b, g.last)), g.behind, g.last);
    k_val gang = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, groups, lanes, 0), false);
    gang_of_groups(e, sk_mul(lw, gang, lanes), 0, g.lanes);
    k_end(b);
}

/* The elements of a whole piece, several neighbours a thread. */
static void packed_elements(sk_lower *lw, const sk_outputs *out, ir_id linear, k_val first)
{
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, k_i64(b, sk_group_piece(lw->cluster) / K_PACK_ROUNDS));
    k_val start = sk_add(lw, first, sk_mul(lw, lane, k_i64(b, K_PACK_ROUNDS)));
    k_val round = k_for_pack(b);
    uint32_t mark = sk_scope(lw);
    k_val i = sk_add(lw, start, round);
    lw->element = i;
    bind_element(lw, linear, i);
    sk_store_element(lw, out, i);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

/* Does the launch know the innermost extent? Then it is no argument. */
static bool know_extent(sk_lower *lw)
{
    const l_cluster *loop = lw->cluster->loop;
    const int64_t extent = lw->options->row >> SK_LANE_EXTENT;
    if (extent)
        map64_put(lw->arena, &lw->argument, loop->shape[loop->rank - 1], k_i64(&lw->b, extent));
    return extent > 0;
}

/* slots: 0 elements a piece, 1 elements in all */
static void build_flat(sk_lower *lw, bool packs)
{
    const sk_cluster *c = lw->cluster;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    know_extent(lw);
    sk_open_space(lw);
    ir_id linear = lw->at.linear;
    k_builder *b = &lw->b;
    k_val size = sk_slot(lw, 0, "piece_size"), total = sk_slot(lw, 1, "total");
    k_val first = sk_mul(lw, k_piece(b), size);
    k_val count = bounded(lw, sk_min(lw, size, sk_sub(lw, total, first)));
    bool twice = packs || (lw->options->group && c->loop->flops <= SMALL);
    elements e = {.lw = lw, .out = &out, .linear = linear, .first = first};
    sk_directions d = {.along = 1, .moving = {linear}, .between = true};
    e.cuts = sk_find_stretches(lw, out.term.n, out.term.at, &d);
    e.factor = factor_of_flat(lw, &out, &lw->at);
    if (e.factor.digits && e.factor.digits + 1 == c->loop->rank)
        find_lane_cuts(&e, &out, 0);
    adjust_lanes(lw, &out, &e, &d);
    if (twice) { /* whole pieces need no guards, so reads of several elements are under way together */
        k_val whole = k_i64(b, sk_group_piece(c));
        k_if(b, k_let(b, OP_EQ, count, whole, 0));
        if (packs)
            packed_elements(lw, &out, linear, first);
        else
            flat_elements(&e, whole);
        k_else(b);
    }
    flat_elements(&e, count);
    if (twice)
        k_end(b);
}

/* Where threads take one element each, several reads of a thread are under way together all the same; neighbours take
 * fewer instructions, also where an element takes many. */
void sk_build_map_flat(sk_lower *lw)
{
    if (lw->options->group && lw->cluster->loop->flops <= PACKED) {
        build_flat(lw, true);
        if (!lw->why.text && k_packs_pay(lw->out->k, lw->arena))
            return;
    }
    build_flat(lw, false);
}

/* Short rows along one dimension, for each place in those before it: what only these decide is decided once, and cuts
 * along the dimension are between rows. */
typedef struct row_of_rows {
    elements *e;
    sk_row_gangs gangs;
    unsigned dimension;
    k_val number, from, extent; /* of the rows; the first row's index, and the extent of the dimension */
    k_val columns, count;       /* of each row, and of these in the piece */
} row_of_rows;

static void begin_row(void *env, k_val position)
{
    row_of_rows *r = env;
    sk_lower *lw = r->e->lw;
    k_val index = sk_add(lw, r->from, position);
    k_val row = sk_add(lw, sk_mul(lw, r->number, r->extent), index);
    sk_bind_run(lw, r->dimension, index);
    r->e->first = sk_add(lw, sk_mul(lw, row, r->columns), r->e->left);
}

static void store_row(void *env)
{
    row_of_rows *r = env;
    overlapping_gangs(r->e, r->count, r->gangs);
}

/* Rows `first` to `last`. */
static void rows_of_rows(row_of_rows *r, k_val first, k_val last)
{
    sk_lower *lw = r->e->lw;
    k_builder *b = &lw->b;
    const sk_directions d = directions_of_dimension(lw, r->dimension);
    const sk_stretches cuts = sk_find_stretches(lw, r->e->out->term.n, r->e->out->term.at, &d);
    const k_val zero = k_i64(b, 0), up = sk_add(lw, last, sk_sub(lw, r->extent, k_i64(b, 1)));
    k_val end = k_let(b, OP_QUOT, up, r->extent, 0);
    r->number = k_for(b, k_let(b, OP_QUOT, first, r->extent, 0), end, false);
    uint32_t mark = sk_scope(lw);
    sk_bind_runs(lw, 0, r->dimension, r->number);
    k_val before = sk_mul(lw, r->number, r->extent);
    r->from = sk_max(lw, sk_sub(lw, first, before), zero);
    k_val count = sk_sub(lw, sk_min(lw, sk_sub(lw, last, before), r->extent), r->from);
    sk_for_stretches(lw, &cuts, count, &(sk_positions){r, begin_row, store_row, 0, true});
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Whole rows that are a few gangs, along a dimension whose index matters, behind others. */
static bool has_rows_of_rows(const sk_cluster *c, int64_t gangs)
{
    const unsigned column = c->loop->rank - c->inner;
    return gangs && c->group == 1 && !sk_row_gangs_of(gangs).cut && column > 1 && c->run[column - 1] == 1 &&
           c->used[column - 1];
}

static void lanes_of_pairs(elements *e, k_val count)
{
    if (e->lane_cuts.n)
        stretches_of_lanes(e, e->left, count, begin_pair, few_of_pairs);
    else
        interleaved_elements(e, e->left, count, begin_pair, few_of_pairs, fetch_row);
}

static void lanes_of_row(elements *e, k_val count, int64_t gangs)
{
    if (e->factor.by > 1 && gangs)
        overlapping_groups(e, count, sk_row_gangs_of(gangs));
    else if (e->factor.by > 1)
        interleaved_elements(e, e->left, count, begin_interleaved_column, few_columns, fetch_row);
    else if (gangs && !sk_row_gangs_of(gangs).cut && e->cuts.guarded)
        gangs_let_through(e, count, sk_row_gangs_of(gangs));
    else if (gangs && !sk_row_gangs_of(gangs).cut)
        overlapping_gangs(e, count, sk_row_gangs_of(gangs));
    else
        row_elements(e, bounded(e->lw, count));
}

/* slots: 0 rows a piece, 1 tiles a row, 2 columns a tile, 3 rows, 4 columns */
void sk_build_map_rows(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    const sk_options *options = lw->options;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    const bool of_launch = options->row >> SK_OF_PAIRS & 1;
    const int64_t gangs = of_launch ? 0 : options->row;
    const bool pairs = of_launch || (c->pairs && c->of_lane && !options->group && options->vector_bytes);
    const bool extent = know_extent(lw) || !of_launch; /* that of a pair's second dimension is known */
    sk_open_space(lw);
    k_builder *b = &lw->b;
    k_val rows_piece = sk_slot(lw, 0, "rows_piece"), tiles = sk_slot(lw, 1, "tiles"),
          width = sk_slot(lw, 2, "tile_width");
    k_val rows = sk_slot(lw, 3, "rows"), columns = sk_slot(lw, 4, "columns");
    k_val group = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    k_val tile = sk_sub(lw, k_piece(b), sk_mul(lw, group, tiles));
    k_val left = sk_mul(lw, tile, width);
    k_val count = sk_min(lw, width, sk_sub(lw, columns, left));
    k_val first = sk_max(lw, sk_mul(lw, group, rows_piece), k_i64(b, 0)); /* so that it is seen */
    elements e = {.lw = lw, .out = &out, .linear = lw->at.linear, .left = left};
    e.column = c->loop->rank - c->inner - (pairs ? 1u : 0u);
    sk_odometer count_up = {0};
    if (gangs && !has_rows_of_rows(c, gangs))
        sk_begin_odometer(lw, &count_up, 0, e.column, first);
    k_val last = sk_min(lw, sk_add(lw, first, rows_piece), rows);
    if (has_rows_of_rows(c, gangs)) {
        row_of_rows r = {&e, sk_row_gangs_of(gangs), e.column - 1u, 0, 0, 0, columns, count};
        r.extent = sk_max(lw, sk_closed(lw, c->loop->shape[r.dimension]), k_i64(b, 1));
        rows_of_rows(&r, first, last);
        return;
    }
    k_val row = k_for(b, first, last, false);
    if (count_up.n)
        sk_bind_odometer(lw, &count_up);
    else
        sk_bind_runs(lw, 0, e.column, row);
    e.first = sk_add(lw, sk_mul(lw, row, columns), left);
    sk_directions d = sk_directions_of_rows(lw, lw->at.linear, e.column);
    e.cuts = sk_find_stretches(lw, out.term.n, out.term.at, &d);
    e.factor = (sk_factor){.by = 1, .steps = 1};
    if (pairs && extent) {
        e.factor = factor_of_flat(lw, &out, &lw->at);
        find_lane_cuts(&e, &out, e.column);
    } else if (!pairs) {
        e.factor = factor_of_row(lw, &out, e.column);
    }
    if (gangs)
        lw->out->k->lanes = (uint16_t)sk_row_gangs_of(gangs).lanes;
    else
        adjust_lanes(lw, &out, &e, &d);
    if (pairs && !extent)
        few_of_pairs(&e, k_i64(b, 0), count);
    else if (pairs)
        lanes_of_pairs(&e, count);
    else
        lanes_of_row(&e, count, gangs);
    sk_move_odometer(lw, &count_up);
    k_end(b);
}
