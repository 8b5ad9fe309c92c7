/* Rows of loops over arrays. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

/* --- steps of Jacobi's --- */

static void jacobi_teardown(void *data)
{
    struct jacobi_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->spare, d->base.n);
    FREE_ARRAY(d->c, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static void *jacobi_setup(struct team *team, int64_t height, int64_t width)
{
    struct jacobi_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = height * width;
    *d = (struct jacobi_data){
        .base = {n, 4 * n, 4 * n},
        .height = height,
        .width = width,
        .steps = 20,
        .x = NEW_ARRAY(float, n),
        .spare = NEW_ARRAY(float, n),
        .c = NEW_ARRAY(float, n),
        .sinter = NEW_ARRAY(float, n),
    };
    if (!d->x || !d->spare || !d->c || !d->sinter) {
        jacobi_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 31);
    return d;
}

static void jacobi_run(struct team *team, void *data)
{
    struct jacobi_data *d = data;
    c_jacobi(team, d->height, d->width, d->steps, d->x, d->spare, d->c);
}

/* Sums in the same order. */
static int jacobi_agree(const void *data, char *text, size_t size)
{
    const struct jacobi_data *d = data;
    int64_t differ = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        differ += d->c[i] != d->sinter[i];
    snprintf(text, size, "%lld elements differ (allowed 0)", (long long)differ);
    return differ == 0;
}

const struct bench_row jacobi_row = {
    .name = "jacobi-20",
    .extents = {1024, 2048},
    .compute_bound = 1,
    .setup = jacobi_setup,
    .teardown = jacobi_teardown,
    .run_c = jacobi_run,
    .sinter = SINTER_JACOBI,
    .agree = jacobi_agree,
};

/* --- shortest paths between all pairs --- */

static void floyd_teardown(void *data)
{
    struct floyd_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->c, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static void *floyd_setup(struct team *team, int64_t n, int64_t columns)
{
    struct floyd_data *d = calloc(1, sizeof *d);
    (void)team;
    (void)columns;
    if (!d)
        return NULL;
    *d = (struct floyd_data){
        .base = {n * n, 0, 0},
        .n = n,
        .x = NEW_ARRAY(int32_t, n * n),
        .c = NEW_ARRAY(int32_t, n * n),
        .sinter = NEW_ARRAY(int32_t, n * n),
    };
    if (!d->x || !d->c || !d->sinter) {
        floyd_teardown(d);
        return NULL;
    }
    uint32_t seed = 77;
    for (int64_t i = 0; i < n * n; i++) {
        seed = seed * 1664525 + 1013904223;
        d->x[i] = i / n == i % n ? 0
                  : seed >> 28   ? 1000000
                                 : (int32_t)(seed >> 12 & 4095) + 1; /* a sixteenth are edges */
    }
    return d;
}

static void floyd_run(struct team *team, void *data)
{
    struct floyd_data *d = data;
    memcpy(d->c, d->x, (size_t)d->base.n * sizeof *d->c);
    c_floyd(team, d->n, d->c);
}

static int floyd_agree(const void *data, char *text, size_t size)
{
    const struct floyd_data *d = data;
    int64_t differ = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        differ += d->c[i] != d->sinter[i];
    snprintf(text, size, "%lld lengths differ (allowed 0)", (long long)differ);
    return differ == 0;
}

const struct bench_row floyd_row = {
    .name = "floyd-1024",
    .extents = {1024, 1024},
    .compute_bound = 1,
    .setup = floyd_setup,
    .teardown = floyd_teardown,
    .run_c = floyd_run,
    .sinter = SINTER_FLOYD,
    .agree = floyd_agree,
};
