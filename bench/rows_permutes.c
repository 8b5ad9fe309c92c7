/* Rows over permutes: histograms of 32-bit keys, into few bins and into many. */
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 100000000, FEW = 256, MANY = 1 << 20 };

static void teardown(void *data)
{
    struct histogram_data *d = data;
    bench_free(d->key, (size_t)d->base.n * sizeof *d->key);
    bench_free(d->counts, (size_t)d->bins * sizeof *d->counts);
    bench_free(d->sinter, (size_t)d->bins * sizeof *d->sinter);
    bench_free(d->room, (size_t)(d->bins * d->workers) * sizeof *d->room);
    free(d);
}

static void draw_part(void *ctx, int id, int workers)
{
    struct histogram_data *d = ctx;
    struct team_range mine = team_part(d->base.n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++)
        d->key[i] = (uint32_t)(bench_hash((uint64_t)i, 22) % (uint64_t)d->bins);
}

static void *make(struct team *team, int64_t n, int64_t bins)
{
    struct histogram_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->base = (struct bench_data){n, 4 * n, 8 * bins};
    d->bins = bins;
    d->workers = team_workers(team);
    d->key = bench_alloc((size_t)n * sizeof *d->key);
    d->counts = bench_alloc((size_t)bins * sizeof *d->counts);
    d->sinter = bench_alloc((size_t)bins * sizeof *d->sinter);
    d->room = bench_alloc((size_t)(bins * d->workers) * sizeof *d->room);
    if (!d->key || !d->counts || !d->sinter || !d->room) {
        teardown(d);
        return NULL;
    }
    team_run(team, draw_part, d);
    return d;
}

static void *few_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return make(team, n, FEW);
}

static void *many_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return make(team, n, MANY);
}

static void run(struct team *team, void *data)
{
    struct histogram_data *d = data;
    c_histogram(team, d->base.n, d->bins, d->key, d->counts, d->room);
}

static int same(const void *data, char *text, size_t size)
{
    const struct histogram_data *d = data;
    for (int64_t i = 0; i < d->bins; i++)
        if (d->counts[i] != d->sinter[i]) {
            snprintf(text, size, "bin %" PRId64 " has %" PRId64 ", in C %" PRId64, i, d->sinter[i], d->counts[i]);
            return 0;
        }
    return 1;
}

#ifdef BENCH_HAS_PERMUTES
extern const struct bench_side sinter_histogram_few, sinter_histogram_many;
#define SINTER_PERMUTES(program) &sinter_##program
#else
#define SINTER_PERMUTES(program) NULL
#endif

const struct bench_row permute_rows[PERMUTE_ROWS] = {
    {
        .name = "histogram-256",
        .extents = {1, ELEMENTS},
        .setup = few_setup,
        .teardown = teardown,
        .run_c = run,
        .sinter = SINTER_PERMUTES(histogram_few),
        .agree = same,
    },
    {
        .name = "histogram-1M",
        .extents = {1, ELEMENTS},
        .setup = many_setup,
        .teardown = teardown,
        .run_c = run,
        .sinter = SINTER_PERMUTES(histogram_many),
        .agree = same,
    },
};
