/* Devices behind OpenCL 1.2: opening them, their limits, their memory. */
#include "device/opencl_device.h"
#include "emit/identity.h"

#include <stdio.h>

/* PoCL 3.1's compiler loses stores in groups of 64: random kernels found it; 1 to 16 work. */
enum { GPU_GROUP = 128, POCL_GROUP = 16 };

static void *opencl_take(device *base, size_t bytes)
{
    opencl *d = (opencl *)base;
    int32_t status = OCL_SUCCESS;
    return d->api.clCreateBuffer(d->context, OCL_MEM_READ_WRITE, bytes, NULL, &status);
}

static void opencl_give(device *base, void *block)
{
    ((opencl *)base)->api.clReleaseMemObject(block);
}

static const char *opencl_foreign(device *base, void *block, size_t bytes)
{
    opencl *d = (opencl *)base;
    ocl_context context = NULL;
    size_t size = 0;
    if (d->api.clGetMemObjectInfo(block, OCL_MEM_CONTEXT, sizeof(context), &context, NULL) != OCL_SUCCESS ||
        d->api.clGetMemObjectInfo(block, OCL_MEM_SIZE, sizeof(size), &size, NULL) != OCL_SUCCESS)
        return "the data are no memory object of OpenCL; copy the tensor to main memory";
    if (context != d->context)
        return "the data are a memory object of another OpenCL context; copy the tensor to main memory";
    return bytes <= size ? NULL : "the memory object is smaller than the tensor; check its shape and offset";
}

static const char *opencl_text(device *base, device_kernel *k, const char *form)
{
    (void)base;
    return strcmp(form, "opencl") == 0 ? k->common.source : NULL;
}

static void opencl_end(device *base)
{
    opencl *d = (opencl *)base;
    if (d->context)
        d->api.clReleaseContext(d->context);
}

static void set_limits(opencl *d, const opencl_place *p, const device_options *o)
{
    const opencl_api *api = &d->api;
    size_t group = (size_t)opencl_number(api, p->device, OCL_DEVICE_MAX_WORK_GROUP_SIZE);
    device_limits *l = &d->common.limits;
    *l = (device_limits){
        .kind = "opencl",
        .workers = (uint32_t)opencl_number(api, p->device, OCL_DEVICE_MAX_COMPUTE_UNITS),
        .scratch = driver_smaller((size_t)opencl_number(api, p->device, OCL_DEVICE_LOCAL_MEM_SIZE), o->most_shared),
        .cache_bytes = SIZE_MAX,
        .own_memory = true,
        .driven = true,
        .memory = driver_smaller((size_t)opencl_number(api, p->device, OCL_DEVICE_GLOBAL_MEM_SIZE), o->most_memory),
        .gang = 1,
        .most_groups = o->most_groups,
        .ordinal = p->ordinal,
    };
    if (!l->workers)
        l->workers = 1;
    d->common.most_block =
        driver_smaller(l->memory, (size_t)opencl_number(api, p->device, OCL_DEVICE_MAX_MEM_ALLOC_SIZE));
    d->group = driver_smaller(driver_smaller(p->pocl ? POCL_GROUP : GPU_GROUP, group), o->most_group);
    l->group = (uint32_t)d->group;
    d->has_f64 = opencl_number(api, p->device, OCL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    snprintf(l->name, sizeof(l->name), "%s", p->name);
}

/* Everything that decides which binary the driver makes of a kernel; the sources named are our emitter's, too. */
static bool name_things(driver_device *base, arena *a, const char **why)
{
    const opencl *d = (const opencl *)base;
    const opencl_place *p = d->place;
    (void)a, (void)why;
    text_printf(&base->identity, "opencl; %s; %s; %s; %s; %s; group %zu; " EMIT_CPU_IDENTITY ";", p->platform_name,
                p->name, p->vendor, p->version, p->driver, d->group);
    return true;
}

static const driver_functions functions = {
    .device = {.kernel_text = opencl_text,
               .prepare = opencl_prepare,
               .group_of = opencl_group_of,
               .open_queue = opencl_open_queue,
               .copy = opencl_copy,
               .clear = opencl_clear,
               .enqueue = opencl_enqueue,
               .signal = opencl_signal,
               .await = opencl_await,
               .forget = opencl_forget,
               .finish = opencl_finish,
               .close_queue = opencl_close_queue,
               .time_queue = opencl_time_queue,
               .took = opencl_took,
               .foreign = opencl_foreign,
               .lend = opencl_lend},
    .device_bytes = sizeof(opencl),
    .kernel_bytes = sizeof(device_kernel),
    .suffix = ".cl",
    .take = opencl_take,
    .give = opencl_give,
    .free_queue = opencl_free_queue,
    .obtain = opencl_obtain,
    .discard = opencl_discard,
    .end = opencl_end,
};

static bool start(opencl *d, const opencl_place *p, const device_options *o, arena *a, const char **why)
{
    int32_t status = OCL_SUCCESS;
    const intptr_t properties[] = {OCL_CONTEXT_PLATFORM, (intptr_t)p->platform, 0};
    set_limits(d, p, o);
    d->context = d->api.clCreateContext(properties, 1, &d->id, NULL, NULL, &status);
    if (!d->context)
        *why = arena_printf(a, "%s: clCreateContext: %s", p->name, opencl_status(status));
    return d->context && driver_identify(&d->common, name_things, a, why);
}

static device *open_place(const opencl_api *api, const opencl_place *p, const device_options *o, arena *a,
                          const char **why)
{
    opencl *d = (opencl *)driver_new(&functions, o);
    *why = "out of memory";
    if (!d)
        return NULL;
    d->api = *api;
    d->place = p;
    d->id = p->device;
    d->pocl = p->pocl;
    if (start(d, p, o, a, why))
        return &d->common.device;
    d->common.device.close(&d->common.device);
    return NULL;
}

device *device_opencl_open(const device_options *options, unsigned number, arena *a, const char **why)
{
    static const device_options none = {0};
    const device_options *o = options ? options : &none;
    opencl_api api;
    opencl_places places;
    unsigned usable = 0;
    if (o->gpus_only && !opencl_worth_asking()) {
        *why = "no OpenCL driver for GPUs is installed; others are taken by name: \"opencl\"";
        return NULL;
    }
    if (!opencl_api_open(&api, a, why) || !opencl_find(&api, a, &places, why))
        return NULL;
    for (uint32_t i = 0; i < places.n; i++) {
        const opencl_place *p = &places.at[i];
        if (p->why || (o->gpus_only && !(p->type & OCL_TYPE_GPU)))
            continue;
        if (usable++ == number)
            return open_place(&api, p, o, a, why);
    }
    *why = driver_none("OpenCL", number, usable, places.at[0].name, places.at[0].why, a);
    return NULL;
}
