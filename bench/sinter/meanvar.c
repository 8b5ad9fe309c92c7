/* Mean and variance: two folds that share one loop, and scalar work after it. */
#include "../side.h"

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc meanvar(sn_acc xs)
{
    sn_scalar n = sn_to_f32(sn_size(xs));
    sn_scalar mean = sn_div(sn_the(sn_fold(sn_add, 0, xs)), n);
    sn_scalar squares = sn_div(sn_the(sn_fold(sn_add, 0, sn_map(square, xs))), n);
    return sn_results(sn_unit(mean), sn_unit(sn_sub(squares, sn_mul(mean, mean))));
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n]f32 -> f32, f32", SN_BODY(meanvar));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct meanvar_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->base.n), sn_value(&d->sinter.mean), sn_value(&d->sinter.variance)));
}

const struct bench_side sinter_meanvar = {open_side, run, side_close};
