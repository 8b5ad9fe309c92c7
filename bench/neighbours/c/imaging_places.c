/* Images in blocks, searched, scanned, turned and warped. */
#include "imaging.h"

#include <omp.h>

/* --- what is drawn --- */

void nb_make_imaging_maps(const struct nb_call *call);
void nb_make_imaging_maps(const struct nb_call *call)
{
    f32 *y = call->in[1], *z = call->in[2];
    FOR (i, E(0))
        FOR (j, E(1)) {
            y[i * E(1) + j] = (f32)i + 7.5f * sinf((f32)j * 0.02f);
            z[i * E(1) + j] = (f32)j + 7.5f * sinf((f32)i * 0.03f);
        }
}

void nb_make_imaging_places(const struct nb_call *call);
void nb_make_imaging_places(const struct nb_call *call)
{
    i16 *y = call->in[1], *z = call->in[2];
    FOR (i, E(0))
        FOR (j, E(1)) {
            y[i * E(1) + j] = (i16)clamp(i + (int64_t)(7.5f * sinf((f32)j * 0.02f)), E(0));
            z[i * E(1) + j] = (i16)clamp(j + (int64_t)(7.5f * sinf((f32)i * 0.03f)), E(1));
        }
}

void nb_make_imaging_matrix(const struct nb_call *call);
void nb_make_imaging_matrix(const struct nb_call *call)
{
    static const f32 matrix[] = {1.1f, -0.2f, 30, 0.15f, 0.9f, -20, 0.0002f, 0.0001f, 1};
    memcpy(call->in[1], matrix, sizeof matrix);
}

/* Runs of some 16 pixels. */
void nb_make_imaging_runs(const struct nb_call *call);
void nb_make_imaging_runs(const struct nb_call *call)
{
    u8 *x = call->in[0];
    u32 state = 1;
    bool on = false;
    FOR (i, E(0) * E(1)) {
        state = state * 1664525 + 1013904223;
        on ^= state >> 28 == 0;
        x[i] = on;
    }
}

/* --- blocks and searches --- */

C(im_template)
{
    IN(u8, x, 0);
    IN(u8, t, 1);
    OUT(i32, z, 0);
    int64_t m = E(1), h = E(0) - 7, w = m - 7;
    PARALLEL
    {
        u16 *restrict sum = scratch(0, w * (int64_t)sizeof(u16));
        SPLIT_FOR
        FOR (i, h) {
            FOR (j, w)
                sum[j] = 0;
            FOR (y, 8) {
                const u8 *p = x + (i + y) * m, *q = t + 8 * y;
                SIMD
                FOR (j, w) {
                    u16 s = sum[j];
                    UNROLL(8)
                    FOR (k, 8) {
                        i16 d = (i16)(p[j + k] - q[k]);
                        s += (u16)(d < 0 ? -d : d);
                    }
                    sum[j] = s;
                }
            }
            FOR (j, w)
                z[i * w + j] = sum[j];
        }
    }
}

C(im_block_motion)
{
    IN(u8, x, 0);
    IN(u8, before, 1);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1), h = n / 8, w = m / 8, wide = m + 8;
    PARALLEL
    {
        u8 *restrict padded = scratch(0, (16 * wide));
        u16 *restrict sum = scratch(1, m * (int64_t)sizeof(u16)), *restrict least =
                                                                      scratch(2, w * (int64_t)sizeof(u16));
        SPLIT_FOR
        FOR (i, h) {
            FOR (y, 16) {
                const u8 *from = before + clamp(i * 8 + y - 4, n) * m;
                memset(padded + y * wide, from[0], 4);
                memcpy(padded + y * wide + 4, from, (size_t)m);
                memset(padded + y * wide + 4 + m, from[m - 1], 4);
            }
            memset(least, 255, (size_t)w * sizeof(u16));
            FOR (step, 81) {
                const u8 *to = padded + step / 9 * wide + step % 9, *from = x + i * 8 * m;
                SIMD
                FOR (j, m) {
                    u16 s = 0;
                    UNROLL(8)
                    FOR (y, 8)
                        s += (u8)(MAX(from[y * m + j], to[y * wide + j]) - MIN(from[y * m + j], to[y * wide + j]));
                    sum[j] = s;
                }
                FOR (j, w) {
                    u16 s = 0;
                    UNROLL(8)
                    FOR (k, 8)
                        s += sum[8 * j + k];
                    if (s < least[j]) {
                        least[j] = s;
                        z[i * w + j] = step;
                    }
                }
            }
        }
    }
}

C(im_disparity)
{
    IN(u32, l, 0);
    IN(u32, r, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        i32 *restrict best = scratch(0, m * (int64_t)sizeof(i32));
        SPLIT_FOR
        FOR (i, n) {
            const u32 *p = l + i * m, *q = r + i * m;
#define NEAREST(steps)                                                                                                 \
    {                                                                                                                  \
        i32 least = INT32_MAX;                                                                                         \
        UNROLL(16)                                                                                                     \
        for (i32 d = 0; d < steps; d++) {                                                                              \
            i32 key = __builtin_popcount(p[j] ^ q[j - d]) * 16 + d;                                                    \
            least = MIN(least, key);                                                                                   \
        }                                                                                                              \
        best[j] = least;                                                                                               \
    }
            for (i32 j = 0; j < 15; j++)
                NEAREST(j + 1)
            SIMD
            for (int64_t j = 15; j < m; j++)
                NEAREST(16) FOR (j, m) z[i * m + j] = (u8)(best[j] & 15);
        }
    }
}

C(im_dct)
{
    IN(u8, x, 0);
    IN(u8, step, 1);
    OUT(i16, z, 0);
    int64_t m = E(1), h = E(0) / 8, w = m / 8;
    f32 cosine[8][8], turned[8][8], inverse[64];
    FOR (u, 8)
        FOR (k, 8)
            turned[k][u] = cosine[u][k] =
                (f32)((u ? 0.5 : 0.5 / sqrt(2)) * cos((double)(2 * k + 1) * (double)u * M_PI / 16));
    FOR (k, 64)
        inverse[k] = 1.0f / step[k];
    PARALLEL_FOR_2
    FOR (i, h)
        FOR (j, w) {
            f32 rows[8][8] = {{0}}, both[8][8] = {{0}};
            FOR (y, 8) {
                const u8 *p = x + (i * 8 + y) * m + j * 8;
                f32 sum[8] = {0};
                FOR (k, 8) {
                    f32 v = (f32)p[k] - 128;
                    SIMD
                    FOR (u, 8)
                        sum[u] += v * turned[k][u];
                }
                memcpy(rows[y], sum, sizeof sum);
            }
            FOR (v, 8) {
                f32 sum[8] = {0};
                FOR (y, 8) {
                    f32 c = cosine[v][y];
                    SIMD
                    FOR (u, 8)
                        sum[u] += c * rows[y][u];
                }
                memcpy(both[v], sum, sizeof sum);
            }
            i16 *to = z + (i * w + j) * 64;
            FOR (k, 64)
                to[k] = (i16)(i32)rintf(both[k / 8][k % 8] * inverse[k]);
        }
}

C(im_zigzag)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    OUT(i32, last, 1);
    int64_t n = E(0);
    u8 order[64];
    for (int s = 0, at = 0; s < 15; s++)
        for (int k = 0; k <= s; k++) {
            int y = s % 2 ? k : s - k, c = s - y;
            if (y < 8 && c < 8)
                order[at++] = (u8)(y * 8 + c);
        }
    PARALLEL_FOR
    FOR (i, n) {
        const i16 *p = x + i * 64;
        i16 *to = z + i * 64;
        FOR (k, 64)
            to[k] = p[order[k]];
        i16 found = 0;
        for (i16 k = 0; k < 64; k++) {
            i16 number = to[k] > 90 || to[k] < -90 ? k + 1 : 0;
            found = MAX(found, number);
        }
        last[i] = found;
    }
}

C(im_wavelet)
{
    IN(i16, x, 0);
    OUT(i16, smooth, 0);
    OUT(i16, detail, 1);
    int64_t n = E(0), m = E(1), half = m / 2;
    PARALLEL_FOR
    FOR (i, n) {
        const i16 *p = x + i * m;
        i16 *restrict s = smooth + i * half, *restrict d = detail + i * half;
        FOR (j, half - 1)
            d[j] = (i16)(p[2 * j + 1] - ((p[2 * j] + p[2 * j + 2]) >> 1));
        d[half - 1] = (i16)(p[m - 1] - p[m - 2]);
        s[0] = (i16)(p[0] + ((2 * d[0] + 2) >> 2));
        for (int64_t j = 1; j < half; j++)
            s[j] = (i16)(p[2 * j] + ((d[j - 1] + d[j] + 2) >> 2));
    }
}

C(im_median_of_frames)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
#define ORDER(p, q)                                                                                                    \
    {                                                                                                                  \
        u8 low = MIN(p, q), high = MAX(p, q);                                                                          \
        p = low;                                                                                                       \
        q = high;                                                                                                      \
    }
    PARALLEL_FOR
    FOR (i, n) {
        u8 a = x[i], b = x[n + i], c = x[2 * n + i], d = x[3 * n + i], e = x[4 * n + i];
        ORDER(a, b)
        ORDER(d, e)
        ORDER(a, d)
        ORDER(b, e)
        ORDER(b, c)
        ORDER(c, d)
        ORDER(b, c)
        z[i] = c;
    }
}

/* --- runs, distances, seams --- */

C(im_row_runs)
{
    IN(u8, x, 0);
    OUT(i32, row, 0);
    OUT(i32, begin_of, 1);
    OUT(i32, end_of, 2);
    int64_t n = E(0), m = E(1), kept_of[257] = {0};
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num(), begin = n * id / count,
                end = n * (id + 1) / count, k = 0;
        for (int64_t i = begin; i < end; i++) {
            const u8 *p = x + i * m;
            u32 found = p[0];
            for (int64_t j = 1; j < m; j++)
                found += p[j] & ~p[j - 1];
            k += found;
        }
        kept_of[id + 1] = k;
        PRAGMA(omp barrier)
        k = 0;
        FOR (other, id + 1)
            k += kept_of[other];
        for (int64_t i = begin; i < end; i++) {
            const u8 *p = x + i * m;
            for (int64_t j = 0; j < m;) {
                const u8 *found = memchr(p + j, 1, (size_t)(m - j));
                if (!found)
                    break;
                j = found - p;
                const u8 *behind = memchr(p + j, 0, (size_t)(m - j));
                int64_t to = behind ? behind - p : m;
                row[k] = (i32)i;
                begin_of[k] = (i32)j;
                end_of[k++] = (i32)to - 1;
                j = to;
            }
        }
        if (id == count - 1)
            KEPT(0) = KEPT(1) = KEPT(2) = k;
    }
}

C(im_distance_l1)
{
    IN(u8, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0), m = E(1);
    enum { STRIP = 256 };
    PARALLEL
    {
        SPLIT_FOR
        FOR (i, n) {
            i16 *to = z + i * m;
            i32 near = 10000;
            FOR (j, m) {
                near = x[i * m + j] > 195 ? 0 : near + 1;
                to[j] = (i16)near;
            }
            for (int64_t j = m - 1; j >= 0; j--) {
                i32 next = near + 1, here = to[j];
                near = MIN(here, next);
                to[j] = (i16)MIN(near, 10000);
            }
        }
        SPLIT_FOR
        for (int64_t from = 0; from < m; from += STRIP) {
            int64_t some = MIN(STRIP, m - from);
            for (int64_t i = 1; i < n; i++) {
                i16 *row = z + i * m + from;
                const i16 *above = row - m;
                SIMD
                FOR (j, some) {
                    i16 there = above[j] + 1;
                    row[j] = MIN(row[j], there);
                }
            }
            for (int64_t i = n - 2; i >= 0; i--) {
                i16 *row = z + i * m + from;
                const i16 *under = row + m;
                SIMD
                FOR (j, some) {
                    i16 there = under[j] + 1;
                    row[j] = MIN(row[j], there);
                }
            }
        }
    }
}

C(im_seams)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    i32 *restrict a = scratch(0, (m + 2) * (int64_t)sizeof(i32)), *restrict b =
                                                                      scratch(1, (m + 2) * (int64_t)sizeof(i32));
    memcpy(a + 1, x, (size_t)m * sizeof(i32));
    for (int64_t i = 1; i < n; i++) {
        a[0] = a[1];
        a[m + 1] = a[m];
        const i32 *p = x + i * m;
        SIMD
        FOR (j, m) {
            i32 beside = MIN(a[j], a[j + 2]);
            b[j + 1] = MIN(beside, a[j + 1]) + p[j];
        }
        i32 *other = a;
        a = b;
        b = other;
    }
    memcpy(z, a + 1, (size_t)m * sizeof(i32));
}

/* --- geometry --- */

static void fixed_places(int64_t from, int64_t to, i32 *first, i32 *second, i32 *weight)
{
    FOR (j, to) {
        int64_t at = (2 * j + 1) * from * 128 / to - 128;
        at = MAX(MIN(at, (from - 1) * 256), 0);
        first[j] = (i32)(at >> 8);
        second[j] = (i32)MIN((at >> 8) + 1, from - 1);
        weight[j] = (i32)(at & 255);
    }
}

C(im_resize_bilinear)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    i32 *table = scratch(0, ((k + l) * 3) * (int64_t)sizeof(i32));
    i32 *up = table, *down = up + k, *s = down + k, *left = s + k, *right = left + l, *t = right + l;
    fixed_places(n, k, up, down, s);
    fixed_places(m, l, left, right, t);
    PARALLEL
    {
        /* Rows of the image are stretched once. */
        i32 *memory = scratch(1, l * 2 * (int64_t)sizeof(i32)), held[] = {-1, -1};
        SPLIT_FOR
        FOR (i, k) {
            i32 rows[] = {up[i], down[i]}, *of[2];
            FOR (r, 2) {
                int slot = rows[r] & 1;
                of[r] = memory + slot * l;
                if (held[slot] == rows[r])
                    continue;
                held[slot] = rows[r];
                const u8 *p = x + rows[r] * m;
                i32 *restrict to = of[r];
                SIMD
                FOR (j, l)
                    to[j] = p[left[j]] * (256 - t[j]) + p[right[j]] * t[j];
            }
            i32 b = s[i], a = 256 - b, *p = of[0], *q = of[1];
            SIMD
            FOR (j, l)
                z[i * l + j] = (u8)((p[j] * a + q[j] * b + 32768) >> 16);
        }
    }
}

C(im_resize_nearest)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    i32 *from = scratch(0, l * (int64_t)sizeof(i32));
    FOR (j, l)
        from[j] = (i32)(j * m / l);
    PARALLEL
    {
        int64_t held = -1, place = 0;
        SPLIT_FOR
        FOR (i, k) {
            int64_t row = i * n / k;
            if (row == held) {
                memcpy(z + i * l, z + place * l, (size_t)l);
                continue;
            }
            held = row;
            place = i;
            const u8 *p = x + row * m;
            FOR (j, l)
                z[i * l + j] = p[from[j]];
        }
    }
}

static void cubic(f32 t, f32 *w)
{
    w[0] = t * (-0.5f + t * (1 - 0.5f * t));
    w[1] = 1 + t * t * (-2.5f + 1.5f * t);
    w[2] = t * (0.5f + t * (2 - 1.5f * t));
    w[3] = t * t * (-0.5f + 0.5f * t);
}

C(im_resize_bicubic)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    f32 *w = scratch(0, l * 4 * (int64_t)sizeof(f32)), scale = (f32)m / (f32)l, scale_down = (f32)n / (f32)k;
    i32 *from = scratch(1, l * 4 * (int64_t)sizeof(i32));
    FOR (j, l) {
        f32 at = ((f32)j + 0.5f) * scale - 0.5f, low = floorf(at), of[4];
        cubic(at - low, of);
        FOR (c, 4) {
            from[c * l + j] = (i32)clamp((int64_t)low - 1 + c, m);
            w[c * l + j] = of[c];
        }
    }
    PARALLEL
    {
        f32 *memory = scratch(2, l * 4 * (int64_t)sizeof(f32));
        int64_t held[] = {-1, -1, -1, -1};
        SPLIT_FOR
        FOR (i, k) {
            f32 at = ((f32)i + 0.5f) * scale_down - 0.5f, low = floorf(at), v[4], *of[4];
            cubic(at - low, v);
            FOR (c, 4) {
                int64_t row = clamp((int64_t)low - 1 + c, n), slot = row & 3;
                of[c] = memory + slot * l;
                if (held[slot] == row)
                    continue;
                held[slot] = row;
                const f32 *p = x + row * m;
                f32 *restrict to = of[c];
                SIMD
                FOR (j, l)
                    to[j] = w[j] * p[from[j]] + w[l + j] * p[from[l + j]] + w[2 * l + j] * p[from[2 * l + j]] +
                            w[3 * l + j] * p[from[3 * l + j]];
            }
            const f32 *a = of[0], *b = of[1], *c = of[2], *d = of[3];
            SIMD
            FOR (j, l)
                z[i * l + j] = v[0] * a[j] + v[1] * b[j] + v[2] * c[j] + v[3] * d[j];
        }
    }
}

C(im_turn_180)
{
    IN(u32, x, 0);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[n - 1 - i];
}

C(im_turn_90)
{
    IN(u16, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1);
    enum { T = 32 };
    PARALLEL_FOR_2
    for (int64_t j0 = 0; j0 < m; j0 += T)
        for (int64_t i0 = 0; i0 < n; i0 += T)
            for (int64_t j = j0; j < MIN(j0 + T, m); j++)
                for (int64_t i = i0; i < MIN(i0 + T, n); i++)
                    z[j * n + i] = x[(n - 1 - i) * m + j];
}

static inline u8 sampled(const u8 *x, i32 n, i32 m, f32 y, f32 z)
{
    f32 low_y = floorf(y), low_z = floorf(z);
    i32 a = (i32)low_y, b = (i32)low_z;
    if (a < 0 || a + 1 >= n || b < 0 || b + 1 >= m)
        return 0;
    i32 s = (i32)((y - low_y) * 256), t = (i32)((z - low_z) * 256);
    const u8 *p = x + (int64_t)a * m + b, *q = p + m;
    i32 up = p[0] * (256 - t) + p[1] * t, down = q[0] * (256 - t) + q[1] * t;
    return (u8)((up * (256 - s) + down * s + 32768) >> 16);
}

C(im_affine)
{
    IN(u8, x, 0);
    IN(f32, offset, 1);
    OUT(u8, z, 0);
    i32 n = (i32)E(0), m = (i32)E(1);
    f32 right = offset[0], down = offset[1];
    PARALLEL_FOR
    FOR (i, n)
        for (i32 j = 0; j < m; j++)
            z[i * m + j] =
                sampled(x, n, m, 0.25f * (f32)j + 0.9375f * (f32)i + down, 0.9375f * (f32)j - 0.25f * (f32)i + right);
}

C(im_remap)
{
    IN(u8, x, 0);
    IN(f32, y, 1);
    IN(f32, w, 2);
    OUT(u8, z, 0);
    i32 n = (i32)E(0), m = (i32)E(1);
    PARALLEL_FOR
    FOR (i, (int64_t)n * m)
        z[i] = sampled(x, n, m, y[i], w[i]);
}

C(im_remap_nearest)
{
    IN(u8, x, 0);
    IN(i16, y, 1);
    IN(i16, w, 2);
    OUT(u8, z, 0);
    i32 m = (i32)E(1);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[y[i] * m + w[i]];
}

C(im_perspective)
{
    IN(u16, x, 0);
    IN(f32, h, 1);
    OUT(u16, z, 0);
    i32 n = (i32)E(0), m = (i32)E(1);
    PARALLEL_FOR
    FOR (i, n)
        for (i32 j = 0; j < m; j++) {
            f32 y = (f32)i, c = (f32)j, w = h[6] * c + h[7] * y + h[8];
            i32 column = (i32)floorf((h[0] * c + h[1] * y + h[2]) / w);
            i32 row = (i32)floorf((h[3] * c + h[4] * y + h[5]) / w);
            bool inside = row >= 0 && row < n && column >= 0 && column < m;
            z[i * m + j] = inside ? x[row * m + column] : 0;
        }
}
