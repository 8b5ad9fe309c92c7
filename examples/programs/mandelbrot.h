/* The Mandelbrot set: steps of z := z*z + c, from 0, while |z| < 2, for a view of height x width pixels. */
#ifndef PROGRAMS_MANDELBROT_H
#define PROGRAMS_MANDELBROT_H

#include <sinter/sinter.h>

/* left, top, step between pixels (rank 0), most steps; the extents are those of the result */
#define MANDELBROT_SIGNATURE "f32, f32, f32, i32 -> [%lld,%lld]i32"

struct mandelbrot_pixel {
    sn_scalar left, top, step, limit, cr, ci;
    int64_t height, width;
};

static sn_scalar mandelbrot_inside(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    const struct mandelbrot_pixel *p = env;
    return sn_land(sn_lt(sn_add(sn_mul(zr, zr), sn_mul(zi, zi)), 4), sn_lt(count, p->limit));
}

static sn_scalar mandelbrot_step(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    const struct mandelbrot_pixel *p = env;
    sn_scalar r = sn_add(sn_sub(sn_mul(zr, zr), sn_mul(zi, zi)), p->cr);
    sn_scalar i = sn_add(sn_mul(sn_add(zr, zr), zi), p->ci);
    return sn_tuple(r, i, sn_add(count, 1));
}

static sn_scalar mandelbrot_count(void *env, sn_scalar row, sn_scalar column)
{
    struct mandelbrot_pixel p = *(const struct mandelbrot_pixel *)env;
    p.cr = sn_add(sn_mul(sn_to_f32(column), p.step), p.left);
    p.ci = sn_add(sn_mul(sn_to_f32(row), p.step), p.top);
    sn_scalar start = sn_tuple(sn_f32(0), sn_f32(0), sn_i32(0));
    return sn_get(sn_while(sn_closure(mandelbrot_inside, &p), sn_closure(mandelbrot_step, &p), start), 2);
}

/* env: a mandelbrot_pixel with height and width */
static sn_acc mandelbrot(void *env, int count, const sn_acc *in)
{
    struct mandelbrot_pixel p = *(const struct mandelbrot_pixel *)env;
    (void)count;
    p.left = sn_the(in[0]);
    p.top = sn_the(in[1]);
    p.step = sn_the(in[2]);
    p.limit = sn_the(in[3]);
    return sn_generate(sn_shape(p.height, p.width), sn_closure(mandelbrot_count, &p));
}

#endif
