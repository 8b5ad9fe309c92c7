/* The C sides of group "solvers": small systems, matrices, recurrences. */
#include "c.h"

#include <omp.h>

#define ROWS_SIMD PRAGMA(omp parallel for simd schedule(static))
#define LANES 8

/* --- small systems --- */

C(sv_solve_2)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    IN(f64, c, 2);
    IN(f64, d, 3);
    IN(f64, u, 4);
    IN(f64, v, 5);
    OUT(f64, x, 0);
    OUT(f64, y, 1);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f64 p = a[i] + 3, q = d[i] + 3, det = p * q - b[i] * c[i];
        x[i] = (q * u[i] - b[i] * v[i]) / det;
        y[i] = (p * v[i] - c[i] * u[i]) / det;
    }
}

C(sv_solve_3)
{
    IN(f32, a, 0);
    IN(f32, b, 1);
    OUT(f32, x, 0);
    int64_t n = E(0);
    ROWS_SIMD
    FOR (i, n) {
        const f32 *m = a + 9 * i, *r = b + 3 * i;
        f32 a0 = m[0] + 4, a1 = m[1], a2 = m[2], b0 = m[3], b1 = m[4] + 4, b2 = m[5], c0 = m[6], c1 = m[7];
        f32 c2 = m[8] + 4;
        f32 p0 = b1 * c2 - b2 * c1, p1 = b2 * c0 - b0 * c2, p2 = b0 * c1 - b1 * c0;
        f32 q0 = c1 * a2 - c2 * a1, q1 = c2 * a0 - c0 * a2, q2 = c0 * a1 - c1 * a0;
        f32 s0 = a1 * b2 - a2 * b1, s1 = a2 * b0 - a0 * b2, s2 = a0 * b1 - a1 * b0;
        f32 det = 1 / (a0 * p0 + a1 * p1 + a2 * p2);
        x[3 * i] = (r[0] * p0 + r[1] * q0 + r[2] * s0) * det;
        x[3 * i + 1] = (r[0] * p1 + r[1] * q1 + r[2] * s1) * det;
        x[3 * i + 2] = (r[0] * p2 + r[1] * q2 + r[2] * s2) * det;
    }
}

/* Eight systems at once, turned round so that each is a lane. */
C(sv_solve_6)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    int64_t n = E(0), blocks = (n + LANES - 1) / LANES;
    f64 *x[6];
    FOR (k, 6)
        x[k] = call->out[k];
    PARALLEL_FOR
    FOR (block, blocks) {
        f64 m[6][7][LANES];
        int64_t first = block * LANES, count = MIN(LANES, n - first);
        FOR (k, 6) {
            FOR (l, 6)
                FOR (r, LANES)
                    m[k][l][r] = a[36 * (first + MIN(r, count - 1)) + 6 * k + l] + (k == l ? 12 : 0);
            FOR (r, LANES)
                m[k][6][r] = b[6 * (first + MIN(r, count - 1)) + k];
        }
        UNROLL(6)
        FOR (k, 6) {
            f64 inverse[LANES];
            FOR (r, LANES)
                inverse[r] = 1 / m[k][k][r];
            for (int64_t row = k + 1; row < 6; row++) {
                f64 factor[LANES];
                FOR (r, LANES)
                    factor[r] = m[row][k][r] * inverse[r];
                for (int64_t l = k + 1; l < 7; l++)
                    SIMD
                FOR (r, LANES)
                    m[row][l][r] -= factor[r] * m[k][l][r];
            }
        }
        for (int64_t k = 5; k >= 0; k--) {
            f64 sum[LANES];
            memcpy(sum, m[k][6], sizeof(sum));
            for (int64_t l = k + 1; l < 6; l++)
                SIMD
            FOR (r, LANES)
                sum[r] -= m[k][l][r] * m[l][6][r];
            FOR (r, LANES)
                m[k][6][r] = sum[r] / m[k][k][r];
            FOR (r, count)
                x[k][first + r] = m[k][6][r];
        }
    }
}

C(sv_cholesky_4)
{
    IN(f32, a, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    ROWS_SIMD
    FOR (i, n) {
        const f32 *m = a + 16 * i;
        f32 *l = z + 16 * i;
        f32 l00 = sqrtf(m[0] + 8), l10 = m[4] / l00, l20 = m[8] / l00, l30 = m[12] / l00;
        f32 l11 = sqrtf(m[5] + 8 - l10 * l10), l21 = (m[9] - l20 * l10) / l11, l31 = (m[13] - l30 * l10) / l11;
        f32 l22 = sqrtf(m[10] + 8 - l20 * l20 - l21 * l21), l32 = (m[14] - l30 * l20 - l31 * l21) / l22;
        f32 l33 = sqrtf(m[15] + 8 - l30 * l30 - l31 * l31 - l32 * l32);
        l[0] = l00, l[1] = 0, l[2] = 0, l[3] = 0, l[4] = l10, l[5] = l11, l[6] = 0, l[7] = 0;
        l[8] = l20, l[9] = l21, l[10] = l22, l[11] = 0, l[12] = l30, l[13] = l31, l[14] = l32, l[15] = l33;
    }
}

C(sv_exponentials)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    IN(f64, c, 2);
    IN(f64, d, 3);
    OUT(f64, x, 0);
    OUT(f64, y, 1);
    OUT(f64, z, 2);
    OUT(f64, w, 3);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f64 p = 1, q = 0, r = 0, s = 1, sp = 1, sq = 0, sr = 0, ss = 1;
        UNROLL(12)
        for (int k = 1; k <= 12; k++) {
            f64 by = 1.0 / k;
            f64 p2 = (p * a[i] + q * c[i]) * by, q2 = (p * b[i] + q * d[i]) * by;
            f64 r2 = (r * a[i] + s * c[i]) * by, s2 = (r * b[i] + s * d[i]) * by;
            p = p2, q = q2, r = r2, s = s2;
            sp += p, sq += q, sr += r, ss += s;
        }
        x[i] = sp, y[i] = sq, z[i] = sr, w[i] = ss;
    }
}

C(sv_givens)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, c, 0);
    OUT(f32, s, 1);
    OUT(f32, r, 2);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f32 a = x[i], b = y[i];
        bool by_b = fabsf(b) > fabsf(a), none = b == 0;
        f32 least = by_b ? a : b, most = by_b ? b : none ? 1 : a, t = least / most, root = sqrtf(1 + t * t);
        f32 u = 1 / root, v = u * t;
        c[i] = by_b ? v : u;
        s[i] = by_b ? u : v;
        r[i] = none ? a : most * root;
    }
}

/* --- steps on matrices --- */

C(sv_turned_rows)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), p = VALUE(i32, 1), q = VALUE(i32, 2) + 16;
    f64 c = cos(VALUE(f64, 3)), s = sin(VALUE(f64, 3));
    PARALLEL_FOR
    FOR (k, n * m)
        z[k] = x[k];
    FOR (j, m) {
        f64 u = x[p * m + j], v = x[q * m + j];
        z[p * m + j] = c * u + s * v;
        z[q * m + j] = c * v - s * u;
    }
}

/* sums[j] of weights[i] x[i, j], each thread's by itself first. */
static void weighted_sums(const f64 *restrict x, const f64 *restrict weight, f64 *restrict sum, int64_t n, int64_t m)
{
    memset(sum, 0, (size_t)m * sizeof(*sum));
    if (n < 128) {
        PARALLEL
        {
            int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
            int64_t end = m * (id + 1) / count;
            for (int64_t from = m * id / count; from < end; from += 512) {
                int64_t to = MIN(from + 512, end);
                FOR (i, n) {
                    f64 w = weight[i];
                    SIMD
                    for (int64_t j = from; j < to; j++)
                        sum[j] += w * x[i * m + j];
                }
            }
        }
        return;
    }
    PARALLEL
    {
        f64 *own = calloc((size_t)m, sizeof(*own));
        SPLIT_FOR
        FOR (i, n) {
            f64 w = weight[i];
            SIMD
            FOR (j, m)
                own[j] += w * x[i * m + j];
        }
        CRITICAL
        FOR (j, m)
            sum[j] += own[j];
        free(own);
    }
}

C(sv_householder)
{
    IN(f64, x, 0);
    IN(f64, v, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    f64 *restrict w = malloc((size_t)m * sizeof(*w)), square = 0;
    weighted_sums(x, v, w, n, m);
    SIMD
    FOR (i, n)
        square += v[i] * v[i];
    PARALLEL_FOR
    FOR (i, n) {
        f64 factor = 2 / square * v[i];
        SIMD
        FOR (j, m)
            z[i * m + j] = x[i * m + j] - factor * w[j];
    }
    free(w);
}

#define TIMES(T, z, a, v, n)                                                                                           \
    PARALLEL_FOR                                                                                                       \
    FOR (i, n) {                                                                                                       \
        T sum = 0;                                                                                                     \
        PRAGMA(omp simd reduction(+ : sum))                                                                            \
        FOR (j, n)                                                                                                     \
            sum += (a)[i * (n) + j] * (v)[j];                                                                          \
        (z)[i] = sum;                                                                                                  \
    }

C(sv_power_step)
{
    IN(f64, a, 0);
    IN(f64, v, 1);
    OUT(f64, z, 0);
    int64_t n = E(0);
    f64 square = 0, along = 0;
    TIMES(f64, z, a, v, n)
    PRAGMA(omp simd reduction(+ : square, along))
    FOR (i, n) {
        square += z[i] * z[i];
        along += z[i] * v[i];
    }
    f64 norm = 1 / sqrt(square);
    FOR (i, n)
        z[i] *= norm;
    RESULT(f64, 1) = along;
}

C(sv_power_10)
{
    IN(f32, a, 0);
    IN(f32, v, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 *restrict w = malloc((size_t)n * sizeof(*w));
    memcpy(z, v, (size_t)n * sizeof(*z));
    FOR (round, 10) {
        TIMES(f32, w, a, z, n)
        f32 square = 0;
        PRAGMA(omp simd reduction(+ : square))
        FOR (i, n)
            square += w[i] * w[i];
        f32 norm = 1 / sqrtf(square);
        FOR (i, n)
            z[i] = w[i] * norm;
    }
    free(w);
}

C(sv_gram_schmidt)
{
    IN(f64, q, 0);
    IN(f64, v, 1);
    OUT(f64, z, 0);
    int64_t k = E(0), n = E(1);
    f64 dot[128] = {0}, square = 0;
    PARALLEL
    {
        f64 own[128] = {0};
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        for (int64_t from = begin; from < end; from += 2048) {
            int64_t to = MIN(from + 2048, end);
            FOR (r, k) {
                f64 sum = 0;
                PRAGMA(omp simd reduction(+ : sum))
                for (int64_t j = from; j < to; j++)
                    sum += q[r * n + j] * v[j];
                own[r] += sum;
            }
        }
        CRITICAL
        FOR (r, k)
            dot[r] += own[r];
        PRAGMA(omp barrier)
        f64 part = 0;
        for (int64_t from = begin; from < end; from += 2048) {
            int64_t to = MIN(from + 2048, end);
            memcpy(z + from, v + from, (size_t)(to - from) * sizeof(*z));
            FOR (r, k) {
                f64 d = dot[r];
                SIMD
                for (int64_t j = from; j < to; j++)
                    z[j] -= d * q[r * n + j];
            }
            PRAGMA(omp simd reduction(+ : part))
            for (int64_t j = from; j < to; j++)
                part += z[j] * z[j];
        }
        CRITICAL
        square += part;
        PRAGMA(omp barrier)
        f64 norm = 1 / sqrt(square);
        for (int64_t j = begin; j < end; j++)
            z[j] *= norm;
    }
}

/* Row by row, each by products of the rows above: in place, lower triangle. */
C(sv_cholesky)
{
    IN(f64, a, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, n)
            z[i * n + j] = j > i ? 0 : a[i * n + j] + (i == j ? (f64)n : 0);
    PARALLEL
    for (int64_t j = 0; j < n; j++) {
        const f64 *row = z + j * n;
        PRAGMA(omp single)
        {
            f64 sum = z[j * n + j];
            PRAGMA(omp simd reduction(- : sum))
            FOR (k, j)
                sum -= row[k] * row[k];
            z[j * n + j] = sqrt(sum);
        }
        f64 by = 1 / row[j];
        SPLIT_FOR
        for (int64_t i = j + 1; i < n; i++) {
            f64 sum = z[i * n + j];
            PRAGMA(omp simd reduction(- : sum))
            FOR (k, j)
                sum -= z[i * n + k] * row[k];
            z[i * n + j] = sum * by;
        }
    }
}

static int64_t pivot(const f64 *a, int64_t n, int64_t k)
{
    int64_t p = k;
    for (int64_t i = k + 1; i < n; i++)
        if (fabs(a[i * n + k]) > fabs(a[p * n + k]))
            p = i;
    return p;
}

C(sv_lu_step)
{
    IN(f64, a, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), k = VALUE(i64, 1), p = pivot(a, n, k);
    const f64 *top = a + p * n;
    f64 by = 1 / top[k];
    PARALLEL_FOR
    FOR (i, n) {
        const f64 *from = a + (i == k ? p : i == p ? k : i) * n;
        f64 *to = z + i * n;
        if (i <= k) {
            memcpy(to, from, (size_t)n * sizeof(*to));
            continue;
        }
        f64 factor = from[k] * by;
        memcpy(to, from, (size_t)k * sizeof(*to));
        to[k] = factor;
        SIMD
        for (int64_t j = k + 1; j < n; j++)
            to[j] = from[j] - factor * top[j];
    }
}

C(sv_lu)
{
    IN(f64, a, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    memcpy(z, a, (size_t)(n * n) * sizeof(*z));
    PARALLEL
    for (int64_t k = 0; k < n - 1; k++) {
        PRAGMA(omp single)
        {
            int64_t p = pivot(z, n, k);
            if (p != k)
                FOR (j, n) {
                    f64 t = z[k * n + j];
                    z[k * n + j] = z[p * n + j];
                    z[p * n + j] = t;
                }
        }
        const f64 *top = z + k * n;
        f64 by = 1 / top[k];
        SPLIT_FOR
        for (int64_t i = k + 1; i < n; i++) {
            f64 *to = z + i * n, factor = to[k] * by;
            to[k] = factor;
            SIMD
            for (int64_t j = k + 1; j < n; j++)
                to[j] -= factor * top[j];
        }
    }
}

C(sv_forward)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    OUT(f64, x, 0);
    int64_t n = E(0);
    FOR (i, n) {
        f64 sum = b[i];
        PRAGMA(omp simd reduction(- : sum))
        FOR (j, i)
            sum -= a[i * n + j] * x[j];
        x[i] = sum / (a[i * n + i] + 4);
    }
}

/* --- tridiagonal systems --- */

/* Eight rows at once, so that none waits for its own last element. */
C(sv_thomas_rows)
{
    IN(f64, w, 0);
    IN(f64, d, 1);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1), blocks = (n + LANES - 1) / LANES;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * LANES, MAX(n - LANES, 0)), count = MIN(LANES, n);
        f64 s[LANES] = {0};
        const f64 *from = d + first * m;
        f64 *to = z + first * m;
        if (count < LANES) {
            FOR (r, count) {
                FOR (j, m)
                    to[r * m + j] = s[r] = w[j] * (from[r * m + j] - s[r]);
                for (int64_t j = m - 2; j >= 0; j--)
                    to[r * m + j] = s[r] = to[r * m + j] - w[j] * s[r];
            }
            continue;
        }
        FOR (j, m)
            UNROLL(LANES)
        FOR (r, LANES)
            to[r * m + j] = s[r] = w[j] * (from[r * m + j] - s[r]);
        for (int64_t j = m - 2; j >= 0; j--)
            UNROLL(LANES)
        FOR (r, LANES)
            to[r * m + j] = s[r] = to[r * m + j] - w[j] * s[r];
    }
}

C(sv_thomas_columns)
{
    IN(f64, w, 0);
    IN(f64, d, 1);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, strip = MAX(64, 16384 / m);
        for (int64_t from = begin; from < end; from += strip) {
            int64_t to = MIN(from + strip, end);
            for (int64_t j = from; j < to; j++)
                z[j] = w[0] * d[j];
            for (int64_t i = 1; i < m; i++)
                SIMD
            for (int64_t j = from; j < to; j++)
                z[i * n + j] = w[i] * (d[i * n + j] - z[(i - 1) * n + j]);
            for (int64_t i = m - 2; i >= 0; i--)
                SIMD
            for (int64_t j = from; j < to; j++)
                z[i * n + j] -= w[i] * z[(i + 1) * n + j];
        }
    }
}

C(sv_thomas_8)
{
    IN(f32, a, 0);
    IN(f32, b, 1);
    IN(f32, c, 2);
    IN(f32, d, 3);
    enum { WIDE = 16 };
    int64_t n = E(0), blocks = (n + WIDE - 1) / WIDE;
    f32 *x[8];
    FOR (k, 8)
        x[k] = call->out[k];
    PARALLEL_FOR
    FOR (block, blocks) {
        f32 u[8][WIDE], v[8][WIDE];
        int64_t first = MIN(block * WIDE, n - WIDE);
        FOR (k, 8) {
            f32 p[WIDE], q[WIDE], r[WIDE], s[WIDE];
            FOR (l, WIDE) {
                int64_t at = 8 * (first + l) + k;
                p[l] = a[at], q[l] = b[at], r[l] = c[at], s[l] = d[at];
            }
            SIMD
            FOR (l, WIDE) {
                f32 before = k ? u[k - 1][l] : 0, value = k ? v[k - 1][l] : 0;
                f32 by = 1 / (q[l] + 4 - p[l] * before);
                u[k][l] = r[l] * by;
                v[k][l] = (s[l] - p[l] * value) * by;
            }
        }
        for (int64_t k = 6; k >= 0; k--)
            SIMD
        FOR (l, WIDE)
            v[k][l] -= u[k][l] * v[k + 1][l];
        FOR (k, 8)
            memcpy(x[k] + first, v[k], sizeof(v[k]));
    }
}
