#include "c.h"

void nb_make_csr(const struct nb_call *call);
void nb_make_count(const struct nb_call *call);
void nb_make_table(const struct nb_call *call);
void nb_make_16(const struct nb_call *call);

/* Rows of lengths between half and one and a half of the mean, columns anywhere. */
void nb_make_csr(const struct nb_call *call)
{
    i32 *begin = call->in[0], *column = call->in[1];
    int64_t rows = E(0) - 1, entries = E(1), columns = E(2), mean = entries / rows;
    FOR (i, rows)
        begin[i] = (i32)(i * mean + (i % 2 ? mean / 2 : 0));
    begin[rows] = (i32)entries;
    FOR (k, entries)
        column[k] = (i32)((uint64_t)k * 2654435761u % (uint64_t)columns);
}

void nb_make_count(const struct nb_call *call)
{
    i64 *x = call->in[0];
    FOR (i, SIZE)
        x[i] = i + 1;
}

void nb_make_table(const struct nb_call *call)
{
    f32 *table = call->in[1];
    FOR (i, E(1))
        table[i] = (f32)i / (f32)E(1);
}

void nb_make_16(const struct nb_call *call)
{
    u8 *x = call->in[0];
    FOR (i, SIZE)
        x[i] %= 16;
}

#define MATRIX_VECTOR(T)                                                                                               \
    C(matrix_vector_##T)                                                                                               \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T s = 0;                                                                                                   \
            PRAGMA(omp simd reduction(+ : s))                                                                          \
            FOR (j, m)                                                                                                 \
                s += x[i * m + j] * y[j];                                                                              \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
MATRIX_VECTOR(f32)
MATRIX_VECTOR(f64)

C(row_sums_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += x[i * m + j];
        z[i] = s;
    }
}

C(row_maxima_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = x[i * m];
        PRAGMA(omp simd reduction(max : s))
        FOR (j, m)
            s = x[i * m + j] > s ? x[i * m + j] : s;
        z[i] = s;
    }
}

C(column_sums_loop_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), strips = (m + 255) / 256;
    PARALLEL_FOR
    FOR (t, strips) {
        f32 s[256] = {0};
        int64_t first = t * 256, width = MIN(256, m - first);
        FOR (i, n)
            SIMD
        FOR (j, width)
            s[j] += x[i * m + first + j];
        memcpy(z + first, s, (size_t)width * sizeof *s);
    }
}

C(triangle_vector_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    DYNAMIC_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, i + 1)
            s += x[i * n + j] * y[j];
        z[i] = s;
    }
}

C(triangle_sums_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    DYNAMIC_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, i + 1)
            s += x[i * n + j];
        z[i] = s;
    }
}

/* As the program says it, a sum for each element. */
C(prefix_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    DYNAMIC_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, i + 1)
            s += x[j];
        z[i] = s;
    }
}

#define CSR(T)                                                                                                         \
    C(csr_##T)                                                                                                         \
    {                                                                                                                  \
        IN(i32, begin, 0);                                                                                             \
        IN(i32, column, 1);                                                                                            \
        IN(T, value, 2);                                                                                               \
        IN(T, x, 3);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(3);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T s = 0;                                                                                                   \
            PRAGMA(omp simd reduction(+ : s))                                                                          \
            for (i32 k = begin[i]; k < begin[i + 1]; k++)                                                              \
                s += value[k] * x[column[k]];                                                                          \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
CSR(f32)
CSR(f64)

C(csr_sums_f32)
{
    IN(i32, begin, 0);
    IN(f32, value, 2);
    OUT(f32, z, 0);
    int64_t n = E(3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        for (i32 k = begin[i]; k < begin[i + 1]; k++)
            s += value[k];
        z[i] = s;
    }
}

C(banded_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        if (i >= 4 && i < n - 4) {
            UNROLL(9)
            for (int k = 0; k < 9; k++)
                s += x[i * 9 + k] * y[i + k - 4];
        } else {
            for (int k = 0; k < 9; k++)
                if (i + k >= 4 && i + k - 4 < n)
                    s += x[i * 9 + k] * y[i + k - 4];
        }
        z[i] = s;
    }
}

static inline f32 newton_root(f32 x)
{
    f32 r = x;
    UNROLL(10)
    for (int k = 0; k < 10; k++)
        r = (r + x / r) * 0.5f;
    return r;
}

static inline f64 logistic_50(f64 x)
{
    UNROLL(50)
    for (int k = 0; k < 50; k++)
        x = x * 3.5 * (1 - x);
    return x;
}

MAP1(newton_f32, f32, f32, newton_root(x[i]))
MAP1(logistic_f64, f64, f64, logistic_50(x[i]))

/* Sixteen elements at a time go through the coefficients together. */
C(coefficients_f32)
{
    IN(f32, x, 0);
    IN(f32, c, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += 64) {
        f32 s[64] = {0};
        int64_t count = MIN(64, n - first);
        if (count == 64) {
            FOR (k, m)
                SIMD
            FOR (i, 64)
                s[i] = s[i] * x[first + i] + c[k];
        } else {
            FOR (k, m)
                FOR (i, count)
                    s[i] = s[i] * x[first + i] + c[k];
        }
        FOR (i, count)
            z[first + i] = s[i];
    }
}

C(collatz_i64)
{
    IN(i64, x, 0);
    OUT(i32, z, 0);
    int64_t n = SIZE;
    PRAGMA(omp parallel for schedule(dynamic, 1024))
    FOR (i, n) {
        i32 steps = 0;
        for (i64 v = x[i]; v != 1; steps++)
            v = v & 1 ? 3 * v + 1 : v >> 1;
        z[i] = steps;
    }
}

C(gcd_i32)
{
    IN(i32, x, 0);
    IN(i32, y, 1);
    OUT(i32, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        i32 a = x[i], b = y[i];
        while (b != 0) {
            i32 r = a % b;
            a = b;
            b = r;
        }
        z[i] = a;
    }
}

C(search_f32)
{
    IN(f32, x, 0);
    IN(f32, table, 1);
    OUT(i32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        i32 low = 0;
        UNROLL(16)
        for (i32 k = 0; k < 16; k++) {
            i32 middle = low + (32768 >> k);
            low = table[middle - 1] <= x[i] ? middle : low;
        }
        z[i] = low;
    }
}

C(interpolate_f32)
{
    IN(f32, x, 0);
    IN(f32, table, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 last = (f32)(E(1) - 1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 at = x[i] * last;
        i32 k = (i32)at;
        z[i] = table[k] + (at - (f32)k) * (table[k + 1] - table[k]);
    }
}

C(rank_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        i32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, n)
            s += x[j] < x[i];
        z[i] = s;
    }
}

C(histogram_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = SIZE;
    FOR (b, 16)
        z[b] = 0;
    PARALLEL
    {
        /* Four tables, so that equal neighbours do not wait for each other. */
        i32 count[4][16] = {{0}};
        SPLIT_FOR
        for (int64_t i = 0; i < n / 4; i++) {
            count[0][x[4 * i]]++;
            count[1][x[4 * i + 1]]++;
            count[2][x[4 * i + 2]]++;
            count[3][x[4 * i + 3]]++;
        }
        CRITICAL
        FOR (b, 16)
            z[b] += count[0][b] + count[1][b] + count[2][b] + count[3][b];
    }
    for (int64_t i = n / 4 * 4; i < n; i++)
        z[x[i]]++;
}
