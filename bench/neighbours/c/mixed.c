/* Programs as users write them. */
#include "c.h"

static inline int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}
static inline int64_t around(int64_t i, int64_t n)
{
    return i < 0 ? i + n : i < n ? i : i - n;
}

C(mx_blur_11)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 line[2048], *p = line + 4;
        memcpy(p, x + i * m, (size_t)m * 8);
        for (int k = 1; k <= 4; k++)
            p[-k] = p[0], p[m - 1 + k] = p[m - 1];
        FOR (j, m)
            z[i * m + j] =
                (p[j - 4] + p[j - 3] + p[j - 2] + p[j - 1] + p[j] + p[j + 1] + p[j + 2] + p[j + 3] + p[j + 4]) / 9;
    }
}
MAP1(mx_gamma, u8, u8, roundf(255 * powf(x[i] / 255.0f, 0.4545f)))
C(mx_value_saturation)
{
    IN(u8, r, 0);
    IN(u8, g, 1);
    IN(u8, b, 2);
    OUT(f32, v, 0);
    OUT(f32, s, 1);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u8 most = MAX(r[i], MAX(g[i], b[i])), least = MIN(r[i], MIN(g[i], b[i]));
        v[i] = most;
        s[i] = most ? (f32)(most - least) / most : 0;
    }
}
C(mx_resize)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        f32 y = (f32)i * (f32)(n - 1) / (f32)k;
        int32_t y0 = (int32_t)y;
        f32 fy = y - (f32)y0;
        const f32 *a = x + y0 * m, *b = a + m;
        FOR (j, l) {
            f32 u = (f32)j * (f32)(m - 1) / (f32)l;
            int32_t x0 = (int32_t)u;
            f32 fx = u - (f32)x0;
            f32 t = a[x0] + fx * (a[x0 + 1] - a[x0]), s = b[x0] + fx * (b[x0 + 1] - b[x0]);
            z[i * l + j] = t + fy * (s - t);
        }
    }
}
C(mx_equalize)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), h[256] = {0};
    u8 t[256];
    uint32_t p[4][256] = {{0}};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        p[0][x[i]]++, p[1][x[i + 1]]++, p[2][x[i + 2]]++, p[3][x[i + 3]]++;
    for (; i < n; i++)
        p[0][x[i]]++;
    FOR (k, 256)
        h[k] = (int64_t)p[0][k] + p[1][k] + p[2][k] + p[3][k];
    int64_t s = 0;
    FOR (k, 256)
        s += h[k], t[k] = (u8)(s * 255 / n);
    PARALLEL_FOR
    FOR (j, n)
        z[j] = t[x[j]];
}
C(mx_running_mean)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t k = E(1);
    f64 s = 0;
    FOR (i, 32)
        s += x[i];
    z[0] = s / 32;
    for (int64_t i = 1; i < k; i++) {
        s += x[i + 31] - x[i - 1];
        z[i] = s * 0.03125;
    }
}
C(mx_count_falls)
{
    IN(i16, x, 0);
    int64_t n = E(0), c = 0;
    for (int64_t i = 0; i < n - 1; i += 32768) {
        int32_t p = 0;
        int64_t e = MIN(i + 32768, n - 1);
        for (int64_t j = i; j < e; j++)
            p += x[j] > x[j + 1];
        c += p;
    }
    RESULT(i64, 0) = c;
}
C(mx_largest_step)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        FOR (j, m - 1) {
            f32 d = fabsf(x[i * m + j] - x[i * m + j + 1]);
            s = d > s ? d : s;
        }
        z[i] = s;
    }
}
C(mx_minus_column_mean)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 s[1024] = {0};
    FOR (i, n)
        FOR (j, m)
            s[j] += x[i * m + j];
    FOR (j, m)
        s[j] /= (f32)n;
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[i * m + j] - s[j];
}
C(mx_covariance)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(f64, z, 2);
    f64 a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;
    int64_t n = E(0);
    PRAGMA(omp parallel for simd reduction(+ : a, b, c, d, e, f))
    FOR (i, n) {
        a += x[i] * x[i];
        b += x[i] * y[i];
        c += x[i] * z[i];
        d += y[i] * y[i];
        e += y[i] * z[i];
        f += z[i] * z[i];
    }
    RESULT(f64, 0) = a;
    RESULT(f64, 1) = b;
    RESULT(f64, 2) = c;
    RESULT(f64, 3) = d;
    RESULT(f64, 4) = e;
    RESULT(f64, 5) = f;
}
C(mx_trapezoid)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 s = 0;
        FOR (j, m - 1)
            s += 0.5 * (x[i * m + j] + x[i * m + j + 1]);
        z[i] = s;
    }
}
C(mx_cumprod)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 s = 1;
        FOR (j, m)
            z[i * m + j] = s *= x[i * m + j];
    }
}
C(mx_box_27)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (a, n)
        FOR (b, m) {
            u16 line[512], *p = line + 1;
            memset(line, 0, sizeof line);
            for (int d = -1; d <= 1; d++)
                for (int e = -1; e <= 1; e++) {
                    const u8 *r = x + (clamp(a + d, n) * m + clamp(b + e, m)) * k;
                    FOR (j, k)
                        p[j] = (u16)(p[j] + r[j]);
                }
            p[-1] = p[0], p[k] = p[k - 1];
            FOR (j, k)
                z[(a * m + b) * k + j] = (u8)((u16)(p[j - 1] + p[j] + p[j + 1]) / 27);
        }
}
C(mx_median_3)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u8 line[2048], *p = line + 1;
        memcpy(p, x + i * m, (size_t)m);
        p[-1] = p[0], p[m] = p[m - 1];
        FOR (j, m) {
            u8 a = p[j - 1], b = p[j], c = p[j + 1], lo = MIN(a, b), hi = MAX(a, b), h = MIN(hi, c);
            z[i * m + j] = MAX(lo, h);
        }
    }
}
C(mx_median_9)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u8 line[3][2048];
        for (int r = 0; r < 3; r++) {
            u8 *p = line[r] + 1;
            memcpy(p, x + clamp(i + r - 1, n) * m, (size_t)m);
            p[-1] = p[0], p[m] = p[m - 1];
        }
        SIMD
        FOR (j, m) {
            u8 v[9];
            for (int k = 0; k < 9; k++)
                v[k] = line[k / 3][j + k % 3];
#define S(a, b)                                                                                                        \
    {                                                                                                                  \
        u8 l = MIN(v[a], v[b]), h = MAX(v[a], v[b]);                                                                   \
        v[a] = l;                                                                                                      \
        v[b] = h;                                                                                                      \
    }
            S(1, 2)
            S(4, 5) S(7, 8) S(0, 1) S(3, 4) S(6, 7) S(1, 2) S(4, 5) S(7, 8) S(0, 3) S(5, 8) S(4, 7) S(3, 6) S(1, 4)
                S(2, 5) S(4, 7) S(4, 2) S(6, 4) S(4, 2) z[i * m + j] = v[4];
        }
    }
}
C(mx_erode)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const i16 *a = x + around(i - 2, n) * m, *b = x + around(i - 1, n) * m, *c = x + i * m,
                  *d = x + around(i + 1, n) * m, *e = x + around(i + 2, n) * m;
        FOR (j, m) {
            i16 s = MIN(a[j], b[j]), t = MIN(d[j], e[j]), u = MIN(s, c[j]);
            z[i * m + j] = MIN(u, t);
        }
    }
}
C(mx_laplacian)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (a, n)
        FOR (b, m) {
            const f64 *c = x + (a * m + b) * k, *u = x + (around(a - 1, n) * m + b) * k,
                      *d = x + (around(a + 1, n) * m + b) * k, *l = x + (a * m + around(b - 1, m)) * k,
                      *r = x + (a * m + around(b + 1, m)) * k;
            f64 *o = z + (a * m + b) * k;
            o[0] = u[0] + d[0] + l[0] + r[0] + c[k - 1] + c[1] - 6 * c[0];
            for (int64_t j = 1; j < k - 1; j++)
                o[j] = u[j] + d[j] + l[j] + r[j] + c[j - 1] + c[j + 1] - 6 * c[j];
            o[k - 1] = u[k - 1] + d[k - 1] + l[k - 1] + r[k - 1] + c[k - 2] + c[0] - 6 * c[k - 1];
        }
}
C(mx_edges_count)
{
    IN(u8, x, 0);
    int64_t n = E(0), m = E(1), total = 0;
    PRAGMA(omp parallel for reduction(+ : total))
    FOR (i, n) {
        u8 line[3][2048];
        int32_t count = 0;
        for (int r = 0; r < 3; r++) {
            u8 *p = line[r] + 1;
            memcpy(p, x + clamp(i + r - 1, n) * m, (size_t)m);
            p[-1] = p[0], p[m] = p[m - 1];
        }
        const u8 *a = line[0] + 1, *b = line[1] + 1, *c = line[2] + 1;
        FOR (j, m) {
            i16 gx = (i16)(a[j + 1] + 2 * b[j + 1] + c[j + 1] - a[j - 1] - 2 * b[j - 1] - c[j - 1]),
                gy = (i16)(c[j - 1] + 2 * c[j] + c[j + 1] - a[j - 1] - 2 * a[j] - a[j + 1]);
            count += (i16)(abs(gx) + abs(gy)) > 100;
        }
        total += count;
    }
    RESULT(i64, 0) = total;
}
C(mx_by_norm)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 s = 0;
        FOR (j, m)
            s += x[i * m + j] * x[i * m + j];
        s = sqrt(s);
        FOR (j, m)
            z[i * m + j] = x[i * m + j] / s;
    }
}
C(mx_log_sum_exp)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 t = x[i * m], s = 0;
        FOR (j, m)
            t = x[i * m + j] > t ? x[i * m + j] : t;
        FOR (j, m)
            s += exp(x[i * m + j] - t);
        z[i] = t + log(s);
    }
}
C(mx_argmin_columns)
{
    IN(i32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    i32 b[1024], w[1024] = {0};
    memcpy(b, x, (size_t)m * 4);
    for (int64_t i = 1; i < n; i++) {
        SIMD
        FOR (j, m) {
            bool l = x[i * m + j] < b[j];
            b[j] = l ? x[i * m + j] : b[j];
            w[j] = l ? (i32)i : w[j];
        }
    }
    FOR (j, m)
        z[j] = w[j];
}
C(mx_argmax_abs)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        int64_t k = 0;
        FOR (j, m)
            s = fabsf(x[i * m + j]) > s ? fabsf(x[i * m + j]) : s;
        while (k < m - 1 && fabsf(x[i * m + k]) != s)
            k++;
        z[i] = k;
    }
}
C(mx_upper)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = j >= i ? x[i * m + j] : 0;
}
C(mx_plus_outer)
{
    IN(f64, x, 0);
    IN(f64, u, 1);
    IN(f64, v, 2);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[i * m + j] + u[i] * v[j];
}
C(mx_cross)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + 3 * i, *b = y + 3 * i;
        z[3 * i] = a[1] * b[2] - a[2] * b[1];
        z[3 * i + 1] = a[2] * b[0] - a[0] * b[2];
        z[3 * i + 2] = a[0] * b[1] - a[1] * b[0];
    }
}
C(mx_distance)
{
    IN(f32, x, 0);
    IN(f32, p, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 a = x[3 * i] - p[0], b = x[3 * i + 1] - p[1], c = x[3 * i + 2] - p[2];
        z[i] = sqrtf(a * a + b * b + c * c);
    }
}
C(mx_quaternion)
{
    IN(f32, w, 0);
    IN(f32, a, 1);
    IN(f32, b, 2);
    IN(f32, c, 3);
    IN(f32, x, 4);
    IN(f32, y, 5);
    IN(f32, z, 6);
    OUT(f32, o, 0);
    OUT(f32, p, 1);
    OUT(f32, q, 2);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 tx = 2 * (b[i] * z[i] - c[i] * y[i]), ty = 2 * (c[i] * x[i] - a[i] * z[i]),
            tz = 2 * (a[i] * y[i] - b[i] * x[i]);
        o[i] = x[i] + w[i] * tx + b[i] * tz - c[i] * ty;
        p[i] = y[i] + w[i] * ty + c[i] * tx - a[i] * tz;
        q[i] = z[i] + w[i] * tz + a[i] * ty - b[i] * tx;
    }
}
C(mx_dot_gathered)
{
    IN(f32, x, 0);
    IN(i32, at, 1);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, k) {
        f32 s = 0;
        const f32 *r = x + at[i] * m;
        FOR (j, m)
            s += r[j] * y[i * m + j];
        z[i] = s;
    }
}
C(mx_gather_columns)
{
    IN(f32, x, 0);
    IN(i32, at, 1);
    OUT(f32, z, 0);
    int64_t n = E(1), k = E(2);
    PARALLEL_FOR
    for (int64_t i0 = 0; i0 < n; i0 += 16)
        FOR (j, k)
            for (int64_t i = i0; i < MIN(i0 + 16, n); i++)
                z[i * k + j] = x[at[j] * n + i];
}
C(mx_gather_columns_2)
{
    IN(f32, x, 1);
    IN(i32, at, 2);
    OUT(f32, z, 0);
    int64_t m = E(0), n = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, k)
            z[i * k + j] = x[i * m + at[j]];
}
C(mx_interpolate)
{
    IN(f32, t, 0);
    IN(u16, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        int32_t k = x[i] >> 8;
        f32 f = (f32)(x[i] & 255) / 256;
        z[i] = t[k] + f * (t[k + 1] - t[k]);
    }
}
C(mx_line_lengths)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), last = -1, k = 0;
    FOR (i, n)
        if (x[i] == 10) {
            if (last >= 0)
                z[k++] = i - last;
            last = i;
        }
    KEPT(0) = k;
}
MAP1(mx_upper_case, u8, u8, (x[i] >= 97 && x[i] <= 122) ? x[i] - 32 : x[i])
C(mx_checksum)
{
    IN(u8, x, 0);
    int64_t n = E(0), s = 0;
    for (int64_t i = 0; i < n; i += 251) {
        int32_t p = 0;
        int64_t c = MIN(251, n - i);
        for (int32_t j = 0; j < c; j++)
            p += (j + 1) * x[i + j];
        s += p;
    }
    RESULT(i64, 0) = s;
}
C(mx_popcount)
{
    IN(u64, x, 0);
    int64_t n = E(0), s = 0;
    FOR (i, n)
        s += __builtin_popcountll(x[i]);
    RESULT(i64, 0) = s;
}
C(mx_xor_scan)
{
    IN(u32, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    u32 s = 0;
    FOR (i, n)
        z[i] = s ^= x[i];
}
C(mx_drawdown)
{
    IN(f64, x, 0);
    int64_t n = E(0);
    f64 m = x[0], d = 0;
    FOR (i, n) {
        m = x[i] > m ? x[i] : m;
        d = m - x[i] > d ? m - x[i] : d;
    }
    RESULT(f64, 0) = d;
}
C(mx_ema)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 s = 0;
    FOR (i, n)
        z[i] = s = 0.9f * s + 0.1f * x[i];
}
C(mx_masked_mean)
{
    IN(b8, m, 0);
    IN(f32, x, 1);
    int64_t n = E(0);
    f32 s = 0;
    i32 c = 0;
    FOR (i, n) {
        s += m[i] ? x[i] : 0;
        c += m[i];
    }
    RESULT(f32, 0) = s / (f32)c;
}
C(mx_filter_histogram)
{
    IN(i32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), h[16] = {0};
    FOR (i, n)
        h[x[i] & 15] += x[i] > 0;
    FOR (k, 16)
        z[k] = h[k];
}
C(mx_partition_even)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), c = 0, o = 0;
    FOR (i, n)
        c += !(x[i] & 1);
    o = c, c = 0;
    FOR (i, n) {
        bool e = !(x[i] & 1);
        z[e ? c : o] = x[i];
        c += e;
        o += !e;
    }
}
C(mx_palindrome)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i];
    PARALLEL_FOR
    FOR (i, n)
        z[n + i] = x[n - 1 - i];
}
C(mx_plus_transpose)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    for (int64_t i0 = 0; i0 < n; i0 += 16)
        for (int64_t j0 = 0; j0 < n; j0 += 16)
            for (int64_t i = i0; i < MIN(i0 + 16, n); i++)
                for (int64_t j = j0; j < MIN(j0 + 16, n); j++)
                    z[i * n + j] = x[i * n + j] + x[j * n + i];
}
C(mx_permute_axes)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), nm = n * m;
    PARALLEL_FOR
    for (int64_t c0 = 0; c0 < k; c0 += 16)
        for (int64_t r0 = 0; r0 < nm; r0 += 16)
            for (int64_t c = c0; c < MIN(c0 + 16, k); c++)
                for (int64_t r = r0; r < MIN(r0 + 16, nm); r++)
                    z[c * nm + r] = x[r * k + c];
}
C(mx_means_of_4)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (i, k)
        z[i] = (i16)((x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3]) >> 2);
}
C(mx_pool_8)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2), a = E(3), b = E(4), c = E(5);
    PARALLEL_FOR
    FOR (i, a)
        FOR (j, b) {
            const f32 *p = x + (2 * i * m + 2 * j) * k, *q = p + k, *r = p + m * k, *s = r + k;
            FOR (l, c) {
                f32 v = MAX(p[2 * l], p[2 * l + 1]), w = MAX(q[2 * l], q[2 * l + 1]), y = MAX(r[2 * l], r[2 * l + 1]),
                    u = MAX(s[2 * l], s[2 * l + 1]);
                v = MAX(v, w);
                y = MAX(y, u);
                z[(i * b + j) * c + l] = MAX(v, y);
            }
        }
}
C(mx_horner)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f64 s = 0.5;
        for (int k = 0; k < 7; k++)
            s = s * x[i] + 0.25 * (k + 1);
        z[i] = s;
    }
}
C(mx_polar)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    OUT(f64, r, 0);
    OUT(f64, a, 1);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        r[i] = sqrt(x[i] * x[i] + y[i] * y[i]);
        a[i] = atan2(y[i], x[i]);
    }
}
MAP1(mx_clip_round, f32, u8, (i32)rintf(fminf(fmaxf(x[i] * 255, 0), 255)))
C(mx_mix_channels)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t k = E(0), p = E(1) * E(2);
    PARALLEL_FOR
    for (int64_t f = 0; f < p; f += 1024) {
        int64_t e = MIN(f + 1024, p);
        for (int64_t i = f; i < e; i++)
            z[i] = w[0] * x[i];
        for (int64_t c = 1; c < k; c++)
            for (int64_t i = f; i < e; i++)
                z[i] += w[c] * x[c * p + i];
    }
}
C(mx_grey)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (u8)((77 * x[3 * i] + 150 * x[3 * i + 1] + 29 * x[3 * i + 2]) >> 8);
}
C(mx_to_rgb)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[3 * i] = z[3 * i + 1] = z[3 * i + 2] = x[i];
}
C(mx_to_channels)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, k)
            z[i * k + c] = x[i];
}
C(mx_repeat_each)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, k)
            z[i * k + c] = x[i];
}
C(mx_scale_rows)
{
    IN(f32, x, 0);
    IN(f32, s, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, k)
            z[i * k + c] = x[i * k + c] * s[i];
}
C(mx_mirror_rows)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[i * m + m - 1 - j];
}
C(mx_turn_90)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t i0 = 0; i0 < m; i0 += 32)
        for (int64_t j0 = 0; j0 < n; j0 += 32)
            for (int64_t i = i0; i < MIN(i0 + 32, m); i++)
                for (int64_t j = j0; j < MIN(j0 + 32, n); j++)
                    z[i * n + j] = x[(n - 1 - j) * m + i];
}
C(mx_count_rows)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 s = 0;
        FOR (j, m)
            s += x[i * m + j] > 128;
        z[i] = s;
    }
}
C(mx_convolve_rows)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *p = x + i * m;
        FOR (j, l)
            z[i * l + j] = w[0] * p[j] + w[1] * p[j + 1] + w[2] * p[j + 2] + w[3] * p[j + 3] + w[4] * p[j + 4];
    }
}
C(mx_convolve_7)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        f32 *o = z + i * l;
        SIMD
        FOR (j, l) {
            f32 s = 0;
            UNROLL(7)
            for (int r = 0; r < 7; r++)
                UNROLL(7)
            for (int c = 0; c < 7; c++)
                s += w[7 * r + c] * x[(i + r) * m + j + c];
            o[j] = s;
        }
    }
}
C(mx_distribution)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        FOR (j, m)
            z[i * m + j] = s += x[i * m + j];
        FOR (j, m)
            z[i * m + j] /= s;
    }
}
C(mx_sums_right)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f64 s = 0;
        for (int64_t j = m; j-- > 0;)
            z[i * m + j] = s += x[i * m + j];
    }
}
C(mx_heat)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    f64 *a = malloc((size_t)n * 8), *b = z;
    const f64 *from = x;
    for (int k = 0; k < 10; k++) {
        f64 *restrict to = k % 2 ? b : a;
        const f64 *restrict p = from;
        to[0] = p[0] + 0.2 * (p[0] - 2 * p[0] + p[1]);
        to[n - 1] = p[n - 1] + 0.2 * (p[n - 2] - 2 * p[n - 1] + p[n - 1]);
        for (int64_t i = 1; i < n - 1; i++)
            to[i] = p[i] + 0.2 * (p[i - 1] - 2 * p[i] + p[i + 1]);
        from = to;
    }
    free(a);
}
C(mx_life_4)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    u8 *t = malloc((size_t)(n * m));
    const u8 *from = x;
    for (int k = 0; k < 4; k++) {
        u8 *to = k % 2 ? z : t;
        PARALLEL_FOR
        FOR (i, n) {
            u8 line[3][2048];
            for (int r = 0; r < 3; r++) {
                u8 *p = line[r] + 1;
                memcpy(p, from + around(i + r - 1, n) * m, (size_t)m);
                p[-1] = p[m - 1], p[m] = p[0];
            }
            const u8 *a = line[0] + 1, *b = line[1] + 1, *c = line[2] + 1;
            u8 *restrict o = to + i * m;
            FOR (j, m) {
                u8 s = (u8)(a[j - 1] + a[j] + a[j + 1] + b[j - 1] + b[j + 1] + c[j - 1] + c[j] + c[j + 1]);
                o[j] = s == 3 ? 1 : s == 2 ? b[j] : 0;
            }
        }
        from = to;
    }
    free(t);
}
C(mx_nearest_1d)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 1e30f;
        FOR (j, m) {
            f32 d = fabsf(x[i] - y[j]);
            s = d < s ? d : s;
        }
        z[i] = s;
    }
}
C(mx_close_pairs)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = E(0), s = 0; PRAGMA(omp parallel for reduction(+ : s))
    FOR (i, n) {
        i32 c = 0;
        FOR (j, n) {
            f32 a = x[i] - x[j], b = y[i] - y[j];
            c += a * a + b * b < 0.01f;
        }
        s += c;
    }
    RESULT(i64, 0) = s;
}
MAP2(mx_average, u8, u8, u8, (x[i] + y[i] + 1) >> 1)
C(mx_sum_axis_0)
{
    IN(i16, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), p = E(1) * E(2);
    PARALLEL_FOR
    for (int64_t f = 0; f < p; f += 2048) {
        int64_t e = MIN(f + 2048, p);
        for (int64_t i = f; i < e; i++)
            z[i] = x[i];
        for (int64_t c = 1; c < n; c++)
            for (int64_t i = f; i < e; i++)
                z[i] += x[c * p + i];
    }
}
C(mx_max_axis_1)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (a, n) {
        u8 *restrict o = z + a * k;
        const u8 *restrict p = x + a * m * k;
        memcpy(o, p, (size_t)k);
        for (int64_t b = 1; b < m; b++)
            FOR (j, k)
                o[j] = MAX(o[j], p[b * k + j]);
    }
}
C(mx_any_rows)
{
    IN(i64, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        bool s = false;
        FOR (j, m)
            s |= x[i * m + j] > 98;
        z[i] = s;
    }
}
MAP1(mx_modulo_7, i32, i32, (x[i] % 7 + 7) % 7)
MAP2(mx_divide, i64, i64, i64, x[i] / y[i])
C(mx_haar)
{
    IN(f32, x, 0);
    OUT(f32, a, 0);
    OUT(f32, b, 1);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (i, k) {
        a[i] = 0.5f * (x[2 * i] + x[2 * i + 1]);
        b[i] = 0.5f * (x[2 * i] - x[2 * i + 1]);
    }
}
C(mx_flat_index)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i] + (i32)i;
}
