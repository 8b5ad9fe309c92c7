#include "c.h"

/* Many columns: strips of STRIP for each thread, four rows at a time. Few: each thread goes through a part of the rows;
 * GROUP rows at once are one long row with GROUP accumulators a column, so that vectors are full. */
enum { STRIP = 512, FEW = 64, GROUP = 16 };

#define COLUMNS(name, T, A, start, step, join)                                                                         \
    static void name##_strip(const T *restrict x, A *restrict s, int64_t n, int64_t m, int64_t width)                  \
    {                                                                                                                  \
        int64_t i = 0;                                                                                                 \
        for (; i + 4 <= n; i += 4) {                                                                                   \
            const T *restrict r0 = x + i * m, *restrict r1 = r0 + m, *restrict r2 = r1 + m, *restrict r3 = r2 + m;     \
            SIMD                                                                                                       \
            FOR (j, width) {                                                                                           \
                A a = s[j];                                                                                            \
                step(a, r0[j]);                                                                                        \
                step(a, r1[j]);                                                                                        \
                step(a, r2[j]);                                                                                        \
                step(a, r3[j]);                                                                                        \
                s[j] = a;                                                                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            FOR (j, width)                                                                                             \
                step(s[j], x[i * m + j]);                                                                              \
    }                                                                                                                  \
    static void name##_few(const T *restrict x, A *restrict z, int64_t n, int64_t m)                                   \
    {                                                                                                                  \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            A s[GROUP * FEW];                                                                                          \
            int64_t wide = GROUP * m;                                                                                  \
            FOR (j, wide)                                                                                              \
                s[j] = start;                                                                                          \
            SPLIT_FOR                                                                                                  \
            for (int64_t i = 0; i < n / GROUP; i++) {                                                                  \
                const T *restrict r = x + i * wide;                                                                    \
                SIMD                                                                                                   \
                FOR (j, wide)                                                                                          \
                    step(s[j], r[j]);                                                                                  \
            }                                                                                                          \
            CRITICAL                                                                                                   \
            FOR (j, wide)                                                                                              \
                join(z[j % m], s[j]);                                                                                  \
        }                                                                                                              \
        for (int64_t i = n / GROUP * GROUP; i < n; i++)                                                                \
            FOR (j, m)                                                                                                 \
                step(z[j], x[i * m + j]);                                                                              \
    }                                                                                                                  \
    static void name##_of(const T *restrict x, A *restrict z, int64_t n, int64_t m)                                    \
    {                                                                                                                  \
        FOR (j, m)                                                                                                     \
            z[j] = start;                                                                                              \
        if (m <= FEW) {                                                                                                \
            name##_few(x, z, n, m);                                                                                    \
        } else if (m >= 4 * STRIP) {                                                                                   \
            PARALLEL_FOR                                                                                               \
            for (int64_t j = 0; j < m; j += STRIP)                                                                     \
                name##_strip(x + j, z + j, n, m, MIN(STRIP, m - j));                                                   \
        } else {                                                                                                       \
            int64_t parts = 16;                                                                                        \
            PARALLEL                                                                                                   \
            {                                                                                                          \
                A s[4 * STRIP];                                                                                        \
                FOR (j, m)                                                                                             \
                    s[j] = start;                                                                                      \
                SPLIT_FOR                                                                                              \
                FOR (p, parts)                                                                                         \
                    name##_strip(x + n * p / parts * m, s, n * (p + 1) / parts - n * p / parts, m, m);                 \
                CRITICAL                                                                                               \
                FOR (j, m)                                                                                             \
                    join(z[j], s[j]);                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }
#define RESULT_OF(name, T, A)                                                                                          \
    C(name)                                                                                                            \
    {                                                                                                                  \
        name##_of(call->in[0], call->out[0], E(0), E(1));                                                              \
    }

#define ADD(a, v) a += v
#define ADD_SQUARE(a, v) a += (v) * (v)
#define LARGER(a, v) a = (v) > a ? (v) : a
#define SMALLER(a, v) a = (v) < a ? (v) : a
#define COUNT(a, v) a += (v) > 1
#define BELOW_2(a, v) a &= (v) < 2
#define AND(a, v) a &= v

COLUMNS(sum_columns_f32, f32, f32, 0, ADD, ADD)
COLUMNS(sum_columns_f64, f64, f64, 0, ADD, ADD)
COLUMNS(sum_columns_u8, u8, u32, 0, ADD, ADD)
COLUMNS(sum_columns_i32, i32, i32, 0, ADD, ADD)
COLUMNS(maximum_columns_f32, f32, f32, -3.4e38f, LARGER, LARGER)
COLUMNS(maximum_columns_u8, u8, u8, 0, LARGER, LARGER)
COLUMNS(squares_columns_f32, f32, f32, 0, ADD_SQUARE, ADD)
RESULT_OF(sum_columns_f32, f32, f32)
RESULT_OF(sum_columns_f64, f64, f64)
RESULT_OF(sum_columns_u8, u8, u32)
RESULT_OF(sum_columns_i32, i32, i32)
RESULT_OF(maximum_columns_f32, f32, f32)
RESULT_OF(maximum_columns_u8, u8, u8)
RESULT_OF(squares_columns_f32, f32, f32)
COLUMNS(all_below, f32, i32, 1, BELOW_2, AND)

C(all_small_columns_f32)
{
    OUT(b8, z, 0);
    int64_t m = E(1);
    i32 *all = malloc((size_t)m * sizeof *all);
    all_below_of(call->in[0], all, E(0), m);
    FOR (j, m)
        z[j] = all[j];
    free(all);
}

/* Two accumulators a column. */
#define PAIRS(name, start_a, start_b, step_a, step_b, join_a, join_b, A, B)                                            \
    static void name##_of(const f32 *restrict x, A *restrict z, B *restrict w, int64_t n, int64_t m)                   \
    {                                                                                                                  \
        int64_t group = m <= FEW ? GROUP : 1, wide = group * m;                                                        \
        FOR (j, m) {                                                                                                   \
            z[j] = start_a;                                                                                            \
            w[j] = start_b;                                                                                            \
        }                                                                                                              \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            A a[wide];                                                                                                 \
            B b[wide];                                                                                                 \
            FOR (j, wide) {                                                                                            \
                a[j] = start_a;                                                                                        \
                b[j] = start_b;                                                                                        \
            }                                                                                                          \
            SPLIT_FOR                                                                                                  \
            for (int64_t i = 0; i < n / group; i++) {                                                                  \
                const f32 *restrict r = x + i * wide;                                                                  \
                SIMD                                                                                                   \
                FOR (j, wide) {                                                                                        \
                    f32 v = r[j];                                                                                      \
                    step_a(a[j], v);                                                                                   \
                    step_b(b[j], v);                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            CRITICAL                                                                                                   \
            FOR (j, wide) {                                                                                            \
                join_a(z[j % m], a[j]);                                                                                \
                join_b(w[j % m], b[j]);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = n / group * group; i < n; i++)                                                                \
            FOR (j, m) {                                                                                               \
                step_a(z[j], x[i * m + j]);                                                                            \
                step_b(w[j], x[i * m + j]);                                                                            \
            }                                                                                                          \
    }
PAIRS(min_max, 3.4e38f, -3.4e38f, SMALLER, LARGER, SMALLER, LARGER, f32, f32)
PAIRS(moments, 0, 0, ADD, ADD_SQUARE, ADD, ADD, f32, f32)
PAIRS(sum_count, 0, 0, ADD, COUNT, ADD, ADD, f32, i32)

C(min_max_columns_f32)
{
    min_max_of(call->in[0], call->out[0], call->out[1], E(0), E(1));
}

C(mean_variance_columns_f32)
{
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    moments_of(call->in[0], z, w, n, m);
    FOR (j, m) {
        z[j] /= (f32)n;
        w[j] = w[j] / (f32)n - z[j] * z[j];
    }
}

C(sum_count_columns_f32)
{
    OUT(i64, w, 1);
    int64_t m = E(1);
    i32 *count = malloc((size_t)m * sizeof *count);
    sum_count_of(call->in[0], call->out[0], count, E(0), m);
    FOR (j, m)
        w[j] = count[j];
    free(count);
}

C(dot_columns_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), group = m <= FEW ? GROUP : 1, wide = group * m;
    memset(z, 0, (size_t)m * sizeof *z);
    PARALLEL
    {
        f32 s[wide];
        memset(s, 0, sizeof s);
        SPLIT_FOR
        for (int64_t i = 0; i < n / group; i++)
            SIMD
        FOR (j, wide)
            s[j] += x[i * wide + j] * y[i * wide + j];
        CRITICAL
        FOR (j, wide)
            z[j % m] += s[j];
    }
    for (int64_t i = n / group * group; i < n; i++)
        FOR (j, m)
            z[j] += x[i * m + j] * y[i * m + j];
}

C(vector_times_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    memset(z, 0, (size_t)m * sizeof *z);
    PARALLEL
    {
        f32 s[m];
        memset(s, 0, sizeof s);
        SPLIT_FOR
        for (int64_t i = 0; i < n / 4; i++) {
            const f32 *restrict r = x + i * 4 * m;
            SIMD
            FOR (j, m)
                s[j] += r[j] * y[4 * i] + r[j + m] * y[4 * i + 1] + r[j + 2 * m] * y[4 * i + 2] +
                        r[j + 3 * m] * y[4 * i + 3];
        }
        CRITICAL
        FOR (j, m)
            z[j] += s[j];
    }
    for (int64_t i = n / 4 * 4; i < n; i++)
        FOR (j, m)
            z[j] += x[i * m + j] * y[i];
}

C(standardise_columns_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *mean = malloc((size_t)m * sizeof *mean), *factor = malloc((size_t)m * sizeof *factor);
    sum_columns_f32_of(x, mean, n, m);
    FOR (j, m)
        mean[j] /= (f32)n;
    memset(factor, 0, (size_t)m * sizeof *factor);
    PARALLEL
    {
        f32 s[m];
        memset(s, 0, sizeof s);
        SPLIT_FOR
        FOR (i, n)
            SIMD
        FOR (j, m)
            s[j] += (x[i * m + j] - mean[j]) * (x[i * m + j] - mean[j]);
        CRITICAL
        FOR (j, m)
            factor[j] += s[j];
    }
    FOR (j, m)
        factor[j] = 1 / sqrtf(factor[j] / (f32)n + 1e-3f);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = (x[i * m + j] - mean[j]) * factor[j];
    free(mean);
    free(factor);
}
