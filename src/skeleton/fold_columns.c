/* Folds whose neighbouring rows are neighbours in memory: sums of columns, products with a transposed matrix. Lanes are
 * rows, so what they read lies together; each lane goes through the tree of fold.c by itself, from its leaves: the
 * accumulators of a piece follow each other in the order in which the tree combines them, a stack of one total per
 * level keeping what waits for its partner. */
#include "skeleton/fold.h"

#include "opt/rewrite.h"

/* --- is that so? --- */

typedef struct direction { /* the variables that change from one element to the next, each by one */
    sk_lower *lw;
    ir_id step, jump; /* `jump` by more than that; 0: none */
} direction;

static bool moves(const direction *d, ir_id term)
{
    return sk_mentions(d->lw, 1, &term, d->step) || (d->jump && sk_mentions(d->lw, 1, &term, d->jump));
}

/* Is this position the same for the next element, or the next one? Sums of a variable and of what stands still. */
static bool is_near(const direction *d, ir_id term)
{
    const ir_program *p = d->lw->l->ir;
    while (moves(d, term) && term != d->step) {
        const ir_node *n = ir_at(p, term);
        if (n->kind == IR_WITHIN) {
            term = ir_args(p, term)[0];
            continue;
        }
        if (n->kind != IR_OP || (n->op != OP_ADD && n->op != OP_SUB))
            return false;
        const ir_id *arg = ir_args(p, term);
        bool left = moves(d, arg[0]), right = moves(d, arg[1]);
        if (right && (left || n->op == OP_SUB))
            return false;
        term = left ? arg[0] : arg[1];
    }
    return true;
}

/* Reads of memory whose elements lie apart. */
static uint32_t far_reads(const direction *d, const opt_ids *ids)
{
    const ir_program *p = d->lw->l->ir;
    uint32_t far = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        if (n->kind != IR_READ || !n->n)
            continue;
        const ir_id *arg = ir_args(p, ids->at[i]);
        bool near = is_near(d, arg[n->n - 1]);
        for (uint32_t k = 0; k + 1 < n->n; k++)
            near &= !moves(d, arg[k]);
        far += !near;
    }
    return far;
}

bool sk_folds_columns(const l_program *l, const l_cluster *c, arena *a)
{
    if (c->rank < 2)
        return false;
    sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = l, .cluster = c, .options = &none, .arena = a};
    sk_folds s = {.lw = &lw};
    sk_fold_begin(&s, "probe");
    opt_ids ids = {0};
    for (uint32_t i = 0; i < s.fold.n; i++)
        opt_reach(l->ir, a, s.fold.at[i].n, s.fold.at[i].element, &ids);
    direction along = {&lw, s.at.at[c->rank - 1], 0}, across = {&lw, s.at.at[c->rank - 2], s.at.linear};
    direction flat = {&lw, s.at.linear, 0};
    uint32_t far = far_reads(&along, &ids) + far_reads(&flat, &ids);
    return !s.stored.term.n && far_reads(&across, &ids) < far;
}

/* --- the kernel --- slots: 0 row length, 1 pieces a row, 2 tiles of rows, 3 rows a tile, 4 rows beside each other */

typedef struct columns {
    sk_folds *s;
    k_val row, begin, count;
    unsigned levels;
    int64_t distance[16]; /* from an accumulator to the one it is combined with, the last combination first */
    k_val **total[16];    /* per level, but the leaves' */
} columns;

static void set_total(const sk_folds *s, k_val *const *to, k_val *const *from)
{
    k_builder *b = &s->lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            k_set(b, to[i][c], k_get(b, from[i][c]));
}

/* One accumulator of the tree: every 128th element of the piece from `first` on. */
static k_val **leaf(const columns *t, k_val first)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), stride = k_i64(b, SK_ACCUMULATORS);
    k_val rest = sk_add(lw, sk_sub(lw, t->count, first), k_i64(b, SK_ACCUMULATORS - 1));
    k_val **acc = sk_fold_accumulators(s);
    k_val k = k_for(b, zero, k_let(b, OP_QUOT, rest, stride, 0), false);
    k_val at = sk_add(lw, sk_add(lw, t->begin, first), sk_mul(lw, k, stride));
    sk_fold_element(s, t->row, at, k_let(b, OP_GT, k, zero, 0), acc);
    k_end(b);
    return acc;
}

/* The total of all accumulators below a node of the tree, of which `first` is the foremost. */
static k_val **node(const columns *t, unsigned level, k_val first)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (level == t->levels)
        return leaf(t, first);
    k_val half = k_for(b, k_i64(b, 0), k_i64(b, 2), false);
    k_val foremost = sk_add(lw, first, sk_mul(lw, half, k_i64(b, t->distance[level])));
    k_if(b, k_let(b, OP_LT, foremost, t->count, 0));
    k_val **total = node(t, level + 1, foremost);
    k_if(b, k_let(b, OP_EQ, half, k_i64(b, 0), 0));
    set_total(s, t->total[level], total);
    k_else(b);
    sk_fold_merge(s, t->total[level], total, 0);
    k_end(b);
    k_end(b);
    k_end(b);
    return t->total[level];
}

static void find_levels(columns *t)
{
    for (int64_t d = 1; d < SK_ACCUMULATORS; d *= 2)
        t->distance[t->levels++] = d;
}

static uint16_t lanes_of(const sk_folds *s)
{
    const sk_lower *lw = s->lw;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &term, s->fold.at[i].element[c]);
    return sk_lanes_for(lw->l, lw->arena, term.n, term.at, lw->options->vector_bytes);
}

void sk_fold_columns(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const l_cluster *c = lw->cluster;
    columns t = {.s = s};
    find_levels(&t);
    lw->out->k->lanes = lanes_of(s);
    k_val length = sk_slot(lw, 0, "row_length"), pieces = sk_slot(lw, 1, "pieces_a_row");
    k_val tiles = sk_slot(lw, 2, "tiles"), width = sk_slot(lw, 3, "tile_width"), rows = sk_slot(lw, 4, "rows");
    k_val place = k_let(b, OP_QUOT, k_piece(b), pieces, 0);
    k_val part = sk_sub(lw, k_piece(b), sk_mul(lw, place, pieces));
    k_val outer = k_let(b, OP_QUOT, place, tiles, 0);
    k_val left = sk_mul(lw, sk_sub(lw, place, sk_mul(lw, outer, tiles)), width);
    k_val size = k_i64(b, SK_PIECE);
    t.begin = sk_mul(lw, part, size);
    t.count = sk_min(lw, size, sk_sub(lw, length, t.begin));
    k_val index[IR_MAX_RANK] = {0};
    sk_row_indices(lw, c->rank - 1, c->shape, outer, index);
    k_val lane = k_for_all(b, sk_min(lw, width, sk_sub(lw, rows, left)));
    index[c->rank - 2] = sk_add(lw, left, lane);
    s->outer = index;
    t.row = sk_add(lw, sk_mul(lw, outer, rows), index[c->rank - 2]);
    s->row_length = length;
    s->row_base = sk_mul(lw, t.row, length);
    lw->element = t.row;
    for (unsigned d = 0; d < t.levels; d++)
        t.total[d] = sk_fold_accumulators(s);
    k_val **total = node(&t, 0, k_i64(b, 0));
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val *value = arena_alloc(lw->arena, f->n * sizeof(k_val));
        for (uint32_t k = 0; k < f->n; k++)
            value[k] = k_get(b, total[i][k]);
        sk_fold_finish(s, f, t.row, sk_add(lw, sk_mul(lw, t.row, pieces), part), value, 0);
    }
    k_end(b);
}
