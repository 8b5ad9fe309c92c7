/* The steps of a plan that are about launches (execute.c). */
#ifndef SN_RUN_LAUNCH_H
#define SN_RUN_LAUNCH_H

#include "run/program.h"

/* How a launch goes about the extents that its cluster has now; nothing is found where there is nothing to do. False:
 * the call fails. */
bool run_step_size(run *c, uint32_t launch);
/* Puts it into the queue. False: the call fails, or is to stop. */
bool run_step_launch(run *c, uint32_t launch);

struct run_ready;
/* The same of one that a script says; `mem` has room for its pointers. */
bool run_scripted_launch(run *c, const struct run_ready *l, void **mem);
/* How many bytes of memory for a pointer a launch may touch, given extents alone, and whether it may be done beside
 * others at all. */
device_reach run_reach_of(run *c, uint32_t launch, const run_variant *v, const sk_geometry *g, bool *apart);
/* Launches since the last time count among those of the program and of the context. */
void run_count_launches(run *root);
void run_count_launched(run_program *r, uint64_t launches);
/* Is a launch of so many scalar operations worth being put off to be done beside others? */
static inline bool run_worth_apart(double work)
{
    return work >= 10000;
}
/* ... or else worth so little that it runs on the caller's thread: waking others costs more. */
static inline bool run_is_small(const sk_geometry *g)
{
    return g->work < 20000;
}

#endif
