/* Segments of different lengths, as many as a gang has lanes, none longer than SK_MIXED: without a branch that depends
 * on a segment's length, which a processor would guess wrong once a segment.
 *
 *  1. Elements that take more than a load are computed one behind the other, as in a loop without segments, into a
 *     buffer in shared memory; row by row where they ask for indices.
 *  2. Segment by segment, a gang goes through the tree of longer ones, if there are any. Greatest and least floats are
 *     found by one comparison each (fold_extreme.c); if a total is one that this does not settle, as a zero, the gang's
 *     segments go through the tree again, and those of the block's other gangs at once, without such comparisons.
 *  3. Lanes are segments: short ones go from left to right, masked by their length.
 *
 * A segment takes both ways, and its length says which result counts. Offsets have been found to be right before. */
#include "skeleton/segment/segment.h"

#include "skeleton/extents.h"

enum { AHEAD = 1024 }; /* elements: the next gang's, which are not looked at while lanes are segments */
enum { STEP = 4, SIZES = SK_SHORT / STEP + 1, LONGER = SIZES - 2, LONGEST = SIZES - 1 };

/* Lengths that decide what is done, of all segments at hand: how far lanes go, and whether there is a tree, and which.
 */
static int64_t size_of(unsigned i)
{
    return i == LONGEST ? SK_MIXED / 2 : STEP * (i + 1);
}

typedef struct sk_mixed {
    sk_fold *plain; /* the folds before extremes were looked for in another way; */
    sk_fold *quick; /* ... and those that are; NULL: there are none */
    k_val exactly;  /* a variable, not 0: segments of the block have needed the first ones */
    VEC(ir_id) term;
    VEC(ir_type) type;
    bool numbered; /* what is not direct uses the number of its segment */
    bool *direct;  /* per term: little more than a load, computed where needed, and behind a segment, too */
    bool some_direct;
    bool by_row;       /* what is not direct asks for indices: it is computed row by row */
    VEC(ir_id) extent; /* closed terms: all segments at hand must have numbers below */
    int64_t most;      /* elements of a segment: of operators that keep order, or may fail, there is no tree here */
    k_val over[SIZES]; /* how many of the segments at hand have more than so many elements */
    k_mem *element;    /* per term that is not direct */
    k_mem **total;     /* per fold and component */
    k_mem number;
} sk_mixed;

/* --- opening --- */

static void find_terms(sk_segments *x, sk_mixed *m)
{
    sk_lower *lw = x->lw;
    for (uint32_t i = 0; i < x->folds.fold.n; i++) {
        const sk_fold *f = &x->folds.fold.at[i];
        const ir_id *element = f->fused_product ? ir_args(lw->l->ir, f->element[0]) : f->element;
        for (uint32_t c = 0; c < sk_fold_terms(f); c++) {
            vec_push(lw->arena, &m->term, element[c]);
            vec_push(lw->arena, &m->type, (ir_type)ir_at(lw->l->ir, element[c])->type);
        }
    }
}

static sk_fold *copy_of_folds(const sk_segments *x)
{
    arena *a = x->lw->arena;
    const sk_folds *f = &x->folds;
    sk_fold *copy = arena_copy(a, f->fold.at, f->fold.n * sizeof *copy);
    for (uint32_t i = 0; i < f->fold.n; i++)
        if (copy[i].identity)
            copy[i].identity = arena_copy(a, copy[i].identity, copy[i].n * sizeof *copy[i].identity);
    return copy;
}

/* The term without checks that the number of a segment is below extents, which are noted: they are made for a gang's
 * segments together. 0: it is not one of reads and operations. */
static ir_id without_checks(sk_segments *x, sk_mixed *m, ir_id term)
{
    enum { MOST = 4 };
    ir_program *p = x->lw->l->ir;
    ir_node n = *ir_at(p, term);
    ir_id in[MOST];
    if (!n.partial || n.n > MOST)
        return n.partial ? 0 : term;
    memcpy(in, ir_args(p, term), n.n * sizeof *in);
    if (n.kind == IR_WITHIN && in[0] == x->of.segment) {
        unsigned dimension = (unsigned)(n.u.literal & IR_WHOLE);
        ir_id extent = dimension == IR_WHOLE ? ir_size(p, n.array) : ir_info(p, n.array)->shape[dimension];
        vec_push(x->lw->arena, &m->extent, extent);
        return in[0];
    }
    for (uint32_t i = 0; i < n.n; i++)
        if (!(in[i] = without_checks(x, m, in[i])))
            return 0;
    if (n.kind == IR_READ && n.flags & IR_SAFE)
        return ir_read(p, 0, n.array, (uint32_t)n.u.literal, n.flags | IR_STORED, n.n, in);
    if (n.kind != IR_OP || n.n > 2)
        return 0;
    return n.n == 1 ? ir_op1(p, 0, (ir_op)n.op, in[0]) : ir_op2(p, 0, (ir_op)n.op, in[0], in[1]);
}

/* What asks for its place in the row is not read behind it: it may be the same in all rows, and end there. */
static bool find_direct(sk_segments *x, sk_mixed *m, uint32_t i)
{
    sk_lower *lw = x->lw;
    uint32_t before = m->extent.n, rank = lw->cluster->loop->rank;
    ir_id term = without_checks(x, m, m->term.at[i]);
    bool placed = term && rank > 1 && sk_mentions(lw, 1, &term, lw->at.at[rank - 1]);
    if (term && !placed && sk_is_direct(lw, term, x->of.segment)) {
        m->term.at[i] = term;
        return true;
    }
    m->extent.n = before;
    return false;
}

/* Where what is computed into the buffer uses what belongs to its segment, a gang along a segment is better from
 * SK_SHORT elements on; for operators that keep order there is no tree here. */
static int64_t most_elements(const sk_segments *x, const sk_mixed *m)
{
    return m->numbered || x->lw->cluster->loop->ordered ? SK_SHORT : SK_MIXED;
}

/* Does what is not direct use the variable? */
static bool uses(sk_segments *x, const sk_mixed *m, ir_id variable)
{
    sk_lower *lw = x->lw;
    const sk_outputs *stored = &x->folds.stored;
    for (uint32_t i = 0; i < m->term.n; i++)
        if (!m->direct[i] && sk_mentions(lw, 1, &m->term.at[i], variable))
            return true;
    return sk_mentions(lw, stored->term.n, stored->term.at, variable);
}

static bool asks_for_indices(sk_segments *x, const sk_mixed *m)
{
    sk_lower *lw = x->lw;
    bool asks = false;
    for (unsigned d = 0; d < lw->cluster->loop->rank && lw->cluster->loop->rank > 1; d++)
        asks |= uses(x, m, lw->at.at[d]);
    return asks;
}

bool sk_open_mixed(sk_segments *x)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    int64_t lanes = f->tree.lanes;
    sk_fold *plain = f->fold.n ? copy_of_folds(x) : NULL;
    sk_find_extremes(f);
    if (!f->fold.n || lw->options->group || !lw->options->vector_bytes)
        return false;
    for (uint32_t i = 0; i < f->fold.n; i++)
        if (!sk_fold_harmless(lw, &f->fold.at[i]))
            return false;
    sk_mixed *m = arena_new(lw->arena, *m);
    m->plain = plain;
    for (uint32_t i = 0; i < f->fold.n; i++)
        m->quick = f->fold.at[i].extreme ? f->fold.at : m->quick;
    m->exactly = m->quick ? k_decl(b, k_i64(b, 0), "exactly") : 0;
    find_terms(x, m);
    m->direct = arena_array(lw->arena, *m->direct, m->term.n);
    m->element = arena_array(lw->arena, *m->element, m->term.n);
    for (uint32_t i = 0; i < m->term.n; i++) {
        m->direct[i] = find_direct(x, m, i);
        m->some_direct |= m->direct[i];
    }
    m->numbered = uses(x, m, x->of.segment);
    m->by_row = asks_for_indices(x, m);
    m->most = most_elements(x, m);
    for (uint32_t i = 0; i < m->term.n; i++)
        m->element[i] = m->direct[i] ? 0 : k_shared(b, m->type.at[i], (lanes + 1) * m->most, "element");
    m->total = sk_fold_memory(f, true, lanes, "total");
    m->number = m->numbered ? k_shared(b, T_I64, (lanes + 1) * m->most, "number") : 0;
    x->mixed = m;
    return true;
}

/* --- may they be taken so? --- */

static k_val edge_of(sk_segments *x, const sk_segment *of, k_val lane)
{
    return sk_gang_edge(&x->of, of, lane);
}

/* What must hold of a gang before its segments are looked at. */
static k_val may_be_inner(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val all = k_i64(b, x->folds.tree.lanes), behind = sk_add(lw, of->number, all), inner;
    if (!x->of.gangs)
        inner =
            k_let(b, OP_AND, k_let(b, OP_GT, of->number, k_i64(b, 0), 0), k_let(b, OP_LT, behind, x->of.count, 0), 0);
    else
        inner = k_literal(b, T_BOOL, 1);
    for (uint32_t i = 0; i < x->mixed->extent.n; i++) {
        k_val extent = sk_closed(lw, x->mixed->extent.at[i]);
        inner = k_let(b, OP_AND, inner, k_let(b, OP_LE, sk_min(lw, behind, x->of.count), extent, 0), 0);
    }
    return inner;
}

/* Where segments must end: what is read directly is read beyond that, among all elements. */
static k_val ends_early(sk_segments *x, k_val end)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val beyond = k_i64(b, x->mixed->some_direct ? x->mixed->most : 0);
    if (!x->of.gangs)
        return k_let(b, OP_LE, end, sk_sub(lw, x->of.length, beyond), 0);
    return k_let(b, OP_LE, sk_add(lw, end, beyond), sk_sub(lw, sk_slot(lw, 6, "work"), x->of.all), 0);
}

k_val sk_may_be_mixed(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val all = k_i64(b, x->folds.tree.lanes), zero = k_i64(b, 0), one = k_i64(b, 1), fine = k_decl(b, zero, "fine");
    for (unsigned i = 0; i < SIZES; i++)
        x->mixed->over[i] = k_decl(b, zero, "over");
    k_if(b, may_be_inner(x, of));
    k_val lane = k_for_whole(b, all), begin = edge_of(x, of, lane), end = edge_of(x, of, sk_add(lw, lane, one));
    k_val length = sk_sub(lw, end, begin), least = k_i64(b, x->of.filled.n ? 1 : 0);
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, begin, zero, 0), ends_early(x, end), 0);
    k_val brief =
        k_let(b, OP_AND, k_let(b, OP_GE, length, least, 0), k_let(b, OP_LE, length, k_i64(b, x->mixed->most), 0), 0);
    k_set(b, fine, k_count(b, k_let(b, OP_AND, inside, brief, 0)));
    k_val small = k_convert(b, OP_CONVERT, T_I16, length);
    for (unsigned i = 0; i < SIZES; i++) {
        k_val limit = k_literal(b, T_I16, (ir_bits)size_of(i));
        k_set(b, x->mixed->over[i], k_count(b, k_let(b, OP_GT, small, limit, 0)));
    }
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, fine), all, 0);
}

/* Are there segments of more than size_of(i) elements? */
static k_val some_over(sk_segments *x, unsigned i)
{
    k_builder *b = &x->lw->b;
    return k_let(b, OP_GT, k_get(b, x->mixed->over[i]), k_i64(b, 0), 0);
}

/* --- elements --- */

static void number_elements(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val s = k_for(b, k_i64(b, 0), k_i64(b, x->folds.tree.lanes), false);
    k_val at = sk_sub(lw, edge_of(x, of, s), of->base), row, number;
    sk_gang_place(&x->of, of, s, &row, &number);
    /* what lies behind the segment is the next one's, which comes later */
    k_val lane = k_for_whole(b, k_i64(b, x->mixed->most));
    k_store(b, x->mixed->number, sk_add(lw, at, lane), sk_add(lw, number, sk_sub(lw, lane, lane)));
    k_end(b);
    k_end(b);
}

/* `count` elements from number `first` (0: the first one) of the segments at hand on, which is where `s` begins; they
 * lie in its row if any asks for indices. */
static void compute_stretch(sk_segments *x, const sk_segment *s, k_val first, k_val count)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const sk_mixed *m = x->mixed;
    const sk_outputs *stored = &x->folds.stored;
    VEC(ir_id) term = {0};
    VEC(k_mem) memory = {0};
    for (uint32_t i = 0; i < m->term.n; i++)
        if (!m->direct[i]) {
            vec_push(lw->arena, &term, m->term.at[i]);
            vec_push(lw->arena, &memory, m->element[i]);
        }
    uint32_t elements = term.n;
    for (uint32_t i = 0; i < stored->term.n; i++)
        vec_push(lw->arena, &term, stored->term.at[i]);
    k_val *value = arena_array(lw->arena, *value, term.n), k = k_for_all(b, count);
    k_val at = first ? sk_add(lw, first, k) : k;
    uint32_t mark = sk_scope(lw);
    sk_use_segment(x, s);
    if (m->numbered)
        x->number = k_load(b, m->number, at);
    x->folds.bind(x, k);
    sk_fetch(lw, m->term.n, m->term.at, &lw->at, k_i64(b, AHEAD), k_i64(b, 0));
    sk_emit(lw, term.n, term.at, value);
    for (uint32_t i = 0; i < elements; i++)
        k_store(b, memory.at[i], at, value[i]);
    for (uint32_t i = 0; i < stored->term.n; i++)
        sk_fold_leave(&x->folds, i, value[elements + i]);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void compute_elements(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const sk_mixed *m = x->mixed;
    bool any = x->folds.stored.term.n > 0;
    for (uint32_t i = 0; i < m->term.n; i++)
        any |= !m->direct[i];
    if (m->numbered)
        number_elements(x, of);
    if (!any)
        return;
    k_val one = k_i64(b, 1), last = k_i64(b, x->folds.tree.lanes - 1), end = edge_of(x, of, sk_add(lw, last, one));
    if (!m->by_row) {
        compute_stretch(x, of, 0, sk_sub(lw, end, of->base));
        return;
    }
    k_val last_row, number;
    sk_gang_place(&x->of, of, last, &last_row, &number);
    sk_segment s = *of;
    s.row = k_for(b, of->row, sk_add(lw, last_row, one), false);
    k_val begins = sk_mul(lw, s.row, x->of.length), ends = sk_add(lw, begins, x->of.length);
    s.base = sk_max(lw, of->base, begins);
    s.begin = sk_sub(lw, s.base, begins);
    compute_stretch(x, &s, sk_sub(lw, s.base, of->base), sk_sub(lw, sk_min(lw, end, ends), s.base));
    k_end(b);
}

/* The terms of element `at` of the segments at hand, which belongs to that of lane `s`, or lies behind it. `ahead`:
 * what is read directly is fetched for a gang to come. */
static k_val *element(sk_segments *x, const sk_segment *of, k_val s, k_val at, bool ahead)
{
    sk_lower *lw = x->lw;
    const sk_mixed *m = x->mixed;
    k_val *value = arena_array(lw->arena, *value, m->term.n);
    uint32_t mark = sk_scope(lw);
    if (m->some_direct) {
        sk_use_segment(x, of);
        sk_gang_place(&x->of, of, s, &x->row, &x->number);
        x->begin = sk_sub(lw, of->base, sk_mul(lw, x->row, x->of.length));
        x->folds.bind(x, at);
    }
    for (uint32_t i = 0; i < m->term.n && ahead; i++)
        if (m->direct[i])
            sk_fetch(lw, 1, &m->term.at[i], &lw->at, k_i64(&lw->b, AHEAD), k_i64(&lw->b, 0));
    for (uint32_t i = 0; i < m->term.n; i++)
        if (m->direct[i])
            sk_emit(lw, 1, &m->term.at[i], &value[i]);
        else
            value[i] = k_load(&lw->b, m->element[i], at);
    sk_scope_end(lw, mark);
    return value;
}

/* --- the tree --- */

/* An element goes into the accumulators. */
static void take(sk_segments *x, const k_val *value, k_val has, k_val started, k_val *const *acc)
{
    k_builder *b = &x->lw->b;
    if (has)
        k_if(b, has);
    for (uint32_t i = 0; i < x->folds.fold.n; i++) {
        const sk_fold *f = &x->folds.fold.at[i];
        sk_fold_take(&x->folds, f, value, started, acc[i]);
        value += sk_fold_terms(f);
    }
    if (has)
        k_end(b);
}

/* acc (+)= what is `distance` lanes further on */
static void halve(sk_segments *x, int64_t distance, k_val *const *acc)
{
    k_builder *b = &x->lw->b;
    k_val **right = sk_fold_accumulators(&x->folds);
    for (uint32_t i = 0; i < x->folds.fold.n; i++)
        for (uint32_t c = 0; c < x->folds.fold.at[i].n; c++)
            k_set(b, right[i][c], k_shuffle(b, k_get(b, acc[i][c]), distance));
    sk_fold_merge(&x->folds, acc, right, 0);
}

/* A segment by a gang, of which only lane 0 is looked at, and only if the segment is long enough. */
static void go_through_tree(sk_segments *x, const sk_segment *of, k_val at, k_val length, k_val s, int64_t most)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    const int64_t lanes = f->tree.lanes, groups = most / lanes;
    k_val lane = k_for_whole(b, k_i64(b, lanes)), **acc[SK_MOST_STREAMS];
    for (int64_t t = 0; t < groups; t++) {
        k_val within = sk_add(lw, lane, k_i64(b, t * lanes));
        k_val *value = element(x, of, s, sk_add(lw, at, within), true);
        acc[t] = sk_fold_accumulators(f);
        take(x, value, t * lanes < SK_SHORT ? 0 : k_let(b, OP_LT, within, length, 0), k_literal(b, T_BOOL, 0), acc[t]);
    }
    sk_fold_streams(f, lane, groups, f->neutral ? 0 : length, acc);
    for (int64_t distance = lanes / 2; distance; distance /= 2)
        halve(x, distance, acc[0]);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    sk_fold_keep(f, x->mixed->total, sk_add(lw, s, lane), acc[0]);
    k_end(b);
    k_end(b);
}

/* Those of more than SK_SHORT elements count. */
static void all_through_tree(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val longest = some_over(x, LONGEST);
    k_val s = k_for(b, k_i64(b, 0), k_i64(b, x->folds.tree.lanes), false), begin = edge_of(x, of, s);
    k_val length = sk_sub(lw, edge_of(x, of, sk_add(lw, s, k_i64(b, 1))), begin), at = sk_sub(lw, begin, of->base);
    k_if(b, longest);
    go_through_tree(x, of, at, length, s, SK_MIXED);
    k_else(b);
    go_through_tree(x, of, at, length, s, SK_MIXED / 2);
    k_end(b);
    k_end(b);
}

/* Is there a total that comparisons have not settled? */
static void note_unsettled(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    k_val lane = k_for_whole(b, k_i64(b, f->tree.lanes)), begin = edge_of(x, of, lane);
    k_val length = sk_sub(lw, edge_of(x, of, sk_add(lw, lane, k_i64(b, 1))), begin);
    k_val **total = sk_fold_kept(f, x->mixed->total, lane), unsettled = k_literal(b, T_BOOL, 0);
    for (uint32_t i = 0; i < f->fold.n; i++)
        for (uint32_t c = 0; c < f->fold.at[i].n; c++)
            if (f->fold.at[i].extreme >> c & 1) {
                k_val is = sk_fold_is_unsettled(f, &f->fold.at[i], c, k_get(b, total[i][c]));
                unsettled = k_let(b, OP_OR, unsettled, is, 0);
            }
    unsettled = k_let(b, OP_AND, unsettled, k_let(b, OP_GT, length, k_i64(b, SK_SHORT), 0), 0);
    k_set(b, x->mixed->exactly, k_count(b, unsettled));
    k_end(b);
}

static void longer_segments(sk_segments *x, const sk_segment *of)
{
    k_builder *b = &x->lw->b;
    const sk_mixed *m = x->mixed;
    k_if(b, some_over(x, LONGER));
    if (m->quick) {
        k_if(b, k_let(b, OP_EQ, k_get(b, m->exactly), k_i64(b, 0), 0));
        x->folds.fold.at = m->quick;
        all_through_tree(x, of);
        note_unsettled(x, of);
        x->folds.fold.at = m->plain;
        k_end(b);
        k_if(b, k_let(b, OP_NE, k_get(b, m->exactly), k_i64(b, 0), 0));
    }
    all_through_tree(x, of);
    if (m->quick)
        k_end(b);
    k_end(b);
}

/* --- lanes are segments --- */

/* As far as the longest segment that goes so; what lies behind a lane's own is not looked at. */
static void left_to_right(sk_segments *x, const sk_segment *of, k_val begin, k_val length, k_val most, k_val lane,
                          k_val *const *acc)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val few = k_convert(b, OP_CONVERT, T_I32, length);
    k_val first = sk_sub(lw, begin, of->base), j = k_for(b, k_i64(b, 0), most, false);
    k_val *value = element(x, of, lane, sk_add(lw, first, j), false);
    take(x, value, k_let(b, OP_LT, k_convert(b, OP_CONVERT, T_I32, j), few, 0), k_let(b, OP_GT, j, k_i64(b, 0), 0),
         acc);
    k_end(b);
}

static void choose(sk_segments *x, k_val longer, k_val lane, k_val *const *acc)
{
    k_builder *b = &x->lw->b;
    sk_folds *f = &x->folds;
    k_val **total = sk_fold_kept(f, x->mixed->total, lane);
    for (uint32_t i = 0; i < f->fold.n; i++)
        for (uint32_t c = 0; c < f->fold.at[i].n; c++)
            k_set(b, acc[i][c], k_select(b, longer, k_get(b, total[i][c]), k_get(b, acc[i][c])));
}

void sk_take_mixed(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_folds *f = &x->folds;
    sk_fold *with_extremes = f->fold.at;
    f->fold.at = x->mixed->plain;
    compute_elements(x, of);
    if (x->mixed->most > SK_SHORT)
        longer_segments(x, of);
    k_val most = k_i64(b, SK_SHORT);
    for (unsigned i = LONGER; i-- > 0;)
        most = k_select(b, some_over(x, i), most, k_i64(b, size_of(i)));
    k_val all_longer = k_let(b, OP_GE, k_get(b, x->mixed->over[LONGER]), k_i64(b, f->tree.lanes), 0);
    most = k_select(b, all_longer, k_i64(b, 0), most);
    k_val some = some_over(x, LONGER), lane = k_for_whole(b, k_i64(b, f->tree.lanes)), begin = edge_of(x, of, lane);
    k_val length = sk_sub(lw, edge_of(x, of, sk_add(lw, lane, k_i64(b, 1))), begin), **acc = sk_fold_accumulators(f);
    left_to_right(x, of, begin, length, most, lane, acc);
    if (x->mixed->most > SK_SHORT) {
        k_if(b, some);
        choose(x, k_let(b, OP_GT, length, k_i64(b, SK_SHORT), 0), lane, acc);
        k_end(b);
    }
    k_val row, number;
    sk_gang_place(&x->of, of, lane, &row, &number);
    lw->element = sk_add(lw, of->global, lane);
    sk_finish_segment(x, row, number, lw->element, acc, k_let(b, OP_EQ, length, k_i64(b, 0), 0));
    k_end(b);
    f->fold.at = with_extremes;
}
