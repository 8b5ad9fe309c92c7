/* CUDA devices: opening them, their limits, their memory. */
#include "device/cuda_device.h"
#include "emit/identity.h"

#include <stdio.h>

cu_result cuda_enter(cuda *d)
{
    return d->api.context_push(d->context);
}

void cuda_leave(cuda *d)
{
    cu_context ours;
    d->api.context_pop(&ours);
}

static void *cuda_take(device *base, size_t bytes)
{
    cuda *d = (cuda *)base;
    cu_pointer p = 0;
    if (cuda_enter(d) != CU_SUCCESS)
        return NULL;
    if (d->api.alloc(&p, bytes) != CU_SUCCESS)
        p = 0;
    cuda_leave(d);
    return (void *)(uintptr_t)p;
}

static void cuda_give(device *base, void *block)
{
    cuda *d = (cuda *)base;
    if (cuda_enter(d) != CU_SUCCESS)
        return;
    d->api.release((cu_pointer)(uintptr_t)block);
    cuda_leave(d);
}

static const char *cuda_foreign(device *base, void *block, size_t bytes)
{
    cuda *d = (cuda *)base;
    cu_pointer p = (cu_pointer)(uintptr_t)block;
    unsigned kind = 0; /* unknown of what is not the driver's, as it is when this cannot be asked */
    int ordinal = -1;
    (void)bytes;
    if (cuda_enter(d) != CU_SUCCESS)
        return "the driver does not tell whose memory the data are; copy the tensor to main memory";
    if (d->api.pointer(&kind, CU_POINTER_MEMORY_TYPE, p) != CU_SUCCESS)
        kind = 0;
    if (d->api.pointer(&ordinal, CU_POINTER_ORDINAL, p) != CU_SUCCESS)
        ordinal = -1;
    cuda_leave(d);
    if (kind != CU_MEMORY_DEVICE && kind != CU_MEMORY_UNIFIED)
        return "the data are no memory of a CUDA device; their device must be said to be kDLCPU";
    return ordinal == d->common.limits.ordinal
               ? NULL
               : "the data are memory of another CUDA device; copy them to the context's";
}

static const char *cuda_text(device *base, device_kernel *k, const char *form)
{
    (void)base;
    if (strcmp(form, "cuda") == 0)
        return k->common.source;
    return strcmp(form, "ptx") == 0 ? k->ptx : NULL;
}

static void cuda_end(device *base)
{
    cuda *d = (cuda *)base;
    if (d->has_context)
        d->api.context_release(d->id);
}

static uint32_t attribute(const cuda *d, int what)
{
    int value = cuda_number(&d->api, d->id, what);
    return value > 0 ? (uint32_t)value : 0;
}

/* Kernels have a few words of shared memory besides, and so has the driver. */
static size_t most_shared(const cuda *d, const device_options *o)
{
    enum { BESIDES = 2048 };
    size_t asked_for = attribute(d, CU_SHARED_PER_BLOCK_OPTIN), all = attribute(d, CU_SHARED_PER_BLOCK);
    return driver_smaller(asked_for > all + BESIDES ? asked_for - BESIDES : all, o->most_shared);
}

static void set_limits(cuda *d, const cuda_place *p, const device_options *o)
{
    device_limits *l = &d->common.limits;
    *l = (device_limits){
        .kind = "cuda",
        .workers = attribute(d, CU_MULTIPROCESSORS),
        .scratch = driver_smaller(attribute(d, CU_SHARED_PER_BLOCK), o->most_shared),
        .forward_progress = true, /* a launch of a kernel with CHAIN has no more blocks than fit at once */
        .cache_bytes = SIZE_MAX,
        .own_memory = true,
        .driven = true,
        .memory = driver_smaller(p->memory, o->most_memory),
        .gang = attribute(d, CU_WARP_SIZE),
        .group = (uint32_t)driver_smaller(attribute(d, CU_THREADS_PER_BLOCK), o->most_group),
        .unit_threads = attribute(d, CU_THREADS_PER_MULTIPROCESSOR),
        .unit_groups = attribute(d, CU_BLOCKS_PER_MULTIPROCESSOR),
        .unit_registers = attribute(d, CU_REGISTERS_PER_MULTIPROCESSOR),
        .unit_shared = attribute(d, CU_SHARED_PER_MULTIPROCESSOR),
        .most_groups = o->most_groups,
        .ordinal = p->ordinal,
    };
    if (!l->workers)
        l->workers = 1;
    d->most_shared = most_shared(d, o);
    l->most_scratch = d->most_shared;
    snprintf(l->name, sizeof(l->name), "%s", p->name);
}

/* The compiler, and everything that decides which code it makes of a kernel; the sources named are our emitter's, too.
 * Drivers load code of compilers that are not newer than they are. */
static bool name_things(driver_device *base, arena *a, const char **why)
{
    cuda *d = (cuda *)base;
    const char *missing = NULL;
    int version = cuda_version(&d->api);
    d->compiler = nvrtc_open((unsigned)version / 1000, &base->names, &missing);
    if (!d->compiler) {
        *why = arena_string(a, missing);
        return false;
    }
    d->ptx = !nvrtc_makes(d->compiler, d->arch);
    d->target = d->ptx ? nvrtc_nearest(d->compiler, d->arch) : d->arch;
    if (!d->target) {
        *why = arena_printf(a, "%s does not know compute capability %u.%u; a newer one does", nvrtc_name(d->compiler),
                            d->arch / 10, d->arch % 10);
        return false;
    }
    text_printf(&base->identity, "cuda; %s_%u; %s; %s; " EMIT_CPU_IDENTITY ";", d->ptx ? "compute" : "sm", d->target,
                nvrtc_name(d->compiler), nvrtc_flags);
    if (d->ptx) /* what the driver makes of text is its own matter, and it keeps that itself */
        text_printf(&base->identity, " driver %d;", version);
    return true;
}

static const driver_functions functions = {
    .device = {.kernel_text = cuda_text,
               .prepare = cuda_prepare,
               .group_of = cuda_group_of,
               .open_queue = cuda_open_queue,
               .copy = cuda_copy,
               .clear = cuda_clear,
               .enqueue = cuda_enqueue,
               .signal = cuda_signal,
               .await = cuda_await,
               .forget = cuda_forget,
               .finish = cuda_finish,
               .close_queue = cuda_close_queue,
               .time_queue = cuda_time_queue,
               .took = cuda_took,
               .foreign = cuda_foreign,
               .lend = cuda_lend},
    .device_bytes = sizeof(cuda),
    .kernel_bytes = sizeof(device_kernel),
    .suffix = ".cu",
    .take = cuda_take,
    .give = cuda_give,
    .free_queue = cuda_free_queue,
    .obtain = cuda_obtain,
    .discard = cuda_discard,
    .end = cuda_end,
};

static bool start(cuda *d, const cuda_place *p, const device_options *o, arena *a, const char **why)
{
    cu_result r = d->api.context_retain(&d->context, d->id);
    d->has_context = r == CU_SUCCESS;
    if (!d->has_context) {
        *why = arena_printf(a, "%s: %s", p->name, cuda_says(&d->api, "cuDevicePrimaryCtxRetain", r, a));
        return false;
    }
    set_limits(d, p, o);
    return driver_identify(&d->common, name_things, a, why);
}

static device *open_place(const cuda_api *api, const cuda_place *p, const device_options *o, arena *a, const char **why)
{
    cuda *d = (cuda *)driver_new(&functions, o);
    *why = "out of memory";
    if (!d)
        return NULL;
    d->api = *api;
    d->id = p->id;
    d->arch = (unsigned)(p->major * 10 + p->minor);
    if (start(d, p, o, a, why))
        return &d->common.device;
    d->common.device.close(&d->common.device);
    return NULL;
}

device *device_cuda_open(const device_options *options, unsigned number, arena *a, const char **why)
{
    static const device_options none = {0};
    const device_options *o = options ? options : &none;
    cuda_api api;
    cuda_places places;
    unsigned usable = 0;
    if (!cuda_api_open(&api, a, why) || !cuda_find(&api, a, &places, why))
        return NULL;
    for (uint32_t i = 0; i < places.n; i++)
        if (!places.at[i].why && usable++ == number)
            return open_place(&api, &places.at[i], o, a, why);
    *why = driver_none("CUDA", number, usable, places.at[0].name, places.at[0].why, a);
    return NULL;
}
