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
    s.base = sk_add(lw, sk_mul(lw, s.row, x->length), s.begin);
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

/* --- gangs --- */

/* A gang stays in its row, or goes on in the next one, or, where a row has fewer segments than a gang has lanes, goes
 * through several. */
typedef enum gang_way { IN_ROW, TO_NEXT, THROUGH } gang_way;

typedef struct sk_gangs {
    int64_t lanes;
    k_val whole;             /* rows begin and end where they should */
    k_mem edge, row, number; /* per lane, and one edge more */
    k_val alike;             /* how many segments end where those of the first one's length do */
    k_mem turn_end;          /* THROUGH: the same of segments from a row's beginning on: where each ends, */
    k_mem turn_row, turn_number;
} sk_gangs;

static k_val in_row(sk_offsets *x, k_val end)
{
    k_builder *b = &x->lw->b;
    return k_let(b, OP_AND, k_let(b, OP_GE, end, k_i64(b, 0), 0), k_let(b, OP_LE, end, x->length, 0), 0);
}

/* Rows of few segments are alike: what lanes find there is laid out once for all gangs. True if all lies in its row. */
static k_val lay_out_turns(sk_offsets *x)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const sk_gangs *g = x->gangs;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), lanes = k_i64(b, g->lanes), inside = k_decl(b, zero, "inside");
    k_val first = sk_mul(lw, k_for(b, zero, k_i64(b, 2), false), lanes), i = sk_add(lw, first, k_for_whole(b, lanes));
    k_val row = k_let(b, OP_QUOT, i, sk_max(lw, x->count, one), 0);
    k_val number = sk_sub(lw, i, sk_mul(lw, row, x->count)), end = sk_offset(x, sk_add(lw, number, one));
    k_store(b, g->turn_row, i, row);
    k_store(b, g->turn_number, i, number);
    k_store(b, g->turn_end, i, sk_add(lw, sk_mul(lw, row, x->length), end));
    k_set(b, inside, sk_add(lw, k_get(b, inside), k_count(b, in_row(x, end))));
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, inside), k_i64(b, 2 * g->lanes), 0);
}

void sk_open_gangs(sk_offsets *x, int64_t lanes)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    if (lw->cluster->loop->rank == 1 || lw->options->group)
        return;
    sk_gangs *g = arena_new(lw->arena, *g);
    x->gangs = g;
    g->lanes = lanes;
    g->edge = k_shared(b, T_I64, lanes + 1, "edge");
    g->row = k_shared(b, T_I64, lanes, "row");
    g->number = k_shared(b, T_I64, lanes, "number");
    g->turn_end = k_shared(b, T_I64, 2 * lanes, "turn_end");
    g->turn_row = k_shared(b, T_I64, 2 * lanes, "turn_row");
    g->turn_number = k_shared(b, T_I64, 2 * lanes, "turn_number");
    g->whole = k_decl(b, k_literal(b, T_BOOL, 0), "whole");
    k_if(b, k_let(b, OP_GT, x->count, k_i64(b, 0), 0));
    k_val begins = k_let(b, OP_EQ, sk_offset(x, k_i64(b, 0)), k_i64(b, 0), 0);
    k_set(b, g->whole, k_let(b, OP_AND, begins, k_let(b, OP_EQ, sk_offset(x, x->count), x->length, 0), 0));
    k_if(b, k_let(b, OP_LE, x->count, k_i64(b, lanes), 0));
    k_set(b, g->whole, k_let(b, OP_AND, k_get(b, g->whole), lay_out_turns(x), 0));
    k_end(b);
    k_end(b);
}

/* Of each segment: where it ends, its row, its number there. `fine`: how many lie in their rows, as far as ends say. */
static void note_edges(sk_offsets *x, const sk_segment *of, gang_way way, k_val fine)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    const sk_gangs *g = x->gangs;
    k_val one = k_i64(b, 1), zero = k_i64(b, 0), lane = k_for_whole(b, k_i64(b, g->lanes));
    k_val next = sk_add(lw, lane, one), number = sk_add(lw, of->number, lane), row, edge, inside;
    if (way == THROUGH) {
        row = sk_add(lw, of->row, k_load(b, g->turn_row, number));
        edge = sk_add(lw, sk_mul(lw, of->row, x->length), k_load(b, g->turn_end, number));
        inside = k_let(b, OP_GE, lane, zero, 0);
        number = k_load(b, g->turn_number, number);
    } else {
        k_val beyond = k_let(b, OP_GE, number, x->count, 0), none = sk_sub(lw, lane, lane);
        row = sk_add(lw, of->row, way == IN_ROW ? none : k_select(b, beyond, one, zero));
        number = sk_sub(lw, number, way == IN_ROW ? zero : k_select(b, beyond, x->count, zero));
        k_val end = sk_offset(x, sk_add(lw, number, one));
        edge = sk_add(lw, sk_mul(lw, row, x->length), end);
        inside = in_row(x, end);
    }
    k_store(b, g->row, lane, row);
    k_store(b, g->number, lane, number);
    k_store(b, g->edge, next, edge);
    k_set(b, g->alike, k_count(b, k_let(b, OP_EQ, edge, sk_add(lw, of->base, sk_mul(lw, next, of->length)), 0)));
    k_set(b, fine, k_count(b, inside));
    k_end(b);
}

k_val sk_note_gang(sk_offsets *x, const sk_segment *of)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    sk_gangs *g = x->gangs;
    if (!g)
        return of->good;
    g->alike = k_decl(b, k_i64(b, 0), "alike");
    k_val fine = k_decl(b, k_i64(b, 0), "fine"), all = k_i64(b, g->lanes);
    k_if(b, k_let(b, OP_AND, k_get(b, g->whole), of->good, 0));
    k_val lane = k_for_few(b, k_i64(b, 1));
    k_store(b, g->edge, lane, sk_add(lw, of->base, lane));
    k_end(b);
    k_if(b, sk_gang_stays(x, of, g->lanes));
    note_edges(x, of, IN_ROW, fine);
    k_else(b);
    k_if(b, k_let(b, OP_LE, x->count, all, 0));
    note_edges(x, of, THROUGH, fine);
    k_else(b);
    note_edges(x, of, TO_NEXT, fine);
    k_end(b);
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, fine), all, 0);
}

k_val sk_gang_edge(sk_offsets *x, const sk_segment *of, k_val lane)
{
    return x->gangs ? k_load(&x->lw->b, x->gangs->edge, lane) : sk_offset(x, sk_add(x->lw, of->number, lane));
}

void sk_gang_place(sk_offsets *x, const sk_segment *of, k_val lane, k_val *row, k_val *number)
{
    k_builder *b = &x->lw->b;
    *row = x->gangs ? k_load(b, x->gangs->row, lane) : of->row;
    *number = x->gangs ? k_load(b, x->gangs->number, lane) : sk_add(x->lw, of->number, lane);
}

k_val sk_end_alike(sk_offsets *x, const sk_segment *of, int64_t lanes)
{
    sk_lower *lw = x->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), all = k_i64(b, lanes);
    if (x->gangs)
        return k_let(b, OP_EQ, k_get(b, x->gangs->alike), all, 0);
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
    if (x->gangs)
        return brief;
    k_val inner = k_let(b, OP_AND, k_let(b, OP_GT, of->number, k_i64(b, 0), 0),
                        k_let(b, OP_LT, sk_add(lw, of->number, all), x->count, 0), 0);
    k_val last = sk_add(lw, of->begin, sk_mul(lw, of->length, all));
    return k_let(b, OP_AND, k_let(b, OP_AND, brief, inner, 0), k_let(b, OP_LE, last, x->length, 0), 0);
}

k_val sk_gang_stays(sk_offsets *x, const sk_segment *of, int64_t lanes)
{
    k_builder *b = &x->lw->b;
    return x->gangs ? k_let(b, OP_LE, sk_add(x->lw, of->number, k_i64(b, lanes)), x->count, 0)
                    : k_literal(b, T_BOOL, 1);
}

sk_segment sk_gang_row(sk_offsets *x, const sk_segment *of, k_val lane, bool one_row)
{
    sk_lower *lw = x->lw;
    sk_segment s = {.global = sk_add(lw, of->global, lane), .length = of->length, .good = of->good};
    s.row = of->row;
    s.number = sk_add(lw, of->number, lane);
    if (!one_row)
        sk_gang_place(x, of, lane, &s.row, &s.number);
    s.base = sk_add(lw, of->base, sk_mul(lw, lane, of->length));
    s.begin = sk_sub(lw, s.base, sk_mul(lw, s.row, x->length));
    return s;
}

bool sk_asks_for_indices(sk_lower *lw, uint32_t n, const ir_id *term)
{
    unsigned rank = lw->cluster->loop->rank;
    for (unsigned d = 0; d < rank && rank > 1; d++)
        if (sk_mentions(lw, n, term, lw->at.at[d]))
            return true;
    return false;
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
    sk_note_inside(lw->l->ir, &lw->body.facts, lw->arena, x->segment, loop->segment_count);
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
