/* Rows of a few groups, whose kernels are made for their number: no loops over a row, and no masks but for its last
 * group if that is not whole.
 *
 * What lanes have come to is combined by halves, which takes a permutation and an operation a level for each row, most
 * of whose lanes nobody looks at. So ROWS rows are folded at a time where that is all there is to do: two rows that
 * have come equally far fill a gang with the halves of both, and become one; ROWS rows are one gang after three levels,
 * of lanes for each row, in order. The operations are those of a row alone. */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

enum { ROWS = SK_ROWS_TOGETHER, ROWS_LOG = 3 };
_Static_assert(1 << ROWS_LOG == ROWS, "rows that are folded together");

bool sk_takes_rows(const sk_cluster *c, const sk_options *o)
{
    return c->rows_together && o->vector_bytes && !o->group;
}

k_val sk_fold_rows_of_piece(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val some = sk_slot(lw, 4, "rows_a_piece"), all = sk_slot(lw, 5, "rows"), first = sk_mul(lw, k_piece(b), some);
    return k_for(b, first, sk_min(lw, sk_add(lw, first, some), all), false);
}

/* What the lanes of a gang have come to behind all groups of a row. */
static k_val **through_row(sk_folds *s, k_val row, k_val lane, bool watched)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    bool ragged = lw->options->row < 0;
    int64_t lanes = s->tree.lanes, groups = ragged ? -lw->options->row : lw->options->row / lanes;
    int64_t streams = groups < s->tree.streams ? groups : s->tree.streams;
    k_val length = s->row_length;
    k_val **total[SK_MOST_STREAMS] = {0}, **acc[SK_MOST_STREAMS];
    s->row_base = sk_mul(lw, row, length);
    for (int64_t t = 0; t < streams; t++)
        total[t] = sk_fold_accumulators(s);
    sk_fold_begin_counts(s, streams, total, acc);
    if (watched)
        sk_fold_watch(s);
    for (int64_t g = 0; g < groups; g++) {
        k_val started = k_literal(b, T_BOOL, g >= streams), first = k_i64(b, g * lanes);
        bool masked = ragged && g == groups - 1;
        if (masked)
            k_if(b, k_let(b, OP_LT, lane, sk_sub(lw, length, first), 0));
        lw->ahead = lw->options->ahead && !masked;
        lw->behind = g * lanes;
        sk_fold_element(s, row, sk_add(lw, first, lane), started, acc[g % s->tree.streams]);
        lw->ahead = false;
        lw->behind = 0;
        if (masked)
            k_end(b);
    }
    bool lacking = ragged && groups <= streams && !s->neutral; /* some accumulators have received nothing */
    sk_fold_streams(s, lane, streams, lacking ? length : 0, acc);
    sk_fold_end_counts(s, acc[0], total[0]);
    return total[0];
}

static void row_alone(sk_folds *s, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    lw->element = row; /* of failures in the operator */
    k_val lane = k_for_all(b, k_i64(b, s->tree.lanes)), **total = through_row(s, row, lane, true);
    sk_fold_lanes(s, row, lane, s->row_length, total);
    sk_fold_store(s, row, lane, row, total);
    k_end(b);
}

/* --- several rows --- */

static k_val **values(const sk_folds *s, k_val *const *from)
{
    k_val **v = arena_array(s->lw->arena, k_val *, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        v[i] = arena_array(s->lw->arena, k_val, f->n);
        for (uint32_t c = 0; c < f->n; c++)
            v[i][c] = k_get(&s->lw->b, from[i][c]);
    }
    return v;
}

/* x = the left and the right half of each block of 2 * distance lanes, combined: of x in the left half, of y in the
 * right one. */
static void meet(sk_folds *s, k_val lane, int64_t distance, k_val *const *x, k_val *const *y)
{
    k_builder *b = &s->lw->b;
    k_val here = k_let(b, OP_BIT_AND, lane, k_i64(b, distance), 0), own = k_let(b, OP_EQ, here, k_i64(b, 0), 0);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val left[IR_MAX_COMPONENTS], right[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++) {
            left[c] = k_select(b, own, x[i][c], k_shuffle(b, y[i][c], s->tree.lanes - distance));
            right[c] = k_select(b, own, k_shuffle(b, x[i][c], distance), y[i][c]);
        }
        sk_fold_accumulate(s, f, left, right, x[i]);
    }
}

/* The 2^(level + 1) rows from `row` on, in the order in which memory has them, as processors look ahead. */
static k_val **rows_from(sk_folds *s, k_val lane, k_val row, unsigned level)
{
    sk_lower *lw = s->lw;
    k_val half = sk_add(lw, row, k_i64(&lw->b, (int64_t)1 << level));
    k_val **x = level ? rows_from(s, lane, row, level - 1) : values(s, through_row(s, row, lane, false));
    k_val **y = level ? rows_from(s, lane, half, level - 1) : values(s, through_row(s, half, lane, false));
    meet(s, lane, s->tree.lanes >> (level + 1), x, y);
    return x;
}

/* The rows that met first are furthest from each other: of a row's number, lanes have the bits turned round. */
static k_val in_order(k_builder *b, k_val lane, k_val x, int64_t lanes)
{
    _Static_assert(ROWS_LOG == 3, "the lowest and the highest bit change places");
    enum { LOW = 1, HIGH = ROWS / 2 };
    k_val low = k_let(b, OP_BIT_AND, lane, k_i64(b, LOW | HIGH), 0);
    k_val later = k_let(b, OP_EQ, low, k_i64(b, LOW), 0), before = k_let(b, OP_EQ, low, k_i64(b, HIGH), 0);
    k_val other = k_select(b, before, k_shuffle(b, x, lanes - (HIGH - LOW)), x);
    return k_select(b, later, k_shuffle(b, x, HIGH - LOW), other);
}

/* Each row's lanes become the first of them, and these the gang's first ROWS lanes. */
static void settle_rows(sk_folds *s, k_val lane, k_val *const *x)
{
    k_builder *b = &s->lw->b;
    int64_t of_row = s->tree.lanes / ROWS;
    for (int64_t distance = of_row / 2; distance; distance /= 2)
        for (uint32_t i = 0; i < s->fold.n; i++) {
            const sk_fold *f = &s->fold.at[i];
            k_val right[IR_MAX_COMPONENTS];
            for (uint32_t c = 0; c < f->n; c++)
                right[c] = k_shuffle(b, x[i][c], distance);
            sk_fold_accumulate(s, f, x[i], right, x[i]);
        }
    for (int64_t n = of_row; n > 1; n /= 2)
        for (uint32_t i = 0; i < s->fold.n; i++)
            for (uint32_t c = 0; c < s->fold.at[i].n; c++)
                x[i][c] = k_take_pair(b, x[i][c], 0);
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            x[i][c] = in_order(b, lane, x[i][c], s->tree.lanes);
}

/* How many of the rows have an extreme that is a zero, or no better than the worst; 0: there are no extremes. */
static k_val unsettled_rows(sk_folds *s, k_val lane, k_val *const *x)
{
    k_builder *b = &s->lw->b;
    k_val some = 0;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            if (s->fold.at[i].extreme >> c & 1) {
                k_val is = sk_fold_is_unsettled(s, &s->fold.at[i], c, x[i][c]);
                some = some ? k_let(b, OP_OR, some, is, 0) : is;
            }
    return some ? k_count(b, k_let(b, OP_AND, some, k_let(b, OP_LT, lane, k_i64(b, ROWS), 0), 0)) : 0;
}

/* Rows with such extremes are looked through once more, each by the whole gang: that is quicker than by a lane each. */
static void rows_together(sk_folds *s, k_val first)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), again = k_decl(b, zero, "again");
    k_val lane = k_for_all(b, k_i64(b, s->tree.lanes)), **x = rows_from(s, lane, first, ROWS_LOG - 1);
    settle_rows(s, lane, x);
    k_val unsettled = unsettled_rows(s, lane, x), here = k_let(b, OP_LT, lane, k_i64(b, ROWS), 0);
    if (unsettled) {
        k_set(b, again, unsettled);
        here = k_let(b, OP_AND, here, k_let(b, OP_EQ, unsettled, zero, 0), 0);
    }
    k_if(b, here);
    k_val row = sk_add(lw, first, lane), **acc = sk_fold_accumulators(s);
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            k_set(b, acc[i][c], x[i][c]);
    s->row_base = sk_mul(lw, row, s->row_length);
    sk_fold_finish_all(s, row, row, acc, 0);
    k_end(b);
    k_end(b);
    if (!unsettled)
        return;
    k_if(b, k_let(b, OP_GT, k_get(b, again), zero, 0));
    row_alone(s, sk_add(lw, first, k_for(b, zero, k_i64(b, ROWS), false)));
    k_end(b);
    k_end(b);
}

/* Slots: 0 row length, 4 rows a piece, 5 rows. */
void sk_fold_few(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    bool all_lanes = s->neutral || lw->options->row > 0 || lw->options->row < -1;
    s->row_length = lw->options->row > 0 ? k_i64(b, lw->options->row) : sk_slot(lw, 0, "row_length");
    s->begin = k_i64(b, 0);
    if (!sk_takes_rows(lw->cluster, lw->options)) {
        row_alone(s, k_piece(b));
        return;
    }
    if (all_lanes) {
        k_val rows = k_i64(b, ROWS), some = sk_slot(lw, 4, "rows_a_piece"), all = sk_slot(lw, 5, "rows");
        k_val first = sk_mul(lw, k_piece(b), some);
        k_if(b, k_let(b, OP_LE, sk_add(lw, first, rows), all, 0));
        rows_together(s, first);
        k_else(b);
    }
    row_alone(s, sk_fold_rows_of_piece(s));
    k_end(b);
    if (all_lanes)
        k_end(b);
}
