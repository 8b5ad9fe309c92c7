/* The dot product: a map fused into a fold. */
#include "../side.h"

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n]f32, [n]f32 -> f32", SN_BODY(dot));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct dot_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->base.n), sn_in(d->y, d->base.n), sn_value(&d->sinter)));
}

const struct bench_side sinter_dot = {open_side, run, side_close};
