/* Dot product. Each worker reads several places of its part at once, each into its own accumulators; the lanes are
 * added up block by block, which costs nothing and keeps the f32 sums short. */
#include "opponents.h"
#include "simd.h"

enum {
    STREAMS = 8, /* places that a worker reads at once */
    UNROLL = 2,
    STEP = UNROLL * LANES,
    BLOCK = 256 * STEP,
};

struct partial {
    _Alignas(64) double sum; /* a line for each worker */
};

struct job {
    int64_t n;
    const float *x;
    const float *y;
    struct partial partial[TEAM_MOST_WORKERS];
};

/* Sum over `count` elements (a multiple of STEP) at each of STREAMS places `stride` apart. */
static double block(const float *x, const float *y, int64_t stride, int64_t count)
{
    vf32 acc[STREAMS][UNROLL] = {0};
    for (int64_t i = 0; i < count; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            const float *xs = x + i + s * stride;
            const float *ys = y + i + s * stride;
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++) {
                acc[s][k] = v_fma(v_load(xs + k * LANES), v_load(ys + k * LANES), acc[s][k]);
            }
        }
    }
    vf32 total = v_set(0);
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < UNROLL; k++)
            total = v_add(total, acc[s][k]);
    return (double)v_sum(total);
}

static void part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    double sum = 0;
    for (int64_t done = 0; done < stride; done += BLOCK) {
        int64_t at = mine.first + done;
        sum += block(job->x + at, job->y + at, stride, stride - done < BLOCK ? stride - done : BLOCK);
    }
    for (int64_t i = mine.first + STREAMS * stride; i < mine.last; i++)
        sum += (double)job->x[i] * (double)job->y[i];
    job->partial[id].sum = sum;
}

float c_dot(struct team *team, int64_t n, const float *x, const float *y)
{
    struct job job;
    job.n = n;
    job.x = x;
    job.y = y;
    team_run(team, part, &job);
    double sum = 0;
    for (int id = 0; id < team_workers(team); id++)
        sum += job.partial[id].sum;
    return (float)sum;
}
