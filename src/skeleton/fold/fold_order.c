/* Folds whose operators keep order: the balanced tree over the positions of a row. A gang takes several vectors of
 * neighbouring elements. Two vectors of nodes become one of nodes twice as wide: lanes that differ in one bit of their
 * number exchange what they hold, so that neighbours meet, and this bit tells from then on which of the two vectors a
 * node comes from. Each level of the tree takes the next bit; with the last one all bits stand for positions again, in
 * their order. Vectors that wait for their right neighbour stand on a stack, one for each level. */
#include "skeleton/fold/fold.h"

enum { ROUNDS_LOG = 5, ROUNDS = SK_PIECE / SK_ACCUMULATORS }; /* rounds of a piece */

typedef struct order {
    sk_folds *s;
    const sk_fold_part *p;
    k_val lane, number;              /* the same as an i32 */
    bool whole;                      /* the piece has all its elements */
    unsigned lane_bits, vector_bits; /* log2 of lanes, and of the vectors of a round */
    k_mem **stack;
    k_val **acc[SK_MOST_STREAMS];
} order;

/* Position of the node in each lane of a vector of level `level`, from the vector's first one on: the lane's number
 * with its bits in the order of positions. */
static k_val position_in(const order *o, unsigned level)
{
    sk_lower *lw = o->s->lw;
    k_builder *b = &lw->b;
    unsigned turned = level % o->lane_bits;
    k_val low = k_let(b, OP_SHR, o->number, k_literal(b, T_I32, turned), 0);
    k_val high = k_let(b, OP_SHL, o->number, k_literal(b, T_I32, o->lane_bits - turned), 0);
    k_val all = k_literal(b, T_I32, (ir_bits)o->s->tree.lanes - 1);
    k_val number = k_let(b, OP_BIT_AND, k_let(b, OP_BIT_OR, low, high, 0), all, 0);
    return k_let(b, OP_SHL, number, k_literal(b, T_I32, level), 0);
}

/* Are there two nodes of `level` to be combined in the lane, in a vector that begins at position `base` of the piece?
 */
static k_val has_right(const order *o, k_val base, unsigned level)
{
    sk_lower *lw = o->s->lw;
    k_val count = k_convert(&lw->b, OP_CONVERT, T_I32, sk_sub(lw, o->p->count, base));
    k_val right = sk_add(lw, position_in(o, level + 1), k_literal(&lw->b, T_I32, (ir_bits)1 << level));
    return k_let(&lw->b, OP_LT, right, count, 0);
}

/* What the lanes of the left nodes get to combine, and what the right ones: out[0] and out[1]. */
static void meet(const order *o, unsigned level, k_val left, k_val right, k_val *out)
{
    k_builder *b = &o->s->lw->b;
    int64_t lanes = o->s->tree.lanes, bit = (int64_t)1 << level % o->lane_bits;
    k_val from_left = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, o->lane, k_i64(b, bit), 0), k_i64(b, 0), 0);
    out[0] = right ? k_select(b, from_left, left, k_shuffle(b, right, lanes - bit)) : left;
    out[1] = k_shuffle(b, left, bit);
    if (right)
        out[1] = k_select(b, from_left, out[1], right);
}

/* Nodes of `left` and, behind them, of `right` (NULL: `left` is alone) become nodes of the next level, which go to
 * `into`. Where the right one of a pair is missing, the left one stays. */
static void combine_neighbours(const order *o, unsigned level, k_val base, k_val *const *left, k_val *const *right,
                               k_val *const *into)
{
    sk_folds *s = o->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val two[IR_MAX_COMPONENTS][2], one[2][IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
        bool guarded = !sk_fold_harmless(lw, f);
        k_val has = guarded || !o->whole ? has_right(o, base, level) : 0;
        for (uint32_t c = 0; c < f->n; c++) {
            meet(o, level, k_get(b, left[i][c]), right ? k_get(b, right[i][c]) : 0, two[c]);
            one[0][c] = two[c][0];
            one[1][c] = two[c][1];
        }
        for (uint32_t c = 0; c < f->n && guarded; c++)
            k_set(b, into[i][c], one[0][c]);
        if (guarded)
            k_if(b, has);
        sk_fold_apply(lw, f, one[0], one[1], out);
        for (uint32_t c = 0; c < f->n; c++)
            k_set(b, into[i][c], has && !guarded ? k_select(b, has, out[c], one[0][c]) : out[c]);
        if (guarded)
            k_end(b);
    }
}

/* Elements of vectors t ... t + 2^level - 1 of a round become one vector of nodes. */
static void take_vectors(order *o, k_val within, int64_t t, unsigned level)
{
    sk_lower *lw = o->s->lw;
    k_builder *b = &lw->b;
    if (level == 0) {
        sk_fold_group(o->s, o->p, o->lane, within, t, k_literal(b, T_BOOL, 0), !o->whole, o->acc[t]);
        return;
    }
    int64_t half = (int64_t)1 << (level - 1);
    take_vectors(o, within, t, level - 1);
    take_vectors(o, within, t + half, level - 1);
    k_val base = sk_add(lw, within, k_i64(b, t * o->s->tree.lanes));
    combine_neighbours(o, level - 1, base, o->acc[t], o->acc[t + half], o->acc[t]);
}

/* As a binary counter does: the nodes of 2^at rounds, of which round k is the last, wait if they are the left ones, or
 * are combined with those that do. */
static void count_up(order *o, k_val k, unsigned at)
{
    sk_folds *s = o->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (at == ROUNDS_LOG)
        return;
    k_val bit = k_let(b, OP_BIT_AND, k, k_i64(b, (int64_t)1 << at), 0);
    k_if(b, k_let(b, OP_EQ, bit, k_i64(b, 0), 0));
    sk_fold_keep(s, o->stack, k_i64(b, at), o->acc[0]);
    k_else(b);
    k_val **left = sk_fold_kept(s, o->stack, k_i64(b, at));
    k_val first = sk_sub(lw, k, k_i64(b, ((int64_t)2 << at) - 1));
    k_val base = sk_mul(lw, first, k_i64(b, SK_ACCUMULATORS));
    combine_neighbours(o, o->vector_bits + at, base, left, o->acc[0], o->acc[0]);
    count_up(o, k, at + 1);
    k_end(b);
}

/* The nodes of all rounds become one, in lane 0. */
static void combine_lanes(order *o, k_val rounds_log)
{
    sk_lower *lw = o->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), end = o->whole ? 0 : sk_add(lw, rounds_log, k_i64(b, o->lane_bits));
    for (unsigned at = o->whole ? ROUNDS_LOG : 0; at < ROUNDS_LOG + o->lane_bits; at++) {
        if (!o->whole) {
            k_val begun = k_let(b, OP_LE, rounds_log, k_i64(b, at), 0);
            k_if(b, k_let(b, OP_AND, begun, k_let(b, OP_LT, k_i64(b, at), end, 0), 0));
        }
        combine_neighbours(o, o->vector_bits + at, zero, o->acc[0], NULL, o->acc[0]);
        if (!o->whole)
            k_end(b);
    }
}

/* A round whose elements are all there needs no masks, nor does what it is combined with. */
static void whole_rounds(order *o, k_val whole)
{
    sk_lower *lw = o->s->lw;
    k_builder *b = &lw->b;
    k_val k = k_for(b, k_i64(b, 0), whole, false);
    lw->ahead = lw->options->ahead;
    take_vectors(o, sk_mul(lw, k, k_i64(b, SK_ACCUMULATORS)), 0, o->vector_bits);
    lw->ahead = false;
    count_up(o, k, 0);
    k_end(b);
}

/* The rest of a piece, in as many turns as make one node of all. */
static void last_rounds(order *o, k_val whole)
{
    sk_lower *lw = o->s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), all = k_i64(b, SK_ACCUMULATORS);
    k_val rounds = k_let(b, OP_QUOT, sk_add(lw, o->p->count, sk_sub(lw, all, one)), all, 0);
    k_val unused = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CLZ, sk_sub(lw, rounds, one), 0, 0));
    k_val log = sk_sub(lw, k_i64(b, 64), unused);
    k_val k = k_for(b, whole, k_let(b, OP_SHL, one, log, 0), false);
    k_if(b, k_let(b, OP_LT, k, rounds, 0));
    take_vectors(o, sk_mul(lw, k, all), 0, o->vector_bits);
    k_end(b);
    count_up(o, k, 0);
    k_end(b);
    combine_lanes(o, log);
}

/* The piece's total comes to lane 0 of the first accumulator. */
static void take_piece(void *env)
{
    order *o = env;
    k_builder *b = &o->s->lw->b;
    k_val whole = k_let(b, OP_QUOT, o->p->count, k_i64(b, SK_ACCUMULATORS), 0);
    o->whole = true;
    whole_rounds(o, whole);
    k_if(b, k_let(b, OP_EQ, whole, k_i64(b, ROUNDS), 0));
    combine_lanes(o, 0);
    k_else(b);
    o->whole = false;
    last_rounds(o, whole);
    k_end(b);
}

void sk_fold_finish_block(sk_folds *s, const sk_fold *f, const sk_fold_block *block, const k_val *total)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    bool for_each = s->for_each && !lw->options->final;
    k_val piece = for_each ? k_for(b, block->first, block->end, false) : k_piece(b);
    sk_fold_finish(s, f, block->row, for_each ? sk_add(lw, block->position, piece) : piece, total, 0, NULL);
    if (for_each)
        k_end(b);
}

/* Totals of `n` pieces in shared memory: the first one becomes that of all. */
static void combine_totals(sk_folds *s, k_val n)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), zero = k_i64(b, 0);
    k_val distance = k_let(b, OP_SHL, one, k_for(b, zero, k_i64(b, SK_BLOCK_LOG), false), 0);
    k_val both = sk_add(lw, distance, distance);
    k_val pairs = k_let(b, OP_QUOT, sk_add(lw, n, sk_sub(lw, distance, one)), both, 0);
    k_val at = sk_mul(lw, k_for(b, zero, pairs, false), both);
    k_val **left = sk_fold_kept(s, s->totals, at);
    sk_fold_combine(s, left, sk_fold_kept(s, s->totals, sk_add(lw, at, distance)), left);
    sk_fold_keep(s, s->totals, at, left);
    k_end(b);
    k_end(b);
}

static void finish(sk_folds *s, const sk_fold_block *block)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    combine_totals(s, sk_sub(lw, block->end, block->first));
    k_val **acc = sk_fold_kept(s, s->totals, lane), total[IR_MAX_COMPONENTS];
    for (uint32_t i = 0; i < s->fold.n; i++) {
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            total[c] = k_get(b, acc[i][c]);
        sk_fold_finish_block(s, &s->fold.at[i], block, total);
    }
    k_end(b);
}

static unsigned log_of(int64_t n)
{
    unsigned log = 0;
    while (n >> (log + 1))
        log++;
    return log;
}

k_mem **sk_fold_order_memory(sk_folds *s)
{
    s->lw->out->k->threads = (uint32_t)s->tree.lanes;
    return sk_fold_memory(s, false, ROUNDS_LOG, "waiting");
}

static order open_order(sk_folds *s, const sk_fold_part *p, k_val lane, k_mem **memory, k_val **acc[SK_MOST_STREAMS])
{
    order o = {.s = s, .p = p, .lane = lane, .stack = memory};
    o.number = k_convert(&s->lw->b, OP_CONVERT, T_I32, lane);
    o.lane_bits = log_of(s->tree.lanes);
    o.vector_bits = log_of(s->tree.streams);
    for (int64_t t = 0; t < s->tree.streams; t++)
        o.acc[t] = acc[t] = sk_fold_accumulators(s);
    return o;
}

void sk_fold_piece_in_order(sk_folds *s, const sk_fold_part *p, k_val lane, k_mem **memory,
                            k_val **acc[SK_MOST_STREAMS])
{
    order o = open_order(s, p, lane, memory, acc);
    s->by_position = true;
    take_piece(&o);
    s->by_position = false;
}

void sk_fold_in_order(sk_folds *s, const sk_fold_block *block)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_mem **memory = sk_fold_order_memory(s);
    k_val **acc[SK_MOST_STREAMS];
    sk_fold_totals(s);
    s->row_base = block->base;
    lw->element = block->row; /* of failures in the operator once elements are combined */
    k_val lane = k_for_all(b, k_i64(b, s->tree.lanes));
    k_val piece = k_for(b, block->first, block->end, false);
    sk_fold_part p = sk_fold_piece_of(s, block, piece);
    order o = open_order(s, &p, lane, memory, acc);
    s->by_position = true;
    sk_fold_sides(s, &p, take_piece, &o);
    s->by_position = false;
    sk_fold_keep_total(s, sk_sub(lw, piece, block->first), lane, acc[0]);
    k_end(b);
    k_end(b);
    finish(s, block);
}
