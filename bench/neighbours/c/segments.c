#include "c.h"

#include <omp.h>

void nb_make_offsets(const struct nb_call *call);
void nb_make_mixed_offsets(const struct nb_call *call);
void nb_make_offsets_of_rows(const struct nb_call *call);
void nb_make_lengths(const struct nb_call *call);

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

/* The same of the rows of a matrix. */
void nb_make_offsets_of_rows(const struct nb_call *call)
{
    int64_t *offset = call->in[0], segments = E(0) - 1;
    FOR (s, E(0))
        offset[s] = E(2) * s / segments;
}

void nb_make_lengths(const struct nb_call *call)
{
    int32_t *length = call->in[0];
    FOR (s, E(0))
        length[s] = (int32_t)(E(1) * (s + 1) / E(0) - E(1) * s / E(0));
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

/* The greatest first, by vectors, and then where it is. */
#define PLACES(T)                                                                                                      \
    C(segments_place_##T)                                                                                              \
    {                                                                                                                  \
        IN(i64, offset, 0);                                                                                            \
        IN(T, x, 1);                                                                                                   \
        OUT(i64, place, 0);                                                                                            \
        int64_t segments = E(0) - 1;                                                                                   \
        PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))                                                  \
        FOR (k, segments) {                                                                                            \
            T most = x[offset[k]];                                                                                     \
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)                                                        \
                most = MAX(most, x[i]);                                                                                \
            int64_t i = offset[k];                                                                                     \
            while (x[i] != most)                                                                                       \
                i++;                                                                                                   \
            place[k] = i - offset[k];                                                                                  \
        }                                                                                                              \
    }
PLACES(f32)
PLACES(f64)
PLACES(i16)

FOLDS(segments_minimum_u8, u8, u8, 255, s = MIN(s, x[i]))
FOLDS(segments_maximum_i16, i16, i16, INT16_MIN, s = MAX(s, x[i]))
FOLDS(segments_any_f32, f32, b8, 0, s |= x[i] < 0)

/* Of each segment, from its first element to its last one, or back: `z` of element i, with a state. */
#define STEPS(name, T, Z, Y, first, from, condition, next, step)                                                       \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(i64, offset, 0);                                                                                            \
        IN(T, x, 1);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        (void)x;                                                                                                       \
        int64_t segments = E(0) - 1;                                                                                   \
        PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))                                                  \
        FOR (k, segments) {                                                                                            \
            Y s = first;                                                                                               \
            for (int64_t i = from; condition; next)                                                                    \
                step;                                                                                                  \
            (void)s;                                                                                                   \
        }                                                                                                              \
    }
#define FORWARDS(name, T, Z, first, step) STEPS(name, T, Z, Z, first, offset[k], i < offset[k + 1], i++, step)
STEPS(segments_running_right_f32, f32, f32, f32, 0, offset[k + 1] - 1, i >= offset[k], i--, z[i] = s += x[i])
FORWARDS(segments_running_before_i32, i32, i32, 0, (z[i] = s, s += x[i]))
FORWARDS(segments_running_maximum_f32, f32, f32, -INFINITY, z[i] = s = MAX(s, x[i]))
FORWARDS(segments_places, f32, i64, 0, z[i] = i - offset[k])
FORWARDS(segments_steps_f32, f32, f32, 0, z[i] = i == offset[k] ? 0 : x[i] - x[i - 1])

C(segments_ramps_f32)
{
    IN(i64, offset, 0);
    IN(f32, first, 2);
    IN(f32, step, 3);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments)
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            z[i] = first[k] + (f32)(i - offset[k]) * step[k];
}

C(segments_size_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += x[i] * x[i];
        z[k] = sqrtf(s);
    }
}

C(segments_normalise_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            s += x[i] * x[i];
        s = sqrtf(s);
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            z[i] = x[i] / s;
    }
}

C(segments_sum_of_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments) {
            f32 s = 0;
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                s += x[r * n + i];
            z[r * segments + k] = s;
        }
}

C(segments_weighted_sum_of_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, weight, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments) {
            f32 s = 0;
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                s += x[r * n + i] * weight[i];
            z[r * segments + k] = s;
        }
}

C(segments_minus_sum_of_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments) {
            f32 s = 0;
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                s += x[r * n + i];
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                z[r * n + i] = x[r * n + i] - s;
        }
}

C(segments_softmax_of_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments) {
            f32 most = -INFINITY, s = 0;
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                most = MAX(most, x[r * n + i]);
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                s += z[r * n + i] = expf(x[r * n + i] - most);
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                z[r * n + i] /= s;
        }
}

C(segments_replicate_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, a, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments)
            for (int64_t i = offset[k]; i < offset[k + 1]; i++)
                z[r * n + i] = a[r * segments + k];
}

C(segments_append_rows_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t segments = E(0) - 1, rows = E(1), n = E(2);
    PARALLEL_FOR
    FOR (r, rows)
        FOR (k, segments) {
            int64_t length = offset[k + 1] - offset[k];
            f32 *to = z + 2 * (r * n + offset[k]);
            for (int64_t i = 0; i < length; i++)
                to[i] = x[r * n + offset[k] + i];
            for (int64_t i = 0; i < length; i++)
                to[length + i] = y[r * n + offset[k] + i];
        }
}

C(segments_of_lengths_f32)
{
    IN(i32, lengths, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t segments = E(0), *begin = malloc((size_t)segments * sizeof *begin), at = 0;
    FOR (k, segments) {
        begin[k] = at;
        at += lengths[k];
    }
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f32 s = 0;
        for (int64_t i = begin[k]; i < begin[k] + lengths[k]; i++)
            s += x[i];
        z[k] = s;
    }
    free(begin);
}

/* Kept elements of each half of the segments, one behind the other; the second half's are moved. */
C(segments_keep_f32)
{
    enum { MOST = 64 };
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(i64, many, 0);
    OUT(f32, z, 1);
    int64_t segments = E(0) - 1, kept[MOST + 1] = {0}, parts = 1;
    PARALLEL
    {
        int64_t part = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t low = segments * part / all, high = segments * (part + 1) / all, at = offset[low];
        parts = all;
        for (int64_t k = low; k < high; k++) {
            int64_t before = at;
            for (int64_t i = offset[k]; i < offset[k + 1]; i++) {
                z[at] = x[i];
                at += x[i] < 0;
            }
            many[k] = at - before;
        }
        kept[part + 1] = at - offset[low];
    }
    int64_t to = kept[1];
    for (int64_t p = 1; p < parts; p++) {
        memmove(z + to, z + offset[segments * p / parts], (size_t)kept[p + 1] * sizeof *z);
        to += kept[p + 1];
    }
    KEPT(1) = to;
}
