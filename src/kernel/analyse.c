/* Finds which values are uniform, affine or strided over the lanes of a gang, and where control diverges.
 *
 * A forward analysis over the lattice unknown < uniform < affine < strided < varying, repeated until nothing changes;
 * only variables need more than one pass. Integer arithmetic on i64 and u64 wraps, so affine forms hold modulo 2^64 and
 * need no ranges. Narrower types are not followed: widening would lose the form. */
#include "kernel/analyse.h"

#include "kernel/walk.h"

/* After this many passes the variables that still change are given up, which keeps the analysis linear. */
enum { MOST_PASSES = 12, UNKNOWN = 0xff };

typedef struct {
    const kernel *k;
    arena *arena;
    k_shapes s;
    uint32_t *depth; /* per variable: number of divergent statements around its DECL */
    bool *entered;   /* per statement: this pass has counted it as divergent */
    bool changed, give_up;
} state;

typedef struct {
    uint8_t shape;
    int64_t step;
} form;

static const form uniform = {K_UNIFORM, 0}, varying = {K_VARYING, 0};

static form form_of(const state *st, k_val v)
{
    const k_value *x = &st->k->value.at[v];
    if (x->kind != KV_RESULT && x->kind != KV_VARIABLE)
        return uniform;
    return (form){st->s.shape[v], st->s.step[v]};
}

static form affine(int64_t step)
{
    return step ? (form){K_AFFINE, step} : uniform;
}

/* One of two values, chosen alike in all lanes. */
static form join(form x, form y)
{
    if (x.shape == UNKNOWN)
        return y;
    if (y.shape == UNKNOWN || (x.shape == y.shape && x.step == y.step))
        return x;
    return x.shape == K_VARYING || y.shape == K_VARYING ? varying : (form){K_STRIDED, 0};
}

static void define(state *st, k_val v, form f)
{
    if (st->s.shape[v] == f.shape && st->s.step[v] == f.step)
        return;
    st->s.shape[v] = f.shape;
    st->s.step[v] = f.step;
    st->changed = true;
}

static int64_t wrap_mul(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

static int64_t wrap_add(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static bool literal(const state *st, k_val v, int64_t *out)
{
    const k_value *x = &st->k->value.at[v];
    if (x->kind != KV_LITERAL)
        return false;
    *out = (int64_t)x->bits;
    return true;
}

static form sum(form x, form y, bool subtract)
{
    if (x.shape == K_VARYING || y.shape == K_VARYING)
        return varying;
    if (x.shape == K_STRIDED || y.shape == K_STRIDED)
        return (form){K_STRIDED, 0};
    return affine(wrap_add(x.step, subtract ? wrap_mul(y.step, -1) : y.step));
}

/* x times a value that is the same in all lanes */
static form scaled(const state *st, form x, k_val factor)
{
    int64_t by;
    if (x.shape == K_VARYING)
        return varying;
    if (x.shape == K_AFFINE && literal(st, factor, &by))
        return affine(wrap_mul(x.step, by));
    return (form){K_STRIDED, 0};
}

/* Arithmetic that keeps affine forms, on 64-bit integers. */
static form let_integer(const state *st, const k_stmt *s, form x, form y)
{
    int64_t by;
    switch (s->sub) {
    case OP_BITCAST:
    case OP_CONVERT: /* i64 to u64 and back, or a copy: the same bits */
        return x;
    case OP_NEG:
        return x.shape == K_AFFINE ? affine(wrap_mul(x.step, -1)) : x;
    case OP_ADD:
        return sum(x, y, false);
    case OP_SUB:
        return sum(x, y, true);
    case OP_MUL:
        if (y.shape == K_UNIFORM)
            return scaled(st, x, s->in[1]);
        return x.shape == K_UNIFORM ? scaled(st, y, s->in[0]) : varying;
    case OP_SHL:
        if (y.shape != K_UNIFORM || x.shape == K_VARYING)
            return varying;
        if (x.shape == K_AFFINE && literal(st, s->in[1], &by) && by >= 0 && by < 64)
            return affine((int64_t)((uint64_t)x.step << by));
        return (form){K_STRIDED, 0};
    default:
        return varying;
    }
}

static bool wide_integer(uint8_t t)
{
    return t == T_I64 || t == T_U64;
}

static form let(const state *st, const k_stmt *s)
{
    form in[3] = {uniform, uniform, uniform};
    bool all_uniform = true, unknown = false;
    for (unsigned i = 0; i < k_operands(s); i++) {
        in[i] = form_of(st, s->in[i]);
        all_uniform &= in[i].shape == K_UNIFORM;
        unknown |= in[i].shape == UNKNOWN;
    }
    if (unknown)
        return (form){UNKNOWN, 0};
    if (all_uniform)
        return uniform;
    const k_value *value = st->k->value.at;
    if (value[s->dst].type == value[s->in[0]].type && s->sub == OP_BITCAST)
        return in[0]; /* a copy */
    if (!wide_integer(value[s->dst].type) || !wide_integer(value[s->in[0]].type))
        return varying;
    return let_integer(st, s, in[0], in[1]);
}

static form select(const state *st, const k_stmt *s)
{
    form c = form_of(st, s->in[0]), x = form_of(st, s->in[1]), y = form_of(st, s->in[2]);
    if (c.shape == UNKNOWN)
        return c;
    if (c.shape != K_UNIFORM)
        return varying;
    form f = join(x, y);
    return f.shape == K_STRIDED && !wide_integer(st->k->value.at[s->dst].type) ? varying : f;
}

static form load(const state *st, const k_stmt *s)
{
    if (st->k->mem.at[s->mem].space == K_PRIVATE)
        return varying; /* an element of each lane's own */
    form index = form_of(st, s->in[0]);
    return index.shape == K_UNIFORM || index.shape == UNKNOWN ? index : varying;
}

static void set(state *st, const k_stmt *s, uint32_t depth)
{
    form f = join(form_of(st, s->dst), form_of(st, s->in[0]));
    /* Lanes that are off keep the old value, so control that diverged since the DECL makes the lanes differ. */
    if (depth > st->depth[s->dst] || st->give_up)
        f = varying;
    if (f.shape == K_STRIDED && !wide_integer(st->k->value.at[s->dst].type))
        f = varying;
    define(st, s->dst, f);
}

static void thread_statement(state *st, k_ref id, k_ref parent, uint32_t depth)
{
    const k_stmt *s = &st->k->stmt.at[id];
    switch ((k_op)s->op) {
    case K_LET:
        define(st, s->dst, let(st, s));
        return;
    case K_SELECT:
        define(st, s->dst, select(st, s));
        return;
    case K_DECL:
        st->depth[s->dst] = depth;
        define(st, s->dst, join(form_of(st, s->dst), form_of(st, s->in[0])));
        return;
    case K_SET:
        set(st, s, depth);
        return;
    case K_LOAD:
        define(st, s->dst, load(st, s));
        return;
    case K_ATOMIC:
    case K_RANK:
        define(st, s->dst, varying);
        return;
    case K_CALL: {
        form f = uniform;
        for (unsigned i = 0; i < k_operands(s); i++)
            if (form_of(st, s->in[i]).shape != K_UNIFORM && form_of(st, s->in[i]).shape != UNKNOWN)
                f = varying;
        define(st, s->dst, f);
        return;
    }
    case K_SHUFFLE:
        define(st, s->dst, s->sub == K_LANE ? uniform : varying);
        return;
    case K_FOR:
    case K_COUNT:
    case K_ALL:
        define(st, s->dst, uniform);
        return;
    case K_IF:
    case K_BREAK_IF: {
        k_ref control = s->op == K_IF ? id : parent;
        uint8_t c = form_of(st, s->in[0]).shape;
        bool diverges = c != K_UNIFORM && c != UNKNOWN;
        st->changed |= diverges && !st->s.divergent[control];
        st->s.divergent[control] |= diverges;
        return;
    }
    default:
        return;
    }
}

/* At piece level everything is uniform; a variable of it may be set by a FOR_ALL, but uniformly (verify.c). */
static void piece_statement(state *st, k_ref id)
{
    const k_stmt *s = &st->k->stmt.at[id];
    if (s->op == K_FOR_ALL)
        define(st, s->dst, affine(1));
    else if (s->op == K_DECL)
        define(st, s->dst, join(form_of(st, s->dst), uniform));
    else if (s->dst && s->op != K_SET)
        define(st, s->dst, uniform);
    if (s->op != K_CHAIN)
        return;
    for (unsigned j = 0; j < s->chain->arity; j++) {
        define(st, s->chain->before[j], uniform);
        define(st, s->chain->left[j], uniform);
        define(st, s->chain->right[j], uniform);
    }
}

static void one_pass(state *st)
{
    k_walk w;
    uint32_t depth = 0;
    k_walk_begin(&w, st->k, st->arena);
    while (k_walk_next(&w)) {
        const k_stmt *s = &st->k->stmt.at[w.at];
        if (w.event == K_WALK_AT && w.for_all)
            thread_statement(st, w.at, k_walk_parent(&w), depth);
        else if (w.event == K_WALK_AT)
            piece_statement(st, w.at);
        if (s->op != K_IF && s->op != K_LOOP)
            continue;
        /* A LOOP's divergence is found inside it: it counts from the next pass on. */
        if (w.event == K_WALK_AT)
            depth += st->entered[w.at] = st->s.divergent[w.at];
        else if (w.event == K_WALK_LEAVE)
            depth -= st->entered[w.at];
    }
}

k_shapes k_find_shapes(const kernel *k, arena *a)
{
    state st = {.k = k, .arena = a};
    st.s.shape = arena_alloc(a, k->value.n);
    st.s.step = arena_array(a, *st.s.step, k->value.n);
    st.s.divergent = arena_array(a, *st.s.divergent, k->stmt.n);
    st.entered = arena_array(a, *st.entered, k->stmt.n);
    st.depth = arena_array(a, *st.depth, k->value.n);
    memset(st.s.shape, UNKNOWN, k->value.n);
    unsigned passes = 0;
    do {
        st.changed = false;
        st.give_up = ++passes > MOST_PASSES;
        one_pass(&st);
    } while (st.changed);
    for (k_val v = 0; v < k->value.n; v++)
        if (st.s.shape[v] == UNKNOWN) /* constants, arguments, and what no statement defines */
            st.s.shape[v] = K_UNIFORM;
    return st.s;
}

void k_analyse(kernel *k)
{
    arena *a = arena_beside(k->arena);
    k_shapes s = k_find_shapes(k, a);
    for (k_val v = 1; v < k->value.n; v++) {
        k->value.at[v].shape = s.shape[v];
        k->value.at[v].step = s.step[v];
    }
    arena_free(a);
}
