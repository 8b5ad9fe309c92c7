/* Devices: memory, compiled kernels, launches, behind one struct of functions (device/cpu.c is the first). */
#ifndef SN_DEVICE_DEVICE_H
#define SN_DEVICE_DEVICE_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

typedef struct device device;
typedef struct device_kernel device_kernel; /* compiled; immutable; freed with device_release_kernel */
typedef struct device_queue device_queue;   /* work as if in order, of one call; used by one thread at a time */
typedef struct device_event device_event;   /* a place in the work of a queue, that other queues can wait for */

typedef struct device_limits {
    const char *kind;     /* "cpu", "opencl", "cuda" */
    char name[128];
    uint32_t workers;     /* cores or compute units */
    uint32_t vector_bytes; /* CPU: widest SIMD register: 64 with AVX-512, 32 with AVX2, 16 else. Others: 0 */
    size_t scratch;       /* most shared memory a block may use, bytes; */
    size_t most_scratch;  /* one that few others share a unit with; 0: no more */
    bool forward_progress; /* CHAIN works */
    bool waits;            /* queues do their work on the thread that uses them, and none behind a launch that failed;
                              they are busy only with launches that they put off (device_reach) */
    bool fields;           /* kernels may read and write fields of structs (k_memory.every) */
    size_t cache_bytes;   /* results larger than this are worth non-temporal stores; SIZE_MAX: none are */
    /* Devices with memory of their own; 0 on the CPU. */
    bool own_memory;      /* blocks are not host memory: handles of the device, reached by queues only */
    size_t memory;        /* global memory, bytes */
    uint32_t gang;        /* threads in step that exchange values (a warp); 1: none */
    uint32_t group;       /* most threads of a block (work-group) */
    uint32_t unit_threads, unit_groups, unit_registers; /* most at once on one compute unit; 0: unknown */
    size_t unit_shared;   /* shared memory of a compute unit, bytes; 0: unknown */
    uint32_t most_groups; /* of a launch; 0: unlimited */
    bool driven;          /* a driver compiles kernels: it has limits of its own, and may refuse one that is right */
    double draft_work;    /* scalar operations: kernels that have done less may be drafts (device_draft); 0: none may */
    int32_t ordinal;      /* its number among all devices that the driver knows, usable or not */
} device_limits;

typedef enum { DEVICE_FINE, DEVICE_OUT_OF_MEMORY, DEVICE_BROKEN } device_state;
typedef enum { DEVICE_UPLOAD, DEVICE_DOWNLOAD, DEVICE_COPY } device_direction; /* host to block, block to host, block to block */

/* What a launch touches: launches that say so may be done at the same time where neither writes what the other one
 * touches, and copies beside them. Those that do not say come behind all that was put in before, and before the rest.
 */
typedef struct device_touched {
    size_t bytes; /* from the pointer on; more is no mistake */
    bool written; /* else it is only read */
} device_touched;
typedef struct device_reach {
    double work; /* scalar operations, roughly */
    bool shares; /* another launch, neither of which depends on the other, reads one of the arrays that it reads */
    uint32_t pointers, arguments;
    const device_touched *at; /* per pointer */
} device_reach;

typedef struct device_native { /* the driver's: opencl: cl_command_queue, cl_context, cl_device_id; cuda: CUstream ... */
    void *queue, *context, *device;
} device_native;

struct device {
    const device_limits *limits;
    struct kernel_cache *kernels; /* compiled ones, by content */
    /* 64-byte aligned; large blocks are backed by huge pages. NULL when there is no memory. Thread-safe. */
    void *(*alloc)(device *d, size_t bytes);
    void (*release)(device *d, void *block, size_t bytes);
    /* Host memory as a block, as long as it is there: nothing is to be released. NULL: kernels do not reach it. */
    void *(*wrap)(device *d, const void *host);
    /* Where the host finds the elements of a block; NULL: nowhere, they are to be copied. */
    void *(*map)(device *d, void *block);
    /* Generated text for explain ("llvm", "asm"; "opencl"; "cuda", "ptx"); NULL if not kept. */
    const char *(*kernel_text)(device *d, device_kernel *k, const char *form);
    /* A copy in `a` of a verified kernel after the pass `last`, of the stages KERNEL and DEVICE in base/passes.def, as
     * the device runs them before it makes code. NULL and *why where it would not fit. Thread-safe. */
    kernel *(*prepare)(device *d, const kernel *k, arena *a, const char *last, const char **why);
    /* Threads that a block of it has at most, of a kernel and what `prepare` made of it; NULL: blocks are cores. */
    uint32_t (*group_of)(device *d, const kernel *k, const kernel *ready, arena *a);
    /* False once a kernel was found in no cache and there was no code generator to compile it: programs whose kernels do not
     * compile are to be interpreted. Thread-safe. */
    bool (*generates)(device *d);
    /* Queues. A queue's work is done as if in the order in which it was put in (device_reach); what fails is reported by
     * finish, and false says that something did: nothing more needs to be put in. Queues are opened and closed by any
     * thread; a device keeps some for the next call. `trace`: what kernels note goes there while the queue is open;
     * NULL: nowhere. */
    device_queue *(*open_queue)(device *d, struct ir_trace *trace,
                                device_state *state); /* NULL, and why in *state unless that is NULL */
    /* May something that was put in since the last finish still be at work? Else nothing that it was given is in use.
     */
    bool (*busy)(device *d, const device_queue *q);
    /* `offset`, bytes: in the block, of a copy from block to block in the source. Host memory, of uploads and
     * downloads, stays where and as it is until finish. */
    bool (*copy)(device *d, device_queue *q, device_direction direction, void *to, const void *from, size_t offset, size_t bytes);
    bool (*clear)(device *d, device_queue *q, void *block, size_t bytes); /* the first bytes become zeros */
    /* Runs pieces [first, last) of a kernel; mem: a block per pointer. `small`, a hint: the whole launch is worth less
     * than waking up threads. `reach`: launches may come that do not depend on it; NULL: none that matter, and
     * it goes alone. */
    bool (*enqueue)(device *d, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                    int64_t last, bool small, const device_reach *reach);
    /* Events order the work of several queues; none of these waits. `signal` gives one that happens when all that was
     * put into a queue so far is done; NULL: the queue failed, or there was no memory, which finish says. What is put
     * into a queue behind `await` is done when the event has happened; false as of enqueue. `forget` gives an event
     * back, whether it has happened or not: queues that wait for it go on waiting. */
    device_event *(*signal)(device *d, device_queue *q);
    bool (*await)(device *d, device_queue *q, device_event *e);
    void (*forget)(device *d, device_event *e); /* NULL is ignored */
    /* Waits for all. Of the first launch since the last finish in which a check failed the smallest (site, element) in *error,
     * site 0: none. Unless DEVICE_FINE, *why (static or in `a`) names the driver's call and what it said. The queue may be used again. */
    device_state (*finish)(device *d, device_queue *q, k_error *error, arena *a, const char **why);
    void (*close_queue)(device *d, device_queue *q); /* waits; NULL is ignored */
    /* The device times launches that are put into this queue, which is empty, until it is closed; false: it does not.
     */
    bool (*time_queue)(device *d, device_queue *q);
    uint64_t (*took)(device *d,
                     device_queue *q); /* the last launch of such a queue, after finish: nanoseconds; 0: who knows */
    /* NULL if `block` is memory that others have taken from this device, or within such memory where blocks are
     * addresses, and may be launched with and copied like a block of our own; else why not (static). Thread-safe. */
    const char *(*foreign)(device *d, void *block, size_t bytes);
    /* Has somebody else put work into a queue: `work` gets what the driver calls the queue, and what belongs to it, where
     * the driver wants things to be put in. False as of enqueue. NULL where there is no driver. */
    bool (*lend)(device *d, device_queue *q, void (*work)(void *env, const device_native *native), void *env);
    void (*close)(device *d);
};

/* The same on all devices (kernel_cache.c).
 *
 * Compiles a verified kernel, or finds it in the device's cache in memory, or on disk, by k_key; the device runs the passes
 * that emitters need. NULL and *why in `a` on failure, NULL if there was no memory. Thread-safe; two threads asking for one
 * kernel compile it once. */
device_kernel *device_compile(device *d, const kernel *k, arena *a, const char **why);
/* The same for a kernel that has little to do so far: where it is in no cache and would take long to compile, its code may
 * be a draft, soon made and slower. Of devices without drafts it is device_compile. */
device_kernel *device_draft(device *d, const kernel *k, arena *a, const char **why);
bool device_is_draft(const device_kernel *k);
void device_release_kernel(device *d, device_kernel *k); /* gives up this reference; the cache may keep it; NULL is ignored */
uint64_t device_compiled(device *d); /* kernels that code was generated for so far */
uint64_t device_loaded(device *d);   /* kernels whose code was found on disk */

typedef enum { DEVICE_DRAFTS, DEVICE_NO_DRAFTS, DEVICE_ONLY_DRAFTS /* for tests: of all kernels, for good */ } device_drafts;

typedef struct device_options {
    unsigned threads;      /* 0: all cores this process may use */
    const char *codegen;   /* path of the code generator module, NULL: search */
    bool keep_text;        /* keep LLVM IR and assembly for explain: nothing is taken from disk, nor put there */
    const base_heap *heap;
    device_drafts drafts;
    bool gpus_only;        /* OpenCL: no devices that run on the CPU */
    uint32_t part; /* for tests: most statements of a function of the CPU's code; nothing is taken from disk then, nor
                      put there */
    /* For tests, a smaller device than there is; 0: as it is. */
    size_t most_shared, most_memory;
    uint32_t most_group, most_groups;
} device_options;

/* NULL and *why (static text or in `a`) if it cannot be opened. The code generator is opened when a kernel is not found on disk;
 * where nothing is kept on disk, at once, and without it the device cannot be opened. */
device *device_cpu_open(const device_options *options, arena *a, const char **why);

/* The first OpenCL device, and the first CUDA device, that computes as exactly as we need; their libraries are opened at run
 * time. `number` chooses among the usable ones. */
device *device_opencl_open(const device_options *options, unsigned number, arena *a, const char **why);
device *device_cuda_open(const device_options *options, unsigned number, arena *a, const char **why);

/* What a machine has, for listing: usable or not, and why not. Entries in `a`. */
typedef struct device_info {
    const char *kind, *name, *driver; /* driver: version text */
    unsigned number;                  /* to open it with; of its kind */
    size_t memory;
    uint32_t workers;
    const char *why;                  /* NULL: usable */
} device_info;
typedef VEC(device_info) device_infos;
void device_opencl_list(arena *a, device_infos *out);
void device_cuda_list(arena *a, device_infos *out);

#endif
