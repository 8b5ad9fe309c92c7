/* What we use of OpenCL 1.2, declared by ourselves and found at run time: the library builds and starts where there is
 * neither an OpenCL header nor a loader. Names and numbers are those of the specification. */
#ifndef SN_DEVICE_OPENCL_API_H
#define SN_DEVICE_OPENCL_API_H

#include "base/base.h"

typedef struct ocl_platform_object *ocl_platform;
typedef struct ocl_device_object *ocl_device;
typedef struct ocl_context_object *ocl_context;
typedef struct ocl_queue_object *ocl_queue;
typedef struct ocl_mem_object *ocl_mem;
typedef struct ocl_program_object *ocl_program;
typedef struct ocl_kernel_object *ocl_kernel;
typedef struct ocl_event_object *ocl_event;
typedef void (*ocl_notify_context)(const char *what, const void *details, size_t bytes, void *env);
typedef void (*ocl_notify_program)(ocl_program program, void *env);

enum { /* statuses that something depends on */
       OCL_SUCCESS = 0,
       OCL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
       OCL_OUT_OF_RESOURCES = -5,
       OCL_OUT_OF_HOST_MEMORY = -6
};
enum { /* kinds of devices, of memory, of queues */
       OCL_TYPE_GPU = 4,
       OCL_TYPE_ACCELERATOR = 8,
       OCL_MEM_READ_WRITE = 1,
       OCL_MEM_USE_HOST_PTR = 8,
       OCL_MEM_COPY_HOST_PTR = 32,
       OCL_QUEUE_PROFILING_ENABLE = 2,
       OCL_MAP_READ = 1
};
enum { /* what a device computes exactly, of OCL_SINGLE_FP_CONFIG */
       OCL_FP_DENORM = 1,
       OCL_FP_INF_NAN = 2,
       OCL_FP_ROUND_TO_NEAREST = 4,
       OCL_FP_FMA = 32,
       OCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 128
};
enum { /* questions */
       OCL_PLATFORM_VERSION = 0x0901,
       OCL_PLATFORM_NAME = 0x0902,
       OCL_DEVICE_TYPE = 0x1000,
       OCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
       OCL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
       OCL_DEVICE_ADDRESS_BITS = 0x100d,
       OCL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
       OCL_DEVICE_SINGLE_FP_CONFIG = 0x101b,
       OCL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
       OCL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
       OCL_DEVICE_ENDIAN_LITTLE = 0x1026,
       OCL_DEVICE_AVAILABLE = 0x1027,
       OCL_DEVICE_COMPILER_AVAILABLE = 0x1028,
       OCL_DEVICE_NAME = 0x102b,
       OCL_DEVICE_VENDOR = 0x102c,
       OCL_DRIVER_VERSION = 0x102d,
       OCL_DEVICE_VERSION = 0x102f,
       OCL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
       OCL_CONTEXT_PLATFORM = 0x1084,
       OCL_MEM_SIZE = 0x1102,
       OCL_MEM_CONTEXT = 0x1106,
       OCL_PROGRAM_BINARY_SIZES = 0x1165,
       OCL_PROGRAM_BINARIES = 0x1166,
       OCL_PROGRAM_BUILD_LOG = 0x1183,
       OCL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
       OCL_KERNEL_PREFERRED_MULTIPLE = 0x11b3,
       OCL_PROFILING_COMMAND_START = 0x1282,
       OCL_PROFILING_COMMAND_END = 0x1283
};

/* X(result, name, parameters) */
#define OPENCL_FUNCTIONS(X)                                                                                            \
    X(int32_t, clGetPlatformIDs, (uint32_t, ocl_platform *, uint32_t *))                                               \
    X(int32_t, clGetPlatformInfo, (ocl_platform, uint32_t, size_t, void *, size_t *))                                  \
    X(int32_t, clGetDeviceIDs, (ocl_platform, uint64_t, uint32_t, ocl_device *, uint32_t *))                           \
    X(int32_t, clGetDeviceInfo, (ocl_device, uint32_t, size_t, void *, size_t *))                                      \
    X(ocl_context, clCreateContext,                                                                                    \
      (const intptr_t *, uint32_t, const ocl_device *, ocl_notify_context, void *, int32_t *))                         \
    X(int32_t, clReleaseContext, (ocl_context))                                                                        \
    X(ocl_queue, clCreateCommandQueue, (ocl_context, ocl_device, uint64_t, int32_t *))                                 \
    X(int32_t, clReleaseCommandQueue, (ocl_queue))                                                                     \
    X(ocl_mem, clCreateBuffer, (ocl_context, uint64_t, size_t, void *, int32_t *))                                     \
    X(int32_t, clReleaseMemObject, (ocl_mem))                                                                          \
    X(int32_t, clGetMemObjectInfo, (ocl_mem, uint32_t, size_t, void *, size_t *))                                      \
    X(ocl_program, clCreateProgramWithSource, (ocl_context, uint32_t, const char **, const size_t *, int32_t *))       \
    X(ocl_program, clCreateProgramWithBinary,                                                                          \
      (ocl_context, uint32_t, const ocl_device *, const size_t *, const unsigned char **, int32_t *, int32_t *))       \
    X(int32_t, clReleaseProgram, (ocl_program))                                                                        \
    X(int32_t, clBuildProgram, (ocl_program, uint32_t, const ocl_device *, const char *, ocl_notify_program, void *))  \
    X(int32_t, clGetProgramInfo, (ocl_program, uint32_t, size_t, void *, size_t *))                                    \
    X(int32_t, clGetProgramBuildInfo, (ocl_program, ocl_device, uint32_t, size_t, void *, size_t *))                   \
    X(ocl_kernel, clCreateKernel, (ocl_program, const char *, int32_t *))                                              \
    X(int32_t, clReleaseKernel, (ocl_kernel))                                                                          \
    X(int32_t, clSetKernelArg, (ocl_kernel, uint32_t, size_t, const void *))                                           \
    X(int32_t, clGetKernelWorkGroupInfo, (ocl_kernel, ocl_device, uint32_t, size_t, void *, size_t *))                 \
    X(int32_t, clEnqueueReadBuffer,                                                                                    \
      (ocl_queue, ocl_mem, uint32_t, size_t, size_t, void *, uint32_t, const ocl_event *, ocl_event *))                \
    X(int32_t, clEnqueueWriteBuffer,                                                                                   \
      (ocl_queue, ocl_mem, uint32_t, size_t, size_t, const void *, uint32_t, const ocl_event *, ocl_event *))          \
    X(int32_t, clEnqueueCopyBuffer,                                                                                    \
      (ocl_queue, ocl_mem, ocl_mem, size_t, size_t, size_t, uint32_t, const ocl_event *, ocl_event *))                 \
    X(int32_t, clEnqueueFillBuffer,                                                                                    \
      (ocl_queue, ocl_mem, const void *, size_t, size_t, size_t, uint32_t, const ocl_event *, ocl_event *))            \
    X(void *, clEnqueueMapBuffer,                                                                                      \
      (ocl_queue, ocl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t, const ocl_event *, ocl_event *, int32_t *))   \
    X(int32_t, clEnqueueUnmapMemObject, (ocl_queue, ocl_mem, void *, uint32_t, const ocl_event *, ocl_event *))        \
    X(int32_t, clEnqueueNDRangeKernel,                                                                                 \
      (ocl_queue, ocl_kernel, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const ocl_event *,   \
       ocl_event *))                                                                                                   \
    X(int32_t, clEnqueueMarkerWithWaitList, (ocl_queue, uint32_t, const ocl_event *, ocl_event *))                     \
    X(int32_t, clEnqueueBarrierWithWaitList, (ocl_queue, uint32_t, const ocl_event *, ocl_event *))                    \
    X(int32_t, clWaitForEvents, (uint32_t, const ocl_event *))                                                         \
    X(int32_t, clRetainEvent, (ocl_event))                                                                             \
    X(int32_t, clReleaseEvent, (ocl_event))                                                                            \
    X(int32_t, clGetEventProfilingInfo, (ocl_event, uint32_t, size_t, void *, size_t *))                               \
    X(int32_t, clFlush, (ocl_queue))                                                                                   \
    X(int32_t, clFinish, (ocl_queue))

typedef struct opencl_api {
#define X(result, name, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(X)
#undef X
} opencl_api;

/* Opens the loader: $SINTER_OPENCL (a file), else libOpenCL.so.1. It stays loaded until the process ends. False and
 * *why in `a`. */
bool opencl_api_open(opencl_api *out, arena *a, const char **why);

const char *opencl_status(int32_t status); /* "CL_OUT_OF_RESOURCES"; static */

/* A device that can be opened, or why it cannot. Strings in the arena. */
typedef struct opencl_place {
    ocl_platform platform;
    ocl_device device;
    uint64_t type;
    const char *name, *vendor, *driver, *version; /* of the device */
    const char *platform_name;
    const char *why; /* NULL: usable */
    int ordinal;     /* among all of all platforms */
    bool pocl;       /* runs on the CPU, by our measurements never faster than the CPU device */
} opencl_place;
typedef VEC(opencl_place) opencl_places;

/* All devices, GPUs and accelerators first. False and *why in `a` where there is no OpenCL at all. */
bool opencl_find(const opencl_api *api, arena *a, opencl_places *out, const char **why);
uint64_t opencl_number(const opencl_api *api, ocl_device d, uint32_t question); /* 0 if it does not answer */

/* Is some other implementation than PoCL installed? Looked up without loading any: that takes 100 ms. */
bool opencl_worth_asking(void);

#endif
