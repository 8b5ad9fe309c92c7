#include "parts.h"

void nb_make_gaps(const struct nb_call *call);
void nb_make_rare_flags(const struct nb_call *call);
void nb_make_times(const struct nb_call *call);

static uint64_t mixed_bits(int64_t i)
{
    uint64_t h = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    return (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> 32;
}

/* A third of the numbers are missing. */
void nb_make_gaps(const struct nb_call *call)
{
    u32 *x = call->in[0];
    FOR (i, SIZE)
        if (mixed_bits(i) % 3 == 0)
            x[i] = 0x7fc00000;
}

/* One flag in some twenty. */
void nb_make_rare_flags(const struct nb_call *call)
{
    b8 *flag = call->in[0];
    FOR (i, E(0))
        flag[i] = mixed_bits(i) % 20 == 0;
}

/* Ascending times, below 60 times the number of minutes. */
void nb_make_times(const struct nb_call *call)
{
    i64 *time = call->in[0];
    FOR (i, E(0))
        time[i] = 60 * E(1) * i / E(0);
}

/* Code is compiled with -ffast-math. */
static inline bool missing(u32 bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* The same along the columns of a matrix of m columns: s, t are those of column j. */
#define COLUMN_PARTS(S, n, m, first, step, join, stores)                                                               \
    S *of = malloc((size_t)((m)*omp_get_max_threads()) * sizeof *of);                                                  \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count;                                                  \
        S *restrict states = malloc((size_t)(m) * sizeof *states);                                                     \
        FOR (j, m)                                                                                                     \
            states[j] = first;                                                                                         \
        if (count > 1) {                                                                                               \
            for (int64_t i = begin; i < end; i++)                                                                      \
                FOR (j, m) {                                                                                           \
                    S s = states[j];                                                                                   \
                    int64_t at = i * (m) + j;                                                                          \
                    step;                                                                                              \
                    states[j] = s;                                                                                     \
                }                                                                                                      \
            memcpy(of + id * (m), states, (size_t)(m) * sizeof *states);                                               \
            PRAGMA(omp barrier)                                                                                        \
            FOR (j, m)                                                                                                 \
                states[j] = first;                                                                                     \
            for (int64_t k = 0; k < id; k++) {                                                                         \
                int64_t length = (n) * (k + 1) / count - (n)*k / count;                                                \
                (void)length;                                                                                          \
                FOR (j, m) {                                                                                           \
                    S s = states[j], t = of[k * (m) + j];                                                              \
                    join;                                                                                              \
                    states[j] = s;                                                                                     \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = begin; i < end; i++)                                                                          \
            FOR (j, m) {                                                                                               \
                S s = states[j];                                                                                       \
                int64_t at = i * (m) + j;                                                                              \
                stores;                                                                                                \
                states[j] = s;                                                                                         \
            }                                                                                                          \
        free(states);                                                                                                  \
    }                                                                                                                  \
    free(of);

/* Elements `at` of which `condition` holds: each thread counts its part, then stores at `to`. */
#define PACK(n, condition, stores, k)                                                                                  \
    int64_t of[256];                                                                                                   \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count, to = 0;                                          \
        if (count > 1) {                                                                                               \
            int64_t own = 0;                                                                                           \
            for (int64_t at = begin; at < end; at++)                                                                   \
                own += (condition);                                                                                    \
            of[id] = own;                                                                                              \
            PRAGMA(omp barrier)                                                                                        \
            FOR (t, id)                                                                                                \
                to += of[t];                                                                                           \
        }                                                                                                              \
        for (int64_t at = begin; at < end; at++)                                                                       \
            if (condition) {                                                                                           \
                stores;                                                                                                \
                to++;                                                                                                  \
            }                                                                                                          \
        if (id == count - 1)                                                                                           \
            k = to;                                                                                                    \
    }

#define SUMS(...) PRAGMA(omp parallel for schedule(static) reduction(+ : __VA_ARGS__))

/* --- windows --- */

enum { BLOCK = 512 };

C(se_moments_20)
{
    IN(f32, x, 0);
    OUT(f32, mean, 0);
    OUT(f32, deviation, 1);
    int64_t k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        f32 s[BLOCK] = {0}, q[BLOCK] = {0};
        int64_t m = MIN(BLOCK, k - b);
        FOR (j, 20)
            FOR (i, m) {
                f32 v = x[b + i + j];
                s[i] += v;
                q[i] += v * v;
            }
        FOR (i, m) {
            f32 a = s[i] / 20;
            mean[b + i] = a;
            deviation[b + i] = sqrtf(MAX(q[i] / 20 - a * a, 0));
        }
    }
}

C(se_bollinger_20)
{
    IN(f64, x, 0);
    OUT(f64, mean, 0);
    OUT(f64, above, 1);
    OUT(f64, below, 2);
    int64_t k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        f64 s[BLOCK] = {0}, q[BLOCK] = {0};
        int64_t m = MIN(BLOCK, k - b);
        FOR (j, 20)
            FOR (i, m) {
                f64 v = x[b + i + j];
                s[i] += v;
                q[i] += v * v;
            }
        FOR (i, m) {
            f64 a = s[i] / 20, d = sqrt(MAX(q[i] / 20 - a * a, 0));
            mean[b + i] = a;
            above[b + i] = a + 2 * d;
            below[b + i] = a - 2 * d;
        }
    }
}

C(se_volatility_20)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        f64 s[BLOCK] = {0}, q[BLOCK] = {0}, r[BLOCK + 19];
        int64_t m = MIN(BLOCK, k - b);
        FOR (i, m + 19)
            r[i] = log(x[b + i + 1] / x[b + i]);
        FOR (j, 20)
            FOR (i, m) {
                f64 v = r[i + j];
                s[i] += v;
                q[i] += v * v;
            }
        FOR (i, m) {
            f64 a = s[i] / 20;
            z[b + i] = sqrt(MAX(q[i] / 20 - a * a, 0));
        }
    }
}

C(se_vwap_20)
{
    IN(f64, price, 0);
    IN(i32, volume, 1);
    OUT(f64, z, 0);
    int64_t k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        f64 s[BLOCK] = {0};
        i32 v[BLOCK] = {0};
        int64_t m = MIN(BLOCK, k - b);
        FOR (j, 20)
            FOR (i, m) {
                s[i] += price[b + i + j] * volume[b + i + j];
                v[i] += volume[b + i + j];
            }
        FOR (i, m)
            z[b + i] = s[i] / v[i];
    }
}

C(se_crossings)
{
    IN(f32, x, 0);
    int64_t k = E(0) - 19, sum = 0;
    SUMS(sum)
    for (int64_t b = 0; b < k - 1; b += BLOCK) {
        f32 s[BLOCK + 1] = {0}, f[BLOCK + 1] = {0};
        u8 above[BLOCK + 1];
        int64_t m = MIN(BLOCK, k - 1 - b);
        FOR (j, 15)
            FOR (i, m + 1)
                s[i] += x[b + i + j];
        FOR (j, 5)
            FOR (i, m + 1)
                f[i] += x[b + i + j + 15];
        FOR (i, m + 1)
            above[i] = 4 * f[i] > s[i] + f[i];
        FOR (i, m)
            sum += above[i] != above[i + 1];
    }
    RESULT(i64, 0) = sum;
}

#define ROLLING_MINIMUM(T)                                                                                             \
    C(se_rolling_minimum_50_##T)                                                                                       \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t k = E(1);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        for (int64_t b = 0; b < k; b += 4 * BLOCK) {                                                                   \
            T s[4 * BLOCK + 49];                                                                                       \
            int64_t m = MIN(4 * BLOCK, k - b), w = 1;                                                                  \
            FOR (i, m + 48)                                                                                            \
                s[i] = MIN(x[b + i], x[b + i + 1]);                                                                    \
            for (w = 2; w < 32; w *= 2)                                                                                \
                FOR (i, m + 50 - 2 * w)                                                                                \
                    s[i] = MIN(s[i], s[i + w]);                                                                        \
            FOR (i, m)                                                                                                 \
                z[b + i] = MIN(s[i], s[i + 18]);                                                                       \
        }                                                                                                              \
    }
ROLLING_MINIMUM(f32)
ROLLING_MINIMUM(i16)

C(se_rolling_maximum_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), all = E(2) * m;
    PARALLEL_FOR
    FOR (i, all)
        z[i] = MAX(MAX(MAX(x[i], x[i + m]), MAX(x[i + 2 * m], x[i + 3 * m])), x[i + 4 * m]);
}

/* --- recurrences --- */

C(se_smoothed_rows)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0;
        FOR (j, m)
            z[i * m + j] = s = 0.9f * s + 0.1f * x[i * m + j];
    }
}

C(se_smoothed_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    COLUMN_PARTS(f32, n, m, 0, s = 0.9f * s + 0.1f * x[at], s = s * powf(0.9f, (f32)length) + t,
                 z[at] = s = 0.9f * s + 0.1f * x[at])
}

struct both {
    f64 gain, loss;
};

C(se_rsi)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(1);
    const struct both none = {0, 0};
#define STEP                                                                                                           \
    f64 d = x[at + 1] - x[at];                                                                                         \
    s.gain = s.gain * (13.0 / 14) + MAX(d, 0) * (1.0 / 14);                                                            \
    s.loss = s.loss * (13.0 / 14) + MAX(-d, 0) * (1.0 / 14);
    PARTS(
        struct both, n, none, {STEP},
        {
            f64 share = pow(13.0 / 14, (f64)length);
            s.gain = s.gain * share + t.gain;
            s.loss = s.loss * share + t.loss;
        },
        { STEP z[at] = 100 * s.gain / (s.gain + s.loss); })
#undef STEP
}

struct last_2 {
    f64 y, before;
};

/* The state s, `length` steps later without input, and t. */
static struct last_2 without_input(struct last_2 s, int64_t length, struct last_2 t)
{
    f64 a = 1, b = 0, c = 0, d = 1, e = 1.2, f = -0.5, g = 1, h = 0;
    for (; length; length /= 2) {
        if (length % 2) {
            f64 p = a * e + b * g, q = a * f + b * h, u = c * e + d * g, v = c * f + d * h;
            a = p, b = q, c = u, d = v;
        }
        f64 p = e * e + f * g, q = e * f + f * h, u = g * e + h * g, v = g * f + h * h;
        e = p, f = q, g = u, h = v;
    }
    return (struct last_2){a * s.y + b * s.before + t.y, c * s.y + d * s.before + t.before};
}

C(se_biquad)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    const struct last_2 none = {0, 0};
#define STEP                                                                                                           \
    f64 x1 = at > 0 ? x[at - 1] : 0, x2 = at > 1 ? x[at - 2] : 0;                                                      \
    f64 y = 0.25 * (x[at] + x2) + 0.5 * x1 - 0.5 * s.before + 1.2 * s.y;                                               \
    s.before = s.y;                                                                                                    \
    s.y = y;
    PARTS(struct last_2, n, none, {STEP}, s = without_input(s, length, t), { STEP z[at] = y; })
#undef STEP
}

/* --- gaps and flags --- */

C(se_forward_fill)
{
    IN(u32, x, 0);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        u32 last = 0x7fc00000;
        for (int64_t i = begin - 1; i >= 0; i--)
            if (!missing(x[i])) {
                last = x[i];
                break;
            }
        for (int64_t i = begin; i < end; i++)
            z[i] = last = missing(x[i]) ? last : x[i];
    }
}

C(se_forward_fill_columns)
{
    IN(u32, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        if (begin < end) {
            FOR (j, m) {
                int64_t i = begin;
                while (i > 0 && missing(x[i * m + j]))
                    i--;
                z[begin * m + j] = x[i * m + j];
            }
            for (int64_t i = begin + 1; i < end; i++)
                FOR (j, m)
                    z[i * m + j] = missing(x[i * m + j]) ? z[(i - 1) * m + j] : x[i * m + j];
        }
    }
}

C(se_forward_fill_mask)
{
    IN(b8, known, 0);
    IN(i32, x, 1);
    OUT(i32, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        i32 last = 0;
        for (int64_t i = begin - 1; i >= 0; i--)
            if (known[i]) {
                last = x[i];
                break;
            }
        for (int64_t i = begin; i < end; i++)
            z[i] = last = known[i] ? x[i] : last;
    }
}

C(se_interpolated_gaps)
{
    IN(b8, known, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, i = begin;
        while (i < end) {
            if (known[i]) {
                z[i] = x[i];
                i++;
                continue;
            }
            int64_t a = i - 1, b = i + 1;
            while (a >= 0 && !known[a])
                a--;
            while (b < n && !known[b])
                b++;
            int64_t stop = MIN(b, end);
            if (a < 0 || b >= n) {
                f32 v = a >= 0 ? x[a] : b < n ? x[b] : 0;
                for (; i < stop; i++)
                    z[i] = v;
            } else {
                for (; i < stop; i++)
                    z[i] = x[a] + (f32)(i - a) / (f32)(b - a) * (x[b] - x[a]);
            }
        }
    }
}

C(se_reset_sums)
{
    IN(b8, flag, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, first = begin;
        while (first > 0 && first < n && !flag[first])
            first--;
        f32 s = 0;
        for (int64_t i = first; i < begin; i++)
            s += x[i];
        for (int64_t i = begin; i < end; i++)
            z[i] = s = flag[i] ? x[i] : s + x[i];
    }
}

C(se_steps_since)
{
    IN(b8, flag, 0);
    OUT(i32, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, last = begin - 1;
        while (last >= 0 && !flag[last])
            last--;
        i32 since = (i32)(begin - 1 - last);
        for (int64_t i = begin; i < end; i++)
            z[i] = since = flag[i] ? 0 : since + 1;
    }
}

C(se_hysteresis)
{
    IN(f32, x, 0);
    OUT(b8, z, 0);
    int64_t n = SIZE;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, last = begin - 1;
        while (last >= 0 && !(x[last] > 0.5f || x[last] < -0.5f))
            last--;
        bool on = last >= 0 && x[last] > 0.5f;
        for (int64_t i = begin; i < end; i++)
            z[i] = on = x[i] > 0.5f || (on && !(x[i] < -0.5f));
    }
}

/* --- statistics --- */

C(se_clipped_scores)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        f32 *restrict own = malloc((size_t)(3 * m) * sizeof *own), *restrict mean = own + m, *restrict by = own + 2 * m;
        f32 *mine = all + omp_get_thread_num() * 2 * m;
        FOR (j, m)
            own[j] = 0;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += x[i * m + j];
        memcpy(mine, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            mean[j] = own[j] = 0;
        FOR (t, count)
            FOR (j, m)
                mean[j] += all[t * 2 * m + j];
        FOR (j, m)
            mean[j] /= (f32)n;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += (x[i * m + j] - mean[j]) * (x[i * m + j] - mean[j]);
        memcpy(mine + m, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            by[j] = 0;
        FOR (t, count)
            FOR (j, m)
                by[j] += all[t * 2 * m + m + j];
        FOR (j, m)
            by[j] = 1 / sqrtf(by[j] / (f32)n);
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                z[i * m + j] = MAX(MIN((x[i * m + j] - mean[j]) * by[j], 1.5f), -1.5f);
        free(own);
    }
    free(all);
}

C(se_softmax_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f32 scale = 1 / VALUE(f32, 1);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        f32 *restrict own = malloc((size_t)(3 * m) * sizeof *own), *restrict most = own + m, *restrict by = own + 2 * m;
        f32 *mine = all + omp_get_thread_num() * 2 * m;
        FOR (j, m)
            own[j] = -INFINITY;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] = MAX(own[j], x[i * m + j]);
        memcpy(mine, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        memcpy(most, all, (size_t)m * sizeof *own);
        FOR (t, count)
            FOR (j, m)
                most[j] = MAX(most[j], all[t * 2 * m + j]);
        FOR (j, m)
            own[j] = 0;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m) {
                f32 e = expf((x[i * m + j] - most[j]) * scale);
                z[i * m + j] = e;
                own[j] += e;
            }
        memcpy(mine + m, own, (size_t)m * sizeof *own);
        PRAGMA(omp barrier)
        FOR (j, m)
            by[j] = 0;
        FOR (t, count)
            FOR (j, m)
                by[j] += all[t * 2 * m + m + j];
        FOR (j, m)
            by[j] = 1 / by[j];
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                z[i * m + j] *= by[j];
        free(own);
    }
    free(all);
}

C(se_without_outliers)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), kept = 0;
    f32 sum = 0, squares = 0;
    SUMS(sum)
    FOR (i, n)
        sum += x[i];
    f32 mean = sum / (f32)n;
    SUMS(squares)
    FOR (i, n)
        squares += (x[i] - mean) * (x[i] - mean);
    f32 most = 1.5f * sqrtf(squares / (f32)n);
    PACK(n, fabsf(x[at] - mean) <= most, z[to] = x[at], kept)
    KEPT(0) = kept;
}

C(se_means_of_60)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (i, k) {
        f64 s = 0;
        FOR (j, 60)
            s += x[i * 60 + j];
        z[i] = s / 60;
    }
}

C(se_weekly_means)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, k) {
        const f32 *a = x + i * 7 * m;
        FOR (j, m)
            z[i * m + j] =
                (a[j] + a[j + m] + a[j + 2 * m] + a[j + 3 * m] + a[j + 4 * m] + a[j + 5 * m] + a[j + 6 * m]) / 7;
    }
}

C(se_seasonal)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), all = E(2) * m;
    PARALLEL_FOR
    FOR (i, all)
        z[i] = x[i + 7 * m] - x[i];
}

C(se_autocorrelation)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 sum = 0, a = 0, b = 0, c = 0, d = 0, e = 0, q = 0;
    SUMS(sum)
    FOR (i, n)
        sum += x[i];
    f32 mean = sum / (f32)n;
    SUMS(a, b, c, d, e, q)
    FOR (i, n - 50) {
        f32 v = x[i] - mean;
        q += v * v;
        a += v * (x[i + 1] - mean);
        b += v * (x[i + 2] - mean);
        c += v * (x[i + 3] - mean);
        d += v * (x[i + 10] - mean);
        e += v * (x[i + 50] - mean);
    }
    for (int64_t i = n - 50; i < n; i++) {
        f32 v = x[i] - mean;
        q += v * v;
        a += i + 1 < n ? v * (x[i + 1] - mean) : 0;
        b += i + 2 < n ? v * (x[i + 2] - mean) : 0;
        c += i + 3 < n ? v * (x[i + 3] - mean) : 0;
        d += i + 10 < n ? v * (x[i + 10] - mean) : 0;
    }
    RESULT(f32, 0) = a / q;
    RESULT(f32, 1) = b / q;
    RESULT(f32, 2) = c / q;
    RESULT(f32, 3) = d / q;
    RESULT(f32, 4) = e / q;
}

C(se_peaks)
{
    IN(f32, x, 0);
    OUT(i64, place, 0);
    OUT(f32, height, 1);
    int64_t n = E(0), kept = 0;
#define PEAK ((x[at] > 0.5f) & (x[at] > x[at ? at - 1 : 0]) & (x[at] > x[at < n - 1 ? at + 1 : at]))
    PACK(n, PEAK, (place[to] = at, height[to] = x[at]), kept)
#undef PEAK
    KEPT(0) = KEPT(1) = kept;
}

C(se_weighted_histogram)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    FOR (k, 100)
        z[k] = 0;
    PARALLEL
    {
        f32 own[4][128] = {{0}};
        SPLIT_FOR
        for (int64_t i = 0; i < n - 3; i += 4)
            FOR (k, 4)
                own[k][MIN((i32)(x[i + k] * 100), 99)] += w[i + k];
        CRITICAL
        FOR (k, 100)
            z[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
    }
    for (int64_t i = n / 4 * 4; i < n; i++)
        z[MIN((i32)(x[i] * 100), 99)] += w[i];
}

C(se_quantile_buckets)
{
    IN(f32, x, 0);
    IN(f32, cut, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += BLOCK) {
        i32 s[BLOCK] = {0};
        int64_t m = MIN(BLOCK, n - b);
        FOR (j, k) {
            f32 c = cut[j];
            FOR (i, m)
                s[i] += c <= x[b + i];
        }
        FOR (i, m)
            z[b + i] = (u8)s[i];
    }
}

C(se_distribution_at)
{
    IN(f32, x, 0);
    IN(f32, point, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    i64 *below = calloc((size_t)k, sizeof *below);
    PARALLEL
    {
        i64 *own = calloc((size_t)k, sizeof *own);
        SPLIT_FOR
        for (int64_t b = 0; b < n; b += 4 * BLOCK) {
            int64_t m = MIN(4 * BLOCK, n - b);
            FOR (j, k) {
                i32 s = 0;
                f32 p = point[j];
                FOR (i, m)
                    s += x[b + i] <= p;
                own[j] += s;
            }
        }
        CRITICAL
        FOR (j, k)
            below[j] += own[j];
        free(own);
    }
    FOR (j, k)
        z[j] = (f32)below[j] / (f32)n;
    free(below);
}

C(se_by_minute)
{
    IN(i64, time, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), k = E(1);
    int threads = omp_get_max_threads();
    i64 *all = malloc((size_t)(k * threads) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads();
        i64 *own = all + omp_get_thread_num() * k;
        memset(own, 0, (size_t)k * sizeof *own);
        SPLIT_FOR
        FOR (i, n)
            own[(u64)time[i] / 60]++;
        SPLIT_FOR
        FOR (j, k) {
            i64 s = 0;
            FOR (t, count)
                s += all[t * k + j];
            z[j] = s;
        }
    }
    free(all);
}

C(se_ranks_of_rows)
{
    IN(f32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + i * m;
        i32 *to = z + i * m;
        FOR (j, m)
            to[j] = 0;
        FOR (k, m) {
            f32 v = a[k];
            FOR (j, m)
                to[j] += v < a[j];
        }
    }
}

C(se_correlations_with)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *d = malloc((size_t)m * sizeof *d), sum = 0, yy = 0;
    FOR (j, m)
        sum += y[j];
    FOR (j, m) {
        d[j] = y[j] - sum / (f32)m;
        yy += d[j] * d[j];
    }
    PARALLEL_FOR
    FOR (i, n) {
        f32 s = 0, xy = 0, xx = 0;
        FOR (j, m)
            s += x[i * m + j];
        f32 mean = s / (f32)m;
        FOR (j, m) {
            f32 v = x[i * m + j] - mean;
            xy += v * d[j];
            xx += v * v;
        }
        z[i] = xy / sqrtf(xx * yy);
    }
    free(d);
}

C(se_masked_covariance)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(b8, mask, 2);
    int64_t n = SIZE, count = 0;
    f64 sx = 0, sy = 0, sum = 0;
    SUMS(sx, sy, count)
    FOR (i, n) {
        sx += mask[i] ? x[i] : 0;
        sy += mask[i] ? y[i] : 0;
        count += mask[i];
    }
    f64 mx = sx / (f64)count, my = sy / (f64)count;
    SUMS(sum)
    FOR (i, n)
        sum += mask[i] ? (x[i] - mx) * (y[i] - my) : 0;
    RESULT(f64, 0) = sum / (f64)(count - 1);
}

C(se_rows_by_first)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 by = 1 / x[i * m];
        FOR (j, m)
            z[i * m + j] = x[i * m + j] * by;
    }
}

C(se_rows_by_range)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 least = INFINITY, most = -INFINITY;
        FOR (j, m) {
            least = MIN(least, x[i * m + j]);
            most = MAX(most, x[i * m + j]);
        }
        f32 by = 1 / (most - least);
        FOR (j, m)
            z[i * m + j] = (x[i * m + j] - least) * by;
    }
}

/* --- prices --- */

C(se_drawdown_rows)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most = 0, worst = 0, running[BLOCK];
        for (int64_t b = 0; b < m; b += BLOCK) {
            const f32 *a = x + i * m + b;
            int64_t count = MIN(BLOCK, m - b);
            FOR (j, count)
                running[j] = most = MAX(most, a[j]);
            FOR (j, count)
                worst = MAX(worst, (running[j] - a[j]) / running[j]);
        }
        z[i] = worst;
    }
}

C(se_drawdown_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *all = malloc((size_t)(2 * m * omp_get_max_threads()) * sizeof *all);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        f32 *restrict most = malloc((size_t)(2 * m) * sizeof *most), *restrict worst = most + m;
        FOR (j, m)
            most[j] = worst[j] = 0;
        if (count > 1) {
            for (int64_t i = begin; i < end; i++)
                FOR (j, m)
                    most[j] = MAX(most[j], x[i * m + j]);
            memcpy(all + 2 * m * id, most, (size_t)m * sizeof *most);
            PRAGMA(omp barrier)
            FOR (j, m)
                most[j] = 0;
            FOR (t, id)
                FOR (j, m)
                    most[j] = MAX(most[j], all[2 * m * t + j]);
        }
        for (int64_t i = begin; i < end; i++)
            FOR (j, m) {
                f32 v = x[i * m + j], a = MAX(most[j], v);
                most[j] = a;
                worst[j] = MAX(worst[j], (a - v) / a);
            }
        memcpy(all + 2 * m * id + m, worst, (size_t)m * sizeof *most);
        PRAGMA(omp barrier)
        SPLIT_FOR
        FOR (j, m) {
            f32 a = 0;
            FOR (t, count)
                a = MAX(a, all[2 * m * t + m + j]);
            z[j] = a;
        }
        free(most);
    }
    free(all);
}

C(se_price_paths)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    COLUMN_PARTS(f32, n, m, 0, s += x[at] / 64, s += t, {
        s += x[at] / 64;
        z[at] = expf(s);
    })
}

C(se_portfolio_returns)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = k * id / count, end = k * (id + 1) / count;
        f32 before = 0;
        for (int64_t i = begin; i <= end; i++) {
            f32 s = 0;
            FOR (j, m)
                s += x[i * m + j] * w[j];
            if (i > begin)
                z[i - 1] = s / before - 1;
            before = s;
        }
    }
}

static inline u32 hash_bits(u32 h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

static inline f32 uniform(u32 h)
{
    return ((f32)(i32)(h >> 8) + 0.5f) * 0x1p-24f;
}

C(se_european)
{
    IN(u32, seed, 0);
    int64_t n = SIZE;
    f32 sum = 0;
    SUMS(sum)
    FOR (i, n) {
        u32 h = hash_bits(seed[i]);
        f32 z = sqrtf(-2 * logf(uniform(h))) * cosf(6.2831853f * uniform(hash_bits(h + 1)));
        f32 price = 100 * expf(0.03f + 0.2f * z);
        sum += MAX(price - 105, 0);
    }
    RESULT(f32, 0) = sum / (f32)n;
}

C(se_asian)
{
    IN(u32, seed, 0);
    int64_t n = SIZE;
    f32 sum = 0;
    SUMS(sum)
    for (int64_t b = 0; b < n; b += BLOCK) {
        u32 h[BLOCK];
        f32 price[BLOCK], total[BLOCK];
        int64_t m = MIN(BLOCK, n - b);
        FOR (i, m) {
            h[i] = seed[b + i];
            price[i] = 100;
            total[i] = 0;
        }
        FOR (step, 12)
            FOR (i, m) {
                u32 h1 = hash_bits(h[i]), h2 = hash_bits(h1 + 1), h3 = hash_bits(h2 + 1);
                f32 z = 2 * (uniform(h1) + uniform(h2) + uniform(h3) - 1.5f);
                price[i] *= expf(0.002f + 0.06f * z);
                total[i] += price[i];
                h[i] = h3;
            }
        FOR (i, m)
            sum += MAX(total[i] / 12 - 100, 0);
    }
    RESULT(f32, 0) = sum / (f32)n;
}

/* --- signals --- */

C(se_decimated)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    for (int64_t b = 0; b < k; b += BLOCK) {
        int64_t count = MIN(BLOCK, k - b);
        f32 s[BLOCK] = {0};
        FOR (j, m) {
            f32 a = w[j];
            FOR (i, count)
                s[i] += a * x[(b + i) * 4 + j];
        }
        memcpy(z + b, s, (size_t)count * sizeof *s);
    }
}

C(se_goertzel)
{
    enum { LANES = 16 };
    IN(f32, x, 0);
    IN(f32, coefficient, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, n)
        for (int64_t j = 0; j < k; j += LANES) {
            f32 c[LANES] = {0}, a[LANES] = {0}, b[LANES] = {0};
            int64_t count = MIN(LANES, k - j);
            memcpy(c, coefficient + j, (size_t)count * sizeof *c);
            FOR (t, m) {
                f32 v = x[i * m + t];
                SIMD
                FOR (l, LANES) {
                    f32 next = v + c[l] * a[l] - b[l];
                    b[l] = a[l];
                    a[l] = next;
                }
            }
            FOR (l, count)
                z[i * k + j + l] = a[l] * a[l] + b[l] * b[l] - c[l] * a[l] * b[l];
        }
}

C(se_frames_energy)
{
    IN(i16, x, 0);
    OUT(i64, energy, 0);
    OUT(i64, crossings, 1);
    int64_t k = E(1);
    PARALLEL_FOR
    FOR (f, k) {
        const i16 *a = x + f * 160;
        i64 e = 0;
        i32 c = 0;
        FOR (j, 400)
            e += (i32)a[j] * a[j];
        FOR (j, 399)
            c += (a[j] < 0) != (a[j + 1] < 0);
        energy[f] = e;
        crossings[f] = c;
    }
}

C(se_hann_frames)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t k = E(1);
    f32 w[512];
    FOR (j, 512)
        w[j] = 0.5f - 0.5f * cosf((f32)j * (f32)(6.283185307179586 / 512));
    PARALLEL_FOR
    FOR (i, k)
        FOR (j, 512)
            z[i * 512 + j] = x[i * 256 + j] * w[j];
}

C(se_overlap_add)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t k = E(0), m = E(1), hop = m / 2;
    PARALLEL_FOR
    FOR (i, k + 1) {
        const f32 *own = x + i * m, *before = x + (i - 1) * m + hop;
        f32 *to = z + i * hop;
        if (i == 0)
            memcpy(to, own, (size_t)hop * sizeof *to);
        else if (i == k)
            memcpy(to, before, (size_t)hop * sizeof *to);
        else
            FOR (j, hop)
                to[j] = own[j] + before[j];
    }
}

C(se_spectral_flux)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), k = E(2);
    PARALLEL_FOR
    FOR (i, k) {
        f32 s = 0;
        FOR (j, m)
            s += MAX(x[(i + 1) * m + j] - x[i * m + j], 0);
        z[i] = s;
    }
}

C(se_residual_variance)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    int64_t p = E(1), k = E(0) - p;
    f32 sum = 0;
    SUMS(sum)
    for (int64_t b = 0; b < k; b += BLOCK) {
        int64_t count = MIN(BLOCK, k - b);
        f32 s[BLOCK];
        FOR (i, count)
            s[i] = x[b + i + p];
        FOR (j, p) {
            f32 a = w[j];
            FOR (i, count)
                s[i] -= a * x[b + i + p - 1 - j];
        }
        FOR (i, count)
            sum += s[i] * s[i];
    }
    RESULT(f32, 0) = sum / (f32)k;
}

C(se_despiked)
{
    IN(i16, x, 0);
    OUT(i16, z, 0);
    int64_t n = SIZE;
#define DESPIKED(a, b, c)                                                                                              \
    i16 median = MAX(MIN(a, b), MIN(MAX(a, b), c)), d = (i16)(b - median);                                             \
    z[i] = (d < 0 ? (i16)-d : d) > 40 ? median : b;
    PARALLEL_FOR
    for (int64_t i = 1; i < n - 1; i++) {
        DESPIKED(x[i - 1], x[i], x[i + 1])
    }
    for (int64_t i = 0; i < n; i += n - 1) {
        int64_t other = i ? n - 2 : 1;
        DESPIKED(x[other], x[i], x[other])
    }
#undef DESPIKED
}
