/* Runs emitted CUDA C++ without a GPU: compiled by the host's C++ compiler, the threads of a block as coroutines that
 * meet where the text says so. Slow and strict: a barrier that not all threads of the block reach, and an exchange
 * whose members are not all there, are errors. One thread only. */
#ifndef SN_TESTS_CUDA_TEXT_H
#define SN_TESTS_CUDA_TEXT_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

typedef struct cuda_text cuda_text;

/* Is there a compiler? */
bool cuda_text_possible(void);
/* The kernel function is named `entry`; blocks have `local` threads. NULL and *why (in `a`) if it does not compile. */
cuda_text *cuda_text_build(const kernel *k, const char *source, const char *entry, unsigned local, arena *a,
                           const char **why);
/* Runs pieces [first, last) in `groups` blocks, one block after the other. mem: a pointer per global. False and *why if
 * threads lose each other. */
bool cuda_text_run(cuda_text *t, void *const *mem, const ir_bits *arg, int64_t first, int64_t last, unsigned groups,
                   k_error *error, const char **why);
void cuda_text_drop(cuda_text *t);

#endif
