/* Folds of windows: rows of some dozen elements, whose number is known, which overlap those of their neighbours. Lanes
 * are rows, and each goes through the whole tree in registers, depth first: as deep as the tree, so few values wait. */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

#include "skeleton/element/row_reads.h"

/* slots: 0 rows a piece, 1 rows, 2 pieces, the last of which has the rest of the rows, too; row: their length */

bool sk_launch_fold_windows(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 256 };
    const sk_cluster *c = x->c;
    if (!x->o->vector_bytes || x->o->group || x->pass != SK_PASS_LOOP || !c->either || c->choice || c->loop->ordered)
        return false;
    if (c->loop->rank != 2 || x->columns <= SK_SHORT || x->columns > SK_ACCUMULATORS || x->rows < LEAST ||
        c->loop->flops > SK_SMALL)
        return false;
    int64_t size = larger(LEAST, sk_piece_elements(x, x->rows * x->columns) / x->columns);
    g->row = x->columns;
    g->slot[0] = size;
    g->slot[1] = x->rows;
    g->pieces = larger(1, x->rows / size);
    g->slot[2] = g->pieces;
    return true;
}

/* What positions at, at + by, at + 2 by ... come to. */
static k_val **node(sk_folds *s, k_val row, int64_t at, int64_t by)
{
    k_builder *b = &s->lw->b;
    if (by == SK_ACCUMULATORS) {
        k_val **acc = sk_fold_accumulators(s);
        sk_fold_element(s, row, k_i64(b, at), k_literal(b, T_BOOL, 0), acc);
        return acc;
    }
    k_val **left = node(s, row, at, 2 * by);
    if (at + by < s->lw->options->row)
        sk_fold_combine(s, left, node(s, row, at + by, 2 * by), left);
    return left;
}

/* The same, from left to right, for rows that are not all there. */
static k_val **careful(sk_folds *s, k_val row)
{
    k_builder *b = &s->lw->b;
    k_val **acc = sk_fold_accumulators(s);
    k_val k = k_for(b, k_i64(b, 0), s->row_length, false);
    sk_fold_element(s, row, k, k_literal(b, T_BOOL, 1), acc);
    k_end(b);
    return acc;
}

/* Checks of what windows read one after the other, where neighbours begin at the next element, or the same; without any
 * others in their indices. */
static opt_ids find_reads(sk_folds *s)
{
    sk_lower *lw = s->lw;
    ir_program *p = lw->l->ir;
    VEC(ir_id) term = {0};
    opt_ids along = {0}, across = {0}, both = {0}, inside = {0};
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &term, s->fold.at[i].element[c]);
    sk_find_row_reads(lw, term.n, term.at, lw->at.at[1], 1, &lw->at.linear, &along);
    sk_find_row_reads(lw, term.n, term.at, lw->at.at[0], 1, &lw->at.linear, &across);
    for (uint32_t i = 0; i < along.n; i++) {
        ir_id index = ir_args(p, along.at[i])[0];
        bool moves = false, plain = true;
        for (uint32_t k = 0; k < across.n; k++)
            moves |= across.at[k] == along.at[i];
        opt_reach(p, lw->arena, 1, &index, &inside);
        for (uint32_t k = 0; k < inside.n; k++)
            plain &= ir_at(p, inside.at[k])->kind != IR_WITHIN && ir_at(p, inside.at[k])->kind != IR_READ &&
                     !ir_at(p, inside.at[k])->partial;
        if (plain && (moves || !sk_mentions(lw, 1, &index, lw->at.at[0])))
            vec_push(lw->arena, &both, along.at[i]);
    }
    return both;
}

/* The indices of element k of a row, at piece level. */
static k_val *indices(sk_folds *s, const opt_ids *within, k_val row, k_val k)
{
    sk_lower *lw = s->lw;
    k_val *out = arena_alloc(lw->arena, (within->n + 1) * sizeof(k_val));
    ir_id *index = arena_alloc(lw->arena, (within->n + 1) * sizeof(ir_id));
    for (uint32_t i = 0; i < within->n; i++)
        index[i] = ir_args(lw->l->ir, within->at[i])[0];
    uint32_t mark = sk_scope(lw);
    sk_bind(lw, lw->at.at[0], row);
    sk_bind(lw, lw->at.at[1], k);
    sk_emit(lw, within->n, index, out);
    sk_scope_end(lw, mark);
    return out;
}

/* Whole gangs, the last of which begins earlier: masks at each of so many reads would let values wait in memory. */
static void windows(sk_folds *s, k_val first, k_val end, bool there)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes), more = k_i64(b, lw->out->k->lanes - 1);
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, end, first), more), lanes, 0);
    k_val gang = k_for(b, k_i64(b, 0), gangs, false);
    k_val at = sk_min(lw, sk_add(lw, first, sk_mul(lw, gang, lanes)), sk_sub(lw, end, lanes));
    k_val row = sk_add(lw, at, k_for_whole(b, lanes));
    uint32_t mark = sk_scope(lw);
    s->row_base = sk_mul(lw, row, s->row_length);
    k_val **acc = there ? node(s, row, 0, 1) : careful(s, row);
    sk_fold_settle(s, row, k_i64(b, 0), 0, s->row_length, acc);
    sk_fold_finish_all(s, row, row, acc, 0);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

void sk_build_fold_windows(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .alone = true};
    sk_fold_begin(&s);
    k_builder *b = &lw->b;
    uint32_t most = 2 * lw->options->vector_bytes / (lw->cluster->wide ? 8 : 4);
    uint16_t lanes = sk_fold_lanes_for(&s);
    lw->out->k->lanes = lanes < most ? lanes : (uint16_t)most;
    s.row_length = k_i64(b, lw->options->row);
    k_val size = sk_slot(lw, 0, "rows_a_piece"), rows = sk_slot(lw, 1, "rows"), first = sk_mul(lw, k_piece(b), size);
    k_val one = k_i64(b, 1), number = sk_add(lw, k_piece(b), one);
    k_val end = k_select(b, k_let(b, OP_EQ, number, sk_slot(lw, 2, "pieces"), 0), rows, sk_mul(lw, number, size));
    opt_ids within = find_reads(&s);
    k_val *from = indices(&s, &within, first, k_i64(b, 0));
    k_val *to = indices(&s, &within, sk_sub(lw, end, one), sk_sub(lw, s.row_length, one));
    k_if(b, sk_row_is_there(lw, &within, from, to));
    uint32_t mark = sk_scope(lw);
    sk_note_row_reads(lw, &within);
    windows(&s, first, end, true);
    sk_scope_end(lw, mark);
    k_else(b);
    windows(&s, first, end, false);
    k_end(b);
}
