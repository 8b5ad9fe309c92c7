/* Device memory between calls: blocks that were given back are kept by size, up to a cap, and handed out again.
 * Thread-safe. */
#ifndef SN_RUN_POOL_H
#define SN_RUN_POOL_H

#include "device/device.h"

typedef struct run_pool run_pool;

run_pool *run_pool_new(device *d, const base_heap *heap, size_t cap); /* keeps at most cap bytes; NULL: no memory */
void run_pool_free(run_pool *pool); /* all blocks have been given back; NULL is ignored */

/* At least `bytes` (0 gives a block too), 64-byte aligned, contents undefined; *granted is to be given back with it.
 * NULL when there is no memory, even after everything kept was released. */
void *run_pool_take(run_pool *pool, size_t bytes, size_t *granted);
size_t run_pool_size(size_t bytes); /* what is granted for them */
void run_pool_flush(run_pool *pool); /* releases what is kept */
void run_pool_give(run_pool *pool, void *block, size_t granted); /* NULL is ignored */

typedef struct run_pool_counts { /* since the pool was made */
    uint64_t blocks, block_bytes;          /* taken, as many bytes as were asked for */
    uint64_t allocations, allocated_bytes; /* those that had to come from the device */
} run_pool_counts;
run_pool_counts run_pool_counted(run_pool *pool);
size_t run_pool_kept(run_pool *pool);                            /* bytes waiting to be handed out again */

#endif
