/* Sums of segments, and a sparse matrix times a vector: the same with products of elements that are looked up. */
#include "../side.h"

static sn_acc segsum(sn_acc offsets, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), x);
}

static sn_scalar times(void *vector, sn_scalar column, sn_scalar x)
{
    return sn_mul(x, sn_index(*(const sn_acc *)vector, column));
}

static sn_acc csr(sn_acc offsets, sn_acc column, sn_acc x, sn_acc vector)
{
    sn_acc products = sn_zip_with(sn_closure(times, &vector), column, x);
    return sn_sum_seg(sn_segments_from_offsets(offsets), products);
}

static void *open_segsum(void *data)
{
    (void)data;
    return side_open("[m]i64, [n]f32 -> [s]f32", SN_BODY(segsum));
}

static int run_segsum(void *state, void *data)
{
    struct side *s = state;
    struct segments_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->offsets, d->segments + 1), sn_in(d->x, d->base.n),
                              sn_into(d->sinter, d->segments)));
}

static void *open_csr(void *data)
{
    (void)data;
    return side_open("[m]i64, [n]i32, [n]f32, [k]f32 -> [s]f32", SN_BODY(csr));
}

static int run_csr(void *state, void *data)
{
    struct side *s = state;
    struct segments_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->offsets, d->segments + 1), sn_in(d->column, d->base.n),
                              sn_in(d->x, d->base.n), sn_in(d->vector, d->columns), sn_into(d->sinter, d->segments)));
}

const struct bench_side sinter_segsum = {open_segsum, run_segsum, side_close};
const struct bench_side sinter_csr = {open_csr, run_csr, side_close};
