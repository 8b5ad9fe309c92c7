#include "c.h"

void nb_make_offsets(const struct nb_call *call);
void nb_make_mixed_offsets(const struct nb_call *call);

/* Segments as equal as they can be. */
void nb_make_offsets(const struct nb_call *call)
{
    int64_t *offset = call->in[0], segments = E(0) - 1;
    FOR (s, E(0))
        offset[s] = E(1) * s / segments;
}

/* Of any lengths from 1 to twice the mean, and in the middle one as long as a quarter of all. */
void nb_make_mixed_offsets(const struct nb_call *call)
{
    int64_t *offset = call->in[0], segments = E(0) - 1, at = 0, most = E(1) * 3 / 2 / segments;
    uint32_t seed = 1;
    FOR (s, segments) {
        offset[s] = at;
        seed = seed * 1664525U + 1013904223U;
        int64_t next = s == segments / 2 ? E(1) / 4 : 1 + (int64_t)(seed >> 8) % (most < 1 ? 1 : most);
        at = MIN(at + next, E(1) - (segments - s - 1) > at ? E(1) - (segments - s - 1) : at);
    }
    offset[segments] = E(1);
}

/* Of each segment: `first`, and with `s` what is made of it and element i. Segments are dealt out as they are wanted,
 * as some may be long. */
#define FOLDS(name, T, Z, first, step)                                                                                 \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(i64, offset, 0);                                                                                            \
        IN(T, x, 1);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t segments = E(0) - 1;                                                                                   \
        PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))                                                  \
        FOR (k, segments) {                                                                                            \
            Z s = first;                                                                                               \
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)                                                        \
                step;                                                                                                  \
            z[k] = s;                                                                                                  \
        }                                                                                                              \
    }
FOLDS(segments_sum_f32, f32, f32, 0, s += x[i])
FOLDS(segments_sum_f64, f64, f64, 0, s += x[i])
FOLDS(segments_sum_i32, i32, i32, 0, s += x[i])
FOLDS(segments_sum_i64, i64, i64, 0, s += x[i])
FOLDS(segments_count, b8, i64, 0, s += x[i])
FOLDS(segments_maximum_f32, f32, f32, -INFINITY, s = MAX(s, x[i]))
FOLDS(segments_maximum_i32, i32, i32, INT32_MIN, s = MAX(s, x[i]))
FOLDS(segments_squares_f32, f32, f32, 0, s += x[i] * x[i])

C(segments_sum_and_maximum_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, sums, 0);
    OUT(f32, most, 1);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0, m = -INFINITY;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++) {
            s += x[i];
            m = MAX(m, x[i]);
        }
        sums[k] = s;
        most[k] = m;
    }
}

C(segments_dot_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += x[i] * y[i];
        z[k] = s;
    }
}

C(segments_scaled_sum_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, factor, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += factor[k] * x[i];
        z[k] = s;
    }
}

C(segments_replicate_f32)
{
    IN(i64, offset, 0);
    IN(f32, a, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments)
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            z[i] = a[k];
}

C(segments_append_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        int64_t length = offset[k + 1] - offset[k];
        f32 *to = z + 2 * offset[k];
        for (int64_t i = 0; i < length; i++)
            to[i] = x[offset[k] + i];
        for (int64_t i = 0; i < length; i++)
            to[length + i] = y[offset[k] + i];
    }
}

#define RUNNING(T)                                                                                                     \
    C(segments_running_sum_##T)                                                                                        \
    {                                                                                                                  \
        IN(i64, offset, 0);                                                                                            \
        IN(T, x, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t segments = E(0) - 1;                                                                                   \
        PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))                                                  \
        FOR (k, segments) {                                                                                            \
            T s = 0;                                                                                                   \
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)                                                        \
                z[i] = s += x[i];                                                                                      \
        }                                                                                                              \
    }
RUNNING(f32)
RUNNING(i32)

C(segments_mean_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += x[i];
        z[k] = s / (f32)(offset[k + 1] - offset[k]);
    }
}

C(segments_minus_sum_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += x[i];
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            z[i] = x[i] - s;
    }
}

C(segments_softmax_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 most = -INFINITY, s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            most = MAX(most, x[i]);
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += z[i] = expf(x[i] - most);
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            z[i] /= s;
    }
}

/* The place in its segment of the point furthest above the segment's line, and how many are above. */
C(segments_furthest_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    IN(f32, slope, 3);
    OUT(i64, place, 0);
    OUT(i64, above, 1);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        int64_t best = 0, many = 0;
        f32 most = -INFINITY;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++) {
            f32 d = y[i] - slope[k] * x[i];
            best = d > most ? i - offset[k] : best;
            most = d > most ? d : most;
            many += d > 0;
        }
        place[k] = best;
        above[k] = many;
    }
}
