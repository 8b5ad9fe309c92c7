/* Folds of windows: short rows, of which the number of elements is known, that overlap those of their neighbours in the
 * last dimension of the result. Lanes are neighbours in it; the dimensions before it are the same for all lanes, so
 * that an index needs no division. A lane goes through its whole row in registers, from left to right or, of more
 * elements than that, through the tree, depth first: as deep as the tree, so few values wait. */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

#include "skeleton/element/row_reads.h"

/* slots, of which a place is an index in the dimensions before that of the lanes; the last of its tiles has the rest of
 * the lanes, too. row: the length of rows */
enum { TOGETHER, TILES, WIDTH, PLACES, LANES }; /* places a piece, tiles a place, lanes a tile, places, lanes a place */

enum { MOST_LANES = 64 }; /* of a gang: a tile has as many */

bool sk_launch_fold_windows(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 256, MOST_WORK = 64 }; /* rows; operations of an element, with those of its indices */
    const sk_cluster *c = x->c;
    int64_t length = x->columns, lanes = c->loop->rank > 1 ? x->extent[c->loop->rank - 2] : 0;
    if (!x->o->vector_bytes || x->o->group || x->pass != SK_PASS_LOOP || !c->windows || c->choice)
        return false;
    if (length < 2 || length > SK_ACCUMULATORS || (c->loop->ordered && length > SK_SHORT) || c->loop->flops > MOST_WORK)
        return false;
    if (lanes < MOST_LANES || x->rows < LEAST)
        return false;
    int64_t share = larger(LEAST, sk_piece_elements(x, x->rows * length) / length), width = smaller(share, lanes);
    g->row = length;
    g->slot[TOGETHER] = larger(1, share / lanes);
    g->slot[TILES] = larger(1, lanes / width);
    g->slot[WIDTH] = width;
    g->slot[PLACES] = x->rows / lanes;
    g->slot[LANES] = lanes;
    g->pieces = pieces_of(g->slot[PLACES], g->slot[TOGETHER]) * g->slot[TILES];
    return true;
}

typedef struct windows {
    sk_folds *s;
    unsigned dimension;       /* of lanes */
    opt_ids within;           /* checks that are made once for all lanes of a tile */
    ir_id **element;          /* per position and fold: its terms; NULL: they are the fold's own */
    k_val index[IR_MAX_RANK]; /* of the row at hand */
} windows;

static void bind_element(void *env, k_val k)
{
    const windows *t = env;
    sk_lower *lw = t->s->lw;
    lw->element = sk_add(lw, t->s->row_base, k);
    sk_bind(lw, lw->at.linear, lw->element);
    for (unsigned d = 0; d <= t->dimension; d++)
        sk_bind(lw, lw->at.at[d], t->index[d]);
    sk_bind(lw, lw->at.at[t->dimension + 1], k);
}

/* --- a row --- */

static k_val **element(const windows *t, int64_t at, k_val started, k_val **acc)
{
    sk_folds *s = t->s;
    for (uint32_t i = 0; i < s->fold.n && t->element; i++)
        s->fold.at[i].element = t->element[(uint32_t)at * s->fold.n + i];
    sk_fold_element(s, 0, k_i64(&s->lw->b, at), started, acc);
    return acc;
}

/* What positions at, at + by, at + 2 by ... come to. */
static k_val **node(const windows *t, int64_t at, int64_t by)
{
    sk_folds *s = t->s;
    if (by == SK_ACCUMULATORS)
        return element(t, at, k_literal(&s->lw->b, T_BOOL, 0), sk_fold_accumulators(s));
    k_val **left = node(t, at, 2 * by);
    if (at + by < s->lw->options->row)
        sk_fold_merge(s, left, node(t, at + by, 2 * by), 0);
    return left;
}

static k_val **from_left_to_right(const windows *t)
{
    sk_folds *s = t->s;
    k_val **acc = sk_fold_accumulators(s);
    for (int64_t k = 0; k < s->lw->options->row; k++)
        element(t, k, k_literal(&s->lw->b, T_BOOL, k > 0), acc);
    return acc;
}

static k_val **row_that_is_there(const windows *t)
{
    sk_folds *s = t->s;
    ir_id **own = arena_array(s->lw->arena, ir_id *, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++)
        own[i] = s->fold.at[i].element;
    k_val **acc = s->lw->options->row > SK_SHORT ? node(t, 0, 1) : from_left_to_right(t);
    for (uint32_t i = 0; i < s->fold.n; i++)
        s->fold.at[i].element = own[i];
    return acc;
}

/* Of rows that are not all there. */
static k_val **careful(const windows *t)
{
    sk_folds *s = t->s;
    k_builder *b = &s->lw->b;
    k_val **acc = sk_fold_accumulators(s);
    k_val k = k_for(b, k_i64(b, 0), s->row_length, false);
    sk_fold_element(s, 0, k, k_let(b, OP_GT, k, k_i64(b, 0), 0), acc);
    k_end(b);
    return acc;
}

/* --- what is checked once --- */

/* Of these terms, checks of indices that stand still from lane to lane, or go along with them, and in which there is no
 * other check. `along`: and that do one or the other from element to element of a row. Returns whether these are all
 * checks there are. */
static bool find_checks(const windows *t, uint32_t n, const ir_id *term, bool along, opt_ids *out)
{
    sk_lower *lw = t->s->lw;
    ir_program *p = lw->l->ir;
    opt_ids across = {0}, by_element = {0}, all = {0}, inside = {0};
    map64 good = {0};
    uint32_t checks = 0;
    *out = (opt_ids){0};
    sk_find_row_reads(lw, n, term, lw->at.at[t->dimension], 1, &lw->at.linear, &across);
    if (along)
        sk_find_row_reads(lw, n, term, lw->at.at[t->dimension + 1], 1, &lw->at.linear, &by_element);
    for (uint32_t i = 0; i < by_element.n; i++)
        map64_put(lw->arena, &good, by_element.at[i], 1);
    for (uint32_t i = 0; i < across.n; i++) {
        ir_id index = ir_args(p, across.at[i])[0];
        bool plain = !along || map64_get(&good, across.at[i]);
        opt_reach(p, lw->arena, 1, &index, &inside);
        for (uint32_t k = 0; k < inside.n; k++)
            plain &= ir_at(p, inside.at[k])->kind != IR_WITHIN && ir_at(p, inside.at[k])->kind != IR_READ &&
                     !ir_at(p, inside.at[k])->partial;
        if (plain)
            vec_push(lw->arena, out, across.at[i]);
    }
    opt_reach(p, lw->arena, n, term, &all);
    for (uint32_t i = 0; i < all.n; i++)
        checks += ir_at(p, all.at[i])->kind == IR_WITHIN;
    map64_free(lw->arena, &good);
    vec_free(lw->arena, &all);
    return checks == out->n;
}

/* The terms of all elements of a row, each with its number, so that what is made of this is a constant. False if there
 * is an element that is no longer the product that its fold adds up. */
static bool number_elements(windows *t, opt_ids *all)
{
    sk_folds *s = t->s;
    ir_program *p = s->lw->l->ir;
    t->element = arena_array(s->lw->arena, ir_id *, (size_t)s->lw->options->row * s->fold.n);
    for (int64_t k = 0; k < s->lw->options->row; k++)
        for (uint32_t i = 0; i < s->fold.n; i++) {
            const sk_fold *f = &s->fold.at[i];
            ir_id number = ir_i64(p, k), *term = arena_copy(s->lw->arena, f->element, f->n * sizeof(ir_id));
            ir_substitute(p, 1, &s->lw->at.at[t->dimension + 1], &number, f->n, term);
            if (f->fused_product && (ir_at(p, term[0])->kind != IR_OP || ir_at(p, term[0])->op != OP_MUL))
                return false;
            t->element[(uint32_t)k * s->fold.n + i] = term;
            for (uint32_t c = 0; c < f->n; c++)
                vec_push(s->lw->arena, all, term[c]);
        }
    return true;
}

/* Where checks go along with the elements of a row, too, those of its first and its last one will do. */
static void find_what_is_there(windows *t)
{
    sk_folds *s = t->s;
    opt_ids term = {0}, all = {0};
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(s->lw->arena, &term, s->fold.at[i].element[c]);
    if (find_checks(t, term.n, term.at, true, &t->within))
        return;
    opt_ids by_ends = t->within;
    if (number_elements(t, &all)) {
        find_checks(t, all.n, all.at, false, &t->within);
        return;
    }
    t->element = NULL;
    t->within = by_ends;
}

/* The indices that are checked, of one lane, element k. */
static k_val *indices(const windows *t, k_val lane, k_val k)
{
    sk_lower *lw = t->s->lw;
    k_val *out = arena_array(lw->arena, k_val, t->within.n + 1);
    ir_id *index = arena_array(lw->arena, ir_id, t->within.n + 1);
    for (uint32_t i = 0; i < t->within.n; i++)
        index[i] = ir_args(lw->l->ir, t->within.at[i])[0];
    uint32_t mark = sk_scope(lw);
    for (unsigned d = 0; d < t->dimension; d++)
        sk_bind(lw, lw->at.at[d], t->index[d]);
    sk_bind(lw, lw->at.at[t->dimension], lane);
    sk_bind(lw, lw->at.at[t->dimension + 1], k);
    sk_emit(lw, t->within.n, index, out);
    sk_scope_end(lw, mark);
    return out;
}

/* --- the kernel --- */

/* Lanes [first, end) of a place, whose first row is number `base`. Whole gangs, the last of which begins earlier: masks
 * at each of so many reads would let values wait in memory. */
static void fold_lanes(windows *t, k_val base, k_val first, k_val end, bool there)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes), more = k_i64(b, lw->out->k->lanes - 1);
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, end, first), more), lanes, 0);
    k_val gang = k_for(b, k_i64(b, 0), gangs, false);
    k_val at = sk_min(lw, sk_add(lw, first, sk_mul(lw, gang, lanes)), sk_sub(lw, end, lanes));
    t->index[t->dimension] = sk_add(lw, at, k_for_whole(b, lanes));
    k_val row = sk_add(lw, base, t->index[t->dimension]);
    uint32_t mark = sk_scope(lw);
    s->row_base = sk_mul(lw, row, s->row_length);
    k_val **acc = there ? row_that_is_there(t) : careful(t);
    lw->element = row;
    sk_fold_settle(s, row, k_i64(b, 0), 0, s->row_length, acc);
    sk_fold_finish_all(s, row, row, acc, 0);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

static void fold_place(windows *t, k_val base, k_val first, k_val end)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), *from = indices(t, first, k_i64(b, 0));
    k_val *to = indices(t, sk_sub(lw, end, one), sk_sub(lw, t->s->row_length, one));
    k_if(b, sk_row_is_there(lw, &t->within, from, to));
    uint32_t mark = sk_scope(lw);
    sk_note_row_reads(lw, &t->within);
    fold_lanes(t, base, first, end, true);
    sk_scope_end(lw, mark);
    k_else(b);
    fold_lanes(t, base, first, end, false);
    k_end(b);
}

/* Two registers of the widest accumulators; four where there is one of each. */
static uint16_t lanes_of(const sk_folds *s)
{
    int64_t bytes = 1, registers = s->lw->options->row > SK_SHORT ? 2 : 4;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            bytes = larger(bytes, (int64_t)ir_type_size(s->fold.at[i].info->type[c]));
    return (uint16_t)smaller(smaller(MOST_LANES, sk_fold_lanes_for(s)),
                             registers * s->lw->options->vector_bytes / bytes);
}

void sk_build_fold_windows(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .alone = true};
    windows t = {.s = &s, .dimension = lw->cluster->loop->rank - 2u};
    k_builder *b = &lw->b;
    sk_fold_begin(&s);
    if (!sk_picks_extremes(lw->options))
        sk_find_extremes(&s);
    s.bind = bind_element;
    s.bind_env = &t;
    lw->out->k->lanes = lanes_of(&s);
    find_what_is_there(&t);
    s.row_length = k_i64(b, lw->options->row);
    k_val together = sk_slot(lw, TOGETHER, "places_piece"), tiles = sk_slot(lw, TILES, "tiles");
    k_val width = sk_slot(lw, WIDTH, "width"), places = sk_slot(lw, PLACES, "places"),
          lanes = sk_slot(lw, LANES, "lanes");
    k_val one = k_i64(b, 1), group = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    k_val tile = sk_sub(lw, k_piece(b), sk_mul(lw, group, tiles)), first = sk_mul(lw, tile, width);
    k_val last = k_let(b, OP_EQ, sk_add(lw, tile, one), tiles, 0), from = sk_mul(lw, group, together);
    k_val end = k_select(b, last, lanes, sk_add(lw, first, width));
    k_val place = k_for(b, from, sk_min(lw, places, sk_add(lw, from, together)), false);
    sk_row_indices(lw, t.dimension + 1, lw->cluster->loop->shape, place, t.index);
    fold_place(&t, sk_mul(lw, place, lanes), first, end);
    k_end(b);
}
