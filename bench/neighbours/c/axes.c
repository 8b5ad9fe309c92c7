#include "c.h"

/* Tiles that stay in the first cache: what is read along one axis is written along another. */
enum { TILE = 32 };
#define TILES(n, m, statement)                                                                                         \
    PARALLEL_FOR_2                                                                                                     \
    for (int64_t i0 = 0; i0 < (n); i0 += TILE)                                                                         \
        for (int64_t j0 = 0; j0 < (m); j0 += TILE) {                                                                   \
            int64_t i1 = MIN(i0 + TILE, (n)), j1 = MIN(j0 + TILE, (m));                                                \
            for (int64_t i = i0; i < i1; i++)                                                                          \
                for (int64_t j = j0; j < j1; j++)                                                                      \
                    statement;                                                                                         \
        }

#define TRANSPOSE(T)                                                                                                   \
    C(transpose_##T)                                                                                                   \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        TILES(m, n, z[i * n + j] = x[j * m + i])                                                                       \
    }
TRANSPOSE(f32)
TRANSPOSE(f64)
TRANSPOSE(u8)

C(heads_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR_2
    FOR (h, 8)
        FOR (i, n)
            memcpy(z + (h * n + i) * k, x + i * m + h * k, (size_t)k * sizeof *z);
}

C(heads_back_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (h, 8)
            memcpy(z + (i * 8 + h) * k, x + (h * n + i) * k, (size_t)k * sizeof *z);
}

C(pixel_shuffle_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (y, 2) {
            const f32 *a = x + (2 * y * n + i) * m, *b = a + n * m;
            f32 *to = z + (2 * i + y) * 2 * m;
            FOR (j, m) {
                to[2 * j] = a[j];
                to[2 * j + 1] = b[j];
            }
        }
}

C(pixel_unshuffle_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(2), m = E(3);
    PARALLEL_FOR
    FOR (i, n)
        FOR (y, 2) {
            const f32 *row = x + (2 * i + y) * 2 * m;
            f32 *a = z + (2 * y * n + i) * m, *b = a + n * m;
            FOR (j, m) {
                a[j] = row[2 * j];
                b[j] = row[2 * j + 1];
            }
        }
}

C(swap_quads_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (j, m)
        FOR (i, n)
            FOR (c, 4)
                z[(j * n + i) * 4 + c] = x[(i * m + j) * 4 + c];
}

C(patches_of_4_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t w = E(1), n = E(2), m = E(3);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            FOR (k, 4)
                FOR (l, 4)
                    z[((i * m + j) * 4 + k) * 4 + l] = x[(i * 4 + k) * w + j * 4 + l];
}

#define SMALL_TRANSPOSES(name, k)                                                                                      \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        PARALLEL_FOR                                                                                                   \
        FOR (n, E(0))                                                                                                  \
            FOR (i, k)                                                                                                 \
                FOR (j, k)                                                                                             \
                    z[(n * k + i) * k + j] = x[(n * k + j) * k + i];                                                   \
    }
SMALL_TRANSPOSES(small_transposes_f32, 4)
SMALL_TRANSPOSES(small_transposes_5_f32, 5)
SMALL_TRANSPOSES(small_transposes_8_f32, 8)

C(mirrored_image_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            FOR (c, 3)
                z[(i * m + j) * 3 + c] = x[(i * m + m - 1 - j) * 3 + c];
}

C(turned_image_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, m)
        FOR (j, n)
            FOR (c, 3)
                z[(i * n + j) * 3 + c] = x[((n - 1 - j) * m + i) * 3 + c];
}

C(minus_means_f32)
{
    IN(f32, x, 0);
    IN(f32, mean, 1);
    OUT(f32, z, 0);
    PARALLEL_FOR
    FOR (i, E(0) * E(1))
        FOR (c, 3)
            z[3 * i + c] = x[3 * i + c] - mean[c];
}

C(mixed_channels_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    PARALLEL_FOR
    FOR (i, E(0) * E(1)) {
        const f32 *p = x + 3 * i;
        z[3 * i] = p[0] * 0.75F + p[1] * 0.25F;
        z[3 * i + 1] = p[1] * 0.75F + p[2] * 0.25F;
        z[3 * i + 2] = p[2] * 0.75F + p[0] * 0.25F;
    }
}

C(transpose_map_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    TILES(m, n, z[i * n + j] = x[j * m + i] * 3 + 1)
}

C(add_transpose_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    TILES(n, n, z[i * n + j] = x[i * n + j] + x[j * n + i])
}

C(zip_transpose_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    TILES(n, m, z[i * m + j] = x[i * m + j] * y[j * n + i])
}

C(dot_transpose_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = E(0), m = E(1);
    f32 all = 0;
    PRAGMA(omp parallel for collapse(2) reduction(+ : all) schedule(static))
    for (int64_t i0 = 0; i0 < n; i0 += TILE)
        for (int64_t j0 = 0; j0 < m; j0 += TILE) {
            f32 s = 0;
            int64_t i1 = MIN(i0 + TILE, n), j1 = MIN(j0 + TILE, m);
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++)
                    s += x[i * m + j] * y[j * n + i];
            all += s;
        }
    RESULT(f32, 0) = all;
}

C(reverse_rows_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = x[i * m + m - 1 - j];
}

C(reverse_columns_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        memcpy(z + i * m, x + (n - 1 - i) * m, (size_t)m * sizeof *z);
}

C(reverse_both_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[n - 1 - i];
}

C(permute_021_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR
    FOR (a, n)
        for (int64_t k0 = 0; k0 < l; k0 += TILE)
            for (int64_t j0 = 0; j0 < m; j0 += TILE)
                for (int64_t k = k0; k < MIN(k0 + TILE, l); k++)
                    for (int64_t j = j0; j < MIN(j0 + TILE, m); j++)
                        z[(a * l + k) * m + j] = x[(a * m + j) * l + k];
}

C(permute_102_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR_2
    FOR (j, m)
        FOR (i, n)
            memcpy(z + (j * n + i) * l, x + (i * m + j) * l, (size_t)l * sizeof *z);
}

C(permute_210_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR
    FOR (b, m)
        for (int64_t k0 = 0; k0 < l; k0 += TILE)
            for (int64_t i0 = 0; i0 < n; i0 += TILE)
                for (int64_t k = k0; k < MIN(k0 + TILE, l); k++)
                    for (int64_t i = i0; i < MIN(i0 + TILE, n); i++)
                        z[(k * m + b) * n + i] = x[(i * m + b) * l + k];
}

/* One transpose of n x (m l). */
C(permute_120_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), q = E(1) * E(2);
    TILES(q, n, z[i * n + j] = x[j * q + i])
}

C(channels_last_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t q = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, q) {
        z[3 * i] = x[i];
        z[3 * i + 1] = x[q + i];
        z[3 * i + 2] = x[2 * q + i];
    }
}

C(channels_first_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t q = E(0) * E(1);
    PARALLEL_FOR
    FOR (i, q) {
        z[i] = x[3 * i];
        z[q + i] = x[3 * i + 1];
        z[2 * q + i] = x[3 * i + 2];
    }
}

C(sum_inner_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), m = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j];
        z[i] = s;
    }
}

#define ADD(a, v) a += v
#define LARGER(a, v) a = (v) > a ? (v) : a

/* A row of results for each outer index. */
#define MIDDLE(name, T, A, start, step)                                                                                \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(A, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1), l = E(2);                                                                          \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            A *restrict s = z + i * l;                                                                                 \
            FOR (k, l)                                                                                                 \
                s[k] = start;                                                                                          \
            FOR (j, m)                                                                                                 \
                SIMD                                                                                                   \
            FOR (k, l)                                                                                                 \
                step(s[k], x[(i * m + j) * l + k]);                                                                    \
        }                                                                                                              \
    }
MIDDLE(sum_middle_f32, f32, f32, 0, ADD)
MIDDLE(sum_middle_f64, f64, f64, 0, ADD)
MIDDLE(maximum_middle_f32, f32, f32, -3.4e38f, LARGER)

/* Strips of the results; four outer indices at a time. */
enum { STRIP = 1024 };
#define OUTER(name, T, A, start, step)                                                                                 \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(A, z, 0);                                                                                                  \
        int64_t n = E(0), q = E(1) * E(2);                                                                             \
        PARALLEL_FOR                                                                                                   \
        for (int64_t first = 0; first < q; first += STRIP) {                                                           \
            A s[STRIP];                                                                                                \
            int64_t width = MIN(STRIP, q - first), i = 0;                                                              \
            FOR (j, width)                                                                                             \
                s[j] = start;                                                                                          \
            for (; i + 4 <= n; i += 4) {                                                                               \
                const T *restrict r = x + i * q + first;                                                               \
                SIMD                                                                                                   \
                FOR (j, width) {                                                                                       \
                    A a = s[j];                                                                                        \
                    step(a, r[j]);                                                                                     \
                    step(a, r[j + q]);                                                                                 \
                    step(a, r[j + 2 * q]);                                                                             \
                    step(a, r[j + 3 * q]);                                                                             \
                    s[j] = a;                                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            for (; i < n; i++)                                                                                         \
                FOR (j, width)                                                                                         \
                    step(s[j], x[i * q + first + j]);                                                                  \
            memcpy(z + first, s, (size_t)width * sizeof *s);                                                           \
        }                                                                                                              \
    }
OUTER(sum_outer_f32, f32, f32, 0, ADD)
OUTER(sum_outer_u8, u8, u32, 0, ADD)
OUTER(maximum_outer_f32, f32, f32, -3.4e38f, LARGER)

C(argmax_middle_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most[l];
        i32 at[l];
        FOR (k, l) {
            most[k] = x[i * m * l + k];
            at[k] = 0;
        }
        for (i32 j = 1; j < m; j++)
            SIMD
        FOR (k, l) {
            f32 v = x[(i * m + j) * l + k];
            at[k] = v > most[k] ? j : at[k];
            most[k] = v > most[k] ? v : most[k];
        }
        FOR (k, l)
            z[i * l + k] = at[k];
    }
}

C(argmax_outer_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), q = E(1) * E(2);
    PARALLEL_FOR
    for (int64_t first = 0; first < q; first += STRIP) {
        f32 most[STRIP];
        i32 at[STRIP];
        int64_t width = MIN(STRIP, q - first);
        FOR (j, width) {
            most[j] = x[first + j];
            at[j] = 0;
        }
        for (i32 i = 1; i < n; i++)
            SIMD
        FOR (j, width) {
            f32 v = x[i * q + first + j];
            at[j] = v > most[j] ? i : at[j];
            most[j] = v > most[j] ? v : most[j];
        }
        FOR (j, width)
            z[first + j] = at[j];
    }
}

C(sum_outer_two_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), l = E(2);
    memset(z, 0, (size_t)l * sizeof *z);
    PARALLEL
    {
        f32 s[l];
        memset(s, 0, sizeof s);
        SPLIT_FOR
        FOR (i, n)
            SIMD
        FOR (j, l)
            s[j] += x[i * l + j];
        CRITICAL
        FOR (j, l)
            z[j] += s[j];
    }
}

C(sum_inner_two_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), q = E(1) * E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, q)
            s += x[i * q + j];
        z[i] = s;
    }
}
