/* The one file in C++: memory that runs out in LLVM is an exception of its library, and LLVM itself, compiled without
 * exceptions, asks a handler that must not return. Leaving by an exception runs no destructor of LLVM's functions;
 * guard.h says what that means. */
#include "emit/cpu/llvm/guard.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <execinfo.h>
#include <llvm/InitializePasses.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TimeProfiler.h>
#include <new>

namespace {

struct fatal {};

struct guarded {
    char *said;
    size_t room;
};

/* NULL: this thread is not in guard_call. The usual model allocates when a thread first looks, and ends the process if
 * it cannot. */
__attribute__((tls_model("initial-exec"))) thread_local guarded *inside;

/* What a thread keeps for LLVM and for the library of C++ is allocated when the thread first looks at it, and the C
 * library ends the process if it cannot. So blocks of every size that this may take are allocated and freed before: the
 * C library keeps them for this thread, and gives one of them to it. False: there is no memory. */
bool open_thread()
{
    constexpr std::size_t step = 16, most = 1024;
    void *block[most / step];
    std::size_t n = 0;
    while (n < most / step && (block[n] = std::malloc((n + 1) * step - sizeof(void *))))
        n++;
    bool good = n == most / step;
    while (n)
        std::free(block[--n]);
    if (good) { /* the looks, of which the second one would not be taken if nothing asked for its answer */
        (void)llvm::getTimeTraceProfilerInstance();
        good = std::uncaught_exceptions() >= 0;
    }
    return good;
}

/* LLVM lists its passes under a lock when it first makes one of each. A compilation that got no memory there would keep
 * the lock for good, and all others would wait: now there is memory, and nobody else. */
void list_passes()
{
    llvm::PassRegistry &all = *llvm::PassRegistry::getPassRegistry();
    llvm::initializeCore(all);
    llvm::initializeAnalysis(all);
    llvm::initializeTransformUtils(all);
    llvm::initializeScalarOpts(all);
    llvm::initializeCodeGen(all);
    llvm::initializeGlobalISel(all);
    llvm::initializeTarget(all);
    /* not in these lists, but made by each compilation */
    llvm::initializeReplaceWithVeclibLegacyPass(all);
    llvm::initializeExpandVectorPredicationPass(all);
    llvm::initializeExpandReductionsPass(all);
    llvm::initializeRegAllocScoringPass(all);
}

void no_memory(void *, const char *, bool)
{
    throw std::bad_alloc();
}

/* LLVM ends the process when this returns. */
void give_up(void *, const char *reason, bool)
{
    if (!inside) {
        std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
        return;
    }
    std::snprintf(inside->said, inside->room, "%s", reason);
    throw fatal();
}

} // namespace

guard_end guard_call(void (*work)(void *env), void *env, char *said, size_t room)
{
    guarded own = {said, room};
    guard_end end = GUARD_DONE;
    if (!open_thread())
        return GUARD_NO_MEMORY;
    inside = &own;
    try {
        work(env);
    } catch (const std::bad_alloc &) {
        end = GUARD_NO_MEMORY;
    } catch (const fatal &) {
        end = GUARD_FATAL;
    }
    inside = nullptr;
    return end;
}

void guard_install()
{
    /* The C library loads what it needs to let exceptions pass (as pthread_once must) when it is first asked: now there
     * is memory. */
    void *frame;
    backtrace(&frame, 1);
    llvm::install_bad_alloc_error_handler(no_memory, nullptr);
    llvm::install_fatal_error_handler(give_up, nullptr);
    list_passes();
}
