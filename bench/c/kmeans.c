/* Lloyd's algorithm. Distances of sixteen points at a time, their coordinates in registers: rows are turned round in
 * blocks of 16 x 16; two centres a turn. Sums of rows are one vector each; of points in the plane (x, y, 1), in four
 * tables, so that a sum does not wait for the one before. */
#include "opponents.h"
#include "simd.h"

#include <math.h>
#include <string.h>

enum { D = KMEANS_DIMENSIONS, TABLES = 4, PIECE = 1024 };

struct job {
    int64_t n, k;
    const float *point, *y;
    float *centre, *centre_y;
    float *room; /* for each worker */
};

int64_t c_kmeans_room(int workers, int64_t k)
{
    return workers * k * 2 * D + 16;
}

static int32_t nearest(const float *p, int64_t k, const float *centre)
{
    float least = INFINITY;
    int32_t at = 0;
    for (int64_t j = 0; j < k; j++) {
        float sum = 0;
        for (int t = 0; t < D; t++) {
            float d = p[t] - centre[j * D + t];
            sum += d * d;
        }
        at = sum < least ? (int32_t)j : at;
        least = sum < least ? sum : least;
    }
    return at;
}

static int32_t nearest_plane(float x, float y, const struct job *job)
{
    float least = INFINITY;
    int32_t at = 0;
    for (int64_t j = 0; j < job->k; j++) {
        float dx = x - job->centre[j], dy = y - job->centre_y[j], sum = dx * dx + dy * dy;
        at = sum < least ? (int32_t)j : at;
        least = sum < least ? sum : least;
    }
    return at;
}

#if BENCH_AVX512

/* Sixteen rows to sixteen columns. */
static inline void turn(const float *from, __m512 to[16])
{
    __m512 r[16], t[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        r[i] = _mm512_loadu_ps(from + 16 * i);
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
        for (int h = 0; h < 2; h++) {
            __m512d a = _mm512_castps_pd(t[i + h]), b = _mm512_castps_pd(t[i + 2 + h]);
            r[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
            r[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
        }
        /* r[4 g + c]: of rows 4 g to 4 g + 3 columns c, 4 + c, 8 + c, 12 + c */
#pragma GCC unroll 4
    for (int c = 0; c < 4; c++) {
        __m512 a = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88), b = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88);
        __m512 e = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xDD), f = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xDD);
        to[c] = _mm512_shuffle_f32x4(a, b, 0x88);
        to[8 + c] = _mm512_shuffle_f32x4(a, b, 0xDD);
        to[4 + c] = _mm512_shuffle_f32x4(e, f, 0x88);
        to[12 + c] = _mm512_shuffle_f32x4(e, f, 0xDD);
    }
}

static inline __m512 closer(__m512 sum, __m512 least, __m512i *at, int64_t j)
{
    __mmask16 less = _mm512_cmp_ps_mask(sum, least, _CMP_LT_OQ);
    *at = _mm512_mask_mov_epi32(*at, less, _mm512_set1_epi32((int)j));
    return _mm512_min_ps(sum, least);
}

static void nearest_of_16(const float *point, int64_t k, const float *centre, int32_t at[16])
{
    __m512 p[D], least = _mm512_set1_ps(INFINITY);
    __m512i best = _mm512_setzero_si512();
    turn(point, p);
    int64_t j = 0;
    for (; j + 2 <= k; j += 2) {
        const float *c = centre + j * D;
        __m512 sum[2][2] = {{_mm512_setzero_ps(), _mm512_setzero_ps()}, {_mm512_setzero_ps(), _mm512_setzero_ps()}};
#pragma GCC unroll 16
        for (int t = 0; t < D; t++)
#pragma GCC unroll 2
            for (int h = 0; h < 2; h++) {
                __m512 d = _mm512_sub_ps(p[t], _mm512_set1_ps(c[h * D + t]));
                sum[h][t % 2] = _mm512_fmadd_ps(d, d, sum[h][t % 2]);
            }
        least = closer(_mm512_add_ps(sum[0][0], sum[0][1]), least, &best, j);
        least = closer(_mm512_add_ps(sum[1][0], sum[1][1]), least, &best, j + 1);
    }
    for (; j < k; j++) {
        __m512 sum = _mm512_setzero_ps();
        for (int t = 0; t < D; t++) {
            __m512 d = _mm512_sub_ps(p[t], _mm512_set1_ps(centre[j * D + t]));
            sum = _mm512_fmadd_ps(d, d, sum);
        }
        least = closer(sum, least, &best, j);
    }
    _mm512_storeu_si512(at, best);
}

/* Of 32 points in the plane. */
static void nearest_of_32(const struct job *job, int64_t i, int32_t at[32])
{
    __m512 x[2], y[2], least[2];
    __m512i best[2];
    for (int v = 0; v < 2; v++) {
        x[v] = _mm512_loadu_ps(job->point + i + 16 * v);
        y[v] = _mm512_loadu_ps(job->y + i + 16 * v);
        least[v] = _mm512_set1_ps(INFINITY);
        best[v] = _mm512_setzero_si512();
    }
    for (int64_t j = 0; j < job->k; j++) {
        __m512 cx = _mm512_set1_ps(job->centre[j]), cy = _mm512_set1_ps(job->centre_y[j]);
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++) {
            __m512 dx = _mm512_sub_ps(x[v], cx), dy = _mm512_sub_ps(y[v], cy);
            least[v] = closer(_mm512_fmadd_ps(dx, dx, _mm512_mul_ps(dy, dy)), least[v], &best[v], j);
        }
    }
    _mm512_storeu_si512(at, best[0]);
    _mm512_storeu_si512(at + 16, best[1]);
}

#endif

static void part_of_round(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, 16, id, workers);
    float *sum = job->room + id * job->k * 2 * D; /* a row of sums, and one that begins with the number of points */
    memset(sum, 0, (size_t)(job->k * 2 * D) * sizeof *sum);
    for (int64_t i = mine.first; i < mine.last; i += 16) {
        const float *p = job->point + i * D;
        int64_t points = mine.last - i < 16 ? mine.last - i : 16;
        int32_t at[16];
#if BENCH_AVX512
        _mm_prefetch((const char *)(p + 64 * D), _MM_HINT_T0);
        if (points == 16) {
            nearest_of_16(p, job->k, job->centre, at);
            for (int r = 0; r < 16; r++) {
                float *to = sum + at[r] * 2 * D;
                _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), _mm512_loadu_ps(p + r * D)));
                to[D] += 1;
            }
            continue;
        }
#endif
        for (int64_t r = 0; r < points; r++) {
            at[r] = nearest(p + r * D, job->k, job->centre);
            float *to = sum + at[r] * 2 * D;
            for (int t = 0; t < D; t++)
                to[t] += p[r * D + t];
            to[D] += 1;
        }
    }
}

void c_kmeans(struct team *team, int rounds, int64_t n, const float *point, int64_t k, float *centre, float *room)
{
    struct job job = {n, k, point, NULL, centre, NULL, room};
    for (int round = 0; round < rounds; round++) {
        team_run(team, part_of_round, &job);
        for (int64_t j = 0; j < k; j++) {
            float sum[D + 1] = {0};
            for (int w = 0; w < team_workers(team); w++)
                for (int t = 0; t <= D; t++)
                    sum[t] += room[(w * k + j) * 2 * D + t];
            for (int t = 0; t < D && sum[D] > 0; t++)
                centre[j * D + t] = sum[t] / sum[D];
        }
    }
}

static void part_of_plane(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, 32, id, workers);
    float *sum = job->room + id * job->k * 2 * D; /* TABLES times k times (x, y, points, nothing) */
    memset(sum, 0, (size_t)(job->k * 4 * TABLES) * sizeof *sum);
    for (int64_t first = mine.first; first < mine.last; first += PIECE) {
        int64_t points = mine.last - first < PIECE ? mine.last - first : PIECE, i = 0;
        int32_t at[PIECE];
#if BENCH_AVX512
        for (; i + 32 <= points; i += 32)
            nearest_of_32(job, first + i, at + i);
#endif
        for (; i < points; i++)
            at[i] = nearest_plane(job->point[first + i], job->y[first + i], job);
        const float *x = job->point + first, *y = job->y + first;
        i = 0;
#if BENCH_AVX512
        const __m128 one = _mm_setr_ps(1, 0, 1, 0);
        for (; i + 4 <= points; i += 4) {
            __m128 px = _mm_loadu_ps(x + i), py = _mm_loadu_ps(y + i);
            __m128 low = _mm_unpacklo_ps(px, py), high = _mm_unpackhi_ps(px, py); /* x0 y0 x1 y1, x2 y2 x3 y3 */
            __m128 p[4] = {_mm_movelh_ps(low, one), _mm_shuffle_ps(low, one, 0x4E), _mm_movelh_ps(high, one),
                           _mm_shuffle_ps(high, one, 0x4E)};
#pragma GCC unroll 4
            for (int r = 0; r < 4; r++) {
                float *to = sum + (r * job->k + at[i + r]) * 4;
                _mm_storeu_ps(to, _mm_add_ps(_mm_loadu_ps(to), p[r]));
            }
        }
#endif
        for (; i < points; i++) {
            float *to = sum + at[i] * 4;
            to[0] += x[i];
            to[1] += y[i];
            to[2] += 1;
        }
    }
}

void c_kmeans_plane(struct team *team, int rounds, int64_t n, const float *x, const float *y, int64_t k,
                    float *centre_x, float *centre_y, float *room)
{
    struct job job = {n, k, x, y, centre_x, centre_y, room};
    for (int round = 0; round < rounds; round++) {
        team_run(team, part_of_plane, &job);
        for (int64_t j = 0; j < k; j++) {
            float sum[3] = {0};
            for (int w = 0; w < team_workers(team); w++)
                for (int table = 0; table < TABLES; table++)
                    for (int t = 0; t < 3; t++)
                        sum[t] += room[w * k * 2 * D + (table * k + j) * 4 + t];
            if (sum[2] > 0) {
                centre_x[j] = sum[0] / sum[2];
                centre_y[j] = sum[1] / sum[2];
            }
        }
    }
}
