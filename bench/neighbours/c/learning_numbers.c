/* Optimisers and narrow numbers, of the group `learning`. */
#include "learning.h"

static inline u32 hashed(u32 h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

C(le_adam)
{
    IN(f32, w, 0);
    IN(f32, g, 1);
    IN(f32, m, 2);
    IN(f32, v, 3);
    OUT(f32, z, 0);
    OUT(f32, first, 1);
    OUT(f32, second, 2);
    f32 rate = VALUE(f32, 4);
    int64_t n = E(0);
    PRAGMA(omp parallel for simd schedule(static))
    FOR (i, n) {
        f32 a = 0.9f * m[i] + 0.1f * g[i], b = 0.999f * v[i] + 0.001f * g[i] * g[i];
        first[i] = a;
        second[i] = b;
        z[i] = w[i] - rate * a / (sqrtf(b) + 1e-8f);
    }
}

C(le_quantise_rows)
{
    IN(f32, x, 0);
    OUT(i8, z, 0);
    OUT(f32, scale, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most = 0;
        SIMD_MAX(most)
        FOR (j, m)
            most = MAX(most, fabsf(x[i * m + j]));
        scale[i] = most / 127;
        f32 by = 1 / scale[i];
        SIMD
        FOR (j, m)
            z[i * m + j] = (i8)rintf(x[i * m + j] * by);
    }
}

C(le_quantised_products)
{
    IN(i8, x, 0);
    IN(i8, y, 1);
    IN(f32, scale, 2);
    IN(f32, by, 3);
    OUT(f32, z, 0);
    int64_t n = E(0), l = E(1), m = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        const i8 *a = x + i * l;
        int64_t j = 0;
        for (; j + 4 <= m; j += 4) {
            const i8 *b = y + j * l;
            i32 s = 0, t = 0, u = 0, v = 0;
            SIMD_SUMS(s, t, u, v)
            FOR (k, l) {
                s += a[k] * b[k];
                t += a[k] * b[k + l];
                u += a[k] * b[k + 2 * l];
                v += a[k] * b[k + 3 * l];
            }
            z[i * m + j] = (f32)s * scale[i] * by[j];
            z[i * m + j + 1] = (f32)t * scale[i] * by[j + 1];
            z[i * m + j + 2] = (f32)u * scale[i] * by[j + 2];
            z[i * m + j + 3] = (f32)v * scale[i] * by[j + 3];
        }
        for (; j < m; j++) {
            i32 s = 0;
            SIMD_SUMS(s)
            FOR (k, l)
                s += a[k] * y[j * l + k];
            z[i * m + j] = (f32)s * scale[i] * by[j];
        }
    }
}

C(le_quantised_vector)
{
    IN(i8, x, 0);
    IN(i8, y, 1);
    IN(f32, scale, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 s = 0;
        SIMD_SUMS(s)
        FOR (j, m)
            s += x[i * m + j] * y[j];
        z[i] = (f32)s * scale[i];
    }
}

/* The factors apart, of low and of high halves. */
C(le_four_bit_vector)
{
    IN(u8, w, 0);
    IN(f32, x, 1);
    IN(f32, scale, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *low = malloc((size_t)(2 * m) * sizeof *low), *high = low + m;
    FOR (j, m) {
        low[j] = x[2 * j];
        high[j] = x[2 * j + 1];
    }
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        SIMD_SUMS(s)
        FOR (j, m) {
            i32 b = w[i * m + j];
            s += (f32)((b & 15) - 8) * low[j] + (f32)((b >> 4) - 8) * high[j];
        }
        z[i] = s * scale[i];
    }
    free(low);
}

C(le_brain_vector)
{
    IN(u16, w, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        SIMD_SUMS(s)
        FOR (j, m) {
            union {
                u32 bits;
                f32 value;
            } v = {(u32)w[i * m + j] << 16};
            s += v.value * x[j];
        }
        z[i] = s;
    }
}

C(le_binary_products)
{
    IN(u64, x, 0);
    IN(u64, y, 1);
    OUT(i32, z, 0);
    int64_t n = E(0), l = E(1), m = E(2);
    u64 *t = malloc((size_t)(l * m) * sizeof *t);
    FOR (j, m)
        FOR (k, l)
            t[k * m + j] = y[j * l + k];
    PARALLEL_FOR
    FOR (i, n) {
        i32 *restrict to = z + i * m;
        FOR (j, m)
            to[j] = (i32)(64 * l);
        FOR (k, l) {
            u64 a = x[i * l + k];
            SIMD
            FOR (j, m)
                to[j] -= 2 * (i32)__builtin_popcountll(a ^ t[k * m + j]);
        }
    }
    free(t);
}
