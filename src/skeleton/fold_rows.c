/* Folds whose lanes walk rows, a row each: rows that are folded from left to right, and rows whose operators keep
 * order. */
#include "skeleton/fold.h"

/* --- from left to right --- slots: 0 row length, 1 rows, 2 rows a piece */
static void fold_short(sk_folds *s)
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

void sk_build_fold_short(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    sk_find_extremes(&s);
    fold_short(&s);
}

/* --- operators that keep order --- slots: 0 row length, 1 rows */

enum { WIDTHS = SK_ROW_LOG + 1 }; /* of nodes, each twice as wide as the one before */
enum { TOGETHER_LOG = 4 };        /* of elements that are combined without a loop */

typedef struct rows {
    sk_folds *s;
    k_mem *
        *waiting; /* per fold and component: private, nodes that wait for their right neighbour, one for each width */
} rows;

static k_mem **declare_nodes(sk_folds *s, int64_t count, const char *name)
{
    sk_lower *lw = s->lw;
    k_mem **m = arena_alloc(lw->arena, s->fold.n * sizeof(k_mem *));
    lw->out->k->threads = (uint32_t)s->tree.lanes;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        m[i] = arena_alloc(lw->arena, f->n * sizeof(k_mem));
        for (uint32_t c = 0; c < f->n; c++)
            m[i][c] = k_private(&lw->b, f->info->type[c], count, name);
    }
    return m;
}

/* right = left (+) right */
static void combine(const rows *r, k_val *const *left, k_val *const *right)
{
    sk_lower *lw = r->s->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->s->fold.n; i++) {
        const sk_fold *f = &r->s->fold.at[i];
        k_val one[IR_MAX_COMPONENTS], two[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++) {
            one[c] = k_get(b, left[i][c]);
            two[c] = k_get(b, right[i][c]);
        }
        sk_fold_apply(lw, f, one, two, out);
        for (uint32_t c = 0; c < f->n; c++)
            k_set(b, right[i][c], out[c]);
    }
}

static void store_at(const rows *r, k_mem *const *m, k_val at, k_val *const *acc)
{
    k_builder *b = &r->s->lw->b;
    for (uint32_t i = 0; i < r->s->fold.n; i++)
        for (uint32_t c = 0; c < r->s->fold.at[i].n; c++)
            k_store(b, m[i][c], at, k_get(b, acc[i][c]));
}

static k_val **load_at(const rows *r, k_mem *const *m, k_val at)
{
    k_builder *b = &r->s->lw->b;
    k_val **acc = sk_fold_accumulators(r->s);
    for (uint32_t i = 0; i < r->s->fold.n; i++)
        for (uint32_t c = 0; c < r->s->fold.at[i].n; c++)
            k_set(b, acc[i][c], k_load(b, m[i][c], at));
    return acc;
}

/* right = the node that waits at `at` (+) right */
static void combine_waiting(const rows *r, k_val at, k_val *const *right)
{
    combine(r, load_at(r, r->waiting, at), right);
}

static k_val **element(const rows *r, k_val row, k_val k)
{
    k_val **acc = sk_fold_accumulators(r->s);
    sk_fold_element(r->s, row, k, k_literal(&r->s->lw->b, T_BOOL, 0), acc);
    return acc;
}

/* The node of elements k ... k + n - 1. */
static k_val **take(const rows *r, k_val row, k_val k, int64_t n)
{
    if (n == 1)
        return element(r, row, k);
    k_val **left = take(r, row, k, n / 2),
          **right = take(r, row, sk_add(r->s->lw, k, k_i64(&r->s->lw->b, n / 2)), n / 2);
    combine(r, left, right);
    return right;
}

/* Elements from `first` on, 2^log at a time, up to `end` of these: as a binary counter does, a node carries as far as
 * nodes are as wide as what it has become. */
static void walk(const rows *r, k_val row, k_val first, k_val end, unsigned log)
{
    sk_folds *s = r->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val g = k_for(b, first, end, false);
    k_val **acc = take(r, row, k_let(b, OP_SHL, g, k_i64(b, log), 0), (int64_t)1 << log);
    k_val widths = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, sk_add(lw, g, k_i64(b, 1)), 0, 0));
    widths = sk_add(lw, widths, k_i64(b, log));
    combine_waiting(r, k_for(b, k_i64(b, log), widths, false), acc);
    k_end(b);
    store_at(r, r->waiting, widths, acc);
    k_end(b);
}

/* What still waits, the narrowest node first. */
static k_val **gather(const rows *r)
{
    sk_folds *s = r->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1);
    k_val narrowest = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, s->row_length, 0, 0));
    k_val leading = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CLZ, s->row_length, 0, 0));
    k_val **acc = load_at(r, r->waiting, narrowest);
    k_val at = k_for(b, sk_add(lw, narrowest, one), sk_sub(lw, k_i64(b, 64), leading), false);
    k_val bit = k_let(b, OP_BIT_AND, s->row_length, k_let(b, OP_SHL, one, at, 0), 0);
    k_if(b, k_let(b, OP_NE, bit, k_i64(b, 0), 0));
    combine_waiting(r, at, acc);
    k_end(b);
    k_end(b);
    return acc;
}

static void fold_rows(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    rows r = {.s = s};
    k_val length = sk_slot(lw, 0, "row_length"), count = sk_slot(lw, 1, "rows"), lanes = k_i64(b, s->tree.lanes);
    k_val first = sk_mul(lw, k_piece(b), lanes);
    /* Rows apart are read in tiles, by loops that take an element a turn. */
    unsigned log = lw->cluster->columns && lw->cluster->loop->flops <= 2 * SK_SMALL ? TOGETHER_LOG : 0;
    r.waiting = declare_nodes(s, WIDTHS, "waiting");
    s->row_length = length;
    s->by_position = true;
    k_val lane = k_for_all(b, sk_min(lw, lanes, sk_sub(lw, count, first)));
    k_val row = sk_add(lw, first, lane);
    s->row_base = sk_mul(lw, row, length);
    lw->element = row; /* of failures in the operator once elements are combined */
    k_val groups = k_let(b, OP_SHR, length, k_i64(b, log), 0);
    walk(&r, row, k_i64(b, 0), groups, log);
    if (log)
        walk(&r, row, k_let(b, OP_SHL, groups, k_i64(b, log), 0), length, 0);
    k_val **acc = gather(&r);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        k_val total[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            total[c] = k_get(b, acc[i][c]);
        sk_fold_finish(s, &s->fold.at[i], row, row, total, 0);
    }
    k_end(b);
}

void sk_build_fold_rows(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    fold_rows(&s);
}
