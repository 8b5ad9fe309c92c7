/* Plans of programs that are texts. */
#ifndef SN_TESTS_PLAN_TEXT_H
#define SN_TESTS_PLAN_TEXT_H

#include "plan/plan.h"

extern const sk_options plan_vectors; /* a device whose pieces may wait for others */
extern const sk_options plan_threads; /* one whose pieces may not */

/* Of the terms; in `a`. The test fails if they do not parse. Fused unless `apart`. */
plan *plan_of(arena *a, const char *terms, const sk_options *options, bool apart);
/* The test fails unless the plan is printed as exactly this. */
void plan_is(const char *terms, const sk_options *options, const char *wanted);

#endif
