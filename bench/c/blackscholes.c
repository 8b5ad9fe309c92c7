/* Black-Scholes prices of European options. Bound by arithmetic: sixteen options at a time, the tables of exp and log
 * in registers, results written past the cache. */
#include "opponents.h"
#include "simd.h"
#include "vmath.h"

#include <math.h>

enum {
    AHEAD = 512, /* bytes to prefetch */
    UNROLL = 5,  /* vectors together */
};

#define RATE 0.02F
#define VOLATILITY 0.30F
#define INV_SQRT_2PI 0.39894228040143268F

/* Coefficients of the normal distribution's tail in k = 1 / (1 + 0.2316419 |d|). */
#define K0 0.2316419F
#define C1 0.31938153F
#define C2 -0.356563782F
#define C3 1.781477937F
#define C4 -1.821255978F
#define C5 1.330274429F

struct job {
    int64_t n; /* from the first aligned element of call on */
    const float *price;
    const float *strike;
    const float *years;
    float *call;
    float *put;
};

static float normal(float d)
{
    float k = 1 / fmaf(K0, fabsf(d), 1);
    float poly = k * fmaf(k, fmaf(k, fmaf(k, fmaf(k, C5, C4), C3), C2), C1);
    float tail = INV_SQRT_2PI * expf(-0.5F * d * d) * poly;
    return d > 0 ? 1 - tail : tail;
}

static void scalar_prices(const struct job *job, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++) {
        float s = job->price[i];
        float t = job->years[i];
        float spread = VOLATILITY * sqrtf(t);
        float d1 = fmaf(RATE + 0.5F * VOLATILITY * VOLATILITY, t, logf(s / job->strike[i])) / spread;
        float n1 = normal(d1);
        float n2 = normal(d1 - spread);
        float discounted = job->strike[i] * expf(-RATE * t);
        job->call[i] = fmaf(s, n1, -discounted * n2);
        job->put[i] = fmaf(discounted, 1 - n2, -s * (1 - n1));
    }
}

#if BENCH_AVX512

/* The distribution at d and at -d: below and above. The factor 1 / sqrt(2 pi) is in the coefficients. */
static inline void v_normal(vf32 d, vf32 *below, vf32 *above)
{
    const vf32 one = v_set(1.0F);
    vf32 k = _mm512_div_ps(one, v_fma(v_set(K0), _mm512_abs_ps(d), one));
    vf32 density = v_bell(d);
    vf32 poly = v_fma(k, v_set(INV_SQRT_2PI * C5), v_set(INV_SQRT_2PI * C4));
    poly = v_fma(k, poly, v_set(INV_SQRT_2PI * C3));
    poly = v_fma(k, poly, v_set(INV_SQRT_2PI * C2));
    poly = v_fma(k, poly, v_set(INV_SQRT_2PI * C1));
    vf32 tail = _mm512_mul_ps(density, _mm512_mul_ps(k, poly));
    vf32 rest = _mm512_sub_ps(one, tail);
    __mmask16 positive = _mm512_cmp_ps_mask(d, v_set(0), _CMP_GT_OQ);
    *below = _mm512_mask_blend_ps(positive, tail, rest);
    *above = _mm512_mask_blend_ps(positive, rest, tail);
}

/* The options at i to i + UNROLL * LANES - 1. Each step is taken for all vectors before the next one, which keeps the
 * pipes full. */
static inline void v_prices(const struct job *job, int64_t i)
{
    vf32 s[UNROLL];
    vf32 x[UNROLL];
    vf32 t[UNROLL];
    vf32 spread[UNROLL];
    vf32 d1[UNROLL];
    vf32 n1[UNROLL][2];
    vf32 n2[UNROLL][2];
    const vf32 drift = v_set(RATE + 0.5F * VOLATILITY * VOLATILITY);
    for (int u = 0; u < UNROLL; u++) {
        s[u] = v_load(job->price + i + u * LANES);
        x[u] = v_load(job->strike + i + u * LANES);
        t[u] = v_load(job->years + i + u * LANES);
        spread[u] = _mm512_mul_ps(v_set(VOLATILITY), _mm512_sqrt_ps(t[u]));
        d1[u] = _mm512_div_ps(s[u], x[u]);
    }
    for (int u = 0; u < UNROLL; u++)
        d1[u] = _mm512_div_ps(v_fma(drift, t[u], v_log(d1[u])), spread[u]);
    for (int u = 0; u < UNROLL; u++)
        x[u] = _mm512_mul_ps(x[u], v_exp(_mm512_mul_ps(v_set(-RATE), t[u])));
    for (int u = 0; u < UNROLL; u++) {
        v_normal(d1[u], &n1[u][0], &n1[u][1]);
        v_normal(_mm512_sub_ps(d1[u], spread[u]), &n2[u][0], &n2[u][1]);
    }
    for (int u = 0; u < UNROLL; u++) {
        v_stream(job->call + i + u * LANES, _mm512_fmsub_ps(s[u], n1[u][0], _mm512_mul_ps(x[u], n2[u][0])));
        vf32 put = _mm512_fmsub_ps(x[u], n2[u][1], _mm512_mul_ps(s[u], n1[u][1]));
        if ((uintptr_t)job->put % VECTOR_BYTES == 0)
            v_stream(job->put + i + u * LANES, put);
        else
            _mm512_storeu_ps(job->put + i + u * LANES, put);
    }
}

static void part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, UNROLL * LANES, id, workers);
    int64_t i = mine.first;
    for (; i + UNROLL * LANES <= mine.last; i += UNROLL * LANES) {
        for (int k = 0; k < UNROLL * LANES; k += LANES) {
            v_prefetch(job->price + i + k, AHEAD);
            v_prefetch(job->strike + i + k, AHEAD);
            v_prefetch(job->years + i + k, AHEAD);
        }
        v_prices(job, i);
    }
    v_fence();
    scalar_prices(job, i, mine.last);
}

#else

static void part(void *ctx, int id, int workers)
{
    const struct job *job = ctx;
    struct team_range mine = team_part(job->n, LANES, id, workers);
    scalar_prices(job, mine.first, mine.last);
}

#endif

void c_blackscholes(struct team *team, int64_t n, const float *price, const float *strike, const float *years,
                    float *call, float *put)
{
    int64_t head = (int64_t)(-((uintptr_t)call / sizeof *call) % LANES);
    head = head < n ? head : n;
    struct job lead = {head, price, strike, years, call, put};
    scalar_prices(&lead, 0, head);
    struct job job = {n - head, price + head, strike + head, years + head, call + head, put + head};
    team_run(team, part, &job);
}
