/* Dot product, argmax and row sums of bytes. */
#include "../side.h"

static const uint8_t *in(const struct typed_data *d, int k)
{
    return d->in[k];
}

static sn_scalar product(sn_scalar x, sn_scalar y)
{
    return sn_mul(sn_to_i32(x), sn_to_i32(y));
}

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(product, xs, ys));
}

static void *open_dot(void *data)
{
    (void)data;
    return side_open("[n]u8, [n]u8 -> i32", SN_BODY(dot));
}

static int run_dot(void *state, void *data)
{
    struct side *s = state;
    struct typed_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in(in(d, 0), n), sn_in(in(d, 1), n), sn_value((int32_t *)d->sinter)));
}

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

static void *open_argmax(void *data)
{
    (void)data;
    return side_open("[n]u8 -> (u8, i32)", SN_BODY(argmax));
}

static int run_argmax(void *state, void *data)
{
    struct side *s = state;
    struct typed_data *d = data;
    struct peak_u8 *peak = d->sinter;
    return side_ok(s, sn_call(s->program, sn_in(in(d, 0), d->base.n), sn_value(&peak->value), sn_value(&peak->index)));
}

static sn_acc rowsums(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_map(sn_to_i32, x));
}

static void *open_rowsums(void *data)
{
    (void)data;
    return side_open("[n,m]u8 -> [n]i32", SN_BODY(rowsums));
}

static int run_rowsums(void *state, void *data)
{
    struct side *s = state;
    struct typed_data *d = data;
    return side_ok(s,
                   sn_call(s->program, sn_in(in(d, 0), d->rows, d->columns), sn_into((int32_t *)d->sinter, d->rows)));
}

const struct bench_side sinter_dot_u8 = {open_dot, run_dot, side_close};
const struct bench_side sinter_argmax_u8 = {open_argmax, run_argmax, side_close};
const struct bench_side sinter_rowsums_u8 = {open_rowsums, run_rowsums, side_close};
