/* Particles, rays, meshes and transforms. */
#include "vectors.h"

#include <math.h>

/* --- particles --- */

static sn_scalar energy(sn_scalar v, sn_scalar mass)
{
    sn_scalar a[3];
    tuple3(v, a);
    return sn_mul(sn_mul(0.5, mass), dot3(a, a));
}

static sn_acc kinetic(sn_acc v, sn_acc mass)
{
    return sn_sum(sn_zip_with(energy, v, mass));
}

F2(kick, sn_add(x, sn_mul(0.0625f, y)))

static sn_scalar drift(sn_scalar x, sn_scalar v)
{
    sn_scalar y = kick(x, v);
    return sn_sub(y, sn_floor(y));
}

static sn_acc leapfrog(sn_acc x, sn_acc v, sn_acc force)
{
    sn_acc next = sn_zip_with(kick, v, force);
    return sn_results(sn_zip_with(drift, x, next), next);
}

static sn_scalar image_apart(void *env, sn_scalar p)
{
    const sn_acc *in = env;
    sn_scalar i = sn_to_i64(sn_index(in[1], p, 0)), j = sn_to_i64(sn_index(in[1], p, 1)), a[3], b[3], d[3];
    row3(in[0], i, a);
    row3(in[0], j, b);
    minus3(a, b, d);
    for (int k = 0; k < 3; k++)
        d[k] = sn_sub(d[k], sn_mul(2.0, sn_rint(sn_mul(0.5, d[k]))));
    return dot3(d, d);
}

static sn_acc minimum_image(sn_acc x, sn_acc pairs)
{
    sn_acc in[] = {x, pairs};
    return sn_generate(sn_extent(pairs, 0), sn_closure(image_apart, in));
}

static sn_scalar weighted(sn_scalar p, sn_scalar mass)
{
    return sn_tuple(sn_mul(sn_fst(p), mass), sn_mul(sn_snd(p), mass), mass);
}

static sn_scalar add_triples(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)));
}

static sn_scalar centre(sn_scalar s)
{
    sn_scalar mass = sn_if(sn_gt(sn_get(s, 2), 0.0), sn_get(s, 2), sn_f64(1));
    return sn_tuple(sn_div(sn_get(s, 0), mass), sn_div(sn_get(s, 1), mass));
}

static sn_acc centres_of_mass(sn_acc label, sn_acc points, sn_acc mass)
{
    return sn_map(
        centre, sn_reduce_by_key(add_triples, sn_tuple(0.0, 0.0, 0.0), 16, label, sn_zip_with(weighted, points, mass)));
}

static sn_scalar cell_of(sn_scalar p)
{
    sn_scalar cell = sn_i32(0);
    for (int k = 0; k < 3; k++)
        cell = sn_add(sn_mul(cell, 16), sn_to_i32(sn_mul(sn_get(p, k), 16.0f)));
    return cell;
}

static sn_acc cells_of_particles(sn_acc points)
{
    sn_acc cell = sn_map(cell_of, points);
    return sn_results(cell, sn_histogram(4096, cell));
}

static sn_scalar add_force(void *env, sn_scalar force, sn_scalar centre)
{
    sn_scalar c[3], d[3];
    tuple3(centre, c);
    minus3(c, env, d);
    sn_scalar r2 = sn_add(dot3(d, d), 0.01f);
    sn_scalar f = sn_div(sn_get(centre, 3), sn_mul(r2, sn_sqrt(r2)));
    return sn_tuple(sn_add(sn_get(force, 0), sn_mul(d[0], f)), sn_add(sn_get(force, 1), sn_mul(d[1], f)),
                    sn_add(sn_get(force, 2), sn_mul(d[2], f)));
}

static sn_scalar force_at(void *env, sn_scalar point)
{
    sn_scalar p[3];
    tuple3(point, p);
    return sn_sfold(sn_closure(add_force, p), sn_tuple(0.0f, 0.0f, 0.0f), *(sn_acc *)env);
}

static sn_acc forces_of_centres(sn_acc points, sn_acc centres)
{
    return sn_map(sn_closure(force_at, &centres), points);
}

/* --- rays --- */

struct rays {
    sn_acc from, to, things;
};

struct ray {
    sn_scalar o[3], d[3];
    sn_acc things;
};

static struct ray ray_of(void *env, sn_scalar i)
{
    const struct rays *rays = env;
    struct ray ray = {.things = rays->things};
    row3(rays->from, i, ray.o);
    row3(rays->to, i, ray.d);
    return ray;
}

static sn_scalar nearer_sphere(void *env, sn_scalar best, sn_scalar sphere)
{
    const struct ray *ray = env;
    sn_scalar c[3], oc[3], r = sn_get(sphere, 3), j = sn_get(best, 2);
    tuple3(sphere, c);
    minus3(ray->o, c, oc);
    sn_scalar a = dot3(ray->d, ray->d), b = dot3(ray->d, oc), q = sn_sub(dot3(oc, oc), sn_mul(r, r));
    sn_scalar under = sn_sub(sn_mul(b, b), sn_mul(a, q));
    sn_scalar t = sn_div(sn_sub(sn_neg(b), sn_sqrt(sn_max(under, 0.0f))), a);
    sn_scalar hit = sn_land(sn_land(sn_ge(under, 0.0f), sn_gt(t, 0.0f)), sn_lt(t, sn_get(best, 0)));
    return sn_tuple(sn_if(hit, t, sn_get(best, 0)), sn_if(hit, j, sn_get(best, 1)), sn_add(j, 1));
}

static sn_scalar first_sphere(void *env, sn_scalar i)
{
    struct ray ray = ray_of(env, i);
    ray.d[2] = sn_add(ray.d[2], 1.0f);
    sn_scalar best = sn_sfold(sn_closure(nearer_sphere, &ray), sn_tuple(1e30f, sn_i32(-1), sn_i32(0)), ray.things);
    return sn_tuple(sn_get(best, 0), sn_get(best, 1));
}

static sn_acc nearest_sphere(sn_acc from, sn_acc to, sn_acc spheres)
{
    struct rays rays = {from, to, spheres};
    sn_acc hits = sn_generate(sn_extent(from, 0), sn_closure(first_sphere, &rays));
    return sn_results(sn_fst(hits), sn_snd(hits));
}

static sn_scalar count_box(void *env, sn_scalar j, sn_scalar count)
{
    const struct ray *ray = env;
    sn_scalar in = sn_f32(0), out = sn_f32(INFINITY);
    for (int k = 0; k < 3; k++) {
        sn_scalar one_over = sn_div(1.0f, ray->d[k]);
        sn_scalar a = sn_mul(sn_sub(sn_index(ray->things, j, k), ray->o[k]), one_over);
        sn_scalar b = sn_mul(sn_sub(sn_index(ray->things, j, k + 3), ray->o[k]), one_over);
        in = sn_max(in, sn_min(a, b));
        out = sn_min(out, sn_max(a, b));
    }
    return sn_add(count, sn_to_u8(sn_le(in, out)));
}

static sn_scalar boxes_of_ray(void *env, sn_scalar i)
{
    struct ray ray = ray_of(env, i);
    return sn_loop(sn_extent(ray.things, 0), sn_closure(count_box, &ray), sn_u8(0));
}

static sn_acc boxes_hit(sn_acc from, sn_acc to, sn_acc boxes)
{
    struct rays rays = {from, to, boxes};
    return sn_generate(sn_extent(from, 0), sn_closure(boxes_of_ray, &rays));
}

static sn_scalar nearer_triangle(void *env, sn_scalar j, sn_scalar best)
{
    const struct ray *ray = env;
    sn_scalar v[3][3], e1[3], e2[3], h[3], s[3], q[3];
    for (int k = 0; k < 9; k++)
        v[k / 3][k % 3] = sn_index(ray->things, j, k);
    minus3(v[1], v[0], e1);
    minus3(v[2], v[0], e2);
    cross3(ray->d, e2, h);
    minus3(ray->o, v[0], s);
    cross3(s, e1, q);
    sn_scalar a = dot3(e1, h), sign = sn_signum(a);
    sn_scalar u = sn_mul(sign, dot3(s, h)), w = sn_mul(sign, dot3(ray->d, q)), t = sn_div(dot3(e2, q), a);
    sn_scalar inside = sn_land(sn_land(sn_ge(u, 0.0f), sn_ge(w, 0.0f)), sn_le(sn_add(u, w), sn_abs(a)));
    sn_scalar hit = sn_land(sn_land(inside, sn_ne(a, 0.0f)), sn_gt(t, 0.0f));
    return sn_if(hit, sn_min(best, t), best);
}

static sn_scalar first_triangle(void *env, sn_scalar i)
{
    struct ray ray = ray_of(env, i);
    return sn_loop(sn_extent(ray.things, 0), sn_closure(nearer_triangle, &ray), sn_f32(1000));
}

static sn_acc nearest_triangle(sn_acc from, sn_acc to, sn_acc triangles)
{
    struct rays rays = {from, to, triangles};
    return sn_generate(sn_extent(from, 0), sn_closure(first_triangle, &rays));
}

/* --- polygons and meshes --- */

struct corner {
    sn_acc corners;
    sn_scalar x, y;
};

static sn_scalar cross_edge(void *env, sn_scalar j, sn_scalar inside)
{
    const struct corner *c = env;
    sn_scalar k = sn_size(c->corners), p = sn_index(c->corners, j), q = sn_index(c->corners, sn_rem(sn_add(j, 1), k));
    sn_scalar px = sn_fst(p), py = sn_snd(p), qx = sn_fst(q), qy = sn_snd(q);
    sn_scalar spans = sn_ne(sn_gt(py, c->y), sn_gt(qy, c->y));
    sn_scalar side = sn_sub(sn_mul(sn_sub(c->x, px), sn_sub(qy, py)), sn_mul(sn_sub(qx, px), sn_sub(c->y, py)));
    sn_scalar left = sn_ne(sn_lt(side, 0.0f), sn_lt(qy, py));
    return sn_ne(inside, sn_land(spans, left));
}

static sn_scalar is_inside(void *env, sn_scalar point)
{
    struct corner c = {*(sn_acc *)env, sn_fst(point), sn_snd(point)};
    return sn_loop(sn_size(c.corners), sn_closure(cross_edge, &c), sn_bool(false));
}

static sn_acc in_polygon(sn_acc points, sn_acc corners)
{
    return sn_map(sn_closure(is_inside, &corners), points);
}

static sn_scalar area_volume_of(void *env, sn_scalar t)
{
    const sn_acc *in = env;
    sn_scalar v[3][3], a[3], b[3], n[3];
    for (int k = 0; k < 3; k++)
        row3(in[0], sn_to_i64(sn_index(in[1], t, k)), v[k]);
    minus3(v[1], v[0], a);
    minus3(v[2], v[0], b);
    cross3(a, b, n);
    return sn_tuple(sn_mul(0.5, sn_sqrt(dot3(n, n))), sn_div(dot3(v[0], n), 6.0));
}

static sn_acc area_volume(sn_acc points, sn_acc triangles)
{
    sn_acc in[] = {points, triangles};
    sn_acc both = sn_generate(sn_extent(triangles, 0), sn_closure(area_volume_of, in));
    return sn_results(sn_sum(sn_fst(both)), sn_sum(sn_snd(both)));
}

static sn_scalar normal_of(sn_scalar p, sn_scalar q, sn_scalar r)
{
    sn_scalar v[3][3], a[3], b[3], n[3];
    tuple3(p, v[0]);
    tuple3(q, v[1]);
    tuple3(r, v[2]);
    minus3(v[1], v[0], a);
    minus3(v[2], v[0], b);
    cross3(a, b, n);
    return sn_tuple(n[0], n[1], n[2]);
}

static sn_acc mesh_normals(sn_acc points, sn_acc triangles)
{
    return sn_zip_with(normal_of, sn_gather(sn_get(triangles, 0), points), sn_gather(sn_get(triangles, 1), points),
                       sn_gather(sn_get(triangles, 2), points));
}

static sn_scalar laplacian_at(void *env, sn_scalar i, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar sum = sn_index(in[0], sn_to_i64(sn_index(in[1], i, 0)), c);
    for (int k = 1; k < 6; k++)
        sum = sn_add(sum, sn_index(in[0], sn_to_i64(sn_index(in[1], i, k)), c));
    return sn_sub(sn_div(sum, 6.0f), sn_index(in[0], i, c));
}

static sn_acc mesh_laplacian(sn_acc points, sn_acc neighbours)
{
    sn_acc in[] = {points, neighbours};
    return sn_generate(sn_shape_of(points), sn_closure(laplacian_at, in));
}

static sn_scalar projected(void *env, sn_scalar i)
{
    const sn_acc *in = env;
    sn_scalar p[3], r[4];
    row3(in[0], i, p);
    for (int k = 0; k < 4; k++) {
        sn_scalar m[3];
        row3(in[1], sn_i64(k), m);
        r[k] = sn_add(dot3(m, p), sn_index(in[1], k, 3));
    }
    sn_scalar w = sn_add(r[3], 5.0f), x = sn_div(r[0], w), y = sn_div(r[1], w);
    sn_scalar seen = sn_land(sn_land(sn_le(sn_abs(x), 0.25f), sn_le(sn_abs(y), 0.25f)), sn_gt(r[2], 0.0f));
    return sn_tuple(x, y, seen);
}

static sn_acc project(sn_acc points, sn_acc matrix)
{
    sn_acc in[] = {points, matrix}, p = sn_generate(sn_extent(points, 0), sn_closure(projected, in));
    return sn_results(sn_get(p, 0), sn_get(p, 1), sn_get(p, 2));
}

#define NB_GROUP bodies
#define NB_TABLE "bodies.def"
#include "../table.h"
