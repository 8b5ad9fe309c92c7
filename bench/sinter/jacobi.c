/* Steps of Jacobi's, as a loop: the mean of five neighbours. */
#include "../side.h"

static sn_scalar mean(sn_scalar s)
{
    sn_scalar sum = sn_add(sn_add(sn_at(s, 0, 0), sn_at(s, -1, 0)), sn_at(s, 1, 0));
    return sn_mul(sn_add(sn_add(sum, sn_at(s, 0, -1)), sn_at(s, 0, 1)), 0.2f);
}

static sn_acc step(sn_acc x)
{
    return sn_stencil(mean, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc steps(void *env, int count, const sn_acc *parameter)
{
    const struct jacobi_data *d = env;
    (void)count;
    return sn_aiterate(d->steps, step, parameter[0]);
}

static void *open_side(void *data)
{
    return side_open("[h,w]f32 -> [h,w]f32", sn_body_env(steps, data));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct jacobi_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->height, d->width), sn_into(d->sinter, d->height, d->width)));
}

const struct bench_side sinter_jacobi = {open_side, run, side_close};
