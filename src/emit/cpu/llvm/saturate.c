/* Floats made bytes and words without a sign, whole registers of them. The conversion of LLVM's, which is undefined
 * beyond the type, wants numbers brought into its range first, from both sides, and the bytes are then picked out of
 * registers one by one. The instructions that pack integers bring them into the range themselves: what is below 0
 * becomes 0, and so does the least integer, which the processor's conversion makes of NaN and of what is too small.
 * Only what is too large must be cut off.
 *
 * Where the text says in which range numbers are, as that of a clamp does, not even that is needed. */
#include "emit/cpu/llvm/cg.h"

#include <math.h>

enum { DEPTH = 6, TRUNCATES = 4 /* no change of the rounding mode */ };

typedef struct interval { /* of numbers: none of them is a NaN */
    double low, high;
} interval;

static bool find(const cg *g, k_val v, unsigned depth, interval *out);

static bool is_finite(ir_type t, interval x)
{
    const double most = t == T_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    return x.low >= -most && x.high <= most;
}

/* What arithmetic may have rounded away from the interval; false if it may be infinite. */
static bool widen(ir_type t, double low, double high, interval *out)
{
    const double by = t == T_F32 ? 0x1p-22 : 0x1p-50;
    *out = (interval){low - fabs(low) * by, high + fabs(high) * by};
    return is_finite(t, *out);
}

static interval product(interval x, interval y)
{
    interval r = {INFINITY, -INFINITY};
    for (unsigned i = 0; i < 4; i++) {
        double p = (i & 1 ? x.high : x.low) * (i & 2 ? y.high : y.low);
        r = (interval){fmin(r.low, p), fmax(r.high, p)};
    }
    return r;
}

static bool of_arithmetic(const cg *g, const k_stmt *s, unsigned depth, interval *out)
{
    ir_type t = (ir_type)g->k->value.at[s->dst].type;
    interval x, y, z = {0, 0};
    if (!find(g, s->in[0], depth, &x) || !find(g, s->in[1], depth, &y) || !is_finite(t, x) || !is_finite(t, y))
        return false;
    if (s->sub == OP_FMA && (!find(g, s->in[2], depth, &z) || !is_finite(t, z)))
        return false;
    if (s->sub == OP_ADD)
        return widen(t, x.low + y.low, x.high + y.high, out);
    if (s->sub == OP_SUB)
        return widen(t, x.low - y.high, x.high - y.low, out);
    interval p = product(x, y);
    return widen(t, p.low + z.low, p.high + z.high, out);
}

/* Of a NaN and a number both give the number. */
static bool of_extreme(const cg *g, const k_stmt *s, unsigned depth, interval *out)
{
    const interval anything = {-INFINITY, INFINITY};
    interval x, y;
    bool left = find(g, s->in[0], depth, &x), right = find(g, s->in[1], depth, &y), least = s->sub == OP_MIN;
    if (!left)
        x = anything;
    if (!right)
        y = anything;
    *out = least ? (interval){fmin(x.low, y.low), fmin(x.high, y.high)}
                 : (interval){fmax(x.low, y.low), fmax(x.high, y.high)};
    if (left != right) { /* where the other is a NaN, all that this one can be */
        interval here = left ? x : y;
        *out = (interval){fmin(out->low, here.low), fmax(out->high, here.high)};
    }
    return left || right;
}

static bool of_conversion(const cg *g, const k_stmt *s, unsigned depth, interval *out)
{
    ir_type from = (ir_type)g->k->value.at[s->in[0]].type, to = (ir_type)g->k->value.at[s->dst].type;
    if (ir_type_float(from))
        return to == T_F64 && find(g, s->in[0], depth, out);
    const unsigned bits = from == T_BOOL ? 1 : ir_type_bits(from) - ir_type_signed(from);
    *out = (interval){ir_type_signed(from) ? -ldexp(1, (int)bits) : 0, ldexp(1, (int)bits)};
    return true;
}

static bool of_statement(const cg *g, const k_stmt *s, unsigned depth, interval *out)
{
    interval other;
    if (s->op == K_SELECT) {
        if (!find(g, s->in[1], depth, out) || !find(g, s->in[2], depth, &other))
            return false;
        *out = (interval){fmin(out->low, other.low), fmax(out->high, other.high)};
        return true;
    }
    switch (s->op == K_LET ? (ir_op)s->sub : OP_COUNT) {
    case OP_MIN:
    case OP_MAX:
        return of_extreme(g, s, depth, out);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
        return of_arithmetic(g, s, depth, out);
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_ROUND:
    case OP_RINT:
        if (!find(g, s->in[0], depth, out))
            return false;
        *out = (interval){floor(out->low), ceil(out->high)};
        return true;
    case OP_BITCAST:
        return g->k->value.at[s->in[0]].type == g->k->value.at[s->dst].type && find(g, s->in[0], depth, out);
    case OP_CONVERT:
        return of_conversion(g, s, depth, out);
    default:
        return false;
    }
}

/* The interval that a float's text tells. */
static bool find(const cg *g, k_val v, unsigned depth, interval *out)
{
    const k_value *x = &g->k->value.at[v];
    if (x->kind == KV_LITERAL && ir_type_float((ir_type)x->type)) {
        out->low = out->high = x->type == T_F32 ? (double)ir_f32_bits(x->bits) : ir_f64_bits(x->bits);
        return !isnan(out->low);
    }
    return x->kind == KV_RESULT && depth < DEPTH && of_statement(g, &g->k->stmt.at[x->def], depth + 1, out);
}

/* --- the code --- */

static LLVMTypeRef words(cg *g, unsigned bits, unsigned n)
{
    return LLVMVectorType(LLVMIntTypeInContext(g->context, bits), n);
}

/* One register of floats; of what is too small, and of NaN, the least integer. */
static cg_ref truncated(cg *g, cg_ref x)
{
    if (!g->cpu.avx512)
        return cg_call(g, "llvm.x86.avx.cvtt.ps2dq.256", 0, NULL, 1, &x);
    cg_ref in[] = {x, cg_zero(words(g, 32, 16)), LLVMConstAllOnes(LLVMInt16TypeInContext(g->context)),
                   cg_i32(g, TRUNCATES)};
    return cg_call(g, "llvm.x86.avx512.mask.cvttps2dq.512", 0, NULL, 4, in);
}

static cg_ref packed(cg *g, bool bytes, cg_ref x, cg_ref y)
{
    const char *name = g->cpu.avx512 ? (bytes ? "llvm.x86.avx512.packuswb.512" : "llvm.x86.avx512.packusdw.512")
                                     : (bytes ? "llvm.x86.avx2.packuswb" : "llvm.x86.avx2.packusdw");
    return cg_call(g, name, 0, NULL, 2, (cg_ref[]){x, y});
}

/* A register of results from as many of floats as it takes: packing goes by stretches of 16 bytes, of which each
 * register gives the next to all of them. */
static cg_ref one_register(cg *g, unsigned size, cg_ref *number)
{
    const unsigned bytes = g->cpu.register_bytes, registers = 4 / size, stretches = bytes / 16, unit = 4 * size;
    const unsigned units = bytes / unit;
    cg_ref all = packed(g, false, number[0], number[1]);
    if (size == 1)
        all = packed(g, true, all, packed(g, false, number[2], number[3]));
    int index[16];
    for (unsigned i = 0; i < units; i++)
        index[i] = (int)(i % stretches * registers + i / stretches);
    all = LLVMBuildBitCast(g->b, all, words(g, 8 * unit, units), "");
    all = cg_shuffle(g, all, all, units, index);
    return LLVMBuildBitCast(g->b, all, words(g, 8 * size, bytes / size), "");
}

static cg_ref by_packing(cg *g, ir_type to, cg_ref x, bool fits)
{
    const unsigned size = (unsigned)ir_type_size(to), each = g->cpu.register_bytes / 4, registers = 4 / size;
    if (!fits) {
        cg_ref most = cg_splat(g, cg_const(g, T_F32, ir_bits_f32((float)((1u << 8 * size) - 1))));
        x = LLVMBuildSelect(g->b, LLVMBuildFCmp(g->b, LLVMRealOLT, most, x, ""), most, x, ""); /* a NaN stays */
    }
    cg_ref done[8], number[4];
    unsigned n = 0;
    for (unsigned first = 0; first < g->lanes; first += registers * each) {
        for (unsigned i = 0; i < registers; i++)
            number[i] = truncated(g, cg_lanes_from(g, x, first + i * each, each));
        done[n++] = one_register(g, size, number);
    }
    return cg_joined(g, n, done);
}

cg_ref cg_saturated(cg *g, const k_stmt *s)
{
    ir_type from = (ir_type)g->k->value.at[s->in[0]].type, to = (ir_type)g->k->value.at[s->dst].type;
    if (s->sub != OP_CONVERT || !ir_type_float(from) || ir_type_float(to) || ir_type_size(to) > 2 || to == T_BOOL)
        return NULL;
    interval x;
    const bool is_signed = ir_type_signed(to);
    const double most = ldexp(1, (int)(ir_type_bits(to) - is_signed)), least = is_signed ? -most - 1 : -1;
    const bool fits = find(g, s->in[0], 0, &x) && x.low > least && x.high < most;
    if (from == T_F32 && !is_signed && g->cpu.gathers &&
        g->lanes % (g->cpu.register_bytes / (unsigned)ir_type_size(to)) == 0 && g->lanes <= 256)
        return by_packing(g, to, cg_vec(g, s->in[0]), fits);
    if (!fits)
        return NULL;
    cg_ref whole = LLVMBuildFPToSI(g->b, cg_vec(g, s->in[0]), words(g, 32, g->lanes), "");
    return LLVMBuildIntCast2(g->b, whole, words(g, ir_type_bits(to), g->lanes), is_signed, "");
}
