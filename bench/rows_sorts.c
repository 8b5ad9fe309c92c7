/* Rows over sorts: 32-bit keys, alone and with values of 32 bits. */
#include "rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 16 << 20 };

static void teardown(void *data)
{
    struct sort_data *d = data;
    size_t bytes = (size_t)d->base.n * sizeof(uint32_t);
    uint32_t *all[] = {d->key,        d->value,        d->c_key,    d->c_value,
                       d->sinter_key, d->sinter_value, d->room_key, d->room_value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bench_free(all[i], bytes);
    free(d);
}

static void draw_part(void *ctx, int id, int workers)
{
    struct sort_data *d = ctx;
    struct team_range mine = team_part(d->base.n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++) {
        d->key[i] = (uint32_t)bench_hash((uint64_t)i, 21);
        if (d->value)
            d->value[i] = (uint32_t)i;
    }
}

static void *make(struct team *team, int64_t n, int values)
{
    struct sort_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    int64_t bytes = (values ? 8 : 4) * n;
    d->base = (struct bench_data){n, bytes, bytes};
    uint32_t **all[] = {&d->key,   &d->c_key,   &d->sinter_key,   &d->room_key,
                        &d->value, &d->c_value, &d->sinter_value, &d->room_value};
    for (int i = 0; i < (values ? 8 : 4); i++)
        if (!(*all[i] = bench_alloc((size_t)n * sizeof(uint32_t)))) {
            teardown(d);
            return NULL;
        }
    team_run(team, draw_part, d);
    return d;
}

static void *keys_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return make(team, n, 0);
}

static void *pairs_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return make(team, n, 1);
}

static void keys_run(struct team *team, void *data)
{
    struct sort_data *d = data;
    if (!c_sort_keys(team, d->base.n, d->key, d->c_key, d->room_key))
        fprintf(stderr, "sort-keys: no memory\n");
}

static void pairs_run(struct team *team, void *data)
{
    struct sort_data *d = data;
    if (!c_sort_pairs(team, d->base.n, d->key, d->value, d->c_key, d->c_value, d->room_key, d->room_value))
        fprintf(stderr, "sort-pairs: no memory\n");
}

/* Of a stable sort there is one result. */
static int same(const void *data, char *text, size_t size)
{
    const struct sort_data *d = data;
    for (int64_t i = 0; i < d->base.n; i++)
        if (d->c_key[i] != d->sinter_key[i] || (d->value && d->c_value[i] != d->sinter_value[i])) {
            snprintf(text, size, "element %" PRId64 " is %" PRIu32 ", in C %" PRIu32, i, d->sinter_key[i], d->c_key[i]);
            return 0;
        }
    return 1;
}

#ifdef BENCH_HAS_SORTS
extern const struct bench_side sinter_sort_keys, sinter_sort_pairs;
#define SINTER_SORTS(program) &sinter_##program
#else
#define SINTER_SORTS(program) NULL
#endif

const struct bench_row sort_rows[SORT_ROWS] = {
    {
        .name = "sort-keys",
        .extents = {1, ELEMENTS},
        .setup = keys_setup,
        .teardown = teardown,
        .run_c = keys_run,
        .sinter = SINTER_SORTS(sort_keys),
        .agree = same,
    },
    {
        .name = "sort-pairs",
        .extents = {1, ELEMENTS},
        .setup = pairs_setup,
        .teardown = teardown,
        .run_c = pairs_run,
        .sinter = SINTER_SORTS(sort_pairs),
        .agree = same,
    },
};
