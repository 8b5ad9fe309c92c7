/* Work in order on an OpenCL device. Every launch that may fail has an error record of its own: the launches behind it
 * compute from what the failed one left undone, and what they report is not the user's mistake. */
#include "device/opencl_device.h"

#include <stdio.h>

enum { RECORDS = 32, RECORD_WORDS = 4, GROUPS_PER_UNIT = 16, WHY_BYTES = 160 };

struct device_queue {
    device_queue *next; /* among the idle ones */
    ocl_queue queue;
    ocl_mem record[RECORDS]; /* i64[4] each, zeros between uses; made when first needed */
    uint32_t used;           /* records of launches whose errors have not been looked at */
    k_error error;           /* the first that was found */
    bool busy;               /* something was put in since it was last waited for */
    device_state state;
    char why[WHY_BYTES]; /* unless DEVICE_FINE */
};

/* Keeps the first failure; the rest follows from it. */
static bool fails(device_queue *q, const char *call, int32_t status)
{
    if (status == OCL_SUCCESS)
        return false;
    if (q->state != DEVICE_FINE)
        return true;
    bool memory = status == OCL_MEM_OBJECT_ALLOCATION_FAILURE || status == OCL_OUT_OF_HOST_MEMORY;
    q->state = memory ? DEVICE_OUT_OF_MEMORY : DEVICE_BROKEN;
    snprintf(q->why, sizeof(q->why), "%s: %s", call, opencl_status(status));
    return true;
}

/* --- opening and closing --- */

static void free_queue(opencl *d, device_queue *q)
{
    for (uint32_t i = 0; i < RECORDS; i++)
        if (q->record[i])
            d->api.clReleaseMemObject(q->record[i]);
    if (q->queue)
        d->api.clReleaseCommandQueue(q->queue);
    d->heap.release(d->heap.env, q);
}

device_queue *opencl_open_queue(device *base)
{
    opencl *d = (opencl *)base;
    pthread_mutex_lock(&d->lock);
    device_queue *q = d->idle;
    if (q)
        d->idle = q->next;
    pthread_mutex_unlock(&d->lock);
    if (q)
        return q;
    q = d->heap.alloc(d->heap.env, sizeof(*q));
    if (!q)
        return NULL;
    int32_t status = OCL_SUCCESS;
    *q = (device_queue){.queue = d->api.clCreateCommandQueue(d->context, d->id, 0, &status)};
    if (q->queue)
        return q;
    free_queue(d, q);
    return NULL;
}

void opencl_close_queue(device *base, device_queue *q)
{
    opencl *d = (opencl *)base;
    if (!q)
        return;
    bool reusable = q->state == DEVICE_FINE && q->used == 0 && q->error.site == 0;
    if ((q->busy && d->api.clFinish(q->queue) != OCL_SUCCESS) || !reusable) {
        free_queue(d, q);
        return;
    }
    pthread_mutex_lock(&d->lock);
    q->next = d->idle;
    d->idle = q;
    pthread_mutex_unlock(&d->lock);
}

void opencl_free_queues(opencl *d)
{
    for (device_queue *next; d->idle; d->idle = next) {
        next = d->idle->next;
        free_queue(d, d->idle);
    }
}

/* --- errors of kernels --- */

static k_error error_of(const int64_t *word)
{
    return (k_error){.site = (uint32_t)word[0], .element = word[1], .value = word[2], .bound = word[3]};
}

/* Waits, and keeps the error of the first launch that has one. */
static void settle(opencl *d, device_queue *q)
{
    static const int64_t zeros[RECORD_WORDS] = {0};
    int64_t word[RECORDS][RECORD_WORDS] = {{0}};
    for (uint32_t i = 0; i < q->used && q->state == DEVICE_FINE; i++)
        fails(q, "clEnqueueReadBuffer",
              d->api.clEnqueueReadBuffer(q->queue, q->record[i], 0, 0, sizeof(word[i]), word[i], 0, NULL, NULL));
    if (q->busy)
        fails(q, "clFinish", d->api.clFinish(q->queue));
    q->busy = false;
    if (q->state != DEVICE_FINE)
        return;
    for (uint32_t i = 0; i < q->used; i++) {
        if (!word[i][0])
            continue;
        if (!q->error.site)
            q->error = error_of(word[i]);
        fails(q, "clEnqueueWriteBuffer",
              d->api.clEnqueueWriteBuffer(q->queue, q->record[i], 0, 0, sizeof(zeros), zeros, 0, NULL, NULL));
    }
    q->used = 0;
}

device_state opencl_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why)
{
    settle((opencl *)base, q);
    *error = q->error;
    *why = q->state == DEVICE_FINE ? NULL : arena_string(a, q->why);
    q->error = (k_error){0};
    return q->state;
}

/* The record of the next launch. Launches without checks share the first and leave it alone. */
static ocl_mem *next_record(opencl *d, device_queue *q, bool checks)
{
    if (checks && q->used == RECORDS)
        settle(d, q);
    if (q->state != DEVICE_FINE)
        return NULL;
    ocl_mem *record = &q->record[checks ? q->used : 0];
    if (!*record) {
        int64_t zeros[RECORD_WORDS] = {0};
        int32_t status = OCL_SUCCESS;
        *record = d->api.clCreateBuffer(d->context, OCL_MEM_READ_WRITE | OCL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros,
                                        &status);
        if (!*record) {
            fails(q, "clCreateBuffer", status);
            return NULL;
        }
    }
    q->used += checks;
    return record;
}

/* --- work --- */

bool opencl_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from, size_t offset,
                 size_t bytes)
{
    opencl *d = (opencl *)base;
    ocl_mem source = (ocl_mem)(uintptr_t)from;
    int32_t status = OCL_SUCCESS;
    const char *call = "clEnqueueWriteBuffer";
    if (!bytes || q->state != DEVICE_FINE)
        return q->state == DEVICE_FINE;
    q->busy = true;
    if (direction == DEVICE_UPLOAD) {
        status = d->api.clEnqueueWriteBuffer(q->queue, to, 0, offset, bytes, from, 0, NULL, NULL);
    } else if (direction == DEVICE_DOWNLOAD) {
        call = "clEnqueueReadBuffer";
        status = d->api.clEnqueueReadBuffer(q->queue, source, 0, offset, bytes, to, 0, NULL, NULL);
    } else {
        call = "clEnqueueCopyBuffer";
        status = d->api.clEnqueueCopyBuffer(q->queue, source, to, offset, 0, bytes, 0, NULL, NULL);
    }
    return !fails(q, call, status);
}

/* With the kernel's lock. */
static int32_t set_arguments(opencl *d, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                             int64_t last, ocl_mem *record)
{
    uint32_t at = 0;
    int32_t status = OCL_SUCCESS;
    for (uint32_t i = 0; i < k->memories && status == OCL_SUCCESS; i++)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(ocl_mem), &mem[i]);
    for (uint32_t i = 0; i < k->arguments && status == OCL_SUCCESS; i++) /* little-endian: a value's bytes come first */
        status = d->api.clSetKernelArg(k->kernel, at++, k->argument_bytes[i], &arg[i]);
    if (status == OCL_SUCCESS)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(first), &first);
    if (status == OCL_SUCCESS)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(last), &last);
    return status == OCL_SUCCESS ? d->api.clSetKernelArg(k->kernel, at, sizeof(ocl_mem), record) : status;
}

static size_t groups_of(const opencl *d, int64_t pieces)
{
    size_t most = (size_t)d->limits.workers * GROUPS_PER_UNIT;
    if (d->limits.most_groups && most > d->limits.most_groups)
        most = d->limits.most_groups;
    return (uint64_t)pieces < most ? (size_t)pieces : most;
}

bool opencl_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg,
                    int64_t first, int64_t last)
{
    opencl *d = (opencl *)base;
    if (first >= last)
        return q->state == DEVICE_FINE;
    ocl_mem *record = next_record(d, q, k->checks);
    if (!record)
        return false;
    q->busy = true;
    size_t items = groups_of(d, last - first) * k->group;
    pthread_mutex_lock(&k->lock);
    bool failed = fails(q, "clSetKernelArg", set_arguments(d, k, mem, arg, first, last, record));
    if (!failed)
        failed = fails(q, "clEnqueueNDRangeKernel",
                       d->api.clEnqueueNDRangeKernel(q->queue, k->kernel, 1, NULL, &items, &k->group, 0, NULL, NULL));
    pthread_mutex_unlock(&k->lock);
    return !failed && !fails(q, "clFlush", d->api.clFlush(q->queue));
}
