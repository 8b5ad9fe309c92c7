/* The driver's functions and numbers as we declare them are those of cuda.h: compiled, never run, where there is one. */
#include <cuda.h>

extern "C" {
#include "device/cuda_api.h"
}

#include <type_traits>

/* The same in a register: as wide, both pointers or neither. */
template <class A, class B> constexpr bool alike()
{
    return sizeof(A) == sizeof(B) && std::is_floating_point<A>::value == std::is_floating_point<B>::value &&
           (std::is_pointer<A>::value == std::is_pointer<B>::value);
}

template <class F, class G> struct same;
template <class R, class... P, class S, class... Q> struct same<R (*)(P...), S (*)(Q...)> {
    static constexpr bool parameters()
    {
        if constexpr (sizeof...(P) == sizeof...(Q))
            return (alike<P, Q>() && ...);
        return false;
    }
    static constexpr bool value = alike<R, S>() && parameters();
};

#define SAME(name, function) static_assert(same<decltype(&function), decltype(cuda_api::name)>::value, #function);
SAME(init, cuInit)
SAME(driver_version, cuDriverGetVersion)
SAME(error_name, cuGetErrorName)
SAME(error_text, cuGetErrorString)
SAME(device_count, cuDeviceGetCount)
SAME(device_get, cuDeviceGet)
SAME(device_name, cuDeviceGetName)
SAME(device_memory, cuDeviceTotalMem_v2)
SAME(device_attribute, cuDeviceGetAttribute)
SAME(context_retain, cuDevicePrimaryCtxRetain)
SAME(context_release, cuDevicePrimaryCtxRelease_v2)
SAME(context_push, cuCtxPushCurrent_v2)
SAME(context_pop, cuCtxPopCurrent_v2)
SAME(alloc, cuMemAlloc_v2)
SAME(release, cuMemFree_v2)
SAME(alloc_host, cuMemAllocHost_v2)
SAME(release_host, cuMemFreeHost)
SAME(pointer, cuPointerGetAttribute)
SAME(upload, cuMemcpyHtoDAsync_v2)
SAME(download, cuMemcpyDtoHAsync_v2)
SAME(copy, cuMemcpyDtoDAsync_v2)
SAME(clear, cuMemsetD8Async)
SAME(stream_create, cuStreamCreate)
SAME(stream_destroy, cuStreamDestroy_v2)
SAME(stream_wait, cuStreamSynchronize)
SAME(stream_await, cuStreamWaitEvent)
SAME(event_create, cuEventCreate)
SAME(event_destroy, cuEventDestroy_v2)
SAME(event_record, cuEventRecord)
SAME(event_wait, cuEventSynchronize)
SAME(event_between, cuEventElapsedTime)
SAME(module_load, cuModuleLoadDataEx)
SAME(module_unload, cuModuleUnload)
SAME(module_function, cuModuleGetFunction)
SAME(function_get, cuFuncGetAttribute)
SAME(function_set, cuFuncSetAttribute)
SAME(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)
SAME(launch, cuLaunchKernel)

#define EQUAL(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs);
EQUAL(CU_SUCCESS, CUDA_SUCCESS)
EQUAL(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY)
EQUAL(CU_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
EQUAL(CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU)
EQUAL(CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE)
EQUAL(CU_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
EQUAL(CU_GRID_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)
EQUAL(CU_SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
EQUAL(CU_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE)
EQUAL(CU_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
EQUAL(CU_COMPUTE_MODE, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
EQUAL(CU_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
EQUAL(CU_THREADS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
EQUAL(CU_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
EQUAL(CU_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
EQUAL(CU_SHARED_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
EQUAL(CU_REGISTERS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
EQUAL(CU_SHARED_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
EQUAL(CU_BLOCKS_PER_MULTIPROCESSOR, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)
EQUAL(CU_MODE_PROHIBITED, CU_COMPUTEMODE_PROHIBITED)
EQUAL(CU_POINTER_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
EQUAL(CU_POINTER_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
EQUAL(CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE)
EQUAL(CU_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED)
EQUAL(CU_REGISTERS_OF_FUNCTION, CU_FUNC_ATTRIBUTE_NUM_REGS)
EQUAL(CU_MAX_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
EQUAL(CU_STREAM_ALONE, CU_STREAM_NON_BLOCKING)
EQUAL(CU_JIT_LOG, CU_JIT_ERROR_LOG_BUFFER)
EQUAL(CU_JIT_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
