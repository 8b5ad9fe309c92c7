/* Runs terms as calls do, on a device, beside the interpreter. For tests of everything below the public functions. */
#ifndef SN_TESTS_DIFFERENTIAL_H
#define SN_TESTS_DIFFERENTIAL_H

#include "ir/interpret.h"
#include "run/run.h"

typedef struct runner {
    device *device;
    run_engine engine;
} runner;

/* The device that SINTER_DEVICE names ("opencl", "cuda"), else the CPU. False if there is none, or no code generator: tests are
 * skipped then. threads 0: all. */
bool runner_open(runner *r, unsigned threads);
void runner_close(runner *r);

typedef struct outcome {
    sn_status status;
    const char *message;
    ir_value *output; /* per result of the program; in the arena */
    uint64_t launches;
    uint32_t clusters, kernels, buffers;
} outcome;

/* Clusters, plans, compiles and calls the program, `times` times. Adds terms to it. Contraction is off. */
outcome runner_run(const runner *r, ir_program *p, arena *a, const ir_value *input, const l_options *loops,
                   unsigned times);

/* Same shapes and bits (all NaNs are alike). */
bool same_outputs(const ir_program *p, const ir_value *x, const ir_value *y);
int64_t elements_of(const ir_value *v);

#endif
