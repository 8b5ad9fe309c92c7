/* The structures that DLPack's specification prescribes (https://dmlc.github.io/dlpack, 0.8 and 1.x). Only the tags of
 * the two outer ones are shared with other declarations of them. */
#ifndef SN_API_DLPACK_ABI_H
#define SN_API_DLPACK_ABI_H

#include <stdint.h>

enum { DL_MAJOR = 1, DL_MINOR = 0 };

typedef enum dl_device_type {
    DL_CPU = 1, /* in main memory, like the two _HOST */
    DL_CUDA = 2,
    DL_CUDA_HOST = 3,
    DL_OPENCL = 4, /* the data are a cl_mem */
    DL_ROCM_HOST = 11,
    DL_CUDA_MANAGED = 13
} dl_device_type;
typedef enum dl_code { DL_INT, DL_UINT, DL_FLOAT, DL_OPAQUE, DL_BFLOAT, DL_COMPLEX, DL_BOOL } dl_code;

enum { DL_READ_ONLY = 1 }; /* of flags */

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } element;
    int64_t *extent;
    int64_t *stride; /* in elements; NULL: contiguous and row-major */
    uint64_t offset; /* of the first element, from data, in bytes */
} dl_tensor;

struct DLManagedTensor {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self); /* may be NULL */
};

struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self); /* may be NULL */
    uint64_t flags;
    dl_tensor tensor;
};

#endif
