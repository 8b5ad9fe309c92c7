/* Conversions between types. */
#include "emit/cpu/llvm/cg.h"

static LLVMTypeRef shaped(cg_ref like, LLVMTypeRef element)
{
    return cg_is_vector(like) ? LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(like))) : element;
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
