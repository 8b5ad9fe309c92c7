/* Histograms, into as many bins as the result has. */
#include "../side.h"

static sn_acc few(sn_acc keys)
{
    return sn_histogram(256, keys);
}

static sn_acc many(sn_acc keys)
{
    return sn_histogram(1 << 20, keys);
}

static void *open_few(void *data)
{
    (void)data;
    return side_open("[n]u32 -> [256]i64", SN_BODY(few));
}

static void *open_many(void *data)
{
    (void)data;
    return side_open("[n]u32 -> [1048576]i64", SN_BODY(many));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct histogram_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->key, d->base.n), sn_into(d->sinter, d->bins)));
}

const struct bench_side sinter_histogram_few = {open_few, run, side_close};
const struct bench_side sinter_histogram_many = {open_many, run, side_close};
