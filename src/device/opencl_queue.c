/* Work on an OpenCL device: in order, or, where launches say what they touch, in several command queues, each in order,
 * whose work waits for events of others (device/lanes.h). Every launch that may fail has an error record of its own:
 * the launches behind it compute from what the failed one left undone, and what they report is not the user's mistake.
 */
#include "device/lanes.h"
#include "device/opencl_device.h"

enum { RECORDS = 32, GROUPS_PER_UNIT = 16 };

struct device_queue {
    driver_queue common;
    ocl_queue queue[LANES]; /* all but the first are made when first needed */
    lanes lanes;
    bool spread;                     /* there may be work in other queues than the first */
    ocl_event done[LANES_MOST_WORK]; /* of what is in the lanes; NULL: of none */
    ocl_mem record[RECORDS];         /* i64[4] each, zeros between uses; made when first needed */
    bool profiles;                   /* the driver notes times of what is in the first queue */
    bool timed;                      /* ... which are asked for */
    ocl_event last;                  /* of the last launch of a queue that is timed; NULL: there was none */
    uint32_t launches;               /* since `turn` */
    ocl_event turn; /* of a launch that is waited for DRIVER_AHEAD launches later; NULL: there was none */
};

static bool fails(device_queue *q, const char *call, int32_t status)
{
    bool memory = status == OCL_MEM_OBJECT_ALLOCATION_FAILURE || status == OCL_OUT_OF_HOST_MEMORY;
    return status != OCL_SUCCESS &&
           driver_fails(&q->common, memory ? DEVICE_OUT_OF_MEMORY : DEVICE_BROKEN, call, opencl_status(status));
}

/* --- opening and closing --- */

static void forget_last(const opencl *d, device_queue *q)
{
    if (q->last)
        d->api.clReleaseEvent(q->last);
    q->last = NULL;
}

static void forget_turn(const opencl *d, device_queue *q)
{
    if (q->turn)
        d->api.clReleaseEvent(q->turn);
    q->turn = NULL;
    q->launches = 0;
}

/* The driver keeps what somebody still waits for. */
static void forget_lanes(const opencl *d, device_queue *q)
{
    for (uint32_t i = 0; i < LANES_MOST_WORK; i++) {
        if (q->done[i])
            d->api.clReleaseEvent(q->done[i]);
        q->done[i] = NULL;
    }
}

void opencl_free_queue(device *base, device_queue *q)
{
    opencl *d = (opencl *)base;
    forget_last(d, q);
    forget_turn(d, q);
    forget_lanes(d, q);
    for (uint32_t i = 0; i < RECORDS; i++)
        if (q->record[i])
            d->api.clReleaseMemObject(q->record[i]);
    for (uint32_t i = 0; i < LANES; i++)
        if (q->queue[i])
            d->api.clReleaseCommandQueue(q->queue[i]);
    d->common.heap.release(d->common.heap.env, q);
}

static device_queue *new_queue(opencl *d)
{
    device_queue *q = d->common.heap.alloc(d->common.heap.env, sizeof(*q));
    int32_t status = OCL_SUCCESS;
    if (!q)
        return NULL;
    *q = (device_queue){.queue = {d->api.clCreateCommandQueue(d->context, d->id, 0, &status)}};
    if (q->queue[0])
        return q;
    opencl_free_queue(&d->common.device, q);
    return NULL;
}

device_queue *opencl_open_queue(device *base, struct ir_trace *trace, device_state *state)
{
    opencl *d = (opencl *)base;
    device_queue *q = driver_idle_queue(&d->common);
    (void)trace; /* kernels of drivers note nothing */
    if (!q)
        q = new_queue(d);
    if (state)
        *state = q ? DEVICE_FINE : DEVICE_BROKEN;
    return q;
}

bool opencl_time_queue(device *base, device_queue *q)
{
    const opencl *d = (const opencl *)base;
    int32_t status = OCL_SUCCESS;
    if (!q->profiles) {
        ocl_queue other = d->api.clCreateCommandQueue(d->context, d->id, OCL_QUEUE_PROFILING_ENABLE, &status);
        if (!other)
            return false;
        d->api.clReleaseCommandQueue(q->queue[0]);
        q->queue[0] = other;
        q->profiles = true;
    }
    q->timed = true;
    return true;
}

uint64_t opencl_took(device *base, device_queue *q)
{
    const opencl *d = (const opencl *)base;
    uint64_t start = 0, end = 0;
    if (!q->last ||
        d->api.clGetEventProfilingInfo(q->last, OCL_PROFILING_COMMAND_START, sizeof(start), &start, NULL) !=
            OCL_SUCCESS ||
        d->api.clGetEventProfilingInfo(q->last, OCL_PROFILING_COMMAND_END, sizeof(end), &end, NULL) != OCL_SUCCESS)
        return 0;
    return end > start ? end - start : 0;
}

/* Waits for all that was put into any queue. */
static int32_t finish_all(opencl *d, device_queue *q)
{
    int32_t status = OCL_SUCCESS;
    for (uint32_t i = 0; i < LANES && (i == 0 || q->spread); i++) {
        const int32_t said = q->queue[i] ? d->api.clFinish(q->queue[i]) : OCL_SUCCESS;
        status = status == OCL_SUCCESS ? said : status;
    }
    q->spread = false;
    if (q->lanes.open)
        forget_lanes(d, q);
    q->lanes.open = false;
    return status;
}

void opencl_close_queue(device *base, device_queue *q)
{
    opencl *d = (opencl *)base;
    if (!q)
        return;
    forget_last(d, q);
    forget_turn(d, q);
    q->timed = false;
    bool reusable = driver_reusable(&q->common);
    if ((q->common.busy && finish_all(d, q) != OCL_SUCCESS) || !reusable)
        opencl_free_queue(base, q);
    else {
        q->common.busy = false;
        driver_keep_queue(&d->common, q);
    }
}

/* --- lanes --- */

typedef struct spot { /* where a piece of work goes */
    ocl_queue queue;
    uint32_t waits;
    ocl_event wait[LANES];
    ocl_event *done; /* its event goes there; NULL: it is in no lane */
} spot;

static void list_waits(const device_queue *q, const lanes_waits *w, spot *out)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (q->done[w->of[i]])
            out->wait[out->waits++] = q->done[w->of[i]];
}

/* What is put in from now on goes behind all that was put in before, and into the first queue. */
static bool join(opencl *d, device_queue *q)
{
    spot s = {0};
    bool failed = q->common.state != DEVICE_FINE;
    if (!q->lanes.open)
        return !failed;
    const lanes_waits waits = lanes_join(&q->lanes);
    list_waits(q, &waits, &s);
    if (s.waits && !failed)
        failed = fails(q, "clEnqueueBarrierWithWaitList",
                       d->api.clEnqueueBarrierWithWaitList(q->queue[0], s.waits, s.wait, NULL));
    q->spread &= failed;
    forget_lanes(d, q);
    return !failed;
}

static bool spread(opencl *d, device_queue *q)
{
    lanes_begin(&q->lanes, q->common.busy);
    return !q->common.busy || (!fails(q, "clEnqueueMarkerWithWaitList",
                                      d->api.clEnqueueMarkerWithWaitList(q->queue[0], 0, NULL, &q->done[0])) &&
                               !fails(q, "clFlush", d->api.clFlush(q->queue[0])));
}

static bool has_queue(opencl *d, device_queue *q, uint32_t lane)
{
    int32_t status = OCL_SUCCESS;
    if (!q->queue[lane])
        q->queue[lane] = d->api.clCreateCommandQueue(d->context, d->id, 0, &status);
    return q->queue[lane] || !fails(q, "clCreateCommandQueue", status);
}

/* Where work goes that touches this, and what it waits for. False: the queue failed. */
static bool find_spot(opencl *d, device_queue *q, const lanes_touched *at, uint32_t n, double load, spot *out)
{
    lanes_place place;
    *out = (spot){.queue = q->queue[0]};
    if (!q->lanes.open)
        return true;
    if (!lanes_put(&q->lanes, at, n, load, &place)) {
        if (!join(d, q) || !spread(d, q))
            return false;
        lanes_put(&q->lanes, at, n, load, &place); /* there is room for any */
    }
    if (!has_queue(d, q, place.lane))
        return false;
    q->spread |= place.lane > 0;
    out->queue = q->queue[place.lane];
    out->done = &q->done[place.work];
    list_waits(q, &place.waits, out);
    return true;
}

/* What is in a lane has to begin by itself, or others would wait for it for good. */
static bool is_put(opencl *d, device_queue *q, const spot *s, const char *call, int32_t status)
{
    return !fails(q, call, status) && (!s->done || !fails(q, "clFlush", d->api.clFlush(s->queue)));
}

/* --- events: those of the driver, which counts who uses one --- */

static device_event *ours(ocl_event e)
{
    return (device_event *)(void *)e;
}

static ocl_event theirs(device_event *e)
{
    return (ocl_event)(void *)e;
}

device_event *opencl_signal(device *base, device_queue *q)
{
    opencl *d = (opencl *)base;
    ocl_event e = NULL;
    if (q->common.state != DEVICE_FINE || !join(d, q))
        return NULL;
    q->common.busy = true;
    if (fails(q, "clEnqueueMarkerWithWaitList", d->api.clEnqueueMarkerWithWaitList(q->queue[0], 0, NULL, &e)))
        return NULL;
    if (!fails(q, "clFlush", d->api.clFlush(q->queue[0]))) /* else a queue that waits for it might wait for good */
        return ours(e);
    opencl_forget(base, ours(e));
    return NULL;
}

bool opencl_await(device *base, device_queue *q, device_event *e)
{
    opencl *d = (opencl *)base;
    ocl_event event = theirs(e);
    if (q->common.state != DEVICE_FINE || !join(d, q))
        return false;
    q->common.busy = true;
    return !fails(q, "clEnqueueBarrierWithWaitList", d->api.clEnqueueBarrierWithWaitList(q->queue[0], 1, &event, NULL));
}

void opencl_forget(device *base, device_event *e)
{
    if (e)
        ((opencl *)base)->api.clReleaseEvent(theirs(e));
}

/* --- errors of kernels --- */

/* Waits, and keeps the error of the first launch that has one. */
static void settle(opencl *d, device_queue *q)
{
    static const int64_t zeros[DRIVER_ERROR_WORDS] = {0};
    int64_t word[RECORDS][DRIVER_ERROR_WORDS] = {{0}};
    join(d, q);
    for (uint32_t i = 0; i < q->common.used && q->common.state == DEVICE_FINE; i++)
        fails(q, "clEnqueueReadBuffer",
              d->api.clEnqueueReadBuffer(q->queue[0], q->record[i], 0, 0, sizeof(word[i]), word[i], 0, NULL, NULL));
    if (q->common.busy)
        fails(q, "clFinish", finish_all(d, q));
    q->common.busy = false;
    if (q->common.state != DEVICE_FINE)
        return;
    for (uint32_t i = 0; i < q->common.used; i++) {
        if (!word[i][0])
            continue;
        driver_notice(&q->common, word[i]);
        q->common.busy = true; /* launches in other queues have to be behind this */
        fails(q, "clEnqueueWriteBuffer",
              d->api.clEnqueueWriteBuffer(q->queue[0], q->record[i], 0, 0, sizeof(zeros), zeros, 0, NULL, NULL));
    }
    q->common.used = 0;
}

device_state opencl_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why)
{
    settle((opencl *)base, q);
    return driver_report(&q->common, error, a, why);
}

/* The record of the next launch. Launches without checks share the first and leave it alone. */
static ocl_mem *next_record(opencl *d, device_queue *q, bool checks)
{
    if (checks && q->common.used == RECORDS)
        settle(d, q);
    if (q->common.state != DEVICE_FINE)
        return NULL;
    ocl_mem *record = &q->record[checks ? q->common.used : 0];
    if (!*record) {
        int64_t zeros[DRIVER_ERROR_WORDS] = {0};
        int32_t status = OCL_SUCCESS;
        *record = d->api.clCreateBuffer(d->context, OCL_MEM_READ_WRITE | OCL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros,
                                        &status);
        if (!*record) {
            fails(q, "clCreateBuffer", status);
            return NULL;
        }
    }
    q->common.used += checks;
    return record;
}

/* --- work --- */

bool opencl_lend(device *base, device_queue *q, void (*work)(void *env, const device_native *native), void *env)
{
    opencl *d = (opencl *)base;
    if (q->common.state != DEVICE_FINE || !join(d, q))
        return false;
    q->common.busy = true;
    work(env, &(device_native){(void *)q->queue[0], (void *)d->context, (void *)d->id});
    return !fails(q, "clFlush", d->api.clFlush(q->queue[0]));
}

bool opencl_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from, size_t offset,
                 size_t bytes)
{
    opencl *d = (opencl *)base;
    const bool up = direction == DEVICE_UPLOAD, down = direction == DEVICE_DOWNLOAD;
    const lanes_touched at[] = {lanes_touched_block(from, up ? 0 : offset, bytes, false, !up),
                                lanes_touched_block(to, up ? offset : 0, bytes, true, !down)};
    ocl_mem source = (ocl_mem)(uintptr_t)from;
    int32_t status = OCL_SUCCESS;
    const char *call = "clEnqueueWriteBuffer";
    spot s;
    if (!bytes || q->common.state != DEVICE_FINE)
        return q->common.state == DEVICE_FINE;
    if (!find_spot(d, q, at, 2, (double)bytes, &s))
        return false;
    const ocl_event *wait = s.waits ? s.wait : NULL;
    q->common.busy = true;
    if (up) {
        status = d->api.clEnqueueWriteBuffer(s.queue, to, 0, offset, bytes, from, s.waits, wait, s.done);
    } else if (down) {
        call = "clEnqueueReadBuffer";
        status = d->api.clEnqueueReadBuffer(s.queue, source, 0, offset, bytes, to, s.waits, wait, s.done);
    } else {
        call = "clEnqueueCopyBuffer";
        status = d->api.clEnqueueCopyBuffer(s.queue, source, to, offset, 0, bytes, s.waits, wait, s.done);
    }
    return is_put(d, q, &s, call, status);
}

bool opencl_clear(device *base, device_queue *q, void *block, size_t bytes)
{
    opencl *d = (opencl *)base;
    const unsigned char zero = 0;
    const lanes_touched at = lanes_touched_block(block, 0, bytes, true, true);
    spot s;
    if (!bytes || q->common.state != DEVICE_FINE)
        return q->common.state == DEVICE_FINE;
    if (!find_spot(d, q, &at, 1, (double)bytes, &s))
        return false;
    q->common.busy = true;
    return is_put(d, q, &s, "clEnqueueFillBuffer",
                  d->api.clEnqueueFillBuffer(s.queue, block, &zero, sizeof(zero), 0, bytes, s.waits,
                                             s.waits ? s.wait : NULL, s.done));
}

/* With the kernel's lock. */
static int32_t set_arguments(opencl *d, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                             int64_t last, ocl_mem *record)
{
    uint32_t at = 0;
    int32_t status = OCL_SUCCESS;
    for (uint32_t i = 0; i < k->common.memories && status == OCL_SUCCESS; i++)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(ocl_mem), &mem[i]);
    for (uint32_t i = 0; i < k->common.arguments && status == OCL_SUCCESS;
         i++) /* little-endian: a value's bytes come first */
        status = d->api.clSetKernelArg(k->kernel, at++, k->argument_bytes[i], &arg[i]);
    if (status == OCL_SUCCESS)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(first), &first);
    if (status == OCL_SUCCESS)
        status = d->api.clSetKernelArg(k->kernel, at++, sizeof(last), &last);
    return status == OCL_SUCCESS ? d->api.clSetKernelArg(k->kernel, at, sizeof(ocl_mem), record) : status;
}

static size_t groups_of(const opencl *d, int64_t pieces)
{
    size_t most = (size_t)d->common.limits.workers * GROUPS_PER_UNIT;
    if (d->common.limits.most_groups && most > d->common.limits.most_groups)
        most = d->common.limits.most_groups;
    return (uint64_t)pieces < most ? (size_t)pieces : most;
}

/* Is the next launch one that is waited for later? Waits for the one before it that was. */
static bool takes_turn(opencl *d, device_queue *q)
{
    if (q->timed || ++q->launches < DRIVER_AHEAD)
        return false;
    if (q->turn)
        fails(q, "clWaitForEvents", d->api.clWaitForEvents(1, &q->turn));
    forget_turn(d, q);
    return true;
}

/* Where a launch goes. Those that say nothing of what they touch come behind all others. */
static bool find_launch(opencl *d, device_queue *q, void *const *mem, const device_reach *reach, spot *out)
{
    lanes_touched at[LANES_MOST_TOUCHED];
    const bool apart = reach && !q->timed && reach->pointers <= LANES_MOST_TOUCHED;
    *out = (spot){.queue = q->queue[0]};
    if (!apart)
        return join(d, q);
    if (!q->lanes.open && reach->work >= LANES_LEAST_WORK && !spread(d, q))
        return false;
    return find_spot(d, q, at, lanes_touched_by(reach, mem, true, at), reach->work, out);
}

/* Of a launch whose event goes into a lane's place that it is one to be waited for, too. */
static bool keep_turn(opencl *d, device_queue *q, const spot *s, bool turn)
{
    if (!turn || !s->done)
        return true;
    q->turn = fails(q, "clRetainEvent", d->api.clRetainEvent(*s->done)) ? NULL : *s->done;
    return q->turn != NULL;
}

bool opencl_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg,
                    int64_t first, int64_t last, bool small, const device_reach *reach)
{
    opencl *d = (opencl *)base;
    spot s;
    (void)small;
    if (first >= last)
        return q->common.state == DEVICE_FINE;
    ocl_mem *record = next_record(d, q, k->common.checks);
    if (!record || !find_launch(d, q, mem, reach, &s))
        return false;
    q->common.busy = true;
    forget_last(d, q);
    size_t items = groups_of(d, last - first) * k->group;
    const bool turn = takes_turn(d, q);
    ocl_event *event = s.done ? s.done : turn ? &q->turn : q->timed ? &q->last : NULL;
    pthread_mutex_lock(&k->lock);
    bool failed = fails(q, "clSetKernelArg", set_arguments(d, k, mem, arg, first, last, record));
    if (!failed)
        failed = fails(q, "clEnqueueNDRangeKernel",
                       d->api.clEnqueueNDRangeKernel(s.queue, k->kernel, 1, NULL, &items, &k->group, s.waits,
                                                     s.waits ? s.wait : NULL, event));
    pthread_mutex_unlock(&k->lock);
    return !failed && keep_turn(d, q, &s, turn) && !fails(q, "clFlush", d->api.clFlush(s.queue));
}
