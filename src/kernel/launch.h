/* What passes between compiled kernels and those who launch them: the machine-level interface of CPU kernels, and the
 * error record of every device. */
#ifndef SN_KERNEL_LAUNCH_H
#define SN_KERNEL_LAUNCH_H

#include "ir/ops.h"

/* The smallest (site, element) seen. One per launch sequence, cleared by the runtime. */
typedef struct k_error {
    uint32_t lock;  /* CPU: spin lock of k_report */
    uint32_t site;  /* 0: no error */
    int64_t element, value, bound;
} k_error;

typedef struct k_launch k_launch;

/* Helpers that compiled CPU code calls through the launch record, so that its text is position-independent. */
typedef struct k_helpers {
    void (*report)(k_error *error, uint32_t site, int64_t element, int64_t value, int64_t bound); /* thread-safe; keeps the smallest */
} k_helpers;

struct k_launch {
    void *const *mem;        /* a pointer per global, in order; naturally aligned to the element, no more */
    const ir_bits *arg;      /* value bits of each scalar argument */
    int64_t first, last;     /* pieces to run */
    void *scratch;           /* kernel->scratch bytes, 64-byte aligned, private to this call */
    k_error *error;
    const k_helpers *helpers;
};

typedef void (*k_entry)(const k_launch *launch);

#endif
