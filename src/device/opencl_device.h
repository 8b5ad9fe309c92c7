/* State of an OpenCL device, shared by its files. */
#ifndef SN_DEVICE_OPENCL_DEVICE_H
#define SN_DEVICE_OPENCL_DEVICE_H

#include "device/driver.h"
#include "device/opencl_api.h"

struct device_kernel {
    driver_kernel common;
    pthread_mutex_t lock; /* of the kernel object's arguments, from setting them to the launch */
    bool has_lock;
    ocl_program program;
    ocl_kernel kernel;
    size_t group;            /* work items of a group */
    uint8_t *argument_bytes; /* of each scalar */
};

typedef struct opencl {
    driver_device common;
    opencl_api api;
    const opencl_place *place; /* good while it is opened */
    ocl_device id;
    ocl_context context;
    size_t group; /* work items of a group that kernels are first built for */
    bool pocl;
    bool has_f64;
} opencl;

/* opencl_kernel.c: for the kernel cache */
uint32_t opencl_group_of(device *base, const kernel *k, const kernel *ready, arena *a);
kernel *opencl_prepare(device *base, const kernel *k, arena *a, const char *last, const char **why);
bool opencl_obtain(device *base, const kernel *k, const text *key, kernel_entry *entry, arena *a, const char **why);
void opencl_discard(device *base, kernel_entry *entry);

/* opencl_queue.c */
device_queue *opencl_open_queue(device *base, struct ir_trace *trace, device_state *state);
device_event *opencl_signal(device *base, device_queue *q);
bool opencl_await(device *base, device_queue *q, device_event *e);
void opencl_forget(device *base, device_event *e);
bool opencl_time_queue(device *base, device_queue *q);
uint64_t opencl_took(device *base, device_queue *q);
void opencl_close_queue(device *base, device_queue *q);
void opencl_free_queue(device *base, device_queue *q);
bool opencl_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from, size_t offset,
                 size_t bytes);
bool opencl_clear(device *base, device_queue *q, void *block, size_t bytes);
bool opencl_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg,
                    int64_t first, int64_t last, bool small, const device_reach *reach);
bool opencl_lend(device *base, device_queue *q, void (*work)(void *env, const device_native *native), void *env);
device_state opencl_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why);

#endif
