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
        return s->op == K_COUNT;
    for (unsigned i = first; i < k_operands(s); i++)
        if (k->value.at[s->in[i]].type == T_I64 && !marked[s->in[i]])
            return false;
    return true;
}

/* --- variables ---
 * One that only ever holds what does not depend on variables, or what it has held before, has an interval: the hull of
 * these. The nearest so far is such a one; what counts is not. */

enum { MANY = UINT32_MAX }; /* depends on variables otherwise than by a choice that includes one of them */

static k_val held_by(const kernel *k, const k_val *from, k_val v)
{
    return k->value.at[v].kind == KV_VARIABLE ? v : from[v];
}

static bool is_choice(const k_stmt *s)
{
    return s->op == K_SELECT || (s->op == K_LET && (s->sub == OP_BITCAST || s->sub == OP_MIN || s->sub == OP_MAX));
}

/* The variable of which, and of what depends on none, a statement gives something; 0: it depends on none. */
static k_val held_after(const kernel *k, const k_stmt *s, const k_val *from)
{
    k_val all = 0;
    for (unsigned i = s->op == K_SELECT; i < k_operands(s); i++) {
        k_val one = k->value.at[s->in[i]].type == T_I64 ? held_by(k, from, s->in[i]) : 0;
        all = !one || one == all ? all : all ? MANY : one;
    }
    return all && !is_choice(s) ? MANY : all;
}

/* Statement by statement; false if a variable that was marked must not be. */
static bool mark(const kernel *k, arena *a, bool *marked, k_val *from)
{
    bool good = true;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !s->dst || k->value.at[s->dst].type != T_I64)
            continue;
        if (s->op == K_DECL || s->op == K_SET) {
            k_val held = held_by(k, from, s->in[0]);
            bool fits = marked[s->in[0]] && (!held || (s->op == K_SET && held == s->dst));
            good &= fits || !marked[s->dst];
            marked[s->dst] &= fits;
        } else if (k->value.at[s->dst].kind == KV_RESULT) {
            marked[s->dst] = is_index(k, s, marked);
            from[s->dst] = held_after(k, s, from);
        }
    }
    return good;
}

bool *k_find_indices(const kernel *k, arena *a)
{
    enum { TRIES = 4 };
    bool *marked = arena_alloc(a, k->value.n * sizeof(*marked));
    k_val *from = arena_alloc(a, k->value.n * sizeof(*from));
    if (k->chained) /* positions of carries count words, not pieces */
        return marked;
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *x = &k->value.at[v];
        marked[v] =
            x->type == T_I64 && (x->kind == KV_ARG || x->kind == KV_PIECE || (x->kind == KV_VARIABLE && x->def) ||
                                 (x->kind == KV_LITERAL && small_literal(x)));
    }
    bool good = false;
    for (unsigned i = 0; i < TRIES && !good; i++) /* what is no index makes others none */
        good = mark(k, a, marked, from);
    for (k_val v = 1; v < k->value.n && !good; v++)
        marked[v] &= k->value.at[v].kind != KV_VARIABLE;
    if (!good)
        mark(k, a, marked, from);
    return marked;
}

static bool strides_far(const k_shapes *shapes, k_val index)
{
    enum { MOST_STEP = 4 }; /* emitters load whole vectors and pick from them */
    int64_t step = shapes->step[index];
    return shapes->shape[index] == K_VARYING || shapes->shape[index] == K_STRIDED ||
           (shapes->shape[index] == K_AFFINE && (step > MOST_STEP || step < -1));
}

bool k_makes_index_vectors(const kernel *k, arena *a)
{
    k_shapes shapes = k_find_shapes(k, a);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !w.for_all)
            continue;
        bool computes = s->op == K_LET || s->op == K_SELECT;
        if (computes && k->value.at[s->dst].type == T_I64 && shapes.shape[s->dst] == K_VARYING)
            return true;
        if ((s->op == K_LOAD || s->op == K_STORE) && k->mem.at[s->mem].space == K_GLOBAL &&
            strides_far(&shapes, s->in[0]))
            return true;
    }
    return false;
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

static k_range at_first(const kernel *k, const k_value *v, const ir_bits *arg, int64_t first, int64_t last)
{
    ir_bits bits = v->kind == KV_ARG && v->bits < k->arg_type.n ? arg[v->bits] : v->bits;
    int64_t n = clamp(ir_i64_bits(T_I64, bits));
    return v->kind == KV_PIECE ? k_range_counted(clamp(first), clamp(last - 1)) : (k_range){n, n};
}

/* Statement by statement. What variables hold in rounds to come is known after the first time only. */
static bool intervals_fit(k_ranges *r, arena *a, const bool *marked, bool first)
{
    k_walk w;
    k_walk_begin(&w, r->k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &r->k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !s->dst || !marked[s->dst])
            continue;
        if (s->op == K_DECL && first)
            r->of[s->dst] = r->of[s->in[0]];
        else if (s->op == K_DECL || s->op == K_SET)
            r->of[s->dst] = k_range_hull(r->of[s->dst], r->of[s->in[0]]);
        else
            r->of[s->dst] = k_range_of(r, s);
        if (k_range_magnitude(r->of[s->dst]) > K_MOST_INDEX)
            return false;
    }
    return true;
}

static bool has_variables(const kernel *k, const bool *marked)
{
    for (k_val v = 1; v < k->value.n; v++)
        if (marked[v] && k->value.at[v].kind == KV_VARIABLE)
            return true;
    return false;
}

bool k_indices_fit(const kernel *k, arena *a, const ir_bits *arg, int64_t first, int64_t last)
{
    const bool *marked = k_find_indices(k, a);
    k_ranges r = {.k = k, .of = arena_alloc(a, k->value.n * sizeof(k_range))};
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *x = &k->value.at[v];
        if (!marked[v] || x->kind == KV_RESULT || x->kind == KV_VARIABLE)
            continue;
        r.of[v] = at_first(k, x, arg, first, last);
        if (k_range_magnitude(r.of[v]) > K_MOST_INDEX)
            return false;
    }
    bool good = intervals_fit(&r, a, marked, true);
    return good && (!has_variables(k, marked) || intervals_fit(&r, a, marked, false));
}
