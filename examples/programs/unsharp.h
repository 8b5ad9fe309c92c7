/* Unsharp masking: a picture becomes sharper by what a blur takes away from it. Each channel by itself; 8 bits in and
 * out. */
#ifndef PROGRAMS_UNSHARP_H
#define PROGRAMS_UNSHARP_H

#include <sinter/sinter.h>

/* red, green, blue, amount (0: none; 1: strong) -> red, green, blue */
#define UNSHARP_SIGNATURE "[h,w]u8, [h,w]u8, [h,w]u8, f32 -> [h,w]u8, [h,w]u8, [h,w]u8"

/* binomial weights: a Gaussian with a standard deviation of one pixel */
static sn_scalar unsharp_weigh(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e)
{
    return sn_mul(sn_add(sn_add(sn_add(a, e), sn_mul(sn_add(b, d), 4)), sn_mul(c, 6)), 1.0f / 16);
}

static sn_scalar unsharp_across(sn_scalar s)
{
    return unsharp_weigh(sn_at(s, 0, -2), sn_at(s, 0, -1), sn_at(s, 0, 0), sn_at(s, 0, 1), sn_at(s, 0, 2));
}

static sn_scalar unsharp_down(sn_scalar s)
{
    return unsharp_weigh(sn_at(s, -2, 0), sn_at(s, -1, 0), sn_at(s, 0, 0), sn_at(s, 1, 0), sn_at(s, 2, 0));
}

static sn_scalar unsharp_byte(sn_scalar x)
{
    return sn_to_u8(sn_round(sn_min(sn_max(x, 0), 255)));
}

static sn_scalar unsharp_pixel(void *env, sn_scalar sharp, sn_scalar blurred)
{
    const sn_scalar *amount = env;
    return unsharp_byte(sn_add(sharp, sn_mul(sn_sub(sharp, blurred), *amount)));
}

static sn_acc unsharp_channel(sn_acc channel, sn_scalar amount)
{
    sn_acc sharp = sn_map(sn_to_f32, channel);
    sn_acc across = sn_stencil(unsharp_across, sn_pattern(1, 5), sn_mirror, sharp);
    sn_acc blurred = sn_stencil(unsharp_down, sn_pattern(5, 1), sn_mirror, across);
    return sn_zip_with(sn_closure(unsharp_pixel, &amount), sharp, blurred);
}

static sn_acc unsharp(sn_acc red, sn_acc green, sn_acc blue, sn_acc amount)
{
    sn_scalar a = sn_the(amount);
    return sn_results(unsharp_channel(red, a), unsharp_channel(green, a), unsharp_channel(blue, a));
}

#endif
