/* The skeletons of folds. The combination tree is fixed (docs/determinism.md): it depends on the row's length, the
 * width of the accumulated components and whether the operators commute, never on workers, alignment or the shape of
 * the launch. */
#include "skeleton/fold/fold.h"

#include "opt/identity.h"
#include "opt/rewrite.h"
#include "skeleton/map/stretches.h"

/* --- operators --- */

ir_bits *sk_fold_identity(const sk_lower *lw, const ir_fn *fn, uint32_t n)
{
    ir_bits *identity = arena_array(lw->arena, ir_bits, n);
    return opt_find_identity(lw->l->ir, fn, identity) ? identity : NULL;
}

bool sk_fold_product(const sk_lower *lw, const sk_fold *f)
{
    if (!lw->options->contract || f->n != 1 || !f->identity)
        return false;
    const ir_node *op = ir_at(lw->l->ir, f->info->fn->result[0]);
    const ir_node *e = ir_at(lw->l->ir, f->element[0]);
    return op->op == OP_ADD && ir_type_float((ir_type)op->type) && e->kind == IR_OP && e->op == OP_MUL;
}

void sk_fold_apply(sk_lower *lw, const sk_fold *f, const k_val *left, const k_val *right, k_val *out)
{
    uint32_t mark = sk_scope(lw);
    for (uint32_t c = 0; c < f->n; c++) {
        sk_bind(lw, f->info->fn->param[c], left[c]);
        sk_bind(lw, f->info->fn->param[f->n + c], right[c]);
    }
    sk_emit(lw, f->n, f->info->fn->result, out);
    sk_scope_end(lw, mark);
}

/* --- elements --- */

void sk_fold_bind(sk_folds *s, k_val row, k_val k)
{
    sk_lower *lw = s->lw;
    const sk_cluster *c = lw->cluster;
    if (s->bind) {
        s->bind(s->bind_env, k);
        return;
    }
    k_val linear = sk_add(lw, s->row_base, k);
    lw->element = linear;
    sk_bind(lw, lw->at.linear, linear);
    if (s->flat)
        sk_flat_bind(s);
    if (c->loop->rank == 1 || s->combine)
        return;
    VEC(ir_id) all = {0};
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t j = 0; j < s->fold.at[i].n; j++)
            vec_push(lw->arena, &all, s->fold.at[i].element[j]);
    for (uint32_t i = 0; i < s->stored.term.n; i++)
        vec_push(lw->arena, &all, s->stored.term.at[i]);
    bool outer = false;
    for (unsigned d = 0; d + 1 < c->loop->rank; d++)
        outer |= sk_mentions(lw, all.n, all.at, lw->at.at[d]);
    k_val index[IR_MAX_RANK] = {0};
    if (outer)
        sk_row_indices(lw, c->loop->rank, c->loop->shape, row, index);
    for (unsigned d = 0; outer && d + 1 < c->loop->rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
    sk_bind(lw, lw->at.at[c->loop->rank - 1], k);
}

bool sk_fold_adds_integers(const sk_lower *lw, const sk_fold *f)
{
    const ir_node *r = ir_at(lw->l->ir, f->info->fn->result[0]);
    return f->n == 1 && f->identity && r->op == OP_ADD && !ir_type_float((ir_type)r->type);
}

bool sk_fold_in_any_order(const sk_lower *lw, const sk_fold *f)
{
    const ir_program *p = lw->l->ir;
    for (uint32_t c = 0; c < f->n; c++) {
        const ir_op op = opt_primitive_of(p, f->info->fn, c);
        bool exact = op == OP_ADD || op == OP_MIN || op == OP_MAX;
        if (!exact || ir_type_float((ir_type)f->info->type[c])) /* extremes of floats are looked for once more */
            return false;
    }
    return true;
}

/* --- pieces on one side --- */

typedef struct side_of {
    sk_folds *s;
    const sk_fold_part *p;
} side_of;

static void begin_position(void *env, k_val position)
{
    const side_of *at = env;
    sk_fold_bind(at->s, at->p->row, sk_add(at->s->lw, at->p->begin, position));
}

static sk_stretches find_sides(const sk_folds *s)
{
    sk_lower *lw = s->lw;
    const sk_cluster *c = lw->cluster;
    sk_directions d = {.along = 1, .moving = {lw->at.linear}};
    VEC(ir_id) term = {0};
    if (c->loop->rank > 1)
        d.moving[d.along++] = lw->at.at[c->loop->rank - 1];
    for (unsigned i = 0; i + 1 < c->loop->rank; i++)
        d.fixed[d.still++] = lw->at.at[i];
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t k = 0; k < s->fold.at[i].n; k++)
            vec_push(lw->arena, &term, s->fold.at[i].element[k]);
    for (uint32_t i = 0; i < s->stored.term.n; i++)
        vec_push(lw->arena, &term, s->stored.term.at[i]);
    return sk_find_stretches(lw, term.n, term.at, &d);
}

void sk_fold_sides(sk_folds *s, const sk_fold_part *p, void (*take)(void *env), void *env)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    side_of at = {s, p};
    k_val state[SK_MOST_CUTS] = {0};
    sk_stretches cuts = s->combine || s->bind ? (sk_stretches){0} : find_sides(s);
    k_val one_side = sk_signs_stand(lw, &cuts, p->count, &(sk_positions){&at, begin_position, NULL, 0, false}, state);
    if (!one_side) {
        take(env);
        return;
    }
    k_if(b, one_side);
    uint32_t mark = sk_scope(lw);
    sk_bind_signs(lw, &cuts, state);
    take(env);
    sk_scope_end(lw, mark);
    k_else(b);
    take(env);
    k_end(b);
}

static void set_all(k_builder *b, const sk_fold *f, const k_val *acc, const k_val *value)
{
    for (uint32_t c = 0; c < f->n; c++)
        k_set(b, acc[c], value[c]);
}

void sk_fold_take(sk_folds *s, const sk_fold *f, const k_val *value, k_val started, const k_val *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (f->fused_product) {
        k_set(b, acc[0], k_let(b, OP_FMA, value[0], value[1], k_get(b, acc[0])));
        return;
    }
    k_val left[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
    bool first = !f->identity && !s->by_position; /* the element may be */
    if (first)
        k_if(b, started);
    for (uint32_t c = 0; c < f->n; c++)
        left[c] = s->by_position ? 0 : k_get(b, acc[c]);
    if (s->by_position)
        memcpy(out, value, f->n * sizeof(k_val));
    else
        sk_fold_accumulate(s, f, left, value, out);
    sk_fold_watch_element(s, f, value);
    if (s->mixes && sk_fold_adds_integers(lw, f))
        k_mix(b, acc[0], out[0]);
    else
        set_all(b, f, acc, out);
    if (first) {
        k_else(b);
        set_all(b, f, acc, value);
        k_end(b);
    }
}

/* Words have the bits of narrower types in their lower ends. */
static ir_type word_type(ir_type t)
{
    size_t size = ir_type_size(t);
    return size == 8 ? T_U64 : size == 4 ? T_U32 : size == 2 ? T_U16 : T_U8;
}

k_val sk_load_word(sk_folds *s, const sk_fold *f, uint32_t component, k_val position)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_type t = f->info->type[component];
    k_val first = sk_mul(lw, k_i64(b, f->first + component), s->words_each);
    k_val word = k_load(b, s->words, sk_add(lw, first, position));
    if (t == T_BOOL)
        return k_let(b, OP_NE, word, k_literal(b, T_U64, 0), 0);
    k_val narrow = ir_type_size(t) == 8 ? word : k_convert(b, OP_CONVERT, word_type(t), word);
    return k_convert(b, OP_BITCAST, t, narrow);
}

void sk_store_word(sk_folds *s, const sk_fold *f, uint32_t component, k_val position, k_val value)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_type t = f->info->type[component];
    k_val first = sk_mul(lw, k_i64(b, f->first + component), s->words_each);
    k_val bits = t == T_BOOL ? value : k_convert(b, OP_BITCAST, word_type(t), value);
    k_val word = ir_type_size(t) == 8 ? bits : k_convert(b, OP_CONVERT, T_U64, bits);
    k_store(b, s->words, sk_add(lw, first, position), word);
}

/* The element number k of a row goes into the accumulators. `started` is a bool value: false for a lane's first
 * element. */
void sk_fold_leave(sk_folds *s, uint32_t i, k_val value)
{
    sk_lower *lw = s->lw;
    ir_id array = s->stored.array.at[i];
    if (array)
        k_store(&lw->b, sk_array_memory(lw, array, s->stored.component.at[i], true), lw->element, value);
    else
        k_store(&lw->b, s->stored.component.at[i], sk_sub(lw, lw->element, s->stage), value);
}

void sk_fold_element(sk_folds *s, k_val row, k_val k, k_val started, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element;
    sk_fold_bind(s, row, k);
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < s->fold.n && !s->combine; i++) {
        const sk_fold *f = &s->fold.at[i];
        const ir_id *element = f->fused_product ? ir_args(lw->l->ir, f->element[0]) : f->element;
        for (uint32_t c = 0; c < sk_fold_terms(f); c++)
            vec_push(lw->arena, &term, element[c]);
    }
    uint32_t elements = term.n;
    for (uint32_t i = 0; i < s->stored.term.n; i++)
        vec_push(lw->arena, &term, s->stored.term.at[i]);
    k_val *value = arena_array(lw->arena, k_val, term.n + 1), partial[IR_MAX_COMPONENTS];
    if (term.n)
        sk_emit(lw, term.n, term.at, value);
    for (uint32_t i = 0; i < s->stored.term.n; i++)
        sk_fold_leave(s, i, value[elements + i]);
    const k_val *next = value;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        for (uint32_t c = 0; c < f->n && s->combine; c++)
            partial[c] = s->words ? sk_load_word(s, f, c, lw->element) : k_load(b, f->in[c], lw->element);
        sk_fold_take(s, f, s->combine ? partial : next, started, acc[i]);
        next += sk_fold_terms(f);
    }
    lw->element = around;
    sk_scope_end(lw, mark);
}

uint16_t sk_fold_lanes_for(const sk_folds *s)
{
    const sk_lower *lw = s->lw;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &term, s->fold.at[i].element[c]);
    return sk_lanes_for(lw->l, lw->arena, term.n, term.at, lw->options->vector_bytes);
}

/* --- lanes within a row --- */

/* Lane 0 ends with the sum of all lanes. Lanes outside the tree compute what nobody looks at, or nothing where the
 * operator might fail there. */
static void combine_in_gang(sk_folds *s, k_val lane, k_val count, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    /* every lane of the first half has a partner, in every round, or one that changes nothing */
    bool whole_gang = lw->options->row > 0 || lw->options->row < -1; /* of one that is not whole nobody knows */
    bool full = (whole_gang && !s->combine) || s->neutral;
    for (int64_t distance = s->tree.lanes / 2; distance; distance /= 2) {
        k_val has = full ? 0 : k_let(b, OP_LT, lane, sk_sub(lw, count, k_i64(b, distance)), 0);
        for (uint32_t i = 0; i < s->fold.n; i++) {
            const sk_fold *f = &s->fold.at[i];
            k_val *left = arena_array(lw->arena, k_val, f->n), *right = arena_array(lw->arena, k_val, f->n);
            k_val *out = arena_array(lw->arena, k_val, f->n);
            for (uint32_t c = 0; c < f->n; c++) {
                left[c] = k_get(b, acc[i][c]);
                right[c] = k_shuffle(b, left[c], distance);
            }
            bool guarded = !sk_fold_harmless(lw, f);
            if (guarded) {
                k_val takes = k_let(b, OP_LT, lane, k_i64(b, distance), 0);
                k_if(b, has ? k_let(b, OP_AND, takes, has, 0) : takes);
            }
            sk_fold_accumulate(s, f, left, right, out);
            for (uint32_t c = 0; c < f->n; c++)
                k_set(b, acc[i][c], has && !guarded ? k_select(b, has, out[c], left[c]) : out[c]);
            if (guarded)
                k_end(b);
        }
    }
}

/* Lane 0 stores its sums: the row's result, or the partial result number `position`. */
void sk_fold_store(sk_folds *s, k_val row, k_val lane, k_val position, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    sk_fold_finish_all(s, sk_add(lw, row, lane), sk_add(lw, position, lane), acc, 0);
    k_end(b);
}

/* The lanes' sums become the piece's, in lane 0. */
void sk_fold_lanes(sk_folds *s, k_val row, k_val lane, k_val count, k_val *const *acc)
{
    combine_in_gang(s, lane, count, acc);
    sk_fold_settle(s, row, s->begin, lane, count, acc);
}

/* May the operator run in lanes that hold nothing? */
bool sk_fold_harmless(const sk_lower *lw, const sk_fold *f)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, f->info->fn->results, f->info->fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(lw->l->ir, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || n->kind == IR_READ)
            return false;
    }
    return true;
}

void sk_fold_streams(sk_folds *s, k_val lane, int64_t there, k_val count, k_val **const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (int64_t distance = s->tree.streams / 2; distance; distance /= 2)
        for (int64_t t = 0; t < distance && t + distance < there; t++) {
            k_val first = count ? sk_sub(lw, count, k_i64(b, (t + distance) * s->tree.lanes)) : 0;
            sk_fold_merge(s, acc[t], acc[t + distance], count ? k_let(b, OP_LT, lane, first, 0) : 0);
        }
}

void sk_fold_group(sk_folds *s, const sk_fold_part *p, k_val lane, k_val within, int64_t t, k_val started, bool masked,
                   k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    bool both = masked && sk_fold_flops(lw->cluster, lw->options) <= SK_SMALL;
    k_val group = sk_add(lw, within, k_i64(b, t * s->tree.lanes)), left = sk_sub(lw, p->count, group);
    k_val at = sk_add(lw, p->begin, sk_add(lw, group, lane));
    if (both) {
        k_if(b, k_let(b, OP_GE, left, k_i64(b, s->tree.lanes), 0));
        sk_fold_element(s, p->row, at, started, acc);
        k_else(b);
        k_if(b, k_let(b, OP_GT, left, k_i64(b, 0), 0));
    }
    if (masked)
        k_if(b, k_let(b, OP_LT, lane, left, 0));
    sk_fold_element(s, p->row, at, started, acc);
    for (unsigned ends = both ? 3 : masked; ends; ends--)
        k_end(b);
}

/* Round k of a piece goes to accumulators part, part + parts, ... */
static void take_round(sk_folds *s, const sk_fold_part *p, k_val lane, k_val k, int64_t part, int64_t parts,
                       bool masked, k_val **const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val started = k_let(b, OP_GT, k, k_i64(b, 0), 0), within = sk_mul(lw, k, k_i64(b, SK_ACCUMULATORS));
    for (int64_t t = part; t < s->tree.streams; t += parts) {
        lw->behind = t * s->tree.lanes;
        sk_fold_group(s, p, lane, within, t, started, masked, acc[t]);
    }
    lw->behind = 0;
}

/* Parts of a round whose accumulators stay in registers, half of which are left for everything else. */
static int64_t parts_of_round(const sk_folds *s)
{
    int64_t bytes = 0, vector = s->lw->options->vector_bytes, n = 1;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            bytes += SK_ACCUMULATORS * (int64_t)ir_type_size(s->fold.at[i].info->type[c]);
    while (n < s->tree.streams && bytes > n * vector * (vector >= 64 ? 16 : 8))
        n *= 2;
    return n;
}

/* Rounds of a turn. One is best where memory is waited for: a processor looks ahead for each load by its last steps,
 * which must be short. */
static int64_t rounds_of_turn(const sk_folds *s, int64_t parts)
{
    enum { SOME = 4, MOST_CODE = 256 /* operations */ };
    double flops = sk_fold_flops(s->lw->cluster, s->lw->options);
    bool small = flops * SOME * (double)s->tree.streams <= MOST_CODE;
    return s->lw->options->ahead || parts == 1 || !small ? 1 : SOME;
}

/* Several rounds without masks, from round k on: each part of them takes its turn. */
static void take_turn(sk_folds *s, const sk_fold_part *p, k_val lane, k_val k, int64_t rounds, k_val **const *acc)
{
    int64_t parts = rounds > 1 ? parts_of_round(s) : 1;
    for (int64_t part = 0; part < parts; part++)
        for (int64_t r = 0; r < rounds; r++)
            take_round(s, p, lane, sk_add(s->lw, k, k_i64(&s->lw->b, r)), part, parts, false, acc);
}

typedef struct round {
    sk_folds *s;
    const sk_fold_part *p;
    k_val lane, k;
    k_val **const *acc;
} round;

static void take_flat_group(void *env, int64_t group)
{
    const round *r = env;
    sk_folds *s = r->s;
    k_builder *b = &s->lw->b;
    k_val started = k_let(b, OP_GT, r->k, k_i64(b, 0), 0);
    s->lw->behind = s->offset = group * s->tree.lanes;
    sk_fold_group(s, r->p, r->lane, sk_mul(s->lw, r->k, k_i64(b, SK_ACCUMULATORS)), group, started, false,
                  r->acc[group]);
    s->lw->behind = 0;
}

/* Whole rounds, one a turn, of positions that have indices of their own. */
static k_val flat_rounds(sk_folds *s, const sk_fold_part *p, k_val lane, k_val whole, k_val **const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_flat_begin(s);
    round r = {s, p, lane, k_for(b, k_i64(b, 0), whole, false), acc};
    lw->ahead = lw->options->ahead;
    k_val first = sk_add(lw, sk_add(lw, s->row_base, p->begin), sk_mul(lw, r.k, k_i64(b, SK_ACCUMULATORS)));
    sk_flat_round(s, lane, first, take_flat_group, &r);
    lw->ahead = false;
    k_end(b);
    return whole;
}

/* Commuting operators: the piece is read forwards, groups of lanes going to the accumulators in turn (enough of them to
 * hide the operator's latency). Rounds in which every accumulator gets a whole group need no masks; where not all
 * accumulators have a register, several of them make a turn of the loop. */
static void piece_in_turn(sk_folds *s, const sk_fold_part *p, k_val lane, k_val **const *total)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val **acc[SK_MOST_STREAMS];
    sk_fold_begin_counts(s, s->tree.streams, total, acc);
    sk_fold_watch(s);
    s->begin = p->begin;
    int64_t turn = s->flats ? 1 : rounds_of_turn(s, parts_of_round(s));
    k_val all = k_i64(b, SK_ACCUMULATORS), whole = k_let(b, OP_QUOT, p->count, all, 0);
    k_val done, turns = k_let(b, OP_QUOT, whole, k_i64(b, turn), 0);
    if (s->flats) {
        done = flat_rounds(s, p, lane, whole, acc);
    } else {
        lw->ahead = lw->options->ahead;
        take_turn(s, p, lane, sk_mul(lw, k_for(b, k_i64(b, 0), turns, false), k_i64(b, turn)), turn, acc);
        lw->ahead = false;
        k_end(b);
        done = sk_mul(lw, turns, k_i64(b, turn));
    }
    for (int64_t rounds = turn / 2; rounds; rounds /= 2) {
        k_val rest = k_let(b, OP_BIT_AND, whole, k_i64(b, rounds), 0);
        k_if(b, k_let(b, OP_NE, rest, k_i64(b, 0), 0));
        take_turn(s, p, lane, done, rounds, acc);
        k_end(b);
        done = sk_add(lw, done, rest);
    }
    k_if(b, k_let(b, OP_LT, sk_mul(lw, whole, all), p->count, 0));
    take_round(s, p, lane, whole, 0, 1, true, acc);
    k_end(b);
    sk_fold_streams(s, lane, s->tree.streams, s->neutral ? 0 : p->count, acc);
    sk_fold_end_counts(s, acc[0], total[0]);
    sk_fold_lanes(s, p->row, lane, p->count, total[0]);
}

void sk_fold_piece(sk_folds *s, const sk_fold_part *p, k_val lane, k_val **acc[SK_MOST_STREAMS])
{
    for (int64_t t = 0; t < s->tree.streams; t++)
        acc[t] = sk_fold_accumulators(s);
    piece_in_turn(s, p, lane, acc);
}

typedef struct turn_taker {
    sk_folds *s;
    const sk_fold_part *p;
    k_val lane;
    k_val **const *acc;
} turn_taker;

static void take_in_turn(void *env)
{
    const turn_taker *t = env;
    piece_in_turn(t->s, t->p, t->lane, t->acc);
}

/* --- blocks of several pieces --- */

void sk_fold_totals(sk_folds *s)
{
    s->totals = sk_fold_memory(s, true, SK_BLOCK, "total");
}

sk_fold_block sk_fold_block_of(sk_folds *s, k_val number)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val pieces = sk_slot(lw, 1, "pieces_a_row"), blocks = sk_slot(lw, 2, "blocks_a_row");
    k_val most = sk_slot(lw, 3, "pieces_a_block");
    s->row_length = sk_slot(lw, 0, "row_length");
    /* A launch that makes results has a block a row: nothing to divide, which would take longer than a short row. */
    bool whole = lw->options->final;
    sk_fold_block block = {.row = whole ? number : k_let(b, OP_QUOT, number, blocks, 0)};
    block.first = whole ? k_i64(b, 0) : sk_mul(lw, sk_sub(lw, number, sk_mul(lw, block.row, blocks)), most);
    block.end = whole ? pieces : sk_min(lw, pieces, sk_add(lw, block.first, most));
    block.base = sk_mul(lw, block.row, s->row_length);
    block.position = sk_mul(lw, block.row, pieces);
    return block;
}

sk_fold_part sk_fold_piece_of(sk_folds *s, const sk_fold_block *block, k_val piece)
{
    sk_lower *lw = s->lw;
    k_val size = k_i64(&lw->b, SK_PIECE);
    sk_fold_part p = {.row = block->row, .begin = sk_mul(lw, piece, size)};
    p.count = sk_min(lw, size, sk_sub(lw, s->row_length, p.begin));
    return p;
}

void sk_fold_keep_total(sk_folds *s, k_val number, k_val lane, k_val *const *acc)
{
    k_builder *b = &s->lw->b;
    k_val at = sk_add(s->lw, number, lane);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    sk_fold_keep(s, s->totals, at, acc);
    k_end(b);
}

static k_val several(sk_folds *s, const sk_fold_block *block)
{
    k_builder *b = &s->lw->b;
    return k_let(b, OP_GT, block->end, k_i64(b, 1), 0);
}

void sk_fold_piece_done(sk_folds *s, const sk_fold_block *block, k_val piece, k_val lane, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!lw->options->final) {
        sk_fold_store(s, block->row, lane, sk_add(lw, block->position, piece), acc);
        return;
    }
    k_if(b, several(s, block));
    sk_fold_keep_total(s, piece, lane, acc);
    k_else(b);
    sk_fold_store(s, block->row, lane, block->row, acc);
    k_end(b);
}

/* The totals of a row's pieces, at most SK_SHORT, left to right. */
void sk_fold_block_done(sk_folds *s, const sk_fold_block *block)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!lw->options->final)
        return;
    k_if(b, several(s, block));
    k_val one = k_i64(b, 1), lane = k_for_few(b, one);
    k_val **acc = sk_fold_kept(s, s->totals, lane), piece = k_for(b, one, block->end, false);
    sk_fold_combine(s, acc, sk_fold_kept(s, s->totals, sk_add(lw, lane, piece)), acc);
    k_end(b);
    sk_fold_store(s, block->row, lane, block->row, acc);
    k_end(b);
    k_end(b);
}

/* Of a row that is all there is. */
static void stage_block(sk_folds *s, const sk_fold_block *block)
{
    sk_lower *lw = s->lw;
    k_val size = k_i64(&lw->b, SK_PIECE), begin = sk_mul(lw, block->first, size);
    sk_stage(s, begin, sk_min(lw, sk_mul(lw, block->end, size), s->row_length));
}

/* Slots: 0 row length, 1 pieces a row, 2 blocks a row, 3 pieces a block. */
static void block_in_turn(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    bool several = !s->combine && sk_takes_rows(lw->cluster, lw->options); /* blocks a piece, where rows are short */
    sk_fold_block block = sk_fold_block_of(s, several ? sk_fold_rows_of_piece(s) : k_piece(b));
    if (s->staged)
        stage_block(s, &block);
    k_val **acc[SK_MOST_STREAMS];
    if (lw->options->final)
        sk_fold_totals(s);
    s->row_base = block.base;
    lw->element = block.row; /* of failures in the operator once elements are combined */
    k_val lane = k_for_all(b, k_i64(b, s->tree.lanes));
    k_val piece = k_for(b, block.first, block.end, false);
    sk_fold_part p = sk_fold_piece_of(s, &block, piece);
    for (int64_t t = 0; t < s->tree.streams; t++)
        acc[t] = sk_fold_accumulators(s);
    turn_taker taker = {s, &p, lane, acc};
    sk_fold_sides(s, &p, take_in_turn, &taker);
    sk_fold_piece_done(s, &block, piece, lane, acc[0]);
    k_end(b);
    k_end(b);
    sk_fold_block_done(s, &block);
    if (several)
        k_end(b);
}

sk_fold_part sk_fold_part_of(sk_folds *s, int64_t piece)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val length = sk_slot(lw, 0, "row_length"), pieces = sk_slot(lw, 1, "pieces_a_row"), size = k_i64(b, piece);
    /* A launch that makes results has a piece a row: nothing to divide, which would take longer than a short row. */
    bool whole = lw->options->final;
    sk_fold_part p = {.row = whole ? k_piece(b) : k_let(b, OP_QUOT, k_piece(b), pieces, 0)};
    p.begin = whole ? k_i64(b, 0) : sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, p.row, pieces)), size);
    p.count = sk_min(lw, size, sk_sub(lw, length, p.begin));
    s->row_length = length;
    s->row_base = sk_mul(lw, p.row, length);
    lw->element = p.row; /* of failures in the operator once elements are combined */
    return p;
}

static void build_tree(sk_folds *s)
{
    if (s->lw->cluster->loop->mixed) {
        sk_folds sums = sk_folds_of(s, true), others = sk_folds_of(s, false);
        sk_find_extremes(&sums);
        block_in_turn(&sums);
        sk_fold_block block = sk_fold_block_of(&others, k_piece(&s->lw->b));
        sk_fold_in_order(&others, &block);
        return;
    }
    if (s->lw->cluster->loop->ordered) {
        sk_fold_block block = sk_fold_block_of(s, k_piece(&s->lw->b));
        if (s->staged)
            stage_block(s, &block);
        sk_fold_in_order(s, &block);
        return;
    }
    s->mixes = s->neutral;
    if (s->lw->options->row && !s->combine)
        sk_fold_few(s);
    else
        block_in_turn(s);
}

static void find_folds(sk_folds *s)
{
    sk_lower *lw = s->lw;
    sk_body *body = &lw->body;
    uint32_t first = 0;
    s->neutral = true;
    for (uint32_t i = 0; i < lw->cluster->loop->op.n; i++) {
        const l_op *op = &lw->cluster->loop->op.at[i];
        const ir_array *info = ir_info(lw->l->ir, op->term);
        if (op->kind == L_ELEMENT && op->stored && !op->outer && !s->combine) {
            const ir_id *value = sk_define(body, op->term, &lw->at);
            for (uint32_t c = 0; c < info->components; c++) {
                vec_push(lw->arena, &s->stored.term, value[c]);
                vec_push(lw->arena, &s->stored.array, op->term);
                vec_push(lw->arena, &s->stored.component, c);
            }
        }
        bool counts = op->kind == L_FOLD && lw->cluster->loop->segments; /* what is packed */
        if ((op->kind != L_FOLD && op->kind != L_FOLD_SEG) || op->outer || counts)
            continue;
        ir_array *resolved = arena_copy(lw->arena, info, sizeof *info);
        resolved->fn = sk_operator(body, info->fn);
        sk_fold f = {.op = op, .info = resolved, .n = info->components, .first = first};
        first += f.n;
        f.identity = sk_fold_identity(lw, info->fn, f.n);
        s->neutral &= f.identity != NULL;
        if (!s->combine) {
            f.element = arena_copy(lw->arena, sk_define(body, op->term, &lw->at), f.n * sizeof(ir_id));
            bool commutes = !lw->cluster->loop->ordered || (lw->cluster->loop->mixed && sk_commutes(lw->cluster, op));
            f.fused_product = commutes && sk_fold_product(lw, &f);
            if (s->narrows && commutes)
                sk_fold_narrow(s, &f);
        }
        vec_push(lw->arena, &s->fold, f);
    }
}

static void declare_memory(sk_folds *s)
{
    sk_lower *lw = s->lw;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold *f = &s->fold.at[i];
        for (uint32_t c = 0; c < f->n; c++) {
            if (lw->options->final) {
                if (f->op->stored)
                    sk_array_memory(lw, f->op->term, c, true);
                continue;
            }
            ir_type t = f->wide ? f->wide->type[c] : f->info->type[c];
            k_mem m = sk_partial_memory(lw, SK_PARTIAL_OUT, f->first + c, t);
            map64_put(lw->arena, &lw->memory, ((uint64_t)1 << 48) | (f->first + c), m);
        }
        f->in = arena_array(lw->arena, k_mem, f->n);
        for (uint32_t c = 0; c < f->n && s->combine && !s->words; c++)
            f->in[c] = sk_partial_memory(lw, SK_PARTIAL_IN, f->first + c, f->info->type[c]);
    }
    for (uint32_t i = 0; i < s->stored.term.n; i++)
        sk_array_memory(lw, s->stored.array.at[i], s->stored.component.at[i], true);
}

sk_folds sk_folds_of(const sk_folds *s, bool commuting)
{
    sk_folds of = *s;
    memset(&of.fold, 0, sizeof of.fold);
    of.neutral = true;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        if (sk_commutes(s->lw->cluster, f->op) != commuting)
            continue;
        vec_push(s->lw->arena, &of.fold, *f);
        of.neutral &= f->identity != NULL;
    }
    if (!commuting)
        memset(&of.stored, 0, sizeof of.stored);
    of.mixes = commuting && of.neutral;
    of.for_each = !commuting;
    return of;
}

void sk_fold_find(sk_folds *s)
{
    find_folds(s);
    declare_memory(s);
}

void sk_fold_begin(sk_folds *s)
{
    sk_lower *lw = s->lw;
    if (!s->tree.lanes)
        s->tree = sk_tree_of(lw->cluster->wide);
    sk_open(lw, (uint16_t)(s->lanes ? s->lanes : s->tree.lanes));
    if (s->stages)
        sk_open_stage(s);
    sk_fold_find(s);
}

void sk_build_fold_tree(sk_lower *lw)
{
    bool combine = lw->pass == SK_PASS_COMBINE;
    sk_folds s = {.lw = lw, .combine = combine, .stages = !combine && sk_stages(lw->cluster, lw->options)};
    s.narrows = !combine && !lw->cluster->loop->mixed && sk_narrows(lw->cluster, lw->options);
    s.counts = s.narrows;
    if (s.narrows)
        s.tree = sk_tree_of_fold(lw->cluster, lw->options);
    if (lw->options->ahead && !combine)
        lw->name = "fold_ahead";
    sk_fold_begin(&s);
    if (!lw->cluster->loop->mixed) {
        sk_find_extremes(&s);
        sk_find_flat(&s);
    }
    build_tree(&s);
}
