/* Whether a plan has loops that do not depend on each other. */
#ifndef SN_PLAN_APART_H
#define SN_PLAN_APART_H

#include "plan/plan.h"

/* Of a plan that has its clusters. Linear. */
bool plan_is_apart(const plan *p);

#endif
