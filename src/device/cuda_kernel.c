/* Kernels of a CUDA device: emitted as text, compiled by NVRTC, kept on disk as binaries. */
#include "device/cuda_device.h"
#include "emit/emit.h"
#include "kernel/occupancy.h"

#include <stdlib.h>

/* Beyond this much shared memory a kernel has to ask for it. */
enum { LOG_BYTES = 8192, MOST_GROUP = 256, SHARED_FOR_ALL = 40 << 10 };
static const char entry_name[] = "sinter";

void cuda_discard(device *base, kernel_entry *entry)
{
    cuda *d = (cuda *)base;
    device_kernel *k = (device_kernel *)entry;
    if (k->module && cuda_enter(d) == CU_SUCCESS) {
        d->api.module_unload(k->module);
        cuda_leave(d);
    }
    k->module = NULL;
    free(k->ptx);
}

/* --- the shape of a launch --- */

/* As many threads as the kernel wishes or else as the widest FOR_ALL has, at most MOST_GROUP: more per block gain
 * nothing, and blocks of few threads leave more of them room on a multiprocessor. */
static uint32_t wish_of(const kernel *k, const device_limits *l)
{
    uint32_t most = l->group && l->group < MOST_GROUP ? l->group : MOST_GROUP;
    int64_t widest = k->group ? k->group : k_widest(k, most);
    return widest > most ? most : (uint32_t)widest;
}

/* How a multiprocessor gives out what it has (CUDA's occupancy calculator); from compute capability 8.0 on every block
 * has a kilobyte of the system's. */
static k_unit unit_of(const cuda *d)
{
    const device_limits *l = &d->common.limits;
    bool recent = d->arch >= 80;
    return (k_unit){.threads = l->unit_threads,
                    .groups = l->unit_groups,
                    .registers = l->unit_registers,
                    .group = l->group && l->group < MOST_GROUP ? l->group : MOST_GROUP,
                    .gang = l->gang,
                    .shared = l->unit_shared,
                    .register_grain = 256,
                    .gang_grain = 4,
                    .shared_grain = recent ? 128 : 256,
                    .shared_besides = recent ? 1024 : 0};
}

/* As many threads as the kernel wishes, or fewer where then more of them are at work at once. */
static uint32_t choose_group(const cuda *d, const device_kernel *k, uint32_t wish)
{
    const k_unit unit = unit_of(d);
    return k_choose_group(&unit, &(k_need){k->registers, k->shared}, wish);
}

static bool describe(const cuda *d, const kernel *k, device_kernel *out)
{
    driver_describe(&out->common, k);
    out->group = choose_group(d, out, wish_of(k, &d->common.limits));
    out->chained = k->chained;
    return out->common.memories + out->common.arguments + 3 <= CUDA_MOST_ARGUMENTS;
}

/* --- the driver --- */

/* Takes the kernel from an image; what the driver's compiler says goes to `log`. NULL, or the call that failed. */
static const char *load(cuda *d, const void *image, device_kernel *out, char *log, cu_result *r)
{
    int option[] = {CU_JIT_LOG, CU_JIT_LOG_BYTES}, blocks = 0, registers = 0;
    void *value[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    log[0] = '\0';
    *r = d->api.module_load(&out->module, image, 2, option, value);
    if (*r != CU_SUCCESS) {
        out->module = NULL;
        return "cuModuleLoadDataEx";
    }
    *r = d->api.module_function(&out->function, out->module, entry_name);
    if (*r != CU_SUCCESS)
        return "cuModuleGetFunction";
    if (out->shared > SHARED_FOR_ALL) {
        *r = d->api.function_set(out->function, CU_MAX_DYNAMIC_SHARED, (int)out->shared);
        if (*r != CU_SUCCESS)
            return "cuFuncSetAttribute";
    }
    *r = d->api.function_get(&registers, CU_REGISTERS_OF_FUNCTION, out->function);
    if (*r != CU_SUCCESS)
        return "cuFuncGetAttribute";
    out->registers = registers > 0 ? (uint32_t)registers : 0;
    *r = d->api.occupancy(&blocks, out->function, (int)out->group, out->shared);
    if (*r != CU_SUCCESS)
        return "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    out->resident = blocks > 0 ? (uint32_t)blocks : 0;
    return NULL;
}

static const char *load_inside(cuda *d, const void *image, device_kernel *out, char *log, cu_result *r)
{
    *r = cuda_enter(d);
    if (*r != CU_SUCCESS)
        return "cuCtxPushCurrent_v2";
    const char *call = load(d, image, out, log, r);
    if (call && out->module) {
        d->api.module_unload(out->module);
        out->module = NULL;
    }
    cuda_leave(d);
    return call;
}

/* --- compiling --- */

static char *copy_text(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    if (!copy)
        return NULL;
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

/* Texts for explain; what does not come is not shown. */
static void keep_texts(const cuda *d, const text *source, device_kernel *out, arena *a)
{
    nvrtc_code ptx;
    const char *log;
    nvrtc_options options = {.arch = d->target, .local = out->group, .ptx = true};
    driver_keep_source(&d->common, &out->common, source);
    if (nvrtc_compile(d->compiler, source->at, &options, a, &ptx, &log))
        out->ptx = copy_text(ptx.bytes, ptx.size);
}

static void unload(cuda *d, device_kernel *out)
{
    if (cuda_enter(d) == CU_SUCCESS) {
        d->api.module_unload(out->module);
        cuda_leave(d);
    }
    out->module = NULL;
}

/* For blocks of out->group threads. */
static bool compile_for_group(cuda *d, const kernel *k, const text *source, device_kernel *out, nvrtc_code *code,
                              arena *a, const char **why)
{
    const char *log = "";
    char *said = arena_alloc(a, LOG_BYTES);
    cu_result r = CU_SUCCESS;
    nvrtc_options options = {.arch = d->target, .local = out->group, .ptx = d->ptx};
    if (!nvrtc_compile(d->compiler, source->at, &options, a, code, &log))
        return driver_rejects(&d->common, nvrtc_name(d->compiler), k, source->at, log, a, why);
    const char *call = load_inside(d, code->bytes, out, said, &r);
    if (call) {
        log = arena_printf(a, "%s%s%s", cuda_says(&d->api, call, r, a), *said ? ": " : "", said);
        return driver_rejects(&d->common, "the CUDA driver", k, source->at, log, a, why);
    }
    if (!out->resident) {
        *why =
            arena_printf(a, "kernel %s needs more registers or shared memory than a multiprocessor has for %u threads",
                         k->name ? k->name : "", out->group);
        return false;
    }
    return true;
}

/* How many registers a thread takes is known behind the compiler: maybe smaller blocks would have been better. */
static bool compile(cuda *d, const kernel *k, const text *source, const text *key, device_kernel *out, arena *a,
                    const char **why)
{
    nvrtc_code code;
    if (!compile_for_group(d, k, source, out, &code, a, why))
        return false;
    uint32_t better = choose_group(d, out, out->group);
    if (better != out->group) {
        unload(d, out);
        out->group = better;
        if (!compile_for_group(d, k, source, out, &code, a, why))
            return false;
    }
    if (d->common.disk)
        disk_cache_put(d->common.disk, key->at, key->n, (digest){0},
                       (disk_value){code.bytes, code.size + 1, out->group});
    return true;
}

static bool generate(cuda *d, const kernel *k, const text *key, device_kernel *out, arena *a, const char **why)
{
    text source;
    text_init(&source, a);
    if (!emit_text(k, &dialect_cuda, entry_name, &source, why) || !compile(d, k, &source, key, out, a, why))
        return false;
    if (d->common.keep_text)
        keep_texts(d, &source, out, a);
    return true;
}

static bool find_on_disk(cuda *d, const text *key, device_kernel *out, arena *a)
{
    disk_value v;
    void *block;
    cu_result r;
    char *log = arena_alloc(a, LOG_BYTES);
    if (!d->common.disk || !disk_cache_get(d->common.disk, key->at, key->n, NULL, &v, &block))
        return false;
    uint32_t wished = out->group;
    out->group = v.entry >= 1 && v.entry <= wished ? (uint32_t)v.entry : wished;
    bool good = v.entry == out->group && !load_inside(d, v.bytes, out, log, &r) && out->resident;
    out->group = good ? out->group : wished;
    d->common.heap.release(d->common.heap.env, block);
    out->common.entry.loaded = good;
    return good;
}

static kernel *prepare_for(const cuda *d, const kernel *k, const device_kernel *out, arena *a, const char *last,
                           const char **why)
{
    return kernel_prepare_text(a, k, &dialect_cuda, out->group, d->most_shared, last, why);
}

kernel *cuda_prepare(device *base, const kernel *k, arena *a, const char *last, const char **why)
{
    device_kernel out = {0};
    describe((const cuda *)base, k, &out);
    return prepare_for((const cuda *)base, k, &out, a, last, why);
}

uint32_t cuda_group_of(device *base, const kernel *k, const kernel *ready, arena *a)
{
    device_kernel out = {0};
    (void)a;
    describe((const cuda *)base, k, &out);
    return ready->group ? wish_of(ready, base->limits) : out.group;
}

bool cuda_obtain(device *base, const kernel *k, const text *kernel_key, kernel_entry *entry, arena *a, const char **why)
{
    cuda *d = (cuda *)base;
    device_kernel *out = (device_kernel *)entry;
    if (!describe(d, k, out)) {
        *why = arena_printf(a, "kernel %s has %u arguments, but CUDA takes at most %d", k->name ? k->name : "",
                            out->common.memories + out->common.arguments, CUDA_MOST_ARGUMENTS - 3);
        return false;
    }
    kernel *ready = prepare_for(d, k, out, a, NULL, why);
    if (!ready)
        return false;
    out->shared = emit_shared_bytes(ready);
    if (ready->group) /* passes may have a wish of their own */
        out->group = wish_of(ready, &d->common.limits);
    out->group = choose_group(d, out, out->group);
    text key = driver_key(&d->common, kernel_key, a);
    text_printf(&key, "group %u;", out->group);
    return find_on_disk(d, &key, out, a) || generate(d, ready, &key, out, a, why);
}
