/* Arrays shared with other libraries through DLPack (NumPy, PyTorch, JAX, CuPy, ...), on the CPU, without copies.
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

/* An array of a tensor in main memory, of bool, i8 to i64, u8 to u64, f32 or f64, one lane each, of up to 8 dimensions.
 * Contiguous, row-major and aligned elements are borrowed: they must not change while the array lives, and the tensor's
 * deleter is called when the array is freed. Others are copied (sn_counters.copies), and the deleter is called at once.
 * Either way it is called exactly once, by any thread. NULL after an error (sn_message): the tensor is still yours. */
SN_API sn_array *sn_from_dlpack(sn_context *context, struct DLManagedTensorVersioned *tensor);
SN_API sn_array *sn_from_dlpack_unversioned(sn_context *context, struct DLManagedTensor *tensor);

/* A tensor of an array, not copied and not to be written to; chars become u32. Array and context live on until the
 * tensor's deleter is called, whatever is freed and closed before. NULL after an error. */
SN_API struct DLManagedTensorVersioned *sn_to_dlpack(sn_array *array);
SN_API struct DLManagedTensor *sn_to_dlpack_unversioned(sn_array *array);

#ifdef __cplusplus
}
#endif

#endif
