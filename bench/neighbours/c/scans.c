#include "c.h"

#include <omp.h>

/* Each thread folds its part; then it goes over it again, beginning with what is before it. `step` takes element `at`
 * of the array into s, `first` is what nothing is folded to, `join` takes what the thread before has into s, and
 * `store` stands behind or before the step. */
#define PARTS(S, n, first, step, join, stores)                                                                         \
    S of[256];                                                                                                         \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count;                                                  \
        S s = first;                                                                                                   \
        if (count > 1) {                                                                                               \
            for (int64_t at = begin; at < end; at++) {                                                                 \
                step;                                                                                                  \
            }                                                                                                          \
            of[id] = s;                                                                                                \
            PRAGMA(omp barrier)                                                                                        \
            s = first;                                                                                                 \
            for (int64_t k = 0; k < id; k++) {                                                                         \
                S t = of[k];                                                                                           \
                join;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t at = begin; at < end; at++) {                                                                     \
            stores;                                                                                                    \
        }                                                                                                              \
    }

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
