/* Kernels of an OpenCL device: emitted as text, built by the driver, kept on disk as the driver's binaries. */
#include "device/opencl_device.h"
#include "emit/emit.h"
#include "kernel/walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPTION_BYTES = 128 };
static const size_t most_binary = (size_t)32 << 20;
static const char entry_name[] = "sinter";

static void options_for(size_t group, char *out)
{
    snprintf(out, OPTION_BYTES, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -DSN_LOCAL=%zu", group);
}

static void drop_program(opencl *d, device_kernel *out)
{
    if (out->kernel)
        d->api.clReleaseKernel(out->kernel);
    if (out->program)
        d->api.clReleaseProgram(out->program);
    out->kernel = NULL;
    out->program = NULL;
}

void opencl_discard(device *base, kernel_entry *entry)
{
    device_kernel *k = (device_kernel *)entry;
    drop_program((opencl *)base, k);
    if (k->has_lock)
        pthread_mutex_destroy(&k->lock);
    free(k->argument_bytes);
}

/* --- the driver's compiler --- */

/* Builds out->program and takes its kernel. */
static int32_t build(opencl *d, device_kernel *out, size_t group)
{
    char options[OPTION_BYTES];
    int32_t status = OCL_SUCCESS;
    options_for(group, options);
    status = d->api.clBuildProgram(out->program, 1, &d->id, options, NULL, NULL);
    if (status != OCL_SUCCESS)
        return status;
    out->kernel = d->api.clCreateKernel(out->program, entry_name, &status);
    out->group = group;
    return out->kernel ? OCL_SUCCESS : status ? status : OCL_OUT_OF_RESOURCES;
}

/* Most work items of a group that the built kernel can have: the driver knows how many registers it took. */
static size_t most_items(opencl *d, const device_kernel *k)
{
    size_t most = 0;
    int32_t status =
        d->api.clGetKernelWorkGroupInfo(k->kernel, d->id, OCL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL);
    return status == OCL_SUCCESS ? most : 0;
}

static bool rejected(opencl *d, const device_kernel *out, const kernel *k, const char *source, int32_t status, arena *a,
                     const char **why)
{
    size_t bytes = 0;
    const char *log = "no build log", *who = "the OpenCL driver";
    if (out->program &&
        d->api.clGetProgramBuildInfo(out->program, d->id, OCL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == OCL_SUCCESS &&
        bytes > 1 && bytes < most_binary) {
        char *said = arena_alloc(a, bytes + 1);
        if (d->api.clGetProgramBuildInfo(out->program, d->id, OCL_PROGRAM_BUILD_LOG, bytes, said, NULL) == OCL_SUCCESS)
            log = said;
    }
    log = arena_printf(a, "%s: %s", opencl_status(status), log);
    return driver_rejects(&d->common, who, k, source, log, a, why);
}

/* Is the current statement, of a thread, in a branch of the piece? */
static bool in_branch(const k_walk *w)
{
    for (uint32_t i = 0; i < w->open.n && w->k->stmt.at[k_walk_open(w, i)].op != K_FOR_ALL; i++)
        if (w->k->stmt.at[k_walk_open(w, i)].op == K_IF)
            return true;
    return false;
}

/* Do barriers stand in branches? PoCL 3.1 writes what follows such a branch once for each way to it, and so on for the
 * next branch: a chain of stencils takes it minutes. Groups of one work item have no barriers. */
static bool branches_hold_barriers(const kernel *k, arena *a)
{
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        k_mem m = k->stmt.at[w.at].mem;
        if (w.event == K_WALK_AT && w.for_all && m && k->mem.at[m].space == K_SHARED && in_branch(&w))
            return true;
    }
    return false;
}

/* Where a kernel takes so many registers that a group does not fit, it is built for half the group. */
static bool build_source(opencl *d, const kernel *k, const char *source, size_t group, device_kernel *out, arena *a,
                         const char **why)
{
    for (;;) {
        int32_t status = OCL_SUCCESS;
        out->program = d->api.clCreateProgramWithSource(d->context, 1, &source, NULL, &status);
        if (out->program)
            status = build(d, out, group);
        if (!out->program || status != OCL_SUCCESS)
            return rejected(d, out, k, source, status, a, why);
        size_t most = most_items(d, out);
        if (most >= group)
            return true;
        drop_program(d, out);
        if (group == 1) {
            *why =
                arena_printf(a, "kernel %s needs too many registers: the device cannot run it", k->name ? k->name : "");
            return false;
        }
        group /= 2;
    }
}

/* --- binaries on disk --- */

static bool load(opencl *d, const text *key, device_kernel *out)
{
    disk_value v;
    void *block;
    if (!d->common.disk || !disk_cache_get(d->common.disk, key->at, key->n, NULL, &v, &block))
        return false;
    const unsigned char *bytes = v.bytes;
    int32_t status = OCL_SUCCESS, accepted = OCL_SUCCESS;
    out->program = d->api.clCreateProgramWithBinary(d->context, 1, &d->id, &v.size, &bytes, &accepted, &status);
    bool good = out->program && accepted == OCL_SUCCESS && v.entry >= 1 && v.entry <= d->group &&
                build(d, out, (size_t)v.entry) == OCL_SUCCESS && most_items(d, out) >= out->group;
    if (!good)
        drop_program(d, out);
    d->common.heap.release(d->common.heap.env, block);
    out->common.entry.loaded = good;
    return good;
}

/* What cannot be kept is compiled again next time. PoCL keeps what it compiles by itself, and would compile the kernel once
 * more, for groups of any size, to give its binary. */
static void keep(opencl *d, const text *key, const device_kernel *k, arena *a)
{
    size_t bytes = 0;
    if (!d->common.disk || d->pocl ||
        d->api.clGetProgramInfo(k->program, OCL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) != OCL_SUCCESS ||
        bytes == 0 || bytes > most_binary)
        return;
    unsigned char *binary = arena_alloc(a, bytes);
    if (d->api.clGetProgramInfo(k->program, OCL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) == OCL_SUCCESS)
        disk_cache_put(d->common.disk, key->at, key->n, (digest){0}, (disk_value){binary, bytes, k->group});
}

/* --- what the kernel cache asks for --- */

static bool describe(const kernel *k, device_kernel *out)
{
    driver_describe(&out->common, k);
    out->argument_bytes = malloc(k->arg_type.n + 1);
    if (!out->argument_bytes || pthread_mutex_init(&out->lock, NULL))
        return false;
    out->has_lock = true;
    for (uint32_t i = 0; i < k->arg_type.n; i++)
        out->argument_bytes[i] = (uint8_t)ir_type_size((ir_type)k->arg_type.at[i]);
    return true;
}

static bool uses_f64(const kernel *k)
{
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].type == T_F64)
            return true;
    for (k_mem m = 1; m < k->mem.n; m++)
        if (k->mem.at[m].type == T_F64)
            return true;
    return false;
}

kernel *opencl_prepare(device *base, const kernel *k, arena *a, const char *last, const char **why)
{
    const device_limits *limits = &((const opencl *)base)->common.limits;
    return kernel_prepare_text(a, k, &dialect_opencl, limits->group, limits->scratch, last, why);
}

uint32_t opencl_group_of(device *base, const kernel *k, const kernel *ready, arena *a)
{
    const opencl *d = (const opencl *)base;
    (void)k;
    return d->pocl && branches_hold_barriers(ready, a) ? 1 : (uint32_t)d->group;
}

static bool generate(opencl *d, const kernel *k, const text *key, device_kernel *out, arena *a, const char **why)
{
    text source;
    if (!d->has_f64 && uses_f64(k)) {
        *why = arena_printf(
            a, "kernel %s computes in f64, which the device does not have; compute in f32, or choose another device",
            k->name);
        return false;
    }
    if (k->chained) {
        *why = arena_printf(
            a, "kernel %s hands carries from piece to piece, but groups do not wait for each other in OpenCL", k->name);
        return false;
    }
    kernel *ready = opencl_prepare((device *)d, k, a, NULL, why);
    if (!ready)
        return false;
    text_init(&source, a);
    const size_t group = opencl_group_of((device *)d, k, ready, a);
    if (!emit_text(ready, &dialect_opencl, entry_name, &source, why) ||
        !build_source(d, k, source.at, group, out, a, why))
        return false;
    driver_keep_source(&d->common, &out->common, &source);
    keep(d, key, out, a);
    return true;
}

bool opencl_obtain(device *base, const kernel *k, const text *kernel_key, kernel_entry *entry, arena *a,
                   const char **why)
{
    opencl *d = (opencl *)base;
    device_kernel *out = (device_kernel *)entry;
    if (!describe(k, out)) {
        *why = "out of memory";
        return false;
    }
    text key = driver_key(&d->common, kernel_key, a);
    return load(d, &key, out) || generate(d, k, &key, out, a, why);
}
