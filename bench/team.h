/* A team of pinned threads for the hand-written opponents: a region starts in a tenth of a microsecond while the
 * workers still spin, and they sleep on a futex after that. */
#ifndef SINTER_BENCH_TEAM_H
#define SINTER_BENCH_TEAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { TEAM_MOST_WORKERS = 256 };

struct team;

/* One worker's share of a region. `id` is 0 (the caller) to workers - 1. */
typedef void team_fn(void *ctx, int id, int workers);

/* Creates a team of `workers` threads including the caller; 0 means one for each CPU the process may run on. NULL when
 * memory or threads run out. At most TEAM_MOST_WORKERS. Worker i is pinned to the i-th allowed CPU. */
struct team *team_new(int workers);
void team_free(struct team *team);

int team_workers(const struct team *team);

/* Pins the calling thread to the team's first CPU, and gives it back its former CPUs. Regions run between the two. They
 * stand outside the timed part, so that a side's pinning does not reach into the other side's runs. */
void team_enter(struct team *team);
void team_leave(struct team *team);

/* Runs fn(ctx, id, workers) on every worker and returns when all are done. One caller at a time, no nesting. */
void team_run(struct team *team, team_fn *fn, void *ctx);

/* Hands out tasks 0, 1, ... count - 1 to whoever asks first. A counter starts at zero; -1 when none is left. */
int64_t team_claim(atomic_int_fast64_t *next, int64_t count);

/* The part of [0, n) that belongs to worker `id`, its ends at multiples of `grain` (the last one at n). */
struct team_range {
    int64_t first;
    int64_t last;
};
struct team_range team_part(int64_t n, int64_t grain, int id, int workers);

#endif
