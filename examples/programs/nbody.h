/* One step of n bodies under gravity (G = 1), in two formulations that compute the same. Neither makes an n x n array.
 */
#ifndef PROGRAMS_NBODY_H
#define PROGRAMS_NBODY_H

#include <sinter/sinter.h>

/* Position, velocity, mass, step of time -> position, velocity. The code is good for both types. */
#define NBODY_F64 "[n](f64,f64,f64), [n](f64,f64,f64), [n]f64, f64 -> [n](f64,f64,f64), [n](f64,f64,f64)"
#define NBODY_F32 "[n](f32,f32,f32), [n](f32,f32,f32), [n]f32, f32 -> [n](f32,f32,f32), [n](f32,f32,f32)"

static sn_scalar nbody_add(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)));
}

static sn_scalar nbody_scaled(sn_scalar a, sn_scalar factor)
{
    return sn_tuple(sn_mul(sn_get(a, 0), factor), sn_mul(sn_get(a, 1), factor), sn_mul(sn_get(a, 2), factor));
}

/* The acceleration of a body at `here` by a mass at `there`; of a body by itself: none. */
static sn_scalar nbody_pull(sn_scalar here, sn_scalar there, sn_scalar mass)
{
    sn_scalar dx = sn_sub(sn_get(there, 0), sn_get(here, 0));
    sn_scalar dy = sn_sub(sn_get(there, 1), sn_get(here, 1));
    sn_scalar dz = sn_sub(sn_get(there, 2), sn_get(here, 2));
    sn_scalar square = sn_add(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)), sn_mul(dz, dz));
    sn_scalar strength = sn_if(sn_gt(square, 0), sn_div(mass, sn_mul(square, sn_sqrt(square))), 0);
    return nbody_scaled(sn_tuple(dx, dy, dz), strength);
}

/* First formulation, arrays only: rows of equal bodies against columns of all of them, folded. */
static sn_acc nbody_by_replicates(sn_acc position, sn_acc mass)
{
    sn_scalar n = sn_size(mass);
    sn_acc here = sn_replicate(position, SN_ALL, n), there = sn_replicate(position, n, SN_ALL);
    sn_acc pull = sn_zip_with(nbody_pull, here, there, sn_replicate(mass, n, SN_ALL));
    return sn_fold(nbody_add, sn_tuple(0, 0, 0), pull);
}

/* Second formulation: each body goes through all the others in scalar code. */
static sn_scalar nbody_add_pull(void *env, sn_scalar sum, sn_scalar other)
{
    const sn_scalar *here = env;
    return nbody_add(sum, nbody_pull(*here, sn_fst(other), sn_snd(other)));
}

static sn_scalar nbody_pull_of_all(void *env, sn_scalar here)
{
    const sn_acc *bodies = env;
    sn_scalar zero = sn_if(sn_bool(true), 0, sn_get(here, 0)); /* a literal of the type of what it meets: f32 or f64 */
    return sn_sfold(sn_closure(nbody_add_pull, &here), sn_tuple(zero, zero, zero), *bodies);
}

static sn_acc nbody_by_loops(sn_acc position, sn_acc mass)
{
    sn_acc bodies = sn_zip(position, mass);
    return sn_map(sn_closure(nbody_pull_of_all, &bodies), position);
}

static sn_scalar nbody_advance(void *env, sn_scalar value, sn_scalar rate)
{
    const sn_scalar *step = env;
    return nbody_add(value, nbody_scaled(rate, *step));
}

/* Velocities first, then positions with the new velocities: symplectic, so the energy swings but does not drift away.
 */
static sn_acc nbody_step(sn_acc position, sn_acc velocity, sn_acc acceleration, sn_scalar step)
{
    sn_fn advance = sn_closure(nbody_advance, &step);
    sn_acc faster = sn_zip_with(advance, velocity, acceleration);
    return sn_results(sn_zip_with(advance, position, faster), faster);
}

static sn_acc nbody_replicates(sn_acc position, sn_acc velocity, sn_acc mass, sn_acc step)
{
    return nbody_step(position, velocity, nbody_by_replicates(position, mass), sn_the(step));
}

static sn_acc nbody_loops(sn_acc position, sn_acc velocity, sn_acc mass, sn_acc step)
{
    return nbody_step(position, velocity, nbody_by_loops(position, mass), sn_the(step));
}

#endif
