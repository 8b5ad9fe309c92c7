/* exp and log of sixteen f32 lanes in AVX-512, by small tables held in one register each. At most 2 ulp; tests/bench
 * checks them. Method: P.-T. P. Tang, "Table-driven implementation of the exponential / logarithm function" (1989,
 * 1990). Private to bench/c. */
#ifndef SINTER_BENCH_VMATH_H
#define SINTER_BENCH_VMATH_H

#include "simd.h"

#if BENCH_AVX512

/* 2^(k/16) where k is in the low bits of `shifted`: the table holds 2^(i/16) less i at the bits where k's low four bits
 * arrive when k is added in the place of the exponent. The result must be a normal number. */
static inline vf32 v_power(vf32 shifted)
{
    const __m512i table = _mm512_setr_epi32(0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
                                            0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
                                            0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d);
    __m512i k = _mm512_castps_si512(shifted);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_permutexvar_epi32(k, table), _mm512_slli_epi32(k, 19)));
}

/* e^x for x <= 88; results below the normal numbers become 0. e^x = 2^(k/16) e^r, with k the nearest integer to 16 x /
 * ln 2, which adding 1.5 * 2^19 leaves in the low bits of the sum. */
static inline vf32 v_exp(vf32 x)
{
    const vf32 shift = v_set(0x1.8p19F);
    vf32 shifted = v_fma(x, v_set(0x1.715476p0F), shift);
    vf32 k = _mm512_sub_ps(shifted, shift);
    vf32 r = _mm512_fnmadd_ps(k, v_set(0x1.62e4p-1F), x);
    r = _mm512_fnmadd_ps(k, v_set(0x1.7f7d1cp-20F), r);
    vf32 tail = v_fma(_mm512_mul_ps(r, r), v_fma(r, v_set(0x1.555556p-3F), v_set(0.5F)), r);
    vf32 power = v_power(shifted);
    __mmask16 normal = _mm512_cmp_ps_mask(x, v_set(-87.33F), _CMP_NLT_UQ);
    return _mm512_maskz_fmadd_ps(normal, power, tail, power);
}

/* e^(-d*d/2), the same way with -2r in place of r: all constants change by powers of two, so it is as accurate as
 * v_exp(-0.5 * d * d). */
static inline vf32 v_bell(vf32 d)
{
    const vf32 shift = v_set(0x1.8p19F);
    vf32 square = _mm512_mul_ps(d, d);
    vf32 shifted = v_fma(square, v_set(-0x1.715476p-1F), shift);
    vf32 k = _mm512_sub_ps(shifted, shift);
    vf32 r = v_fma(k, v_set(0x1.62e4p0F), square);
    r = v_fma(k, v_set(0x1.7f7d1cp-19F), r);
    vf32 tail = _mm512_mul_ps(r, v_fma(r, v_fma(r, v_set(-0x1.555556p-6F), v_set(0.125F)), v_set(-0.5F)));
    vf32 power = v_power(shifted);
    __mmask16 normal = _mm512_cmp_ps_mask(square, v_set(2 * 87.33F), _CMP_NGT_UQ);
    return _mm512_maskz_fmadd_ps(normal, power, tail, power);
}

/* Without optimisation these are macros, which convert a mask of ones to a signed number. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline vf32 v_mantissa(vf32 x) /* in [0.75, 1.5) */
{
    return _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
}

static inline vf32 v_exponent(vf32 x)
{
    return _mm512_getexp_ps(x);
}
#pragma GCC diagnostic pop

/* log x = e ln 2 - log c + log(1 + r) with x = 2^e m, m in [0.75, 1.5), r = c m - 1 and c near 1/m from a table by the
 * top four bits of the mantissa. c is exactly 1 on both sides of m = 1, so that log is accurate there. log 0 = -inf;
 * NaN below 0. */
static inline vf32 v_log(vf32 x)
{
    const vf32 reciprocal = _mm512_setr_ps(1.0F, 0.913574219F, 0.854736328F, 0.820556641F, 0.790771484F, 0.762207031F,
                                           0.729492188F, 0.676513672F, 1.30224609F, 1.25195312F, 1.2265625F, 1.1640625F,
                                           1.12890625F, 1.07592773F, 1.05737305F, 1.0F);
    const vf32 log_table = _mm512_setr_ps(0.0F, 0.0903906599F, 0.156962246F, 0.197772339F, 0.234746248F, 0.271537066F,
                                          0.315406621F, 0.390802622F, -0.264090538F, -0.224704832F, -0.204215541F,
                                          -0.151916042F, -0.121249244F, -0.0731832981F, -0.0557875745F, 0.0F);
    vf32 m = v_mantissa(x);
    vf32 e = _mm512_sub_ps(v_exponent(x), v_exponent(m));
    __m512i index = _mm512_srli_epi32(_mm512_castps_si512(m), 19);
    vf32 r = _mm512_fmsub_ps(m, _mm512_permutexvar_ps(index, reciprocal), v_set(1.0F));
    vf32 base = v_fma(e, v_set(0x1.62e43p-1F), _mm512_permutexvar_ps(index, log_table));
    vf32 squared = _mm512_mul_ps(r, r);
    vf32 high = v_fma(r, v_set(0.191444114F), v_set(-0.250284344F));
    vf32 low = v_fma(r, v_set(0.333345115F), v_set(-0.499999881F));
    return v_add(base, v_fma(squared, v_fma(squared, high, low), r));
}

#endif
#endif
