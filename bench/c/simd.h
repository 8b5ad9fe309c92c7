/* Sixteen f32 lanes for the opponents: AVX-512 intrinsics where the compiler targets it, GNU vectors (which the
 * compiler splits into whatever the machine has) elsewhere. Private to bench/c. */
#ifndef SINTER_BENCH_SIMD_H
#define SINTER_BENCH_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define BENCH_AVX512 1
#include <immintrin.h>
#else
#define BENCH_AVX512 0
#endif

enum { LANES = 16, VECTOR_BYTES = 64 };

#if BENCH_AVX512

typedef __m512 vf32;

static inline vf32 v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

/* `p` is a multiple of 64 bytes. Followed by v_fence before another thread reads. */
static inline void v_stream(float *p, vf32 v)
{
    _mm512_stream_ps(p, v);
}

static inline void v_fence(void)
{
    _mm_sfence();
}

static inline vf32 v_set(float x)
{
    return _mm512_set1_ps(x);
}

static inline vf32 v_add(vf32 a, vf32 b)
{
    return _mm512_add_ps(a, b);
}

static inline vf32 v_mul(vf32 a, vf32 b)
{
    return _mm512_mul_ps(a, b);
}

static inline vf32 v_fma(vf32 a, vf32 b, vf32 c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* x where x > best, else best: a NaN in x never wins. */
static inline vf32 v_max(vf32 x, vf32 best)
{
    return _mm512_max_ps(x, best);
}

static inline float v_sum(vf32 a)
{
    return _mm512_reduce_add_ps(a);
}

/* Whether some lane of a is greater than b's. */
static inline int v_any_greater(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0;
}

#else

#pragma GCC diagnostic ignored "-Wpsabi" /* all functions here are inlined: no vector crosses a call */

typedef float vf32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi32 __attribute__((vector_size(VECTOR_BYTES)));

static inline vf32 v_load(const float *p)
{
    vf32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void v_stream(float *p, vf32 v)
{
    memcpy(p, &v, sizeof v);
}

static inline void v_fence(void)
{
}

static inline vf32 v_set(float x)
{
    return (vf32){0} + x;
}

static inline vf32 v_add(vf32 a, vf32 b)
{
    return a + b;
}

static inline vf32 v_mul(vf32 a, vf32 b)
{
    return a * b;
}

static inline vf32 v_fma(vf32 a, vf32 b, vf32 c)
{
    return a * b + c;
}

static inline vf32 v_max(vf32 x, vf32 best)
{
    vi32 wins = x > best;
    return (vf32)(((vi32)x & wins) | ((vi32)best & ~wins));
}

static inline float v_sum(vf32 a)
{
    float sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += a[i];
    return sum;
}

static inline int v_any_greater(vf32 a, vf32 b)
{
    for (int i = 0; i < LANES; i++)
        if (a[i] > b[i])
            return 1;
    return 0;
}

#endif

/* Asks for the line at p + bytes. May point outside the array. */
static inline void v_prefetch(const void *p, int bytes)
{
    __builtin_prefetch((const void *)((uintptr_t)p + (uintptr_t)bytes), 0, 3);
}

#endif
