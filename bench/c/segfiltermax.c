/* Segmented FilterMax (Roldugin, LiveFusion, section 7.4): of each segment of points the one furthest to the left of
 * the segment's line, the first of equals, and how many are to the left; and these themselves, one behind the other.
 * Pieces are claimed in order, as in filter.c; what a piece knows of a segment that goes on in the next one is handed
 * on.
 *
 * Segments of two, four, eight and sixteen points that fill a vector are taken together: lines are spread over the
 * lanes, and the furthest of each segment is the lowest lane that has its greatest distance. All others go vector by
 * vector, with the best of each lane. */
#include "pieces.h"

struct line {
    float x1, y1, x2, y2;
};

struct best {
    float distance;
    int64_t place; /* among all points */
    int64_t count;
};

struct filtermax_job {
    struct filtermax of;
    struct chain chain;
    struct best open; /* of the segment that the next piece goes on with: in turn, as the chain says */
};

static struct line line_of(const struct filtermax *f, int64_t s)
{
    return (struct line){f->line[0][s], f->line[1][s], f->line[2][s], f->line[3][s]};
}

static inline struct best nothing(int64_t at)
{
    return (struct best){-999999, at, 0};
}

static inline struct best merge(struct best a, struct best b)
{
    struct best out = a.distance >= b.distance ? a : b;
    out.count = a.count + b.count;
    return out;
}

static inline void finish(const struct filtermax *f, int64_t s, struct best b)
{
    f->far[0][s] = f->x[b.place];
    f->far[1][s] = f->y[b.place];
    f->counts[s] = b.count;
}

/* The segment that point `at` is in. */
static int64_t segment_of(const struct filtermax *f, int64_t at)
{
    int64_t low = 0, high = f->segments;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (f->offsets[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    while (f->offsets[low + 1] <= at)
        low++;
    return low;
}

#if PIECES_AVX512 && defined(__AVX512CD__)

static inline __m512 distances(const struct filtermax *f, int64_t at, __mmask16 there, __m512 x1, __m512 y1, __m512 x2,
                               __m512 y2, __m512 *x, __m512 *y)
{
    *x = _mm512_maskz_loadu_ps(there, f->x + at);
    *y = _mm512_maskz_loadu_ps(there, f->y + at);
    __m512 right = _mm512_mul_ps(_mm512_sub_ps(y1, *y), _mm512_sub_ps(x2, *x));
    return _mm512_fmsub_ps(_mm512_sub_ps(x1, *x), _mm512_sub_ps(y2, *y), right);
}

/* Points [from, to) of segment s, while those `ahead` of them are fetched; those to the left go to kept[...][*n...]. */
static struct best part_of(const struct filtermax *f, int64_t s, int64_t from, int64_t to, int64_t ahead,
                           float *const kept[2], int64_t *n)
{
    const struct line l = line_of(f, s);
    __m512 x1 = _mm512_set1_ps(l.x1), y1 = _mm512_set1_ps(l.y1), x2 = _mm512_set1_ps(l.x2), y2 = _mm512_set1_ps(l.y2);
    __m512 best = _mm512_set1_ps(-999999), x, y;
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i place = lanes;
    int64_t before = *n, all = *n;
    for (int64_t at = from; at < to; at += 16) {
        __mmask16 there = to - at >= 16 ? 0xFFFF : (__mmask16)_bzhi_u32(0xFFFF, (unsigned)(to - at));
        w_fetch(f->x + at + ahead);
        w_fetch(f->y + at + ahead);
        __m512 d = distances(f, at, there, x1, y1, x2, y2, &x, &y);
        __mmask16 further = _mm512_mask_cmp_ps_mask(there, d, best, _CMP_GT_OQ);
        __mmask16 left = _mm512_mask_cmp_ps_mask(there, d, _mm512_setzero_ps(), _CMP_GT_OQ);
        best = _mm512_mask_mov_ps(best, further, d);
        place = _mm512_mask_add_epi32(place, further, _mm512_set1_epi32((int)(at - from)), lanes);
        _mm512_storeu_ps(kept[0] + all, _mm512_maskz_compress_ps(left, x));
        _mm512_storeu_ps(kept[1] + all, _mm512_maskz_compress_ps(left, y));
        all += _mm_popcnt_u32(left);
    }
    *n = all;
    float most = _mm512_reduce_max_ps(best);
    __mmask16 those = _mm512_cmp_ps_mask(best, _mm512_set1_ps(most), _CMP_EQ_OQ);
    return (struct best){most, from + _mm512_mask_reduce_min_epi32(those, place), all - before};
}

/* The greatest of a lane and the one that stands `distance` lanes further on, or back. */
static inline __m512 meet(__m512 x, int distance)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_max_ps(x, _mm512_permutexvar_ps(_mm512_xor_si512(lanes, _mm512_set1_epi32(distance)), x));
}

/* The first `some` lanes, a constant. Stores with masks take long (Zen 4). */
static inline __attribute__((always_inline)) void store_some(float *to, __m512 x, const int some)
{
    if (some == 16)
        _mm512_storeu_ps(to, x);
    else if (some == 8)
        _mm256_storeu_ps(to, _mm512_castps512_ps256(x));
    else if (some == 4)
        _mm_storeu_ps(to, _mm512_castps512_ps128(x));
    else if (some == 2)
        _mm_storel_epi64((void *)to, _mm_castps_si128(_mm512_castps512_ps128(x)));
    else
        _mm_store_ss(to, _mm512_castps512_ps128(x));
}

static inline __attribute__((always_inline)) void store_counts(int64_t *to, __m512i many, const int some)
{
    __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(many));
    if (some >= 8)
        _mm512_storeu_si512(to, low);
    else if (some == 4)
        _mm256_storeu_si256((void *)to, _mm512_castsi512_si256(low));
    else if (some == 2)
        _mm_storeu_si128((void *)to, _mm512_castsi512_si128(low));
    else
        _mm_storel_epi64((void *)to, _mm512_castsi512_si128(low));
    if (some == 16)
        _mm512_storeu_si512(to + 8, _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(many, 1)));
}

/* Sixteen points: those of 16 / length segments from s on. `length`, a power of two, is a constant wherever it is used.
 */
static inline __attribute__((always_inline)) void vector_of(const struct filtermax *f, int64_t s, int64_t at,
                                                            int64_t ahead, const int length, float *const kept[2],
                                                            int64_t *n)
{
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const int some = 16 / length, shift = __builtin_ctz((unsigned)length);
    const __mmask16 own = (__mmask16)((1u << some) - 1);
    __m512i which = _mm512_srli_epi32(lanes, (unsigned)shift);
    __m512 line[4], x, y;
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        line[k] = _mm512_permutexvar_ps(which, _mm512_maskz_loadu_ps(own, f->line[k] + s));
    w_fetch(f->x + at + ahead);
    w_fetch(f->y + at + ahead);
    __m512 d = distances(f, at, 0xFFFF, line[0], line[1], line[2], line[3], &x, &y);
    __mmask16 left = _mm512_cmp_ps_mask(d, _mm512_setzero_ps(), _CMP_GT_OQ);
    _mm512_storeu_ps(kept[0] + *n, _mm512_maskz_compress_ps(left, x));
    _mm512_storeu_ps(kept[1] + *n, _mm512_maskz_compress_ps(left, y));
    *n += _mm_popcnt_u32(left);
    __m512 most = d;
    for (int distance = 1; distance < length; distance *= 2)
        most = meet(most, distance);
    /* bits of each segment: the lowest of those that are the greatest, and how many are to the left */
    const __m512i first = _mm512_slli_epi32(lanes, (unsigned)shift),
                  whole = _mm512_set1_epi32((int)((1u << length) - 1));
    __m512i greatest = _mm512_set1_epi32((int)_mm512_cmp_ps_mask(d, most, _CMP_EQ_OQ));
    greatest = _mm512_and_si512(_mm512_srlv_epi32(greatest, first), whole);
    greatest = _mm512_and_si512(greatest, _mm512_sub_epi32(_mm512_setzero_si512(), greatest));
    __m512i within = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(greatest));
    __m512i furthest = _mm512_add_epi32(first, within);
    store_some(f->far[0] + s, _mm512_permutexvar_ps(furthest, x), some);
    store_some(f->far[1] + s, _mm512_permutexvar_ps(furthest, y), some);
    __m512i bits = _mm512_and_si512(_mm512_srlv_epi32(_mm512_set1_epi32((int)left), first), whole);
#ifdef __AVX512VPOPCNTDQ__
    store_counts(f->counts + s, _mm512_popcnt_epi32(bits), some);
#else
    int32_t mask[16];
    _mm512_storeu_si512(mask, bits);
#pragma GCC unroll 16
    for (int k = 0; k < some; k++)
        f->counts[s + k] = _mm_popcnt_u32((unsigned)mask[k]);
#endif
}

/* Are 16 / length segments from s on of this length? */
static inline int alike(const struct filtermax *f, int64_t s, int64_t length)
{
    const int64_t some = 16 / length;
    if (s + some > f->segments)
        return 0;
    const __m512i steps = _mm512_mullo_epi64(_mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8), _mm512_set1_epi64(length));
    __m512i ends = _mm512_add_epi64(_mm512_set1_epi64(f->offsets[s]), steps);
    const __mmask8 low = (__mmask8)_bzhi_u32(0xFF, (unsigned)some), high = some > 8 ? 0xFF : 0;
    __mmask8 differ = _mm512_mask_cmpneq_epi64_mask(low, _mm512_maskz_loadu_epi64(low, f->offsets + s + 1), ends);
    ends = _mm512_add_epi64(ends, _mm512_set1_epi64(8 * length));
    differ |= _mm512_mask_cmpneq_epi64_mask(high, _mm512_maskz_loadu_epi64(high, f->offsets + s + 9), ends);
    return !differ;
}

/* How many segments from s on, which begins at `at`, are taken together; they end before `end`. */
static inline int64_t together(const struct filtermax *f, int64_t s, int64_t at, int64_t end, int64_t ahead,
                               float *const kept[2], int64_t *n)
{
    int64_t length = f->offsets[s + 1] - at;
    if (length < 1 || length > 16 || length & (length - 1) || at + 16 > end || !alike(f, s, length))
        return 0;
    switch (length) {
    case 1:
        vector_of(f, s, at, ahead, 1, kept, n);
        return 16;
    case 2:
        vector_of(f, s, at, ahead, 2, kept, n);
        return 8;
    case 4:
        vector_of(f, s, at, ahead, 4, kept, n);
        return 4;
    case 8:
        vector_of(f, s, at, ahead, 8, kept, n);
        return 2;
    default:
        vector_of(f, s, at, ahead, 16, kept, n);
        return 1;
    }
}

#else

static struct best part_of(const struct filtermax *f, int64_t s, int64_t from, int64_t to, int64_t ahead,
                           float *const kept[2], int64_t *n)
{
    const struct line l = line_of(f, s);
    struct best out = nothing(from);
    (void)ahead;
    for (int64_t i = from; i < to; i++) {
        float d = (l.x1 - f->x[i]) * (l.y2 - f->y[i]) - (l.y1 - f->y[i]) * (l.x2 - f->x[i]);
        if (d > out.distance)
            out = (struct best){d, i, out.count};
        kept[0][*n] = f->x[i];
        kept[1][*n] = f->y[i];
        *n += d > 0;
        out.count += d > 0;
    }
    return out;
}

static inline int64_t together(const struct filtermax *f, int64_t s, int64_t at, int64_t end, int64_t ahead,
                               float *const kept[2], int64_t *n)
{
    (void)f, (void)s, (void)at, (void)end, (void)ahead, (void)kept, (void)n;
    return 0;
}

#endif

static void take_pieces(void *ctx, int id, int workers)
{
    struct filtermax_job *job = ctx;
    const struct filtermax *all = &job->of;
    alignas(LINE) float x[PIECE + 16], y[PIECE + 16], far[2][PIECE + 16];
    alignas(LINE) int64_t counts[PIECE + 16];
    float *const kept[2] = {x, y};
    const int64_t points = all->offsets[all->segments];
    (void)id, (void)workers;
    int64_t p = team_claim(&job->chain.next, pieces_of(points)), following;
    for (; p >= 0; p = following) {
        following = team_claim(&job->chain.next, pieces_of(points));
        const int64_t ahead = following < 0 ? 0 : (following - p) * PIECE;
        int64_t begin = p * PIECE, end = points - begin < PIECE ? points : begin + PIECE, n = 0;
        int64_t s = segment_of(all, begin), at = begin, first = s;
        /* results of the piece's own segments wait in the second cache, as the points do */
        struct filtermax piece = *all, *f = &piece;
        piece.far[0] = far[0] - s;
        piece.far[1] = far[1] - s;
        piece.counts = counts - s;
        struct best head = nothing(begin), tail = nothing(begin);
        int goes_on = f->offsets[s] < begin; /* the first segment began before */
        while (at < end) {
            int64_t several = at == f->offsets[s] ? together(f, s, at, end, ahead, kept, &n) : 0;
            if (several) {
                s += several;
                at = f->offsets[s];
                continue;
            }
            int64_t to = f->offsets[s + 1] < end ? f->offsets[s + 1] : end;
            struct best part = part_of(f, s, at, to, ahead, kept, &n);
            if (s == first && goes_on)
                head = part;
            else if (to == f->offsets[s + 1])
                finish(f, s, part);
            else
                tail = part;
            s += to == f->offsets[s + 1];
            at = to;
        }
        chain_wait(&job->chain, p);
        int64_t before = job->chain.count;
        job->chain.count = before + n;
        struct best whole = goes_on ? merge(job->open, head) : nothing(begin);
        int ends = goes_on && f->offsets[first + 1] <= end;
        job->open = goes_on && !ends ? whole : tail;
        chain_pass(&job->chain, p);
        if (ends)
            finish(all, first, whole);
        const int64_t own = s > first ? s - first - goes_on : 0; /* segments that begin and end here */
        for (int k = 0; k < 2; k++)
            copy_past(all->far[k] + first + goes_on, far[k] + goes_on, own);
        copy_past((float *)(all->counts + first + goes_on), (float *)(counts + goes_on), 2 * own);
        copy_past(f->above[0] + before, x, n);
        copy_past(f->above[1] + before, y, n);
    }
    w_fence();
}

int64_t c_segfiltermax(struct team *team, const struct filtermax *of)
{
    struct filtermax_job job = {.of = *of};
    team_run(team, take_pieces, &job);
    return job.chain.count;
}
