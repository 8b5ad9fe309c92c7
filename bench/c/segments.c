/* Sums of segments, and a sparse matrix times a vector. Workers share elements and segments evenly: each begins where
 * as many lie before it, in the midst of a segment if need be, whose parts are added at the end. Sixteen segments of
 * one length are sums of neighbouring pairs, over and over; others are added by vectors whose last one is masked. */
#include "opponents.h"
#include "simd.h"

enum { SHORT = 64 };

struct segsum_job {
    int64_t segments, n;
    const int64_t *offsets;
    const float *x;
    float *sums;
    const int32_t *column; /* of a matrix: which element of `vector` an element is multiplied by */
    const float *vector;
    struct {
        _Alignas(64) int64_t segment; /* that the worker began in the midst of, or -1 */
        double sum;
    } part[TEAM_MOST_WORKERS];
};

/* The first segment that has as many elements and segments before it. */
static int64_t search(const struct segsum_job *job, int64_t work)
{
    int64_t low = 0, high = job->segments;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (job->offsets[middle] + middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#if BENCH_AVX512

#define INLINE static inline __attribute__((always_inline))

/* `matrix` is a constant wherever it is used: it says whether there are columns. */
INLINE vf32 elements(const struct segsum_job *job, int64_t at, const int matrix)
{
    vf32 x = v_load(job->x + at);
    if (!matrix)
        return x;
    __m512i index = _mm512_loadu_si512(job->column + at);
    return _mm512_mul_ps(x, _mm512_i32gather_ps(index, job->vector, 4));
}

INLINE vf32 some_elements(const struct segsum_job *job, int64_t at, int64_t count, const int matrix)
{
    __mmask16 there = (__mmask16)_bzhi_u32(0xFFFF, (unsigned)count);
    vf32 x = _mm512_maskz_loadu_ps(there, job->x + at);
    if (!matrix)
        return x;
    __m512i index = _mm512_maskz_loadu_epi32(there, job->column + at);
    return _mm512_mul_ps(x, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, index, job->vector, 4));
}

/* Long segments go to eight accumulators, which are added up at the end. */
INLINE float sum_of(const struct segsum_job *job, int64_t first, int64_t last, const int matrix)
{
    if (last - first <= 16)
        return _mm512_reduce_add_ps(some_elements(job, first, last - first, matrix));
    vf32 acc[8];
    int64_t at = first;
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        acc[k] = _mm512_setzero_ps();
    for (; at + 128 <= last; at += 128) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            acc[k] = v_add(acc[k], elements(job, at + 16 * k, matrix));
    }
    for (; at + 16 <= last; at += 16)
        acc[0] = v_add(acc[0], elements(job, at, matrix));
    acc[1] = v_add(acc[1], some_elements(job, at, last - at, matrix));
#pragma GCC unroll 8
    for (int n = 4; n; n /= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < n; k++)
            acc[k] = v_add(acc[k], acc[k + n]);
    }
    return _mm512_reduce_add_ps(acc[0]);
}

/* Sums of neighbouring pairs of the 32 elements of (a, b), in order. */
static inline vf32 pairs(vf32 a, vf32 b)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return v_add(_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b));
}

/* Sixteen sums of `length` neighbours each, a power of two up to 16. */
INLINE vf32 sums_of_power(const struct segsum_job *job, int64_t at, const int length, const int matrix)
{
    if (length == 1)
        return elements(job, at, matrix);
    if (length == 2)
        return pairs(elements(job, at, matrix), elements(job, at + 16, matrix));
    vf32 four[4];
#pragma GCC unroll 4
    for (int k = 0; k < length / 4; k++) {
        int64_t here = at + 64 * k;
        vf32 low = pairs(elements(job, here, matrix), elements(job, here + 16, matrix));
        four[k] = pairs(low, pairs(elements(job, here + 32, matrix), elements(job, here + 48, matrix)));
    }
    if (length == 4)
        return four[0];
    vf32 low = pairs(four[0], four[1]);
    return length == 8 ? low : pairs(low, pairs(four[2], four[3]));
}

/* Are sixteen segments of the length of the first? */
static inline int alike(const int64_t *offsets, int64_t length)
{
    __m512i all = _mm512_set1_epi64(length);
    __m512i low = _mm512_sub_epi64(_mm512_loadu_si512(offsets + 1), _mm512_loadu_si512(offsets));
    __m512i high = _mm512_sub_epi64(_mm512_loadu_si512(offsets + 9), _mm512_loadu_si512(offsets + 8));
    return (_mm512_cmpneq_epi64_mask(low, all) | _mm512_cmpneq_epi64_mask(high, all)) == 0;
}

INLINE int sixteen(const struct segsum_job *job, int64_t s, vf32 *sums, const int matrix)
{
    int64_t at = job->offsets[s], length = job->offsets[s + 1] - at;
    if (length < 1 || length > 16 || length & (length - 1) || !alike(job->offsets + s, length))
        return 0;
    switch (length) {
    case 1:
        *sums = sums_of_power(job, at, 1, matrix);
        break;
    case 2:
        *sums = sums_of_power(job, at, 2, matrix);
        break;
    case 4:
        *sums = sums_of_power(job, at, 4, matrix);
        break;
    case 8:
        *sums = sums_of_power(job, at, 8, matrix);
        break;
    default:
        *sums = sums_of_power(job, at, 16, matrix);
        break;
    }
    return 1;
}

#else

#define INLINE static inline

INLINE float sum_of(const struct segsum_job *job, int64_t first, int64_t last, const int matrix)
{
    float sum = 0;
    for (int64_t i = first; i < last; i++)
        sum += matrix ? job->x[i] * job->vector[job->column[i]] : job->x[i];
    return sum;
}

#endif

/* Long ones in blocks, so that errors stay small. */
INLINE double long_sum(const struct segsum_job *job, int64_t first, int64_t last, const int matrix)
{
    double sum = 0;
    for (int64_t at = first; at < last; at += 1 << 16)
        sum += (double)sum_of(job, at, last - at < 1 << 16 ? last : at + (1 << 16), matrix);
    return sum;
}

INLINE void sum_part(struct segsum_job *job, int id, int workers, const int matrix)
{
    struct team_range mine = team_part(job->n + job->segments, 1, id, workers);
    int64_t s = search(job, mine.first), end = search(job, mine.last);
    int64_t from = mine.first - s, to = mine.last - end; /* elements that are the worker's */
    const int64_t *offsets = job->offsets;
    if (mine.last == job->n + job->segments) {
        end = job->segments;
        to = job->n;
    }
    job->part[id].segment = -1;
    if (s > 0 && from < offsets[s]) {
        job->part[id].segment = s - 1;
        job->part[id].sum = long_sum(job, from, offsets[s] < to ? offsets[s] : to, matrix);
    }
    for (; s < end;) {
#if BENCH_AVX512
        vf32 sums;
        if (s + 17 <= end && sixteen(job, s, &sums, matrix)) {
            if ((uintptr_t)(job->sums + s) % 64 == 0)
                v_stream(job->sums + s, sums);
            else
                _mm512_storeu_ps(job->sums + s, sums);
            s += 16;
            continue;
        }
        /* up to a line of results */
        int64_t stop = s + 16 - (int64_t)((uintptr_t)(job->sums + s) / 4 % 16);
#else
        int64_t stop = s + 16;
#endif
        for (stop = stop < end ? stop : end; s < stop; s++) {
            int64_t last = offsets[s + 1] < to ? offsets[s + 1] : to;
            job->sums[s] = last - offsets[s] > 1 << 16 ? (float)long_sum(job, offsets[s], last, matrix)
                                                       : sum_of(job, offsets[s], last, matrix);
        }
    }
    v_fence();
}

static void sum_elements(void *ctx, int id, int workers)
{
    sum_part(ctx, id, workers, 0);
}

static void sum_products(void *ctx, int id, int workers)
{
    sum_part(ctx, id, workers, 1);
}

static void sum_all(struct team *team, struct segsum_job *job)
{
    team_run(team, job->column ? sum_products : sum_elements, job);
    for (int id = 0; id < team_workers(team); id++)
        if (job->part[id].segment >= 0)
            job->sums[job->part[id].segment] += (float)job->part[id].sum;
}

void c_segsum(struct team *team, int64_t segments, const int64_t *offsets, const float *x, float *sums)
{
    struct segsum_job job = {.segments = segments, .n = offsets[segments], .offsets = offsets, .x = x, .sums = sums};
    sum_all(team, &job);
}

void c_csr(struct team *team, int64_t rows, const int64_t *offsets, const int32_t *column, const float *x,
           const float *vector, float *y)
{
    struct segsum_job job = {.segments = rows,
                             .n = offsets[rows],
                             .offsets = offsets,
                             .x = x,
                             .sums = y,
                             .column = column,
                             .vector = vector};
    sum_all(team, &job);
}
