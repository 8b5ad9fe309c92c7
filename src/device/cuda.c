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

/* --- memory --- */

static void *cuda_alloc(device *base, size_t bytes)
{
    cuda *d = (cuda *)base;
    cu_pointer p = 0;
    size_t before = atomic_fetch_add(&d->used, bytes);
    bool fits = before <= d->limits.memory && bytes <= d->limits.memory - before;
    if (fits && cuda_enter(d) == CU_SUCCESS) {
        if (d->api.alloc(&p, bytes ? bytes : 1) != CU_SUCCESS)
            p = 0;
        cuda_leave(d);
    }
    if (!p)
        atomic_fetch_sub(&d->used, bytes);
    return (void *)(uintptr_t)p;
}

static void cuda_release(device *base, void *block, size_t bytes)
{
    cuda *d = (cuda *)base;
    if (!block)
        return;
    atomic_fetch_sub(&d->used, bytes);
    if (cuda_enter(d) != CU_SUCCESS)
        return;
    d->api.release((cu_pointer)(uintptr_t)block);
    cuda_leave(d);
}

/* --- kernels --- */

static device_kernel *cuda_compile(device *base, const kernel *k, arena *a, const char **why)
{
    return (device_kernel *)kernel_cache_get(&((cuda *)base)->kernels, k, a, why);
}

static void cuda_release_kernel(device *base, device_kernel *k)
{
    kernel_cache_drop(&((cuda *)base)->kernels, k ? &k->entry : NULL);
}

static const char *cuda_text(device *base, device_kernel *k, const char *form)
{
    (void)base;
    if (strcmp(form, "cuda") == 0)
        return k->source;
    return strcmp(form, "ptx") == 0 ? k->ptx : NULL;
}

static uint64_t cuda_compiled(device *base)
{
    return kernel_cache_compiled(&((cuda *)base)->kernels);
}

static uint64_t cuda_loaded(device *base)
{
    return kernel_cache_loaded(&((cuda *)base)->kernels);
}

/* A device without a compiler is not opened. */
static bool cuda_generates(device *base)
{
    (void)base;
    return true;
}

/* --- opening and closing --- */

static void cuda_close(device *base)
{
    cuda *d = (cuda *)base;
    cuda_free_queues(d);
    kernel_cache_close(&d->kernels);
    if (d->has_context)
        d->api.context_release(d->id);
    disk_cache_close(d->disk);
    arena_free(&d->names);
    pthread_mutex_destroy(&d->lock);
    d->heap.release(d->heap.env, d);
}

static size_t smaller(size_t a, size_t b)
{
    return b && b < a ? b : a;
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
    return smaller(asked_for > all + BESIDES ? asked_for - BESIDES : all, o->most_shared);
}

static void set_limits(cuda *d, const cuda_place *p, const device_options *o)
{
    d->limits = (device_limits){
        .kind = "cuda",
        .workers = attribute(d, CU_MULTIPROCESSORS),
        .scratch = smaller(attribute(d, CU_SHARED_PER_BLOCK), o->most_shared),
        .forward_progress = true, /* a launch of a kernel with CHAIN has no more blocks than fit at once */
        .cache_bytes = SIZE_MAX,
        .own_memory = true,
        .memory = smaller(p->memory, o->most_memory),
        .gang = attribute(d, CU_WARP_SIZE),
        .group = (uint32_t)smaller(attribute(d, CU_THREADS_PER_BLOCK), o->most_group),
        .unit_threads = attribute(d, CU_THREADS_PER_MULTIPROCESSOR),
        .unit_groups = attribute(d, CU_BLOCKS_PER_MULTIPROCESSOR),
        .unit_registers = attribute(d, CU_REGISTERS_PER_MULTIPROCESSOR),
        .unit_shared = attribute(d, CU_SHARED_PER_MULTIPROCESSOR),
        .most_groups = o->most_groups,
    };
    if (!d->limits.workers)
        d->limits.workers = 1;
    d->most_shared = most_shared(d, o);
    snprintf(d->limits.name, sizeof(d->limits.name), "%s", p->name);
}

/* The compiler, and everything that decides which code it makes of a kernel; the sources named are our emitter's, too.
 * Drivers load code of compilers that are not newer than they are. */
static bool name_things(cuda *d, arena *a, const char **why)
{
    jmp_buf failure;
    const char *missing = NULL;
    int version = cuda_version(&d->api);
    if (setjmp(failure)) {
        *why = "out of memory";
        return false;
    }
    arena_on_failure(&d->names, &failure);
    d->compiler = nvrtc_open((unsigned)version / 1000, &d->names, &missing);
    if (!d->compiler) {
        *why = arena_string(a, missing);
        return false;
    }
    d->ptx = !nvrtc_makes(d->compiler, d->arch);
    d->target = d->ptx ? nvrtc_nearest(d->compiler, d->arch) : d->arch;
    if (!d->target) {
        *why = arena_printf(a, "%s does not know compute capability %u.%u", nvrtc_name(d->compiler), d->arch / 10,
                            d->arch % 10);
        return false;
    }
    text_init(&d->identity, &d->names);
    text_printf(&d->identity, "cuda; %s_%u; %s; %s; " EMIT_CPU_IDENTITY ";", d->ptx ? "compute" : "sm", d->target,
                nvrtc_name(d->compiler), nvrtc_flags);
    if (d->ptx) /* what the driver makes of text is its own matter, and it keeps that itself */
        text_printf(&d->identity, " driver %d;", version);
    arena_on_failure(&d->names, NULL);
    d->disk = d->keep_text ? NULL : disk_cache_open(&d->heap);
    return true;
}

static const device cuda_functions = {
    .alloc = cuda_alloc,
    .release = cuda_release,
    .compile = cuda_compile,
    .release_kernel = cuda_release_kernel,
    .kernel_text = cuda_text,
    .compiled = cuda_compiled,
    .loaded = cuda_loaded,
    .generates = cuda_generates,
    .open_queue = cuda_open_queue,
    .copy = cuda_copy,
    .enqueue = cuda_enqueue,
    .finish = cuda_finish,
    .close_queue = cuda_close_queue,
    .close = cuda_close,
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
    return name_things(d, a, why);
}

static device *open_place(const cuda_api *api, const cuda_place *p, const device_options *o, arena *a, const char **why)
{
    const base_heap *heap = o->heap ? o->heap : &base_heap_default;
    cuda *d = heap->alloc(heap->env, sizeof(*d));
    *why = "out of memory";
    if (!d)
        return NULL;
    *d = (cuda){.device = cuda_functions,
                .heap = *heap,
                .api = *api,
                .id = p->id,
                .arch = (unsigned)(p->major * 10 + p->minor),
                .keep_text = o->keep_text};
    d->device.limits = &d->limits;
    arena_init(&d->names, &d->heap);
    pthread_mutex_init(&d->lock, NULL);
    d->kernels = (kernel_cache){.obtain = cuda_obtain,
                                .discard = cuda_discard,
                                .owner = &d->device,
                                .heap = &d->heap,
                                .entry_bytes = sizeof(device_kernel)};
    kernel_cache_open(&d->kernels);
    if (start(d, p, o, a, why))
        return &d->device;
    cuda_close(&d->device);
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
    if (usable)
        *why = arena_printf(a, "there is no CUDA device number %u; %u can be used", number, usable);
    else
        *why = arena_printf(a, "no CUDA device can be used: %s: %s", places.at[0].name, places.at[0].why);
    return NULL;
}
