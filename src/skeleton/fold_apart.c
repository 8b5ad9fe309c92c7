/* Folds of operators that commute, over arrays that come from memory: a block folds several pieces at once that lie far
 * apart. A processor looks ahead in each of several streams, but not beyond a page. The tree is that of fold.c, piece
 * by piece. */
#include "skeleton/fold.h"

void sk_apart_prepare(const l_program *l, l_cluster *c, arena *a)
{
    if (c->ordered || c->op.n != 1 || c->flops > 4 || c->reads_per_element > 2)
        return;
    sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = l, .cluster = c, .options = &none, .arena = a};
    sk_folds s = {.lw = &lw};
    sk_fold_begin(&s, "probe");
    const sk_fold *f = &s.fold.at[0];
    if (f->n != 1 || !f->identity || !sk_fold_harmless(&lw, f))
        return;
    const ir_node *op = ir_at(l->ir, f->info->fn->result[0]);
    bool extreme = (op->op == OP_MIN || op->op == OP_MAX) && ir_type_float((ir_type)op->type);
    c->apart = 1;
    c->spare = c->flops > 1 || extreme ? 4 : 0; /* else the operator reads memory itself */
}

/* As many as have their accumulators in registers. */
int64_t sk_together(const l_cluster *c, const sk_options *o)
{
    enum { FEW = 16, MANY = 32 };
    sk_tree tree = sk_tree_of(false, c->wide);
    if (!c->apart || !o->vector_bytes)
        return 1;
    int64_t each = tree.streams * tree.lanes * (c->wide ? 8 : 4) / o->vector_bytes;
    int64_t most = ((o->vector_bytes >= 64 ? MANY : FEW) - c->spare) / each;
    return most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

/* slots: 0 row length, 1 pieces a row, 2 pieces in all, 3 pieces from one to the next of a block */
enum { MOST_TOGETHER = 4, MOST_STREAMS = 4 };

typedef struct apart {
    sk_folds *s;
    unsigned together;
    k_val lane;
    struct {
        k_val piece, live, row, row_base, begin, count, whole, rounds;
        k_val **acc[MOST_STREAMS];
    } at[MOST_TOGETHER];
} apart;

static void place(apart *h, unsigned i, k_val length, k_val pieces, k_val all)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val piece = sk_add(lw, k_piece(b), sk_mul(lw, sk_slot(lw, 3, "apart"), k_i64(b, i)));
    h->at[i].live = k_let(b, OP_LT, piece, all, 0);
    piece = sk_min(lw, piece, sk_sub(lw, all, k_i64(b, 1)));
    k_val row = lw->options->final ? piece : k_let(b, OP_QUOT, piece, pieces, 0);
    k_val size = k_i64(b, s->tree.piece), round = k_i64(b, s->tree.streams * s->tree.lanes);
    h->at[i].piece = piece;
    h->at[i].row = row;
    h->at[i].row_base = sk_mul(lw, row, length);
    h->at[i].begin = sk_mul(lw, sk_sub(lw, piece, sk_mul(lw, row, pieces)), size);
    h->at[i].count = sk_min(lw, size, sk_sub(lw, length, h->at[i].begin));
    h->at[i].whole = k_let(b, OP_QUOT, h->at[i].count, round, 0);
    k_val up = sk_add(lw, h->at[i].count, k_i64(b, s->tree.streams * s->tree.lanes - 1));
    h->at[i].rounds = k_let(b, OP_QUOT, up, round, 0);
}

/* One round of piece i: a group of lanes for each accumulator. */
static void take_round(apart *h, unsigned i, k_val k, bool masked)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    s->row_base = h->at[i].row_base;
    k_val started = k_let(b, OP_GT, k, k_i64(b, 0), 0);
    k_val within = sk_mul(lw, k, k_i64(b, s->tree.streams * s->tree.lanes));
    for (int64_t t = 0; t < s->tree.streams; t++) {
        k_val group = sk_add(lw, within, k_i64(b, t * s->tree.lanes));
        if (masked)
            k_if(b, k_let(b, OP_LT, h->lane, sk_sub(lw, h->at[i].count, group), 0));
        k_val at = sk_add(lw, h->at[i].begin, sk_add(lw, group, h->lane));
        sk_fold_element(s, h->at[i].row, at, started, h->at[i].acc[t]);
        if (masked)
            k_end(b);
    }
}

static void finish(apart *h, unsigned i)
{
    sk_folds *s = h->s;
    k_builder *b = &s->lw->b;
    for (int64_t distance = 1; distance < s->tree.streams; distance *= 2)
        for (int64_t t = 0; t + distance < s->tree.streams; t += 2 * distance)
            sk_fold_merge(s, h->at[i].acc[t], h->at[i].acc[t + distance], 0);
    k_if(b, h->at[i].live);
    s->position = h->at[i].piece;
    s->begin = h->at[i].begin;
    s->row_base = h->at[i].row_base;
    sk_fold_lanes(s, h->at[i].row, h->lane, h->at[i].count, h->at[i].acc[0]);
    k_end(b);
}

void sk_fold_apart(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    apart h = {.s = s, .together = (unsigned)sk_together(lw->cluster, lw->options)};
    k_val length = sk_slot(lw, 0, "row_length"), pieces = sk_slot(lw, 1, "pieces_a_row"),
          all = sk_slot(lw, 2, "pieces");
    s->in_gang = s->neutral = s->mixes = true;
    for (unsigned i = 0; i < h.together; i++)
        place(&h, i, length, pieces, all);
    k_val common = h.at[0].whole;
    for (unsigned i = 1; i < h.together; i++)
        common = sk_min(lw, common, h.at[i].whole);
    s->row_length = length;
    h.lane = k_for_all(b, k_i64(b, s->tree.lanes));
    for (unsigned i = 0; i < h.together; i++)
        for (int64_t t = 0; t < s->tree.streams; t++)
            h.at[i].acc[t] = sk_fold_accumulators(s);
    k_val k = k_for(b, k_i64(b, 0), common, false);
    for (unsigned i = 0; i < h.together; i++)
        take_round(&h, i, k, false);
    k_end(b);
    for (unsigned i = 0; i < h.together; i++) {
        take_round(&h, i, k_for(b, common, h.at[i].whole, false), false);
        k_end(b);
        take_round(&h, i, k_for(b, h.at[i].whole, h.at[i].rounds, false), true);
        k_end(b);
        finish(&h, i);
    }
    k_end(b);
}
