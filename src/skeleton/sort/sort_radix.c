/* Sorting by digits of the keys, from the last key's least significant to the first key's most significant one, each
 * time stably (LSD radix sort; Satish, Harris, Garland 2009 for blocks of many threads). A round is three launches:
 * each piece counts its digits; what comes before each piece's digits, in the order of digits and then of pieces, is
 * summed up; the pieces' elements go to these places. The first round also finds the bits in which keys differ at all:
 * the host makes rounds of those only.
 *
 * A core takes a piece element by element. Where results do not fit in the caches it gathers lines of them, of each
 * digit, in shared memory, and writes whole ones past the caches (Wassenberg, Sanders 2011). Blocks of many threads
 * sort their pieces in shared memory first (sort_threads.c). */
#include "skeleton/sort/sort_radix.h"

#include "skeleton/extents.h"

enum { STAGE = SK_STAGE, TABLES = 4 };

int64_t sk_pack_radix(sk_radix r)
{
    return 1 | r.component << 1 | r.bits << 8 | r.first << 13 | r.buffers << 14;
}

sk_radix sk_unpack_radix(int64_t row)
{
    return (sk_radix){row >> 1 & 127, row >> 8 & 31, row >> 13 & 1, row >> 14 & 1};
}

typedef sk_radix_kernel radix; /* being built */

void sk_radix_begin(sk_radix_kernel *x, sk_lower *lw, uint16_t lanes, bool moves)
{
    k_builder *b = &lw->b;
    *x = (radix){.r = sk_unpack_radix(lw->options->row)};
    x->digits = (int64_t)1 << x->r.bits;
    sk_sort_begin(&x->s, lw, lanes, x->r.first, moves);
    x->n = sk_slot(lw, 0, "row_length");
    x->pieces = sk_slot(lw, 1, "pieces_a_row");
    x->size = lw->options->group ? k_i64(b, sk_radix_piece(lw->options)) : sk_slot(lw, 2, "piece_length");
    x->shift = sk_slot(lw, 3, "shift");
    x->row = k_let(b, OP_QUOT, k_piece(b), x->pieces, 0);
    x->number = sk_sub(lw, k_piece(b), sk_mul(lw, x->row, x->pieces));
    x->begin = sk_mul(lw, x->number, x->size);
    x->count = sk_min(lw, x->size, sk_sub(lw, x->n, x->begin));
    x->linear = sk_add(lw, sk_mul(lw, x->row, x->n), x->begin);
    lw->element = x->linear;
}

static k_val as(k_builder *b, ir_type t, k_val v)
{
    return b->k->value.at[v].type == t ? v : k_convert(b, OP_CONVERT, t, v);
}

k_val sk_radix_digit(sk_radix_kernel *x, uint32_t component, k_val key, k_val shift, ir_type as_type)
{
    k_builder *b = &x->s.lw->b;
    ir_type t = x->s.info->type[component], u = ir_type_unsigned(ir_type_size(t));
    k_val bits = sk_order_bits(b, t, key, x->s.descending);
    k_val moved = k_let(b, OP_SHR, bits, as(b, u, shift), 0);
    ir_bits mask = (ir_bits)x->digits - 1, all = ir_type_size(u) == 1 ? 0xFF : UINT64_MAX;
    return as(b, as_type, k_let(b, OP_BIT_AND, moved, k_literal(b, u, mask & all), 0));
}

k_val sk_radix_own_digit(sk_radix_kernel *x, k_val key, ir_type as_type)
{
    return sk_radix_digit(x, x->r.component, key, x->shift, as_type);
}

void sk_radix_element(sk_radix_kernel *x, k_val k, uint32_t first, uint32_t end, k_val *out)
{
    sk_lower *lw = x->s.lw;
    k_val linear = sk_add(lw, x->linear, k);
    sk_sort_bind(&x->s, x->row, sk_add(lw, x->begin, k), linear);
    sk_sort_element(&x->s, first, end, linear, out);
}

k_val sk_radix_key(sk_radix_kernel *x, k_val k)
{
    k_val key = 0;
    sk_radix_element(x, k, x->r.component, x->r.component + 1u, &key);
    return key;
}

k_val sk_radix_count_at(sk_radix_kernel *x, k_val digit)
{
    sk_lower *lw = x->s.lw;
    k_val row = sk_mul(lw, x->row, k_i64(&lw->b, x->digits));
    return sk_add(lw, sk_mul(lw, sk_add(lw, row, digit), x->pieces), x->number);
}

k_val sk_radix_bits_at(sk_radix_kernel *x, uint32_t key)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val before = sk_mul(lw, sk_mul(lw, sk_slot(lw, 4, "rows"), x->pieces), k_i64(b, x->digits));
    return sk_add(lw, before, sk_add(lw, sk_mul(lw, k_piece(b), k_i64(b, 2 * x->s.keys)), k_i64(b, 2 * key)));
}

/* --- counting --- */

typedef struct seen { /* of the bits of keys, for each of some lanes: those that any has had, and that all have had */
    k_mem *any, *all;
} seen;

static seen open_seen(radix *x, int64_t lanes)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    seen of = {arena_array(lw->arena, k_mem, x->s.keys), arena_array(lw->arena, k_mem, x->s.keys)};
    if (!x->r.first)
        return of;
    for (uint32_t k = 0; k < x->s.keys; k++) {
        ir_type u = ir_type_unsigned(ir_type_size(x->s.info->type[k]));
        of.any[k] = k_shared(b, u, lanes, "any");
        of.all[k] = k_shared(b, u, lanes, "all");
    }
    k_val lane = k_for_all(b, k_i64(b, lanes));
    for (uint32_t k = 0; k < x->s.keys; k++) {
        ir_type u = ir_type_unsigned(ir_type_size(x->s.info->type[k]));
        ir_bits ones = ir_type_size(u) == 8 ? UINT64_MAX : ((ir_bits)1 << ir_type_size(u) * 8) - 1;
        k_store(b, of.any[k], lane, k_literal(b, u, 0));
        k_store(b, of.all[k], lane, k_literal(b, u, ones));
    }
    k_end(b);
    return of;
}

/* The keys of element k of the piece join what lane has seen. Returns the one that is counted. */
static k_val see(radix *x, const seen *of, k_val lane, k_val k)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    if (!x->r.first)
        return sk_radix_key(x, k);
    k_val *key = arena_array(lw->arena, k_val, x->s.keys);
    sk_radix_element(x, k, 0, x->s.keys, key);
    for (uint32_t i = 0; i < x->s.keys; i++) {
        k_val bits = sk_order_bits(b, x->s.info->type[i], key[i], x->s.descending);
        k_store(b, of->any[i], lane, k_let(b, OP_BIT_OR, k_load(b, of->any[i], lane), bits, 0));
        k_store(b, of->all[i], lane, k_let(b, OP_BIT_AND, k_load(b, of->all[i], lane), bits, 0));
    }
    return key[x->r.component];
}

static void close_seen(radix *x, const seen *of, k_mem state, int64_t lanes)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    if (!x->r.first)
        return;
    k_val one = k_for_few(b, k_i64(b, 1));
    for (uint32_t k = 0; k < x->s.keys; k++) {
        ir_type u = ir_type_unsigned(ir_type_size(x->s.info->type[k]));
        k_val any = k_decl(b, k_load(b, of->any[k], one), "any"), all = k_decl(b, k_load(b, of->all[k], one), "all");
        k_val lane = k_for(b, k_i64(b, 1), k_i64(b, lanes), false);
        k_set(b, any, k_let(b, OP_BIT_OR, k_get(b, any), k_load(b, of->any[k], lane), 0));
        k_set(b, all, k_let(b, OP_BIT_AND, k_get(b, all), k_load(b, of->all[k], lane), 0));
        k_end(b);
        (void)u;
        k_store(b, state, sk_add(lw, sk_radix_bits_at(x, k), one), as(b, T_U64, k_get(b, any)));
        k_store(b, state, sk_add(lw, sk_add(lw, sk_radix_bits_at(x, k), k_i64(b, 1)), one),
                as(b, T_U64, k_get(b, all)));
    }
    k_end(b);
}

/* A core: digits of some hundred elements at a time, then one after the other; neighbours that are equal count in
 * different tables. */
static void count_one_by_one(radix *x, k_mem table, k_mem staged, const seen *of)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val stage = k_i64(b, STAGE), zero = k_i64(b, 0), one = k_literal(b, T_U32, 1);
    k_val stages = k_let(b, OP_QUOT, sk_add(lw, x->count, k_i64(b, STAGE - 1)), stage, 0);
    k_val base = sk_mul(lw, k_for(b, zero, stages, false), stage);
    k_val there = sk_min(lw, stage, sk_sub(lw, x->count, base)), lane = k_for_all(b, there);
    uint32_t mark = sk_scope(lw);
    k_val key = see(x, of, lane, sk_add(lw, base, lane));
    k_store(b, staged, lane, sk_radix_own_digit(x, key, T_U32));
    sk_scope_end(lw, mark);
    k_end(b);
    k_val fours = k_let(b, OP_QUOT, there, k_i64(b, TABLES), 0);
    k_val i = sk_mul(lw, k_for(b, zero, fours, false), k_i64(b, TABLES));
    for (int64_t t = 0; t < TABLES; t++) {
        k_val digit = as(b, T_I64, k_load(b, staged, sk_add(lw, i, k_i64(b, t))));
        k_val at = sk_add(lw, digit, k_i64(b, t * x->digits));
        k_store(b, table, at, k_let(b, OP_ADD, k_load(b, table, at), one, 0));
    }
    k_end(b);
    k_val rest = k_for(b, sk_mul(lw, fours, k_i64(b, TABLES)), there, false);
    k_val at = as(b, T_I64, k_load(b, staged, rest));
    k_store(b, table, at, k_let(b, OP_ADD, k_load(b, table, at), one, 0));
    k_end(b);
    k_end(b);
}

static void clear_table(radix *x, k_mem table, int64_t count)
{
    k_builder *b = &x->s.lw->b;
    k_val i = k_for_all(b, k_i64(b, count));
    k_store(b, table, i, k_literal(b, T_U32, 0));
    k_end(b);
}

void sk_build_sort_count(sk_lower *lw)
{
    enum { LANES = 16 };
    radix of, *x = &of;
    k_builder *b = &lw->b;
    if (lw->options->group) {
        sk_radix_count_by_threads(lw);
        return;
    }
    sk_radix_begin(x, lw, LANES, false);
    k_mem state = sk_sort_state(&x->s), table = k_shared(b, T_U32, x->digits * TABLES, "count");
    k_mem staged = k_shared(b, T_U32, STAGE, "digit");
    seen bits = open_seen(x, STAGE);
    clear_table(x, table, x->digits * TABLES);
    count_one_by_one(x, table, staged, &bits);
    k_val digit = k_for_all(b, k_i64(b, x->digits)), sum = 0;
    for (int64_t t = 0; t < TABLES; t++) {
        k_val part = k_load(b, table, sk_add(lw, digit, k_i64(b, t * x->digits)));
        sum = sum ? k_let(b, OP_ADD, sum, part, 0) : part;
    }
    k_store(b, state, sk_radix_count_at(x, digit), as(b, T_U64, sum));
    k_end(b);
    close_seen(x, &bits, state, STAGE);
}

/* --- places --- */

/* slots: 0 row length, 1 pieces a row. A core takes a row. */
void sk_build_sort_places(sk_lower *lw)
{
    radix of = {.r = sk_unpack_radix(lw->options->row)}, *x = &of;
    k_builder *b = &lw->b;
    if (lw->options->group) {
        sk_radix_places_by_threads(lw);
        return;
    }
    sk_sort_begin(&x->s, lw, 1, false, false);
    k_mem state = sk_sort_state(&x->s);
    k_val words = sk_mul(lw, sk_slot(lw, 1, "pieces_a_row"), k_i64(b, (int64_t)1 << x->r.bits));
    k_val base = sk_mul(lw, k_piece(b), words), one = k_for_few(b, k_i64(b, 1));
    k_val sum = k_decl(b, k_literal(b, T_U64, 0), "sum");
    k_val i = sk_add(lw, sk_add(lw, base, k_for(b, k_i64(b, 0), words, false)), one);
    k_val word = k_load(b, state, i), before = k_get(b, sum);
    k_store(b, state, i, before);
    k_set(b, sum, k_let(b, OP_ADD, before, word, 0));
    k_end(b);
    k_end(b);
}

/* --- moving --- */

/* Where the next element of each digit goes in the array. */
static k_val place_before(radix *x, k_mem state, k_val digit)
{
    sk_lower *lw = x->s.lw;
    k_val before = as(&lw->b, T_I64, k_load(&lw->b, state, sk_radix_count_at(x, digit)));
    return sk_add(lw, sk_mul(lw, x->row, x->n), before);
}

typedef struct mover { /* a core */
    radix *x;
    k_mem place, start; /* per digit: the next element's, and the piece's first */
    k_mem digit;        /* of the elements at hand */
    sk_record record;   /* of an element */
    k_mem *staged;      /* per word: of the elements at hand, where they come from the program */
    k_mem *line;        /* per word: elements gathered of each digit */
    int64_t length;     /* of a line; 0: none are */
    k_val skew;         /* how many elements the first line lacks */
} mover;

/* Digits, and elements of the program, of some hundred at a time. What fails has failed in counting if it is a key;
 * else its digit is known before. */
static k_val stage_elements(mover *m, k_val base)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val there = sk_min(lw, k_i64(b, STAGE), sk_sub(lw, x->count, base)), lane = k_for_all(b, there);
    uint32_t mark = sk_scope(lw);
    k_val k = sk_add(lw, base, lane), *value = arena_array(lw->arena, k_val, 2 * x->s.n), *word = value + x->s.n;
    k_store(b, m->digit, lane, sk_radix_own_digit(x, sk_radix_key(x, k), T_U32));
    if (x->s.element) {
        sk_sort_element(&x->s, 0, x->s.n, sk_add(lw, x->linear, k), value);
        sk_record_words(b, &m->record, value, word);
        for (uint32_t w = 0; w < m->record.words; w++)
            k_store(b, m->staged[w], lane, word[w]);
    }
    sk_scope_end(lw, mark);
    k_end(b);
    return there;
}

/* The place of an element in its line. */
static k_val within_line(const mover *m, k_val at)
{
    k_builder *b = &m->x->s.lw->b;
    return k_let(b, OP_BIT_AND, sk_add(m->x->s.lw, at, m->skew), k_i64(b, m->length - 1), 0);
}

/* An element that has been gathered, to its place. */
static void write_element(mover *m, k_val kept, k_val to)
{
    radix *x = m->x;
    k_builder *b = &x->s.lw->b;
    for (uint32_t c = 0; c < x->s.n; c++) {
        k_val word = k_load(b, m->line[m->record.part[c].word], kept);
        k_store(b, x->s.to[c], to, sk_record_component(b, &m->record, c, word));
    }
}

/* Elements [from, to) of digit d, which are gathered, one by one. */
static void write_some(mover *m, k_val d, k_val from, k_val to)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val at = k_for(b, from, to, false), within = within_line(m, at);
    write_element(m, sk_add(lw, sk_mul(lw, d, k_i64(b, m->length)), within), at);
    k_end(b);
}

/* The line of digit d whose last element has been gathered, at `place`. */
static void write_line(mover *m, k_val d, k_val place)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val first = sk_sub(lw, place, k_i64(b, m->length - 1)), start = k_load(b, m->start, d);
    k_if(b, k_let(b, OP_GE, first, start, 0));
    k_val lane = k_for_whole(b, k_i64(b, m->length));
    write_element(m, sk_add(lw, sk_mul(lw, d, k_i64(b, m->length)), lane), sk_add(lw, first, lane));
    k_end(b);
    k_else(b);
    write_some(m, d, start, sk_add(lw, place, k_i64(b, 1)));
    k_end(b);
}

/* Number i of the elements at hand, to where it is gathered. */
static void gather_element(mover *m, k_val base, k_val i, k_val at)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val *value = arena_array(lw->arena, k_val, 2 * x->s.n), *word = value + x->s.n;
    if (!x->s.element) {
        for (uint32_t c = 0; c < x->s.n; c++)
            value[c] = k_load(b, x->s.from[c], sk_add(lw, sk_add(lw, x->linear, base), i));
        sk_record_words(b, &m->record, value, word);
    }
    for (uint32_t w = 0; w < m->record.words; w++)
        k_store(b, m->line[w], at, x->s.element ? k_load(b, m->staged[w], i) : word[w]);
}

/* The same, to its place at once. */
static void place_element(mover *m, k_val base, k_val i, k_val place)
{
    radix *x = m->x;
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    for (uint32_t c = 0; c < x->s.n; c++) {
        k_val value = x->s.element
                          ? sk_record_component(b, &m->record, c, k_load(b, m->staged[m->record.part[c].word], i))
                          : k_load(b, x->s.from[c], sk_add(lw, sk_add(lw, x->linear, base), i));
        k_store(b, x->s.to[c], place, value);
    }
}

static void move_element(mover *m, k_val base, k_val i)
{
    sk_lower *lw = m->x->s.lw;
    k_builder *b = &lw->b;
    k_val d = as(b, T_I64, k_load(b, m->digit, i)), place = k_load(b, m->place, d);
    k_store(b, m->place, d, sk_add(lw, place, k_i64(b, 1)));
    if (!m->length) {
        place_element(m, base, i, place);
        return;
    }
    k_val within = within_line(m, place);
    gather_element(m, base, i, sk_add(lw, sk_mul(lw, d, k_i64(b, m->length)), within));
    k_if(b, k_let(b, OP_EQ, within, k_i64(b, m->length - 1), 0));
    write_line(m, d, place);
    k_end(b);
}

static void move_one_by_one(radix *x, k_mem state)
{
    sk_lower *lw = x->s.lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), stage = k_i64(b, STAGE);
    mover of = {.x = x, .length = x->r.buffers ? sk_line_elements(x->s.info) : 0}, *m = &of;
    m->place = k_shared(b, T_I64, x->digits, "place");
    m->digit = k_shared(b, T_U32, STAGE, "digit");
    m->record = sk_record_of(lw->arena, x->s.info);
    m->staged = arena_array(lw->arena, k_mem, m->record.words);
    m->line = arena_array(lw->arena, k_mem, m->record.words);
    if (m->length) {
        m->start = k_shared(b, T_I64, x->digits, "start");
        m->skew = sk_slot(lw, SK_SKEW, "skew");
    }
    for (uint32_t w = 0; w < m->record.words && x->s.element; w++)
        m->staged[w] = k_shared(b, m->record.word[w].type, STAGE, "staged");
    for (uint32_t w = 0; w < m->record.words && m->length; w++)
        m->line[w] = k_shared(b, m->record.word[w].type, x->digits * m->length, "line");
    for (uint32_t c = 0; c < x->s.n && m->length; c++)
        lw->out->k->mem.at[x->s.to[c]].stream = true;
    k_val digit = k_for_all(b, k_i64(b, x->digits)), before = place_before(x, state, digit);
    k_store(b, m->place, digit, before);
    if (m->length)
        k_store(b, m->start, digit, before);
    k_end(b);
    k_val stages = k_let(b, OP_QUOT, sk_add(lw, x->count, k_i64(b, STAGE - 1)), stage, 0);
    k_val base = sk_mul(lw, k_for(b, zero, stages, false), stage), there = stage_elements(m, base);
    move_element(m, base, k_for(b, zero, there, false));
    k_end(b);
    k_end(b);
    if (!m->length)
        return;
    k_val d = k_for(b, zero, k_i64(b, x->digits), false), end = k_load(b, m->place, d);
    k_val within = within_line(m, end);
    write_some(m, d, sk_max(lw, sk_sub(lw, end, within), k_load(b, m->start, d)), end);
    k_end(b);
}

void sk_build_sort_scatter(sk_lower *lw)
{
    enum { LANES = 16 };
    radix of, *x = &of;
    if (lw->options->group) {
        sk_radix_move_by_threads(lw);
        return;
    }
    sk_radix_begin(x, lw, LANES, true);
    move_one_by_one(x, sk_sort_state(&x->s));
}
