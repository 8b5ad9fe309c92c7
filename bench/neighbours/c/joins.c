#include "c.h"

#include <omp.h>

/* Copies by all threads, of a part of a larger result. */
static void copy(void *to, const void *from, size_t bytes)
{
    enum { PIECE = 1 << 16 };
    if (bytes <= PIECE) {
        memcpy(to, from, bytes);
        return;
    }
    PARALLEL_FOR
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, MIN(PIECE, bytes - at));
}

#define APPEND(T)                                                                                                      \
    C(join_append_##T)                                                                                                 \
    {                                                                                                                  \
        OUT(T, z, 0);                                                                                                  \
        copy(z, call->in[0], (size_t)E(0) * sizeof *z);                                                                \
        copy(z + E(0), call->in[1], (size_t)E(1) * sizeof *z);                                                         \
    }                                                                                                                  \
    C(join_interleave_2_##T)                                                                                           \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            z[2 * i] = x[i];                                                                                           \
            z[2 * i + 1] = y[i];                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    C(join_interleave_3_##T)                                                                                           \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        IN(T, w, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            z[3 * i] = x[i];                                                                                           \
            z[3 * i + 1] = y[i];                                                                                       \
            z[3 * i + 2] = w[i];                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    C(join_combine_##T)                                                                                                \
    {                                                                                                                  \
        IN(bool, flag, 0);                                                                                             \
        IN(T, x, 1);                                                                                                   \
        IN(T, y, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), of[256];                                                                                     \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                          \
            int64_t begin = n * id / count, end = n * (id + 1) / count, k = 0;                                         \
            for (int64_t at = begin; at < end; at++)                                                                   \
                k += flag[at];                                                                                         \
            of[id] = k;                                                                                                \
            PRAGMA(omp barrier)                                                                                        \
            k = 0;                                                                                                     \
            for (int64_t other = 0; other < id; other++)                                                               \
                k += of[other];                                                                                        \
            for (int64_t at = begin; at < end; at++) {                                                                 \
                z[at] = flag[at] ? x[k] : y[at - k];                                                                   \
                k += flag[at];                                                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }
APPEND(f32)
APPEND(f64)
APPEND(u8)

C(join_append_pairs_f32)
{
    for (int k = 0; k < 2; k++) {
        OUT(f32, z, k);
        copy(z, call->in[k], (size_t)E(0) * sizeof *z);
        copy(z + E(0), call->in[2 + k], (size_t)E(1) * sizeof *z);
    }
}

C(join_append_rows_f32)
{
    OUT(f32, z, 0);
    copy(z, call->in[0], (size_t)(E(0) * E(1)) * sizeof *z);
    copy(z + E(0) * E(1), call->in[1], (size_t)(E(2) * E(1)) * sizeof *z);
}

C(join_append_columns_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = m + k;
    PARALLEL_FOR
    FOR (i, n) {
        FOR (j, m)
            z[i * l + j] = x[i * m + j];
        FOR (j, k)
            z[i * l + m + j] = y[i * k + j];
    }
}

C(join_append_maps_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        PRAGMA(omp for schedule(static) nowait)
        FOR (i, n)
            z[i] = x[i] * 3 + 1;
        SPLIT_FOR
        FOR (i, m)
            z[n + i] = -y[i];
    }
}

C(join_append_twice_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        PRAGMA(omp for schedule(static) nowait)
        FOR (i, n) {
            z[i] = x[i];
            z[n + m + i] = x[i];
        }
        SPLIT_FOR
        FOR (i, m)
            z[n + i] = y[i] * 3 + 1;
    }
}

C(join_append_then_map_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        PRAGMA(omp for schedule(static) nowait)
        FOR (i, n)
            z[i] = x[i] * 3 + 1;
        SPLIT_FOR
        FOR (i, m)
            z[n + i] = y[i] * 3 + 1;
    }
}

C(join_append_then_sum_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = E(0), m = E(1);
    f32 sum = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, n)
        sum += x[i];
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, m)
        sum += y[i] * 3 + 1;
    RESULT(f32, 0) = sum;
}

/* Running sums of x from the sum `before` on, and of what is behind them: two passes by all threads. */
static int32_t running_sums(int32_t *restrict z, const int32_t *restrict x, int64_t n, int32_t before)
{
    int32_t of[257] = {0};
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        int32_t sum = 0;
        for (int64_t at = begin; at < end; at++)
            sum += x[at];
        of[id] = sum;
        PRAGMA(omp barrier)
        sum = before;
        for (int64_t other = 0; other < id; other++)
            sum += of[other];
        for (int64_t at = begin; at < end; at++)
            z[at] = sum += x[at];
        if (id == count - 1)
            of[256] = sum;
    }
    return of[256];
}

C(join_append_then_scan_i32)
{
    OUT(int32_t, z, 0);
    int32_t sum = running_sums(z, call->in[0], E(0), 0);
    running_sums(z + E(0), call->in[1], E(1), sum);
}

C(join_append_scans_i32)
{
    OUT(int32_t, z, 0);
    running_sums(z, call->in[0], E(0), 0);
    running_sums(z + E(0), call->in[1], E(1), 0);
}

C(join_concat_5_f32)
{
    OUT(f32, z, 0);
    for (int k = 0; k < 5; k++) {
        copy(z, call->in[k], (size_t)E(k) * sizeof *z);
        z += E(k);
    }
}

C(join_concat_9_f32)
{
    OUT(f32, z, 0);
    for (int k = 0; k < 9; k++) {
        copy(z, call->in[k % 3], (size_t)E(k % 3) * sizeof *z);
        z += E(k % 3);
    }
}

C(join_append_sums_f32)
{
    OUT(f32, z, 0);
    for (int k = 0; k < 2; k++) {
        IN(f32, x, k);
        int64_t n = E(2 * k), m = E(1);
        PARALLEL_FOR
        FOR (i, n) {
            f32 sum = 0;
            SIMD
            FOR (j, m)
                sum += x[i * m + j];
            z[i] = sum;
        }
        z += n;
    }
}

static int64_t keep(f32 *restrict z, const f32 *restrict x, int64_t n)
{
    int64_t of[256], total = 0;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, k = 0;
        for (int64_t at = begin; at < end; at++)
            k += x[at] > 0;
        of[id] = k;
        PRAGMA(omp barrier)
        k = 0;
        for (int64_t other = 0; other < id; other++)
            k += of[other];
        for (int64_t at = begin; at < end; at++)
            if (x[at] > 0)
                z[k++] = x[at];
        if (id == count - 1)
            total = k;
    }
    return total;
}

C(join_append_filters_f32)
{
    OUT(f32, z, 0);
    int64_t first = keep(z, call->in[0], E(0));
    KEPT(0) = first + keep(z + first, call->in[1], E(1));
}

C(join_split_f32)
{
    IN(f32, x, 0);
    copy(call->out[0], x, (size_t)E(1) * sizeof *x);
    copy(call->out[1], x + E(1), (size_t)E(2) * sizeof *x);
}

C(join_split_and_swap_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t first = E(0) / 3 * E(1), rest = E(0) * E(1) - first;
    copy(z, x + first, (size_t)rest * sizeof *z);
    copy(z + rest, x, (size_t)first * sizeof *z);
}
