/* Rows of products of matrices. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>

static void sgemm_teardown(void *data)
{
    struct sgemm_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->y, d->columns * d->columns);
    FREE_ARRAY(d->z, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static void *sgemm_setup(struct team *team, int64_t rows, int64_t columns)
{
    struct sgemm_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    /* OpenBLAS starts its threads here, where this thread is not pinned */
    int64_t n = rows * columns;
    (void)c_sgemm_has_blas();
    *d = (struct sgemm_data){
        .base = {n, 0, 0},
        .rows = rows,
        .columns = columns,
        .x = NEW_ARRAY(float, n),
        .y = NEW_ARRAY(float, columns *columns),
        .z = NEW_ARRAY(float, n),
        .sinter = NEW_ARRAY(float, n),
    };
    if (!d->x || !d->y || !d->z || !d->sinter) {
        sgemm_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, -1, 1, 21);
    bench_fill(team, d->y, columns * columns, -1, 1, 22);
    return d;
}

static void sgemm_run(struct team *team, void *data)
{
    struct sgemm_data *d = data;
    c_sgemm(team, d->rows, d->columns, d->columns, d->x, d->y, d->z);
}

/* Sums of so many products of numbers up to 1, in different orders. */
static int sgemm_agree(const void *data, char *text, size_t size)
{
    const struct sgemm_data *d = data;
    float most = 0, allowed = 2e-6F * (float)d->columns;
    for (int64_t i = 0; i < d->base.n; i++) {
        float apart = fabsf(d->z[i] - d->sinter[i]);
        most = apart <= most ? most : apart;
    }
    snprintf(text, size, "up to %.3g apart (allowed %.3g)", (double)most, (double)allowed);
    return most <= allowed;
}

const struct bench_row sgemm_row = {
    .name = "sgemm-2048",
    .extents = {2048, 2048},
    .compute_bound = 1,
    .setup = sgemm_setup,
    .teardown = sgemm_teardown,
    .run_c = sgemm_run,
    .sinter = SINTER_SGEMM,
    .agree = sgemm_agree,
};
