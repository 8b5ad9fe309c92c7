/* The steps of a plan that are about launches (execute.c). */
#ifndef SN_RUN_LAUNCH_H
#define SN_RUN_LAUNCH_H

#include "run/program.h"

/* How a launch goes about the extents that its cluster has now; nothing is found where there is nothing to do. False:
 * the call fails. */
bool run_step_size(run *c, uint32_t launch);
/* Puts it into the queue. False: the call fails, or is to stop. */
bool run_step_launch(run *c, uint32_t launch);

#endif
