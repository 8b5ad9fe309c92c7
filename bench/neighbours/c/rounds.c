/* Steps over arrays, one after the other, each in parallel: what one writes. */
#include "c.h"

void nb_make_lengths_i32(const struct nb_call *call);
void nb_make_edges(const struct nb_call *call);

/* One edge in sixty-four. */
void nb_make_edges(const struct nb_call *call)
{
    b8 *x = call->in[0];
    FOR (i, E(0) * E(0))
        x[i] = (uint64_t)i * 2654435761u / 8192 % 64 == 0;
}

/* None is negative, so no round has to look at what it changes. */
void nb_make_lengths_i32(const struct nb_call *call)
{
    i32 *x = call->in[0];
    FOR (i, E(0) * E(0))
        x[i] = (i32)((u32)x[i] % 1000);
}

/* One step of the mean of five, clamped at the edges. */
#define MEAN_STEP(T)                                                                                                   \
    static void mean_step_##T(const T *restrict x, T *restrict z, int64_t n, int64_t m)                                \
    {                                                                                                                  \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const T *above = x + (i ? i - 1 : 0) * m, *row = x + i * m, *below = x + (i + 1 < n ? i + 1 : i) * m;      \
            T *to = z + i * m;                                                                                         \
            to[0] = (row[0] + above[0] + below[0] + row[0] + row[m > 1]) / 5;                                          \
            SIMD                                                                                                       \
            for (int64_t j = 1; j < m - 1; j++)                                                                        \
                to[j] = (row[j] + above[j] + below[j] + row[j - 1] + row[j + 1]) / 5;                                  \
            to[m - 1] = (row[m - 1] + above[m - 1] + below[m - 1] + row[m > 1 ? m - 2 : 0] + row[m - 1]) / 5;          \
        }                                                                                                              \
    }
MEAN_STEP(f32)
MEAN_STEP(f64)

#define STEPS(name, T, steps)                                                                                          \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        T *spare = malloc((size_t)(n * m) * sizeof(T));                                                                \
        const T *from = x;                                                                                             \
        FOR (t, steps) {                                                                                               \
            T *to = (steps - t) % 2 ? z : spare;                                                                       \
            mean_step_##T(from, to, n, m);                                                                             \
            from = to;                                                                                                 \
        }                                                                                                              \
        free(spare);                                                                                                   \
    }
STEPS(steps_4_f32, f32, 4)
STEPS(steps_20_f32, f32, 20)
STEPS(steps_20_f64, f64, 20)

C(line_50_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    f32 *spare = malloc((size_t)n * sizeof(f32));
    const f32 *from = x;
    FOR (t, 50) {
        f32 *to = (50 - t) % 2 ? z : spare;
        PARALLEL_FOR
        FOR (i, n)
            to[i] = (from[i ? i - 1 : 0] + from[i] + from[i + 1 < n ? i + 1 : i]) * (1 / 3.0f);
        from = to;
    }
    free(spare);
}

C(until_still_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *one = malloc((size_t)(n * m) * sizeof(f32)), *other = malloc((size_t)(n * m) * sizeof(f32));
    memcpy(one, x, (size_t)(n * m) * sizeof(f32));
    for (f32 most = 1; most > 0.003f;) {
        mean_step_f32(one, other, n, m);
        most = 0;
        PRAGMA(omp parallel for schedule(static) reduction(max : most))
        FOR (i, n * m) {
            f32 d = fabsf(one[i] - other[i]);
            most = d > most ? d : most;
        }
        f32 *swap = one;
        one = other;
        other = swap;
    }
    memcpy(z, one, (size_t)(n * m) * sizeof(f32));
    free(one);
    free(other);
}

#define PATHS(name, T, better)                                                                                         \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        memcpy(z, x, (size_t)(n * n) * sizeof(T));                                                                     \
        FOR (k, n) {                                                                                                   \
            PARALLEL_FOR                                                                                               \
            FOR (i, n) {                                                                                               \
                T through = z[i * n + k];                                                                              \
                T *to = z + i * n;                                                                                     \
                const T *by = z + k * n;                                                                               \
                SIMD                                                                                                   \
                FOR (j, n)                                                                                             \
                    better;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
    }
PATHS(shortest_f32, f32, to[j] = MIN(to[j], through + by[j]))
PATHS(shortest_i32, i32, to[j] = MIN(to[j], through + by[j]))
PATHS(widest_f32, f32, to[j] = MAX(to[j], MIN(through, by[j])))
PATHS(closure_bool, b8, to[j] |= through & by[j])
