/* Which loops of a plan do not depend on each other. */
#ifndef SN_PLAN_APART_H
#define SN_PLAN_APART_H

#include "plan/plan.h"

/* Says of a plan that has its clusters whether there are such loops, and which of them read the same array as another
 * one. Linear, but for sorting. */
void plan_find_apart(plan *p);

#endif
