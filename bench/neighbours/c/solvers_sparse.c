/* The C sides of group "solvers": sparse and structured matrices, polynomials, quadrature. */
#include "c.h"

#include <omp.h>

#define ROWS_SIMD PRAGMA(omp parallel for simd schedule(static))
#define LANES 8

void nb_make_solvers_offsets(const struct nb_call *call);
void nb_make_solvers_rows(const struct nb_call *call);

/* --- sparse and structured matrices --- */

void nb_make_solvers_offsets(const struct nb_call *call)
{
    i64 *offset = call->in[0], count = E(0);
    FOR (k, count)
        offset[k] = (k - count / 2) * (k - count / 2) * (k < count / 2 ? -11 : 11);
}

C(sv_diagonals)
{
    IN(i64, offset, 0);
    IN(f64, a, 1);
    IN(f64, x, 2);
    OUT(f64, z, 0);
    int64_t count = E(0), n = E(1), blocks = (n + 1023) / 1024;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t begin = block * 1024, end = MIN(begin + 1024, n);
        memset(z + begin, 0, (size_t)(end - begin) * sizeof(*z));
        FOR (d, count) {
            int64_t by = offset[d], from = MAX(begin, -by), to = MIN(end, n - by);
            SIMD
            for (int64_t i = from; i < to; i++)
                z[i] += a[d * n + i] * x[i + by];
        }
    }
}

C(sv_ell)
{
    IN(f32, x, 0);
    IN(i32, column, 1);
    IN(f32, value, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1), blocks = (n + 15) / 16;
    if (k < 16) { /* sixteen short rows at once */
        PARALLEL_FOR
        FOR (block, blocks) {
            int64_t first = MIN(block * 16, n - 16);
            f32 sum[16] = {0};
            FOR (j, k)
                FOR (l, 16)
                    sum[l] += value[(first + l) * k + j] * x[column[(first + l) * k + j]];
            memcpy(z + first, sum, sizeof(sum));
        }
        return;
    }
    PARALLEL_FOR
    FOR (i, n) {
        f32 sum = 0;
        PRAGMA(omp simd reduction(+ : sum))
        FOR (j, k)
            sum += value[i * k + j] * x[column[i * k + j]];
        z[i] = sum;
    }
}

C(sv_ell_columns)
{
    IN(f32, x, 0);
    IN(i32, column, 1);
    IN(f32, value, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1), blocks = (n + 1023) / 1024;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t begin = block * 1024, end = MIN(begin + 1024, n);
        memset(z + begin, 0, (size_t)(end - begin) * sizeof(*z));
        FOR (j, k)
            SIMD
        for (int64_t i = begin; i < end; i++)
            z[i] += value[j * n + i] * x[column[j * n + i]];
    }
}

/* Each thread adds up into places of its own. */
#define ADD_INTO(z, n, count, ...)                                                                                     \
    memset(z, 0, (size_t)(n) * sizeof(*z));                                                                            \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        f64 *own = omp_get_thread_num() ? calloc((size_t)(n), sizeof(*own)) : z;                                       \
        SPLIT_FOR                                                                                                      \
        FOR (e, count) {                                                                                               \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
        if (own != z) {                                                                                                \
            CRITICAL                                                                                                   \
            FOR (i, n)                                                                                                 \
                z[i] += own[i];                                                                                        \
            free(own);                                                                                                 \
        }                                                                                                              \
    }

C(sv_coo)
{
    IN(f64, x, 0);
    IN(i32, row, 1);
    IN(i32, column, 2);
    IN(f64, value, 3);
    OUT(f64, z, 0);
    int64_t n = E(0), entries = E(1);
    ADD_INTO(z, n, entries, own[row[e]] += value[e] * x[column[e]];)
}

void nb_make_solvers_rows(const struct nb_call *call)
{
    i64 *begin = call->in[1], rows = E(0), entries = E(2), mean = entries / rows;
    FOR (i, rows)
        begin[i] = i * mean + (i % 2 ? mean / 2 : 0);
    begin[rows] = entries;
}

C(sv_csr_transposed)
{
    IN(f64, x, 0);
    IN(i64, begin, 1);
    IN(i32, column, 2);
    IN(f64, value, 3);
    OUT(f64, z, 0);
    int64_t n = E(0);
    ADD_INTO(z, n, n, {
        f64 here = x[e];
        for (int64_t k = begin[e]; k < begin[e + 1]; k++)
            own[column[k]] += value[k] * here;
    })
}

C(sv_toeplitz)
{
    IN(f32, t, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(1), blocks = (n + 63) / 64;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t begin = MIN(block * 64, n - 64);
        f32 sum[64] = {0};
        FOR (j, n) {
            const f32 *from = t + begin + n - 1 - j;
            f32 by = x[j];
            SIMD
            FOR (l, 64)
                sum[l] += by * from[l];
        }
        memcpy(z + begin, sum, sizeof(sum));
    }
}

C(sv_fem)
{
    IN(f64, u, 0);
    IN(i32, node, 1);
    IN(f64, factor, 2);
    OUT(f64, z, 0);
    int64_t n = E(0), elements = E(1);
    ADD_INTO(z, n, elements, {
        const i32 *at = node + 4 * e;
        f64 a = u[at[0]], b = u[at[1]], c = u[at[2]], d = u[at[3]], by = factor[e];
        own[at[0]] += by * (4 * a - b - 2 * c - d);
        own[at[1]] += by * (4 * b - a - c - 2 * d);
        own[at[2]] += by * (4 * c - 2 * a - b - d);
        own[at[3]] += by * (4 * d - a - 2 * b - c);
    })
}

/* --- polynomials and quadrature --- */

C(sv_vandermonde)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), blocks = (n + LANES - 1) / LANES;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * LANES, n - LANES);
        f64 power[LANES];
        FOR (r, LANES)
            power[r] = 1;
        FOR (j, m)
            UNROLL(LANES)
        FOR (r, LANES) {
            z[(first + r) * m + j] = power[r];
            power[r] *= x[first + r];
        }
    }
}

/* Thirty-two points at once. */
#define POINTS(n, m, T, begin, step, end)                                                                              \
    int64_t blocks = ((n) + 31) / 32;                                                                                  \
    PARALLEL_FOR                                                                                                       \
    FOR (block, blocks) {                                                                                              \
        int64_t first = MIN(block * 32, MAX((n)-32, 0)), lanes = MIN(32, n);                                           \
        T v[32] = {0}, a[32], b[32], sum[32];                                                                          \
        (void)b, (void)sum;                                                                                            \
        FOR (l, lanes)                                                                                                 \
            v[l] = x[first + l];                                                                                       \
        FOR (l, 32) {                                                                                                  \
            begin;                                                                                                     \
        }                                                                                                              \
        FOR (k, m) {                                                                                                   \
            SIMD                                                                                                       \
            FOR (l, 32) {                                                                                              \
                step;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        FOR (l, lanes)                                                                                                 \
            z[first + l] = end;                                                                                        \
    }

C(sv_long_polynomial)
{
    IN(f64, c, 0);
    IN(f64, x, 1);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    POINTS(n, m, f64, a[l] = 0, a[l] = a[l] * v[l] + c[k], a[l])
}

C(sv_chebyshev)
{
    IN(f64, c, 0);
    IN(f64, x, 1);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    POINTS(n, m, f64, a[l] = b[l] = 0, f64 next = c[m - 1 - k] + 2 * v[l] * a[l] - b[l]; b[l] = a[l];
           a[l] = next, a[l] - v[l] * b[l])
}

C(sv_legendre)
{
    IN(f64, c, 0);
    IN(f64, x, 1);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    POINTS(n, m, f64, a[l] = 1; b[l] = sum[l] = 0, f64 by = 1 / (f64)(k + 1);
           f64 next = ((f64)(2 * k + 1) * by) * v[l] * a[l] - (f64)k * by * b[l]; sum[l] += c[k] * a[l]; b[l] = a[l];
           a[l] = next, sum[l])
}

C(sv_simpson)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    OUT(f64, z, 0);
    int64_t n = SIZE, blocks = (n + 31) / 32;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * 32, n - 32);
        f64 sum[32], from[32], h[32];
        SIMD
        FOR (l, 32) {
            f64 p = a[first + l], q = b[first + l];
            from[l] = p;
            h[l] = (q - p) / 32;
            sum[l] = exp(-p * p) + exp(-q * q);
        }
        for (int k = 1; k < 32; k++) {
            f64 weight = k & 1 ? 4 : 2;
            SIMD
            FOR (l, 32) {
                f64 x = from[l] + h[l] * k;
                sum[l] += weight * exp(-x * x);
            }
        }
        FOR (l, 32)
            z[first + l] = h[l] * sum[l] / 3;
    }
}

C(sv_gauss)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    OUT(f64, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f64 c = 0.5 * (a[i] + b[i]), h = 0.5 * (b[i] - a[i]);
        f64 p = 0.5384693101056831 * h, q = 0.9061798459386640 * h;
        f64 u = c + p, v = c - p, w = c + q, y = c - q;
        z[i] = h *
               (0.5688888888888889 / (1 + c * c) + 0.4786286704993665 / (1 + u * u) + 0.4786286704993665 / (1 + v * v) +
                0.2369268850561891 / (1 + w * w) + 0.2369268850561891 / (1 + y * y));
    }
}
