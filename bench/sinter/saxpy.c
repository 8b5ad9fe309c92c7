/* z = a x + y: one map. */
#include "../side.h"

static sn_scalar axpy(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(sn_scalar *)env, x), y);
}

static sn_acc saxpy(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_zip_with(sn_closure(axpy, &factor), xs, ys);
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("f32, [n]f32, [n]f32 -> [n]f32", SN_BODY(saxpy));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct saxpy_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_value(&d->a), sn_in(d->x, n), sn_in(d->y, n), sn_into(d->sinter, n)));
}

const struct bench_side sinter_saxpy = {open_side, run, side_close};
