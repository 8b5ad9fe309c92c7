/* Operators of the table on LLVM scalars and vectors alike. No fast-math flags: results are those of ir_op_apply. */
#include "emit/cpu/llvm/outline.h"

/* A constant of x's type: a splat if x is a vector. */
static cg_ref like(cg *g, cg_ref x, ir_type t, ir_bits bits)
{
    cg_ref c = cg_const(g, t, bits);
    return cg_is_vector(x) ? cg_splat_n(g, c, LLVMGetVectorSize(LLVMTypeOf(x))) : c;
}

static cg_ref like_f(cg *g, cg_ref x, ir_type t, double v)
{
    return like(g, x, t, t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

cg_ref cg_bits_cast(cg *g, ir_type t, cg_ref x)
{
    LLVMTypeRef word = t == T_F32 ? g->i32 : g->i64;
    if (cg_is_vector(x))
        word = LLVMVectorType(word, LLVMGetVectorSize(LLVMTypeOf(x)));
    return LLVMBuildBitCast(g->b, x, word, "");
}

/* --- minimum and maximum --- */

static bool splat_constant(cg_ref x, double *out)
{
    if (!LLVMIsConstant(x))
        return false;
    if (cg_is_vector(x))
        x = LLVMGetAggregateElement(x, 0);
    LLVMBool loses;
    if (!x || !LLVMIsAConstantFP(x))
        return false;
    *out = LLVMConstRealGetDouble(x, &loses);
    return true;
}

/* A NaN gives the other operand, -0 < +0. The select alone is one instruction; it is enough against a constant that is
 * neither NaN nor a zero that could lose against the other zero. */
static cg_ref float_extreme(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    LLVMRealPredicate wins = op == OP_MIN ? LLVMRealOLT : LLVMRealOGT;
    double c;
    if (splat_constant(x, &c)) {
        cg_ref swap = x;
        x = y;
        y = swap;
    }
    cg_ref r = LLVMBuildSelect(b, LLVMBuildFCmp(b, wins, x, y, ""), x, y, "");
    if (splat_constant(y, &c) && c == c && (c != 0 || (op == OP_MIN) == (1 / c < 0)))
        return r;
    cg_ref bx = cg_bits_cast(g, t, x), by = cg_bits_cast(g, t, y);
    cg_ref zero = op == OP_MIN ? LLVMBuildOr(b, bx, by, "") : LLVMBuildAnd(b, bx, by, "");
    cg_ref equal = LLVMBuildFCmp(b, LLVMRealOEQ, x, y, "");
    r = LLVMBuildSelect(b, equal, LLVMBuildBitCast(b, zero, LLVMTypeOf(x), ""), r, "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealUNO, y, y, ""), x, r, "");
}

/* --- floats --- */

static cg_ref float_test(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    static const LLVMRealPredicate predicate[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                                  LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    LLVMBuilderRef b = g->b;
    cg_ref x = in[0];
    switch (op) {
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return LLVMBuildFCmp(b, predicate[op - OP_EQ], x, in[1], "");
    case OP_IS_NAN:
        return LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
    case OP_IS_INF:
        return LLVMBuildFCmp(b, LLVMRealOEQ, cg_call1(g, "llvm.fabs", x), like_f(g, x, t, 1.0 / 0.0), "");
    case OP_IS_FINITE:
        return LLVMBuildFCmp(b, LLVMRealOLT, cg_call1(g, "llvm.fabs", x), like_f(g, x, t, 1.0 / 0.0), "");
    case OP_SIGN_BIT: {
        cg_ref bits = cg_bits_cast(g, t, x);
        return LLVMBuildICmp(b, LLVMIntSLT, bits, cg_zero(LLVMTypeOf(bits)), "");
    }
    default:
        return NULL;
    }
}

static cg_ref float_signum(cg *g, ir_type t, cg_ref x)
{
    cg_ref one = cg_call2(g, "llvm.copysign", like_f(g, x, t, 1), x);
    cg_ref ordinary = LLVMBuildFCmp(g->b, LLVMRealONE, x, cg_zero(LLVMTypeOf(x)), "");
    return LLVMBuildSelect(g->b, ordinary, one, x, "");
}

/* Halves away from zero: the largest number below one half, with the sign of x, is added before truncation. */
static cg_ref float_round(cg *g, ir_type t, cg_ref x)
{
    double half = t == T_F32 ? 0x1.fffffep-2 : 0x1.fffffffffffffp-2;
    cg_ref away = cg_call2(g, "llvm.copysign", like_f(g, x, t, half), x);
    return cg_call1(g, "llvm.trunc", LLVMBuildFAdd(g->b, x, away, ""));
}

/* By the run-time, through memory, where the processor cannot: the same bits, much slower. */
static cg_ref fuse(cg *g, ir_type t, const cg_ref *in)
{
    const LLVMTypeRef type = LLVMTypeOf(in[0]);
    const unsigned lanes = cg_is_vector(in[0]) ? LLVMGetVectorSize(type) : 1, bytes = (unsigned)ir_type_size(t);
    enum { WIDEST = 8, ALIGNED = 64 };
    cg_ref at[3];
    for (unsigned i = 0; i < 3; i++) {
        if (lanes * bytes > g->lanes * WIDEST)
            at[i] = cg_alloca(g, type, ALIGNED, "");
        else if (!g->fused[i])
            g->fused[i] = cg_alloca(g, LLVMArrayType(g->i8, g->lanes * WIDEST), ALIGNED, "fused");
        at[i] = lanes * bytes > g->lanes * WIDEST ? at[i] : g->fused[i];
        LLVMBuildStore(g->b, in[i], at[i]);
    }
    LLVMTypeRef types[] = {g->ptr, g->ptr, g->ptr, g->i64, g->i64};
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 5, false);
    LLVMBuildCall2(g->b, f, g->fuse, (cg_ref[]){at[0], at[1], at[2], cg_i64(g, lanes), cg_i64(g, bytes)}, 5, "");
    return LLVMBuildLoad2(g->b, type, at[0], "");
}

static cg_ref float_op(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    LLVMBuilderRef b = g->b;
    cg_ref x = in[0], y = in[1];
    switch (op) {
    case OP_ADD:
        return LLVMBuildFAdd(b, x, y, "");
    case OP_SUB:
        return LLVMBuildFSub(b, x, y, "");
    case OP_MUL:
        return LLVMBuildFMul(b, x, y, "");
    case OP_DIV:
        return LLVMBuildFDiv(b, x, y, "");
    case OP_NEG:
        return LLVMBuildFNeg(b, x, "");
    case OP_ABS:
        return cg_call1(g, "llvm.fabs", x);
    case OP_SIGNUM:
        return float_signum(g, t, x);
    case OP_MIN:
    case OP_MAX:
        return float_extreme(g, op, t, x, y);
    case OP_FMA: {
        if (!g->cpu.fma)
            return fuse(g, t, in);
        LLVMTypeRef type = LLVMTypeOf(x);
        return cg_call(g, "llvm.fma", 1, &type, 3, (cg_ref[]){x, y, in[2]});
    }
    case OP_FLOOR:
        return cg_call1(g, "llvm.floor", x);
    case OP_CEIL:
        return cg_call1(g, "llvm.ceil", x);
    case OP_TRUNC:
        return cg_call1(g, "llvm.trunc", x);
    case OP_ROUND:
        return float_round(g, t, x);
    case OP_RINT:
        return cg_call1(g, "llvm.roundeven", x);
    case OP_COPY_SIGN:
        return cg_call2(g, "llvm.copysign", x, y);
    case OP_SQRT:
        return cg_call1(g, "llvm.sqrt", x);
    default: {
        cg_ref part = cg_part(g, op, t, in);
        return part ? part : float_test(g, op, t, in);
    }
    }
}

/* --- integers, bool, char --- */

static cg_ref int_compare(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y)
{
    static const LLVMIntPredicate sign[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    static const LLVMIntPredicate plain[] = {LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
    return LLVMBuildICmp(g->b, ir_type_signed(t) ? sign[op - OP_EQ] : plain[op - OP_EQ], x, y, "");
}

/* A count outside 0 .. width - 1 gives 0, or the sign. */
static cg_ref int_shift(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref count)
{
    LLVMBuilderRef b = g->b;
    unsigned bits = ir_type_bits(t);
    cg_ref inside = LLVMBuildICmp(b, LLVMIntULT, count, like(g, x, t, bits), "");
    if (op == OP_SHR && ir_type_signed(t)) {
        cg_ref most = like(g, x, t, bits - 1);
        return LLVMBuildAShr(b, x, LLVMBuildSelect(b, inside, count, most, ""), "");
    }
    /* The shift of a lane outside is poison, which the select does not pass on. */
    cg_ref r = op == OP_SHL ? LLVMBuildShl(b, x, count, "") : LLVMBuildLShr(b, x, count, "");
    return LLVMBuildSelect(b, inside, r, cg_zero(LLVMTypeOf(x)), "");
}

static cg_ref int_extreme(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y)
{
    if (t == T_BOOL)
        return op == OP_MIN ? LLVMBuildAnd(g->b, x, y, "") : LLVMBuildOr(g->b, x, y, "");
    if (ir_type_signed(t))
        return cg_call2(g, op == OP_MIN ? "llvm.smin" : "llvm.smax", x, y);
    return cg_call2(g, op == OP_MIN ? "llvm.umin" : "llvm.umax", x, y);
}

/* Number of bits as i32. */
static cg_ref int_count(cg *g, ir_op op, cg_ref x)
{
    LLVMTypeRef t = LLVMTypeOf(x), to = g->i32;
    cg_ref r;
    if (op == OP_POPCOUNT)
        r = cg_call1(g, "llvm.ctpop", x);
    else
        r = cg_call(g, op == OP_CLZ ? "llvm.ctlz" : "llvm.cttz", 1, &t, 2,
                    (cg_ref[]){x, LLVMConstInt(g->i1, 0, false)});
    if (cg_is_vector(x))
        to = LLVMVectorType(to, LLVMGetVectorSize(t));
    return LLVMBuildIntCast2(g->b, r, to, false, "");
}

static cg_ref int_signum(cg *g, ir_type t, cg_ref x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    cg_ref zero = cg_zero(type);
    cg_ref positive = LLVMBuildZExt(g->b, LLVMBuildICmp(g->b, LLVMIntNE, x, zero, ""), type, "");
    if (!ir_type_signed(t))
        return positive;
    cg_ref negative = LLVMBuildAShr(g->b, x, like(g, x, t, ir_type_bits(t) - 1), "");
    return LLVMBuildOr(g->b, negative, positive, ""); /* -1 | 1 is -1 */
}

static cg_ref int_op(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    LLVMBuilderRef b = g->b;
    cg_ref x = in[0], y = in[1];
    LLVMTypeRef type = LLVMTypeOf(x);
    switch (op) {
    case OP_ADD:
        return LLVMBuildAdd(b, x, y, "");
    case OP_SUB:
        return LLVMBuildSub(b, x, y, "");
    case OP_MUL:
        return LLVMBuildMul(b, x, y, "");
    case OP_DIV:
    case OP_MOD:
    case OP_QUOT:
    case OP_REM:
        return cg_divide(g, op, t, x, y);
    case OP_NEG:
        return LLVMBuildNeg(b, x, "");
    case OP_ABS:
        if (!ir_type_signed(t))
            return x;
        return cg_call(g, "llvm.abs", 1, &type, 2, (cg_ref[]){x, LLVMConstInt(g->i1, 0, false)});
    case OP_SIGNUM:
        return int_signum(g, t, x);
    case OP_MIN:
    case OP_MAX:
        return int_extreme(g, op, t, x, y);
    case OP_BIT_AND:
    case OP_AND:
        return LLVMBuildAnd(b, x, y, "");
    case OP_BIT_OR:
    case OP_OR:
        return LLVMBuildOr(b, x, y, "");
    case OP_BIT_XOR:
        return LLVMBuildXor(b, x, y, "");
    case OP_BIT_NOT:
    case OP_NOT:
        return LLVMBuildNot(b, x, "");
    case OP_SHL:
    case OP_SHR:
        return int_shift(g, op, t, x, y);
    case OP_ROTL:
    case OP_ROTR:
        return cg_call(g, op == OP_ROTL ? "llvm.fshl" : "llvm.fshr", 1, &type, 3, (cg_ref[]){x, x, y});
    case OP_POPCOUNT:
    case OP_CLZ:
    case OP_CTZ:
        return int_count(g, op, x);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return int_compare(g, op, t, x, y);
    default:
        return NULL;
    }
}

cg_ref cg_op(cg *g, ir_op op, ir_type from, ir_type to, const cg_ref *in)
{
    cg_ref r;
    if (op == OP_TRACE) /* what is to be noted is a statement of its own */
        r = in[0];
    else if (op == OP_CONVERT || op == OP_BITCAST)
        r = cg_convert(g, op, from, to, in[0]);
    else
        r = ir_type_float(from) ? float_op(g, op, from, in) : int_op(g, op, from, in);
    if (!r)
        cg_fail(g, "the CPU code generator has no %s on %s", ir_ops[op].name, ir_type_name(from));
    return r;
}

/* --- statements --- */

static bool divides(ir_op op)
{
    return op == OP_DIV || op == OP_MOD || op == OP_QUOT || op == OP_REM;
}

static cg_ref let_on_lane(cg *g, const k_stmt *s, unsigned lane)
{
    const k_value *value = g->k->value.at;
    cg_ref in[3] = {0};
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++)
        in[i] = cg_lane_scalar(g, s->in[i], lane);
    if (divides((ir_op)s->sub) && cg_is_narrow(g, s->dst)) { /* half the time, and no test whether 32 bits will do */
        in[0] = LLVMBuildTrunc(g->b, in[0], g->i32, "");
        in[1] = LLVMBuildTrunc(g->b, in[1], g->i32, "");
        return LLVMBuildSExt(g->b, cg_op(g, (ir_op)s->sub, T_I32, T_I32, in), g->i64, "");
    }
    return cg_op(g, (ir_op)s->sub, (ir_type)value[s->in[0]].type, (ir_type)value[s->dst].type, in);
}

static cg_ref select_on_lane(cg *g, const k_stmt *s, unsigned lane)
{
    return LLVMBuildSelect(g->b, cg_scalar(g, s->in[0]), cg_lane_scalar(g, s->in[1], lane),
                           cg_lane_scalar(g, s->in[2], lane), "");
}

/* Uniform and linear results are computed on lane 0; the step is known or the difference to lane 1. */
static void define_by_lanes(cg *g, const k_stmt *s, cg_ref (*on_lane)(cg *, const k_stmt *, unsigned))
{
    const k_value *dst = &g->k->value.at[s->dst];
    cg_ref first = on_lane(g, s, 0), step;
    if (!g->thread || dst->shape == K_UNIFORM) {
        cg_define(g, s->dst, first);
        return;
    }
    step = dst->shape == K_AFFINE ? cg_i64(g, dst->step) : LLVMBuildSub(g->b, on_lane(g, s, 1), first, "");
    g->value[s->dst] = (cg_value){.form = FORM_LINEAR, .v = first, .step = step};
    cg_cross(g, s->dst);
}

/* In a gang of one lane operations are those of scalars: a vector of one condition would go through a register of
 * masks.
 */
static void define_alone(cg *g, const k_stmt *s, cg_ref (*on_lane)(cg *, const k_stmt *, unsigned))
{
    cg_ref x = on_lane(g, s, 0);
    if (cg_is_narrow(g, s->dst))
        x = LLVMBuildTrunc(g->b, x, g->i32, "");
    cg_ref none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), 1));
    cg_define(g, s->dst, LLVMBuildInsertElement(g->b, none, x, cg_i32(g, 0), ""));
}

/* A wide affine index made narrower: the same progression modulo the narrow type, without wide vectors. */
static bool narrowed_index(cg *g, const k_stmt *s)
{
    ir_type to = (ir_type)g->k->value.at[s->dst].type;
    if (s->sub != OP_CONVERT || ir_type_class(to) & (CLASS_FLOAT | CLASS_BOOL) || ir_type_bits(to) > 32)
        return false;
    cg_value x = cg_get(g, s->in[0]);
    if (x.form != FORM_LINEAR)
        return false;
    cg_ref base = LLVMBuildTrunc(g->b, x.v, g->type[to], ""), step = LLVMBuildTrunc(g->b, x.step, g->type[to], "");
    cg_ref offset = LLVMBuildMul(g->b, cg_iota(g, g->type[to], g->lanes), cg_splat(g, step), "");
    cg_define(g, s->dst, LLVMBuildAdd(g->b, cg_splat(g, base), offset, ""));
    return true;
}

/* A limit of what begins with a small number, no further from it than lanes are, less `inclusive`. NULL: it does not.
 */
static cg_ref near_limit(cg *g, cg_ref from, cg_ref limit, bool inclusive)
{
    const long long most = 1LL << 32, first = LLVMIsAConstantInt(from) ? LLVMConstIntGetSExtValue(from) : most;
    LLVMTypeRef i64 = g->i64;
    if (first >= most || first <= -most)
        return NULL;
    const long long least = first - inclusive;
    limit = cg_call(g, "llvm.smax", 1, &i64, 2, (cg_ref[]){limit, cg_i64(g, least)});
    return cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){limit, cg_i64(g, least + g->lanes)});
}

/* In how many lanes, the first ones, a value that goes up by one from lane to lane is below a uniform limit: a mask
 * made of a number, in place of wide vectors to compare. NULL: they are no such values. *wraps: i1, the value goes
 * beyond the largest number within the gang, so that the lanes below the limit are others; NULL: it does not. Where
 * it may, and nobody but CHECKs asks, there is no such mask: it would have a branch that LLVM cannot put aside. */
static cg_ref lanes_below(cg *g, k_val v, k_val bound, bool or_equal, bool asked, cg_ref *wraps)
{
    *wraps = NULL;
    if (g->k->value.at[v].type != T_I64)
        return NULL;
    cg_value x = cg_get(g, v), limit = cg_get(g, bound);
    if (x.form != FORM_LINEAR || limit.form != FORM_UNIFORM || x.step != cg_i64(g, 1))
        return NULL;
    const bool fits = cg_is_narrow(g, v) && cg_is_narrow(g, bound);
    LLVMTypeRef i64 = g->i64;
    cg_ref near = fits ? NULL : near_limit(g, x.v, limit.v, or_equal);
    cg_ref n = NULL;
    if (fits || near) {
        n = LLVMBuildSub(g->b, near ? near : limit.v, x.v, "");
        n = or_equal ? LLVMBuildAdd(g->b, n, cg_i64(g, 1), "") : n;
        if (near)
            return n;
        n = cg_call(g, "llvm.smax", 1, &i64, 2, (cg_ref[]){n, cg_i64(g, 0)});
        return cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){n, cg_i64(g, g->lanes)});
    }
    if (!g->narrow || !asked) /* indices of so long arrays have 64 bits: each comparison would have a way round */
        return NULL;
    /* where the limit is beyond the first lane the difference is a number without a sign */
    cg_ref last = cg_i64(g, INT64_MAX - (int64_t)(g->lanes - 1));
    *wraps = LLVMBuildICmp(g->b, LLVMIntSGT, x.v, last, "");
    n = LLVMBuildSub(g->b, limit.v, x.v, "");
    cg_ref beyond = LLVMBuildICmp(g->b, or_equal ? LLVMIntSGE : LLVMIntSGT, limit.v, x.v, "");
    n = cg_call(g, "llvm.umin", 1, &i64, 2, (cg_ref[]){n, cg_i64(g, (int64_t)g->lanes - or_equal)});
    n = or_equal ? LLVMBuildAdd(g->b, n, cg_i64(g, 1), "") : n;
    return LLVMBuildSelect(g->b, beyond, n, cg_i64(g, 0), "");
}

static cg_ref compared_lane_by_lane(cg *g, ir_op op, k_val x, k_val y)
{
    bool narrow = cg_is_narrow(g, x) && cg_is_narrow(g, y);
    cg_ref in[2] = {narrow ? cg_index_vec(g, x) : cg_vec(g, x), narrow ? cg_index_vec(g, y) : cg_vec(g, y)};
    return cg_op(g, op, narrow ? T_I32 : T_I64, T_BOOL, in);
}

/* *first: in how many lanes, the first ones; NULL: not the first ones. */
static cg_ref compared_to_limit(cg *g, ir_op op, k_val x, k_val y, bool asked, cg_ref *first)
{
    bool swapped = g->k->value.at[x].shape == K_UNIFORM, inclusive = op == OP_LE || op == OP_GT;
    if (op != OP_LT && op != OP_LE && op != OP_GT && op != OP_GE)
        return NULL;
    if (swapped) /* y op' x: <= where it was <, and the other way round */
        inclusive = !inclusive;
    cg_ref wraps,
        n = swapped ? lanes_below(g, y, x, inclusive, asked, &wraps) : lanes_below(g, x, y, inclusive, asked, &wraps);
    if (!n)
        return NULL;
    bool negated = (op == OP_GE || op == OP_GT) != swapped;
    cg_ref below = cg_mask_first(g, n), mask = negated ? LLVMBuildNot(g->b, below, "") : below;
    *first = negated || wraps ? NULL : n;
    if (!wraps)
        return mask;
    LLVMBasicBlockRef usual = cg_here(g), rare = cg_block(g, "wraps"), compared = cg_block(g, "compared");
    cg_unlikely(g, wraps, rare, compared);
    cg_at(g, rare);
    cg_ref exact = compared_lane_by_lane(g, op, x, y);
    LLVMBasicBlockRef end = cg_here(g);
    cg_br(g, compared);
    cg_at(g, compared);
    return cg_phi2(g, mask, usual, exact, end);
}

cg_ref cg_index_op(cg *g, ir_op op, k_val x, k_val y)
{
    bool narrow = cg_is_narrow(g, x) && (!y || cg_is_narrow(g, y)),
         by_uniform = divides(op) && g->k->value.at[y].shape == K_UNIFORM;
    bool tests = op >= OP_EQ && op <= OP_GE;
    cg_ref first, mask = tests ? compared_to_limit(g, op, x, y, true, &first) : NULL;
    if (mask)
        return mask;
    if (narrow && by_uniform)
        return cg_divide_index(g, op, cg_index_vec(g, x), cg_scalar(g, y));
    cg_ref in[3] = {narrow ? cg_index_vec(g, x) : cg_vec(g, x)};
    if (y)
        in[1] = narrow ? cg_index_vec(g, y) : cg_vec(g, y);
    ir_type t = narrow ? T_I32 : T_I64;
    return cg_op(g, op, t, tests ? T_BOOL : t, in);
}

/* Does what is compared go up from lane to lane, or down, on one side alone? */
static bool is_limit(const cg *g, k_val x, k_val y)
{
    uint8_t left = g->k->value.at[x].shape, right = g->k->value.at[y].shape;
    return (left == K_AFFINE && right == K_UNIFORM) || (left == K_UNIFORM && right == K_AFFINE);
}

/* Index arithmetic, comparisons of indices, and conversions to and from them. */
static bool let_index(cg *g, const k_stmt *s)
{
    ir_op op = (ir_op)s->sub;
    k_val x = s->in[0], y = ir_ops[op].arity > 1 ? s->in[1] : 0;
    const k_value *dst = &g->k->value.at[s->dst];
    bool to_index = cg_is_narrow(g, s->dst), from_index = cg_is_narrow(g, x),
         converts = ir_ops[op].signature == SIGNATURE_CONVERT;
    if (converts && to_index && !from_index) {
        cg_define(g, s->dst, cg_convert(g, op, (ir_type)g->k->value.at[x].type, T_I32, cg_vec(g, x)));
        return true;
    }
    if (converts && from_index && !to_index && op == OP_CONVERT) {
        cg_define(g, s->dst, cg_convert(g, op, T_I32, (ir_type)dst->type, cg_index_vec(g, x)));
        return true;
    }
    if (converts && from_index && to_index) {
        cg_define(g, s->dst, cg_index_vec(g, x));
        return true;
    }
    bool tests = op >= OP_EQ && op <= OP_GE && g->k->value.at[x].type == T_I64;
    if (!tests && !to_index)
        return false;
    bool asked = !g->asked || g->asked[s->dst];
    cg_ref first = NULL, mask = tests ? compared_to_limit(g, op, x, y, asked, &first) : NULL;
    cg_define(g, s->dst, mask ? mask : tests ? compared_lane_by_lane(g, op, x, y) : cg_index_op(g, op, x, y));
    g->value[s->dst].limit = op >= OP_LT && is_limit(g, x, y);
    g->value[s->dst].first = g->part ? NULL : first; /* what crosses between functions is the value alone */
    return true;
}

void cg_let(cg *g, const k_stmt *s)
{
    const k_value *value = g->k->value.at;
    if (!g->thread || value[s->dst].shape != K_VARYING) {
        define_by_lanes(g, s, let_on_lane);
        return;
    }
    cg_ref extreme = cg_extreme(g, s);
    if (extreme) {
        cg_define(g, s->dst, extreme);
        return;
    }
    if (g->lanes == 1 && !g->factors_now) {
        define_alone(g, s, let_on_lane);
        return;
    }
    if (cg_let_line(g, s) || narrowed_index(g, s) || let_index(g, s))
        return;
    cg_ref saturated = cg_saturated(g, s);
    if (saturated) {
        cg_define(g, s->dst, saturated);
        return;
    }
    cg_ref in[3] = {0}, total = cg_gang_total(g, s);
    if (total) {
        cg_define(g, s->dst, cg_splat(g, total));
        return;
    }
    if (cg_multiplies(g, s)) {
        cg_ref by = value[s->in[1]].shape == K_UNIFORM ? cg_scalar(g, s->in[1]) : cg_vec(g, s->in[1]);
        cg_define(g, s->dst, cg_quotient(g, (ir_type)value[s->dst].type, cg_vec(g, s->in[0]), by));
        return;
    }
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++) {
        cg_ref factor = cg_factor(g, s, i);
        in[i] = factor ? factor : cg_vec(g, s->in[i]);
    }
    cg_define(g, s->dst, cg_op(g, (ir_op)s->sub, (ir_type)value[s->in[0]].type, (ir_type)value[s->dst].type, in));
}

void cg_select(cg *g, const k_stmt *s)
{
    if (!g->thread || g->k->value.at[s->dst].shape != K_VARYING) {
        define_by_lanes(g, s, select_on_lane);
        return;
    }
    if (g->lanes == 1) {
        define_alone(g, s, select_on_lane);
        return;
    }
    cg_value c = cg_get(g, s->in[0]);
    bool narrow = cg_is_narrow(g, s->dst);
    cg_ref x = narrow ? cg_index_vec(g, s->in[1]) : cg_vec(g, s->in[1]);
    cg_ref y = narrow ? cg_index_vec(g, s->in[2]) : cg_vec(g, s->in[2]);
    cg_ref by_registers = cg_select_right_halves(g, s, c.v, x, y);
    cg_define(g, s->dst, by_registers ? by_registers : LLVMBuildSelect(g->b, c.v, x, y, ""));
}
