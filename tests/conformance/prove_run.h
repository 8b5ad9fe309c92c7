/* Runs the kernels of prove_kernels.h on every device there is, with the host's part of the algorithms: how many
 * pieces, which kernel after which. */
#ifndef SN_TESTS_PROVE_RUN_H
#define SN_TESTS_PROVE_RUN_H

#include "conformance/prove_kernels.h"
#include "kernel/launch.h"

enum { PROVE_DEVICES = 5, PROVE_GLOBALS = 12 };

typedef struct prove_device prove_device;
struct prove_device {
    const char *name;
    bool chains; /* has forward progress and gangs */
    bool slow;   /* few cases only */
    void *self;
    void *(*prepare)(prove_device *d, kernel *k, arena *a); /* fails the test if it cannot */
    bool (*run)(prove_device *d, void *prepared, const kernel *k, void *const *mem, const size_t *bytes,
                const ir_bits *arg, int64_t first, int64_t last, k_error *error);
    void (*forget)(prove_device *d, void *prepared);
    void (*close)(prove_device *d);
};

typedef struct prove_devices {
    arena arena;
    prove_device at[PROVE_DEVICES];
    unsigned n;
} prove_devices;

/* Interpreter, CPU with one and with two threads, OpenCL, CUDA; says which are missing. */
void prove_open(prove_devices *d);
void prove_close(prove_devices *d);

/* A kernel made ready for one device. */
typedef struct prove_program {
    prove_device *device;
    kernel *k;
    void *prepared;
} prove_program;

prove_program prove_ready(prove_device *d, arena *a, kernel *k); /* verifies it */
void prove_forget(prove_program *p);

/* memory of a launch, in the order of the kernel's globals */
typedef struct prove_memory {
    void *at[PROVE_GLOBALS];
    size_t bytes[PROVE_GLOBALS];
    unsigned n;
} prove_memory;
void prove_add(prove_memory *m, void *at, size_t bytes);
void prove_launch(const prove_program *p, const prove_memory *m, const ir_bits *arg, int64_t pieces, k_error *error);

/* A fold: its first kernel, the one over partial results, the one for the seed. */
typedef struct prove_fold {
    const prove_operator *op;
    int64_t piece;
    unsigned inputs; /* arrays read by the first kernel */
    prove_program first, again, finish;
} prove_fold;

prove_fold prove_fold_ready(prove_device *d, arena *a, const prove_operator *op, bool ordered);
void prove_fold_forget(prove_fold *f);
void prove_fold_run(const prove_fold *f, void *const *in, int64_t n, const ir_bits *seed, ir_bits *result);

typedef struct prove_scan {
    const prove_operator *op;
    prove_program chained, sums, carries, apply; /* chained, or the other three */
} prove_scan;

prove_scan prove_scan_ready(prove_device *d, arena *a, const prove_operator *op, bool chained);
void prove_scan_forget(prove_scan *s);
void prove_scan_run(const prove_scan *s, void *in, void *out, int64_t n, ir_bits seed);

typedef struct prove_filter {
    prove_program chained, count, offsets, write;
} prove_filter;

prove_filter prove_filter_ready(prove_device *d, arena *a, bool chained);
void prove_filter_forget(prove_filter *f);
int64_t prove_filter_run(const prove_filter *f, void *in, void *out, int64_t n, float limit);

#endif
