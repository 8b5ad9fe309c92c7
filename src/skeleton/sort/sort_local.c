/* Sorting within the caches: a core takes some neighbours whole, a row or a bucket that a first round by the most
 * significant digit has left, into shared memory, sorts them there by all digits from the least significant one on, and
 * writes them where they belong. A digit in which they are all equal moves nothing. */
#include "skeleton/sort/sort_radix.h"

#include "skeleton/extents.h"

typedef struct local {
    sk_radix_kernel x;
    sk_record record;
    k_mem *room; /* per word of records: two halves of `most` elements each */
    k_mem digit; /* of the elements at hand */
    k_mem table; /* per digit: how many; then where the next one goes */
    int64_t most;
    k_val half;         /* variable: where the elements begin in their room */
    k_val first, count; /* the neighbours: the number of the first one in the array, and how many */
} local;

/* Is a digit of this key found in an instruction or two? Others are found some hundred at a time. */
static bool is_plain(const local *l, uint32_t component)
{
    return !ir_type_float(l->x.s.info->type[component]);
}

/* A walk over the elements, some hundred at a time, whose digits of a component are found before. */
typedef struct walk {
    uint32_t component;
    k_val from, shift;
    k_val k; /* of the walk: an element, */
    k_val i; /* its number among those whose digits are there */
} walk;

static k_val component_at(const local *l, uint32_t component, k_val at)
{
    k_builder *b = &l->x.s.lw->b;
    return sk_record_component(b, &l->record, component, k_load(b, l->room[l->record.part[component].word], at));
}

static void open_walk(local *l, walk *w)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), stage = k_i64(b, SK_STAGE);
    if (is_plain(l, w->component)) {
        w->k = w->i = k_for(b, zero, l->count, false);
        return;
    }
    k_val stages = k_let(b, OP_QUOT, sk_add(lw, l->count, k_i64(b, SK_STAGE - 1)), stage, 0);
    k_val base = sk_mul(lw, k_for(b, zero, stages, false), stage);
    k_val there = sk_min(lw, stage, sk_sub(lw, l->count, base)), lane = k_for_all(b, there);
    k_val key = component_at(l, w->component, sk_add(lw, sk_add(lw, w->from, base), lane));
    k_store(b, l->digit, lane, sk_radix_digit(&l->x, w->component, key, w->shift, T_U32));
    k_end(b);
    w->i = k_for(b, zero, there, false);
    w->k = sk_add(lw, base, w->i);
}

static k_val digit_here(local *l, const walk *w)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    if (!is_plain(l, w->component))
        return k_convert(b, OP_CONVERT, T_I64, k_load(b, l->digit, w->i));
    k_val key = component_at(l, w->component, sk_add(lw, w->from, w->k));
    return sk_radix_digit(&l->x, w->component, key, w->shift, T_I64);
}

static void close_walk(local *l, const walk *w)
{
    k_end(&l->x.s.lw->b);
    if (!is_plain(l, w->component))
        k_end(&l->x.s.lw->b);
}

static void count_digits(local *l, uint32_t component, k_val from, k_val shift)
{
    k_builder *b = &l->x.s.lw->b;
    walk w = {component, from, shift, 0, 0};
    k_val i = k_for_all(b, k_i64(b, l->x.digits));
    k_store(b, l->table, i, k_literal(b, T_U32, 0));
    k_end(b);
    open_walk(l, &w);
    k_val at = digit_here(l, &w);
    k_store(b, l->table, at, k_let(b, OP_ADD, k_load(b, l->table, at), k_literal(b, T_U32, 1), 0));
    close_walk(l, &w);
}

static void sum_up(local *l)
{
    k_builder *b = &l->x.s.lw->b;
    k_val sum = k_decl(b, k_literal(b, T_U32, 0), "sum");
    k_val d = k_for(b, k_i64(b, 0), k_i64(b, l->x.digits), false), before = k_get(b, sum);
    k_set(b, sum, k_let(b, OP_ADD, before, k_load(b, l->table, d), 0));
    k_store(b, l->table, d, before);
    k_end(b);
}

static void move_elements(local *l, uint32_t component, k_val from, k_val to, k_val shift)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    walk w = {component, from, shift, 0, 0};
    open_walk(l, &w);
    k_val d = digit_here(l, &w), place = k_load(b, l->table, d);
    k_store(b, l->table, d, k_let(b, OP_ADD, place, k_literal(b, T_U32, 1), 0));
    k_val at = sk_add(lw, to, k_convert(b, OP_CONVERT, T_I64, place));
    for (uint32_t word = 0; word < l->record.words; word++)
        k_store(b, l->room[word], at, k_load(b, l->room[word], sk_add(lw, from, w.k)));
    close_walk(l, &w);
}

/* One digit. */
static void sort_round(local *l, uint32_t component, k_val shift)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    k_val from = k_get(b, l->half), to = sk_sub(lw, k_i64(b, l->most), from);
    count_digits(l, component, from, shift);
    k_val one = sk_radix_digit(&l->x, component, component_at(l, component, from), shift, T_I64);
    k_val equal = k_convert(b, OP_CONVERT, T_I64, k_load(b, l->table, one));
    k_if(b, k_let(b, OP_LT, equal, l->count, 0));
    sum_up(l);
    move_elements(l, component, from, to, shift);
    k_set(b, l->half, to);
    k_end(b);
}

/* The digits of a key below bit `end`. */
static void sort_by(local *l, uint32_t component, k_val end)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    k_val bits = k_i64(b, l->x.r.bits), up = k_i64(b, l->x.r.bits - 1);
    k_val rounds = k_let(b, OP_QUOT, sk_add(lw, end, up), bits, 0);
    sort_round(l, component, sk_mul(lw, k_for(b, k_i64(b, 0), rounds, false), bits));
    k_end(b);
}

/* What fails while elements are computed leaves others in their place, which are sorted all the same. */
static void take(local *l, k_val row, k_val begin)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    k_val *value = arena_array(lw->arena, k_val, l->x.s.n), *word = arena_array(lw->arena, k_val, l->x.s.n);
    k_val lane = k_for_all(b, l->count);
    uint32_t mark = sk_scope(lw);
    k_val linear = sk_add(lw, l->first, lane);
    sk_sort_bind(&l->x.s, row, sk_add(lw, begin, lane), linear);
    sk_sort_element(&l->x.s, 0, l->x.s.n, linear, value);
    sk_record_words(b, &l->record, value, word);
    for (uint32_t w = 0; w < l->record.words; w++)
        k_store(b, l->room[w], lane, word[w]);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void put(local *l)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    k_val from = k_get(b, l->half), lane = k_for_all(b, l->count);
    for (uint32_t c = 0; c < l->x.s.n; c++)
        k_store(b, l->x.s.to[c], sk_add(lw, l->first, lane), component_at(l, c, sk_add(lw, from, lane)));
    k_end(b);
}

/* The neighbours, by the keys from the last to number `top`, of which bits below `end` matter. */
static void sort_neighbours(local *l, k_val row, k_val begin, uint32_t top, k_val end)
{
    sk_lower *lw = l->x.s.lw;
    k_builder *b = &lw->b;
    l->half = k_decl(b, k_i64(b, 0), "half");
    take(l, row, begin);
    k_if(b, k_let(b, OP_GT, l->count, k_i64(b, 1), 0));
    for (uint32_t c = l->x.s.keys; c-- > top;) {
        ir_type t = l->x.s.info->type[c];
        k_val width = k_i64(b, t == T_BOOL ? 1 : (int64_t)ir_type_size(t) * 8);
        sort_by(l, c, c == top ? end : width);
    }
    k_end(b);
    put(l);
}

static void open_local(local *l, sk_lower *lw, bool composed)
{
    enum { LANES = 16 };
    k_builder *b = &lw->b;
    *l = (local){.x = {.r = sk_unpack_radix(lw->options->row)}};
    l->x.digits = (int64_t)1 << l->x.r.bits;
    sk_sort_begin(&l->x.s, lw, LANES, composed, true);
    l->most = sk_sort_room(l->x.s.info);
    l->record = sk_record_of(lw->arena, l->x.s.info);
    l->room = arena_array(lw->arena, k_mem, l->record.words);
    for (uint32_t w = 0; w < l->record.words; w++)
        l->room[w] = k_shared(b, l->record.word[w].type, 2 * l->most, "room");
    l->digit = k_shared(b, T_U32, SK_STAGE, "digit");
    l->table = k_shared(b, T_U32, l->x.digits, "count");
}

/* slots: 0 row length, 1 rows, 2 rows a piece */
void sk_build_sort_rows(sk_lower *lw)
{
    local of, *l = &of;
    k_builder *b = &lw->b;
    open_local(l, lw, true);
    k_val n = sk_slot(lw, 0, "row_length"), rows = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "rows_a_piece");
    k_val first = sk_mul(lw, k_piece(b), some), row = k_for(b, first, sk_min(lw, rows, sk_add(lw, first, some)), false);
    ir_type t = l->x.s.info->type[0];
    l->first = sk_mul(lw, row, n);
    l->count = sk_min(lw, n, k_i64(b, l->most));
    lw->element = l->first;
    sort_neighbours(l, row, k_i64(b, 0), 0, k_i64(b, t == T_BOOL ? 1 : (int64_t)ir_type_size(t) * 8));
    k_end(b);
}

/* slots: 0 row length, 1 pieces a row, 3 shift, 5 bits of the digit that the buckets were made by. */
void sk_build_sort_buckets(sk_lower *lw)
{
    local of, *l = &of;
    k_builder *b = &lw->b;
    open_local(l, lw, false);
    k_mem state = sk_sort_state(&l->x.s);
    k_val n = sk_slot(lw, 0, "row_length"), pieces = sk_slot(lw, 1, "pieces_a_row"), shift = sk_slot(lw, 3, "shift");
    k_val one = k_i64(b, 1), buckets = k_let(b, OP_SHL, one, sk_slot(lw, 5, "bits"), 0);
    k_val row = k_let(b, OP_QUOT, k_piece(b), buckets, 0),
          last = sk_sub(lw, sk_mul(lw, sk_add(lw, row, one), buckets), one);
    k_val place = k_convert(b, OP_CONVERT, T_I64, k_load(b, state, sk_mul(lw, k_piece(b), pieces)));
    k_val end = k_decl(b, n, "end");
    k_if(b, k_let(b, OP_LT, k_piece(b), last, 0));
    k_set(b, end, k_convert(b, OP_CONVERT, T_I64, k_load(b, state, sk_mul(lw, sk_add(lw, k_piece(b), one), pieces))));
    k_end(b);
    l->first = sk_add(lw, sk_mul(lw, row, n), place);
    l->count = sk_min(lw, sk_sub(lw, k_get(b, end), place), k_i64(b, l->most));
    lw->element = l->first;
    sort_neighbours(l, row, place, l->x.r.component, shift);
}
