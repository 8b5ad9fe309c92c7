#include "c.h"

void nb_make_sparse(const struct nb_call *call);

/* One true in sixteen. */
void nb_make_sparse(const struct nb_call *call)
{
    b8 *x = call->in[0], *y = call->in[1];
    FOR (i, E(0) * E(1))
        x[i] = (uint64_t)i * 2654435761u / 8192 % 16 == 0;
    FOR (i, E(1) * E(2))
        y[i] = (uint64_t)i * 2246822519u / 8192 % 16 == 0;
}

/* Four rows of the result at once, in pieces of WIDTH columns: each row of y is read once for the four. */
enum { WIDTH = 256 };

#define MATRICES(name, T, A, start, step)                                                                              \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(A, z, 0);                                                                                                  \
        int64_t n = E(0), l = E(1), m = E(2);                                                                          \
        PARALLEL_FOR_2                                                                                                 \
        for (int64_t i = 0; i < n; i += 4)                                                                             \
            for (int64_t first = 0; first < m; first += WIDTH) {                                                       \
                int64_t width = MIN(WIDTH, m - first), rows = MIN(4, n - i);                                           \
                A s0[WIDTH], s1[WIDTH], s2[WIDTH], s3[WIDTH];                                                          \
                FOR (j, width)                                                                                         \
                    s0[j] = s1[j] = s2[j] = s3[j] = start;                                                             \
                const T *a = x + i * l, *b = rows > 1 ? a + l : a, *c = rows > 2 ? b + l : a,                          \
                        *d = rows > 3 ? c + l : a;                                                                     \
                FOR (k, l) {                                                                                           \
                    const T *restrict r = y + k * m + first;                                                           \
                    A ak = a[k], bk = b[k], ck = c[k], dk = d[k];                                                      \
                    SIMD                                                                                               \
                    FOR (j, width) {                                                                                   \
                        A v = r[j];                                                                                    \
                        step(s0[j], ak, v);                                                                            \
                        step(s1[j], bk, v);                                                                            \
                        step(s2[j], ck, v);                                                                            \
                        step(s3[j], dk, v);                                                                            \
                    }                                                                                                  \
                }                                                                                                      \
                A *s[4] = {s0, s1, s2, s3};                                                                            \
                FOR (q, rows)                                                                                          \
                    memcpy(z + (i + q) * m + first, s[q], (size_t)width * sizeof *z);                                  \
            }                                                                                                          \
    }
#define MULTIPLY_ADD(s, p, q) s += (p) * (q)
#define LARGER_SUM(s, p, q) s = (p) + (q) > s ? (p) + (q) : s
MATRICES(matrices_f32, f32, f32, 0, MULTIPLY_ADD)
MATRICES(matrices_f64, f64, f64, 0, MULTIPLY_ADD)
MATRICES(matrices_i32, i32, i32, 0, MULTIPLY_ADD)
MATRICES(matrices_u8, u8, i32, 0, MULTIPLY_ADD)
MATRICES(max_plus_f32, f32, f32, -3.4e38f, LARGER_SUM)

C(any_and_bool)
{
    IN(u8, x, 0);
    IN(u8, y, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), l = E(1), m = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        u8 *restrict s = z + i * m;
        memset(s, 0, (size_t)m);
        FOR (k, l) {
            u8 v = x[i * l + k];
            SIMD
            FOR (j, m)
                s[j] |= v & y[k * m + j];
        }
    }
}

C(times_transpose_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), l = E(1), m = E(2);
    PARALLEL_FOR
    for (int64_t i = 0; i < n; i += 2) {
        const f32 *a = x + i * l, *b = i + 1 < n ? a + l : a;
        FOR (j, m) {
            const f32 *restrict r = y + j * l;
            f32 s = 0, t = 0;
            PRAGMA(omp simd reduction(+ : s, t))
            FOR (k, l) {
                s += a[k] * r[k];
                t += b[k] * r[k];
            }
            z[i * m + j] = s;
            if (i + 1 < n)
                z[(i + 1) * m + j] = t;
        }
    }
}

C(gram_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    memset(z, 0, (size_t)(m * m) * sizeof *z);
    PARALLEL
    {
        f32 s[m * m];
        memset(s, 0, sizeof s);
        SPLIT_FOR
        FOR (k, n / 4) {
            const f32 *restrict r = x + 4 * k * m;
            FOR (i, m) {
                f32 a = r[i], b = r[i + m], c = r[i + 2 * m], d = r[i + 3 * m];
                SIMD
                FOR (j, m)
                    s[i * m + j] += a * r[j] + b * r[j + m] + c * r[j + 2 * m] + d * r[j + 3 * m];
            }
        }
        CRITICAL
        FOR (j, m * m)
            z[j] += s[j];
    }
    for (int64_t k = n / 4 * 4; k < n; k++)
        FOR (i, m)
            FOR (j, m)
                z[i * m + j] += x[k * m + i] * x[k * m + j];
}

C(bilinear_f32)
{
    IN(f32, x, 0);
    IN(f32, a, 1);
    IN(f32, y, 2);
    int64_t n = E(0), m = E(1);
    f32 all = 0;
    PRAGMA(omp parallel for reduction(+ : all) schedule(static))
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (j, m)
            s += a[i * m + j] * y[j];
        all += s * x[i];
    }
    RESULT(f32, 0) = all;
}

C(contract_inner_f32)
{
    IN(f32, x, 0);
    IN(f32, v, 1);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1), l = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (k, l)
            s += x[i * l + k] * v[k];
        z[i] = s;
    }
}

C(contract_middle_f32)
{
    IN(f32, x, 0);
    IN(f32, v, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 *restrict s = z + i * l;
        FOR (k, l)
            s[k] = 0;
        FOR (j, m)
            SIMD
        FOR (k, l)
            s[k] += x[(i * m + j) * l + k] * v[j];
    }
}

C(contract_outer_f32)
{
    IN(f32, x, 0);
    IN(f32, v, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), q = E(1) * E(2);
    PARALLEL_FOR
    for (int64_t first = 0; first < q; first += 512) {
        f32 s[512] = {0};
        int64_t width = MIN(512, q - first);
        FOR (i, n)
            SIMD
        FOR (j, width)
            s[j] += x[i * q + first + j] * v[i];
        memcpy(z + first, s, (size_t)width * sizeof *s);
    }
}

#define BATCHED(name, T, K)                                                                                            \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, y, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (b, n) {                                                                                                   \
            const T *restrict p = x + b * K * K, *restrict q = y + b * K * K;                                          \
            T *restrict r = z + b * K * K;                                                                             \
            UNROLL(K)                                                                                                  \
            for (int i = 0; i < K; i++) {                                                                              \
                T s[K] = {0};                                                                                          \
                UNROLL(K)                                                                                              \
                for (int k = 0; k < K; k++)                                                                            \
                    UNROLL(K)                                                                                          \
                for (int j = 0; j < K; j++)                                                                            \
                    s[j] += p[i * K + k] * q[k * K + j];                                                               \
                UNROLL(K)                                                                                              \
                for (int j = 0; j < K; j++)                                                                            \
                    r[i * K + j] = s[j];                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    }
BATCHED(batched_4_f32, f32, 4)
BATCHED(batched_3_f64, f64, 3)

#define POINTS(name, T, K)                                                                                             \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, from, 1);                                                                                                \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        T m[K][K];                                                                                                     \
        memcpy(m, from, sizeof m);                                                                                     \
        PRAGMA(omp parallel for schedule(static) firstprivate(m))                                                      \
        FOR (p, n) {                                                                                                   \
            T s[K];                                                                                                    \
            UNROLL(K)                                                                                                  \
            for (int i = 0; i < K; i++) {                                                                              \
                s[i] = 0;                                                                                              \
                UNROLL(K)                                                                                              \
                for (int k = 0; k < K; k++)                                                                            \
                    s[i] += m[i][k] * x[p * K + k];                                                                    \
            }                                                                                                          \
            UNROLL(K)                                                                                                  \
            for (int i = 0; i < K; i++)                                                                                \
                z[p * K + i] = s[i];                                                                                   \
        }                                                                                                              \
    }
POINTS(points_rows_f32, f32, 3)
POINTS(points_rows_f64, f64, 3)
POINTS(points_rows_4_f32, f32, 4)

C(points_tuples_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, w, 2);
    IN(f32, from, 3);
    OUT(f32, p, 0);
    OUT(f32, q, 1);
    OUT(f32, r, 2);
    int64_t n = E(0);
    f32 m[9];
    memcpy(m, from, sizeof m);
    PRAGMA(omp parallel for simd schedule(static) firstprivate(m)) /* too many streams for gcc to compare */
    FOR (i, n) {
        p[i] = m[0] * x[i] + m[1] * y[i] + m[2] * w[i];
        q[i] = m[3] * x[i] + m[4] * y[i] + m[5] * w[i];
        r[i] = m[6] * x[i] + m[7] * y[i] + m[8] * w[i];
    }
}

C(norms_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = sqrtf(x[3 * i] * x[3 * i] + x[3 * i + 1] * x[3 * i + 1] + x[3 * i + 2] * x[3 * i + 2]);
}

/* The second points by coordinates first, so that the inner loop reads along. */
#define DISTANCES(name, D)                                                                                             \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        IN(f32, y, 1);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        int64_t n = E(0), m = E(1);                                                                                    \
        f32 *t = malloc((size_t)(D * m) * sizeof *t);                                                                  \
        FOR (j, m)                                                                                                     \
            for (int d = 0; d < D; d++)                                                                                \
                t[d * m + j] = y[j * D + d];                                                                           \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            f32 *restrict r = z + i * m;                                                                               \
            FOR (j, m)                                                                                                 \
                r[j] = 0;                                                                                              \
            for (int d = 0; d < D; d += 3) {                                                                           \
                f32 a = x[i * D + d], b = x[i * D + d + 1], c = x[i * D + d + 2];                                      \
                const f32 *restrict p = t + d * m, *restrict q = p + m, *restrict s = q + m;                           \
                SIMD                                                                                                   \
                FOR (j, m)                                                                                             \
                    r[j] += (a - p[j]) * (a - p[j]) + (b - q[j]) * (b - q[j]) + (c - s[j]) * (c - s[j]);               \
            }                                                                                                          \
        }                                                                                                              \
        free(t);                                                                                                       \
    }
DISTANCES(distances_3_f32, 3)
DISTANCES(distances_33_f32, 33)

/* Points in lanes, one centre after the other. */
enum { LANES = 64 };
C(nearest_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, p, 2);
    IN(f32, q, 3);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += LANES) {
        f32 least[LANES];
        i32 at[LANES];
        int64_t count = MIN(LANES, n - first);
        FOR (i, LANES) {
            least[i] = 3.4e38f;
            at[i] = 0;
        }
        for (i32 j = 0; j < m; j++)
            SIMD
        FOR (i, count) {
            f32 dx = x[first + i] - p[j], dy = y[first + i] - q[j], d = dx * dx + dy * dy;
            at[i] = d < least[i] ? j : at[i];
            least[i] = d < least[i] ? d : least[i];
        }
        FOR (i, count)
            z[first + i] = at[i];
    }
}

C(smallest_distance_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, p, 2);
    IN(f32, q, 3);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += LANES) {
        f32 least[LANES];
        int64_t count = MIN(LANES, n - first);
        FOR (i, LANES)
            least[i] = 3.4e38f;
        FOR (j, m)
            SIMD
        FOR (i, count) {
            f32 dx = x[first + i] - p[j], dy = y[first + i] - q[j], d = dx * dx + dy * dy;
            least[i] = d < least[i] ? d : least[i];
        }
        FOR (i, count)
            z[first + i] = least[i];
    }
}
