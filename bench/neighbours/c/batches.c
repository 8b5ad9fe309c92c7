/* Many small matrices, blocks and records. Loops are inlined for each of the extents that they are called with, so that
 * the compiler knows these. */
#include "c.h"

#define INLINE static inline __attribute__((always_inline))
#define CASE(K, call)                                                                                                  \
    case K:                                                                                                            \
        call(K);                                                                                                       \
        break;

#define PRODUCTS(T)                                                                                                    \
    INLINE void products_##T(const T *restrict x, const T *restrict y, T *restrict z, int64_t k)                       \
    {                                                                                                                  \
        FOR (i, k) {                                                                                                   \
            T sum[16] = {0};                                                                                           \
            FOR (l, k)                                                                                                 \
                FOR (j, k)                                                                                             \
                    sum[j] += x[i * k + l] * y[l * k + j];                                                             \
            FOR (j, k)                                                                                                 \
                z[i * k + j] = sum[j];                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    C(batch_products_##T)                                                                                              \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        const int64_t n = E(0), k = E(1);                                                                              \
        switch (k) {                                                                                                   \
            CASE(3, EACH_PRODUCT_##T)                                                                                  \
            CASE(4, EACH_PRODUCT_##T)                                                                                  \
            CASE(5, EACH_PRODUCT_##T)                                                                                  \
            CASE(8, EACH_PRODUCT_##T)                                                                                  \
            CASE(16, EACH_PRODUCT_##T)                                                                                 \
        default:                                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    }
#define EACH_PRODUCT_f32(K) PARALLEL_FOR FOR (i, n) products_f32(x + i * K * K, y + i * K * K, z + i * K * K, K)
#define EACH_PRODUCT_f64(K) PARALLEL_FOR FOR (i, n) products_f64(x + i * K * K, y + i * K * K, z + i * K * K, K)
PRODUCTS(f32)
PRODUCTS(f64)

#define VECTORS(T)                                                                                                     \
    INLINE void vectors_##T(const T *restrict a, const T *restrict x, T *restrict z, int64_t m, int64_t k)             \
    {                                                                                                                  \
        FOR (i, m) {                                                                                                   \
            T sum = 0;                                                                                                 \
            FOR (j, k)                                                                                                 \
                sum += a[i * k + j] * x[j];                                                                            \
            z[i] = sum;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    C(batch_vectors_##T)                                                                                               \
    {                                                                                                                  \
        IN(T, a, 0);                                                                                                   \
        IN(T, x, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        const int64_t n = E(0);                                                                                        \
        switch (100 * E(1) + E(2)) {                                                                                   \
            OBLONG(T, 3, 3)                                                                                            \
            OBLONG(T, 4, 4)                                                                                            \
            OBLONG(T, 5, 5)                                                                                            \
            OBLONG(T, 8, 8)                                                                                            \
            OBLONG(T, 8, 3)                                                                                            \
            OBLONG(T, 8, 2)                                                                                            \
            OBLONG(T, 4, 8)                                                                                            \
            OBLONG(T, 2, 16)                                                                                           \
        default:                                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    }
#define OBLONG(T, M, K)                                                                                                \
    case 100 * M + K:                                                                                                  \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            vectors_##T(a + i * M * K, x + i * K, z + i * M, M, K);                                                    \
        break;
VECTORS(f32)
VECTORS(f64)

INLINE void points(const f32 *restrict x, const f32 *restrict m, f32 *restrict z, int64_t k)
{
    FOR (i, k) {
        f32 sum = 0;
        FOR (j, k)
            sum += m[i * k + j] * x[j];
        z[i] = sum;
    }
}

C(batch_points_f32)
{
    IN(f32, x, 0);
    IN(f32, m, 1);
    OUT(f32, z, 0);
    const int64_t n = E(0);
#define EACH(K) PARALLEL_FOR FOR (i, n) points(x + i * K, m, z + i * K, K)
    switch (E(1)) {
        CASE(3, EACH)
        CASE(4, EACH)
        CASE(7, EACH)
        CASE(16, EACH)
    default:
        abort();
    }
#undef EACH
}

#define WITH_ALL(name, op)                                                                                             \
    INLINE void name##_of(const f32 *restrict x, f32 *restrict z, int64_t k)                                           \
    {                                                                                                                  \
        FOR (i, k)                                                                                                     \
            FOR (j, k)                                                                                                 \
                z[i * k + j] = x[i] op x[j];                                                                           \
    }                                                                                                                  \
    C(name##_f32)                                                                                                      \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        const int64_t n = E(0);                                                                                        \
        switch (E(1)) {                                                                                                \
            CASE(3, EACH_##name)                                                                                       \
            CASE(4, EACH_##name)                                                                                       \
            CASE(6, EACH_##name)                                                                                       \
            CASE(8, EACH_##name)                                                                                       \
        default:                                                                                                       \
            abort();                                                                                                   \
        }                                                                                                              \
    }
#define EACH_batch_outer(K) PARALLEL_FOR FOR (i, n) batch_outer_of(x + i * K, z + i * K * K, K)
#define EACH_batch_apart(K) PARALLEL_FOR FOR (i, n) batch_apart_of(x + i * K, z + i * K * K, K)
WITH_ALL(batch_outer, *)
WITH_ALL(batch_apart, -)

C(batch_turned_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    const int64_t n = E(0);
#define TURNED(M, K)                                                                                                   \
    case 100 * M + K:                                                                                                  \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            FOR (j, K)                                                                                                 \
                FOR (l, M)                                                                                             \
                    z[(i * K + j) * M + l] = x[(i * M + l) * K + j];                                                   \
        break;
    switch (100 * E(1) + E(2)) {
        TURNED(3, 4)
        TURNED(3, 5)
        TURNED(8, 8)
    default:
        abort();
    }
}

C(batch_traces_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    const int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 sum = 0;
        FOR (j, k)
            sum += x[(i * k + j) * k + j];
        z[i] = sum;
    }
}

C(batch_block_sums_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    const int64_t n = E(0), m = E(2);
#define EACH(K)                                                                                                        \
    PARALLEL_FOR                                                                                                       \
    FOR (i, n)                                                                                                         \
        FOR (j, m) {                                                                                                   \
            f32 sum = 0;                                                                                               \
            FOR (a, K)                                                                                                 \
                FOR (b, K)                                                                                             \
                    sum += x[((i * K + a) * m + j) * K + b];                                                           \
            z[i * m + j] = sum;                                                                                        \
        }
    switch (E(1)) {
        CASE(2, EACH)
        CASE(3, EACH)
        CASE(4, EACH)
    default:
        abort();
    }
#undef EACH
}

INLINE int64_t nearest(const f32 *restrict x, const f32 *restrict c, int64_t m, int64_t k)
{
    f32 least = INFINITY;
    int64_t at = 0;
    FOR (j, m) {
        f32 sum = 0;
        FOR (l, k)
            sum += (x[l] - c[j * k + l]) * (x[l] - c[j * k + l]);
        if (sum < least) {
            least = sum;
            at = j;
        }
    }
    return at;
}

C(batch_nearest_f32)
{
    IN(f32, x, 0);
    IN(f32, c, 1);
    OUT(int64_t, z, 0);
    const int64_t n = E(0), m = E(2);
#define EACH(K) PARALLEL_FOR FOR (i, n) z[i] = nearest(x + i * K, c, m, K)
    switch (E(1)) {
        CASE(2, EACH)
        CASE(3, EACH)
        CASE(5, EACH)
    default:
        abort();
    }
#undef EACH
}

C(batch_differences_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    const int64_t n = E(0);
#define EACH(K)                                                                                                        \
    PARALLEL_FOR                                                                                                       \
    FOR (i, n)                                                                                                         \
        FOR (j, K - 1)                                                                                                 \
            z[i * (K - 1) + j] = x[i * K + j + 1] - x[i * K + j]
    switch (E(1)) {
        CASE(3, EACH)
        CASE(5, EACH)
    default:
        abort();
    }
#undef EACH
}

C(batch_planes_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    const int64_t n = E(1);
#define EACH(K)                                                                                                        \
    PARALLEL_FOR                                                                                                       \
    FOR (i, n)                                                                                                         \
        FOR (j, K)                                                                                                     \
            z[i * K + j] = x[j * n + i]
    switch (E(0)) {
        CASE(3, EACH)
        CASE(5, EACH)
    default:
        abort();
    }
#undef EACH
}

#define MEDIANS(T)                                                                                                     \
    INLINE void order_##T(T *a, T *b)                                                                                  \
    {                                                                                                                  \
        const T low = *a < *b ? *a : *b, high = *a < *b ? *b : *a;                                                     \
        *a = low;                                                                                                      \
        *b = high;                                                                                                     \
    }                                                                                                                  \
    C(batch_median_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        const int64_t n = E(0);                                                                                        \
        if (E(1) == 3) {                                                                                               \
            PARALLEL_FOR                                                                                               \
            FOR (i, n) {                                                                                               \
                const T a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2], low = MIN(a, b), high = MAX(a, b);           \
                const T second = MIN(high, c);                                                                         \
                z[i] = MAX(low, second);                                                                               \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T a = x[5 * i], b = x[5 * i + 1], c = x[5 * i + 2], d = x[5 * i + 3], e = x[5 * i + 4];                    \
            order_##T(&a, &b);                                                                                         \
            order_##T(&d, &e);                                                                                         \
            order_##T(&a, &d);                                                                                         \
            order_##T(&b, &e);                                                                                         \
            order_##T(&b, &c);                                                                                         \
            order_##T(&c, &d);                                                                                         \
            order_##T(&b, &c);                                                                                         \
            z[i] = c;                                                                                                  \
        }                                                                                                              \
    }
MEDIANS(f32)
MEDIANS(f64)
MEDIANS(u8)
MEDIANS(i32)
