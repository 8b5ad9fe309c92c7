/* Gangs that are twice as wide as the threads in step of a device (warps): each thread of a warp takes two lanes, its
 * own and the one `native` further, so that lanes exchange values by instructions instead of barriers and shared
 * memory. What differs between lanes is computed twice, side by side; what is uniform once. A branch or loop that lanes
 * do not go through together runs for one lane of each thread, then for the other. */
#include "kernel/split.h"

#include "kernel/analyse.h"

enum {
    ABREAST = 2 /* multiprocessors have room for twice as many gangs as blocks */
};

typedef struct pairer {
    splitter s;      /* for copy.c; `value` is one of the two below */
    k_val *value[2]; /* per value: what stands for it in a thread's first and second lane */
    k_shapes shapes;
    bool *paired; /* per FOR_ALL: threads take two lanes */
    uint32_t native;
    k_ref alone; /* the open branch or loop that runs for lane `lane` of the threads only; 0: none */
    unsigned lane;
    k_walk again; /* at that statement */
} pairer;

/* --- which kernels --- */

static bool is_exchange(const k_stmt *x)
{
    return x->op == K_COMPACT || x->op == K_COUNT || x->op == K_RANK || x->op == K_SHUFFLE;
}

/* Of a FOR_ALL whose lanes exchange values: its threads, if the text knows them. */
static int64_t threads_of(const kernel *k, const k_stmt *for_all)
{
    const k_value *count = &k->value.at[for_all->in[0]];
    return count->kind == KV_LITERAL ? ir_i64_bits(T_I64, count->bits) : -1;
}

/* Private memory belongs to virtual threads, of which a thread would be two. */
static bool is_strange(const splitter *s, const k_stmt *x)
{
    bool touches = x->op == K_LOAD || x->op == K_STORE || x->op == K_ATOMIC || x->op == K_COMPACT;
    return x->op == K_CHECK || (x->op == K_SET && !s->level[x->dst]) ||
           (touches && s->from->mem.at[x->mem].space == K_PRIVATE);
}

/* All gangs of a kernel or none, as the kernel has one width. */
static bool find_pairs(pairer *p)
{
    splitter *s = &p->s;
    bool any = false, *strange = arena_array(s->arena, *strange, s->from->stmt.n);
    k_walk w;
    k_walk_begin(&w, s->from, s->arena);
    while (k_walk_next(&w)) {
        const k_stmt *x = &s->from->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        if (x->dst && x->op != K_SET)
            s->level[x->dst] = x->op == K_FOR_ALL ? w.at : w.for_all;
        if (w.for_all) {
            p->paired[w.for_all] |= is_exchange(x);
            strange[w.for_all] |= is_strange(s, x);
        }
    }
    for (k_ref id = 1; id < s->from->stmt.n; id++) {
        if (!p->paired[id])
            continue;
        int64_t threads = threads_of(s->from, &s->from->stmt.at[id]);
        if (strange[id] || (threads != 2 * (int64_t)p->native && (threads < 0 || threads > (int64_t)p->native)))
            return false;
        p->paired[id] = threads > (int64_t)p->native;
        any = true;
    }
    return any;
}

/* --- copying --- */

static k_val of_lane(pairer *p, unsigned lane, k_val v)
{
    p->s.value = p->value[lane];
    return split_translate(&p->s, v);
}

static void copy_for(pairer *p, unsigned lane, const k_stmt *x)
{
    p->s.value = p->value[lane];
    split_copy(&p->s, x);
}

static void define_both(pairer *p, const k_stmt *x, k_val first, k_val second)
{
    p->value[0][x->dst] = first;
    p->value[1][x->dst] = second;
}

static bool is_uniform(const pairer *p, k_val v)
{
    return p->shapes.shape[v] == K_UNIFORM;
}

/* Has the statement the same effect whether one lane does it or all? */
static bool once_is_enough(const pairer *p, const k_stmt *x)
{
    switch ((k_op)x->op) {
    case K_ATOMIC:
        return false;
    case K_STORE:
        return is_uniform(p, x->in[0]) && is_uniform(p, x->in[1]);
    default:
        return !x->dst || is_uniform(p, x->dst);
    }
}

/* --- exchanges --- */

static void shuffle(pairer *p, const k_stmt *x)
{
    k_builder *b = &p->s.b;
    const int64_t native = (int64_t)p->native, d = ir_i64_bits(T_I64, p->s.from->value.at[x->in[1]].bits);
    k_val in[2] = {of_lane(p, 0, x->in[0]), of_lane(p, 1, x->in[0])}, got[2];
    if (x->sub == K_LANE || (x->sub == K_LEFT && d == native)) {
        int64_t from = x->sub == K_LANE ? d : native - 1;
        got[0] = got[1] = k_take_lane(b, in[from / native], from % native);
    } else if (x->sub == K_LEFT) {
        for (unsigned i = 0; i < 2; i++)
            got[i] = k_take_left(b, in[i], d);
    } else if (x->sub == K_PAIR) {
        k_val second = k_let(b, OP_GE, p->value[0][p->s.from->stmt.at[p->s.w.for_all].dst], k_i64(b, native / 2), 0);
        k_val first = k_take_pair(b, in[0], d);
        got[0] = got[1] = k_select(b, second, k_take_pair(b, in[1], d), first);
    } else {
        int64_t within = d & (native - 1);
        unsigned other = (unsigned)(d / native) & 1;
        k_val turned[2] = {in[0], in[1]};
        for (unsigned i = 0; i < 2 && within; i++)
            turned[i] = k_shuffle(b, in[i], within);
        got[0] = turned[other];
        got[1] = turned[1 - other];
        if (within) { /* the last lanes of a warp go on in the other half */
            k_val thread = p->value[0][p->s.from->stmt.at[p->s.w.for_all].dst];
            k_val over = k_let(b, OP_GE, thread, k_i64(b, native - within), 0);
            k_val first = k_select(b, over, got[1], got[0]);
            got[1] = k_select(b, over, got[0], got[1]);
            got[0] = first;
        }
    }
    define_both(p, x, got[0], got[1]);
}

static void compact(pairer *p, const k_stmt *x)
{
    k_builder *b = &p->s.b;
    k_val base = of_lane(p, 0, x->in[0]);
    for (unsigned i = 0; i < 2; i++) {
        k_val value = of_lane(p, i, x->in[1]), keep = of_lane(p, i, x->in[2]);
        k_compact(b, x->mem, base, value, keep);
        if (!i)
            base = k_let(b, OP_ADD, base, k_count(b, keep), 0);
    }
}

static void exchange(pairer *p, const k_stmt *x)
{
    k_builder *b = &p->s.b;
    if (x->op == K_SHUFFLE) {
        shuffle(p, x);
        return;
    }
    if (x->op == K_COMPACT) {
        compact(p, x);
        return;
    }
    k_val in[2] = {of_lane(p, 0, x->in[0]), of_lane(p, 1, x->in[0])}, all;
    switch ((k_op)x->op) {
    case K_COUNT:
        all = k_let(b, OP_ADD, k_count(b, in[0]), k_count(b, in[1]), 0);
        define_both(p, x, all, all);
        return;
    case K_RANK: {
        k_val first = k_rank(b, in[0]), before = k_count(b, in[0]);
        define_both(p, x, first, k_let(b, OP_ADD, before, k_rank(b, in[1]), 0));
        return;
    }
    default: /* ALL */
        all = k_let(b, OP_AND, k_all(b, in[0]), k_all(b, in[1]), 0);
        define_both(p, x, all, all);
    }
}

/* --- statements --- */

static void simple(pairer *p, const k_stmt *x)
{
    if (x->op == K_FETCH) /* threads of a GPU wait for each other's reads instead */
        return;
    if (p->alone) {
        copy_for(p, p->lane, x);
        return;
    }
    if (is_exchange(x) || x->op == K_ALL) {
        exchange(p, x);
        return;
    }
    copy_for(p, 0, x);
    if (!once_is_enough(p, x))
        copy_for(p, 1, x);
    else if (x->dst && x->op != K_SET)
        p->value[1][x->dst] = p->value[0][x->dst];
}

static void open_for_all(pairer *p, k_ref id)
{
    const k_stmt *x = &p->s.from->stmt.at[id];
    k_builder *b = &p->s.b;
    k_val lane = x->sub == K_WHOLE ? k_for_whole(b, k_i64(b, p->native)) : k_for_all(b, k_i64(b, p->native));
    define_both(p, x, lane, k_let(b, OP_ADD, lane, k_i64(b, p->native), 0));
}

/* Lists of a FOR_ALL that is paired, and what is in them. */
static void compound(pairer *p)
{
    splitter *s = &p->s;
    k_ref id = s->w.at;
    const k_stmt *x = &s->from->stmt.at[id];
    bool apart = !p->alone && x->op != K_FOR && p->shapes.divergent[id];
    switch ((k_walk_event)s->w.event) {
    case K_WALK_AT:
        if (apart) {
            p->alone = id;
            p->lane = 0;
            p->again = s->w;
        }
        s->value = p->value[p->alone ? p->lane : 0];
        split_open(s, id);
        if (!p->alone && x->dst)
            p->value[1][x->dst] = p->value[0][x->dst];
        return;
    case K_WALK_ELSE:
        k_else(&s->b);
        return;
    default:
        s->value = p->value[p->alone ? p->lane : 0];
        split_close(s, id);
    }
    if (p->alone != id)
        return;
    if (p->lane == 0) { /* once more, for the other lanes */
        s->w = p->again;
        p->lane = 1;
        s->value = p->value[1];
        split_open(s, id);
        return;
    }
    p->alone = 0;
    p->lane = 0;
}

/* What the piece knows, all lanes know. */
static void share(pairer *p, const k_stmt *x)
{
    if (x->dst && x->op != K_SET)
        p->value[1][x->dst] = p->value[0][x->dst];
    for (unsigned j = 0; x->op == K_CHAIN && j < x->chain->arity; j++) {
        const k_val of[] = {x->chain->left[j], x->chain->right[j], x->chain->before[j]};
        for (size_t i = 0; i < ARRAY_LENGTH(of); i++)
            p->value[1][of[i]] = p->value[0][of[i]];
    }
}

static void event(pairer *p)
{
    splitter *s = &p->s;
    k_ref id = s->w.at;
    const k_stmt *x = &s->from->stmt.at[id];
    bool within = s->w.for_all && p->paired[s->w.for_all];
    if (within && k_compound(x)) {
        compound(p);
    } else if (within) {
        simple(p, x);
    } else if (p->paired[id] && s->w.event == K_WALK_AT) {
        open_for_all(p, id);
    } else {
        s->value = p->value[0];
        if (!k_compound(x))
            split_copy(s, x);
        else if (s->w.event == K_WALK_AT)
            split_open(s, id);
        else if (s->w.event == K_WALK_ELSE)
            k_else(&s->b);
        else
            split_close(s, id);
        if (!s->w.for_all && s->w.event == K_WALK_AT)
            share(p, x);
    }
}

kernel *k_pair(kernel *from, uint32_t native, arena *a)
{
    pairer p = {.s = {.from = from, .arena = a}, .native = native};
    splitter *s = &p.s;
    const uint32_t values = from->value.n, statements = from->stmt.n;
    if (native < 2 || from->lanes != 2 * native)
        return from;
    p.paired = arena_array(a, *p.paired, statements);
    s->level = arena_array(a, *s->level, values);
    if (!find_pairs(&p))
        return from;
    for (unsigned i = 0; i < 2; i++)
        p.value[i] = arena_alloc(a, values * sizeof *p.value[i]);
    s->value = p.value[0];
    s->kept = arena_array(a, *s->kept, values);
    s->split = arena_array(a, *s->split, statements);
    s->counter = arena_array(a, *s->counter, statements);
    s->staged = arena_array(a, *s->staged, from->mem.n);
    p.shapes = k_find_shapes(from, a);
    s->k = k_new(a, from->name, (uint16_t)native);
    k_begin(&s->b, s->k);
    split_declarations(s);
    s->k->group = (uint16_t)native; /* all else is done between exchanges */
    memcpy(p.value[1], p.value[0], values * sizeof *p.value[0]);
    k_walk_begin(&s->w, from, a);
    while (k_walk_next(&s->w))
        event(&p);
    return s->k;
}

/* --- blocks of gangs --- */

k_val k_bound_of(const kernel *k, k_val count)
{
    const k_value *v = k->value.at;
    const k_stmt *s = &k->stmt.at[v[count].def];
    if (v[count].kind == KV_LITERAL)
        return count;
    if (v[count].kind != KV_RESULT || s->op != K_LET || s->sub != OP_MIN)
        return 0;
    return v[s->in[0]].kind == KV_LITERAL ? s->in[0] : v[s->in[1]].kind == KV_LITERAL ? s->in[1] : 0;
}

int64_t k_widest(const kernel *k, int64_t unknown)
{
    int64_t widest = 1;
    for (k_ref id = 1; id < k->stmt.n; id++) {
        if (k->stmt.at[id].op != K_FOR_ALL)
            continue;
        k_val bound = k_bound_of(k, k->stmt.at[id].in[0]);
        int64_t n = bound ? ir_i64_bits(T_I64, k->value.at[bound].bits) : unknown;
        widest = n > widest ? n : widest;
    }
    return widest;
}

/* Chains and atomics of the piece go through words that a block has once. */
static bool is_alone(const kernel *k)
{
    bool alone = k->chained;
    for (k_ref id = 1; id < k->stmt.n; id++)
        alone |= k->stmt.at[id].op == K_ATOMIC;
    return alone;
}

void k_go_abreast(kernel *k, uint32_t native)
{
    const int64_t threads = k->group ? k->group : k_widest(k, INT64_MAX);
    if (!native || k->lanes != native || threads > (int64_t)native || is_alone(k))
        return;
    k->abreast = ABREAST;
    k->group = (uint16_t)(ABREAST * native);
}
