/* The C sides of group "solvers": fixed point, products, transforms. */
#include "c.h"

#define ROWS_SIMD PRAGMA(omp parallel for simd schedule(static))

/* --- fixed point, products, transforms --- */

C(sv_fir_q15)
{
    IN(i16, x, 0);
    IN(i16, w, 1);
    OUT(i16, z, 0);
    enum { WIDE = 256 };
    int64_t m = E(1), k = E(2), blocks = (k + WIDE - 1) / WIDE;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t begin = MIN(block * WIDE, k - WIDE);
        i32 sum[WIDE] = {0};
        FOR (t, m) {
            i32 by = w[t];
            const i16 *from = x + begin + t;
            SIMD
            FOR (l, WIDE)
                sum[l] += by * from[l];
        }
        SIMD
        FOR (l, WIDE) {
            i32 s = (i32)((u32)sum[l] + (1U << 14)) >> 15;
            z[begin + l] = (i16)MAX(MIN(s, 32767), -32768);
        }
    }
}

C(sv_saturating_add)
{
    IN(i16, x, 0);
    IN(i16, y, 1);
    OUT(i16, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        i32 s = x[i] + y[i];
        z[i] = (i16)(s > 32767 ? 32767 : s < -32768 ? -32768 : s);
    }
}

/* Sixteen products at once of a row. */
C(sv_complex_products)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        enum { WIDE = 16 };
        const f32 *p = x + i * m, *q = y + i * m;
        f32 a[WIDE], b[WIDE], re = 1, im = 0;
        int64_t whole = m >= 2 * WIDE ? m / WIDE * WIDE : 0;
        if (whole) {
            FOR (l, WIDE) {
                a[l] = p[l];
                b[l] = q[l];
            }
            for (int64_t j = WIDE; j < whole; j += WIDE)
                SIMD
            FOR (l, WIDE) {
                f32 c = a[l] * p[j + l] - b[l] * q[j + l];
                b[l] = a[l] * q[j + l] + b[l] * p[j + l];
                a[l] = c;
            }
            for (int64_t half = WIDE / 2; half; half /= 2)
                FOR (l, half) {
                    f32 c = a[l] * a[l + half] - b[l] * b[l + half];
                    b[l] = a[l] * b[l + half] + b[l] * a[l + half];
                    a[l] = c;
                }
            re = a[0];
            im = b[0];
        }
        for (int64_t j = whole; j < m; j++) {
            f32 c = re * p[j] - im * q[j];
            im = re * q[j] + im * p[j];
            re = c;
        }
        z[i] = re;
        w[i] = im;
    }
}

static inline void walsh_pairs(const f32 *x, f32 *z, int64_t n, int64_t h)
{
    for (int64_t from = 0; from < n; from += 2 * h)
        for (int64_t i = from; i < from + h; i++) {
            f32 a = x[i], b = x[i + h];
            z[i] = a + b;
            z[i + h] = a - b;
        }
}

C(sv_walsh_stage)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = SIZE, shift = VALUE(i64, 1), h = (int64_t)1 << shift;
    if (h < 16) {
        PARALLEL_FOR
        for (int64_t from = 0; from < n; from += 2 * h)
            FOR (l, h) {
                i32 a = x[from + l], b = x[from + l + h];
                z[from + l] = a + b;
                z[from + l + h] = a - b;
            }
        return;
    }
    PARALLEL_FOR
    FOR (k, n / 32) {
        int64_t at = 16 * k, from = (at >> shift) * 2 * h + (at & (h - 1));
        SIMD
        FOR (l, 16) {
            i32 a = x[from + l], b = x[from + l + h];
            z[from + l] = a + b;
            z[from + l + h] = a - b;
        }
    }
}

C(sv_walsh_256)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 row[256];
        memcpy(row, x + 256 * i, sizeof(row));
        walsh_pairs(row, row, 256, 1);
        walsh_pairs(row, row, 256, 2);
        walsh_pairs(row, row, 256, 4);
        walsh_pairs(row, row, 256, 8);
        walsh_pairs(row, row, 256, 16);
        walsh_pairs(row, row, 256, 32);
        walsh_pairs(row, row, 256, 64);
        walsh_pairs(row, z + 256 * i, 256, 128);
    }
}

C(sv_haar_back)
{
    IN(f32, low, 0);
    IN(f32, high, 1);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    ROWS_SIMD
    FOR (i, n) {
        z[2 * i] = (low[i] + high[i]) * 0.70710678f;
        z[2 * i + 1] = (low[i] - high[i]) * 0.70710678f;
    }
}

C(sv_haar_2d)
{
    IN(f32, x, 0);
    OUT(f32, p, 0);
    OUT(f32, q, 1);
    OUT(f32, r, 2);
    OUT(f32, s, 3);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        const f32 *top = x + 2 * i * m, *below = top + m;
        SIMD
        FOR (j, l) {
            f32 a = top[2 * j], b = top[2 * j + 1], c = below[2 * j], d = below[2 * j + 1];
            p[i * l + j] = 0.5f * (a + b + c + d);
            q[i * l + j] = 0.5f * (a - b + c - d);
            r[i * l + j] = 0.5f * (a + b - c - d);
            s[i * l + j] = 0.5f * (a - b - c + d);
        }
    }
}
