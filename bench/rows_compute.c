/* Rows bound by arithmetic: a 9 x 9 stencil, and bodies that each pull all others, in two formulations. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* --- 9 x 9 stencil --- */

static void stencil9_teardown(void *data)
{
    struct stencil9_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->sums, d->base.n);
    FREE_ARRAY(d->sinter, d->base.n);
    free(d);
}

static void *stencil9_setup(struct team *team, int64_t height, int64_t width)
{
    struct stencil9_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = height * width;
    d->base = (struct bench_data){n, 4 * n, 4 * n};
    d->height = height;
    d->width = width;
    for (int i = 0; i < STENCIL9_SIDE * STENCIL9_SIDE; i++)
        d->weight[i] = (float)(bench_hash((uint64_t)i, 21) % 2001) * 1e-5F - 0.005F;
    d->x = NEW_ARRAY(float, n);
    d->sums = NEW_ARRAY(float, n);
    d->sinter = NEW_ARRAY(float, n);
    if (!d->x || !d->sums || !d->sinter) {
        stencil9_teardown(d);
        return NULL;
    }
    bench_fill(team, d->x, n, 0, 1, 22);
    return d;
}

static void stencil9_run(struct team *team, void *data)
{
    struct stencil9_data *d = data;
    c_stencil9(team, d->height, d->width, d->weight, d->x, d->sums);
}

/* With or without fma: 81 roundings of sums below 1. */
static int stencil9_agree(const void *data, char *text, size_t size)
{
    const struct stencil9_data *d = data;
    float most = 0;
    for (int64_t i = 0; i < d->base.n; i++)
        most = fmaxf(most, fabsf(d->sums[i] - d->sinter[i]));
    snprintf(text, size, "largest difference %g (allowed 5e-6)", (double)most);
    return most <= 5e-6F;
}

const struct bench_row stencil9_row = {
    .name = "stencil-9x9",
    .extents = {4096, 4096},
    .compute_bound = 1,
    .setup = stencil9_setup,
    .teardown = stencil9_teardown,
    .run_c = stencil9_run,
    .sinter = SINTER_STENCIL9,
    .agree = stencil9_agree,
};

/* --- bodies --- */

static int new_bodies(struct bodies *b, int64_t n)
{
    int complete = 1;
    for (int c = 0; c < 3; c++) {
        b->position[c] = NEW_ARRAY(float, n);
        b->velocity[c] = NEW_ARRAY(float, n);
        complete &= b->position[c] && b->velocity[c];
    }
    b->mass = NEW_ARRAY(float, n);
    return complete && b->mass;
}

static void free_bodies(const struct bodies *b, int64_t n)
{
    for (int c = 0; c < 3; c++) {
        FREE_ARRAY(b->position[c], n);
        FREE_ARRAY(b->velocity[c], n);
    }
    FREE_ARRAY(b->mass, n);
}

static void nbody_teardown(void *data)
{
    struct nbody_data *d = data;
    free_bodies(&d->in, d->base.n);
    free_bodies(&d->out, d->base.n);
    free_bodies(&d->sinter, d->base.n);
    free(d);
}

static void *nbody_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    struct nbody_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->base = (struct bench_data){n, 28 * n, 24 * n};
    d->step = 1e-3F;
    int complete = new_bodies(&d->in, n);
    complete &= new_bodies(&d->out, n);
    complete &= new_bodies(&d->sinter, n);
    if (!complete) {
        nbody_teardown(d);
        return NULL;
    }
    for (int c = 0; c < 3; c++) {
        bench_fill(team, d->in.position[c], n, -1, 1, (uint64_t)c + 31);
        bench_fill(team, d->in.velocity[c], n, -1, 1, (uint64_t)c + 34);
    }
    bench_fill(team, d->in.mass, n, 0, 1.0F / (float)n, 37);
    return d;
}

static void nbody_run(struct team *team, void *data)
{
    struct nbody_data *d = data;
    c_nbody(team, d->base.n, d->step, &d->in, &d->out);
}

/* The sums go in another order. Near neighbours pull with up to a few hundred, a thousandth of which moves a body. */
static int nbody_agree(const void *data, char *text, size_t size)
{
    const struct nbody_data *d = data;
    float most = 0;
    for (int c = 0; c < 3; c++)
        for (int64_t i = 0; i < d->base.n; i++)
            most = fmaxf(most, fmaxf(fabsf(d->out.position[c][i] - d->sinter.position[c][i]),
                                     fabsf(d->out.velocity[c][i] - d->sinter.velocity[c][i])));
    snprintf(text, size, "largest difference %g (allowed 2e-6)", (double)most);
    return most <= 2e-6F;
}

#define NBODY_ROW(formulation)                                                                                         \
    {                                                                                                                  \
        .name = "nbody-" #formulation, .extents = {1, 32768}, .compute_bound = 1, .setup = nbody_setup,                \
        .teardown = nbody_teardown, .run_c = nbody_run, .sinter = SINTER_NBODY(formulation), .agree = nbody_agree,     \
    }

const struct bench_row nbody_rows[2] = {NBODY_ROW(loops), NBODY_ROW(replicates)};
