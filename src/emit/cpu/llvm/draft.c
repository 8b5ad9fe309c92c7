/* Drafts: which modules are worth one, and what is done to them so that LLVM is soon done. */
#include "emit/cpu/llvm/cg.h"

/* From so many of LLVM's instructions on: what is smaller does not take long. */
enum { DRAFT_FROM = 150 };

static bool is_large(const cg *g)
{
    unsigned found = 0;
    for (cg_ref f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && found <= DRAFT_FROM; b = LLVMGetNextBasicBlock(b))
            for (cg_ref i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                found++;
    return found > DRAFT_FROM;
}

bool cg_wants_draft(const cg *g)
{
    return !g->little_effort && (g->may_draft == EMIT_ALL_AS_DRAFT || (g->may_draft && is_large(g)));
}

/* --- products of bytes --- */

/* In one register: it takes no other operands. */
static bool is_product_of_bytes(const cg *g, cg_ref x)
{
    LLVMTypeRef t = LLVMTypeOf(x);
    if (LLVMGetInstructionOpcode(x) != LLVMMul || LLVMGetTypeKind(t) != LLVMVectorTypeKind ||
        LLVMGetElementType(t) != g->i8)
        return false;
    const unsigned bytes = LLVMGetVectorSize(t);
    return bytes >= 16 && bytes <= g->cpu.register_bytes;
}

/* Of what stands behind it LLVM knows nothing; it is no instruction of the machine's. */
static void fence(cg *g, cg_ref x)
{
    LLVMTypeRef t = LLVMTypeOf(x), type = LLVMFunctionType(t, &t, 1, false);
    cg_ref code = LLVMGetInlineAsm(type, "", 0, "=v,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    LLVMPositionBuilderBefore(g->b, LLVMGetNextInstruction(x));
    cg_ref behind = LLVMBuildCall2(g->b, type, code, &x, 1, "");
    LLVMReplaceAllUsesWith(x, behind);
    LLVMSetOperand(behind, 0, x);
}

/* Not what is behind a fence already. */
static void fence_operand(cg *g, cg_ref x)
{
    LLVMOpcode op = LLVMIsAInstruction(x) ? LLVMGetInstructionOpcode(x) : LLVMCall;
    if (op == LLVMShuffleVector || op == LLVMSelect)
        fence(g, x);
}

/* There is no instruction for them. Where a product goes through choices and permutations into others, as in scans,
 * LLVM looks from each through all that it is made of for lanes that nobody reads, in time that doubles with each. */
void cg_fence_products(cg *g)
{
    if (!g->cpu.avx)
        return;
    for (cg_ref f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (cg_ref i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!is_product_of_bytes(g, i))
                    continue;
                fence_operand(g, LLVMGetOperand(i, 0));
                fence_operand(g, LLVMGetOperand(i, 1));
                fence(g, i);
            }
}
