/* What we use of the CUDA driver, declared here, so that no CUDA is needed to build; the library is opened at run time.
 * Names and numbers are those of the driver API's documentation (CUDA 11.2 and later). */
#ifndef SN_DEVICE_CUDA_API_H
#define SN_DEVICE_CUDA_API_H

#include "base/base.h"

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef unsigned long long cu_pointer; /* device memory */
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;

enum { CU_SUCCESS = 0, CU_OUT_OF_MEMORY = 2, CU_UNSUPPORTED_PTX = 222, CU_NO_BINARY = 209, CU_INVALID_IMAGE = 200 };

enum { /* device attributes */
       CU_THREADS_PER_BLOCK = 1,
       CU_GRID_X = 5,
       CU_SHARED_PER_BLOCK = 8,
       CU_WARP_SIZE = 10,
       CU_MULTIPROCESSORS = 16,
       CU_COMPUTE_MODE = 20,
       CU_L2_BYTES = 38,
       CU_THREADS_PER_MULTIPROCESSOR = 39,
       CU_CAPABILITY_MAJOR = 75,
       CU_CAPABILITY_MINOR = 76,
       CU_SHARED_PER_MULTIPROCESSOR = 81,
       CU_REGISTERS_PER_MULTIPROCESSOR = 82,
       CU_SHARED_PER_BLOCK_OPTIN = 97,
       CU_BLOCKS_PER_MULTIPROCESSOR = 106
};

enum { CU_MODE_PROHIBITED = 2 };                                  /* a compute mode */
enum { CU_REGISTERS_OF_FUNCTION = 4, CU_MAX_DYNAMIC_SHARED = 8 }; /* function attributes */
enum { CU_EVENT_UNTIMED = 2 };                                    /* an event's flag: it is for order only */
enum { CU_STREAM_ALONE = 1 }; /* a stream's flag: does not wait for the default stream */
enum { CU_JIT_LOG = 5, CU_JIT_LOG_BYTES = 6 };
enum { CU_POINTER_MEMORY_TYPE = 2, CU_POINTER_ORDINAL = 9 }; /* attributes of an address */
enum { CU_MEMORY_DEVICE = 2, CU_MEMORY_UNIFIED = 4 };

/* Name of ours, symbol in the library, parameters. All return cu_result. */
#define CUDA_FUNCTIONS(F)                                                                                              \
    F(init, "cuInit", (unsigned flags))                                                                                \
    F(driver_version, "cuDriverGetVersion", (int *version))                                                            \
    F(error_name, "cuGetErrorName", (cu_result r, const char **name))                                                  \
    F(error_text, "cuGetErrorString", (cu_result r, const char **text))                                                \
    F(device_count, "cuDeviceGetCount", (int *count))                                                                  \
    F(device_get, "cuDeviceGet", (cu_device * d, int number))                                                          \
    F(device_name, "cuDeviceGetName", (char *name, int bytes, cu_device d))                                            \
    F(device_memory, "cuDeviceTotalMem_v2", (size_t * bytes, cu_device d))                                             \
    F(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, cu_device d))                              \
    F(context_retain, "cuDevicePrimaryCtxRetain", (cu_context * c, cu_device d))                                       \
    F(context_release, "cuDevicePrimaryCtxRelease_v2", (cu_device d))                                                  \
    F(context_push, "cuCtxPushCurrent_v2", (cu_context c))                                                             \
    F(context_pop, "cuCtxPopCurrent_v2", (cu_context * c))                                                             \
    F(alloc, "cuMemAlloc_v2", (cu_pointer * p, size_t bytes))                                                          \
    F(release, "cuMemFree_v2", (cu_pointer p))                                                                         \
    F(alloc_host, "cuMemAllocHost_v2", (void **p, size_t bytes))                                                       \
    F(release_host, "cuMemFreeHost", (void *p))                                                                        \
    F(pointer, "cuPointerGetAttribute", (void *value, int attribute, cu_pointer p))                                    \
    F(upload, "cuMemcpyHtoDAsync_v2", (cu_pointer to, const void *from, size_t bytes, cu_stream s))                    \
    F(download, "cuMemcpyDtoHAsync_v2", (void *to, cu_pointer from, size_t bytes, cu_stream s))                        \
    F(copy, "cuMemcpyDtoDAsync_v2", (cu_pointer to, cu_pointer from, size_t bytes, cu_stream s))                       \
    F(clear, "cuMemsetD8Async", (cu_pointer to, unsigned char value, size_t bytes, cu_stream s))                       \
    F(stream_create, "cuStreamCreate", (cu_stream * s, unsigned flags))                                                \
    F(stream_destroy, "cuStreamDestroy_v2", (cu_stream s))                                                             \
    F(stream_wait, "cuStreamSynchronize", (cu_stream s))                                                               \
    F(stream_await, "cuStreamWaitEvent", (cu_stream s, cu_event e, unsigned flags))                                    \
    F(event_create, "cuEventCreate", (cu_event * e, unsigned flags))                                                   \
    F(event_destroy, "cuEventDestroy_v2", (cu_event e))                                                                \
    F(event_record, "cuEventRecord", (cu_event e, cu_stream s))                                                        \
    F(event_wait, "cuEventSynchronize", (cu_event e))                                                                  \
    F(event_between, "cuEventElapsedTime", (float *milliseconds, cu_event from, cu_event to))                          \
    F(module_load, "cuModuleLoadDataEx",                                                                               \
      (cu_module * m, const void *image, unsigned options, int *option, void **value))                                 \
    F(module_unload, "cuModuleUnload", (cu_module m))                                                                  \
    F(module_function, "cuModuleGetFunction", (cu_function * f, cu_module m, const char *name))                        \
    F(function_get, "cuFuncGetAttribute", (int *value, int attribute, cu_function f))                                  \
    F(function_set, "cuFuncSetAttribute", (cu_function f, int attribute, int value))                                   \
    F(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                                        \
      (int *blocks, cu_function f, int threads, size_t dynamic_shared))                                                \
    F(launch, "cuLaunchKernel",                                                                                        \
      (cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,           \
       unsigned block_z, unsigned dynamic_shared, cu_stream s, void **arguments, void **extra))

typedef struct cuda_api {
#define FIELD(name, symbol, parameters) cu_result(*name) parameters;
    CUDA_FUNCTIONS(FIELD)
#undef FIELD
} cuda_api;

/* Opens libcuda.so.1 ($SINTER_CUDA if set) and initialises the driver; the library stays loaded until the process
 * ends. False and *why in `a`: not there, too old, or it does not start. */
bool cuda_api_open(cuda_api *out, arena *a, const char **why);

/* "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"; `call` is a symbol of the list above. */
const char *cuda_says(const cuda_api *c, const char *call, cu_result r, arena *a);

#endif
