/* Masks of active lanes. */
#include "emit/cpu/llvm/cg.h"

cg_ref cg_mask_bits(cg *g, cg_ref mask)
{
    return LLVMBuildBitCast(g->b, mask, LLVMIntTypeInContext(g->context, g->lanes), "");
}

cg_ref cg_mask_any(cg *g, cg_ref mask)
{
    cg_ref bits = cg_mask_bits(g, mask);
    return LLVMBuildICmp(g->b, LLVMIntNE, bits, cg_zero(LLVMTypeOf(bits)), "");
}

/* Numbers of lanes as wide as what the mask is for: else masks are widened, or made narrower, where they are used. */
static cg_ref first_by_comparison(cg *g, cg_ref count)
{
    unsigned bytes = g->mask_bytes ? g->mask_bytes : 4 * g->cpu.register_bytes / g->lanes;
    bytes = bytes > 8 ? 8 : bytes < 1 ? 1 : bytes;
    bytes = bytes == 1 && g->lanes > 128 ? 2 : bytes;
    LLVMTypeRef lane = LLVMIntTypeInContext(g->context, 8 * bytes);
    int64_t least = bytes == 1 ? -128 : 0; /* 128 lanes are no number of 8 bits with a sign, and without there are no
                                              comparisons */
    cg_ref number[256];
    for (unsigned i = 0; i < g->lanes; i++)
        number[i] = LLVMConstInt(lane, (unsigned long long)(least + i), true);
    cg_ref n = LLVMBuildAdd(g->b, count, cg_i64(g, least), "");
    cg_ref limit = cg_splat(g, LLVMBuildIntCast2(g->b, n, lane, true, ""));
    return LLVMBuildICmp(g->b, LLVMIntSGT, limit, LLVMConstVector(number, g->lanes), "");
}

cg_ref cg_mask_first(cg *g, cg_ref count)
{
    if (!g->cpu.avx512)
        return first_by_comparison(g, count);
    /* Through shifts of one integer: with AVX-512 a mask is one (lanes <= 64). */
    unsigned width = g->lanes < 8 ? 8 : g->lanes;
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, width);
    cg_ref n = LLVMBuildZExtOrBitCast(g->b, LLVMBuildTrunc(g->b, count, g->i32, ""), g->i64, "");
    n = width == 64 ? n : width < 64 ? LLVMBuildTrunc(g->b, n, word, "") : LLVMBuildZExt(g->b, n, word, "");
    cg_ref all = LLVMConstAllOnes(word), wide = LLVMConstInt(word, width, false);
    cg_ref off = LLVMBuildSub(g->b, wide, n, "");
    cg_ref none = LLVMBuildICmp(g->b, LLVMIntEQ, n, cg_zero(word), "");
    cg_ref bits = LLVMBuildSelect(g->b, none, cg_zero(word), LLVMBuildLShr(g->b, all, off, ""), "");
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, g->lanes);
    if (width != g->lanes)
        bits = LLVMBuildTrunc(g->b, bits, narrow, "");
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->i1, g->lanes), "");
}

cg_ref cg_mask_or_all(cg *g)
{
    return g->mask.on ? g->mask.on : LLVMConstAllOnes(LLVMVectorType(g->i1, g->lanes));
}

cg_mask cg_narrow(cg *g, cg_ref condition, cg_ref first)
{
    cg_mask m = g->mask;
    LLVMTypeRef i64 = g->i64;
    if (m.on && first)
        first = m.first ? cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){m.first, first}) : NULL;
    m.first = first;
    m.on = m.on ? LLVMBuildAnd(g->b, m.on, condition, "") : condition;
    m.full = NULL;
    m.some = false;
    m.depth++;
    return m;
}

void cg_restore(cg *g, cg_mask outer, const cg_facts *inside)
{
    g->mask = outer;
    if (!g->alive || !inside->checks)
        return;
    cg_ref alive = LLVMBuildLoad2(g->b, LLVMVectorType(g->i1, g->lanes), g->alive, "");
    g->mask.on = outer.on ? LLVMBuildAnd(g->b, outer.on, alive, "") : alive;
    g->mask.first = NULL;
    g->mask.some = false;
    if (!outer.full)
        return;
    cg_ref bits = cg_mask_bits(g, alive);
    cg_ref all = LLVMBuildICmp(g->b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)), "");
    g->mask.full = LLVMBuildAnd(g->b, outer.full, all, "");
}
