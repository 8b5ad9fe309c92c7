/* Images, boxes and convolutions, of the group `learning`. */
#include "learning.h"

C(le_convolution_1d)
{
    enum { BLOCK = 1024 };
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t c = E(0), n = E(1), l = E(2), m = E(3);
    PARALLEL_FOR_2
    FOR (k, l)
        for (int64_t b = 0; b < m; b += BLOCK) {
            int64_t width = MIN(BLOCK, m - b);
            f32 s[BLOCK];
            FOR (i, width)
                s[i] = 0;
            FOR (g, c) {
                const f32 *a = x + g * n + b, *t = w + (k * c + g) * 5;
                SIMD
                FOR (i, width)
                    s[i] += a[i] * t[0] + a[i + 1] * t[1] + a[i + 2] * t[2] + a[i + 3] * t[3] + a[i + 4] * t[4];
            }
            memcpy(z + k * m + b, s, (size_t)width * sizeof *z);
        }
}

/* Eight kernels of `pixels` pixels beside each other. */
static inline void pixels_of_8(const f32 *x, int64_t row, const f32 *w, f32 *restrict z, int pixels)
{
    f32 s[8][8] = {{0}};
    FOR (dy, 3)
        FOR (t, 9) {
            const f32 *a = x + dy * row + t, *v = w + (dy * 9 + t) * 8;
            UNROLL(8)
            FOR (p, pixels)
                SIMD
            FOR (k, 8)
                s[p][k] += a[p * 3] * v[k];
        }
    FOR (p, pixels)
        FOR (k, 8)
            z[p * 8 + k] = s[p][k];
}

C(le_convolution_last)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t width = E(1), n = E(2), m = E(3);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t j = 0;
        for (; j + 8 <= m; j += 8)
            pixels_of_8(x + (i * width + j) * 3, width * 3, w, z + (i * m + j) * 8, 8);
        for (; j < m; j++)
            pixels_of_8(x + (i * width + j) * 3, width * 3, w, z + (i * m + j) * 8, 1);
    }
}

C(le_convolution_of_bytes)
{
    IN(u8, x, 0);
    IN(i8, w, 1);
    OUT(u8, z, 0);
    int64_t c = E(0), h = E(1), width = E(2), l = E(3), n = E(4), m = E(5);
    PARALLEL_FOR_2
    FOR (k, l)
        FOR (y, n) {
            i32 s[m];
            FOR (j, m)
                s[j] = 512;
            FOR (g, c) {
                const u8 *p = x + (g * h + y) * width, *q = p + width, *r = q + width;
                const i8 *t = w + (k * c + g) * 9;
                i32 less = 128 * (t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7] + t[8]);
                SIMD
                FOR (j, m)
                    s[j] += p[j] * t[0] + p[j + 1] * t[1] + p[j + 2] * t[2] + q[j] * t[3] + q[j + 1] * t[4] +
                            q[j + 2] * t[5] + r[j] * t[6] + r[j + 1] * t[7] + r[j + 2] * t[8] - less;
            }
            SIMD
            FOR (j, m)
                z[(k * n + y) * m + j] = (u8)MIN(MAX((s[j] >> 10) + 128, 0), 255);
        }
}

C(le_kernel_gradient)
{
    IN(f32, x, 0);
    IN(f32, g, 1);
    OUT(f32, z, 0);
    int64_t c = E(0), h = E(1), w = E(2), l = E(3), n = E(4), m = E(5);
    PARALLEL_FOR_2
    FOR (k, l)
        FOR (j, c) {
            f32 a0 = 0, a1 = 0, a2 = 0, b0 = 0, b1 = 0, b2 = 0, c0 = 0, c1 = 0, c2 = 0;
            FOR (y, n) {
                const f32 *p = x + (j * h + y) * w, *q = p + w, *r = q + w, *s = g + (k * n + y) * m;
                SIMD_SUMS(a0, a1, a2, b0, b1, b2, c0, c1, c2)
                FOR (i, m) {
                    f32 v = s[i];
                    a0 += v * p[i], a1 += v * p[i + 1], a2 += v * p[i + 2];
                    b0 += v * q[i], b1 += v * q[i + 1], b2 += v * q[i + 2];
                    c0 += v * r[i], c1 += v * r[i + 1], c2 += v * r[i + 2];
                }
            }
            const f32 all[] = {a0, a1, a2, b0, b1, b2, c0, c1, c2};
            memcpy(z + (k * c + j) * 9, all, sizeof all);
        }
}

static inline f32 three(const f32 *a, const f32 *t, int64_t j, int64_t w)
{
    return (j > 0 ? a[j - 1] * t[0] : 0) + a[j] * t[1] + (j + 1 < w ? a[j + 1] * t[2] : 0);
}

C(le_depthwise)
{
    IN(f32, x, 0);
    IN(f32, kernel, 1);
    OUT(f32, z, 0);
    int64_t c = E(0), h = E(1), w = E(2);
    f32 *none = zeros(w);
    PARALLEL_FOR
    FOR (k, c)
        FOR (y, h) {
            const f32 *b = x + (k * h + y) * w, *a = y > 0 ? b - w : none, *d = y + 1 < h ? b + w : none;
            const f32 *t = kernel + k * 9;
            f32 *restrict to = z + (k * h + y) * w;
            SIMD
            for (int64_t j = 1; j < w - 1; j++)
                to[j] = a[j - 1] * t[0] + a[j] * t[1] + a[j + 1] * t[2] + b[j - 1] * t[3] + b[j] * t[4] +
                        b[j + 1] * t[5] + d[j - 1] * t[6] + d[j] * t[7] + d[j + 1] * t[8];
            for (int64_t j = 0; j < w; j += w - 1)
                to[j] = three(a, t, j, w) + three(b, t + 3, j, w) + three(d, t + 6, j, w);
        }
    free(none);
}

C(le_max_pool_places)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(i32, place, 1);
    int64_t c = E(0), h = E(1), w = E(2), n = E(3), m = E(4);
    PARALLEL_FOR
    FOR (k, c)
        FOR (y, n) {
            const f32 *a = x + (k * h + 2 * y) * w;
            f32 *restrict to = z + (k * n + y) * m;
            i32 *restrict at = place + (k * n + y) * m, base = (i32)(2 * y * w), step = (i32)w;
            SIMD
            FOR (j, m) {
                f32 best = a[2 * j];
                i32 where = base + 2 * (i32)j;
                FOR (q, 9) {
                    f32 v = a[2 * j + q / 3 * w + q % 3];
                    where = v > best ? base + 2 * (i32)j + (i32)(q / 3) * step + (i32)(q % 3) : where;
                    best = MAX(v, best);
                }
                to[j] = best;
                at[j] = where;
            }
        }
}

/* The four places of each number, one after the other, and then beside each other. */
C(le_unpool)
{
    IN(f32, x, 0);
    IN(u8, which, 1);
    OUT(f32, z, 0);
    int64_t c = E(0), h = E(1), w = E(2), m = E(4);
    PARALLEL
    {
        f32 *restrict p = malloc((size_t)(4 * w) * sizeof *p), *restrict q = p + w, *restrict r = q + w,
                      *restrict s = r + w;
        SPLIT_FOR
        FOR (i, c * h) {
            const f32 *a = x + i * w;
            f32 *restrict to = z + 2 * i * m, *restrict next = to + m;
            SIMD
            FOR (j, w) {
                i32 k = which[i * w + j] & 3;
                p[j] = k == 0 ? a[j] : 0;
                q[j] = k == 1 ? a[j] : 0;
                r[j] = k == 2 ? a[j] : 0;
                s[j] = k == 3 ? a[j] : 0;
            }
            SIMD
            FOR (j, w) {
                to[2 * j] = p[j];
                to[2 * j + 1] = q[j];
            }
            SIMD
            FOR (j, w) {
                next[2 * j] = r[j];
                next[2 * j + 1] = s[j];
            }
        }
        free(p);
    }
}

C(le_average_pool)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    static const f32 ones[] = {1, 1, 1};
    int64_t c = E(0), h = E(1), w = E(2);
    f32 *none = zeros(w);
    PARALLEL_FOR
    FOR (k, c)
        FOR (y, h) {
            const f32 *b = x + (k * h + y) * w, *a = y > 0 ? b - w : none, *d = y + 1 < h ? b + w : none;
            f32 *restrict to = z + (k * h + y) * w, rows = 1 + (f32)(y > 0) + (f32)(y + 1 < h), by = 1 / (3 * rows);
            SIMD
            for (int64_t j = 1; j < w - 1; j++)
                to[j] = (a[j - 1] + a[j] + a[j + 1] + b[j - 1] + b[j] + b[j + 1] + d[j - 1] + d[j] + d[j + 1]) * by;
            for (int64_t j = 0; j < w; j += w - 1)
                to[j] = (three(a, ones, j, w) + three(b, ones, j, w) + three(d, ones, j, w)) / (2 * rows);
        }
    free(none);
}

C(le_global_average_first)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), m = E(2) * E(3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        SIMD_SUMS(s)
        FOR (j, m)
            s += x[i * m + j];
        z[i] = s / (f32)m;
    }
}

C(le_global_average_last)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), l = E(1) * E(2), m = E(3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s[m], by = 1 / (f32)l;
        FOR (j, m)
            s[j] = 0;
        FOR (k, l)
            FOR (j, m)
                s[j] += x[(i * l + k) * m + j];
        FOR (j, m)
            z[i * m + j] = s[j] * by;
    }
}

C(le_upsample_linear)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t c = E(0), h = E(1), w = E(2), n = E(3), m = E(4);
    PARALLEL_FOR
    FOR (k, c) {
        f32 s[w];
        FOR (y, n) {
            f32 at = MAX((f32)y * 0.5f - 0.25f, 0), share = at - (f32)(int64_t)at;
            const f32 *a = x + (k * h + (int64_t)at) * w, *b = (int64_t)at + 1 < h ? a + w : a;
            f32 *restrict to = z + (k * n + y) * m;
            SIMD
            FOR (j, w)
                s[j] = a[j] + share * (b[j] - a[j]);
            to[0] = s[0];
            SIMD
            FOR (j, w - 1) {
                to[2 * j + 1] = s[j] + 0.25f * (s[j + 1] - s[j]);
                to[2 * j + 2] = s[j] + 0.75f * (s[j + 1] - s[j]);
            }
            to[m - 1] = s[w - 1];
        }
    }
}

C(le_normalised_images)
{
    IN(u8, x, 0);
    IN(f32, mean, 1);
    IN(f32, deviation, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1) * E(2);
    f32 by[3], less[3];
    FOR (c, 3) {
        by[c] = 1 / (255 * deviation[c]);
        less[c] = mean[c] / deviation[c];
    }
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *a = x + i * m * 3;
        f32 *restrict p = z + i * m * 3, *restrict q = p + m, *restrict r = q + m;
        SIMD
        FOR (j, m) {
            p[j] = (f32)a[3 * j] * by[0] - less[0];
            q[j] = (f32)a[3 * j + 1] * by[1] - less[1];
            r[j] = (f32)a[3 * j + 2] * by[2] - less[2];
        }
    }
}

C(le_patches)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t c = E(0), h = E(1), w = E(2), n = E(3), m = E(4);
    PARALLEL_FOR
    FOR (k, c * 9) {
        const f32 *a = x + (k / 9 * h + k % 9 / 3) * w + k % 3;
        FOR (y, n) {
            f32 *restrict to = z + (k * n + y) * m;
            SIMD
            FOR (j, m)
                to[j] = a[y * w + j];
        }
    }
}

C(le_patches_as_rows)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t w = E(1), c = E(2), n = E(3), m = E(4);
    PARALLEL_FOR
    FOR (y, n)
        FOR (j, m)
            FOR (dy, 3) {
                const f32 *a = x + ((y + dy) * w + j) * c;
                f32 *restrict to = z + ((y * m + j) * 3 + dy) * 3 * c;
                SIMD
                FOR (k, 3 * c)
                    to[k] = a[k];
            }
}

C(le_crop_flip)
{
    IN(u8, x, 0);
    IN(u8, drawn, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), h = E(1), w = E(2), y = E(3), m = E(4);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t r = drawn[i], down = (r >> 1) % (h - y + 1), right = (r >> 4) % (w - m + 1);
        FOR (k, y) {
            const u8 *a = x + ((i * h + k + down) * w + right) * 3;
            u8 *restrict to = z + (i * y + k) * m * 3;
            if (r & 1)
                SIMD
            FOR (j, m) {
                to[3 * j] = a[3 * (m - 1 - j)];
                to[3 * j + 1] = a[3 * (m - 1 - j) + 1];
                to[3 * j + 2] = a[3 * (m - 1 - j) + 2];
            }
            else memcpy(to, a, (size_t)(3 * m));
        }
    }
}

/* --- boxes --- */

struct columns {
    f32 *x, *y, *w, *h;
};

static struct columns columns_of(const f32 *box, int64_t n)
{
    f32 *all = malloc((size_t)(4 * n) * sizeof *all);
    struct columns c = {all, all + n, all + 2 * n, all + 3 * n};
    FOR (i, n) {
        c.x[i] = box[4 * i];
        c.y[i] = box[4 * i + 1];
        c.w[i] = box[4 * i + 2];
        c.h[i] = box[4 * i + 3];
    }
    return c;
}

static inline f32 overlap(const f32 *a, struct columns b, int64_t j)
{
    f32 wide = MIN(a[0] + a[2], b.x[j] + b.w[j]) - MAX(a[0], b.x[j]);
    f32 high = MIN(a[1] + a[3], b.y[j] + b.h[j]) - MAX(a[1], b.y[j]);
    f32 both = MAX(wide, 0) * MAX(high, 0);
    return both / (a[2] * a[3] + b.w[j] * b.h[j] - both + 1e-9f);
}

C(le_box_overlaps)
{
    IN(f32, a, 0);
    IN(f32, b, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    struct columns c = columns_of(b, m);
    PARALLEL_FOR
    FOR (i, n)
        SIMD
    FOR (j, m)
        z[i * m + j] = overlap(a + 4 * i, c, j);
    free(c.x);
}

C(le_suppressed_boxes)
{
    IN(f32, box, 0);
    IN(f32, score, 1);
    OUT(b8, z, 0);
    int64_t n = E(0);
    struct columns c = columns_of(box, n);
    PARALLEL_FOR
    FOR (i, n) {
        f32 own = score[i];
        i32 beaten = 0;
        PRAGMA(omp simd reduction(| : beaten))
        FOR (j, n)
            beaten |= (score[j] > own) & (overlap(box + 4 * i, c, j) > 0.5f);
        z[i] = beaten;
    }
    free(c.x);
}
