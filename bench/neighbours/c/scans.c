#include "parts.h"

#define SUM(T)                                                                                                         \
    C(scan_sum_##T)                                                                                                    \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARTS(T, n, 0, s += x[at], s += t, z[at] = s += x[at])                                                         \
    }
SUM(f32)
SUM(f64)
SUM(i32)
SUM(i64)
SUM(u8)
SUM(i16)

#define MAXIMUM(T, least)                                                                                              \
    C(scan_maximum_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARTS(T, n, least, s = MAX(s, x[at]), s = MAX(s, t), z[at] = s = MAX(s, x[at]))                                \
    }
MAXIMUM(f32, -INFINITY)
MAXIMUM(i32, INT32_MIN)
MAXIMUM(u8, 0)

#define BEFORE(T)                                                                                                      \
    C(scan_before_##T)                                                                                                 \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARTS(T, n, 0, s += x[at], s += t, {                                                                           \
            z[at] = s;                                                                                                 \
            s += x[at];                                                                                                \
        })                                                                                                             \
    }
BEFORE(f32)
BEFORE(i32)

C(scan_with_total_i64)
{
    IN(i64, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0);
    z[0] = 0;
    PARTS(i64, n, 0, s += x[at], s += t, z[at + 1] = s += x[at])
}

#define RIGHT(T)                                                                                                       \
    C(scan_right_##T)                                                                                                  \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = SIZE, last = n - 1;                                                                                \
        PARTS(T, n, 0, s += x[last - at], s += t, z[last - at] = s += x[last - at])                                    \
    }
RIGHT(f32)
RIGHT(i32)

struct line {
    f64 a, b;
};

C(scan_compose_f64)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    OUT(f64, p, 0);
    OUT(f64, q, 1);
    int64_t n = SIZE;
    const struct line same = {1, 0};
    PARTS(
        struct line, n, same,
        {
            s.b = a[at] * s.b + b[at];
            s.a *= a[at];
        },
        {
            s.b = t.a * s.b + t.b;
            s.a *= t.a;
        },
        {
            q[at] = s.b = a[at] * s.b + b[at];
            p[at] = s.a *= a[at];
        })
}

C(scan_and_total_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f32 *total = &RESULT(f32, 1);
    int64_t n = SIZE;
    PARTS(f32, n, 0, s += x[at], s += t, {
        z[at] = s;
        s += x[at];
        if (at == n - 1)
            *total = s;
    })
}

struct both {
    f32 sum, most;
};

C(scan_sum_and_maximum_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = SIZE;
    const struct both none = {0, -INFINITY};
    PARTS(
        struct both, n, none,
        {
            s.sum += x[at];
            s.most = MAX(s.most, x[at]);
        },
        {
            s.sum += t.sum;
            s.most = MAX(s.most, t.most);
        },
        {
            z[at] = s.sum += x[at];
            w[at] = s.most = MAX(s.most, x[at]);
        })
}

C(scan_mean_so_far_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    PARTS(f32, n, 0, s += x[at], s += t, {
        s += x[at];
        z[at] = s / (f32)(at + 1);
    })
}

C(scan_below_maximum_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f32 *most = &RESULT(f32, 1);
    int64_t n = SIZE;
    PARTS(f32, n, -INFINITY, s = MAX(s, x[at]), s = MAX(s, t), {
        s = MAX(s, x[at]);
        z[at] = s - x[at];
    })
    f32 furthest = 0;
    PRAGMA(omp parallel for simd reduction(max : furthest) schedule(static))
    FOR (i, n)
        furthest = MAX(furthest, z[i]);
    *most = furthest;
}

C(scan_of_squares_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    PARTS(f32, n, 0, s += x[at] * x[at], s += t, z[at] = s += x[at] * x[at])
}

#define ROWS(name, T, rows, columns)                                                                                   \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = rows, m = columns;                                                                                 \
        if (n < 16) {                                                                                                  \
            for (int64_t i = 0; i < n; i++) {                                                                          \
                const T *restrict r = x + i * m;                                                                       \
                T *restrict o = z + i * m;                                                                             \
                PARTS(T, m, 0, s += r[at], s += t, o[at] = s += r[at])                                                 \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T s = 0;                                                                                                   \
            for (int64_t at = i * m; at < (i + 1) * m; at++)                                                           \
                z[at] = s += x[at];                                                                                    \
        }                                                                                                              \
    }
ROWS(scan_rows_f32, f32, E(0), E(1))
ROWS(scan_rows_f64, f64, E(0), E(1))
ROWS(scan_rows_i32, i32, E(0), E(1))
ROWS(scan_rows_of_3_f32, f32, E(0) * E(1), E(2))

/* Columns [begin, end) of a thread, whole lines of memory. */
#define COLUMNS_OF_THREAD(m)                                                                                           \
    int64_t threads = omp_get_num_threads(), id = omp_get_thread_num(), units = ((m) + 63) / 64;                       \
    int64_t begin = units * id / threads * 64, end = MIN(units * (id + 1) / threads * 64, m)

/* Line by line, each made of the one before: s is what that has, y the element, or that of a line before. */
#define COLUMNS(name, T, from, first, next)                                                                            \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            COLUMNS_OF_THREAD(m);                                                                                      \
            for (int64_t j = begin; j < end; j++)                                                                      \
                z[j] = first;                                                                                          \
            for (int64_t i = 1; i < n; i++)                                                                            \
                for (int64_t j = begin; j < end; j++) {                                                                \
                    T s = z[(i - 1) * m + j], y = x[(i - (from)) * m + j];                                             \
                    z[i * m + j] = (T)(next);                                                                          \
                }                                                                                                      \
        }                                                                                                              \
    }
COLUMNS(scan_columns_maximum_f32, f32, 0, x[j], MAX(s, y))
COLUMNS(scan_columns_before_f32, f32, 1, 0, s + y)
COLUMNS(scan_columns_of_squares_f32, f32, 0, x[j] * x[j], s + y * y)

/* Lines [begin, end) of a thread: the sums of its columns, which the threads after it begin with. */
#define LINES_OF_THREAD(T, x, n, m)                                                                                    \
    int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();                                                \
    int64_t begin = (n)*id / threads, end = (n) * (id + 1) / threads;                                                  \
    for (int64_t i = begin; i < end && threads > 1; i++)                                                               \
        for (int64_t j = 0; j < (m); j++)                                                                              \
            sums[id * (m) + j] += x[i * (m) + j];                                                                      \
    PRAGMA(omp barrier)                                                                                                \
    T *above = sums + (threads + id) * (m);                                                                            \
    for (int64_t k = 0; k < id; k++)                                                                                   \
        for (int64_t j = 0; j < (m); j++)                                                                              \
    above[j] += sums[k * (m) + j]

#define COLUMN_SUMS(T)                                                                                                 \
    static void lines_##T(const T *restrict x, T *restrict z, int64_t n, int64_t m)                                    \
    {                                                                                                                  \
        T *sums = calloc(2 * (size_t)omp_get_max_threads() * (size_t)m, sizeof(T));                                    \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            LINES_OF_THREAD(T, x, n, m);                                                                               \
            for (int64_t i = begin; i < end; i++) {                                                                    \
                const T *restrict before = i > begin ? z + (i - 1) * m : above;                                        \
                for (int64_t j = 0; j < m; j++)                                                                        \
                    z[i * m + j] = (T)(before[j] + x[i * m + j]);                                                      \
            }                                                                                                          \
        }                                                                                                              \
        free(sums);                                                                                                    \
    }                                                                                                                  \
    COLUMNS(blocks_of_columns_##T, T, 0, x[j], s + y)                                                                  \
    C(scan_columns_##T)                                                                                                \
    {                                                                                                                  \
        if (E(1) >= 64 * omp_get_max_threads())                                                                        \
            nb_c_blocks_of_columns_##T(call);                                                                          \
        else                                                                                                           \
            lines_##T(call->in[0], call->out[0], E(0), E(1));                                                          \
    }
COLUMN_SUMS(f32)
COLUMN_SUMS(f64)
COLUMN_SUMS(i32)
COLUMN_SUMS(u8)

C(scan_columns_right_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        COLUMNS_OF_THREAD(m);
        for (int64_t j = begin; j < end; j++)
            z[(n - 1) * m + j] = x[(n - 1) * m + j];
        for (int64_t i = n - 1; i-- > 0;)
            for (int64_t j = begin; j < end; j++)
                z[i * m + j] = x[i * m + j] + z[(i + 1) * m + j];
    }
}

C(scan_columns_of_3_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1), m = E(2);
    PARALLEL_FOR
    FOR (k, E(0)) {
        const f32 *restrict a = x + k * n * m;
        f32 *restrict o = z + k * n * m;
        memcpy(o, a, (size_t)m * sizeof *o);
        for (int64_t i = 1; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                o[i * m + j] = o[(i - 1) * m + j] + a[i * m + j];
    }
}

/* Lines by threads; what is above a thread's lines is known by their columns' sums. */
C(scan_integral_image_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *sums = calloc(2 * (size_t)omp_get_max_threads() * (size_t)m, sizeof *sums);
    PARALLEL
    {
        LINES_OF_THREAD(f32, x, n, m);
        f32 s = 0;
        for (int64_t j = 0; j < m; j++)
            above[j] = s += above[j];
        for (int64_t i = begin; i < end; i++) {
            const f32 *restrict before = i > begin ? z + (i - 1) * m : above;
            s = 0;
            for (int64_t j = 0; j < m; j++) {
                s += x[i * m + j];
                z[i * m + j] = s + before[j];
            }
        }
    }
    free(sums);
}
