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
    struct ir_trace *trace; /* CPU: where noted values go; NULL: nowhere */
} k_error;

/* What K_CHECK reports as its site: a number of the user's program, and which component of an index is meant, 0 if
 * there is no choice of several, else 1 + the dimension; or K_SEGMENT and more. No site (0) becomes the last one, as 0 says that nothing failed. */
enum { K_PLACE_BITS = 4 };
enum { K_SEGMENT = 12 }; /* + an ir_segment_mistake: no index is meant, but a segment (IR_SEGMENT_COMPONENT) */
static inline uint32_t k_place(uint32_t site, uint32_t component)
{
    const uint32_t last = UINT32_MAX >> K_PLACE_BITS;
    return (site && site < last ? site : last) << K_PLACE_BITS | component;
}
static inline uint32_t k_place_site(uint32_t place) /* one that no program has if there is none */
{
    return place >> K_PLACE_BITS;
}
static inline uint32_t k_place_component(uint32_t place)
{
    return place & ((1u << K_PLACE_BITS) - 1);
}

enum { K_TOGETHER = 16 }; /* most pieces of a kernel with CHAIN that a worker takes at a time */

typedef struct k_launch k_launch;

/* Helpers that compiled CPU code calls through the launch record, so that its text is position-independent. */
typedef struct k_helpers {
    void (*report)(k_error *error, uint32_t site, int64_t element, int64_t value, int64_t bound); /* thread-safe; keeps the smallest */
    /* The same of a K_NOTE: the bits of a value and its ir_type. Thread-safe. */
    void (*note)(k_error *error, uint32_t site, int64_t element, int64_t value, int64_t type);
    void (*await)(const uint64_t *flag); /* returns when another thread has set it: gives the core up after a while */
    /* For processors without fused multiply-add: x[i] = x[i] * y[i] + z[i], rounded once, for n floats of so many bytes
     * each. */
    void (*fuse)(void *x, const void *y, const void *z, int64_t n, int64_t bytes);
} k_helpers;

struct k_launch {
    void *const *mem;        /* a pointer per global, in order; naturally aligned to the element, no more */
    const ir_bits *arg;      /* value bits of each scalar argument */
    int64_t first, last;     /* pieces to run */
    void *scratch;           /* kernel->scratch bytes, 64-byte aligned, private to this call */
    k_error *error;
    const k_helpers *helpers;
    /* Kernels with CHAIN take their pieces themselves, up to `together` at a time: *next, which all who run the launch
     * share, is the first piece that nobody has taken, `first` at the beginning. scratch has room for as many. */
    int64_t *next;
    uint32_t together; /* 1 .. K_TOGETHER */
};

typedef void (*k_entry)(const k_launch *launch);

#endif
