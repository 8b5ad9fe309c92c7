/* Tensors of DLPack become arrays, and arrays tensors, without a copy wherever that can be. */
#include "sinter/dlpack.h"
#include "api/api.h"
#include "api/dlpack_abi.h"

static const struct {
    ir_type type;
    uint8_t code, bits;
} known[] = {{T_BOOL, DL_BOOL, 8}, {T_I8, DL_INT, 8},     {T_I16, DL_INT, 16},   {T_I32, DL_INT, 32},
             {T_I64, DL_INT, 64},  {T_U8, DL_UINT, 8},    {T_U16, DL_UINT, 16},  {T_U32, DL_UINT, 32},
             {T_U64, DL_UINT, 64}, {T_F32, DL_FLOAT, 32}, {T_F64, DL_FLOAT, 64}, {T_CHAR, DL_UINT, 32}};

/* --- in --- */

typedef struct taking {
    sn_context *cx;
    api_who who;
    const dl_tensor *from;
    const char *data; /* in main memory */
    void *block;      /* or on the context's device, */
    size_t offset;    /* from this byte on, where blocks are no addresses */
    ir_type type;
    size_t bytes;
    int64_t extent[IR_MAX_RANK], stride[IR_MAX_RANK]; /* bytes */
} taking;

static const char no_tensor[] = "the tensor is NULL; what should have made it failed";

static bool refuse(const taking *t, const char *why)
{
    api_fail_at(t->cx, t->who, SN_BAD_ARGUMENT, "%s", why);
    return false;
}

static bool take_type(taking *t)
{
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (t->from->element.code == known[i].code && t->from->element.bits == known[i].bits &&
            t->from->element.lanes == 1) {
            t->type = known[i].type;
            return true;
        }
    api_fail_at(t->cx, t->who, SN_BAD_ARGUMENT,
                "elements of type code %d with %d bits and %d lanes; bool, i8 to i64, u8 to u64, f32 and f64 are "
                "taken, of one lane",
                t->from->element.code, t->from->element.bits, t->from->element.lanes);
    return false;
}

/* Strides in elements, or none, become strides in bytes. */
static bool take_shape(taking *t)
{
    const dl_tensor *from = t->from;
    size_t bytes;
    if (from->rank < 0 || from->rank > IR_MAX_RANK)
        return refuse(t, "the tensor has more than 8 dimensions; merge some");
    if (from->rank && !from->extent)
        return refuse(t, "the tensor has dimensions, but no shape");
    for (int d = 0; d < from->rank; d++)
        t->extent[d] = from->extent[d];
    if (!api_size(t->type, from->rank, t->extent, &bytes))
        return refuse(t, "an extent is negative, or the tensor is larger than memory can be; check its shape");
    size_strides(ir_type_size(t->type), (unsigned)from->rank, t->extent, t->stride);
    for (int d = 0; d < from->rank && bytes && from->stride; d++)
        if (t->extent[d] > 1 && /* else it is never taken, and may be any number */
            __builtin_mul_overflow(from->stride[d], (int64_t)ir_type_size(t->type), &t->stride[d]))
            return refuse(t, "a stride does not fit into 63 bits; copy the tensor to be contiguous");
    t->bytes = bytes;
    return !bytes || from->data || refuse(t, "the tensor has elements, but its data are NULL");
}

/* DLPack's name of the context's device. */
static int32_t kind_of_device(const sn_context *cx)
{
    if (!api_own_memory(cx))
        return DL_CPU;
    return strcmp(cx->engine.device->limits->kind, "cuda") ? DL_OPENCL : DL_CUDA;
}

static bool contiguous(const taking *t)
{
    return api_contiguous(t->type, t->from->rank, t->extent, t->stride);
}

static bool take_block(taking *t)
{
    const dl_tensor *from = t->from;
    device *d = t->cx->engine.device;
    bool addresses = kind_of_device(t->cx) == DL_CUDA;
    t->block = addresses && from->data ? (char *)from->data + from->offset : from->data;
    t->offset = addresses ? 0 : from->offset;
    if (!t->bytes)
        return true;
    size_t end;
    if (!size_plus(t->bytes, t->offset, &end))
        return refuse(t, "the tensor ends beyond all memory; check its shape and offset");
    const char *why = d->foreign(d, t->block, end);
    if (why)
        return refuse(t, why);
    return contiguous(t) ||
           refuse(
               t,
               "the tensor is on the device, but its elements are not one behind the other; copy it to be contiguous");
}

static bool take(taking *t)
{
    int32_t where = t->from->device.type, here = kind_of_device(t->cx);
    bool host = where == DL_CPU || where == DL_CUDA_HOST || where == DL_ROCM_HOST;
    bool there = here != DL_CPU && (where == here || (where == DL_CUDA_MANAGED && here == DL_CUDA));
    if (!host && !there)
        return refuse(t, "the tensor is not in main memory, nor on the context's device; copy it to one of them");
    if (!take_type(t) || !take_shape(t))
        return false;
    if (there)
        return take_block(t);
    t->data = (const char *)t->from->data + (t->from->data ? t->from->offset : 0);
    return true;
}

/* The same for elements on the device. */
static sn_array *array_there(taking *t, void (*let_go)(void *owner), void *owner)
{
    bool address = kind_of_device(t->cx) == DL_CUDA;
    if (!t->offset && !(address && (uintptr_t)t->block % ir_type_size(t->type)))
        return api_borrow_block(t->cx, t->who, t->type, t->from->rank, t->extent, t->block, let_go, owner);
    sn_array *a = api_copy_block(t->cx, t->who, t->type, t->from->rank, t->extent, t->block, t->offset);
    if (a)
        let_go(owner);
    return a;
}

/* Other libraries take any byte but 0 for true; kernels rely on 0 and 1. */
static bool kernels_can_read(const taking *t)
{
    unsigned char all = 0;
    for (size_t i = 0; i < t->bytes && t->type == T_BOOL; i++)
        all |= (unsigned char)t->data[i];
    return all <= 1;
}

/* Borrows the elements if it can: then `let_go(owner)` is due when the array is freed. Else they are copied, and it was
 * called. NULL: it was not called. */
static sn_array *array_of(taking *t, void (*let_go)(void *owner), void *owner)
{
    if (t->block && t->bytes)
        return array_there(t, let_go, owner);
    const bool borrowed =
        contiguous(t) && (uintptr_t)t->data % ir_type_size(t->type) == 0 && t->data && kernels_can_read(t);
    if (borrowed)
        return api_borrow_array(t->cx, t->who, t->type, t->from->rank, t->extent, t->data, let_go, owner);
    sn_array *a = api_new_array(t->cx, t->type, t->from->rank, t->extent, t->who);
    if (!a)
        return NULL;
    if (a->bytes) {
        api_gather(a->data, t->data, t->type, t->from->rank, t->extent, t->stride);
        for (size_t i = 0; i < a->bytes && t->type == T_BOOL; i++)
            ((unsigned char *)a->data)[i] = ((unsigned char *)a->data)[i] != 0;
        run_count_copy(&t->cx->counters, a->bytes);
    }
    let_go(owner);
    return a;
}

static void drop_versioned(void *owner)
{
    struct DLManagedTensorVersioned *tensor = owner;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

static void drop_unversioned(void *owner)
{
    struct DLManagedTensor *tensor = owner;
    if (tensor->deleter)
        tensor->deleter(tensor);
}

sn_array *sn_from_dlpack_at(sn_site at, sn_context *cx, struct DLManagedTensorVersioned *tensor)
{
    taking t = {.cx = cx, .who = api_function_at(at, "sn_from_dlpack"), .from = tensor ? &tensor->tensor : NULL};
    if (!api_is_open(cx, t.who))
        return NULL;
    if (!tensor)
        return refuse(&t, no_tensor), NULL;
    if (tensor->version.major != DL_MAJOR) { /* then nothing behind the version may be looked at */
        api_fail_at(cx, t.who, SN_UNSUPPORTED, "the tensor is of version %u of DLPack; 1 is understood",
                    (unsigned)tensor->version.major);
        return NULL;
    }
    return take(&t) ? array_of(&t, drop_versioned, tensor) : NULL;
}

sn_array *sn_from_dlpack_unversioned_at(sn_site at, sn_context *cx, struct DLManagedTensor *tensor)
{
    taking t = {
        .cx = cx, .who = api_function_at(at, "sn_from_dlpack_unversioned"), .from = tensor ? &tensor->tensor : NULL};
    if (!api_is_open(cx, t.who))
        return NULL;
    if (!tensor)
        return refuse(&t, no_tensor), NULL;
    return take(&t) ? array_of(&t, drop_unversioned, tensor) : NULL;
}

sn_array *(sn_from_dlpack)(sn_context *cx, struct DLManagedTensorVersioned *tensor)
{
    return sn_from_dlpack_at((sn_site){NULL, 0}, cx, tensor);
}

sn_array *(sn_from_dlpack_unversioned)(sn_context *cx, struct DLManagedTensor *tensor)
{
    return sn_from_dlpack_unversioned_at((sn_site){NULL, 0}, cx, tensor);
}

/* --- out --- */

typedef struct given { /* a tensor given out, and what keeps it alive */
    union {
        struct DLManagedTensor unversioned;
        struct DLManagedTensorVersioned versioned;
    } u;
    sn_array *array;
    void *data; /* its elements, */
    bool there; /* on the device */
    int64_t extent[IR_MAX_RANK], stride[IR_MAX_RANK];
} given;

static void end(given *g)
{
    sn_array *array = g->array;
    sn_context *cx = array->context;
    cx->heap.release(cx->heap.env, g);
    api_end_loan(array); /* the context may go with it */
}

static void delete_versioned(struct DLManagedTensorVersioned *tensor)
{
    end(tensor->manager);
}

static void delete_unversioned(struct DLManagedTensor *tensor)
{
    end(tensor->manager);
}

/* `give` has seen to it that the elements are where they are to be: on the device, or in main memory. */
static dl_tensor describe(given *g)
{
    const sn_array *a = g->array;
    dl_tensor t = {
        .data = g->data, .device = {.type = DL_CPU}, .rank = a->rank, .extent = g->extent, .stride = g->stride};
    if (g->there) {
        t.device.type = kind_of_device(a->context);
        t.device.number = a->context->engine.device->limits->ordinal;
    }
    size_t i = 0;
    while (known[i].type != a->type)
        i++;
    t.element.code = known[i].code;
    t.element.bits = known[i].bits;
    t.element.lanes = 1;
    memcpy(g->extent, a->extent, a->rank * sizeof(*g->extent));
    size_strides(1, a->rank, g->extent, g->stride);
    return t;
}

static given *give(api_who who, sn_array *a, bool there)
{
    sn_status status = SN_OK;
    void *data = NULL;
    const void *host;
    if (!a || handle_stale(a, HANDLE_ARRAY, who.what))
        return NULL;
    there &= api_own_memory(a->context);
    if (there)
        status = api_place(a, who, &data, &host);
    else
        data = (void *)(uintptr_t)api_look(a, who, &status);
    if (status != SN_OK || !data)
        return NULL;
    sn_context *cx = a->context;
    given *g = cx->heap.alloc(cx->heap.env, sizeof(*g));
    if (!g) {
        api_fail_at(cx, who, SN_NO_MEMORY, "no memory for a tensor");
        return NULL;
    }
    *g = (given){.array = a, .data = data, .there = there};
    api_lend_array(a);
    return g;
}

static struct DLManagedTensorVersioned *versioned(given *g)
{
    if (!g)
        return NULL;
    g->u.versioned = (struct DLManagedTensorVersioned){
        .version = {DL_MAJOR, DL_MINOR}, .manager = g, .deleter = delete_versioned, .flags = DL_READ_ONLY};
    g->u.versioned.tensor = describe(g);
    return &g->u.versioned;
}

static struct DLManagedTensor *unversioned(given *g)
{
    if (!g)
        return NULL;
    g->u.unversioned = (struct DLManagedTensor){.manager = g, .deleter = delete_unversioned};
    g->u.unversioned.tensor = describe(g);
    return &g->u.unversioned;
}

struct DLManagedTensorVersioned *sn_to_dlpack_at(sn_site at, sn_array *array)
{
    return versioned(give(api_function_at(at, "sn_to_dlpack"), array, false));
}

struct DLManagedTensorVersioned *(sn_to_dlpack)(sn_array *array)
{
    return sn_to_dlpack_at((sn_site){NULL, 0}, array);
}

struct DLManagedTensor *sn_to_dlpack_unversioned_at(sn_site at, sn_array *array)
{
    return unversioned(give(api_function_at(at, "sn_to_dlpack_unversioned"), array, false));
}

struct DLManagedTensor *(sn_to_dlpack_unversioned)(sn_array *array)
{
    return sn_to_dlpack_unversioned_at((sn_site){NULL, 0}, array);
}

struct DLManagedTensorVersioned *sn_to_dlpack_device_at(sn_site at, sn_array *array)
{
    return versioned(give(api_function_at(at, "sn_to_dlpack_device"), array, true));
}

struct DLManagedTensorVersioned *(sn_to_dlpack_device)(sn_array *array)
{
    return sn_to_dlpack_device_at((sn_site){NULL, 0}, array);
}

struct DLManagedTensor *sn_to_dlpack_device_unversioned_at(sn_site at, sn_array *array)
{
    return unversioned(give(api_function_at(at, "sn_to_dlpack_device_unversioned"), array, true));
}

struct DLManagedTensor *(sn_to_dlpack_device_unversioned)(sn_array *array)
{
    return sn_to_dlpack_device_unversioned_at((sn_site){NULL, 0}, array);
}
