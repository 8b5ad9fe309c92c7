/* Masks of active lanes. A gang of one lane has none: what its lane skips is branched around. */
#include "emit/cpu/llvm/cg.h"

cg_ref cg_mask_bits(cg *g, cg_ref mask)
{
    if (g->lanes == 1)
        return LLVMBuildExtractElement(g->b, mask, cg_i32(g, 0), "");
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

/* A word of at most 64 bits, the first `count` of which are ones; count: 0 to 64 bits, of that type. */
static cg_ref first_bits(cg *g, LLVMTypeRef word, cg_ref count)
{
    unsigned width = LLVMGetIntTypeWidth(word);
    if (g->cpu.bmi2) { /* leaves the bits below `count`, or all if there are not so many */
        LLVMTypeRef type = width > 32 ? g->i64 : g->i32;
        cg_ref in[] = {LLVMConstAllOnes(type), LLVMBuildIntCast2(g->b, count, type, false, "")};
        return LLVMBuildIntCast2(
            g->b, cg_call(g, width > 32 ? "llvm.x86.bmi.bzhi.64" : "llvm.x86.bmi.bzhi.32", 0, NULL, 2, in), word, false,
            "");
    }
    cg_ref off = LLVMBuildSub(g->b, LLVMConstInt(word, width, false), count, "");
    cg_ref none = LLVMBuildICmp(g->b, LLVMIntEQ, count, cg_zero(word), "");
    cg_ref some = LLVMBuildLShr(g->b, LLVMConstAllOnes(word), off, "");
    return LLVMBuildSelect(g->b, none, cg_zero(word), some, "");
}

/* Word by word: a shift of one integer as wide as all lanes goes through memory. */
static cg_ref first_by_words(cg *g, cg_ref count)
{
    unsigned n = g->lanes / 64;
    LLVMTypeRef i64 = g->i64;
    cg_ref words = LLVMGetUndef(LLVMVectorType(i64, n));
    for (unsigned i = 0; i < n; i++) {
        cg_ref left = LLVMBuildSub(g->b, count, cg_i64(g, 64 * (int64_t)i), "");
        left = cg_call(g, "llvm.smax", 1, &i64, 2, (cg_ref[]){left, cg_i64(g, 0)});
        left = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){left, cg_i64(g, 64)});
        words = LLVMBuildInsertElement(g->b, words, first_bits(g, i64, left), cg_i32(g, i), "");
    }
    return LLVMBuildBitCast(g->b, words, LLVMVectorType(g->i1, g->lanes), "");
}

cg_ref cg_mask_first(cg *g, cg_ref count)
{
    if (!g->cpu.avx512)
        return first_by_comparison(g, count);
    if (g->lanes > 64)
        return first_by_words(g, count);
    /* With AVX-512 a mask is an integer. */
    unsigned width = g->lanes < 8 ? 8 : g->lanes;
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, width);
    cg_ref bits = first_bits(g, word, LLVMBuildTrunc(g->b, count, word, ""));
    if (width != g->lanes)
        bits = LLVMBuildTrunc(g->b, bits, LLVMIntTypeInContext(g->context, g->lanes), "");
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
