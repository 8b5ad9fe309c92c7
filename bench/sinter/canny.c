/* examples/programs/canny.h */
#include "../side.h"

#include "../../examples/programs/canny.h"

static void *open_side(void *data)
{
    (void)data;
    return side_open(CANNY_SIGNATURE, SN_BODY(canny));
}

static int run(void *state, void *data)
{
    struct side *s = state;
    struct canny_data *d = data;
    int64_t h = d->height, w = d->width;
    return side_ok(s, sn_call(s->program, sn_in(d->red, h, w), sn_in(d->green, h, w), sn_in(d->blue, h, w), sn_value(&d->low),
                              sn_value(&d->high), sn_into(d->sinter, h, w)));
}

const struct bench_side sinter_canny = {open_side, run, side_close};
