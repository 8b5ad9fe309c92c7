/* Data and programs that are wrong in ways only a call can see: fused, unfused and interpreted, the status is the same,
 * the message names place and operation, and the context and the program are usable afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

enum { WAYS = 3 };
static sn_context *contexts[WAYS]; /* fused, unfused, interpreted */
static const char *const ways[WAYS] = {"fused", "unfused", "interpreted"};

typedef struct vector {
    int64_t n;
    int32_t at[80];
} vector;

/* Calls a program of two vectors; the result stays on the device and is dropped. The message, if it failed. */
static sn_status call(sn_context *cx, sn_program *p, const vector *a, const vector *b, const char **message)
{
    sn_array *r = NULL;
    sn_status status = sn_call(p, sn_in(a->at, a->n), sn_in(b->at, b->n), sn_keep(&r));
    *message = status == SN_OK ? "" : sn_message(cx);
    assert_true(status == SN_OK || !r);
    sn_free(r);
    return status;
}

static const vector good = {4, {1, 2, 3, 1}};

static void expect_way(int way, const char *name, const char *signature, sn_body body, const vector *a, const vector *b,
                       sn_status wanted, const char *part)
{
    const char *message = "";
    sn_program *p = sn_compile_at(SN_HERE, contexts[way], signature, body);
    if (!p)
        fail_msg("%s does not compile: %s", name, sn_message(contexts[way]));
    for (int again = 0; again < 2; again++) {
        sn_status status = call(contexts[way], p, a, b, &message);
        bool place = wanted == SN_OK || wanted / 100 != 3 || strstr(message, "test_hostile.c:");
        if (status != wanted || !strstr(message, part) || !place)
            fail_msg("%s, %s: %s (%s), not %s with \"%s\"", name, ways[way], sn_status_name(status), message,
                     sn_status_name(wanted), part);
    }
    sn_drop(p);
}

static void expect(const char *name, const char *signature, sn_body body, vector a, vector b, sn_status wanted,
                   const char *part)
{
    for (int way = 0; way < WAYS; way++)
        if (contexts[way])
            expect_way(way, name, signature, body, &a, &b, wanted, part);
}

#define VECTORS "[n]i32, [m]i32 -> [k]i32"
#define EXPECT(f, a, b, wanted, part) expect(#f, VECTORS, SN_BODY(f), a, b, wanted, part)
#define EXPECT_ONE(f, a, b, wanted, part) expect(#f, "[n]i32, [m]i32 -> i32", SN_BODY(f), a, b, wanted, part)

/* --- division --- */

#define DIVIDES(op)                                                                                                    \
    static sn_acc op##_them(sn_acc a, sn_acc b)                                                                        \
    {                                                                                                                  \
        return sn_zip_with(sn_##op, a, b);                                                                             \
    }                                                                                                                  \
    static sn_scalar op##_zero(sn_scalar x)                                                                            \
    {                                                                                                                  \
        return sn_##op(x, 0);                                                                                          \
    }                                                                                                                  \
    static sn_acc op##_by_zero(sn_acc a, sn_acc b)                                                                     \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        return sn_map(op##_zero, a);                                                                                   \
    }                                                                                                                  \
    static sn_scalar op##_minus(sn_scalar x)                                                                           \
    {                                                                                                                  \
        return sn_##op(x, -1);                                                                                         \
    }                                                                                                                  \
    static sn_acc op##_by_minus(sn_acc a, sn_acc b)                                                                    \
    {                                                                                                                  \
        (void)b;                                                                                                       \
        return sn_map(op##_minus, a);                                                                                  \
    }                                                                                                                  \
    static sn_scalar op##_guarded_of(sn_scalar x, sn_scalar y)                                                         \
    {                                                                                                                  \
        return sn_if(sn_or(sn_eq(y, 0), sn_eq(y, -1)), x, sn_##op(x, y));                                              \
    }                                                                                                                  \
    static sn_acc op##_guarded(sn_acc a, sn_acc b)                                                                     \
    {                                                                                                                  \
        return sn_zip_with(op##_guarded_of, a, b);                                                                     \
    }                                                                                                                  \
    static void op##_fails(void **state)                                                                               \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        EXPECT(op##_them, good, good, SN_OK, "");                                                                      \
        EXPECT(op##_them, good, ((vector){4, {1, 1, 0, 0}}), SN_DIVISION, #op);                                        \
        EXPECT(op##_them, good, ((vector){4, {1, 1, 0, 0}}), SN_DIVISION, "element 2");                                \
        EXPECT(op##_them, ((vector){3, {0, 0, INT32_MIN}}), ((vector){3, {-1, 2, -1}}), SN_DIVISION, "element 2");     \
        EXPECT(op##_by_zero, good, good, SN_DIVISION, "element 0");                                                    \
        EXPECT(op##_by_minus, good, good, SN_OK, "");                                                                  \
        EXPECT(op##_by_minus, ((vector){2, {0, INT32_MIN}}), good, SN_DIVISION, "element 1");                          \
        EXPECT(op##_guarded, ((vector){3, {0, 7, INT32_MIN}}), ((vector){3, {-1, 0, -1}}), SN_OK, "");                 \
    }
DIVIDES(div)
DIVIDES(mod)
DIVIDES(quot)
DIVIDES(rem)

/* Every width: the smallest number by -1, and by 0. */
static sn_acc narrow_division(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_quot, a, b);
}

#define NARROW(ctype, name, lowest)                                                                                    \
    static void smallest_##name(void **state)                                                                          \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        for (int way = 0; way < WAYS; way++) {                                                                         \
            ctype x[3] = {1, lowest, 5}, minus[3] = {1, (ctype)-1, 1}, zero[3] = {1, 1, 0}, r[3];                      \
            if (!contexts[way])                                                                                        \
                continue;                                                                                              \
            sn_program *p = sn_compile(contexts[way], "[n]" #name ", [n]" #name " -> [n]" #name, narrow_division);     \
            assert_non_null(p);                                                                                        \
            sn_status wanted = (ctype)-1 < 1 ? SN_DIVISION : SN_OK;                                                    \
            assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(minus, 3), sn_into(r, 3)), wanted);                         \
            assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(zero, 3), sn_into(r, 3)), SN_DIVISION);                     \
            assert_non_null(strstr(sn_message(contexts[way]), "element 2"));                                           \
            assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(x, 3), sn_into(r, 3)), SN_OK);                              \
            assert_true(r[0] == 1 && r[1] == 1 && r[2] == 1);                                                          \
            sn_drop(p);                                                                                                \
        }                                                                                                              \
    }
NARROW(int8_t, i8, INT8_MIN)
NARROW(int16_t, i16, INT16_MIN)
NARROW(int32_t, i32, INT32_MIN)
NARROW(int64_t, i64, INT64_MIN)
NARROW(uint8_t, u8, UINT8_MAX)
NARROW(uint16_t, u16, UINT16_MAX)
NARROW(uint32_t, u32, UINT32_MAX)
NARROW(uint64_t, u64, UINT64_MAX)

/* In a fold's operator, in a seed, in a stencil, in a loop, in an extent. */
static sn_scalar divided(sn_scalar x, sn_scalar y)
{
    return sn_add(x, sn_div(6, y));
}

static sn_acc in_a_fold(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_fold(divided, 1, a);
}

static sn_acc in_a_seed(sn_acc a, sn_acc b)
{
    return sn_fold(sn_add, sn_div(1, sn_the(sn_slice(b, 0))), a);
}

static sn_scalar right_over_left(sn_scalar s)
{
    return sn_div(sn_at(s, 1), sn_at(s, -1));
}

static sn_acc in_a_stencil(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_stencil(right_over_left, sn_pattern(3), sn_clamp, a);
}

static sn_acc outside_a_stencil(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_stencil(right_over_left, sn_pattern(3), sn_constant(0), a);
}

static sn_scalar positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar countdown(sn_scalar x)
{
    return sn_sub(x, sn_max(1, sn_div(1, sn_sub(x, 3))));
}

static sn_scalar looping(sn_scalar x)
{
    return sn_while(positive, countdown, x);
}

static sn_acc in_a_loop(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_map(looping, a);
}

static sn_scalar first(sn_scalar i)
{
    return sn_to_i32(i);
}

static sn_acc in_an_extent(sn_acc a, sn_acc b)
{
    return sn_generate(sn_div(sn_extent(a, 0), sn_extent(b, 0)), first);
}

static void division_anywhere(void **state)
{
    (void)state;
    EXPECT_ONE(in_a_fold, good, good, SN_OK, "");
    EXPECT_ONE(in_a_fold, ((vector){3, {1, 0, 2}}), good, SN_DIVISION, "div");
    EXPECT_ONE(in_a_seed, good, good, SN_OK, "");
    EXPECT_ONE(in_a_seed, good, ((vector){1, {0}}), SN_DIVISION, "div");
    EXPECT(in_a_stencil, good, good, SN_OK, "");
    EXPECT(in_a_stencil, ((vector){4, {1, 0, 2, 3}}), good, SN_DIVISION, "element 2");
    EXPECT(outside_a_stencil, good, good, SN_DIVISION, "element 0");
    EXPECT(in_a_loop, ((vector){2, {-1, 5}}), good, SN_DIVISION, "element 1");
    EXPECT(in_a_loop, ((vector){2, {-1, 2}}), good, SN_OK, "");
    EXPECT(in_an_extent, good, good, SN_OK, "");
    EXPECT(in_an_extent, good, (vector){0}, SN_DIVISION, "div");
}

/* --- indices --- */

static sn_acc gathers(sn_acc a, sn_acc b)
{
    return sn_gather(b, a);
}

static sn_scalar safe_read(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_if(sn_and(sn_ge(i, 0), sn_lt(sn_to_i64(i), sn_extent(*a, 0))), sn_index(*a, i), -1);
}

static sn_acc masked(sn_acc a, sn_acc b)
{
    return sn_map(sn_closure(safe_read, &a), b);
}

static sn_scalar clamped_read(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_min(sn_max(sn_to_i64(i), 0), sn_sub(sn_extent(*a, 0), 1)));
}

static sn_acc clamped(sn_acc a, sn_acc b)
{
    return sn_map(sn_closure(clamped_read, &a), b);
}

static sn_scalar wrapped_read(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_mod(sn_to_i64(i), sn_extent(*a, 0)));
}

static sn_acc wrapped(sn_acc a, sn_acc b)
{
    return sn_map(sn_closure(wrapped_read, &a), b);
}

static sn_scalar linear_read(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_linear_index(*a, i);
}

static sn_acc linear(sn_acc a, sn_acc b)
{
    return sn_map(sn_closure(linear_read, &a), b);
}

static sn_scalar huge(sn_scalar i)
{
    return sn_mul(i, INT64_MAX / 3);
}

static sn_acc far_away(sn_acc a, sn_acc b)
{
    return sn_backpermute(sn_extent(b, 0), huge, a);
}

/* The reads of a loop: lane by lane they leave, and only those still in it may fail. */
static sn_scalar chase_on(void *env, sn_scalar i, sn_scalar steps)
{
    (void)env;
    return sn_and(sn_gt(steps, 0), sn_ge(i, 0));
}

static sn_scalar chase_next(void *env, sn_scalar i, sn_scalar steps)
{
    const sn_acc *a = env;
    return sn_tuple(sn_index(*a, i), sn_sub(steps, 1));
}

static sn_scalar chase_from(void *env, sn_scalar i)
{
    return sn_fst(sn_while(sn_closure(chase_on, env), sn_closure(chase_next, env), sn_tuple(i, sn_i32(5))));
}

static sn_acc chased(sn_acc a, sn_acc b)
{
    return sn_map(sn_closure(chase_from, &a), b);
}

static sn_scalar read_there(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, i);
}

static sn_acc outside_function(sn_acc a, sn_acc b)
{
    return sn_stencil(right_over_left, sn_pattern(3), sn_outside(sn_closure(read_there, &b)), a);
}

static sn_acc summed_reads(sn_acc a, sn_acc b)
{
    return sn_fold(sn_add, 0, sn_map(sn_closure(read_there, &a), b));
}

static void indices(void **state)
{
    (void)state;
    vector outside = {5, {0, 3, 2, 4, 9}}, negative = {3, {0, 1, -1}}, none = {0};
    EXPECT(gathers, good, outside, SN_OUT_OF_RANGE, "index 4");
    EXPECT(gathers, good, outside, SN_OUT_OF_RANGE, "extent 4");
    EXPECT(gathers, good, negative, SN_OUT_OF_RANGE, "index -1");
    EXPECT(gathers, none, good, SN_OUT_OF_RANGE, "extent 0");
    EXPECT(gathers, none, none, SN_OK, "");
    EXPECT(masked, good, outside, SN_OK, "");
    EXPECT(masked, none, outside, SN_OK, "");
    EXPECT(clamped, good, outside, SN_OK, "");
    EXPECT(clamped, none, outside, SN_OUT_OF_RANGE, "extent 0");
    EXPECT(clamped, none, none, SN_OK, "");
    EXPECT(wrapped, good, negative, SN_OK, "");
    EXPECT(wrapped, none, good, SN_DIVISION, "mod");
    EXPECT(linear, good, outside, SN_OUT_OF_RANGE, "index 4");
    EXPECT(linear, none, good, SN_OUT_OF_RANGE, "extent 0");
    EXPECT(far_away, good, good, SN_OUT_OF_RANGE, "index 3074457345618258602");
    EXPECT(chased, ((vector){3, {1, 2, 0}}), ((vector){3, {0, 1, -1}}), SN_OK, "");
    EXPECT(chased, ((vector){3, {1, 2, 7}}), ((vector){3, {-1, -2, 0}}), SN_OUT_OF_RANGE, "index 7");
    EXPECT(outside_function, good, good, SN_OUT_OF_RANGE, "index -1");
    EXPECT_ONE(summed_reads, good, negative, SN_OUT_OF_RANGE, "index -1");
}

/* --- shapes --- */

static sn_acc added(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_add, a, b);
}

static sn_acc added_and_lost(sn_acc a, sn_acc b)
{
    return sn_slice(sn_zip_with(sn_add, a, b), SN_ALL);
}

static sn_acc reshaped(sn_acc a, sn_acc b)
{
    return sn_map(sn_neg, sn_reshape(sn_extent(b, 0), sn_map(sn_neg, a)));
}

static sn_acc reshaped_in_memory(sn_acc a, sn_acc b)
{
    return sn_reshape(sn_shape(sn_extent(b, 0)), sn_force(a));
}

static sn_acc fewer(sn_acc a, sn_acc b)
{
    return sn_generate(sn_sub(sn_extent(a, 0), sn_extent(b, 0)), first);
}

static sn_acc fewer_copies(sn_acc a, sn_acc b)
{
    return sn_flatten(sn_replicate(a, sn_sub(1, sn_extent(b, 0)), SN_ALL));
}

static sn_acc too_many(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_flatten(sn_replicate(a, INT64_MAX, SN_ALL));
}

static sn_acc too_many_bytes(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_flatten(sn_replicate(a, INT64_MAX / 8, SN_ALL));
}

static sn_acc nothing_of_many(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_flatten(sn_replicate(a, INT64_MAX, SN_ALL));
}

static sn_acc smallest(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_minimum(a);
}

static sn_acc largest_of_sums(sn_acc a, sn_acc b)
{
    return sn_fold1(sn_max, sn_zip_with(sn_add, a, b));
}

static sn_acc first_largest(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_map(sn_to_i32, sn_argmax(a));
}

static sn_acc first_element(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_slice(a, 0);
}

static void shapes(void **state)
{
    (void)state;
    vector three = {3, {1, 2, 3}}, none = {0};
    EXPECT(added, good, three, SN_SHAPE_MISMATCH, "4 and 3");
    EXPECT(added, good, three, SN_SHAPE_MISMATCH, "zip_with");
    EXPECT(added_and_lost, none, three, SN_SHAPE_MISMATCH, "0 and 3");
    EXPECT(reshaped, good, good, SN_OK, "");
    EXPECT(reshaped, good, three, SN_SHAPE_MISMATCH, "reshape");
    EXPECT(reshaped_in_memory, good, three, SN_SHAPE_MISMATCH, "reshape");
    EXPECT(reshaped, good, none, SN_SHAPE_MISMATCH, "reshape");
    EXPECT(fewer, three, good, SN_BAD_EXTENT, "-1");
    EXPECT(fewer, three, three, SN_OK, "");
    EXPECT(fewer_copies, good, three, SN_BAD_EXTENT, "-2");
    EXPECT(too_many, three, three, SN_TOO_LARGE, "");
    EXPECT(too_many_bytes, ((vector){4, {0}}), three, SN_TOO_LARGE, "");
    EXPECT(nothing_of_many, none, three, SN_OK, "");
    EXPECT_ONE(smallest, three, three, SN_OK, "");
    EXPECT_ONE(smallest, none, three, SN_EMPTY_FOLD, "minimum");
    EXPECT_ONE(largest_of_sums, none, none, SN_EMPTY_FOLD, "fold1");
    EXPECT_ONE(largest_of_sums, none, three, SN_SHAPE_MISMATCH, "zip_with");
    EXPECT_ONE(first_largest, none, three, SN_EMPTY_FOLD, "argmax");
    EXPECT_ONE(first_element, none, three, SN_OUT_OF_RANGE, "slice");
}

static sn_scalar both_indices(sn_scalar i, sn_scalar j)
{
    return sn_to_i32(sn_add(i, j));
}

/* Two negative extents, whose product is not. */
static sn_acc less_than_nothing(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_sub(sn_extent(a, 0), sn_extent(b, 0));
    return sn_fold_all(sn_add, 0, sn_generate(sn_shape(n, n), both_indices));
}

static sn_acc no_copies_of_none(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_sub(sn_extent(a, 0), sn_extent(b, 0));
    return sn_fold_all(sn_add, 0, sn_replicate(sn_replicate(a, n, SN_ALL), SN_ALL, n, SN_ALL));
}

static void negative_extents(void **state)
{
    (void)state;
    vector two = {2, {1, 2}};
    EXPECT_ONE(less_than_nothing, good, two, SN_OK, "");
    EXPECT_ONE(less_than_nothing, two, good, SN_BAD_EXTENT, "generate: dimension 0 has the extent -2");
    EXPECT_ONE(no_copies_of_none, good, two, SN_OK, "");
    EXPECT_ONE(no_copies_of_none, two, good, SN_BAD_EXTENT, "replicate: dimension 0 has the extent -2");
}

/* --- operators of folds that fail, in rows of every length a fold has a way for --- */

static sn_acc divided_folds(sn_acc a)
{
    return sn_results(sn_fold(divided, 1, a), sn_fold(sn_commutative(divided), 1, a));
}

static void folds_that_fail(void **state)
{
    static const int64_t lengths[] = {1, 4, 300, 65536, 70001, 200001};
    (void)state;
    for (int way = 0; way < 2 && contexts[way]; way++) {
        sn_program *p = sn_compile(contexts[way], "[n]i32 -> i32, i32", divided_folds);
        assert_non_null(p);
        for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
            int64_t n = lengths[k];
            int32_t *x = malloc((size_t)n * sizeof(int32_t)), r[2] = {0, 0};
            assert_non_null(x);
            for (int64_t i = 0; i < n; i++)
                x[i] = 6;
            x[n - 1] = 0;
            assert_int_equal(sn_call(p, sn_in(x, n), sn_value(&r[0]), sn_value(&r[1])), SN_DIVISION);
            assert_non_null(strstr(sn_message(contexts[way]), "div: division by zero"));
            x[n - 1] = 6;
            assert_int_equal(sn_call(p, sn_in(x, n), sn_value(&r[0]), sn_value(&r[1])), SN_OK);
            free(x);
        }
        sn_drop(p);
    }
}

/* --- arguments --- */

static sn_acc negated(sn_acc a)
{
    return sn_map(sn_neg, a);
}

static sn_acc chosen_of(sn_acc a)
{
    return sn_map(sn_to_i64, a);
}

static void arguments_of(sn_context *cx)
{
    float x[64] = {0}, r[64];
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", negated);
    assert_non_null(p);
    sn_arg in = sn_in(x, 8), out = sn_into(r, 8), bad;
    assert_int_equal(sn_call(p, in, out), SN_OK);
    assert_int_equal(sn_call(NULL, in, out), SN_NO_PROGRAM);
    assert_int_equal(sn_call_n(p, 0, NULL), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call_n(p, 2, NULL), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call_n(p, -1, (sn_arg[]){in, out}), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call_n(p, INT32_MAX, (sn_arg[]){in, out}), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, out, in), SN_BAD_ARGUMENT);
    for (int k = 0; k < 12; k++) {
        bad = in;
        sn_status wanted = SN_BAD_ARGUMENT;
        switch (k) {
        case 0:
            bad.kind = (sn_arg_kind)0;
            break;
        case 1:
            bad.kind = (sn_arg_kind)99;
            break;
        case 2:
            bad.type = (sn_type)0;
            break;
        case 3:
            bad.type = (sn_type)99;
            break;
        case 4:
            bad.rank = -1;
            break;
        case 5:
            bad.rank = 9;
            break;
        case 6:
            bad.rank = INT32_MAX;
            break;
        case 7:
            bad.u.from = NULL;
            break;
        case 8:
            bad.extent[0] = -1, wanted = SN_BAD_EXTENT;
            break;
        case 9:
            bad.extent[0] = INT64_MIN, wanted = SN_BAD_EXTENT;
            break;
        case 10:
            bad.extent[0] = INT64_MAX, wanted = SN_TOO_LARGE;
            break;
        default:
            bad = sn_held(NULL);
            break;
        }
        assert_int_equal(sn_call(p, bad, out), wanted);
        assert_true(*sn_message(cx));
        assert_null(sn_upload(cx, bad));
        assert_int_equal(sn_call(p, in, out), SN_OK);
    }
    bad = sn_keep(NULL);
    assert_int_equal(sn_call(p, in, bad), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, in, sn_into(r, 7)), SN_BAD_EXTENT);
    assert_int_equal(sn_call(p, in, sn_into(x + 4, 8)), SN_BAD_ARGUMENT); /* overlaps */
    assert_int_equal(sn_call(p, in, out), SN_OK);
    sn_drop(p);
}

/* A pointer that is not aligned to its elements is undefined in C, so it is refused. */
static void misaligned_of(sn_context *cx)
{
    static _Alignas(64) char memory[400000], result[400000];
    enum { N = 90000 };
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", negated);
    assert_non_null(p);
    for (int k = 1; k < 4; k++) {
        sn_arg in = sn_in((float *)(void *)memory, N), out = sn_into((float *)(void *)result, N);
        in.u.from = memory + k;
        assert_int_equal(sn_call(p, in, out), SN_BAD_ARGUMENT);
        in.u.from = memory;
        out.u.to = result + k;
        assert_int_equal(sn_call(p, in, out), SN_BAD_ARGUMENT);
    }
    sn_drop(p);
}

/* Bools are 0 or 1; other bytes count as some of them, and nothing is read or written outside. */
static void strange_bools_of(sn_context *cx)
{
    uint8_t x[70];
    int64_t r[70];
    sn_program *p = sn_compile(cx, "[n]bool -> [n]i64", chosen_of);
    assert_non_null(p);
    for (int i = 0; i < 70; i++)
        x[i] = (uint8_t)(i * 37);
    sn_arg in = sn_in(x, 70);
    in.type = SN_BOOL;
    assert_int_equal(sn_call(p, in, sn_into(r, 70)), SN_OK);
    sn_drop(p);
}

static void arguments(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        if (!contexts[way])
            continue;
        arguments_of(contexts[way]);
        misaligned_of(contexts[way]);
        strange_bools_of(contexts[way]);
    }
}

static void nothing_at_all(void **state)
{
    (void)state;
    sn_context *cx = contexts[2];
    assert_null(sn_compile(NULL, "[n]f32 -> [n]f32", negated));
    assert_null(sn_compile(cx, NULL, negated));
    assert_true(*sn_message(cx));
    assert_null(sn_compile(cx, "[n]f32 -> [n]f32", (sn_acc(*)(sn_acc))NULL));
    assert_true(*sn_message(cx));
    assert_null(sn_upload(NULL, (sn_arg){0}));
    assert_int_equal(sn_read(NULL, NULL, 0), SN_BAD_ARGUMENT);
    assert_int_equal(sn_array_rank(NULL), -1);
    assert_int_equal(sn_bytes(NULL), 0);
    assert_null(sn_explain(NULL, "plan"));
    assert_string_equal(sn_message(NULL), "");
    sn_free(NULL);
    sn_drop(NULL);
    sn_close(NULL);
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

static int open_all(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu", .message = drop_message};
    contexts[0] = sn_open(&o);
    o.fusion = SN_OFF;
    contexts[1] = sn_open(&o);
    o.device = "interpreter";
    contexts[2] = sn_open(&o);
    return contexts[2] ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        sn_close(contexts[way]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(div_fails),         cmocka_unit_test(mod_fails),       cmocka_unit_test(quot_fails),
        cmocka_unit_test(rem_fails),         cmocka_unit_test(smallest_i8),     cmocka_unit_test(smallest_i16),
        cmocka_unit_test(smallest_i32),      cmocka_unit_test(smallest_i64),    cmocka_unit_test(smallest_u8),
        cmocka_unit_test(smallest_u16),      cmocka_unit_test(smallest_u32),    cmocka_unit_test(smallest_u64),
        cmocka_unit_test(division_anywhere), cmocka_unit_test(indices),         cmocka_unit_test(shapes),
        cmocka_unit_test(negative_extents),  cmocka_unit_test(folds_that_fail), cmocka_unit_test(arguments),
        cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
