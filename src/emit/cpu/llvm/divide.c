/* Integer division. x86 has none on vectors, and LLVM takes them apart lane by lane; here they go through floats. */
#include "emit/cpu/llvm/cg.h"

static LLVMTypeRef shaped(cg_ref like, LLVMTypeRef element)
{
    return cg_is_vector(like) ? LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(like))) : element;
}

static cg_ref constant(cg *g, cg_ref like, ir_type t, ir_bits bits)
{
    cg_ref c = cg_const(g, t, bits);
    return cg_is_vector(like) ? cg_splat_n(g, c, LLVMGetVectorSize(LLVMTypeOf(like))) : c;
}

static bool safe_constant(ir_type t, cg_ref y)
{
    if (!LLVMIsConstant(y))
        return false;
    if (cg_is_vector(y))
        y = LLVMGetAggregateElement(y, 0);
    if (!y || !LLVMIsAConstantInt(y) || LLVMIsNull(y))
        return false;
    return !ir_type_signed(t) || LLVMConstIntGetSExtValue(y) != -1;
}

/* A divisor that cannot trap: a CHECK has refused 0 and min / -1, but lanes that are off compute too. */
static cg_ref safe_divisor(cg *g, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    if (safe_constant(t, y))
        return y;
    cg_ref one = constant(g, y, t, 1);
    cg_ref bad = LLVMBuildICmp(b, LLVMIntEQ, y, cg_zero(LLVMTypeOf(y)), "");
    if (ir_type_signed(t)) {
        cg_ref least = constant(g, y, t, (ir_bits)1 << (ir_type_bits(t) - 1));
        cg_ref minus = constant(g, y, t, ir_bits_i64(t, -1));
        cg_ref overflow =
            LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, x, least, ""), LLVMBuildICmp(b, LLVMIntEQ, y, minus, ""), "");
        bad = LLVMBuildOr(b, bad, overflow, "");
    }
    return LLVMBuildSelect(b, bad, one, y, "");
}

static bool power_of_two(cg_ref y)
{
    if (cg_is_vector(y))
        y = LLVMGetAggregateElement(y, 0);
    unsigned long long v = y && LLVMIsAConstantInt(y) ? LLVMConstIntGetZExtValue(y) : 0;
    return v && !(v & (v - 1));
}

/* At most 32 bits: floats with enough digits. The quotient of two n-bit integers is at least 2^-n away from the next
 * whole number, relatively, so rounding cannot reach it. */
static cg_ref divide_narrow(cg *g, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef real = shaped(x, g->type[ir_type_bits(t) == 32 ? T_F64 : T_F32]);
    if (ir_type_signed(t)) {
        cg_ref q = LLVMBuildFDiv(b, LLVMBuildSIToFP(b, x, real, ""), LLVMBuildSIToFP(b, y, real, ""), "");
        return LLVMBuildFPToSI(b, q, LLVMTypeOf(x), "");
    }
    cg_ref q = LLVMBuildFDiv(b, LLVMBuildUIToFP(b, x, real, ""), LLVMBuildUIToFP(b, y, real, ""), "");
    return LLVMBuildFPToUI(b, q, LLVMTypeOf(x), "");
}

/* 64 bits, unsigned: two estimates of the quotient from below, then one step.
 *
 * With d = (1 - 2^-48) / y in f64, x d carries four roundings of 2^-53, so it is below x / y, and above
 * x / y (1 - 1.2 2^-48). Hence its whole part q is no larger than the quotient and the remainder x - q y is neither
 * negative nor above x, but at most y + 1.2 2^-48 x. The same again with this remainder leaves less than 2 y. */
static cg_ref divide_wide(cg *g, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMTypeOf(x), real = shaped(x, g->type[T_F64]);
    cg_ref below = constant(g, x, T_F64, ir_bits_f64(1 - 0x1p-48));
    cg_ref d = LLVMBuildFDiv(b, below, LLVMBuildUIToFP(b, y, real, ""), "");
    cg_ref quotient = NULL, rest = x;
    for (unsigned i = 0; i < 2; i++) {
        cg_ref q = LLVMBuildFPToUI(b, LLVMBuildFMul(b, LLVMBuildUIToFP(b, rest, real, ""), d, ""), type, "");
        rest = LLVMBuildSub(b, rest, LLVMBuildMul(b, q, y, ""), "");
        quotient = quotient ? LLVMBuildAdd(b, quotient, q, "") : q;
    }
    cg_ref more = LLVMBuildICmp(b, LLVMIntUGE, rest, y, "");
    return LLVMBuildAdd(b, quotient, LLVMBuildZExt(b, more, type, ""), "");
}

static cg_ref divide_wide_signed(cg *g, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMTypeOf(x);
    cg_ref wraps = LLVMConstInt(g->i1, 0, false); /* the smallest number is its own absolute value, unsigned */
    cg_ref size[2] = {cg_call(g, "llvm.abs", 1, &type, 2, (cg_ref[]){x, wraps}),
                      cg_call(g, "llvm.abs", 1, &type, 2, (cg_ref[]){y, wraps})};
    cg_ref q = divide_wide(g, size[0], size[1]);
    cg_ref negative = LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, x, y, ""), cg_zero(type), "");
    return LLVMBuildSelect(b, negative, LLVMBuildNeg(b, q, ""), q, "");
}

static cg_ref divide_truncating(cg *g, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    bool is_signed = ir_type_signed(t), is_wide = ir_type_bits(t) > 32;
    /* by constants LLVM multiplies, but the high half of a 64-bit product is dear */
    bool native = LLVMIsConstant(y) && (!is_wide || power_of_two(y));
    if (cg_is_vector(x) && !native && !is_wide)
        return divide_narrow(g, t, x, y);
    if (cg_is_vector(x) && !native && g->cpu.avx512) /* without it there is no conversion to f64 and back */
        return is_signed ? divide_wide_signed(g, x, y) : divide_wide(g, x, y);
    return is_signed ? LLVMBuildSDiv(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
}

/* The operator's result, from the quotient rounded towards zero. */
static cg_ref divided(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y, cg_ref q)
{
    LLVMBuilderRef b = g->b;
    if (op == OP_QUOT || (op == OP_DIV && !ir_type_signed(t)))
        return q;
    cg_ref r = LLVMBuildSub(b, x, LLVMBuildMul(b, q, y, ""), "");
    if (op == OP_REM || !ir_type_signed(t))
        return r;
    /* Rounded down: one less where the remainder has the wrong sign. */
    cg_ref zero = cg_zero(LLVMTypeOf(x));
    cg_ref wrong = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, r, zero, ""),
                                LLVMBuildICmp(b, LLVMIntSLT, LLVMBuildXor(b, r, y, ""), zero, ""), "");
    if (op == OP_DIV)
        return LLVMBuildAdd(b, q, LLVMBuildSExt(b, wrong, LLVMTypeOf(q), ""), "");
    return LLVMBuildAdd(b, r, LLVMBuildSelect(b, wrong, y, zero, ""), "");
}

cg_ref cg_divide(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y)
{
    y = safe_divisor(g, t, x, y);
    return divided(g, op, t, x, y, divide_truncating(g, t, x, y));
}

/* x / y through the reciprocal of y: (|x| + 1/2) / |y| is at least 1 / (2 |y|) away from a whole number, and what two
 * roundings of f64 change is less than 2^-20 / |y|. */
cg_ref cg_divide_index(cg *g, ir_op op, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    cg_ref one = cg_i64(g, 1);
    y = LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, y, cg_i64(g, 0), ""), one, y, ""); /* where lanes are off */
    cg_ref divisor = cg_splat(g, LLVMBuildTrunc(b, y, g->i32, ""));
    if (LLVMIsConstant(y) && power_of_two(y))
        return divided(g, op, T_I32, x, divisor, LLVMBuildSDiv(b, x, divisor, ""));
    LLVMTypeRef real = shaped(x, g->type[T_F64]);
    cg_ref inverse =
        LLVMBuildFDiv(b, cg_const(g, T_F64, ir_bits_f64(1)), LLVMBuildSIToFP(b, y, g->type[T_F64], ""), "");
    cg_ref from = LLVMBuildSIToFP(b, x, real, "");
    cg_ref half = cg_call2(g, "llvm.copysign", constant(g, x, T_F64, ir_bits_f64(0.5)), from);
    cg_ref q = LLVMBuildFMul(b, LLVMBuildFAdd(b, from, half, ""), cg_splat(g, inverse), "");
    return divided(g, op, T_I32, x, divisor, LLVMBuildFPToSI(b, q, LLVMTypeOf(x), ""));
}
