/* Conversions between types, and integer division. */
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

/* --- conversions --- */

static cg_ref float_to_integer(cg *g, ir_type to, cg_ref x)
{
    LLVMTypeRef types[] = {shaped(x, g->type[to]), LLVMTypeOf(x)};
    return cg_call(g, ir_type_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", 2, types, 1, &x);
}

static cg_ref convert_value(cg *g, ir_type from, ir_type to, cg_ref x)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = shaped(x, g->type[to]);
    bool is_signed = ir_type_signed(from);
    if (from == to)
        return x;
    if (to == T_BOOL && ir_type_float(from))
        return LLVMBuildFCmp(b, LLVMRealUNE, x, cg_zero(LLVMTypeOf(x)), "");
    if (to == T_BOOL)
        return LLVMBuildICmp(b, LLVMIntNE, x, cg_zero(LLVMTypeOf(x)), "");
    if (ir_type_float(from) && ir_type_float(to))
        return LLVMBuildFPCast(b, x, type, "");
    if (ir_type_float(from))
        return float_to_integer(g, to, x);
    if (ir_type_float(to))
        return is_signed ? LLVMBuildSIToFP(b, x, type, "") : LLVMBuildUIToFP(b, x, type, "");
    return LLVMBuildIntCast2(b, x, type, is_signed, "");
}

cg_ref cg_convert(cg *g, ir_op op, ir_type from, ir_type to, cg_ref x)
{
    if (op == OP_CONVERT)
        return convert_value(g, from, to, x);
    return LLVMBuildBitCast(g->b, x, shaped(x, g->type[to]), "");
}

/* --- division --- */

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
        cg_ref overflow = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, x, least, ""),
                                       LLVMBuildICmp(b, LLVMIntEQ, y, minus, ""), "");
        bad = LLVMBuildOr(b, bad, overflow, "");
    }
    return LLVMBuildSelect(b, bad, one, y, "");
}

/* Vectors of at most 32 bits go through floats with enough digits: the quotient of two n-bit integers is at least
 * 2^-n away from the next whole number, relatively, so rounding cannot reach it. x86 has no vector division. */
static cg_ref divide_truncating(cg *g, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    bool is_signed = ir_type_signed(t);
    if (!cg_is_vector(x) || LLVMIsConstant(y) || ir_type_bits(t) > 32)
        return is_signed ? LLVMBuildSDiv(b, x, y, "") : LLVMBuildUDiv(b, x, y, "");
    LLVMTypeRef real = shaped(x, g->type[ir_type_bits(t) == 32 ? T_F64 : T_F32]);
    if (is_signed) {
        cg_ref q = LLVMBuildFDiv(b, LLVMBuildSIToFP(b, x, real, ""), LLVMBuildSIToFP(b, y, real, ""), "");
        return LLVMBuildFPToSI(b, q, LLVMTypeOf(x), "");
    }
    cg_ref q = LLVMBuildFDiv(b, LLVMBuildUIToFP(b, x, real, ""), LLVMBuildUIToFP(b, y, real, ""), "");
    return LLVMBuildFPToUI(b, q, LLVMTypeOf(x), "");
}

cg_ref cg_divide(cg *g, ir_op op, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    y = safe_divisor(g, t, x, y);
    cg_ref q = divide_truncating(g, t, x, y);
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
