/* Grids of one to three dimensions, lattices, labels. */
#include "vectors.h"

#include <math.h>

void nb_make_fields_groups(const struct nb_call *call);

F1(square, sn_mul(x, x))

/* --- grids --- */

static sn_scalar nearest_surface(void *env, sn_scalar best, sn_scalar sphere)
{
    sn_scalar c[3], d[3];
    tuple3(sphere, c);
    minus3(env, c, d);
    return sn_min(best, sn_sub(sn_sqrt(dot3(d, d)), sn_get(sphere, 3)));
}

static sn_scalar distance_at(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    sn_scalar p[] = {sn_mul(sn_to_f32(i), 0.0625f), sn_mul(sn_to_f32(j), 0.0625f), sn_mul(sn_to_f32(k), 0.0625f)};
    return sn_sfold(sn_closure(nearest_surface, p), sn_f32(1e30f), *(sn_acc *)env);
}

static sn_acc spheres_distance(sn_acc spheres, sn_acc a, sn_acc b, sn_acc c)
{
    return sn_generate(sn_shape(sn_size(a), sn_size(b), sn_size(c)), sn_closure(distance_at, &spheres));
}

static sn_scalar case_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar code = sn_u8(0);
    for (int k = 0; k < 4; k++)
        code = sn_bit_or(code,
                         sn_if(sn_gt(sn_index(x, sn_add(i, k / 2), sn_add(j, k % 2)), 0.0f), sn_u8(1 << k), sn_u8(0)));
    return code;
}

static sn_acc cases(sn_acc x)
{
    return sn_generate(sn_shape(sn_sub(sn_extent(x, 0), 1), sn_sub(sn_extent(x, 1), 1)), sn_closure(case_at, &x));
}

static sn_acc marching(sn_acc x, sn_acc k, sn_acc l)
{
    (void)k, (void)l;
    return cases(x);
}

static sn_acc marching_counts(sn_acc x)
{
    return sn_histogram(16, sn_flatten(cases(x)));
}

static sn_scalar between(sn_scalar a, sn_scalar b, sn_scalar t)
{
    return sn_add(a, sn_mul(sn_sub(b, a), t));
}

static sn_scalar sampled_3d(void *env, sn_scalar p)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar at[3], t[3], v[8];
    for (int k = 0; k < 3; k++) {
        sn_scalar last = sn_sub(sn_extent(x, k), 1), place = sn_mul(sn_get(p, k), sn_to_f32(last));
        at[k] = sn_min(sn_to_i64(place), sn_sub(last, 1));
        t[k] = sn_sub(place, sn_to_f32(at[k]));
    }
    for (int k = 0; k < 8; k++)
        v[k] = sn_index(x, sn_add(at[0], k / 4), sn_add(at[1], k / 2 % 2), sn_add(at[2], k % 2));
    for (int k = 0; k < 4; k++)
        v[k] = between(v[2 * k], v[2 * k + 1], t[2]);
    return between(between(v[0], v[1], t[1]), between(v[2], v[3], t[1]), t[0]);
}

static sn_acc trilinear(sn_acc x, sn_acc points)
{
    return sn_map(sn_closure(sampled_3d, &x), points);
}

#define ADVECT(T)                                                                                                      \
    static sn_scalar advected_##T(void *env, sn_scalar i, sn_scalar j, sn_scalar u, sn_scalar v)                       \
    {                                                                                                                  \
        sn_acc x = *(sn_acc *)env;                                                                                     \
        sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);                                                            \
        sn_scalar y = sn_max(sn_min(sn_sub(sn_to_##T(i), v), sn_to_##T(sn_sub(n, 1))), sn_##T(0));                     \
        sn_scalar z = sn_max(sn_min(sn_sub(sn_to_##T(j), u), sn_to_##T(sn_sub(m, 1))), sn_##T(0));                     \
        sn_scalar a = sn_min(sn_to_i64(y), sn_sub(n, 2)), b = sn_min(sn_to_i64(z), sn_sub(m, 2));                      \
        sn_scalar s = sn_sub(y, sn_to_##T(a)), t = sn_sub(z, sn_to_##T(b)), c = sn_add(a, 1), d = sn_add(b, 1);        \
        return between(between(sn_index(x, a, b), sn_index(x, a, d), t),                                               \
                       between(sn_index(x, c, b), sn_index(x, c, d), t), s);                                           \
    }                                                                                                                  \
    static sn_acc advect_##T(sn_acc x, sn_acc u, sn_acc v)                                                             \
    {                                                                                                                  \
        return sn_izip_with(sn_closure(advected_##T, &x), u, v);                                                       \
    }
ADVECT(f32)
ADVECT(f64)

static sn_scalar upwinded(sn_scalar left, sn_scalar here, sn_scalar right, sn_scalar speed)
{
    sn_scalar slope = sn_if(sn_gt(speed, 0.0), sn_sub(here, left), sn_sub(right, here));
    return sn_sub(here, sn_mul(sn_mul(speed, 0.25), slope));
}

static sn_acc upwind(sn_acc x, sn_acc speed)
{
    return sn_zip_with(upwinded, sn_rotate(-1, x), x, sn_rotate(1, x), speed);
}

static sn_scalar half_burgers(sn_scalar a, sn_scalar b)
{
    return sn_sub(sn_mul(0.5, sn_add(a, b)), sn_mul(0.125, sn_sub(square(b), square(a))));
}

static sn_scalar burgers_at(sn_scalar s)
{
    sn_scalar left = half_burgers(sn_at(s, -1), sn_at(s, 0)), right = half_burgers(sn_at(s, 0), sn_at(s, 1));
    return sn_sub(sn_at(s, 0), sn_mul(0.25, sn_sub(square(right), square(left))));
}

static sn_acc burgers(sn_acc x)
{
    return sn_stencil(burgers_at, sn_pattern(3), sn_wrap, x);
}

/* Lax-Friedrichs for depth and momenta. */
static void flux(sn_scalar s, bool down, sn_scalar *f)
{
    sn_scalar h = sn_get(s, 0), u = sn_get(s, 1), v = sn_get(s, 2);
    sn_scalar speed = sn_div(down ? v : u, h), pressure = sn_mul(sn_mul(h, h), 4.9f);
    f[0] = down ? v : u;
    f[1] = sn_mul(u, speed);
    f[2] = sn_mul(v, speed);
    f[1 + down] = sn_add(f[1 + down], pressure);
}

static sn_scalar shallow_at(sn_scalar s)
{
    sn_scalar left = sn_at(s, 0, -1), right = sn_at(s, 0, 1), up = sn_at(s, -1, 0), down = sn_at(s, 1, 0);
    sn_scalar l[3], r[3], u[3], d[3], next[3];
    flux(left, false, l);
    flux(right, false, r);
    flux(up, true, u);
    flux(down, true, d);
    for (int k = 0; k < 3; k++) {
        sn_scalar mean =
            sn_mul(0.25f, sn_add(sn_add(sn_get(left, k), sn_get(right, k)), sn_add(sn_get(up, k), sn_get(down, k))));
        next[k] = sn_sub(mean, sn_mul(0.05f, sn_add(sn_sub(r[k], l[k]), sn_sub(d[k], u[k]))));
    }
    return sn_tuple(next[0], next[1], next[2]);
}

static sn_acc shallow_water(sn_acc h, sn_acc u, sn_acc v)
{
    sn_acc next = sn_stencil(shallow_at, sn_pattern(3, 3), sn_clamp, sn_zip(h, u, v));
    return sn_results(sn_get(next, 0), sn_get(next, 1), sn_get(next, 2));
}

static sn_scalar before(sn_scalar i)
{
    return sn_max(sn_sub(i, 1), 0);
}

static sn_scalar after(sn_scalar i, sn_scalar n)
{
    return sn_min(sn_add(i, 1), sn_sub(n, 1));
}

struct slopes {
    sn_scalar down[2], across[2];
};

static struct slopes slopes_at(sn_acc x, sn_scalar i, sn_scalar j)
{
    struct slopes s;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    for (int c = 0; c < 2; c++) {
        s.down[c] = sn_mul(0.5f, sn_sub(sn_index(x, after(i, n), j, c), sn_index(x, before(i), j, c)));
        s.across[c] = sn_mul(0.5f, sn_sub(sn_index(x, i, after(j, m), c), sn_index(x, i, before(j), c)));
    }
    return s;
}

static sn_scalar curl_divergence_at(void *env, sn_scalar i, sn_scalar j)
{
    struct slopes s = slopes_at(*(sn_acc *)env, i, j);
    return sn_tuple(sn_sub(s.across[1], s.down[0]), sn_add(s.across[0], s.down[1]));
}

static sn_acc curl_divergence(sn_acc x)
{
    sn_acc both = sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(curl_divergence_at, &x));
    return sn_results(sn_fst(both), sn_snd(both));
}

static sn_scalar strain_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    struct slopes s = slopes_at(*(sn_acc *)env, i, j);
    return sn_if(sn_eq(c, 0), s.across[0], sn_if(sn_eq(c, 1), s.down[1], sn_mul(0.5f, sn_add(s.across[1], s.down[0]))));
}

static sn_acc strain(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 3), sn_closure(strain_at, &x));
}

static sn_scalar gradient_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    return sn_mul(0.5, sn_if(sn_eq(c, 0), sn_sub(sn_index(x, i, after(j, m)), sn_index(x, i, before(j))),
                             sn_sub(sn_index(x, after(i, n), j), sn_index(x, before(i), j))));
}

static sn_acc gradient_field(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 2), sn_closure(gradient_at, &x));
}

static sn_scalar is_interior(sn_scalar i, sn_scalar j, sn_scalar n, sn_scalar m)
{
    return sn_land(sn_land(sn_gt(i, 0), sn_lt(i, sn_sub(n, 1))), sn_land(sn_gt(j, 0), sn_lt(j, sn_sub(m, 1))));
}

static sn_scalar is_red(sn_acc x, sn_scalar i, sn_scalar j)
{
    return sn_land(is_interior(i, j, sn_extent(x, 0), sn_extent(x, 1)), sn_eq(sn_bit_and(sn_add(i, j), 1), 0));
}

static sn_scalar red_black_at(void *env, sn_scalar i, sn_scalar j, sn_scalar here, sn_scalar rhs)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar i0 = sn_sub(i, 1), i1 = sn_add(i, 1), j0 = sn_sub(j, 1), j1 = sn_add(j, 1);
    sn_scalar around =
        sn_add(sn_add(sn_index(x, i0, j), sn_index(x, i1, j)), sn_add(sn_index(x, i, j0), sn_index(x, i, j1)));
    return sn_if(is_red(x, i, j), sn_mul(0.25, sn_add(around, rhs)), here);
}

static sn_acc red_black(sn_acc x, sn_acc rhs)
{
    return sn_izip_with(sn_closure(red_black_at, &x), x, rhs);
}

static sn_scalar around(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

/* (i, j), the element, the sum around it, the right-hand side */
static sn_scalar if_red(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return sn_if(is_red(*(sn_acc *)env, sn_fst(x[0]), sn_snd(x[0])), sn_mul(0.25, sn_add(x[2], x[3])), x[1]);
}

static sn_acc red_black_stencil(sn_acc x, sn_acc rhs)
{
    return sn_izip_with(sn_closure(if_red, &x), x, sn_stencil(around, sn_pattern(3, 3), sn_constant(0.0), x), rhs);
}

static sn_scalar restricted_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), y = sn_mul(i, 2), z = sn_mul(j, 2);
    sn_scalar rows[] = {before(y), y, after(y, n)}, columns[] = {before(z), z, after(z, m)}, sum[3];
    for (int k = 0; k < 3; k++)
        sum[k] = add3(sn_index(x, rows[k], columns[0]), sn_mul(2.0, sn_index(x, rows[k], columns[1])),
                      sn_index(x, rows[k], columns[2]));
    return sn_mul(0.0625, add3(sum[0], sn_mul(2.0, sum[1]), sum[2]));
}

static sn_acc restriction(sn_acc x, sn_acc k, sn_acc l)
{
    return sn_generate(sn_shape(sn_size(k), sn_size(l)), sn_closure(restricted_at, &x));
}

static sn_scalar prolonged_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar a = sn_quot(i, 2), b = sn_quot(j, 2), c = sn_quot(sn_add(i, 1), 2), d = sn_quot(sn_add(j, 1), 2);
    return sn_mul(0.25,
                  sn_add(sn_add(sn_index(x, a, b), sn_index(x, a, d)), sn_add(sn_index(x, c, b), sn_index(x, c, d))));
}

static sn_acc prolong(sn_acc x, sn_acc k, sn_acc l)
{
    return sn_generate(sn_shape(sn_size(k), sn_size(l)), sn_closure(prolonged_at, &x));
}

/* --- lattice Boltzmann: direction 3 (dy + 1) + dx + 1 --- */

static sn_scalar from_upstream(void *env, sn_scalar c, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar dy = sn_sub(sn_quot(c, 3), 1), dx = sn_sub(sn_rem(c, 3), 1);
    return sn_tuple(c, sn_mod(sn_sub(i, dy), sn_extent(x, 1)), sn_mod(sn_sub(j, dx), sn_extent(x, 2)));
}

static sn_acc stream(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), sn_closure(from_upstream, &x), x);
}

static sn_scalar upstream_cell(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar dy = sn_sub(sn_quot(c, 3), 1), dx = sn_sub(sn_rem(c, 3), 1);
    return sn_tuple(sn_mod(sn_sub(i, dy), sn_extent(x, 0)), sn_mod(sn_sub(j, dx), sn_extent(x, 1)), c);
}

static sn_acc stream_cells(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), sn_closure(upstream_cell, &x), x);
}

static sn_scalar moments_of(const sn_scalar *f)
{
    sn_scalar density = sn_f32(0), x = sn_f32(0), y = sn_f32(0);
    for (int k = 0; k < 9; k++) {
        density = sn_add(density, f[k]);
        x = sn_add(x, sn_mul(f[k], (float)(k % 3 - 1)));
        y = sn_add(y, sn_mul(f[k], (float)(k / 3 - 1)));
    }
    return sn_tuple(density, sn_div(x, density), sn_div(y, density));
}

static sn_scalar relaxed(sn_scalar m, sn_scalar c, sn_scalar f)
{
    sn_scalar dy = sn_to_f32(sn_sub(sn_quot(c, 3), 1)), dx = sn_to_f32(sn_sub(sn_rem(c, 3), 1));
    sn_scalar ux = sn_get(m, 1), uy = sn_get(m, 2);
    sn_scalar wy = sn_if(sn_eq(dy, 0.0f), sn_f32(2 / 3.0f), sn_f32(1 / 6.0f)),
              wx = sn_if(sn_eq(dx, 0.0f), sn_f32(2 / 3.0f), sn_f32(1 / 6.0f));
    sn_scalar along = sn_mul(3.0f, sn_add(sn_mul(dx, ux), sn_mul(dy, uy)));
    sn_scalar speed = sn_add(square(ux), square(uy));
    sn_scalar factor = sn_sub(sn_add(sn_add(1.0f, along), sn_mul(0.5f, square(along))), sn_mul(1.5f, speed));
    sn_scalar rest = sn_mul(sn_mul(sn_mul(wx, wy), sn_get(m, 0)), factor);
    return sn_add(f, sn_mul(0.8f, sn_sub(rest, f)));
}

static sn_scalar moments_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar f[9];
    for (int k = 0; k < 9; k++)
        f[k] = sn_index(*(sn_acc *)env, k, i, j);
    return moments_of(f);
}

static sn_scalar collided(void *env, sn_scalar c, sn_scalar i, sn_scalar j, sn_scalar f)
{
    return relaxed(sn_index(*(sn_acc *)env, i, j), c, f);
}

static sn_acc collide(sn_acc x)
{
    sn_acc moments = sn_generate(sn_shape(sn_extent(x, 1), sn_extent(x, 2)), sn_closure(moments_at, &x));
    return sn_imap(sn_closure(collided, &moments), x);
}

static sn_scalar collided_cell(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_scalar f[9];
    for (int k = 0; k < 9; k++)
        f[k] = sn_index(*(sn_acc *)env, i, j, k);
    return relaxed(moments_of(f), c, sn_index(*(sn_acc *)env, i, j, c));
}

static sn_acc collide_cells(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(collided_cell, &x));
}

/* --- more on grids --- */

static sn_scalar damped_at(sn_scalar s, sn_scalar t)
{
    sn_scalar here = sn_at(s, 0, 0), before = sn_fst(sn_at(t, 0, 0)), mask = sn_snd(sn_at(t, 0, 0));
    sn_scalar force = sn_mul(0.2, sn_sub(around(s), sn_mul(4.0, here)));
    return sn_mul(mask, sn_add(sn_sub(sn_mul(2.0, here), before), force));
}

static sn_acc damped_wave(sn_acc now, sn_acc before, sn_acc mask)
{
    return sn_stencil2(damped_at, sn_pattern(3, 3), sn_constant(0.0), now, sn_pattern(1, 1), sn_clamp,
                       sn_zip(before, mask));
}

static sn_scalar spread(sn_scalar s, int k)
{
    sn_scalar sum = sn_add(sn_add(sn_get(sn_at(s, -1, 0), k), sn_get(sn_at(s, 1, 0), k)),
                           sn_add(sn_get(sn_at(s, 0, -1), k), sn_get(sn_at(s, 0, 1), k)));
    return sn_sub(sum, sn_mul(4.0f, sn_get(sn_at(s, 0, 0), k)));
}

static sn_scalar gray_scott_at(sn_scalar s)
{
    sn_scalar u = sn_fst(sn_at(s, 0, 0)), v = sn_snd(sn_at(s, 0, 0)), uvv = sn_mul(u, sn_mul(v, v));
    sn_scalar du = sn_add(sn_sub(sn_mul(0.16f, spread(s, 0)), uvv), sn_mul(0.035f, sn_sub(1.0f, u)));
    sn_scalar dv = sn_sub(sn_add(sn_mul(0.08f, spread(s, 1)), uvv), sn_mul(0.1f, v));
    return sn_tuple(sn_add(u, du), sn_add(v, dv));
}

static sn_acc gray_scott(sn_acc u, sn_acc v)
{
    sn_acc next = sn_stencil(gray_scott_at, sn_pattern(3, 3), sn_wrap, sn_zip(u, v));
    return sn_results(sn_fst(next), sn_snd(next));
}

static sn_scalar hash(sn_scalar x)
{
    x = sn_mul(sn_bit_xor(x, sn_shr(x, 16)), sn_u32(0x7feb352d));
    x = sn_mul(sn_bit_xor(x, sn_shr(x, 15)), sn_u32(0x846ca68b));
    return sn_bit_xor(x, sn_shr(x, 16));
}

F1(spin, sn_if(sn_lt(x, 0), sn_i8(-1), sn_i8(1)))

static sn_scalar flipped(void *env, sn_scalar i, sn_scalar j, sn_scalar s, sn_scalar sum)
{
    sn_scalar energy = sn_mul(s, sum), number = sn_add(sn_mul(i, sn_extent(*(sn_acc *)env, 1)), j);
    sn_scalar limit = sn_if(sn_eq(energy, 2), sn_u32(0x22000000), sn_u32(0x04c00000));
    sn_scalar flips = sn_lor(sn_le(energy, 0), sn_lt(hash(sn_to_u32(number)), limit));
    return sn_if(sn_land(sn_eq(sn_bit_and(sn_add(i, j), 1), 0), flips), sn_neg(s), s);
}

static sn_acc ising(sn_acc x)
{
    sn_acc s = sn_map(spin, x);
    return sn_izip_with(sn_closure(flipped, &x), s, sn_stencil(around, sn_pattern(3, 3), sn_wrap, s));
}

static sn_scalar speed_of(sn_scalar u, sn_scalar v, sn_scalar h)
{
    return sn_add(sn_max(sn_abs(u), sn_abs(v)), sn_sqrt(sn_mul(9.81, h)));
}

static sn_acc fastest(sn_acc u, sn_acc v, sn_acc h)
{
    return sn_maximum(sn_flatten(sn_zip_with(speed_of, u, v, h)));
}

static sn_scalar residual_at(sn_scalar s, sn_scalar rhs)
{
    return sn_sub(sn_sub(sn_mul(4.0, sn_at(s, 0, 0)), around(s)), sn_at(rhs, 0, 0));
}

static sn_scalar magnitude(sn_scalar x)
{
    return sn_abs(x);
}

static sn_acc residual_norms(sn_acc x, sn_acc rhs)
{
    sn_acc r =
        sn_flatten(sn_stencil2(residual_at, sn_pattern(3, 3), sn_constant(0.0), x, sn_pattern(1, 1), sn_clamp, rhs));
    return sn_results(sn_sum(sn_map(square, r)), sn_maximum(sn_map(magnitude, r)));
}

static sn_scalar from_turned(sn_scalar k, sn_scalar i, sn_scalar j)
{
    return sn_tuple(i, j, k);
}

static sn_acc slab_sums(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), k = sn_extent(x, 2);
    sn_acc rows = sn_sum(x); /* [n,m] */
    return sn_results(sn_sum(rows), sn_sum(sn_transpose(rows)),
                      sn_sum(sn_reshape(sn_shape(k, sn_mul(n, m)), sn_backpermute(sn_shape(k, n, m), from_turned, x))));
}

static sn_scalar with_edges(void *env, sn_scalar i, sn_scalar j, sn_scalar here)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    return sn_if(sn_eq(i, 0), sn_f32(1),
                 sn_if(sn_eq(i, sn_sub(n, 1)), sn_f32(0),
                       sn_if(sn_eq(j, 0), sn_neg(sn_index(x, i, 1)),
                             sn_if(sn_eq(j, sn_sub(m, 1)), sn_index(x, i, sn_sub(m, 2)), here))));
}

static sn_acc set_edges(sn_acc x)
{
    return sn_imap(sn_closure(with_edges, &x), x);
}

/* --- tensors: xx yy zz xy yz zx --- */

struct tensor {
    sn_scalar trace, second, third;
};

static struct tensor tensor_of(sn_acc x, sn_scalar i)
{
    sn_scalar s[6];
    for (int k = 0; k < 6; k++)
        s[k] = sn_index(x, i, k);
    sn_scalar second = sn_sub(add3(sn_mul(s[0], s[1]), sn_mul(s[1], s[2]), sn_mul(s[2], s[0])),
                              add3(square(s[3]), square(s[4]), square(s[5])));
    sn_scalar third = sn_add(sn_mul(s[0], sn_sub(sn_mul(s[1], s[2]), square(s[4]))),
                             sn_add(sn_mul(s[3], sn_sub(sn_mul(s[4], s[5]), sn_mul(s[3], s[2]))),
                                    sn_mul(s[5], sn_sub(sn_mul(s[3], s[4]), sn_mul(s[1], s[5])))));
    return (struct tensor){add3(s[0], s[1], s[2]), second, third};
}

static sn_scalar invariants_of(void *env, sn_scalar i)
{
    struct tensor t = tensor_of(*(sn_acc *)env, i);
    return sn_tuple(t.trace, t.second, t.third);
}

static sn_acc invariants(sn_acc x)
{
    sn_acc all = sn_generate(sn_extent(x, 0), sn_closure(invariants_of, &x));
    return sn_results(sn_get(all, 0), sn_get(all, 1), sn_get(all, 2));
}

static sn_scalar principal_at(void *env, sn_scalar i, sn_scalar c)
{
    struct tensor t = tensor_of(*(sn_acc *)env, i);
    sn_scalar mean = sn_div(t.trace, 3.0);
    sn_scalar p = sn_sub(sn_div(square(t.trace), 9.0), sn_div(t.second, 3.0));
    sn_scalar radius = sn_sqrt(sn_max(p, 1e-9));
    sn_scalar q = sn_add(sn_sub(sn_mul(mean, square(mean)), sn_mul(0.5, sn_mul(mean, t.second))), sn_mul(0.5, t.third));
    sn_scalar cosine = sn_max(sn_min(sn_div(q, sn_mul(radius, square(radius))), 1.0), -1.0);
    sn_scalar angle = sn_div(sn_sub(sn_acos(cosine), sn_mul(sn_to_f64(c), 2 * M_PI)), 3.0);
    return sn_add(mean, sn_mul(sn_mul(2.0, radius), sn_cos(angle)));
}

static sn_acc principal(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), 3), sn_closure(principal_at, &x));
}

/* --- labels and images --- */

static sn_scalar other_labels(sn_scalar s)
{
    sn_scalar here = sn_at(s, 0, 0);
    return sn_add(sn_add(sn_to_u8(sn_ne(sn_at(s, -1, 0), here)), sn_to_u8(sn_ne(sn_at(s, 1, 0), here))),
                  sn_add(sn_to_u8(sn_ne(sn_at(s, 0, -1), here)), sn_to_u8(sn_ne(sn_at(s, 0, 1), here))));
}

static sn_acc label_edges(sn_acc x)
{
    return sn_stencil(other_labels, sn_pattern(3, 3), sn_clamp, x);
}

static sn_scalar place(sn_scalar i, sn_scalar j)
{
    sn_scalar y = sn_to_i32(i), x = sn_to_i32(j);
    return sn_tuple(y, x, y, x);
}

static sn_scalar both_boxes(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_min(sn_get(a, 0), sn_get(b, 0)), sn_min(sn_get(a, 1), sn_get(b, 1)),
                    sn_max(sn_get(a, 2), sn_get(b, 2)), sn_max(sn_get(a, 3), sn_get(b, 3)));
}

static sn_acc label_boxes(sn_acc x)
{
    sn_scalar none = sn_tuple(sn_i32(INT32_MAX), sn_i32(INT32_MAX), sn_i32(-1), sn_i32(-1));
    return sn_reduce_by_key(both_boxes, none, 16, sn_flatten(x), sn_flatten(sn_generate(sn_shape_of(x), place)));
}

static sn_scalar last_set(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    (void)i, (void)env;
    return sn_if(sn_gt(v, 90), sn_to_i32(j), sn_i32(-100000));
}

static sn_scalar next_set(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    (void)i, (void)env;
    return sn_if(sn_gt(v, 90), sn_to_i32(j), sn_i32(200000));
}

static sn_scalar nearer_set(sn_scalar i, sn_scalar j, sn_scalar last, sn_scalar next)
{
    (void)i;
    sn_scalar at = sn_to_i32(j);
    return sn_min(sn_sub(at, last), sn_sub(next, at));
}

static sn_acc distance_rows(sn_acc x)
{
    return sn_izip_with(nearer_set, sn_scanl1(sn_max, sn_imap(sn_closure(last_set, NULL), x)),
                        sn_scanr1(sn_min, sn_imap(sn_closure(next_set, NULL), x)));
}

F1(to_i32, sn_to_i32(x))

static sn_scalar box_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc s = *(sn_acc *)env; /* [n+1,m+1] */
    sn_scalar n = sn_sub(sn_extent(s, 0), 1), m = sn_sub(sn_extent(s, 1), 1);
    sn_scalar i0 = sn_max(sn_sub(i, 7), 0), i1 = sn_min(sn_add(i, 8), n), j0 = sn_max(sn_sub(j, 7), 0),
              j1 = sn_min(sn_add(j, 8), m);
    return sn_sub(sn_add(sn_index(s, i0, j0), sn_index(s, i1, j1)), sn_add(sn_index(s, i0, j1), sn_index(s, i1, j0)));
}

static sn_acc box_15(sn_acc x)
{
    sn_acc sums = sn_transpose(sn_scanl(sn_add, 0, sn_transpose(sn_scanl(sn_add, 0, sn_map(to_i32, x)))));
    return sn_generate(sn_shape_of(x), sn_closure(box_at, &sums));
}

static sn_scalar vote_of(void *env, sn_scalar i, sn_scalar j, sn_scalar a)
{
    const sn_acc *in = env;
    sn_scalar along = sn_add(sn_mul(sn_to_i32(j), sn_index(in[1], a)), sn_mul(sn_to_i32(i), sn_index(in[2], a)));
    sn_scalar bin = sn_add(sn_to_i64(sn_shr(along, 8)), 256);
    return sn_tuple(a, sn_if(sn_gt(sn_index(in[0], i, j), 150), bin, sn_ignore()));
}

static sn_acc hough(sn_acc image, sn_acc cosine, sn_acc sine)
{
    sn_acc in[] = {image, cosine, sine};
    sn_scalar angles = sn_size(cosine);
    sn_acc votes = sn_generate(sn_shape(sn_extent(image, 0), sn_extent(image, 1), angles), sn_closure(vote_of, in));
    return sn_histogram(sn_shape(angles, 512), sn_flatten(votes));
}

static sn_scalar conducted(sn_scalar u, sn_scalar k)
{
    static const int offset[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    sn_scalar here = sn_at(u, 0, 0, 0), kappa = sn_at(k, 0, 0, 0), sum = sn_f64(0);
    for (int d = 0; d < 6; d++) {
        const int *o = offset[d];
        sum = sn_add(sum, sn_mul(sn_add(kappa, sn_at(k, o[0], o[1], o[2])), sn_sub(sn_at(u, o[0], o[1], o[2]), here)));
    }
    return sn_add(here, sn_mul(0.0625, sum));
}

static sn_acc diffuse(sn_acc u, sn_acc kappa)
{
    return sn_stencil2(conducted, sn_pattern(3, 3, 3), sn_clamp, u, sn_pattern(3, 3, 3), sn_clamp, kappa);
}

static sn_scalar box_of(sn_scalar p)
{
    sn_scalar x = sn_get(p, 0), y = sn_get(p, 1), z = sn_get(p, 2);
    return sn_tuple(x, y, z, x, y, z);
}

static sn_scalar boxes_together(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_min(sn_get(a, 0), sn_get(b, 0)), sn_min(sn_get(a, 1), sn_get(b, 1)),
                    sn_min(sn_get(a, 2), sn_get(b, 2)), sn_max(sn_get(a, 3), sn_get(b, 3)),
                    sn_max(sn_get(a, 4), sn_get(b, 4)), sn_max(sn_get(a, 5), sn_get(b, 5)));
}

static sn_acc group_boxes(sn_acc offsets, sn_acc points)
{
    return sn_fold1_seg(boxes_together, sn_segments_from_offsets(offsets), sn_map(box_of, points));
}

static sn_scalar kahan_step(sn_scalar s, sn_scalar x)
{
    sn_scalar sum = sn_fst(s), y = sn_sub(x, sn_snd(s)), next = sn_add(sum, y);
    return sn_tuple(next, sn_sub(sn_sub(next, sum), y));
}

static sn_scalar kahan_of(void *env, sn_scalar i)
{
    return sn_fst(sn_sfold(kahan_step, sn_tuple(0.0f, 0.0f), *(sn_acc *)env, i));
}

static sn_acc kahan(sn_acc x)
{
    return sn_generate(sn_extent(x, 0), sn_closure(kahan_of, &x));
}

static sn_acc kahan_columns(sn_acc x)
{
    return kahan(sn_transpose(x));
}

static sn_scalar height_normal_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar across = sn_sub(sn_index(x, i, before(j)), sn_index(x, i, after(j, m)));
    sn_scalar down = sn_sub(sn_index(x, before(i), j), sn_index(x, after(i, n), j));
    sn_scalar length = sn_sqrt(sn_add(sn_add(square(across), square(down)), 4.0f));
    return sn_div(sn_if(sn_eq(c, 0), across, sn_if(sn_eq(c, 1), down, sn_f32(2))), length);
}

static sn_acc height_normals(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 3), sn_closure(height_normal_at, &x));
}

#define NB_GROUP fields
#define NB_TABLE "fields.def"
#include "../table.h"
