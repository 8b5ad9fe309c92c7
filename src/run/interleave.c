/* Arrays of structs taken apart and put together, by blocks that fit the first cache, on several threads.
 *
 * With byte permutations (AVX-512 VBMI) every vector that is written is put together from the few vectors its bytes
 * come from, each brought into place by one masked permutation. Which bytes go where repeats after as many structs as
 * fill whole vectors; the patterns are worked out once a call, whatever the fields are. Elsewhere, and for what is left
 * over at the ends, elements are copied one by one. */
#include "run/interleave.h"

#include "device/pool.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define VECTORS __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#endif

enum {
    BLOCK = 512,     /* structs copied at once, so that all their fields stay in the first cache */
    CHUNK = 1 << 16, /* bytes of structs a thread takes at a time */
    WORTH_A_WAKE_UP = 1 << 18,
    VECTOR = 64,
    MOST_APART = 8,    /* patterns of a field */
    MOST_TOGETHER = 8, /* fields, for each of which a vector takes a permutation */
    MOST_PATTERNS = 96 /* together they stay in the first cache */
};

/* --- element by element --- */

static inline void copy(char *to, size_t to_step, const char *from, size_t from_step, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, size);
}

/* The size is a constant in each copy of the loop. */
static void copy_field(char *to, size_t to_step, const char *from, size_t from_step, size_t n, size_t size)
{
    if (size == 1)
        copy(to, to_step, from, from_step, n, 1);
    else if (size == 2)
        copy(to, to_step, from, from_step, n, 2);
    else if (size == 4)
        copy(to, to_step, from, from_step, n, 4);
    else
        copy(to, to_step, from, from_step, n, 8);
}

static void copy_structs(const interleave *x, unsigned field, size_t first, size_t last)
{
    const interleave_field *f = &x->field[field];
    char *part = f->part + first * f->size, *whole = x->whole + first * x->bytes + f->offset;
    if (x->together)
        copy_field(whole, x->bytes, part, f->size, last - first, f->size);
    else
        copy_field(part, f->size, whole, x->bytes, last - first, f->size);
}

static void copy_block(const interleave *x, size_t first, size_t last)
{
    for (unsigned k = 0; k < x->fields; k++)
        copy_structs(x, k, first, last);
}

void interleave_plainly(const interleave *x)
{
    for (size_t first = 0; first < x->n; first += BLOCK)
        copy_block(x, first, x->n - first < BLOCK ? x->n : first + BLOCK);
}

/* --- by permutations --- */

typedef struct pattern { /* where the bytes of a vector come from, of one of those it is made of */
    uint8_t index[VECTOR];
    uint64_t mask;
    size_t element; /* together: of the part, counted from the group's first, where the vector begins */
} pattern;

typedef struct work {
    const interleave *x;
    bool vectors, stream;
    size_t lead;                   /* structs before the first group that is to be aligned */
    size_t group;                  /* structs after which patterns repeat */
    size_t chunk;                  /* structs, whole groups */
    size_t reach;                  /* together: elements of a part that are read for a group, or behind it */
    unsigned period;               /* together: vectors a group */
    unsigned count[MOST_PATTERNS]; /* apart: patterns of each field, 0: it is copied */
    pattern pattern[MOST_PATTERNS];
} work;

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Vectors of a field: byte b of its element e stands at e * bytes + b, counted from its first byte. */
static unsigned patterns_apart(const interleave *x, const interleave_field *f, pattern *out, unsigned room)
{
    size_t span = (VECTOR / f->size - 1) * x->bytes + f->size;
    size_t n = (span + VECTOR - 1) / VECTOR;
    if (n < 2 || n > room || n > MOST_APART ||
        n * f->size > VECTOR / 2) /* about half the elements: copying is as fast */
        return 0;
    memset(out, 0, n * sizeof(*out));
    for (size_t k = 0; k < VECTOR; k++) {
        size_t at = k / f->size * x->bytes + k % f->size;
        out[at / VECTOR].index[k] = (uint8_t)(at % VECTOR);
        out[at / VECTOR].mask |= UINT64_C(1) << k;
    }
    return (unsigned)n;
}

static bool plan_apart(work *w)
{
    const interleave *x = w->x;
    unsigned used = 0;
    if (x->fields > MOST_PATTERNS)
        return false;
    for (unsigned k = 0; k < x->fields; k++) {
        w->count[k] = patterns_apart(x, &x->field[k], w->pattern + used, MOST_PATTERNS - used);
        used += w->count[k];
    }
    w->group = VECTOR;
    for (unsigned k = 0; k < x->fields; k++)
        w->stream &= (uintptr_t)x->field[k].part % VECTOR == 0;
    return used > 0;
}

/* The bytes of one vector of structs that come from a field; false if they are further apart than a vector. */
static bool pattern_together(const interleave *x, const interleave_field *f, size_t vector, pattern *out)
{
    *out = (pattern){.element = SIZE_MAX};
    for (size_t k = 0; k < VECTOR; k++) {
        size_t at = vector * VECTOR + k, element = at / x->bytes, byte = at % x->bytes;
        if (byte < f->offset || byte >= f->offset + f->size)
            continue;
        out->element = out->element == SIZE_MAX ? element : out->element;
        size_t index = (element - out->element) * f->size + byte - f->offset;
        if (index >= VECTOR)
            return false;
        out->index[k] = (uint8_t)index;
        out->mask |= UINT64_C(1) << k;
    }
    out->element = out->mask ? out->element : 0;
    return true;
}

static bool plan_together(work *w)
{
    const interleave *x = w->x;
    size_t common = common_divisor(x->bytes, VECTOR), vectors = x->bytes / common;
    if (vectors * x->fields > MOST_PATTERNS || x->fields < 2 || x->fields > MOST_TOGETHER)
        return false;
    w->period = (unsigned)vectors;
    w->group = VECTOR / common;
    for (unsigned v = 0; v < w->period; v++)
        for (unsigned k = 0; k < x->fields; k++)
            if (!pattern_together(x, &x->field[k], v, &w->pattern[v * x->fields + k]))
                return false;
    while (w->lead < w->group && (uintptr_t)(x->whole + w->lead * x->bytes) % VECTOR)
        w->lead++;
    w->stream &= w->lead < w->group;
    w->lead = w->lead < w->group ? w->lead : 0;
    for (unsigned v = 0; v < w->period; v++) { /* bytes of no field are not written */
        uint64_t all = 0;
        for (unsigned k = 0; k < x->fields; k++) {
            const pattern *p = &w->pattern[v * x->fields + k];
            size_t end = p->element + VECTOR / x->field[k].size;
            w->reach = end > w->reach ? end : w->reach;
            all |= p->mask;
        }
        w->stream &= all == UINT64_MAX;
    }
    return true;
}

#if defined(VECTORS)
/* `n` is a constant in each copy of the loop, so that the patterns stay in registers. */
VECTORS static inline __attribute__((always_inline)) size_t gather(const char *from, char *to, size_t bytes,
                                                                   size_t element, size_t first, size_t end,
                                                                   const pattern *p, unsigned n, bool stream)
{
    __m512i index[MOST_APART];
    __mmask64 mask[MOST_APART];
#pragma GCC unroll 8
    for (unsigned k = 0; k < n; k++) {
        index[k] = _mm512_loadu_si512(p[k].index);
        mask[k] = p[k].mask;
    }
    size_t step = VECTOR / element;
    from += first * bytes;
    to += first * element;
    for (; first < end; first += step, from += step * bytes, to += VECTOR) {
        __m512i v = _mm512_maskz_permutexvar_epi8(mask[0], index[0], _mm512_loadu_si512(from));
#pragma GCC unroll 8
        for (unsigned k = 1; k < n; k++)
            v = _mm512_mask_permutexvar_epi8(v, mask[k], index[k], _mm512_loadu_si512(from + k * (size_t)VECTOR));
        if (stream)
            _mm512_stream_si512((void *)to, v);
        else
            _mm512_storeu_si512(to, v);
    }
    return first;
}

/* Returns where it ended: what comes then would be read beyond the structs. */
VECTORS static size_t apart(const work *w, unsigned field, const pattern *p, size_t first, size_t last)
{
    const interleave *x = w->x;
    const interleave_field *f = &x->field[field];
    unsigned n = w->count[field];
    size_t step = VECTOR / f->size, reach = f->offset + n * (size_t)VECTOR, total = x->n * x->bytes;
    size_t end = last < step ? 0 : last - step + 1, safe = total < reach ? 0 : (total - reach) / x->bytes + 1;
    end = end < safe ? end : safe; /* groups begin before it */
    const char *from = x->whole + f->offset;
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        return gather(from, f->part, x->bytes, f->size, first, end, p, count, w->stream)
    switch (n) {
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
    }
#undef CASE
    return first;
}

/* One vector of each of `groups` groups of structs, the first at `to`. `n` is a constant in each copy of the loop. */
VECTORS static inline __attribute__((always_inline)) void put(const work *w, const pattern *p, size_t first, char *to,
                                                              size_t groups, unsigned n)
{
    const interleave *x = w->x;
    __m512i index[MOST_TOGETHER];
    __mmask64 mask[MOST_TOGETHER], all = 0;
    const char *from[MOST_TOGETHER];
    size_t step[MOST_TOGETHER], bytes = w->period * (size_t)VECTOR;
#pragma GCC unroll 8
    for (unsigned k = 0; k < n; k++) {
        index[k] = _mm512_loadu_si512(p[k].index);
        mask[k] = p[k].mask;
        all |= p[k].mask;
        from[k] = x->field[k].part + (first + p[k].element) * x->field[k].size;
        step[k] = w->group * x->field[k].size;
    }
    for (size_t g = 0; g < groups; g++, to += bytes) {
        __m512i v = _mm512_maskz_permutexvar_epi8(mask[0], index[0], _mm512_loadu_si512(from[0] + g * step[0]));
#pragma GCC unroll 8
        for (unsigned k = 1; k < n; k++)
            v = _mm512_mask_permutexvar_epi8(v, mask[k], index[k], _mm512_loadu_si512(from[k] + g * step[k]));
        if (w->stream)
            _mm512_stream_si512((void *)to, v);
        else if (all == UINT64_MAX)
            _mm512_storeu_si512(to, v);
        else
            _mm512_mask_storeu_epi8(to, all, v);
    }
}

/* Returns where it ended. */
VECTORS static size_t together(const work *w, size_t first, size_t last)
{
    const interleave *x = w->x;
    size_t reach = w->reach > w->group ? w->reach : w->group;
    last = last < x->n ? last : x->n;
    size_t safe = x->n < reach ? 0 : x->n - reach + w->group; /* groups end before it */
    last = last < safe ? last : safe;
    size_t groups = last < first + w->group ? 0 : (last - first) / w->group;
    char *to = x->whole + first * x->bytes;
    for (unsigned v = 0; v < w->period && groups; v++, to += VECTOR) {
        const pattern *p = &w->pattern[v * x->fields];
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        put(w, p, first, to, groups, count);                                                                           \
        break
        switch (x->fields) {
            CASE(2);
            CASE(3);
            CASE(4);
            CASE(5);
            CASE(6);
            CASE(7);
            CASE(8);
        }
#undef CASE
    }
    return first + groups * w->group;
}

static bool has_vectors(void)
{
    return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
}

/* Parts are read again before the processor would write them by itself. */
static void settle(void)
{
    _mm_sfence();
}
#else
static size_t apart(const work *w, unsigned field, const pattern *p, size_t first, size_t last)
{
    (void)w, (void)field, (void)p, (void)last;
    return first;
}

static size_t together(const work *w, size_t first, size_t last)
{
    (void)w, (void)last;
    return first;
}

static bool has_vectors(void)
{
    return false;
}

static void settle(void)
{
}
#endif

static void block(const work *w, size_t first, size_t last)
{
    const interleave *x = w->x;
    if (x->together) {
        copy_block(x, together(w, first, last), last);
        return;
    }
    const pattern *p = w->pattern;
    for (unsigned k = 0; k < x->fields; k++) {
        copy_structs(x, k, w->count[k] ? apart(w, k, p, first, last) : first, last);
        p += w->count[k];
    }
}

static void chunks(void *env, unsigned worker, int64_t first, int64_t last)
{
    const work *w = env;
    const interleave *x = w->x;
    (void)worker;
    size_t at = w->lead + (size_t)first * w->chunk, end = w->lead + (size_t)last * w->chunk;
    end = end < x->n ? end : x->n;
    for (; at < end; at += BLOCK) {
        size_t to = end - at < BLOCK ? end : at + BLOCK;
        if (w->vectors)
            block(w, at, to);
        else
            copy_block(x, at, to);
    }
    if (w->stream)
        settle();
}

static void plan(work *w)
{
    w->group = VECTOR;
    w->stream = w->x->stream;
    w->vectors = has_vectors() && (w->x->together ? plan_together(w) : plan_apart(w));
    if (!w->vectors)
        w->lead = 0;
    w->stream &= w->vectors;
    size_t blocks = CHUNK / BLOCK / w->x->bytes;
    w->chunk = BLOCK * (blocks ? blocks : 1);
}

void interleave_run(const interleave *x)
{
    work w = {.x = x};
    if (!x->n || !x->bytes)
        return;
    plan(&w);
    copy_block(x, 0, w.lead < x->n ? w.lead : x->n);
    if (w.lead >= x->n)
        return;
    int64_t count = (int64_t)((x->n - w.lead + w.chunk - 1) / w.chunk);
    pool *p = x->threads > 1 && x->n * x->bytes >= WORTH_A_WAKE_UP ? pool_acquire() : NULL;
    if (p) {
        pool_run(p, x->threads, 0, count, 1, chunks, &w);
        pool_release(p);
    } else {
        chunks(&w, 0, 0, count);
    }
}
