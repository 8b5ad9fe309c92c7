/* The opponents over bytes: dot product and row sums in i32, argmax. Several places of a worker's part at once. */
#include "opponents.h"
#include "simd.h"

enum {
    STREAMS = 4, /* places that a worker reads at once */
    BYTES = 64,
    STEP = 2 * BYTES,
    BLOCK = 128 * STEP,
};

struct best { /* a line for each worker */
    _Alignas(64) int64_t block;
    uint8_t value;
};

struct job {
    int64_t n; /* elements; rows of row sums */
    int64_t columns;
    const uint8_t *x;
    const uint8_t *y;
    int32_t *sums;
    struct best best[TEAM_MOST_WORKERS];
    uint32_t dot[TEAM_MOST_WORKERS][16]; /* the first of each */
};

/* Sums of bytes, of products of bytes and greatest bytes of BYTES elements, lane by lane. */
#if BENCH_AVX512

typedef __m512i vu8;

static inline vu8 u_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline vu8 u_max(vu8 a, vu8 b)
{
    return _mm512_max_epu8(a, b);
}

static inline vu8 u_set(uint8_t v)
{
    return _mm512_set1_epi8((char)v);
}

static inline __m512i u_multiply_add(__m512i acc, const uint8_t *x, const uint8_t *y)
{
    __m512i a = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)x));
    __m512i b = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)y));
#ifdef __AVX512VNNI__
    return _mm512_dpwssd_epi32(acc, a, b);
#else
    return _mm512_add_epi32(acc, _mm512_madd_epi16(a, b));
#endif
}

/* modulo 2^32 */
static uint32_t dot_of(const uint8_t *x, const uint8_t *y, int64_t stride, int64_t n)
{
    __m512i acc[STREAMS][2] = {0};
    for (int64_t i = 0; i < n; i += BYTES) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            int64_t at = i + s * stride;
            acc[s][0] = u_multiply_add(acc[s][0], x + at, y + at);
            acc[s][1] = u_multiply_add(acc[s][1], x + at + BYTES / 2, y + at + BYTES / 2);
        }
    }
    __m512i total = _mm512_setzero_si512();
    for (int s = 0; s < STREAMS; s++)
        total = _mm512_add_epi32(total, _mm512_add_epi32(acc[s][0], acc[s][1]));
    return (uint32_t)_mm512_reduce_add_epi32(total);
}

/* of n elements at each of `streams` places, n a multiple of BYTES */
static inline __attribute__((always_inline)) void sums_of(uint64_t *sums, const uint8_t *x, int64_t stride, int64_t n,
                                                          const int streams)
{
    __m512i acc[STREAMS] = {0};
    for (int64_t i = 0; i < n; i += BYTES) {
#pragma GCC unroll 16
        for (int s = 0; s < streams; s++) {
            v_prefetch(x + s * stride + i, 512);
            acc[s] = _mm512_add_epi64(acc[s], _mm512_sad_epu8(u_load(x + s * stride + i), _mm512_setzero_si512()));
        }
    }
    for (int s = 0; s < streams; s++)
        sums[s] = (uint64_t)_mm512_reduce_add_epi64(acc[s]);
}

#else

typedef uint8_t vu8 __attribute__((vector_size(BYTES)));

static inline vu8 u_load(const uint8_t *p)
{
    vu8 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline vu8 u_max(vu8 a, vu8 b)
{
    vu8 wins = (vu8)(a > b);
    return (a & wins) | (b & ~wins);
}

static inline vu8 u_set(uint8_t v)
{
    return (vu8){0} + v;
}

static uint32_t dot_of(const uint8_t *x, const uint8_t *y, int64_t stride, int64_t n)
{
    uint32_t sum = 0;
    for (int s = 0; s < STREAMS; s++)
        for (int64_t i = 0; i < n; i++)
            sum += (uint32_t)x[i + s * stride] * y[i + s * stride];
    return sum;
}

static inline void sums_of(uint64_t *sums, const uint8_t *x, int64_t stride, int64_t n, const int streams)
{
    for (int s = 0; s < streams; s++) {
        sums[s] = 0;
        for (int64_t i = 0; i < n; i++)
            sums[s] += x[s * stride + i];
    }
}

#endif

/* --- dot product --- */

static void dot_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    uint32_t sum = dot_of(job->x + mine.first, job->y + mine.first, stride, stride);
    for (int64_t i = mine.first + STREAMS * stride; i < mine.last; i++)
        sum += (uint32_t)job->x[i] * job->y[i];
    job->dot[id][0] = sum;
}

int32_t c_dot_u8(struct team *team, int64_t n, const uint8_t *x, const uint8_t *y)
{
    struct job job;
    job.n = n;
    job.x = x;
    job.y = y;
    team_run(team, dot_part, &job);
    uint32_t sum = 0;
    for (int id = 0; id < team_workers(team); id++)
        sum += job.dot[id][0];
    return (int32_t)sum;
}

/* --- argmax --- */

static uint8_t greatest(vu8 v)
{
    uint8_t lane[BYTES], most = 0;
    memcpy(lane, &v, sizeof lane);
    for (int i = 0; i < BYTES; i++)
        most = lane[i] > most ? lane[i] : most;
    return most;
}

static void argmax_block(struct best best[STREAMS], const uint8_t *x, int64_t at, int64_t stride, int64_t count)
{
    vu8 most[STREAMS][2];
    for (int s = 0; s < STREAMS; s++)
        most[s][0] = most[s][1] = u_set(0);
    for (int64_t i = at; i < at + count; i += STEP) {
#pragma GCC unroll 16
        for (int s = 0; s < STREAMS; s++) {
            most[s][0] = u_max(most[s][0], u_load(x + i + s * stride));
            most[s][1] = u_max(most[s][1], u_load(x + i + s * stride + BYTES));
        }
    }
    for (int s = 0; s < STREAMS; s++) {
        uint8_t value = greatest(u_max(most[s][0], most[s][1]));
        if (value > best[s].value)
            best[s] = (struct best){at + s * stride, value};
    }
}

static void argmax_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, STREAMS * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / STREAMS / STEP * STEP;
    struct best best[STREAMS];
    for (int s = 0; s < STREAMS; s++)
        best[s] = (struct best){mine.first + s * stride, 0};
    for (int64_t done = 0; done < stride; done += BLOCK)
        argmax_block(best, job->x, mine.first + done, stride, stride - done < BLOCK ? stride - done : BLOCK);
    for (int s = 1; s < STREAMS; s++)
        if (best[s].value > best[0].value)
            best[0] = best[s];
    for (int64_t i = mine.first + STREAMS * stride; i < mine.last; i++)
        if (job->x[i] > best[0].value)
            best[0] = (struct best){i, job->x[i]};
    job->best[id] = best[0];
}

struct peak_u8 c_argmax_u8(struct team *team, int64_t n, const uint8_t *x)
{
    struct job job;
    job.n = n;
    job.x = x;
    team_run(team, argmax_part, &job);
    struct best best = job.best[0];
    for (int id = 1; id < team_workers(team); id++)
        if (job.best[id].value > best.value)
            best = job.best[id];
    int64_t i = best.value ? best.block : 0;
    while (x[i] != best.value)
        i++;
    return (struct peak_u8){best.value, (int32_t)i};
}

/* --- row sums --- */

static int32_t finished(uint64_t sum, const uint8_t *rest, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sum += rest[i];
    return (int32_t)(uint32_t)sum;
}

static void rows_part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, 1, id, workers);
    int64_t apart = (mine.last - mine.first) / STREAMS, whole = job->columns / BYTES * BYTES;
    int64_t left = job->columns - whole;
    uint64_t sums[STREAMS];
    for (int64_t r = mine.first; r < mine.first + apart; r++) {
        const uint8_t *x = job->x + r * job->columns;
        sums_of(sums, x, apart * job->columns, whole, STREAMS);
        for (int s = 0; s < STREAMS; s++)
            job->sums[r + s * apart] = finished(sums[s], x + s * apart * job->columns + whole, left);
    }
    for (int64_t r = mine.first + STREAMS * apart; r < mine.last; r++) {
        const uint8_t *x = job->x + r * job->columns;
        sums_of(sums, x, 0, whole, 1);
        job->sums[r] = finished(sums[0], x + whole, left);
    }
}

void c_rowsums_u8(struct team *team, int64_t rows, int64_t columns, const uint8_t *x, int32_t *sums)
{
    struct job job;
    job.n = rows;
    job.columns = columns;
    job.x = x;
    job.sums = sums;
    team_run(team, rows_part, &job);
}
