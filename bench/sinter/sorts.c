/* Sorts of keys, alone and with values. */
#include "../side.h"

static sn_acc keys(sn_acc x)
{
    return sn_sort(x);
}

static sn_acc pairs(sn_acc key, sn_acc value)
{
    return sn_sort_by_key(key, value);
}

static void *open_keys(void *data)
{
    (void)data;
    return side_open("[n]u32 -> [n]u32", SN_BODY(keys));
}

static void *open_pairs(void *data)
{
    (void)data;
    return side_open("[n]u32, [n]u32 -> [n](u32, u32)", SN_BODY(pairs));
}

static int run_keys(void *state, void *data)
{
    struct side *s = state;
    struct sort_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->key, d->base.n), sn_into(d->sinter_key, d->base.n)));
}

static int run_pairs(void *state, void *data)
{
    struct side *s = state;
    struct sort_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in(d->key, n), sn_in(d->value, n), sn_into(d->sinter_key, n),
                              sn_into(d->sinter_value, n)));
}

const struct bench_side sinter_sort_keys = {open_keys, run_keys, side_close};
const struct bench_side sinter_sort_pairs = {open_pairs, run_pairs, side_close};
