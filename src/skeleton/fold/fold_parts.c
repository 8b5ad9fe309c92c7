/* Combines what the parts of the lines of columns have come to (fold_columns.c), as the tree combines accumulators: the
 * totals of a piece come in the order in which neighbours are combined, then neighbouring pairs, and so on. A line of
 * partial results has one of each column. */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

enum { COLUMNS, PIECES, TOTALS, TILES, LENGTH };
enum { TILE = 1024 };

bool sk_launch_fold_parts(const sk_call *x, sk_geometry *g)
{
    const sk_cluster *c = x->c;
    if (x->pass != SK_PASS_COMBINE || !c->columns || c->loop->ordered || x->o->group || c->loop->rank < 2)
        return false;
    int64_t length = x->extent[c->loop->rank - 1], pieces = pieces_of(length, SK_PIECE), outer = 1, columns = 1;
    int64_t totals = pieces ? x->columns / pieces : 0;
    if (totals < 2 || totals > SK_ACCUMULATORS || totals * pieces != x->columns || totals & (totals - 1))
        return false;
    for (unsigned d = 0; d + 1 < c->loop->rank; d++)
        *(d + 1 + c->beside < c->loop->rank ? &outer : &columns) *= x->extent[d];
    g->partials = pieces;
    g->slot[COLUMNS] = columns;
    g->slot[PIECES] = pieces;
    g->slot[TOTALS] = totals;
    g->slot[TILES] = pieces_of(columns, TILE);
    g->slot[LENGTH] = length;
    g->pieces = outer * pieces * g->slot[TILES];
    return true;
}

static void fold_parts(sk_folds *s)
{
    enum { LEVELS = 8 }; /* of up to SK_ACCUMULATORS totals */
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), room = k_i64(b, TILE);
    k_val columns = sk_slot(lw, COLUMNS, "columns"), pieces = sk_slot(lw, PIECES, "pieces_a_row");
    k_val totals = sk_slot(lw, TOTALS, "totals"), tiles = sk_slot(lw, TILES, "tiles");
    k_mem **waiting = sk_fold_memory(s, true, LEVELS * TILE, "waiting");
    k_val piece = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    k_val left = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, piece, tiles)), room);
    k_val outer = k_let(b, OP_QUOT, piece, pieces, 0), part = sk_sub(lw, piece, sk_mul(lw, outer, pieces));
    /* of the piece: see find_blocks in fold_columns.c */
    k_val lines = sk_sub(lw, sk_slot(lw, LENGTH, "row_length"), sk_mul(lw, part, k_i64(b, SK_PIECE)));
    k_val some = k_select(b, k_let(b, OP_GT, lines, k_i64(b, SK_ACCUMULATORS / 2), 0), totals, one);
    k_val place = k_for_all(b, sk_min(lw, room, sk_sub(lw, columns, left)));
    k_val column = sk_add(lw, left, place), row = sk_add(lw, sk_mul(lw, outer, columns), column);
    s->row_base = sk_add(lw, sk_mul(lw, sk_mul(lw, piece, totals), columns), column);
    lw->element = row; /* of failures in the operator */
    k_val turn = k_for(b, zero, some, false), **acc = sk_fold_accumulators(s);
    sk_fold_element(s, row, sk_mul(lw, turn, columns), k_literal(b, T_BOOL, 0), acc);
    k_val levels = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, sk_add(lw, turn, one), 0, 0));
    k_val level = k_for(b, zero, levels, false);
    sk_fold_merge_behind(s, sk_fold_kept(s, waiting, sk_add(lw, sk_mul(lw, level, room), place)), acc);
    k_end(b);
    sk_fold_keep(s, waiting, sk_add(lw, sk_mul(lw, levels, room), place), acc);
    k_end(b);
    k_val last = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, some, 0, 0));
    acc = sk_fold_kept(s, waiting, sk_add(lw, sk_mul(lw, last, room), place));
    sk_fold_finish_all(s, row, sk_add(lw, sk_mul(lw, row, pieces), part), acc, 0);
    k_end(b);
}

void sk_build_fold_parts(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = true};
    sk_fold_begin(&s);
    fold_parts(&s);
}
