#include "c.h"

void nb_make_sorted_i32(const struct nb_call *call);

void nb_make_sorted_i32(const struct nb_call *call)
{
    i32 *x = call->in[0];
    FOR (i, SIZE)
        x[i] = (i32)(i / 2);
}

/* Sums of `value` over all elements of up to three inputs; r, s, t ... are the results, the whole fold is one loop. */
#define REDUCE(...) PRAGMA(omp parallel for simd reduction(__VA_ARGS__) schedule(static))
#define SUM1(name, X, A, value)                                                                                        \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        A s = 0;                                                                                                       \
        REDUCE(+ : s)                                                                                                  \
        FOR (i, n)                                                                                                     \
            s += (A)(value);                                                                                           \
        RESULT(A, 0) = s;                                                                                              \
    }
#define SUM2(name, X, A, value)                                                                                        \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        IN(X, y, 1);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        A s = 0;                                                                                                       \
        REDUCE(+ : s)                                                                                                  \
        FOR (i, n)                                                                                                     \
            s += (A)(value);                                                                                           \
        RESULT(A, 0) = s;                                                                                              \
    }

SUM1(sum_f32, f32, f32, x[i])
SUM1(sum_f64, f64, f64, x[i])
SUM1(sum_i32, i32, i32, x[i])
SUM1(sum_i64, i64, i64, x[i])
SUM1(sum_u8, u8, u32, x[i])
SUM1(sum_i16, i16, i32, x[i])

#define EXTREME(T)                                                                                                     \
    C(minimum_##T)                                                                                                     \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        T m = x[0];                                                                                                    \
        REDUCE(min : m)                                                                                                \
        FOR (i, n)                                                                                                     \
            m = x[i] < m ? x[i] : m;                                                                                   \
        RESULT(T, 0) = m;                                                                                              \
    }                                                                                                                  \
    C(maximum_##T)                                                                                                     \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        T m = x[0];                                                                                                    \
        REDUCE(max : m)                                                                                                \
        FOR (i, n)                                                                                                     \
            m = x[i] > m ? x[i] : m;                                                                                   \
        RESULT(T, 0) = m;                                                                                              \
    }
EXTREME(f32)
EXTREME(f64)
EXTREME(i32)
EXTREME(i16)
EXTREME(u8)

C(product_f64)
{
    IN(f64, x, 0);
    int64_t n = SIZE;
    f64 s = 1;
    REDUCE(* : s)
    FOR (i, n)
        s *= x[i];
    RESULT(f64, 0) = s;
}

C(xor_i32)
{
    IN(i32, x, 0);
    int64_t n = SIZE;
    i32 s = 0;
    REDUCE(^ : s)
    FOR (i, n)
        s ^= x[i];
    RESULT(i32, 0) = s;
}

C(and_u8)
{
    IN(u8, x, 0);
    int64_t n = SIZE;
    u8 s = 255;
    REDUCE(& : s)
    FOR (i, n)
        s &= x[i];
    RESULT(u8, 0) = s;
}

/* 32-bit counters over pieces, which vectorise better than 64-bit ones. */
#define COUNT(name, X, condition)                                                                                      \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        i32 s = 0;                                                                                                     \
        REDUCE(+ : s)                                                                                                  \
        FOR (i, n)                                                                                                     \
            s += (condition);                                                                                          \
        RESULT(i64, 0) = s;                                                                                            \
    }
COUNT(count_bool, b8, x[i])
COUNT(count_above_f32, f32, x[i] > 1)
COUNT(count_above_u8, u8, x[i] > 1)

C(all_small_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    i32 all = 1;
    REDUCE(& : all)
    FOR (i, n)
        all &= x[i] < 2;
    RESULT(b8, 0) = all;
}

C(sorted_i32)
{
    IN(i32, x, 0);
    int64_t n = SIZE - 1;
    i32 all = 1;
    REDUCE(& : all)
    FOR (i, n)
        all &= x[i] <= x[i + 1];
    RESULT(b8, 0) = all;
}

SUM2(dot_f32, f32, f32, x[i] * y[i])
SUM2(dot_f64, f64, f64, x[i] * y[i])
SUM2(dot_i32, i32, i32, x[i] * y[i])
SUM2(dot_i64, i64, i64, x[i] * y[i])
SUM2(dot_i16, i16, i32, x[i] * y[i])
SUM2(dot_u8, u8, i32, x[i] * y[i])
SUM2(dot_i8, i8, i32, x[i] * y[i])
SUM2(dot_f32_in_f64, f32, f64, (f64)x[i] * y[i])
SUM1(squares_f32, f32, f32, x[i] * x[i])
SUM2(differences_f32, f32, f32, fabsf(x[i] - y[i]))
SUM2(differences_u8, u8, i32, abs(x[i] - y[i]))
SUM1(sum_of_exp_f32, f32, f32, expf(x[i]))

C(dot_of_three_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, w, 2);
    int64_t n = SIZE;
    f32 s = 0;
    REDUCE(+ : s)
    FOR (i, n)
        s += x[i] * y[i] * w[i];
    RESULT(f32, 0) = s;
}

C(largest_difference_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = SIZE;
    f32 m = 0;
    REDUCE(max : m)
    FOR (i, n) {
        f32 d = fabsf(x[i] - y[i]);
        m = d > m ? d : m;
    }
    RESULT(f32, 0) = m;
}

C(neighbours_squared_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE - 1;
    f32 s = 0;
    REDUCE(+ : s)
    FOR (i, n) {
        f32 d = x[i + 1] - x[i];
        s += d * d;
    }
    RESULT(f32, 0) = s;
}

C(integral_f64)
{
    f64 step = VALUE(f64, 0);
    i32 n = (i32)SIZE;
    f64 s = 0;
    REDUCE(+ : s)
    for (i32 i = 0; i < n; i++) {
        f64 x = (i + 0.5) * step;
        s += 4 / (x * x + 1);
    }
    RESULT(f64, 0) = s;
}

#define MEAN_VARIANCE(name, X, A)                                                                                      \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        A s = 0, q = 0;                                                                                                \
        REDUCE(+ : s, q)                                                                                               \
        FOR (i, n) {                                                                                                   \
            A v = (A)x[i];                                                                                             \
            s += v;                                                                                                    \
            q += v * v;                                                                                                \
        }                                                                                                              \
        A mean = s / (A)n;                                                                                             \
        RESULT(A, 0) = mean;                                                                                           \
        RESULT(A, 1) = q / (A)n - mean * mean;                                                                         \
    }
MEAN_VARIANCE(mean_variance_f32, f32, f32)
MEAN_VARIANCE(mean_variance_f64, f64, f64)
MEAN_VARIANCE(mean_variance_i32, i32, f64)

#define MIN_MAX(T)                                                                                                     \
    C(min_max_##T)                                                                                                     \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        T low = x[0], high = x[0];                                                                                     \
        PRAGMA(omp parallel for simd reduction(min : low) reduction(max : high) schedule(static))                      \
        FOR (i, n) {                                                                                                   \
            low = x[i] < low ? x[i] : low;                                                                             \
            high = x[i] > high ? x[i] : high;                                                                          \
        }                                                                                                              \
        RESULT(T, 0) = low;                                                                                            \
        RESULT(T, 1) = high;                                                                                           \
    }
MIN_MAX(f32)
MIN_MAX(u8)

C(sum_max_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 s = 0, m = x[0];
    PRAGMA(omp parallel for simd reduction(+ : s) reduction(max : m) schedule(static))
    FOR (i, n) {
        s += x[i];
        m = x[i] > m ? x[i] : m;
    }
    RESULT(f32, 0) = s;
    RESULT(f32, 1) = m;
}

C(sum_min_max_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 s = 0, low = x[0], high = x[0];
    PRAGMA(omp parallel for simd reduction(+ : s) reduction(min : low) reduction(max : high) schedule(static))
    FOR (i, n) {
        s += x[i];
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    RESULT(f32, 0) = s;
    RESULT(f32, 1) = low;
    RESULT(f32, 2) = high;
}

#define SUM_COUNT(name, T, S, K)                                                                                       \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        S s = 0;                                                                                                       \
        i32 count = 0;                                                                                                 \
        REDUCE(+ : s, count)                                                                                           \
        FOR (i, n) {                                                                                                   \
            s += x[i];                                                                                                 \
            count += x[i] > 1;                                                                                         \
        }                                                                                                              \
        RESULT(S, 0) = s;                                                                                              \
        RESULT(K, 1) = count;                                                                                          \
    }
SUM_COUNT(sum_count_f32, f32, f32, i64)
SUM_COUNT(sum_count_32_f32, f32, f32, i32)
SUM_COUNT(sum_count_f64, f64, f64, i64)
SUM_COUNT(sum_count_u8, u8, u32, i64)

C(sum_count_mean_f32)
{
    nb_c_sum_count_f32(call);
    RESULT(f32, 2) = RESULT(f32, 0) / (f32)SIZE;
}

C(sum_count_min_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 s = 0, low = x[0];
    i32 count = 0;
    PRAGMA(omp parallel for simd reduction(+ : s, count) reduction(min : low) schedule(static))
    FOR (i, n) {
        s += x[i];
        count += x[i] > 1;
        low = x[i] < low ? x[i] : low;
    }
    RESULT(f32, 0) = s;
    RESULT(i64, 1) = count;
    RESULT(f32, 2) = low;
}

C(sum_count_all_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 s = 0, low = x[0], high = x[0];
    i32 count = 0;
    PRAGMA(omp parallel for simd reduction(+ : s, count) reduction(min : low) reduction(max : high) schedule(static))
    FOR (i, n) {
        s += x[i];
        count += x[i] > 1;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    RESULT(f32, 0) = s;
    RESULT(i64, 1) = count;
    RESULT(f32, 2) = s / (f32)n;
    RESULT(f32, 3) = low;
    RESULT(f32, 4) = high;
}

C(moments_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    REDUCE(+ : s1, s2, s3, s4)
    FOR (i, n) {
        f32 q = x[i] * x[i];
        s1 += x[i];
        s2 += q;
        s3 += q * x[i];
        s4 += q * q;
    }
    RESULT(f32, 0) = s1;
    RESULT(f32, 1) = s2;
    RESULT(f32, 2) = s3;
    RESULT(f32, 3) = s4;
}

C(dot_norms_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = SIZE;
    f32 xy = 0, xx = 0, yy = 0;
    REDUCE(+ : xy, xx, yy)
    FOR (i, n) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    RESULT(f32, 0) = xy;
    RESULT(f32, 1) = xx;
    RESULT(f32, 2) = yy;
}

C(map_and_sum_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    f32 s = 0;
    REDUCE(+ : s)
    FOR (i, n) {
        z[i] = x[i] * x[i];
        s += z[i];
    }
    RESULT(f32, 1) = s;
}

C(map_and_max_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    f32 m = 0;
    REDUCE(max : m)
    FOR (i, n) {
        f32 q = x[i] * x[i];
        z[i] = q;
        m = q > m ? q : m;
    }
    RESULT(f32, 1) = m;
}

C(complex_sum_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = SIZE;
    f32 r = 0, s = 0;
    REDUCE(+ : r, s)
    FOR (i, n) {
        r += x[i];
        s += y[i];
    }
    RESULT(f32, 0) = r;
    RESULT(f32, 1) = s;
}

C(complex_dot_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, u, 2);
    IN(f32, v, 3);
    int64_t n = SIZE;
    f32 r = 0, s = 0;
    REDUCE(+ : r, s)
    FOR (i, n) {
        r += x[i] * u[i] - y[i] * v[i];
        s += x[i] * v[i] + y[i] * u[i];
    }
    RESULT(f32, 0) = r;
    RESULT(f32, 1) = s;
}

/* What does not commute: each thread folds a part with four parts of its own side by side, then these in order. */
enum { PARTS = 64, LANES = 8 };

struct affine {
    f64 a, b;
};

static struct affine after(struct affine f, struct affine g)
{
    return (struct affine){g.a * f.a, g.a * f.b + g.b};
}

C(compose_f64)
{
    IN(f64, a, 0);
    IN(f64, b, 1);
    int64_t n = SIZE, part = n / PARTS;
    struct affine of[PARTS];
    PARALLEL_FOR
    FOR (p, PARTS) {
        /* LANES runs far apart, so that no step waits for the one before it. */
        f64 fa[LANES], fb[LANES];
        int64_t first = p * part, run = part / LANES, last = p + 1 == PARTS ? n : first + part;
        FOR (l, LANES) {
            fa[l] = 1;
            fb[l] = 0;
        }
        FOR (i, run)
            UNROLL(8)
        FOR (l, LANES) {
            int64_t at = first + l * run + i;
            fb[l] = a[at] * fb[l] + b[at];
            fa[l] *= a[at];
        }
        struct affine f = {1, 0};
        FOR (l, LANES)
            f = after(f, (struct affine){fa[l], fb[l]});
        for (int64_t i = first + LANES * run; i < last; i++)
            f = after(f, (struct affine){a[i], b[i]});
        of[p] = f;
    }
    struct affine f = {1, 0};
    FOR (p, PARTS)
        f = after(f, of[p]);
    RESULT(f64, 0) = f.a;
    RESULT(f64, 1) = f.b;
}

struct slice {
    i32 most, begin, end, all;
};

static struct slice join(struct slice a, struct slice b)
{
    i32 across = a.end + b.begin, most = MAX(a.most, b.most);
    return (struct slice){MAX(most, across), MAX(a.begin, a.all + b.begin), MAX(b.end, a.end + b.all), a.all + b.all};
}

C(largest_slice_i32)
{
    IN(i32, x, 0);
    int64_t n = SIZE, part = n / PARTS;
    struct slice of[PARTS];
    PARALLEL_FOR
    FOR (p, PARTS) {
        struct slice s = {0, 0, 0, 0};
        int64_t last = p + 1 == PARTS ? n : (p + 1) * part;
        for (int64_t i = p * part; i < last; i++) {
            s.all += x[i];
            s.begin = MAX(s.begin, s.all);
            s.end = MAX(s.end + x[i], 0);
            s.most = MAX(s.most, s.end);
        }
        of[p] = s;
    }
    struct slice s = {0, 0, 0, 0};
    FOR (p, PARTS)
        s = join(s, of[p]);
    RESULT(i32, 0) = s.most;
    RESULT(i32, 1) = s.begin;
    RESULT(i32, 2) = s.end;
    RESULT(i32, 3) = s.all;
}
