/* Runs a program cluster by cluster on the kernel interpreter: skeletons without any device. */
#ifndef TESTS_RUN_CLUSTERS_H
#define TESTS_RUN_CLUSTERS_H

#include "ir/interpret.h"
#include "kernel/launch.h"
#include "skeleton/skeleton.h"

typedef struct run_result {
    ir_value *output;   /* per program output */
    k_error error;
    uint32_t launches;
    const char *why;    /* a failure of ours: NULL if none */
} run_result;

/* As on a device that skeletons are told this of. Results live in `a`. Fails if a kernel wants more shared memory than
 * device->scratch, where that is not 0, and if two of a few pieces write the same element: pieces run at the same time. */
run_result run_clusters(ir_program *p, const l_options *options, const sk_options *device, arena *a, const ir_value *input);
/* The same on a device with next to no cache. */
run_result run_clusters_uncached(ir_program *p, const l_options *options, const sk_options *device, arena *a,
                                 const ir_value *input);

#endif
