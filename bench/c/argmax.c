/* Argmax with ties to the left. The maximum of a block is cheap; only a block that beats the best so far is remembered,
 * and the index is looked up in the winning block at the end. */
#include "opponents.h"
#include "simd.h"

#include <math.h>

enum {
    STREAMS = 2, /* places that a worker reads at once */
    UNROLL = 4,
    STEP = UNROLL * LANES,
    BLOCK = 32 * STEP,
};

/* The greatest value seen and the first element of the block it was first seen in. */
struct best {
    _Alignas(64) float value; /* a line for each worker */
    int64_t block;
};

struct job {
    int64_t n;
    const float *x;
    struct best best[TEAM_MOST_WORKERS];
};

static float greatest(vf32 v)
{
    float lane[LANES];
    memcpy(lane, &v, sizeof lane);
    float most = -INFINITY;
    for (int i = 0; i < LANES; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
}

/* Takes the blocks of `count` elements (a multiple of STEP) at each of STREAMS places `stride` apart. */
static void block(struct best best[STREAMS], const float *x, int64_t at, int64_t stride, int64_t count)
{
    vf32 most[STREAMS][UNROLL];
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < UNROLL; k++)
            most[s][k] = v_set(best[s].value);
    for (int64_t i = at; i < at + count; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            const float *xs = x + i + s * stride;
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++) {
                most[s][k] = v_max(v_load(xs + k * LANES), most[s][k]);
            }
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        for (int k = 1; k < UNROLL; k++)
            most[s][0] = v_max(most[s][k], most[s][0]);
        if (v_any_greater(most[s][0], v_set(best[s].value)))
            best[s] = (struct best){greatest(most[s][0]), at + s * stride};
    }
}

static void part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    struct best best[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        best[s] = (struct best){-INFINITY, mine.first};
    for (int64_t done = 0; done < stride; done += BLOCK)
        block(best, job->x, mine.first + done, stride, stride - done < BLOCK ? stride - done : BLOCK);
    for (int s = 1; s < STREAMS; s++)
        if (best[s].value > best[0].value)
            best[0] = best[s];
    for (int64_t i = mine.first + STREAMS * stride; i < mine.last; i++)
        if (job->x[i] > best[0].value)
            best[0] = (struct best){job->x[i], i};
    job->best[id] = best[0];
}

struct peak c_argmax(struct team *team, int64_t n, const float *x)
{
    struct job job;
    job.n = n;
    job.x = x;
    team_run(team, part, &job);
    struct best best = job.best[0];
    for (int id = 1; id < team_workers(team); id++)
        if (job.best[id].value > best.value)
            best = job.best[id];
    if (best.value == -INFINITY)
        return (struct peak){x[0], 0};
    int64_t i = best.block;
    while (!(x[i] == best.value))
        i++;
    return (struct peak){best.value, (int32_t)i};
}
