/* Programs of the examples, and k-means of points that are rows. */
#include "../../examples/programs/kmeans.h"
#include "../../examples/programs/quickhull.h"
#include "../side.h"

static sn_scalar square_apart(sn_scalar a, sn_scalar b)
{
    sn_scalar apart = sn_sub(a, b);
    return sn_mul(apart, apart);
}

static sn_scalar place(void *env, sn_scalar i, sn_scalar t)
{
    return sn_tuple(sn_index(*(sn_acc *)env, i), t);
}

static sn_scalar mean(sn_scalar centre, sn_scalar sum, sn_scalar count)
{
    return sn_if(sn_eq(count, 0), centre, sn_div(sum, sn_to_f32(count)));
}

static sn_acc rows_round(void *env, int count, const sn_acc *state)
{
    sn_acc points = *(sn_acc *)env, centres = state[0];
    sn_scalar n = sn_extent(points, 0), k = sn_extent(centres, 0);
    (void)count;
    sn_acc apart =
        sn_zip_with(square_apart, sn_replicate(points, SN_ALL, k, SN_ALL), sn_replicate(centres, n, SN_ALL, SN_ALL));
    sn_acc nearest = sn_argmin(sn_sum(apart));
    sn_acc sums = sn_permute(sn_add, sn_fill(sn_shape_of(centres), 0.0f), sn_closure(place, &nearest), points);
    sn_acc counts = sn_replicate(sn_histogram(k, nearest), SN_ALL, sn_extent(centres, 1));
    return sn_zip_with(mean, centres, sums, counts);
}

static sn_acc rows(sn_acc rounds, sn_acc points, sn_acc centres)
{
    return sn_aiterate(sn_the(rounds), sn_body_of(rows_round, &points, 1), centres);
}

static void *open_rows(void *data)
{
    (void)data;
    return side_open("i64, [n,16]f32, [k,16]f32 -> [k,16]f32", SN_BODY(rows));
}

static int run_rows(void *state, void *data)
{
    struct side *s = state;
    struct kmeans_data *d = data;
    int64_t rounds = d->rounds;
    return side_ok(s,
                   sn_call(s->program, sn_value(&rounds), sn_in(d->point, d->base.n, d->dimensions),
                           sn_in(d->begin, d->centres, d->dimensions), sn_into(d->sinter, d->centres, d->dimensions)));
}

static void *open_plane(void *data)
{
    (void)data;
    return side_open(KMEANS_SIGNATURE, SN_BODY(kmeans));
}

static int run_plane(void *state, void *data)
{
    struct side *s = state;
    struct kmeans_data *d = data;
    int64_t rounds = d->rounds, n = d->base.n, k = d->centres;
    return side_ok(s, sn_call(s->program, sn_value(&rounds), sn_in(d->point, n), sn_in(d->point + n, n),
                              sn_in(d->begin, k), sn_in(d->begin + k, k), sn_into(d->sinter, k),
                              sn_into(d->sinter + k, k)));
}

static void *open_hull(void *data)
{
    (void)data;
    return side_open(QUICKHULL_SIGNATURE, SN_BODY(quickhull));
}

static int run_hull(void *state, void *data)
{
    struct side *s = state;
    struct hull_data *d = data;
    int64_t n = d->base.n, as_many = 0;
    return side_ok(s, sn_call(s->program, sn_in(d->x, n), sn_in(d->y, n), sn_upto(d->sinter, n, &d->sinter_corners),
                              sn_upto(d->sinter + n, n, &as_many)));
}

const struct bench_side sinter_kmeans = {open_rows, run_rows, side_close};
const struct bench_side sinter_kmeans_plane = {open_plane, run_plane, side_close};
const struct bench_side sinter_quickhull = {open_hull, run_hull, side_close};
