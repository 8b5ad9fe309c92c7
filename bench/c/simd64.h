/* Eight f64 lanes for the opponents, as in simd.h. Private to bench/c. */
#ifndef SINTER_BENCH_SIMD64_H
#define SINTER_BENCH_SIMD64_H

#include "simd.h"

enum { WIDE_LANES = 8 };

#if BENCH_AVX512

typedef __m512d vf64;

static inline vf64 w_load(const double *p)
{
    return _mm512_loadu_pd(p);
}

/* `p` is a multiple of 64 bytes. Followed by v_fence before another thread reads. */
static inline void w_stream(double *p, vf64 v)
{
    _mm512_stream_pd(p, v);
}

static inline vf64 w_set(double x)
{
    return _mm512_set1_pd(x);
}

static inline vf64 w_add(vf64 a, vf64 b)
{
    return _mm512_add_pd(a, b);
}

static inline vf64 w_fma(vf64 a, vf64 b, vf64 c)
{
    return _mm512_fmadd_pd(a, b, c);
}

/* x where x > best, else best: a NaN in x never wins. */
static inline vf64 w_max(vf64 x, vf64 best)
{
    return _mm512_max_pd(x, best);
}

#else

typedef double vf64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t vi64 __attribute__((vector_size(VECTOR_BYTES)));

static inline vf64 w_load(const double *p)
{
    vf64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void w_stream(double *p, vf64 v)
{
    memcpy(p, &v, sizeof v);
}

static inline vf64 w_set(double x)
{
    return (vf64){0} + x;
}

static inline vf64 w_add(vf64 a, vf64 b)
{
    return a + b;
}

static inline vf64 w_fma(vf64 a, vf64 b, vf64 c)
{
    return a * b + c;
}

static inline vf64 w_max(vf64 x, vf64 best)
{
    vi64 wins = x > best;
    return (vf64)(((vi64)x & wins) | ((vi64)best & ~wins));
}

#endif

static inline double w_sum(vf64 a)
{
    double lane[WIDE_LANES], sum = 0;
    memcpy(lane, &a, sizeof lane);
    for (int i = 0; i < WIDE_LANES; i++)
        sum += lane[i];
    return sum;
}

#endif
