/* Lanes. Each lane, and each piece of work, knows how many pieces of every lane are done when it is done; pieces of a
 * lane are done in their order, so a number a lane says which. */
#include "device/lanes.h"

_Static_assert(LANES_MOST_WORK <= 64, "pieces are bits of a word");

void lanes_begin(lanes *l, bool behind)
{
    l->open = true;
    l->behind = behind;
    l->works = behind;
    l->ranges = 0;
    memset(l->lane, 0, sizeof(l->lane));
    memset(&l->work[0], 0, sizeof(l->work[0]));
    if (!behind)
        return;
    l->lane[0].n = l->lane[0].done[0] = l->work[0].done[0] = 1;
}

/* The pieces that one which touches this depends on. */
static uint64_t needed(const lanes *l, const lanes_touched *at, uint32_t n)
{
    uint64_t needs = l->behind;
    for (uint32_t i = 0; i < l->ranges; i++) {
        const lanes_touched *r = &l->range[i].at;
        for (uint32_t k = 0; k < n; k++)
            if (at[k].from < r->end && r->from < at[k].end && (at[k].written || r->written))
                needs |= (uint64_t)1 << l->range[i].work;
    }
    return needs;
}

/* That of the last piece which is needed and the end of its lane, as there it waits for nothing; else that which has
 * the least to do. */
static uint32_t lane_for(const lanes *l, uint64_t needs)
{
    uint32_t best = 0;
    bool follows = false;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t last = l->lane[i].last;
        const bool end = l->lane[i].n > (i == 0 && l->behind) && needs >> last & 1;
        if (end ? !follows || last > l->lane[best].last : !follows && l->lane[i].load < l->lane[best].load)
            best = i;
        follows |= end;
    }
    return best;
}

static void learn(uint32_t *done, const uint32_t *more)
{
    for (uint32_t i = 0; i < LANES; i++)
        done[i] = more[i] > done[i] ? more[i] : done[i];
}

/* What a lane has to wait for. The last pieces come first: they know most of what else is done. */
static lanes_waits wait_for(lanes *l, uint32_t lane, uint64_t needs)
{
    lanes_waits waits = {0};
    uint32_t *done = l->lane[lane].done;
    for (uint32_t i = l->works; i-- > 0;) {
        const uint32_t other = l->work[i].lane;
        if (!(needs >> i & 1) || l->work[i].done[other] <= done[other])
            continue;
        waits.of[waits.n++] = i;
        learn(done, l->work[i].done);
    }
    return waits;
}

bool lanes_put(lanes *l, const lanes_touched *at, uint32_t n, double load, lanes_place *out)
{
    if (l->works == LANES_MOST_WORK || n > LANES_MOST_RANGES - l->ranges)
        return false;
    const uint64_t needs = needed(l, at, n);
    const uint32_t lane = lane_for(l, needs), work = l->works;
    *out = (lanes_place){lane, work, wait_for(l, lane, needs)};
    l->lane[lane].done[lane] = ++l->lane[lane].n;
    l->lane[lane].last = work;
    l->lane[lane].load += load;
    l->work[work].lane = lane;
    memcpy(l->work[work].done, l->lane[lane].done, sizeof(l->work[work].done));
    for (uint32_t i = 0; i < n; i++) {
        l->range[l->ranges].at = at[i];
        l->range[l->ranges++].work = work;
    }
    l->works++;
    return true;
}

lanes_waits lanes_join(lanes *l)
{
    uint64_t ends = 0;
    if (!l->open)
        return (lanes_waits){0};
    for (uint32_t i = 1; i < LANES; i++)
        if (l->lane[i].n)
            ends |= (uint64_t)1 << l->lane[i].last;
    l->open = false;
    return wait_for(l, 0, ends);
}

lanes_touched lanes_touched_block(const void *block, size_t offset, size_t bytes, bool written, bool handles)
{
    const uintptr_t from = (uintptr_t)block + (handles ? 0 : offset);
    return (lanes_touched){from, from + (handles && bytes ? 1 : bytes), written};
}

uint32_t lanes_touched_by(const device_reach *reach, void *const *mem, bool handles, lanes_touched *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < reach->pointers; i++)
        if (reach->at[i].bytes)
            out[n++] = lanes_touched_block(mem[i], 0, reach->at[i].bytes, reach->at[i].written, handles);
    return n;
}
