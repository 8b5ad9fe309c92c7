/* Folds whose operators keep order, and whose lanes walk a row each. */
#include "skeleton/fold/fold.h"

/* slots: 0 row length, 1 rows */

enum { WIDTHS = SK_ROW_LOG + 1 }; /* of nodes, each twice as wide as the one before */
enum { TOGETHER_LOG = 4 };        /* of elements that are combined without a loop */

typedef struct rows {
    sk_folds *s;
    k_mem *
        *waiting; /* per fold and component: private, nodes that wait for their right neighbour, one for each width */
} rows;

/* right = the node that waits at `at` (+) right */
static void combine_waiting(const rows *r, k_val at, k_val *const *right)
{
    sk_fold_combine(r->s, sk_fold_kept(r->s, r->waiting, at), right, right);
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
    sk_fold_combine(r->s, left, right, right);
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
    sk_fold_keep(s, r->waiting, widths, acc);
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
    k_val **acc = sk_fold_kept(s, r->waiting, narrowest);
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
    lw->out->k->threads = (uint32_t)s->tree.lanes;
    r.waiting = sk_fold_memory(s, false, WIDTHS, "waiting");
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
    sk_fold_finish_all(s, row, row, acc, 0);
    k_end(b);
}

void sk_build_fold_rows(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    fold_rows(&s);
}
