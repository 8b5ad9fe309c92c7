/* Merging sorted runs, pair by pair, until a row is one: the output is cut into units, and where the runs are cut so
 * that a unit is theirs is found by binary search (Green, Odeh, Birk: Merge Path, 2014). A comparison that is no order
 * may find anything there: cuts are therefore brought into a sequence in which each unit takes what lies between two of
 * them, so that every element is stored once, whatever it says. */
#include "skeleton/sort/sort.h"

#include "skeleton/extents.h"

#include "opt/identity.h"

typedef struct pair {        /* of neighbouring runs of a row */
    k_val base, left, right; /* where it begins in the row; elements of the runs */
    k_val linear;            /* the number of its first element in the array */
} pair;

/* Two runs that a row is: `width` elements, and all that are behind them. */
static pair whole_row(sk_lower *lw, k_val n, k_val width)
{
    k_val zero = k_i64(&lw->b, 0), left = sk_min(lw, width, n);
    return (pair){.base = zero, .left = left, .right = sk_sub(lw, n, left), .linear = zero};
}

static pair pair_of(sk_lower *lw, k_val row, k_val number, k_val n, k_val width)
{
    pair p = {.base = sk_mul(lw, number, sk_add(lw, width, width))};
    k_val there = sk_sub(lw, n, p.base);
    p.left = sk_min(lw, width, there);
    p.right = sk_min(lw, width, sk_sub(lw, there, p.left));
    p.linear = sk_add(lw, sk_mul(lw, row, n), p.base);
    return p;
}

/* The element at an index. */
static void load(sk_sort *s, const sk_runs *r, k_val at, k_val *out)
{
    for (uint32_t c = 0; c < s->n; c++)
        out[c] = k_load(&s->lw->b, r->from[c], at);
}

/* ... or another one where there is none. */
static void load_any(sk_sort *s, const sk_runs *r, k_val at, k_val *out)
{
    load(s, r, sk_min(s->lw, at, r->last), out);
}

/* How many elements of the left run are among the first d of both, if that lies within these two numbers, which are
 * possible; else one of what lies between. */
static k_val find_cut(sk_sort *s, const sk_runs *r, k_val d, k_val least, k_val most)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), low = k_decl(b, least, "low"), high = k_decl(b, most, "high");
    k_val *x = arena_array(lw->arena, k_val, s->n), *y = arena_array(lw->arena, k_val, s->n);
    k_loop(b);
    uint32_t mark = sk_scope(lw);
    k_val l = k_get(b, low), h = k_get(b, high);
    k_break_if(b, k_let(b, OP_GE, l, h, 0));
    k_val m = k_let(b, OP_SHR, sk_add(lw, l, h), one, 0);
    load_any(s, r, sk_add(lw, r->left, m), x);
    load_any(s, r, sk_add(lw, r->right, sk_sub(lw, sk_sub(lw, d, one), m)), y);
    k_val less = sk_sort_before(s, y, x);
    k_set(b, high, k_select(b, less, m, h));
    k_set(b, low, k_select(b, less, l, sk_add(lw, m, one)));
    sk_scope_end(lw, mark);
    k_end(b);
    return k_get(b, low);
}

/* A part of the result, and what it takes of both runs. */
typedef struct part {
    k_val left, right, at; /* variables: the next elements, and where one goes */
    k_val left_end, right_end, end;
} part;

/* `both`: neither run has ended. */
static void step(sk_sort *s, const sk_runs *r, const part *p, bool both)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val one = k_i64(b, 1), i = k_get(b, p->left), j = k_get(b, p->right), k = k_get(b, p->at);
    k_val *x = arena_array(lw->arena, k_val, s->n), *y = arena_array(lw->arena, k_val, s->n);
    (both ? load : load_any)(s, r, i, x);
    (both ? load : load_any)(s, r, j, y);
    k_val takes = sk_sort_before(s, y, x);
    if (!both) {
        k_val gone = k_let(b, OP_GE, i, p->left_end, 0);
        takes = k_let(b, OP_AND, k_let(b, OP_LT, j, p->right_end, 0), k_let(b, OP_OR, gone, takes, 0), 0);
    }
    for (uint32_t c = 0; c < s->n; c++)
        k_store(b, r->to[c], k, k_select(b, takes, y[c], x[c]));
    k_set(b, p->left, k_select(b, takes, i, sk_add(lw, i, one)));
    k_set(b, p->right, k_select(b, takes, sk_add(lw, j, one), j));
    k_set(b, p->at, sk_add(lw, k, one));
    sk_scope_end(lw, mark);
}

/* Parts that are merged side by side: more where comparing is little, and a core has other things to do. */
static uint32_t parts_of(const sk_sort *s)
{
    enum { SMALL = 8, MOST = 4, FEW = 2 };
    opt_ids ids = {0};
    if (s->less)
        opt_reach(s->lw->l->ir, s->lw->arena, 1, s->less->result, &ids);
    return !s->lw->options->group && ids.n <= SMALL && s->n <= FEW ? MOST : FEW;
}

/* Cuts the result into parts of one length, but for the last one, which may have some elements more. */
static void cut_parts(sk_sort *s, const sk_runs *r, uint32_t n, part *out)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val all = sk_add(lw, r->left_length, r->right_length), each = k_let(b, OP_QUOT, all, k_i64(b, n), 0);
    k_val cut = k_i64(b, 0), d = cut;
    for (uint32_t i = 0; i < n; i++) {
        k_val end = i + 1 < n ? sk_add(lw, d, each) : all, next = r->left_length;
        if (i + 1 < n)
            next = find_cut(s, r, end, sk_max(lw, cut, sk_sub(lw, end, r->right_length)),
                            sk_min(lw, sk_add(lw, cut, each), r->left_length));
        out[i] = (part){.left = k_decl(b, sk_add(lw, r->left, cut), "left"),
                        .right = k_decl(b, sk_add(lw, r->right, sk_sub(lw, d, cut)), "right"),
                        .at = k_decl(b, sk_add(lw, r->begin, d), "at"),
                        .left_end = sk_add(lw, r->left, next),
                        .right_end = sk_add(lw, r->right, sk_sub(lw, end, next)),
                        .end = sk_add(lw, r->begin, end)};
        cut = next;
        d = end;
    }
}

/* A step waits for the one before it, through memory: the parts of the result are merged side by side, the steps of one
 * while those of the others wait; until a run of one of them ends no index needs to be looked at. */
void sk_sort_merge(sk_sort *s, const sk_runs *r)
{
    enum { MOST = 4 };
    k_builder *b = &s->lw->b;
    part p[MOST];
    const uint32_t n = parts_of(s);
    cut_parts(s, r, n, p);
    k_loop(b);
    for (uint32_t i = 0; i < n; i++) {
        k_break_if(b, k_let(b, OP_GE, k_get(b, p[i].left), p[i].left_end, 0));
        k_break_if(b, k_let(b, OP_GE, k_get(b, p[i].right), p[i].right_end, 0));
    }
    for (uint32_t i = 0; i < n; i++)
        step(s, r, &p[i], true);
    k_end(b);
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, k_get(b, p[0].at), p[0].end, 0));
    for (uint32_t i = 0; i < n; i++)
        step(s, r, &p[i], false);
    k_end(b);
    k_loop(b);
    k_break_if(b, k_let(b, OP_GE, k_get(b, p[n - 1].at), p[n - 1].end, 0));
    step(s, r, &p[n - 1], false);
    k_end(b);
}

/* The runs of a pair, in the memory that a round begins with. */
static sk_runs runs_of(sk_sort *s, const pair *p)
{
    sk_lower *lw = s->lw;
    k_val length = sk_add(lw, p->left, p->right), end = sk_add(lw, p->linear, length);
    return (sk_runs){.from = s->from,
                     .to = s->to,
                     .left = p->linear,
                     .right = sk_add(lw, p->linear, p->left),
                     .left_length = p->left,
                     .right_length = p->right,
                     .last = sk_sub(lw, end, k_i64(&lw->b, 1)),
                     .begin = p->linear};
}

/* slots: 0 row length, 1 width of a run, 2 units a row, 3 pairs a row */
void sk_build_sort_splits(sk_lower *lw)
{
    sk_sort sort, *s = &sort;
    k_builder *b = &lw->b;
    const sk_chunks size = sk_sort_chunks(lw->cluster, lw->options);
    const bool first = sk_unpack_radix(lw->options->row).first;
    sk_sort_begin(s, lw, 1, false, false);
    k_mem state = sk_sort_state(s);
    k_val n = sk_slot(lw, 0, "row_length"), width = sk_slot(lw, SK_RUN, "width"), units = sk_slot(lw, 2, "units_a_row");
    k_val pairs = sk_slot(lw, 3, "pairs_a_row"), row = k_let(b, OP_QUOT, k_piece(b), pairs, 0);
    k_val unit = k_i64(b, size.length), one = k_i64(b, 1), zero = k_i64(b, 0);
    pair p =
        first ? whole_row(lw, n, width) : pair_of(lw, row, sk_sub(lw, k_piece(b), sk_mul(lw, row, pairs)), n, width);
    k_val length = sk_add(lw, p.left, p.right), up = sk_sub(lw, unit, one);
    k_val count = k_let(b, OP_QUOT, sk_add(lw, length, up), unit, 0);
    k_val own = sk_add(lw, sk_mul(lw, row, units), k_let(b, OP_QUOT, p.base, unit, 0));
    lw->element = row;
    k_val i = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    sk_runs runs = runs_of(s, &p);
    k_val here = sk_mul(lw, i, unit);
    k_val cut = find_cut(s, &runs, here, sk_max(lw, zero, sk_sub(lw, here, p.right)), sk_min(lw, here, p.left));
    k_store(b, state, sk_add(lw, own, i), k_convert(b, OP_CONVERT, T_U64, cut));
    sk_scope_end(lw, mark);
    k_end(b);
    k_val lane = k_for_few(b, one), before = k_decl(b, zero, "before");
    k_val j = k_for(b, one, count, false), at = sk_add(lw, sk_add(lw, own, j), lane), d = sk_mul(lw, j, unit);
    k_val found = k_convert(b, OP_CONVERT, T_I64, k_load(b, state, at)), last = k_get(b, before);
    k_val least = sk_max(lw, last, sk_sub(lw, d, p.right)), most = sk_min(lw, sk_add(lw, last, unit), p.left);
    cut = sk_min(lw, sk_max(lw, found, least), most);
    k_store(b, state, at, k_convert(b, OP_CONVERT, T_U64, cut));
    k_set(b, before, cut);
    k_end(b);
    k_end(b);
}

/* slots: as above, 4 units of all rows */
void sk_build_sort_merge(sk_lower *lw)
{
    sk_sort sort, *s = &sort;
    k_builder *b = &lw->b;
    const sk_chunks size = sk_sort_chunks(lw->cluster, lw->options);
    const bool first = sk_unpack_radix(lw->options->row).first;
    sk_sort_begin(s, lw, 1, false, true);
    lw->out->k->group = (uint16_t)(lw->options->group ? size.threads : 0);
    k_mem state = sk_sort_state(s);
    k_val n = sk_slot(lw, 0, "row_length"), width = sk_slot(lw, SK_RUN, "width"), units = sk_slot(lw, 2, "units_a_row");
    k_val all = sk_slot(lw, 4, "units"), unit = k_i64(b, size.length), one = k_i64(b, 1), zero = k_i64(b, 0);
    k_val begin = sk_mul(lw, k_piece(b), k_i64(b, size.threads));
    k_val thread = k_for_all(b, sk_min(lw, k_i64(b, size.threads), sk_sub(lw, all, begin)));
    uint32_t mark = sk_scope(lw);
    k_val number = sk_add(lw, begin, thread), row = k_let(b, OP_QUOT, number, units, 0);
    k_val place = sk_mul(lw, sk_sub(lw, number, sk_mul(lw, row, units)), unit);
    pair p = first ? whole_row(lw, n, width)
                   : pair_of(lw, row, k_let(b, OP_QUOT, place, sk_add(lw, width, width), 0), n, width);
    k_val length = sk_add(lw, p.left, p.right), d = sk_sub(lw, place, p.base),
          end = sk_min(lw, length, sk_add(lw, d, unit));
    k_val is_first = k_let(b, OP_EQ, d, zero, 0), is_last = k_let(b, OP_EQ, end, length, 0);
    k_val cut = k_decl(b, zero, "cut"), cut_end = k_decl(b, p.left, "cut_end");
    k_if(b, k_let(b, OP_NOT, is_first, 0, 0));
    k_set(b, cut, k_convert(b, OP_CONVERT, T_I64, k_load(b, state, number)));
    k_end(b);
    k_if(b, k_let(b, OP_NOT, is_last, 0, 0));
    k_set(b, cut_end, k_convert(b, OP_CONVERT, T_I64, k_load(b, state, sk_add(lw, number, one))));
    k_end(b);
    lw->element = row;
    sk_runs runs = runs_of(s, &p);
    k_val taken = k_get(b, cut), left_end = k_get(b, cut_end), right_taken = sk_sub(lw, d, taken);
    runs.left = sk_add(lw, runs.left, taken);
    runs.right = sk_add(lw, runs.right, right_taken);
    runs.left_length = sk_sub(lw, left_end, taken);
    runs.right_length = sk_sub(lw, sk_sub(lw, end, left_end), right_taken);
    runs.begin = sk_add(lw, p.linear, d);
    sk_sort_merge(s, &runs);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- two runs? --- */

/* An element of the program's, in a scope of the caller's. */
static void copy_element(sk_sort *s, k_val at, k_val *x)
{
    sk_sort_bind(s, 0, at, at);
    sk_sort_element(s, 0, s->n, at, x);
    for (uint32_t c = 0; c < s->n; c++)
        k_store(&s->lw->b, s->to[c], at, x[c]);
}

/* A piece goes to memory, and where its elements come before the one before them: each of some lanes counts them and
 * notes the last one. slot: 0 row length */
void sk_build_sort_runs(sk_lower *lw)
{
    enum { LANES = 16, SIDE = 256 };
    sk_sort sort, *s = &sort;
    k_builder *b = &lw->b;
    sk_sort_begin(s, lw, lw->options->group ? 1 : LANES, true, true);
    lw->out->k->group = (uint16_t)smaller(SIDE, lw->options->group);
    k_mem state = sk_sort_state(s), falls = k_shared(b, T_I64, SIDE, "falls"), last = k_shared(b, T_I64, SIDE, "last");
    k_val n = sk_slot(lw, 0, "row_length"), side = k_i64(b, SIDE), zero = k_i64(b, 0), one = k_i64(b, 1);
    k_val begin = sk_mul(lw, k_piece(b), k_i64(b, SK_RUN_PIECE));
    k_val *x = arena_array(lw->arena, k_val, s->n), *y = arena_array(lw->arena, k_val, s->n);
    k_val lane = k_for_all(b, side);
    k_store(b, falls, lane, zero);
    k_store(b, last, lane, zero);
    k_end(b);
    k_val lone = k_for_few(b, sk_sub(lw, one, sk_min(lw, k_piece(b), one))); /* what has none before it */
    uint32_t mark = sk_scope(lw);
    copy_element(s, lone, x);
    sk_scope_end(lw, mark);
    k_end(b);
    k_val end = sk_min(lw, n, sk_add(lw, begin, k_i64(b, SK_RUN_PIECE)));
    begin = sk_max(lw, begin, one);
    k_val length = sk_sub(lw, end, begin);
    k_val turns = k_let(b, OP_QUOT, sk_add(lw, length, k_i64(b, SIDE - 1)), side, 0);
    k_val from = sk_mul(lw, k_for(b, zero, turns, false), side);
    lane = k_for_all(b, sk_min(lw, side, sk_sub(lw, length, from)));
    mark = sk_scope(lw);
    k_val at = sk_add(lw, sk_add(lw, begin, from), lane), before = sk_sub(lw, at, one);
    sk_sort_bind(s, 0, before, before);
    sk_sort_element(s, 0, s->n, before, y);
    sk_scope_end(lw, mark);
    mark = sk_scope(lw);
    copy_element(s, at, x);
    k_val here = sk_sort_before(s, x, y);
    k_store(b, falls, lane, sk_add(lw, k_load(b, falls, lane), k_select(b, here, one, zero)));
    k_store(b, last, lane, k_select(b, here, at, k_load(b, last, lane)));
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    k_val only = k_for_few(b, one), sum = k_decl(b, zero, "sum"), most = k_decl(b, zero, "most");
    k_val i = sk_add(lw, k_for(b, zero, side, false), only);
    k_set(b, sum, sk_add(lw, k_get(b, sum), k_load(b, falls, i)));
    k_set(b, most, sk_max(lw, k_get(b, most), k_load(b, last, i)));
    k_end(b);
    k_val word = sk_add(lw, sk_mul(lw, k_piece(b), k_i64(b, 2)), only);
    k_store(b, state, word, k_convert(b, OP_CONVERT, T_U64, k_get(b, sum)));
    k_store(b, state, sk_add(lw, word, one), k_convert(b, OP_CONVERT, T_U64, k_get(b, most)));
    k_end(b);
}
