/* Rows over vectors: saxpy, dot product, mean and variance, argmax, Black-Scholes. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MILLION = 1000000 };

static int close_to(double a, double b, double relative, char *text, size_t size, const char *what)
{
    double apart = fabs(a - b) / fmax(fabs(b), 1e-30);
    snprintf(text, size, "%s %.9g, C %.9g, %.1e apart (allowed %.0e)", what, a, b, apart, relative);
    return apart <= relative;
}

static void saxpy_teardown(void *data)
{
    struct saxpy_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->y, d->base.n);
    FREE_ARRAY(d->z, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static void *saxpy_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct saxpy_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct saxpy_data){{n, 8 * n, 4 * n},  2.5F, NEW_ARRAY(float, n), NEW_ARRAY(float, n), NEW_ARRAY(float, n),
                             NEW_ARRAY(float, n)};
    if (!d->x || !d->y || !d->z || !d->sinter) {
        saxpy_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, -1, 1, 1);
    bench_fill(team, d->y, n, -1, 1, 2);
    return d;
}

static void saxpy_run(struct team *team, void *data)
{
    struct saxpy_data *d = data;
    c_saxpy(team, d->base.n, d->a, d->x, d->y, d->z);
}

/* With or without the fma: one rounding of the product and one of the sum. */
static int saxpy_agree(const void *data, char *text, size_t size)
{
    const struct saxpy_data *d = data;
    for (int64_t i = 0; i < d->base.n; i++) {
        float allowed = 0x1p-23F * (fabsf(d->a * d->x[i]) + fabsf(d->z[i]));
        if (!(fabsf(d->z[i] - d->sinter[i]) <= allowed)) {
            snprintf(text, size, "z[%" PRId64 "] is %.9g, in C %.9g", i, (double)d->sinter[i], (double)d->z[i]);
            return 0;
        }
    }
    return 1;
}

const struct bench_row saxpy_row = {
    .name = "saxpy",
    .extents = {1, 100 * MILLION},
    .setup = saxpy_setup,
    .teardown = saxpy_teardown,
    .run_c = saxpy_run,
    .sinter = SINTER_SAXPY,
    .agree = saxpy_agree,
};

static void dot_teardown(void *data)
{
    struct dot_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->y, d->base.n);
    free(d);
}

static void *dot_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct dot_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct dot_data){.base = {n, 8 * n, 0}, .x = NEW_ARRAY(float, n), .y = NEW_ARRAY(float, n)};
    if (!d->x || !d->y) {
        dot_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 1);
    bench_fill(team, d->y, n, 0, 1, 2);
    return d;
}

static void dot_run(struct team *team, void *data)
{
    struct dot_data *d = data;
    d->sum = c_dot(team, d->base.n, d->x, d->y);
}

static int dot_agree(const void *data, char *text, size_t size)
{
    const struct dot_data *d = data;
    return close_to((double)d->sinter, (double)d->sum, 1e-5, text, size, "sum");
}

const struct bench_row dot_row = {
    .name = "dot",
    .extents = {1, 100 * MILLION},
    .setup = dot_setup,
    .teardown = dot_teardown,
    .run_c = dot_run,
    .sinter = SINTER_DOT,
    .agree = dot_agree,
};

static void meanvar_teardown(void *data)
{
    struct meanvar_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    free(d);
}

static void *meanvar_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct meanvar_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct meanvar_data){.base = {n, 4 * n, 0}, .x = NEW_ARRAY(float, n)};
    if (!d->x) {
        meanvar_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 3);
    return d;
}

static void meanvar_run(struct team *team, void *data)
{
    struct meanvar_data *d = data;
    d->moments = c_meanvar(team, d->base.n, d->x);
}

/* The variance loses what its two terms have in common: a third of a unit against a quarter. */
static int meanvar_agree(const void *data, char *text, size_t size)
{
    const struct meanvar_data *d = data;
    return close_to((double)d->sinter.mean, (double)d->moments.mean, 1e-5, text, size, "mean") &&
           close_to((double)d->sinter.variance, (double)d->moments.variance, 1e-4, text, size, "variance");
}

const struct bench_row meanvar_row = {
    .name = "meanvar",
    .extents = {1, 100 * MILLION},
    .setup = meanvar_setup,
    .teardown = meanvar_teardown,
    .run_c = meanvar_run,
    .sinter = SINTER_MEANVAR,
    .agree = meanvar_agree,
};

static void argmax_teardown(void *data)
{
    struct argmax_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    free(d);
}

/* 2^24 different values: the greatest one occurs several times. */
static void *argmax_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct argmax_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct argmax_data){.base = {n, 4 * n, 0}, .x = NEW_ARRAY(float, n)};
    if (!d->x) {
        argmax_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 4);
    return d;
}

static void argmax_run(struct team *team, void *data)
{
    struct argmax_data *d = data;
    d->peak = c_argmax(team, d->base.n, d->x);
}

static int argmax_agree(const void *data, char *text, size_t size)
{
    const struct argmax_data *d = data;
    snprintf(text, size, "%.9g at %" PRId32 ", C %.9g at %" PRId32, (double)d->sinter.value, d->sinter.index,
             (double)d->peak.value, d->peak.index);
    return d->sinter.value == d->peak.value && d->sinter.index == d->peak.index;
}

const struct bench_row argmax_row = {
    .name = "argmax",
    .extents = {1, 100 * MILLION},
    .setup = argmax_setup,
    .teardown = argmax_teardown,
    .run_c = argmax_run,
    .sinter = SINTER_ARGMAX,
    .agree = argmax_agree,
};

static void blackscholes_teardown(void *data)
{
    struct blackscholes_data *d = data;
    FREE_ARRAY(d->price, d->base.n);
    FREE_ARRAY(d->strike, d->base.n);
    FREE_ARRAY(d->years, d->base.n);
    FREE_ARRAY(d->call, d->base.n);
    FREE_ARRAY(d->put, d->base.n);
    FREE_ARRAY(d->sinter_call, d->base.n);
    FREE_ARRAY(d->sinter_put, d->base.n);
    free(d);
}

static void *blackscholes_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct blackscholes_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct blackscholes_data){
        .base = {n, 12 * n, 8 * n},
        .price = NEW_ARRAY(float, n),
        .strike = NEW_ARRAY(float, n),
        .years = NEW_ARRAY(float, n),
        .call = NEW_ARRAY(float, n),
        .put = NEW_ARRAY(float, n),
        .sinter_call = NEW_ARRAY(float, n),
        .sinter_put = NEW_ARRAY(float, n),
    };
    if (!d->price || !d->strike || !d->years || !d->call || !d->put || !d->sinter_call || !d->sinter_put) {
        blackscholes_teardown(d);
        return NULL;
    }
    bench_fill(team, d->price, n, 5, 30, 5);
    bench_fill(team, d->strike, n, 1, 100, 6);
    bench_fill(team, d->years, n, 0.25F, 10, 7);
    return d;
}

static void blackscholes_run(struct team *team, void *data)
{
    struct blackscholes_data *d = data;
    c_blackscholes(team, d->base.n, d->price, d->strike, d->years, d->call, d->put);
}

/* Both prices are differences of terms no greater than price and strike, each good to a few ulp. */
static int blackscholes_agree(const void *data, char *text, size_t size)
{
    const struct blackscholes_data *d = data;
    for (int64_t i = 0; i < d->base.n; i++) {
        float allowed = 2e-6F * (d->price[i] + d->strike[i]);
        if (!(fabsf(d->call[i] - d->sinter_call[i]) <= allowed && fabsf(d->put[i] - d->sinter_put[i]) <= allowed)) {
            snprintf(text, size, "option %" PRId64 ": call %.9g, put %.9g; C %.9g, %.9g", i, (double)d->sinter_call[i],
                     (double)d->sinter_put[i], (double)d->call[i], (double)d->put[i]);
            return 0;
        }
    }
    return 1;
}

const struct bench_row blackscholes_row = {
    .name = "blackscholes",
    .extents = {1, 20 * MILLION},
    .compute_bound = 1,
    .setup = blackscholes_setup,
    .teardown = blackscholes_teardown,
    .run_c = blackscholes_run,
    .sinter = SINTER_BLACKSCHOLES,
    .agree = blackscholes_agree,
};
