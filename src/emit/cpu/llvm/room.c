/* Memory for LLVM. It ends the process where it gets none, so it is not begun with what it has no room for.
 *
 * What it needs grows with the instructions it is given, each counted once for every 64 bytes of its result: 0.9 to 1.4
 * KiB for each in kernels of 10,000 to 500,000 (LLVM 19), beside some megabytes for the first. */
#include "base/address_space.h"
#include "emit/cpu/llvm/cg.h"
#include <pthread.h>

/* BASE is what the first module of a compilation takes besides, AGAIN what each later one does. */
enum { BASE = 16 << 20, AGAIN = 4 << 20, PER_STATEMENT = 2 << 10, PER_REGISTER = 2 << 10, REGISTER_BITS = 512 };

/* Of the compilations of this process that go on now: they share its address space, whichever context they are for. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    size_t promised;
    unsigned running;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* With the lock held. Who waits for others does not count as running: what it has allocated by then is taken already.
 */
static void stop_running(cg *g)
{
    if (!*g->room)
        return;
    all.promised -= *g->room;
    all.running--;
    *g->room = 0;
    pthread_cond_broadcast(&all.freed);
}

/* Waits for others to end where there is no room beside them. */
static void reserve(cg *g, size_t bytes)
{
    pthread_mutex_lock(&all.lock);
    stop_running(g);
    bool fits = address_space_has(all.promised + bytes);
    while (!fits && all.running) {
        pthread_cond_wait(&all.freed, &all.lock);
        fits = address_space_has(all.promised + bytes);
    }
    if (fits) {
        all.promised += bytes;
        all.running++;
        *g->room = bytes;
    }
    pthread_mutex_unlock(&all.lock);
    if (!fits)
        longjmp(*g->failure, 1);
}

void cg_room_to_begin(cg *g)
{
    reserve(g, BASE);
}

void cg_room_for_statements(cg *g)
{
    reserve(g, BASE + (size_t)g->at_once * PER_STATEMENT);
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
    uint64_t registers = 0, building = g->part ? (uint64_t)g->at_once * PER_STATEMENT : 0;
    for (cg_ref f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (cg_ref i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                registers += 1 + bits_of(LLVMTypeOf(i)) / (REGISTER_BITS + 1);
    uint64_t compiling = registers * PER_REGISTER; /* the part after this one is built with what is promised now */
    reserve(g, (g->objects.n ? AGAIN : BASE) + (size_t)(compiling > building ? compiling : building));
}

void cg_room_end(cg *g)
{
    pthread_mutex_lock(&all.lock);
    stop_running(g);
    pthread_mutex_unlock(&all.lock);
}
