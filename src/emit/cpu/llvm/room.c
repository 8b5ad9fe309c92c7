/* Memory for LLVM. It ends the process where it gets none, so it is not begun with what it has no room for.
 *
 * What it needs grows with the instructions it is given, each counted once for every 64 bytes of its result: 0.9 to 1.4
 * KiB for each in kernels of 10,000 to 500,000 (LLVM 19), beside some megabytes for the first. */
#include "base/address_space.h"
#include "emit/cpu/llvm/cg.h"
#include <stdatomic.h>

enum { BASE = 16 << 20, PER_STATEMENT = 2 << 10, PER_REGISTER = 2 << 10, REGISTER_BITS = 512 };

/* Of all compilations of this process that go on now: they share its address space, whichever context they are for. */
static atomic_size_t promised;

static void reserve(cg *g, size_t bytes)
{
    size_t more = bytes > g->room ? bytes - g->room : 0;
    size_t all = atomic_fetch_add(&promised, more) + more;
    g->room += more;
    if (!address_space_has(all))
        longjmp(*g->failure, 1);
}

void cg_room_for_statements(cg *g)
{
    reserve(g, BASE + (size_t)g->k->stmt.n * PER_STATEMENT);
}

/* Pointers count as numbers of 64 bits. */
static uint64_t bits_of(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(t);
    case LLVMFloatTypeKind:
        return 32;
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(t) * bits_of(LLVMGetElementType(t));
    default:
        return 64;
    }
}

void cg_room_for_instructions(cg *g)
{
    uint64_t registers = 0;
    for (cg_ref f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (cg_ref i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                registers += 1 + bits_of(LLVMTypeOf(i)) / (REGISTER_BITS + 1);
    reserve(g, BASE + (size_t)registers * PER_REGISTER);
}

void cg_room_end(cg *g)
{
    atomic_fetch_sub(&promised, g->room);
    g->room = 0;
}
