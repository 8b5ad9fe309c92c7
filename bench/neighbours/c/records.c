#include "c.h"

C(pack_bits)
{
    IN(b8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u8 byte = 0;
        FOR (k, 8)
            byte |= (u8)(x[8 * i + k] << k);
        z[i] = byte;
    }
}

C(unpack_bits)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        FOR (k, 8)
            z[8 * i + k] = x[i] >> k & 1;
}

C(words_of_bytes)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (u32)x[4 * i] | (u32)x[4 * i + 1] << 8 | (u32)x[4 * i + 2] << 16 | (u32)x[4 * i + 3] << 24;
}

C(hexadecimal)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u8 high = x[i] >> 4, low = x[i] & 15;
        z[2 * i] = (u8)(high + (high < 10 ? '0' : 'a' - 10));
        z[2 * i + 1] = (u8)(low + (low < 10 ? '0' : 'a' - 10));
    }
}

C(inverses_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 m[9], c[9];
        FOR (k, 9)
            m[k] = x[9 * i + k] + (k % 4 ? 0 : 3);
        FOR (k, 9) {
            int64_t row = k / 3, column = k % 3, r1 = (column + 1) % 3, r2 = (column + 2) % 3, c1 = (row + 1) % 3,
                    c2 = (row + 2) % 3;
            c[k] = m[r1 * 3 + c1] * m[r2 * 3 + c2] - m[r1 * 3 + c2] * m[r2 * 3 + c1];
        }
        f32 all = m[0] * c[0] + m[1] * c[3] + m[2] * c[6];
        FOR (k, 9)
            z[9 * i + k] = c[k] / all;
    }
}

C(quaternions_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + 4 * i, *b = y + 4 * i;
        z[4 * i] = a[0] * b[0] - a[1] * b[1] - (a[2] * b[2] + a[3] * b[3]);
        z[4 * i + 1] = a[0] * b[1] + a[1] * b[0] + (a[2] * b[3] - a[3] * b[2]);
        z[4 * i + 2] = a[0] * b[2] + a[2] * b[0] + (a[3] * b[1] - a[1] * b[3]);
        z[4 * i + 3] = a[0] * b[3] + a[3] * b[0] + (a[1] * b[2] - a[2] * b[1]);
    }
}

/* Sixteen points at a time, so that each place of a vector has one coordinate. */
#define BOUNDS(name, value)                                                                                            \
    C(name)                                                                                                            \
    {                                                                                                                  \
        enum { SOME = 48 };                                                                                            \
        IN(f32, x, 0);                                                                                                 \
        OUT(f32, least, 0);                                                                                            \
        OUT(f32, most, 1);                                                                                             \
        int64_t n = 3 * E(0);                                                                                          \
        FOR (c, 3) {                                                                                                   \
            least[c] = INFINITY;                                                                                       \
            most[c] = -INFINITY;                                                                                       \
        }                                                                                                              \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            f32 low[SOME], high[SOME];                                                                                 \
            FOR (k, SOME) {                                                                                            \
                low[k] = INFINITY;                                                                                     \
                high[k] = -INFINITY;                                                                                   \
            }                                                                                                          \
            SPLIT_FOR                                                                                                  \
            FOR (i, n / SOME) {                                                                                        \
                SIMD                                                                                                   \
                FOR (k, SOME) {                                                                                        \
                    f32 v = x[SOME * i + k];                                                                           \
                    v = value;                                                                                         \
                    low[k] = MIN(low[k], v);                                                                           \
                    high[k] = MAX(high[k], v);                                                                         \
                }                                                                                                      \
            }                                                                                                          \
            CRITICAL                                                                                                   \
            FOR (k, SOME) {                                                                                            \
                least[k % 3] = MIN(least[k % 3], low[k]);                                                              \
                most[k % 3] = MAX(most[k % 3], high[k]);                                                               \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = n / SOME * SOME; i < n; i++) {                                                                \
            f32 v = x[i];                                                                                              \
            v = value;                                                                                                 \
            least[i % 3] = MIN(least[i % 3], v);                                                                       \
            most[i % 3] = MAX(most[i % 3], v);                                                                         \
        }                                                                                                              \
    }
BOUNDS(bounds_f32, v)
BOUNDS(bounds_of_positive_f32, v > 0 ? v : 0)

C(moved_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        FOR (c, 3) {
            z[6 * i + c] = x[6 * i + c] + x[6 * i + c + 3] * 0.01F;
            z[6 * i + c + 3] = x[6 * i + c + 3];
        }
    }
}

C(butterflies_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t half = E(0) / 2 * 2;
    PARALLEL_FOR
    FOR (i, half) {
        z[i] = x[i] + x[i + half];
        z[i + half] = x[i] - x[i + half];
    }
}

C(rolled_pixels_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), left = 3 * (100 % m);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *row = x + 3 * m * i;
        memcpy(z + 3 * m * i, row + left, (size_t)(3 * m - left));
        memcpy(z + 3 * m * i + 3 * m - left, row, (size_t)left);
    }
}

#define SORT(a, b)                                                                                                     \
    {                                                                                                                  \
        f32 low = MIN(a, b), high = MAX(a, b);                                                                         \
        a = low;                                                                                                       \
        b = high;                                                                                                      \
    }

C(median_of_5_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 a = x[5 * i], b = x[5 * i + 1], c = x[5 * i + 2], d = x[5 * i + 3], e = x[5 * i + 4];
        SORT(a, b)
        SORT(d, e)
        SORT(a, d)
        SORT(b, e)
        SORT(b, c)
        SORT(c, d)
        SORT(b, c)
        z[i] = c;
    }
}

C(yuv_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int r = x[3 * i], g = x[3 * i + 1], b = x[3 * i + 2];
        z[3 * i] = (u8)((66 * r + 129 * g + 25 * b + 4224) >> 8);
        z[3 * i + 1] = (u8)((112 * b - (38 * r + 74 * g) + 32896) >> 8);
        z[3 * i + 2] = (u8)((112 * r - (94 * g + 18 * b) + 32896) >> 8);
    }
}

C(candles_f32)
{
    IN(f32, x, 0);
    OUT(f32, open, 0);
    OUT(f32, high, 1);
    OUT(f32, low, 2);
    OUT(f32, close, 3);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *p = x + 60 * i;
        f32 most = p[0], least = p[0];
        FOR (k, 60) {
            most = MAX(most, p[k]);
            least = MIN(least, p[k]);
        }
        open[i] = p[0];
        high[i] = most;
        low[i] = least;
        close[i] = p[59];
    }
}

C(mixed_tenths_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, 10)
            z[10 * i + j] = x[10 * i + (j + 1) % 10] - x[10 * i + (j + 9) % 10];
}

#define COLUMNS(T)                                                                                                     \
    C(some_columns_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        const int64_t n = E(0);                                                                                        \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = (T)(x[7 * i] * x[7 * i + 2] + x[7 * i + 5] - x[7 * i + 6]);                                         \
    }                                                                                                                  \
    C(one_column_##T)                                                                                                  \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        const int64_t n = E(0), k = E(1);                                                                              \
        if (k == 6) {                                                                                                  \
            PARALLEL_FOR                                                                                               \
            FOR (i, n)                                                                                                 \
                z[i] = x[6 * i + 4];                                                                                   \
        } else {                                                                                                       \
            PARALLEL_FOR                                                                                               \
            FOR (i, n)                                                                                                 \
                z[i] = x[8 * i + 4];                                                                                   \
        }                                                                                                              \
    }
COLUMNS(f32)
COLUMNS(f64)
COLUMNS(u8)
COLUMNS(i16)
