#include "c.h"

/* Rows too short for a vector: eight side by side, `step` on the accumulators of row i + l at column j, `first` before
 * and `store` after. The last rows once more. */
enum { SHORT = 16, SIDE = 8 };
#define SIDE_BY_SIDE(first, step, store)                                                                               \
    {                                                                                                                  \
        PARALLEL_FOR                                                                                                   \
        for (int64_t from = 0; from < n; from += SIDE) {                                                               \
            int64_t i = from + SIDE <= n ? from : n - SIDE;                                                            \
            first;                                                                                                     \
            FOR (j, m)                                                                                                 \
                UNROLL(8)                                                                                              \
            for (int l = 0; l < SIDE; l++) {                                                                           \
                int64_t at = (i + l) * m + j;                                                                          \
                step;                                                                                                  \
            }                                                                                                          \
            UNROLL(8)                                                                                                  \
            for (int l = 0; l < SIDE; l++) {                                                                           \
                store;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return;                                                                                                        \
    }

/* A sum for each row; `m` may be a constant. `value` of element `at`. */
#define ROW_SUMS(name, X, A, columns, value)                                                                           \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        OUT(A, z, 0);                                                                                                  \
        int64_t n = E(0), m = columns;                                                                                 \
        if (m < SHORT && n >= SIDE)                                                                                    \
            SIDE_BY_SIDE(A s[SIDE] = {0}, s[l] += (A)(value), z[i + l] = s[l])                                         \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            A s = 0;                                                                                                   \
            PRAGMA(omp simd reduction(+ : s))                                                                          \
            for (int64_t at = i * m; at < (i + 1) * m; at++)                                                           \
                s += (A)(value);                                                                                       \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
ROW_SUMS(sum_rows_f32, f32, f32, E(1), x[at])
ROW_SUMS(sum_rows_f64, f64, f64, E(1), x[at])
ROW_SUMS(sum_rows_i32, i32, i32, E(1), x[at])
ROW_SUMS(sum_rows_u8, u8, u32, E(1), x[at])
ROW_SUMS(sum_rows_i16, i16, i32, E(1), x[at])
ROW_SUMS(sum_33_f32, f32, f32, 33, x[at])
ROW_SUMS(squares_rows_f32, f32, f32, E(1), x[at] * x[at])

#define DOT(T)                                                                                                         \
    C(dot_rows_##T)                                                                                                    \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        if (m < SHORT && n >= SIDE)                                                                                    \
            SIDE_BY_SIDE(T s[SIDE] = {0}, s[l] += x[at] * y[at], z[i + l] = s[l])                                      \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T s = 0;                                                                                                   \
            PRAGMA(omp simd reduction(+ : s))                                                                          \
            FOR (j, m)                                                                                                 \
                s += x[i * m + j] * y[i * m + j];                                                                      \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
DOT(f32)
DOT(f64)

/* A product with a vector; of few long rows all threads share each. */
#define TIMES_VECTOR(T)                                                                                                \
    C(times_vector_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        if (n < 16) {                                                                                                  \
            FOR (i, n) {                                                                                               \
                T s = 0;                                                                                               \
                PRAGMA(omp parallel for simd reduction(+ : s) schedule(static))                                        \
                FOR (j, m)                                                                                             \
                    s += x[i * m + j] * y[j];                                                                          \
                z[i] = s;                                                                                              \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        if (m < SHORT)                                                                                                 \
            SIDE_BY_SIDE(T s[SIDE] = {0}, s[l] += x[at] * y[j], z[i + l] = s[l])                                       \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T s = 0;                                                                                                   \
            PRAGMA(omp simd reduction(+ : s))                                                                          \
            FOR (j, m)                                                                                                 \
                s += x[i * m + j] * y[j];                                                                              \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
TIMES_VECTOR(f32)
TIMES_VECTOR(f64)

#define MAXIMUM(T)                                                                                                     \
    C(maximum_rows_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        if (m < SHORT && n >= SIDE)                                                                                    \
            SIDE_BY_SIDE(T s[SIDE];                                                                                    \
                         FOR (l, SIDE) s[l] = x[(i + l) * m], s[l] = x[at] > s[l] ? x[at] : s[l], z[i + l] = s[l])     \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const T *restrict r = x + i * m;                                                                           \
            T s = r[0];                                                                                                \
            PRAGMA(omp simd reduction(max : s))                                                                        \
            FOR (j, m)                                                                                                 \
                s = r[j] > s ? r[j] : s;                                                                               \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
MAXIMUM(f32)
MAXIMUM(u8)

C(all_small_rows_f32)
{
    IN(f32, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 all = 1;
        PRAGMA(omp simd reduction(& : all))
        FOR (j, m)
            all &= x[i * m + j] < 2;
        z[i] = all;
    }
}

C(count_above_rows_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j] > 1;
        z[i] = s;
    }
}

/* Eight rows side by side, so that no step waits for the one before it. */
C(compose_f32)
{
    IN(f32, a, 0);
    IN(f32, b, 1);
    OUT(f32, fa, 0);
    OUT(f32, fb, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t i = 0; i < n - 7; i += 8) {
        f32 p[8], q[8];
        FOR (l, 8) {
            p[l] = 1;
            q[l] = 0;
        }
        FOR (j, m)
            UNROLL(8)
        FOR (l, 8) {
            int64_t at = (i + l) * m + j;
            p[l] = a[at] * p[l];
            q[l] = a[at] * q[l] + b[at];
        }
        FOR (l, 8) {
            fa[i + l] = p[l];
            fb[i + l] = q[l];
        }
    }
    for (int64_t i = n / 8 * 8; i < n; i++) {
        f32 p = 1, q = 0;
        FOR (j, m) {
            p = a[i * m + j] * p;
            q = a[i * m + j] * q + b[i * m + j];
        }
        fa[i] = p;
        fb[i] = q;
    }
}

C(min_max_rows_f32)
{
    IN(f32, x, 0);
    OUT(f32, lows, 0);
    OUT(f32, highs, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *restrict r = x + i * m;
        f32 low = r[0], high = r[0];
        PRAGMA(omp simd reduction(min : low) reduction(max : high))
        FOR (j, m) {
            low = r[j] < low ? r[j] : low;
            high = r[j] > high ? r[j] : high;
        }
        lows[i] = low;
        highs[i] = high;
    }
}

C(mean_variance_rows_f32)
{
    IN(f32, x, 0);
    OUT(f32, means, 0);
    OUT(f32, variances, 1);
    int64_t n = E(0), m = E(1);
    if (m < SHORT && n >= SIDE)
        SIDE_BY_SIDE(f32 s[SIDE] = {0}; f32 q[SIDE] = {0}, s[l] += x[at]; q[l] += x[at] * x[at], {
            f32 mean = s[l] / (f32)m;
            means[i + l] = mean;
            variances[i + l] = q[l] / (f32)m - mean * mean;
        })
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0, q = 0;
        PRAGMA(omp simd reduction(+ : s, q))
        FOR (j, m) {
            f32 v = x[i * m + j];
            s += v;
            q += v * v;
        }
        f32 mean = s / (f32)m;
        means[i] = mean;
        variances[i] = q / (f32)m - mean * mean;
    }
}

C(sum_count_rows_f32)
{
    IN(f32, x, 0);
    OUT(f32, sums, 0);
    OUT(i64, counts, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        i32 count = 0;
        PRAGMA(omp simd reduction(+ : s, count))
        FOR (j, m) {
            s += x[i * m + j];
            count += x[i * m + j] > 1;
        }
        sums[i] = s;
        counts[i] = count;
    }
}

C(sum_max_argmax_f32)
{
    IN(f32, x, 0);
    OUT(f32, sums, 0);
    OUT(f32, most, 1);
    OUT(i64, places, 2);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *restrict r = x + i * m;
        f32 s = 0, high = r[0];
        PRAGMA(omp simd reduction(+ : s) reduction(max : high))
        FOR (j, m) {
            s += r[j];
            high = r[j] > high ? r[j] : high;
        }
        int64_t at = 0;
        while (r[at] != high)
            at++;
        sums[i] = s;
        most[i] = high;
        places[i] = at;
    }
}

C(statistics_f32)
{
    IN(f32, x, 0);
    OUT(f32, means, 0);
    OUT(f32, lows, 1);
    OUT(f32, highs, 2);
    OUT(f32, variances, 3);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *restrict r = x + i * m;
        f32 s = 0, low = r[0], high = r[0];
        PRAGMA(omp simd reduction(+ : s) reduction(min : low) reduction(max : high))
        FOR (j, m) {
            s += r[j];
            low = r[j] < low ? r[j] : low;
            high = r[j] > high ? r[j] : high;
        }
        f32 mean = s / (f32)m, q = 0;
        PRAGMA(omp simd reduction(+ : q))
        FOR (j, m)
            q += (r[j] - mean) * (r[j] - mean);
        means[i] = mean;
        lows[i] = low;
        highs[i] = high;
        variances[i] = q / (f32)m;
    }
}

C(rows_and_columns_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    memset(w, 0, (size_t)m * sizeof *w);
    PARALLEL
    {
        f32 mine[m];
        memset(mine, 0, sizeof mine);
        SPLIT_FOR
        FOR (i, n) {
            f32 s = 0;
            PRAGMA(omp simd reduction(+ : s))
            FOR (j, m) {
                f32 v = x[i * m + j];
                s += v;
                mine[j] += v;
            }
            z[i] = s;
        }
        CRITICAL
        FOR (j, m)
            w[j] += mine[j];
    }
}

C(rows_and_all_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 all = 0;
    PRAGMA(omp parallel for reduction(+ : all) schedule(static))
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j];
        z[i] = s;
        all += s;
    }
    RESULT(f32, 1) = all;
}

/* The exponentials of a block of rows in one loop, so that vectors are full however short a row is. */
enum { BLOCK = 2048 };
#define SOFTMAX(T, exp_)                                                                                               \
    C(softmax_##T)                                                                                                     \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1), rows = MAX(1, BLOCK / m);                                                          \
        PARALLEL_FOR                                                                                                   \
        for (int64_t from = 0; from < n; from += rows) {                                                               \
            int64_t count = MIN(rows, n - from);                                                                       \
            const T *restrict r = x + from * m;                                                                        \
            T *restrict e = z + from * m;                                                                              \
            FOR (i, count) {                                                                                           \
                T high = r[i * m];                                                                                     \
                PRAGMA(omp simd reduction(max : high))                                                                 \
                FOR (j, m)                                                                                             \
                    high = r[i * m + j] > high ? r[i * m + j] : high;                                                  \
                FOR (j, m)                                                                                             \
                    e[i * m + j] = r[i * m + j] - high;                                                                \
            }                                                                                                          \
            SIMD                                                                                                       \
            FOR (k, count * m)                                                                                         \
                e[k] = exp_(e[k]);                                                                                     \
            FOR (i, count) {                                                                                           \
                T s = 0;                                                                                               \
                PRAGMA(omp simd reduction(+ : s))                                                                      \
                FOR (j, m)                                                                                             \
                    s += e[i * m + j];                                                                                 \
                T factor = 1 / s;                                                                                      \
                FOR (j, m)                                                                                             \
                    e[i * m + j] *= factor;                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }
SOFTMAX(f32, expf)
SOFTMAX(f64, exp)

C(standardise_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *restrict r = x + i * m;
        f32 s = 0, q = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += r[j];
        f32 mean = s / (f32)m;
        PRAGMA(omp simd reduction(+ : q))
        FOR (j, m)
            q += (r[j] - mean) * (r[j] - mean);
        f32 factor = 1 / sqrtf(q / (f32)m + 1e-3f);
        FOR (j, m)
            z[i * m + j] = (r[j] - mean) * factor;
    }
}

C(minus_mean_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j];
        f32 mean = s / (f32)m;
        FOR (j, m)
            z[i * m + j] = x[i * m + j] - mean;
    }
}

C(over_sum_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j];
        FOR (j, m)
            z[i * m + j] = x[i * m + j] / s;
    }
}

C(sum_of_maxima_f32)
{
    IN(f32, x, 0);
    int64_t n = E(0), m = E(1);
    f32 all = 0;
    PRAGMA(omp parallel for reduction(+ : all) schedule(static))
    FOR (i, n) {
        f32 high = x[i * m];
        PRAGMA(omp simd reduction(max : high))
        FOR (j, m)
            high = x[i * m + j] > high ? x[i * m + j] : high;
        all += high;
    }
    RESULT(f32, 0) = all;
}
