/* Segments of a segment loop: what it knows of their offsets, how a block finds its own, and what is checked. */
#include "skeleton/segment/segment.h"

#include "ir/interpret.h"
#include "kernel/launch.h"

/* --- offsets --- */

k_val sk_offset(sk_offsets *x, k_val number)
{
    k_val value;
    uint32_t mark = sk_scope(x->lw);
    sk_bind(x->lw, x->at, number);
    sk_emit(x->lw, 1, &x->offset, &value);
    sk_scope_end(x->lw, mark);
    return value;
}

/* The row of segment number `global`, and its number there. */
static void split(const sk_offsets *x, k_val global, k_val *row, k_val *number)
{
    sk_lower *lw = x->lw;
    bool one = lw->cluster->loop->rank == 1;
    *row = one ? k_i64(&lw->b, 0) : k_let(&lw->b, OP_QUOT, global, sk_max(lw, x->count, k_i64(&lw->b, 1)), 0);
    *number = one ? global : sk_sub(lw, global, sk_mul(lw, *row, x->count));
}

sk_segment sk_find_segment(sk_offsets *x, k_val global)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_segment s = {.global = global};
    split(x, global, &s.row, &s.number);
    s.begin = sk_offset(x, s.number);
    s.end = sk_offset(x, sk_add(lw, s.number, k_i64(b, 1)));
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, s.begin, k_i64(b, 0), 0), k_let(b, OP_LE, s.end, x->length, 0), 0);
    s.good = k_let(b, OP_AND, inside, k_let(b, OP_LE, s.begin, s.end, 0), 0);
    s.length = k_select(b, s.good, sk_sub(lw, s.end, s.begin), k_i64(b, 0));
    return s;
}

/* How much work lies before a segment: elements and segments. */
static k_val work_before(sk_offsets *x, k_val global)
{
    sk_lower *lw = x->lw;
    k_val row, number;
    split(x, global, &row, &number);
    return sk_add(lw, sk_add(lw, sk_mul(lw, row, x->length), sk_offset(x, number)), global);
}

/* Where a segment with so much work before it is, if all are equally long. */
static k_val expected(sk_offsets *x, k_val work, k_val total)
{
    enum { FRACTION = 20 /* bits; where products wrap, the segment is only further away */ };
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val bits = k_i64(b, FRACTION), zero = k_i64(b, 0), one = k_i64(b, 1), last = sk_sub(lw, x->all, one);
    k_val mean = k_let(b, OP_QUOT, k_let(b, OP_SHL, total, bits, 0), sk_max(lw, x->all, one), 0);
    k_val there = k_let(b, OP_QUOT, k_let(b, OP_SHL, work, bits, 0), sk_max(lw, mean, one), 0);
    return sk_max(lw, zero, sk_min(lw, there, last));
}

/* The first segment with at least so much work before it, of `total`. Looked for around the place where it would be if
 * all were equally long, in steps that grow, until it is between two of them; then by halves. */
k_val sk_search_segment(sk_offsets *x, k_val work, k_val total)
{
    enum { FIRST = 8, GROWS = 3, MOST = 40 /* bits */ };
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1);
    k_val low = k_decl(b, k_i64(b, 0), "low"), high = k_decl(b, x->all, "high");
    k_val at = k_decl(b, expected(x, work, total), "at"), step = k_decl(b, k_i64(b, FIRST), "step");
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, k_get(b, low), k_get(b, high), 0));
    k_val here = k_get(b, at), far = k_get(b, step), next = k_decl(b, here, "next");
    k_if(b, k_let(b, OP_LT, work_before(x, here), work, 0));
    k_set(b, low, sk_add(lw, here, one));
    k_set(b, next, sk_add(lw, here, far));
    k_else(b);
    k_set(b, high, here);
    k_set(b, next, sk_sub(lw, here, far));
    k_end(b);
    k_val from = k_get(b, low), to = k_get(b, high), try = k_get(b, next);
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, try, from, 0), k_let(b, OP_LT, try, to, 0), 0);
    k_set(b, at, k_select(b, inside, try, k_let(b, OP_SHR, sk_add(lw, from, to), one, 0)));
    k_set(b, step, sk_min(lw, k_let(b, OP_SHL, far, k_i64(b, GROWS), 0), k_i64(b, (int64_t)1 << MOST)));
    k_end(b);
    return k_get(b, low);
}

/* --- checks --- */

static void check(sk_offsets *x, uint32_t site, ir_segment_mistake what, k_val holds, k_val number, k_val value,
                  k_val bound)
{
    k_check(&x->lw->b, k_place(site, K_SEGMENT + (uint32_t)what), holds, number, value, bound);
}

static k_val implies(k_builder *b, k_val a, k_val c)
{
    return k_let(b, OP_OR, k_let(b, OP_NOT, a, 0, 0), c, 0);
}

/* For each operation that has offsets: they are what they should be. */
void sk_check_segment(sk_offsets *x, const sk_segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), next = sk_add(lw, s->number, k_i64(b, 1));
    k_val begins = implies(b, k_let(b, OP_EQ, s->number, zero, 0), k_let(b, OP_EQ, s->begin, zero, 0));
    k_val last = implies(b, k_let(b, OP_EQ, next, x->count, 0), k_let(b, OP_EQ, s->end, x->length, 0));
    k_val ends = k_let(b, OP_AND, k_let(b, OP_LE, s->end, x->length, 0), last, 0);
    k_val rises = k_let(b, OP_GE, s->end, s->begin, 0);
    for (uint32_t i = 0; i < x->site.n; i++) {
        check(x, x->site.at[i], IR_SEGMENTS_BEGIN, begins, s->number, s->begin, zero);
        check(x, x->site.at[i], IR_SEGMENT_FALLS, rises, s->number, s->end, s->begin);
        check(x, x->site.at[i], IR_SEGMENTS_END, ends, s->number, s->end, x->length);
    }
    for (uint32_t i = 0; i < x->filled.n; i++) /* without a result, so whether it is looked at or not */
        check(x, x->filled.at[i], IR_SEGMENT_EMPTY, k_let(b, OP_NE, s->length, zero, 0), s->number, zero, zero);
}

/* The same, where one comparison says that nothing is wrong. */
void sk_check_unless_fine(sk_offsets *x, const sk_segment *s)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), next = sk_add(lw, s->number, k_i64(b, 1));
    k_val end = k_let(b, OP_OR, k_let(b, OP_EQ, s->number, zero, 0), k_let(b, OP_EQ, next, x->count, 0), 0);
    k_val doubt = k_let(b, OP_OR, end, k_let(b, OP_NOT, s->good, 0, 0), 0);
    if (x->filled.n)
        doubt = k_let(b, OP_OR, doubt, k_let(b, OP_EQ, s->length, zero, 0), 0);
    k_if(b, doubt);
    sk_check_segment(x, s);
    k_end(b);
}

/* Without a segment no element is in one. */
void sk_check_any_segment(sk_offsets *x)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val none = k_i64(b, -1), any = k_let(b, OP_GT, x->count, k_i64(b, 0), 0);
    for (uint32_t i = 0; i < x->site.n; i++) {
        k_val lane = k_for_few(b, k_i64(b, 1));
        check(x, x->site.at[i], IR_SEGMENTS_END, any, lane, none, x->length);
        k_end(b);
    }
}

/* --- rows --- */

k_val sk_end_alike(sk_offsets *x, const sk_segment *of, int64_t lanes)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), all = k_i64(b, lanes);
    k_val alike = k_decl(b, k_i64(b, 0), "alike"), lane = k_for_whole(b, all), next = sk_add(lw, lane, one);
    k_val end = sk_add(lw, of->begin, sk_mul(lw, next, of->length));
    k_set(b, alike, k_count(b, k_let(b, OP_EQ, sk_offset(x, sk_add(lw, of->number, next)), end, 0)));
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, alike), all, 0);
}

k_val sk_may_be_rows(sk_offsets *x, const sk_segment *of, int64_t lanes)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), all = k_i64(b, lanes);
    k_val brief =
        k_let(b, OP_AND, k_let(b, OP_GE, of->length, one, 0), k_let(b, OP_LE, of->length, k_i64(b, SK_SHORT), 0), 0);
    k_val inner = k_let(b, OP_AND, k_let(b, OP_GT, of->number, k_i64(b, 0), 0),
                        k_let(b, OP_LT, sk_add(lw, of->number, all), x->count, 0), 0);
    k_val last = sk_add(lw, of->begin, sk_mul(lw, of->length, all));
    return k_let(b, OP_AND, k_let(b, OP_AND, brief, inner, 0), k_let(b, OP_LE, last, x->length, 0), 0);
}

/* --- opening --- */

/* An operation that has offsets: they are checked; numbers of segments are known. */
static void note_offsets(sk_offsets *x, ir_id id)
{
    sk_lower *lw = x->lw;
    const ir_node *n = ir_at(lw->l->ir, id);
    bool known = false;
    if (n->kind != IR_FOLD_SEG && n->kind != IR_SCAN_SEG && n->kind != IR_SEGMENT_OF)
        return;
    if (n->kind == IR_SEGMENT_OF)
        sk_give(&lw->body, id, &x->segment);
    for (uint32_t i = 0; i < x->site.n; i++)
        known |= x->site.at[i] == n->site;
    if (!known && lw->options->checks)
        vec_push(lw->arena, &x->site, n->site);
    if (n->kind == IR_FOLD_SEG && !ir_info(lw->l->ir, id)->seed)
        vec_push(lw->arena, &x->filled, n->site);
}

void sk_open_offsets(sk_offsets *x, sk_lower *lw)
{
    ir_program *p = lw->l->ir;
    const l_cluster *loop = lw->cluster->loop;
    x->lw = lw;
    x->at = ir_var(p, T_I64);
    x->segment = ir_var(p, T_I64);
    sk_note_inside(&lw->body.facts, lw->arena, x->segment, loop->segment_count);
    for (uint32_t i = 0; i < loop->op.n; i++)
        note_offsets(x, loop->op.at[i].term);
    for (uint32_t i = 0; i < loop->numbers.n; i++)
        note_offsets(x, loop->numbers.at[i]);
    sk_index at = {.rank = 1, .at = {x->at}, .linear = x->at};
    x->offset = *sk_pull(&lw->body, loop->segments, &at);
    x->length = sk_slot(lw, 0, "row_length");
    x->count = sk_slot(lw, 1, "segments");
    x->all = sk_slot(lw, 2, "all_segments");
}

/* slots: 5 work a block, 6 work */
sk_block sk_block_of(sk_offsets *x)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val size = sk_slot(lw, 5, "work_a_block"), total = sk_slot(lw, 6, "work"), zero = k_i64(b, 0);
    sk_block of = {.work = sk_mul(lw, k_piece(b), size)};
    of.end = sk_add(lw, of.work, size);
    k_val last = k_decl(b, x->all, "last"), first = k_decl(b, zero, "first"), before = k_decl(b, zero, "before");
    k_if(b, k_let(b, OP_LT, of.end, total, 0));
    k_set(b, last, sk_search_segment(x, of.end, total));
    k_end(b);
    k_if(b, k_let(b, OP_GT, of.work, zero, 0));
    k_val found = sk_search_segment(x, of.work, total);
    k_set(b, first, found);
    k_set(b, before, sk_max(lw, zero, sk_sub(lw, found, k_i64(b, 1))));
    k_end(b);
    of.first = k_get(b, first);
    of.last = k_get(b, last);
    of.before = k_get(b, before);
    return of;
}
