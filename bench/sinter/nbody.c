/* examples/programs/nbody.h in f32, both formulations */
#include "../side.h"

#include "../../examples/programs/nbody.h"

static void *open_loops(void *data)
{
    (void)data;
    return side_open(NBODY_F32, SN_BODY(nbody_loops));
}

static void *open_replicates(void *data)
{
    (void)data;
    return side_open(NBODY_F32, SN_BODY(nbody_replicates));
}

#define IN(array) sn_in((array)[0], n), sn_in((array)[1], n), sn_in((array)[2], n)
#define INTO(array) sn_into((array)[0], n), sn_into((array)[1], n), sn_into((array)[2], n)

static int run(void *state, void *data)
{
    struct side *s = state;
    struct nbody_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, IN(d->in.position), IN(d->in.velocity), sn_in(d->in.mass, n),
                              sn_value(&d->step), INTO(d->sinter.position), INTO(d->sinter.velocity)));
}

const struct bench_side sinter_nbody_loops = {open_loops, run, side_close};
const struct bench_side sinter_nbody_replicates = {open_replicates, run, side_close};
