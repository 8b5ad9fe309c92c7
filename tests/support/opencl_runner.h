/* Builds emitted OpenCL C and runs it on the first device of the machine that computes as exactly as we need: helper of
 * tests. Where there is no OpenCL, opencl_open says so and gives NULL. One thread only. */
#ifndef SN_TESTS_OPENCL_RUNNER_H
#define SN_TESTS_OPENCL_RUNNER_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

typedef struct opencl_runner opencl_runner;
typedef struct opencl_program opencl_program;

opencl_runner *opencl_open(const char **why);
void opencl_close(opencl_runner *r);
const char *opencl_device(const opencl_runner *r);

/* Work-groups of `local` items. NULL and *log (static or in `a`) if it does not build. */
opencl_program *opencl_build(opencl_runner *r, const char *source, const char *entry, size_t local, arena *a,
                             const char **log);
void opencl_drop(opencl_program *p);

/* Runs pieces [first, last) in `groups` work-groups and waits. mem: a pointer and its size in bytes per global of the
 * kernel, used in place where the device shares the host's memory. false: the run-time failed. */
bool opencl_run(opencl_program *p, const kernel *k, void *const *mem, const size_t *bytes, const ir_bits *arg,
                int64_t first, int64_t last, size_t groups, k_error *error);

#endif
