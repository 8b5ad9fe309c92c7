/* Accesses of some lanes of a gang to neighbouring elements, where the machine has no instruction for that: it has one
 * for all elements with AVX-512, for those of 32 and 64 bits with AVX, and none else. LLVM would take every lane's bit
 * of the mask apart and branch on it. */
#include "emit/cpu/llvm/cg.h"

enum { PAGE = 4096 /* the smallest there is */, REGISTER = 16 };

static unsigned element_bytes(LLVMTypeRef vector)
{
    LLVMTypeRef t = LLVMGetElementType(vector);
    LLVMTypeKind kind = LLVMGetTypeKind(t);
    return kind == LLVMFloatTypeKind ? 4 : kind == LLVMDoubleTypeKind ? 8 : LLVMGetIntTypeWidth(t) / 8;
}

bool cg_moves_some(const cg *g, LLVMTypeRef vector)
{
    return g->cpu.avx512 || (g->cpu.avx && element_bytes(vector) >= 4);
}

/* --- lane by lane: what is seldom needed --- */

/* void f(to, from, bits): copies the elements whose bits are set. All accesses of a module share it. */
static cg_ref copy_function(cg *g, unsigned bytes)
{
    const char *name = arena_printf(g->arena, "some%u", bytes);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef caller = cg_here(g);
    LLVMTypeRef type[] = {g->ptr, g->ptr, g->i64}, element = LLVMIntTypeInContext(g->context, 8 * bytes);
    f = cg_function(g, name, type, 3);
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(g->context, f, "start");
    LLVMBasicBlockRef each = LLVMAppendBasicBlockInContext(g->context, f, "each");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(g->context, f, "end");
    cg_ref bits = LLVMGetParam(f, 2), zero = cg_i64(g, 0);
    cg_at(g, start);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, bits, zero, ""), each, end);
    cg_at(g, each);
    cg_ref left = LLVMBuildPhi(b, g->i64, "");
    cg_ref lane = cg_call(g, "llvm.cttz", 1, &g->i64, 2, (cg_ref[]){left, LLVMConstInt(g->i1, 1, false)});
    cg_ref from = LLVMBuildGEP2(b, element, LLVMGetParam(f, 1), &lane, 1, "");
    cg_ref to = LLVMBuildGEP2(b, element, LLVMGetParam(f, 0), &lane, 1, "");
    cg_ref x = cg_aligned(LLVMBuildLoad2(b, element, from, ""), bytes);
    cg_aligned(LLVMBuildStore(b, x, to), bytes);
    cg_ref rest = LLVMBuildAnd(b, left, LLVMBuildSub(b, left, cg_i64(g, 1), ""), "");
    LLVMAddIncoming(left, (cg_ref[]){bits, rest}, (LLVMBasicBlockRef[]){start, each}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, rest, zero, ""), each, end);
    cg_at(g, end);
    LLVMBuildRetVoid(b);
    cg_at(g, caller);
    return f;
}

static void copy_some(cg *g, unsigned bytes, cg_ref to, cg_ref from, cg_ref mask)
{
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(mask));
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, lanes);
    cg_ref all = LLVMBuildBitCast(g->b, mask, word, ""), f = copy_function(g, bytes);
    for (unsigned first = 0; first < lanes; first += 64) {
        cg_ref bits = first ? LLVMBuildLShr(g->b, all, LLVMConstInt(word, first, false), "") : all;
        cg_ref at = cg_i64(g, (int64_t)first * bytes);
        cg_ref in[] = {cg_bytes_on(g, to, at), cg_bytes_on(g, from, at),
                       LLVMBuildIntCast2(g->b, bits, g->i64, false, "")};
        LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, in, 3, "");
    }
}

/* A vector in memory, of the function at hand: the kernel, or one that its loops share. */
static cg_ref slot_of(cg *g, LLVMTypeRef vector)
{
    LLVMBasicBlockRef here = cg_here(g), entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
    cg_ref first = LLVMGetFirstInstruction(entry);
    if (first)
        LLVMPositionBuilderBefore(g->b, first);
    else
        cg_at(g, entry);
    cg_ref slot = cg_aligned(LLVMBuildAlloca(g->b, vector, "some"), REGISTER);
    cg_at(g, here);
    return slot;
}

void cg_store_some(cg *g, cg_ref vector, cg_ref pointer, cg_ref mask)
{
    LLVMTypeRef type = LLVMTypeOf(vector);
    cg_ref slot = slot_of(g, type);
    cg_aligned(LLVMBuildStore(g->b, vector, slot), REGISTER);
    copy_some(g, element_bytes(type), pointer, slot, mask);
}

/* --- loads: of all lanes, where that stays in a page of which some lane's element is a part --- */

cg_ref cg_load_some(cg *g, LLVMTypeRef vector, cg_ref pointer, cg_ref mask, bool some, cg_ref full)
{
    LLVMBuilderRef b = g->b;
    unsigned bytes = element_bytes(vector), lanes = LLVMGetVectorSize(vector);
    if (cg_moves_some(g, vector))
        return cg_masked_load(g, vector, pointer, bytes, mask);
    cg_ref in_page = LLVMBuildAnd(b, LLVMBuildPtrToInt(b, pointer, g->i64, ""), cg_i64(g, PAGE - 1), "");
    cg_ref fits = LLVMBuildICmp(b, LLVMIntULE, in_page, cg_i64(g, PAGE - (int64_t)lanes * bytes), "");
    if (!some) {
        cg_ref bits = LLVMBuildBitCast(b, mask, LLVMIntTypeInContext(g->context, lanes), "");
        fits = LLVMBuildAnd(b, fits, LLVMBuildICmp(b, LLVMIntNE, bits, cg_zero(LLVMTypeOf(bits)), ""), "");
    }
    if (full)
        fits = LLVMBuildOr(b, fits, full, "");
    LLVMBasicBlockRef whole = cg_block(g, "load.all"), part = cg_block(g, "load.some"), end = cg_block(g, "load.end");
    cg_unlikely(g, LLVMBuildNot(b, fits, ""), part, whole);
    cg_at(g, whole);
    cg_ref x = cg_aligned(LLVMBuildLoad2(b, vector, pointer, ""), bytes);
    cg_br(g, end);
    cg_at(g, part);
    cg_ref slot = slot_of(g, vector);
    cg_aligned(LLVMBuildStore(b, cg_zero(vector), slot), REGISTER);
    copy_some(g, bytes, slot, pointer, mask);
    cg_ref y = cg_aligned(LLVMBuildLoad2(b, vector, slot, ""), REGISTER);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, whole, y, part);
}

/* --- stores of the first lanes: by halves --- */

typedef struct halves {
    cg *g;
    cg_ref pointer, count; /* of elements */
    unsigned bytes;        /* of an element */
} halves;

/* Stores `low`, which has `n` elements, if that bit of the count is set: behind those of higher bits. Returns what is
 * left to be stored: `high` if it was, else `low`. */
static cg_ref store_piece(const halves *h, unsigned n, cg_ref low, cg_ref high)
{
    cg *g = h->g;
    LLVMBuilderRef b = g->b;
    cg_ref bit = LLVMBuildAnd(b, h->count, cg_i64(g, n), "");
    LLVMBasicBlockRef here = cg_here(g), store = cg_block(g, "piece"), end = cg_block(g, "pieces");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, bit, cg_i64(g, 0), ""), store, end);
    cg_at(g, store);
    cg_ref before = LLVMBuildAnd(b, h->count, cg_i64(g, -2 * (int64_t)n), "");
    cg_ref at = cg_bytes_on(g, h->pointer, LLVMBuildMul(b, before, cg_i64(g, h->bytes), ""));
    cg_aligned(LLVMBuildStore(b, low, at), h->bytes);
    cg_br(g, end);
    cg_at(g, end);
    return high ? cg_phi2(g, high, store, low, here) : NULL;
}

static cg_ref half_of(cg *g, cg_ref x, unsigned n, bool high)
{
    int index[128];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(high ? n + i : i);
    return cg_shuffle(g, x, NULL, n, index);
}

/* A word of `n` elements, 2 or more. */
static void store_in_word(const halves *h, cg_ref word, unsigned n)
{
    LLVMBuilderRef b = h->g->b;
    while (n > 1) {
        n /= 2;
        LLVMTypeRef half = LLVMIntTypeInContext(h->g->context, 8 * n * h->bytes);
        cg_ref shift = LLVMConstInt(LLVMTypeOf(word), 8 * n * h->bytes, false);
        cg_ref low = LLVMBuildTrunc(b, word, half, "");
        cg_ref high = n > 1 ? LLVMBuildTrunc(b, LLVMBuildLShr(b, word, shift, ""), half, "") : NULL;
        word = store_piece(h, n, low, high);
    }
}

void cg_store_first(cg *g, cg_ref vector, cg_ref pointer, cg_ref count)
{
    LLVMBuilderRef b = g->b;
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(vector)), bytes = element_bytes(LLVMTypeOf(vector));
    halves h = {.g = g, .pointer = pointer, .count = count, .bytes = bytes};
    cg_ref x = vector;
    while (n > 1 && n * bytes > REGISTER) {
        n /= 2;
        x = store_piece(&h, n, half_of(g, x, n, false), half_of(g, x, n, true));
    }
    if (n > 1 && n * bytes == REGISTER) {
        x = LLVMBuildBitCast(b, x, LLVMVectorType(g->i64, 2), "");
        n /= 2;
        x = store_piece(&h, n, LLVMBuildExtractElement(b, x, cg_i32(g, 0), ""),
                        n > 1 ? LLVMBuildExtractElement(b, x, cg_i32(g, 1), "") : NULL);
    } else if (n > 1) {
        x = LLVMBuildBitCast(b, x, LLVMIntTypeInContext(g->context, 8 * n * bytes), "");
    }
    if (n > 1)
        store_in_word(&h, x, n);
}
