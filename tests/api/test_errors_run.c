/* What calls say when arguments or data are wrong: the status, and a message with the operation, its place and the
 * numbers; afterwards everything still works. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

static sn_scalar element_of(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_mul(i, 3));
}

enum { INDEX_LINE = 11, QUOT_LINE = 23 }; /* of the operations above and below */

static sn_acc indexing(sn_acc a)
{
    return sn_generate(sn_extent(a, 0), sn_closure(element_of, &a));
}

static sn_scalar quotient(sn_scalar x, sn_scalar y)
{
    return sn_quot(x, y);
}

static sn_acc quotients(sn_acc a, sn_acc b)
{
    return sn_zip_with(quotient, a, b);
}

static sn_acc gather(sn_acc index, sn_acc a)
{
    return sn_gather(index, a);
}

static sn_acc sum_of_zip(sn_acc a, sn_acc b)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, a, b));
}

static sn_acc largest(sn_acc a)
{
    return sn_maximum(a);
}

static sn_acc first_row(sn_acc a)
{
    return sn_slice(a, 0, SN_ALL);
}

static sn_acc as_matrix(sn_acc a)
{
    return sn_reshape(sn_shape(3, 4), a);
}

static sn_acc copy(sn_acc a)
{
    return a;
}

enum { DIFFERENCES_LINE = __LINE__ + 4 };

static sn_acc fold_differences(sn_acc a)
{
    return sn_fold(sn_sub, 0, a);
}

static sn_acc meant_differences(sn_acc a)
{
    return sn_fold(sn_associative(sn_sub), 0, a);
}

static void contains(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, message);
}

static sn_program *compiled(const char *signature, sn_body body)
{
    if (!both_cpu())
        skip();
    sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, both_cpu(), signature, body);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    return p;
}

static char *place(int line)
{
    static char said[64];
    snprintf(said, sizeof(said), "test_errors_run.c:%d: ", line);
    return said;
}

/* --- data --- */

static void an_index_is_outside(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32 -> [n]f32", SN_BODY(indexing));
    float a[10] = {0}, r[10];
    assert_int_equal(sn_call(p, sn_in(a, 10), sn_into(r, 10)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), place(INDEX_LINE));
    contains(sn_message(both_cpu()), "index: index 12 is outside the extent 10");
    contains(sn_message(both_cpu()), "element 4");
    assert_int_equal(sn_call(p, sn_in(a, 1), sn_into(r, 1)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(a, 0), sn_into(r, 0)), SN_OK);
    sn_drop(p);
}

static sn_scalar diagonal(void *env, sn_scalar i)
{
    return sn_index(*(const sn_acc *)env, sn_mul(i, 2), sn_sub(5, i));
}

static sn_acc along_the_diagonal(sn_acc a)
{
    return sn_generate(sn_extent(a, 1), sn_closure(diagonal, &a));
}

/* Failing in dimension 1 at element 0 and in dimension 0 at element 2: the smaller dimension goes first. */
static void an_index_is_outside_in_some_dimension(void **state)
{
    (void)state;
    sn_program *p = compiled("[n,m]f32 -> [m]f32", SN_BODY(along_the_diagonal));
    float a[60] = {0}, r[10];
    assert_int_equal(sn_call(p, sn_in(a, 3, 5), sn_into(r, 5)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index: index 4 in dimension 0 is outside the extent 3, at element 2");
    assert_int_equal(sn_call(p, sn_in(a, 12, 5), sn_into(r, 5)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index: index 5 in dimension 1 is outside the extent 5, at element 0");
    assert_int_equal(sn_call(p, sn_in(a, 10, 6), sn_into(r, 6)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index: index 10 in dimension 0 is outside the extent 10, at element 5");
    assert_int_equal(sn_call(p, sn_in(a, 6, 3), sn_into(r, 3)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index: index 5 in dimension 1 is outside the extent 3, at element 0");
    sn_drop(p);
}

/* The smallest element that fails is reported, whatever the threads do first. */
static void the_first_of_many_is_reported(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32 -> [n]f32", SN_BODY(indexing));
    int64_t n = 3000000;
    float *a = calloc((size_t)n, sizeof(float)), *r = calloc((size_t)n, sizeof(float));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sn_call(p, sn_in(a, n), sn_into(r, n)), SN_OUT_OF_RANGE);
        contains(sn_message(both_cpu()), "index 3000000 is outside the extent 3000000, at element 1000000");
    }
    free(a);
    free(r);
    sn_drop(p);
}

static void an_index_of_nothing(void **state)
{
    (void)state;
    sn_program *p = compiled("[m]i64, [n]f32 -> [m]f32", SN_BODY(gather));
    int64_t index[3] = {0, 0, -1};
    float a[2] = {1, 2}, r[3];
    assert_int_equal(sn_call(p, sn_in(index, 3), sn_in(a, 0), sn_into(r, 3)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "gather: index 0 is outside the extent 0, at element 0");
    assert_int_equal(sn_call(p, sn_in(index, 3), sn_in(a, 2), sn_into(r, 3)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index -1 is outside the extent 2, at element 2");
    assert_int_equal(sn_call(p, sn_in(index, 2), sn_in(a, 2), sn_into(r, 2)), SN_OK);
    sn_drop(p);
}

static void a_division_by_zero(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i32, [n]i32 -> [n]i32", SN_BODY(quotients));
    int32_t a[3] = {7, INT32_MIN, 5}, b[3] = {2, 1, 0}, r[3];
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(b, 3), sn_into(r, 3)), SN_DIVISION);
    contains(sn_message(both_cpu()), place(QUOT_LINE));
    contains(sn_message(both_cpu()), "quot: division by zero, at element 2");
    b[1] = -1, b[2] = 1;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(b, 3), sn_into(r, 3)), SN_DIVISION);
    contains(sn_message(both_cpu()), "at element 1");
    b[1] = 1;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(b, 3), sn_into(r, 3)), SN_OK);
    assert_int_equal(r[0], 3);
    sn_drop(p);
}

static sn_acc as_row(sn_acc a, sn_acc k)
{
    return sn_reshape(sn_shape(quotient(sn_extent(a, 0), sn_the(k))), a);
}

/* A condition on extents that cannot be computed. */
static void an_extent_that_divides_by_zero(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i64, i64 -> [m]i64", SN_BODY(as_row));
    int64_t a[3] = {1, 2, 3}, r[3] = {0}, k = 0;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_value(&k), sn_into(r, 3)), SN_DIVISION);
    contains(sn_message(both_cpu()), place(QUOT_LINE));
    contains(sn_message(both_cpu()), "quot fails: division by zero");
    k = 2;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_value(&k), sn_into(r, 1)), SN_SHAPE_MISMATCH);
    contains(sn_message(both_cpu()), "the numbers of elements before and after differ: 3 and 1");
    k = 1;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_value(&k), sn_into(r, 3)), SN_OK);
    assert_int_equal(r[2], 3);
    sn_drop(p);
}

static void shapes_that_differ(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32, [m]f32 -> f32", SN_BODY(sum_of_zip));
    float a[4] = {1, 2, 3, 4}, r = 0;
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 3), sn_value(&r)), SN_SHAPE_MISMATCH);
    contains(sn_message(both_cpu()), "zip_with");
    contains(sn_message(both_cpu()), ": 4 and 3");
    contains(sn_message(both_cpu()), "test_errors_run.c:");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 4), sn_value(&r)), SN_OK);
    assert_true(r == 30);
    sn_drop(p);
    p = compiled("[n]i32 -> [3,4]i32", SN_BODY(as_matrix));
    int32_t x[12] = {0}, y[12];
    assert_int_equal(sn_call(p, sn_in(x, 11), sn_into(y, 3, 4)), SN_SHAPE_MISMATCH);
    contains(sn_message(both_cpu()), "reshape");
    assert_int_equal(sn_call(p, sn_in(x, 12), sn_into(y, 3, 4)), SN_OK);
    sn_drop(p);
}

static void folds_of_nothing(void **state)
{
    (void)state;
    sn_program *p = compiled("[n,m]f32 -> [n]f32", SN_BODY(largest));
    float a[6] = {1, 5, 2, 3, 4, 9}, r[3];
    assert_int_equal(sn_call(p, sn_in(a, 3, 0), sn_into(r, 3)), SN_EMPTY_FOLD);
    contains(sn_message(both_cpu()), "maximum");
    assert_int_equal(sn_call(p, sn_in(a, 0, 0), sn_into(r, 0)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(a, 2, 3), sn_into(r, 2)), SN_OK);
    assert_true(r[0] == 5 && r[1] == 9);
    sn_drop(p);
}

static void a_slice_outside(void **state)
{
    (void)state;
    sn_program *p = compiled("[n,m]f32 -> [m]f32", SN_BODY(first_row));
    float a[4] = {1, 2, 3, 4}, r[4];
    assert_int_equal(sn_call(p, sn_in(a, 0, 4), sn_into(r, 4)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "slice");
    assert_int_equal(sn_call(p, sn_in(a, 1, 4), sn_into(r, 4)), SN_OK);
    sn_drop(p);
}

/* --- arguments --- */

static void wrong_arguments(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32, [n]f32 -> f32", SN_BODY(sum_of_zip));
    float a[4] = {1, 2, 3, 4}, r = 0;
    double d[4] = {0};
    const char *(*said)(const sn_context *) = sn_message;
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_value(&r)), SN_BAD_ARGUMENT);
    contains(said(both_cpu()), "3 arguments (2 for parameters, 1 for results), not 2");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(d, 4), sn_value(&r)), SN_BAD_ARGUMENT);
    contains(said(both_cpu()), "argument 2 is of type f64, not f32");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 2, 2), sn_value(&r)), SN_BAD_ARGUMENT);
    contains(said(both_cpu()), "argument 2 has 2 extents, not 1");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_into(a, 4), sn_value(&r)), SN_BAD_ARGUMENT);
    contains(said(both_cpu()), "argument 2 stands for a parameter, but is sn_into(...)");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 4), sn_in(&r, 1)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, -4), sn_value(&r)), SN_BAD_EXTENT);
    contains(said(both_cpu()), "argument 2 has the extent -4");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 3), sn_value(&r)), SN_BAD_EXTENT);
    contains(said(both_cpu()), "extent n is 4 in argument 1, but 3 in dimension 0 of argument 2");
    assert_int_equal(sn_call(p, sn_in((float *)NULL, 4), sn_in(a, 4), sn_value(&r)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_in((float *)NULL, 0), sn_in((float *)NULL, 0), sn_value(&r)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(a, INT64_MAX), sn_in(a, 4), sn_value(&r)), SN_TOO_LARGE);
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 4), sn_value(&a[1])), SN_BAD_ARGUMENT);
    contains(said(both_cpu()), "overlaps");
    assert_int_equal(sn_call_n(NULL, 0, NULL), SN_NO_PROGRAM);
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_in(a, 4), sn_value(&r)), SN_OK);
    sn_drop(p);
}

/* Arguments that no macro made. */
static void arguments_made_by_hand(void **state)
{
    (void)state;
    sn_program *p = compiled("[n,m]f32 -> [m]f32", SN_BODY(first_row));
    float a[6] = {1, 2, 3, 4, 5, 6}, r[3];
    const int64_t extents[2] = {2, 3};
    sn_arg good = sn_in(a, 2, 3), out = sn_into(r, 3), bad = good;
    bad.rank = 0;
    assert_int_equal(sn_call(p, bad, out), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()),
             "argument 1 is a single value, but stands for an array with 2 extents; write sn_in(");
    bad.rank = -1;
    assert_int_equal(sn_call(p, bad, out), SN_BAD_ARGUMENT);
    bad.rank = 9;
    assert_int_equal(sn_call(p, bad, out), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), "argument 1 has 9 extents, not 2");
    bad = out;
    bad.rank = 0;
    assert_int_equal(sn_call(p, good, bad), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()),
             "argument 2 is a single value, but stands for an array with 1 extents; write sn_into(");
    bad = good;
    bad.kind = (sn_arg_kind)99;
    assert_int_equal(sn_call(p, bad, out), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), "argument 1 is no argument; write sn_in(");
    assert_int_equal(sn_call(p, sn_strided(a, 2, NULL, extents), out), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), "argument 1 has no lists of extents and strides");
    assert_int_equal(sn_call(p, sn_strided(a, 2, extents, NULL), out), SN_BAD_ARGUMENT);
    assert_null(sn_upload(both_cpu(), sn_strided(a, 2, extents, NULL)));
    assert_int_equal(sn_call(p, good, out), SN_OK);
    sn_drop(p);
}

/* Where a call failed and where its program was compiled; of data, the operation, and the call. */
static void calls_name_both_places(void **state)
{
    (void)state;
    const int line = __LINE__ + 1;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32 -> [m]f32", first_row);
    char wanted[512];
    float a[6] = {1, 2, 3, 4, 5, 6}, r[6];
    double d[6] = {0};
    const char *const file = __FILE__;
#define EXPECT_CALL(call, status, text)                                                                                \
    do {                                                                                                               \
        snprintf(wanted, sizeof(wanted), "%s:%d: call: %s; the program was compiled in %s:%d", file, __LINE__, text,   \
                 file, line);                                                                                          \
        assert_int_equal(call, status);                                                                                \
        assert_string_equal(sn_message(both_cpu()), wanted);                                                           \
    } while (0)
    EXPECT_CALL(sn_call(p, sn_in(d, 2, 3), sn_into(r, 3)), SN_BAD_ARGUMENT, "argument 1 is of type f64, not f32");
    EXPECT_CALL(sn_call(p, sn_in(a, 2, 3), sn_into(r, 2)), SN_BAD_EXTENT,
                "dimension 0 of result 1 has the extent 3, but there is memory for 2");
    EXPECT_CALL(sn_wait(sn_start(p, sn_in(a, 2, 3), sn_into(r, 2))), SN_BAD_EXTENT,
                "dimension 0 of result 1 has the extent 3, but there is memory for 2");
    EXPECT_CALL(sn_wait(sn_start(p, sn_in(a, 2, 3))), SN_BAD_ARGUMENT,
                "the program takes 2 arguments (1 for parameters, 1 for results), not 1");
    /* other languages say no place */
    snprintf(wanted, sizeof(wanted),
             "%s:%d: call: the program takes 2 arguments (1 for parameters, 1 for results), not 0", file, line);
    assert_int_equal(sn_call_n(p, 0, NULL), SN_BAD_ARGUMENT);
    assert_string_equal(sn_message(both_cpu()), wanted);
    assert_int_equal(sn_wait(sn_start_n(p, 0, NULL)), SN_BAD_ARGUMENT);
    assert_string_equal(sn_message(both_cpu()), wanted);
    sn_drop(p);
    p = sn_compile(both_cpu(), "[n]i64, [m]f32 -> [n]f32", gather);
    int64_t index[] = {0, 9};
    snprintf(wanted, sizeof(wanted), "gather: index 9 is outside the extent 6, at element 1; called in %s:%d", file,
             __LINE__ + 1);
    assert_int_equal(sn_call(p, sn_in(index, 2), sn_in(a, 6), sn_into(r, 2)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), wanted);
    snprintf(wanted, sizeof(wanted), "called in %s:%d", file, __LINE__ + 1);
    sn_pending *pending = sn_start(p, sn_in(index, 2), sn_in(a, 6), sn_into(r, 2));
    assert_int_equal(sn_wait(pending), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), wanted);
    assert_int_equal(sn_call_n(p, 3, (sn_arg[]){sn_in(index, 2), sn_in(a, 6), sn_into(r, 2)}), SN_OUT_OF_RANGE);
    assert_null(strstr(sn_message(both_cpu()), "called in"));
    sn_drop(p);
}

static void other_functions_name_their_place(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    float a[4] = {1, 2, 3, 4};
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_upload: an extent is negative", __FILE__, __LINE__ + 1);
    assert_null(sn_upload(both_cpu(), sn_in(a, -1)));
    contains(sn_message(both_cpu()), wanted);
    assert_null((sn_upload)(both_cpu(), sn_in(a, -1)));
    contains(sn_message(both_cpu()), "sn_upload: an extent is negative");
    assert_null(strstr(sn_message(both_cpu()), __FILE__));
    sn_array *x =
        sn_upload(both_cpu(), (sn_arg){.kind = SN_ARG_IN, .type = SN_F32, .rank = 1, .extent = {4}, .u = {.from = a}});
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_read: the array has 16 bytes, but", __FILE__, __LINE__ + 1);
    assert_int_equal(sn_read(x, a, 12), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), wanted);
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_read: there is no memory", __FILE__, __LINE__ + 1);
    assert_int_equal(sn_read(x, NULL, 16), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), wanted);
    assert_int_equal((sn_read)(x, a, 16), SN_OK);
    sn_program *p = compiled("[n]f32 -> [n]f32", SN_BODY(copy));
    snprintf(wanted, sizeof(wanted), "%s:%d: sn_explain: there is no form \"poetry\"; there are edges", __FILE__,
             __LINE__ + 1);
    assert_null(sn_explain(p, "poetry"));
    contains(sn_message(both_cpu()), wanted);
    sn_drop(p);
    sn_free(x);
}

static void results_of_another_size(void **state)
{
    (void)state;
    sn_program *p = compiled("[n,m]f32 -> [m]f32", SN_BODY(first_row));
    float a[6] = {1, 2, 3, 4, 5, 6}, r[6];
    assert_int_equal(sn_call(p, sn_in(a, 2, 3), sn_into(r, 2)), SN_BAD_EXTENT);
    contains(sn_message(both_cpu()), "has the extent 3, but there is memory for 2");
    sn_drop(p);
}

static void build_errors(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> [n]f32", largest);
    assert_null(p);
    contains(sn_message(both_cpu()), "test_errors_run.c:");
    assert_null(strchr(sn_message(both_cpu()), '\n'));
    assert_null(sn_compile(both_cpu(), "[n]f32 -> ", copy));
    assert_int_not_equal(strlen(sn_message(both_cpu())), 0);
    assert_null(sn_compile(NULL, "f32 -> f32", copy));
    assert_null(sn_explain(NULL, NULL));
    sn_drop(NULL);
}

/* --- arrays on the device --- */

static void arrays(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32 -> [n]f32", SN_BODY(copy));
    float a[5] = {1, 2, 3, 4, 5}, r[5] = {0};
    sn_array *x = sn_upload(both_cpu(), sn_in(a, 5)), *y = NULL;
    assert_non_null(x);
    assert_int_equal(sn_array_rank(x), 1);
    assert_int_equal(sn_array_extent(x, 0), 5);
    assert_int_equal(sn_array_extent(x, 1), -1);
    assert_int_equal(sn_array_type(x), SN_F32);
    assert_int_equal(sn_bytes(x), 20);
    assert_int_equal(sn_call(p, sn_held(x), sn_keep(&y)), SN_OK);
    assert_int_equal(sn_read(y, r, sizeof(r)), SN_OK);
    assert_memory_equal(a, r, sizeof(r));
    assert_int_equal(sn_read(y, r, 4), SN_BAD_ARGUMENT);
    sn_array *z = NULL;
    assert_int_equal(sn_call(p, sn_give(y), sn_keep(&z)), SN_OK);
    assert_int_equal(sn_call(p, sn_held(NULL), sn_keep(&y)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_held(z), sn_keep(NULL)), SN_BAD_ARGUMENT);
    sn_array *other = sn_upload(both_interpreter(), sn_in(a, 5));
    assert_int_equal(sn_call(p, sn_held(other), sn_into(r, 5)), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), "another context");
    sn_free(other);
    sn_free(z);
    sn_free(x);
    sn_free(NULL);
    sn_drop(p);
}

/* A failing call keeps nothing. */
static void nothing_is_kept(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]f32 -> [n]f32", SN_BODY(indexing));
    float a[10] = {0};
    sn_array *r = (sn_array *)a;
    assert_int_equal(sn_call(p, sn_in(a, 10), sn_keep(&r)), SN_OUT_OF_RANGE);
    assert_null(r);
    sn_drop(p);
}

/* --- contexts --- */

typedef struct heard {
    int messages;
    char last[512];
} heard;

static void hear(void *env, const char *said)
{
    heard *h = env;
    h->messages++;
    snprintf(h->last, sizeof(h->last), "%s", said);
}

static void contexts(void **state)
{
    (void)state;
    heard h = {0};
    unsetenv("SINTER_DEVICE"); /* the options are to be heard */
    sn_options o = {.size = sizeof(o), .device = "abacus", .env = &h, .message = hear};
    assert_null(sn_open(&o));
    assert_int_equal(h.messages, 1);
    contains(h.last, "abacus");
    o.device = "interpreter";
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    assert_string_equal(sn_message(cx), "");
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> f32", sum_of_zip);
    float a[3] = {1, 2, 3}, r = 0;
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(a, 2), sn_value(&r)), SN_BAD_EXTENT);
    assert_int_equal(h.messages, 2);
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(a, 3), sn_value(&r)), SN_OK);
    assert_true(r == 14);
    assert_null(sn_explain(p, "kernels"));
    assert_null(sn_explain(p, "poetry"));
    assert_non_null(sn_explain(p, NULL));
    sn_drop(p);
    sn_close(cx);
    sn_close(NULL);
    assert_string_equal(sn_message(NULL), "");
    assert_string_equal(sn_status_name(SN_DIVISION), "SN_DIVISION");
    assert_int_equal(sn_version(), SN_VERSION);
}

/* Once a place, however often it is built; not what an error hides. */
static void folds_that_do_not_associate_are_said(void **state)
{
    (void)state;
    heard h = {0};
    sn_options o = {.size = sizeof(o), .device = "interpreter", .env = &h, .message = hear};
    sn_context *cx = sn_open(&o);
    float a[4] = {8, 4, 2, 1}, r = 0;
    sn_program *p = sn_compile(cx, "[n]f32 -> f32", fold_differences);
    assert_non_null(p);
    assert_int_equal(h.messages, 1);
    contains(h.last, place(DIFFERENCES_LINE));
    contains(h.last, "fold: the function is sub, which is not associative");
    assert_string_equal(sn_message(cx), "");
    assert_int_equal(sn_call(p, sn_in(a, 4), sn_value(&r)), SN_OK);
    sn_drop(p);
    p = sn_compile(cx, "[n]f32 -> f32", meant_differences);
    assert_int_equal(h.messages, 1);
    sn_drop(p);
    assert_null(sn_compile(cx, "[n]bool -> f32", fold_differences));
    assert_int_equal(h.messages, 2);
    contains(h.last, "sub: not defined on bool");
    sn_close(cx);
}

static void a_variable_that_is_no_number_is_said(void **state)
{
    (void)state;
    static const char *const wrong[] = {"abc", "-5", "0", "4x", "99999999999999999999"};
    heard h = {0};
    sn_options o = {.size = sizeof(o), .env = &h, .message = hear};
    const char *before = getenv("SINTER_THREADS");
    char *kept = before ? strdup(before) : NULL;
    for (int i = 0; i < 5; i++) {
        setenv("SINTER_THREADS", wrong[i], 1);
        sn_close(sn_open(&o));
        assert_int_equal(h.messages, i + 1);
        contains(h.last, wrong[i]);
    }
    setenv("SINTER_THREADS", "2", 1);
    sn_close(sn_open(&o));
    assert_int_equal(h.messages, 5);
    if (kept)
        setenv("SINTER_THREADS", kept, 1);
    else
        unsetenv("SINTER_THREADS");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_outside),
        cmocka_unit_test(an_index_is_outside_in_some_dimension),
        cmocka_unit_test(the_first_of_many_is_reported),
        cmocka_unit_test(an_index_of_nothing),
        cmocka_unit_test(a_division_by_zero),
        cmocka_unit_test(an_extent_that_divides_by_zero),
        cmocka_unit_test(shapes_that_differ),
        cmocka_unit_test(folds_of_nothing),
        cmocka_unit_test(a_slice_outside),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(arguments_made_by_hand),
        cmocka_unit_test(calls_name_both_places),
        cmocka_unit_test(other_functions_name_their_place),
        cmocka_unit_test(results_of_another_size),
        cmocka_unit_test(build_errors),
        cmocka_unit_test(arrays),
        cmocka_unit_test(nothing_is_kept),
        cmocka_unit_test(folds_that_do_not_associate_are_said),
        cmocka_unit_test(contexts),
        cmocka_unit_test(a_variable_that_is_no_number_is_said),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
