/* Loops that are as far from the parameters as each other do not depend on each other. */
#include "plan/apart.h"

static uint32_t farthest(const uint32_t *behind, const uint32_t *buffer, uint32_t n, uint32_t depth)
{
    for (uint32_t i = 0; i < n; i++)
        depth = behind[buffer[i]] > depth ? behind[buffer[i]] : depth;
    return depth;
}

/* `reader`: of each depth and buffer the last loop that reads it, and 1. */
static void note_readers(plan *p, arena *a, map64 *reader, uint32_t cluster, uint32_t depth)
{
    plan_cluster *c = &p->cluster.at[cluster];
    for (uint32_t k = 0; k < c->reads.n; k++) {
        const uint64_t key = (uint64_t)depth << 32 | c->reads.at[k];
        const uint32_t before = map64_get(reader, key);
        if (before && before - 1 != cluster)
            c->shares = p->cluster.at[before - 1].shares = true;
        map64_put(a, reader, key, cluster + 1);
    }
}

void plan_find_apart(plan *p)
{
    arena *a = arena_beside(p->arena);
    uint32_t *behind = arena_array(a, *behind, p->buffer.n + 1); /* per buffer: loops on the way to it */
    bool *taken = arena_alloc(a, p->cluster.n + 1);
    map64 reader = {0};
    for (uint32_t i = 0; i < p->cluster.n; i++) {
        const plan_cluster *c = &p->cluster.at[i];
        const uint32_t depth =
            farthest(behind, c->defaults.at, c->defaults.n, farthest(behind, c->reads.at, c->reads.n, 0));
        for (uint32_t k = 0; k < c->writes.n; k++)
            behind[c->writes.at[k]] = depth + 1;
        if (c->control || c->placed)
            continue;
        note_readers(p, a, &reader, i, depth);
        p->apart |= taken[depth];
        taken[depth] = true;
    }
    arena_free(a);
}
