/* A stream of choices: drawn at random and recorded, or played back. A random thing that is built from nothing but its
 * choices can be made smaller by editing them (as Hypothesis does): deleting some, lowering others, as long as a test
 * still fails. Choice 0 should stand for the simplest alternative everywhere; it is what comes after the end. */
#ifndef SN_TESTS_CHOICES_H
#define SN_TESTS_CHOICES_H

#include "base/base.h"

typedef struct choice_span { /* choices that belong together: without them there is one thing less */
    uint32_t from, to;
} choice_span;

typedef struct choices {
    arena *arena;
    uint64_t state; /* of the generator */
    bool replays;
    VEC(uint32_t) made;
    uint32_t next; /* to be played back */
    VEC(choice_span) span;
} choices;

void choices_random(choices *c, arena *a, uint64_t seed);
void choices_replay(choices *c, arena *a, uint32_t n, const uint32_t *made);
uint32_t choose(choices *c, uint32_t n);   /* 0 .. n - 1; n > 0 */
bool chance(choices *c, unsigned percent); /* false is the simple one */
/* One more of a list of things? If so, with its own choices: up to the matching choices_end. */
bool choices_more(choices *c, unsigned percent, uint32_t *span);
void choices_end(choices *c, uint32_t span);

/* Finds a smaller list of choices for which `fails` still returns true; it must for the list given. `fails` plays
 * back the choices it is handed. At most `tries` attempts. The result is allocated in `a`. */
typedef bool (*choices_predicate)(void *env, choices *c);
uint32_t choices_shrink(arena *a, uint32_t n, const uint32_t *made, choices_predicate fails, void *env, uint32_t tries,
                        uint32_t **smaller);

#endif
