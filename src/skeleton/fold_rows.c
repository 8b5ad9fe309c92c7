/* Folds whose lanes walk rows, a row each: rows that are folded from left to right, and rows of a few stretches whose
 * operators keep order. The tree is that of fold.c. */
#include "skeleton/fold.h"

/* --- from left to right --- slots: 0 row length, 1 rows, 2 rows a piece */
void sk_fold_short(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val length = lw->options->row && !s->combine ? k_i64(b, lw->options->row) : sk_slot(lw, 0, "row_length");
    k_val rows = sk_slot(lw, 1, "rows"), size = sk_slot(lw, 2, "rows_piece");
    k_val first = sk_mul(lw, k_piece(b), size);
    k_val lane = k_for_all(b, sk_min(lw, size, sk_sub(lw, rows, first)));
    k_val row = sk_add(lw, first, lane);
    s->row_length = length;
    s->row_base = sk_mul(lw, row, length);
    lw->element = row;
    k_val **acc = sk_fold_accumulators(s);
    k_val k = k_for(b, k_i64(b, 0), length, false);
    sk_fold_element(s, row, k, k_let(b, OP_GT, k, k_i64(b, 0), 0), acc);
    k_end(b);
    sk_fold_settle(s, row, k_i64(b, 0), 0, length, acc);
    k_val empty = k_let(b, OP_EQ, length, k_i64(b, 0), 0);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val *total = arena_alloc(lw->arena, f->n * sizeof(k_val));
        for (uint32_t c = 0; c < f->n; c++)
            total[c] = k_get(b, acc[i][c]);
        sk_fold_finish(s, f, row, row, total, empty);
    }
    k_end(b);
}

/* --- rows of several stretches --- slots: 0 row length, 1 rows */

typedef struct rows {
    sk_folds *s;
    k_mem **sum; /* per fold and component: private, a row's sums of stretches */
    k_val row, chunks;
} rows;

static void declare_sums(rows *r)
{
    sk_folds *s = r->s;
    sk_lower *lw = s->lw;
    lw->out->k->threads = (uint32_t)s->tree.lanes;
    r->sum = arena_alloc(lw->arena, s->fold.n * sizeof(k_mem *));
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        r->sum[i] = arena_alloc(lw->arena, f->n * sizeof(k_mem));
        for (uint32_t c = 0; c < f->n; c++)
            r->sum[i][c] = k_private(&lw->b, f->info->type[c], s->tree.lanes, "stretch_sum");
    }
}

static void walk_stretches(rows *r)
{
    sk_folds *s = r->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, s->tree.chunk);
    k_val chunk = k_for(b, k_i64(b, 0), r->chunks, false);
    k_val begin = sk_mul(lw, chunk, size);
    k_val **acc = sk_fold_accumulators(s);
    k_val k = k_for(b, begin, sk_min(lw, s->row_length, sk_add(lw, begin, size)), false);
    sk_fold_element(s, r->row, k, k_let(b, OP_GT, k, begin, 0), acc);
    k_end(b);
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            k_store(b, r->sum[i][c], chunk, k_get(b, acc[i][c]));
    k_end(b);
}

static void load_sums(rows *r, uint32_t fold, k_val at, k_val *out)
{
    for (uint32_t c = 0; c < r->s->fold.at[fold].n; c++)
        out[c] = k_load(&r->s->lw->b, r->sum[fold][c], at);
}

/* Neighbours in pairs, pairs of pairs, ...: all lanes have as many stretches. */
static void combine_stretches(rows *r)
{
    sk_folds *s = r->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (int64_t distance = 1; distance < s->tree.lanes; distance *= 2) {
        k_val two = k_i64(b, 2 * distance);
        k_val pairs = k_let(b, OP_QUOT, sk_add(lw, r->chunks, k_i64(b, distance - 1)), two, 0);
        k_val left_at = sk_mul(lw, k_for(b, k_i64(b, 0), pairs, false), two);
        for (uint32_t i = 0; i < s->fold.n; i++) {
            const sk_fold *f = &s->fold.at[i];
            k_val left[IR_MAX_COMPONENTS], right[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
            load_sums(r, i, left_at, left);
            load_sums(r, i, sk_add(lw, left_at, k_i64(b, distance)), right);
            sk_fold_apply(lw, f, left, right, out);
            for (uint32_t c = 0; c < f->n; c++)
                k_store(b, r->sum[i][c], left_at, out[c]);
        }
        k_end(b);
    }
}

void sk_fold_rows(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    rows r = {.s = s};
    k_val length = sk_slot(lw, 0, "row_length"), count = sk_slot(lw, 1, "rows"), lanes = k_i64(b, s->tree.lanes);
    k_val first = sk_mul(lw, k_piece(b), lanes);
    declare_sums(&r);
    s->row_length = length;
    r.chunks = k_let(b, OP_QUOT, sk_add(lw, length, k_i64(b, s->tree.chunk - 1)), k_i64(b, s->tree.chunk), 0);
    k_val lane = k_for_all(b, sk_min(lw, lanes, sk_sub(lw, count, first)));
    r.row = sk_add(lw, first, lane);
    s->row_base = sk_mul(lw, r.row, length);
    lw->element = r.row; /* of failures in the operator once elements are combined */
    walk_stretches(&r);
    combine_stretches(&r);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        k_val total[IR_MAX_COMPONENTS];
        load_sums(&r, i, k_i64(b, 0), total);
        sk_fold_finish(s, &s->fold.at[i], r.row, r.row, total, 0);
    }
    k_end(b);
}
