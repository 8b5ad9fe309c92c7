/* Which maps have lanes with all elements of a short innermost dimension, whose extent the program knows or a launch:
 * what they read and store lies together then, and indices need no division. */
#include "skeleton/map/map.h"

#include "skeleton/element/interleave.h"

bool sk_gang_beats_lane(int64_t extent, bool copies, bool knows)
{
    enum { OF_A_GANG = 4, OF_LANES = 4, EIGHT = 8 /* which are turned by halves */ };
    return (extent >= OF_A_GANG && copies) || (extent > OF_LANES && extent != EIGHT && knows);
}

static bool computes_less(const sk_lower *lw, int64_t extent, const sk_outputs *out, const sk_index *at)
{
    const sk_lane_cost cost = sk_cost_of_lane(lw, out->term.n, out->term.at, at->at[at->rank - 1]);
    return sk_lane_computes_less(&cost, extent);
}

/* Of rows of up to eight elements only where these lie together, and if the results do not go past the caches: what
 * lanes have is stored as whole lines. */
static bool gang_is_quicker(const sk_lower *lw, int64_t extent, const sk_outputs *out, const sk_index *at, bool stream)
{
    enum { OF_LANES = 8 };
    return !computes_less(lw, extent, out, at) && !(stream && extent <= OF_LANES) &&
           sk_gang_beats_lane(extent, false, true) &&
           (extent > OF_LANES ? sk_knows_rows(lw, out, at) : sk_reads_rows(lw, out, at));
}

/* Of several dimensions those whose indices matter by themselves: lanes that are neighbours in one of them would have
 * to divide. */
static sk_factor find_factor(const sk_lower *lw, const sk_outputs *out, const sk_index *at, bool stream)
{
    const sk_cluster *c = lw->cluster;
    const unsigned rank = c->loop->rank;
    unsigned digits = 1;
    while (digits < rank && c->run[rank - 1 - digits] == 1 && c->used[rank - 1 - digits])
        digits++;
    for (; digits > 0; digits--) {
        sk_factor f = sk_factor_of_extents(lw, out->term.n, out->term.at, at, digits);
        if (f.by > 1 && !gang_is_quicker(lw, f.extent[0], out, at, stream))
            return f;
    }
    return (sk_factor){.by = 1, .steps = 1};
}

sk_factor sk_lane_factor(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    return find_factor(lw, out, at, lw->options->stream);
}

bool sk_is_of_a_lane(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    const sk_factor f = sk_lane_factor(lw, out, at);
    return f.by > 1 && !(sk_gang_beats_lane(f.extent[0], true, false) && sk_copies_short_rows(lw, out, at) &&
                         !computes_less(lw, f.extent[0], out, at));
}

/* Where the whole of the innermost extent is a lane's: is there a dimension for the lanes, and another one for rows? */
static bool has_pairs(const sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    const unsigned last = c->loop->rank - 1u;
    return c->loop->rank > 2 && c->run[last - 1] == 1 && c->used[last - 1] && sk_lane_factor(lw, out, at).digits == 1;
}

/* May a lane have all of an innermost dimension whose extent a launch knows? Lanes go along the dimension before it,
 * where the index in that matters by itself: else those that are neighbours in several dimensions would have to divide.
 */
static void find_lane_of_launch(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    const unsigned last = c->loop->rank - 1u;
    int64_t known;
    const bool pairs = c->loop->rank > 2 && c->run[last - 1] == 1 && c->used[last - 1];
    if (!c->uses_index || c->inner != 1 || !c->used[last] || (c->run[0] != last && !pairs) ||
        ir_extent_constant(lw->l->ir, c->loop->shape[last], &known))
        return;
    c->pairs = pairs;
    c->lane = sk_cost_of_lane(lw, out->term.n, out->term.at, at->at[last]);
    c->lane_copies = c->lane.suits && sk_copies_short_rows(lw, out, at);
    c->lane_knows = c->lane.suits && sk_knows_rows(lw, out, at);
}

void sk_find_lanes(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    c->of_lane = c->uses_index && c->inner == 1 && c->used[c->loop->rank - 1u] && sk_is_of_a_lane(lw, out, at);
    c->pairs = c->of_lane && has_pairs(lw, c, out, at);
    c->lane_streams = c->uses_index && c->inner == 1 && !c->of_lane && c->loop->rank == 2 &&
                      find_factor(lw, out, at, true).by > 1 && find_factor(lw, out, at, false).by == 1;
    find_lane_of_launch(lw, c, out, at);
}

bool sk_lane_streams(const sk_call *x)
{
    return x->c->lane_streams && !x->o->group && x->o->vector_bytes &&
           sk_streams(x->c, x->o, (double)x->rows * (double)x->columns, x->cache_bytes);
}
