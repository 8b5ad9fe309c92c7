/* The sum of each row: a fold along the inner dimension, whatever the shape. */
#include "../side.h"

static sn_acc rowsums(sn_acc x)
{
    return sn_fold(sn_add, 0, x);
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n,m]f32 -> [n]f32", SN_BODY(rowsums));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct rowsums_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->rows, d->columns), sn_into(d->sinter, d->rows)));
}

const struct bench_side sinter_rowsums = {open_side, run, side_close};
