/* k-means of points in the plane: each centre moves to the mean of the points that are nearest to it, so many times. */
#ifndef PROGRAMS_KMEANS_H
#define PROGRAMS_KMEANS_H

#include <sinter/sinter.h>

#include <math.h>

#define KMEANS_SIGNATURE "i64, [n](f32, f32), [k](f32, f32) -> [k](f32, f32)"

struct kmeans_search {
    sn_acc centres;
    sn_scalar point;
};

/* The nearest so far: its square distance and its number; of equal ones the first. */
static sn_scalar kmeans_nearer(void *env, sn_scalar j, sn_scalar nearest)
{
    const struct kmeans_search *s = env;
    sn_scalar centre = sn_index(s->centres, j);
    sn_scalar dx = sn_sub(sn_fst(s->point), sn_fst(centre)), dy = sn_sub(sn_snd(s->point), sn_snd(centre));
    sn_scalar distance = sn_add(sn_mul(dx, dx), sn_mul(dy, dy));
    return sn_if(sn_lt(distance, sn_fst(nearest)), sn_tuple(distance, j), nearest);
}

static sn_scalar kmeans_nearest(void *env, sn_scalar point)
{
    struct kmeans_search s = {*(sn_acc *)env, point};
    sn_scalar none = sn_tuple(sn_f32(INFINITY), sn_i64(0));
    return sn_snd(sn_loop(sn_extent(s.centres, 0), sn_closure(kmeans_nearer, &s), none));
}

static sn_scalar kmeans_counted(sn_scalar point)
{
    return sn_tuple(sn_fst(point), sn_snd(point), sn_i64(1));
}

static sn_scalar kmeans_add(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)));
}

/* A centre without points stays where it is. */
static sn_scalar kmeans_mean(sn_scalar centre, sn_scalar sum)
{
    sn_scalar count = sn_to_f32(sn_get(sum, 2));
    sn_scalar mean = sn_tuple(sn_div(sn_get(sum, 0), count), sn_div(sn_get(sum, 1), count));
    return sn_if(sn_eq(sn_get(sum, 2), 0), centre, mean);
}

static sn_acc kmeans_round(void *env, int count, const sn_acc *state)
{
    sn_acc points = *(sn_acc *)env, centres = state[0];
    (void)count;
    sn_acc nearest = sn_map(sn_closure(kmeans_nearest, &centres), points);
    sn_scalar none = sn_tuple(sn_f32(0), sn_f32(0), sn_i64(0));
    sn_acc sums = sn_reduce_by_key(kmeans_add, none, sn_extent(centres, 0), nearest, sn_map(kmeans_counted, points));
    return sn_zip_with(kmeans_mean, centres, sums);
}

static sn_acc kmeans(sn_acc rounds, sn_acc points, sn_acc centres)
{
    return sn_aiterate(sn_the(rounds), sn_body_of(kmeans_round, &points, 1), centres);
}

#endif
