/* Sorts in progress: which rounds their clusters go through, as far as only the run tells. */
#ifndef SN_RUN_SORT_H
#define SN_RUN_SORT_H

#include "run/program.h"

typedef struct run_sort {  /* of a cluster that sorts, in a call */
    uint32_t rounds, next; /* by digits: how many, 0: not known yet; those that are done */
    sk_digit *digit;       /* of each */
    bool to_result;        /* the launch at hand moves elements to the result; else to the memory beside it */
} run_sort;

/* What a launch of such a cluster does now. */
sk_round run_sort_round(run *c, uint32_t launch);
/* It has been sized: *skip: it has nothing to do. False after a failure, which is in c->status. */
bool run_sort_sized(run *c, uint32_t launch, bool *skip);
/* It has been put into the queue. */
void run_sort_launched(run *c, uint32_t launch);
/* The buffer of a component that it moves elements from, or to. */
uint32_t run_sort_buffer(const run *c, uint32_t launch, uint32_t component, bool to);

#endif
