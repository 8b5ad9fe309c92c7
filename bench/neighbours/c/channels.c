/* Pixels, frames of sound, points of paths and vectors of fields: the innermost dimension's extent is a constant where
 * the signature has one. What goes along rows of pixels goes along rows of numbers: a neighbour is c numbers away. */
#include "c.h"

static inline int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}
static inline int64_t around(int64_t i, int64_t n)
{
    return i < 0 ? i + n : i < n ? i : i - n;
}

/* One row of an image: of rows a, b, d the numbers from `from` to `to`, whose neighbours are `left` and `right` away.
 */
#define LINE_OF_9(name, T, value)                                                                                      \
    static inline void name(const T *a, const T *b, const T *d, T *restrict z, int64_t from, int64_t to, int64_t left, \
                            int64_t right)                                                                             \
    {                                                                                                                  \
        SIMD                                                                                                           \
        for (int64_t k = from; k < to; k++)                                                                            \
            z[k] = (T)(value);                                                                                         \
    }
LINE_OF_9(blurred_f32, f32,
          ((a[k - left] + a[k + right]) + (d[k - left] + d[k + right]) +
           (((a[k] + d[k]) + (b[k - left] + b[k + right])) * 2 + b[k] * 4)) *
              0.0625f)
LINE_OF_9(blurred_u8, u8,
          (u16)(a[k - left] + a[k + right] + d[k - left] + d[k + right] +
                2 * (a[k] + d[k] + b[k - left] + b[k + right]) + 4 * b[k] + 8) >>
              4)
static inline u8 most_of_3(u8 a, u8 b, u8 c)
{
    u8 ab = MAX(a, b);
    return MAX(ab, c);
}
LINE_OF_9(dilated_u8, u8,
          most_of_3(most_of_3(a[k - left], a[k], a[k + right]), most_of_3(b[k - left], b[k], b[k + right]),
                    most_of_3(d[k - left], d[k], d[k + right])))

#define IMAGE_OF_9(name, line, T, c, outside, beside)                                                                  \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1), w = m * (c);                                                                       \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const T *a = x + outside(i - 1, n) * w, *b = x + i * w, *d = x + outside(i + 1, n) * w;                    \
            line(a, b, d, z + i * w, (c), w - (c), (c), (c));                                                          \
            line(a, b, d, z + i * w, 0, (c), beside, m > 1 ? (c) : 0);                                                 \
            line(a, b, d, z + i * w, w - (c), w, m > 1 ? (c) : 0, beside);                                             \
        }                                                                                                              \
    }
IMAGE_OF_9(blur_3_f32, blurred_f32, f32, 3, clamp, 0)
IMAGE_OF_9(blur_3_u8, blurred_u8, u8, 3, clamp, 0)
IMAGE_OF_9(blur_any_f32, blurred_f32, f32, E(2), clamp, 0)
IMAGE_OF_9(blur_wrap_f32, blurred_f32, f32, E(2), around, (E(2) - w))
IMAGE_OF_9(dilate_u8, dilated_u8, u8, 4, clamp, 0)

C(edges_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + clamp(i - 1, n) * m * 3, *b = x + i * m * 3, *d = x + clamp(i + 1, n) * m * 3;
        FOR (j, m) {
            int64_t l = j > 0 ? 3 : 0, r = j + 1 < m ? 3 : 0;
            f32 most = 0;
            FOR (c, 3) {
                int64_t k = 3 * j + c;
                f32 u = b[k + r] - b[k - l], v = d[k] - a[k], s = u * u + v * v;
                most = MAX(most, s);
            }
            z[i * m + j] = sqrtf(most);
        }
    }
}
C(half_size_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t m = E(1), h = E(2), w = E(3);
    PARALLEL_FOR
    FOR (i, h) {
        const u8 *a = x + 2 * i * m * 3, *b = a + m * 3;
        FOR (j, w)
            FOR (c, 3) {
                int64_t k = 6 * j + c;
                z[(i * w + j) * 3 + c] = (u8)((a[k] + a[k + 3] + b[k] + b[k + 3] + 2) >> 2);
            }
    }
}
C(half_size_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), c = E(2), h = E(3), w = E(4);
    PARALLEL_FOR
    FOR (i, h) {
        const f32 *a = x + 2 * i * m * c, *b = a + m * c;
        FOR (j, w)
            FOR (k, c)
                z[(i * w + j) * c + k] =
                    ((a[2 * j * c + k] + a[2 * j * c + c + k]) + (b[2 * j * c + k] + b[2 * j * c + c + k])) * 0.25f;
    }
}
C(twice_the_size_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u8 *line = z + 2 * i * 6 * m;
        FOR (j, m)
            FOR (c, 3)
                line[6 * j + c] = line[6 * j + 3 + c] = x[(i * m + j) * 3 + c];
        memcpy(line + 6 * m, line, (size_t)(6 * m));
    }
}
C(resize_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), h = E(2), w = E(3);
    f32 down = (f32)(n - 1) / (f32)h, across = (f32)(m - 1) / (f32)w;
    PARALLEL_FOR
    FOR (i, h) {
        f32 y = (f32)i * down;
        int64_t y0 = (int64_t)y;
        f32 fy = y - (f32)y0;
        const f32 *a = x + y0 * m * 3, *b = a + m * 3;
        FOR (j, w) {
            f32 u = (f32)j * across;
            int64_t x0 = (int32_t)u;
            f32 fx = u - (f32)x0;
            FOR (c, 3) {
                int64_t k = 3 * x0 + c;
                f32 s = a[k] + fx * (a[k + 3] - a[k]), t = b[k] + fx * (b[k + 3] - b[k]);
                z[(i * w + j) * 3 + c] = s + fy * (t - s);
            }
        }
    }
}
C(over_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, 4)
            z[4 * i + c] = x[4 * i + c] + y[4 * i + c] * (1 - x[4 * i + 3]);
}
C(premultiplied_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u32 alpha = x[4 * i + 3];
        FOR (c, 3)
            z[4 * i + c] = (u8)((x[4 * i + c] * alpha + 127) / 255);
        z[4 * i + 3] = (u8)alpha;
    }
}
C(blue_first_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, 3)
            z[3 * i + c] = x[3 * i + 2 - c];
}
C(masked_u8)
{
    IN(u8, x, 0);
    IN(b8, keep, 1);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, 3)
            z[3 * i + c] = keep[i] ? x[3 * i + c] : 0;
}
C(padded_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), w = 3 * E(3);
    PARALLEL_FOR
    FOR (i, n + 8)
        if (i < 4 || i >= n + 4) {
            memset(z + i * w, 0, (size_t)w);
        } else {
            memset(z + i * w, 0, 12);
            memcpy(z + i * w + 12, x + (i - 4) * m * 3, (size_t)(3 * m));
            memset(z + (i + 1) * w - 12, 0, 12);
        }
}
C(cropped_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t m = E(1), h = E(2), w = 3 * E(3);
    PARALLEL_FOR
    FOR (i, h)
        memcpy(z + i * w, x + ((i + 50) * m + 50) * 3, (size_t)w);
}
C(palette_u8)
{
    IN(u8, x, 0);
    IN(u8, colour, 1);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, 3)
            z[3 * i + c] = colour[3 * x[i] + c];
}
C(bright_u8)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[3 * i] * 77u + x[3 * i + 1] * 150u + x[3 * i + 2] * 29u > 128 * 256;
}

/* Sums of all pixels of each of c channels: some 48 accumulators where there are three. */
static void sums_of_channels(const f32 *x, int64_t n, int64_t c, bool squares, f64 *sum)
{
    enum { MOST = 256, PIXELS = 512 };
    FOR (k, c)
        sum[k] = 0;
    PARALLEL
    {
        f64 mine[MOST] = {0};
        int64_t width = c * (c < 16 ? 16 : 1);
        SPLIT_FOR
        FOR (block, (n + PIXELS - 1) / PIXELS) {
            f32 some[16 * 16 > MOST ? 16 * 16 : MOST] = {0};
            int64_t at = block * PIXELS * c, end = MIN(n, (block + 1) * PIXELS) * c;
            for (; at + width <= end; at += width) {
                if (squares) {
                    SIMD
                    FOR (k, width)
                        some[k] += x[at + k] * x[at + k];
                } else {
                    SIMD
                    FOR (k, width)
                        some[k] += x[at + k];
                }
            }
            for (int64_t k = 0; at < end; at++, k++)
                some[k] += squares ? x[at] * x[at] : x[at];
            FOR (k, width)
                mine[k % c] += some[k];
        }
        CRITICAL
        FOR (k, c)
            sum[k] += mine[k];
    }
}
C(means_of_channels_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f64 sum[3];
    sums_of_channels(x, E(0) * E(1), 3, false, sum);
    FOR (c, 3)
        z[c] = (f32)(sum[c] / (f64)(E(0) * E(1)));
}
C(sums_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0) * E(1);
    i64 r = 0, g = 0, b = 0;
    PRAGMA(omp parallel for reduction(+ : r, g, b) schedule(static))
    FOR (block, (n + 4095) / 4096) {
        u32 p = 0, q = 0, s = 0;
        int64_t end = MIN(n, (block + 1) * 4096);
        for (int64_t i = block * 4096; i < end; i++) {
            p += x[3 * i];
            q += x[3 * i + 1];
            s += x[3 * i + 2];
        }
        r += p;
        g += q;
        b += s;
    }
    z[0] = r;
    z[1] = g;
    z[2] = b;
}
C(histograms_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0) * E(1);
    memset(z, 0, 3 * 256 * 4);
    PARALLEL
    {
        i32 count[3][256] = {{0}};
        SPLIT_FOR
        FOR (i, n)
            FOR (c, 3)
                count[c][x[3 * i + c]]++;
        CRITICAL
        FOR (k, 3 * 256)
            z[k] += count[k / 256][k % 256];
    }
}
/* z = what `value` says of v = x[i] and the k-th of 48 numbers that repeat c by c */
#define CHANNELS_OF_48(value)                                                                                          \
    PARALLEL_FOR                                                                                                       \
    FOR (i, n / SOME) {                                                                                                \
        SIMD                                                                                                           \
        FOR (k, SOME) {                                                                                                \
            f32 v = x[SOME * i + k];                                                                                   \
            z[SOME * i + k] = (value);                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    for (int64_t k = 0, i = n / SOME * SOME; i < n; i++, k++) {                                                        \
        f32 v = x[i];                                                                                                  \
        z[i] = (value);                                                                                                \
    }
C(contrast_f32)
{
    enum { SOME = 48 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1) * 3, whole = n / SOME * SOME;
    f32 least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    PARALLEL
    {
        f32 low[SOME], high[SOME];
        FOR (k, SOME) {
            low[k] = INFINITY;
            high[k] = -INFINITY;
        }
        SPLIT_FOR
        FOR (i, n / SOME) {
            SIMD
            FOR (k, SOME) {
                f32 v = x[SOME * i + k];
                low[k] = MIN(low[k], v);
                high[k] = MAX(high[k], v);
            }
        }
        CRITICAL
        FOR (k, SOME) {
            least[k % 3] = MIN(least[k % 3], low[k]);
            most[k % 3] = MAX(most[k % 3], high[k]);
        }
    }
    for (int64_t k = whole; k < n; k++) {
        least[k % 3] = MIN(least[k % 3], x[k]);
        most[k % 3] = MAX(most[k % 3], x[k]);
    }
    f32 low[SOME], range[SOME];
    FOR (k, SOME) {
        f32 d = most[k % 3] - least[k % 3];
        low[k] = least[k % 3];
        range[k] = d > 1e-6f ? d : 1e-6f;
    }
    CHANNELS_OF_48((v - low[k]) / range[k])
}
C(white_balance_f32)
{
    enum { SOME = 48 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t pixels = E(0) * E(1), n = 3 * pixels;
    f64 sum[3];
    sums_of_channels(x, pixels, 3, false, sum);
    f32 grey = (f32)((sum[0] + sum[1] + sum[2]) / (3 * (f64)pixels)), factor[SOME];
    FOR (k, SOME)
        factor[k] = (f32)(sum[k % 3] / (f64)pixels) / grey;
    CHANNELS_OF_48(v / factor[k])
}
C(hue_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 r = x[3 * i], g = x[3 * i + 1], b = x[3 * i + 2];
        f32 gb = MAX(g, b), most = MAX(r, gb), lb = MIN(g, b), least = MIN(r, lb), range = most - least;
        f32 d = MAX(range, 1e-6f), top = MAX(most, 1e-6f);
        f32 p = most == r ? g - b : most == g ? b - r : r - g, q = most == r ? 0.0f : most == g ? 2.0f : 4.0f;
        z[3 * i] = p / d + q;
        z[3 * i + 1] = range / top;
        z[3 * i + 2] = most;
    }
}

#define FIR(name, channels)                                                                                            \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        int64_t c = channels, n = E(0) * c, from = MIN(n, 4 * c), to = MAX(from, n - 4 * c);                           \
        enum { STRIP = 4096 };                                                                                         \
        PARALLEL_FOR                                                                                                   \
        FOR (s, (to - from + STRIP - 1) / STRIP) {                                                                     \
            int64_t end = MIN(to, from + (s + 1) * STRIP);                                                             \
            SIMD                                                                                                       \
            for (int64_t i = from + s * STRIP; i < end; i++) {                                                         \
                f32 sum = 0;                                                                                           \
                UNROLL(9)                                                                                              \
                for (int64_t k = 0; k < 9; k++)                                                                        \
                    sum += x[i + (k - 4) * c] * ((f32)(k + 1) / 16);                                                   \
                z[i] = sum;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = 0; i < n; i = i + 1 == from ? to : i + 1) {                                                   \
            f32 sum = 0;                                                                                               \
            FOR (k, 9) {                                                                                               \
                int64_t at = i + (k - 4) * c;                                                                          \
                sum += at < 0 || at >= n ? 0 : x[at] * ((f32)(k + 1) / 16);                                            \
            }                                                                                                          \
            z[i] = sum;                                                                                                \
        }                                                                                                              \
    }
FIR(fir_9_f32, 2)
FIR(fir_9_any_f32, E(1))
C(echo_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = 2 * E(0), first = MIN(n, 2 * 4410);
    memcpy(z, x, (size_t)first * 4);
    PARALLEL_FOR
    for (int64_t i = first; i < n; i++)
        z[i] = x[i] + 0.5f * x[i - 2 * 4410];
}
C(mono_i16)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (i16)((x[2 * i] + x[2 * i + 1]) >> 1);
}
C(stereo_i16)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[2 * i] = z[2 * i + 1] = x[i];
}
C(peaks_f32)
{
    enum { SOME = 16 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most[SOME] = {0};
        for (int64_t k = 0; k < 2000; k += SOME)
            SIMD
        FOR (l, SOME) {
            f32 v = fabsf(x[i * 2000 + k + l]);
            most[l] = MAX(most[l], v);
        }
        for (int64_t l = 2; l < SOME; l++)
            most[l % 2] = MAX(most[l % 2], most[l]);
        z[2 * i] = most[0];
        z[2 * i + 1] = most[1];
    }
}
C(faded_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 step = 1.0f / (f32)n;
    PARALLEL_FOR
    FOR (i, n)
        FOR (c, 2)
            z[2 * i + c] = x[2 * i + c] * ((f32)(int32_t)i * step);
}

C(steps_of_path_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = 3 * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i + 3] - x[i];
}
C(smooth_path_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    for (int64_t i = 6; i < 3 * n - 6; i++)
        z[i] = ((((x[i - 6] + x[i - 3]) + x[i]) + x[i + 3]) + x[i + 6]) * 0.2f;
    for (int64_t i = 0; i < n; i = i == 1 ? n - 2 : i + 1)
        FOR (c, 3) {
            f32 sum = 0;
            for (int64_t k = -2; k <= 2; k++)
                sum += x[3 * clamp(i + k, n) + c];
            z[3 * i + c] = sum * 0.2f;
        }
}

/* Sums of columns so far: each worker's rows by themselves, then what stands before them. */
static void running_columns(const f32 *restrict x, f32 *restrict z, int64_t n, int64_t c)
{
    enum { PARTS = 64, MOST = 16 };
    f32 before[PARTS + 1][MOST];
    memset(before, 0, sizeof before);
    PARALLEL_FOR
    FOR (p, PARTS) {
        f32 sum[MOST] = {0};
        for (int64_t i = n * p / PARTS; i < n * (p + 1) / PARTS; i++)
            FOR (k, c)
                sum[k] += x[i * c + k];
        memcpy(before[p + 1], sum, sizeof sum);
    }
    FOR (p, PARTS)
        FOR (k, MOST)
            before[p + 1][k] += before[p][k];
    PARALLEL_FOR
    FOR (p, PARTS) {
        f32 sum[MOST];
        memcpy(sum, before[p], sizeof sum);
        for (int64_t i = n * p / PARTS; i < n * (p + 1) / PARTS; i++)
            FOR (k, c)
                z[i * c + k] = sum[k] += x[i * c + k];
    }
}
C(sums_of_steps_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    running_columns(x, z, E(0), 3);
}
C(sums_of_columns_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), c = E(1);
    switch (c) {
    case 2:
        running_columns(x, z, n, 2);
        break;
    case 5:
        running_columns(x, z, n, 5);
        break;
    default:
        running_columns(x, z, n, c);
    }
}
C(from_centre_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f64 sum[3];
    sums_of_channels(x, n, 3, false, sum);
    f32 a = (f32)(sum[0] / (f64)n), b = (f32)(sum[1] / (f64)n), c = (f32)(sum[2] / (f64)n);
    PARALLEL_FOR
    FOR (i, n) {
        f32 p = x[3 * i] - a, q = x[3 * i + 1] - b, r = x[3 * i + 2] - c;
        z[i] = sqrtf(p * p + q * q + r * r);
    }
}

C(gradient_of_plane_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + clamp(i - 1, n) * m, *b = x + i * m, *d = x + clamp(i + 1, n) * m;
        f32 *line = z + 2 * i * m;
        for (int64_t j = 1; j < m - 1; j++) {
            line[2 * j] = (d[j] - a[j]) * 0.5f;
            line[2 * j + 1] = (b[j + 1] - b[j - 1]) * 0.5f;
        }
        for (int64_t j = 0; j<m; j += m> 1 ? m - 1 : 1) {
            line[2 * j] = (d[j] - a[j]) * 0.5f;
            line[2 * j + 1] = (b[clamp(j + 1, m)] - b[clamp(j - 1, m)]) * 0.5f;
        }
    }
}
C(divergence_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + clamp(i - 1, n) * 2 * m, *b = x + i * 2 * m, *d = x + clamp(i + 1, n) * 2 * m;
        for (int64_t j = 1; j < m - 1; j++)
            z[i * m + j] = ((d[2 * j] - a[2 * j]) + (b[2 * j + 3] - b[2 * j - 1])) * 0.5f;
        for (int64_t j = 0; j<m; j += m> 1 ? m - 1 : 1)
            z[i * m + j] = ((d[2 * j] - a[2 * j]) + (b[2 * clamp(j + 1, m) + 1] - b[2 * clamp(j - 1, m) + 1])) * 0.5f;
    }
}
C(lengths_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = sqrtf(x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1]);
}
C(directions_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 length = sqrtf(x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1]);
        z[2 * i] = x[2 * i] / length;
        z[2 * i + 1] = x[2 * i + 1] / length;
    }
}

C(bias_relu_f32)
{
    IN(f32, x, 0);
    IN(f32, bias, 1);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), c = E(2);
    PARALLEL_FOR
    FOR (i, n)
        FOR (k, c) {
            f32 v = x[i * c + k] + bias[k];
            z[i * c + k] = MAX(v, 0);
        }
}
C(normalised_f32)
{
    enum { MOST = 256 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), c = E(2);
    f64 sum[MOST], squares[MOST];
    sums_of_channels(x, n, c, false, sum);
    sums_of_channels(x, n, c, true, squares);
    f32 mean[MOST], factor[MOST];
    FOR (k, c) {
        f64 m = sum[k] / (f64)n;
        mean[k] = (f32)m;
        factor[k] = 1 / sqrtf((f32)(squares[k] / (f64)n - m * m) + 1e-5f);
    }
    PARALLEL_FOR
    FOR (i, n)
        FOR (k, c)
            z[i * c + k] = (x[i * c + k] - mean[k]) * factor[k];
}
C(depthwise_f32)
{
    IN(f32, x, 0);
    IN(f32, weight, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), c = E(2);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m) {
            f32 *pixel = z + (i * m + j) * c;
            if (i > 0 && j > 0 && i + 1 < n && j + 1 < m) {
                const f32 *a = x + ((i - 1) * m + j - 1) * c, *b = a + m * c, *d = b + m * c;
                SIMD
                FOR (k, c)
                    pixel[k] =
                        a[k] * weight[k] + a[k + c] * weight[k + c] + a[k + 2 * c] * weight[k + 2 * c] +
                        (b[k] * weight[k + 3 * c] + b[k + c] * weight[k + 4 * c] + b[k + 2 * c] * weight[k + 5 * c]) +
                        (d[k] * weight[k + 6 * c] + d[k + c] * weight[k + 7 * c] + d[k + 2 * c] * weight[k + 8 * c]);
                continue;
            }
            FOR (k, c)
                pixel[k] = 0;
            FOR (t, 9) {
                int64_t y = i + t / 3 - 1, u = j + t % 3 - 1;
                if (y < 0 || u < 0 || y >= n || u >= m)
                    continue;
                FOR (k, c)
                    pixel[k] += x[(y * m + u) * c + k] * weight[t * c + k];
            }
        }
}
C(max_pool_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), c = E(2), h = E(3), w = E(4);
    PARALLEL_FOR
    FOR (i, h)
        FOR (j, w) {
            const f32 *a = x + (2 * i * m + 2 * j) * c, *b = a + m * c;
            SIMD
            FOR (k, c) {
                f32 p = MAX(a[k], a[k + c]), q = MAX(b[k], b[k + c]);
                z[(i * w + j) * c + k] = MAX(p, q);
            }
        }
}
C(largest_class_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0) * E(1), c = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t at = 0;
        f32 most = x[i * c];
        for (int64_t k = 1; k < c; k++)
            if (x[i * c + k] > most) {
                most = x[i * c + k];
                at = k;
            }
        z[i] = at;
    }
}
C(mean_of_features_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t b = E(0), n = E(1), c = E(2);
    PARALLEL_FOR
    FOR (i, b) {
        f32 sum[256] = {0};
        FOR (j, n)
            SIMD
        FOR (k, c)
            sum[k] += x[(i * n + j) * c + k];
        FOR (k, c)
            z[i * c + k] = sum[k] / (f32)n;
    }
}
