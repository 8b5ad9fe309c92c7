/* CHECKs in loops, answered once before the loop. Where all lanes of a gang are on, and a condition compares sums of
 * the lane's number, loops' counters and what does not change, then its sides are least and greatest at the ends of
 * these: two comparisons vouch for all turns in all lanes. If they do not hold, then some lane fails in some turn, and
 * the gang is done again by the masked body, which looks at each turn and reports.
 *
 * A side is followed as an interval, beside the set of the things that move in it. What moves appears in one operand of
 * an operator only, and in one side of a comparison only: so both ends are reached, and nothing is suspected that does
 * not happen. */
#include "emit/cpu/llvm/cg.h"

enum { MOST_TERMS = 64, MOST_CONDITIONS = 8, MOST_COUNTERS = 16, LANE = 1 };

static const int64_t most_step = (int64_t)1 << 32;

typedef struct interval {
    cg_ref low, high; /* i64 */
    cg_ref exact;     /* i1: neither of them has wrapped; NULL: they cannot have */
    uint32_t moves;   /* LANE, and a bit for each counter */
    bool known;
} interval;

typedef struct vouching {
    cg *g;
    uint32_t stamp; /* of values made inside the loop */
    unsigned budget, counters;
    k_val counter[MOST_COUNTERS];
    interval range[MOST_COUNTERS];
    cg_ref some[MOST_COUNTERS]; /* i1: its loop has a turn, and so have those around it */
} vouching;

static cg_ref both(cg *g, cg_ref x, cg_ref y)
{
    return !x ? y : !y ? x : LLVMBuildAnd(g->b, x, y, "");
}

/* --- what a value can be --- */

static cg_ref arithmetic(cg *g, const char *name, cg_ref x, cg_ref y, cg_ref *exact)
{
    LLVMTypeRef i64 = g->i64;
    if (LLVMIsAConstantInt(x) && LLVMIsAConstantInt(y) && strstr(name, "sadd") &&
        (!LLVMConstIntGetSExtValue(x) || !LLVMConstIntGetSExtValue(y)))
        return LLVMConstIntGetSExtValue(x) ? x : y;
    cg_ref pair = cg_call(g, name, 1, &i64, 2, (cg_ref[]){x, y});
    cg_ref wraps = LLVMBuildExtractValue(g->b, pair, 1, "");
    *exact = both(g, *exact, LLVMBuildNot(g->b, wraps, ""));
    return LLVMBuildExtractValue(g->b, pair, 0, "");
}

/* A value from outside the loop, in all lanes. */
static interval of_lanes(cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    interval r = {0};
    if (x->type != T_I64 || x->kind == KV_VARIABLE)
        return r;
    r.low = r.high = cg_scalar(g, v);
    r.known = x->shape == K_UNIFORM;
    if (x->shape != K_AFFINE || x->step <= -most_step || x->step >= most_step)
        return r;
    cg_ref last =
        arithmetic(g, "llvm.sadd.with.overflow", r.low, cg_i64(g, x->step * (int64_t)(g->lanes - 1)), &r.exact);
    r.moves = LANE;
    r.known = true;
    if (x->step < 0)
        r.low = last;
    else
        r.high = last;
    return r;
}

static interval interval_of(vouching *v, k_val value);

static interval of_sum(vouching *v, const interval *in, bool minus)
{
    cg *g = v->g;
    const char *name = minus ? "llvm.ssub.with.overflow" : "llvm.sadd.with.overflow";
    interval r = {.known = true, .exact = both(g, in[0].exact, in[1].exact), .moves = in[0].moves | in[1].moves};
    r.low = arithmetic(g, name, in[0].low, minus ? in[1].high : in[1].low, &r.exact);
    r.high = arithmetic(g, name, in[0].high, minus ? in[1].low : in[1].high, &r.exact);
    return r;
}

/* Quotients and remainders of numbers from 0 on, by a literal. A remainder has all values below the divisor if there is
 * a multiple of it behind the first number, and grows with the number else. */
static interval of_quotient(vouching *v, ir_op op, const interval *x, int64_t by)
{
    cg *g = v->g;
    LLVMBuilderRef b = g->b;
    cg_ref divisor = cg_i64(g, by), zero = cg_i64(g, 0), natural = LLVMBuildICmp(b, LLVMIntSGE, x->low, zero, "");
    interval r = {.known = true, .exact = both(g, x->exact, natural), .moves = x->moves};
    cg_ref first = LLVMBuildUDiv(b, x->low, divisor, ""), last = LLVMBuildUDiv(b, x->high, divisor, "");
    r.low = first;
    r.high = last;
    if (op == OP_QUOT || op == OP_DIV)
        return r;
    cg_ref grows = LLVMBuildICmp(b, LLVMIntEQ, first, last, "");
    r.low = LLVMBuildSelect(b, grows, LLVMBuildURem(b, x->low, divisor, ""), zero, "");
    r.high = LLVMBuildSelect(b, grows, LLVMBuildURem(b, x->high, divisor, ""), cg_i64(g, by - 1), "");
    return r;
}

static bool literal(const cg *g, k_val v, int64_t *out)
{
    const k_value *x = &g->k->value.at[v];
    *out = (int64_t)x->bits;
    return x->kind == KV_LITERAL && x->type == T_I64;
}

/* A product with a literal that is not negative. */
static interval of_product(vouching *v, const k_stmt *s)
{
    cg *g = v->g;
    int64_t by;
    bool first = literal(g, s->in[0], &by);
    if ((!first && !literal(g, s->in[1], &by)) || by < 0)
        return (interval){0};
    interval r = interval_of(v, s->in[first]);
    if (!r.known)
        return r;
    r.low = arithmetic(g, "llvm.smul.with.overflow", r.low, cg_i64(g, by), &r.exact);
    r.high = arithmetic(g, "llvm.smul.with.overflow", r.high, cg_i64(g, by), &r.exact);
    return r;
}

static interval of_operator(vouching *v, const k_stmt *s)
{
    int64_t by;
    interval in[2] = {0};
    switch ((ir_op)s->sub) {
    case OP_BITCAST:
        return interval_of(v, s->in[0]);
    case OP_MUL:
        return of_product(v, s);
    case OP_QUOT:
    case OP_DIV:
    case OP_REM:
    case OP_MOD:
        if (!literal(v->g, s->in[1], &by) || by < 1)
            return in[0];
        in[0] = interval_of(v, s->in[0]);
        return in[0].known ? of_quotient(v, (ir_op)s->sub, in, by) : in[0];
    case OP_ADD:
    case OP_SUB:
        in[0] = interval_of(v, s->in[0]);
        if (!in[0].known)
            return in[0];
        in[1] = interval_of(v, s->in[1]);
        if (!in[1].known || (in[0].moves & in[1].moves))
            return (interval){0};
        return of_sum(v, in, s->sub == OP_SUB);
    default:
        return in[0];
    }
}

static interval interval_of(vouching *v, k_val value)
{
    const cg *g = v->g;
    const k_value *x = &g->k->value.at[value];
    for (unsigned i = 0; i < v->counters; i++)
        if (v->counter[i] == value)
            return v->range[i];
    if (g->stamp[value] != v->stamp)
        return of_lanes(v->g, value);
    if (x->type != T_I64 || x->kind != KV_RESULT || g->k->stmt.at[x->def].op != K_LET || !v->budget)
        return (interval){0};
    v->budget--;
    return of_operator(v, &g->k->stmt.at[x->def]);
}

/* --- conditions --- */

static bool compares(const k_stmt *s)
{
    return s->op == K_LET && s->sub >= OP_LT && s->sub <= OP_GE;
}

/* i1; NULL: only looking at each turn can tell */
static cg_ref comparison_holds(vouching *v, const k_stmt *s)
{
    cg *g = v->g;
    interval x = interval_of(v, s->in[0]), y = {0};
    if (x.known)
        y = interval_of(v, s->in[1]);
    if (!y.known || (x.moves & y.moves))
        return NULL;
    bool less = s->sub == OP_LT || s->sub == OP_LE;
    cg_ref in[] = {less ? x.high : x.low, less ? y.low : y.high};
    return both(g, both(g, x.exact, y.exact), cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, in));
}

static cg_ref condition_holds(vouching *v, k_val condition)
{
    const cg *g = v->g;
    k_val open[MOST_CONDITIONS] = {condition};
    unsigned n = 1;
    cg_ref all = NULL;
    while (n) {
        const k_value *x = &g->k->value.at[open[--n]];
        if (x->kind != KV_RESULT)
            return NULL;
        const k_stmt *s = &g->k->stmt.at[x->def];
        if (s->op == K_LET && s->sub == OP_AND && n + 2 <= MOST_CONDITIONS) {
            open[n++] = s->in[0];
            open[n++] = s->in[1];
            continue;
        }
        cg_ref one = compares(s) ? comparison_holds(v, s) : NULL;
        if (!one)
            return NULL;
        all = both(v->g, all, one);
    }
    return all;
}

/* --- the loop --- */

static void mark(vouching *v, k_ref list)
{
    const kernel *k = v->g->k;
    for (k_ref r = list; r; r = k->stmt.at[r].next) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->dst)
            v->g->stamp[s->dst] = v->stamp;
        mark(v, s->body);
        mark(v, s->orelse);
    }
}

static bool open_counter(vouching *v, const k_stmt *s, cg_ref around)
{
    cg *g = v->g;
    if (v->counters == MOST_COUNTERS || g->stamp[s->in[0]] == v->stamp || g->stamp[s->in[1]] == v->stamp)
        return false;
    cg_ref from = cg_scalar(g, s->in[0]), to = cg_scalar(g, s->in[1]);
    v->counter[v->counters] = s->dst;
    v->range[v->counters] = (interval){.low = from,
                                       .high = LLVMBuildSub(g->b, to, cg_i64(g, 1), ""),
                                       .moves = (uint32_t)LANE << (1 + v->counters),
                                       .known = true};
    v->some[v->counters++] = both(g, around, LLVMBuildICmp(g->b, LLVMIntSLT, from, to, ""));
    return true;
}

/* The CHECKs of a loop's own list, and of loops in it: each is reached in every turn of all of them. */
static cg_ref list_holds(vouching *v, k_ref list, cg_ref some)
{
    cg *g = v->g;
    cg_ref all = NULL;
    for (k_ref r = list; r; r = g->k->stmt.at[r].next) {
        const k_stmt *s = &g->k->stmt.at[r];
        cg_ref one = NULL;
        if (s->op == K_FOR && g->facts[r].checks && open_counter(v, s, some))
            one = list_holds(v, s->body, v->some[v->counters - 1]);
        v->budget = MOST_TERMS;
        if (s->op == K_CHECK && !(s->sub & K_NOTE))
            one = condition_holds(v, s->in[0]);
        if (!one)
            continue;
        if (s->op == K_CHECK) {
            g->vouched[r] = true;
            one = LLVMBuildOr(g->b, LLVMBuildNot(g->b, some, ""), one, "");
        }
        all = both(g, all, one);
    }
    return all;
}

static void forget(cg *g, k_ref list)
{
    for (k_ref r = list; r; r = g->k->stmt.at[r].next) {
        g->vouched[r] = false;
        forget(g, g->k->stmt.at[r].body);
        forget(g, g->k->stmt.at[r].orelse);
    }
}

bool cg_vouch_for(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    const cg_facts *inside = &g->facts[id];
    if (!g->thread || g->lanes == 1 || !g->restart || g->mask.on || g->vouching || !inside->checks || inside->parts)
        return false;
    if (!g->stamp)
        g->stamp = arena_array(g->arena, *g->stamp, g->k->value.n);
    if (!g->vouched)
        g->vouched = arena_array(g->arena, *g->vouched, g->k->stmt.n);
    vouching v = {.g = g, .stamp = ++g->stamps};
    mark(&v, s->body);
    g->stamp[s->dst] = v.stamp;
    if (!open_counter(&v, s, NULL))
        return false;
    cg_ref all = list_holds(&v, s->body, v.some[0]);
    if (all) {
        LLVMBasicBlockRef good = cg_block(g, "vouched");
        cg_unlikely(g, LLVMBuildNot(g->b, all, ""), g->restart, good);
        cg_at(g, good);
    }
    g->vouching = true;
    return true;
}

void cg_vouch_end(cg *g, k_ref id)
{
    g->vouching = false;
    forget(g, g->k->stmt.at[id].body);
}
