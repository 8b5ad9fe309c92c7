/* The arithmetic of CUDA's occupancy calculator: each resource, given out in grains, allows so many blocks, and the
 * scarcest decides. */
#include "kernel/occupancy.h"

enum { LEAST_GROUP = 64 /* smaller blocks leave units idle: there may be only so many of them */ };

static uint64_t round_up(uint64_t n, uint64_t grain)
{
    return grain ? (n + grain - 1) / grain * grain : n;
}

static uint64_t least(uint64_t x, uint64_t y)
{
    return x < y ? x : y;
}

static uint32_t gang_of(const k_unit *u)
{
    return u->gang ? u->gang : 1;
}

/* Registers are given to gangs, and gangs to the unit's parts evenly. */
static uint64_t by_registers(const k_unit *u, const k_need *n, uint64_t gangs)
{
    if (!u->registers || !n->registers)
        return UINT32_MAX;
    uint64_t each = round_up((uint64_t)n->registers * gang_of(u), u->register_grain), most = u->registers / each;
    most -= u->gang_grain ? most % u->gang_grain : 0;
    return most / gangs;
}

static uint64_t by_shared(const k_unit *u, const k_need *n)
{
    uint64_t each = round_up((uint64_t)n->shared + u->shared_besides, u->shared_grain);
    return u->shared && each ? u->shared / each : UINT32_MAX;
}

uint32_t k_resident(const k_unit *u, const k_need *n, uint32_t threads)
{
    uint64_t gangs = ((uint64_t)threads + gang_of(u) - 1) / gang_of(u), most = UINT32_MAX;
    if (!threads || (u->group && threads > u->group))
        return 0;
    if (u->threads)
        most = least(most, u->threads / (gangs * gang_of(u)));
    if (u->groups)
        most = least(most, u->groups);
    most = least(most, by_registers(u, n, gangs));
    return (uint32_t)least(most, by_shared(u, n));
}

uint32_t k_choose_group(const k_unit *u, const k_need *n, uint32_t wish)
{
    uint32_t gang = gang_of(u), most = u->group ? u->group : UINT32_MAX;
    uint64_t whole = round_up(wish ? wish : 1, gang);
    uint32_t best = whole < most ? (uint32_t)whole : most;
    uint64_t at_work = (uint64_t)k_resident(u, n, best) * best;
    for (uint32_t threads = best / 2 / gang * gang; threads >= LEAST_GROUP; threads = threads / 2 / gang * gang) {
        uint64_t now = (uint64_t)k_resident(u, n, threads) * threads;
        if (4 * now < 5 * at_work || now == 0 || (at_work && now / threads == UINT32_MAX))
            continue;
        best = threads;
        at_work = now;
    }
    return best;
}
