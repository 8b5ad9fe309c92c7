/* examples/programs/blackscholes.h */
#include "../side.h"

#include "../../examples/programs/blackscholes.h"

static void *open_side(void *data)
{
    (void)data;
    return side_open(BLACKSCHOLES_SIGNATURE, SN_BODY(blackscholes));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct blackscholes_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in(d->price, n), sn_in(d->strike, n), sn_in(d->years, n),
                              sn_into(d->sinter_call, n), sn_into(d->sinter_put, n)));
}

const struct bench_side sinter_blackscholes = {open_side, run, side_close};
