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

void sk_open_columns(sk_lower *lw, const sk_index *at, unsigned first)
{
    if (first + 1u == at->rank)
        return;
    lw->space.rank = at->rank;
    for (unsigned d = 0; d < at->rank; d++) {
        lw->space.var[d] = at->at[d];
        lw->space.extent[d] = lw->cluster->loop->shape[d];
        lw->space.run[d] = (uint8_t)(d < first ? 1u : d == first ? at->rank - first : 0u);
        lw->space.used[d] = true;
    }
}

void sk_bind_column(sk_lower *lw, const sk_index *at, unsigned first, k_val column, k_val pixel)
{
    if (first + 1u == at->rank) {
        sk_bind(lw, at->at[first], column);
        return;
    }
    const ir_id *shape = lw->cluster->loop->shape;
    k_val one = k_i64(&lw->b, 1);
    lw->space.position[first] = column;
    if (pixel)
        column = sk_sub(lw, column, sk_mul(lw, pixel, sk_product(lw, at->rank - 1u - first, shape + first + 1u)));
    for (unsigned d = at->rank - 1u; d > first; d--) {
        bool whole = pixel && d == first + 1u;
        sk_bind(lw, at->at[d], whole ? column : sk_take_digit(lw, &column, sk_max(lw, sk_closed(lw, shape[d]), one)));
    }
    sk_bind(lw, at->at[first], pixel ? pixel : column);
}
