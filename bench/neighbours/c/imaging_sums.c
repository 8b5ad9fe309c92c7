/* Sums, histograms and moments of images. */
#include "imaging.h"

#include <omp.h>

C(im_integral)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1), l = m + 1;
    u32 *of[256];
    memset(z, 0, (size_t)l * sizeof(u32));
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num(), begin = n * id / threads,
                end = n * (id + 1) / threads;
        /* the columns' sums of a thread's rows, then of all rows before them */
        u32 *restrict own = of[id] = cleared(0, m * (int64_t)sizeof(u32)), *restrict base =
                                                                               cleared(1, m * (int64_t)sizeof(u32));
        if (id < threads - 1)
            for (int64_t i = begin; i < end; i++)
                FOR (j, m)
                    own[j] += x[i * m + j];
        PRAGMA(omp barrier)
        FOR (k, id)
            FOR (j, m)
                base[j] += of[k][j];
        for (int64_t i = begin; i < end; i++) {
            const u8 *p = x + i * m;
            u32 sum = 0, *restrict to = z + (i + 1) * l;
            FOR (j, m)
                base[j] += p[j];
            to[0] = 0;
            FOR (j, m)
                to[j + 1] = sum += base[j];
        }
    }
}

C(im_sauvola)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num(), begin = n * id / threads,
                end = n * (id + 1) / threads;
        /* sums of columns, and of these from the left */
        u32 *restrict s = cleared(0, (m + 1) * 4 * (int64_t)sizeof(u32)), *restrict q = s + m + 1,
                      *restrict ps = q + m + 1, *restrict pq = ps + m + 1;
        for (int64_t i = begin; i < end; i++) {
            int64_t first = i == begin ? MAX(i - 7, 0) : i + 7, last = MIN(i + 8, n);
            for (int64_t r = first; r < last; r++)
                FOR (j, m) {
                    u32 v = x[r * m + j];
                    s[j] += v;
                    q[j] += v * v;
                }
            if (i > begin && i >= 8)
                FOR (j, m) {
                    u32 v = x[(i - 8) * m + j];
                    s[j] -= v;
                    q[j] -= v * v;
                }
            u32 sum = 0, square = 0;
            FOR (j, m) {
                ps[j + 1] = sum += s[j];
                pq[j + 1] = square += q[j];
            }
            i32 rows = (i32)(last - MAX(i - 7, 0));
#define SAUVOLA(from, to)                                                                                              \
    {                                                                                                                  \
        f32 count = (f32)(rows * (i32)((to) - (from)));                                                                \
        f32 mean = (f32)(i32)(ps[to] - ps[from]) / count, of_squares = (f32)(i32)(pq[to] - pq[from]) / count;          \
        f32 variance = of_squares - mean * mean, deviation = sqrtf(MAX(variance, 0));                                  \
        z[i * m + j] = (f32)x[i * m + j] > mean * (1 + 0.2f * (deviation / 128 - 1)) ? 255 : 0;                        \
    }
            int64_t edge = MIN(7, m), other = MAX(m - 8, edge);
            for (int64_t j = 0; j < edge; j++)
                SAUVOLA(0, MIN(j + 8, m))
            SIMD
            for (int64_t j = edge; j < other; j++)
                SAUVOLA(j - 7, j + 8) for (int64_t j = other; j < m; j++) SAUVOLA(j - 7, m)
        }
    }
}

static void histogram(const u8 *x, int64_t n, u32 *counts)
{
    u32 own[4][256] = {{0}};
    FOR (j, n)
        own[j & 3][x[j]]++;
    FOR (k, 1024)
        counts[k & 255] += own[k >> 8][k & 255];
}

C(im_otsu)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = SIZE, level = 0, below = 0, sum = 0, total = 0;
    u32 counts[256] = {0};
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num(), begin = n * id / threads;
        u32 own[256] = {0};
        histogram(x + begin, n * (id + 1) / threads - begin, own);
        CRITICAL
        FOR (k, 256)
            counts[k] += own[k];
    }
    FOR (k, 256)
        total += k * counts[k];
    f64 best = 0;
    FOR (k, 256) {
        below += counts[k];
        sum += k * counts[k];
        if (below == 0 || below == n)
            continue;
        f64 a = (f64)below, b = (f64)(n - below), d = (f64)sum / a - (f64)(total - sum) / b, between = a * b * (d * d);
        if (between > best) {
            best = between;
            level = k;
        }
    }
    u8 limit = (u8)level;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i] > limit;
}

C(im_equalise_tiles)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t m = E(1), h = E(0) / 64, w = m / 64;
    PARALLEL_FOR_2
    FOR (i, h)
        FOR (j, w) {
            int64_t at = i * 64 * m + j * 64;
            u32 counts[4][256] = {{0}}, sum = 0;
            u8 table[256];
            FOR (r, 64)
                FOR (c, 64)
                    counts[c & 3][x[at + r * m + c]]++;
            FOR (k, 256) {
                sum += counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
                table[k] = (u8)(sum * 255 >> 12);
            }
            FOR (r, 64)
                FOR (c, 64)
                    z[at + r * m + c] = table[x[at + r * m + c]];
        }
}

C(im_joint_histogram)
{
    IN(u8, x, 0);
    IN(u8, y, 1);
    OUT(i64, counts, 0);
    int64_t n = SIZE;
    memset(counts, 0, 4096 * sizeof *counts);
    PARALLEL
    {
        u32 *own = cleared(0, 4096 * (int64_t)sizeof(u32));
        SPLIT_FOR
        FOR (i, n)
            own[(x[i] >> 2) * 64 + (y[i] >> 2)]++;
        CRITICAL
        FOR (k, 4096)
            counts[k] += own[k];
    }
}

C(im_projections)
{
    IN(u8, x, 0);
    OUT(i64, rows, 0);
    OUT(i64, columns, 1);
    int64_t n = E(0), m = E(1);
    memset(columns, 0, (size_t)m * sizeof *columns);
    PARALLEL
    {
        u32 *restrict own = cleared(0, m * (int64_t)sizeof(u32));
        u8 *restrict few = scratch(1, m);
        PRAGMA(omp for schedule(static))
        for (int64_t begin = 0; begin < n; begin += 128) {
            int64_t end = MIN(begin + 128, n);
            memset(few, 0, (size_t)m);
            for (int64_t i = begin; i < end; i++) {
                const u8 *p = x + i * m;
                u32 sum = 0;
                PRAGMA(omp simd reduction(+ : sum))
                for (i32 j = 0; j < (i32)m; j++)
                    sum += p[j];
                rows[i] = sum;
                FOR (j, m)
                    few[j] += p[j];
            }
            FOR (j, m)
                own[j] += few[j];
        }
        CRITICAL
        FOR (j, m)
            columns[j] += own[j];
    }
}

C(im_moments)
{
    IN(u8, x, 0);
    int64_t n = E(0), m = E(1), sums[10] = {0};
    PARALLEL
    {
        int64_t own[10] = {0};
        SPLIT_FOR
        FOR (i, n) {
            const u8 *p = x + i * m;
            i32 s0 = 0;
            f64 s1 = 0, s2 = 0, s3 = 0; /* whole numbers, exact */
            PRAGMA(omp simd reduction(+ : s0, s1, s2, s3))
            for (i32 j = 0; j < (i32)m; j++) {
                f64 t = j, v = p[j];
                s0 += p[j];
                s1 += v * t;
                s2 += v * t * t;
                s3 += v * t * (t * t);
            }
            int64_t a = s0, b = (int64_t)s1, c = (int64_t)s2;
            own[0] += a;
            own[1] += b;
            own[2] += c;
            own[3] += (int64_t)s3;
            own[4] += a * i;
            own[5] += b * i;
            own[6] += c * i;
            own[7] += a * i * i;
            own[8] += b * i * i;
            own[9] += a * i * i * i;
        }
        CRITICAL
        FOR (k, 10)
            sums[k] += own[k];
    }
    FOR (k, 10)
        RESULT(i64, k) = sums[k];
}

C(im_moving_blocks)
{
    IN(u8, x, 0);
    IN(u8, y, 1);
    OUT(i64, z, 0);
    int64_t m = E(1), h = E(0) / 16, w = m / 16;
    PARALLEL
    {
        u8 *restrict count = scratch(0, m);
        SPLIT_FOR
        FOR (i, h) {
            memset(count, 0, (size_t)m);
            FOR (r, 16) {
                const u8 *p = x + (i * 16 + r) * m, *q = y + (i * 16 + r) * m;
                FOR (j, m)
                    count[j] += (u8)(MAX(p[j], q[j]) - MIN(p[j], q[j])) > 60;
            }
            FOR (j, w) {
                i32 sum = 0;
                FOR (k, 16)
                    sum += count[j * 16 + k];
                z[i * w + j] = sum;
            }
        }
    }
}

C(im_circle_votes)
{
    IN(i8, x, 0);
    IN(i8, y, 1);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    u32 *of[256];
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        u32 *own = of[id] = cleared(0, (n * m) * (int64_t)sizeof(u32));
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m) {
                f32 u = x[i * m + j], v = y[i * m + j], square = u * u + v * v;
                if (square <= 6400)
                    continue;
                f32 radius = 10 / sqrtf(square);
                i32 a = (i32)rintf(v * radius), b = (i32)rintf(u * radius);
                int64_t r = i + a, c = j + b;
                if (r >= 0 && r < n && c >= 0 && c < m)
                    own[r * m + c]++;
                r = i - a;
                c = j - b;
                if (r >= 0 && r < n && c >= 0 && c < m)
                    own[r * m + c]++;
            }
        SPLIT_FOR
        FOR (k, n * m) {
            u32 sum = 0;
            FOR (t, threads)
                sum += of[t][k];
            z[k] = sum;
        }
    }
}
