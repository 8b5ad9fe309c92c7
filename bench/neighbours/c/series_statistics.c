/* Statistics, of the group `series`. */
#include "series.h"

/* --- statistics --- */

C(se_clipped_scores)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        f32 *restrict own = malloc((size_t)(3 * m) * sizeof *own), *restrict mean = own + m, *restrict by = own + 2 * m;
        f32 *mine = all + omp_get_thread_num() * 2 * m;
        FOR (j, m)
            own[j] = 0;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += x[i * m + j];
        memcpy(mine, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            mean[j] = own[j] = 0;
        FOR (t, count)
            FOR (j, m)
                mean[j] += all[t * 2 * m + j];
        FOR (j, m)
            mean[j] /= (f32)n;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += (x[i * m + j] - mean[j]) * (x[i * m + j] - mean[j]);
        memcpy(mine + m, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            by[j] = 0;
        FOR (t, count)
            FOR (j, m)
                by[j] += all[t * 2 * m + m + j];
        FOR (j, m)
            by[j] = 1 / sqrtf(by[j] / (f32)n);
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                z[i * m + j] = MAX(MIN((x[i * m + j] - mean[j]) * by[j], 1.5f), -1.5f);
        free(own);
    }
    free(all);
}

C(se_softmax_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f32 scale = 1 / VALUE(f32, 1);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        f32 *restrict own = malloc((size_t)(3 * m) * sizeof *own), *restrict most = own + m, *restrict by = own + 2 * m;
        f32 *mine = all + omp_get_thread_num() * 2 * m;
        FOR (j, m)
            own[j] = -INFINITY;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] = MAX(own[j], x[i * m + j]);
        memcpy(mine, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        memcpy(most, all, (size_t)m * sizeof *own);
        FOR (t, count)
            FOR (j, m)
                most[j] = MAX(most[j], all[t * 2 * m + j]);
        FOR (j, m)
            own[j] = 0;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m) {
                f32 e = expf((x[i * m + j] - most[j]) * scale);
                z[i * m + j] = e;
                own[j] += e;
            }
        memcpy(mine + m, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            by[j] = 0;
        FOR (t, count)
            FOR (j, m)
                by[j] += all[t * 2 * m + m + j];
        FOR (j, m)
            by[j] = 1 / by[j];
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                z[i * m + j] *= by[j];
        free(own);
    }
    free(all);
}

C(se_without_outliers)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), kept = 0;
    f32 sum = 0, squares = 0;
    SUMS(sum)
    FOR (i, n)
        sum += x[i];
    f32 mean = sum / (f32)n;
    SUMS(squares)
    FOR (i, n)
        squares += (x[i] - mean) * (x[i] - mean);
    f32 most = 1.5f * sqrtf(squares / (f32)n);
    PACK(n, fabsf(x[at] - mean) <= most, z[to] = x[at], kept)
    KEPT(0) = kept;
}

C(se_means_of_60)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (i, k) {
        f64 s = 0;
        FOR (j, 60)
            s += x[i * 60 + j];
        z[i] = s / 60;
    }
}

C(se_weekly_means)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, k) {
        const f32 *a = x + i * 7 * m;
        FOR (j, m)
            z[i * m + j] =
                (a[j] + a[j + m] + a[j + 2 * m] + a[j + 3 * m] + a[j + 4 * m] + a[j + 5 * m] + a[j + 6 * m]) / 7;
    }
}

C(se_seasonal)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), all = E(2) * m;
    PARALLEL_FOR
    FOR (i, all)
        z[i] = x[i + 7 * m] - x[i];
}

C(se_autocorrelation)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 sum = 0, a = 0, b = 0, c = 0, d = 0, e = 0, q = 0;
    SUMS(sum)
    FOR (i, n)
        sum += x[i];
    f32 mean = sum / (f32)n;
    SUMS(a, b, c, d, e, q)
    FOR (i, n - 50) {
        f32 v = x[i] - mean;
        q += v * v;
        a += v * (x[i + 1] - mean);
        b += v * (x[i + 2] - mean);
        c += v * (x[i + 3] - mean);
        d += v * (x[i + 10] - mean);
        e += v * (x[i + 50] - mean);
    }
    for (int64_t i = n - 50; i < n; i++) {
        f32 v = x[i] - mean;
        q += v * v;
        a += i + 1 < n ? v * (x[i + 1] - mean) : 0;
        b += i + 2 < n ? v * (x[i + 2] - mean) : 0;
        c += i + 3 < n ? v * (x[i + 3] - mean) : 0;
        d += i + 10 < n ? v * (x[i + 10] - mean) : 0;
    }
    RESULT(f32, 0) = a / q;
    RESULT(f32, 1) = b / q;
    RESULT(f32, 2) = c / q;
    RESULT(f32, 3) = d / q;
    RESULT(f32, 4) = e / q;
}

C(se_peaks)
{
    IN(f32, x, 0);
    OUT(i64, place, 0);
    OUT(f32, height, 1);
    int64_t n = E(0), kept = 0;
#define PEAK ((x[at] > 0.5f) & (x[at] > x[at ? at - 1 : 0]) & (x[at] > x[at < n - 1 ? at + 1 : at]))
    PACK(n, PEAK, (place[to] = at, height[to] = x[at]), kept)
#undef PEAK
    KEPT(0) = KEPT(1) = kept;
}

C(se_weighted_histogram)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    FOR (k, 100)
        z[k] = 0;
    PARALLEL
    {
        f32 own[4][128] = {{0}};
        SPLIT_FOR
        for (int64_t i = 0; i < n - 3; i += 4)
            FOR (k, 4)
                own[k][MIN((i32)(x[i + k] * 100), 99)] += w[i + k];
        CRITICAL
        FOR (k, 100)
            z[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
    }
    for (int64_t i = n / 4 * 4; i < n; i++)
        z[MIN((i32)(x[i] * 100), 99)] += w[i];
}

C(se_quantile_buckets)
{
    IN(f32, x, 0);
    IN(f32, cut, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += BLOCK) {
        i32 s[BLOCK] = {0};
        int64_t m = MIN(BLOCK, n - b);
        FOR (j, k) {
            f32 c = cut[j];
            FOR (i, m)
                s[i] += c <= x[b + i];
        }
        FOR (i, m)
            z[b + i] = (u8)s[i];
    }
}

C(se_distribution_at)
{
    IN(f32, x, 0);
    IN(f32, point, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    i64 *below = calloc((size_t)k, sizeof *below);
    PARALLEL
    {
        i64 *own = calloc((size_t)k, sizeof *own);
        SPLIT_FOR
        for (int64_t b = 0; b < n; b += 4 * BLOCK) {
            int64_t m = MIN(4 * BLOCK, n - b);
            FOR (j, k) {
                i32 s = 0;
                f32 p = point[j];
                FOR (i, m)
                    s += x[b + i] <= p;
                own[j] += s;
            }
        }
        CRITICAL
        FOR (j, k)
            below[j] += own[j];
        free(own);
    }
    FOR (j, k)
        z[j] = (f32)below[j] / (f32)n;
    free(below);
}

C(se_by_minute)
{
    IN(i64, time, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), k = E(1);
    int threads = omp_get_max_threads();
    i64 *all = malloc((size_t)(k * threads) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        i64 *own = all + omp_get_thread_num() * k;
        memset(own, 0, (size_t)k * sizeof *own);
        SPLIT_FOR
        FOR (i, n)
            own[(u64)time[i] / 60]++;
        SPLIT_FOR
        FOR (j, k) {
            i64 s = 0;
            FOR (t, count)
                s += all[t * k + j];
            z[j] = s;
        }
    }
    free(all);
}

C(se_ranks_of_rows)
{
    IN(f32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + i * m;
        i32 *to = z + i * m;
        FOR (j, m)
            to[j] = 0;
        FOR (k, m) {
            f32 v = a[k];
            FOR (j, m)
                to[j] += v < a[j];
        }
    }
}

C(se_correlations_with)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *d = malloc((size_t)m * sizeof *d), sum = 0, yy = 0;
    FOR (j, m)
        sum += y[j];
    FOR (j, m) {
        d[j] = y[j] - sum / (f32)m;
        yy += d[j] * d[j];
    }
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0, xy = 0, xx = 0;
        FOR (j, m)
            s += x[i * m + j];
        f32 mean = s / (f32)m;
        FOR (j, m) {
            f32 v = x[i * m + j] - mean;
            xy += v * d[j];
            xx += v * v;
        }
        z[i] = xy / sqrtf(xx * yy);
    }
    free(d);
}

C(se_masked_covariance)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(b8, mask, 2);
    int64_t n = SIZE, count = 0;
    f64 sx = 0, sy = 0, sum = 0;
    SUMS(sx, sy, count)
    FOR (i, n) {
        sx += mask[i] ? x[i] : 0;
        sy += mask[i] ? y[i] : 0;
        count += mask[i];
    }
    f64 mx = sx / (f64)count, my = sy / (f64)count;
    SUMS(sum)
    FOR (i, n)
        sum += mask[i] ? (x[i] - mx) * (y[i] - my) : 0;
    RESULT(f64, 0) = sum / (f64)(count - 1);
}

C(se_rows_by_first)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 by = 1 / x[i * m];
        FOR (j, m)
            z[i * m + j] = x[i * m + j] * by;
    }
}

C(se_rows_by_range)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 least = INFINITY, most = -INFINITY;
        FOR (j, m) {
            least = MIN(least, x[i * m + j]);
            most = MAX(most, x[i * m + j]);
        }
        f32 by = 1 / (most - least);
        FOR (j, m)
            z[i * m + j] = (x[i * m + j] - least) * by;
    }
}
