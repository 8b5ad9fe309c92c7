/* Programs as users write them, but for those of pictures (mixed_images.c). */
#include "c.h"

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
