/* Equations in time, iterations for each element, tables, grids and particles. */
#ifndef NEIGHBOURS_SOLVERS_STEPS_H
#define NEIGHBOURS_SOLVERS_STEPS_H

#include "functions.h"

/* --- ordinary equations --- */

static void lorenz(const sn_scalar *x, sn_scalar *d)
{
    d[0] = sn_mul(10, sn_sub(x[1], x[0]));
    d[1] = sn_sub(sn_mul(x[0], sn_sub(28, x[2])), x[1]);
    d[2] = sn_sub(sn_mul(x[0], x[1]), sn_mul(2.5, x[2]));
}

static void lotka(const sn_scalar *x, sn_scalar *d)
{
    sn_scalar both = sn_mul(x[0], x[1]);
    d[0] = sn_sub(x[0], both);
    d[1] = sn_sub(both, x[1]);
}

static void moved_by(int n, const sn_scalar *x, double h, const sn_scalar *d, sn_scalar *to)
{
    for (int k = 0; k < n; k++)
        to[k] = sn_add(x[k], sn_mul(d[k], h));
}

static void runge_kutta(int n, void (*f)(const sn_scalar *, sn_scalar *), double h, sn_scalar sixth, sn_scalar *x)
{
    sn_scalar d[4][3], y[3];
    f(x, d[0]);
    moved_by(n, x, h / 2, d[0], y);
    f(y, d[1]);
    moved_by(n, x, h / 2, d[1], y);
    f(y, d[2]);
    moved_by(n, x, h, d[2], y);
    f(y, d[3]);
    for (int k = 0; k < n; k++) {
        sn_scalar sum = sn_add(sn_add(d[0][k], d[3][k]), sn_mul(2, sn_add(d[1][k], d[2][k])));
        x[k] = sn_add(x[k], sn_mul(sum, sixth));
    }
}

static sn_scalar lorenz_step(sn_scalar a, sn_scalar b, sn_scalar c)
{
    sn_scalar x[3] = {a, b, c};
    runge_kutta(3, lorenz, 1.0 / 128, sn_f64(1.0 / 128 / 6), x);
    return sn_tuple(x[0], x[1], x[2]);
}

static sn_scalar lorenz_10_of(sn_scalar x)
{
    return sn_iterate(10, lorenz_step, x);
}

static sn_acc lorenz_10(sn_acc x)
{
    return sn_map(lorenz_10_of, x);
}

static sn_scalar lotka_step(sn_scalar a, sn_scalar b)
{
    sn_scalar x[2] = {a, b};
    runge_kutta(2, lotka, 1.0 / 64, sn_f32(1.0f / 64 / 6), x);
    return sn_tuple(x[0], x[1]);
}

static sn_scalar lotka_20_of(sn_scalar a, sn_scalar b)
{
    return sn_iterate(20, lotka_step, sn_tuple(a, b));
}

static sn_acc lotka_20(sn_acc a, sn_acc b)
{
    return sn_zip_with(lotka_20_of, a, b);
}

/* --- iterations --- */

static sn_scalar kepler_moves(void *env, sn_scalar e, sn_scalar move, sn_scalar rounds)
{
    (void)env, (void)e;
    return sn_land(sn_gt(sn_abs(move), 1e-12), sn_lt(rounds, 20));
}

static sn_scalar kepler_step(void *env, sn_scalar e, sn_scalar move, sn_scalar rounds)
{
    sn_scalar *p = env;
    (void)move;
    move = sn_div(sn_sub(sn_sub(e, sn_mul(p[1], sn_sin(e))), p[0]), sn_sub(1, sn_mul(p[1], sn_cos(e))));
    return sn_tuple(sn_sub(e, move), move, sn_add(rounds, 1));
}

static sn_scalar kepler_of(sn_scalar mean, sn_scalar eccentricity)
{
    sn_scalar p[2] = {mean, sn_mul(0.75, eccentricity)};
    return sn_fst(
        sn_while(sn_closure(kepler_moves, p), sn_closure(kepler_step, p), sn_tuple(mean, sn_f64(1), sn_i32(0))));
}

static sn_acc kepler(sn_acc mean, sn_acc eccentricity)
{
    return sn_zip_with(kepler_of, mean, eccentricity);
}

static sn_scalar bisect_step(void *env, sn_scalar low, sn_scalar high)
{
    sn_scalar middle = sn_mul(0.5f, sn_add(low, high)), cube = sn_mul(middle, sn_mul(middle, middle));
    sn_scalar below = sn_lt(sn_add(cube, middle), *(sn_scalar *)env);
    return sn_if(below, sn_tuple(middle, high), sn_tuple(low, middle));
}

static sn_scalar bisected(sn_scalar c)
{
    return sn_fst(sn_iterate(24, sn_closure(bisect_step, &c), sn_tuple(sn_f32(-1), sn_f32(1))));
}

static sn_acc bisection(sn_acc c)
{
    return sn_map(bisected, c);
}

/* --- tables --- */

static sn_scalar spline_at(void *env, sn_scalar u)
{
    sn_acc knots = *(sn_acc *)env;
    sn_scalar last = sn_sub(sn_size(knots), 1), place = sn_mul(u, sn_to_f32(last)), i = sn_to_i64(place);
    sn_scalar t = sn_sub(place, sn_to_f32(i)), p[4];
    for (int k = 0; k < 4; k++)
        p[k] = sn_index(knots, sn_min(sn_max(sn_add(i, k - 1), 0), last));
    sn_scalar a = sn_add(sn_sub(sn_mul(3, sn_sub(p[1], p[2])), p[0]), p[3]);
    sn_scalar b = sn_sub(sn_add(sn_sub(sn_mul(2, p[0]), sn_mul(5, p[1])), sn_mul(4, p[2])), p[3]);
    sn_scalar sum = sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(a, t), b), t), sn_sub(p[2], p[0])), t), sn_mul(2, p[1]));
    return sn_mul(0.5f, sum);
}

static sn_acc catmull_rom(sn_acc knots, sn_acc u)
{
    return sn_map(sn_closure(spline_at, &knots), u);
}

struct search {
    sn_acc begin, coefficients;
    sn_scalar x;
};

static sn_scalar apart(void *env, sn_scalar low, sn_scalar high)
{
    (void)env;
    return sn_gt(sn_sub(high, low), 1);
}

static sn_scalar halved(void *env, sn_scalar low, sn_scalar high)
{
    struct search *s = env;
    sn_scalar middle = sn_quot(sn_add(low, high), 2);
    return sn_if(sn_le(sn_index(s->begin, middle), s->x), sn_tuple(middle, high), sn_tuple(low, middle));
}

static sn_scalar cubic_at(void *env, sn_scalar x)
{
    struct search s = *(struct search *)env;
    s.x = x;
    sn_scalar range = sn_tuple(sn_i64(0), sn_size(s.begin));
    sn_scalar i = sn_fst(sn_while(sn_closure(apart, &s), sn_closure(halved, &s), range));
    sn_scalar t = sn_sub(x, sn_index(s.begin, i)), sum = sn_index(s.coefficients, i, 3);
    for (int k = 2; k >= 0; k--)
        sum = sn_add(sn_mul(sum, t), sn_index(s.coefficients, i, k));
    return sum;
}

static sn_acc cubic_table(sn_acc begin, sn_acc coefficients, sn_acc x)
{
    struct search s = {.begin = begin, .coefficients = coefficients};
    return sn_map(sn_closure(cubic_at, &s), x);
}

/* --- grids --- */

static sn_scalar minmod(sn_scalar a, sn_scalar b)
{
    sn_scalar least = sn_if(sn_lt(sn_abs(a), sn_abs(b)), a, b);
    return sn_if(sn_gt(sn_mul(a, b), 0), least, 0);
}

static sn_scalar limited(sn_scalar s)
{
    return minmod(sn_sub(sn_at(s, 0, 0), sn_at(s, 0, -1)), sn_sub(sn_at(s, 0, 1), sn_at(s, 0, 0)));
}

static sn_scalar interface_flux(void *env, sn_scalar i, sn_scalar j) /* from cell j - 1 to cell j */
{
    sn_acc *p = env;
    sn_scalar from = sn_max(sn_sub(j, 1), 0);
    return sn_add(sn_index(p[0], i, from), sn_mul(0.375, sn_index(p[1], i, from)));
}

static sn_scalar with_fluxes(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    sn_acc flux = *(sn_acc *)env;
    return sn_sub(x, sn_mul(0.25, sn_sub(sn_index(flux, i, sn_add(j, 1)), sn_index(flux, i, j))));
}

static sn_acc flux_minmod(sn_acc x)
{
    sn_acc p[2] = {x, sn_stencil(limited, sn_pattern(1, 3), sn_clamp, x)};
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_add(sn_extent(x, 1), 1));
    sn_acc flux = sn_generate(shape, sn_closure(interface_flux, p));
    return sn_imap(sn_closure(with_fluxes, &flux), x);
}

static sn_scalar limited_at(sn_scalar s, int k)
{
    return minmod(sn_sub(sn_at(s, k), sn_at(s, k - 1)), sn_sub(sn_at(s, k + 1), sn_at(s, k)));
}

static sn_scalar advected(sn_scalar s)
{
    sn_scalar in = sn_add(sn_at(s, -1), sn_mul(0.375f, limited_at(s, -1)));
    sn_scalar out = sn_add(sn_at(s, 0), sn_mul(0.375f, limited_at(s, 0)));
    return sn_sub(sn_at(s, 0), sn_mul(0.25f, sn_sub(out, in)));
}

static sn_acc advect_minmod(sn_acc x)
{
    return sn_stencil(advected, sn_pattern(5), sn_wrap, x);
}

static sn_scalar shallow_flux(sn_scalar q)
{
    sn_scalar h = sn_fst(q), u = sn_snd(q);
    return sn_add(sn_div(sn_mul(u, u), h), sn_mul(4.905, sn_mul(h, h)));
}

static sn_scalar lax_friedrichs(sn_scalar s)
{
    sn_scalar left = sn_at(s, -1), right = sn_at(s, 1);
    sn_scalar h =
        sn_sub(sn_mul(0.5, sn_add(sn_fst(left), sn_fst(right))), sn_mul(0.05, sn_sub(sn_snd(right), sn_snd(left))));
    sn_scalar u = sn_sub(sn_mul(0.5, sn_add(sn_snd(left), sn_snd(right))),
                         sn_mul(0.05, sn_sub(shallow_flux(right), shallow_flux(left))));
    return sn_tuple(h, u);
}

static sn_acc shallow_line(sn_acc q)
{
    return sn_stencil(lax_friedrichs, sn_pattern(3), sn_wrap, q);
}

static sn_scalar upwind_2d_at(sn_scalar s, sn_scalar t)
{
    sn_scalar u = sn_fst(sn_at(t, 0, 0)), v = sn_snd(sn_at(t, 0, 0)), x = sn_at(s, 0, 0);
    sn_scalar dx = sn_if(sn_gt(u, 0), sn_sub(x, sn_at(s, 0, -1)), sn_sub(sn_at(s, 0, 1), x));
    sn_scalar dy = sn_if(sn_gt(v, 0), sn_sub(x, sn_at(s, -1, 0)), sn_sub(sn_at(s, 1, 0), x));
    return sn_sub(x, sn_mul(0.1f, sn_add(sn_mul(u, dx), sn_mul(v, dy))));
}

static sn_acc upwind_2d(sn_acc x, sn_acc u, sn_acc v)
{
    return sn_stencil2(upwind_2d_at, sn_pattern(3, 3), sn_clamp, x, sn_pattern(1, 1), sn_clamp, sn_zip(u, v));
}

static sn_scalar wave_3d_at(sn_scalar s, sn_scalar t)
{
    sn_scalar x = sn_at(s, 0, 0, 0), sum = sn_add(sn_at(s, -1, 0, 0), sn_at(s, 1, 0, 0));
    sum = sn_add(sum, sn_add(sn_at(s, 0, -1, 0), sn_at(s, 0, 1, 0)));
    sum = sn_add(sum, sn_add(sn_at(s, 0, 0, -1), sn_at(s, 0, 0, 1)));
    return sn_add(sn_sub(sn_mul(2, x), sn_at(t, 0, 0, 0)), sn_mul(0.125f, sn_sub(sum, sn_mul(6, x))));
}

static sn_acc wave_3d(sn_acc now, sn_acc before)
{
    return sn_stencil2(wave_3d_at, sn_pattern(3, 3, 3), sn_constant(0), now, sn_pattern(1, 1, 1), sn_clamp, before);
}

struct sweep {
    sn_acc x, rhs;
    sn_scalar omega, colour;
};

static sn_scalar swept(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    struct sweep *s = env;
    sn_scalar n = sn_extent(s->x, 0), m = sn_extent(s->x, 1);
    sn_scalar rows = sn_land(sn_gt(i, 0), sn_lt(i, sn_sub(n, 1)));
    sn_scalar columns = sn_land(sn_gt(j, 0), sn_lt(j, sn_sub(m, 1)));
    sn_scalar own = sn_eq(sn_bit_and(sn_add(i, j), 1), s->colour);
    sn_scalar sum = sn_add(sn_index(s->x, sn_sub(i, 1), j), sn_index(s->x, sn_add(i, 1), j));
    sum = sn_add(sum, sn_add(sn_index(s->x, i, sn_sub(j, 1)), sn_index(s->x, i, sn_add(j, 1))));
    sn_scalar next = sn_mul(0.25, sn_add(sum, sn_index(s->rhs, i, j)));
    return sn_if(sn_land(own, sn_land(rows, columns)), sn_add(x, sn_mul(s->omega, sn_sub(next, x))), x);
}

static sn_acc sweep_of(struct sweep s)
{
    for (int colour = 0; colour < 2; colour++) {
        s.colour = sn_i64(colour);
        s.x = sn_imap(sn_closure(swept, &s), s.x);
    }
    return s.x;
}

static sn_acc sor_sweep(sn_acc x, sn_acc rhs, sn_acc omega)
{
    return sweep_of((struct sweep){.x = x, .rhs = rhs, .omega = sn_the(omega)});
}

static sn_acc sor_round(void *env, int count, const sn_acc *x)
{
    struct sweep s = *(struct sweep *)env;
    (void)count;
    s.x = *x;
    return sweep_of(s);
}

static sn_acc sor_10(sn_acc x, sn_acc rhs, sn_acc omega)
{
    struct sweep s = {.rhs = rhs, .omega = sn_the(omega)};
    return sn_aiterate(10, sn_body_of(sor_round, &s, 1), x);
}

static sn_scalar residual(sn_scalar s, sn_scalar t)
{
    sn_scalar sum = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    return sn_sub(sn_at(t, 0, 0), sn_sub(sn_mul(4, sn_at(s, 0, 0)), sum));
}

static sn_scalar mean_of_4(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc r = *(sn_acc *)env;
    sn_scalar k = sn_mul(i, 2), l = sn_mul(j, 2), sum = sn_index(r, k, l);
    for (int c = 1; c < 4; c++)
        sum = sn_add(sum, sn_index(r, sn_add(k, c / 2), sn_add(l, c % 2)));
    return sn_mul(0.25, sum);
}

static sn_acc residual_restricted(sn_acc x, sn_acc rhs)
{
    sn_acc r = sn_stencil2(residual, sn_pattern(3, 3), sn_constant(0), x, sn_pattern(1, 1), sn_clamp, rhs);
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2));
    return sn_generate(shape, sn_closure(mean_of_4, &r));
}

static sn_acc restricted_residual(sn_acc x, sn_acc rhs, sn_acc k, sn_acc l)
{
    (void)k, (void)l;
    return residual_restricted(x, rhs);
}

/* --- particles --- */

enum { CELLS = 64 };

static sn_scalar share_of(void *env, sn_scalar i, sn_scalar k)
{
    sn_acc *p = env;
    sn_scalar w = sn_f32(1);
    for (int c = 0; c < 2; c++) {
        sn_scalar at = sn_mul(sn_index(p[c], i), CELLS - 1), t = sn_sub(at, sn_floor(at));
        sn_scalar upper = sn_eq(sn_bit_and(sn_shr(k, c), 1), 1);
        w = sn_mul(w, sn_if(upper, t, sn_sub(1, t)));
    }
    return w;
}

static sn_scalar cell_of(void *env, sn_scalar i, sn_scalar k)
{
    sn_acc *p = env;
    sn_scalar cell[2];
    for (int c = 0; c < 2; c++)
        cell[c] = sn_add(sn_to_i64(sn_mul(sn_index(p[c], i), CELLS - 1)), sn_bit_and(sn_shr(k, c), 1));
    return sn_tuple(cell[0], cell[1]);
}

static sn_acc deposit(sn_acc x, sn_acc y)
{
    sn_acc p[2] = {x, y}, shares = sn_generate(sn_shape(sn_size(x), 4), sn_closure(share_of, p));
    return sn_permute(sn_add, sn_fill(sn_shape(CELLS, CELLS), sn_f32(0)), sn_closure(cell_of, p), shares);
}

static void cross(const sn_scalar *a, const sn_scalar *b, sn_scalar *c)
{
    for (int k = 0; k < 3; k++)
        c[k] = sn_sub(sn_mul(a[(k + 1) % 3], b[(k + 2) % 3]), sn_mul(a[(k + 2) % 3], b[(k + 1) % 3]));
}

static sn_scalar pushed(sn_scalar v, sn_scalar e, sn_scalar b)
{
    sn_scalar minus[3], t[3], s[3], turned[3], prime[3], square = sn_f32(1);
    for (int k = 0; k < 3; k++) {
        minus[k] = sn_add(sn_get(v, k), sn_mul(0.05f, sn_get(e, k)));
        t[k] = sn_mul(0.05f, sn_get(b, k));
        square = sn_add(square, sn_mul(t[k], t[k]));
    }
    cross(minus, t, turned);
    for (int k = 0; k < 3; k++) {
        s[k] = sn_div(sn_mul(2, t[k]), square);
        prime[k] = sn_add(minus[k], turned[k]);
    }
    cross(prime, s, turned);
    for (int k = 0; k < 3; k++)
        t[k] = sn_add(sn_add(minus[k], turned[k]), sn_mul(0.05f, sn_get(e, k)));
    return sn_tuple(t[0], t[1], t[2]);
}

static sn_acc boris(sn_acc v, sn_acc e, sn_acc b)
{
    return sn_zip_with(pushed, v, e, b);
}

struct cells {
    sn_acc begin, x, y;
    sn_scalar i, px, py, ci, cj, end;
};

enum { GRID_CELLS = 32 };

static sn_scalar within(void *env, sn_scalar at, sn_scalar fx, sn_scalar fy)
{
    (void)fx, (void)fy;
    return sn_lt(at, ((struct cells *)env)->end);
}

static sn_scalar add_force(void *env, sn_scalar at, sn_scalar fx, sn_scalar fy)
{
    struct cells *c = env;
    sn_scalar dx = sn_sub(c->px, sn_index(c->x, at)), dy = sn_sub(c->py, sn_index(c->y, at));
    sn_scalar square = sn_mul(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)), GRID_CELLS * GRID_CELLS);
    sn_scalar near = sn_land(sn_lt(square, 1), sn_ne(at, c->i)), r = sn_div(1, sn_max(square, 0.05f));
    sn_scalar r3 = sn_mul(r, sn_mul(r, r)), f = sn_if(near, sn_mul(r, sn_mul(r3, sn_sub(r3, 0.5f))), 0);
    return sn_tuple(sn_add(at, 1), sn_add(fx, sn_mul(f, dx)), sn_add(fy, sn_mul(f, dy)));
}

static sn_scalar add_cell(void *env, sn_scalar k, sn_scalar force)
{
    struct cells c = *(struct cells *)env;
    sn_scalar ci = sn_bit_and(sn_add(c.ci, sn_sub(sn_quot(k, 3), 1)), GRID_CELLS - 1);
    sn_scalar cj = sn_bit_and(sn_add(c.cj, sn_sub(sn_rem(k, 3), 1)), GRID_CELLS - 1);
    sn_scalar cell = sn_add(sn_mul(ci, GRID_CELLS), cj);
    c.end = sn_index(c.begin, sn_add(cell, 1));
    sn_scalar init = sn_tuple(sn_index(c.begin, cell), sn_fst(force), sn_snd(force));
    sn_scalar s = sn_while(sn_closure(within, &c), sn_closure(add_force, &c), init);
    return sn_tuple(sn_get(s, 1), sn_get(s, 2));
}

static sn_scalar force_on(void *env, sn_scalar i, sn_scalar x, sn_scalar y)
{
    struct cells c = *(struct cells *)env;
    c.i = i;
    c.px = x;
    c.py = y;
    c.ci = sn_to_i64(sn_mul(x, GRID_CELLS));
    c.cj = sn_to_i64(sn_mul(y, GRID_CELLS));
    return sn_loop(9, sn_closure(add_cell, &c), sn_tuple(sn_f32(0), sn_f32(0)));
}

static sn_acc lennard_jones(sn_acc begin, sn_acc x, sn_acc y)
{
    struct cells c = {.begin = begin, .x = x, .y = y};
    return sn_izip_with(sn_closure(force_on, &c), x, y);
}

/* --- filters and dynamic programs --- */

static sn_scalar kalman_step(sn_scalar s, sn_scalar z)
{
    sn_scalar x = sn_fst(s), p = sn_add(sn_snd(s), 0.01), gain = sn_div(p, sn_add(p, 0.5));
    return sn_tuple(sn_add(x, sn_mul(gain, sn_sub(z, x))), sn_mul(sn_sub(1, gain), p));
}

static sn_scalar kalman_of_row(void *env, sn_scalar i)
{
    return sn_fst(sn_sfold(kalman_step, sn_tuple(sn_f64(0), sn_f64(1)), *(sn_acc *)env, i));
}

static sn_acc kalman_rows(sn_acc z)
{
    return sn_generate(sn_extent(z, 0), sn_closure(kalman_of_row, &z));
}

static sn_scalar kalman_next(void *env, sn_scalar t, sn_scalar s)
{
    struct search *p = env;
    return kalman_step(s, sn_index(p->begin, t, p->x));
}

static sn_scalar kalman_of_column(void *env, sn_scalar j)
{
    struct search p = {.begin = *(sn_acc *)env, .x = j};
    sn_scalar init = sn_tuple(sn_f64(0), sn_f64(1));
    return sn_fst(sn_loop(sn_extent(p.begin, 0), sn_closure(kalman_next, &p), init));
}

static sn_acc kalman_columns(sn_acc z)
{
    return sn_generate(sn_extent(z, 1), sn_closure(kalman_of_column, &z));
}

static sn_acc viterbi_step(sn_acc score, sn_acc move, sn_acc emit)
{
    sn_acc ways = sn_zip_with(sn_add, sn_transpose(move), sn_replicate(score, sn_size(score), SN_ALL));
    return sn_results(sn_zip_with(sn_add, sn_maximum(ways), emit), sn_argmax(ways));
}

static sn_scalar by_way(void *env, sn_scalar i, sn_scalar j, sn_scalar d)
{
    struct search *p = env;
    return sn_min(d, sn_add(sn_index(p->begin, i, p->x), sn_index(p->begin, p->x, j)));
}

static sn_acc floyd_step(sn_acc d, sn_acc k)
{
    struct search p = {.begin = d, .x = sn_to_i64(sn_the(k))};
    return sn_imap(sn_closure(by_way, &p), d);
}

/* --- graphs --- */

static sn_scalar key_at(void *env, sn_scalar i)
{
    return sn_to_i64(sn_index(*(sn_acc *)env, i));
}

static sn_acc label_step(sn_acc label, sn_acc from, sn_acc to)
{
    return sn_permute(sn_min, label, sn_closure(key_at, &to), sn_gather(from, label));
}

F1(in_frontier, sn_lt(x, -90))

static sn_scalar neighbour_of(void *env, sn_scalar f, sn_scalar k)
{
    sn_acc *p = env;
    return sn_to_i64(sn_index(p[0], sn_index(p[1], f), k));
}

static sn_acc frontier_step(sn_acc level, sn_acc next)
{
    sn_acc frontier = sn_pack(sn_map(in_frontier, level), sn_iota(sn_size(level)));
    sn_acc p[2] = {next, frontier};
    sn_acc reached = sn_fill(sn_shape(sn_size(frontier), sn_extent(next, 1)), sn_i32(-90));
    return sn_permute(sn_min, level, sn_closure(neighbour_of, p), reached);
}

struct pair {
    sn_acc bits;
    sn_scalar i, j;
};

static sn_scalar add_common(void *env, sn_scalar w, sn_scalar sum)
{
    struct pair *p = env;
    sn_scalar both = sn_bit_and(sn_index(p->bits, p->i, w), sn_index(p->bits, p->j, w));
    return sn_add(sum, sn_to_i64(sn_popcount(both)));
}

static sn_scalar common_of(void *env, sn_scalar i, sn_scalar j)
{
    struct pair p = {*(sn_acc *)env, i, j};
    sn_scalar word = sn_index(p.bits, i, sn_shr(j, 6));
    sn_scalar joined = sn_eq(sn_bit_and(sn_shr(word, sn_to_u64(sn_bit_and(j, 63))), 1), 1);
    return sn_if(joined, sn_loop(sn_extent(p.bits, 1), sn_closure(add_common, &p), sn_i64(0)), 0);
}

static sn_acc triangles(sn_acc bits)
{
    sn_scalar n = sn_extent(bits, 0);
    return sn_fold_all(sn_add, 0, sn_generate(sn_shape(n, n), sn_closure(common_of, &bits)));
}

#endif
