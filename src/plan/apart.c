/* Loops that are as far from the parameters as each other do not depend on each other. */
#include "plan/apart.h"

static uint32_t farthest(const uint32_t *behind, const uint32_t *buffer, uint32_t n, uint32_t depth)
{
    for (uint32_t i = 0; i < n; i++)
        depth = behind[buffer[i]] > depth ? behind[buffer[i]] : depth;
    return depth;
}

bool plan_is_apart(const plan *p)
{
    uint32_t *behind =
        arena_alloc(p->arena, (p->buffer.n + 1) * sizeof *behind); /* per buffer: loops on the way to it */
    bool *taken = arena_alloc(p->arena, p->cluster.n + 1), apart = false;
    for (uint32_t i = 0; i < p->cluster.n; i++) {
        const plan_cluster *c = &p->cluster.at[i];
        const uint32_t depth =
            farthest(behind, c->defaults.at, c->defaults.n, farthest(behind, c->reads.at, c->reads.n, 0));
        for (uint32_t k = 0; k < c->writes.n; k++)
            behind[c->writes.at[k]] = depth + 1;
        if (c->control || c->placed)
            continue;
        apart |= taken[depth];
        taken[depth] = true;
    }
    return apart;
}
