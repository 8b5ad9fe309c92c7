/* Rows of larger programs: k-means, of points of 16 coordinates and of points in the plane, and the convex hull of
 * points in a disc. */
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000000, ROUNDS = 10, CENTRES = 64, PLANE_CENTRES = 16, HULL_POINTS = 10000000 };

/* --- k-means --- */

static void kmeans_teardown(void *data)
{
    struct kmeans_data *d = data;
    FREE_ARRAY(d->point, d->base.n * d->dimensions);
    FREE_ARRAY(d->begin, d->centres * d->dimensions);
    FREE_ARRAY(d->centre, d->centres * d->dimensions);
    FREE_ARRAY(d->sinter, d->centres * d->dimensions);
    FREE_ARRAY(d->room, d->room_size);
    free(d);
}

/* Coordinate t of point i: around that of one of as many places as there are centres. */
static float coordinate(int64_t i, int64_t t, int64_t places)
{
    uint64_t place = bench_hash((uint64_t)i, 51) % (uint64_t)places;
    float middle = (float)(bench_hash(place * 64 + (uint64_t)t, 52) >> 40) * 0x1p-22F; /* below 4 */
    float apart = 0;
    for (uint64_t k = 0; k < 4; k++)
        apart += (float)(bench_hash((uint64_t)(i * 64 + t), 53 + k) >> 40) * 0x1p-24F - 0.5F;
    return middle + apart;
}

struct draw {
    struct kmeans_data *d;
    int by_rows;
};

static void draw_part(void *ctx, int id, int workers)
{
    const struct draw *draw = ctx;
    struct kmeans_data *d = draw->d;
    struct team_range mine = team_part(d->base.n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++)
        for (int64_t t = 0; t < d->dimensions; t++)
            d->point[draw->by_rows ? i * d->dimensions + t : t * d->base.n + i] = coordinate(i, t, d->centres);
}

/* Points row by row, or one coordinate after the other; centres begin at the first points. */
static void *kmeans_make(struct team *team, int64_t n, int64_t dimensions, int64_t centres, int by_rows)
{
    struct kmeans_data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    *d = (struct kmeans_data){
        .base = {n, 4 * n * dimensions * ROUNDS, 0},
        .dimensions = dimensions,
        .centres = centres,
        .rounds = ROUNDS,
        .room_size = c_kmeans_room(team_workers(team), centres),
        .point = NEW_ARRAY(float, n *dimensions),
        .begin = NEW_ARRAY(float, centres *dimensions),
        .centre = NEW_ARRAY(float, centres *dimensions),
        .sinter = NEW_ARRAY(float, centres *dimensions),
    };
    d->room = NEW_ARRAY(float, d->room_size);
    if (!d->point || !d->begin || !d->centre || !d->sinter || !d->room) {
        kmeans_teardown(d);
        return NULL;
    }
    struct draw draw = {d, by_rows};
    team_run(team, draw_part, &draw);
    for (int64_t j = 0; j < centres; j++)
        for (int64_t t = 0; t < dimensions; t++)
            d->begin[by_rows ? j * dimensions + t : t * centres + j] =
                d->point[by_rows ? j * dimensions + t : t * n + j];
    return d;
}

static void *kmeans_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return kmeans_make(team, n, KMEANS_DIMENSIONS, CENTRES, 1);
}

static void *plane_setup(struct team *team, int64_t rows, int64_t n)
{
    (void)rows;
    return kmeans_make(team, n, 2, PLANE_CENTRES, 0);
}

static void kmeans_run(struct team *team, void *data)
{
    struct kmeans_data *d = data;
    memcpy(d->centre, d->begin, (size_t)(d->centres * d->dimensions) * sizeof *d->centre);
    c_kmeans(team, d->rounds, d->base.n, d->point, d->centres, d->centre, d->room);
}

static void plane_run(struct team *team, void *data)
{
    struct kmeans_data *d = data;
    memcpy(d->centre, d->begin, (size_t)(2 * d->centres) * sizeof *d->centre);
    c_kmeans_plane(team, d->rounds, d->base.n, d->point, d->point + d->base.n, d->centres, d->centre,
                   d->centre + d->centres, d->room);
}

/* Means are sums in f32 in different orders; a point that is as far from two centres may go with either. */
static int kmeans_agree(const void *data, char *text, size_t size)
{
    const struct kmeans_data *d = data;
    float most = 0;
    for (int64_t i = 0; i < d->centres * d->dimensions; i++) {
        float apart = fabsf(d->centre[i] - d->sinter[i]);
        most = apart <= most ? most : apart;
    }
    snprintf(text, size, "up to %.3g apart (allowed 0.002)", (double)most);
    return most <= 0.002F;
}

const struct bench_row kmeans_rows[KMEANS_ROWS] = {
    {
        .name = "kmeans",
        .extents = {1, POINTS},
        .compute_bound = 1,
        .setup = kmeans_setup,
        .teardown = kmeans_teardown,
        .run_c = kmeans_run,
        .sinter = SINTER_PROGRAMS(kmeans),
        .agree = kmeans_agree,
    },
    {
        .name = "kmeans-plane",
        .extents = {1, POINTS},
        .compute_bound = 1,
        .setup = plane_setup,
        .teardown = kmeans_teardown,
        .run_c = plane_run,
        .sinter = SINTER_PROGRAMS(kmeans_plane),
        .agree = kmeans_agree,
    },
};

/* --- hulls --- */

static void hull_teardown(void *data)
{
    struct hull_data *d = data;
    FREE_ARRAY(d->x, d->base.n);
    FREE_ARRAY(d->y, d->base.n);
    FREE_ARRAY(d->corner, 2 * d->base.n);
    FREE_ARRAY(d->sinter, 2 * d->base.n);
    free(d->room);
    free(d);
}

static double uniform(int64_t i, uint64_t seed)
{
    return (double)(bench_hash((uint64_t)i, seed) >> 11) * 0x1p-53;
}

static void disc_part(void *ctx, int id, int workers)
{
    struct hull_data *d = ctx;
    struct team_range mine = team_part(d->base.n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++) {
        double angle = 6.283185307179586 * uniform(i, 61), radius = sqrt(uniform(i, 62));
        d->x[i] = radius * cos(angle);
        d->y[i] = radius * sin(angle);
    }
}

static void *hull_setup(struct team *team, int64_t rows, int64_t n)
{
    struct hull_data *d = calloc(1, sizeof *d);
    (void)rows;
    if (!d)
        return NULL;
    *d = (struct hull_data){
        .base = {n, 16 * n, 0},
        .x = NEW_ARRAY(double, n),
        .y = NEW_ARRAY(double, n),
        .corner = NEW_ARRAY(double, 2 * n),
        .sinter = NEW_ARRAY(double, 2 * n),
        .room = calloc((size_t)(12 * n + 160), sizeof(double)), /* most of it is never touched */
    };
    if (!d->x || !d->y || !d->corner || !d->sinter || !d->room) {
        hull_teardown(d);
        return NULL;
    }
    team_run(team, disc_part, d);
    return d;
}

static void hull_run(struct team *team, void *data)
{
    struct hull_data *d = data;
    d->corners = c_quickhull(team, d->base.n, d->x, d->y, d->corner, d->corner + d->base.n, d->room);
}

/* The same corners in the same order. */
static int hull_agree(const void *data, char *text, size_t size)
{
    const struct hull_data *d = data;
    int64_t differ = d->corners != d->sinter_corners;
    for (int64_t i = 0; i < d->corners && !differ; i++)
        differ += d->corner[i] != d->sinter[i] || d->corner[d->base.n + i] != d->sinter[d->base.n + i];
    snprintf(text, size, "%" PRId64 " corners, in C %" PRId64 "%s", d->sinter_corners, d->corners,
             differ ? ", not the same" : "");
    return !differ;
}

const struct bench_row hull_row = {
    .name = "quickhull-10M",
    .extents = {1, HULL_POINTS},
    .setup = hull_setup,
    .teardown = hull_teardown,
    .run_c = hull_run,
    .sinter = SINTER_PROGRAMS(quickhull),
    .agree = hull_agree,
};
