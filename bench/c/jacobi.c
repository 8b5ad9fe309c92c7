/* Steps of Jacobi's: the mean of five neighbours, clamped at the edges. Several steps are one sweep over memory: each
 * works on what the step before has left in rows in the second cache, some rows at a time, one row behind it. */
#include "opponents.h"
#include "simd.h"

#include <stdlib.h>

enum {
    AT_ONCE = 5, /* steps a sweep */
    ROWS = 4,    /* of a step at a time */
    RING = 8,    /* rows that a step keeps: two more than ROWS, a power of two */
};

struct job {
    int64_t height;
    int64_t width;
    int steps; /* of this sweep, 1 to AT_ONCE */
    const float *from;
    float *to;
    float *rows; /* per worker: RING rows of each step but the last */
};

static float mean(float middle, float above, float below, float left, float right)
{
    return (middle + above + below + left + right) * 0.2F;
}

static inline void row_from(int64_t width, const float *above, const float *middle, const float *below, float *to)
{
    const vf32 fifth = v_set(0.2F);
    int64_t last = width - 1, x = 1;
    to[0] = mean(middle[0], above[0], below[0], middle[0], middle[last > 0]);
    for (; x + LANES <= last; x += LANES) {
        vf32 sum = v_add(v_load(middle + x), v_load(above + x));
        sum = v_add(v_add(sum, v_load(below + x)), v_load(middle + x - 1));
        sum = v_mul(v_add(sum, v_load(middle + x + 1)), fifth);
        memcpy(to + x, &sum, VECTOR_BYTES);
    }
    for (; x < last; x++)
        to[x] = mean(middle[x], above[x], below[x], middle[x - 1], middle[x + 1]);
    if (last > 0)
        to[last] = mean(middle[last], above[last], below[last], middle[last - 1], middle[last]);
}

#if BENCH_AVX512
/* Four rows at once, each vector of the six that they need loaded once; the neighbours beside come from registers.
 * Widths are multiples of LANES. */
static inline void four_rows(int64_t width, const float *const from[ROWS + 2], float *const to[ROWS])
{
    const vf32 fifth = v_set(0.2F);
    vf32 before[ROWS], here[ROWS + 2];
    for (int r = 0; r < ROWS; r++)
        before[r] = v_set(from[r + 1][0]);
    for (int r = 0; r < ROWS + 2; r++)
        here[r] = v_load(from[r]);
    for (int64_t x = 0; x < width; x += LANES) {
        vf32 next[ROWS + 2];
        for (int r = 0; r < ROWS + 2; r++)
            next[r] = x + LANES < width ? v_load(from[r] + x + LANES) : v_set(from[r][width - 1]);
        for (int r = 0; r < ROWS; r++) {
            __m512i b = _mm512_castps_si512(before[r]), h = _mm512_castps_si512(here[r + 1]),
                    n = _mm512_castps_si512(next[r + 1]);
            vf32 left = _mm512_castsi512_ps(_mm512_alignr_epi32(h, b, LANES - 1)),
                 right = _mm512_castsi512_ps(_mm512_alignr_epi32(n, h, 1));
            vf32 sum = v_add(v_add(v_add(here[r + 1], here[r]), here[r + 2]), left);
            sum = v_mul(v_add(sum, right), fifth);
            memcpy(to[r] + x, &sum, VECTOR_BYTES);
        }
        for (int r = 0; r < ROWS; r++)
            before[r] = here[r + 1];
        for (int r = 0; r < ROWS + 2; r++)
            here[r] = next[r];
    }
}
#else
static inline void four_rows(int64_t width, const float *const from[ROWS + 2], float *const to[ROWS])
{
    for (int r = 0; r < ROWS; r++)
        row_from(width, from[r], from[r + 1], from[r + 2], to[r]);
}
#endif

static float *row_of(const struct job *job, float *rows, int step, int64_t y)
{
    y = y < 0 ? 0 : y < job->height ? y : job->height - 1;
    if (step == 0)
        return (float *)(uintptr_t)job->from + y * job->width;
    if (step == job->steps)
        return job->to + y * job->width;
    return rows + ((step - 1) * RING + (y & (RING - 1))) * job->width;
}

static void band(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    float *rows = job->rows + (int64_t)id * AT_ONCE * RING * job->width;
    const struct team_range part = team_part(job->height, 1, id, workers);
    int64_t done[AT_ONCE + 1], end[AT_ONCE + 1]; /* per step: rows up to here are there; it ends there */
    if (part.first >= part.last)
        return;
    for (int t = 1; t <= job->steps; t++) {
        int64_t reach = job->steps - t;
        done[t] = part.first - reach > 0 ? part.first - reach : 0;
        end[t] = part.last + reach < job->height ? part.last + reach : job->height;
    }
    while (done[job->steps] < end[job->steps]) {
        for (int t = 1; t <= job->steps; t++) {
            int64_t most = t == 1 ? done[1] + ROWS : done[t - 1] < job->height ? done[t - 1] - 1 : job->height;
            if (t > 1 && most > done[t] + ROWS) /* so that the rows before are there still */
                most = done[t] + ROWS;
            most = most < end[t] ? most : end[t];
            int64_t y = done[t];
            for (; y + ROWS <= most && job->width % LANES == 0; y += ROWS) {
                const float *from[ROWS + 2];
                float *to[ROWS];
                for (int r = 0; r < ROWS + 2; r++)
                    from[r] = row_of(job, rows, t - 1, y - 1 + r);
                for (int r = 0; r < ROWS; r++)
                    to[r] = row_of(job, rows, t, y + r);
                four_rows(job->width, from, to);
            }
            for (; y < most; y++)
                row_from(job->width, row_of(job, rows, t - 1, y - 1), row_of(job, rows, t - 1, y),
                         row_of(job, rows, t - 1, y + 1), row_of(job, rows, t, y));
            done[t] = most > done[t] ? most : done[t];
        }
    }
}

int c_jacobi(struct team *team, int64_t height, int64_t width, int steps, const float *x, float *spare, float *to)
{
    size_t bytes = (size_t)team_workers(team) * AT_ONCE * RING * (size_t)width * sizeof(float);
    struct job job = {.height = height, .width = width, .from = x};
    int sweeps = (steps + AT_ONCE - 1) / AT_ONCE;
    if (height * width == 0)
        return 1;
    job.rows = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!job.rows)
        return 0;
    for (int i = 0; i < sweeps; i++) {
        job.steps = (steps - i * AT_ONCE) < AT_ONCE ? steps - i * AT_ONCE : AT_ONCE;
        job.to = (sweeps - i) % 2 ? to : spare;
        team_run(team, band, &job);
        job.from = job.to;
    }
    free(job.rows);
    return 1;
}
