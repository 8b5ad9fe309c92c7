/* Prices and signals, of the group `series`. */
#include "series.h"

/* --- prices --- */

C(se_drawdown_rows)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most = 0, worst = 0, running[BLOCK];
        for (int64_t b = 0; b < m; b += BLOCK) {
            const f32 *a = x + i * m + b;
            int64_t count = MIN(BLOCK, m - b);
            FOR (j, count)
                running[j] = most = MAX(most, a[j]);
            FOR (j, count)
                worst = MAX(worst, (running[j] - a[j]) / running[j]);
        }
        z[i] = worst;
    }
}

C(se_drawdown_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        f32 *restrict most = malloc((size_t)(2 * m) * sizeof *most), *restrict worst = most + m;
        FOR (j, m)
            most[j] = worst[j] = 0;
        if (count > 1) {
            for (int64_t i = begin; i < end; i++)
                FOR (j, m)
                    most[j] = MAX(most[j], x[i * m + j]);
            memcpy(all + 2 * m * id, most, (size_t)m * sizeof *most);
            PRAGMA(omp barrier)
            FOR (j, m)
                most[j] = 0;
            FOR (t, id)
                FOR (j, m)
                    most[j] = MAX(most[j], all[2 * m * t + j]);
        }
        for (int64_t i = begin; i < end; i++)
            FOR (j, m) {
                f32 v = x[i * m + j], a = MAX(most[j], v);
                most[j] = a;
                worst[j] = MAX(worst[j], (a - v) / a);
            }
        memcpy(all + 2 * m * id + m, worst, (size_t)m * sizeof *most);
        PRAGMA(omp barrier)
        SPLIT_FOR
        FOR (j, m) {
            f32 a = 0;
            FOR (t, count)
                a = MAX(a, all[2 * m * t + m + j]);
            z[j] = a;
        }
        free(most);
    }
    free(all);
}

C(se_price_paths)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    COLUMN_PARTS(f32, n, m, 0, s += x[at] / 64, s += t, {
        s += x[at] / 64;
        z[at] = expf(s);
    })
}

C(se_portfolio_returns)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = k * id / count, end = k * (id + 1) / count;
        f32 before = 0;
        for (int64_t i = begin; i <= end; i++) {
            f32 s = 0;
            FOR (j, m)
                s += x[i * m + j] * w[j];
            if (i > begin)
                z[i - 1] = s / before - 1;
            before = s;
        }
    }
}

static inline u32 hash_bits(u32 h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

static inline f32 uniform(u32 h)
{
    return ((f32)(i32)(h >> 8) + 0.5f) * 0x1p-24f;
}

C(se_european)
{
    IN(u32, seed, 0);
    int64_t n = SIZE;
    f32 sum = 0;
    SUMS(sum)
    FOR (i, n) {
        u32 h = hash_bits(seed[i]);
        f32 z = sqrtf(-2 * logf(uniform(h))) * cosf(6.2831853f * uniform(hash_bits(h + 1)));
        f32 price = 100 * expf(0.03f + 0.2f * z);
        sum += MAX(price - 105, 0);
    }
    RESULT(f32, 0) = sum / (f32)n;
}

C(se_asian)
{
    IN(u32, seed, 0);
    int64_t n = SIZE;
    f32 sum = 0;
    SUMS(sum)
    for (int64_t b = 0; b < n; b += BLOCK) {
        u32 h[BLOCK];
        f32 price[BLOCK], total[BLOCK];
        int64_t m = MIN(BLOCK, n - b);
        FOR (i, m) {
            h[i] = seed[b + i];
            price[i] = 100;
            total[i] = 0;
        }
        FOR (step, 12)
            FOR (i, m) {
                u32 h1 = hash_bits(h[i]), h2 = hash_bits(h1 + 1), h3 = hash_bits(h2 + 1);
                f32 z = 2 * (uniform(h1) + uniform(h2) + uniform(h3) - 1.5f);
                price[i] *= expf(0.002f + 0.06f * z);
                total[i] += price[i];
                h[i] = h3;
            }
        FOR (i, m)
            sum += MAX(total[i] / 12 - 100, 0);
    }
    RESULT(f32, 0) = sum / (f32)n;
}

/* --- signals --- */

C(se_decimated)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        int64_t count = MIN(BLOCK, k - b);
        f32 s[BLOCK] = {0};
        FOR (j, m) {
            f32 a = w[j];
            FOR (i, count)
                s[i] += a * x[(b + i) * 4 + j];
        }
        memcpy(z + b, s, (size_t)count * sizeof *s);
    }
}

C(se_goertzel)
{
    enum { LANES = 16 };
    IN(f32, x, 0);
    IN(f32, coefficient, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, n)
        for (int64_t j = 0; j < k; j += LANES) {
            f32 c[LANES] = {0}, a[LANES] = {0}, b[LANES] = {0};
            int64_t count = MIN(LANES, k - j);
            memcpy(c, coefficient + j, (size_t)count * sizeof *c);
            FOR (t, m) {
                f32 v = x[i * m + t];
                SIMD
                FOR (l, LANES) {
                    f32 next = v + c[l] * a[l] - b[l];
                    b[l] = a[l];
                    a[l] = next;
                }
            }
            FOR (l, count)
                z[i * k + j + l] = a[l] * a[l] + b[l] * b[l] - c[l] * a[l] * b[l];
        }
}

C(se_frames_energy)
{
    IN(i16, x, 0);
    OUT(i64, energy, 0);
    OUT(i64, crossings, 1);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (f, k) {
        const i16 *a = x + f * 160;
        i64 e = 0;
        i32 c = 0;
        FOR (j, 400)
            e += (i32)a[j] * a[j];
        FOR (j, 399)
            c += (a[j] < 0) != (a[j + 1] < 0);
        energy[f] = e;
        crossings[f] = c;
    }
}

C(se_hann_frames)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t k = E(1);
    f32 w[512];
    FOR (j, 512)
        w[j] = 0.5f - 0.5f * cosf((f32)j * (f32)(6.283185307179586 / 512));
    PARALLEL_FOR
    FOR (i, k)
        FOR (j, 512)
            z[i * 512 + j] = x[i * 256 + j] * w[j];
}

C(se_overlap_add)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t k = E(0), m = E(1), hop = m / 2;
    PARALLEL_FOR
    FOR (i, k + 1) {
        const f32 *own = x + i * m, *before = x + (i - 1) * m + hop;
        f32 *to = z + i * hop;
        if (i == 0)
            memcpy(to, own, (size_t)hop * sizeof *to);
        else if (i == k)
            memcpy(to, before, (size_t)hop * sizeof *to);
        else
            FOR (j, hop)
                to[j] = own[j] + before[j];
    }
}

C(se_spectral_flux)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, k) {
        f32 s = 0;
        FOR (j, m)
            s += MAX(x[(i + 1) * m + j] - x[i * m + j], 0);
        z[i] = s;
    }
}

C(se_residual_variance)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    int64_t p = E(1), k = E(0) - p;
    f32 sum = 0;
    SUMS(sum)
    for (int64_t b = 0; b < k; b += BLOCK) {
        int64_t count = MIN(BLOCK, k - b);
        f32 s[BLOCK];
        FOR (i, count)
            s[i] = x[b + i + p];
        FOR (j, p) {
            f32 a = w[j];
            FOR (i, count)
                s[i] -= a * x[b + i + p - 1 - j];
        }
        FOR (i, count)
            sum += s[i] * s[i];
    }
    RESULT(f32, 0) = sum / (f32)k;
}

C(se_despiked)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t n = SIZE;
#define DESPIKED(a, b, c)                                                                                              \
    i16 median = MAX(MIN(a, b), MIN(MAX(a, b), c)), d = (i16)(b - median);                                             \
    z[i] = (d < 0 ? (i16)-d : d) > 40 ? median : b;
    PARALLEL_FOR
    for (int64_t i = 1; i < n - 1; i++) {
        DESPIKED(x[i - 1], x[i], x[i + 1])
    }
    for (int64_t i = 0; i < n; i += n - 1) {
        int64_t other = i ? n - 2 : 1;
        DESPIKED(x[other], x[i], x[other])
    }
#undef DESPIKED
}
