/* Index arithmetic in 32 bits: what GPUs do several times as fast as in 64. Which values of a kernel are index
 * arithmetic is a matter of its text alone; whether they fit is decided for each launch, from its arguments, by
 * intervals: then the numbers are known, and products of extents are no worse than they are. */
#include "kernel/narrow.h"
#include "kernel/analyse.h"
#include "kernel/walk.h"

/* Splitting (k_split) adds indices of tiles to what fits here, and emitters add threads of a block. */
enum { MARGIN = 1 << 16 };
static const int64_t most_index = INT32_MAX - MARGIN;
static const int64_t saturated = INT64_C(1) << 62; /* farther than any index that fits */

/* --- which values --- */

static bool small_literal(const k_value *v)
{
    int64_t n = ir_i64_bits(T_I64, v->bits);
    return n >= -most_index && n <= most_index;
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

bool *k_find_indices(const kernel *k, arena *a)
{
    bool *marked = arena_alloc(a, k->value.n * sizeof(*marked));
    if (k->chained) /* positions of carries count words, not pieces */
        return marked;
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *x = &k->value.at[v];
        marked[v] = x->type == T_I64 &&
                    (x->kind == KV_ARG || x->kind == KV_PIECE || (x->kind == KV_LITERAL && small_literal(x)));
    }
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event == K_WALK_AT && s->dst && k->value.at[s->dst].kind == KV_RESULT &&
            k->value.at[s->dst].type == T_I64)
            marked[s->dst] = is_index(k, s, marked);
    }
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

typedef struct interval {
    int64_t low, high;
} interval;

/* All intervals kept are within most_index, so that their sums and products are numbers of 64 bits. */
static int64_t clamp(int64_t x)
{
    return x > saturated ? saturated : x < -saturated ? -saturated : x;
}

static interval hull(interval x, interval y)
{
    return (interval){x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
}

static int64_t magnitude(interval x)
{
    return -x.low > x.high ? -x.low : x.high;
}

static interval product(interval x, interval y)
{
    interval r = {saturated, -saturated};
    for (int i = 0; i < 4; i++) {
        int64_t p = (i & 1 ? x.high : x.low) * (i & 2 ? y.high : y.low);
        r = hull(r, (interval){p, p});
    }
    return r;
}

/* Rounding does not matter: towards zero and downwards both stay between the quotients of the ends, but for one. */
static interval quotient(interval x, interval y)
{
    if (y.low <= 0)
        return (interval){-magnitude(x), magnitude(x)};
    interval r = hull((interval){x.low / y.low, x.high / y.low}, (interval){x.low / y.high, x.high / y.high});
    return (interval){x.low < 0 ? r.low - 1 : r.low, r.high};
}

/* Of either sign: that of x, or of y. */
static interval remainder_of(interval x, interval y)
{
    int64_t most = magnitude(y) > 0 ? magnitude(y) - 1 : 0;
    if (x.low >= 0 && y.low > 0)
        return (interval){0, x.high < most ? x.high : most};
    return (interval){-most, most};
}

typedef struct {
    const kernel *k;
    interval *of; /* per value */
} ranges;

static const k_stmt *definition(const ranges *r, k_val v, ir_op op)
{
    const k_value *x = &r->k->value.at[v];
    const k_stmt *s = &r->k->stmt.at[x->def];
    return x->kind == KV_RESULT && s->op == K_LET && s->sub == op ? s : NULL;
}

/* x - (x quot y) * y, for operands that are not negative. */
static bool is_remainder(const ranges *r, const k_stmt *s, interval *out)
{
    const k_stmt *m = definition(r, s->in[1], OP_MUL);
    for (unsigned i = 0; m && i < 2; i++) {
        const k_stmt *q = definition(r, m->in[i], OP_QUOT);
        if (!q || q->in[0] != s->in[0] || q->in[1] != m->in[1 - i] || r->of[q->in[0]].low < 0 ||
            r->of[q->in[1]].low < 1)
            continue;
        *out = remainder_of(r->of[q->in[0]], r->of[q->in[1]]);
        return true;
    }
    return false;
}

/* What a conversion of a narrow type can give. */
static interval of_type(ir_type t)
{
    int64_t end = INT64_C(1) << (t == T_BOOL ? 1u : ir_type_bits(t) - ir_type_signed(t));
    return (interval){ir_type_signed(t) ? -end : 0, end - 1};
}

static interval of_let(const ranges *r, const k_stmt *s)
{
    interval x = r->of[s->in[0]], y = r->of[s->in[1]], special;
    switch ((ir_op)s->sub) {
    case OP_ADD:
        return (interval){x.low + y.low, x.high + y.high};
    case OP_SUB:
        if (is_remainder(r, s, &special))
            return special;
        return (interval){x.low - y.high, x.high - y.low};
    case OP_MUL:
        return product(x, y);
    case OP_MIN:
        return (interval){x.low < y.low ? x.low : y.low, x.high < y.high ? x.high : y.high};
    case OP_MAX:
        return (interval){x.low > y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
    case OP_QUOT:
    case OP_DIV:
        return quotient(x, y);
    case OP_REM:
        return x.low < 0 ? hull(x, (interval){0, 0}) : remainder_of(x, y);
    case OP_MOD:
        return remainder_of(x, y);
    case OP_NEG:
        return (interval){-x.high, -x.low};
    case OP_ABS:
        return (interval){0, magnitude(x)};
    case OP_BIT_AND:
        return (interval){0, y.high};
    case OP_CONVERT:
        return of_type((ir_type)r->k->value.at[s->in[0]].type);
    default:
        return x;
    }
}

static interval counted(int64_t from, int64_t last)
{
    return (interval){from, last > from ? last : from};
}

static interval of_result(const ranges *r, const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_LET:
        return of_let(r, s);
    case K_SELECT:
        return hull(r->of[s->in[1]], r->of[s->in[2]]);
    case K_FOR:
        return counted(r->of[s->in[0]].low, r->of[s->in[1]].high - 1);
    case K_FOR_ALL:
        return counted(0, r->of[s->in[0]].high - 1);
    default: /* COUNT */
        return (interval){0, r->k->lanes};
    }
}

static interval at_first(const kernel *k, const k_value *v, const ir_bits *arg, int64_t first, int64_t last)
{
    ir_bits bits = v->kind == KV_ARG && v->bits < k->arg_type.n ? arg[v->bits] : v->bits;
    int64_t n = clamp(ir_i64_bits(T_I64, bits));
    return v->kind == KV_PIECE ? counted(clamp(first), clamp(last - 1)) : (interval){n, n};
}

bool k_indices_fit(const kernel *k, arena *a, const ir_bits *arg, int64_t first, int64_t last)
{
    const bool *marked = k_find_indices(k, a);
    ranges r = {.k = k, .of = arena_alloc(a, k->value.n * sizeof(interval))};
    for (k_val v = 1; v < k->value.n; v++) {
        const k_value *x = &k->value.at[v];
        if (!marked[v] || x->kind == KV_RESULT)
            continue;
        r.of[v] = at_first(k, x, arg, first, last);
        if (magnitude(r.of[v]) > most_index)
            return false;
    }
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !s->dst || !marked[s->dst])
            continue;
        r.of[s->dst] = of_result(&r, s);
        if (magnitude(r.of[s->dst]) > most_index)
            return false;
    }
    return true;
}
