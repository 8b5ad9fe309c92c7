/* Runs emitted OpenCL C for tests. */
#include "support/opencl_runner.h"

#include "device/opencl_api.h"

#include <stdio.h>
#include <stdlib.h>

struct opencl_runner {
    opencl_api api;
    ocl_device device;
    ocl_context context;
    ocl_queue queue;
    arena names;
    const char *name;
};

struct opencl_program {
    opencl_runner *r;
    ocl_program program;
    ocl_kernel kernel;
    size_t local;
};

opencl_runner *opencl_open(const char **why)
{
    opencl_runner *r = calloc(1, sizeof(*r));
    opencl_places places = {0};
    *why = "no memory";
    if (!r)
        return NULL;
    arena_init(&r->names, NULL);
    if (opencl_api_open(&r->api, &r->names, why) && opencl_find(&r->api, &r->names, &places, why))
        for (uint32_t i = 0; i < places.n && !r->device; i++)
            if (!places.at[i].why) {
                r->device = places.at[i].device;
                r->name = places.at[i].name;
            }
    int32_t status;
    if (r->device)
        r->context = r->api.clCreateContext(NULL, 1, &r->device, NULL, NULL, &status);
    if (r->context)
        r->queue = r->api.clCreateCommandQueue(r->context, r->device, 0, &status);
    if (r->queue)
        return r;
    *why = r->device ? "the OpenCL device does not open" : "no OpenCL device here";
    opencl_close(r);
    return NULL;
}

void opencl_close(opencl_runner *r)
{
    if (!r)
        return;
    if (r->queue)
        r->api.clReleaseCommandQueue(r->queue);
    if (r->context)
        r->api.clReleaseContext(r->context);
    arena_free(&r->names);
    free(r);
}

const char *opencl_device(const opencl_runner *r)
{
    return r->name;
}

opencl_program *opencl_build(opencl_runner *r, const char *source, const char *entry, size_t local, arena *a,
                             const char **log)
{
    char options[128];
    opencl_program *p = calloc(1, sizeof(*p));
    *log = "no memory";
    if (!p)
        return NULL;
    *p = (opencl_program){.r = r, .local = local};
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -DSN_LOCAL=%zu", local);
    p->program = r->api.clCreateProgramWithSource(r->context, 1, &source, NULL, NULL);
    if (p->program && r->api.clBuildProgram(p->program, 1, &r->device, options, NULL, NULL) == OCL_SUCCESS)
        p->kernel = r->api.clCreateKernel(p->program, entry, NULL);
    if (p->kernel)
        return p;
    char *build_log = arena_alloc(a, 1 << 16);
    if (p->program)
        r->api.clGetProgramBuildInfo(p->program, r->device, OCL_PROGRAM_BUILD_LOG, (1 << 16) - 1, build_log, NULL);
    *log = build_log;
    opencl_drop(p);
    return NULL;
}

void opencl_drop(opencl_program *p)
{
    if (!p)
        return;
    if (p->kernel)
        p->r->api.clReleaseKernel(p->kernel);
    if (p->program)
        p->r->api.clReleaseProgram(p->program);
    free(p);
}

static ocl_mem wrap(opencl_program *p, void *memory, size_t bytes)
{
    /* A buffer of no bytes is no buffer; kernels do not touch it. */
    static char nothing[64];
    return p->r->api.clCreateBuffer(p->r->context, OCL_MEM_READ_WRITE | OCL_MEM_USE_HOST_PTR, bytes ? bytes : 1,
                                    bytes ? memory : nothing, NULL);
}

/* Makes the host's memory current again. */
static bool sync(opencl_program *p, ocl_mem m, size_t bytes)
{
    int32_t status;
    void *at =
        p->r->api.clEnqueueMapBuffer(p->r->queue, m, 1, OCL_MAP_READ, 0, bytes ? bytes : 1, 0, NULL, NULL, &status);
    return status == OCL_SUCCESS && p->r->api.clEnqueueUnmapMemObject(p->r->queue, m, at, 0, NULL, NULL) == OCL_SUCCESS;
}

static bool set_arguments(opencl_program *p, const kernel *k, const ocl_mem *buffer, unsigned buffers,
                          const ir_bits *arg, int64_t first, int64_t last, ocl_mem *record)
{
    uint32_t at = 0;
    bool fine = true;
    for (unsigned i = 0; i < buffers; i++)
        fine &= p->r->api.clSetKernelArg(p->kernel, at++, sizeof(ocl_mem), &buffer[i]) == OCL_SUCCESS;
    for (uint32_t i = 0; i < k->arg_type.n; i++) /* little-endian: the value's bytes come first */
        fine &=
            p->r->api.clSetKernelArg(p->kernel, at++, ir_type_size((ir_type)k->arg_type.at[i]), &arg[i]) == OCL_SUCCESS;
    fine &= p->r->api.clSetKernelArg(p->kernel, at++, sizeof(first), &first) == OCL_SUCCESS;
    fine &= p->r->api.clSetKernelArg(p->kernel, at++, sizeof(last), &last) == OCL_SUCCESS;
    return fine && p->r->api.clSetKernelArg(p->kernel, at, sizeof(ocl_mem), record) == OCL_SUCCESS;
}

static void keep_smallest(k_error *error, const int64_t *record)
{
    k_error e = {.site = (uint32_t)record[0], .element = record[1], .value = record[2], .bound = record[3]};
    if (e.site && (!error->site || e.site < error->site || (e.site == error->site && e.element < error->element)))
        *error = e;
}

bool opencl_run(opencl_program *p, const kernel *k, void *const *mem, const size_t *bytes, const ir_bits *arg,
                int64_t first, int64_t last, size_t groups, k_error *error)
{
    enum { MOST = 64 };
    ocl_mem buffer[MOST] = {0};
    int64_t record[4] = {0};
    unsigned n = 0;
    bool fine = true;
    for (k_mem m = 1; m < k->mem.n && n < MOST; m++)
        if (k->mem.at[m].space == K_GLOBAL) {
            buffer[n] = wrap(p, mem[n], bytes[n]);
            n++;
        }
    ocl_mem report = wrap(p, record, sizeof(record));
    size_t global = groups * p->local;
    fine = set_arguments(p, k, buffer, n, arg, first, last, &report) &&
           p->r->api.clEnqueueNDRangeKernel(p->r->queue, p->kernel, 1, NULL, &global, &p->local, 0, NULL, NULL) ==
               OCL_SUCCESS &&
           p->r->api.clFinish(p->r->queue) == OCL_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        fine = fine && sync(p, buffer[i], bytes[i]);
        p->r->api.clReleaseMemObject(buffer[i]);
    }
    fine = fine && sync(p, report, sizeof(record)) && p->r->api.clFinish(p->r->queue) == OCL_SUCCESS;
    p->r->api.clReleaseMemObject(report);
    keep_smallest(error, record);
    return fine;
}
