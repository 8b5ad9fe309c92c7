/* Arrays shared with other libraries through DLPack (NumPy, PyTorch, JAX, CuPy, ...) without copies, in main memory and
 * on the context's device.
 *
 * The two structures are those of DLPack's specification, versions 0.8 and 1.x; declare them with the dlpack.h of your
 * choice, before or behind this header, or hand the pointers on unseen. "dltensor" is the name of a Python capsule that
 * holds the unversioned one, "dltensor_versioned" that of the other. */
#ifndef SINTER_DLPACK_H
#define SINTER_DLPACK_H

#include "sinter/sinter.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* An array of a tensor in main memory, or on the context's CUDA or OpenCL device (not on another one), of bool, i8 to
 * i64, u8 to u64, f32 or f64, one lane each, of up to 8 dimensions. Contiguous, row-major and aligned elements are
 * borrowed: they must not change while the array lives, and the tensor's deleter is called when the array is freed.
 * Others are copied (sn_counters.copies), as are bools of other bytes than 0 and 1, and the deleter is called at once.
 * Either way it is called exactly once, by any thread. NULL after an error (sn_message): the tensor is still yours.
 *
 * Tensors on a device must be contiguous, bools of 0 and 1, and what writes their elements must have been waited for (in
 * PyTorch: torch.cuda.synchronize()). Under OpenCL their data are a cl_mem of the context's own OpenCL context. */
SN_API sn_array *sn_from_dlpack(sn_context *context, struct DLManagedTensorVersioned *tensor);
SN_API sn_array *sn_from_dlpack_unversioned(sn_context *context, struct DLManagedTensor *tensor);
SN_API sn_array *sn_from_dlpack_at(sn_site at, sn_context *context, struct DLManagedTensorVersioned *tensor);
SN_API sn_array *sn_from_dlpack_unversioned_at(sn_site at, sn_context *context, struct DLManagedTensor *tensor);

/* A tensor of an array in main memory, where elements of other devices are brought first, else not copied; not to be
 * written to; chars become u32. Array and context live on until the tensor's deleter is called, whatever is freed and
 * closed before. NULL after an error. */
SN_API struct DLManagedTensorVersioned *sn_to_dlpack(sn_array *array);
SN_API struct DLManagedTensor *sn_to_dlpack_unversioned(sn_array *array);
SN_API struct DLManagedTensorVersioned *sn_to_dlpack_at(sn_site at, sn_array *array);
SN_API struct DLManagedTensor *sn_to_dlpack_unversioned_at(sn_site at, sn_array *array);

/* The same where the context's device has its elements: kDLCUDA with the driver's number of the device; kDLOpenCL,
 * whose data are a cl_mem of the context's own OpenCL context; kDLCPU otherwise. The elements are there, no stream
 * needs to be waited for. */
SN_API struct DLManagedTensorVersioned *sn_to_dlpack_device(sn_array *array);
SN_API struct DLManagedTensor *sn_to_dlpack_device_unversioned(sn_array *array);
SN_API struct DLManagedTensorVersioned *sn_to_dlpack_device_at(sn_site at, sn_array *array);
SN_API struct DLManagedTensor *sn_to_dlpack_device_unversioned_at(sn_site at, sn_array *array);

/* So that messages have the place of the call, and sn_close that of an array that is still held. */
#define sn_from_dlpack(...) sn_from_dlpack_at(SN_HERE, __VA_ARGS__)
#define sn_from_dlpack_unversioned(...) sn_from_dlpack_unversioned_at(SN_HERE, __VA_ARGS__)
#define sn_to_dlpack(...) sn_to_dlpack_at(SN_HERE, __VA_ARGS__)
#define sn_to_dlpack_unversioned(...) sn_to_dlpack_unversioned_at(SN_HERE, __VA_ARGS__)
#define sn_to_dlpack_device(...) sn_to_dlpack_device_at(SN_HERE, __VA_ARGS__)
#define sn_to_dlpack_device_unversioned(...) sn_to_dlpack_device_unversioned_at(SN_HERE, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif
