/* The programs of the first rows over f64 and bytes. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

/* --- data --- */

static void teardown(void *data)
{
    struct typed_data *d = data;
    for (int i = 0; i < 3; i++)
        bench_free(d->in[i], d->in_bytes);
    bench_free(d->c, d->out_bytes);
    bench_free(d->sinter, d->out_bytes);
    free(d);
}

struct filling {
    double *f64; /* or */
    uint8_t *u8;
    int64_t n;
    uint64_t seed;
};

/* Uniform in [0, 1), or any byte. */
static void fill_part(void *ctx, int id, int workers)
{
    const struct filling *f = ctx;
    struct team_range mine = team_part(f->n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++) {
        uint64_t random = bench_hash((uint64_t)i, f->seed);
        if (f->f64)
            f->f64[i] = (double)(random >> 11) * 0x1p-53;
        else
            f->u8[i] = (uint8_t)(random >> 13);
    }
}

/* `inputs` arrays of rows x columns elements of `size` bytes (8: f64; 1: u8) and results of out_bytes for each side. */
static struct typed_data *make(struct team *team, int64_t rows, int64_t columns, int inputs, size_t size,
                               size_t out_bytes)
{
    struct typed_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = rows * columns;
    d->rows = rows;
    d->columns = columns;
    d->a = 2.5;
    d->in_bytes = (size_t)n * size;
    d->out_bytes = out_bytes;
    d->base = (struct bench_data){n, inputs * (int64_t)d->in_bytes, out_bytes > 64 ? (int64_t)out_bytes : 0};
    d->c = bench_alloc(out_bytes);
    d->sinter = bench_alloc(out_bytes);
    int complete = d->c && d->sinter;
    for (int i = 0; i < inputs && complete; i++) {
        d->in[i] = bench_alloc(d->in_bytes);
        complete = d->in[i] != NULL;
    }
    if (!complete) {
        teardown(d);
        return NULL;
    }
    for (int i = 0; i < inputs; i++) {
        struct filling f = {size == 8 ? d->in[i] : NULL, size == 1 ? d->in[i] : NULL, n, (uint64_t)i + 11};
        team_run(team, fill_part, &f);
    }
    return d;
}

/* --- results --- */

static int close_f64(const double *sinter, const double *c, int64_t n, double relative, char *text, size_t size)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(fabs(sinter[i] - c[i]) <= relative * fabs(c[i]))) {
            snprintf(text, size, "result %" PRId64 " is %.17g, in C %.17g", i, sinter[i], c[i]);
            return 0;
        }
    }
    return 1;
}

static int equal_i32(const int32_t *sinter, const int32_t *c, int64_t n, char *text, size_t size)
{
    for (int64_t i = 0; i < n; i++) {
        if (sinter[i] != c[i]) {
            snprintf(text, size, "result %" PRId64 " is %" PRId32 ", in C %" PRId32, i, sinter[i], c[i]);
            return 0;
        }
    }
    return 1;
}

/* --- saxpy --- */

static void *saxpy_f64_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 2, 8, (size_t)n * 8);
}

static void saxpy_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    c_saxpy_f64(team, d->base.n, d->a, d->in[0], d->in[1], d->c);
}

/* With or without the fma; all terms are positive. */
static int saxpy_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return close_f64(d->sinter, d->c, d->base.n, 0x1p-52, text, size);
}

/* --- dot product --- */

static void *dot_f64_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 2, 8, sizeof(double));
}

static void dot_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    *(double *)d->c = c_dot_f64(team, d->base.n, d->in[0], d->in[1]);
}

static int sum_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return close_f64(d->sinter, d->c, 1, 1e-12, text, size);
}

static void *dot_u8_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 2, 1, sizeof(int32_t));
}

static void dot_u8_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    *(int32_t *)d->c = c_dot_u8(team, d->base.n, d->in[0], d->in[1]);
}

static int dot_u8_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return equal_i32(d->sinter, d->c, 1, text, size);
}

/* --- mean and variance --- */

static void *meanvar_f64_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 1, 8, sizeof(struct moments_f64));
}

static void meanvar_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    *(struct moments_f64 *)d->c = c_meanvar_f64(team, d->base.n, d->in[0]);
}

static int meanvar_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return close_f64(d->sinter, d->c, 2, 1e-11, text, size);
}

/* --- argmax --- */

static void *argmax_f64_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 1, 8, sizeof(struct peak_f64));
}

static void argmax_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    *(struct peak_f64 *)d->c = c_argmax_f64(team, d->base.n, d->in[0]);
}

static int argmax_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    const struct peak_f64 *s = d->sinter, *c = d->c;
    snprintf(text, size, "%.17g at %" PRId32 ", C %.17g at %" PRId32, s->value, s->index, c->value, c->index);
    return s->value == c->value && s->index == c->index;
}

static void *argmax_u8_setup(struct team *team, int64_t rows, int64_t n)
{
    return make(team, rows, n, 1, 1, sizeof(struct peak_u8));
}

static void argmax_u8_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    *(struct peak_u8 *)d->c = c_argmax_u8(team, d->base.n, d->in[0]);
}

static int argmax_u8_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    const struct peak_u8 *s = d->sinter, *c = d->c;
    snprintf(text, size, "%d at %" PRId32 ", C %d at %" PRId32, s->value, s->index, c->value, c->index);
    return s->value == c->value && s->index == c->index;
}

/* --- Mandelbrot: as in f32 --- */

static void *mandelbrot_f64_setup(struct team *team, int64_t height, int64_t width)
{
    struct typed_data *d = make(team, height, width, 0, 8, (size_t)(height * width) * 4);
    if (!d)
        return NULL;
    double step = 3.2 / (double)width;
    d->view = (struct view_f64){-2.1, -0.5 * step * (double)height, step};
    d->limit = 255;
    return d;
}

static void mandelbrot_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    c_mandelbrot_f64(team, d->rows, d->columns, d->view, d->limit, d->c);
}

/* Near the border of the set one rounding more or less moves the count. */
static int mandelbrot_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    const int32_t *s = d->sinter, *c = d->c;
    int64_t differ = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        differ += s[i] != c[i];
    snprintf(text, size, "%" PRId64 " of %" PRId64 " differ (allowed one in 100)", differ, d->base.n);
    return differ <= d->base.n / 100;
}

/* --- Black-Scholes: options as in f32 --- */

static void price_part(void *ctx, int id, int workers)
{
    const struct typed_data *d = ctx;
    static const double least[] = {5, 1, 0.25}, most[] = {30, 100, 10};
    struct team_range mine = team_part(d->base.n, 1, id, workers);
    for (int k = 0; k < 3; k++) {
        double *x = d->in[k];
        for (int64_t i = mine.first; i < mine.last; i++)
            x[i] = least[k] + (most[k] - least[k]) * x[i];
    }
}

static void *blackscholes_f64_setup(struct team *team, int64_t rows, int64_t n)
{
    struct typed_data *d = make(team, rows, n, 3, 8, (size_t)n * 16);
    if (d)
        team_run(team, price_part, d);
    return d;
}

static void blackscholes_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    double *call = d->c;
    c_blackscholes_f64(team, d->base.n, d->in[0], d->in[1], d->in[2], call, call + d->base.n);
}

/* Both prices are differences of terms no greater than price and strike, each good to a few ulp. */
static int blackscholes_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    const double *s = d->sinter, *c = d->c, *price = d->in[0], *strike = d->in[1];
    for (int64_t i = 0; i < 2 * d->base.n; i++) {
        int64_t option = i % d->base.n;
        if (!(fabs(s[i] - c[i]) <= 1e-14 * (price[option] + strike[option]))) {
            snprintf(text, size, "option %" PRId64 ": %.17g, C %.17g", option, s[i], c[i]);
            return 0;
        }
    }
    return 1;
}

/* --- row sums --- */

static void *rowsums_f64_setup(struct team *team, int64_t rows, int64_t columns)
{
    return make(team, rows, columns, 1, 8, (size_t)rows * 8);
}

static void rowsums_f64_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    c_rowsums_f64(team, d->rows, d->columns, d->in[0], d->c);
}

static int rowsums_f64_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return close_f64(d->sinter, d->c, d->rows, 1e-12, text, size);
}

static void *rowsums_u8_setup(struct team *team, int64_t rows, int64_t columns)
{
    return make(team, rows, columns, 1, 1, (size_t)rows * 4);
}

static void rowsums_u8_run(struct team *team, void *data)
{
    struct typed_data *d = data;
    c_rowsums_u8(team, d->rows, d->columns, d->in[0], d->c);
}

static int rowsums_u8_agree(const void *data, char *text, size_t size)
{
    const struct typed_data *d = data;
    return equal_i32(d->sinter, d->c, d->rows, text, size);
}

#define ROW(label, program, height, width, bound, compared, side)                                                      \
    {                                                                                                                  \
        .name = (label), .extents = {(height), (width)}, .compute_bound = (bound), .setup = program##_setup,           \
        .teardown = teardown, .run_c = program##_run, .sinter = (side), .agree = (compared),                           \
    }

const struct bench_row typed_rows[TYPED_ROWS] = {
    ROW("saxpy-f64", saxpy_f64, 1, 50 * MILLION, 0, saxpy_f64_agree, SINTER_F64(saxpy)),
    ROW("dot-f64", dot_f64, 1, 50 * MILLION, 0, sum_f64_agree, SINTER_F64(dot)),
    ROW("dot-u8", dot_u8, 1, 400 * MILLION, 0, dot_u8_agree, SINTER_U8(dot)),
    ROW("meanvar-f64", meanvar_f64, 1, 50 * MILLION, 0, meanvar_f64_agree, SINTER_F64(meanvar)),
    ROW("argmax-f64", argmax_f64, 1, 50 * MILLION, 0, argmax_f64_agree, SINTER_F64(argmax)),
    ROW("argmax-u8", argmax_u8, 1, 400 * MILLION, 0, argmax_u8_agree, SINTER_U8(argmax)),
    ROW("mandelbrot-f64", mandelbrot_f64, 1200, 1600, 1, mandelbrot_f64_agree, SINTER_F64(mandelbrot)),
    ROW("blackscholes-f64", blackscholes_f64, 1, 10 * MILLION, 1, blackscholes_f64_agree, SINTER_F64(blackscholes)),
    ROW("rowsums-f64-8kx4k", rowsums_f64, 8192, 4096, 0, rowsums_f64_agree, SINTER_F64(rowsums)),
    ROW("rowsums-u8-16kx16k", rowsums_u8, 16384, 16384, 0, rowsums_u8_agree, SINTER_U8(rowsums)),
};
