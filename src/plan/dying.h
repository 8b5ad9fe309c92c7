/* Memory that a step may have: what nobody needs any more. */
#ifndef SN_PLAN_DYING_H
#define SN_PLAN_DYING_H

#include "plan/plan.h"

/* Finds, in a plan that has all its steps, which inputs of controls die with them (plan_control.dies), and what
 * permutes and parts of controls may be written over (plan_buffer.over). */
void plan_find_dying(plan *out, const l_program *l);

#endif
