/* Devices: memory, compiled kernels, launches, behind one struct of functions (device/cpu.c is the first). */
#ifndef SN_DEVICE_DEVICE_H
#define SN_DEVICE_DEVICE_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

typedef struct device device;
typedef struct device_kernel device_kernel; /* compiled; immutable; freed with release_kernel */

typedef struct device_limits {
    const char *kind;     /* "cpu" */
    char name[128];
    uint32_t workers;     /* cores or compute units */
    uint32_t vector_bytes; /* widest SIMD register: 64 with AVX-512, 32 with AVX2, 16 else */
    size_t scratch;       /* most shared memory a block may use, bytes */
    bool forward_progress; /* CHAIN works */
    size_t cache_bytes;   /* results larger than this are worth non-temporal stores */
} device_limits;

struct device {
    const device_limits *limits;
    /* 64-byte aligned; large blocks are backed by huge pages. NULL when there is no memory. Thread-safe. */
    void *(*alloc)(device *d, size_t bytes);
    void (*release)(device *d, void *block, size_t bytes);
    /* Compiles (or finds in the device's cache in memory, or on disk, by k_key) a verified kernel; the device runs the passes that emitters need.
     * NULL and a message in `a` on failure. Thread-safe; two threads asking for one kernel compile it once. */
    device_kernel *(*compile)(device *d, const kernel *k, arena *a, const char **why);
    void (*release_kernel)(device *d, device_kernel *k); /* gives up this reference; the cache may keep it */
    /* Runs pieces [first, last) and waits. Returns false when memory for scratch ran out. Thread-safe: launches of several threads
     * share the pool. `small`: the whole launch is worth less than a wake-up, run on the caller. */
    bool (*launch)(device *d, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first, int64_t last,
                   bool small, k_error *error);
    /* Generated text for explain ("llvm", "asm"); NULL if not kept. */
    const char *(*kernel_text)(device *d, device_kernel *k, const char *form);
    uint64_t (*compiled)(device *d); /* kernels that code was generated for so far */
    uint64_t (*loaded)(device *d);   /* kernels whose code was found on disk */
    /* False once a kernel was found in no cache and there was no code generator to compile it: programs whose kernels do not
     * compile are to be interpreted. Thread-safe. */
    bool (*generates)(device *d);
    void (*close)(device *d);
};

typedef struct device_options {
    unsigned threads;      /* 0: all cores this process may use */
    const char *codegen;   /* path of the code generator module, NULL: search */
    bool keep_text;        /* keep LLVM IR and assembly for explain: nothing is taken from disk, nor put there */
    const base_heap *heap;
} device_options;

/* NULL and *why (static text or in `a`) if it cannot be opened. The code generator is opened when a kernel is not found on disk;
 * where nothing is kept on disk, at once, and without it the device cannot be opened. */
device *device_cpu_open(const device_options *options, arena *a, const char **why);

#endif
