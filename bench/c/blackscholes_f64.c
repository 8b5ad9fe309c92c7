/* Black-Scholes prices of European options in f64, as in blackscholes.c. Bound by the divider: four divisions and a
 * square root an option, behind which everything else hides. */
#include "opponents.h"
#include "simd64.h"
#include "vmath64.h"

#include <math.h>

enum {
    AHEAD = 512, /* bytes to prefetch */
    UNROLL = 3,  /* vectors together */
};

#define RATE 0.02
#define VOLATILITY 0.30
#define INV_SQRT_2PI 0.39894228040143268

/* Coefficients of the normal distribution's tail in k = 1 / (1 + 0.2316419 |d|). */
#define K0 0.2316419
#define C1 0.31938153
#define C2 -0.356563782
#define C3 1.781477937
#define C4 -1.821255978
#define C5 1.330274429

struct job {
    int64_t n; /* from the first aligned element of call on */
    const double *price;
    const double *strike;
    const double *years;
    double *call;
    double *put;
};

static double normal(double d)
{
    double k = 1 / fma(K0, fabs(d), 1);
    double poly = k * fma(k, fma(k, fma(k, fma(k, C5, C4), C3), C2), C1);
    double tail = INV_SQRT_2PI * exp(-0.5 * d * d) * poly;
    return d > 0 ? 1 - tail : tail;
}

static void scalar_prices(const struct job *job, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        double s = job->price[i];
        double t = job->years[i];
        double spread = VOLATILITY * sqrt(t);
        double d1 = fma(RATE + 0.5 * VOLATILITY * VOLATILITY, t, log(s / job->strike[i])) / spread;
        double n1 = normal(d1);
        double n2 = normal(d1 - spread);
        double discounted = job->strike[i] * exp(-RATE * t);
        job->call[i] = fma(s, n1, -discounted * n2);
        job->put[i] = fma(discounted, 1 - n2, -s * (1 - n1));
    }
}

#if BENCH_AVX512

/* The distribution at d and at -d: below and above. The factor 1 / sqrt(2 pi) is in the coefficients. */
static inline void w_normal(vf64 d, vf64 *below, vf64 *above)
{
    const vf64 one = w_set(1.0);
    vf64 k = _mm512_div_pd(one, w_fma(w_set(K0), _mm512_abs_pd(d), one));
    vf64 density = w_exp(_mm512_mul_pd(_mm512_mul_pd(d, d), w_set(-0.5)));
    vf64 poly = w_fma(k, w_set(INV_SQRT_2PI * C5), w_set(INV_SQRT_2PI * C4));
    poly = w_fma(k, poly, w_set(INV_SQRT_2PI * C3));
    poly = w_fma(k, poly, w_set(INV_SQRT_2PI * C2));
    poly = w_fma(k, poly, w_set(INV_SQRT_2PI * C1));
    vf64 tail = _mm512_mul_pd(density, _mm512_mul_pd(k, poly));
    vf64 rest = _mm512_sub_pd(one, tail);
    __mmask8 positive = _mm512_cmp_pd_mask(d, w_set(0), _CMP_GT_OQ);
    *below = _mm512_mask_blend_pd(positive, tail, rest);
    *above = _mm512_mask_blend_pd(positive, rest, tail);
}

/* The options at i to i + UNROLL * WIDE_LANES - 1. Each step is taken for all vectors before the next one, which keeps
 * the pipes full. */
static inline void w_prices(const struct job *job, int64_t i)
{
    vf64 s[UNROLL];
    vf64 x[UNROLL];
    vf64 t[UNROLL];
    vf64 spread[UNROLL];
    vf64 d1[UNROLL];
    vf64 n1[UNROLL][2];
    vf64 n2[UNROLL][2];
    const vf64 drift = w_set(RATE + 0.5 * VOLATILITY * VOLATILITY);
    for (int u = 0; u < UNROLL; u++) {
        s[u] = w_load(job->price + i + u * WIDE_LANES);
        x[u] = w_load(job->strike + i + u * WIDE_LANES);
        t[u] = w_load(job->years + i + u * WIDE_LANES);
        spread[u] = _mm512_mul_pd(w_set(VOLATILITY), _mm512_sqrt_pd(t[u]));
        d1[u] = _mm512_div_pd(s[u], x[u]);
    }
    for (int u = 0; u < UNROLL; u++)
        d1[u] = _mm512_div_pd(w_fma(drift, t[u], w_log(d1[u])), spread[u]);
    for (int u = 0; u < UNROLL; u++)
        x[u] = _mm512_mul_pd(x[u], w_exp(_mm512_mul_pd(w_set(-RATE), t[u])));
    for (int u = 0; u < UNROLL; u++) {
        w_normal(d1[u], &n1[u][0], &n1[u][1]);
        w_normal(_mm512_sub_pd(d1[u], spread[u]), &n2[u][0], &n2[u][1]);
    }
    for (int u = 0; u < UNROLL; u++) {
        w_stream(job->call + i + u * WIDE_LANES, _mm512_fmsub_pd(s[u], n1[u][0], _mm512_mul_pd(x[u], n2[u][0])));
        vf64 put = _mm512_fmsub_pd(x[u], n2[u][1], _mm512_mul_pd(s[u], n1[u][1]));
        if ((uintptr_t)job->put % VECTOR_BYTES == 0)
            w_stream(job->put + i + u * WIDE_LANES, put);
        else
            _mm512_storeu_pd(job->put + i + u * WIDE_LANES, put);
    }
}

static void part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, UNROLL * WIDE_LANES, id, workers);
    int64_t i = mine.first;
    for (; i + UNROLL * WIDE_LANES <= mine.last; i += UNROLL * WIDE_LANES) {
        for (int k = 0; k < UNROLL * WIDE_LANES; k += WIDE_LANES) {
            v_prefetch(job->price + i + k, AHEAD);
            v_prefetch(job->strike + i + k, AHEAD);
            v_prefetch(job->years + i + k, AHEAD);
        }
        w_prices(job, i);
    }
    v_fence();
    scalar_prices(job, i, mine.last);
}

#else

static void part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, WIDE_LANES, id, workers);
    scalar_prices(job, mine.first, mine.last);
}

#endif

void c_blackscholes_f64(struct team *team, int64_t n, const double *price, const double *strike, const double *years,
                        double *call, double *put)
{
    int64_t head = (int64_t)(-((uintptr_t)call / sizeof *call) % WIDE_LANES);
    head = head < n ? head : n;
    struct job lead = {head, price, strike, years, call, put};
    scalar_prices(&lead, 0, head);
    struct job job = {n - head, price + head, strike + head, years + head, call + head, put + head};
    team_run(team, part, &job);
}
