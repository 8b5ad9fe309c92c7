/* saxpy into a third array. Each worker walks several places of its part at once and writes past the cache. */
#include "opponents.h"
#include "simd.h"

#include <math.h>

enum {
    STREAMS = 2, /* places that a worker reads at once */
    UNROLL = 4,
    STEP = UNROLL * LANES,
};

struct job {
    int64_t n; /* from the first aligned element of z on */
    float a;
    const float *x;
    const float *y;
    float *z;
};

static void scalar_saxpy(const struct job *job, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        job->z[i] = fmaf(job->a, job->x[i], job->y[i]);
}

static void part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    const vf32 a = v_set(job->a);
    for (int64_t i = mine.first; i < mine.first + stride; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            int64_t at = i + s * stride;
#pragma GCC unroll 16
            for (int k = 0; k < STEP; k += LANES)
                v_stream(job->z + at + k, v_fma(a, v_load(job->x + at + k), v_load(job->y + at + k)));
        }
    }
    v_fence();
    scalar_saxpy(job, mine.first + STREAMS * stride, mine.last);
}

void c_saxpy(struct team *team, int64_t n, float a, const float *x, const float *y, float *z)
{
    int64_t head = (int64_t)(-((uintptr_t)z / sizeof *z) % LANES);
    head = head < n ? head : n;
    struct job job = {n - head, a, x + head, y + head, z + head};
    struct job lead = {head, a, x, y, z};
    scalar_saxpy(&lead, 0, head);
    team_run(team, part, &job);
}
