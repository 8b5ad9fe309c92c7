/* Survives what LLVM takes for the end of the process. */
#ifndef SN_EMIT_CPU_LLVM_GUARD_H
#define SN_EMIT_CPU_LLVM_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum guard_end {
    GUARD_DONE,
    GUARD_NO_MEMORY, /* an allocation failed inside LLVM */
    GUARD_FATAL      /* LLVM gave up; `said` has its message */
} guard_end;

#ifndef SN_NO_GUARD /* built without a compiler for C++ */
/* Calls work(env). After another end than GUARD_DONE LLVM was left in the middle: what it had allocated is lost, locks
 * may be held, and it must not be called any more in this process. longjmp may not leave `work`. */
guard_end guard_call(void (*work)(void *env), void *env, char *said, size_t room);

/* Once in a process, before the first guard_call. LLVM asks these handlers on any thread; on others than ours they do
 * what happens without. */
void guard_install(void);
#else
static inline guard_end guard_call(void (*work)(void *env), void *env, char *said, size_t room)
{
    (void)said;
    (void)room;
    work(env);
    return GUARD_DONE;
}
static inline void guard_install(void)
{
}
#endif

#ifdef __cplusplus
}
#endif

#endif
