/* Recorded random choices, and their shrinking. The generator is splitmix64. */
#include "support/choices.h"

void choices_random(choices *c, arena *a, uint64_t seed)
{
    *c = (choices){.arena = a, .state = seed};
}

void choices_replay(choices *c, arena *a, uint32_t n, const uint32_t *made)
{
    *c = (choices){.arena = a, .replays = true};
    vec_resize(a, &c->made, n);
    if (n)
        memcpy(c->made.at, made, n * sizeof *made);
}

static uint64_t next_random(choices *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t choose(choices *c, uint32_t n)
{
    if (c->replays)
        return c->next < c->made.n ? c->made.at[c->next++] % n : 0;
    uint32_t choice = (uint32_t)((next_random(c) >> 32) * n >> 32);
    vec_push(c->arena, &c->made, choice);
    return choice;
}

bool chance(choices *c, unsigned percent)
{
    return choose(c, 100) >= 100 - percent;
}

static uint32_t position(const choices *c)
{
    return c->replays ? c->next : c->made.n;
}

bool choices_more(choices *c, unsigned percent, uint32_t *span)
{
    choice_span here = {.from = position(c)};
    if (!chance(c, percent))
        return false;
    *span = c->span.n;
    vec_push(c->arena, &c->span, here);
    return true;
}

void choices_end(choices *c, uint32_t span)
{
    c->span.at[span].to = position(c);
}

/* --- shrinking --- */

typedef struct shrinker {
    arena *arena;
    uint32_t n, *best, *candidate;
    VEC(choice_span) span; /* of the best */
    choices_predicate fails;
    void *env;
    uint32_t tries;
} shrinker;

static bool attempt(shrinker *s, uint32_t n)
{
    if (!s->tries)
        return false;
    s->tries--;
    choices c;
    choices_replay(&c, s->arena, n, s->candidate);
    if (!s->fails(s->env, &c))
        return false;
    uint32_t *old = s->best;
    s->best = s->candidate;
    s->candidate = old;
    s->n = c.next < n ? c.next : n;
    s->span.at = c.span.at;
    s->span.n = c.span.n;
    return true;
}

static bool try_without(shrinker *s, uint32_t from, uint32_t count)
{
    memcpy(s->candidate, s->best, from * sizeof *s->best);
    memcpy(s->candidate + from, s->best + from + count, (s->n - from - count) * sizeof *s->best);
    return attempt(s, s->n - count);
}

static bool try_zeros(shrinker *s, uint32_t from, uint32_t count)
{
    bool changes = false;
    memcpy(s->candidate, s->best, s->n * sizeof *s->best);
    for (uint32_t k = from; k < from + count; k++) {
        changes |= s->candidate[k] != 0;
        s->candidate[k] = 0;
    }
    return changes && attempt(s, s->n);
}

static bool try_value(shrinker *s, uint32_t at, uint32_t value)
{
    if (value >= s->best[at])
        return false;
    memcpy(s->candidate, s->best, s->n * sizeof *s->best);
    s->candidate[at] = value;
    return attempt(s, s->n);
}

/* Spans may hold others: from the last to the first, so that those still to be tried stay where they are. */
static bool drop_spans(shrinker *s)
{
    bool better = false;
    for (uint32_t k = s->span.n; k-- > 0;) {
        choice_span span = s->span.at[k];
        if (span.to <= s->n && span.to > span.from)
            better |= try_without(s, span.from, span.to - span.from);
        k = k < s->span.n ? k : s->span.n;
    }
    return better;
}

static bool pass(shrinker *s)
{
    bool better = drop_spans(s);
    for (uint32_t size = s->n / 2; size > 0; size /= 2)
        for (uint32_t from = 0; from + size <= s->n; from += size)
            better |= try_zeros(s, from, size);
    for (uint32_t k = 0; k < s->n; k++)
        better |= try_value(s, k, s->best[k] / 2) || (k < s->n && try_value(s, k, s->best[k] - 1));
    for (uint32_t size = 4; size > 0; size /= 2)
        for (uint32_t from = 0; from + size <= s->n; from++)
            better |= try_without(s, from, size);
    return better;
}

uint32_t choices_shrink(arena *a, uint32_t n, const uint32_t *made, choices_predicate fails, void *env, uint32_t tries,
                        uint32_t **smaller)
{
    shrinker s = {.arena = a, .fails = fails, .env = env, .tries = tries};
    s.best = arena_array(a, uint32_t, n + 1);
    s.candidate = arena_array(a, uint32_t, n + 1);
    memcpy(s.candidate, made, n * sizeof *made);
    attempt(&s, n); /* for its spans */
    while (s.tries && pass(&s)) {
    }
    *smaller = s.best;
    return s.n;
}
