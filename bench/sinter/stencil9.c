/* A weighted sum over 9 x 9 neighbours; the weights are constants of the program. */
#include "../side.h"

static sn_scalar weigh(void *env, sn_scalar s)
{
    const struct stencil9_data *d = env;
    sn_scalar sum = {0};
    for (int i = 0; i < STENCIL9_SIDE * STENCIL9_SIDE; i++) {
        sn_scalar x = sn_at(s, i / STENCIL9_SIDE - STENCIL9_SIDE / 2, i % STENCIL9_SIDE - STENCIL9_SIDE / 2);
        sn_scalar product = sn_mul(x, d->weight[i]);
        sum = i ? sn_add(sum, product) : product;
    }
    return sum;
}

static sn_acc stencil9(void *env, int count, const sn_acc *parameter)
{
    (void)count;
    return sn_stencil(sn_closure(weigh, env), sn_pattern(9, 9), sn_clamp, parameter[0]);
}

static void *open_side(void *data)
{
    return side_open("[h,w]f32 -> [h,w]f32", sn_body_env(stencil9, data));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct stencil9_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->height, d->width), sn_into(d->sinter, d->height, d->width)));
}

const struct bench_side sinter_stencil9 = {open_side, run, side_close};
