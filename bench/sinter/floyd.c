/* Shortest paths between all pairs: in round k all pairs may go by way of k. */
#include "../side.h"

static sn_scalar by_way(void *env, sn_scalar row, sn_scalar column, sn_scalar length)
{
    const sn_acc *a = env;
    sn_scalar k = sn_the(a[1]);
    return sn_min(length, sn_add(sn_index(a[0], row, k), sn_index(a[0], k, column)));
}

static sn_scalar by_way_listed(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return by_way(env, sn_get(x[0], 0), sn_get(x[0], 1), x[1]);
}

static sn_acc round_k(sn_acc k, sn_acc d)
{
    sn_acc env[2] = {d, k};
    return sn_imap(sn_closure_of(by_way_listed, env, 2), d);
}

static sn_acc shortest(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), round_k, d);
}

static void *open_side(void *data)
{
    (void)data;
    return side_open("[n,n]i32 -> [n,n]i32", SN_BODY(shortest));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct floyd_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->x, d->n, d->n), sn_into(d->sinter, d->n, d->n)));
}

const struct bench_side sinter_floyd = {open_side, run, side_close};
