/* Index arithmetic in 32 bits: what GPUs do several times as fast as in 64. Which values of a kernel are index
 * arithmetic is a matter of its text alone; whether they fit is decided for each launch, from its arguments, by
 * intervals: then the numbers are known, and products of extents are no worse than they are. */
#include "kernel/narrow.h"
#include "kernel/analyse.h"
#include "kernel/ranges.h"
#include "kernel/walk.h"

/* --- which values --- */

static bool small_literal(const k_value *v)
{
    int64_t n = ir_i64_bits(T_I64, v->bits);
    return n >= -K_MOST_INDEX && n <= K_MOST_INDEX;
}

/* Everything whose interval follows from those of its operands; AND with a mask that is not negative. */
static bool index_operator(const kernel *k, const k_stmt *s)
{
    const k_value *x = &k->value.at[s->in[0]], *y = &k->value.at[s->in[1]];
    switch ((ir_op)s->sub) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_MIN:
    case OP_MAX:
    case OP_QUOT:
    case OP_REM:
    case OP_DIV:
    case OP_MOD:
    case OP_NEG:
    case OP_ABS:
        return true;
    case OP_BIT_AND:
        return y->kind == KV_LITERAL && ir_i64_bits(T_I64, y->bits) >= 0;
    case OP_BITCAST:
        return x->type == T_I64;
    case OP_CONVERT: /* wider types hold anything, and would keep the whole kernel from fitting */
        return x->type == T_BOOL || (!ir_type_float((ir_type)x->type) && ir_type_size((ir_type)x->type) < 4);
    default:
        return false;
    }
}

static bool is_index(const kernel *k, const k_stmt *s, const bool *marked)
{
    unsigned first = s->op == K_SELECT;
    if (s->op == K_LET ? !index_operator(k, s) : s->op != K_SELECT && s->op != K_FOR && s->op != K_FOR_ALL)
        return s->op == K_COUNT || s->op == K_RANK;
    for (unsigned i = first; i < k_operands(s); i++)
        if (k->value.at[s->in[i]].type == T_I64 && !marked[s->in[i]])
            return false;
    return true;
}

/* --- holders: variables, and shared memory of i64 ---
 * One that only ever holds what does not depend on holders, or what is chosen among that and what holders have, has an
 * interval: the hull of all that is chosen from. The nearest so far is such a one, wherever it waits; what counts is
 * not. */

typedef enum { FREE, CHOSEN, COMPUTED } origin; /* of a value: how it depends on holders */

typedef struct indices {
    const kernel *k;
    bool *marked;    /* per value */
    uint8_t *origin; /* per value */
    bool *memory;    /* per memory: it is a holder */
    uint32_t *depth; /* per variable: of statements around its declaration */
    uint8_t *sets;   /* per variable: statements that set it; 2: that many, or more */
} indices;

static bool is_choice(const k_stmt *s)
{
    return s->op == K_SELECT || (s->op == K_LET && (s->sub == OP_BITCAST || s->sub == OP_MIN || s->sub == OP_MAX));
}

static uint8_t origin_of(const indices *x, const k_stmt *s)
{
    uint8_t most = FREE;
    for (unsigned i = s->op == K_SELECT; i < k_operands(s); i++) {
        const k_value *v = &x->k->value.at[s->in[i]];
        uint8_t one = v->type != T_I64 ? FREE : v->kind == KV_VARIABLE ? CHOSEN : x->origin[s->in[i]];
        most = one > most ? one : most;
    }
    return most == FREE || is_choice(s) ? most : COMPUTED;
}

/* May a holder have it? */
static bool fits_holder(const indices *x, k_val v)
{
    return x->marked[v] && (x->k->value.at[v].kind == KV_VARIABLE || x->origin[v] != COMPUTED);
}

/* --- counters: variables that one statement sets, to one more than what they had some time before, or the same --- */

static const k_stmt *result_of(const kernel *k, k_val v, k_op op)
{
    const k_value *x = &k->value.at[v];
    return x->kind == KV_RESULT && k->stmt.at[x->def].op == op ? &k->stmt.at[x->def] : NULL;
}

static bool is_bit(const kernel *k, k_val v)
{
    const k_value *x = &k->value.at[v];
    const k_stmt *let = result_of(k, v, K_LET), *select = result_of(k, v, K_SELECT);
    if (x->kind == KV_LITERAL)
        return x->bits <= 1;
    return (let && let->sub == OP_CONVERT && k->value.at[let->in[0]].type == T_BOOL) ||
           (select && is_bit(k, select->in[1]) && is_bit(k, select->in[2]));
}

static bool is_copy(const kernel *k, k_val v, k_val variable)
{
    const k_stmt *s = result_of(k, v, K_LET);
    return v == variable || (s && s->sub == OP_BITCAST && s->in[0] == variable);
}

/* Does the statement count, with nothing between it and the declaration but what ends after a number of rounds? */
static bool counts(const indices *x, const k_walk *w, const k_stmt *s)
{
    const kernel *k = x->k;
    const k_stmt *sum = s->op == K_SET && x->sets[s->dst] == 1 ? result_of(k, s->in[0], K_LET) : NULL;
    bool good = sum && sum->sub == OP_ADD &&
                ((is_copy(k, sum->in[0], s->dst) && is_bit(k, sum->in[1])) ||
                 (is_copy(k, sum->in[1], s->dst) && is_bit(k, sum->in[0])));
    for (uint32_t i = good ? x->depth[s->dst] : 0; good && i < w->open.n; i++) {
        k_op op = (k_op)k->stmt.at[k_walk_open(w, i)].op;
        good = op == K_FOR || op == K_IF;
    }
    return good;
}

/* Writes a memory otherwise than by a STORE. */
static bool writes_otherwise(const k_stmt *s)
{
    return s->op == K_ATOMIC || s->op == K_COMPACT || s->op == K_CHAIN;
}

/* A statement; false if a holder that was one must not be. */
static bool mark_statement(indices *x, const k_walk *w, const k_stmt *s)
{
    const kernel *k = x->k;
    bool good = true;
    if (s->op == K_STORE || writes_otherwise(s)) {
        bool fits = s->op == K_STORE && fits_holder(x, s->in[1]), was = x->memory[s->mem];
        x->memory[s->mem] &= fits;
        good = fits || !was;
    }
    if (!s->dst || k->value.at[s->dst].type != T_I64)
        return good;
    if (s->op == K_DECL || s->op == K_SET) {
        bool fits = fits_holder(x, s->in[0]) || (x->marked[s->in[0]] && counts(x, w, s)), was = x->marked[s->dst];
        if (s->op == K_DECL)
            x->depth[s->dst] = w->open.n;
        x->marked[s->dst] &= fits;
        return fits || !was;
    }
    if (k->value.at[s->dst].kind != KV_RESULT)
        return good;
    bool loads = s->op == K_LOAD && x->memory[s->mem];
    x->marked[s->dst] = loads || is_index(k, s, x->marked);
    x->origin[s->dst] = loads ? CHOSEN : origin_of(x, s);
    return good;
}

static bool mark(indices *x, arena *a)
{
    bool good = true;
    k_walk w;
    k_walk_begin(&w, x->k, a);
    while (k_walk_next(&w))
        if (w.event == K_WALK_AT)
            good &= mark_statement(x, &w, &x->k->stmt.at[w.at]);
    return good;
}

static indices find_indices(const kernel *k, arena *a)
{
    enum { TRIES = 6 };
    indices x = {.k = k,
                 .marked = arena_array(a, bool, k->value.n),
                 .origin = arena_array(a, uint8_t, k->value.n),
                 .memory = arena_array(a, bool, k->mem.n),
                 .depth = arena_array(a, uint32_t, k->value.n),
                 .sets = arena_array(a, uint8_t, k->value.n)};
    if (k->chained) /* positions of carries count words, not pieces */
        return x;
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (k->stmt.at[r].op == K_SET && x.sets[k->stmt.at[r].dst] < 2)
            x.sets[k->stmt.at[r].dst]++;
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *value = &k->value.at[v];
        x.marked[v] = value->type == T_I64 &&
                      (value->kind == KV_ARG || value->kind == KV_PIECE || (value->kind == KV_VARIABLE && value->def) ||
                       (value->kind == KV_LITERAL && small_literal(value)));
    }
    for (k_mem m = 1; m < k->mem.n; m++)
        x.memory[m] = k->mem.at[m].space == K_SHARED && k->mem.at[m].type == T_I64;
    bool good = false;
    for (unsigned i = 0; i < TRIES && !good; i++) /* what is no index makes others none */
        good = mark(&x, a);
    if (good)
        return x;
    for (k_val v = 1; v < k->value.n; v++)
        x.marked[v] &= k->value.at[v].kind != KV_VARIABLE;
    for (k_mem m = 1; m < k->mem.n; m++)
        x.memory[m] = false;
    mark(&x, a);
    return x;
}

bool *k_find_indices(const kernel *k, arena *a)
{
    return find_indices(k, a).marked;
}

static bool strides_far(const k_shapes *shapes, k_val index)
{
    enum { MOST_STEP = 4 }; /* emitters load whole vectors and pick from them */
    int64_t step = shapes->step[index];
    return shapes->shape[index] == K_VARYING || shapes->shape[index] == K_STRIDED ||
           (shapes->shape[index] == K_AFFINE && (step > MOST_STEP || step < -1));
}

/* A result of type i64 that differs from lane to lane otherwise than by a step. */
static bool computes_vector(const kernel *k, const k_shapes *shapes, const k_stmt *s)
{
    return (s->op == K_LET || s->op == K_SELECT) && k->value.at[s->dst].type == T_I64 &&
           shapes->shape[s->dst] == K_VARYING;
}

static bool gathers(const kernel *k, const k_shapes *shapes, const k_stmt *s)
{
    return (s->op == K_LOAD || s->op == K_STORE) && k->mem.at[s->mem].space == K_GLOBAL &&
           strides_far(shapes, s->in[0]);
}

/* Computes what is no index: a condition, or a float. */
static bool uses(const kernel *k, const k_shapes *shapes, const k_stmt *s)
{
    ir_type t = (ir_type)k->value.at[s->dst].type;
    return s->op == K_LET && k->value.at[s->in[0]].type == T_I64 && (t == T_BOOL || ir_type_float(t)) &&
           shapes->shape[s->dst] == K_VARYING;
}

k_index_vectors k_find_index_vectors(const kernel *k, arena *a)
{
    k_shapes shapes = k_find_shapes(k, a);
    k_index_vectors found = K_INDICES_LINEAR;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !w.for_all)
            continue;
        if (computes_vector(k, &shapes, s) || gathers(k, &shapes, s))
            return K_INDICES_VECTORS;
        if (uses(k, &shapes, s))
            found = K_INDICES_USED;
    }
    return found;
}

void k_keep_indices(kernel *k, arena *a)
{
    const bool *marked = k_find_indices(k, a);
    for (k_ref r = 1; r < k->stmt.n; r++) {
        k_stmt *s = &k->stmt.at[r];
        const k_value *x = &k->value.at[s->in[0]];
        if (s->op != K_LET || s->sub != OP_CONVERT || k->value.at[s->dst].type != T_I64 || x->type != T_I32 ||
            x->kind != KV_RESULT)
            continue;
        const k_stmt *to = &k->stmt.at[x->def];
        if (to->op != K_LET || to->sub != OP_CONVERT || !marked[to->in[0]])
            continue;
        s->sub = OP_BITCAST; /* a copy */
        s->in[0] = to->in[0];
    }
}

/* --- whether they fit --- */

/* Nothing that an interval says of numbers further away matters. */
static int64_t clamp(int64_t x)
{
    const int64_t far = INT64_C(1) << 62;
    return x > far ? far : x < -far ? -far : x;
}

static k_range at_first(const kernel *k, const k_value *v, const k_range *arg, int64_t first, int64_t last)
{
    if (v->kind == KV_PIECE)
        return k_range_counted(clamp(first), clamp(last - 1));
    if (v->kind == KV_ARG && v->bits < k->arg_type.n)
        return (k_range){clamp(arg[v->bits].low), clamp(arg[v->bits].high)};
    int64_t n = clamp(ir_i64_bits(T_I64, v->bits));
    return (k_range){n, n};
}

typedef enum { FIT, CHANGED, TOO_FAR } outcome;

/* What a holder has now; whether that is more than before. */
static outcome hold(k_range *holder, k_range x)
{
    k_range now = k_range_hull(*holder, x);
    bool same = now.low == holder->low && now.high == holder->high;
    *holder = now;
    return same ? FIT : CHANGED;
}

/* What a counter has at last: as much more than at first as there are rounds. */
static outcome count(k_ranges *r, const indices *x, const k_walk *w, const k_stmt *s)
{
    const k_range first = r->of[r->k->stmt.at[r->k->value.at[s->dst].def].in[0]];
    int64_t rounds = 1;
    for (uint32_t i = x->depth[s->dst]; i < w->open.n; i++) {
        const k_stmt *loop = &r->k->stmt.at[k_walk_open(w, i)];
        if (loop->op != K_FOR)
            continue;
        int64_t more = r->of[loop->in[1]].high - r->of[loop->in[0]].low;
        rounds *= more > 0 ? more : 0;
        if (rounds > K_MOST_INDEX)
            return TOO_FAR;
    }
    return hold(&r->of[s->dst], (k_range){first.low, first.high + rounds});
}

/* Statement by statement. What holders have in rounds to come is known after the first times only. */
static outcome find_intervals(k_ranges *r, arena *a, const indices *x, k_range *memory, bool first)
{
    outcome all = FIT;
    k_walk w;
    k_walk_begin(&w, r->k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &r->k->stmt.at[w.at];
        outcome one = FIT;
        if (w.event != K_WALK_AT)
            continue;
        if (s->op == K_STORE && x->memory[s->mem])
            one = hold(&memory[s->mem], r->of[s->in[1]]);
        else if (!s->dst || !x->marked[s->dst])
            continue;
        else if (s->op == K_DECL && first)
            r->of[s->dst] = r->of[s->in[0]];
        else if (counts(x, &w, s))
            one = count(r, x, &w, s);
        else if (s->op == K_DECL || s->op == K_SET)
            one = hold(&r->of[s->dst], r->of[s->in[0]]);
        else
            r->of[s->dst] = s->op == K_LOAD ? memory[s->mem] : k_range_of(r, s);
        if (s->dst && k_range_magnitude(r->of[s->dst]) > K_MOST_INDEX)
            return TOO_FAR;
        all = one > all ? one : all;
    }
    return all;
}

bool k_indices_fit(const kernel *k, arena *a, const ir_bits *arg, int64_t first, int64_t last)
{
    k_range *range = arena_array(a, *range, k->arg_type.n);
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        range[i].low = range[i].high = k->arg_type.at[i] == T_I64 ? ir_i64_bits(T_I64, arg[i]) : 0;
    return k_indices_fit_between(k, a, range, first, last);
}

bool k_indices_fit_between(const kernel *k, arena *a, const k_range *arg, int64_t first, int64_t last)
{
    enum { TRIES = 8 };
    indices x = find_indices(k, a);
    k_ranges r = {.k = k, .of = arena_array(a, k_range, k->value.n)};
    k_range *memory = arena_array(a, *memory, k->mem.n);
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *value = &k->value.at[v];
        if (!x.marked[v] || value->kind == KV_RESULT || value->kind == KV_VARIABLE)
            continue;
        r.of[v] = at_first(k, value, arg, first, last);
        if (k_range_magnitude(r.of[v]) > K_MOST_INDEX)
            return false;
    }
    outcome now = CHANGED;
    for (unsigned i = 0; i < TRIES && now == CHANGED; i++)
        now = find_intervals(&r, a, &x, memory, i == 0);
    return now == FIT;
}
