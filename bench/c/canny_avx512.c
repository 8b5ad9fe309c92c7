/* The Canny opponent in AVX-512. All stages are fused in one sweep along a row, sixteen pixels at a time: while row y
 * of the picture is read, row y - 2 is blurred, row y - 3 gets its gradient and row y - 4 its edges. Neighbours in a
 * row are shifted in from the vectors before and behind, neighbours above come from line buffers. The picture is cut
 * into strips whose line buffers stay in the cache and bands of rows, which the workers take from a common counter. */
#include "canny.h"
#include "simd.h"

#include <stdlib.h>

#if BENCH_AVX512

enum {
    LEAST_WIDTH = LANES,
    STRIP = 4096, /* columns; twice its lines stay in the second-level cache */
    LEAST_BAND = 64,
    MOST_BAND = 512,
    MOST_VECTORS = 2 * STRIP / LANES,  /* the last strip takes what is left over */
    LINE = (MOST_VECTORS + 2) * LANES, /* one vector more on each side */
};

/* How the last rows of the picture differ: a stage whose new row would lie below the picture takes its last row again.
 */
enum phase { ALL_NEW, ACROSS_OLD, BLUR_OLD, MAGNITUDE_OLD };

/* Directions of sixteen pixels. Where several are set, the first one counts; where none is, the direction is RISING.
 */
struct classes {
    __mmask16 across;
    __mmask16 down;
    __mmask16 falling;
    __mmask16 steep; /* not FLAT */
};

struct buffers {
    _Alignas(64) float across[5][LINE];
    float blurred[3][LINE];
    float magnitude[3][LINE];
    float nowhere[LINE]; /* takes the edges of rows outside the band */
    struct classes classes[2][MOST_VECTORS + 2];
};

struct strip {
    int64_t vectors; /* the last may be partial at the right edge */
    int at_left;     /* whether the strip ends at the picture's edge */
    int at_right;
    int streams;       /* edges may be written past the cache */
    __mmask16 inside;  /* lanes of the last vector that are in the picture */
    __m512i clamped;   /* its lanes, those outside replaced by the last one inside */
    __m512i last_lane; /* that one, everywhere */
    vf32 low;
    vf32 high;
};

/* Pointers of one step down a strip; vector j of a line is at j * LANES. */
struct row {
    const uint8_t *red;
    const uint8_t *green;
    const uint8_t *blue;
    const float *across[4]; /* rows y - 4 to y - 1 */
    float *across_new;
    const float *blurred_above;
    const float *blurred_here;
    float *blurred_new;
    const float *magnitude_above;
    const float *magnitude_here;
    float *magnitude_new;
    struct classes *classes;
    struct classes *classes_new;
    float *edges;
};

/* Values of neighbouring vectors in flight: [0] before, [1] here, [2] behind. The outermost ones are clamped where the
 * picture ends. */
struct window {
    vf32 grey[3];
    vf32 across; /* of the vector to be blurred down next */
    vf32 smooth[3];
    vf32 slope[3];
    vf32 magnitude[3];
};

#define INLINE static inline __attribute__((always_inline))

/* The vector that starts `by` lanes behind the start of b, in (a, b, c). */
#define SHIFTED(a, b, c, by)                                                                                           \
    ((by) < 0 ? _mm512_castsi512_ps(                                                                                   \
                    _mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), (by) < 0 ? LANES + (by) : 0))  \
              : _mm512_castsi512_ps(                                                                                   \
                    _mm512_alignr_epi32(_mm512_castps_si512(c), _mm512_castps_si512(b), (by) < 0 ? 0 : (by))))

INLINE vf32 first_lane(vf32 v)
{
    return _mm512_broadcastss_ps(_mm512_castps512_ps128(v));
}

INLINE void push(vf32 window[3], vf32 v)
{
    window[0] = window[1];
    window[1] = window[2];
    window[2] = v;
}

INLINE vf32 wide(const uint8_t *p, __mmask16 inside)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(inside, p)));
}

INLINE vf32 grey_of(const struct row *row, int64_t j, __mmask16 inside)
{
    int64_t x = j * LANES;
    vf32 grey = _mm512_mul_ps(wide(row->red + x, inside), v_set(GREY_RED));
    grey = v_fma(wide(row->green + x, inside), v_set(GREY_GREEN), grey);
    return v_fma(wide(row->blue + x, inside), v_set(GREY_BLUE), grey);
}

/* (a + e) + 4 (b + d) + 6 c */
INLINE vf32 binomial(vf32 a, vf32 b, vf32 c, vf32 d, vf32 e)
{
    return v_fma(v_set(4.0F), v_add(b, d), v_fma(v_set(6.0F), c, v_add(a, e)));
}

/* Blurs vector j along the row; its grey values are w->grey[1]. */
INLINE void blur_across(const struct row *row, struct window *w, int64_t j, enum phase phase)
{
    if (phase >= BLUR_OLD)
        return;
    if (phase >= ACROSS_OLD) {
        w->across = v_load(row->across_new + j * LANES);
        return;
    }
    const vf32 *g = w->grey;
    w->across = binomial(SHIFTED(g[0], g[1], g[2], -2), SHIFTED(g[0], g[1], g[2], -1), g[1],
                         SHIFTED(g[0], g[1], g[2], 1), SHIFTED(g[0], g[1], g[2], 2));
    _mm512_store_ps(row->across_new + j * LANES, w->across);
}

/* Blurs vector j down the column, from w->across and the lines above, and takes it into the window of columns. */
INLINE void blur_down(const struct row *row, struct window *w, int64_t j, enum phase phase)
{
    int64_t x = j * LANES;
    vf32 blurred;
    if (phase >= BLUR_OLD) {
        blurred = v_load(row->blurred_new + x);
    } else {
        blurred = binomial(v_load(row->across[0] + x), v_load(row->across[1] + x), v_load(row->across[2] + x),
                           v_load(row->across[3] + x), w->across);
        _mm512_store_ps(row->blurred_new + x, blurred);
    }
    vf32 above = v_load(row->blurred_above + x);
    push(w->smooth, v_fma(v_set(2.0F), v_load(row->blurred_here + x), v_add(above, blurred)));
    push(w->slope, _mm512_sub_ps(above, blurred));
}

INLINE void classify(struct classes *c, vf32 dx, vf32 dy, vf32 low)
{
    vf32 ax = _mm512_abs_ps(dx);
    vf32 ay = _mm512_abs_ps(dy);
    const vf32 tangent = v_set(TAN_PI_8);
    _store_mask16(&c->across, _mm512_cmp_ps_mask(ay, _mm512_mul_ps(tangent, ax), _CMP_LT_OQ));
    _store_mask16(&c->down, _mm512_cmp_ps_mask(ax, _mm512_mul_ps(tangent, ay), _CMP_LE_OQ));
    _store_mask16(&c->falling, _mm512_movepi32_mask(_mm512_castps_si512(_mm512_xor_ps(dx, dy))));
    _store_mask16(&c->steep, _mm512_cmp_ps_mask(_mm512_max_ps(ax, ay), low, _CMP_GT_OQ));
}

/* Gradient of vector j, which is the middle one of the window of columns. */
INLINE void gradient(const struct row *row, struct window *w, int64_t j, vf32 low, enum phase phase)
{
    if (phase >= MAGNITUDE_OLD) {
        push(w->magnitude, v_load(row->magnitude_new + j * LANES));
        return;
    }
    const vf32 *s = w->smooth;
    const vf32 *d = w->slope;
    vf32 dx = _mm512_sub_ps(SHIFTED(s[0], s[1], s[2], 1), SHIFTED(s[0], s[1], s[2], -1));
    vf32 dy = v_fma(v_set(2.0F), d[1], v_add(SHIFTED(d[0], d[1], d[2], -1), SHIFTED(d[0], d[1], d[2], 1)));
    push(w->magnitude, _mm512_sqrt_ps(v_fma(dx, dx, _mm512_mul_ps(dy, dy))));
    _mm512_store_ps(row->magnitude_new + j * LANES, w->magnitude[2]);
    classify(&row->classes_new[j], dx, dy, low);
}

/* Edges of vector j; the window of magnitudes belongs to the row below. */
INLINE void edges(const struct strip *strip, const struct row *row, const struct window *w, int64_t j)
{
    const float *above = row->magnitude_above + j * LANES;
    const float *middle = row->magnitude_here + j * LANES;
    const vf32 *below = w->magnitude;
    struct classes *c = &row->classes[j];
    vf32 here = v_load(middle);
    vf32 most = _mm512_max_ps(v_load(above + 1), SHIFTED(below[0], below[1], below[2], -1));
    most = _mm512_mask_max_ps(most, _load_mask16(&c->falling), v_load(above - 1),
                              SHIFTED(below[0], below[1], below[2], 1));
    most = _mm512_mask_max_ps(most, _load_mask16(&c->down), v_load(above), below[1]);
    most = _mm512_mask_max_ps(most, _load_mask16(&c->across), v_load(middle - 1), v_load(middle + 1));
    __mmask16 edge = _mm512_mask_cmp_ps_mask(_load_mask16(&c->steep), here, most, _CMP_GE_OQ);
    __mmask16 strong = _mm512_mask_cmp_ps_mask(edge, here, strip->high, _CMP_GE_OQ);
    vf32 value = _mm512_mask_mov_ps(_mm512_maskz_mov_ps(edge, v_set(0.5F)), strong, v_set(1.0F));
    float *at = row->edges + j * LANES;
    if (strip->streams)
        v_stream(at, value);
    else
        _mm512_mask_storeu_ps(at, j + 1 == strip->vectors ? strip->inside : 0xFFFF, value);
}

/* Step j of all stages. They stand in reverse order and work on different vectors, so that each takes what others left
 * in the step before: the chain of dependent operations in a step is as short as one stage. */
INLINE void advance(const struct strip *strip, const struct row *row, struct window *w, int64_t j, enum phase phase)
{
    edges(strip, row, w, j - 4);
    gradient(row, w, j - 2, strip->low, phase);
    blur_down(row, w, j, phase);
    blur_across(row, w, j + 1, phase);
    push(w->grey, grey_of(row, j + 3, 0xFFFF));
}

/* Grey values of vector j, which may be beyond the strip. */
INLINE vf32 grey_near_end(const struct strip *strip, const struct row *row, const struct window *w, int64_t j)
{
    if (j < 0 && strip->at_left)
        return first_lane(grey_of(row, 0, 0xFFFF));
    if (j == strip->vectors - 1)
        return _mm512_permutexvar_ps(strip->clamped, grey_of(row, j, strip->inside));
    if (j < strip->vectors || (j == strip->vectors && !strip->at_right))
        return grey_of(row, j, 0xFFFF);
    return _mm512_permutexvar_ps(strip->last_lane, w->grey[2]);
}

/* Every stage clamps its own input, so the columns and the magnitudes beyond the picture are replaced too. */
INLINE void clamp_columns(const struct strip *strip, struct window *w, int64_t j)
{
    if (j == 0 && strip->at_left) {
        w->smooth[1] = first_lane(w->smooth[2]);
        w->slope[1] = first_lane(w->slope[2]);
    }
    if (j == strip->vectors - 1) {
        w->smooth[2] = _mm512_permutexvar_ps(strip->clamped, w->smooth[2]);
        w->slope[2] = _mm512_permutexvar_ps(strip->clamped, w->slope[2]);
    }
    if (j == strip->vectors && strip->at_right) {
        w->smooth[2] = _mm512_permutexvar_ps(strip->last_lane, w->smooth[1]);
        w->slope[2] = _mm512_permutexvar_ps(strip->last_lane, w->slope[1]);
    }
}

INLINE void clamp_magnitudes(const struct strip *strip, const struct row *row, struct window *w, int64_t j)
{
    if (j == 0 && strip->at_left) {
        w->magnitude[1] = first_lane(w->magnitude[2]);
        _mm512_store_ps(row->magnitude_new - LANES, w->magnitude[1]);
    }
    if (j == strip->vectors - 1) {
        w->magnitude[2] = _mm512_permutexvar_ps(strip->clamped, w->magnitude[2]);
        _mm512_store_ps(row->magnitude_new + j * LANES, w->magnitude[2]);
    }
    if (j == strip->vectors && strip->at_right) {
        w->magnitude[2] = _mm512_permutexvar_ps(strip->last_lane, w->magnitude[1]);
        _mm512_store_ps(row->magnitude_new + j * LANES, w->magnitude[2]);
    }
}

/* `advance` where the strip begins and ends. */
INLINE void advance_near_end(const struct strip *strip, const struct row *row, struct window *w, int64_t j,
                             enum phase phase)
{
    int64_t vectors = strip->vectors;
    if (j - 4 >= 0)
        edges(strip, row, w, j - 4);
    if (j - 2 >= -1 && j - 2 <= vectors) {
        gradient(row, w, j - 2, strip->low, phase);
        clamp_magnitudes(strip, row, w, j - 2);
    }
    if (j >= -1 && j <= vectors) {
        blur_down(row, w, j, phase);
        clamp_columns(strip, w, j);
    } else {
        push(w->smooth, w->smooth[2]);
        push(w->slope, w->slope[2]);
    }
    if (j + 1 >= -1 && j + 1 <= vectors)
        blur_across(row, w, j + 1, phase);
    push(w->grey, grey_near_end(strip, row, w, j + 3));
}

/* One step down the strip. */
INLINE void sweep(const struct strip *strip, const struct row *row, enum phase phase)
{
    struct window w = {0};
    int64_t j = -4;
    for (; j < 4; j++)
        advance_near_end(strip, row, &w, j, phase);
    for (; j < strip->vectors - 4; j++)
        advance(strip, row, &w, j, phase);
    for (; j < strip->vectors + 4; j++)
        advance_near_end(strip, row, &w, j, phase);
}

/* One function for each phase, so that each is compiled without the others' branches. */
static void sweep_new(const struct strip *strip, const struct row *row)
{
    sweep(strip, row, ALL_NEW);
}

static void sweep_below(const struct strip *strip, const struct row *row, enum phase phase)
{
    if (phase == ACROSS_OLD)
        sweep(strip, row, ACROSS_OLD);
    else if (phase == BLUR_OLD)
        sweep(strip, row, BLUR_OLD);
    else
        sweep(strip, row, MAGNITUDE_OLD);
}

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static struct row row_at(const struct canny *job, struct buffers *b, int64_t left, int64_t y)
{
    int64_t height = job->height;
    int64_t in = clamp(y, height) * job->width + left;
    struct row row = {
        .red = job->red + in,
        .green = job->green + in,
        .blue = job->blue + in,
        .across_new = b->across[clamp(y, height) % 5] + LANES,
        .blurred_above = b->blurred[clamp(y - 4, height) % 3] + LANES,
        .blurred_here = b->blurred[clamp(y - 3, height) % 3] + LANES,
        .blurred_new = b->blurred[clamp(y - 2, height) % 3] + LANES,
        .magnitude_above = b->magnitude[clamp(y - 5, height) % 3] + LANES,
        .magnitude_here = b->magnitude[clamp(y - 4, height) % 3] + LANES,
        .magnitude_new = b->magnitude[clamp(y - 3, height) % 3] + LANES,
        .classes = b->classes[clamp(y - 4, height) % 2] + 1,
        .classes_new = b->classes[clamp(y - 3, height) % 2] + 1,
    };
    for (int i = 0; i < 4; i++)
        row.across[i] = b->across[clamp(y - 4 + i, height) % 5] + LANES;
    return row;
}

static struct strip strip_at(const struct canny *job, int64_t left, int64_t right)
{
    int64_t vectors = (right - left + LANES - 1) / LANES;
    int last = (int)(right - left - (vectors - 1) * LANES - 1);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return (struct strip){
        .vectors = vectors,
        .at_left = left == 0,
        .at_right = right == job->width,
        .streams = (uintptr_t)job->edges % VECTOR_BYTES == 0 && job->width % LANES == 0,
        .inside = (__mmask16)(0xFFFFU >> (LANES - 1 - last)),
        .clamped = _mm512_min_epi32(lanes, _mm512_set1_epi32(last)),
        .last_lane = _mm512_set1_epi32(last),
        .low = v_set(job->low),
        .high = v_set(job->high),
    };
}

/* Rows first to last - 1 of one strip. The rows before them are taken for what they leave in the buffers. */
static void tile(const struct canny *job, struct buffers *buffers, int64_t left, int64_t right, int64_t first,
                 int64_t last)
{
    struct strip strip = strip_at(job, left, right);
    for (int64_t y = clamp(first - 4, job->height); y < last + 4; y++) {
        struct row row = row_at(job, buffers, left, y);
        row.edges = y - 4 < first ? buffers->nowhere : job->edges + (y - 4) * job->width + left;
        if (y < job->height)
            sweep_new(&strip, &row);
        else
            sweep_below(&strip, &row,
                        y - job->height < 2   ? ACROSS_OLD
                        : y - job->height < 3 ? BLUR_OLD
                                              : MAGNITUDE_OLD);
    }
}

int canny_has_avx512(const struct canny *job)
{
    return job->width >= LEAST_WIDTH;
}

/* Rows of a task: some tasks for each worker, but not so many that the rows before them weigh. */
static int64_t band_rows(int64_t height, int workers)
{
    int64_t rows = height / (4 * workers);
    return rows < LEAST_BAND ? LEAST_BAND : rows > MOST_BAND ? MOST_BAND : rows;
}

void canny_strips(void *ctx, int id, int workers)
{
    (void)id;
    struct canny *job = ctx;
    int64_t band = band_rows(job->height, workers);
    struct buffers *buffers = aligned_alloc(_Alignof(struct buffers), sizeof *buffers);
    if (!buffers) {
        job->out_of_memory = 1;
        return;
    }
    memset(buffers, 0, sizeof *buffers);
    int64_t strips = job->width / STRIP > 0 ? job->width / STRIP : 1;
    int64_t bands = (job->height + band - 1) / band;
    int64_t task;
    while ((task = team_claim(&job->next, strips * bands)) >= 0) {
        int64_t strip = task % strips;
        int64_t first = task / strips * band;
        tile(job, buffers, strip * STRIP, strip + 1 == strips ? job->width : (strip + 1) * STRIP, first,
             first + band < job->height ? first + band : job->height);
    }
    v_fence();
    free(buffers);
}

#else

int canny_has_avx512(const struct canny *job)
{
    (void)job;
    return 0;
}

void canny_strips(void *ctx, int id, int workers)
{
    (void)ctx;
    (void)id;
    (void)workers;
}

#endif
