/* The hand-written side's way to the GPU: the kernels through NVRTC, launched by the driver API, so that no nvcc is
 * needed. */
#include "rows.h"

#include "device/cuda_api.h"
#include "device/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_KERNELS = 64 };

struct gpu {
    arena a;
    cuda_api api;
    cu_device id;
    cu_context context;
    cu_module module;
    cu_stream stream;
    char name[256];
    struct {
        const char *name;
        cu_function f;
    } kernel[MOST_KERNELS]; /* those that have been launched */
};

static bool fine(struct gpu *g, const char *call, cu_result r)
{
    if (r != CU_SUCCESS)
        fprintf(stderr, "%s\n", cuda_says(&g->api, call, r, &g->a));
    return r == CU_SUCCESS;
}

/* --- opening --- */

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *all = NULL;
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    if (size >= 0)
        all = calloc((size_t)size + 1, 1);
    if (all && fread(all, 1, (size_t)size, f) != (size_t)size) {
        free(all);
        all = NULL;
    }
    fclose(f);
    return all;
}

static bool load(struct gpu *g, unsigned arch, const char **why)
{
    nvrtc_code code;
    int version = 0;
    g->api.driver_version(&version);
    const nvrtc *n = nvrtc_open((unsigned)version / 1000, &g->a, why);
    char *source = n ? read_text(BENCH_CUDA_KERNELS) : NULL;
    if (!n)
        return false;
    *why = "no " BENCH_CUDA_KERNELS;
    if (!source)
        return false;
    bool ptx = !nvrtc_makes(n, arch);
    nvrtc_options options = {.arch = nvrtc_nearest(n, arch), .local = THREADS, .ptx = ptx, .flags = BENCH_CUDA_FLAGS};
    bool good = nvrtc_compile(n, source, &options, &g->a, &code, why);
    free(source);
    if (!good)
        return false;
    *why = "the kernels do not load";
    char log[8192] = "";
    int option[] = {CU_JIT_LOG, CU_JIT_LOG_BYTES};
    void *value[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};
    return fine(g, "cuModuleLoadDataEx", g->api.module_load(&g->module, code.bytes, 2, option, value));
}

static int number(const struct gpu *g, int attribute)
{
    int value = 0;
    return g->api.device_attribute(&value, attribute, g->id) == CU_SUCCESS ? value : 0;
}

static bool start(struct gpu *g, const char **why)
{
    char name[128] = "?";
    if (!cuda_api_open(&g->api, &g->a, why))
        return false;
    *why = "there is no CUDA device";
    if (g->api.device_get(&g->id, 0) != CU_SUCCESS)
        return false;
    g->api.device_name(name, sizeof(name) - 1, g->id);
    int major = number(g, CU_CAPABILITY_MAJOR), minor = number(g, CU_CAPABILITY_MINOR);
    snprintf(g->name, sizeof(g->name), "%s, %d multiprocessors, compute capability %d.%d", name,
             number(g, CU_MULTIPROCESSORS), major, minor);
    *why = "the device does not open";
    return fine(g, "cuDevicePrimaryCtxRetain", g->api.context_retain(&g->context, g->id)) &&
           fine(g, "cuCtxPushCurrent_v2", g->api.context_push(g->context)) &&
           fine(g, "cuStreamCreate", g->api.stream_create(&g->stream, CU_STREAM_ALONE)) &&
           load(g, (unsigned)(major * 10 + minor), why);
}

struct gpu *gpu_open(char *why, size_t size)
{
    struct gpu *g = calloc(1, sizeof(*g));
    const char *said = "no memory";
    if (g) {
        arena_init(&g->a, NULL);
        if (start(g, &said))
            return g;
    }
    snprintf(why, size, "%s", said);
    if (g)
        gpu_close(g);
    return NULL;
}

void gpu_close(struct gpu *g)
{
    cu_context ours;
    if (g->module)
        g->api.module_unload(g->module);
    if (g->stream)
        g->api.stream_destroy(g->stream);
    if (g->context) {
        g->api.context_pop(&ours);
        g->api.context_release(g->id);
    }
    arena_free(&g->a);
    free(g);
}

const char *gpu_name(const struct gpu *g)
{
    return g->name;
}

/* --- memory and work --- */

bool gpu_alloc(struct gpu *g, size_t bytes, unsigned long long *out)
{
    return fine(g, "cuMemAlloc_v2", g->api.alloc(out, bytes));
}

void gpu_free(struct gpu *g, unsigned long long block)
{
    if (block)
        g->api.release(block);
}

bool gpu_upload(struct gpu *g, unsigned long long to, const void *from, size_t bytes)
{
    return fine(g, "cuMemcpyHtoDAsync_v2", g->api.upload(to, from, bytes, g->stream)) && gpu_wait(g);
}

bool gpu_download(struct gpu *g, void *to, unsigned long long from, size_t bytes)
{
    return fine(g, "cuMemcpyDtoHAsync_v2", g->api.download(to, from, bytes, g->stream)) && gpu_wait(g);
}

bool gpu_copy(struct gpu *g, unsigned long long to, unsigned long long from, size_t bytes)
{
    return fine(g, "cuMemcpyDtoDAsync_v2", g->api.copy(to, from, bytes, g->stream));
}

bool gpu_clear(struct gpu *g, unsigned long long block, size_t bytes)
{
    return fine(g, "cuMemsetD8Async", g->api.clear(block, 0, bytes, g->stream));
}

/* Looking a kernel up takes about as long as launching it. */
static bool function_of(struct gpu *g, const char *kernel, cu_function *f)
{
    int i = 0;
    while (i < MOST_KERNELS - 1 && g->kernel[i].name && g->kernel[i].name != kernel)
        i++;
    if (g->kernel[i].name != kernel &&
        !fine(g, "cuModuleGetFunction", g->api.module_function(&g->kernel[i].f, g->module, kernel)))
        return false;
    g->kernel[i].name = kernel;
    *f = g->kernel[i].f;
    return true;
}

bool gpu_launch(struct gpu *g, const char *kernel, int64_t blocks, void **arguments)
{
    cu_function f;
    return function_of(g, kernel, &f) &&
           fine(g, "cuLaunchKernel",
                g->api.launch(f, (unsigned)blocks, 1, 1, THREADS, 1, 1, 0, g->stream, arguments, NULL));
}

bool gpu_wait(struct gpu *g)
{
    return fine(g, "cuStreamSynchronize", g->api.stream_wait(g->stream));
}
