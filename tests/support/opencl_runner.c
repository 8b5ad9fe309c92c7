/* Runs emitted OpenCL C for tests. */
#include "support/opencl_runner.h"

#ifdef SN_HAVE_OPENCL

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

struct opencl_runner {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    char name[256];
};

struct opencl_program {
    opencl_runner *r;
    cl_program program;
    cl_kernel kernel;
    size_t local;
};

static bool usable(cl_device_id d)
{
    cl_device_fp_config config = 0;
    clGetDeviceInfo(d, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(config), &config, NULL);
    cl_device_fp_config wanted = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    return (config & wanted) == wanted;
}

static cl_device_id find_device(void)
{
    cl_platform_id platforms[8];
    cl_uint platform_count = 0;
    if (clGetPlatformIDs(8, platforms, &platform_count) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < platform_count && i < 8; i++) {
        cl_device_id devices[8];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 8, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint j = 0; j < count && j < 8; j++)
            if (usable(devices[j]))
                return devices[j];
    }
    return NULL;
}

opencl_runner *opencl_open(const char **why)
{
    cl_device_id device = find_device();
    *why = "no OpenCL device here";
    if (!device)
        return NULL;
    opencl_runner *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->device = device;
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(r->name) - 1, r->name, NULL);
    r->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    r->queue = r->context ? clCreateCommandQueue(r->context, device, 0, NULL) : NULL;
    if (r->queue)
        return r;
    *why = "the OpenCL device does not open";
    opencl_close(r);
    return NULL;
}

void opencl_close(opencl_runner *r)
{
    if (!r)
        return;
    if (r->queue)
        clReleaseCommandQueue(r->queue);
    if (r->context)
        clReleaseContext(r->context);
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
    p->program = clCreateProgramWithSource(r->context, 1, &source, NULL, NULL);
    if (p->program && clBuildProgram(p->program, 1, &r->device, options, NULL, NULL) == CL_SUCCESS)
        p->kernel = clCreateKernel(p->program, entry, NULL);
    if (p->kernel)
        return p;
    char *build_log = arena_alloc(a, 1 << 16);
    if (p->program)
        clGetProgramBuildInfo(p->program, r->device, CL_PROGRAM_BUILD_LOG, (1 << 16) - 1, build_log, NULL);
    *log = build_log;
    opencl_drop(p);
    return NULL;
}

void opencl_drop(opencl_program *p)
{
    if (!p)
        return;
    if (p->kernel)
        clReleaseKernel(p->kernel);
    if (p->program)
        clReleaseProgram(p->program);
    free(p);
}

static cl_mem wrap(opencl_program *p, void *memory, size_t bytes)
{
    /* A buffer of no bytes is no buffer; kernels do not touch it. */
    static char nothing[64];
    return clCreateBuffer(p->r->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes ? bytes : 1,
                          bytes ? memory : nothing, NULL);
}

/* Makes the host's memory current again. */
static bool sync(opencl_program *p, cl_mem m, size_t bytes)
{
    cl_int status;
    void *at = clEnqueueMapBuffer(p->r->queue, m, CL_TRUE, CL_MAP_READ, 0, bytes ? bytes : 1, 0, NULL, NULL, &status);
    return status == CL_SUCCESS && clEnqueueUnmapMemObject(p->r->queue, m, at, 0, NULL, NULL) == CL_SUCCESS;
}

static bool set_arguments(opencl_program *p, const kernel *k, const cl_mem *buffer, unsigned buffers,
                          const ir_bits *arg, cl_long first, cl_long last, cl_mem *record)
{
    cl_uint at = 0;
    bool fine = true;
    for (unsigned i = 0; i < buffers; i++)
        fine &= clSetKernelArg(p->kernel, at++, sizeof(cl_mem), &buffer[i]) == CL_SUCCESS;
    for (uint32_t i = 0; i < k->arg_type.n; i++) /* little-endian: the value's bytes come first */
        fine &= clSetKernelArg(p->kernel, at++, ir_type_size((ir_type)k->arg_type.at[i]), &arg[i]) == CL_SUCCESS;
    fine &= clSetKernelArg(p->kernel, at++, sizeof(first), &first) == CL_SUCCESS;
    fine &= clSetKernelArg(p->kernel, at++, sizeof(last), &last) == CL_SUCCESS;
    return fine && clSetKernelArg(p->kernel, at, sizeof(cl_mem), record) == CL_SUCCESS;
}

static void keep_smallest(k_error *error, const cl_long *record)
{
    k_error e = {.site = (uint32_t)record[0], .element = record[1], .value = record[2], .bound = record[3]};
    if (e.site && (!error->site || e.site < error->site || (e.site == error->site && e.element < error->element)))
        *error = e;
}

bool opencl_run(opencl_program *p, const kernel *k, void *const *mem, const size_t *bytes, const ir_bits *arg,
                int64_t first, int64_t last, size_t groups, k_error *error)
{
    enum { MOST = 32 };
    cl_mem buffer[MOST] = {0};
    cl_long record[4] = {0};
    unsigned n = 0;
    bool fine = true;
    for (k_mem m = 1; m < k->mem.n && n < MOST; m++)
        if (k->mem.at[m].space == K_GLOBAL) {
            buffer[n] = wrap(p, mem[n], bytes[n]);
            n++;
        }
    cl_mem report = wrap(p, record, sizeof(record));
    size_t global = groups * p->local;
    fine = set_arguments(p, k, buffer, n, arg, first, last, &report) &&
           clEnqueueNDRangeKernel(p->r->queue, p->kernel, 1, NULL, &global, &p->local, 0, NULL, NULL) == CL_SUCCESS &&
           clFinish(p->r->queue) == CL_SUCCESS;
    for (unsigned i = 0; i < n; i++) {
        fine = fine && sync(p, buffer[i], bytes[i]);
        clReleaseMemObject(buffer[i]);
    }
    fine = fine && sync(p, report, sizeof(record)) && clFinish(p->r->queue) == CL_SUCCESS;
    clReleaseMemObject(report);
    keep_smallest(error, record);
    return fine;
}

#else

struct opencl_runner {
    char none;
};

opencl_runner *opencl_open(const char **why)
{
    *why = "built without OpenCL";
    return NULL;
}

void opencl_close(opencl_runner *r)
{
    (void)r;
}

const char *opencl_device(const opencl_runner *r)
{
    (void)r;
    return "none";
}

opencl_program *opencl_build(opencl_runner *r, const char *source, const char *entry, size_t local, arena *a,
                             const char **log)
{
    (void)r, (void)source, (void)entry, (void)local, (void)a;
    *log = "built without OpenCL";
    return NULL;
}

void opencl_drop(opencl_program *p)
{
    (void)p;
}

bool opencl_run(opencl_program *p, const kernel *k, void *const *mem, const size_t *bytes, const ir_bits *arg,
                int64_t first, int64_t last, size_t groups, k_error *error)
{
    (void)p, (void)k, (void)mem, (void)bytes, (void)arg, (void)first, (void)last, (void)groups, (void)error;
    return false;
}

#endif
