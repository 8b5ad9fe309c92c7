/* Sorting by digits where a block is many threads (Satish, Harris, Garland 2009). A block counts the digits of its
 * piece by atomics in shared memory. What comes before a piece's elements of a digit is summed up digit by digit. To
 * move elements the block sorts its piece by the digit in shared memory, stably, some bits at a time: a thread has
 * neighbouring elements, and counters of its own; counters of all threads are summed up in the order of digits and then
 * of threads. After that neighbouring elements mostly go to neighbouring places. What is sorted are the digits and
 * where elements are in the piece, in a word. */
#include "skeleton/sort/sort_radix.h"

#include "skeleton/extents.h"

typedef sk_radix_kernel radix;

static void begin(radix *x, sk_lower *lw, bool moves)
{
    sk_radix_begin(x, lw, 1, moves);
    lw->out->k->group = (uint16_t)smaller(sk_radix_threads(lw->options), lw->options->group);
}

static k_val as(k_builder *b, ir_type t, k_val v)
{
    return b->k->value.at[v].type == t ? v : k_convert(b, OP_CONVERT, t, v);
}

static k_val word(k_builder *b, ir_bits bits)
{
    return k_literal(b, T_U32, bits);
}

/* --- counting --- */

enum { TABLES = 4 }; /* neighbouring threads count in different ones */

typedef struct seen { /* of the bits of a key: those that any element has had, and that all have had */
    k_mem any, all;
    ir_type type;
    ir_bits ones;
} seen;

static seen *open_seen(radix *x)
{
    k_builder *b = &x->s.lw->b;
    seen *of = arena_array(x->s.lw->arena, *of, x->s.keys);
    for (uint32_t k = 0; k < x->s.keys && x->r.first; k++) {
        ir_type u = ir_type_unsigned(ir_type_size(x->s.info->type[k]));
        of[k].type = u == T_U64 ? T_U64 : T_U32; /* those that have atomics */
        of[k].ones = ir_type_size(u) == 8 ? UINT64_MAX : ((ir_bits)1 << ir_type_size(u) * 8) - 1;
        of[k].any = k_shared(b, of[k].type, 1, "any");
        of[k].all = k_shared(b, of[k].type, 1, "all");
    }
    if (!x->r.first)
        return of;
    k_val one = k_for_few(b, k_i64(b, 1));
    for (uint32_t k = 0; k < x->s.keys; k++) {
        k_store(b, of[k].any, one, k_literal(b, of[k].type, 0));
        k_store(b, of[k].all, one, k_literal(b, of[k].type, of[k].ones));
    }
    k_end(b);
    return of;
}

static void close_seen(radix *x, const seen *of, k_mem state)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    if (!x->r.first)
        return;
    k_val one = k_for_few(b, k_i64(b, 1));
    for (uint32_t k = 0; k < x->s.keys; k++) {
        k_val at = sk_add(lw, sk_radix_bits_at(x, k), one);
        k_store(b, state, at, as(b, T_U64, k_load(b, of[k].any, one)));
        k_store(b, state, sk_add(lw, at, k_i64(b, 1)), as(b, T_U64, k_load(b, of[k].all, one)));
    }
    k_end(b);
}

/* Element k of the piece: its keys join what the thread has seen, and its digit is counted. */
static void count_element(radix *x, k_mem table, k_val from, k_val k, k_val *any, k_val *all)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val *key = arena_array(lw->arena, k_val, x->s.keys + 1);
    if (x->r.first)
        sk_radix_element(x, k, 0, x->s.keys, key);
    else
        key[x->r.component] = sk_radix_key(x, k);
    for (uint32_t i = 0; i < x->s.keys && x->r.first; i++) {
        ir_type t = (ir_type)b->k->value.at[any[i]].type;
        k_val bits = as(b, t, sk_order_bits(b, x->s.info->type[i], key[i], x->s.descending));
        k_set(b, any[i], k_let(b, OP_BIT_OR, k_get(b, any[i]), bits, 0));
        k_set(b, all[i], k_let(b, OP_BIT_AND, k_get(b, all[i]), bits, 0));
    }
    k_atomic(b, OP_ADD, table, sk_add(lw, from, sk_radix_own_digit(x, key[x->r.component], T_I64)), word(b, 1));
    sk_scope_end(lw, mark);
}

static void count_elements(radix *x, k_mem table, const seen *of)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    const int64_t threads = sk_radix_threads(lw->options);
    k_val *any = arena_array(lw->arena, k_val, 2 * x->s.keys), *all = any + x->s.keys;
    k_val thread = k_for_all(b, k_i64(b, threads));
    k_val own = k_let(b, OP_BIT_AND, thread, k_i64(b, TABLES - 1), 0), from = sk_mul(lw, own, k_i64(b, x->digits + 1));
    for (uint32_t i = 0; i < x->s.keys && x->r.first; i++) {
        any[i] = k_decl(b, k_literal(b, of[i].type, 0), "any");
        all[i] = k_decl(b, k_literal(b, of[i].type, of[i].ones), "all");
    }
    k_val round = k_for(b, k_i64(b, 0), k_i64(b, SK_RADIX_ITEMS), !x->r.first);
    k_val k = sk_add(lw, sk_mul(lw, round, k_i64(b, threads)), thread);
    k_if(b, k_let(b, OP_LT, k, x->count, 0));
    count_element(x, table, from, k, any, all);
    k_end(b);
    k_end(b);
    for (uint32_t i = 0; i < x->s.keys && x->r.first; i++) {
        k_atomic(b, OP_BIT_OR, of[i].any, k_i64(b, 0), k_get(b, any[i]));
        k_atomic(b, OP_BIT_AND, of[i].all, k_i64(b, 0), k_get(b, all[i]));
    }
    k_end(b);
}

void sk_radix_count_by_threads(sk_lower *lw)
{
    radix of, *x = &of;
    k_builder *b = &lw->b;
    begin(x, lw, false);
    const int64_t apart = x->digits + 1;
    k_mem state = sk_sort_state(&x->s), table = k_shared(b, T_U32, TABLES * apart, "count");
    seen *bits = open_seen(x);
    k_store(b, table, k_for_all(b, k_i64(b, TABLES * apart)), word(b, 0));
    k_end(b);
    count_elements(x, table, bits);
    k_val digit = k_for_all(b, k_i64(b, x->digits)), sum = k_load(b, table, digit);
    for (int64_t t = 1; t < TABLES; t++)
        sum = k_let(b, OP_ADD, sum, k_load(b, table, sk_add(lw, digit, k_i64(b, t * apart))), 0);
    k_store(b, state, sk_radix_count_at(x, digit), as(b, T_U64, sum));
    k_end(b);
    close_seen(x, bits, state);
}

/* --- sums --- */

/* Each of them becomes the sum of itself and the one `before` it. */
static void add_before(sk_lower *lw, k_mem from, k_mem to, int64_t n, k_val before)
{
    k_builder *b = &lw->b;
    k_val i = k_for_all(b, k_i64(b, n)), own = k_load(b, from, i), sum = k_decl(b, own, "sum");
    k_if(b, k_let(b, OP_GE, i, before, 0));
    k_set(b, sum, k_let(b, OP_ADD, k_load(b, from, sk_sub(lw, i, before)), own, 0));
    k_end(b);
    k_store(b, to, i, k_get(b, sum));
    k_end(b);
}

/* Of numbers in shared memory, one a thread: sums of all up to each, in each turn of twice as many; two turns a round,
 * there and back. */
static void sum_up(sk_lower *lw, k_mem sums, k_mem others, int64_t n)
{
    k_builder *b = &lw->b;
    int64_t rounds = 0;
    while ((int64_t)1 << 2 * rounds < n)
        rounds++;
    k_val round = k_for(b, k_i64(b, 0), k_i64(b, rounds), false);
    k_val before = k_let(b, OP_SHL, k_i64(b, 1), sk_mul(lw, round, k_i64(b, 2)), 0);
    add_before(lw, sums, others, n, before);
    add_before(lw, others, sums, n, sk_mul(lw, before, k_i64(b, 2)));
    k_end(b);
}

/* What comes before number i of those that have been summed up. */
static k_val sum_before(sk_lower *lw, k_mem sums, k_val i, ir_type t)
{
    k_builder *b = &lw->b;
    k_val before = k_load(b, sums, sk_max(lw, sk_sub(lw, i, k_i64(b, 1)), k_i64(b, 0)));
    return k_select(b, k_let(b, OP_GT, i, k_i64(b, 0), 0), before, k_literal(b, t, 0));
}

/* --- places --- */

/* Where the state says how many elements of a digit a row has. */
static k_val total_at(radix *x, k_val rows, k_val pieces, k_val row_digit)
{
    sk_lower *lw = x->s.lw;
    k_val of_piece = k_i64(&lw->b, ((int64_t)1 << x->r.bits) + 2 * x->s.keys);
    return sk_add(lw, sk_mul(lw, sk_mul(lw, rows, pieces), of_piece), row_digit);
}

/* Adds up words from `first` on, but not beyond `end`; `replace`: each becomes what comes before it. */
static void walk_words(sk_lower *lw, k_mem state, k_val first, k_val length, k_val end, k_val sum, bool replace)
{
    k_builder *b = &lw->b;
    k_val i = sk_add(lw, first, k_for(b, k_i64(b, 0), length, false));
    k_if(b, k_let(b, OP_LT, i, end, 0));
    k_val here = k_load(b, state, i), before = k_get(b, sum);
    if (replace)
        k_store(b, state, i, before);
    k_set(b, sum, k_let(b, OP_ADD, before, here, 0));
    k_end(b);
    k_end(b);
}

/* A block takes a digit of a row. */
static void places_of_digit(radix *x, k_mem state, k_val pieces, k_val total)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    const int64_t threads = sk_radix_threads(lw->options);
    k_mem sums = k_shared(b, T_U64, threads, "sum"), others = k_shared(b, T_U64, threads, "sum");
    k_val zero = k_literal(b, T_U64, 0), base = sk_mul(lw, k_piece(b), pieces), end = sk_add(lw, base, pieces);
    k_val length = k_let(b, OP_QUOT, sk_add(lw, pieces, k_i64(b, threads - 1)), k_i64(b, threads), 0);
    k_val thread = k_for_all(b, k_i64(b, threads)), sum = k_decl(b, zero, "sum");
    walk_words(lw, state, sk_add(lw, base, sk_mul(lw, thread, length)), length, end, sum, false);
    k_store(b, sums, thread, k_get(b, sum));
    k_end(b);
    sum_up(lw, sums, others, threads);
    thread = k_for_all(b, k_i64(b, threads));
    sum = k_decl(b, sum_before(lw, sums, thread, T_U64), "sum");
    walk_words(lw, state, sk_add(lw, base, sk_mul(lw, thread, length)), length, end, sum, true);
    k_end(b);
    k_val one = k_for_few(b, k_i64(b, 1));
    k_store(b, state, sk_add(lw, total, one), k_load(b, sums, sk_add(lw, one, k_i64(b, threads - 1))));
    k_end(b);
}

/* slots: 1 pieces a row, 4 rows */
void sk_radix_places_by_threads(sk_lower *lw)
{
    radix of = {.r = sk_unpack_radix(lw->options->row)}, *x = &of;
    k_builder *b = &lw->b;
    const int64_t digits = (int64_t)1 << x->r.bits;
    sk_sort_begin(&x->s, lw, 1, false, false);
    lw->out->k->group = (uint16_t)smaller(sk_radix_threads(lw->options), lw->options->group);
    k_mem state = sk_sort_state(&x->s);
    k_val pieces = sk_slot(lw, 1, "pieces_a_row"), rows = sk_slot(lw, 4, "rows");
    if (!x->r.first) {
        places_of_digit(x, state, pieces, total_at(x, rows, pieces, k_piece(b)));
        return;
    }
    k_val digit = k_for_all(b, k_i64(b, digits)), number = sk_add(lw, sk_mul(lw, k_piece(b), k_i64(b, digits)), digit);
    k_val base = sk_mul(lw, number, pieces), sum = k_decl(b, k_literal(b, T_U64, 0), "sum");
    walk_words(lw, state, base, pieces, sk_add(lw, base, pieces), sum, true);
    k_store(b, state, total_at(x, rows, pieces, number), k_get(b, sum));
    k_end(b);
}

/* --- moving --- */

/* A word: the digit, where the element is in the piece, and how many elements of the step's digit the thread had
 * before. */
enum {
    DIGIT_BITS = 8,
    PLACE_BITS = 12,
    RANK_AT = DIGIT_BITS + PLACE_BITS,
    BANKS = 32,
    STEP_DIGITS = 1 << SK_RADIX_STEP
};
/* Bits of a packed sum that are of the piece; above that it is of the row. */
enum { OF_PIECE = 16 };

typedef struct mover {
    radix *x;
    int64_t threads, size;
    k_mem kept, table, own; /* words; counters; a thread's words */
    k_mem sums, others;     /* of the threads' counters */
    k_mem start;            /* per digit: where its first element goes, less where that is in the sorted piece */
} mover;

/* Words that lie 16 apart are not all in the same bank. i: 32 bits. */
static k_val spread(const mover *m, k_val i)
{
    k_builder *b = &m->x->s.lw->b;
    k_val before = k_let(b, OP_SHR, i, word(b, __builtin_ctz(BANKS)), 0);
    return as(b, T_I64, k_let(b, OP_ADD, i, before, 0));
}

_Static_assert((int)STEP_DIGITS == (int)SK_RADIX_ITEMS, "a thread adds up as many counters as it has elements");

/* Number i, an index, of the thread's words, or of the counters that it adds up. */
static k_val own_at(const mover *m, k_val thread, k_val i)
{
    k_builder *b = &m->x->s.lw->b;
    k_val first = k_let(b, OP_MUL, as(b, T_U32, thread), word(b, SK_RADIX_ITEMS), 0);
    return spread(m, k_let(b, OP_ADD, first, as(b, T_U32, i), 0));
}

static int64_t spread_words(int64_t n)
{
    return n + n / BANKS + 1;
}

static k_val bits_of(const mover *m, k_val from, k_val at, int64_t bits)
{
    k_builder *b = &m->x->s.lw->b;
    return k_let(b, OP_BIT_AND, k_let(b, OP_SHR, from, at, 0), word(b, ((ir_bits)1 << bits) - 1), 0);
}

/* Behind the last element there are words with the last digit, which stay there. */
static void keep_digits(mover *m)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val k = k_for_all(b, k_i64(b, m->size));
    k_if(b, k_let(b, OP_LT, k, x->count, 0));
    uint32_t mark = sk_scope(lw);
    k_val place = k_let(b, OP_SHL, as(b, T_U32, k), word(b, DIGIT_BITS), 0);
    k_val digit = sk_radix_own_digit(x, sk_radix_key(x, k), T_U32);
    k_store(b, m->kept, spread(m, as(b, T_U32, k)), k_let(b, OP_BIT_OR, place, digit, 0));
    sk_scope_end(lw, mark);
    k_else(b);
    k_store(b, m->kept, spread(m, as(b, T_U32, k)), word(b, (ir_bits)x->digits - 1));
    k_end(b);
    k_end(b);
}

/* The counter of a word's digit, of a thread. */
static k_val counter_at(const mover *m, k_val kept, k_val thread, k_val shift)
{
    k_builder *b = &m->x->s.lw->b;
    k_val digit = bits_of(m, kept, shift, SK_RADIX_STEP);
    k_val first = k_let(b, OP_MUL, digit, word(b, (ir_bits)m->threads), 0);
    return spread(m, k_let(b, OP_ADD, first, as(b, T_U32, thread), 0));
}

/* Each thread counts the digits of its elements, and keeps these with their ranks. */
static void rank_words(mover *m, k_val shift)
{
    sk_lower *lw = m->x->s.lw;
    k_builder *b = &lw->b;
    k_store(b, m->table, k_for_all(b, k_i64(b, spread_words(m->threads * STEP_DIGITS))), word(b, 0));
    k_end(b);
    k_val thread = k_for_all(b, k_i64(b, m->threads)), i = k_for(b, k_i64(b, 0), k_i64(b, SK_RADIX_ITEMS), true);
    k_val kept = k_load(b, m->kept, own_at(m, thread, i));
    k_val at = counter_at(m, kept, thread, shift), rank = k_load(b, m->table, at);
    k_store(b, m->table, at, k_let(b, OP_ADD, rank, word(b, 1), 0));
    k_store(b, m->own, i, k_let(b, OP_BIT_OR, kept, k_let(b, OP_SHL, rank, word(b, RANK_AT), 0), 0));
    k_end(b);
    k_end(b);
}

/* Counters become what comes before. A thread adds up as many as there are digits. */
static void sum_counters(mover *m)
{
    sk_lower *lw = m->x->s.lw;
    k_builder *b = &lw->b;
    k_val some = k_i64(b, STEP_DIGITS), thread = k_for_all(b, k_i64(b, m->threads)), sum = k_decl(b, word(b, 0), "sum");
    k_val i = k_for(b, k_i64(b, 0), some, true), at = own_at(m, thread, i);
    k_set(b, sum, k_let(b, OP_ADD, k_get(b, sum), k_load(b, m->table, at), 0));
    k_end(b);
    k_store(b, m->sums, thread, k_get(b, sum));
    k_end(b);
    sum_up(lw, m->sums, m->others, m->threads);
    thread = k_for_all(b, k_i64(b, m->threads));
    sum = k_decl(b, sum_before(lw, m->sums, thread, T_U32), "sum");
    i = k_for(b, k_i64(b, 0), some, true);
    at = own_at(m, thread, i);
    k_val before = k_get(b, sum);
    k_set(b, sum, k_let(b, OP_ADD, before, k_load(b, m->table, at), 0));
    k_store(b, m->table, at, before);
    k_end(b);
    k_end(b);
}

/* Words go to where their digits belong. */
static void order_words(mover *m, k_val shift)
{
    sk_lower *lw = m->x->s.lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, m->threads)), i = k_for(b, k_i64(b, 0), k_i64(b, SK_RADIX_ITEMS), true);
    k_val own = k_load(b, m->own, i), rank = k_let(b, OP_SHR, own, word(b, RANK_AT), 0);
    k_val at = k_let(b, OP_ADD, k_load(b, m->table, counter_at(m, own, thread, shift)), rank, 0);
    k_store(b, m->kept, spread(m, at), k_let(b, OP_BIT_AND, own, word(b, (1u << RANK_AT) - 1), 0));
    k_end(b);
    k_end(b);
}

/* Where elements of each digit go: the row's elements of smaller digits, and those of the same digit of pieces before,
 * come first. How many the piece has is what the state says of the next piece. */
static void find_starts(mover *m, k_mem state)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_mem packed = k_shared(b, T_U64, x->digits, "sum"), others = k_shared(b, T_U64, x->digits, "sum");
    k_val rows = sk_slot(lw, 4, "rows"), first_digit = sk_mul(lw, x->row, k_i64(b, x->digits));
    k_val digit = k_for_all(b, k_i64(b, x->digits)), at = sk_radix_count_at(x, digit), before = k_load(b, state, at);
    k_val total = k_load(b, state, total_at(x, rows, x->pieces, sk_add(lw, first_digit, digit)));
    k_val end = k_decl(b, total, "end"), next = sk_add(lw, x->number, k_i64(b, 1));
    k_if(b, k_let(b, OP_LT, next, x->pieces, 0));
    k_set(b, end, k_load(b, state, sk_add(lw, at, k_i64(b, 1))));
    k_end(b);
    k_val above = k_let(b, OP_SHL, total, k_literal(b, T_U64, OF_PIECE), 0);
    k_store(b, packed, digit, k_let(b, OP_ADD, above, k_let(b, OP_SUB, k_get(b, end), before, 0), 0));
    k_store(b, m->start, digit, as(b, T_I64, before));
    k_end(b);
    sum_up(lw, packed, others, x->digits);
    digit = k_for_all(b, k_i64(b, x->digits));
    k_val sum = sum_before(lw, packed, digit, T_U64);
    k_val here = as(b, T_I64, k_let(b, OP_BIT_AND, sum, k_literal(b, T_U64, (1u << OF_PIECE) - 1), 0));
    k_val smaller_ones = as(b, T_I64, k_let(b, OP_SHR, sum, k_literal(b, T_U64, OF_PIECE), 0));
    k_val start = sk_add(lw, sk_mul(lw, x->row, x->n), sk_add(lw, k_load(b, m->start, digit), smaller_ones));
    k_store(b, m->start, digit, sk_sub(lw, start, here));
    k_end(b);
}

/* Does a component of the piece find room in shared memory, when counters are no longer needed? */
static bool is_staged(const mover *m, uint32_t c)
{
    return ir_type_size(m->x->s.info->type[c]) <= sizeof(uint32_t);
}

static void move_component(mover *m, uint32_t c)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_mem staged = is_staged(m, c) ? k_shared(b, x->s.info->type[c], m->size, "staged") : 0;
    k_val value = 0;
    if (staged) {
        k_val k = k_for_all(b, x->count);
        uint32_t mark = sk_scope(lw);
        sk_radix_element(x, k, c, c + 1, &value);
        k_store(b, staged, k, value);
        sk_scope_end(lw, mark);
        k_end(b);
    }
    k_val i = k_for_all(b, x->count), kept = k_load(b, m->kept, spread(m, as(b, T_U32, i)));
    uint32_t mark = sk_scope(lw);
    k_val place = as(b, T_I64, bits_of(m, kept, word(b, DIGIT_BITS), PLACE_BITS));
    k_val to = sk_add(lw, k_load(b, m->start, as(b, T_I64, bits_of(m, kept, word(b, 0), DIGIT_BITS))), i);
    if (staged)
        value = k_load(b, staged, place);
    else
        sk_radix_element(x, place, c, c + 1, &value);
    k_store(b, x->s.to[c], to, value);
    sk_scope_end(lw, mark);
    k_end(b);
}

void sk_radix_move_by_threads(sk_lower *lw)
{
    radix of;
    k_builder *b = &lw->b;
    begin(&of, lw, true);
    mover at = {.x = &of, .threads = sk_radix_threads(lw->options), .size = sk_radix_piece(lw->options)}, *m = &at;
    k_mem state = sk_sort_state(&of.s);
    m->kept = k_shared(b, T_U32, spread_words(m->size), "kept");
    m->table = k_shared(b, T_U32, spread_words(m->threads * STEP_DIGITS), "count");
    m->sums = k_shared(b, T_U32, m->threads, "sum");
    m->others = k_shared(b, T_U32, m->threads, "sum");
    m->start = k_shared(b, T_I64, of.digits, "start");
    m->own = k_private(b, T_U32, SK_RADIX_ITEMS, "own");
    keep_digits(m);
    k_val step = k_for(b, k_i64(b, 0), k_i64(b, of.r.bits / SK_RADIX_STEP), false);
    k_val shift = as(b, T_U32, sk_mul(lw, step, k_i64(b, SK_RADIX_STEP)));
    rank_words(m, shift);
    sum_counters(m);
    order_words(m, shift);
    k_end(b);
    find_starts(m, state);
    for (uint32_t c = 0; c < of.s.n; c++)
        move_component(m, c);
    lw->out->k->threads = (uint32_t)m->threads; /* that have words of their own */
}
