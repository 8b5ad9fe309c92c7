/* Rows over matrices and pictures: Mandelbrot, Canny, row sums. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* At most one element in `one_in` may differ. */
static int few_differ(int64_t differ, int64_t n, int64_t one_in, char *text, size_t size)
{
    snprintf(text, size, "%" PRId64 " of %" PRId64 " differ (allowed one in %" PRId64 ")", differ, n, one_in);
    return differ <= n / one_in;
}

static void mandelbrot_teardown(void *data)
{
    struct mandelbrot_data *d = data;
    FREE_ARRAY(d->count, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

/* Centre -0.5 + 0i, width 3.2, square pixels. */
static void *mandelbrot_setup(struct team *team, int64_t height, int64_t width)
{
    (void)team;
    struct mandelbrot_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = height * width;
    float step = 3.2F / (float)width;
    *d = (struct mandelbrot_data){
        .base = {n, 0, 4 * n},
        .height = height,
        .width = width,
        .view = {-2.1F, -0.5F * step * (float)height, step},
        .limit = 255,
        .count = NEW_ARRAY(int32_t, n),
        .sinter = NEW_ARRAY(int32_t, n),
    };
    if (!d->count || !d->sinter) {
        mandelbrot_teardown(d);
        return NULL;
    }
    return d;
}

static void mandelbrot_run(struct team *team, void *data)
{
    struct mandelbrot_data *d = data;
    c_mandelbrot(team, d->height, d->width, d->view, d->limit, d->count);
}

/* Near the border of the set one rounding more or less moves the count. */
static int mandelbrot_agree(const void *data, char *text, size_t size)
{
    const struct mandelbrot_data *d = data;
    int64_t differ = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        differ += d->count[i] != d->sinter[i];
    return few_differ(differ, d->base.n, 100, text, size);
}

#define MANDELBROT_ROW(label, height, width)                                                                           \
    {                                                                                                                  \
        .name = (label), .extents = {(height), (width)}, .compute_bound = 1, .setup = mandelbrot_setup,                \
        .teardown = mandelbrot_teardown, .run_c = mandelbrot_run, .sinter = SINTER_MANDELBROT,                         \
        .agree = mandelbrot_agree,                                                                                     \
    }

const struct bench_row mandelbrot_rows[2] = {
    MANDELBROT_ROW("mandelbrot-1600x1200", 1200, 1600),
    MANDELBROT_ROW("mandelbrot-4096x4096", 4096, 4096),
};

static void canny_teardown(void *data)
{
    struct canny_data *d = data;
    FREE_ARRAY(d->red, d->base.n);
    FREE_ARRAY(d->green, d->base.n);
    FREE_ARRAY(d->blue, d->base.n);
    FREE_ARRAY(d->edges, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static uint8_t to_byte(float v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Soft waves, blocks with sharp edges in all directions, and noise. */
static void paint(void *ctx, int id, int workers)
{
    struct canny_data *d = ctx;
    struct team_range mine = team_part(d->height, 1, id, workers);
    for (int64_t y = mine.first; y < mine.last; y++) {
        for (int64_t x = 0; x < d->width; x++) {
            int64_t at = y * d->width + x;
            uint64_t noise = bench_hash((uint64_t)at, 8);
            int64_t block = (x >> 6) ^ (y >> 5) ^ ((x + y) >> 7) ^ ((x - y + d->height) >> 8);
            float tone = 110 + 50 * sinf(0.02F * (float)x) * cosf(0.013F * (float)y) + (block & 1 ? 60.0F : 0.0F);
            d->red[at] = to_byte(tone + (float)(noise & 15));
            d->green[at] = to_byte(0.75F * tone + (float)(noise >> 8 & 15));
            d->blue[at] = to_byte(255 - tone + (float)(noise >> 16 & 15));
        }
    }
}

static void *canny_setup(struct team *team, int64_t height, int64_t width)
{
    struct canny_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = height * width;
    *d = (struct canny_data){
        .base = {n, 3 * n, 4 * n},
        .height = height,
        .width = width,
        .red = NEW_ARRAY(uint8_t, n),
        .green = NEW_ARRAY(uint8_t, n),
        .blue = NEW_ARRAY(uint8_t, n),
        .low = 50,
        .high = 100,
        .edges = NEW_ARRAY(float, n),
        .sinter = NEW_ARRAY(float, n),
    };
    if (!d->red || !d->green || !d->blue || !d->edges || !d->sinter) {
        canny_teardown(d);
        return NULL;
    }
    team_run(team, paint, d);
    return d;
}

static void canny_run(struct team *team, void *data)
{
    struct canny_data *d = data;
    if (!c_canny(team, d->height, d->width, d->red, d->green, d->blue, d->low, d->high, d->edges))
        fprintf(stderr, "canny: no memory for the line buffers\n");
}

/* A rounding may turn a comparison of equal neighbours, a threshold or a direction. */
static int canny_agree(const void *data, char *text, size_t size)
{
    const struct canny_data *d = data;
    int64_t differ = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        differ += d->edges[i] != d->sinter[i];
    return few_differ(differ, d->base.n, 10000, text, size);
}

const struct bench_row canny_row = {
    .name = "canny",
    .extents = {4096, 4096},
    .setup = canny_setup,
    .teardown = canny_teardown,
    .run_c = canny_run,
    .sinter = SINTER_CANNY,
    .agree = canny_agree,
};

static void rowsums_teardown(void *data)
{
    struct rowsums_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->sums, d->rows);
    FREE_ARRAY(d->sinter, d->rows);
    free(d);
}

static void *rowsums_setup(struct team *team, int64_t rows, int64_t columns)
{
    struct rowsums_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = rows * columns;
    *d = (struct rowsums_data){
        .base = {n, 4 * n, 4 * rows},
        .rows = rows,
        .columns = columns,
        .x = NEW_ARRAY(float, n),
        .sums = NEW_ARRAY(float, rows),
        .sinter = NEW_ARRAY(float, rows),
    };
    if (!d->x || !d->sums || !d->sinter) {
        rowsums_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 9);
    return d;
}

static void rowsums_run(struct team *team, void *data)
{
    struct rowsums_data *d = data;
    c_rowsums(team, d->rows, d->columns, d->x, d->sums);
}

static int rowsums_agree(const void *data, char *text, size_t size)
{
    const struct rowsums_data *d = data;
    for (int64_t r = 0; r < d->rows; r++) {
        if (!(fabsf(d->sums[r] - d->sinter[r]) <= 1e-5F * d->sums[r])) {
            snprintf(text, size, "sum %" PRId64 " is %.9g, in C %.9g", r, (double)d->sinter[r], (double)d->sums[r]);
            return 0;
        }
    }
    return 1;
}

#define ROWSUMS_ROW(label, rows, columns)                                                                              \
    {                                                                                                                  \
        .name = (label), .extents = {(rows), (columns)}, .setup = rowsums_setup, .teardown = rowsums_teardown,         \
        .run_c = rowsums_run, .sinter = SINTER_ROWSUMS, .agree = rowsums_agree,                                        \
    }

const struct bench_row rowsums_rows[5] = {
    ROWSUMS_ROW("rowsums-16Mx4", 1 << 24, 4),
    ROWSUMS_ROW("rowsums-1Mx64", 1 << 20, 64),
    ROWSUMS_ROW("rowsums-8kx8k", 8192, 8192),
    ROWSUMS_ROW("rowsums-64x1M", 64, 1 << 20),
    ROWSUMS_ROW("rowsums-4x16M", 4, 1 << 24),
};
