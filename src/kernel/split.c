/* Exchanges between the lanes of a gang, for devices that have none: a FOR_ALL ends where lanes meet and another begins
 * behind it, so the barrier between them does what lanes in step did. What lives across a meeting is kept in private
 * memory, what is exchanged passes through shared memory, and statements around a meeting (all of them uniform, says
 * verify.c) move to piece level. So any number of real threads can run gangs of any width (virtual warps, Obsidian
 * §5.1.3). Loops in which all threads read the same elements are cut in the same way, and a tile of what they read is
 * loaded by all threads together. */
#include "kernel/analyse.h"
#include "kernel/walk.h"

typedef struct use { /* a segment needs a value that another one has defined */
    uint32_t segment;
    k_val value;
} use;

typedef struct splitter {
    const kernel *from;
    arena *arena;
    kernel *k;
    k_builder b;
    k_walk w;
    k_val *value;      /* per value of `from`: what stands for it now */
    k_ref *level;      /* per value: the FOR_ALL it is defined in, 0: at piece level */
    uint32_t *defined; /* per value: its segment */
    k_mem *kept;       /* per value: private memory, if it crosses segments */
    bool *meets;       /* per statement: lanes meet here */
    bool *moves;       /* per statement with lists: lanes meet in it, it moves to piece level */
    bool *tiles;       /* per FOR: what all threads read at its index goes through shared memory, tile by tile */
    bool *split, *checked, *sets;   /* per FOR_ALL: lanes meet in it; it has checks; it sets variables of the piece */
    bool *exchanges;                /* per FOR_ALL: its lanes exchange values */
    uint32_t *taken, *left;         /* per value: the last segment that has it in `take`, in `leave` */
    k_val *counter;                 /* per FOR that became a LOOP: its variable */
    k_mem *slot[2];                 /* per statement: shared memory it uses */
    VEC(use) take, leave;           /* values that a segment begins with; variables it may set */
    uint32_t next_take, next_leave; /* the first of this or a later segment */
    uint32_t segment;
    bool open, fails;  /* a FOR_ALL is open; it has checks */
    k_val count, lane; /* of the FOR_ALL being split; the thread's number in the open one */
    k_mem alive;       /* private: no CHECK has failed yet. 0: nothing can fail */
    int64_t tile;      /* elements; 0: no loop is tiled */
    k_mem *staged;     /* per global memory: its tile in the open loop */
    k_val tiled, base; /* index of that loop in `from`; the first element of the tile */
    uint32_t threads;  /* most that private memory is needed for */
} splitter;

/* --- what has to be split --- */

static bool is_thread_value(const splitter *s, k_val v)
{
    const k_value *x = &s->from->value.at[v];
    return (x->kind == KV_RESULT || x->kind == KV_VARIABLE) && s->level[v];
}

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
        s->checked[w.for_all] |= x->op == K_CHECK;
        s->sets[w.for_all] |= x->op == K_SET && !s->level[x->dst];
        s->exchanges[w.for_all] |= x->op == K_COMPACT || x->op == K_COUNT || x->op == K_SHUFFLE;
    }
}

static bool is_meeting(const splitter *s, const k_stmt *x, k_ref for_all, uint32_t divergent, uint32_t native)
{
    bool exchanged = native >= s->from->lanes && !s->checked[for_all] && !s->sets[for_all];
    switch ((k_op)x->op) {
    case K_COMPACT:
    case K_COUNT:
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

/* Is this a read that each thread makes at the loop's own index, whatever happens? */
static bool read_by_all(const splitter *s, const k_stmt *loop, const k_stmt *x)
{
    const k_memory *m = &s->from->mem.at[x->mem];
    return x->op == K_LOAD && x->in[0] == loop->dst && m->space == K_GLOBAL && !m->written;
}

/* A loop directly in a FOR_ALL, which all its threads go through from end to end: nothing can fail, so whatever is read
 * in each round may be read ahead. Loops of few rounds are not worth the barriers. */
static bool worth_tiling(const splitter *s, k_ref id, k_ref for_all)
{
    const k_stmt *x = &s->from->stmt.at[id];
    const k_value *from = &s->from->value.at[x->in[0]], *to = &s->from->value.at[x->in[1]];
    if (s->checked[for_all] || s->exchanges[for_all] || s->sets[for_all] || is_thread_value(s, x->in[0]) ||
        is_thread_value(s, x->in[1]))
        return false;
    if (from->kind == KV_LITERAL && to->kind == KV_LITERAL && (int64_t)(to->bits - from->bits) < s->tile)
        return false;
    for (k_ref r = x->body; r; r = s->from->stmt.at[r].next)
        if (read_by_all(s, x, &s->from->stmt.at[r]))
            return true;
    return false;
}

static bool find_tiles(splitter *s)
{
    bool any = false;
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (s->tile && k_walk_next(&w)) {
        const k_stmt *x = &s->from->stmt.at[w.at];
        if (w.event != K_WALK_AT || x->op != K_FOR || !w.for_all || k_walk_parent(&w) != w.for_all)
            continue;
        uint32_t threads = most_threads(s, s->from->stmt.at[w.for_all].in[0]);
        if (!threads || !worth_tiling(s, w.at, w.for_all))
            continue;
        any = s->tiles[w.at] = s->split[w.for_all] = true;
        s->threads = threads > s->threads ? threads : s->threads;
    }
    return any;
}

/* --- segments: what a FOR_ALL of the new kernel has --- */

static bool ends_segment(const splitter *s, k_ref id, k_walk_event event)
{
    return s->moves[id] || s->tiles[id] || (s->meets[id] && event == K_WALK_AT);
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

static void note_use(splitter *s, k_val v, bool sets)
{
    const k_value *x = &s->from->value.at[v];
    if (!is_thread_value(s, v) || s->from->stmt.at[x->def].op == K_FOR_ALL)
        return;
    if (sets && s->left[v] != s->segment)
        vec_push(s->arena, &s->leave, ((use){s->segment, v}));
    s->left[v] = sets ? s->segment : s->left[v];
    if (s->defined[v] == s->segment || s->taken[v] == s->segment)
        return;
    s->taken[v] = s->segment;
    vec_push(s->arena, &s->take, ((use){s->segment, v}));
    if (!s->kept[v])
        s->kept[v] = k_private(&s->b, (ir_type)x->type, 1, x->name ? x->name : "kept");
}

static void note_definition(splitter *s, const k_stmt *x)
{
    if (!x->dst || x->op == K_SET)
        return;
    s->defined[x->dst] = s->left[x->dst] = s->segment;
    if (x->op == K_DECL)
        vec_push(s->arena, &s->leave, ((use){s->segment, x->dst}));
}

/* COMPACT stores behind the meeting, so it needs its operands on both sides. */
static void note_statement(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    for (unsigned i = 0; i < k_operands(x); i++)
        note_use(s, x->in[i], false);
    if (x->op == K_SET)
        note_use(s, x->dst, true);
    s->segment += ends_segment(s, id, K_WALK_AT);
    for (unsigned i = 0; i < 3 && x->op == K_COMPACT && s->meets[id]; i++)
        note_use(s, x->in[i], false);
    note_definition(s, x);
}

static void find_segments(splitter *s)
{
    k_walk w;
    s->segment = 1;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        bool within = w.for_all && s->split[w.for_all];
        if (within && w.event == K_WALK_AT)
            note_statement(s, w.at);
        else if ((within && ends_segment(s, w.at, (k_walk_event)w.event)) || s->split[w.at])
            s->segment++;
    }
}

/* --- copying --- */

static k_val translate(splitter *s, k_val v)
{
    const k_value *x = &s->from->value.at[v];
    if (x->kind == KV_LITERAL)
        return k_literal(&s->b, (ir_type)x->type, x->bits);
    return x->kind == KV_PIECE ? k_piece(&s->b) : s->value[v];
}

static void copy_declarations(splitter *s)
{
    for (k_mem m = 1; m < s->from->mem.n; m++)
        vec_push(s->arena, &s->k->mem, s->from->mem.at[m]);
    s->k->threads = s->from->threads;
    s->k->group = s->from->group;
    s->k->contract = s->from->contract;
    for (uint32_t i = 0; i < s->from->arg_type.n; i++)
        for (k_val v = 1; v < s->from->value.n; v++)
            if (s->from->value.at[v].kind == KV_ARG && s->from->value.at[v].bits == i)
                s->value[v] = k_arg(&s->b, (ir_type)s->from->value.at[v].type, s->from->value.at[v].name);
}

static void define(splitter *s, k_val old, k_val now)
{
    s->value[old] = now;
    k_name(s->k, now, s->from->value.at[old].name);
}

static void keep(splitter *s, k_val v)
{
    k_store(&s->b, s->kept[v], k_i64(&s->b, 0), k_get(&s->b, s->value[v]));
}

static void copy_simple(splitter *s, const k_stmt *x)
{
    k_stmt copy = *x;
    if (x->op == K_LOAD && s->staged[x->mem] && x->in[0] == s->tiled) {
        k_val at = k_let(&s->b, OP_SUB, s->value[s->tiled], s->base, 0);
        define(s, x->dst, k_load(&s->b, s->staged[x->mem], at));
        return;
    }
    for (unsigned i = 0; i < k_operands(x); i++)
        copy.in[i] = translate(s, x->in[i]);
    if (x->op == K_SET)
        copy.dst = s->value[x->dst];
    k_val v = k_append(&s->b, &copy, x->dst ? (ir_type)s->from->value.at[x->dst].type : T_NONE);
    if (!v)
        return;
    define(s, x->dst, v);
    if (s->kept[x->dst] && x->op != K_DECL)
        keep(s, x->dst);
}

/* A FOR whose bounds the threads have computed, maybe from what has been in private memory: nothing shows any more that
 * they are the same in all lanes. */
static bool open_counted_loop(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    if (!s->split[s->w.for_all] || (!is_thread_value(s, x->in[0]) && !is_thread_value(s, x->in[1])))
        return false;
    k_val last = k_get(b, translate(s, x->in[1]));
    s->counter[id] = k_decl(b, translate(s, x->in[0]), "counter");
    k_loop(b);
    define(s, x->dst, k_get(b, s->counter[id]));
    k_break_if(b, k_let(b, OP_GE, s->value[x->dst], last, 0));
    return true;
}

static void open_compound(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    switch ((k_op)x->op) {
    case K_IF:
        k_if(b, translate(s, x->in[0]));
        return;
    case K_LOOP:
        k_loop(b);
        return;
    case K_FOR:
        if (!open_counted_loop(s, id))
            define(s, x->dst, k_for(b, translate(s, x->in[0]), translate(s, x->in[1]), x->sub != 0));
        return;
    case K_FOR_ALL: {
        k_val count = translate(s, x->in[0]);
        define(s, x->dst,
               x->sub == K_FEW     ? k_for_few(b, count)
               : x->sub == K_WHOLE ? k_for_whole(b, count)
                                   : k_for_all(b, count));
        return;
    }
    default:
        break;
    }
    k_val aggregate[8], initial[8];
    for (unsigned j = 0; j < x->chain->arity; j++) {
        aggregate[j] = translate(s, x->chain->aggregate[j]);
        initial[j] = translate(s, x->chain->initial[j]);
    }
    k_chain *c = k_chain_begin(b, x->chain->arity, aggregate, initial, x->mem);
    for (unsigned j = 0; j < c->arity; j++) {
        s->value[x->chain->left[j]] = c->left[j];
        s->value[x->chain->right[j]] = c->right[j];
        s->value[x->chain->before[j]] = c->before[j];
    }
}

static void close_compound(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    if (s->counter[id])
        k_set(&s->b, s->counter[id], k_let(&s->b, OP_ADD, s->value[x->dst], k_i64(&s->b, 1), 0));
    if (x->op != K_CHAIN) {
        k_end(&s->b);
        return;
    }
    k_val result[8];
    k_val first = s->value[x->chain->left[0]];
    k_chain *c = NULL;
    for (k_ref other = s->k->stmt.n; other-- > 1 && !c;)
        if (s->k->stmt.at[other].op == K_CHAIN && s->k->stmt.at[other].chain->left[0] == first)
            c = s->k->stmt.at[other].chain;
    for (unsigned j = 0; j < x->chain->arity; j++)
        result[j] = translate(s, x->chain->result[j]);
    k_chain_end(&s->b, c, result);
}

/* --- the FOR_ALLs --- */

static k_mem slot(splitter *s, k_ref id, unsigned number, ir_type t, int64_t count, const char *name)
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
static void prepare(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    if (x->op == K_COUNT || x->op == K_ALL)
        k_store(b, slot(s, id, 0, T_I32, 1, "votes"), k_i64(b, 0), k_literal(b, T_I32, x->op == K_ALL));
    for (unsigned i = 0; i < handed(s, id); i++)
        if (is_thread_value(s, x->in[i])) {
            ir_type t = (ir_type)s->from->value.at[x->in[i]].type;
            k_store(b, slot(s, id, i, t, 1, "handed"), k_i64(b, 0), otherwise(s, x, t));
        }
}

/* Where the lanes that are at statement `at` meet next, in this list. */
static k_ref next_meeting(const splitter *s, k_ref at)
{
    while (at && !s->meets[at] && !s->moves[at] && !s->tiles[at])
        at = s->from->stmt.at[at].next;
    return at;
}

/* May a CHECK fail from `at` on, up to `end`? */
static bool has_checks(const splitter *s, k_ref at, k_ref end)
{
    if (!s->alive)
        return false;
    while (at != end && s->from->stmt.at[at].op != K_CHECK && !k_compound(&s->from->stmt.at[at]))
        at = s->from->stmt.at[at].next;
    return at != end;
}

static void take_values(splitter *s)
{
    k_builder *b = &s->b;
    uint32_t i = s->next_take;
    while (i < s->take.n && s->take.at[i].segment < s->segment)
        i++;
    for (; i < s->take.n && s->take.at[i].segment == s->segment; i++) {
        const use *u = &s->take.at[i];
        k_val v = k_load(b, s->kept[u->value], k_i64(b, 0));
        bool variable = s->from->value.at[u->value].kind == KV_VARIABLE;
        define(s, u->value, variable ? k_decl(b, v, NULL) : v);
    }
    s->next_take = i;
}

static void open_segment(splitter *s, k_ref at)
{
    k_builder *b = &s->b;
    k_ref end = next_meeting(s, at);
    if (s->open)
        return;
    if (end)
        prepare(s, end);
    s->open = true;
    s->lane = k_for_all(b, s->count);
    if (end && s->from->stmt.at[end].op == K_COMPACT && s->alive)
        k_store(b, slot(s, end, 0, T_I32, s->from->lanes, "keeps"), s->lane, k_literal(b, T_I32, 0));
    if (s->alive)
        k_if(b, k_load(b, s->alive, k_i64(b, 0)));
    s->fails = has_checks(s, at, end);
    if (s->fails)
        k_store(b, s->alive, k_i64(b, 0), k_literal(b, T_BOOL, 0));
    s->value[s->from->stmt.at[s->w.for_all].dst] = s->lane;
    take_values(s);
}

static void close_segment(splitter *s)
{
    k_builder *b = &s->b;
    if (!s->open)
        return;
    s->open = false;
    uint32_t i = s->next_leave;
    while (i < s->leave.n && s->leave.at[i].segment < s->segment)
        i++;
    for (; i < s->leave.n && s->leave.at[i].segment == s->segment; i++)
        if (s->kept[s->leave.at[i].value])
            keep(s, s->leave.at[i].value);
    s->next_leave = i;
    if (s->fails)
        k_store(b, s->alive, k_i64(b, 0), k_literal(b, T_BOOL, 1));
    if (s->alive)
        k_end(b);
    k_end(b);
}

/* --- meetings --- */

/* Lanes hand over operand i of a statement; behind the FOR_ALL it is a value of the piece. */
static void hand_over(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    for (unsigned i = 0; i < handed(s, id); i++)
        if (is_thread_value(s, x->in[i])) {
            open_segment(s, id);
            k_store(&s->b, s->slot[i][id], k_i64(&s->b, 0), k_get(&s->b, s->value[x->in[i]]));
        }
}

static k_val received(splitter *s, k_ref id, unsigned i)
{
    k_val v = s->from->stmt.at[id].in[i];
    return is_thread_value(s, v) ? k_load(&s->b, s->slot[i][id], k_i64(&s->b, 0)) : k_get(&s->b, translate(s, v));
}

static void vote(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    k_val zero = k_i64(b, 0);
    open_segment(s, id);
    k_val one = k_convert(b, OP_CONVERT, T_I32, translate(s, x->in[0]));
    k_atomic(b, x->op == K_COUNT ? OP_ADD : OP_BIT_AND, s->slot[0][id], zero, one);
    close_segment(s);
    k_val votes = k_load(b, s->slot[0][id], zero);
    define(s, x->dst, k_convert(b, OP_CONVERT, x->op == K_COUNT ? T_I64 : T_BOOL, votes));
}

static void exchange(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    int64_t lanes = s->from->lanes;
    ir_type t = (ir_type)s->from->value.at[x->dst].type;
    open_segment(s, id);
    k_mem m = slot(s, id, 0, t, lanes, "exchanged");
    k_store(b, m, s->lane, k_get(b, translate(s, x->in[0])));
    close_segment(s);
    s->segment++;
    open_segment(s, x->next);
    k_val from = k_let(b, OP_ADD, s->lane, k_i64(b, ir_i64_bits(T_I64, s->from->value.at[x->in[1]].bits)), 0);
    define(s, x->dst, k_load(b, m, k_let(b, OP_BIT_AND, from, k_i64(b, lanes - 1), 0)));
    if (s->kept[x->dst])
        keep(s, x->dst);
}

static void compact(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    open_segment(s, id);
    k_mem m = slot(s, id, 0, T_I32, s->from->lanes, "keeps");
    k_store(b, m, s->lane, k_convert(b, OP_CONVERT, T_I32, translate(s, x->in[2])));
    close_segment(s);
    s->segment++;
    open_segment(s, x->next);
    k_val rank = k_decl(b, k_literal(b, T_I32, 0), "rank");
    k_val other = k_for(b, k_i64(b, 0), s->count, false);
    k_if(b, k_let(b, OP_LT, other, s->lane, 0));
    k_set(b, rank, k_let(b, OP_ADD, k_get(b, rank), k_load(b, m, other), 0));
    k_end(b);
    k_end(b);
    k_if(b, translate(s, x->in[2]));
    k_val at = k_let(b, OP_ADD, translate(s, x->in[0]), k_convert(b, OP_CONVERT, T_I64, k_get(b, rank)), 0);
    k_store(b, x->mem, at, k_get(b, translate(s, x->in[1])));
    k_end(b);
}

static void meet(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    switch ((k_op)x->op) {
    case K_COMPACT:
        compact(s, id);
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
        close_segment(s);
        k_break_if(&s->b, received(s, id, 0));
        break;
    default:
        hand_over(s, id);
        close_segment(s);
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
    close_segment(s);
    s->segment++;
    if (x->op == K_IF) {
        k_if(b, received(s, id, 0));
    } else if (x->op == K_FOR) {
        k_val from = received(s, id, 0), to = received(s, id, 1);
        define(s, x->dst, k_for(b, from, to, x->sub != 0));
    } else {
        k_loop(b);
        if (s->alive)
            leave_dead_loop(s);
    }
}

/* --- tiles --- */

/* All threads of the block load what the coming rounds read. */
static void stage_tile(splitter *s, const k_stmt *loop, k_val last)
{
    k_builder *b = &s->b;
    k_val j = k_for_all(b, k_i64(b, s->tile)), i = k_let(b, OP_ADD, s->base, j, 0);
    k_if(b, k_let(b, OP_LT, i, last, 0));
    for (k_ref r = loop->body; r; r = s->from->stmt.at[r].next) {
        const k_stmt *x = &s->from->stmt.at[r];
        if (!read_by_all(s, loop, x) || s->staged[x->mem])
            continue;
        const k_memory *m = &s->from->mem.at[x->mem];
        s->staged[x->mem] = k_shared(b, (ir_type)m->type, s->tile, "tile");
        k_store(b, s->staged[x->mem], j, k_load(b, x->mem, i));
    }
    k_end(b);
    k_end(b);
}

static void begin_tiles(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    k_val from = translate(s, x->in[0]), to = translate(s, x->in[1]), tile = k_i64(b, s->tile);
    close_segment(s);
    s->segment++;
    k_val rounds = k_let(b, OP_ADD, k_let(b, OP_SUB, to, from, 0), k_i64(b, s->tile - 1), 0);
    k_val number = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, rounds, tile, 0), false);
    s->base = k_let(b, OP_ADD, from, k_let(b, OP_MUL, number, tile, 0), 0);
    k_val last = k_let(b, OP_MIN, to, k_let(b, OP_ADD, s->base, tile, 0), 0);
    s->tiled = x->dst;
    stage_tile(s, x, last);
    open_segment(s, 0);
    define(s, x->dst, k_for(b, s->base, last, x->sub != 0));
}

static void end_tiles(splitter *s)
{
    k_end(&s->b);
    close_segment(s);
    s->segment++;
    k_end(&s->b);
    memset(s->staged, 0, s->from->mem.n * sizeof(*s->staged));
    s->tiled = 0;
}

/* --- FOR_ALLs --- */

static void begin_split(splitter *s, k_ref id)
{
    k_builder *b = &s->b;
    s->segment++;
    s->count = translate(s, s->from->stmt.at[id].in[0]);
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
        close_segment(s);
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
        begin_tiles(s, id);
        return;
    }
    if (s->tiles[id]) {
        end_tiles(s);
        return;
    }
    if (s->w.event == K_WALK_AT)
        open_segment(s, id);
    if (s->w.event == K_WALK_ELSE)
        k_else(&s->b);
    else if (s->w.event == K_WALK_LEAVE)
        close_compound(s, id);
    else if (k_compound(x))
        open_compound(s, id);
    else
        copy_simple(s, x);
}

static void event(splitter *s)
{
    const k_stmt *x = &s->from->stmt.at[s->w.at];
    if (s->split[s->w.at]) {
        if (s->w.event == K_WALK_AT) {
            begin_split(s, s->w.at);
            return;
        }
        close_segment(s);
        s->segment++;
        k_end(&s->b);
        return;
    }
    if (s->w.for_all && s->split[s->w.for_all])
        split_event(s);
    else if (!k_compound(x))
        copy_simple(s, x);
    else if (s->w.event == K_WALK_AT)
        open_compound(s, s->w.at);
    else if (s->w.event == K_WALK_ELSE)
        k_else(&s->b);
    else
        close_compound(s, s->w.at);
}

kernel *k_split(kernel *from, uint32_t native, uint32_t tile, arena *a)
{
    splitter s = {.from = from, .arena = a, .tile = tile};
    uint32_t values = from->value.n, statements = from->stmt.n;
    s.value = arena_alloc(a, values * sizeof(*s.value));
    s.level = arena_alloc(a, values * sizeof(*s.level));
    s.defined = arena_alloc(a, values * sizeof(*s.defined));
    s.kept = arena_alloc(a, values * sizeof(*s.kept));
    s.meets = arena_alloc(a, statements * sizeof(*s.meets));
    s.moves = arena_alloc(a, statements * sizeof(*s.moves));
    s.split = arena_alloc(a, statements * sizeof(*s.split));
    s.checked = arena_alloc(a, statements * sizeof(*s.checked));
    s.sets = arena_alloc(a, statements * sizeof(*s.sets));
    s.taken = arena_alloc(a, values * sizeof(*s.taken));
    s.left = arena_alloc(a, values * sizeof(*s.left));
    s.counter = arena_alloc(a, statements * sizeof(*s.counter));
    s.slot[0] = arena_alloc(a, statements * sizeof(k_mem));
    s.slot[1] = arena_alloc(a, statements * sizeof(k_mem));
    s.tiles = arena_alloc(a, statements * sizeof(*s.tiles));
    s.exchanges = arena_alloc(a, statements * sizeof(*s.exchanges));
    s.staged = arena_alloc(a, from->mem.n * sizeof(*s.staged));
    find_levels(&s);
    bool meetings = find_meetings(&s, native), tiles = find_tiles(&s);
    if (!meetings && !tiles)
        return from;
    s.threads = meetings && s.threads < from->lanes ? from->lanes : s.threads;
    find_consequences(&s);
    s.k = k_new(a, from->name, from->lanes);
    k_begin(&s.b, s.k);
    copy_declarations(&s);
    find_segments(&s);
    s.segment = 1;
    k_walk_begin(&s.w, from, a);
    while (k_walk_next(&s.w))
        event(&s);
    s.k->threads = from->threads > s.threads ? from->threads : s.threads;
    return s.k;
}
