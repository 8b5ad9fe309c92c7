/* Functions of arrays that put work of their own into a device's queue: a kernel written by hand, between kernels that
 * Sinter makes; and what is said when they fail, or compute another shape than they should. */
#include "both.h"
#include "device/cuda_device.h"
#include "device/nvrtc.h"
#include "device/opencl_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 37, COLUMNS = 11, GROUP = 32 };

static const char opencl_source[] =
    "kernel void plus(global const float *x, ulong at, global const float *y, global float *z, int n)\n"
    "{\n    int i = (int)get_global_id(0);\n    if (i < n) z[i] = 2.0f * x[at / 4 + i] + y[i];\n}\n";
static const char cuda_source[] =
    "extern \"C\" __global__ void plus(const float *x, const float *y, float *z, int n)\n"
    "{\n    int i = (int)(blockIdx.x * SN_LOCAL + threadIdx.x);\n    if (i < n) z[i] = 2.0f * x[i] + y[i];\n}\n";

static struct {
    int calls;
    sn_status gives;              /* SN_OK: it computes */
    int64_t rows_said, rank_said; /* of the result; -1: as they are */
    arena memory;
    /* made once */
    opencl_api opencl;
    ocl_kernel kernel;
    ocl_program program;
    cuda_api cuda;
    cu_module module;
    cu_function function;
} own;

static void begin(void)
{
    own.calls = 0;
    own.gives = SN_OK;
    own.rows_said = own.rank_said = -1;
}

static sn_status fails(sn_foreign_call *call, const char *what)
{
    snprintf(call->message, sizeof call->message, "%s", what);
    return SN_INTERNAL;
}

/* What both have in common; SN_OK: there is work to do. */
static sn_status look(sn_foreign_call *call, int *n)
{
    own.calls++;
    if (own.gives != SN_OK) {
        snprintf(call->message, sizeof call->message, "not this one");
        return own.gives;
    }
    const sn_foreign_array *z = &call->output[0];
    if (call->inputs != 2 || call->outputs != 1 || z->rank != 2 || !call->queue || !call->context)
        return fails(call, "something is missing");
    for (int k = 0; k < 2; k++)
        if (call->input[k].extent[0] != z->extent[0] || call->input[k].extent[1] != z->extent[1])
            return fails(call, "extents differ");
    *n = (int)(z->extent[0] * z->extent[1]);
    if (own.rows_said >= 0)
        call->output[0].extent[0] = own.rows_said;
    if (own.rank_said >= 0)
        call->output[0].rank = (int)own.rank_said;
    return SN_OK;
}

static bool opencl_ready(const sn_foreign_call *call)
{
    const char *source = opencl_source, *why = NULL;
    ocl_device d = (ocl_device)call->device;
    int32_t status = 0;
    if (own.kernel)
        return true;
    if (!opencl_api_open(&own.opencl, &own.memory, &why))
        return false;
    own.program = own.opencl.clCreateProgramWithSource((ocl_context)call->context, 1, &source, NULL, &status);
    if (!own.program || own.opencl.clBuildProgram(own.program, 1, &d, "", NULL, NULL) != OCL_SUCCESS)
        return false;
    own.kernel = own.opencl.clCreateKernel(own.program, "plus", &status);
    return own.kernel != NULL;
}

static sn_status on_opencl(void *env, sn_foreign_call *call)
{
    int n = 0;
    (void)env;
    sn_status status = look(call, &n);
    if (status != SN_OK || n == 0)
        return status;
    if (!opencl_ready(call))
        return fails(call, "the kernel does not build");
    const sn_foreign_array *x = &call->input[0], *y = &call->input[1], *z = &call->output[0];
    const opencl_api *cl = &own.opencl;
    const uint64_t at = x->offset;
    const size_t items = (size_t)n;
    if (y->offset || z->offset || cl->clSetKernelArg(own.kernel, 0, sizeof(ocl_mem), &x->data) ||
        cl->clSetKernelArg(own.kernel, 1, sizeof at, &at) ||
        cl->clSetKernelArg(own.kernel, 2, sizeof(ocl_mem), &y->data) ||
        cl->clSetKernelArg(own.kernel, 3, sizeof(ocl_mem), &z->data) ||
        cl->clSetKernelArg(own.kernel, 4, sizeof n, &n) ||
        cl->clEnqueueNDRangeKernel((ocl_queue)call->queue, own.kernel, 1, NULL, &items, NULL, 0, NULL, NULL))
        return fails(call, "the kernel is not taken");
    return SN_OK;
}

static bool cuda_ready(const sn_foreign_call *call, const char **why)
{
    nvrtc_code code;
    if (own.function)
        return true;
    if (!cuda_api_open(&own.cuda, &own.memory, why))
        return false;
    const cu_device d = (cu_device)(intptr_t)call->device;
    const unsigned arch = (unsigned)(10 * cuda_number(&own.cuda, d, CU_CAPABILITY_MAJOR) +
                                     cuda_number(&own.cuda, d, CU_CAPABILITY_MINOR));
    const nvrtc *n = nvrtc_open(0, &own.memory, why);
    return n &&
           nvrtc_compile(n, cuda_source, &(nvrtc_options){.arch = nvrtc_nearest(n, arch), .local = GROUP}, &own.memory,
                         &code, why) &&
           own.cuda.module_load(&own.module, code.bytes, 0, NULL, NULL) == CU_SUCCESS &&
           own.cuda.module_function(&own.function, own.module, "plus") == CU_SUCCESS;
}

static sn_status on_cuda(void *env, sn_foreign_call *call)
{
    int n = 0;
    (void)env;
    sn_status status = look(call, &n);
    if (status != SN_OK || n == 0)
        return status;
    const char *why = NULL;
    if (!cuda_ready(call, &why))
        return fails(call, why ? why : "the kernel does not load");
    cu_pointer x = (cu_pointer)(uintptr_t)call->input[0].data, y = (cu_pointer)(uintptr_t)call->input[1].data,
               z = (cu_pointer)(uintptr_t)call->output[0].data;
    void *argument[] = {&x, &y, &z, &n};
    if (own.cuda.launch(own.function, (unsigned)(n + GROUP - 1) / GROUP, 1, 1, GROUP, 1, 1, 0, (cu_stream)call->queue,
                        argument, NULL) != CU_SUCCESS)
        return fails(call, "the kernel is not taken");
    return SN_OK;
}

static sn_scalar twice_plus(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(2, x), y);
}

static sn_acc plain(sn_acc x, sn_acc y)
{
    return sn_zip_with(twice_plus, x, y);
}

static const sn_foreign_code plus = {.size = sizeof(plus), .name = "plus", .opencl = on_opencl, .cuda = on_cuda};

/* What it is given is computed by a kernel, and another one reads what it gives. */
static sn_acc in_the_middle(sn_acc x, sn_acc y)
{
    sn_acc z = sn_foreign(&plus, plain, sn_map(sn_neg, x), sn_transpose(y));
    return sn_results(sn_sum(z), z);
}

static sn_acc again(sn_acc z)
{
    return sn_foreign(&plus, plain, z, z);
}

/* In a loop of arrays: the state is memory of the loop's. */
static sn_acc in_a_loop(sn_acc x, sn_acc y)
{
    return sn_aiterate(3, again, sn_zip_with(sn_add, x, sn_transpose(y)));
}

#define SIGNATURE "[n,m]f32, [m,n]f32 -> [n]f32, [n,m]f32"

static float x[ROWS * COLUMNS], y[ROWS * COLUMNS];

static const char *device_here(void)
{
    const char *name = getenv("SINTER_DEVICE");
    return name && both_cpu() && (!strncmp(name, "opencl", 6) || !strncmp(name, "cuda", 4)) ? name : NULL;
}

static sn_status call_it(sn_program *p, float *sums, float *z)
{
    return sn_call(p, sn_in(x, ROWS, COLUMNS), sn_in(y, COLUMNS, ROWS), sn_into(sums, ROWS), sn_into(z, ROWS, COLUMNS));
}

static void same_with_and_without(void **state)
{
    float sums[2][ROWS], z[2][ROWS * COLUMNS], w[2][ROWS * COLUMNS];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    (void)state;
    if (!device_here())
        skip();
    begin();
    for (int i = 0; i < 2; i++) {
        sn_program *p = sn_compile(contexts[i], SIGNATURE, in_the_middle),
                   *q = sn_compile(contexts[i], "[n,m]f32, [m,n]f32 -> [n,m]f32", in_a_loop);
        assert_true(p && q);
        for (int round = 0; round < 2; round++)
            if (call_it(p, sums[i], z[i]) != SN_OK)
                fail_msg("%s", sn_message(contexts[i]));
        assert_int_equal(own.calls, 2 + 3 * i);
        assert_int_equal(sn_call(q, sn_in(x, ROWS, COLUMNS), sn_in(y, COLUMNS, ROWS), sn_into(w[i], ROWS, COLUMNS)),
                         SN_OK);
        assert_int_equal(own.calls, 5);
        assert_int_equal(
            sn_call(p, sn_in(x, 0, COLUMNS), sn_in(y, COLUMNS, 0), sn_into(sums[i], 0), sn_into(z[i], 0, COLUMNS)),
            SN_OK);
        own.calls = 5;
        sn_drop(p);
        sn_drop(q);
    }
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]); /* small whole numbers */
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(w[0], w[1], sizeof w[0]);
}

static void says(const char *what)
{
    if (!strstr(sn_message(both_cpu()), what) || !strstr(sn_message(both_cpu()), "test_foreign_device.c:"))
        fail_msg("not \"%s\": %s", what, sn_message(both_cpu()));
}

static void what_goes_wrong(void **state)
{
    float sums[2][ROWS], z[2][ROWS * COLUMNS];
    (void)state;
    if (!device_here())
        skip();
    sn_program *p = sn_compile(both_cpu(), SIGNATURE, in_the_middle);
    assert_non_null(p);
    begin();
    assert_int_equal(call_it(p, sums[0], z[0]), SN_OK);
    own.gives = SN_UNSUPPORTED; /* the fallback */
    assert_int_equal(call_it(p, sums[1], z[1]), SN_OK);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    own.gives = SN_OUT_OF_RANGE;
    assert_int_equal(call_it(p, sums[1], z[1]), SN_OUT_OF_RANGE);
    says("plus: not this one");
    own.gives = SN_BAD_ARGUMENT;
    assert_int_equal(call_it(p, sums[1], z[1]), SN_FOREIGN_FAILED);
    begin();
    own.rows_said = ROWS + 1;
    assert_int_equal(call_it(p, sums[1], z[1]), SN_FOREIGN_FAILED);
    says("plus: it says that dimension 0 of its result has 38 elements; the fallback's has 37");
    begin();
    own.rank_said = 1;
    assert_int_equal(call_it(p, sums[1], z[1]), SN_FOREIGN_FAILED);
    says("plus: it says that its result is of rank 1, of type f32; the fallback's is of rank 2, f32");
    begin();
    assert_int_equal(call_it(p, sums[1], z[1]), SN_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    sn_drop(p);
}

/* A gather that may fail comes before. */
static sn_acc after_a_check(sn_acc a, sn_acc indices)
{
    sn_acc g = sn_gather(indices, a);
    return sn_foreign(&plus, plain, sn_reshape(sn_shape(1, sn_extent(g, 0)), g),
                      sn_reshape(sn_shape(1, sn_extent(g, 0)), g));
}

static void not_behind_what_failed(void **state)
{
    float z[3];
    const int64_t wrong[3] = {0, 400, 2}, right[3] = {0, 3, 2};
    (void)state;
    if (!device_here())
        skip();
    begin();
    sn_program *p = sn_compile(both_cpu(), "[n]f32, [k]i64 -> [1,k]f32", after_a_check);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    assert_int_equal(sn_call(p, sn_in(x, 10), sn_in(wrong, 3), sn_into(z, 1, 3)), SN_OUT_OF_RANGE);
    assert_int_equal(own.calls, 0);
    assert_int_equal(sn_call(p, sn_in(x, 10), sn_in(right, 3), sn_into(z, 1, 3)), SN_OK);
    assert_int_equal(own.calls, 1);
    for (int i = 0; i < 3; i++)
        assert_true(z[i] == 3 * x[right[i]]);
    sn_drop(p);
}

static int open_all(void **state)
{
    arena_init(&own.memory, NULL);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = (float)(i % 13 - 6);
        y[i] = (float)(i % 7);
    }
    return both_open(state);
}

static int close_all(void **state)
{
    if (own.kernel)
        own.opencl.clReleaseKernel(own.kernel);
    if (own.program)
        own.opencl.clReleaseProgram(own.program);
    own.kernel = NULL;
    own.program = NULL;
    arena_free(&own.memory);
    return both_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_with_and_without),
        cmocka_unit_test(what_goes_wrong),
        cmocka_unit_test(not_behind_what_failed),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
