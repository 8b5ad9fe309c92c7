/* The worker pool: jobs in a few slots, joined by compare-and-swap. Items are claimed in batches, from the front of what
 * is left of all, or of the part of them that belongs to a thread; when its own is done it takes others' from behind. */
#include "device/pool.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 16, MOST_WORKERS = 1023, MOST_PARTS = 64, SPIN_NANOSECONDS = 100000, LINE = 64 };
/* The state of a slot: free, or taken, or open with a count of the workers inside. */
enum { SLOT_TAKEN = 1u << 30, SLOT_OPEN = 1u << 29, SLOT_COUNT = SLOT_OPEN - 1 };

typedef struct {
    _Alignas(LINE) _Atomic uint64_t left; /* batches: 32 bits of the first one, and above them of the end */
    int64_t first, last;
} part; /* of the items of a job */

typedef struct {
    _Alignas(LINE) _Atomic uint32_t state;
    _Atomic uint32_t joined; /* participants so far, the caller included */
    uint32_t most, parts;
    int64_t batch;
    pool_body body;
    void *env;
    part part[MOST_PARTS];
} slot;

struct pool {
    slot slot[SLOTS];
    _Alignas(LINE) _Atomic uint32_t epoch; /* counts published jobs; workers sleep on it */
    _Atomic uint32_t sleepers, launches, begun;
    _Atomic bool stop;
    cpu_set_t allowed;
    unsigned home;    /* the core left to callers */
    unsigned workers;
    pthread_t *thread;
};

/* The one process-wide object of the library. */
static struct {
    pthread_mutex_t lock;
    pool *pool;
    unsigned users;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Between two steps whose order matters to another thread. Nothing here; a test that includes this file waits there. */
#ifndef POOL_BETWEEN
#define POOL_BETWEEN() ((void)0)
#endif

static void futex_wait(_Atomic uint32_t *word, uint32_t expected)
{
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, (uint32_t *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Spins while *word is `old`, for a while; the clock is read rarely. */
static bool changes_soon(_Atomic uint32_t *word, uint32_t old)
{
    int64_t end = 0;
    for (unsigned i = 0;; i++) {
        if (atomic_load_explicit(word, memory_order_acquire) != old)
            return true;
        relax();
        if (i % 64 != 63)
            continue;
        int64_t t = now();
        if (!end)
            end = t + SPIN_NANOSECONDS;
        else if (t > end)
            return false;
    }
}

/* --- working --- */

static uint64_t batches(uint64_t first, uint64_t end)
{
    return end << 32 | first;
}

static bool is_left(uint64_t left)
{
    return (uint32_t)left < left >> 32;
}

/* The number of a batch; below 0: there is none left. */
static int64_t claim(part *t, bool behind)
{
    uint64_t left = atomic_load_explicit(&t->left, memory_order_relaxed);
    while (is_left(left)) {
        uint64_t first = (uint32_t)left, end = left >> 32;
        uint64_t rest = behind ? batches(first, end - 1) : batches(first + 1, end);
        if (atomic_compare_exchange_weak_explicit(&t->left, &left, rest, memory_order_relaxed, memory_order_relaxed))
            return (int64_t)(behind ? end - 1 : first);
    }
    return -1;
}

static void work_on(slot *s, part *t, bool behind, unsigned worker)
{
    for (int64_t number; (number = claim(t, behind)) >= 0;) {
        int64_t from = t->first + number * s->batch, to = t->last - from < s->batch ? t->last : from + s->batch;
        s->body(s->env, worker, from, to);
    }
}

/* First the part number `own`, then what others have left of theirs. */
static void work(slot *s, unsigned worker, unsigned own)
{
    for (unsigned i = 0; i < s->parts; i++)
        work_on(s, &s->part[(own + i) % s->parts], i > 0, worker);
}

static bool has_items(slot *s)
{
    bool some = false;
    for (unsigned i = 0; i < s->parts && !some; i++)
        some = is_left(atomic_load_explicit(&s->part[i].left, memory_order_relaxed));
    return some;
}

static bool join(slot *s)
{
    uint32_t state = atomic_load_explicit(&s->state, memory_order_relaxed);
    while (state & SLOT_OPEN)
        if (atomic_compare_exchange_weak_explicit(&s->state, &state, state + 1, memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

static void leave(slot *s)
{
    uint32_t before = atomic_fetch_sub_explicit(&s->state, 1, memory_order_release);
    POOL_BETWEEN();
    if (!(before & SLOT_OPEN) && (before & SLOT_COUNT) == 1)
        futex_wake(&s->state, 1);
}

/* The worker of this number works on every open job that still wants someone; false if there was none. Where all may
 * take part each has the same part of every job. */
static bool look_for_work(pool *p, unsigned number)
{
    bool found = false;
    for (unsigned i = 0; i < SLOTS; i++) {
        slot *s = &p->slot[i];
        if (!join(s))
            continue;
        if (has_items(s)) {
            unsigned worker = atomic_fetch_add_explicit(&s->joined, 1, memory_order_relaxed);
            if (worker < s->most) {
                work(s, worker, s->most > p->workers ? number : worker);
                found = true;
            }
        }
        leave(s);
    }
    return found;
}

static void *worker_main(void *env)
{
    pool *p = env;
    const unsigned number = atomic_fetch_add(&p->begun, 1) + 1; /* the caller of a job is number 0 */
    while (true) {
        uint32_t seen = atomic_load(&p->epoch); /* first: what comes behind it keeps this worker awake */
        POOL_BETWEEN();
        if (atomic_load(&p->stop))
            return NULL;
        if (look_for_work(p, number) || changes_soon(&p->epoch, seen))
            continue;
        atomic_fetch_add(&p->sleepers, 1);
        POOL_BETWEEN();
        futex_wait(&p->epoch, seen); /* returns at once if a job came meanwhile, or the end */
        atomic_fetch_sub(&p->sleepers, 1);
    }
}

/* --- launching --- */

static slot *take_slot(pool *p)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        uint32_t free_state = 0;
        if (atomic_compare_exchange_strong(&p->slot[i].state, &free_state, SLOT_TAKEN))
            return &p->slot[i];
    }
    return NULL;
}

/* A caller that shares a core with a pinned worker would halve its speed: it moves to the core left free. The
 * scheduler does not do so by itself for milliseconds. */
static void step_aside(pool *p)
{
    unsigned cpu;
    cpu_set_t before, home;
    if (getcpu(&cpu, NULL) != 0 || cpu == p->home || !CPU_ISSET(cpu, &p->allowed) || sched_getaffinity(0, sizeof(before), &before) != 0 ||
        !CPU_ISSET(p->home, &before))
        return;
    CPU_ZERO(&home);
    CPU_SET(p->home, &home);
    if (sched_setaffinity(0, sizeof(home), &home) == 0)
        sched_setaffinity(0, sizeof(before), &before);
}

static void finish(slot *s)
{
    uint32_t state = atomic_fetch_and(&s->state, ~(uint32_t)SLOT_OPEN) & ~(uint32_t)SLOT_OPEN;
    while (state & SLOT_COUNT) {
        POOL_BETWEEN();
        if (!changes_soon(&s->state, state))
            futex_wait(&s->state, state);
        state = atomic_load_explicit(&s->state, memory_order_acquire);
    }
    atomic_store(&s->state, 0);
}

static void run(pool *p, unsigned threads, unsigned parts, int64_t first, int64_t last, int64_t batch, pool_body body,
                void *env)
{
    if (first >= last)
        return;
    int64_t items = last - first;
    if (batch <= items / INT32_MAX)
        batch = items / INT32_MAX + 1;
    slot *s = threads > 1 && items > batch && p->workers ? take_slot(p) : NULL;
    if (!s) {
        body(env, 0, first, last);
        return;
    }
    if (atomic_fetch_add(&p->launches, 1) == 0)
        step_aside(p);
    s->most = threads;
    s->batch = batch;
    s->body = body;
    s->env = env;
    s->parts = parts < MOST_PARTS ? parts : MOST_PARTS;
    for (unsigned i = 0; i < s->parts; i++) {
        part *t = &s->part[i];
        t->first = i ? s->part[i - 1].last : first;
        t->last = last - items / s->parts * (s->parts - 1 - i);
        uint64_t all = (uint64_t)((t->last - t->first + s->batch - 1) / s->batch);
        atomic_store_explicit(&t->left, batches(0, all), memory_order_relaxed);
    }
    atomic_store_explicit(&s->joined, 1, memory_order_relaxed);
    atomic_store(&s->state, SLOT_TAKEN | SLOT_OPEN);
    POOL_BETWEEN();
    atomic_fetch_add(&p->epoch, 1);
    POOL_BETWEEN();
    if (atomic_load(&p->sleepers))
        futex_wake(&p->epoch, threads - 1 < p->workers ? (int)threads - 1 : (int)p->workers);
    work(s, 0, 0);
    finish(s);
    atomic_fetch_sub(&p->launches, 1);
}

void pool_run(pool *p, unsigned threads, int64_t first, int64_t last, int64_t batch, pool_body body, void *env)
{
    run(p, threads, 1, first, last, batch, body, env);
}

void pool_run_parts(pool *p, unsigned threads, int64_t first, int64_t last, int64_t batch, pool_body body, void *env)
{
    const unsigned most = p->workers + 1;
    run(p, threads, threads < most ? threads : most, first, last, batch, body, env);
}

/* --- starting and stopping --- */

static bool start_worker(pool *p, unsigned i, unsigned cpu)
{
    cpu_set_t set;
    if (pthread_create(&p->thread[i], NULL, worker_main, p) != 0)
        return false;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(p->thread[i], sizeof(set), &set); /* only speed depends on it */
    return true;
}

static void start_workers(pool *p)
{
    bool first = true;
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && p->workers < MOST_WORKERS; cpu++) {
        if (!CPU_ISSET(cpu, &p->allowed))
            continue;
        if (first) {
            p->home = cpu;
            first = false;
        } else if (start_worker(p, p->workers, cpu)) {
            p->workers++;
        }
    }
}

static void stop(pool *p)
{
    atomic_store(&p->stop, true);
    POOL_BETWEEN();
    atomic_fetch_add(&p->epoch, 1);
    futex_wake(&p->epoch, MOST_WORKERS);
    for (unsigned i = 0; i < p->workers; i++)
        pthread_join(p->thread[i], NULL);
    free(p->thread);
    free(p);
}

static pool *start(void)
{
    pool *p = aligned_alloc(LINE, (sizeof(*p) + LINE - 1) / LINE * LINE);
    if (!p)
        return NULL;
    memset(p, 0, sizeof(*p));
    if (sched_getaffinity(0, sizeof(p->allowed), &p->allowed) != 0)
        CPU_SET(0, &p->allowed);
    p->thread = calloc(MOST_WORKERS, sizeof(*p->thread));
    if (!p->thread) {
        free(p);
        return NULL;
    }
    start_workers(p);
    return p;
}

pool *pool_acquire(void)
{
    pthread_mutex_lock(&shared.lock);
    if (!shared.pool)
        shared.pool = start();
    pool *p = shared.pool;
    if (p)
        shared.users++;
    pthread_mutex_unlock(&shared.lock);
    return p;
}

void pool_release(pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&shared.lock);
    bool last = --shared.users == 0;
    if (last)
        shared.pool = NULL;
    pthread_mutex_unlock(&shared.lock);
    if (last)
        stop(p);
}

unsigned pool_threads(const pool *p)
{
    return p->workers + 1;
}
