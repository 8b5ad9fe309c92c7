/* Elements of arrays between the host and a device with memory of its own: to the device when a call first needs them,
 * and back when somebody looks. Arrays do not change, so both copies are good once they are made. */
#include "api/api.h"

bool api_own_memory(const sn_context *cx)
{
    return cx->engine.device && cx->engine.device->limits->own_memory;
}

static sn_status fails(sn_context *cx, api_who who, device_state state, const char *why)
{
    const char *name = cx->engine.device->limits->name;
    if (state == DEVICE_OUT_OF_MEMORY)
        return api_fail_at(cx, who, SN_NO_MEMORY, "the device %s ran out of memory: %s", name, why);
    return api_fail_at(cx, who, SN_DEVICE_FAILED, "the device %s failed: %s", name, why);
}

/* One copy, waited for. */
static sn_status move_from(sn_context *cx, api_who who, device_direction direction, void *to, const void *from,
                           size_t offset, size_t bytes)
{
    device *d = cx->engine.device;
    device_queue *q = d->open_queue(d, NULL, NULL);
    const char *why = NULL;
    k_error error;
    arena a;
    jmp_buf failure;
    if (!q)
        return fails(cx, who, DEVICE_BROKEN, "it takes no work");
    arena_init(&a, &cx->heap);
    volatile sn_status status = SN_OK;
    if (setjmp(failure)) {
        status = fails(cx, who, DEVICE_OUT_OF_MEMORY, "no host memory");
    } else {
        arena_on_failure(&a, &failure);
        d->copy(d, q, direction, to, from, offset, bytes); /* finish says what failed */
        device_state state = d->finish(d, q, &error, &a, &why);
        if (state != DEVICE_FINE)
            status = fails(cx, who, state, why);
    }
    d->close_queue(d, q);
    arena_free(&a);
    return status;
}

static sn_status move(sn_context *cx, api_who who, device_direction direction, void *to, const void *from, size_t bytes)
{
    return move_from(cx, who, direction, to, from, 0, bytes);
}

/* Gives the array a block, with these elements, of host memory or of another block. */
static sn_status fill_from(sn_array *a, api_who who, device_direction direction, const void *from, size_t offset)
{
    sn_context *cx = a->context;
    size_t granted = 0;
    void *block = run_pool_take(cx->engine.pool, a->bytes, &granted);
    if (!block)
        return api_fail_at(cx, who, SN_NO_MEMORY, "no memory for an array of %zu bytes on the device %s, which has %zu",
                           a->bytes, cx->engine.device->limits->name, cx->engine.device->limits->memory);
    sn_status status = a->bytes ? move_from(cx, who, direction, block, from, offset, a->bytes) : SN_OK;
    if (status != SN_OK) {
        run_pool_give(cx->engine.pool, block, granted);
        return status;
    }
    a->granted = granted;
    a->block = block;
    return SN_OK;
}

sn_status api_place(sn_array *a, api_who who, void **block, const void **data)
{
    pthread_mutex_lock(&a->context->moving);
    sn_status status = a->block ? SN_OK : fill_from(a, who, DEVICE_UPLOAD, a->data, 0);
    *block = a->block;
    *data = a->data;
    pthread_mutex_unlock(&a->context->moving);
    return status;
}

/* A new array of memory of the host or the device. */
static sn_array *make(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent,
                      device_direction direction, const void *from, size_t offset)
{
    sn_array *a = cx->heap.alloc(cx->heap.env, sizeof(*a));
    if (!a) {
        api_fail_at(cx, who, SN_NO_MEMORY, "no memory for an array");
        return NULL;
    }
    *a = (sn_array){.context = cx, .type = type, .rank = (uint8_t)rank};
    memcpy(a->extent, extent, (size_t)rank * sizeof(*extent));
    api_size(type, rank, extent, &a->bytes);
    if (fill_from(a, who, direction, from, offset) == SN_OK) {
        run_count_copy(&cx->counters, a->bytes);
        handle_open(cx, &a->handle, HANDLE_ARRAY, who.what, who.at);
        return a;
    }
    cx->heap.release(cx->heap.env, a);
    return NULL;
}

sn_array *api_send(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, const void *from)
{
    return make(cx, who, type, rank, extent, DEVICE_UPLOAD, from, 0);
}

sn_array *api_copy_block(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, void *block,
                         size_t offset)
{
    return make(cx, who, type, rank, extent, DEVICE_COPY, block, offset);
}

static const void *host_copy(const sn_array *a)
{
    pthread_mutex_lock(&a->context->moving);
    const void *data = a->data;
    pthread_mutex_unlock(&a->context->moving);
    return data;
}

sn_status api_get_part(const sn_array *a, api_who who, size_t offset, size_t bytes, void *to)
{
    const void *data = api_own_memory(a->context) ? host_copy(a) : a->data;
    if (!bytes)
        return SN_OK;
    if (!data)
        return move_from(a->context, who, DEVICE_DOWNLOAD, to, a->block, offset, bytes);
    memcpy(to, (const char *)data + offset, bytes);
    return SN_OK;
}

sn_status api_get(const sn_array *a, api_who who, void *to)
{
    return api_get_part(a, who, 0, a->bytes, to);
}

/* With the lock. */
static sn_status fetch(sn_array *a, api_who who)
{
    sn_context *cx = a->context;
    size_t none = 0;
    void *data = api_take(cx, a->bytes, &none);
    if (!data)
        return api_fail_at(cx, who, SN_NO_MEMORY, "no memory for an array of %zu bytes", a->bytes);
    sn_status status = a->bytes ? move(cx, who, DEVICE_DOWNLOAD, data, a->block, a->bytes) : SN_OK;
    if (status == SN_OK)
        a->data = data;
    else
        api_give(cx, data, none);
    return status;
}

const void *api_look(const sn_array *seen, api_who who, sn_status *status)
{
    sn_array *a = (sn_array *)(uintptr_t)seen; /* to its user it stays what it was */
    *status = SN_OK;
    if (!api_own_memory(a->context))
        return a->data;
    pthread_mutex_lock(&a->context->moving);
    if (!a->data)
        *status = fetch(a, who);
    pthread_mutex_unlock(&a->context->moving);
    return *status == SN_OK ? a->data : NULL;
}
