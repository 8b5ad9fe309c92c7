/* The elements of sorts and their order, and the kernel that sorts chunks: a thread takes up to a few hundred
 * neighbours into shared memory, in short runs by insertion, and merges these. Rows that are one chunk need nothing
 * else. Merging ends and loses nothing whatever a comparison says. */
#include "skeleton/sort/sort.h"

#include "skeleton/extents.h"

void sk_sort_begin(sk_sort *s, sk_lower *lw, uint16_t lanes, bool composed, bool moves)
{
    sk_open(lw, lanes);
    const l_op *op = &lw->cluster->loop->op.at[0];
    *s = (sk_sort){.lw = lw, .term = op->term, .info = ir_info(lw->l->ir, op->term)};
    s->n = s->info->components;
    s->keys = s->info->keys;
    s->descending = ir_at(lw->l->ir, op->term)->flags & IR_DESCENDING;
    s->from = arena_array(lw->arena, k_mem, s->n);
    s->to = arena_array(lw->arena, k_mem, s->n);
    if (composed)
        s->element = sk_define(&lw->body, op->term, &lw->at);
    if (s->info->fn)
        s->less = sk_operator(&lw->body, s->info->fn);
    for (uint32_t c = 0; c < s->n; c++) {
        if (!composed)
            s->from[c] = sk_partial_memory(lw, SK_SORTED_FROM, c, s->info->type[c]);
        if (moves)
            s->to[c] = sk_partial_memory(lw, SK_SORTED_TO, c, s->info->type[c]);
    }
}

void sk_sort_bind(sk_sort *s, k_val row, k_val k, k_val linear)
{
    sk_lower *lw = s->lw;
    const l_cluster *loop = lw->cluster->loop;
    lw->element = linear;
    if (!s->element)
        return;
    sk_bind(lw, lw->at.linear, linear);
    if (loop->rank == 1)
        return;
    bool outer = false;
    for (unsigned d = 0; d + 1 < loop->rank; d++)
        outer |= sk_mentions(lw, s->n, s->element, lw->at.at[d]);
    k_val index[IR_MAX_RANK] = {0};
    if (outer)
        sk_row_indices(lw, loop->rank, loop->shape, row, index);
    for (unsigned d = 0; outer && d + 1 < loop->rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
    sk_bind(lw, lw->at.at[loop->rank - 1], k);
}

void sk_sort_element(sk_sort *s, uint32_t first, uint32_t end, k_val linear, k_val *out)
{
    if (s->element && first < end)
        sk_emit(s->lw, end - first, s->element + first, out);
    for (uint32_t c = first; c < end && !s->element; c++)
        out[c - first] = k_load(&s->lw->b, s->from[c], linear);
}

/* All NaNs are one number, the greatest, in both directions. */
k_val sk_order_bits(k_builder *b, ir_type t, k_val key, bool descending)
{
    ir_type u = ir_type_unsigned(ir_type_size(t));
    unsigned width = (unsigned)ir_type_size(t) * 8;
    ir_bits all = width == 64 ? UINT64_MAX : ((ir_bits)1 << width) - 1, top = all ^ all >> 1;
    if (t == T_BOOL) {
        k_val one = k_convert(b, OP_CONVERT, T_U8, key);
        return descending ? k_let(b, OP_BIT_XOR, one, k_literal(b, u, 1), 0) : one;
    }
    k_val bits = t == u ? key : k_convert(b, OP_BITCAST, u, key);
    k_val turn = descending ? k_literal(b, u, all) : 0;
    if (!ir_type_float(t)) {
        ir_bits flip = (ir_type_signed(t) ? top : 0) ^ (descending ? all : 0);
        return flip ? k_let(b, OP_BIT_XOR, bits, k_literal(b, u, flip), 0) : bits;
    }
    k_val negative = k_let(b, OP_NE, k_let(b, OP_BIT_AND, bits, k_literal(b, u, top), 0), k_literal(b, u, 0), 0);
    k_val flip = k_select(b, negative, k_literal(b, u, all), k_literal(b, u, top));
    k_val order = k_let(b, OP_BIT_XOR, bits, flip, 0);
    if (descending)
        order = k_let(b, OP_BIT_XOR, order, turn, 0);
    ir_bits infinity = t == T_F64 ? (ir_bits)0x7FF << 52 : (ir_bits)0xFF << 23;
    k_val size = k_let(b, OP_BIT_AND, bits, k_literal(b, u, all ^ top), 0);
    return k_select(b, k_let(b, OP_GT, size, k_literal(b, u, infinity), 0), k_literal(b, u, all), order);
}

k_val sk_order_before(k_builder *b, uint32_t keys, const k_val *left, const k_val *right)
{
    k_val before = 0;
    for (uint32_t c = keys; c-- > 0;) {
        k_val less = k_let(b, OP_LT, left[c], right[c], 0);
        if (before) {
            k_val same = k_let(b, OP_EQ, left[c], right[c], 0);
            less = k_let(b, OP_OR, less, k_let(b, OP_AND, same, before, 0), 0);
        }
        before = less;
    }
    return before;
}

k_val sk_sort_before(sk_sort *s, const k_val *x, const k_val *y)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val before = 0;
    if (s->less) {
        uint32_t mark = sk_scope(lw);
        for (uint32_t c = 0; c < s->n; c++) {
            sk_bind(lw, s->less->param[c], x[c]);
            sk_bind(lw, s->less->param[s->n + c], y[c]);
        }
        sk_emit(lw, 1, s->less->result, &before);
        sk_scope_end(lw, mark);
        return before;
    }
    k_val *left = arena_array(lw->arena, k_val, 2 * s->keys), *right = left + s->keys;
    for (uint32_t c = 0; c < s->keys; c++) {
        left[c] = sk_order_bits(b, s->info->type[c], x[c], s->descending);
        right[c] = sk_order_bits(b, s->info->type[c], y[c], s->descending);
    }
    return sk_order_before(b, s->keys, left, right);
}

k_mem sk_sort_state(sk_sort *s)
{
    vec_push(s->lw->arena, &s->lw->out->memory, ((sk_binding){.role = SK_STATE, .type = T_U64}));
    return k_global(&s->lw->b, T_U64, true, "state");
}

/* --- chunks --- */

/* Elements sorted by insertion. Cores have short rows of keys only, and merging them takes longer. */
enum { RUN = 16, RUN_OF_KEYS = 64 };

typedef struct chunk { /* of a thread */
    sk_sort *s;
    k_mem *room;         /* per component: two of the chunk, one behind the other, for each thread */
    k_val base;          /* of the thread's */
    k_val length, count; /* at most; here */
    k_val *x, *y;
    int64_t run; /* sorted by insertion */
} chunk;

static void load_chunk(const chunk *c, k_val at, k_val *out)
{
    for (uint32_t k = 0; k < c->s->n; k++)
        out[k] = k_load(&c->s->lw->b, c->room[k], at);
}

static void store_chunk(const chunk *c, k_val at, const k_val *x)
{
    for (uint32_t k = 0; k < c->s->n; k++)
        k_store(&c->s->lw->b, c->room[k], at, x[k]);
}

/* Begins a loop over i in [0, end) whose bounds differ from thread to thread; ends with next_one. */
static k_val each_one(k_builder *b, k_val variable, k_val end)
{
    k_loop(b);
    k_val i = k_get(b, variable);
    k_break_if(b, k_let(b, OP_GE, i, end, 0));
    return i;
}

static void next_one(sk_lower *lw, k_val variable, k_val i)
{
    k_set(&lw->b, variable, sk_add(lw, i, k_i64(&lw->b, 1)));
    k_end(&lw->b);
}

/* Element i, in x, goes to its place in the run that ends before it. */
static void insert(const chunk *c, k_val i)
{
    sk_lower *lw = c->s->lw;
    k_builder *b = &lw->b;
    k_val place = k_decl(b, i, "place"), one = k_i64(b, 1);
    k_loop(b);
    uint32_t mark = sk_scope(lw);
    k_val j = k_get(b, place);
    k_break_if(b, k_let(b, OP_EQ, k_let(b, OP_BIT_AND, j, k_i64(b, c->run - 1), 0), k_i64(b, 0), 0));
    k_val before = sk_add(lw, c->base, sk_sub(lw, j, one));
    load_chunk(c, before, c->y);
    k_break_if(b, k_let(b, OP_NOT, sk_sort_before(c->s, c->x, c->y), 0, 0));
    store_chunk(c, sk_add(lw, before, one), c->y);
    k_set(b, place, sk_sub(lw, j, one));
    sk_scope_end(lw, mark);
    k_end(b);
    store_chunk(c, sk_add(lw, c->base, k_get(b, place)), c->x);
}

static void take_runs(const chunk *c, k_val row, k_val begin, k_val linear)
{
    sk_lower *lw = c->s->lw;
    k_builder *b = &lw->b;
    k_val next = k_decl(b, k_i64(b, 0), "next"), i = each_one(b, next, c->count);
    uint32_t mark = sk_scope(lw);
    k_val element = sk_add(lw, linear, i);
    sk_sort_bind(c->s, row, sk_add(lw, begin, i), element);
    sk_sort_element(c->s, 0, c->s->n, element, c->x);
    insert(c, i);
    sk_scope_end(lw, mark);
    next_one(lw, next, i);
}

/* All pairs of runs of `width` become one each. */
static void merge_runs(const chunk *c, k_val width, k_val from, k_val to)
{
    sk_lower *lw = c->s->lw;
    k_builder *b = &lw->b;
    k_val next = k_decl(b, k_i64(b, 0), "next"), begin = each_one(b, next, c->count),
          there = sk_sub(lw, c->count, begin);
    sk_runs r = {.from = c->room, .to = c->room, .left_length = sk_min(lw, width, there)};
    r.right_length = sk_min(lw, width, sk_sub(lw, there, r.left_length));
    r.left = sk_add(lw, from, begin);
    r.right = sk_add(lw, r.left, r.left_length);
    r.last = sk_sub(lw, sk_add(lw, from, c->count), k_i64(b, 1));
    r.begin = sk_add(lw, to, begin);
    sk_sort_merge(c->s, &r);
    k_set(b, next, sk_add(lw, begin, sk_add(lw, width, width)));
    k_end(b);
}

/* The chunk in order; where it is then. */
static k_val merge_all(const chunk *c)
{
    sk_lower *lw = c->s->lw;
    k_builder *b = &lw->b;
    k_val width = k_decl(b, k_i64(b, c->run), "width"), from = k_decl(b, c->base, "from");
    k_val both = sk_add(lw, sk_add(lw, c->base, c->base), c->length);
    k_loop(b);
    k_val w = k_get(b, width), f = k_get(b, from), t = sk_sub(lw, both, f);
    k_break_if(b, k_let(b, OP_GE, w, c->count, 0));
    merge_runs(c, w, f, t);
    k_set(b, width, sk_add(lw, w, w));
    k_set(b, from, t);
    k_end(b);
    return k_get(b, from);
}

/* slots: 0 row length, 1 chunks a row, 2 chunks of all rows */
void sk_build_sort_chunks(sk_lower *lw)
{
    sk_sort sort, *s = &sort;
    k_builder *b = &lw->b;
    const sk_chunks size = sk_sort_chunks(lw->cluster, lw->options);
    sk_sort_begin(s, lw, 1, true, true);
    lw->out->k->group = (uint16_t)(lw->options->group ? size.threads : 0);
    chunk c = {.s = s,
               .room = arena_array(lw->arena, k_mem, s->n),
               .x = arena_array(lw->arena, k_val, s->n),
               .y = arena_array(lw->arena, k_val, s->n)};
    c.run = s->keys && !lw->options->group ? RUN_OF_KEYS : RUN;
    for (uint32_t k = 0; k < s->n; k++)
        c.room[k] = k_shared(b, s->info->type[k], 2 * size.threads * size.length, "room");
    k_val n = sk_slot(lw, 0, "row_length"), chunks = sk_slot(lw, 1, "chunks_a_row"), all = sk_slot(lw, 2, "chunks");
    k_val first = sk_mul(lw, k_piece(b), k_i64(b, size.threads));
    k_val thread = k_for_all(b, sk_min(lw, k_i64(b, size.threads), sk_sub(lw, all, first)));
    uint32_t mark = sk_scope(lw);
    k_val number = sk_add(lw, first, thread), row = k_let(b, OP_QUOT, number, chunks, 0);
    k_val begin = sk_mul(lw, sk_sub(lw, number, sk_mul(lw, row, chunks)), k_i64(b, size.length));
    k_val linear = sk_add(lw, sk_mul(lw, row, n), begin);
    c.length = k_i64(b, size.length);
    c.count = sk_min(lw, c.length, sk_sub(lw, n, begin));
    c.base = sk_mul(lw, thread, k_i64(b, 2 * size.length));
    lw->element = row;
    take_runs(&c, row, begin, linear);
    lw->element = row;
    k_val from = merge_all(&c), next = k_decl(b, k_i64(b, 0), "next"), i = each_one(b, next, c.count);
    load_chunk(&c, sk_add(lw, from, i), c.x);
    for (uint32_t k = 0; k < s->n; k++)
        k_store(b, s->to[k], sk_add(lw, linear, i), c.x[k]);
    next_one(lw, next, i);
    sk_scope_end(lw, mark);
    k_end(b);
}
