/* Pixels of cameras and screens: raw data, colours, packing, blending. */
#include "imaging.h"

#include <omp.h>

void nb_make_imaging_12_bits(const struct nb_call *call);
void nb_make_imaging_12_bits(const struct nb_call *call)
{
    u16 *x = call->in[1];
    FOR (i, SIZE)
        x[i] &= 4095;
}

/* --- raw data --- */

#define COLOURS(odd_row, r, g, b)                                                                                      \
    ROW_OF_3(m, mirror, {                                                                                              \
        bool odd = j & 1;                                                                                              \
        i32 v = here[j], across = here[left] + here[right], down = up[j] + under[j];                                   \
        i32 corners = up[left] + up[right] + under[left] + under[right], around = (across + down) >> 2;                \
        across >>= 1;                                                                                                  \
        down >>= 1;                                                                                                    \
        corners >>= 2;                                                                                                 \
        r = (u16)(odd_row ? (odd ? corners : down) : (odd ? across : v));                                              \
        g = (u16)(odd == odd_row ? around : v);                                                                        \
        b = (u16)(odd_row ? (odd ? v : across) : (odd ? down : corners));                                              \
    })

#define DEMOSAIC(name, r, g, b, ...)                                                                                   \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(u16, x, 0);                                                                                                 \
        __VA_ARGS__                                                                                                    \
        int64_t n = E(0), m = E(1);                                                                                    \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const u16 *here = x + i * m, *up = x + mirror(i - 1, n) * m, *under = x + mirror(i + 1, n) * m;            \
            if (i & 1) {                                                                                               \
                COLOURS(true, r, g, b)                                                                                 \
            } else {                                                                                                   \
                COLOURS(false, r, g, b)                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
DEMOSAIC(im_demosaic, red[i * m + j], green[i * m + j], blue[i * m + j], OUT(u16, red, 0); OUT(u16, green, 1);
         OUT(u16, blue, 2);)
DEMOSAIC(im_demosaic_interleaved, z[3 * (i * m + j)], z[3 * (i * m + j) + 1], z[3 * (i * m + j) + 2], OUT(u16, z, 0);)

C(im_black_level)
{
    IN(u16, x, 0);
    IN(u16, level, 1);
    IN(u16, gain, 2);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u16 *p = x + i * m;
        i32 even = gain[(i & 1) * 2], odd = gain[(i & 1) * 2 + 1];
        SIMD
        FOR (j, m) {
            i32 v = ((MAX(p[j] - level[j], 0)) * (j & 1 ? odd : even)) >> 6;
            z[i * m + j] = (u16)MIN(v, 4095);
        }
    }
}

C(im_gamma)
{
    IN(u8, table, 0);
    IN(u16, x, 1);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = table[x[i]];
}

C(im_vignette)
{
    IN(u16, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 y = (f32)(i - n / 2), yy = y * y;
        i32 middle = (i32)(m / 2);
        SIMD
        for (i32 j = 0; j < (i32)m; j++) {
            f32 d = (f32)(j - middle), v = x[i * m + j] * (1 + 1e-6f * (yy + d * d));
            z[i * m + j] = (u16)(i32)MIN(v, 65535.0f);
        }
    }
}

C(im_hot_pixels)
{
    IN(u16, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u16 *here = x + i * m, *up = x + mirror(i - 2, n) * m, *under = x + mirror(i + 2, n) * m;
        ROW_OF_5(m, mirror, {
            (void)l1, (void)r1;
            i32 a = up[j], b = under[j], c = here[l2], d = here[r2], v = here[j], ab = MAX(a, b), cd = MAX(c, d);
            z[i * m + j] = (u16)(v > MAX(ab, cd) + 20 ? (a + b + c + d + 2) >> 2 : v);
        })
    }
}

C(im_unpack_12)
{
    IN(u8, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0) / 3;
    PARALLEL_FOR
    FOR (i, n) {
        u16 a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
        z[2 * i] = (u16)(a | (b & 15) << 8);
        z[2 * i + 1] = (u16)(b >> 4 | c << 4);
    }
}

C(im_pack_12)
{
    IN(u16, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) / 2;
    PARALLEL_FOR
    FOR (i, n) {
        u16 a = x[2 * i], b = x[2 * i + 1];
        z[3 * i] = (u8)a;
        z[3 * i + 1] = (u8)((a >> 8 & 15) | b << 4);
        z[3 * i + 2] = (u8)(b >> 4);
    }
}

C(im_unpack_10)
{
    IN(u8, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *p = x + 5 * i;
        FOR (c, 4)
            z[4 * i + c] = (u16)(p[c] << 2 | (p[4] >> 2 * c & 3));
    }
}

/* --- bits --- */

static u64 load_8(const u8 *x)
{
    u64 bits;
    memcpy(&bits, x, 8);
    return bits;
}

C(im_pack_bits)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), k = (m + 7) / 8;
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *p = x + i * m;
        SIMD
        FOR (j, m / 8)
            z[i * k + j] = (u8)(((load_8(p + 8 * j) >> 7 & 0x0101010101010101) * 0x8040201008040201) >> 56);
        if (m % 8) {
            u8 last = 0;
            for (int64_t j = m / 8 * 8; j < m; j++)
                last |= (u8)((p[j] >> 7) << (7 - j % 8));
            z[i * k + k - 1] = last;
        }
    }
}

C(im_unpack_bits)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u64 v = (x[i] * 0x0101010101010101u) & 0x0102040810204080u;
        v = (((v + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u) * 255;
        memcpy(z + 8 * i, &v, 8);
    }
}

C(im_pack_565)
{
    IN(u8, x, 0);
    OUT(u16, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (u16)((x[3 * i] >> 3) << 11 | (x[3 * i + 1] >> 2) << 5 | x[3 * i + 2] >> 3);
}

C(im_unpack_565)
{
    IN(u16, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        u16 r = x[i] >> 11, g = x[i] >> 5 & 63, b = x[i] & 31;
        z[3 * i] = (u8)(r << 3 | r >> 2);
        z[3 * i + 1] = (u8)(g << 2 | g >> 4);
        z[3 * i + 2] = (u8)(b << 3 | b >> 2);
    }
}

/* --- brightness and colour differences --- */

C(im_to_yuv)
{
    IN(u8, x, 0);
    OUT(u8, y, 0);
    OUT(u8, u, 1);
    OUT(u8, v, 2);
    int64_t n = E(0), m = E(1), half = m / 2;
    PARALLEL
    {
        u16 *sum[3];
        FOR (c, 3)
            sum[c] = scratch((int)c, m * (int64_t)sizeof(u16));
        u16 *restrict sr = sum[0], *restrict sg = sum[1], *restrict sb = sum[2];
        SPLIT_FOR
        FOR (i, n / 2) {
            const u8 *p = x + 2 * i * m * 3, *q = p + m * 3;
            u8 *a = y + 2 * i * m, *b = a + m;
            SIMD
            FOR (j, m) {
                a[j] = (u8)(((66 * p[3 * j] + 129 * p[3 * j + 1] + 25 * p[3 * j + 2] + 128) >> 8) + 16);
                b[j] = (u8)(((66 * q[3 * j] + 129 * q[3 * j + 1] + 25 * q[3 * j + 2] + 128) >> 8) + 16);
                sr[j] = p[3 * j] + q[3 * j];
                sg[j] = p[3 * j + 1] + q[3 * j + 1];
                sb[j] = p[3 * j + 2] + q[3 * j + 2];
            }
            SIMD
            FOR (j, half) {
                i32 r = (sr[2 * j] + sr[2 * j + 1] + 2) >> 2, g = (sg[2 * j] + sg[2 * j + 1] + 2) >> 2,
                    k = (sb[2 * j] + sb[2 * j + 1] + 2) >> 2;
                u[i * half + j] = (u8)(((-38 * r - 74 * g + 112 * k + 128) >> 8) + 128);
                v[i * half + j] = (u8)(((112 * r - 94 * g - 18 * k + 128) >> 8) + 128);
            }
        }
    }
}

/* A row from brightness and what is added to it for red, green and blue. */
static void add_colours(const u8 *y, int64_t m, const i32 *restrict r, const i32 *restrict g, const i32 *restrict b,
                        u8 *restrict z)
{
    SIMD
    FOR (j, m) {
        i32 base = (y[j] - 16) * 298 + 128;
        z[3 * j] = to_byte((base + r[j]) >> 8);
        z[3 * j + 1] = to_byte((base + g[j]) >> 8);
        z[3 * j + 2] = to_byte((base + b[j]) >> 8);
    }
}

C(im_from_yuv)
{
    IN(u8, y, 0);
    IN(u8, u, 1);
    IN(u8, v, 2);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), half = m / 2;
    PARALLEL
    {
        i32 *restrict r = scratch(0, m * 3 * (int64_t)sizeof(i32)), *g = r + m, *b = g + m;
        SPLIT_FOR
        FOR (i, n / 2) {
            SIMD
            FOR (j, half) {
                i32 p = u[i * half + j] - 128, q = v[i * half + j] - 128;
                r[2 * j] = r[2 * j + 1] = 409 * q;
                g[2 * j] = g[2 * j + 1] = -100 * p - 208 * q;
                b[2 * j] = b[2 * j + 1] = 516 * p;
            }
            add_colours(y + 2 * i * m, m, r, g, b, z + 2 * i * m * 3);
            add_colours(y + (2 * i + 1) * m, m, r, g, b, z + (2 * i + 1) * m * 3);
        }
    }
}

C(im_from_yuyv)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), half = E(1), m = half * 2;
    PARALLEL
    {
        i32 *restrict r = scratch(0, m * 3 * (int64_t)sizeof(i32)), *g = r + m, *b = g + m;
        u8 *restrict y = scratch(1, m);
        SPLIT_FOR
        FOR (i, n) {
            const u8 *from = x + i * m * 2;
            SIMD
            FOR (j, half) {
                i32 p = from[4 * j + 1] - 128, q = from[4 * j + 3] - 128;
                y[2 * j] = from[4 * j];
                y[2 * j + 1] = from[4 * j + 2];
                r[2 * j] = r[2 * j + 1] = 409 * q;
                g[2 * j] = g[2 * j + 1] = -100 * p - 208 * q;
                b[2 * j] = b[2 * j + 1] = 516 * p;
            }
            add_colours(y, m, r, g, b, z + i * m * 3);
        }
    }
}

C(im_from_nv12)
{
    IN(u8, y, 0);
    IN(u8, uv, 1);
    OUT(u8, red, 0);
    OUT(u8, green, 1);
    OUT(u8, blue, 2);
    int64_t n = E(0), m = E(1), half = m / 2;
    PARALLEL
    {
        u16 *restrict a = scratch(0, (half + 2) * 2 * (int64_t)sizeof(u16)), *restrict b = a + half + 2;
        u8 *restrict u = scratch(1, m * 2), *restrict v = u + m;
        SPLIT_FOR
        FOR (i, n) {
            int64_t k = i / 2, far = clamp(k + (i & 1) * 2 - 1, n / 2);
            const u8 *p = uv + k * m, *q = uv + far * m;
            SIMD
            FOR (j, half) {
                a[j + 1] = 3 * p[2 * j] + q[2 * j];
                b[j + 1] = 3 * p[2 * j + 1] + q[2 * j + 1];
            }
            a[0] = a[1], b[0] = b[1], a[half + 1] = a[half], b[half + 1] = b[half];
            SIMD
            FOR (j, half) {
                u[2 * j] = (u8)((3 * a[j + 1] + a[j] + 8) >> 4);
                u[2 * j + 1] = (u8)((3 * a[j + 1] + a[j + 2] + 8) >> 4);
                v[2 * j] = (u8)((3 * b[j + 1] + b[j] + 8) >> 4);
                v[2 * j + 1] = (u8)((3 * b[j + 1] + b[j + 2] + 8) >> 4);
            }
            SIMD
            FOR (j, m) {
                i32 base = (y[i * m + j] - 16) * 298 + 128, s = u[j] - 128, t = v[j] - 128;
                red[i * m + j] = to_byte((base + 409 * t) >> 8);
                green[i * m + j] = to_byte((base - 100 * s - 208 * t) >> 8);
                blue[i * m + j] = to_byte((base + 516 * s) >> 8);
            }
        }
    }
}

/* --- blending --- */

/* Two channels of a pixel, in sixteen bits each. */
static inline u32 over_two(u32 s, u32 d, u32 rest)
{
    d = d * rest + 0x800080;
    d = (d + (d >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
    d += s;
    u32 beyond = d & 0x1000100;
    return (d | (beyond - (beyond >> 8))) & 0xff00ff;
}

C(im_over)
{
    IN(u32, s, 0);
    IN(u32, d, 1);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        u32 rest = 255 - (s[i] >> 24);
        z[i] = over_two(s[i] & 0xff00ff, d[i] & 0xff00ff, rest) |
               over_two(s[i] >> 8 & 0xff00ff, d[i] >> 8 & 0xff00ff, rest) << 8;
    }
}

MAP3(im_blend, u8, u8, u8, u8, over_255((u16)(x[i] * w[i] + y[i] * (255 - w[i]))))

C(im_chroma_key)
{
    IN(u8, x, 0);
    IN(u8, y, 1);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        i16 most = MAX(x[3 * i], x[3 * i + 2]), green = (i16)((x[3 * i + 1] - most) * 4);
        green = MAX(green, 0);
        u16 rest = (u16)MIN(green, 255), alpha = 255 - rest;
        z[3 * i] = (u8)over_255(x[3 * i] * alpha + y[3 * i] * rest);
        z[3 * i + 1] = (u8)over_255(x[3 * i + 1] * alpha + y[3 * i + 1] * rest);
        z[3 * i + 2] = (u8)over_255(x[3 * i + 2] * alpha + y[3 * i + 2] * rest);
    }
}

C(im_panorama)
{
    IN(u8, a, 0);
    IN(u8, b, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), l = 2 * m - 100, begin = m - 100;
    PARALLEL_FOR
    FOR (i, n) {
        memcpy(z + i * l, a + i * m, (size_t)begin);
        const u8 *p = a + i * m + begin, *q = b + i * m;
        u8 *to = z + i * l + begin;
        for (u16 t = 0; t < 100; t++)
            to[t] = (u8)((u16)(p[t] * (100 - t) + q[t] * t + 50) / 100);
        memcpy(to + 100, q + 100, (size_t)(m - 100));
    }
}

/* --- colours --- */

C(im_palette)
{
    IN(u8, x, 0);
    IN(u8, palette, 1);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    enum { SOME = 512 };
    PARALLEL_FOR
    for (int64_t from = 0; from < n; from += SOME) {
        int64_t some = MIN(SOME, n - from);
        i32 best[SOME];
        i16 r[SOME], g[SOME], b[SOME];
        FOR (j, some) {
            r[j] = x[3 * (from + j)];
            g[j] = x[3 * (from + j) + 1];
            b[j] = x[3 * (from + j) + 2];
            best[j] = INT32_MAX;
        }
        for (i32 k = 0; k < 16; k++) {
            i32 pr = palette[3 * k], pg = palette[3 * k + 1], pb = palette[3 * k + 2];
            SIMD
            FOR (j, some) {
                i32 dr = r[j] - pr, dg = g[j] - pg, db = b[j] - pb, d = (dr * dr + dg * dg + db * db) * 16 + k;
                best[j] = MIN(best[j], d);
            }
        }
        FOR (j, some)
            z[from + j] = (u8)(best[j] & 15);
    }
}

C(im_hsv)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        i32 r = x[3 * i], g = x[3 * i + 1], b = x[3 * i + 2];
        i32 rg = MAX(r, g), most = MAX(rg, b), lrg = MIN(r, g), d = most - MIN(lrg, b);
        i32 gb = 30 * (g - b), br = 30 * (b - r) + 60 * d, last = 30 * (r - g) + 120 * d;
        gb += gb < 0 ? 180 * d : 0;
        i32 top = most == r ? gb : most == g ? br : last;
        /* Quotients of small numbers are exact enough in floats. */
        z[3 * i] = (u8)(i32)((f32)top / (f32)(MAX(d, 1)));
        z[3 * i + 1] = (u8)(i32)((f32)(255 * d) / (f32)(MAX(most, 1)));
        z[3 * i + 2] = (u8)most;
    }
}

MAP1(im_srgb, f32, f32, x[i] <= 0.04045f ? x[i] / 12.92f : powf((x[i] + 0.055f) / 1.055f, 2.4f))

C(im_half_linear)
{
    IN(u8, x, 0);
    IN(u16, linear, 1);
    IN(u8, back, 2);
    OUT(u8, z, 0);
    int64_t m = E(1), h = E(0) / 2, w = m / 2;
    PARALLEL_FOR
    FOR (i, h) {
        const u8 *p = x + 2 * i * m * 3, *q = p + m * 3;
        u8 *to = z + i * w * 3;
        FOR (j, w)
            FOR (c, 3) {
                int64_t k = 6 * j + c;
                to[3 * j + c] = back[(linear[p[k]] + linear[p[k + 3]] + linear[q[k]] + linear[q[k + 3]] + 2) >> 2];
            }
    }
}

#define LUMINANCE(x, i) (0.2126f * x[3 * (i)] + 0.7152f * x[3 * (i) + 1] + 0.0722f * x[3 * (i) + 2])

C(im_tone_map)
{
    IN(f32, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    f32 most = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(max : most))
    FOR (i, n) {
        f32 l = LUMINANCE(x, i);
        most = MAX(most, l);
    }
    f32 square = most * most;
    PARALLEL_FOR
    FOR (i, n) {
        f32 l = LUMINANCE(x, i), scale = (1 + l / square) / (1 + l) * 255;
        f32 r = x[3 * i] * scale, g = x[3 * i + 1] * scale, b = x[3 * i + 2] * scale;
        z[3 * i] = (u8)(i32)MIN(r, 255.0f);
        z[3 * i + 1] = (u8)(i32)MIN(g, 255.0f);
        z[3 * i + 2] = (u8)(i32)MIN(b, 255.0f);
    }
}

C(im_dither)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    u8 limits[8][64];
    FOR (k, 512) {
        int y = (int)(k / 64), c = k % 8, d = y ^ c, limit = 0;
        for (int b = 0; b < 3; b++)
            limit |= (d >> b & 1) << (5 - 2 * b) | (y >> b & 1) << (4 - 2 * b);
        limits[y][k % 64] = (u8)(limit * 4 + 2);
    }
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *p = x + i * m, *limit = limits[i & 7];
        b8 *to = z + i * m;
        int64_t j = 0;
        for (; j + 64 <= m; j += 64)
            FOR (b, 64)
                to[j + b] = p[j + b] > limit[b];
        for (int64_t b = 0; j + b < m; b++)
            to[j + b] = p[j + b] > limit[b];
    }
}

C(im_dither_rows)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 sum = 0;
        FOR (j, m) {
            sum += x[i * m + j];
            bool on = sum >= 255;
            z[i * m + j] = on;
            sum -= on ? 255 : 0;
        }
    }
}

C(im_window_levels)
{
    IN(u16, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    u16 least = UINT16_MAX, most = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(max : most) reduction(min : least))
    FOR (i, n) {
        least = MIN(least, x[i]);
        most = MAX(most, x[i]);
    }
    f64 scale = 1.0 / MAX(most - least, 1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (u8)(i32)(((x[i] - least) * 255 + 0.5) * scale);
}

C(im_deinterlace)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *up = x + clamp(i - 1, n) * m, *under = x + clamp(i + 1, n) * m;
        if (i % 2 == 0)
            memcpy(z + i * m, x + i * m, (size_t)m);
        else
            FOR (j, m)
                z[i * m + j] = (u8)((up[j] + under[j] + 1) >> 1);
    }
}
