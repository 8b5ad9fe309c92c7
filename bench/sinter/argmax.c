/* The greatest element and its first index, as a fold of pairs whose operator keeps the left one of equals. */
#include "../side.h"

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, sn_to_i32(i));
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    sn_scalar right = sn_gt(sn_fst(b), sn_fst(a));
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_acc argmax(sn_acc xs)
{
    return sn_fold1(greater, sn_imap(with_index, xs));
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n]f32 -> (f32, i32)", SN_BODY(argmax));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct argmax_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->base.n), sn_value(&d->sinter.value), sn_value(&d->sinter.index)));
}

const struct bench_side sinter_argmax = {open_side, run, side_close};
