/* Short segments in loops that fold nothing, whose elements are results: one segment after the other, each by a gang
 * whose first lanes have the segment's elements. What belongs to the segment is computed once, neighbours read
 * neighbours, also where a condition decides what is read, and no branch depends on a segment's length, up to
 * SK_SHORT elements. Longer ones take a gang several turns.
 *
 * Segments of one length are better taken as rows, a lane each (segment.c), unless their elements read under
 * conditions: then lanes would gather, where rows otherwise are transposed. */
#include "opt/rewrite.h"
#include "skeleton/extents.h"
#include "skeleton/segment/segment.h"

/* Gangs of as few lanes as the longest segment needs: 8, 16 or 32. */
enum {
    LEAST = 8,
    WAYS = 3 /* LEAST << WAYS - 1 is SK_SHORT */,
    FEW = 16 /* operations of an element whose code may stand there several times */
};

bool sk_stores_suit(const sk_segments *x)
{
    return !x->folds.fold.n && x->folds.stored.term.n && !x->lw->options->group && x->lw->options->vector_bytes;
}

bool sk_reads_under_conditions(const sk_segments *x)
{
    const sk_outputs *stored = &x->folds.stored;
    opt_ids ids = {0};
    opt_reach(x->lw->l->ir, x->lw->arena, stored->term.n, stored->term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(x->lw->l->ir, ids.at[i]);
        if (n->kind == IR_COND && n->partial)
            return true;
    }
    return false;
}

k_val sk_longest_stored(sk_segments *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), all = k_i64(b, x->folds.tree.lanes), most = k_i64(b, SK_MIXED);
    k_val fine = k_decl(b, zero, "fine"), over[WAYS], behind = sk_add(lw, of->number, all);
    for (unsigned i = 0; i < WAYS; i++)
        over[i] = k_decl(b, zero, "over");
    if (!x->of.gangs) /* the first one and the last are checked elsewhere */
        k_if(b, k_let(b, OP_AND, k_let(b, OP_GT, of->number, zero, 0), k_let(b, OP_LT, behind, x->of.count, 0), 0));
    k_val lane = k_for_whole(b, all), begin = sk_gang_edge(&x->of, of, lane);
    k_val end = sk_gang_edge(&x->of, of, sk_add(lw, lane, one)), length = sk_sub(lw, end, begin);
    k_val good = k_let(b, OP_AND, k_let(b, OP_GE, length, zero, 0), k_let(b, OP_LE, length, most, 0), 0);
    if (!x->of.gangs)
        good = k_let(b, OP_AND, good, k_let(b, OP_LE, end, x->of.length, 0), 0);
    k_set(b, fine, k_count(b, good));
    for (unsigned i = 0; i < WAYS; i++)
        k_set(b, over[i], k_count(b, k_let(b, OP_GT, length, k_i64(b, LEAST << i), 0)));
    k_end(b);
    if (!x->of.gangs)
        k_end(b);
    k_val longest = most;
    for (unsigned i = WAYS; i-- > 0;)
        longest = k_select(b, k_let(b, OP_GT, k_get(b, over[i]), zero, 0), longest, k_i64(b, LEAST << i));
    return k_select(b, k_let(b, OP_EQ, k_get(b, fine), all, 0), longest, sk_add(lw, most, one));
}

/* The elements from number `first` on of the segment at hand, as many as there are lanes. */
static void take_lanes(sk_segments *x, const sk_segment *s, k_val first, int64_t lanes)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val at = sk_add(lw, first, k_for_whole(b, k_i64(b, lanes)));
    k_if(b, k_let(b, OP_LT, at, s->length, 0));
    sk_fold_element(&x->folds, s->global, at, k_literal(b, T_BOOL, 0), NULL);
    k_end(b);
    k_end(b);
}

/* All segments of the gang, none of which has more than `lanes` elements, unless they take several turns. */
static void take_each(sk_segments *x, const sk_segment *of, int64_t lanes, bool turns)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), i = k_for(b, zero, k_i64(b, x->folds.tree.lanes), false);
    uint32_t mark = sk_scope(lw);
    sk_segment s = {.global = sk_add(lw, of->global, i), .base = sk_gang_edge(&x->of, of, i)};
    s.length = sk_sub(lw, sk_gang_edge(&x->of, of, sk_add(lw, i, one)), s.base);
    sk_gang_place(&x->of, of, i, &s.row, &s.number);
    s.begin = sk_sub(lw, s.base, sk_mul(lw, s.row, x->of.length));
    sk_use_segment(x, &s);
    if (turns) {
        k_val some = k_i64(b, lanes), all = sk_add(lw, s.length, k_i64(b, lanes - 1));
        k_val turn = k_for(b, zero, k_let(b, OP_QUOT, all, some, 0), false);
        take_lanes(x, &s, sk_mul(lw, turn, some), lanes);
        k_end(b);
    } else {
        take_lanes(x, &s, zero, lanes);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

void sk_take_stored(sk_segments *x, const sk_segment *of, k_val longest)
{
    k_builder *b = &x->lw->b;
    unsigned ways = x->lw->cluster->loop->flops <= FEW ? WAYS : 0;
    for (unsigned i = 0; i < ways; i++) {
        k_if(b, k_let(b, OP_LE, longest, k_i64(b, LEAST << i), 0));
        take_each(x, of, LEAST << i, false);
        k_else(b);
    }
    take_each(x, of, SK_SHORT, true);
    for (unsigned i = 0; i < ways; i++)
        k_end(b);
}
