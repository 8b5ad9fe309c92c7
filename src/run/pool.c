/* Blocks are rounded up to eight sizes per power of two, so at most an eighth is lost. The list of each size is threaded
 * through the blocks themselves, or beside them where blocks are not the host's memory. */
#include "run/pool.h"

#include <pthread.h>

enum { LEAST = 256, STEPS = 8, CLASSES = 64 * STEPS };

static const size_t most_bytes = (size_t)1 << 62; /* of a block: the size of the last class that is used */

typedef struct kept { /* in the block itself where the host reaches it */
    struct kept *next;
    void *block;
} kept;

struct run_pool {
    device *device;
    const base_heap *heap;
    pthread_mutex_t lock;
    size_t cap, bytes;
    run_pool_counts counts;
    kept *list[CLASSES];
};

run_pool *run_pool_new(device *d, const base_heap *heap, size_t cap)
{
    run_pool *pool = heap->alloc(heap->env, sizeof(*pool));
    if (!pool)
        return NULL;
    *pool = (run_pool){.device = d, .heap = heap, .cap = cap};
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

/* The size of a class: (8 + step) * 2^(exponent - 3), of exponents from 8 on. */
static size_t class_bytes(unsigned class)
{
    return (size_t)(STEPS + class % STEPS) << (class / STEPS - 3);
}

static unsigned class_of(size_t bytes)
{
    if (bytes < LEAST)
        bytes = LEAST;
    unsigned exponent = 63u - (unsigned)__builtin_clzll(bytes);
    unsigned class = exponent * STEPS + (unsigned)(bytes >> (exponent - 3)) % STEPS;
    return class_bytes(class) < bytes ? class + 1 : class;
}

/* NULL: no memory to keep it with. */
static kept *wrap(run_pool *pool, void *block)
{
    kept *k = pool->device->map(pool->device, block);
    if (!k)
        k = pool->heap->alloc(pool->heap->env, sizeof(*k));
    if (k)
        k->block = block;
    return k;
}

static void *unwrap(run_pool *pool, kept *k)
{
    void *block = k->block;
    if ((void *)k != block)
        pool->heap->release(pool->heap->env, k);
    return block;
}

/* Takes every kept block off; the caller releases them without the lock. */
void run_pool_flush(run_pool *pool)
{
    for (unsigned class = 0; class < CLASSES; class ++) {
        pthread_mutex_lock(&pool->lock);
        kept *list = pool->list[class];
        pool->list[class] = NULL;
        for (kept *k = list; k; k = k->next)
            pool->bytes -= class_bytes(class);
        pthread_mutex_unlock(&pool->lock);
        for (kept *next; list; list = next) {
            next = list->next;
            pool->device->release(pool->device, unwrap(pool, list), class_bytes(class));
        }
    }
}

void run_pool_free(run_pool *pool)
{
    if (!pool)
        return;
    run_pool_flush(pool);
    pthread_mutex_destroy(&pool->lock);
    pool->heap->release(pool->heap->env, pool);
}

/* With the lock held. */
static void count(run_pool *pool, size_t bytes, size_t granted, bool fresh)
{
    pool->counts.blocks++;
    pool->counts.block_bytes += bytes;
    pool->counts.allocations += fresh;
    pool->counts.allocated_bytes += fresh ? granted : 0;
}

size_t run_pool_size(size_t bytes)
{
    return bytes > most_bytes ? bytes : class_bytes(class_of(bytes));
}

void *run_pool_take(run_pool *pool, size_t bytes, size_t *granted)
{
    if (bytes > most_bytes)
        return NULL;
    unsigned class = class_of(bytes);
    *granted = class_bytes(class);
    pthread_mutex_lock(&pool->lock);
    kept *block = pool->list[class];
    if (block) {
        pool->list[class] = block->next;
        pool->bytes -= *granted;
    }
    count(pool, bytes, *granted, !block);
    pthread_mutex_unlock(&pool->lock);
    if (block)
        return unwrap(pool, block);
    void *fresh = pool->device->alloc(pool->device, *granted);
    if (fresh)
        return fresh;
    run_pool_flush(pool);
    return pool->device->alloc(pool->device, *granted);
}

void run_pool_give(run_pool *pool, void *block, size_t granted)
{
    if (!block)
        return;
    kept *k = wrap(pool, block);
    pthread_mutex_lock(&pool->lock);
    bool keep = k && granted <= pool->cap && pool->bytes <= pool->cap - granted;
    if (keep) {
        unsigned class = class_of(granted);
        k->next = pool->list[class];
        pool->list[class] = k;
        pool->bytes += granted;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        pool->device->release(pool->device, k ? unwrap(pool, k) : block, granted);
}

size_t run_pool_kept(run_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t bytes = pool->bytes;
    pthread_mutex_unlock(&pool->lock);
    return bytes;
}

run_pool_counts run_pool_counted(run_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    run_pool_counts counts = pool->counts;
    pthread_mutex_unlock(&pool->lock);
    return counts;
}
