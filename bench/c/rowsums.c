/* Sums along the rows of a matrix. Short rows: sixteen at a time through a tree of shuffles. Longer ones: several rows
 * at once. Few and long rows: the workers share the columns. */
#include "opponents.h"
#include "simd.h"

enum {
    STREAMS = 4, /* places that a worker reads at once */
    AHEAD = 512, /* bytes to prefetch */
    UNROLL = 4,
    STEP = UNROLL * LANES,
    BLOCK = 256 * STEP,
    LONG_ROW = 1 << 20, /* from here on the workers share the columns when there are fewer rows than 4 per worker */
    FEW_ROWS = 64,
};

struct partial {
    _Alignas(64) double sum[FEW_ROWS];
};

struct job {
    int64_t rows;
    int64_t columns;
    const float *x;
    float *sums;
    struct partial *partial; /* of each worker, when the columns are shared */
};

static double scalar_sum(const float *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum;
}

/* Adds to sums[s] the `n` elements at x + s * stride, for each of `streams` (a constant) places. */
static inline __attribute__((always_inline)) void add_streams(double *sums, const float *x, int64_t stride, int64_t n,
                                                              const int streams)
{
    int64_t whole = n / STEP * STEP;
    for (int64_t first = 0; first < whole; first += BLOCK) {
        int64_t last = whole - first < BLOCK ? whole : first + BLOCK;
        vf32 acc[STREAMS][UNROLL] = {0};
        for (int64_t i = first; i < last; i += STEP) {
#pragma GCC unroll 16
            for (int s = 0; s < streams; s++) {
#pragma GCC unroll 16
                for (int k = 0; k < UNROLL; k++) {
                    const float *at = x + s * stride + i + k * LANES;
                    v_prefetch(at, AHEAD);
                    acc[s][k] = v_add(acc[s][k], v_load(at));
                }
            }
        }
        for (int s = 0; s < streams; s++)
            sums[s] += (double)v_sum(v_add(v_add(acc[s][0], acc[s][1]), v_add(acc[s][2], acc[s][3])));
    }
    for (int s = 0; s < streams; s++)
        sums[s] += scalar_sum(x + s * stride + whole, n - whole);
}

/* Whole rows: STREAMS places of the worker's part at once, `rows / STREAMS` rows apart. */
static void whole_rows(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->rows, 1, id, workers);
    int64_t apart = (mine.last - mine.first) / STREAMS;
    for (int64_t r = mine.first; r < mine.first + apart; r++) {
        double sums[STREAMS] = {0};
        add_streams(sums, job->x + r * job->columns, apart * job->columns, job->columns, STREAMS);
        for (int s = 0; s < STREAMS; s++)
            job->sums[r + s * apart] = (float)sums[s];
    }
    for (int64_t r = mine.first + STREAMS * apart; r < mine.last; r++) {
        double sum = 0;
        add_streams(&sum, job->x + r * job->columns, 0, job->columns, 1);
        job->sums[r] = (float)sum;
    }
}

/* Few long rows: each worker takes the same piece of every row. */
static void shared_rows(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->columns, STEP, id, workers);
    int64_t length = mine.last - mine.first;
    double *sums = job->partial[id].sum;
    const float *x = job->x + mine.first;
    int64_t r = 0;
    for (; r + STREAMS <= job->rows; r += STREAMS)
        add_streams(sums + r, x + r * job->columns, job->columns, length, STREAMS);
    for (; r < job->rows; r++)
        add_streams(sums + r, x + r * job->columns, 0, length, 1);
}

#if BENCH_AVX512

/* Sums of neighbouring pairs of the 32 elements of (a, b), in order. */
static inline vf32 pairs(vf32 a, vf32 b)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return v_add(_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b));
}

static inline vf32 sums_of_4(const float *x)
{
    return pairs(pairs(v_load(x), v_load(x + 16)), pairs(v_load(x + 32), v_load(x + 48)));
}

#else

static inline vf32 sums_of_4(const float *x)
{
    vf32 sums;
    for (int i = 0; i < LANES; i++)
        sums[i] = (x[4 * i] + x[4 * i + 1]) + (x[4 * i + 2] + x[4 * i + 3]);
    return sums;
}

#endif

static float sum_of_4(const float *x)
{
    return (x[0] + x[1]) + (x[2] + x[3]);
}

/* Rows of four elements, with `sums` a multiple of 64 bytes. */
static void rows_of_4(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->rows, STREAMS * LANES, id, workers);
    int64_t apart = (mine.last - mine.first) / STREAMS / LANES * LANES;
    for (int64_t r = mine.first; r < mine.first + apart; r += LANES) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            int64_t at = r + s * apart;
            v_stream(job->sums + at, sums_of_4(job->x + 4 * at));
        }
    }
    v_fence();
    for (int64_t r = mine.first + STREAMS * apart; r < mine.last; r++)
        job->sums[r] = sum_of_4(job->x + 4 * r);
}

static void sum_short_rows(struct team *team, struct job job)
{
    int64_t head = (int64_t)(-((uintptr_t)job.sums / sizeof *job.sums) % LANES);
    head = head < job.rows ? head : job.rows;
    for (int64_t r = 0; r < head; r++)
        job.sums[r] = sum_of_4(job.x + 4 * r);
    job.rows -= head;
    job.x += 4 * head;
    job.sums += head;
    team_run(team, rows_of_4, &job);
}

static void sum_long_rows(struct team *team, struct job job)
{
    struct partial partial[TEAM_MOST_WORKERS];
    job.partial = partial;
    memset(partial, 0, sizeof *partial * (size_t)team_workers(team));
    team_run(team, shared_rows, &job);
    for (int64_t r = 0; r < job.rows; r++) {
        double sum = 0;
        for (int id = 0; id < team_workers(team); id++)
            sum += partial[id].sum[r];
        job.sums[r] = (float)sum;
    }
}

void c_rowsums(struct team *team, int64_t rows, int64_t columns, const float *x, float *sums)
{
    struct job job = {rows, columns, x, sums, NULL};
    if (columns == 4)
        sum_short_rows(team, job);
    else if (columns >= LONG_ROW && rows <= FEW_ROWS && rows < 4 * team_workers(team))
        sum_long_rows(team, job);
    else
        team_run(team, whole_rows, &job);
}
