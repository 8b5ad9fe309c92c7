/* Arrays larger than memory can be: wherever a size is worked out, up to the largest numbers there are, it is refused
 * with a status that says so and the place, and nothing is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/dlpack_abi.h"
#include "base/size.h"
#include "sinter/dlpack.h"
#include "sinter/sinter.h"
#include "support/place.h"

enum { WAYS = 3 };
static sn_context *contexts[WAYS]; /* fused, unfused, interpreted */

/* Bytes: more than processors can address, around the sizes of the largest blocks, and the largest there are. */
static const uint64_t sizes[] = {
    UINT64_C(1) << 48,        UINT64_C(15) << 56,       (UINT64_C(15) << 57) - 8, UINT64_C(15) << 57,
    (UINT64_C(15) << 57) + 8, (UINT64_C(1) << 61) - 8,  UINT64_C(1) << 61,        (UINT64_C(1) << 61) + 8,
    UINT64_C(15) << 58,       (UINT64_C(15) << 58) + 8, (UINT64_C(1) << 62) - 8,  UINT64_C(1) << 62,
    (UINT64_C(1) << 62) + 8,  (UINT64_C(1) << 63) - 8,  UINT64_C(1) << 63,        UINT64_C(15) << 60};

static int open_all(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        sn_options options = {.size = sizeof(options), .fusion = way == 1 ? SN_OFF : SN_ON};
        options.device = way == 2 ? "interpreter" : NULL;
        contexts[way] = sn_open(&options);
        if (!contexts[way])
            return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        sn_close(contexts[way]);
    return 0;
}

/* A call is refused, with a place; what was wrong is said once. */
static void refused(sn_context *cx, uint64_t bytes, sn_status status)
{
    const char *message = sn_message(cx);
    if (status != SN_NO_MEMORY && status != SN_TOO_LARGE)
        fail_msg("%llu bytes: %s (%s)", (unsigned long long)bytes, sn_status_name(status), message);
    if (bytes >> 63 && status != SN_TOO_LARGE)
        fail_msg("%llu bytes: no memory, as if memory could be so large", (unsigned long long)bytes);
    if (!message_is_placed(message, "test_sizes.c"))
        fail_msg("%llu bytes: not one place in \"%s\"", (unsigned long long)bytes, message);
}

/* What makes an array gives NULL, and the message names the function. */
static void nothing(sn_context *cx, const char *who, sn_array *a)
{
    const char *named = strstr(sn_message(cx), who); /* in front, or behind a place */
    if (a || !named || (named != sn_message(cx) && !message_is_placed(sn_message(cx), "test_sizes.c")))
        fail_msg("%s: %s, \"%s\"", who, a ? "an array" : "NULL", sn_message(cx));
}

/* --- operations --- */

typedef struct constants {
    sn_type type;
    int64_t n;
} constants;

static sn_acc fill_constant(void *env, int count, const sn_acc *a)
{
    const constants *c = env;
    (void)count, (void)a;
    return sn_fill(sn_i64(c->n), sn_to(c->type, 1));
}

static sn_acc forced_fill(void *env, int count, const sn_acc *a)
{
    return sn_fold(sn_max, sn_to(((constants *)env)->type, 0), sn_force(fill_constant(env, count, a)));
}

static void constant_extents(void **state)
{
    static const struct {
        sn_type type;
        const char *name;
        uint64_t bytes;
    } types[] = {{SN_U8, "u8", 1}, {SN_I16, "i16", 2}, {SN_F32, "f32", 4}, {SN_I64, "i64", 8}};
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
            for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
                constants c = {types[t].type, (int64_t)(sizes[i] / types[t].bytes)};
                char signature[2][32];
                sn_array *r = NULL;
                double value;
                if (c.n < 0)
                    continue;
                snprintf(signature[0], sizeof(signature[0]), "-> [k]%s", types[t].name);
                snprintf(signature[1], sizeof(signature[1]), "-> %s", types[t].name);
                for (int forced = 0; forced < 2; forced++) {
                    sn_program *p =
                        sn_compile_env(contexts[way], signature[forced], forced ? forced_fill : fill_constant, &c);
                    assert_non_null(p);
                    sn_arg to = {.kind = SN_ARG_VALUE, .type = types[t].type, .u = {.to = &value}};
                    refused(contexts[way], sizes[i], sn_call(p, forced ? to : sn_keep(&r)));
                    assert_null(r);
                    sn_drop(p);
                }
            }
}

static sn_acc replicated(sn_acc n, sn_acc x)
{
    return sn_replicate(x, sn_extent(n, 0), SN_ALL);
}

static sn_acc squared(sn_acc n, sn_acc x)
{
    (void)x;
    return sn_fill(sn_shape(sn_extent(n, 0), sn_extent(n, 0)), sn_f32(1));
}

/* Of the first argument only the extent is used, so nobody finds out that it is not there. */
static void extents_of_arguments(void **state)
{
    const uint8_t little = 0;
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        const float x[2] = {1, 2};
        sn_array *r = NULL;
        sn_program *p = sn_compile(contexts[way], "[k]u8, [n]f32 -> [k,n]f32", replicated);
        sn_program *q = sn_compile(contexts[way], "[k]u8, [n]f32 -> [k,k]f32", squared);
        assert_true(p && q);
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
            int64_t n = (int64_t)(sizes[i] / sizeof(x));
            refused(contexts[way], sizes[i], sn_call(p, sn_in(&little, n), sn_in(x, 2), sn_keep(&r)));
            assert_null(r);
        }
        for (int bits = 23; bits <= 62; bits++) {
            int64_t n = INT64_C(1) << bits;
            refused(contexts[way], 0, sn_call(q, sn_in(&little, n), sn_in(x, 2), sn_keep(&r)));
            assert_null(r);
        }
        assert_int_equal(sn_call(p, sn_in(&little, 1), sn_in(x, 2), sn_keep(&r)), SN_OK);
        sn_free(r);
        sn_drop(p);
        sn_drop(q);
    }
}

/* --- what calls and uploads are given --- */

static sn_acc same(sn_acc x)
{
    return x;
}

static sn_acc total(sn_acc x)
{
    return sn_sum(x);
}

/* One element, again and again: nothing says that the memory is not there. */
static void strided(void **state)
{
    const float x = 1;
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        sn_program *p = sn_compile(contexts[way], "[n,m]f32 -> [n]f32", total);
        assert_non_null(p);
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
            const int64_t extent[2] = {2, (int64_t)(sizes[i] / 2 / sizeof(x))}, stride[2] = {0, 0};
            sn_array *kept = NULL;
            refused(contexts[way], sizes[i], sn_call(p, sn_strided(&x, 2, extent, stride), sn_keep(&kept)));
            assert_null(kept);
            nothing(contexts[way], "sn_upload: ", sn_upload(contexts[way], sn_strided(&x, 2, extent, stride)));
        }
        sn_drop(p);
    }
}

typedef struct pair {
    float x;
    int32_t y;
} pair;

static void structs(void **state)
{
    static pair one;
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        sn_program *p = sn_compile(contexts[way], "[n]{x: f32, y: i32} -> [n]{x: f32, y: i32}", same);
        assert_non_null(p);
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
            sn_array *x = NULL, *y = NULL;
            int64_t n = (int64_t)(sizes[i] / sizeof(pair));
            float few[1] = {0};
            int32_t fewer[1] = {0};
            refused(contexts[way], sizes[i], sn_call(p, sn_structs(&one, n), sn_keep(&x), sn_keep(&y)));
            /* Of two mistakes either may be found: the result has another extent, and one that is too large. */
            sn_status status = sn_call(p, sn_in(few, 1), sn_in(fewer, 1), sn_structs(&one, n));
            if (status != SN_BAD_EXTENT)
                refused(contexts[way], sizes[i], status);
            else if (!strstr(sn_message(contexts[way]), "of result 1 has the extent 1, but there is memory for"))
                fail_msg("%s", sn_message(contexts[way]));
        }
        sn_drop(p);
    }
}

static void tensors(void **state)
{
    float one = 1;
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
            int64_t extent[2] = {(int64_t)(sizes[i] / 8), 2}, stride[2] = {0, 0};
            struct DLManagedTensor t = {
                .tensor = {.data = &one, .device = {.type = DL_CPU}, .rank = 2, .extent = extent, .stride = stride}};
            t.tensor.element.code = DL_FLOAT;
            t.tensor.element.bits = 32;
            t.tensor.element.lanes = 1;
            nothing(contexts[way], "sn_from_dlpack_unversioned: ", sn_from_dlpack_unversioned(contexts[way], &t));
        }
}

/* Behind a pipe there may be any number of elements. */
static void files(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
            char file[256] = "\x93NUMPY\x01", name[64];
            int end[2];
            int length =
                snprintf(file + 10, sizeof(file) - 10, "{'descr': '<f8', 'fortran_order': %s, 'shape': (1, %llu), }",
                         i % 2 ? "True" : "False", (unsigned long long)(sizes[i] / 8));
            file[8] = (char)length;
            assert_int_equal(pipe(end), 0);
            assert_int_equal(write(end[1], file, (size_t)length + 10), length + 10);
            close(end[1]);
            snprintf(name, sizeof(name), "/dev/fd/%d", end[0]);
            nothing(contexts[way], name, sn_load_npy(contexts[way], name));
            close(end[0]);
        }
}

static sn_acc use_it(void *env, int count, const sn_acc *a)
{
    static const float one = 1;
    (void)count, (void)a;
    return sn_use(&one, *(const int64_t *)env);
}

static void data_of_programs(void **state)
{
    (void)state;
    int64_t n = INT64_MAX / 2;
    assert_null(sn_compile_env(contexts[0], "-> [k]f32", use_it, &n));
    assert_non_null(strstr(sn_message(contexts[0]), "use: the data are larger than memory can be"));
}

/* --- explaining what has not been called --- */

static sn_scalar indices_of(void *env, sn_scalar i, sn_scalar x)
{
    const int rank = *(const int *)env;
    return sn_add(x, sn_to_f32(rank == 1 ? i : sn_add(SN_GET(i, 0), SN_GET(i, rank - 1))));
}

static sn_acc indices(void *rank, int count, const sn_acc *x)
{
    (void)count;
    return sn_imap(sn_closure(indices_of, rank), *x);
}

static sn_acc sums(sn_acc x)
{
    return sn_sum(x);
}

static sn_acc large_constants(sn_acc x)
{
    return sn_results(sn_sum(sn_fill(sn_shape(sn_i64(INT64_C(1) << 40), sn_extent(x, 0)), 1)),
                      sn_fill(sn_i64(INT64_MAX), 1));
}

/* Extents are assumed, whose product fits. */
static void assumed_extents(void **state)
{
    static const char *const ranks[] = {"n",         "n,m",         "n,m,a",         "n,m,a,b",
                                        "n,m,a,b,c", "n,m,a,b,c,d", "n,m,a,b,c,d,e", "n,m,a,b,c,d,e,f"};
    (void)state;
    for (int way = 0; way < 2; way++) {
        for (int rank = 1; rank <= 8; rank++) {
            char maps[64], folds[64];
            snprintf(maps, sizeof(maps), "[%s]f32 -> [%s]f32", ranks[rank - 1], ranks[rank - 1]);
            snprintf(folds, sizeof(folds), "[%s]f32 -> [%.*s]f32", ranks[rank - 1], rank > 1 ? 2 * rank - 3 : 0,
                     ranks[rank - 1]);
            sn_program *p = sn_compile_env(contexts[way], maps, indices, &rank);
            sn_program *q = sn_compile(contexts[way], rank > 1 ? folds : "[n]f32 -> f32", sums);
            assert_true(p && q);
            const char *map = sn_explain(p, "kernels"), *fold = sn_explain(q, "kernels");
            assert_true(map && strstr(map, rank > 1 ? "kernel map_rows_imap" : "kernel map_imap"));
            assert_true(fold && strstr(fold, "kernel fold") && !strstr(fold, "apart"));
            sn_drop(p);
            sn_drop(q);
        }
        sn_program *p = sn_compile(contexts[way], "[n]f32 -> [k]i32, [l]i32", large_constants);
        assert_non_null(p);
        assert_non_null(sn_explain(p, "kernels"));
        sn_drop(p);
    }
}

/* --- the helpers --- */

static void arithmetic(void **state)
{
    size_t bytes;
    int64_t count, stride[3];
    (void)state;
    assert_true(size_times((size_t)1 << 31, (size_t)1 << 31, &bytes) && bytes == (size_t)1 << 62);
    assert_false(size_times((size_t)1 << 31, (size_t)1 << 32, &bytes));
    assert_false(size_times((size_t)1 << 32, (size_t)1 << 32, &bytes));
    assert_true(size_plus(INT64_MAX, 0, &bytes));
    assert_false(size_plus(INT64_MAX, 1, &bytes));
    assert_false(size_plus(SIZE_MAX, 2, &bytes));
    assert_true(size_of_array(4, 2, (const int64_t[]){3, 5}, &bytes) && bytes == 60);
    assert_true(size_of_array(4, 0, NULL, &bytes) && bytes == 4);
    assert_true(size_of_array(8, 3, (const int64_t[]){INT64_MAX, INT64_MAX, 0}, &bytes) && bytes == 0);
    assert_true(size_of_array(8, 3, (const int64_t[]){0, INT64_MAX, INT64_MAX}, &bytes) && bytes == 0);
    assert_false(size_of_array(8, 1, (const int64_t[]){INT64_MAX / 8 + 1}, &bytes));
    assert_false(size_of_array(8, 2, (const int64_t[]){0, -1}, &bytes));
    assert_true(size_count(2, (const int64_t[]){1, INT64_MAX}, &count) && count == INT64_MAX);
    assert_false(size_count(2, (const int64_t[]){2, INT64_MAX}, &count));
    size_strides(4, 3, (const int64_t[]){2, 3, 5}, stride);
    assert_true(stride[0] == 60 && stride[1] == 20 && stride[2] == 4);
    size_strides(8, 3, (const int64_t[]){0, INT64_MAX, INT64_MAX}, stride);
    assert_true(stride[0] == 0 && stride[1] == 0 && stride[2] == 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic), cmocka_unit_test(constant_extents), cmocka_unit_test(extents_of_arguments),
        cmocka_unit_test(strided),    cmocka_unit_test(structs),          cmocka_unit_test(tensors),
        cmocka_unit_test(files),      cmocka_unit_test(data_of_programs), cmocka_unit_test(assumed_extents),
    };
    return cmocka_run_group_tests_name("sizes", tests, open_all, close_all);
}
