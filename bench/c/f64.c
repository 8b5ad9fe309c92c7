/* The opponents that are bound by memory, in f64: several places of a worker's part at once, results past the cache. */
#include "opponents.h"
#include "simd64.h"

#include <math.h>

enum {
    STREAMS = 4, /* places that a worker reads at once */
    UNROLL = 2,
    STEP = UNROLL * WIDE_LANES,
    BLOCK = 256 * STEP,
};

struct job {
    int64_t n;       /* elements; of saxpy from the first aligned one of z on; rows of row sums */
    int64_t columns; /* of row sums */
    double a;
    const double *x;
    const double *y;
    double *z;
    struct partial *partial;
};

struct partial {
    _Alignas(64) double sum; /* a line for each worker */
    double squares;
    int64_t block;
};

/* The places of a worker's part: [first, first + stride), STREAMS times; the rest up to last is left for scalars. */
struct places {
    int64_t first;
    int64_t stride;
    int64_t rest;
    int64_t last;
};

static struct places places_of(int64_t n, int id, int workers)
{
    struct team_range mine = team_part(n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    return (struct places){mine.first, stride, mine.first + STREAMS * stride, mine.last};
}

/* --- saxpy --- */

static void scalar_saxpy(const struct job *job, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        job->z[i] = fma(job->a, job->x[i], job->y[i]);
}

static void saxpy_part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct places p = places_of(job->n, id, workers);
    const vf64 a = w_set(job->a);
    for (int64_t i = p.first; i < p.first + p.stride; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            int64_t at = i + s * p.stride;
#pragma GCC unroll 16
            for (int k = 0; k < STEP; k += WIDE_LANES)
                w_stream(job->z + at + k, w_fma(a, w_load(job->x + at + k), w_load(job->y + at + k)));
        }
    }
    v_fence();
    scalar_saxpy(job, p.rest, p.last);
}

void c_saxpy_f64(struct team *team, int64_t n, double a, const double *x, const double *y, double *z)
{
    int64_t head = (int64_t)(-((uintptr_t)z / sizeof *z) % WIDE_LANES);
    head = head < n ? head : n;
    struct job lead = {.a = a, .x = x, .y = y, .z = z};
    scalar_saxpy(&lead, 0, head);
    struct job job = {.n = n - head, .a = a, .x = x + head, .y = y + head, .z = z + head};
    team_run(team, saxpy_part, &job);
}

/* --- sums --- */

static void dot_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct places p = places_of(job->n, id, workers);
    vf64 acc[STREAMS][UNROLL] = {0};
    for (int64_t i = p.first; i < p.first + p.stride; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++) {
                int64_t at = i + s * p.stride + k * WIDE_LANES;
                acc[s][k] = w_fma(w_load(job->x + at), w_load(job->y + at), acc[s][k]);
            }
        }
    }
    double sum = 0;
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < UNROLL; k++)
            sum += w_sum(acc[s][k]);
    for (int64_t i = p.rest; i < p.last; i++)
        sum += job->x[i] * job->y[i];
    job->partial[id].sum = sum;
}

double c_dot_f64(struct team *team, int64_t n, const double *x, const double *y)
{
    struct partial partial[TEAM_MOST_WORKERS];
    struct job job = {.n = n, .x = x, .y = y, .partial = partial};
    team_run(team, dot_part, &job);
    double sum = 0;
    for (int id = 0; id < team_workers(team); id++)
        sum += partial[id].sum;
    return sum;
}

static void meanvar_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct places p = places_of(job->n, id, workers);
    vf64 sum[STREAMS][UNROLL] = {0}, squares[STREAMS][UNROLL] = {0};
    for (int64_t i = p.first; i < p.first + p.stride; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++) {
                vf64 v = w_load(job->x + i + s * p.stride + k * WIDE_LANES);
                sum[s][k] = w_add(sum[s][k], v);
                squares[s][k] = w_fma(v, v, squares[s][k]);
            }
        }
    }
    struct partial so_far = {0};
    for (int s = 0; s < STREAMS; s++) {
        for (int k = 0; k < UNROLL; k++) {
            so_far.sum += w_sum(sum[s][k]);
            so_far.squares += w_sum(squares[s][k]);
        }
    }
    for (int64_t i = p.rest; i < p.last; i++) {
        so_far.sum += job->x[i];
        so_far.squares += job->x[i] * job->x[i];
    }
    job->partial[id] = so_far;
}

struct moments_f64 c_meanvar_f64(struct team *team, int64_t n, const double *x)
{
    struct partial partial[TEAM_MOST_WORKERS];
    struct job job = {.n = n, .x = x, .partial = partial};
    team_run(team, meanvar_part, &job);
    double sum = 0;
    double squares = 0;
    for (int id = 0; id < team_workers(team); id++) {
        sum += partial[id].sum;
        squares += partial[id].squares;
    }
    double mean = sum / (double)n;
    return (struct moments_f64){mean, squares / (double)n - mean * mean};
}

/* --- argmax: the maximum of each block; the index is looked up in the winning one at the end --- */

static double greatest(vf64 v)
{
    double lane[WIDE_LANES];
    memcpy(lane, &v, sizeof lane);
    double most = -INFINITY;
    for (int i = 0; i < WIDE_LANES; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
}

static void argmax_block(struct partial best[STREAMS], const double *x, int64_t at, int64_t stride, int64_t count)
{
    vf64 most[STREAMS][UNROLL];
    for (int s = 0; s < STREAMS; s++)
        for (int k = 0; k < UNROLL; k++)
            most[s][k] = w_set(best[s].sum);
    for (int64_t i = at; i < at + count; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
#pragma GCC unroll 16
            for (int k = 0; k < UNROLL; k++)
                most[s][k] = w_max(w_load(x + i + s * stride + k * WIDE_LANES), most[s][k]);
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        double value = greatest(w_max(most[s][1], most[s][0]));
        if (value > best[s].sum)
            best[s] = (struct partial){.sum = value, .block = at + s * stride};
    }
}

static void argmax_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct places p = places_of(job->n, id, workers);
    struct partial best[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        best[s] = (struct partial){.sum = -INFINITY, .block = p.first};
    for (int64_t done = 0; done < p.stride; done += BLOCK)
        argmax_block(best, job->x, p.first + done, p.stride, p.stride - done < BLOCK ? p.stride - done : BLOCK);
    for (int s = 1; s < STREAMS; s++)
        if (best[s].sum > best[0].sum)
            best[0] = best[s];
    for (int64_t i = p.rest; i < p.last; i++)
        if (job->x[i] > best[0].sum)
            best[0] = (struct partial){.sum = job->x[i], .block = i};
    job->partial[id] = best[0];
}

struct peak_f64 c_argmax_f64(struct team *team, int64_t n, const double *x)
{
    struct partial partial[TEAM_MOST_WORKERS];
    struct job job = {.n = n, .x = x, .partial = partial};
    team_run(team, argmax_part, &job);
    struct partial best = partial[0];
    for (int id = 1; id < team_workers(team); id++)
        if (partial[id].sum > best.sum)
            best = partial[id];
    if (best.sum == -INFINITY)
        return (struct peak_f64){x[0], 0};
    int64_t i = best.block;
    while (!(x[i] == best.sum))
        i++;
    return (struct peak_f64){best.sum, (int32_t)i};
}

/* --- row sums: STREAMS rows of the worker's part at once --- */

/* Puts the sums of the `n` elements at x + s * stride into sums[s * apart], for each of `streams` (a constant). */
static inline __attribute__((always_inline)) void sum_rows(double *sums, int64_t apart, const double *x, int64_t stride,
                                                           int64_t n, const int streams)
{
    enum { DEEP = 4 };
    vf64 acc[STREAMS][DEEP] = {0};
    int64_t whole = n / (DEEP * WIDE_LANES) * (DEEP * WIDE_LANES);
    for (int64_t i = 0; i < whole; i += DEEP * WIDE_LANES) {
#pragma GCC unroll 16
        for (int s = 0; s < streams; s++) {
#pragma GCC unroll 16
            for (int k = 0; k < DEEP; k++) {
                const double *at = x + s * stride + i + k * WIDE_LANES;
                v_prefetch(at, 512);
                acc[s][k] = w_add(acc[s][k], w_load(at));
            }
        }
    }
    for (int s = 0; s < streams; s++) {
        double sum = w_sum(w_add(w_add(acc[s][0], acc[s][1]), w_add(acc[s][2], acc[s][3])));
        for (int64_t i = whole; i < n; i++)
            sum += x[s * stride + i];
        sums[s * apart] = sum;
    }
}

static void rows_part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, 1, id, workers);
    int64_t apart = (mine.last - mine.first) / STREAMS;
    for (int64_t r = mine.first; r < mine.first + apart; r++)
        sum_rows(job->z + r, apart, job->x + r * job->columns, apart * job->columns, job->columns, STREAMS);
    for (int64_t r = mine.first + STREAMS * apart; r < mine.last; r++)
        sum_rows(job->z + r, 1, job->x + r * job->columns, 0, job->columns, 1);
}

void c_rowsums_f64(struct team *team, int64_t rows, int64_t columns, const double *x, double *sums)
{
    struct job job = {.n = rows, .columns = columns, .x = x, .z = sums};
    team_run(team, rows_part, &job);
}
