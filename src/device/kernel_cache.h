/* Compiled kernels of a device in memory, by content: what all devices share of compiling. Thread-safe; two threads
 * that ask for one kernel obtain it once. Of kernels that no program uses any more the latest few hundred are kept. */
#ifndef SN_DEVICE_KERNEL_CACHE_H
#define SN_DEVICE_KERNEL_CACHE_H

#include "device/device.h"
#include "emit/emit.h"
#include <pthread.h>

typedef enum { KERNEL_COMPILING, KERNEL_READY, KERNEL_FAILED } kernel_state;

typedef struct kernel_entry {           /* what a device's device_kernel begins with */
    struct kernel_entry *next;          /* of its bucket */
    struct kernel_entry *older, *newer; /* among those that only the cache refers to */
    char *key;
    size_t key_bytes;
    uint64_t hash;
    kernel_state state;
    unsigned users; /* references, the cache's own included */
    bool loaded;    /* set by `obtain`: its code was found on disk */
    bool draft;     /* it may be a draft; set to false by `obtain`: it is none */
    char *why;      /* KERNEL_FAILED; NULL: for want of memory */
} kernel_entry;

typedef struct kernel_supply { /* code that somebody has brought along */
    struct kernel_supply *next;
    uint64_t hash;
    const void *key; /* k_key */
    size_t key_bytes;
    const void *code;
    size_t code_bytes, entry;
} kernel_supply;

typedef struct kernel_cache {
    /* Fills the zeroed rest of an entry with the code of a kernel, from disk or newly made; `key`: k_key of it. False
     * and *why (in `a`, or as long-lived as the device; NULL: no memory) if that fails; what it had filled in goes
     * through discard. `a` is its own and fails by longjmp, which counts as failing. */
    bool (*obtain)(device *d, const kernel *k, const text *key, kernel_entry *e, arena *a, const char **why);
    void (*discard)(device *d, kernel_entry *e); /* gives up what obtain made, but not the entry itself */
    device *owner;
    const base_heap *heap; /* of obtain's arena */
    size_t entry_bytes;
    bool drafts; /* of the owner's code there are drafts */
    /* private: */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t finished;
    kernel_entry **bucket; /* NULL until there is one */
    size_t buckets, entries, unused;
    kernel_entry *oldest, *newest;
    uint64_t compiled, made_from_disk;
    kernel_supply *supplies; /* the latest first; immutable but for new ones */
} kernel_cache;

void kernel_cache_open(kernel_cache *c); /* the first six are set; device_compile(owner, ...) finds it */
void kernel_cache_close(kernel_cache *c);
/* Brings code along, which stays where it is as long as the cache, for `obtain` to find; false: no memory. */
bool kernel_cache_supply(kernel_cache *c, const kernel_supply *code);
const kernel_supply *kernel_cache_supplied(kernel_cache *c, const text *key); /* NULL: there is none */

/* A copy in `a` after the optimiser and the passes that emitters need (KERNEL and DEVICE of base/passes.def); names
 * stay the original's. Private memory is laid out gang by gang, so threads are rounded up to whole gangs. `last`: after
 * the pass of this name, for explain; NULL: after all. */
kernel *kernel_prepare(arena *a, const kernel *k, const char *last);
/* The same for emit_text and blocks of at least `group` threads: exchanges that cannot be are taken apart and loops
 * tiled where there is room (k_split), private memory is the threads' own, arrays in shared memory begin where banks
 * begin. NULL and *why if they take more than `shared` bytes. */
kernel *kernel_prepare_text(arena *a, const kernel *k, const dialect *d, uint32_t group, size_t shared,
                            const char *last, const char **why);

#endif
