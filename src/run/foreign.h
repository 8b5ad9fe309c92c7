/* Functions of arrays that are not ours (foreign.c). */
#ifndef SN_RUN_FOREIGN_H
#define SN_RUN_FOREIGN_H

#include "base/size.h"
#include "run/program.h"

/* The user's function of this control, if there is one for the device; *done: it has computed the result. False: the
 * call fails. */
bool run_foreign(run *c, const plan_control *p, bool *done);

/* Elements of this rank that the caller's memory for a result takes. */
static inline int64_t run_capacity(const run_result *out, unsigned rank)
{
    int64_t n = 0;
    return out->upto ? out->capacity : size_count(rank, out->extent, &n) ? n : 0;
}

#endif
