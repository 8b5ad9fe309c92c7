/* Segment loops (L_CLASS_SEGMENT): rows cut into segments of any lengths. The tree of a segment is that of a row of its
 * length (docs/determinism.md), so no result shows how work is cut.
 *
 * A launch's work is counted in elements and segments together, and cut evenly: a block finds its first segment by
 * binary search in the offsets. It takes the segments that begin in its part of the work, as many at a time as a gang
 * has lanes. Short ones are a lane's, from left to right; longer ones are the whole gang's. Of those longer than a
 * piece of the tree a block takes the pieces that begin in its part, and leaves their totals as words; a second launch
 * combines them. What the offsets say is checked by the block that has the segment: every one has, whatever they are.
 */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

#include "ir/interpret.h"
#include "kernel/launch.h"

/* Totals of pieces: those of a segment of m elements, more than SK_PIECE, are at most m / HALF, so that they may stand
 * from number `begin` / HALF on. Which segment has some is noted where its first element is: one for each SK_PIECE
 * elements, 1 + the segment's number, or 0. */
enum { HALF = SK_PIECE / 2 };

typedef struct segments {
    sk_folds folds;
    sk_lower *lw;
    k_mem **order;            /* memory of operators that keep order */
    ir_id at, offset;         /* a variable, and the offset of this number */
    ir_id segment;            /* the variable of elements that stands for their segment */
    k_val length;             /* of a row */
    k_val count;              /* segments a row */
    k_val all;                /* segments */
    k_val notes;              /* number of the word of the first note */
    k_val row, number, begin; /* of the segment at hand: its row, its number there, where it begins there */
    k_val base;               /* ... and among all elements */
    int64_t shortest;         /* longer segments are a gang's */
    bool alone;               /* one lane is at work */
} segments;

typedef struct segment { /* one of all */
    k_val global, row, number, begin, end, length;
    k_val good; /* it lies in the row; `length` is 0 else */
} segment;

/* --- offsets --- */

static k_val offset(segments *x, k_val number)
{
    k_val value;
    uint32_t mark = sk_scope(x->lw);
    sk_bind(x->lw, x->at, number);
    sk_emit(x->lw, 1, &x->offset, &value);
    sk_scope_end(x->lw, mark);
    return value;
}

/* The row of segment number `global`, and its number there. */
static void split(const segments *x, k_val global, k_val *row, k_val *number)
{
    sk_lower *lw = x->lw;
    bool one = lw->cluster->loop->rank == 1;
    *row = one ? k_i64(&lw->b, 0) : k_let(&lw->b, OP_QUOT, global, sk_max(lw, x->count, k_i64(&lw->b, 1)), 0);
    *number = one ? global : sk_sub(lw, global, sk_mul(lw, *row, x->count));
}

static segment find_segment(segments *x, k_val global)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    segment s = {.global = global};
    split(x, global, &s.row, &s.number);
    s.begin = offset(x, s.number);
    s.end = offset(x, sk_add(lw, s.number, k_i64(b, 1)));
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, s.begin, k_i64(b, 0), 0), k_let(b, OP_LE, s.end, x->length, 0), 0);
    s.good = k_let(b, OP_AND, inside, k_let(b, OP_LE, s.begin, s.end, 0), 0);
    s.length = k_select(b, s.good, sk_sub(lw, s.end, s.begin), k_i64(b, 0));
    return s;
}

/* How much work lies before a segment: elements and segments. */
static k_val work_before(segments *x, k_val global)
{
    sk_lower *lw = x->lw;
    k_val row, number;
    split(x, global, &row, &number);
    return sk_add(lw, sk_add(lw, sk_mul(lw, row, x->length), offset(x, number)), global);
}

/* The first segment with at least so much work before it. */
static k_val search(segments *x, k_val work)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val low = k_decl(b, k_i64(b, 0), "low"), high = k_decl(b, x->all, "high");
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, k_get(b, low), k_get(b, high), 0));
    k_val sum = sk_add(lw, k_get(b, low), k_get(b, high)), middle = k_let(b, OP_SHR, sum, k_i64(b, 1), 0);
    k_if(b, k_let(b, OP_LT, work_before(x, middle), work, 0));
    k_set(b, low, sk_add(lw, middle, k_i64(b, 1)));
    k_else(b);
    k_set(b, high, middle);
    k_end(b);
    k_end(b);
    return k_get(b, low);
}

/* --- checks --- */

static void check(segments *x, uint32_t site, ir_segment_mistake what, k_val holds, k_val number, k_val value,
                  k_val bound)
{
    k_check(&x->lw->b, k_place(site, K_SEGMENT + (uint32_t)what), holds, number, value, bound);
}

static k_val implies(k_builder *b, k_val a, k_val c)
{
    return k_let(b, OP_OR, k_let(b, OP_NOT, a, 0, 0), c, 0);
}

/* For each operation of the loop that has offsets: they are what they should be. */
static void check_segment(segments *x, const segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const l_cluster *loop = lw->cluster->loop;
    k_val zero = k_i64(b, 0), next = sk_add(lw, s->number, k_i64(b, 1));
    k_val begins = implies(b, k_let(b, OP_EQ, s->number, zero, 0), k_let(b, OP_EQ, s->begin, zero, 0));
    k_val last = implies(b, k_let(b, OP_EQ, next, x->count, 0), k_let(b, OP_EQ, s->end, x->length, 0));
    k_val ends = k_let(b, OP_AND, k_let(b, OP_LE, s->end, x->length, 0), last, 0);
    k_val rises = k_let(b, OP_GE, s->end, s->begin, 0);
    for (uint32_t i = 0; i < loop->op.n && lw->options->checks; i++) {
        const ir_node *n = ir_at(lw->l->ir, loop->op.at[i].term);
        if (n->kind != IR_FOLD_SEG && n->kind != IR_SEGMENT_OF)
            continue;
        check(x, n->site, IR_SEGMENTS_BEGIN, begins, s->number, s->begin, zero);
        check(x, n->site, IR_SEGMENT_FALLS, rises, s->number, s->end, s->begin);
        check(x, n->site, IR_SEGMENTS_END, ends, s->number, s->end, x->length);
    }
    for (uint32_t i = 0; i < x->folds.fold.n; i++) /* without a result, so whether it is looked at or not */
        if (!x->folds.fold.at[i].info->seed)
            check(x, ir_at(lw->l->ir, x->folds.fold.at[i].op->term)->site, IR_SEGMENT_EMPTY,
                  k_let(b, OP_NE, s->length, zero, 0), s->number, zero, zero);
}

/* The same, where one comparison says that nothing is wrong. */
static void check_unless_fine(segments *x, const segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), next = sk_add(lw, s->number, k_i64(b, 1));
    k_val end = k_let(b, OP_OR, k_let(b, OP_EQ, s->number, zero, 0), k_let(b, OP_EQ, next, x->count, 0), 0);
    k_val doubt = k_let(b, OP_OR, end, k_let(b, OP_NOT, s->good, 0, 0), 0);
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        if (!x->folds.fold.at[i].info->seed)
            doubt = k_let(b, OP_OR, doubt, k_let(b, OP_EQ, s->length, zero, 0), 0);
    k_if(b, doubt);
    check_segment(x, s);
    k_end(b);
}

/* Without a segment no element is in one. */
static void check_any(segments *x)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const l_cluster *loop = lw->cluster->loop;
    k_val zero = k_i64(b, 0), any = k_let(b, OP_GT, x->count, zero, 0);
    for (uint32_t i = 0; i < loop->op.n && lw->options->checks; i++) {
        const ir_node *n = ir_at(lw->l->ir, loop->op.at[i].term);
        if (n->kind != IR_FOLD_SEG && n->kind != IR_SEGMENT_OF)
            continue;
        k_val lane = k_for_few(b, k_i64(b, 1));
        check(x, n->site, IR_SEGMENTS_END, any, lane, lane, x->length);
        k_end(b);
    }
}

/* --- elements --- */

static void use(segments *x, const segment *s)
{
    sk_lower *lw = x->lw;
    x->row = s->row;
    x->number = s->number;
    x->begin = s->begin;
    x->base = sk_add(lw, sk_mul(lw, s->row, x->length), s->begin);
    lw->element = s->global; /* of failures in the operator */
}

/* Element k of the segment at hand. */
static void bind(void *env, k_val k)
{
    segments *x = env;
    sk_lower *lw = x->lw;
    unsigned rank = lw->cluster->loop->rank;
    k_val linear = sk_add(lw, x->base, k), index[IR_MAX_RANK] = {0};
    lw->element = linear;
    sk_bind(lw, lw->at.linear, linear);
    sk_bind(lw, x->segment, x->number);
    if (rank == 1)
        return;
    sk_row_indices(lw, rank, lw->cluster->loop->shape, x->row, index);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
    sk_bind(lw, lw->at.at[rank - 1], sk_add(lw, x->begin, k));
}

/* --- short segments: a lane each --- */

static void short_segment(segments *x, const segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val zero = k_i64(b, 0), brief = k_let(b, OP_LE, s->length, k_i64(b, x->shortest), 0);
    k_val count = k_select(b, brief, s->length, zero);
    use(x, s);
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
    sk_fold_finish_all(f, s->global, s->global, acc, k_let(b, OP_EQ, s->length, zero, 0));
    k_end(b);
}

/* --- longer ones: the gang goes along them --- */

static sk_fold_part part_of(segments *x, const segment *s, k_val piece)
{
    sk_lower *lw = x->lw;
    k_val size = k_i64(&lw->b, SK_PIECE);
    sk_fold_part p = {.row = s->global, .begin = sk_mul(lw, piece, size)};
    p.count = sk_min(lw, size, sk_sub(lw, s->length, p.begin));
    return p;
}

/* Opens a FOR_ALL; a piece's total comes to lane 0 of the accumulators. */
static k_val open_piece(segments *x, const sk_fold_part *p, k_val **acc[SK_MOST_STREAMS])
{
    sk_folds *f = &x->folds;
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
static void store_piece(segments *x, const sk_fold_part *p)
{
    k_builder *b = &x->lw->b;
    k_val lane = k_for_all(b, p->count);
    sk_fold_element(&x->folds, p->row, sk_add(x->lw, p->begin, lane), k_literal(b, T_BOOL, 0), NULL);
    k_end(b);
}

static void keep_words(segments *x, k_val position, k_val *const *acc)
{
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        for (uint32_t c = 0; c < x->folds.fold.at[i].n; c++)
            sk_store_word(&x->folds, &x->folds.fold.at[i], c, position, k_get(&x->lw->b, acc[i][c]));
}

static k_val first_word(segments *x)
{
    return k_let(&x->lw->b, OP_QUOT, x->base, k_i64(&x->lw->b, HALF), 0);
}

/* What becomes of a piece's total, in lane 0: the result, if the segment has no other piece, else words. */
static void keep_total(segments *x, const segment *s, k_val piece, k_val lane, k_val *const *acc)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, SK_PIECE), one = k_i64(b, 1);
    k_if(b, k_let(b, OP_LT, lane, one, 0));
    k_if(b, k_let(b, OP_LE, s->length, size, 0));
    k_val at = sk_add(lw, s->global, lane);
    sk_fold_finish_all(&x->folds, at, at, acc, 0);
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
static void longer_segment(segments *x, const segment *s, k_val work, k_val end)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    use(x, s);
    k_val size = k_i64(b, SK_PIECE), one = k_i64(b, 1), zero = k_i64(b, 0), before = sk_add(lw, x->base, s->global);
    k_val skipped = sk_max(lw, zero, sk_sub(lw, work, before));
    k_val first = k_let(b, OP_QUOT, sk_add(lw, skipped, sk_sub(lw, size, one)), size, 0);
    k_val at = k_decl(b, first, "piece");
    k_loop(b);
    k_val k = k_get(b, at), elements = sk_mul(lw, k, size), there = k_let(b, OP_LT, elements, s->length, 0);
    k_val more = k_let(b, OP_AND, there, k_let(b, OP_LT, sk_add(lw, before, elements), end, 0), 0);
    k_break_if(b, k_let(b, OP_NOT, more, 0, 0));
    sk_fold_part p = part_of(x, s, k);
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

/* Where a block's part of the work lies. */
typedef struct block {
    k_val work, end;   /* of it */
    k_val first, last; /* segments that begin in it; */
    k_val before;      /* ... and the one before the first, if it may have pieces in it, else the first */
} block;

/* Is a segment longer than a lane's, and are pieces of it the block's? */
static k_val is_longer(segments *x, const block *of, const segment *s)
{
    k_builder *b = &x->lw->b;
    k_val own = k_let(b, OP_GE, s->global, of->first, 0), pieces = k_let(b, OP_GT, s->length, k_i64(b, SK_PIECE), 0);
    k_val longer = k_let(b, OP_GT, s->length, k_i64(b, x->shortest), 0);
    return k_let(b, OP_AND, longer, k_let(b, OP_OR, own, pieces, 0), 0);
}

/* As many segments as a gang has lanes, from number `begin` on. */
static void take_gang(segments *x, const block *of, k_val begin, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), longer = k_decl(b, zero, "longer"), lane = k_for_all(b, count);
    segment s = find_segment(x, sk_add(lw, begin, lane));
    k_set(b, longer, k_count(b, is_longer(x, of, &s)));
    k_if(b, k_let(b, OP_GE, s.global, of->first, 0));
    short_segment(x, &s);
    check_segment(x, &s);
    k_end(b);
    k_end(b);
    k_if(b, k_let(b, OP_GT, k_get(b, longer), zero, 0));
    k_val i = k_for(b, zero, count, false);
    s = find_segment(x, sk_add(lw, begin, i));
    k_if(b, is_longer(x, of, &s));
    longer_segment(x, &s, of->work, of->end);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* A segment by itself: a lane that goes along a short one reads what lies together, where lanes side by side gather. */
static void take_alone(segments *x, const block *of, k_val global)
{
    k_builder *b = &x->lw->b;
    segment s = find_segment(x, global);
    k_if(b, k_let(b, OP_GE, global, of->first, 0));
    x->alone = true;
    k_for_whole(b, k_i64(b, 1));
    short_segment(x, &s);
    check_unless_fine(x, &s);
    k_end(b);
    x->alone = false;
    k_end(b);
    k_if(b, is_longer(x, of, &s));
    longer_segment(x, &s, of->work, of->end);
    k_end(b);
}

/* Segments of one length, at most SK_SHORT, as many as there are lanes, are rows: element j of lane l is read at
 * base + l * length + j, or, where the length is 1, at base + l. */
static void take_rows(segments *x, k_val first, const segment *of, bool ones)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val zero = k_i64(b, 0), lane = k_for_whole(b, k_i64(b, f->tree.lanes));
    segment s = {.global = sk_add(lw, first, lane), .row = of->row, .length = of->length, .good = of->good};
    s.number = sk_add(lw, of->number, lane);
    s.begin = sk_add(lw, of->begin, ones ? lane : sk_mul(lw, lane, of->length));
    use(x, &s);
    k_val **acc = sk_fold_accumulators(f);
    k_val j = ones ? zero : k_for(b, zero, of->length, false);
    sk_fold_element(f, s.global, j, ones ? k_literal(b, T_BOOL, 0) : k_let(b, OP_GT, j, zero, 0), acc);
    if (!ones)
        k_end(b);
    lw->element = s.global;
    sk_fold_settle(f, s.global, zero, 0, of->length, acc);
    sk_fold_finish_all(f, s.global, s.global, acc, 0);
    k_end(b);
}

/* Do the segments behind `of`, as many as there are lanes with it, end where segments of its length do? */
static k_val end_alike(segments *x, const segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), lanes = k_i64(b, x->folds.tree.lanes);
    k_val alike = k_decl(b, k_i64(b, 0), "alike"), lane = k_for_whole(b, lanes), next = sk_add(lw, lane, one);
    k_val end = sk_add(lw, of->begin, sk_mul(lw, next, of->length));
    k_set(b, alike, k_count(b, k_let(b, OP_EQ, offset(x, sk_add(lw, of->number, next)), end, 0)));
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, alike), lanes, 0);
}

/* May a gang of segments, of which this is the first, be rows: short ones, neither the first nor the last of their row?
 */
static k_val may_be_rows(segments *x, const segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), lanes = k_i64(b, x->folds.tree.lanes);
    k_val brief =
        k_let(b, OP_AND, k_let(b, OP_GE, of->length, one, 0), k_let(b, OP_LE, of->length, k_i64(b, SK_SHORT), 0), 0);
    k_val inner = k_let(b, OP_AND, k_let(b, OP_GT, of->number, k_i64(b, 0), 0),
                        k_let(b, OP_LT, sk_add(lw, of->number, lanes), x->count, 0), 0);
    k_val last = sk_add(lw, of->begin, sk_mul(lw, of->length, lanes));
    return k_let(b, OP_AND, k_let(b, OP_AND, brief, inner, 0), k_let(b, OP_LE, last, x->length, 0), 0);
}

/* The block's segments, in gangs whose results begin at multiples of their number. */
static void take_each(segments *x, const block *part)
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
    segment of = find_segment(x, begin);
    k_if(b, may_be_rows(x, &of));
    k_if(b, end_alike(x, &of));
    k_if(b, k_let(b, OP_EQ, of.length, one, 0));
    take_rows(x, begin, &of, true);
    k_else(b);
    take_rows(x, begin, &of, false);
    k_end(b);
    k_set(b, done, stop);
    k_end(b);
    k_end(b);
    k_end(b);
    take_alone(x, part, k_for(b, k_get(b, done), stop, false));
    k_end(b);
    k_end(b);
}

static void take_gangs(segments *x, const block *of)
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

/* Does each component of the operator combine its own two values, so that any order gives the same? */
static bool in_any_order(const segments *x)
{
    const ir_program *p = x->lw->l->ir;
    for (uint32_t i = 0; i < x->folds.fold.n; i++) {
        const sk_fold *f = &x->folds.fold.at[i];
        for (uint32_t c = 0; c < f->n; c++) {
            const ir_node *r = ir_at(p, f->info->fn->result[c]);
            const ir_id *arg = r->kind == IR_OP && r->n == 2 ? ir_args(p, f->info->fn->result[c]) : NULL;
            ir_id left = f->info->fn->param[c], right = f->info->fn->param[f->n + c];
            bool own = arg && ((arg[0] == left && arg[1] == right) || (arg[0] == right && arg[1] == left));
            bool exact = own && (r->op == OP_ADD || r->op == OP_MIN || r->op == OP_MAX);
            if (!exact || ir_type_float((ir_type)r->type)) /* extremes of floats are looked for once more */
                return false;
        }
    }
    return x->folds.fold.n > 0;
}

/* slots: 0 row length, 1 segments a row, 2 segments, 3 words of each component, 4 number of the first note, 5 work a
 * block, 6 work */
static void open_segments(segments *x, sk_lower *lw)
{
    k_builder *b = &lw->b;
    x->lw = lw;
    x->folds.lw = lw;
    x->folds.tree = sk_tree_of(lw->cluster->wide);
    x->folds.bind = bind;
    x->folds.bind_env = x;
    sk_open(lw, (uint16_t)x->folds.tree.lanes);
    ir_program *p = lw->l->ir;
    const l_cluster *loop = lw->cluster->loop;
    x->at = ir_var(p, T_I64);
    x->segment = ir_var(p, T_I64);
    sk_note_inside(&lw->body.facts, lw->arena, x->segment, loop->segment_count);
    for (uint32_t i = 0; i < loop->op.n; i++)
        if (ir_at(p, loop->op.at[i].term)->kind == IR_SEGMENT_OF)
            sk_give(&lw->body, loop->op.at[i].term, &x->segment);
    sk_index at = {.rank = 1, .at = {x->at}, .linear = x->at};
    x->offset = *sk_pull(&lw->body, loop->segments, &at);
    bool folds = false;
    for (uint32_t i = 0; i < loop->op.n; i++)
        folds |= loop->op.at[i].kind == L_FOLD_SEG;
    if (folds) {
        vec_push(lw->arena, &lw->out->memory, ((sk_binding){.role = SK_STATE, .type = T_U64}));
        x->folds.words = k_global(b, T_U64, true, "totals");
        x->folds.words_each = sk_slot(lw, 3, "totals_each");
        x->notes = sk_slot(lw, 4, "first_note");
    }
    sk_fold_find(&x->folds);
    if (loop->ordered)
        x->order = sk_fold_order_memory(&x->folds);
    enum { FEW = 8 }; /* elements that a lane adds up while a gang is set to work */
    x->shortest = in_any_order(x) && !loop->ordered && !lw->options->group ? FEW : SK_SHORT;
    x->length = sk_slot(lw, 0, "row_length");
    x->count = sk_slot(lw, 1, "segments");
    x->all = sk_slot(lw, 2, "all_segments");
}

void sk_build_segments(sk_lower *lw)
{
    segments x = {0};
    open_segments(&x, lw);
    sk_find_extremes(&x.folds);
    k_builder *b = &lw->b;
    k_val size = sk_slot(lw, 5, "work_a_block"), total = sk_slot(lw, 6, "work"), zero = k_i64(b, 0);
    block of = {.work = sk_mul(lw, k_piece(b), size)};
    of.end = sk_add(lw, of.work, size);
    check_any(&x);
    k_val last = k_decl(b, x.all, "last"), first = k_decl(b, zero, "first"), before = k_decl(b, zero, "before");
    k_if(b, k_let(b, OP_LT, of.end, total, 0));
    k_set(b, last, search(&x, of.end));
    k_end(b);
    k_if(b, k_let(b, OP_GT, of.work, zero, 0));
    k_val found = search(&x, of.work);
    k_set(b, first, found);
    k_set(b, before, sk_max(lw, zero, sk_sub(lw, found, k_i64(b, 1))));
    k_end(b);
    of.first = k_get(b, first);
    of.last = k_get(b, last);
    of.before = k_get(b, before);
    if (lw->options->group)
        take_gangs(&x, &of);
    else
        take_each(&x, &of);
}

/* --- totals of long segments --- */

/* Words [0, count) of the segment, from left to right. */
static void left_to_right(segments *x, k_val first, k_val count)
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
static void next_level(segments *x, k_val count, k_val pieces)
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

static k_val pieces_in(segments *x, k_val count)
{
    k_builder *b = &x->lw->b;
    return k_let(b, OP_QUOT, sk_add(x->lw, count, k_i64(b, SK_PIECE - 1)), k_i64(b, SK_PIECE), 0);
}

static void join(segments *x, k_val note)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1);
    segment s = find_segment(x, sk_sub(lw, k_convert(b, OP_BITCAST, T_I64, note), one));
    use(x, &s);
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
    sk_fold_finish_all(&x->folds, at, at, acc, 0);
    k_end(b);
}

static void bind_word(void *env, k_val k)
{
    segments *x = env;
    x->lw->element = sk_add(x->lw, x->base, k);
}

/* slots besides those of open_segments: 5 notes a block, 6 notes */
void sk_build_segments_join(sk_lower *lw)
{
    segments x = {.folds.combine = true};
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
    g->state_words = components ? larger(1, g->slot[4] + notes) : 0;
}

bool sk_launch_segments(const sk_call *x, sk_geometry *g)
{
    enum { MOST = 1 << 18, LEAST = 4096, DEAR = 200, OF_GROUP = 8192 };
    if (x->pass != SK_PASS_LOOP)
        return false;
    set_words(x, g);
    int64_t work = x->rows * (x->columns + x->segments), share = work / (larger(x->o->workers, 1) * 8) + 1;
    int64_t least = x->c->loop->flops >= DEAR ? LEAST / 16 : LEAST;
    g->slot[5] = x->o->group ? OF_GROUP : smaller(MOST, larger(least, share));
    g->slot[6] = work;
    g->pieces = pieces_of(work, g->slot[5]);
    return true;
}

bool sk_launch_segments_join(const sk_call *x, sk_geometry *g)
{
    enum { SOME = 512 };
    if (x->pass != SK_PASS_JOIN)
        return false;
    set_words(x, g);
    g->slot[5] = SOME;
    g->pieces = pieces_of(g->slot[6], SOME);
    return true;
}
