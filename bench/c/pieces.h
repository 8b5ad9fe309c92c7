/* What scans and filters of the opponents share: pieces claimed in ascending order, of which each waits for what the
 * one before it hands on, and each is claimed early, to be fetched while there is time; vectors of the widest registers
 * there are; compression; copies past the caches. Private to bench/c. */
#ifndef SINTER_BENCH_PIECES_H
#define SINTER_BENCH_PIECES_H

#include "opponents.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define PIECES_AVX512 1
#else
#define PIECES_AVX512 0
#endif
#if defined(__AVX2__)
#define PIECES_AVX2 1
#include <immintrin.h>
#else
#define PIECES_AVX2 0
#endif

enum { PIECE = 16384, LINE = 64 }; /* elements: 64 KiB, which stay in the second cache */

/* --- the chain --- */

struct chain {
    _Alignas(LINE) atomic_int_fast64_t next; /* piece to be claimed */
    _Alignas(LINE) atomic_int_fast64_t turn; /* piece that may take what is handed on, which lies in the same line */
    float sum;
    int32_t count32;
    int64_t count;
};

static inline void chain_wait(struct chain *c, int64_t piece)
{
    while (atomic_load_explicit(&c->turn, memory_order_acquire) != piece) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

static inline void chain_pass(struct chain *c, int64_t piece)
{
    atomic_store_explicit(&c->turn, piece + 1, memory_order_release);
}

static inline int64_t pieces_of(int64_t n)
{
    return (n + PIECE - 1) / PIECE;
}

/* Where piece number p begins; where there is none, the one at hand. */
static inline const void *piece_after(const void *elements, int64_t p, int64_t at_hand)
{
    return (const char *)elements + 4 * PIECE * (p < 0 ? at_hand : p);
}

/* --- vectors: W lanes --- */

#if PIECES_AVX512
enum { W = 16 };
typedef __m512 wf;
typedef __m512i wi;

static inline wf wf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
static inline void wf_store(float *p, wf x)
{
    _mm512_storeu_ps(p, x);
}
static inline void wf_stream(float *p, wf x)
{
    _mm512_stream_ps(p, x);
}
static inline wf wf_set(float x)
{
    return _mm512_set1_ps(x);
}
static inline wf wf_add(wf a, wf b)
{
    return _mm512_add_ps(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return _mm512_mul_ps(a, b);
}
static inline wf wf_fma(wf a, wf b, wf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
static inline wf wf_div(wf a, wf b)
{
    return _mm512_div_ps(a, b);
}
static inline wf wf_max(wf a, wf b)
{
    return _mm512_max_ps(a, b);
}
static inline float wf_sum(wf x)
{
    return _mm512_reduce_add_ps(x);
}
static inline float wf_most(wf x)
{
    return _mm512_reduce_max_ps(x);
}
/* Lanes move up by `k`, zeros follow. */
#define WI_UP(x, k) _mm512_maskz_permutexvar_epi32((__mmask16)(0xFFFFu << (k)), up##k, x)
#define WI_UPS                                                                                                         \
    const __m512i up1 = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);                        \
    const __m512i up2 = _mm512_setr_epi32(0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);                         \
    const __m512i up4 = _mm512_setr_epi32(0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);                           \
    const __m512i up8 = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7);
static inline wf wf_prefix(wf x)
{
    WI_UPS
    x = _mm512_add_ps(x, _mm512_castsi512_ps(WI_UP(_mm512_castps_si512(x), 1)));
    x = _mm512_add_ps(x, _mm512_castsi512_ps(WI_UP(_mm512_castps_si512(x), 2)));
    x = _mm512_add_ps(x, _mm512_castsi512_ps(WI_UP(_mm512_castps_si512(x), 4)));
    return _mm512_add_ps(x, _mm512_castsi512_ps(WI_UP(_mm512_castps_si512(x), 8)));
}
static inline wf wf_last(wf x)
{
    return _mm512_permutexvar_ps(_mm512_set1_epi32(15), x);
}
/* Lanes move up by one; the first one is that of `first`. */
static inline wf wf_after(wf first, wf x)
{
    const __m512i up = _mm512_setr_epi32(16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    return _mm512_permutex2var_ps(x, up, first);
}
static inline wi wi_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}
static inline void wi_stream(int32_t *p, wi x)
{
    _mm512_stream_si512((void *)p, x);
}
static inline wi wi_set(int32_t x)
{
    return _mm512_set1_epi32(x);
}
static inline wi wi_add(wi a, wi b)
{
    return _mm512_add_epi32(a, b);
}
static inline int32_t wi_sum(wi x)
{
    return _mm512_reduce_add_epi32(x);
}
static inline wi wi_prefix(wi x)
{
    WI_UPS
    x = _mm512_add_epi32(x, WI_UP(x, 1));
    x = _mm512_add_epi32(x, WI_UP(x, 2));
    x = _mm512_add_epi32(x, WI_UP(x, 4));
    return _mm512_add_epi32(x, WI_UP(x, 8));
}
static inline wi wi_last(wi x)
{
    return _mm512_permutexvar_epi32(_mm512_set1_epi32(15), x);
}
static inline unsigned wf_where_above(wf x, wf limit)
{
    return _mm512_cmp_ps_mask(x, limit, _CMP_GT_OQ);
}
static inline unsigned wf_where_not_below(wf x, wf limit)
{
    return _mm512_cmp_ps_mask(x, limit, _CMP_GE_OQ);
}
static inline unsigned wf_where_not_zero(wf x)
{
    return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ);
}
/* Stores the lanes of `keep` one behind the other, and more behind them; returns their number. */
static inline int64_t wf_compress(float *to, unsigned keep, wf x)
{
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps((__mmask16)keep, x));
    return __builtin_popcount(keep);
}

#elif PIECES_AVX2
enum { W = 8 };
typedef __m256 wf;
typedef __m256i wi;

static inline wf wf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}
static inline void wf_store(float *p, wf x)
{
    _mm256_storeu_ps(p, x);
}
static inline void wf_stream(float *p, wf x)
{
    _mm256_stream_ps(p, x);
}
static inline wf wf_set(float x)
{
    return _mm256_set1_ps(x);
}
static inline wf wf_add(wf a, wf b)
{
    return _mm256_add_ps(a, b);
}
static inline wf wf_mul(wf a, wf b)
{
    return _mm256_mul_ps(a, b);
}
static inline wf wf_fma(wf a, wf b, wf c)
{
    return a * b + c;
}
static inline wf wf_div(wf a, wf b)
{
    return _mm256_div_ps(a, b);
}
static inline wf wf_max(wf a, wf b)
{
    return _mm256_max_ps(a, b);
}
static inline float wf_sum(wf x)
{
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
static inline float wf_most(wf x)
{
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
static inline wf wf_prefix(wf x)
{
    x = _mm256_add_ps(x, _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(x), 4)));
    x = _mm256_add_ps(x, _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(x), 8)));
    __m128 low = _mm256_castps256_ps128(x);
    low = _mm_shuffle_ps(low, low, 0xFF);
    return _mm256_add_ps(x, _mm256_insertf128_ps(_mm256_setzero_ps(), low, 1));
}
static inline wf wf_last(wf x)
{
    __m128 high = _mm256_extractf128_ps(x, 1);
    high = _mm_shuffle_ps(high, high, 0xFF);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(high), high, 1);
}
static inline wf wf_after(wf first, wf x)
{
    const __m256i up = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
    return _mm256_blend_ps(_mm256_permutevar8x32_ps(x, up), first, 1);
}
static inline wi wi_load(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline void wi_stream(int32_t *p, wi x)
{
    _mm256_stream_si256((__m256i *)(void *)p, x);
}
static inline wi wi_set(int32_t x)
{
    return _mm256_set1_epi32(x);
}
static inline wi wi_add(wi a, wi b)
{
    return _mm256_add_epi32(a, b);
}
static inline int32_t wi_sum(wi x)
{
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
}
static inline wi wi_prefix(wi x)
{
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
    x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
    __m128i low = _mm_shuffle_epi32(_mm256_castsi256_si128(x), 0xFF);
    return _mm256_add_epi32(x, _mm256_inserti128_si256(_mm256_setzero_si256(), low, 1));
}
static inline wi wi_last(wi x)
{
    __m128i high = _mm_shuffle_epi32(_mm256_extracti128_si256(x, 1), 0xFF);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(high), high, 1);
}
static inline unsigned wf_where_above(wf x, wf limit)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_GT_OQ));
}
static inline unsigned wf_where_not_below(wf x, wf limit)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, limit, _CMP_GE_OQ));
}
static inline unsigned wf_where_not_zero(wf x)
{
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}
extern uint64_t compress_table[256]; /* filter.c: the lanes of each mask, a byte each */
static inline int64_t wf_compress(float *to, unsigned keep, wf x)
{
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)&compress_table[keep]));
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(x, lanes));
    return __builtin_popcount(keep);
}

#else
enum { W = 1 };
typedef float wf;
typedef int32_t wi;

static inline wf wf_load(const float *p)
{
    return *p;
}
static inline void wf_store(float *p, wf x)
{
    *p = x;
}
static inline void wf_stream(float *p, wf x)
{
    *p = x;
}
static inline wf wf_set(float x)
{
    return x;
}
static inline wf wf_add(wf a, wf b)
{
    return a + b;
}
static inline wf wf_mul(wf a, wf b)
{
    return a * b;
}
static inline wf wf_fma(wf a, wf b, wf c)
{
    return a * b + c;
}
static inline wf wf_div(wf a, wf b)
{
    return a / b;
}
static inline wf wf_max(wf a, wf b)
{
    return a > b ? a : b;
}
static inline float wf_sum(wf x)
{
    return x;
}
static inline float wf_most(wf x)
{
    return x;
}
static inline wf wf_prefix(wf x)
{
    return x;
}
static inline wf wf_last(wf x)
{
    return x;
}
static inline wf wf_after(wf first, wf x)
{
    (void)x;
    return first;
}
static inline wi wi_load(const int32_t *p)
{
    return *p;
}
static inline void wi_stream(int32_t *p, wi x)
{
    *p = x;
}
static inline wi wi_set(int32_t x)
{
    return x;
}
static inline wi wi_add(wi a, wi b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}
static inline int32_t wi_sum(wi x)
{
    return x;
}
static inline wi wi_prefix(wi x)
{
    return x;
}
static inline wi wi_last(wi x)
{
    return x;
}
static inline unsigned wf_where_above(wf x, wf limit)
{
    return x > limit;
}
static inline unsigned wf_where_not_below(wf x, wf limit)
{
    return x >= limit;
}
static inline unsigned wf_where_not_zero(wf x)
{
    return x != 0;
}
static inline int64_t wf_compress(float *to, unsigned keep, wf x)
{
    *to = x;
    return keep;
}
#endif

/* Asks for the line of the vector at p. */
static inline void w_fetch(const void *p)
{
    if (W > 1)
        __builtin_prefetch(p, 0, 2);
}

static inline void w_fence(void)
{
#if PIECES_AVX2
    _mm_sfence();
#endif
}

/* How many elements stand before the first whole line at `p`, at most n. */
static inline int64_t before_line(const void *p, int64_t n)
{
    int64_t head = (int64_t)(-((uintptr_t)p / 4) % (LINE / 4));
    return head < n ? head : n;
}

/* Whole lines past the caches. */
static inline void copy_past(float *to, const float *from, int64_t n)
{
    int64_t i = before_line(to, n);
    memcpy(to, from, (size_t)i * sizeof *to);
    for (; i + LINE / 4 <= n; i += LINE / 4)
        for (int k = 0; k < LINE / 4; k += W)
            wf_stream(to + i + k, wf_load(from + i + k));
    memcpy(to + i, from + i, (size_t)(n - i) * sizeof *to);
}

#endif
