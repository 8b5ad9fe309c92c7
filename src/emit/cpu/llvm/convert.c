/* Conversions between types. */
#include "emit/cpu/llvm/cg.h"

static LLVMTypeRef shaped(cg_ref like, LLVMTypeRef element)
{
    return cg_is_vector(like) ? LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(like))) : element;
}

/* --- conversions --- */

/* 2 to the exponent in every lane; `below`: the next float towards zero. */
static cg_ref power(cg *g, cg_ref like, ir_type from, unsigned exponent, bool below)
{
    ir_bits bits = from == T_F32 ? (uint64_t)(127 + exponent) << 23 : (uint64_t)(1023 + exponent) << 52;
    return cg_splat_n(g, cg_const(g, from, bits - below), LLVMGetVectorSize(LLVMTypeOf(like)));
}

static cg_ref whole_splat(cg *g, cg_ref like, ir_type to, ir_bits bits)
{
    return cg_splat_n(g, cg_const(g, to, bits), LLVMGetVectorSize(LLVMTypeOf(like)));
}

/* Truncates and saturates; NaN gives 0. What LLVM 19 makes of its own operation for vectors goes lane by lane. Here,
 * numbers are brought into the range of the type first: downwards to its largest value where a float has that, else to
 * the largest float in the range, and what is beyond is replaced after the conversion. */
static cg_ref vector_to_integer(cg *g, ir_type from, ir_type to, cg_ref x)
{
    LLVMBuilderRef b = g->b;
    bool is_signed = ir_type_signed(to);
    unsigned bits = ir_type_bits(to) - is_signed, mantissa = from == T_F32 ? 24 : 53;
    cg_ref zero = cg_zero(LLVMTypeOf(x)), least = zero, end = power(g, x, from, bits, false);
    if (is_signed)
        least = LLVMBuildFNeg(b, end, "");
    /* one below 2^bits is whole if it has no more digits than the type, and else the largest float there */
    bool exact = bits <= mantissa;
    cg_ref most = exact ? LLVMBuildFSub(b, end, power(g, x, from, 0, false), "") : power(g, x, from, bits, true);
    cg_ref y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGT, x, least, ""), x, least, ""); /* NaN: least */
    y = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, y, most, ""), y, most, "");
    LLVMTypeRef type = shaped(x, g->type[to]), wide = bits < 32 ? shaped(x, g->type[T_I32]) : type;
    cg_ref whole = is_signed || bits < 32 ? LLVMBuildFPToSI(b, y, wide, "") : LLVMBuildFPToUI(b, y, wide, "");
    whole = LLVMBuildIntCast2(b, whole, type, is_signed, "");
    if (!exact) {
        cg_ref largest = whole_splat(g, x, to, UINT64_MAX >> (64 - bits));
        whole = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOGE, x, end, ""), largest, whole, "");
    }
    if (is_signed) /* NaN */
        whole = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealORD, x, x, ""), whole, cg_zero(type), "");
    return whole;
}

static cg_ref float_to_integer(cg *g, ir_type from, ir_type to, cg_ref x)
{
    LLVMTypeRef types[] = {shaped(x, g->type[to]), LLVMTypeOf(x)};
    if (cg_is_vector(x))
        return vector_to_integer(g, from, to, x);
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
        return float_to_integer(g, from, to, x);
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
