/* The smaller and the larger of two floats by AVX-512's vrange, which wants of a NaN what min and max want, the other
 * operand, and of zeros, too. Only a signalling NaN stays: operands that may be one are made quiet. What arithmetic has
 * made is quiet; what was loaded may be anything. Variables are quiet from their beginning on if nothing else is ever
 * put into them, so that loops that look for the greatest need not ask again. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"

enum { MIN_SIGN_AS_COMPARED = 4, MAX_SIGN_AS_COMPARED = 5, ROUND_AS_SET = 4, TO_NEAREST = 8 };
enum { LEAST_BYTES = 16, MOST_BYTES = 64 };
enum { MOST_ROUNDS = 8 }; /* over the statements, until variables that may be quiet are found */

static bool is_float(const cg *g, k_val v)
{
    return ir_type_float((ir_type)g->k->value.at[v].type);
}

static bool is_nan(const k_value *x)
{
    const uint64_t infinity = x->type == T_F32 ? 0x7f800000u : 0x7ff0000000000000u;
    return (x->bits & (x->type == T_F32 ? 0x7fffffffu : 0x7fffffffffffffffu)) > infinity;
}

static bool picks(const cg *g, const k_stmt *s)
{
    return s->op == K_LET && (s->sub == OP_MIN || s->sub == OP_MAX) && is_float(g, s->dst) &&
           g->k->value.at[s->dst].shape == K_VARYING;
}

/* --- what is quiet --- */

typedef struct finder {
    cg *g;
    bool *wanted; /* per value: it goes into a minimum or maximum, as it is */
    bool *quiet;
} finder;

/* Is the result one of the operands, or one with another sign? From which of them on. */
static bool hands_on(const k_stmt *s, unsigned *first)
{
    *first = s->op == K_SELECT;
    if (s->op == K_LET)
        return s->sub == OP_BITCAST || s->sub == OP_NEG || s->sub == OP_ABS || s->sub == OP_MIN || s->sub == OP_MAX;
    return s->op == K_SELECT || s->op == K_SHUFFLE;
}

static unsigned floats_of(const k_stmt *s)
{
    return s->op == K_SHUFFLE ? 1 : k_operands(s);
}

static bool arithmetic(const k_stmt *s)
{
    switch (s->op == K_LET ? (ir_op)s->sub : OP_COUNT) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_FMA:
    case OP_SQRT:
        return true;
    default:
        return false;
    }
}

static void want(finder *f)
{
    const kernel *k = f->g->k;
    for (k_ref r = k->stmt.n; r-- > 1;) {
        const k_stmt *s = &k->stmt.at[r];
        unsigned first;
        bool on = s->op == K_SET ? f->wanted[s->dst] : s->dst && f->wanted[s->dst] && hands_on(s, &first);
        first = s->op == K_SELECT;
        for (unsigned i = first; (on || picks(f->g, s)) && i < floats_of(s); i++)
            f->wanted[s->in[i]] |= is_float(f->g, s->in[i]);
    }
}

static bool makes_quiet(const finder *f, const k_stmt *s)
{
    unsigned first;
    if (!is_float(f->g, s->dst) || picks(f->g, s) || arithmetic(s) || (s->op == K_LOAD && s->sub == K_QUIET))
        return is_float(f->g, s->dst);
    if (!hands_on(s, &first))
        return false;
    bool quiet = true;
    for (unsigned i = first; i < floats_of(s); i++)
        quiet &= f->quiet[s->in[i]];
    return quiet;
}

/* One round over all statements. Variables that may be set to something else are no longer quiet, which is to be
 * known by those before, too: returns whether there was one. */
static bool look(finder *f)
{
    const kernel *k = f->g->k;
    bool changed = false;
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->op == K_DECL)
            continue;
        if (s->op != K_SET) {
            f->quiet[s->dst] |= s->dst && makes_quiet(f, s);
            continue;
        }
        if (!f->quiet[s->dst] || f->quiet[s->in[0]])
            continue;
        changed = true;
        f->quiet[s->dst] = false;
    }
    return changed;
}

static void begin(finder *f)
{
    const kernel *k = f->g->k;
    memset(f->quiet, 0, k->value.n * sizeof(bool));
    for (k_val v = 1; v < k->value.n; v++)
        f->quiet[v] = k->value.at[v].kind == KV_LITERAL && is_float(f->g, v) && !is_nan(&k->value.at[v]);
}

void cg_find_quiet(cg *g)
{
    const kernel *k = g->k;
    finder f = {.g = g};
    bool any = false, again = true;
    for (k_ref r = 1; r < k->stmt.n && !any && g->cpu.avx512; r++)
        any = picks(g, &k->stmt.at[r]);
    if (!any)
        return;
    f.wanted = arena_array(g->arena, bool, k->value.n);
    f.quiet = arena_array(g->arena, bool, k->value.n);
    bool *variable = arena_array(g->arena, bool, k->value.n);
    want(&f);
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        variable[s->dst] |= s->op == K_DECL && f.wanted[s->dst] && k->value.at[s->dst].shape == K_VARYING;
    }
    for (unsigned round = 0; again; round++) {
        begin(&f);
        for (k_val v = 1; v < k->value.n; v++)
            f.quiet[v] |= variable[v] && round < MOST_ROUNDS;
        again = look(&f);
        for (k_val v = 1; v < k->value.n; v++)
            variable[v] &= f.quiet[v];
    }
    g->quiet = f.quiet;
}

/* --- code --- */

/* Of vectors that fit a register. */
static cg_ref range_of_register(cg *g, ir_type t, unsigned choice, cg_ref x, cg_ref y)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(x)), bits = 8 * n * (unsigned)ir_type_size(t);
    LLVMTypeRef mask = LLVMIntTypeInContext(g->context, n == MOST_BYTES / 4 ? 16 : 8);
    const char *name = arena_printf(g->arena, "llvm.x86.avx512.mask.range.%s.%u", t == T_F32 ? "ps" : "pd", bits);
    cg_ref in[] = {x, y, cg_i32(g, choice), x, LLVMConstAllOnes(mask), cg_i32(g, ROUND_AS_SET)};
    return cg_call(g, name, 0, NULL, bits == 8 * MOST_BYTES ? 6 : 5, in);
}

/* x, or what it is made quiet. A whole register is multiplied by 1, as other pipes multiply than compare: on Zen 4 that
 * costs nothing beside a comparison, while two of these take twice as long. Told how to round, LLVM leaves the product
 * what it is. */
static cg_ref quiet_register(cg *g, ir_type t, cg_ref x)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(x));
    if (n * ir_type_size(t) < MOST_BYTES)
        return range_of_register(g, t, MAX_SIGN_AS_COMPARED, x, x);
    const char *name = t == T_F32 ? "llvm.x86.avx512.mul.ps.512" : "llvm.x86.avx512.mul.pd.512";
    cg_ref one = cg_splat_n(g, LLVMConstReal(LLVMGetElementType(LLVMTypeOf(x)), 1), n);
    cg_ref in[] = {x, one, cg_i32(g, TO_NEAREST)};
    return cg_call(g, name, 0, NULL, 3, in);
}

/* Of vectors of any size, register by register; y == x: made quiet. */
static cg_ref range(cg *g, ir_type t, unsigned choice, cg_ref x, cg_ref y)
{
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(x)), size = (unsigned)ir_type_size(t), most = MOST_BYTES / size;
    unsigned each = n * size < LEAST_BYTES ? LEAST_BYTES / size : n < most ? n : most, parts = n > each ? n / each : 1;
    cg_ref part[MOST_BYTES];
    for (unsigned i = 0; i < parts; i++) {
        cg_ref left = cg_lanes_from(g, x, i * each, each);
        part[i] = x == y ? quiet_register(g, t, left)
                         : range_of_register(g, t, choice, left, cg_lanes_from(g, y, i * each, each));
    }
    for (unsigned left = parts; left > 1; left /= 2)
        for (unsigned i = 0; i < left; i += 2)
            part[i / 2] = cg_join(g, part[i], part[i + 1]);
    return n < each ? cg_lanes_from(g, part[0], 0, n) : part[0];
}

cg_ref cg_made_quiet(cg *g, k_val v, cg_ref x)
{
    ir_type t = (ir_type)g->k->value.at[v].type;
    return g->quiet && !g->quiet[v] ? range(g, t, MAX_SIGN_AS_COMPARED, x, x) : x;
}

/* A literal that one comparison is enough for: a number, and no zero that the other one beats. */
static bool decides(const k_value *x, const k_stmt *s)
{
    const uint64_t minus = (uint64_t)1 << (x->type == T_F32 ? 31 : 63), zero = s->sub == OP_MIN ? 0 : minus;
    return x->kind == KV_LITERAL && !is_nan(x) && x->bits != zero;
}

cg_ref cg_extreme(cg *g, const k_stmt *s)
{
    const k_value *x = &g->k->value.at[s->in[0]], *y = &g->k->value.at[s->in[1]];
    if (!g->quiet || !picks(g, s) || decides(x, s) || decides(y, s))
        return NULL;
    cg_ref left = cg_made_quiet(g, s->in[0], cg_vec(g, s->in[0]));
    cg_ref right = cg_made_quiet(g, s->in[1], cg_vec(g, s->in[1]));
    unsigned choice = s->sub == OP_MIN ? MIN_SIGN_AS_COMPARED : MAX_SIGN_AS_COMPARED;
    return range(g, (ir_type)x->type, choice, left, right);
}
