/* Pinned spin-then-futex pool. Workers watch a generation counter; the caller publishes a function, raises the counter, works itself, and
 * waits until the count of unfinished workers is zero. */
#define _GNU_SOURCE
#include "pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SPINS_BEFORE_SLEEP = 4000, /* about 50 to 150 us */
    CACHE_LINE = 64,
};

struct worker {
    struct pool *pool;
    pthread_t thread;
    int id;
};

struct pool {
    _Alignas(CACHE_LINE) _Atomic uint32_t generation;
    _Alignas(CACHE_LINE) atomic_int unfinished;
    _Alignas(CACHE_LINE) atomic_int sleepers;
    _Alignas(CACHE_LINE) pool_fn *fn; /* NULL asks the workers to end */
    void *ctx;
    struct worker *team; /* team[0] stands for the caller */
    int workers;
    int started;
    cpu_set_t allowed;
    cpu_set_t before;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
    syscall(SYS_futex, (uint32_t *)word, op, value, NULL, NULL, 0);
}

/* Pins the calling thread to the `index`-th allowed CPU, counted around when there are more threads than CPUs. */
static void pin(const cpu_set_t *allowed, int index)
{
    int left = index % CPU_COUNT(allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed) || left-- > 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static uint32_t await_generation(struct pool *pool, uint32_t seen)
{
    for (int spin = 0; spin < SPINS_BEFORE_SLEEP; spin++) {
        uint32_t now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen)
            return now;
        relax();
    }
    atomic_fetch_add(&pool->sleepers, 1);
    uint32_t now;
    while ((now = atomic_load(&pool->generation)) == seen)
        futex(&pool->generation, FUTEX_WAIT_PRIVATE, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
    return now;
}

static void *work(void *arg)
{
    struct worker *self = arg;
    struct pool *pool = self->pool;
    pin(&pool->allowed, self->id);
    uint32_t seen = 0;
    for (;;) {
        seen = await_generation(pool, seen);
        if (!pool->fn)
            return NULL;
        pool->fn(pool->ctx, self->id, pool->workers);
        atomic_fetch_sub_explicit(&pool->unfinished, 1, memory_order_release);
    }
}

static void publish(struct pool *pool, pool_fn *fn, void *ctx)
{
    pool->fn = fn;
    pool->ctx = ctx;
    atomic_store_explicit(&pool->unfinished, pool->started - 1, memory_order_relaxed);
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) > 0)
        futex(&pool->generation, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

struct pool *pool_new(int workers)
{
    struct pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    if (!pool)
        return NULL;
    *pool = (struct pool){.started = 1};
    sched_getaffinity(0, sizeof pool->allowed, &pool->allowed);
    pool->workers = workers > 0 ? workers : CPU_COUNT(&pool->allowed);
    if (pool->workers > POOL_MOST_WORKERS)
        pool->workers = POOL_MOST_WORKERS;
    pool->team = calloc((size_t)pool->workers, sizeof *pool->team);
    if (!pool->team) {
        free(pool);
        return NULL;
    }
    for (; pool->started < pool->workers; pool->started++) {
        struct worker *w = &pool->team[pool->started];
        *w = (struct worker){.pool = pool, .id = pool->started};
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            pool_free(pool);
            return NULL;
        }
    }
    return pool;
}

void pool_free(struct pool *pool)
{
    if (!pool)
        return;
    publish(pool, NULL, NULL);
    for (int id = 1; id < pool->started; id++)
        pthread_join(pool->team[id].thread, NULL);
    free(pool->team);
    free(pool);
}

int pool_workers(const struct pool *pool)
{
    return pool->workers;
}

void pool_enter(struct pool *pool)
{
    sched_getaffinity(0, sizeof pool->before, &pool->before);
    pin(&pool->allowed, 0);
}

void pool_leave(struct pool *pool)
{
    sched_setaffinity(0, sizeof pool->before, &pool->before);
}

void pool_run(struct pool *pool, pool_fn *fn, void *ctx)
{
    if (pool->workers == 1) {
        fn(ctx, 0, 1);
        return;
    }
    publish(pool, fn, ctx);
    fn(ctx, 0, pool->workers);
    while (atomic_load_explicit(&pool->unfinished, memory_order_acquire) > 0)
        relax();
}

int64_t pool_claim(atomic_int_fast64_t *next, int64_t count)
{
    int64_t task = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    return task < count ? task : -1;
}

struct pool_range pool_part(int64_t n, int64_t grain, int id, int workers)
{
    int64_t grains = n / grain;
    int64_t first = grains * id / workers * grain;
    int64_t last = id + 1 == workers ? n : grains * (id + 1) / workers * grain;
    return (struct pool_range){first, last};
}
