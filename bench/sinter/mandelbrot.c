/* examples/programs/mandelbrot.h */
#include "../side.h"

#include "../../examples/programs/mandelbrot.h"

static void *open_side(void *data)
{
    const struct mandelbrot_data *d = data;
    struct mandelbrot_pixel pixel = {.height = d->height, .width = d->width};
    char signature[80];
    snprintf(signature, sizeof signature, MANDELBROT_SIGNATURE, (long long)d->height, (long long)d->width);
    return side_open(signature, sn_body_env(mandelbrot, &pixel));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct mandelbrot_data *d = data;
    return side_ok(s, sn_call(s->program, sn_value(&d->view.left), sn_value(&d->view.top), sn_value(&d->view.step),
                              sn_value(&d->limit), sn_into(d->sinter, d->height, d->width)));
}

const struct bench_side sinter_mandelbrot = {open_side, run, side_close};
