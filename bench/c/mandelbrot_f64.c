/* Mandelbrot escape counts in f64: as mandelbrot.c, in tiles of 8 x 5 pixels. */
#include "opponents.h"
#include "simd64.h"

#include <math.h>

enum {
    VECTORS = 5,
    TRUST = 12,  /* steps between looks where nothing escapes */
    COUNTED = 4, /* steps between looks elsewhere */
    CALM = 3,    /* looks without an escape after which steps are trusted */
};

struct job {
    int64_t height;
    int64_t width;
    struct view_f64 view;
    int32_t limit;
    int32_t *count;
    atomic_int_fast64_t next;
};

#if BENCH_AVX512

/* The state of a tile's orbits. Everything below is inlined and unrolled into registers. */
struct orbits {
    vf64 zr[VECTORS];
    vf64 zi[VECTORS];
};

struct plane {
    vf64 cr;
    vf64 ci[VECTORS];
};

struct counts {
    __m256i steps[VECTORS];
    __mmask8 alive[VECTORS];
};

#define INLINE static inline __attribute__((always_inline))

INLINE void step(struct orbits *z, const struct plane *c, int v, vf64 squared)
{
    vf64 zr = z->zr[v];
    z->zi[v] = w_fma(w_add(zr, zr), z->zi[v], c->ci[v]);
    z->zr[v] = w_fma(zr, zr, _mm512_sub_pd(c->cr, squared));
}

INLINE unsigned alive_lanes(const struct counts *n)
{
    unsigned alive = 0;
    for (int v = 0; v < VECTORS; v++)
        alive += (unsigned)__builtin_popcount(n->alive[v]);
    return alive;
}

INLINE void add_steps(struct counts *n, int steps)
{
    for (int v = 0; v < VECTORS; v++)
        n->steps[v] = _mm256_mask_add_epi32(n->steps[v], n->alive[v], n->steps[v], _mm256_set1_epi32(steps));
}

/* Takes and counts `steps` steps. */
INLINE void counted_steps(struct orbits *z, const struct plane *c, struct counts *n, int steps)
{
    const __m256i one = _mm256_set1_epi32(1);
    for (int i = 0; i < steps; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) {
            vf64 squared = _mm512_mul_pd(z->zi[v], z->zi[v]);
            vf64 norm = w_fma(z->zr[v], z->zr[v], squared);
            n->alive[v] = _mm512_mask_cmp_pd_mask(n->alive[v], norm, w_set(4.0), _CMP_LT_OQ);
            n->steps[v] = _mm256_mask_add_epi32(n->steps[v], n->alive[v], n->steps[v], one);
            step(z, c, v, squared);
        }
    }
}

/* Takes TRUST steps and returns whether an orbit that was inside stands outside afterwards. */
INLINE int trusted_steps(struct orbits *z, const struct plane *c, const struct counts *n)
{
#pragma GCC unroll 4
    for (int i = 0; i < TRUST; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++)
            step(z, c, v, _mm512_mul_pd(z->zi[v], z->zi[v]));
    }
    __mmask8 outside = 0;
    for (int v = 0; v < VECTORS; v++) {
        vf64 norm = w_fma(z->zr[v], z->zr[v], _mm512_mul_pd(z->zi[v], z->zi[v]));
        outside |= _mm512_mask_cmp_pd_mask(n->alive[v], norm, w_set(4.0), _CMP_NLT_UQ);
    }
    return outside != 0;
}

/* Rows and columns outside the picture are computed in vain. */
static void count_tile(const struct job *job, int64_t row, int64_t column)
{
    const vf64 lane = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);
    const vf64 scale = w_set(job->view.step);
    struct orbits z;
    struct plane c;
    struct counts n;
    c.cr = w_fma(w_add(w_set((double)column), lane), scale, w_set(job->view.left));
    for (int v = 0; v < VECTORS; v++) {
        z.zr[v] = w_set(0);
        z.zi[v] = w_set(0);
        c.ci[v] = w_fma(w_set((double)(row + v)), scale, w_set(job->view.top));
        n.steps[v] = _mm256_setzero_si256();
        n.alive[v] = 0xFF;
    }
    counted_steps(&z, &c, &n, job->limit % COUNTED);
    int left = job->limit - job->limit % COUNTED;
    while (left > 0) {
        unsigned alive = alive_lanes(&n);
        for (int calm = 0; left > 0 && alive > 0 && calm < CALM; left -= COUNTED) {
            unsigned before = alive;
            counted_steps(&z, &c, &n, COUNTED);
            alive = alive_lanes(&n);
            calm = alive == before ? calm + 1 : 0;
        }
        if (alive == 0)
            break;
        int trusted = 0;
        for (; left - trusted >= TRUST; trusted += TRUST) {
            struct orbits ahead = z;
            if (trusted_steps(&ahead, &c, &n))
                break;
            z = ahead;
        }
        add_steps(&n, trusted);
        left -= trusted;
    }
    int64_t columns = job->width - column;
    __mmask8 inside = (__mmask8)(columns < WIDE_LANES ? (1U << columns) - 1 : 0xFFU);
    for (int v = 0; v < VECTORS && row + v < job->height; v++)
        _mm256_mask_storeu_epi32(job->count + (row + v) * job->width + column, inside, n.steps[v]);
}

static void count_rows(const struct job *job, int64_t first, int64_t last)
{
    (void)last;
    for (int64_t column = 0; column < job->width; column += WIDE_LANES)
        count_tile(job, first, column);
}

#else

/* The order of operations is the vectors': one rounding in each of the products' sums. */
static int32_t scalar_count(const struct job *job, int64_t row, int64_t column)
{
    double cr = fma((double)column, job->view.step, job->view.left);
    double ci = fma((double)row, job->view.step, job->view.top);
    double zr = 0;
    double zi = 0;
    int32_t steps = 0;
    for (; steps < job->limit; steps++) {
        double squared = zi * zi;
        if (!(fma(zr, zr, squared) < 4.0))
            break;
        zi = fma(zr + zr, zi, ci);
        zr = fma(zr, zr, cr - squared);
    }
    return steps;
}

static void count_rows(const struct job *job, int64_t first, int64_t last)
{
    for (int64_t row = first; row < last; row++)
        for (int64_t column = 0; column < job->width; column++)
            job->count[row * job->width + column] = scalar_count(job, row, column);
}

#endif

static void strips(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct job *job = ctx;
    int64_t strip;
    while ((strip = team_claim(&job->next, (job->height + VECTORS - 1) / VECTORS)) >= 0) {
        int64_t first = strip * VECTORS;
        count_rows(job, first, first + VECTORS < job->height ? first + VECTORS : job->height);
    }
}

void c_mandelbrot_f64(struct team *team, int64_t height, int64_t width, struct view_f64 view, int32_t limit,
                      int32_t *count)
{
    struct job job = {height, width, view, limit, count, 0};
    team_run(team, strips, &job);
}
