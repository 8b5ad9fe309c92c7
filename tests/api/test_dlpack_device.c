/* Tensors of DLPack on the context's device: given out and taken in without a copy, kept alive as long as somebody has
 * them, and refused where they are not the device's. On the CPU they are tensors in main memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "api/dlpack_abi.h"
#include "sinter/dlpack.h"

enum { N = 3000 };

static sn_context *cx;
static float numbers[N];

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

static sn_context *opened(const char *device)
{
    sn_options o = {.size = sizeof(o), .device = device, .message = drop_message};
    return sn_open(&o);
}

static int open_context(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i % 100);
    cx = opened(NULL);
    return cx ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    sn_close(cx);
    return 0;
}

/* Of the device that the tests run on. */
static int32_t type_here(void)
{
    const char *device = getenv("SINTER_DEVICE");
    return device && !strcmp(device, "cuda") ? DL_CUDA : device && !strcmp(device, "opencl") ? DL_OPENCL : DL_CPU;
}

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static void expect_negated(sn_context *where, sn_array *a, const float *from, int64_t n)
{
    float *out = calloc((size_t)n + 1, sizeof(float));
    sn_program *p = sn_compile(where, "[n]f32 -> [n]f32", negated);
    if (sn_call(p, sn_held(a), sn_into(out, n)) != SN_OK)
        fail_msg("%s", sn_message(where));
    for (int64_t i = 0; i < n; i++)
        assert_true(out[i] == -from[i]);
    sn_drop(p);
    free(out);
}

static struct DLManagedTensorVersioned *tensor_of_numbers(sn_context *where)
{
    sn_array *a = sn_upload(where, sn_in(numbers, N));
    struct DLManagedTensorVersioned *t = sn_to_dlpack_device(a);
    if (!t)
        fail_msg("%s", sn_message(where));
    sn_free(a); /* the tensor keeps it */
    return t;
}

static void goes_out_and_comes_in(void **state)
{
    (void)state;
    struct DLManagedTensorVersioned *t = tensor_of_numbers(cx);
    const uint64_t copies = sn_counts(cx).copies;
    assert_int_equal(t->tensor.device.type, type_here());
    const int number = t->tensor.device.number; /* among all that the driver knows, of which others may come first */
    assert_true(number >= 0);
    assert_int_equal(t->tensor.rank, 1);
    assert_int_equal(t->tensor.extent[0], N);
    assert_int_equal(t->flags, DL_READ_ONLY);
    sn_array *b = sn_from_dlpack(cx, t);
    if (!b)
        fail_msg("%s", sn_message(cx));
    struct DLManagedTensor *again = sn_to_dlpack_device_unversioned(b); /* the same place: nothing was moved */
    assert_non_null(again);
    assert_ptr_equal(again->tensor.data, t->tensor.data);
    assert_int_equal(again->tensor.device.type, type_here());
    assert_int_equal(again->tensor.device.number, number);
    expect_negated(cx, b, numbers, N);
    assert_int_equal(sn_counts(cx).copies, copies);
    struct DLManagedTensor *host = sn_to_dlpack_unversioned(b); /* and seen from the host */
    assert_int_equal(host->tensor.device.type, DL_CPU);
    assert_memory_equal(host->tensor.data, numbers, sizeof(numbers));
    again->deleter(again);
    sn_free(b);
    host->deleter(host); /* the last of all */
}

static int deleted;

static void count_deleted(struct DLManagedTensor *self)
{
    deleted++;
    free(self);
}

/* Another library's tensor with the elements of one of ours, from some element on. */
static struct DLManagedTensor *foreign_tensor(const struct DLManagedTensorVersioned *of, int64_t from, int64_t n)
{
    struct DLManagedTensor *t = calloc(1, sizeof(*t) + sizeof(int64_t));
    assert_non_null(t);
    t->tensor = of->tensor;
    t->tensor.extent = (int64_t *)(void *)(t + 1);
    t->tensor.extent[0] = n;
    t->tensor.stride = NULL;
    t->tensor.offset = (uint64_t)from * sizeof(float);
    t->deleter = count_deleted;
    return t;
}

static void offsets(void **state)
{
    (void)state;
    struct DLManagedTensorVersioned *t = tensor_of_numbers(cx);
    const uint64_t copies = sn_counts(cx).copies;
    deleted = 0;
    sn_array *a = sn_from_dlpack_unversioned(cx, foreign_tensor(t, 7, 1000));
    if (!a)
        fail_msg("%s", sn_message(cx));
    bool copied = type_here() == DL_OPENCL; /* where blocks are no addresses */
    assert_int_equal(sn_counts(cx).copies, copies + copied);
    assert_int_equal(deleted, copied);
    expect_negated(cx, a, numbers + 7, 1000);
    sn_free(a);
    assert_int_equal(deleted, 1);
    a = sn_from_dlpack_unversioned(cx, foreign_tensor(t, 0, 0));
    assert_int_equal(sn_bytes(a), 0);
    sn_free(a);
    assert_int_equal(deleted, 2);
    t->deleter(t);
}

/* A borrowed array that is given away goes with the call. */
static void is_given_away(void **state)
{
    (void)state;
    struct DLManagedTensorVersioned *t = tensor_of_numbers(cx);
    float out[N];
    deleted = 0;
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", negated);
    sn_array *a = sn_from_dlpack_unversioned(cx, foreign_tensor(t, 0, N));
    assert_int_equal(sn_call(p, sn_give(a), sn_into(out, N)), SN_OK);
    assert_int_equal(deleted, 1);
    assert_true(out[5] == -5);
    sn_drop(p);
    t->deleter(t);
}

static void outlives_its_context(void **state)
{
    (void)state;
    sn_context *other = opened(NULL);
    assert_non_null(other);
    struct DLManagedTensorVersioned *t = tensor_of_numbers(other);
    sn_close(other);
    if (type_here() != DL_OPENCL) { /* one memory for all contexts */
        sn_array *a = sn_from_dlpack(cx, t);
        if (!a)
            fail_msg("%s", sn_message(cx));
        expect_negated(cx, a, numbers, N);
        sn_free(a);
        return;
    }
    assert_null(sn_from_dlpack(cx, t));
    assert_non_null(strstr(sn_message(cx), "another OpenCL context"));
    t->deleter(t);
}

static void refused(sn_context *by, struct DLManagedTensor *t, const char *says)
{
    if (sn_from_dlpack_unversioned(by, t))
        fail_msg("taken, though it should be said: %s", says);
    if (!strstr(sn_message(by), says))
        fail_msg("\"%s\" does not say \"%s\"", sn_message(by), says);
}

static void refusals(void **state)
{
    (void)state;
    if (type_here() == DL_CPU)
        skip();
    struct DLManagedTensorVersioned *of = tensor_of_numbers(cx);
    struct DLManagedTensor *t = foreign_tensor(of, 0, 1000);
    sn_context *host = opened("interpreter");
    deleted = 0;
    refused(host, t, "not in main memory, nor on the context's device");
    sn_close(host);
    t->tensor.device.type = 8; /* Metal */
    refused(cx, t, "not in main memory, nor on the context's device");
    t->tensor.device.type = type_here();
    int64_t stride = 2;
    t->tensor.stride = &stride;
    refused(cx, t, "not one behind the other");
    t->tensor.stride = NULL;
    t->tensor.offset = UINT64_MAX - 8;
    refused(cx, t, type_here() == DL_CUDA ? "no memory of a CUDA device" : "beyond all memory");
    t->tensor.offset = 0;
    if (type_here() == DL_CUDA) {
        t->tensor.data = numbers;
        refused(cx, t, "no memory of a CUDA device");
    } else {
        t->tensor.extent[0] = 1000 * N;
        refused(cx, t, "smaller than the tensor");
    }
    assert_int_equal(deleted, 0); /* still the caller's */
    free(t);
    of->deleter(of);
}

/* Memory of one device is not given to another. */
static void another_device(void **state)
{
    (void)state;
    if (type_here() != DL_CUDA)
        skip();
    setenv("SINTER_DEVICE", "cuda:1", 1);
    sn_context *second = opened(NULL);
    setenv("SINTER_DEVICE", "cuda", 1);
    if (!second)
        skip();
    struct DLManagedTensorVersioned *of = tensor_of_numbers(second);
    assert_int_equal(of->tensor.device.number, 1);
    struct DLManagedTensor *t = foreign_tensor(of, 0, N);
    refused(cx, t, "memory of another CUDA device");
    free(t);
    of->deleter(of);
    sn_close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_out_and_comes_in), cmocka_unit_test(offsets),  cmocka_unit_test(is_given_away),
        cmocka_unit_test(outlives_its_context),  cmocka_unit_test(refusals), cmocka_unit_test(another_device),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
