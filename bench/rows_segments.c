/* Rows over segments: sums of 64 M numbers in segments of one length, of lengths at random, and of one giant among
 * short ones; sparse matrices times vectors. Segments are described by offsets. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MILLION = 1000000, RANDOM = -1, ONE_GIANT = -2 };

static void teardown(void *data)
{
    struct segments_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->column, d->base.n);
    FREE_ARRAY(d->vector, d->columns);
    FREE_ARRAY(d->offsets, d->room + 1);
    FREE_ARRAY(d->sums, d->room);
    FREE_ARRAY(d->sinter, d->room);
    free(d);
}

static int64_t length_of(int64_t length, int64_t segment, int64_t n)
{
    if (length == RANDOM)
        return (int64_t)(bench_hash((uint64_t)segment, 31) % 64);
    if (length == ONE_GIANT)
        return segment == 1000 ? n / 2 : 4;
    return length ? length : n;
}

/* Odd multiples of 1/32 in (-2, 2), as in rows_scans.c: their sums are exact in any order. */
static float number(int64_t i, uint64_t seed)
{
    return (float)((int)(bench_hash((uint64_t)i, seed) >> 58) * 2 - 63) / 32;
}

/* n elements; `columns` of a matrix: 0: there is none. */
static void *make(int64_t n, int64_t length, int64_t columns)
{
    struct segments_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->room = length > 0 ? n / length + 1 : length == RANDOM ? n / 24 + 1024 : n / 4 + 1024;
    d->columns = columns;
    d->base.n = n;
    d->x = NEW_ARRAY(float, n);
    d->offsets = NEW_ARRAY(int64_t, d->room + 1);
    d->sums = NEW_ARRAY(float, d->room);
    d->sinter = NEW_ARRAY(float, d->room);
    if (columns) {
        d->column = NEW_ARRAY(int32_t, n);
        d->vector = NEW_ARRAY(float, columns);
    }
    if (!d->x || !d->offsets || !d->sums || !d->sinter || (columns && (!d->column || !d->vector))) {
        teardown(d);
        return NULL;
    }
    for (int64_t at = 0; at < n && d->segments < d->room; d->segments++) {
        int64_t next = length_of(length, d->segments, n);
        at = next < n - at ? at + next : n;
        d->offsets[d->segments + 1] = at;
    }
    d->offsets[d->segments] = n;
    for (int64_t i = 0; i < n; i++)
        d->x[i] = number(i, 32);
    for (int64_t i = 0; i < n && columns; i++)
        d->column[i] = (int32_t)(bench_hash((uint64_t)i, 33) % (uint64_t)columns);
    for (int64_t i = 0; i < columns; i++)
        d->vector[i] = number(i, 34);
    d->base.read_bytes = 4 * n + 8 * (d->segments + 1) + (columns ? 4 * n + 4 * columns : 0);
    d->base.written_bytes = 4 * d->segments;
    return d;
}

static void run_segsum(struct team *team, void *data)
{
    struct segments_data *d = data;
    c_segsum(team, d->segments, d->offsets, d->x, d->sums);
}

static void run_csr(struct team *team, void *data)
{
    struct segments_data *d = data;
    c_csr(team, d->segments, d->offsets, d->column, d->x, d->vector, d->sums);
}

/* Sums in different orders, which are exact up to some millions of elements, and small. */
static int agree(const void *data, char *text, size_t size)
{
    const struct segments_data *d = data;
    float most = 0;
    for (int64_t i = 0; i < d->segments; i++) {
        float apart = fabsf(d->sums[i] - d->sinter[i]);
        most = apart <= most ? most : apart;
    }
    snprintf(text, size, "up to %.3g apart (allowed 0.01)", (double)most);
    return most <= 0.01F;
}

#define SEGSUM(name_, length)                                                                                          \
    static void *setup_##name_(struct team *team, int64_t rows, int64_t columns)                                       \
    {                                                                                                                  \
        (void)team, (void)rows;                                                                                        \
        return make(columns, length, 0);                                                                               \
    }
SEGSUM(ones, 1)
SEGSUM(fours, 4)
SEGSUM(of_16, 16)
SEGSUM(of_64, 64)
SEGSUM(of_1024, 1024)
SEGSUM(of_65536, 65536)
SEGSUM(whole, 0)
SEGSUM(random, RANDOM)
SEGSUM(giant, ONE_GIANT)

static void *setup_csr(struct team *team, int64_t rows, int64_t columns)
{
    (void)team;
    return make(rows * columns, columns, rows);
}

/* --- FilterMax --- */

static void drop_filtermax(void *data)
{
    struct filtermax_data *d = data;
    const int64_t n = d->base.n, segments = d->of.segments;
    FREE_ARRAY((int64_t *)d->of.offsets, segments + 1);
    FREE_ARRAY((float *)d->of.x, n);
    FREE_ARRAY((float *)d->of.y, n);
    for (int k = 0; k < 4; k++)
        FREE_ARRAY((float *)d->of.line[k], segments);
    for (int k = 0; k < 2; k++) {
        FREE_ARRAY(d->of.far[k], segments);
        FREE_ARRAY(d->of.above[k], n);
        FREE_ARRAY(d->sinter_far[k], segments);
        FREE_ARRAY(d->sinter_above[k], n);
    }
    FREE_ARRAY(d->of.counts, segments);
    FREE_ARRAY(d->sinter_counts, segments);
    free(d);
}

/* Multiples of 1/256 in [-1, 1): distances are exact. */
static float *coordinates(int64_t n, uint64_t seed)
{
    float *x = NEW_ARRAY(float, n);
    for (int64_t i = 0; x && i < n; i++)
        x[i] = (float)((int)(bench_hash((uint64_t)i, seed) >> 55) - 256) / 256;
    return x;
}

static void *make_filtermax(int64_t n, int64_t length)
{
    struct filtermax_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    const int64_t segments = (n + length - 1) / length;
    int64_t *offsets = NEW_ARRAY(int64_t, segments + 1);
    int whole = offsets != NULL;
    d->base.n = n;
    d->of.segments = segments;
    d->of.offsets = offsets;
    for (int64_t s = 0; s <= segments && whole; s++)
        offsets[s] = s * length < n ? s * length : n;
    d->of.x = coordinates(n, 41);
    d->of.y = coordinates(n, 42);
    whole &= d->of.x && d->of.y;
    for (int k = 0; k < 4; k++)
        whole &= (d->of.line[k] = coordinates(segments, 43 + (uint64_t)k)) != NULL;
    for (int k = 0; k < 2; k++) {
        whole &= (d->of.far[k] = NEW_ARRAY(float, segments)) != NULL;
        whole &= (d->of.above[k] = NEW_ARRAY(float, n)) != NULL;
        whole &= (d->sinter_far[k] = NEW_ARRAY(float, segments)) != NULL;
        whole &= (d->sinter_above[k] = NEW_ARRAY(float, n)) != NULL;
    }
    whole &= (d->of.counts = NEW_ARRAY(int64_t, segments)) != NULL;
    whole &= (d->sinter_counts = NEW_ARRAY(int64_t, segments)) != NULL;
    if (!whole) {
        drop_filtermax(d);
        return NULL;
    }
    d->base.read_bytes = 8 * n + 8 * (segments + 1) + 16 * segments;
    d->base.written_bytes = 16 * segments + 4 * n; /* half of the points are kept */
    return d;
}

static void run_filtermax(struct team *team, void *data)
{
    struct filtermax_data *d = data;
    d->kept = c_segfiltermax(team, &d->of);
}

static int agree_filtermax(const void *data, char *text, size_t size)
{
    const struct filtermax_data *d = data;
    int same = d->kept == d->sinter_kept[0] && d->kept == d->sinter_kept[1];
    for (int k = 0; k < 2 && same; k++)
        same = !memcmp(d->of.far[k], d->sinter_far[k], (size_t)d->of.segments * sizeof(float)) &&
               !memcmp(d->of.above[k], d->sinter_above[k], (size_t)d->kept * sizeof(float));
    same = same && !memcmp(d->of.counts, d->sinter_counts, (size_t)d->of.segments * sizeof(int64_t));
    snprintf(text, size, same ? "equal, %lld points kept" : "different, %lld points kept", (long long)d->kept);
    return same;
}

static void *setup_filtermax(struct team *team, int64_t segments, int64_t length)
{
    (void)team;
    return make_filtermax(segments * length, length);
}

#define FILTERMAX(name_, segments, length)                                                                             \
    {                                                                                                                  \
        .name = name_, .extents = {segments, length}, .setup = setup_filtermax, .teardown = drop_filtermax,            \
        .run_c = run_filtermax, .sinter = SINTER_SEGMENTS(segfiltermax), .agree = agree_filtermax                      \
    }
#define ROW(name_, setup_)                                                                                             \
    {                                                                                                                  \
        .name = name_, .extents = {1, 64 * MILLION}, .setup = setup_, .teardown = teardown, .run_c = run_segsum,       \
        .sinter = SINTER_SEGMENTS(segsum), .agree = agree                                                              \
    }
#define CSR(name_, rows, columns)                                                                                      \
    {                                                                                                                  \
        .name = name_, .extents = {rows, columns}, .setup = setup_csr, .teardown = teardown, .run_c = run_csr,         \
        .sinter = SINTER_SEGMENTS(csr), .agree = agree                                                                 \
    }

const struct bench_row segments_rows[SEGMENTS_ROWS] = {
    ROW("segsum-1", setup_ones),
    ROW("segsum-4", setup_fours),
    ROW("segsum-16", setup_of_16),
    ROW("segsum-64", setup_of_64),
    ROW("segsum-1024", setup_of_1024),
    ROW("segsum-65536", setup_of_65536),
    ROW("segsum-64M", setup_whole),
    ROW("segsum-random", setup_random),
    ROW("segsum-one-giant", setup_giant),
    CSR("csr-random", MILLION, 16),
    CSR("csr-long", 4096, 2000),
    FILTERMAX("segfiltermax-2", 10 * MILLION, 2),
    FILTERMAX("segfiltermax-16", 1250000, 16),
    FILTERMAX("segfiltermax-2-lines", 2, 10 * MILLION),
    FILTERMAX("segfiltermax-16-lines", 16, 1250000),
};
