/* Segment loops that go over segments several times, or scan them: a segment is a row of a row loop (skeleton/row).
 *
 * Short segments are a lane's, sweep after sweep; longer ones a block walks along. Those that are far too long for one
 * block are taken in pieces, by launches of their own: for each sweep one leaves what its pieces add up to, as words; a
 * second one makes totals of folds and states of scans of these; where scans are, a third one has their results, and a
 * fourth one the totals of folds of these. Which segments are so long is noted where they begin, by the first launch,
 * and where windows of so many elements begin that they reach into. */
#include "skeleton/extents.h"
#include "skeleton/segment/segment.h"

/* A segment of more than FAR elements is taken in pieces. Words of its pieces stand from number `begin` / HALF on,
 * which leaves room for one more than there are. A window is FAR elements of all rows: one segment at most begins in it
 * that is longer, and one at most reaches into it. */
enum { FAR = 16 * ROW_PIECE, HALF = ROW_PIECE / 2 };

/* The launches of a sweep over segments that are far too long. */
enum { STAGE_EARLY, STAGE_JOIN, STAGE_LATE, STAGE_JOIN_LATE, STAGES };

typedef struct rows {
    row_loop r;
    sk_offsets of;
    k_mem words;
    k_val words_each; /* words of each component */
    k_val begins;     /* number of the word of the first window's note of a segment that begins there; */
    k_val reaches;    /* ... that reaches into it */
    k_val first;      /* number of the first word of the segment at hand */
    int64_t kept;     /* the longest segment whose elements wait for later sweeps */
    sk_short *brief;  /* of sk_open_short */
    bool scans;
} rows;

bool sk_segments_are_rows(const sk_cluster *c)
{
    bool several = c->loop->sweeps > 1 || c->loop->trees_differ;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        several |= c->loop->op.at[i].kind == L_SCAN;
    return several;
}

/* --- words --- */

static k_val word_of(rows *x, const row_part *p, uint32_t component, k_val piece)
{
    sk_lower *lw = x->r.lw;
    k_val first = sk_mul(lw, x->words_each, k_i64(&lw->b, p->fold.first + component));
    return sk_add(lw, first, sk_add(lw, x->first, piece));
}

static void store_words(rows *x, const row_part *p, k_val piece, const k_val *value)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_store(&x->r.lw->b, x->words, word_of(x, p, c, piece), row_to_word(&x->r, value[c]));
}

static k_val *load_words(rows *x, const row_part *p, k_val piece)
{
    k_val *out = row_values(&x->r, p);
    for (uint32_t c = 0; c < p->n; c++)
        out[c] = row_from_word(&x->r, p->fold.info->type[c], k_load(&x->r.lw->b, x->words, word_of(x, p, c, piece)));
    return out;
}

/* --- the segment at hand --- */

static void use(rows *x, const sk_segment *s, k_val length)
{
    row_loop *r = &x->r;
    sk_lower *lw = r->lw;
    unsigned rank = lw->cluster->loop->rank;
    k_val index[IR_MAX_RANK] = {0};
    r->row = s->global;
    r->length = length;
    r->begin = s->begin;
    r->row_base = s->base;
    lw->element = s->global;
    sk_bind(lw, x->of.segment, s->number);
    if (rank == 1)
        return;
    sk_row_indices(lw, rank, lw->cluster->loop->shape, s->row, index);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
}

static void use_far(rows *x, const sk_segment *s)
{
    use(x, s, s->length);
    x->first = k_let(&x->r.lw->b, OP_QUOT, x->r.row_base, k_i64(&x->r.lw->b, HALF), 0);
}

/* --- pieces of segments that are far too long --- */

static bool is_fold_of(const row_part *p, uint8_t sweep, bool late)
{
    return p->op->kind == L_FOLD && p->op->sweep == sweep && p->late == late;
}

static bool is_scan_of(const row_part *p, uint8_t sweep)
{
    return p->op->kind == L_SCAN && p->op->sweep == sweep;
}

/* What a piece adds up to, as words. */
static void keep_totals(rows *x, uint8_t sweep, bool late, k_val piece, k_val count)
{
    row_loop *r = &x->r;
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!is_fold_of(p, sweep, late) && !(is_scan_of(p, sweep) && !late))
            continue;
        k_val *total = row_values(r, p);
        row_piece_total(r, p, count, total);
        k_val lane = k_for_few(b, k_i64(b, 1));
        store_words(x, p, sk_add(r->lw, piece, lane), total);
        k_end(b);
    }
}

/* What earlier sweeps have found out: results of folds, from words, and what is made of them. */
static void know_earlier(rows *x, uint8_t sweep)
{
    row_loop *r = &x->r;
    k_builder *b = &r->lw->b;
    k_val zero = k_i64(b, 0);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_FOLD || p->op->sweep >= sweep)
            continue;
        k_val lane = k_for_few(b, k_i64(b, 1));
        row_store(r, p, p->cell, lane, load_words(x, p, sk_add(r->lw, zero, lane)));
        k_end(b);
    }
    for (uint8_t before = 0; before <= sweep; before++) {
        row_bind_cells(r, before);
        row_outer_members(r, before, false);
    }
}

static void know_states(rows *x, uint8_t sweep, k_val piece)
{
    row_loop *r = &x->r;
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!is_scan_of(p, sweep))
            continue;
        p->state = load_words(x, p, piece);
        p->has_state = p->fold.info->seed || p->fold.identity ? 0 : k_let(b, OP_GT, piece, k_i64(b, 0), 0);
    }
}

static void take_piece(rows *x, uint8_t sweep, bool late, k_val piece)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, ROW_PIECE), begin = sk_mul(lw, piece, size);
    k_val count = sk_min(lw, size, sk_sub(lw, x->r.length, begin));
    row_walk early = {.sweep = sweep, .totals = x->scans, .only = true, .early = true};
    row_walk results = {.sweep = sweep, .results = true};
    if (late)
        know_states(x, sweep, piece);
    row_piece(&x->r, late ? &results : &early, begin, count);
    keep_totals(x, sweep, late, piece, count);
}

/* Notes that a segment begins in a window, or reaches into one with a piece that is the first there. */
static void note(rows *x, const sk_segment *s, k_val piece)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1)), size = k_i64(b, FAR), one = k_i64(b, 1);
    k_val word = k_convert(b, OP_BITCAST, T_U64, sk_add(lw, s->global, one));
    k_val at = sk_add(lw, x->r.row_base, sk_mul(lw, piece, k_i64(b, ROW_PIECE)));
    k_val window = k_let(b, OP_QUOT, at, size, 0), own = k_let(b, OP_QUOT, x->r.row_base, size, 0);
    k_val before = k_let(b, OP_QUOT, sk_sub(lw, at, k_i64(b, ROW_PIECE)), size, 0);
    k_if(b, k_let(b, OP_EQ, piece, k_i64(b, 0), 0));
    k_store(b, x->words, sk_add(lw, sk_add(lw, x->begins, own), lane), word);
    k_else(b);
    k_if(b, k_let(b, OP_NE, window, before, 0));
    k_store(b, x->words, sk_add(lw, sk_add(lw, x->reaches, window), lane), word);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Pieces of the segment at hand that begin in [from, to) of all elements. `first`: nobody has seen it before. */
static void take_pieces(rows *x, const sk_segment *s, uint8_t sweep, bool late, k_val from, k_val to, bool first)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, ROW_PIECE), one = k_i64(b, 1), zero = k_i64(b, 0), base = x->r.row_base;
    k_val skipped = sk_max(lw, zero, sk_sub(lw, from, base));
    k_val at = k_decl(b, k_let(b, OP_QUOT, sk_add(lw, skipped, sk_sub(lw, size, one)), size, 0), "piece");
    k_loop(b);
    k_val piece = k_get(b, at), elements = sk_mul(lw, piece, size), there = k_let(b, OP_LT, elements, s->length, 0);
    k_val more = k_let(b, OP_AND, there, k_let(b, OP_LT, sk_add(lw, base, elements), to, 0), 0);
    k_break_if(b, k_let(b, OP_NOT, more, 0, 0));
    uint32_t mark = sk_scope(lw);
    if (first)
        note(x, s, piece);
    take_piece(x, sweep, late, piece);
    sk_scope_end(lw, mark);
    k_set(b, at, sk_add(lw, piece, one));
    k_end(b);
}

/* --- a block of the first launch --- */

/* A segment of a lane: in lanes that have one which is not short, nothing is left of it. */
static void short_segment(rows *x, const sk_segment *s, bool uneven)
{
    sk_lower *lw = x->r.lw;
    row_lanes lanes = {.r = &x->r, .uneven = uneven};
    uint32_t mark = sk_scope(lw);
    use(x, s, s->length);
    row_by_lanes(&lanes, lw->cluster->loop->sweeps);
    sk_scope_end(lw, mark);
}

static k_val is_short(rows *x, const sk_segment *s)
{
    k_builder *b = &x->r.lw->b;
    return k_let(b, OP_AND, s->good, k_let(b, OP_LE, s->length, k_i64(b, SK_SHORT), 0), 0);
}

static void whole_row(rows *x, const sk_segment *s)
{
    uint32_t mark = sk_scope(x->r.lw);
    use(x, s, s->length);
    row_whole(&x->r);
    sk_scope_end(x->r.lw, mark);
}

/* One of several pieces; what sweeps leave for later ones has room for segments of a limited length. */
static void longer_row(rows *x, const sk_segment *s)
{
    k_builder *b = &x->r.lw->b;
    if (x->r.keeps.n) {
        k_if(b, k_let(b, OP_LE, s->length, k_i64(b, x->kept), 0));
        x->r.keeping = true;
        whole_row(x, s);
        x->r.keeping = false;
        k_else(b);
    }
    whole_row(x, s);
    if (x->r.keeps.n)
        k_end(b);
}

/* One that is the block's own, if it is not short, or has pieces in it. */
static void longer_segment(rows *x, const sk_block *of, const sk_segment *s)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val far = k_let(b, OP_GT, s->length, k_i64(b, FAR), 0), own = k_let(b, OP_GE, s->global, of->first, 0);
    uint32_t mark = sk_scope(lw);
    k_if(b, far);
    use_far(x, s);
    row_bind_cells(&x->r, 0);
    take_pieces(x, s, 0, false, sk_sub(lw, of->work, s->global), sk_sub(lw, of->end, s->global), true);
    sk_scope_end(lw, mark);
    k_else(b);
    k_if(b, k_let(b, OP_AND, own, k_let(b, OP_GT, s->length, k_i64(b, SK_SHORT), 0), 0));
    k_if(b, k_let(b, OP_LE, s->length, k_i64(b, ROW_PIECE), 0));
    mark = sk_scope(lw);
    use(x, s, s->length);
    row_whole_piece(&x->r);
    sk_scope_end(lw, mark);
    k_else(b);
    longer_row(x, s);
    k_end(b);
    k_end(b);
    k_end(b);
}

static void take_alone(rows *x, const sk_block *of, k_val global)
{
    k_builder *b = &x->r.lw->b;
    sk_segment s = sk_find_segment(&x->of, global);
    k_if(b, k_let(b, OP_GE, global, of->first, 0));
    k_for_whole(b, k_i64(b, 1));
    k_if(b, is_short(x, &s));
    short_segment(x, &s, false);
    k_end(b);
    sk_check_unless_fine(&x->of, &s);
    k_end(b);
    k_end(b);
    longer_segment(x, of, &s);
}

/* Segments of one length, at most SK_SHORT, as many as there are lanes. */
static void take_rows(rows *x, const sk_segment *of, bool one_row)
{
    k_builder *b = &x->r.lw->b;
    sk_segment s = sk_gang_row(&x->of, of, k_for_whole(b, k_i64(b, ROW_GANG)), one_row);
    short_segment(x, &s, false);
    k_end(b);
}

static bool asks_for_indices(const rows *x)
{
    bool asks = false;
    for (uint32_t i = 0; i < x->r.part.n; i++)
        asks |= sk_asks_for_indices(x->r.lw, row_terms(&x->r.part.at[i]), x->r.part.at[i].element);
    return asks;
}

/* The block's segments, in gangs that begin at multiples of their number. */
static void take_each(rows *x, const sk_block *part)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), lanes = k_i64(b, ROW_GANG);
    k_val low = k_let(b, OP_QUOT, part->before, lanes, 0);
    k_val high = k_let(b, OP_QUOT, sk_add(lw, part->last, sk_sub(lw, lanes, one)), lanes, 0);
    k_val gang = sk_mul(lw, k_for(b, low, high, false), lanes), begin = sk_max(lw, part->before, gang);
    k_val stop = sk_min(lw, part->last, sk_add(lw, gang, lanes)), done = k_decl(b, begin, "done");
    k_val whole = k_let(b, OP_EQ, sk_sub(lw, stop, begin), lanes, 0);
    k_if(b, k_let(b, OP_AND, whole, k_let(b, OP_GE, begin, part->first, 0), 0));
    sk_segment of = sk_find_segment(&x->of, begin);
    k_if(b, sk_note_gang(&x->of, &of));
    k_if(b, sk_may_be_rows(&x->of, &of, ROW_GANG));
    k_if(b, sk_end_alike(&x->of, &of, ROW_GANG));
    if (asks_for_indices(x)) {
        k_if(b, sk_gang_stays(&x->of, &of, ROW_GANG));
        take_rows(x, &of, true);
        k_else(b);
    }
    take_rows(x, &of, false);
    if (asks_for_indices(x))
        k_end(b);
    k_set(b, done, stop);
    k_end(b);
    k_end(b);
    if (x->brief) {
        k_if(b, k_let(b, OP_NE, k_get(b, done), stop, 0));
        k_if(b, sk_may_be_short(x->brief, &of));
        sk_take_short(x->brief, &of);
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

/* As many segments as a gang has lanes, where a lane is a thread. */
static void take_gang(rows *x, const sk_block *of, k_val begin, k_val count)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), longer = k_decl(b, zero, "longer"), lane = k_for_all(b, count);
    sk_segment s = sk_find_segment(&x->of, sk_add(lw, begin, lane));
    k_set(b, longer, k_count(b, k_let(b, OP_GT, s.length, k_i64(b, SK_SHORT), 0)));
    k_if(b, k_let(b, OP_GE, s.global, of->first, 0));
    k_if(b, is_short(x, &s));
    short_segment(x, &s, true);
    k_end(b);
    sk_check_segment(&x->of, &s);
    k_end(b);
    k_end(b);
    k_if(b, k_let(b, OP_GT, k_get(b, longer), zero, 0));
    k_val i = k_for(b, zero, count, false);
    s = sk_find_segment(&x->of, sk_add(lw, begin, i));
    longer_segment(x, of, &s);
    k_end(b);
    k_end(b);
}

static void take_gangs(rows *x, const sk_block *of)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), lanes = k_i64(b, ROW_GANG);
    k_val some = sk_max(lw, zero, sk_sub(lw, of->last, of->before));
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, some, sk_sub(lw, lanes, one)), lanes, 0);
    k_val done = sk_mul(lw, k_for(b, zero, gangs, false), lanes);
    take_gang(x, of, sk_add(lw, of->before, done), sk_min(lw, lanes, sk_sub(lw, some, done)));
    k_end(b);
}

/* --- blocks of launches for segments that are far too long: a window each --- */

static void take_window(rows *x, uint8_t sweep, bool late)
{
    sk_lower *lw = x->r.lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, FAR), from = sk_mul(lw, k_piece(b), size);
    for (unsigned i = 0; i < 2; i++) {
        k_val at = sk_add(lw, i ? x->begins : x->reaches, k_piece(b)), word = k_load(b, x->words, at);
        uint32_t mark = sk_scope(lw);
        k_if(b, k_let(b, OP_NE, word, k_literal(b, T_U64, 0), 0));
        sk_segment s = sk_find_segment(&x->of, sk_sub(lw, k_convert(b, OP_BITCAST, T_I64, word), k_i64(b, 1)));
        use_far(x, &s);
        know_earlier(x, sweep);
        take_pieces(x, &s, sweep, late, from, sk_add(lw, from, size), false);
        sk_scope_end(lw, mark);
        k_end(b);
    }
}

static k_val pieces_in(rows *x)
{
    k_builder *b = &x->r.lw->b;
    return k_let(b, OP_QUOT, sk_add(x->r.lw, x->r.length, k_i64(b, ROW_PIECE - 1)), k_i64(b, ROW_PIECE), 0);
}

/* The result of a fold from the totals of pieces; it also becomes the first of their words. */
static void join_fold(rows *x, const row_part *p)
{
    row_loop *r = &x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), pieces = pieces_in(x), piece = k_for(b, zero, pieces, false);
    k_val lane = k_for_few(b, one), at = p->ordered ? sk_add(lw, row_slot(r, zero), lane) : lane;
    row_store(r, p, p->ordered ? p->node : p->sums, at, load_words(x, p, sk_add(lw, piece, lane)));
    k_end(b);
    row_fold_piece(r, p, piece, pieces, one);
    k_end(b);
    k_val *total = row_values(r, p);
    row_fold_total(r, p, pieces, total);
    row_finish_fold(r, p, r->row, total);
    lane = k_for_few(b, one);
    store_words(x, p, lane, row_load(r, p, p->cell, lane, NULL));
    k_end(b);
}

/* Totals of pieces become the states before them, which are found from left to right. */
static void join_scan(rows *x, row_part *p)
{
    row_loop *r = &x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1)), *first = row_first_state(r, p);
    k_val *window = row_variables(r, p, first, "window"), *in_window = row_variables(r, p, NULL, "in_window");
    k_val piece = k_for(b, k_i64(b, 0), pieces_in(x), false), at = sk_add(lw, piece, lane);
    k_val *total = load_words(x, p, at), *far = row_get(r, p, window, NULL), *near = row_get(r, p, in_window, NULL);
    row_state_before(r, p, piece, far, near);
    store_words(x, p, at, p->state);
    row_state_after(r, p, piece, far, near, total);
    row_set(r, p, window, far);
    row_set(r, p, in_window, near);
    k_end(b);
    k_end(b);
}

/* Of the segment that a window's note names: what its pieces have left for this sweep becomes results and states. */
static void join_window(rows *x, uint8_t sweep, bool late, bool last)
{
    row_loop *r = &x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val word = k_load(b, x->words, sk_add(lw, x->begins, k_piece(b)));
    uint32_t mark = sk_scope(lw);
    k_if(b, k_let(b, OP_NE, word, k_literal(b, T_U64, 0), 0));
    sk_segment s = sk_find_segment(&x->of, sk_sub(lw, k_convert(b, OP_BITCAST, T_I64, word), k_i64(b, 1)));
    use_far(x, &s);
    know_earlier(x, sweep);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (is_fold_of(&r->part.at[i], sweep, late))
            join_fold(x, &r->part.at[i]);
        else if (is_scan_of(&r->part.at[i], sweep) && !late)
            join_scan(x, &r->part.at[i]);
    if (last) {
        for (uint32_t i = 0; i < r->part.n && late; i++) /* those of the launch before */
            if (is_fold_of(&r->part.at[i], sweep, false)) {
                k_val lane = k_for_few(b, k_i64(b, 1));
                row_store(r, &r->part.at[i], r->part.at[i].cell, lane, load_words(x, &r->part.at[i], lane));
                k_end(b);
            }
        row_bind_cells(r, sweep + 1);
        row_outer_members(r, sweep + 1, true);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- kernels --- */

static bool has(const sk_cluster *c, l_kind kind, unsigned sweep)
{
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].kind == kind && c->loop->op.at[i].sweep == sweep && !c->loop->op.at[i].outer)
            return true;
    return false;
}

static bool is_stage(const sk_cluster *c, unsigned sweep, unsigned stage)
{
    bool folds = has(c, L_FOLD_SEG, sweep), scans = has(c, L_SCAN, sweep);
    switch (stage) {
    case STAGE_EARLY:
        return sweep > 0;
    case STAGE_JOIN:
        return folds || scans;
    case STAGE_LATE:
        return scans;
    default:
        return folds && scans;
    }
}

uint32_t sk_segment_passes(const sk_cluster *c, sk_pass *out)
{
    uint32_t n = 0;
    out[n++] = SK_PASS_LOOP;
    for (unsigned sweep = 0; sweep < c->loop->sweeps; sweep++)
        for (unsigned stage = 0; stage < STAGES; stage++)
            if (is_stage(c, sweep, stage))
                out[n++] = (sk_pass)(SK_PASS_FAR + STAGES * sweep + stage);
    return n;
}

/* Words of all folds and scans. */
static uint32_t number_words(rows *x)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < x->r.part.n; i++) {
        row_part *p = &x->r.part.at[i];
        if (p->op->kind != L_FOLD && p->op->kind != L_SCAN)
            continue;
        p->fold.first = first;
        first += p->n;
    }
    return first;
}

/* slots: those of sk_open_offsets; 3 words of each component, 4 number of the first note, 5 work a block, 6 work */
static void open(rows *x, sk_lower *lw)
{
    k_builder *b = &lw->b;
    x->r.lw = lw;
    x->r.folds = (sk_folds){.lw = lw, .alone = true};
    sk_open(lw, ROW_GANG);
    sk_open_offsets(&x->of, lw);
    x->r.segment = x->of.segment;
    row_find(&x->r);
    row_declare_results(&x->r);
    for (uint32_t i = 0; i < x->r.part.n; i++) {
        row_declare(&x->r, &x->r.part.at[i], true, true);
        x->scans |= x->r.part.at[i].op->kind == L_SCAN;
    }
    if (lw->pass == SK_PASS_LOOP && !lw->options->group)
        x->kept = row_declare_kept(&x->r);
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){.role = SK_STATE, .type = T_U64}));
    x->words = k_global(b, T_U64, true, "totals");
    number_words(x);
    x->words_each = sk_slot(lw, 3, "totals_each");
    x->begins = sk_slot(lw, 4, "first_note");
    k_val elements = sk_sub(lw, sk_slot(lw, 6, "work"), x->of.all);
    k_val windows = sk_add(lw, k_let(b, OP_QUOT, elements, k_i64(b, FAR), 0), k_i64(b, 1));
    x->reaches = sk_add(lw, x->begins, windows);
}

void sk_build_segment_rows(sk_lower *lw)
{
    rows x = {0};
    unsigned far = lw->pass == SK_PASS_LOOP ? 0 : lw->pass - SK_PASS_FAR, stage = far % STAGES;
    uint8_t sweep = (uint8_t)(far / STAGES);
    x.r.brief = lw->pass == SK_PASS_LOOP || stage == STAGE_EARLY || stage == STAGE_LATE;
    open(&x, lw);
    if (lw->pass == SK_PASS_LOOP) {
        sk_check_any_segment(&x.of);
        sk_open_gangs(&x.of, ROW_GANG);
        x.brief = sk_open_short(&x.r, &x.of);
        sk_block of = sk_block_of(&x.of);
        if (lw->options->group)
            take_gangs(&x, &of);
        else
            take_each(&x, &of);
        return;
    }
    bool last = stage == STAGE_JOIN_LATE || !is_stage(lw->cluster, sweep, STAGE_JOIN_LATE);
    if (stage == STAGE_EARLY || stage == STAGE_LATE)
        take_window(&x, sweep, stage == STAGE_LATE);
    else
        join_window(&x, sweep, stage == STAGE_JOIN_LATE, last);
}

/* --- launches --- */

static int64_t components(const sk_cluster *c)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        n += op->kind == L_FOLD_SEG || op->kind == L_SCAN ? ir_info(c->l->ir, op->term)->components : 0;
    }
    return n;
}

bool sk_launch_segment_rows(const sk_call *x, sk_geometry *g)
{
    enum { MOST = 1 << 16, LEAST = 4096, DEAR = 200, OF_GROUP = 8192 };
    int64_t elements = x->rows * x->columns, work = elements + x->rows * x->segments;
    int64_t windows = elements / FAR + 1, share = work / (larger(x->o->workers, 1) * 8) + 1;
    int64_t least = x->c->loop->flops >= DEAR ? LEAST / 16 : LEAST;
    bool far = x->columns > FAR;
    g->slot[0] = x->columns;
    g->slot[1] = x->segments;
    g->slot[2] = x->rows * x->segments;
    g->slot[3] = far ? elements / HALF + 2 : 0;
    g->slot[4] = components(x->c) * g->slot[3];
    g->slot[5] = x->o->group ? OF_GROUP : smaller(MOST, larger(least, share));
    g->slot[6] = work;
    g->state_words = far ? g->slot[4] + 2 * windows : 1;
    g->pieces = x->pass == SK_PASS_LOOP ? pieces_of(work, g->slot[5]) : far ? windows : 0;
    return true;
}
