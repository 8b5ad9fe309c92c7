/* Columns that are those of several dimensions: pixels' channels, when no stencil reads neighbours along these. */
#include "skeleton/stencil/stencil.h"

int64_t sk_channels(const sk_cluster *c, const sk_options *o, const int64_t *extent)
{
    enum { MOST = 64, MOST_OF_LINE = 32 /* rows that are computed together share what they read, which gains more */ };
    const int64_t most = c->channels + 1u == c->loop->rank ? MOST_OF_LINE : MOST;
    int64_t all = 1;
    for (unsigned d = c->loop->rank - c->channels; d < c->loop->rank && all <= most; d++)
        all *= extent[d];
    return c->channels && !o->group && o->vector_bytes && all <= most ? all : 0;
}
