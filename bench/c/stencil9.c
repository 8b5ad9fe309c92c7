/* A weighted sum over 9 x 9 neighbours, clamped at the edges. Blocks of four rows and three vectors are summed up in
 * registers: each vector of the picture is loaded once for all rows that need it, each weight once for three vectors.
 */
#include "opponents.h"
#include "simd.h"

enum {
    REACH = STENCIL9_SIDE / 2,
    ROWS = 4,
    VECTORS = 3,
    BLOCK = VECTORS * LANES,
    BAND = 32, /* rows of a task; a multiple of ROWS */
};

/* Stays in its register: compilers would load it again for each row, and loads are what is short. */
#if BENCH_AVX512
#define KEEP(v) __asm__("" : "+v"(v))
#else
#define KEEP(v) (void)(v)
#endif

struct job {
    int64_t height;
    int64_t width;
    const float *weight;
    const float *x;
    float *sums;
    atomic_int_fast64_t next;
};

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static void scalar(const struct job *job, int64_t y, int64_t first, int64_t last)
{
    for (int64_t x = first; x < last; x++) {
        float sum = 0;
        for (int dy = -REACH; dy <= REACH; dy++)
            for (int dx = -REACH; dx <= REACH; dx++)
                sum += job->weight[(dy + REACH) * STENCIL9_SIDE + dx + REACH] *
                       job->x[clamp(y + dy, job->height) * job->width + clamp(x + dx, job->width)];
        job->sums[y * job->width + x] = sum;
    }
}

/* Columns x to x + BLOCK - 1 of rows y to y + ROWS - 1; none of them reads beyond the left or right edge. */
static inline void block(const struct job *job, const float *const *row, int64_t y, int64_t x)
{
    vf32 sum[ROWS][VECTORS];
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = v_set(0);
#pragma GCC unroll 12
    for (int k = 0; k < STENCIL9_SIDE + ROWS - 1; k++) {
#pragma GCC unroll 1
        for (int dx = 0; dx < STENCIL9_SIDE; dx++) {
            vf32 in[VECTORS];
            for (int v = 0; v < VECTORS; v++) {
                in[v] = v_load(row[k] + x + dx - REACH + v * LANES);
                KEEP(in[v]);
            }
#pragma GCC unroll 4
            for (int r = 0; r < ROWS; r++) {
                if (k < r || k - r >= STENCIL9_SIDE)
                    continue;
                vf32 weight = v_set(job->weight[(k - r) * STENCIL9_SIDE + dx]);
                for (int v = 0; v < VECTORS; v++)
                    sum[r][v] = v_fma(weight, in[v], sum[r][v]);
            }
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int v = 0; v < VECTORS; v++)
            memcpy(job->sums + (y + r) * job->width + x + v * LANES, &sum[r][v], VECTOR_BYTES);
}

static void rows_from(const struct job *job, int64_t y)
{
    const float *row[STENCIL9_SIDE + ROWS - 1];
    int64_t last = job->width - REACH;
    for (int k = 0; k < STENCIL9_SIDE + ROWS - 1; k++)
        row[k] = job->x + clamp(y + k - REACH, job->height) * job->width;
    for (int64_t x = REACH; x + BLOCK <= last; x += BLOCK)
        block(job, row, y, x);
    block(job, row, y, last - BLOCK); /* once more what the last whole block had of these columns */
    for (int r = 0; r < ROWS; r++) {
        scalar(job, y + r, 0, REACH);
        scalar(job, y + r, last, job->width);
    }
}

static void bands(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct job *job = ctx;
    int64_t task;
    while ((task = team_claim(&job->next, (job->height + BAND - 1) / BAND)) >= 0) {
        int64_t first = task * BAND, last = first + BAND < job->height ? first + BAND : job->height;
        int narrow = job->width < BLOCK + 2 * REACH;
        int64_t y = first;
        for (; !narrow && y + ROWS <= last; y += ROWS)
            rows_from(job, y);
        for (; y < last; y++)
            scalar(job, y, 0, job->width);
    }
}

void c_stencil9(struct team *team, int64_t height, int64_t width, const float *weight, const float *x, float *sums)
{
    struct job job = {.height = height, .width = width, .weight = weight, .x = x, .sums = sums};
    team_run(team, bands, &job);
}
