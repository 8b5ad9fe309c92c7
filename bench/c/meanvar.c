/* Mean and variance: the sum and the sum of squares from one reading of the input, at several places at once. */
#include "opponents.h"
#include "simd.h"

enum {
    STREAMS = 4, /* places that a worker reads at once */
    UNROLL = 2,
    STEP = UNROLL * LANES,
    BLOCK = 256 * STEP,
};

struct partial {
    _Alignas(64) double sum; /* a line for each worker */
    double squares;
};

struct job {
    int64_t n;
    const float *x;
    struct partial partial[TEAM_MOST_WORKERS];
};

/* Adds `count` elements (a multiple of STEP) at each of STREAMS places `stride` apart. */
static void block(struct partial *into, const float *x, int64_t stride, int64_t count)
{
    vf32 sum[STREAMS][UNROLL] = {0};
    vf32 squares[STREAMS][UNROLL] = {0};
    for (int64_t i = 0; i < count; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            const float *xs = x + i + s * stride;
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++) {
                vf32 v = v_load(xs + k * LANES);
                sum[s][k] = v_add(sum[s][k], v);
                squares[s][k] = v_fma(v, v, squares[s][k]);
            }
        }
    }
    vf32 total = v_set(0);
    vf32 total_squares = v_set(0);
    for (int s = 0; s < STREAMS; s++) {
        for (int k = 0; k < UNROLL; k++) {
            total = v_add(total, sum[s][k]);
            total_squares = v_add(total_squares, squares[s][k]);
        }
    }
    into->sum += (double)v_sum(total);
    into->squares += (double)v_sum(total_squares);
}

static void part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    struct partial mine_so_far = {0};
    for (int64_t done = 0; done < stride; done += BLOCK)
        block(&mine_so_far, job->x + mine.first + done, stride, stride - done < BLOCK ? stride - done : BLOCK);
    for (int64_t i = mine.first + STREAMS * stride; i < mine.last; i++) {
        double v = (double)job->x[i];
        mine_so_far.sum += v;
        mine_so_far.squares += v * v;
    }
    job->partial[id] = mine_so_far;
}

struct moments c_meanvar(struct team *team, int64_t n, const float *x)
{
    struct job job;
    job.n = n;
    job.x = x;
    team_run(team, part, &job);
    double sum = 0;
    double squares = 0;
    for (int id = 0; id < team_workers(team); id++) {
        sum += job.partial[id].sum;
        squares += job.partial[id].squares;
    }
    double mean = sum / (double)n;
    return (struct moments){(float)mean, (float)(squares / (double)n - mean * mean)};
}
