/* Rows over scans and filters, and softmax: running sums, of an array and of the rows of a matrix; what filters keep
 * and what is made of it (ratios, filtermax, topercentages: the programs of LiveFusion). */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000 };

static void teardown(void *data)
{
    struct scan_data *d = data;
    bench_free(d->x, (size_t)d->base.n * 4);
    bench_free(d->c, (size_t)d->base.n * 4);
    bench_free(d->sinter, (size_t)d->base.n * 4);
    free(d);
}

/* Elements of four bytes each, and results of as many at most. */
static struct scan_data *make(int64_t rows, int64_t columns)
{
    struct scan_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t n = rows * columns;
    *d = (struct scan_data){.base = {n, 4 * n, 4 * n},
                            .rows = rows,
                            .columns = columns,
                            .x = NEW_ARRAY(float, n),
                            .c = NEW_ARRAY(float, n),
                            .sinter = NEW_ARRAY(float, n),
                            .c_kept = n,
                            .sinter_kept = n};
    if (d->x && d->c && d->sinter)
        return d;
    teardown(d);
    return NULL;
}

struct drawn {
    struct scan_data *data;
    int of_integers;
    int zeros; /* one in so many is 0; 0: none */
};

/* Floats: odd multiples of 1/32 in (-2, 2), as often below 0 as above it, whose running sums are exact in any order. */
static void draw_part(void *ctx, int id, int workers)
{
    const struct drawn *drawn = ctx;
    float *x = drawn->data->x;
    int32_t *of_integers = drawn->data->x;
    struct team_range mine = team_part(drawn->data->base.n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++) {
        uint64_t bits = bench_hash((uint64_t)i, 11);
        int whole = (int)(bits >> 58) * 2 - 63;
        if (drawn->of_integers)
            of_integers[i] = (int32_t)(bits >> 32);
        else
            x[i] = drawn->zeros && (bits >> 8) % (unsigned)drawn->zeros == 0 ? 0 : (float)whole / 32;
    }
}

static void *drawn(struct team *team, int64_t rows, int64_t columns, int of_integers, int zeros)
{
    struct drawn drawn = {make(rows, columns), of_integers, zeros};
    if (drawn.data)
        team_run(team, draw_part, &drawn);
    return drawn.data;
}

/* --- scans --- */

static void *scan_f32_setup(struct team *team, int64_t rows, int64_t n)
{
    return drawn(team, rows, n, 0, 0);
}

static void *scan_i32_setup(struct team *team, int64_t rows, int64_t n)
{
    return drawn(team, rows, n, 1, 0);
}

static void scan_f32_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    c_scan_f32(team, d->base.n, d->x, d->c);
}

static void scan_i32_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    c_scan_i32(team, d->base.n, d->x, d->c);
}

static void scan_rows_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    c_scan_rows(team, d->rows, d->columns, d->x, d->c);
}

/* All that is computed is exact, or rounded once. */
static int same(const void *data, char *text, size_t size)
{
    const struct scan_data *d = data;
    const uint32_t *c = d->c, *sinter = d->sinter;
    if (d->c_kept != d->sinter_kept || !(d->c_most == d->sinter_most)) {
        snprintf(text, size, "%" PRId64 " elements, most %.9g; C %" PRId64 ", %.9g", d->sinter_kept,
                 (double)d->sinter_most, d->c_kept, (double)d->c_most);
        return 0;
    }
    for (int64_t i = 0; i < d->c_kept; i++) {
        float x, y;
        memcpy(&x, &sinter[i], sizeof x);
        memcpy(&y, &c[i], sizeof y);
        if (sinter[i] == c[i] || x == y)
            continue;
        snprintf(text, size, "z[%" PRId64 "] is %08" PRIx32 " (%.9g), in C %08" PRIx32 " (%.9g)", i, sinter[i],
                 (double)x, c[i], (double)y);
        return 0;
    }
    return 1;
}

/* --- filters --- */

/* The results' size is known when they have been made once. */
static void set_kept(struct scan_data *d, int64_t kept)
{
    d->c_kept = kept;
    d->base.written_bytes = 4 * kept;
}

static void *filter_setup(struct team *team, int64_t rows, int64_t n)
{
    struct scan_data *d = make(rows, n);
    if (d)
        bench_fill(team, d->x, n, -1, 1, 12);
    return d;
}

static void filter_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    set_kept(d, c_filter(team, d->base.n, 0, d->x, d->c));
}

static void *ratios_setup(struct team *team, int64_t rows, int64_t n)
{
    return drawn(team, rows, n, 0, 4);
}

static void ratios_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    set_kept(d, c_ratios(team, d->base.n, d->x, d->c));
}

static void *filtermax_setup(struct team *team, int64_t rows, int64_t n)
{
    struct scan_data *d = drawn(team, rows, n, 0, 0);
    if (d) {
        d->factor = 1.5F;
        d->summand = 0.25F;
    }
    return d;
}

static void filtermax_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    set_kept(d, c_filtermax(team, d->base.n, d->factor, d->summand, d->x, d->c, &d->c_most));
}

static void *percentages_setup(struct team *team, int64_t rows, int64_t n)
{
    struct scan_data *d = make(rows, n);
    if (!d)
        return NULL;
    d->limit = 0.01F;
    bench_fill(team, d->x, n, 0, 0.02F, 13);
    return d;
}

static void percentages_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    set_kept(d, c_percentages(team, d->base.n, d->limit, d->x, d->c));
}

/* --- softmax --- */

static void *softmax_setup(struct team *team, int64_t rows, int64_t columns)
{
    struct scan_data *d = make(rows, columns);
    if (d)
        bench_fill(team, d->x, d->base.n, -4, 4, 14);
    return d;
}

static void softmax_run(struct team *team, void *data)
{
    struct scan_data *d = data;
    if (!c_softmax(team, d->rows, d->columns, d->x, d->c))
        fprintf(stderr, "softmax: no memory for the buffers\n");
}

/* Exponentials of 2 ulp each, sums of thousands of them, one division. */
static int softmax_agree(const void *data, char *text, size_t size)
{
    const struct scan_data *d = data;
    const float *c = d->c, *sinter = d->sinter;
    for (int64_t i = 0; i < d->base.n; i++)
        if (!(fabsf(c[i] - sinter[i]) <= 2e-6F * c[i])) {
            snprintf(text, size, "z[%" PRId64 "] is %.9g, in C %.9g", i, (double)sinter[i], (double)c[i]);
            return 0;
        }
    return 1;
}

#define VECTOR_ROW(label, program)                                                                                     \
    {                                                                                                                  \
        .name = (label), .extents = {1, 100 * MILLION}, .setup = program##_setup, .teardown = teardown,                \
        .run_c = program##_run, .sinter = SINTER_SCANS(program), .agree = same,                                        \
    }

const struct bench_row scan_rows[SCAN_ROWS] = {
    VECTOR_ROW("scan-f32", scan_f32),
    VECTOR_ROW("scan-i32", scan_i32),
    {
        .name = "scan-rows-f32",
        .extents = {4096, 16384},
        .setup = scan_f32_setup,
        .teardown = teardown,
        .run_c = scan_rows_run,
        .sinter = SINTER_SCANS(scan_rows),
        .agree = same,
    },
    VECTOR_ROW("filter", filter),
    VECTOR_ROW("ratios", ratios),
    VECTOR_ROW("filtermax", filtermax),
    VECTOR_ROW("topercentages", percentages),
    {
        .name = "softmax",
        .extents = {16384, 4096},
        .setup = softmax_setup,
        .teardown = teardown,
        .run_c = softmax_run,
        .sinter = SINTER_SCANS(softmax),
        .agree = softmax_agree,
    },
};
