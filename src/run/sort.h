/* Sorts in progress: which rounds their clusters go through, as far as only the run tells. */
#ifndef SN_RUN_SORT_H
#define SN_RUN_SORT_H

#include "run/program.h"

typedef enum {
    RUN_SORT_UNKNOWN, /* nothing has been counted */
    RUN_SORT_TRIES,   /* by the most significant digit: into buckets that fit in the caches, perhaps */
    RUN_SORT_BUCKETS, /* they fit */
    RUN_SORT_DIGITS   /* from the least significant digit on */
} run_sort_way;

typedef struct run_sort { /* by digits, of a cluster in a call */
    run_sort_way way;
    bool looked;           /* rows that may be two sorted ones have been looked at; */
    bool chunks;           /* and their chunks sorted, as they are not; */
    bool merges;           /* it is two of them, */
    int64_t run;           /* the first of so many elements */
    sk_digit ask;          /* what is counted and moved by now */
    uint32_t rounds, next; /* from the least significant digit on: how many; those that are done */
    sk_digit *digit;       /* of each */
    bool to_result;        /* the launch at hand moves elements to the result; else to the memory beside it */
} run_sort;

/* Has a launch of such a cluster something to do now, and what? False in *good: a failure, which is in c->status. */
bool run_sort_wants(run *c, uint32_t launch, sk_round *round, bool *good);
/* It has been sized, and put into the queue. */
void run_sort_sized(run *c, uint32_t launch);
void run_sort_launched(run *c, uint32_t launch);
/* The buffer of a component that it moves elements from, or to. */
uint32_t run_sort_buffer(const run *c, uint32_t launch, uint32_t component, bool to);

#endif
