/* Canny's edge detector up to suppression, as whole-array operations: grey, Gaussian, Sobel, magnitude and direction,
 * non-maximum suppression, thresholds. */
#ifndef PROGRAMS_CANNY_H
#define PROGRAMS_CANNY_H

#include <sinter/sinter.h>

#define CANNY_SIGNATURE "[h,w]u8, [h,w]u8, [h,w]u8, f32, f32 -> [h,w]f32"

/* where the gradient points */
enum { CANNY_FLAT, CANNY_RISING, CANNY_DOWN, CANNY_FALLING, CANNY_ACROSS };

struct canny_thresholds {
    sn_scalar low, high; /* on the scale of the picture, 0 to 255 */
};

static sn_scalar canny_grey(sn_scalar red, sn_scalar green, sn_scalar blue)
{
    return sn_add(sn_add(sn_mul(sn_to_f32(red), 0.299f), sn_mul(sn_to_f32(green), 0.587f)),
                  sn_mul(sn_to_f32(blue), 0.114f));
}

static sn_scalar canny_weigh(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e)
{
    return sn_mul(sn_add(sn_add(sn_add(a, e), sn_mul(sn_add(b, d), 4)), sn_mul(c, 6)), 1.0f / 16);
}

static sn_scalar canny_across(sn_scalar s)
{
    return canny_weigh(sn_at(s, 0, -2), sn_at(s, 0, -1), sn_at(s, 0, 0), sn_at(s, 0, 1), sn_at(s, 0, 2));
}

static sn_scalar canny_down(sn_scalar s)
{
    return canny_weigh(sn_at(s, -2, 0), sn_at(s, -1, 0), sn_at(s, 0, 0), sn_at(s, 1, 0), sn_at(s, 2, 0));
}

static sn_scalar canny_1_2_1(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_add(a, c), sn_mul(b, 2));
}

/* magnitude and direction; the sector boundaries are at tan(pi/8) */
static sn_scalar canny_gradient(void *env, sn_scalar s)
{
    const struct canny_thresholds *t = env;
    sn_scalar dx = sn_sub(canny_1_2_1(sn_at(s, -1, 1), sn_at(s, 0, 1), sn_at(s, 1, 1)),
                          canny_1_2_1(sn_at(s, -1, -1), sn_at(s, 0, -1), sn_at(s, 1, -1)));
    sn_scalar dy = sn_sub(canny_1_2_1(sn_at(s, -1, -1), sn_at(s, -1, 0), sn_at(s, -1, 1)),
                          canny_1_2_1(sn_at(s, 1, -1), sn_at(s, 1, 0), sn_at(s, 1, 1)));
    sn_scalar ax = sn_abs(dx), ay = sn_abs(dy);
    sn_scalar same_sign = sn_eq(sn_lt(dx, 0), sn_lt(dy, 0));
    sn_scalar diagonal = sn_if(same_sign, sn_u8(CANNY_RISING), sn_u8(CANNY_FALLING));
    sn_scalar steep = sn_if(sn_le(ax, sn_mul(ay, 0.414213562f)), sn_u8(CANNY_DOWN), diagonal);
    sn_scalar sector = sn_if(sn_lt(ay, sn_mul(ax, 0.414213562f)), sn_u8(CANNY_ACROSS), steep);
    sn_scalar flat = sn_land(sn_le(ax, t->low), sn_le(ay, t->low));
    return sn_tuple(sn_sqrt(sn_add(sn_mul(dx, dx), sn_mul(dy, dy))), sn_if(flat, sn_u8(CANNY_FLAT), sector));
}

static sn_scalar canny_along(sn_scalar s, sn_scalar direction, int way)
{
    sn_scalar rising = sn_fst(sn_at(s, -way, way)), down = sn_fst(sn_at(s, -way, 0));
    sn_scalar falling = sn_fst(sn_at(s, -way, -way)), across = sn_fst(sn_at(s, 0, -way));
    return sn_if(sn_eq(direction, CANNY_RISING), rising,
                 sn_if(sn_eq(direction, CANNY_DOWN), down, sn_if(sn_eq(direction, CANNY_FALLING), falling, across)));
}

/* 0: no edge; 0.5: weak; 1: strong. An edge is not smaller than its neighbours along the gradient. */
static sn_scalar canny_suppress(void *env, sn_scalar s)
{
    const struct canny_thresholds *t = env;
    sn_scalar here = sn_fst(sn_at(s, 0, 0)), direction = sn_snd(sn_at(s, 0, 0));
    sn_scalar largest = sn_land(sn_ge(here, canny_along(s, direction, 1)), sn_ge(here, canny_along(s, direction, -1)));
    sn_scalar edge = sn_land(sn_land(sn_ne(direction, CANNY_FLAT), sn_ge(here, t->low)), largest);
    return sn_if(edge, sn_if(sn_ge(here, t->high), sn_f32(1), sn_f32(0.5f)), sn_f32(0));
}

static sn_acc canny(sn_acc red, sn_acc green, sn_acc blue, sn_acc low, sn_acc high)
{
    struct canny_thresholds t = {sn_the(low), sn_the(high)};
    sn_acc grey = sn_zip_with(canny_grey, red, green, blue);
    sn_acc across = sn_stencil(canny_across, sn_pattern(1, 5), sn_clamp, grey);
    sn_acc blurred = sn_stencil(canny_down, sn_pattern(5, 1), sn_clamp, across);
    sn_acc gradient = sn_stencil(sn_closure(canny_gradient, &t), sn_pattern(3, 3), sn_clamp, blurred);
    return sn_stencil(sn_closure(canny_suppress, &t), sn_pattern(3, 3), sn_clamp, gradient);
}

#endif
