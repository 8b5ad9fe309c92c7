/* exp and log of eight f64 lanes in AVX-512, by tables of sixteen entries held in two registers each. At most 2 ulp;
 * tests/bench checks them. Method: P.-T. P. Tang, "Table-driven implementation of the exponential / logarithm function"
 * (1989, 1990). Private to bench/c. */
#ifndef SINTER_BENCH_VMATH64_H
#define SINTER_BENCH_VMATH64_H

#include "simd64.h"

#if BENCH_AVX512

/* Entry `index` modulo 16 in each lane. */
static inline vf64 w_look_up(const double *table, __m512i index)
{
    return _mm512_permutex2var_pd(w_load(table), index, w_load(table + WIDE_LANES));
}

/* e^x = 2^(k/16) e^r, with k the nearest integer to 16 x / ln 2, which adding 1.5 * 2^52 leaves in the low bits. */
static inline vf64 w_exp(vf64 x)
{
    static const double power[16] = {
        0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
        0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
        0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
        0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
    const vf64 shift = w_set(0x1.8p52);
    vf64 shifted = w_fma(x, w_set(0x1.71547652b82fep+4), shift);
    vf64 k = _mm512_sub_pd(shifted, shift);
    vf64 r = _mm512_fnmadd_pd(k, w_set(0x1.62e42fefap-5), x);
    r = _mm512_fnmadd_pd(k, w_set(0x1.cf79abc9e3b3ap-44), r);
    vf64 squared = _mm512_mul_pd(r, r);
    vf64 high =
        w_fma(squared, w_fma(r, w_set(1.0 / 5040), w_set(1.0 / 720)), w_fma(r, w_set(1.0 / 120), w_set(1.0 / 24)));
    vf64 low = w_fma(squared, high, w_fma(r, w_set(1.0 / 6), w_set(0.5)));
    vf64 tail = w_fma(squared, low, r);
    vf64 base = w_look_up(power, _mm512_castpd_si512(shifted));
    return _mm512_scalef_pd(w_fma(base, tail, base), _mm512_mul_pd(k, w_set(1.0 / 16)));
}

/* Without optimisation these are macros, which convert a mask of ones to a signed number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline vf64 w_mantissa(vf64 x) /* in [0.75, 1.5) */
{
    return _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}

static inline vf64 w_exponent(vf64 x)
{
    return _mm512_getexp_pd(x);
}
#pragma GCC diagnostic pop

/* log x = e ln 2 - log c + log(1 + r) with x = 2^e m, m in [0.75, 1.5), r = c m - 1 and c near 1/m from a table by the
 * top four bits of the mantissa. c is exactly 1 on both sides of m = 1, so that log is accurate there. log 0 = -inf;
 * NaN below 0. */
static inline vf64 w_log(vf64 x)
{
    static const double reciprocal[16] = {
        1.0,          0.9140625,    0.865234375,  0.8203125, 0.7802734375, 0.744140625,  0.7109375,   0.6806640625,
        1.3056640625, 1.2548828125, 1.2080078125, 1.1640625, 1.123046875,  1.0849609375, 1.048828125, 1.0};
    static const double logs[16] = {0,
                                    0x1.700d30aeac0e1p-4,
                                    0x1.28753bc11aba5p-3,
                                    0x1.95a5adcf7017fp-3,
                                    0x1.fc218be620a5ep-3,
                                    0x1.2e9e2bce12286p-2,
                                    0x1.5d5bddf595f30p-2,
                                    0x1.89eb3af432874p-2,
                                    -0x1.111ce4003ee4dp-2,
                                    -0x1.d0fb7f2255e51p-3,
                                    -0x1.83040c91bcf2ep-3,
                                    -0x1.371fc201e8f74p-3,
                                    -0x1.db5270187d927p-4,
                                    -0x1.4e01108a35ae6p-4,
                                    -0x1.868a83083f6cfp-5,
                                    0};
    vf64 m = w_mantissa(x);
    vf64 e = _mm512_sub_pd(w_exponent(x), w_exponent(m));
    __m512i index = _mm512_srli_epi64(_mm512_castpd_si512(m), 48);
    vf64 r = _mm512_fmsub_pd(m, w_look_up(reciprocal, index), w_set(1.0));
    vf64 base = w_fma(e, w_set(0x1.62e42fefa39efp-1), w_look_up(logs, index));
    /* log(1 + r) = r - r^2 / 2 + ... + r^13 / 13 - r^14 / 14, |r| <= 1/16 */
    vf64 squared = _mm512_mul_pd(r, r);
    vf64 even = w_set(-1.0 / 14), odd = w_set(1.0 / 13);
#pragma GCC unroll 5
    for (int n = 12; n > 3; n -= 2) {
        even = w_fma(even, squared, w_set(-1.0 / n));
        odd = w_fma(odd, squared, w_set(1.0 / (n - 1)));
    }
    even = w_fma(even, squared, w_set(-0.5));
    return w_add(base, w_fma(squared, w_fma(r, odd, even), r));
}

#endif
#endif
