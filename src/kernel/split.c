/* Exchanges between the lanes of a gang, for devices that have none: a FOR_ALL ends where lanes meet and another begins
 * behind it, so the barrier between them does what lanes in step did. What lives across a meeting is kept in private
 * memory, what is exchanged passes through shared memory, and statements around a meeting (all of them uniform, says
 * verify.c) move to piece level. So any number of real threads can run gangs of any width (virtual warps, Obsidian
 * §5.1.3). Loops whose reads are tiled (tile.c) are cut in the same way. */
#include "kernel/split.h"

#include "kernel/analyse.h"

/* --- what has to be split --- */

static void find_levels(splitter *s)
{
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        const k_stmt *x = &s->from->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        if (x->dst && x->op != K_SET)
            s->level[x->dst] = x->op == K_FOR_ALL ? w.at : w.for_all;
        s->owner[w.at] = k_walk_parent(&w);
        s->checked[w.for_all] |= x->op == K_CHECK;
        s->sets[w.for_all] |= x->op == K_SET && !s->level[x->dst];
        s->exchanges[w.for_all] |= x->op == K_COMPACT || x->op == K_COUNT || x->op == K_RANK || x->op == K_SHUFFLE;
    }
}

static bool is_meeting(const splitter *s, const k_stmt *x, k_ref for_all, uint32_t divergent, uint32_t native)
{
    bool exchanged = native >= s->from->lanes && !s->checked[for_all] && !s->sets[for_all];
    switch ((k_op)x->op) {
    case K_COMPACT:
    case K_COUNT:
    case K_RANK:
    case K_SHUFFLE:
        return !exchanged;
    case K_ALL: /* elsewhere each thread may decide for itself */
        return !exchanged && !divergent;
    case K_SET:
        return !s->level[x->dst];
    default:
        return false;
    }
}

static bool find_meetings(splitter *s, uint32_t native)
{
    k_shapes shapes = k_find_shapes(s->from, s->arena);
    uint32_t divergent = 0;
    bool any = false;
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        const k_stmt *x = &s->from->stmt.at[w.at];
        if (w.event == K_WALK_AT)
            divergent += shapes.divergent[w.at];
        else if (w.event == K_WALK_LEAVE)
            divergent -= shapes.divergent[w.at];
        if (w.event != K_WALK_AT || !w.for_all || !is_meeting(s, x, w.for_all, divergent, native))
            continue;
        any = s->meets[w.at] = s->split[w.for_all] = true;
        for (uint32_t i = w.open.n; i-- > 0 && (w.open.at[i] & 0x7fffffffu) != w.for_all;)
            s->moves[w.open.at[i] & 0x7fffffffu] = true;
    }
    return any;
}

/* Leaving a loop that has moved is a meeting, too. What meetings and moved loops define are values of the piece from
 * now on. */
static void find_consequences(splitter *s)
{
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        const k_stmt *x = &s->from->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        if (x->op == K_BREAK_IF && s->moves[k_walk_parent(&w)])
            s->meets[w.at] = true;
        if ((s->moves[w.at] && x->op == K_FOR) || (s->meets[w.at] && (x->op == K_COUNT || x->op == K_ALL)))
            s->level[x->dst] = 0;
    }
}

/* --- before a meeting --- */

k_mem split_slot(splitter *s, k_ref id, unsigned number, ir_type t, int64_t count, const char *name)
{
    if (!s->slot[number][id])
        s->slot[number][id] = k_shared(&s->b, t, count, name);
    return s->slot[number][id];
}

/* The operands of a statement that moves to piece level, or that lanes hand to it: they are the same in all lanes. What
 * they are if no lane is left: a branch not taken, no rounds, the way out, the old value. */
static unsigned handed(const splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    if (x->op == K_FOR)
        return 2;
    return x->op == K_IF || x->op == K_BREAK_IF || x->op == K_SET ? 1 : 0;
}

static k_val otherwise(splitter *s, const k_stmt *x, ir_type t)
{
    if (x->op == K_SET)
        return k_get(&s->b, s->value[x->dst]);
    return k_literal(&s->b, t, x->op == K_BREAK_IF);
}

/* Before the FOR_ALL at whose end lanes meet at statement `id`. */
void split_prepare(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    if (x->op == K_COUNT || x->op == K_ALL)
        k_store(b, split_slot(s, id, 0, T_I32, 1, "votes"), k_i64(b, 0), k_literal(b, T_I32, x->op == K_ALL));
    for (unsigned i = 0; i < handed(s, id); i++)
        if (split_thread_value(s, x->in[i])) {
            ir_type t = (ir_type)s->from->value.at[x->in[i]].type;
            k_store(b, split_slot(s, id, i, t, 1, "handed"), k_i64(b, 0), otherwise(s, x, t));
        }
}

/* --- meetings --- */

/* Lanes hand over operand i of a statement; behind the FOR_ALL it is a value of the piece. */
static void hand_over(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    for (unsigned i = 0; i < handed(s, id); i++)
        if (split_thread_value(s, x->in[i])) {
            split_open_segment(s, id);
            k_store(&s->b, s->slot[i][id], k_i64(&s->b, 0), k_get(&s->b, s->value[x->in[i]]));
        }
}

static k_val received(splitter *s, k_ref id, unsigned i)
{
    k_val v = s->from->stmt.at[id].in[i];
    return split_thread_value(s, v) ? k_load(&s->b, s->slot[i][id], k_i64(&s->b, 0))
                                    : k_get(&s->b, split_translate(s, v));
}

static void vote(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    k_val zero = k_i64(b, 0);
    split_open_segment(s, id);
    k_val one = k_convert(b, OP_CONVERT, T_I32, split_translate(s, x->in[0]));
    k_atomic(b, x->op == K_COUNT ? OP_ADD : OP_BIT_AND, s->slot[0][id], zero, one);
    split_close_segment(s);
    k_val votes = k_load(b, s->slot[0][id], zero);
    split_define(s, x->dst, k_convert(b, OP_CONVERT, x->op == K_COUNT ? T_I64 : T_BOOL, votes));
}

static k_val source_lane(splitter *s, const k_stmt *x)
{
    k_builder *b = &s->b;
    int64_t d = ir_i64_bits(T_I64, s->from->value.at[x->in[1]].bits), lanes = s->from->lanes;
    switch (x->sub) {
    case K_LEFT:
        return k_let(b, OP_ADD, k_let(b, OP_BIT_AND, s->lane, k_i64(b, -2 * d), 0), k_i64(b, d - 1), 0);
    case K_LANE:
        return k_i64(b, d);
    case K_PAIR:
        return k_let(b, OP_BIT_AND, k_let(b, OP_ADD, k_let(b, OP_ADD, s->lane, s->lane, 0), k_i64(b, d), 0),
                     k_i64(b, lanes - 1), 0);
    default:
        return k_let(b, OP_BIT_AND, k_let(b, OP_ADD, s->lane, k_i64(b, d), 0), k_i64(b, lanes - 1), 0);
    }
}

/* Shared memory for what the lanes exchange at a meeting. It is read at the beginning of the FOR_ALL behind, in which
 * the next meeting's may be written already, and by nobody later: so two of a type do for a whole kernel. */
static k_mem split_turn(splitter *s, ir_type t)
{
    k_mem *m = &s->exchanged[t][s->turn[t]++ % 2];
    if (!*m)
        *m = k_shared(&s->b, t, s->from->lanes, "exchanged");
    return *m;
}

static void exchange(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    ir_type t = (ir_type)s->from->value.at[x->dst].type;
    split_open_segment(s, id);
    k_mem m = split_turn(s, t);
    k_store(b, m, s->lane, k_get(b, split_translate(s, x->in[0])));
    split_close_segment(s);
    s->segment++;
    split_open_segment(s, x->next);
    split_define(s, x->dst, k_load(b, m, source_lane(s, x)));
    if (s->kept[x->dst])
        split_keep(s, x->dst);
}

/* Behind the meeting: how many lanes before the own one hold operand `keep` of a statement, i64. */
static k_val rank_among(splitter *s, k_ref id, unsigned keep)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    split_open_segment(s, id);
    k_mem m = split_turn(s, T_I32);
    k_store(b, m, s->lane, k_convert(b, OP_CONVERT, T_I32, split_translate(s, x->in[keep])));
    split_close_segment(s);
    s->segment++;
    split_open_segment(s, x->next);
    k_val rank = k_decl(b, k_literal(b, T_I32, 0), "rank");
    k_val other = k_for(b, k_i64(b, 0), s->count, false);
    k_if(b, k_let(b, OP_LT, other, s->lane, 0));
    k_set(b, rank, k_let(b, OP_ADD, k_get(b, rank), k_load(b, m, other), 0));
    k_end(b);
    k_end(b);
    return k_convert(b, OP_CONVERT, T_I64, k_get(b, rank));
}

static void rank(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    split_define(s, x->dst, rank_among(s, id, 0));
    if (s->kept[x->dst])
        split_keep(s, x->dst);
}

static void compact(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    k_val before = rank_among(s, id, 2);
    k_if(b, split_translate(s, x->in[2]));
    k_val at = k_let(b, OP_ADD, split_translate(s, x->in[0]), before, 0);
    k_store(b, x->mem, at, k_get(b, split_translate(s, x->in[1])));
    k_end(b);
}

static void meet(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    switch ((k_op)x->op) {
    case K_COMPACT:
        compact(s, id);
        return;
    case K_RANK:
        rank(s, id);
        return;
    case K_SHUFFLE:
        exchange(s, id);
        return;
    case K_COUNT:
    case K_ALL:
        vote(s, id);
        break;
    case K_BREAK_IF:
        hand_over(s, id);
        split_close_segment(s);
        k_break_if(&s->b, received(s, id, 0));
        break;
    default:
        hand_over(s, id);
        split_close_segment(s);
        k_set(&s->b, s->value[x->dst], received(s, id, 0));
    }
    s->segment++;
}

/* A loop that has moved ends when no lane is left: they would wait for each other's signs for ever. */
static void leave_dead_loop(splitter *s)
{
    k_builder *b = &s->b;
    k_val zero = k_i64(b, 0);
    k_mem dead = k_shared(b, T_BOOL, 1, "dead");
    k_store(b, dead, zero, k_literal(b, T_BOOL, 1));
    k_for_all(b, s->count);
    k_if(b, k_load(b, s->alive, zero));
    k_store(b, dead, zero, k_literal(b, T_BOOL, 0));
    k_end(b);
    k_end(b);
    k_break_if(b, k_load(b, dead, zero));
}

static void move(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    hand_over(s, id);
    split_close_segment(s);
    s->segment++;
    if (x->op == K_IF) {
        k_if(b, received(s, id, 0));
    } else if (x->op == K_FOR) {
        k_val from = received(s, id, 0), to = received(s, id, 1);
        split_define(s, x->dst, k_for(b, from, to, x->sub != 0));
    } else {
        k_loop(b);
        if (s->alive)
            leave_dead_loop(s);
    }
}

/* --- FOR_ALLs --- */

static void begin_split(splitter *s, k_ref id)
{
    k_builder *b = &s->b;
    s->segment++;
    s->count = split_translate(s, s->from->stmt.at[id].in[0]);
    s->alive = s->checked[id] ? k_private(b, T_BOOL, 1, "alive") : 0;
    k_if(b,
         k_let(b, OP_GT, s->count, k_i64(b, 0), 0)); /* loops at piece level would wait for lanes that are not there */
    if (!s->alive)
        return;
    k_for_all(b, s->count);
    k_store(b, s->alive, k_i64(b, 0), k_literal(b, T_BOOL, 1));
    k_end(b);
}

/* --- the pass --- */

/* A statement, or the end of a list, within a FOR_ALL that is split. */
static void split_event(splitter *s)
{
    k_ref id = s->w.at;
    const k_stmt *x = &s->from->stmt.at[id];
    if (s->moves[id]) {
        if (s->w.event == K_WALK_AT) {
            move(s, id);
            return;
        }
        split_close_segment(s);
        s->segment++;
        if (s->w.event == K_WALK_LEAVE)
            k_end(&s->b);
        else
            k_else(&s->b);
        return;
    }
    if (s->meets[id]) {
        meet(s, id);
        return;
    }
    if (s->tiles[id] && s->w.event == K_WALK_AT) {
        split_begin_tiles(s, id);
        return;
    }
    if (s->tiles[id]) {
        split_end_tiles(s);
        return;
    }
    if (s->w.event == K_WALK_AT)
        split_open_segment(s, id);
    if (s->w.event == K_WALK_ELSE)
        k_else(&s->b);
    else if (s->w.event == K_WALK_LEAVE)
        split_close(s, id);
    else if (k_compound(x))
        split_open(s, id);
    else
        split_copy(s, x);
}

static void event(splitter *s)
{
    const k_stmt *x = &s->from->stmt.at[s->w.at];
    if (s->split[s->w.at]) {
        if (s->w.event == K_WALK_AT) {
            begin_split(s, s->w.at);
            return;
        }
        split_close_segment(s);
        s->segment++;
        k_end(&s->b);
        return;
    }
    if (s->w.for_all && s->split[s->w.for_all])
        split_event(s);
    else if (!k_compound(x))
        split_copy(s, x);
    else if (s->w.event == K_WALK_AT)
        split_open(s, s->w.at);
    else if (s->w.event == K_WALK_ELSE)
        k_else(&s->b);
    else
        split_close(s, s->w.at);
}

kernel *k_split(kernel *from, uint32_t native, uint32_t tile, arena *a)
{
    splitter s = {.from = from, .arena = a, .tile = tile};
    uint32_t values = from->value.n, statements = from->stmt.n;
    s.value = arena_array(a, *s.value, values);
    s.level = arena_array(a, *s.level, values);
    s.defined = arena_array(a, *s.defined, values);
    s.kept = arena_array(a, *s.kept, values);
    s.meets = arena_array(a, *s.meets, statements);
    s.moves = arena_array(a, *s.moves, statements);
    s.split = arena_array(a, *s.split, statements);
    s.checked = arena_array(a, *s.checked, statements);
    s.sets = arena_array(a, *s.sets, statements);
    s.taken = arena_array(a, *s.taken, values);
    s.left = arena_array(a, *s.left, values);
    s.counter = arena_array(a, *s.counter, statements);
    s.slot[0] = arena_array(a, k_mem, statements);
    s.slot[1] = arena_array(a, k_mem, statements);
    s.tiles = arena_array(a, *s.tiles, statements);
    s.exchanges = arena_array(a, *s.exchanges, statements);
    s.owner = arena_array(a, *s.owner, statements);
    s.staged = arena_array(a, *s.staged, from->mem.n);
    find_levels(&s);
    bool meetings = find_meetings(&s, native), tiles = split_find_tiles(&s);
    if (!meetings && !tiles)
        return from;
    s.threads = meetings && s.threads < from->lanes ? from->lanes : s.threads;
    find_consequences(&s);
    s.k = k_new(a, from->name, from->lanes);
    k_begin(&s.b, s.k);
    split_declarations(&s);
    split_find_segments(&s);
    s.segment = 1;
    k_walk_begin(&s.w, from, a);
    while (k_walk_next(&s.w))
        event(&s);
    s.k->threads = from->threads > s.threads ? from->threads : s.threads;
    return s.k;
}
