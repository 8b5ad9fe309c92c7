/* Stable fluids (Stam 1999): a step of a fluid in a box, as arrays of velocities and of smoke. Pressure comes from
 * steps of Jacobi's, which are a loop over arrays. */
#ifndef PROGRAMS_FLUID_H
#define PROGRAMS_FLUID_H

#include <sinter/sinter.h>

/* Velocities (columns, rows) a unit of time, smoke; the unit -> the same a step later. */
#define FLUID_SIGNATURE "[h,w]f32, [h,w]f32, [h,w]f32, f32 -> [h,w]f32, [h,w]f32, [h,w]f32"

enum { FLUID_JACOBI = 20 };

/* --- carried along: what was where the fluid comes from, between four elements --- */

typedef struct fluid_flow {
    sn_acc of, u, v;
    sn_scalar unit, height, width;
} fluid_flow;

static sn_scalar fluid_inside(sn_scalar x, sn_scalar extent)
{
    return sn_min(sn_max(x, 0.0f), sn_sub(sn_to_f32(extent), 1.0f));
}

static sn_scalar fluid_before(void *env, sn_scalar row, sn_scalar column)
{
    const fluid_flow *f = env;
    sn_scalar x = fluid_inside(sn_sub(sn_to_f32(column), sn_mul(f->unit, sn_index(f->u, row, column))), f->width),
              y = fluid_inside(sn_sub(sn_to_f32(row), sn_mul(f->unit, sn_index(f->v, row, column))), f->height);
    sn_scalar left = sn_to_i64(x), above = sn_to_i64(y), right = sn_min(sn_add(left, 1), sn_sub(f->width, 1)),
              below = sn_min(sn_add(above, 1), sn_sub(f->height, 1));
    sn_scalar dx = sn_sub(x, sn_to_f32(left)), dy = sn_sub(y, sn_to_f32(above));
    sn_scalar a = sn_index(f->of, above, left), b = sn_index(f->of, above, right), c = sn_index(f->of, below, left),
              d = sn_index(f->of, below, right);
    sn_scalar upper = sn_add(a, sn_mul(dx, sn_sub(b, a))), lower = sn_add(c, sn_mul(dx, sn_sub(d, c)));
    return sn_add(upper, sn_mul(dy, sn_sub(lower, upper)));
}

static sn_acc fluid_carried(sn_acc of, sn_acc u, sn_acc v, sn_scalar unit)
{
    fluid_flow f = {of, u, v, unit, sn_extent(of, 0), sn_extent(of, 1)};
    return sn_generate(sn_shape_of(of), sn_closure(fluid_before, &f));
}

/* --- pressure: what makes the flow free of sources --- */

static sn_scalar fluid_source(sn_scalar u, sn_scalar v)
{
    return sn_mul(-0.5f, sn_add(sn_sub(sn_at(u, 0, 1), sn_at(u, 0, -1)), sn_sub(sn_at(v, 1, 0), sn_at(v, -1, 0))));
}

static sn_scalar fluid_nearer(sn_scalar p, sn_scalar source)
{
    sn_scalar around = sn_add(sn_add(sn_at(p, 0, -1), sn_at(p, 0, 1)), sn_add(sn_at(p, -1, 0), sn_at(p, 1, 0)));
    return sn_mul(0.25f, sn_add(sn_at(source, 0, 0), around));
}

static sn_acc fluid_pressure_step(void *env, int count, const sn_acc *pressure)
{
    (void)count;
    return sn_stencil2(fluid_nearer, sn_pattern(3, 3), sn_clamp, pressure[0], sn_pattern(1, 1), sn_clamp,
                       *(sn_acc *)env);
}

static sn_scalar fluid_slope_x(sn_scalar p, sn_scalar u)
{
    return sn_sub(sn_at(u, 0, 0), sn_mul(0.5f, sn_sub(sn_at(p, 0, 1), sn_at(p, 0, -1))));
}

static sn_scalar fluid_slope_y(sn_scalar p, sn_scalar v)
{
    return sn_sub(sn_at(v, 0, 0), sn_mul(0.5f, sn_sub(sn_at(p, 1, 0), sn_at(p, -1, 0))));
}

static sn_scalar fluid_still(sn_scalar row, sn_scalar column)
{
    (void)row, (void)column;
    return sn_f32(0);
}

static sn_acc fluid_step(sn_acc u, sn_acc v, sn_acc smoke, sn_acc unit)
{
    sn_scalar t = sn_the(unit);
    sn_acc x = sn_force(fluid_carried(u, u, v, t)), y = sn_force(fluid_carried(v, u, v, t));
    sn_acc source = sn_force(sn_stencil2(fluid_source, sn_pattern(3, 3), sn_clamp, x, sn_pattern(3, 3), sn_clamp, y));
    sn_acc pressure = sn_aiterate(FLUID_JACOBI, sn_body_of(fluid_pressure_step, &source, 1),
                                  sn_generate(sn_shape_of(u), fluid_still));
    sn_acc free_x = sn_stencil2(fluid_slope_x, sn_pattern(3, 3), sn_clamp, pressure, sn_pattern(1, 1), sn_clamp, x);
    sn_acc free_y = sn_stencil2(fluid_slope_y, sn_pattern(3, 3), sn_clamp, pressure, sn_pattern(1, 1), sn_clamp, y);
    return sn_results(free_x, free_y, fluid_carried(smoke, free_x, free_y, t));
}

#endif
