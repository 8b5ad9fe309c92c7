/* Pinned spin-then-futex team. Workers watch a generation counter; the caller publishes a function, raises the counter,
 * works itself, and waits until the count of unfinished workers is zero. */
#define _GNU_SOURCE
#include "team.h"

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
    struct team *team;
    pthread_t thread;
    int id;
};

struct team {
    _Alignas(CACHE_LINE) _Atomic uint32_t generation;
    _Alignas(CACHE_LINE) atomic_int unfinished;
    _Alignas(CACHE_LINE) atomic_int sleepers;
    _Alignas(CACHE_LINE) team_fn *fn; /* NULL asks the workers to end */
    void *ctx;
    struct worker *members; /* members[0] stands for the caller */
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

static uint32_t await_generation(struct team *team, uint32_t seen)
{
    for (int spin = 0; spin < SPINS_BEFORE_SLEEP; spin++) {
        uint32_t now = atomic_load_explicit(&team->generation, memory_order_acquire);
        if (now != seen)
            return now;
        relax();
    }
    atomic_fetch_add(&team->sleepers, 1);
    uint32_t now;
    while ((now = atomic_load(&team->generation)) == seen)
        futex(&team->generation, FUTEX_WAIT_PRIVATE, seen);
    atomic_fetch_sub(&team->sleepers, 1);
    return now;
}

static void *work(void *arg)
{
    struct worker *self = arg;
    struct team *team = self->team;
    pin(&team->allowed, self->id);
    uint32_t seen = 0;
    for (;;) {
        seen = await_generation(team, seen);
        if (!team->fn)
            return NULL;
        team->fn(team->ctx, self->id, team->workers);
        atomic_fetch_sub_explicit(&team->unfinished, 1, memory_order_release);
    }
}

static void publish(struct team *team, team_fn *fn, void *ctx)
{
    team->fn = fn;
    team->ctx = ctx;
    atomic_store_explicit(&team->unfinished, team->started - 1, memory_order_relaxed);
    atomic_fetch_add(&team->generation, 1);
    if (atomic_load(&team->sleepers) > 0)
        futex(&team->generation, FUTEX_WAKE_PRIVATE, INT32_MAX);
}

struct team *team_new(int workers)
{
    struct team *team = aligned_alloc(CACHE_LINE, sizeof *team);
    if (!team)
        return NULL;
    *team = (struct team){.started = 1};
    sched_getaffinity(0, sizeof team->allowed, &team->allowed);
    team->workers = workers > 0 ? workers : CPU_COUNT(&team->allowed);
    if (team->workers > TEAM_MOST_WORKERS)
        team->workers = TEAM_MOST_WORKERS;
    team->members = calloc((size_t)team->workers, sizeof *team->members);
    if (!team->members) {
        free(team);
        return NULL;
    }
    for (; team->started < team->workers; team->started++) {
        struct worker *w = &team->members[team->started];
        *w = (struct worker){.team = team, .id = team->started};
        if (pthread_create(&w->thread, NULL, work, w) != 0) {
            team_free(team);
            return NULL;
        }
    }
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    publish(team, NULL, NULL);
    for (int id = 1; id < team->started; id++)
        pthread_join(team->members[id].thread, NULL);
    free(team->members);
    free(team);
}

int team_workers(const struct team *team)
{
    return team->workers;
}

void team_enter(struct team *team)
{
    sched_getaffinity(0, sizeof team->before, &team->before);
    pin(&team->allowed, 0);
}

void team_leave(struct team *team)
{
    sched_setaffinity(0, sizeof team->before, &team->before);
}

void team_run(struct team *team, team_fn *fn, void *ctx)
{
    if (team->workers == 1) {
        fn(ctx, 0, 1);
        return;
    }
    publish(team, fn, ctx);
    fn(ctx, 0, team->workers);
    while (atomic_load_explicit(&team->unfinished, memory_order_acquire) > 0)
        relax();
}

int64_t team_claim(atomic_int_fast64_t *next, int64_t count)
{
    int64_t task = atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
    return task < count ? task : -1;
}

struct team_range team_part(int64_t n, int64_t grain, int id, int workers)
{
    int64_t grains = n / grain;
    int64_t first = grains * id / workers * grain;
    int64_t last = id + 1 == workers ? n : grains * (id + 1) / workers * grain;
    return (struct team_range){first, last};
}
