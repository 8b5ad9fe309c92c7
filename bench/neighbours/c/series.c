#include "series.h"

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

/* --- windows --- */

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
