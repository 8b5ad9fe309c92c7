#include "c.h"

/* Copies by all threads. */
static void copy(void *restrict to, const void *restrict from, size_t bytes)
{
    enum { PIECE = 1 << 16 };
    PARALLEL_FOR
    for (size_t at = 0; at < bytes; at += PIECE)
        memcpy((char *)to + at, (const char *)from + at, MIN(PIECE, bytes - at));
}

static void rotate(void *to, const void *from, int64_t n, int64_t by, size_t size)
{
    copy(to, (const char *)from + (size_t)by * size, (size_t)(n - by) * size);
    copy((char *)to + (size_t)(n - by) * size, from, (size_t)by * size);
}

#define ROTATE(T)                                                                                                      \
    C(rotate_1_##T)                                                                                                    \
    {                                                                                                                  \
        rotate(call->out[0], call->in[0], SIZE, 1, sizeof(T));                                                         \
    }                                                                                                                  \
    C(rotate_third_##T)                                                                                                \
    {                                                                                                                  \
        rotate(call->out[0], call->in[0], SIZE, SIZE / 3, sizeof(T));                                                  \
    }
ROTATE(f32)
ROTATE(f64)
ROTATE(u8)

C(rotate_rows_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        FOR (j, m - 5)
            z[i * m + j] = x[i * m + j + 5];
        FOR (j, 5)
            z[i * m + m - 5 + j] = x[i * m + j];
    }
}

C(rotate_outer_f32)
{
    rotate(call->out[0], call->in[0], SIZE, 5 * E(1), sizeof(f32));
}

C(rotate_add_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE - 1;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i] + x[i + 1];
    z[n] = x[n] + x[0];
}

C(shift_f32)
{
    OUT(f32, z, 0);
    z[0] = 0;
    copy(z + 1, call->in[0], (size_t)(SIZE - 1) * sizeof *z);
}

C(pad_f32)
{
    OUT(f32, z, 0);
    memset(z, 0, 50 * sizeof *z);
    memset(z + 50 + E(0), 0, 50 * sizeof *z);
    copy(z + 50, call->in[0], (size_t)E(0) * sizeof *z);
}

C(pad_2_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        f32 *restrict row = z + i * l;
        if (i < 4 || i >= n + 4) {
            memset(row, 0, (size_t)l * sizeof *z);
        } else {
            memset(row, 0, 4 * sizeof *z);
            memcpy(row + 4, x + (i - 4) * m, (size_t)m * sizeof *z);
            memset(row + 4 + m, 0, 4 * sizeof *z);
        }
    }
}

C(crop_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k)
        memcpy(z + i * l, x + (i + 4) * m + 4, (size_t)l * sizeof *z);
}

#define REPEAT(T)                                                                                                      \
    C(tile_twice_##T)                                                                                                  \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T v = x[i];                                                                                                \
            z[i] = v;                                                                                                  \
            z[n + i] = v;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    C(each_twice_##T)                                                                                                  \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            z[2 * i] = x[i];                                                                                           \
            z[2 * i + 1] = x[i];                                                                                       \
        }                                                                                                              \
    }
REPEAT(f32)
REPEAT(f64)
REPEAT(u8)

C(tile_short_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    for (int64_t i = 0; i < k; i += n) {
        int64_t width = MIN(n, k - i);
        FOR (j, width)
            z[i + j] = x[j];
    }
}

C(each_3_times_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        z[3 * i] = x[i];
        z[3 * i + 1] = x[i];
        z[3 * i + 2] = x[i];
    }
}

C(tile_rows_f32)
{
    size_t bytes = (size_t)(E(0) * E(1)) * sizeof(f32);
    copy(call->out[0], call->in[0], bytes);
    copy((char *)call->out[0] + bytes, call->in[0], bytes);
}

#define UPSAMPLE(T)                                                                                                    \
    C(upsample_##T)                                                                                                    \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T *restrict row = z + 4 * i * m;                                                                           \
            FOR (j, m) {                                                                                               \
                row[2 * j] = x[i * m + j];                                                                             \
                row[2 * j + 1] = x[i * m + j];                                                                         \
            }                                                                                                          \
            memcpy(row + 2 * m, row, (size_t)m * 2 * sizeof *z);                                                       \
        }                                                                                                              \
    }
UPSAMPLE(f32)
UPSAMPLE(u8)

C(downsample_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k)
        FOR (j, l)
            z[i * l + j] = x[2 * i * m + 2 * j];
}

C(complex_pairs_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 a = x[2 * i], b = x[2 * i + 1], c = y[2 * i], d = y[2 * i + 1];
        z[2 * i] = a * c - b * d;
        z[2 * i + 1] = a * d + b * c;
    }
}

#define INTERLEAVE(T)                                                                                                  \
    C(interleave_##T)                                                                                                  \
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
    }
INTERLEAVE(f32)
INTERLEAVE(u8)

C(deinterleave_f32)
{
    IN(f32, x, 0);
    OUT(f32, y, 0);
    OUT(f32, z, 1);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        y[i] = x[2 * i];
        z[i] = x[2 * i + 1];
    }
}

C(every_third_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[3 * i + 1];
}

C(pair_sums_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[2 * i] + x[2 * i + 1];
}

C(concatenate_f32)
{
    copy(call->out[0], call->in[0], (size_t)E(0) * sizeof(f32));
    copy((f32 *)call->out[0] + E(0), call->in[1], (size_t)E(1) * sizeof(f32));
}

MAP1(reverse_f32, f32, f32, x[n - 1 - i])
MAP1(reverse_u8, u8, u8, x[n - 1 - i])
MAP1(palindrome_f32, f32, f32, x[i] + x[n - 1 - i])

C(differences_tail_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i + 1] - x[i];
}

C(reshape_rows_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t n = E(1), m = E(2);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[i * m + j] + y[j];
}

C(diagonal_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    FOR (i, n)
        z[i] = x[i * (n + 1)];
}

C(skew_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t by = i % m;
        memcpy(z + i * m, x + i * m + by, (size_t)(m - by) * sizeof *z);
        memcpy(z + i * m + m - by, x + i * m, (size_t)by * sizeof *z);
    }
}

#define GATHER(name, I)                                                                                                \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        IN(I, at, 1);                                                                                                  \
        OUT(f32, z, 0);                                                                                                \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = x[at[i]];                                                                                           \
    }
GATHER(gather_f32, i32)
GATHER(gather_wide_f32, i64)
GATHER(table_f32, u8)

C(table_u8)
{
    IN(u8, x, 0);
    IN(u8, at, 1);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[at[i]];
}

C(gather_rows_f32)
{
    IN(f32, x, 0);
    IN(i32, at, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[at[i] * m + j];
}
