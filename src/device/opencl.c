/* Devices behind OpenCL 1.2: opening them, their limits, their memory. */
#include "device/opencl_device.h"
#include "emit/identity.h"

#include <stdio.h>

/* PoCL 3.1's compiler loses stores in groups of 64: random kernels found it; 1 to 16 work. */
enum { GPU_GROUP = 128, POCL_GROUP = 16 };

/* --- memory --- */

/* Drivers take memory when it is first used and fail then: what cannot be there is refused here. */
static void *opencl_alloc(device *base, size_t bytes)
{
    opencl *d = (opencl *)base;
    if (bytes > d->most_block)
        return NULL;
    size_t before = atomic_fetch_add(&d->used, bytes);
    int32_t status = OCL_SUCCESS;
    ocl_mem m = NULL;
    if (before <= d->limits.memory && bytes <= d->limits.memory - before)
        m = d->api.clCreateBuffer(d->context, OCL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &status);
    if (!m)
        atomic_fetch_sub(&d->used, bytes);
    return m;
}

static void opencl_release(device *base, void *block, size_t bytes)
{
    opencl *d = (opencl *)base;
    if (!block)
        return;
    d->api.clReleaseMemObject(block);
    atomic_fetch_sub(&d->used, bytes);
}

/* --- kernels --- */

static device_kernel *opencl_compile(device *base, const kernel *k, arena *a, const char **why)
{
    return (device_kernel *)kernel_cache_get(&((opencl *)base)->kernels, k, a, why);
}

static void opencl_release_kernel(device *base, device_kernel *k)
{
    kernel_cache_drop(&((opencl *)base)->kernels, k ? &k->entry : NULL);
}

static const char *opencl_text(device *base, device_kernel *k, const char *form)
{
    (void)base;
    return strcmp(form, "opencl") == 0 ? k->source : NULL;
}

static uint64_t opencl_compiled(device *base)
{
    return kernel_cache_compiled(&((opencl *)base)->kernels);
}

static uint64_t opencl_loaded(device *base)
{
    return kernel_cache_loaded(&((opencl *)base)->kernels);
}

/* The driver brings its compiler. */
static bool opencl_generates(device *base)
{
    (void)base;
    return true;
}

/* --- opening and closing --- */

static void opencl_close(device *base)
{
    opencl *d = (opencl *)base;
    opencl_free_queues(d);
    kernel_cache_close(&d->kernels);
    if (d->context)
        d->api.clReleaseContext(d->context);
    disk_cache_close(d->disk);
    arena_free(&d->names);
    pthread_mutex_destroy(&d->lock);
    d->heap.release(d->heap.env, d);
}

static size_t smaller(size_t a, size_t b)
{
    return b && b < a ? b : a;
}

static void set_limits(opencl *d, const opencl_place *p, const device_options *o)
{
    const opencl_api *api = &d->api;
    size_t group = (size_t)opencl_number(api, p->device, OCL_DEVICE_MAX_WORK_GROUP_SIZE);
    d->limits = (device_limits){
        .kind = "opencl",
        .workers = (uint32_t)opencl_number(api, p->device, OCL_DEVICE_MAX_COMPUTE_UNITS),
        .scratch = smaller((size_t)opencl_number(api, p->device, OCL_DEVICE_LOCAL_MEM_SIZE), o->most_shared),
        .cache_bytes = SIZE_MAX,
        .own_memory = true,
        .memory = smaller((size_t)opencl_number(api, p->device, OCL_DEVICE_GLOBAL_MEM_SIZE), o->most_memory),
        .gang = 1,
        .most_groups = o->most_groups,
    };
    if (!d->limits.workers)
        d->limits.workers = 1;
    d->most_block = smaller(d->limits.memory, (size_t)opencl_number(api, p->device, OCL_DEVICE_MAX_MEM_ALLOC_SIZE));
    d->group = smaller(smaller(p->pocl ? POCL_GROUP : GPU_GROUP, group), o->most_group);
    d->limits.group = (uint32_t)d->group;
    d->has_f64 = opencl_number(api, p->device, OCL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    snprintf(d->limits.name, sizeof(d->limits.name), "%s", p->name);
}

/* Everything that decides which binary the driver makes of a kernel; the sources named are our emitter's, too. */
static bool name_things(opencl *d, const opencl_place *p)
{
    jmp_buf failure;
    arena_init(&d->names, &d->heap);
    if (setjmp(failure))
        return false;
    arena_on_failure(&d->names, &failure);
    text_init(&d->identity, &d->names);
    text_printf(&d->identity, "opencl; %s; %s; %s; %s; %s; group %zu; " EMIT_CPU_IDENTITY ";", p->platform_name,
                p->name, p->vendor, p->version, p->driver, d->group);
    arena_on_failure(&d->names, NULL);
    d->disk = d->keep_text ? NULL : disk_cache_open(&d->heap);
    return true;
}

static const device opencl_functions = {
    .alloc = opencl_alloc,
    .release = opencl_release,
    .compile = opencl_compile,
    .release_kernel = opencl_release_kernel,
    .kernel_text = opencl_text,
    .compiled = opencl_compiled,
    .loaded = opencl_loaded,
    .generates = opencl_generates,
    .open_queue = opencl_open_queue,
    .copy = opencl_copy,
    .enqueue = opencl_enqueue,
    .finish = opencl_finish,
    .close_queue = opencl_close_queue,
    .close = opencl_close,
};

static device *open_place(const opencl_api *api, const opencl_place *p, const device_options *o, arena *a,
                          const char **why)
{
    const base_heap *heap = o->heap ? o->heap : &base_heap_default;
    opencl *d = heap->alloc(heap->env, sizeof(*d));
    *why = "out of memory";
    if (!d)
        return NULL;
    *d = (opencl){.device = opencl_functions,
                  .heap = *heap,
                  .api = *api,
                  .platform = p->platform,
                  .id = p->device,
                  .pocl = p->pocl,
                  .keep_text = o->keep_text};
    d->device.limits = &d->limits;
    pthread_mutex_init(&d->lock, NULL);
    d->kernels = (kernel_cache){.obtain = opencl_obtain,
                                .discard = opencl_discard,
                                .owner = &d->device,
                                .heap = &d->heap,
                                .entry_bytes = sizeof(device_kernel)};
    kernel_cache_open(&d->kernels);
    set_limits(d, p, o);
    int32_t status = OCL_SUCCESS;
    const intptr_t properties[] = {OCL_CONTEXT_PLATFORM, (intptr_t)p->platform, 0};
    d->context = d->api.clCreateContext(properties, 1, &d->id, NULL, NULL, &status);
    bool opened = d->context != NULL;
    if (opened && name_things(d, p))
        return &d->device;
    opencl_close(&d->device);
    if (!opened)
        *why = arena_printf(a, "%s: clCreateContext: %s", p->name, opencl_status(status));
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
        *why = "no OpenCL driver for GPUs is installed";
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
    const char *example = places.at[0].why ? places.at[0].why : "";
    if (usable)
        *why = arena_printf(a, "there is no OpenCL device number %u; %u can be used", number, usable);
    else
        *why =
            arena_printf(a, "no OpenCL device can be used: %s%s%s", places.at[0].name, *example ? ": " : "", example);
    return NULL;
}
