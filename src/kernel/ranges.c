/* Intervals of index arithmetic: sums, products, quotients and what loops count. */
#include "kernel/ranges.h"
#include "kernel/narrow.h"
#include "kernel/walk.h"

static const int64_t saturated = INT64_C(1) << 62; /* farther than any index that fits */

k_range k_range_hull(k_range x, k_range y)
{
    return (k_range){x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
}

int64_t k_range_magnitude(k_range x)
{
    return -x.low > x.high ? -x.low : x.high;
}

static k_range product(k_range x, k_range y)
{
    k_range r = {saturated, -saturated};
    for (int i = 0; i < 4; i++) {
        int64_t p = (i & 1 ? x.high : x.low) * (i & 2 ? y.high : y.low);
        r = k_range_hull(r, (k_range){p, p});
    }
    return r;
}

/* Rounding does not matter: towards zero and downwards both stay between the quotients of the ends, but for one. */
static k_range quotient(k_range x, k_range y)
{
    if (y.low <= 0)
        return (k_range){-k_range_magnitude(x), k_range_magnitude(x)};
    k_range r = k_range_hull((k_range){x.low / y.low, x.high / y.low}, (k_range){x.low / y.high, x.high / y.high});
    return (k_range){x.low < 0 ? r.low - 1 : r.low, r.high};
}

/* Of either sign: that of x, or of y. */
static k_range remainder_of(k_range x, k_range y)
{
    int64_t most = k_range_magnitude(y) > 0 ? k_range_magnitude(y) - 1 : 0;
    if (x.low >= 0 && y.low > 0)
        return (k_range){0, x.high < most ? x.high : most};
    return (k_range){-most, most};
}

static const k_stmt *definition(const k_ranges *r, k_val v, ir_op op)
{
    const k_value *x = &r->k->value.at[v];
    const k_stmt *s = &r->k->stmt.at[x->def];
    return x->kind == KV_RESULT && s->op == K_LET && s->sub == op ? s : NULL;
}

/* x - (x quot y) * y, for operands that are not negative. */
static bool is_remainder(const k_ranges *r, const k_stmt *s, k_range *out)
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
static k_range of_type(ir_type t)
{
    int64_t end = INT64_C(1) << (t == T_BOOL ? 1u : ir_type_bits(t) - ir_type_signed(t));
    return (k_range){ir_type_signed(t) ? -end : 0, end - 1};
}

static k_range of_let(const k_ranges *r, const k_stmt *s)
{
    k_range x = r->of[s->in[0]], y = r->of[s->in[1]], special;
    switch ((ir_op)s->sub) {
    case OP_ADD:
        return (k_range){x.low + y.low, x.high + y.high};
    case OP_SUB:
        if (is_remainder(r, s, &special))
            return special;
        return (k_range){x.low - y.high, x.high - y.low};
    case OP_MUL:
        return product(x, y);
    case OP_MIN:
        return (k_range){x.low < y.low ? x.low : y.low, x.high < y.high ? x.high : y.high};
    case OP_MAX:
        return (k_range){x.low > y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
    case OP_QUOT:
    case OP_DIV:
        return quotient(x, y);
    case OP_REM:
        return x.low < 0 ? k_range_hull(x, (k_range){0, 0}) : remainder_of(x, y);
    case OP_MOD:
        return remainder_of(x, y);
    case OP_NEG:
        return (k_range){-x.high, -x.low};
    case OP_ABS:
        return (k_range){0, k_range_magnitude(x)};
    case OP_BIT_AND:
        return (k_range){0, y.high};
    case OP_CONVERT:
        return of_type((ir_type)r->k->value.at[s->in[0]].type);
    default:
        return x;
    }
}

k_range k_range_counted(int64_t from, int64_t last)
{
    return (k_range){from, last > from ? last : from};
}

k_range k_range_of(const k_ranges *r, const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_LET:
        return of_let(r, s);
    case K_SELECT:
        return k_range_hull(r->of[s->in[1]], r->of[s->in[2]]);
    case K_FOR:
        return k_range_counted(r->of[s->in[0]].low, r->of[s->in[1]].high - 1);
    case K_FOR_ALL:
        return k_range_counted(0, r->of[s->in[0]].high - 1);
    default: /* COUNT, RANK */
        return (k_range){0, r->k->lanes};
    }
}

/* --- in any launch --- */

/* An end beyond K_MOST_INDEX stands for all numbers further out: nothing is computed with it. */
static const k_range anything = {-K_MOST_INDEX - 1, K_MOST_INDEX + 1};

static bool fits(k_range x)
{
    return k_range_magnitude(x) <= K_MOST_INDEX;
}

static int64_t between(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Where every launch is known to have indices of 32 bits, ends are where these end. */
static k_range cut(const kernel *k, k_range x)
{
    int64_t beyond = k->narrow ? K_MOST_INDEX : K_MOST_INDEX + 1;
    return (k_range){between(x.low, -beyond, K_MOST_INDEX), between(x.high, -K_MOST_INDEX, beyond)};
}

static k_range range_at_start(const kernel *k, const bool *index, k_val v)
{
    const k_value *x = &k->value.at[v];
    int64_t n = x->kind == KV_LITERAL ? ir_i64_bits(T_I64, x->bits) : 0;
    if (!index[v])
        return anything;
    if (x->kind == KV_LITERAL)
        return (k_range){n, n};
    return cut(k, (k_range){x->kind == KV_PIECE || x->natural ? 0 : anything.low, anything.high});
}

/* Can the operator's interval be told from ends that stand for all numbers further out, too? */
static bool takes_any(const k_stmt *s)
{
    return s->op == K_SELECT || s->op == K_FOR || s->op == K_FOR_ALL || s->op == K_COUNT || s->op == K_RANK ||
           (s->op == K_LET && (s->sub == OP_MIN || s->sub == OP_MAX || s->sub == OP_BIT_AND));
}

void k_ranges_meet(k_ranges *r, const k_stmt *s)
{
    const k_value *value = r->k->value.at;
    bool known = true;
    if (!s->dst || s->op == K_SET || !r->index[s->dst] || value[s->dst].kind != KV_RESULT)
        return;
    for (unsigned i = s->op == K_SELECT; i < k_operands(s) && !takes_any(s); i++)
        known &= value[s->in[i]].type != T_I64 || fits(r->of[s->in[i]]);
    r->of[s->dst] = cut(r->k, known ? k_range_of(r, s) : anything);
}

k_ranges k_ranges_start(const kernel *k, arena *a)
{
    k_ranges r = {.k = k, .index = k_find_indices(k, a), .of = arena_array(a, k_range, k->value.n)};
    for (k_val v = 0; v < k->value.n; v++)
        r.of[v] = range_at_start(k, r.index, v);
    return r;
}
