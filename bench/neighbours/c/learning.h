/* What C sides of the group `learning` share. */
#ifndef NEIGHBOURS_LEARNING_H
#define NEIGHBOURS_LEARNING_H

#include "parts.h"

enum { WIDTH = 256 };

/* A product of n rows and m columns, four rows at once, in pieces of WIDTH columns: x[i * row + k * step] are
 * multiplied with the rows of y. `store` takes v, what stands in row i, column j. */
#define PRODUCT(n, l, m, x, row, step, y, store)                                                                       \
    PARALLEL_FOR_2                                                                                                     \
    for (int64_t first_row = 0; first_row < (n); first_row += 4)                                                       \
        for (int64_t first = 0; first < (m); first += WIDTH) {                                                         \
            int64_t width = MIN(WIDTH, (m)-first), rows = MIN(4, (n)-first_row);                                       \
            f32 s[4][WIDTH];                                                                                           \
            four_rows(x + first_row * (row), row, step, rows, y + first, m, l, width, s);                              \
            FOR (q, rows) {                                                                                            \
                int64_t i = first_row + q;                                                                             \
                SIMD                                                                                                   \
                FOR (at, width) {                                                                                      \
                    int64_t j = first + at;                                                                            \
                    f32 v = s[q][at];                                                                                  \
                    store;                                                                                             \
                }                                                                                                      \
            }                                                                                                          \
        }

static inline void four_rows(const f32 *x, int64_t row, int64_t step, int64_t rows, const f32 *y, int64_t m, int64_t l,
                             int64_t width, f32 (*restrict s)[WIDTH])
{
    const f32 *a = x, *b = rows > 1 ? a + row : a, *c = rows > 2 ? b + row : a, *d = rows > 3 ? c + row : a;
    FOR (j, width)
        s[0][j] = s[1][j] = s[2][j] = s[3][j] = 0;
    FOR (k, l) {
        const f32 *restrict r = y + k * m;
        f32 ak = a[k * step], bk = b[k * step], ck = c[k * step], dk = d[k * step];
        SIMD
        FOR (j, width) {
            f32 v = r[j];
            s[0][j] += ak * v;
            s[1][j] += bk * v;
            s[2][j] += ck * v;
            s[3][j] += dk * v;
        }
    }
}

/* A matrix of n rows and m columns, turned. */
static inline f32 *turned(const f32 *x, int64_t n, int64_t m)
{
    f32 *t = malloc((size_t)(n * m) * sizeof *t);
    PARALLEL_FOR
    FOR (j, m)
        FOR (i, n)
            t[j * n + i] = x[i * m + j];
    return t;
}

static inline f32 *zeros(int64_t n)
{
    return calloc((size_t)n, sizeof(f32));
}

/* In a parallel region: what threads have in `own` is added up in `all`. */
#define ADD_UP(own, all, m)                                                                                            \
    CRITICAL                                                                                                           \
    FOR (j_, m)                                                                                                        \
        (all)[j_] += (own)[j_];                                                                                        \
    PRAGMA(omp barrier)

#define SUMS(...) PRAGMA(omp parallel for schedule(static) reduction(+ : __VA_ARGS__))
#define SIMD_SUMS(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD_MAX(...) PRAGMA(omp simd reduction(max : __VA_ARGS__))

/* z = softmax of the m numbers at x; both may be the same. */
static inline void softmax(const f32 *x, f32 *z, int64_t m)
{
    f32 most = -INFINITY, sum = 0;
    SIMD_MAX(most)
    FOR (j, m)
        most = MAX(most, x[j]);
    SIMD_SUMS(sum)
    FOR (j, m) {
        f32 e = expf(x[j] - most);
        z[j] = e;
        sum += e;
    }
    f32 by = 1 / sum;
    SIMD
    FOR (j, m)
        z[j] *= by;
}

static inline f32 sigmoid(f32 x)
{
    return 1 / (1 + expf(-x));
}

#endif
