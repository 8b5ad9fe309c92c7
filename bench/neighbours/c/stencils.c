/* Stencils row by row: pointers to the rows around, of what lies outside to other rows or to rows made before; the
 * first and last columns from small copies with what lies beside them. So one expression over P(dy, dx) serves
 * everywhere. */
#include "c.h"

#include "../weights.h"

void nb_make_bits_u8(const struct nb_call *call);

void nb_make_bits_u8(const struct nb_call *call)
{
    u8 *x = call->in[0];
    FOR (i, SIZE)
        x[i] %= 2;
}

static inline int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static inline int64_t mirror(int64_t i, int64_t n)
{
    return i < 0 ? -i : i < n ? i : 2 * n - 2 - i;
}

static inline int64_t wrap(int64_t i, int64_t n)
{
    return i < 0 ? i + n : i < n ? i : i - n;
}

static inline bool within(int64_t i, int64_t n)
{
    return i >= 0 && i < n;
}

#define AT_clamp(i, j) x[clamp(i, n) * m + clamp(j, m)]
#define AT_mirror(i, j) x[mirror(i, n) * m + mirror(j, m)]
#define AT_wrap(i, j) x[wrap(i, n) * m + wrap(j, m)]
#define AT_constant(i, j) (within(i, n) && within(j, m) ? x[(i)*m + (j)] : 1)
#define AT_zero(i, j) (within(i, n) && within(j, m) ? x[(i)*m + (j)] : 0)
#define AT_outside(i, j) (within(i, n) && within(j, m) ? x[(i)*m + (j)] : (f32)(i)*0.25f + (f32)(j))

enum { MOST_ROWS = 9, MOST_MARGIN = 4 };

/* name_line computes columns [0, count) of a row into z, given pointers to the rows around; name_row one row of n x m,
 * whose rows outside are in `above` and `below`. */
#define STENCIL(name, X, Z, RY, RX, boundary, value)                                                                   \
    static inline void name##_line(const X *const *row, Z *restrict z, int64_t count)                                  \
    {                                                                                                                  \
        SIMD                                                                                                           \
        FOR (j, count)                                                                                                 \
            z[j] = (Z)(value);                                                                                         \
    }                                                                                                                  \
    static void name##_row(const X *restrict x, Z *restrict z, int64_t n, int64_t m, int64_t i, const X *outside)      \
    {                                                                                                                  \
        const X *row[MOST_ROWS];                                                                                       \
        X left[MOST_ROWS][3 * MOST_MARGIN + 1], right[MOST_ROWS][3 * MOST_MARGIN + 1];                                 \
        for (int64_t d = -RY; d <= RY; d++) {                                                                          \
            int64_t at = i + d;                                                                                        \
            row[d + RY] = (at < 0    ? outside + (at + RY) * m                                                         \
                           : at >= n ? outside + (at - n + RY) * m                                                     \
                                     : x + at * m) +                                                                   \
                          RX;                                                                                          \
            for (int64_t j = 0; j < 3 * RX; j++) {                                                                     \
                left[d + RY][j] = AT_##boundary(at, j - RX);                                                           \
                right[d + RY][j] = AT_##boundary(at, m - 2 * RX + j);                                                  \
            }                                                                                                          \
        }                                                                                                              \
        name##_line(row, z + RX, m - 2 * RX);                                                                          \
        for (int64_t d = 0; d <= 2 * RY; d++)                                                                          \
            row[d] = left[d] + RX;                                                                                     \
        name##_line(row, z, RX);                                                                                       \
        for (int64_t d = 0; d <= 2 * RY; d++)                                                                          \
            row[d] = right[d] + RX;                                                                                    \
        name##_line(row, z + m - RX, RX);                                                                              \
    }                                                                                                                  \
    /* The rows above, then those below. */                                                                            \
    static X *name##_outside(const X *restrict x, int64_t n, int64_t m)                                                \
    {                                                                                                                  \
        X *outside = malloc((size_t)(2 * RY * m) * sizeof(X) + 1);                                                     \
        FOR (d, 2 * RY) {                                                                                              \
            int64_t at = d < RY ? d - RY : n + d - RY;                                                                 \
            FOR (j, m)                                                                                                 \
                outside[d * m + j] = AT_##boundary(at, j);                                                             \
        }                                                                                                              \
        return outside;                                                                                                \
    }
#define STORED(name, X, Z)                                                                                             \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        X *outside = name##_outside(x, n, m);                                                                          \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            name##_row(x, z + i * m, n, m, i, outside);                                                                \
        free(outside);                                                                                                 \
    }

#define W(T, i, k) ((T)nb_weight(i, k) / NB_WEIGHT_ONE)
#define WEIGH(T, K)                                                                                                    \
    static inline T weigh_##K##_##T(const T *const *row, int64_t j)                                                    \
    {                                                                                                                  \
        T sum = 0;                                                                                                     \
        UNROLL(9)                                                                                                      \
        for (int r = 0; r < K; r++)                                                                                    \
            UNROLL(9)                                                                                                  \
        for (int c = 0; c < K; c++)                                                                                    \
            sum += W(T, r, c) * row[r][j + c - K / 2];                                                                 \
        return sum;                                                                                                    \
    }
#define WEIGHTED(T, K, boundary)                                                                                       \
    STENCIL(weighted_##K##_##boundary##_##T, T, T, (K / 2), (K / 2), boundary, weigh_##K##_##T(row, j))                \
    STORED(weighted_##K##_##boundary##_##T, T, T)
#define BOUNDARIES(T, K)                                                                                               \
    WEIGHTED(T, K, clamp)                                                                                              \
    WEIGHTED(T, K, mirror)                                                                                             \
    WEIGHTED(T, K, wrap)                                                                                               \
    WEIGHTED(T, K, constant)                                                                                           \
    WEIGHTED(T, K, outside)
WEIGH(f32, 3)
WEIGH(f32, 5)
WEIGH(f32, 7)
WEIGH(f32, 9)
WEIGH(f64, 3)
WEIGH(f64, 5)
WEIGH(f64, 7)
WEIGH(f64, 9)
BOUNDARIES(f32, 3)
BOUNDARIES(f32, 9)
BOUNDARIES(f64, 7)
BOUNDARIES(f64, 9)
WEIGHTED(f32, 5, clamp)
WEIGHTED(f32, 5, wrap)
WEIGHTED(f32, 7, clamp)
WEIGHTED(f32, 7, constant)
WEIGHTED(f64, 3, clamp)
WEIGHTED(f64, 5, clamp)
WEIGHTED(f64, 5, constant)

/* One dimension: the middle in parallel, the ends by themselves. */
#define LINE(name, R, boundary, value)                                                                                 \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        for (int64_t i = R; i < n - R; i++) {                                                                          \
            const f32 *at = x + i;                                                                                     \
            z[i] = (value);                                                                                            \
        }                                                                                                              \
        f32 end[4 * R];                                                                                                \
        FOR (e, 2) {                                                                                                   \
            int64_t first = e ? n - R : 0;                                                                             \
            FOR (k, 3 * R)                                                                                             \
                end[k] = x[boundary(first + k - R, n)];                                                                \
            FOR (k, R) {                                                                                               \
                const f32 *at = end + R + k;                                                                           \
                z[first + k] = (value);                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
#define THREE (at[-1] + 2 * at[0] + 3 * at[1]) / 16
#define NINE                                                                                                           \
    (at[-4] + 2 * at[-3] + 3 * at[-2] + 4 * at[-1] + 5 * at[0] + 6 * at[1] + 7 * at[2] + 8 * at[3] + 9 * at[4]) / 16
LINE(line_3_f32, 1, clamp, THREE)
LINE(line_9_f32, 4, clamp, NINE)
LINE(line_9_wrap_f32, 4, wrap, NINE)

static inline f32 nine_across(const f32 *const *row, int64_t j)
{
    const f32 *at = row[0] + j;
    return NINE;
}

static inline f32 nine_down(const f32 *const *row, int64_t j)
{
    f32 sum = 0;
    UNROLL(9)
    for (int r = 0; r < 9; r++)
        sum += (f32)(r + 1) * row[r][j];
    return sum / 16;
}
STENCIL(across_9_f32, f32, f32, 0, 4, clamp, nine_across(row, j))
STORED(across_9_f32, f32, f32)
STENCIL(down_9_f32, f32, f32, 4, 0, clamp, nine_down(row, j))
STORED(down_9_f32, f32, f32)

/* Nine rows of the first stencil in a ring; each thread a band of rows. */
C(separable_9_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), bands = 16;
    PARALLEL
    {
        f32 *ring = malloc((size_t)(9 * m) * sizeof *ring);
        SPLIT_FOR
        FOR (b, bands) {
            int64_t first = n * b / bands, last = n * (b + 1) / bands, done = first - 4;
            for (int64_t i = first; i < last; i++) {
                const f32 *row[9];
                for (; done <= i + 4; done++)
                    if (done == clamp(done, n))
                        across_9_f32_row(x, ring + (done + 9) % 9 * m, n, m, done, NULL);
                FOR (d, 9)
                    row[d] = ring + clamp(i + d - 4, n) % 9 * m;
                down_9_f32_line(row, z + i * m, m);
            }
        }
        free(ring);
    }
}

/* Seven points of three dimensions. */
#define SEVEN(name, T, boundary, absent)                                                                               \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1), l = E(2);                                                                          \
        T *none = malloc((size_t)l * sizeof *none);                                                                    \
        FOR (k, l)                                                                                                     \
            none[k] = 1;                                                                                               \
        PARALLEL_FOR_2                                                                                                 \
        FOR (i, n)                                                                                                     \
            FOR (j, m) {                                                                                               \
                int64_t i0 = boundary(i - 1, n), i1 = boundary(i + 1, n), j0 = boundary(j - 1, m);                     \
                int64_t j1 = boundary(j + 1, m);                                                                       \
                const T *here = x + (i * m + j) * l;                                                                   \
                const T *a = absent && i == 0 ? none : x + (i0 * m + j) * l;                                           \
                const T *b = absent && i == n - 1 ? none : x + (i1 * m + j) * l;                                       \
                const T *c = absent && j == 0 ? none : x + (i * m + j0) * l;                                           \
                const T *d = absent && j == m - 1 ? none : x + (i * m + j1) * l;                                       \
                T *restrict to = z + (i * m + j) * l;                                                                  \
                SIMD                                                                                                   \
                for (int64_t k = 1; k < l - 1; k++)                                                                    \
                    to[k] = a[k] + b[k] + (c[k] + d[k]) + (here[k - 1] + here[k + 1]) - here[k] * 6;                   \
                T left = absent ? 1 : here[boundary(-1, l)], right = absent ? 1 : here[boundary(l, l)];                \
                to[0] = a[0] + b[0] + (c[0] + d[0]) + (left + here[1]) - here[0] * 6;                                  \
                int64_t k = l - 1;                                                                                     \
                to[k] = a[k] + b[k] + (c[k] + d[k]) + (here[k - 1] + right) - here[k] * 6;                             \
            }                                                                                                          \
        free(none);                                                                                                    \
    }
SEVEN(seven_clamp_f32, f32, clamp, false)
SEVEN(seven_constant_f32, f32, clamp, true)
SEVEN(seven_wrap_f32, f32, wrap, false)
SEVEN(seven_clamp_f64, f64, clamp, false)

#define LARGEST(T, K)                                                                                                  \
    static inline T largest_##K##_##T(const T *const *row, int64_t j)                                                  \
    {                                                                                                                  \
        T most = row[0][j - K / 2];                                                                                    \
        UNROLL(9)                                                                                                      \
        for (int r = 0; r < K; r++)                                                                                    \
            UNROLL(9)                                                                                                  \
        for (int c = 0; c < K; c++) {                                                                                  \
            T v = row[r][j + c - K / 2];                                                                               \
            most = v > most ? v : most;                                                                                \
        }                                                                                                              \
        return most;                                                                                                   \
    }                                                                                                                  \
    STENCIL(dilate_##K##_##T, T, T, (K / 2), (K / 2), clamp, largest_##K##_##T(row, j))                                \
    STORED(dilate_##K##_##T, T, T)
LARGEST(u8, 3)
LARGEST(u8, 5)
LARGEST(f32, 3)

#define P(dy, dx) row[(dy) + 1][j + (dx)]
#define EIGHT (P(-1, -1) + P(-1, 0) + P(-1, 1) + P(0, -1) + P(0, 1) + P(1, -1) + P(1, 0) + P(1, 1))
STENCIL(mean_3_u8, u8, u8, 1, 1, clamp, ((EIGHT + P(0, 0)) * 7282) >> 16)
STORED(mean_3_u8, u8, u8)

static inline u8 alive(u8 sum, u8 here)
{
    return (sum == 3) | ((sum == 2) & (here == 1));
}
STENCIL(life_u8, u8, u8, 1, 1, wrap, alive((u8)EIGHT, P(0, 0)))
STORED(life_u8, u8, u8)

#define ACROSS (P(-1, 1) + P(1, 1) + 2 * P(0, 1) - (P(-1, -1) + P(1, -1) + 2 * P(0, -1)))
#define DOWN (P(1, -1) + P(1, 1) + 2 * P(1, 0) - (P(-1, -1) + P(-1, 1) + 2 * P(-1, 0)))
STENCIL(sobel_f32, f32, f32, 1, 1, clamp, sqrtf(ACROSS *ACROSS + DOWN * DOWN))
STORED(sobel_f32, f32, f32)
STENCIL(across_f32, f32, f32, 1, 1, clamp, ACROSS)
STENCIL(down_f32, f32, f32, 1, 1, clamp, DOWN)

C(gradient_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    f32 *outside = across_f32_outside(x, n, m), *same = down_f32_outside(x, n, m);
    PARALLEL_FOR
    FOR (i, n) {
        across_f32_row(x, z + i * m, n, m, i, outside);
        down_f32_row(x, w + i * m, n, m, i, same);
    }
    free(outside);
    free(same);
}

/* What follows a stencil's row in the same loop finds it in the first cache. */
#define THEN(name, stencil, before, each_row, after)                                                                   \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(f32, x, 0);                                                                                                 \
        int64_t n = E(0), m = E(1);                                                                                    \
        f32 *outside = stencil##_outside(x, n, m);                                                                     \
        before;                                                                                                        \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            f32 *t = malloc((size_t)m * sizeof *t);                                                                    \
            SPLIT_FOR                                                                                                  \
            FOR (i, n) {                                                                                               \
                stencil##_row(x, t, n, m, i, outside);                                                                 \
                each_row                                                                                               \
            }                                                                                                          \
            free(t);                                                                                                   \
        }                                                                                                              \
        after;                                                                                                         \
        free(outside);                                                                                                 \
    }

STENCIL(four_f32, f32, f32, 1, 1, zero, P(-1, 0) + P(1, 0) + (P(0, -1) + P(0, 1)))
THEN(
    jacobi_f32, four_f32, IN(f32, b, 1); OUT(f32, z, 0), {
        FOR (j, m)
            z[i * m + j] = (t[j] + b[i * m + j]) * 0.25f;
    }, )
THEN(
    sharpen_f32, weighted_5_clamp_f32, OUT(f32, z, 0), {
        FOR (j, m)
            z[i * m + j] = x[i * m + j] + (x[i * m + j] - t[j]) * 0.5f;
    }, )
THEN(
    row_sums_of_3_f32, weighted_3_clamp_f32, OUT(f32, z, 0), {
        f32 s = 0;
        FOR (j, m)
            s += t[j];
        z[i] = s;
    }, )
/* Sums of a stencil's rows, one after the other. */
#define SUM(name, X, Z, S, stencil)                                                                                    \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        int64_t n = E(0), m = E(1);                                                                                    \
        X *outside = stencil##_outside(x, n, m);                                                                       \
        S all = 0;                                                                                                     \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            Z *t = malloc((size_t)m * sizeof *t);                                                                      \
            S own = 0;                                                                                                 \
            SPLIT_FOR                                                                                                  \
            FOR (i, n) {                                                                                               \
                S s = 0;                                                                                               \
                stencil##_row(x, t, n, m, i, outside);                                                                 \
                PRAGMA(omp simd reduction(+ : s))                                                                      \
                FOR (j, m)                                                                                             \
                    s += t[j];                                                                                         \
                own += s;                                                                                              \
            }                                                                                                          \
            PRAGMA(omp atomic)                                                                                         \
            all += own;                                                                                                \
            free(t);                                                                                                   \
        }                                                                                                              \
        RESULT(S, 0) = all;                                                                                            \
        free(outside);                                                                                                 \
    }
SUM(sum_of_sobel_f32, f32, f32, f32, sobel_f32)
SUM(sum_of_3_clamp_f32, f32, f32, f32, weighted_3_clamp_f32)
SUM(sum_of_3_wrap_f32, f32, f32, f32, weighted_3_wrap_f32)
SUM(sum_of_3_constant_f32, f32, f32, f32, weighted_3_constant_f32)
SUM(sum_of_3_clamp_f64, f64, f64, f64, weighted_3_clamp_f64)
SUM(sum_of_5_clamp_f32, f32, f32, f32, weighted_5_clamp_f32)
SUM(sum_of_9_clamp_f32, f32, f32, f32, weighted_9_clamp_f32)
SUM(sum_of_dilate_3_u8, u8, u8, u32, dilate_3_u8)

/* Two stencils of one array at a time. */
STENCIL(magnitude_f32, f32, f32, 1, 1, clamp,
        sqrtf((P(0, 1) - P(0, -1)) * (P(0, 1) - P(0, -1)) + (P(1, 0) - P(-1, 0)) * (P(1, 0) - P(-1, 0))))
SUM(sum_of_magnitude_f32, f32, f32, f32, magnitude_f32)

C(sum_of_line_9_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 all = 0;
    PRAGMA(omp parallel for simd reduction(+ : all))
    for (int64_t i = 4; i < n - 4; i++) {
        const f32 *at = x + i;
        all += NINE;
    }
    FOR (k, 8) {
        f32 end[9];
        const f32 *at = end + 4;
        FOR (d, 9)
            end[d] = x[clamp((k < 4 ? k : n - 8 + k) + d - 4, n)];
        all += NINE;
    }
    RESULT(f32, 0) = all;
}
THEN(
    maximum_of_sobel_f32, sobel_f32, f32 all = 0,
    {
        f32 s = t[0];
        FOR (j, m)
            s = t[j] > s ? t[j] : s;
        CRITICAL
        all = s > all ? s : all;
    },
    RESULT(f32, 0) = all)
#define ARGMAX(name, stencil)                                                                                          \
    THEN(name, stencil, f32 all = -3.4e38f; int64_t place = 0, ROW_ARGMAX, RESULT(i64, 0) = place)
#define ROW_ARGMAX                                                                                                     \
    {                                                                                                                  \
        f32 s = t[0];                                                                                                  \
        FOR (j, m)                                                                                                     \
            s = t[j] > s ? t[j] : s;                                                                                   \
        if (s >= all) {                                                                                                \
            int64_t at = 0;                                                                                            \
            while (t[at] != s)                                                                                         \
                at++;                                                                                                  \
            CRITICAL                                                                                                   \
            if (s > all || (s == all && i * m + at < place)) {                                                         \
                all = s;                                                                                               \
                place = i * m + at;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }
ARGMAX(argmax_of_3_f32, weighted_3_clamp_f32)
ARGMAX(argmax_of_9_f32, weighted_9_clamp_f32)
