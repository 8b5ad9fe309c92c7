/* Loops in which all threads of a block read the same elements: they are cut into tiles, and what a tile's rounds read
 * is loaded by all threads together into shared memory first, one element each. */
#include "kernel/split.h"

/* --- loops to be tiled --- */

/* The most threads that a FOR_ALL can have; 0: not known. */
static uint32_t most_threads(const splitter *s, k_val count)
{
    const k_value *v = &s->from->value.at[count];
    const k_stmt *x = &s->from->stmt.at[v->def];
    if (v->kind == KV_LITERAL)
        return v->bits <= UINT16_MAX ? (uint32_t)v->bits : 0;
    if (v->kind != KV_RESULT || x->op != K_LET || x->sub != OP_MIN)
        return 0;
    for (unsigned i = 0; i < 2; i++) {
        const k_value *y = &s->from->value.at[x->in[i]];
        if (y->kind == KV_LITERAL && y->bits && y->bits <= UINT16_MAX)
            return (uint32_t)y->bits;
    }
    return 0;
}

/* The loop at whose index this statement reads what every thread may read in each round: it does, or the index is in
 * range for all of them. 0: none. Nothing but IFs lies between the two. */
static k_ref read_by_all(const splitter *s, const k_walk *w)
{
    const k_stmt *x = &s->from->stmt.at[w->at];
    const k_memory *m = &s->from->mem.at[x->mem];
    uint32_t open = w->open.n;
    if (x->op != K_LOAD || m->space != K_GLOBAL || m->written)
        return 0;
    while (open && s->from->stmt.at[w->open.at[open - 1] & 0x7fffffffu].op == K_IF)
        open--;
    k_ref loop = open ? w->open.at[open - 1] & 0x7fffffffu : 0;
    const k_stmt *around = &s->from->stmt.at[loop];
    bool may = open == w->open.n || x->sub == K_TOTAL;
    return may && around->op == K_FOR && x->in[0] == around->dst ? loop : 0;
}

/* A loop directly in a FOR_ALL, which all its threads go through from end to end: nothing can fail, so whatever may be
 * read in each round may be read ahead. Loops of few rounds are not worth the barriers. */
static bool worth_tiling(const splitter *s, k_ref id, k_ref for_all)
{
    const k_stmt *x = &s->from->stmt.at[id];
    const k_value *from = &s->from->value.at[x->in[0]], *to = &s->from->value.at[x->in[1]];
    if (s->checked[for_all] || s->exchanges[for_all] || s->sets[for_all] || split_thread_value(s, x->in[0]) ||
        split_thread_value(s, x->in[1]))
        return false;
    return from->kind != KV_LITERAL || to->kind != KV_LITERAL || (int64_t)(to->bits - from->bits) >= s->tile;
}

bool split_find_tiles(splitter *s)
{
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (s->tile && k_walk_next(&w)) {
        k_ref loop = w.for_all ? read_by_all(s, &w) : 0;
        uint32_t threads = loop ? most_threads(s, s->from->stmt.at[w.for_all].in[0]) : 0;
        if (!threads || s->owner[loop] != w.for_all || !worth_tiling(s, loop, w.for_all))
            continue;
        s->tiles[loop] = s->split[w.for_all] = true;
        s->threads = threads > s->threads ? threads : s->threads;
        vec_push(s->arena, &s->ahead, ((tile_read){loop, w.at}));
    }
    return s->ahead.n > 0;
}

/* --- code --- */

/* All threads of the block load what the coming rounds read. */
static void stage_tile(splitter *s, k_ref loop, k_val last)
{
    k_builder *b = &s->b;
    k_val j = k_for_all(b, k_i64(b, s->tile)), i = k_let(b, OP_ADD, s->base, j, 0);
    k_if(b, k_let(b, OP_LT, i, last, 0));
    for (uint32_t r = 0; r < s->ahead.n; r++) {
        const k_stmt *x = &s->from->stmt.at[s->ahead.at[r].load];
        if (s->ahead.at[r].loop != loop || s->staged[x->mem])
            continue;
        const k_memory *m = &s->from->mem.at[x->mem];
        s->staged[x->mem] = k_shared(b, (ir_type)m->type, s->tile, "tile");
        k_store(b, s->staged[x->mem], j, k_load(b, x->mem, i));
    }
    k_end(b);
    k_end(b);
}

void split_begin_tiles(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    k_val from = split_translate(s, x->in[0]), to = split_translate(s, x->in[1]), tile = k_i64(b, s->tile);
    split_close_segment(s);
    s->segment++;
    k_val rounds = k_let(b, OP_ADD, k_let(b, OP_SUB, to, from, 0), k_i64(b, s->tile - 1), 0);
    k_val number = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, rounds, tile, 0), false);
    s->base = k_let(b, OP_ADD, from, k_let(b, OP_MUL, number, tile, 0), 0);
    k_val last = k_let(b, OP_MIN, to, k_let(b, OP_ADD, s->base, tile, 0), 0);
    s->tiled = x->dst;
    stage_tile(s, id, last);
    split_open_segment(s, 0);
    split_define(s, x->dst, k_for(b, s->base, last, x->sub != 0));
}

void split_end_tiles(splitter *s)
{
    k_end(&s->b);
    split_close_segment(s);
    s->segment++;
    k_end(&s->b);
    memset(s->staged, 0, s->from->mem.n * sizeof(*s->staged));
    s->tiled = 0;
}
