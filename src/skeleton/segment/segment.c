/* Segment loops (L_CLASS_SEGMENT): rows cut into segments of any lengths. The tree of a segment is that of a row of its
 * length (docs/determinism.md), so no result shows how work is cut.
 *
 * A launch's work is counted in elements and segments together, and cut evenly: a block searches the
 * offsets for its first segment. It takes the segments that begin in its part of the work, as many at a time as a gang
 * has lanes. Short ones are a lane's, from left to right; longer ones are the whole gang's. Of those longer than a
 * piece of the tree a block takes the pieces that begin in its part, and leaves their totals as words; a second launch
 * combines them. What the offsets say is checked by the block that has the segment: every one has, whatever they are.
 */
#include "skeleton/segment/segment.h"
#include "skeleton/extents.h"

/* Totals of pieces: those of a segment of m elements, more than SK_PIECE, are at most m / HALF, so that they may stand
 * from number `begin` / HALF on. Which segment has some is noted where its first element is: one for each SK_PIECE
 * elements, 1 + the segment's number, or 0. */
enum { HALF = SK_PIECE / 2 };

/* --- elements --- */

void sk_use_segment(sk_segments *x, const sk_segment *s)
{
    sk_lower *lw = x->lw;
    x->row = s->row;
    x->number = s->number;
    x->begin = s->begin;
    x->base = s->base;
    lw->element = s->global; /* of failures in the operator */
}

/* Element k of the segment at hand. */
static void bind(void *env, k_val k)
{
    sk_segments *x = env;
    sk_lower *lw = x->lw;
    unsigned rank = lw->cluster->loop->rank;
    k_val linear = sk_add(lw, x->base, k), index[IR_MAX_RANK] = {0};
    lw->element = linear;
    sk_bind(lw, lw->at.linear, linear);
    sk_bind(lw, x->of.segment, x->number);
    if (rank == 1)
        return;
    sk_row_indices(lw, rank, lw->cluster->loop->shape, x->row, index);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
    sk_bind(lw, lw->at.at[rank - 1], sk_add(lw, x->begin, k));
}

/* --- results --- */

static void bind_segment(sk_segments *x, k_val row, k_val number, k_val global)
{
    sk_lower *lw = x->lw;
    unsigned rank = lw->cluster->loop->rank;
    k_val index[IR_MAX_RANK] = {0};
    lw->element = global;
    sk_bind(lw, x->of.segment, number);
    if (rank > 1)
        sk_row_indices(lw, rank, lw->cluster->loop->shape, row, index);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
}

/* The totals of a segment become results, and what is made of these. `empty`: as of sk_fold_finish. */
void sk_finish_segment(sk_segments *x, k_val row, k_val number, k_val global, k_val *const *acc, k_val empty)
{
    sk_lower *lw = x->lw;
    uint32_t mark = sk_scope(lw);
    for (uint32_t i = 0; i < x->folds.fold.n; i++) {
        const sk_fold *f = &x->folds.fold.at[i];
        k_val total[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++)
            total[c] = k_get(&lw->b, acc[i][c]);
        sk_fold_finish(&x->folds, f, global, global, total, empty, out);
        for (uint32_t c = 0; c < f->n && x->once.n; c++)
            sk_bind(lw, x->given[i][c], out[c]);
    }
    if (x->once.n)
        bind_segment(x, row, number, global);
    for (uint32_t i = 0; i < x->once.n; i++) {
        const sk_once *o = &x->once.at[i];
        k_val value[IR_MAX_COMPONENTS];
        sk_emit(lw, o->n, o->element, value);
        for (uint32_t c = 0; c < o->n; c++) {
            sk_bind(lw, o->given[c], value[c]);
            if (o->op->stored)
                k_store(&lw->b, sk_array_memory(lw, o->op->term, c, true), global, value[c]);
        }
    }
    sk_scope_end(lw, mark);
}

/* --- short segments: a lane each --- */

static void short_segment(sk_segments *x, const sk_segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val zero = k_i64(b, 0), brief = k_let(b, OP_LE, s->length, k_i64(b, x->shortest), 0);
    k_val count = k_select(b, brief, s->length, zero);
    sk_use_segment(x, s);
    k_val **acc = sk_fold_accumulators(f);
    if (x->alone) {
        k_val j = k_for(b, zero, count, false);
        sk_fold_element(f, s->global, j, k_let(b, OP_GT, j, zero, 0), acc);
        k_end(b);
    } else {
        k_val at = k_decl(b, zero, "at");
        k_loop(b);
        k_val j = k_get(b, at);
        k_break_if(b, k_let(b, OP_GE, j, count, 0));
        sk_fold_element(f, s->global, j, k_let(b, OP_GT, j, zero, 0), acc);
        k_set(b, at, sk_add(lw, j, k_i64(b, 1)));
        k_end(b);
    }
    lw->element = s->global;
    if (!f->fold.n)
        return;
    if (x->alone)
        sk_fold_settle(f, s->global, zero, 0, count, acc);
    k_if(b, k_let(b, OP_AND, s->good, brief, 0));
    sk_finish_segment(x, s->row, s->number, s->global, acc, k_let(b, OP_EQ, s->length, zero, 0));
    k_end(b);
}

/* --- longer ones: the gang goes along them --- */

static sk_fold_part part_of(sk_segments *x, const sk_segment *s, k_val piece)
{
    sk_lower *lw = x->lw;
    k_val size = k_i64(&lw->b, SK_PIECE);
    sk_fold_part p = {.row = s->global, .begin = sk_mul(lw, piece, size)};
    p.count = sk_min(lw, size, sk_sub(lw, s->length, p.begin));
    return p;
}

/* Opens a FOR_ALL; a piece's total comes to lane 0 of the accumulators. */
static k_val open_piece(sk_segments *x, const sk_fold_part *p, k_val **acc[SK_MOST_STREAMS])
{
    sk_folds *f = &x->folds;
    if (x->chooser) {
        k_mem **total = sk_choose_piece(x->chooser, p, x->order);
        k_val first = k_for_few(&x->lw->b, k_i64(&x->lw->b, 1));
        acc[0] = sk_fold_kept(f, total, first);
        return first;
    }
    k_val lane = k_for_all(&x->lw->b, k_i64(&x->lw->b, f->tree.lanes));
    f->mixes = f->neutral && !x->lw->cluster->loop->ordered;
    if (x->lw->cluster->loop->ordered)
        sk_fold_piece_in_order(f, p, lane, x->order, acc);
    else
        sk_fold_piece(f, p, lane, acc);
    f->mixes = false;
    return lane;
}

/* Elements that are stored, and nothing else. */
static void store_piece(sk_segments *x, const sk_fold_part *p)
{
    k_builder *b = &x->lw->b;
    k_val lane = k_for_all(b, p->count);
    sk_fold_element(&x->folds, p->row, sk_add(x->lw, p->begin, lane), k_literal(b, T_BOOL, 0), NULL);
    k_end(b);
}

static void keep_words(sk_segments *x, k_val position, k_val *const *acc)
{
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        for (uint32_t c = 0; c < x->folds.fold.at[i].n; c++)
            sk_store_word(&x->folds, &x->folds.fold.at[i], c, position, k_get(&x->lw->b, acc[i][c]));
}

static k_val first_word(sk_segments *x)
{
    k_val first = k_let(&x->lw->b, OP_QUOT, x->base, k_i64(&x->lw->b, HALF), 0);
    return x->chained ? sk_add(x->lw, x->chained, first) : first;
}

/* What becomes of a piece's total, in lane 0: the result, if the segment has no other piece, else words. */
static void keep_total(sk_segments *x, const sk_segment *s, k_val piece, k_val lane, k_val *const *acc)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, SK_PIECE), one = k_i64(b, 1);
    k_if(b, k_let(b, OP_LT, lane, one, 0));
    k_if(b, k_let(b, OP_LE, s->length, size, 0));
    sk_finish_segment(x, s->row, sk_add(lw, s->number, lane), sk_add(lw, s->global, lane), acc, 0);
    k_else(b);
    keep_words(x, sk_add(lw, sk_add(lw, first_word(x), piece), lane), acc);
    k_if(b, k_let(b, OP_EQ, piece, k_i64(b, 0), 0));
    k_val note = sk_add(lw, x->notes, k_let(b, OP_QUOT, x->base, size, 0));
    k_store(b, x->folds.words, sk_add(lw, note, lane), k_convert(b, OP_BITCAST, T_U64, sk_add(lw, s->global, one)));
    k_end(b);
    k_end(b);
    k_end(b);
}

/* The pieces of a longer segment that begin in the block's part of the work, [work, end). */
static void longer_segment(sk_segments *x, const sk_segment *s, k_val work, k_val end)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_use_segment(x, s);
    k_val size = k_i64(b, SK_PIECE), one = k_i64(b, 1), zero = k_i64(b, 0), before = sk_add(lw, x->base, s->global);
    k_val skipped = sk_max(lw, zero, sk_sub(lw, work, before));
    k_val first = k_let(b, OP_QUOT, sk_add(lw, skipped, sk_sub(lw, size, one)), size, 0);
    k_val at = k_decl(b, first, "piece");
    k_loop(b);
    k_val k = k_get(b, at), elements = sk_mul(lw, k, size), there = k_let(b, OP_LT, elements, s->length, 0);
    k_val more = k_let(b, OP_AND, there, k_let(b, OP_LT, sk_add(lw, before, elements), end, 0), 0);
    k_break_if(b, k_let(b, OP_NOT, more, 0, 0));
    sk_fold_part p = part_of(x, s, k);
    sk_pack_elements(x, sk_add(lw, x->base, p.begin), p.count);
    if (x->folds.fold.n) {
        k_val **acc[SK_MOST_STREAMS], lane = open_piece(x, &p, acc);
        keep_total(x, s, k, lane, acc[0]);
        k_end(b);
    } else {
        store_piece(x, &p);
    }
    k_set(b, at, sk_add(lw, k, one));
    k_end(b);
}

/* --- a block --- */

/* Is a segment longer than a lane's, and are pieces of it the block's? */
static k_val is_longer(sk_segments *x, const sk_block *of, const sk_segment *s)
{
    k_builder *b = &x->lw->b;
    k_val own = k_let(b, OP_GE, s->global, of->first, 0), pieces = k_let(b, OP_GT, s->length, k_i64(b, SK_PIECE), 0);
    k_val longer = k_let(b, OP_GT, s->length, k_i64(b, x->side_by_side ? SK_ACCUMULATORS : x->shortest), 0);
    return k_let(b, OP_AND, longer, k_let(b, OP_OR, own, pieces, 0), 0);
}

/* --- where blocks are many threads: segments of one round of the tree, several at a time --- */

enum { ABREAST = 4 /* segments */ };

/* Is there one round for each accumulator, and does one that receives nothing change nothing? Then reads of several
 * segments are under way together, and nothing is asked but where each ends. */
static bool may_be_side_by_side(const sk_segments *x)
{
    enum { SMALL = 16, FEW = 2 };
    const sk_lower *lw = x->lw;
    const sk_folds *f = &x->folds;
    bool good = lw->options->group && lw->options->gang >= f->tree.lanes && f->neutral && f->fold.n &&
                f->fold.n <= FEW && !lw->cluster->loop->ordered && lw->cluster->loop->flops <= SMALL;
    for (uint32_t i = 0; i < f->fold.n && good; i++) {
        const sk_fold *fold = &f->fold.at[i];
        good = !fold->extreme && sk_fold_harmless(lw, fold);
        for (uint32_t c = 0; c < fold->n && good; c++)
            good = !ir_at(lw->l->ir, fold->element[c])->partial;
    }
    for (uint32_t i = 0; i < f->stored.term.n && good; i++)
        good = !ir_at(lw->l->ir, f->stored.term.at[i])->partial;
    return good;
}

static k_val is_medium(sk_segments *x, const sk_block *of, const sk_segment *s)
{
    k_builder *b = &x->lw->b;
    k_val own = k_let(b, OP_GE, s->global, of->first, 0);
    k_val longer = k_let(b, OP_GT, s->length, k_i64(b, x->shortest), 0);
    k_val brief = k_let(b, OP_LE, s->length, k_i64(b, SK_ACCUMULATORS), 0);
    return k_let(b, OP_AND, own, k_let(b, OP_AND, longer, brief, 0), 0);
}

/* Number `i` of the segments from `begin` on, if it is one of these: all its elements are in accumulators. */
static void read_medium(sk_segments *x, const sk_segment *s, k_val takes, k_val lane, k_val **acc[SK_MOST_STREAMS])
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val count = k_select(b, takes, s->length, k_i64(b, 0));
    sk_use_segment(x, s);
    for (int64_t t = 0; t < f->tree.streams; t++) {
        k_val at = sk_add(lw, lane, k_i64(b, t * f->tree.lanes));
        acc[t] = sk_fold_accumulators(f);
        k_if(b, k_let(b, OP_LT, at, count, 0));
        sk_fold_element(f, s->global, at, k_literal(b, T_BOOL, 0), acc[t]);
        k_end(b);
    }
}

static void take_medium(sk_segments *x, const sk_block *of, k_val begin, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val zero = k_i64(b, 0), some = k_i64(b, ABREAST), lane = k_for_whole(b, k_i64(b, f->tree.lanes));
    k_val turns = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, ABREAST - 1)), some, 0);
    k_val first = sk_mul(lw, k_for(b, zero, turns, false), some);
    uint32_t mark = sk_scope(lw);
    k_val **acc[ABREAST][SK_MOST_STREAMS], takes[ABREAST];
    sk_segment s[ABREAST];
    for (unsigned i = 0; i < ABREAST; i++) {
        k_val number = sk_add(lw, first, k_i64(b, i)), there = k_let(b, OP_LT, number, count, 0);
        s[i] = sk_find_segment(&x->of, sk_add(lw, begin, k_select(b, there, number, zero)));
        takes[i] = k_let(b, OP_AND, there, is_medium(x, of, &s[i]), 0);
    }
    for (unsigned i = 0; i < ABREAST; i++)
        read_medium(x, &s[i], takes[i], lane, acc[i]);
    for (unsigned i = 0; i < ABREAST; i++) {
        sk_fold_streams(f, lane, f->tree.streams, 0, acc[i]);
        sk_fold_lanes(f, s[i].global, lane, 0, acc[i][0]);
    }
    for (unsigned i = 0; i < ABREAST; i++) {
        sk_use_segment(x, &s[i]);
        k_if(b, k_let(b, OP_AND, takes[i], k_let(b, OP_EQ, lane, zero, 0), 0));
        sk_finish_segment(x, s[i].row, s[i].number, s[i].global, acc[i][0], 0);
        k_end(b);
    }
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

/* How many of the segments from number `begin` on, as many as a gang has lanes at most, are longer ones. It comes
 * through shared memory: a variable that a gang sets takes barriers. */
static k_val count_longer(sk_segments *x, const sk_block *of, k_val begin, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), lane = k_for_all(b, count);
    sk_segment s = sk_find_segment(&x->of, sk_add(lw, begin, lane));
    k_val longer = k_count(b, is_longer(x, of, &s));
    k_val medium = x->side_by_side ? k_count(b, is_medium(x, of, &s)) : 0;
    k_if(b, k_let(b, OP_EQ, lane, zero, 0));
    k_store(b, x->longer, zero, longer);
    if (medium)
        k_store(b, x->longer, k_i64(b, 1), medium);
    k_end(b);
    k_end(b);
    return k_load(b, x->longer, zero);
}

/* As many segments as a gang has lanes, from number `begin` on. */
static void take_gang(sk_segments *x, const sk_block *of, k_val begin, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), longer = count_longer(x, of, begin, count);
    k_val medium = x->side_by_side ? k_load(b, x->longer, k_i64(b, 1)) : 0, lane = k_for_all(b, count);
    sk_segment s = sk_find_segment(&x->of, sk_add(lw, begin, lane));
    k_if(b, k_let(b, OP_GE, s.global, of->first, 0));
    short_segment(x, &s);
    sk_check_segment(&x->of, &s);
    k_end(b);
    k_end(b);
    if (x->side_by_side) {
        k_if(b, k_let(b, OP_GT, medium, zero, 0));
        take_medium(x, of, begin, count);
        k_end(b);
    }
    k_if(b, k_let(b, OP_GT, longer, zero, 0));
    k_val i = k_for(b, zero, count, false);
    s = sk_find_segment(&x->of, sk_add(lw, begin, i));
    k_if(b, is_longer(x, of, &s));
    longer_segment(x, &s, of->work, of->end);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* A segment by itself: a lane that goes along a short one reads what lies together, where lanes side by side gather. */
static void take_alone(sk_segments *x, const sk_block *of, k_val global)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_segment s = sk_find_segment(&x->of, global);
    k_val brief = k_let(b, OP_LE, s.length, k_i64(b, x->shortest), 0);
    k_if(b, k_let(b, OP_GE, global, of->first, 0));
    sk_use_segment(x, &s);
    sk_pack_elements(x, x->base, k_select(b, brief, s.length, k_i64(b, 0)));
    x->alone = true;
    k_for_whole(b, k_i64(b, 1));
    short_segment(x, &s);
    sk_check_unless_fine(&x->of, &s);
    k_end(b);
    x->alone = false;
    k_end(b);
    k_if(b, is_longer(x, of, &s));
    longer_segment(x, &s, of->work, of->end);
    k_end(b);
}

/* Segments of one length, at most SK_SHORT, as many as there are lanes, are rows: element j of lane l is read at
 * base + l * length + j, or, where the length is 1, at base + l. */
static void take_rows(sk_segments *x, const sk_segment *of, bool ones, bool one_row)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val zero = k_i64(b, 0), lane = k_for_whole(b, k_i64(b, f->tree.lanes));
    sk_segment row = *of;
    row.length = ones ? k_i64(b, 1) : of->length;
    sk_segment s = sk_gang_row(&x->of, &row, lane, one_row);
    sk_use_segment(x, &s);
    k_val **acc = sk_fold_accumulators(f);
    k_val j = ones ? zero : k_for(b, zero, of->length, false);
    sk_fold_element(f, s.global, j, ones ? k_literal(b, T_BOOL, 0) : k_let(b, OP_GT, j, zero, 0), acc);
    if (!ones)
        k_end(b);
    lw->element = s.global;
    sk_fold_settle(f, s.global, zero, 0, of->length, acc);
    sk_finish_segment(x, s.row, s.number, s.global, acc, 0);
    k_end(b);
}

static bool asks_for_indices(const sk_segments *x)
{
    const sk_folds *f = &x->folds;
    bool asks = sk_asks_for_indices(x->lw, f->stored.term.n, f->stored.term.at);
    for (uint32_t i = 0; i < f->fold.n; i++)
        asks |= sk_asks_for_indices(x->lw, f->fold.at[i].n, f->fold.at[i].element);
    return asks;
}

/* Where the lengths of a gang are one, and may differ from 1. */
static void take_longer_rows(sk_segments *x, const sk_segment *of)
{
    k_builder *b = &x->lw->b;
    bool asks = asks_for_indices(x);
    if (asks) {
        k_if(b, sk_gang_stays(&x->of, of, x->folds.tree.lanes));
        take_rows(x, of, false, true);
        k_else(b);
    }
    take_rows(x, of, false, false);
    if (asks)
        k_end(b);
}

/* A gang's segments, if they have one length, and are better taken as rows than one after the other. */
static void take_alike(sk_segments *x, const sk_segment *of, k_val done, k_val stop)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, x->folds.tree.lanes), one = k_i64(b, 1);
    k_val rows = sk_may_be_rows(&x->of, of, x->folds.tree.lanes);
    bool only_ones = sk_stores_suit(x) && sk_reads_under_conditions(x);
    k_if(b, only_ones ? k_let(b, OP_AND, rows, k_let(b, OP_EQ, of->length, one, 0), 0) : rows);
    k_if(b, sk_end_alike(&x->of, of, x->folds.tree.lanes));
    sk_pack_elements(x, of->base, sk_mul(lw, of->length, lanes));
    if (!only_ones)
        k_if(b, k_let(b, OP_EQ, of->length, one, 0));
    take_rows(x, of, true, false);
    if (!only_ones) {
        k_else(b);
        take_longer_rows(x, of);
        k_end(b);
    }
    k_set(b, done, stop);
    k_end(b);
    k_end(b);
}

/* The block's segments, in gangs whose results begin at multiples of their number. */
static void take_each(sk_segments *x, const sk_block *part)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), lanes = k_i64(b, x->folds.tree.lanes);
    k_val low = k_let(b, OP_QUOT, part->before, lanes, 0);
    k_val high = k_let(b, OP_QUOT, sk_add(lw, part->last, sk_sub(lw, lanes, one)), lanes, 0);
    k_val gang = sk_mul(lw, k_for(b, low, high, false), lanes), begin = sk_max(lw, part->before, gang);
    k_val stop = sk_min(lw, part->last, sk_add(lw, gang, lanes)), done = k_decl(b, begin, "done");
    k_val whole = k_let(b, OP_EQ, sk_sub(lw, stop, begin), lanes, 0);
    k_if(b, k_let(b, OP_AND, whole, k_let(b, OP_GE, begin, part->first, 0), 0));
    sk_segment of = sk_find_segment(&x->of, begin);
    k_if(b, sk_note_gang(&x->of, &of));
    take_alike(x, &of, done, stop);
    if (sk_stores_suit(x)) {
        k_if(b, k_let(b, OP_NE, k_get(b, done), stop, 0));
        k_val longest = sk_longest_stored(x, &of);
        k_if(b, k_let(b, OP_LE, longest, k_i64(b, SK_MIXED), 0));
        sk_pack_elements(x, of.base, sk_sub(lw, sk_gang_edge(&x->of, &of, lanes), of.base));
        sk_take_stored(x, &of, longest);
        k_set(b, done, stop);
        k_end(b);
        k_end(b);
    }
    if (x->mixed) {
        k_if(b, k_let(b, OP_NE, k_get(b, done), stop, 0));
        k_if(b, sk_may_be_mixed(x, &of));
        sk_pack_elements(x, of.base, sk_sub(lw, sk_gang_edge(&x->of, &of, lanes), of.base));
        sk_take_mixed(x, &of);
        k_set(b, done, stop);
        k_end(b);
        k_end(b);
    }
    k_end(b);
    k_end(b);
    take_alone(x, part, k_for(b, k_get(b, done), stop, false));
    k_end(b);
    k_end(b);
}

static void take_gangs(sk_segments *x, const sk_block *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), lanes = k_i64(b, x->folds.tree.lanes);
    k_val some = sk_max(lw, zero, sk_sub(lw, of->last, of->before));
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, some, sk_sub(lw, lanes, one)), lanes, 0);
    k_val done = sk_mul(lw, k_for(b, zero, gangs, false), lanes);
    take_gang(x, of, sk_add(lw, of->before, done), sk_min(lw, lanes, sk_sub(lw, some, done)));
    k_end(b);
}

static bool in_any_order(const sk_segments *x)
{
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        if (!sk_fold_in_any_order(x->lw, &x->folds.fold.at[i]))
            return false;
    return x->folds.fold.n > 0;
}

/* Variables that stand for the components of an operation's result where others read it. */
static ir_id *give(sk_segments *x, ir_id term)
{
    sk_lower *lw = x->lw;
    const ir_array *info = ir_info(lw->l->ir, term);
    ir_id *given = arena_array(lw->arena, *given, info->components);
    for (uint32_t c = 0; c < info->components; c++)
        given[c] = ir_var(lw->l->ir, info->type[c]);
    sk_give(&lw->body, term, given);
    return given;
}

/* What is computed once a segment, behind the folds. */
static void find_once(sk_segments *x)
{
    sk_lower *lw = x->lw;
    const l_cluster *loop = lw->cluster->loop;
    sk_index at = {.rank = loop->rank};
    bool any = false;
    memcpy(at.at, lw->at.at, at.rank * sizeof *at.at);
    at.at[at.rank - 1] = x->of.segment;
    for (uint32_t i = 0; i < loop->op.n; i++)
        any |= loop->op.at[i].outer;
    x->given = arena_array(lw->arena, *x->given, x->folds.fold.n + 1);
    for (uint32_t i = 0; i < x->folds.fold.n && any; i++)
        x->given[i] = give(x, x->folds.fold.at[i].op->term);
    for (uint32_t i = 0; i < loop->op.n; i++) {
        const l_op *op = &loop->op.at[i];
        uint32_t n = ir_info(lw->l->ir, op->term)->components;
        if (!op->outer)
            continue;
        const ir_id *element = arena_copy(lw->arena, sk_define(&lw->body, op->term, &at), n * sizeof *element);
        vec_push(lw->arena, &x->once, ((sk_once){op, n, element, give(x, op->term)}));
        for (uint32_t c = 0; c < n && op->stored; c++)
            sk_array_memory(lw, op->term, c, true);
    }
}

/* slots: 0 row length, 1 segments a row, 2 segments, 3 words of each component, 4 number of the first note, 5 work a
 * block, 6 work, 7 words of the state that blocks hand on */
static void open_segments(sk_segments *x, sk_lower *lw)
{
    k_builder *b = &lw->b;
    x->lw = lw;
    x->folds.lw = lw;
    x->folds.tree = sk_tree_of(lw->cluster->wide);
    x->folds.bind = bind;
    x->folds.bind_env = x;
    sk_open(lw, (uint16_t)x->folds.tree.lanes);
    const l_cluster *loop = lw->cluster->loop;
    sk_open_offsets(&x->of, lw);
    bool folds = false;
    for (uint32_t i = 0; i < loop->op.n; i++)
        folds |= loop->op.at[i].kind == L_FOLD_SEG;
    if (sk_segments_pack(lw->cluster))
        x->chained = sk_slot(lw, 7, "chained");
    if (folds) {
        vec_push(lw->arena, &lw->out->memory, ((sk_binding){.role = SK_STATE, .type = T_U64}));
        x->folds.words = k_global(b, T_U64, true, "totals");
        x->folds.words_each = sk_slot(lw, 3, "totals_each");
        x->notes = sk_slot(lw, 4, "first_note");
        x->notes = x->chained ? sk_add(lw, x->chained, x->notes) : x->notes;
    }
    sk_fold_find(&x->folds);
    find_once(x);
    const ir_node *offset = ir_at(lw->l->ir, x->of.offset);
    x->folds.begins = offset->kind == IR_READ ? offset->array : 0;
    if (loop->ordered)
        x->order = sk_fold_order_memory(&x->folds);
    enum { FEW = 8 /* elements that a lane adds up while a gang is set to work */, STORES = 2 /* ... or stores */ };
    int64_t few = folds ? FEW : STORES;
    x->shortest = (in_any_order(x) || !folds) && !loop->ordered && !lw->options->group ? few : SK_SHORT;
}

void sk_build_segments(sk_lower *lw)
{
    if (sk_segments_are_rows(lw->cluster)) {
        sk_build_segment_rows(lw);
        return;
    }
    sk_segments x = {0};
    open_segments(&x, lw);
    x.packs = sk_open_packs(&x);
    if (x.order) /* behind packs, which add to what is stored on the way */
        x.chooser = sk_open_chooser(&x.folds);
    sk_open_mixed(&x);
    sk_open_gangs(&x.of, x.folds.tree.lanes);
    sk_check_any_segment(&x.of);
    sk_block of = sk_block_of(&x.of);
    sk_begin_packs(&x);
    if (lw->options->group) {
        x.side_by_side = may_be_side_by_side(&x);
        x.longer = k_shared(&lw->b, T_I64, x.side_by_side ? 2 : 1, "longer");
        take_gangs(&x, &of);
    } else {
        take_each(&x, &of);
    }
    sk_finish_packs(&x, k_let(&lw->b, OP_GE, of.end, sk_slot(lw, 6, "work"), 0));
}

/* --- totals of long segments --- */

/* Words [0, count) of the segment, from left to right. */
static void left_to_right(sk_segments *x, k_val first, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val lane = k_for_few(b, k_i64(b, 1)), **acc = sk_fold_accumulators(f), at = sk_add(lw, first, lane);
    for (uint32_t i = 0; i < f->fold.n; i++)
        for (uint32_t c = 0; c < f->fold.at[i].n; c++)
            k_set(b, acc[i][c], sk_load_word(f, &f->fold.at[i], c, at));
    k_val k = k_for(b, k_i64(b, 1), count, false);
    k_val **next = sk_fold_accumulators(f);
    for (uint32_t i = 0; i < f->fold.n; i++)
        for (uint32_t c = 0; c < f->fold.at[i].n; c++)
            k_set(b, next[i][c], sk_load_word(f, &f->fold.at[i], c, sk_add(lw, at, k)));
    sk_fold_combine(f, acc, next, acc);
    k_end(b);
    keep_words(x, at, acc);
    k_end(b);
}

/* One level of the tree: the totals of pieces of words stand in the first words. */
static void next_level(sk_segments *x, k_val count, k_val pieces)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, SK_PIECE), piece = k_for(b, k_i64(b, 0), pieces, false);
    k_val **acc[SK_MOST_STREAMS];
    sk_fold_part p = {.row = x->number, .begin = sk_mul(lw, piece, size)};
    p.count = sk_min(lw, size, sk_sub(lw, count, p.begin));
    k_val lane = open_piece(x, &p, acc);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    keep_words(x, sk_add(lw, sk_add(lw, x->base, piece), lane), acc[0]);
    k_end(b);
    k_end(b);
    k_end(b);
}

static k_val pieces_in(sk_segments *x, k_val count)
{
    k_builder *b = &x->lw->b;
    return k_let(b, OP_QUOT, sk_add(x->lw, count, k_i64(b, SK_PIECE - 1)), k_i64(b, SK_PIECE), 0);
}

static void join(sk_segments *x, k_val note)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1);
    sk_segment s = sk_find_segment(&x->of, sk_sub(lw, k_convert(b, OP_BITCAST, T_I64, note), one));
    sk_use_segment(x, &s);
    x->base = first_word(x); /* elements are words from now on */
    x->number = s.global;
    k_val left = k_decl(b, pieces_in(x, s.length), "left");
    k_loop(b);
    k_val count = k_get(b, left);
    k_break_if(b, k_let(b, OP_LE, count, one, 0));
    if (!lw->cluster->loop->ordered) {
        k_if(b, k_let(b, OP_LE, count, k_i64(b, SK_SHORT), 0));
        left_to_right(x, x->base, count);
        k_set(b, left, one);
        k_else(b);
    }
    next_level(x, count, pieces_in(x, count));
    k_set(b, left, pieces_in(x, count));
    if (!lw->cluster->loop->ordered)
        k_end(b);
    k_end(b);
    k_val lane = k_for_few(b, one), **acc = sk_fold_accumulators(&x->folds), at = sk_add(lw, s.global, lane);
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        for (uint32_t c = 0; c < x->folds.fold.at[i].n; c++)
            k_set(b, acc[i][c], sk_load_word(&x->folds, &x->folds.fold.at[i], c, sk_add(lw, x->base, lane)));
    sk_finish_segment(x, s.row, sk_add(lw, s.number, lane), at, acc, 0);
    k_end(b);
}

static void bind_word(void *env, k_val k)
{
    sk_segments *x = env;
    x->lw->element = sk_add(x->lw, x->base, k);
}

/* slots besides those of open_segments: 5 notes a block, 6 notes */
void sk_build_segments_join(sk_lower *lw)
{
    sk_segments x = {.folds.combine = true};
    open_segments(&x, lw);
    x.folds.bind = bind_word;
    k_builder *b = &lw->b;
    k_val some = sk_slot(lw, 5, "notes_a_block"), all = sk_slot(lw, 6, "notes"), first = sk_mul(lw, k_piece(b), some);
    k_val at = k_for(b, first, sk_min(lw, all, sk_add(lw, first, some)), false);
    k_val note = k_load(b, x.folds.words, sk_add(lw, x.notes, at));
    k_if(b, k_let(b, OP_NE, note, k_literal(b, T_U64, 0), 0));
    join(&x, note);
    k_end(b);
    k_end(b);
}

/* --- launches --- */

/* Blocks that pack: even of nothing it is known how much is kept. */
static int64_t packed_blocks(const sk_call *x)
{
    return larger(1, pieces_of(x->rows * (x->columns + x->segments), sk_packs_work()));
}

/* Sets what both launches have in common; components of all folds. */
static void set_words(const sk_call *x, sk_geometry *g)
{
    const l_cluster *c = x->c->loop;
    int64_t components = 0, elements = x->rows * x->columns;
    for (uint32_t i = 0; i < c->op.n; i++)
        components += c->op.at[i].kind == L_FOLD_SEG ? ir_info(x->c->l->ir, c->op.at[i].term)->components : 0;
    g->slot[0] = x->columns;
    g->slot[1] = x->segments;
    g->slot[2] = x->rows * x->segments;
    g->slot[3] = x->columns > SK_PIECE ? elements / HALF + 2 : 0;
    g->slot[4] = components * g->slot[3];
    int64_t notes = x->columns > SK_PIECE ? elements / SK_PIECE + 1 : 0;
    g->slot[6] = notes;
    g->slot[7] = sk_segments_pack(x->c) ? packed_blocks(x) * sk_packs_words(x->c) : 0;
    g->state_words = g->slot[7] + (components ? larger(1, g->slot[4] + notes) : 0);
}

bool sk_launch_segments(const sk_call *x, sk_geometry *g)
{
    enum { MOST = 1 << 18, LEAST = 4096, DEAR = 200, OF_GROUP = 8192 };
    if (sk_segments_are_rows(x->c))
        return sk_launch_segment_rows(x, g);
    if (x->pass != SK_PASS_LOOP)
        return false;
    set_words(x, g);
    int64_t work = x->rows * (x->columns + x->segments), share = work / (larger(x->o->workers, 1) * 8) + 1;
    int64_t least = x->c->loop->flops >= DEAR ? LEAST / 16 : LEAST;
    g->slot[5] = x->o->group ? OF_GROUP : smaller(MOST, larger(least, share));
    g->slot[6] = work;
    g->slot[5] = sk_segments_pack(x->c) ? sk_packs_work() : g->slot[5];
    g->pieces = sk_segments_pack(x->c) ? packed_blocks(x) : pieces_of(work, g->slot[5]);
    return true;
}

bool sk_launch_segments_join(const sk_call *x, sk_geometry *g)
{
    enum { SOME = 512, OF_GROUP = 16 /* a block looks at one after the other */ };
    if (x->pass != SK_PASS_JOIN)
        return false;
    set_words(x, g);
    g->slot[5] = x->o->group ? OF_GROUP : SOME;
    g->pieces = pieces_of(g->slot[6], g->slot[5]);
    return true;
}
