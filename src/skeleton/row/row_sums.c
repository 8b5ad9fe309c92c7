/* What folds keep beyond a gang: totals of blocks of 64 blocks where order is kept, accumulators by position where it
 * need not be; and how they go from level to level while a row is walked. */
#include "skeleton/row/row.h"

void row_declare_sums(row_loop *r, row_part *p, int64_t levels)
{
    sk_lower *lw = r->lw;
    int64_t width = p->ordered ? ROW_GANG : ROW_SUMS;
    k_mem *m = arena_array(lw->arena, k_mem, p->n);
    for (uint32_t c = 0; c < p->n; c++)
        m[c] = k_shared(&lw->b, p->fold.info->type[c], levels * width, p->ordered ? "totals" : "sums");
    if (p->ordered)
        p->node = m;
    else
        p->sums = m;
    if (!p->ordered || p->op->kind != L_FOLD)
        return;
    p->tail = arena_array(lw->arena, k_mem, p->n);
    for (uint32_t c = 0; c < p->n; c++)
        p->tail[c] = k_shared(&lw->b, p->fold.info->type[c], ROW_GANG, "tail");
}

/* --- order is kept: a tree over blocks --- */

k_val row_slot(row_loop *r, k_val block)
{
    k_builder *b = &r->lw->b;
    k_val three = k_i64(b, 3), two = k_i64(b, 2), outer = k_i64(b, 011), inner = k_i64(b, 022);
    k_val low = k_let(b, OP_SHL, k_let(b, OP_BIT_AND, block, k_i64(b, 7), 0), three, 0);
    k_val x = k_let(b, OP_BIT_OR, low, k_let(b, OP_SHR, block, three, 0), 0); /* threes of bits exchanged, */
    k_val up = k_let(b, OP_SHL, k_let(b, OP_BIT_AND, x, outer, 0), two, 0);
    k_val down = k_let(b, OP_BIT_AND, k_let(b, OP_SHR, x, two, 0), outer, 0);
    return k_let(b, OP_BIT_OR, k_let(b, OP_BIT_AND, x, inner, 0), k_let(b, OP_BIT_OR, up, down, 0), 0); /* and turned */
}

/* x = x (+) that of the lane `half` further right, where blocks so far away are there */
static void meet(row_loop *r, const row_part *p, k_val lane, int64_t half, k_val there, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *right = row_values(r, p), *out = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        right[c] = k_shuffle(b, x[c], half);
    if (p->harmless) {
        row_apply(r, p, x, right, out);
        for (uint32_t c = 0; c < p->n; c++)
            x[c] = there ? k_select(b, there, out[c], x[c]) : out[c];
        return;
    }
    k_val *v = row_variables(r, p, x, "x"), low = k_let(b, OP_LT, lane, k_i64(b, half), 0);
    k_if(b, there ? k_let(b, OP_AND, low, there, 0) : low);
    row_apply(r, p, x, right, out);
    row_set(r, p, v, out);
    k_end(b);
    memcpy(x, row_get(r, p, v, NULL), p->n * sizeof(*x));
}

void row_tree(row_loop *r, const row_part *p, k_val level, k_val valid, k_val to)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool all = p->op->kind == L_SCAN && p->harmless; /* nobody asks for the total of a part of a level */
    k_val width = k_i64(b, ROW_GANG), from = sk_mul(lw, level, width);
    k_val at = sk_add(lw, sk_add(lw, from, width), row_slot(r, to));
    k_val lane = k_for_all(b, width), block = all ? 0 : row_slot(r, lane);
    k_val *x = row_load(r, p, p->node, sk_add(lw, from, lane), NULL);
    if (p->in_order)
        row_gang_total(r, p, x);
    for (int64_t half = ROW_GANG / 2, distance = 1; half >= 1 && !p->in_order; half /= 2, distance *= 2) {
        k_val there = all ? 0 : k_let(b, OP_LT, sk_add(lw, block, k_i64(b, distance)), valid, 0);
        meet(r, p, lane, half, there, x);
    }
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    row_store(r, p, p->node, at, x);
    k_end(b);
    k_end(b);
}

/* --- operators that commute: accumulators by position --- */

/* Accumulators of a level, the first `valid` of which have received something, to accumulator 0: by halves. */
static void halves(row_loop *r, const row_part *p, k_val level, k_val valid)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val first = sk_mul(lw, level, k_i64(b, ROW_SUMS));
    k_val lane = k_for_all(b, k_i64(b, ROW_GANG)), at = sk_add(lw, first, lane);
    k_val *v = row_variables(r, p, NULL, "x");
    k_if(b, k_let(b, OP_LT, lane, valid, 0));
    row_set(r, p, v, row_load(r, p, p->sums, at, NULL));
    k_end(b);
    k_val *out = row_values(r, p);
    k_if(b, k_let(b, OP_LT, sk_add(lw, lane, k_i64(b, ROW_GANG)), valid, 0));
    row_apply(r, p, row_get(r, p, v, NULL), row_load(r, p, p->sums, sk_add(lw, at, k_i64(b, ROW_GANG)), NULL), out);
    row_set(r, p, v, out);
    k_end(b);
    for (int64_t distance = ROW_GANG / 2; distance >= 1; distance /= 2) {
        k_val *left = row_get(r, p, v, NULL), *right = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            right[c] = k_shuffle(b, left[c], distance);
        k_val other = sk_add(lw, lane, k_i64(b, distance)), both = k_let(b, OP_LT, other, valid, 0);
        k_if(b, k_let(b, OP_AND, both, k_let(b, OP_LT, lane, k_i64(b, distance), 0), 0));
        row_apply(r, p, left, right, out);
        row_set(r, p, v, out);
        k_end(b);
    }
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    row_store(r, p, p->sums, first, row_get(r, p, v, NULL));
    k_end(b);
    k_end(b);
}

/* How many accumulators of a row of n positions are in use. Short rows go from left to right: they have one. */
static k_val accumulators(row_loop *r, k_val n)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val brief = k_let(b, OP_LE, n, k_i64(b, SK_SHORT), 0);
    return k_select(b, brief, k_i64(b, 1), sk_min(lw, n, k_i64(b, ROW_SUMS)));
}

/* --- pieces --- */

void row_piece_total(row_loop *r, const row_part *p, k_val count, k_val *total)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), at = zero;
    if (p->ordered) {
        k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, ROW_GANG - 1)), k_i64(b, ROW_GANG), 0);
        row_tree(r, p, zero, gangs, zero);
        at = k_i64(b, ROW_GANG);
    } else {
        halves(r, p, zero, sk_min(lw, count, k_i64(b, ROW_SUMS)));
    }
    for (uint32_t c = 0; c < p->n; c++)
        total[c] = k_load(b, p->ordered ? p->node[c] : p->sums[c], at);
}

/* Totals of 64 blocks are the next level's block, so a piece that ends such a block goes up as far as that holds.
 * Levels: 0 gangs of the piece, 1 pieces, 2 blocks of 64 pieces ... */
static void ordered_piece(row_loop *r, const row_part *p, k_val piece, k_val pieces, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), width = k_i64(b, ROW_GANG);
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, ROW_GANG - 1)), width, 0);
    k_val ends = k_let(b, OP_EQ, sk_add(lw, piece, one), pieces, 0);
    k_val level = k_decl(b, zero, "level"), at = k_decl(b, piece, "block"), valid = k_decl(b, gangs, "valid");
    k_loop(b);
    k_val block = k_get(b, at), slot = k_let(b, OP_REM, block, width, 0);
    row_tree(r, p, k_get(b, level), k_get(b, valid), slot);
    k_set(b, level, sk_add(lw, k_get(b, level), one));
    k_val full = k_let(b, OP_EQ, slot, k_i64(b, ROW_GANG - 1), 0);
    k_val root = k_let(b, OP_AND, ends, k_let(b, OP_EQ, block, zero, 0), 0);
    k_break_if(b, k_let(b, OP_OR, root, k_let(b, OP_NOT, k_let(b, OP_OR, full, ends, 0), 0, 0), 0));
    k_set(b, valid, sk_add(lw, slot, one));
    k_set(b, at, k_let(b, OP_QUOT, block, width, 0));
    k_end(b);
}

/* Levels: 0 elements of the piece, 1 pieces, 2 pieces of 4096 pieces ... */
static void commuting_piece(row_loop *r, const row_part *p, k_val piece, k_val pieces, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), size = k_i64(b, ROW_PIECE), sums = k_i64(b, ROW_SUMS);
    k_val ends = k_let(b, OP_EQ, sk_add(lw, piece, one), pieces, 0);
    k_val level = k_decl(b, zero, "level"), at = k_decl(b, piece, "block"), all = k_decl(b, pieces, "blocks");
    k_val valid = k_decl(b, sk_min(lw, count, sums), "valid");
    k_loop(b);
    halves(r, p, k_get(b, level), k_get(b, valid));
    k_val first = sk_mul(lw, k_get(b, level), sums), block = k_get(b, at), n = k_get(b, all);
    k_val within = k_let(b, OP_REM, block, size, 0), whole = sk_sub(lw, block, within);
    k_val row = sk_min(lw, size, sk_sub(lw, n, whole)); /* blocks of the level's piece */
    k_val used = accumulators(r, row), slot = k_let(b, OP_REM, within, used, 0);
    k_val to = sk_add(lw, sk_add(lw, first, sums), slot);
    k_val *x = row_variables(r, p, row_load(r, p, p->sums, first, NULL), "x"), *out = row_values(r, p);
    k_if(b, k_let(b, OP_GE, within, used, 0));
    row_apply(r, p, row_load(r, p, p->sums, to, NULL), row_get(r, p, x, NULL), out);
    row_set(r, p, x, out);
    k_end(b);
    row_store(r, p, p->sums, to, row_get(r, p, x, NULL));
    k_set(b, level, sk_add(lw, k_get(b, level), one));
    k_val root = k_let(b, OP_AND, ends, k_let(b, OP_EQ, n, one, 0), 0);
    k_val full = k_let(b, OP_EQ, within, k_i64(b, ROW_PIECE - 1), 0);
    k_break_if(b, k_let(b, OP_OR, root, k_let(b, OP_NOT, k_let(b, OP_OR, full, ends, 0), 0, 0), 0));
    k_set(b, valid, sk_min(lw, sk_add(lw, within, one), used));
    k_set(b, at, k_let(b, OP_QUOT, block, size, 0));
    k_set(b, all, k_let(b, OP_QUOT, sk_add(lw, n, k_i64(b, ROW_PIECE - 1)), size, 0));
    k_end(b);
}

void row_fold_piece(row_loop *r, const row_part *p, k_val piece, k_val pieces, k_val count)
{
    (p->ordered ? ordered_piece : commuting_piece)(r, p, piece, pieces, count);
}

/* The level at which one block is left. */
void row_fold_total(row_loop *r, const row_part *p, k_val pieces, k_val *total)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val radix = k_i64(b, p->ordered ? ROW_GANG : ROW_PIECE), one = k_i64(b, 1);
    k_val level = k_decl(b, one, "level"), n = k_decl(b, pieces, "blocks");
    k_loop(b);
    k_break_if(b, k_let(b, OP_LE, k_get(b, n), one, 0));
    k_set(b, n, k_let(b, OP_QUOT, sk_add(lw, k_get(b, n), sk_sub(lw, radix, one)), radix, 0));
    k_set(b, level, sk_add(lw, k_get(b, level), one));
    k_end(b);
    k_val at = sk_mul(lw, k_get(b, level), k_i64(b, p->ordered ? ROW_GANG : ROW_SUMS));
    for (uint32_t c = 0; c < p->n; c++)
        total[c] = k_load(b, p->ordered ? p->node[c] : p->sums[c], at);
}
