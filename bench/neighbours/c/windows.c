#include "c.h"

/* A piece of results stays in the first cache while the offsets go by; four offsets at a time. */
enum { PIECE = 1024 };

#define WINDOW(name, T, K, start, step)                                                                                \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(1);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        for (int64_t first = 0; first < n; first += PIECE) {                                                           \
            T *restrict to = z + first;                                                                                \
            const T *restrict from = x + first;                                                                        \
            int64_t count = MIN(PIECE, n - first), k = 0;                                                              \
            FOR (i, count)                                                                                             \
                to[i] = start;                                                                                         \
            for (; k + 4 <= K; k += 4)                                                                                 \
                SIMD                                                                                                   \
            FOR (i, count) {                                                                                           \
                T s = to[i];                                                                                           \
                step(s, from[i + k]);                                                                                  \
                step(s, from[i + k + 1]);                                                                              \
                step(s, from[i + k + 2]);                                                                              \
                step(s, from[i + k + 3]);                                                                              \
                to[i] = s;                                                                                             \
            }                                                                                                          \
            for (; k < K; k++)                                                                                         \
                FOR (i, count)                                                                                         \
                    step(to[i], from[i + k]);                                                                          \
        }                                                                                                              \
    }
#define ADD(s, v) s += v
#define MULTIPLY(s, v) s *= v
#define LARGER(s, v) s = (v) > s ? (v) : s
WINDOW(window_8_f32, f32, 8, 0, ADD)
WINDOW(window_33_f32, f32, 33, 0, ADD)
WINDOW(window_33_f64, f64, 33, 0, ADD)
WINDOW(window_33_i32, i32, 33, 0, ADD)
WINDOW(product_20_f32, f32, 20, 1, MULTIPLY)
WINDOW(maximum_20_f32, f32, 20, -3.4e38f, LARGER)

static void convolve(const f32 *restrict x, const f32 *restrict w, f32 *restrict z, int64_t m, int64_t n)
{
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += PIECE) {
        f32 *restrict to = z + first;
        const f32 *restrict from = x + first;
        int64_t count = MIN(PIECE, n - first), k = 0;
        FOR (i, count)
            to[i] = 0;
        for (; k + 4 <= m; k += 4)
            SIMD
        FOR (i, count)
            to[i] += w[k] * from[i + k] + w[k + 1] * from[i + k + 1] + w[k + 2] * from[i + k + 2] +
                     w[k + 3] * from[i + k + 3];
        for (; k < m; k++)
            FOR (i, count)
                to[i] += w[k] * from[i + k];
    }
}

C(convolution_f32)
{
    convolve(call->in[0], call->in[1], call->out[0], E(1), E(2));
}

C(convolution_edges_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    convolve(x, w, z + 16, 33, n - 32);
    FOR (e, 32) {
        int64_t i = e < 16 ? e : n - 32 + e;
        f32 s = 0;
        for (int64_t at = MAX(i - 16, 0); at < MIN(i + 17, n); at++)
            s += w[at + 16 - i] * x[at];
        z[i] = s;
    }
}

C(correlation_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), n = E(2);
    PARALLEL_FOR
    FOR (i, m) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, n)
            s += x[j] * x[i + j];
        z[i] = s;
    }
}

#define POOL(T)                                                                                                        \
    C(pool_##T)                                                                                                        \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t m = E(1), k = E(2), l = E(3);                                                                          \
        PARALLEL_FOR                                                                                                   \
        FOR (i, k) {                                                                                                   \
            const T *restrict a = x + 2 * i * m, *restrict b = a + m;                                                  \
            FOR (j, l) {                                                                                               \
                T p = MAX(a[2 * j], a[2 * j + 1]), q = MAX(b[2 * j], b[2 * j + 1]);                                    \
                z[i * l + j] = MAX(p, q);                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }
POOL(f32)
POOL(u8)

C(square_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k)
        SIMD
    FOR (j, l) {
        f32 s = 0;
        UNROLL(5)
        for (int r = 0; r < 5; r++)
            UNROLL(5)
        for (int c = 0; c < 5; c++)
            s += x[(i + r) * m + j + c];
        z[i * l + j] = s;
    }
}
