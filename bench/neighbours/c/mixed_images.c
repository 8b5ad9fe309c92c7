/* Programs as users write them: of pictures, and of stencils on grids. */
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
/* The exchanges that leave the fifth of nine in its place. */
#define MEDIAN_9(name, T)                                                                                              \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        static const int8_t pair[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8},     \
                                           {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4},     \
                                           {4, 2}};                                                                    \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T line[3][2048];                                                                                           \
            for (int r = 0; r < 3; r++) {                                                                              \
                T *p = line[r] + 1;                                                                                    \
                memcpy(p, x + clamp(i + r - 1, n) * m, (size_t)m * sizeof(T));                                         \
                p[-1] = p[0], p[m] = p[m - 1];                                                                         \
            }                                                                                                          \
            SIMD                                                                                                       \
            FOR (j, m) {                                                                                               \
                T v[9];                                                                                                \
                UNROLL(9)                                                                                              \
                for (int k = 0; k < 9; k++)                                                                            \
                    v[k] = line[k / 3][j + k % 3];                                                                     \
                UNROLL(19)                                                                                             \
                for (int k = 0; k < 19; k++) {                                                                         \
                    const T a = v[pair[k][0]], b = v[pair[k][1]];                                                      \
                    v[pair[k][0]] = MIN(a, b);                                                                         \
                    v[pair[k][1]] = MAX(a, b);                                                                         \
                }                                                                                                      \
                z[i * m + j] = v[4];                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    }
MEDIAN_9(mx_median_9, u8)
MEDIAN_9(mx_median_9_i16, i16)
MEDIAN_9(mx_median_9_f32, f32)
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
MAP2(mx_average, u8, u8, u8, (x[i] + y[i] + 1) >> 1)
