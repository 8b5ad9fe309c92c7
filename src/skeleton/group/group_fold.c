/* Folds whose operators commute, on devices whose blocks are many threads. The tree is docs/determinism.md's: a thread
 * is one accumulator of a piece, or all of a lane's where a block folds many rows. Neighbouring threads read
 * neighbouring elements in each round. */
#include "skeleton/fold/fold.h"

enum { TURNS = 8, SMALL = 64 };

/* --- one piece of a row, or the few that a row has --- */

/* Rounds [from, to) of the piece, each a neighbour a thread. */
static void rounds(sk_folds *s, k_val row, k_val begin, k_val thread, k_val from, k_val to, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val threads = k_i64(b, SK_ACCUMULATORS);
    k_val k = k_for(b, from, to, false);
    k_val i = sk_add(lw, sk_mul(lw, k, threads), thread);
    sk_fold_element(s, row, sk_add(lw, begin, i), k_let(b, OP_GT, k, k_i64(b, 0), 0), acc);
    k_end(b);
}

/* Several rounds at once, so that their reads are under way together. */
static k_val rounds_in_turns(sk_folds *s, k_val row, k_val begin, k_val thread, k_val whole, k_val *const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (lw->cluster->loop->flops > SMALL)
        return k_i64(b, 0);
    k_val turns = k_i64(b, TURNS), threads = k_i64(b, SK_ACCUMULATORS);
    k_val groups = k_let(b, OP_QUOT, whole, turns, 0);
    k_val group = k_for(b, k_i64(b, 0), groups, false);
    k_val first = sk_mul(lw, group, turns);
    k_val turn = k_for(b, k_i64(b, 0), turns, true);
    k_val k = sk_add(lw, first, turn);
    k_val i = sk_add(lw, sk_mul(lw, k, threads), thread);
    sk_fold_element(s, row, sk_add(lw, begin, i), k_let(b, OP_GT, k, k_i64(b, 0), 0), acc);
    k_end(b);
    k_end(b);
    return sk_mul(lw, groups, turns);
}

/* sums[thread] (+)= sums[thread + half] for the threads whose second one has received an element */
static void halve(sk_folds *s, int64_t half, k_val count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, half)), partner = sk_add(lw, thread, k_i64(b, half));
    k_if(b, k_let(b, OP_LT, partner, count, 0));
    k_val **into = sk_fold_kept(s, s->totals, thread), **from = sk_fold_kept(s, s->totals, partner);
    sk_fold_merge(s, into, from, 0);
    sk_fold_keep(s, s->totals, thread, into);
    k_end(b);
    k_end(b);
}

/* The sums of all threads become the piece's: in the registers of a gang where there is one, and no lane can fail that
 * does not count. Opens the loop of the lanes, the first of which has it in `stream`. */
static k_val combine_threads(sk_folds *s, const sk_fold_part *p, k_val **stream[SK_MOST_STREAMS])
{
    k_builder *b = &s->lw->b;
    bool in_gang = (int64_t)s->lw->options->gang >= s->tree.lanes;
    for (uint32_t i = 0; i < s->fold.n; i++)
        in_gang &= sk_fold_harmless(s->lw, &s->fold.at[i]);
    for (int64_t half = SK_ACCUMULATORS / 2; half && !in_gang; half /= 2)
        halve(s, half, p->count);
    k_val lane = k_for_all(b, k_i64(b, in_gang ? s->tree.lanes : 1));
    for (int64_t t = 0; t < (in_gang ? s->tree.streams : 1); t++)
        stream[t] = sk_fold_kept(s, s->totals, sk_add(s->lw, k_i64(b, t * s->tree.lanes), lane));
    if (in_gang) {
        sk_fold_streams(s, lane, s->tree.streams, p->count, stream);
        sk_fold_lanes(s, p->row, lane, p->count, stream[0]);
    }
    return lane;
}

/* The accumulators of a piece, one a thread. */
static void accumulate(sk_folds *s, const sk_fold_part *p)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val whole = k_let(b, OP_QUOT, p->count, k_i64(b, SK_ACCUMULATORS), 0);
    k_val thread = k_for_all(b, k_i64(b, SK_ACCUMULATORS));
    k_name(lw->out->k, thread, "thread");
    k_name(lw->out->k, p->count, "count");
    k_val **acc = sk_fold_accumulators(s);
    k_val done = rounds_in_turns(s, p->row, p->begin, thread, whole, acc);
    rounds(s, p->row, p->begin, thread, done, whole, acc);
    k_val last = sk_add(lw, sk_mul(lw, whole, k_i64(b, SK_ACCUMULATORS)), thread);
    k_if(b, k_let(b, OP_LT, last, p->count, 0));
    sk_fold_element(s, p->row, sk_add(lw, p->begin, last), k_let(b, OP_GT, whole, k_i64(b, 0), 0), acc);
    k_end(b);
    sk_fold_keep(s, s->totals, thread, acc);
    k_end(b);
}

/* slots: 0 row length, 1 pieces a row */
static void piece_code(sk_folds *s)
{
    k_val **stream[SK_MOST_STREAMS];
    sk_fold_part p = sk_fold_part_of(s, SK_PIECE);
    k_name(s->lw->out->k, p.row, "row");
    accumulate(s, &p);
    k_val lane = combine_threads(s, &p, stream);
    sk_fold_store(s, p.row, lane, k_piece(&s->lw->b), stream[0]);
    k_end(&s->lw->b);
}

/* A block has a row. slots: 0 row length, 1 pieces a row, at most SK_BLOCK */
static void row_code(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_mem **sums = s->totals;
    k_val **stream[SK_MOST_STREAMS];
    sk_fold_block block = sk_fold_block_of(s, k_piece(b));
    s->row_base = block.base;
    lw->element = block.row; /* of failures in the operator once elements are combined */
    sk_fold_totals(s);
    k_mem **totals = s->totals;
    k_val piece = k_for(b, block.first, block.end, false);
    sk_fold_part p = sk_fold_piece_of(s, &block, piece);
    s->totals = sums;
    accumulate(s, &p);
    k_val lane = combine_threads(s, &p, stream);
    s->totals = totals;
    sk_fold_piece_done(s, &block, piece, lane, stream[0]);
    k_end(b);
    k_end(b);
    sk_fold_block_done(s, &block);
}

/* --- many rows --- */

/* All elements of a row that lane l gets, in its accumulators. */
static void row_lane(sk_folds *s, k_val row, k_val lane, k_val **const *acc)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    int64_t lanes = s->tree.lanes, streams = s->tree.streams;
    k_val zero = k_i64(b, 0), all = k_i64(b, streams * lanes), count = s->row_length;
    k_val whole = k_let(b, OP_QUOT, count, all, 0);
    for (int rest = 0; rest < 2; rest++) {
        k_val k = rest ? whole : k_for(b, zero, whole, false);
        k_val within = sk_mul(lw, k, all), started = k_let(b, OP_GT, k, zero, 0);
        for (int64_t t = 0; t < streams; t++) {
            k_val i = sk_add(lw, sk_add(lw, within, k_i64(b, t * lanes)), lane);
            if (rest)
                k_if(b, k_let(b, OP_LT, i, count, 0));
            sk_fold_element(s, row, i, started, acc[t]);
            if (rest)
                k_end(b);
        }
        if (!rest)
            k_end(b);
    }
}

/* In every row: sums[lane] (+)= sums[lane + half], for `half` threads a row. */
static void halve_rows(sk_folds *s, int64_t together, k_val first, k_val rows, int64_t half)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, together * half));
    k_val mine = k_let(b, OP_QUOT, thread, k_i64(b, half), 0);
    k_val lane = sk_sub(lw, thread, sk_mul(lw, mine, k_i64(b, half))), partner = sk_add(lw, lane, k_i64(b, half));
    k_val row = sk_add(lw, first, mine);
    lw->element = row;
    k_if(b, k_let(b, OP_AND, k_let(b, OP_LT, row, rows, 0), k_let(b, OP_LT, partner, s->row_length, 0), 0));
    k_val at = sk_add(lw, sk_mul(lw, mine, k_i64(b, s->tree.lanes)), lane);
    k_val **into = sk_fold_kept(s, s->totals, at), **from = sk_fold_kept(s, s->totals, sk_add(lw, at, k_i64(b, half)));
    sk_fold_merge(s, into, from, 0);
    sk_fold_keep(s, s->totals, at, into);
    k_end(b);
    k_end(b);
}

static void finish_rows(sk_folds *s, int64_t together, k_val first, k_val rows)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val mine = k_for_all(b, k_i64(b, together)), row = sk_add(lw, first, mine);
    lw->element = row;
    k_if(b, k_let(b, OP_LT, row, rows, 0));
    k_val **acc = sk_fold_kept(s, s->totals, sk_mul(lw, mine, k_i64(b, s->tree.lanes)));
    sk_fold_finish_all(s, row, row, acc, 0);
    k_end(b);
    k_end(b);
}

/* slots: 0 row length, 1 rows */
static void rows_code(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    int64_t lanes = s->tree.lanes, threads = sk_group_rows(lw->cluster, lw->options).lanes, together = threads / lanes;
    k_val length = sk_slot(lw, 0, "row_length"), rows = sk_slot(lw, 1, "rows");
    k_val first = sk_mul(lw, k_piece(b), k_i64(b, together));
    lw->out->k->group = (uint16_t)(threads < 256 ? threads : 256);
    s->row_length = length;
    s->totals = sk_fold_memory(s, true, threads, "sums");

    k_val thread = k_for_all(b, k_i64(b, threads));
    k_val mine = k_let(b, OP_QUOT, thread, k_i64(b, lanes), 0),
          lane = sk_sub(lw, thread, sk_mul(lw, mine, k_i64(b, lanes)));
    k_val row = sk_add(lw, first, mine);
    lw->element = row;
    k_if(b, k_let(b, OP_LT, row, rows, 0));
    s->row_base = sk_mul(lw, row, length);
    k_val **acc[SK_MOST_STREAMS] = {0};
    for (int64_t t = 0; t < s->tree.streams; t++)
        acc[t] = sk_fold_accumulators(s);
    row_lane(s, row, lane, acc);
    sk_fold_streams(s, lane, s->tree.streams, length, acc);
    sk_fold_keep(s, s->totals, thread, acc[0]);
    k_end(b);
    k_end(b);
    for (int64_t half = lanes / 2; half >= 1; half /= 2)
        halve_rows(s, together, first, rows, half);
    finish_rows(s, together, first, rows);
}

/* --- the builders --- */

void sk_build_group_piece(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    lw->out->k->group = SK_ACCUMULATORS;
    s.totals = sk_fold_memory(&s, true, SK_ACCUMULATORS, "sums");
    if (lw->options->final)
        row_code(&s);
    else
        piece_code(&s);
}

void sk_build_group_rows(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    rows_code(&s);
}
