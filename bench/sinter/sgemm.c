/* The product of two matrices: rows of the one and columns of the other for all pairs, multiplied and added up. */
#include "../side.h"

static sn_acc product(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 1), SN_ALL);
    sn_acc columns = sn_replicate(sn_transpose(y), sn_extent(x, 0), SN_ALL, SN_ALL);
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, rows, columns));
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(product));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct sgemm_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->rows, d->columns), sn_in(d->y, d->columns, d->columns),
                              sn_into(d->sinter, d->rows, d->columns)));
}

const struct bench_side sinter_sgemm = {open_side, run, side_close};
