/* Folds of operators that commute, over arrays that come from memory: several blocks of pieces are folded at once that
 * lie far apart. A processor looks ahead in each of several streams, but not beyond a page. The tree is that of fold.c,
 * piece by piece. */
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
    sk_tree tree = sk_tree_of(c->wide);
    if (!c->apart || !o->vector_bytes)
        return 1;
    int64_t each = tree.streams * tree.lanes * (c->wide ? 8 : 4) / o->vector_bytes;
    int64_t most = ((o->vector_bytes >= 64 ? MANY : FEW) - c->spare) / each;
    return most >= 4 ? 4 : most >= 2 ? 2 : 1;
}

/* slots: those of a block, 4 blocks in all, 5 blocks from one to the next of a piece */
enum { MOST_TOGETHER = 4 };

typedef struct apart {
    sk_folds *s;
    unsigned together;
    k_val lane;
    struct {
        sk_fold_block block;
        sk_fold_part p; /* of the piece at hand; no elements where the block has fewer pieces */
        k_val piece, whole;
        k_val **acc[SK_MOST_STREAMS];
    } at[MOST_TOGETHER];
} apart;

static void open_block(apart *h, unsigned i)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val all = sk_slot(lw, 4, "blocks"),
          number = sk_add(lw, k_piece(b), sk_mul(lw, sk_slot(lw, 5, "apart"), k_i64(b, i)));
    k_val live = k_let(b, OP_LT, number, all, 0);
    sk_fold_block *block = &h->at[i].block;
    *block = sk_fold_block_of(h->s, sk_min(lw, number, sk_sub(lw, all, k_i64(b, 1))));
    block->end = k_select(b, live, block->end, block->first);
    block->totals = k_i64(b, i * SK_BLOCK);
}

/* Piece `number` of each block. */
static void open_pieces(apart *h, k_val number)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val round = k_i64(b, SK_ACCUMULATORS);
    for (unsigned i = 0; i < h->together; i++) {
        k_val piece = sk_add(lw, h->at[i].block.first, number);
        sk_fold_part *p = &h->at[i].p;
        *p = sk_fold_piece_of(s, &h->at[i].block, piece);
        p->count = k_select(b, k_let(b, OP_LT, piece, h->at[i].block.end, 0), p->count, k_i64(b, 0));
        h->at[i].piece = piece;
        h->at[i].whole = k_let(b, OP_QUOT, p->count, round, 0);
        for (int64_t t = 0; t < s->tree.streams; t++)
            h->at[i].acc[t] = sk_fold_accumulators(s);
    }
}

static void take_round(apart *h, unsigned i, k_val k, bool masked)
{
    h->s->row_base = h->at[i].block.base;
    sk_fold_round(h->s, &h->at[i].p, sk_fold_all_streams(h->s), h->lane, k, masked, h->at[i].acc);
}

static void finish(apart *h, unsigned i)
{
    sk_folds *s = h->s;
    k_builder *b = &s->lw->b;
    sk_fold_part *p = &h->at[i].p;
    k_if(b, k_let(b, OP_GT, p->count, k_i64(b, 0), 0));
    sk_fold_streams(s, h->lane, sk_fold_all_streams(s), 0, h->at[i].acc);
    s->begin = p->begin;
    s->row_base = h->at[i].block.base;
    sk_fold_lanes(s, p->row, h->lane, p->count, h->at[i].acc[0]);
    sk_fold_piece_done(s, &h->at[i].block, h->at[i].piece, h->lane, h->at[i].acc[0]);
    k_end(b);
}

static void take_pieces(apart *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val common = h->at[0].whole;
    for (unsigned i = 1; i < h->together; i++)
        common = sk_min(lw, common, h->at[i].whole);
    k_val k = k_for(b, k_i64(b, 0), common, false);
    for (unsigned i = 0; i < h->together; i++)
        take_round(h, i, k, false);
    k_end(b);
    for (unsigned i = 0; i < h->together; i++) {
        take_round(h, i, k_for(b, common, h->at[i].whole, false), false);
        k_end(b);
        k_val taken = sk_mul(lw, h->at[i].whole, k_i64(b, SK_ACCUMULATORS));
        k_if(b, k_let(b, OP_LT, taken, h->at[i].p.count, 0));
        take_round(h, i, h->at[i].whole, true);
        k_end(b);
        finish(h, i);
    }
}

void sk_fold_apart(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    apart h = {.s = s, .together = (unsigned)sk_together(lw->cluster, lw->options)};
    s->mixes = true;
    sk_fold_totals(s, h.together);
    for (unsigned i = 0; i < h.together; i++)
        open_block(&h, i);
    h.lane = k_for_all(b, k_i64(b, s->tree.lanes));
    open_pieces(&h, k_for(b, k_i64(b, 0), sk_slot(lw, 3, "pieces_a_block"), false));
    take_pieces(&h);
    k_end(b);
    k_end(b);
    for (unsigned i = 0; i < h.together; i++)
        sk_fold_block_done(s, &h.at[i].block);
}
