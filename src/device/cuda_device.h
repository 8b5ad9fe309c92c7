/* State of a CUDA device, shared by its files. */
#ifndef SN_DEVICE_CUDA_DEVICE_H
#define SN_DEVICE_CUDA_DEVICE_H

#include "device/cuda_api.h"
#include "device/driver.h"
#include "device/nvrtc.h"

enum { CUDA_MOST_ARGUMENTS = 500 }; /* 4096 bytes, what every device takes */

struct device_kernel {
    driver_kernel common;
    cu_module module;
    cu_function function;
    uint32_t group;     /* threads of a block */
    uint32_t registers; /* of a thread */
    uint32_t resident;  /* blocks that one multiprocessor works on at a time */
    uint32_t shared;    /* bytes of shared memory a launch gives to a block */
    bool chained;       /* needs all its blocks at work at once */
    char *ptx;          /* for explain; NULL: not kept */
};

typedef struct cuda {
    driver_device common;
    cuda_api api;
    cu_device id;
    cu_context context; /* the primary one, which others in this process may use, too */
    bool has_context;
    unsigned arch; /* 80, 90 ... */
    const nvrtc *compiler;
    unsigned target;    /* architecture that it compiles for */
    bool ptx;           /* ... as text, since it knows the device's own not */
    size_t most_shared; /* of a block that asks for it, bytes; limits.scratch is what every block may have */
} cuda;

/* Every call of the driver happens between these two; the caller's own current context comes back. */
cu_result cuda_enter(cuda *d);
void cuda_leave(cuda *d);

/* cuda_find.c: a device that the driver knows */
typedef struct cuda_place {
    cu_device id;
    int ordinal;
    const char *name;
    int major, minor, workers;
    size_t memory;
    const char *why; /* NULL: usable */
} cuda_place;
typedef VEC(cuda_place) cuda_places;
/* False and *why in `a` if there is none. */
bool cuda_find(const cuda_api *api, arena *a, cuda_places *out, const char **why);
int cuda_number(const cuda_api *api, cu_device id, int attribute); /* 0 if the driver does not know */
int cuda_version(const cuda_api *api);                             /* 12040: CUDA 12.4 */

/* cuda_kernel.c: for the kernel cache */
uint32_t cuda_group_of(device *base, const kernel *k, const kernel *ready, arena *a);
kernel *cuda_prepare(device *base, const kernel *k, arena *a, const char *last, const char **why);
bool cuda_obtain(device *base, const kernel *k, const text *key, kernel_entry *entry, arena *a, const char **why);
void cuda_discard(device *base, kernel_entry *entry);

/* cuda_queue.c */
device_queue *cuda_open_queue(device *base, struct ir_trace *trace, device_state *state);
device_event *cuda_signal(device *base, device_queue *q);
bool cuda_await(device *base, device_queue *q, device_event *e);
void cuda_forget(device *base, device_event *e);
bool cuda_time_queue(device *base, device_queue *q);
uint64_t cuda_took(device *base, device_queue *q);
void cuda_close_queue(device *base, device_queue *q);
void cuda_free_queue(device *base, device_queue *q);
bool cuda_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from, size_t offset,
               size_t bytes);
bool cuda_clear(device *base, device_queue *q, void *block, size_t bytes);
bool cuda_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                  int64_t last, bool small, const device_reach *reach);
bool cuda_lend(device *base, device_queue *q, void (*work)(void *env, const device_native *native), void *env);
device_state cuda_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why);

#endif
