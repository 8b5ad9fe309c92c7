/* Calls of programs with scans and filters: results whose extents only the run tells, in memory that is given, large
 * enough or not, and as arrays; the interpreter's results on the device, for all types. */
#include "both.h"

#include <stdio.h>
#include <string.h>

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc positive(sn_acc a)
{
    return sn_filter(is_positive, a);
}

static sn_scalar first_is_positive(sn_scalar x, sn_scalar id)
{
    (void)id;
    return sn_gt(x, 0);
}

static sn_acc positive_pairs(sn_acc a)
{
    return sn_filter(first_is_positive, a);
}

static sn_acc positive_and_all(sn_acc a)
{
    return sn_results(positive_pairs(a), a);
}

/* --- memory for at most so many --- */

static void up_to(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [k]f32", positive);
    assert_non_null(p);
    float x[] = {1, -2, 3, -4, 5}, y[4] = {-7, -7, -7, -7};
    int64_t n = -1;
    assert_int_equal(sn_call(p, sn_in(x, 5), sn_upto(y, 4, &n)), SN_OK);
    assert_int_equal(n, 3);
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 5 && y[3] == -7);
    assert_int_equal(sn_call(p, sn_in(x, 5), sn_upto(y, 3, &n)), SN_OK); /* just enough */
    assert_int_equal(sn_call(p, sn_in(x, 2), sn_upto(y, 4, &n)), SN_OK);
    assert_int_equal(n, 1);
    assert_int_equal(sn_call(p, sn_in(x, 0), sn_upto(y, 4, &n)), SN_OK);
    assert_int_equal(n, 0);
    assert_int_equal(sn_call(p, sn_in(x, 0), sn_upto((float *)NULL, 0, &n)), SN_OK);
    assert_int_equal(n, 0);
    sn_drop(p);
}

/* What would be needed is told, and nothing is lost. */
static void too_small(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [k]f32", positive);
    float x[] = {1, -2, 3, -4, 5}, y[3] = {0};
    int64_t n = -1;
    sn_array *in = sn_upload(cx, sn_in(x, 5));
    const int line = __LINE__ + 1;
    assert_int_equal(sn_call(p, sn_give(in), sn_upto(y, 2, &n)), SN_BAD_EXTENT);
    assert_int_equal(n, 3);
    assert_non_null(strstr(sn_message(cx), "result 1 has 3 elements, but there is memory for 2"));
    char place[64];
    snprintf(place, sizeof(place), "test_scan_calls.c:%d: call: ", line);
    assert_non_null(strstr(sn_message(cx), place));
    assert_int_equal(sn_call(p, sn_give(in), sn_upto(y, n, &n)), SN_OK); /* it is still there */
    assert_true(y[0] == 1 && y[1] == 3 && y[2] == 5);
    sn_drop(p);
}

/* Components of one result have memory of their own each. */
static void pairs(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n](f32, i64) -> [k](f32, i64)", positive_pairs);
    float x[] = {1, -2, 3}, y[3];
    int64_t id[] = {7, 8, 9}, to[3], n = -1, m = -1;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(id, 3), sn_upto(y, 3, &n), sn_upto(to, 2, &m)), SN_OK);
    assert_true(n == 2 && m == 2 && y[0] == 1 && y[1] == 3 && to[0] == 7 && to[1] == 9);
    n = m = -1;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(id, 3), sn_upto(y, 3, &n), sn_upto(to, 1, &m)), SN_BAD_EXTENT);
    assert_true(n == 2 && m == 2);
    assert_non_null(strstr(sn_message(cx), "result 2 has 2 elements, but there is memory for 1"));
    sn_array *kept = NULL;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(id, 3), sn_keep(&kept), sn_upto(to, 1, &m)), SN_BAD_EXTENT);
    assert_null(kept);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(id, 3), sn_keep(&kept), sn_into(to, 2)), SN_OK);
    assert_int_equal(sn_array_extent(kept, 0), 2);
    sn_free(kept);
    sn_drop(p);
}

struct named {
    float x;
    int64_t id;
};

/* In structs, too. */
static void in_structs(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n](f32, i64) -> [k](f32, i64)", positive_pairs);
    struct named in[] = {{1, 7}, {-2, 8}, {3, 9}}, out[3] = {{0, 0}, {0, 0}, {-5, -5}};
    int64_t n = -1;
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto(out, 3, &n)), SN_OK);
    assert_true(n == 2 && out[0].x == 1 && out[0].id == 7 && out[1].x == 3 && out[1].id == 9 && out[2].id == -5);
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto(out, 2, &n)), SN_OK);
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs(out, 2)), SN_OK);
    n = -1;
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto(out, 1, &n)), SN_BAD_EXTENT);
    assert_int_equal(n, 2);
    assert_non_null(strstr(sn_message(cx), "result 1 has 2 elements, but there is memory for 1"));
    assert_int_equal(sn_call(p, sn_structs(in, 0), sn_structs_upto((struct named *)NULL, 0, &n)), SN_OK);
    assert_int_equal(n, 0);
    n = -1;
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto(out, 3, NULL)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "argument 2: nowhere to put the extents; write sn_structs_upto("));
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto(out, -1, &n)), SN_BAD_EXTENT);
    assert_int_equal(sn_call(p, sn_structs(in, 3), sn_structs_upto((struct named *)NULL, 1, &n)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_structs_upto(in, 3, &n), sn_structs(out, 3)), SN_BAD_ARGUMENT);
    assert_non_null(
        strstr(sn_message(cx), "argument 1 stands for a parameter, but is sn_structs_upto(...); write sn_str"));
    assert_int_equal(n, -1);
    sn_drop(p);
    p = sn_compile(cx, "[n](f32, i64) -> [k](f32, i64), [n](f32, i64)", positive_and_all);
    assert_int_equal(
        sn_call(p, sn_structs(in, 3), sn_upto(&out[0].x, 1, &n), sn_upto(&out[0].id, 1, &n), sn_structs(&out[0], 3)),
        SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "overlaps"));
    sn_drop(p);
}

/* Any result may be given so; of several dimensions all extents are told. */
static sn_acc twice(sn_acc a)
{
    return sn_replicate(positive(a), 2, SN_ALL);
}

static void dimensions(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]i32 -> [2,k]i32", twice);
    int32_t x[] = {4, 0, 5}, y[6];
    int64_t extent[2] = {-1, -1};
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 6, extent)), SN_OK);
    assert_true(extent[0] == 2 && extent[1] == 2);
    assert_true(y[0] == 4 && y[1] == 5 && y[2] == 4 && y[3] == 5);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 3, extent)), SN_BAD_EXTENT);
    assert_non_null(strstr(sn_message(cx), "result 1 has 4 elements, but there is memory for 3"));
    sn_drop(p);
    p = sn_compile(cx, "i32 -> i32", twice); /* of rank 0 */
    assert_null(p);
}

static sn_acc same(sn_acc a)
{
    return sn_map(sn_neg, a);
}

static void wrong_arguments(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", same);
    float x[] = {1, 2, 3}, y[4];
    double z[3];
    int64_t n = -1;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 4, &n)), SN_OK);
    assert_true(n == 3 && y[2] == -3);
    n = -1;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 4, NULL)), SN_BAD_ARGUMENT);
    assert_non_null(
        strstr(sn_message(cx), "argument 2: nowhere to put the extents; write sn_upto(pointer, capacity, &n)"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(z, 3, &n)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "argument 2 is of type f64, not f32"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, -1, &n)), SN_BAD_EXTENT);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, INT64_MAX, &n)), SN_TOO_LARGE);
    assert_non_null(strstr(sn_message(cx), "argument 2 has a capacity below 0 or larger than memory can be"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto((float *)NULL, 3, &n)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "argument 2 is NULL"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto((float *)((char *)y + 1), 3, &n)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "not aligned"));
    assert_int_equal(sn_call(p, sn_upto(x, 3, &n), sn_into(y, 3)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "argument 1 stands for a parameter, but is sn_upto(...)"));
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(x + 1, 2, &n)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "overlaps"));
    assert_int_equal(n, -1);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 2, &n)), SN_BAD_EXTENT);
    assert_int_equal(n, 3);
    sn_drop(p);
}

/* In two steps, too: what is to be told is told by sn_wait. */
static void pending(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [k]f32", positive);
    float x[] = {1, -2, 3}, y[3];
    int64_t n = -1;
    assert_int_equal(sn_wait(sn_start(p, sn_in(x, 3), sn_upto(y, 3, &n))), SN_OK);
    assert_true(n == 2 && y[0] == 1 && y[1] == 3);
    assert_int_equal(sn_wait(sn_start(p, sn_in(x, 3), sn_upto(y, 1, &n))), SN_BAD_EXTENT);
    assert_int_equal(n, 2);
    sn_drop(p);
}

/* --- other ways to give results --- */

static void kept_and_exact(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [k]f32", positive);
    float x[] = {1, -2, 3}, y[3];
    sn_array *kept = NULL;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_keep(&kept)), SN_OK);
    assert_int_equal(sn_array_extent(kept, 0), 2);
    assert_int_equal(sn_bytes(kept), 2 * sizeof(float));
    assert_int_equal(sn_read(kept, y, 2 * sizeof(float)), SN_OK);
    assert_true(y[0] == 1 && y[1] == 3);
    sn_array *again = NULL;
    assert_int_equal(sn_call(p, sn_give(kept), sn_keep(&again)), SN_OK);
    assert_int_equal(sn_array_extent(again, 0), 2);
    sn_free(again);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(y, 2)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(y, 3)), SN_BAD_EXTENT);
    assert_non_null(strstr(sn_message(cx), "dimension 0 of result 1 has the extent 2, but there is memory for 3"));
    sn_drop(p);
}

/* The printed program is the same program. */
static void by_its_text(sn_context *cx)
{
    sn_program *first = sn_compile(cx, "[n]f32 -> [k]f32", positive);
    sn_program *p = sn_parse_program(cx, sn_explain(first, "term"));
    if (!p)
        fail_msg("%s", sn_message(cx));
    float x[] = {1, -2, 3}, y[3];
    int64_t n;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_upto(y, 3, &n)), SN_OK);
    assert_true(n == 2 && y[1] == 3);
    sn_drop(first);
    sn_drop(p);
}

#define WITH_BOTH(test)                                                                                                \
    static void test##_with_both(void **state)                                                                         \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        both_in_turn(test);                                                                                            \
    }
WITH_BOTH(up_to)
WITH_BOTH(too_small)
WITH_BOTH(pairs)
WITH_BOTH(in_structs)
WITH_BOTH(dimensions)
WITH_BOTH(wrong_arguments)
WITH_BOTH(pending)
WITH_BOTH(kept_and_exact)
WITH_BOTH(by_its_text)

/* --- the device's results are the interpreter's --- */

static sn_acc all_scans(sn_acc a)
{
    sn_acc total, other;
    sn_acc left = sn_scanl_x(sn_add, 1, a, &total), right = sn_scanr_x(sn_add, 1, a, &other);
    return sn_results(sn_scanl1(sn_add, a), sn_scanr1(sn_max, a), sn_postscan(sn_min, 2, a), left, total, right, other,
                      sn_scanl(sn_add, 1, a), sn_scanr(sn_add, 1, a));
}

/* x -> a x + b, composed: keeps order. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc ordered(sn_acc a)
{
    sn_acc total;
    sn_scalar z = sn_tuple(1, 3);
    sn_acc before = sn_scanl_x(compose, z, a, &total);
    return sn_results(sn_scanl1(compose, a), sn_prescanr(compose, z, a), before, total);
}

static sn_scalar is_odd(sn_scalar x)
{
    return sn_ne(sn_bit_and(x, 1), 0);
}

static sn_acc kept(sn_acc a)
{
    sn_acc odd = sn_filter(is_odd, a), count, both = sn_partition(is_odd, a, &count);
    return sn_results(odd, both, count, sn_scanl1(sn_add, odd), sn_fold_all(sn_add, 0, odd), sn_map(sn_neg, odd));
}

/* A scan of what another one gives, whose pieces cannot be added up before that is known. */
static sn_acc of_scan(sn_acc a)
{
    return sn_scanl1(sn_max, sn_zip_with(sn_bit_xor, a, sn_scanl1(sn_add, a)));
}

/* Types whose kernels for vectors are not made: rows as long as these. */
#define ONE_ROW 1, 31, 1, 63, 1, 127, 1, 1000, 1, 4099, 1, 70001

static void scans_of_rows(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T, [n]T, T, [n]T, T, [m]T, [m]T", all_scans, "i32 f64", SMALL, SIZES);
    both("[k,n]T -> [k,n]T, [k,n]T, [k,n]T, [k,n]T, [k]T, [k,n]T, [k]T, [k,m]T, [k,m]T", all_scans, "i8 u16 u64 f32",
         SMALL, MATRICES, ONE_ROW);
}

static void scans_of_scans(void **state)
{
    (void)state;
    both("[n]T -> [n]T", of_scan, "i32 u64", SMALL, 1, 31, 63, 1000, 4099, 70001);
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 3);
}

/* Sums of numbers that are converted, which are no counts, and of conditions, which are. */
static sn_acc widened(sn_acc a)
{
    sn_acc wide = sn_map(sn_to_i64, a), flags = sn_map(sn_to_i32, sn_map(is_large, a));
    return sn_results(sn_scanl1(sn_add, wide), sn_scanl1(sn_add, flags), sn_sum(wide), sn_sum(flags),
                      sn_filter(is_large, a));
}

static void sums_of_what_is_converted(void **state)
{
    (void)state;
    both("[n]T -> [n]i64, [n]i32, i64, i32, [m]T", widened, "u8 i16", MIXED, SIZES);
    both("[k,n]T -> [k,n]i64, [k,n]i32, [k]i64, [k]i32, [m]T", widened, "u8", MIXED, MATRICES, ONE_ROW);
}

static void scans_that_keep_order(void **state)
{
    (void)state;
    both("[n](T, T) -> [n](T, T), [n](T, T), [n](T, T), (T, T)", ordered, "i32", SMALL, SIZES);
    both("[n](T, T) -> [n](T, T), [n](T, T), [n](T, T), (T, T)", ordered, "u8", MIXED, SIZES); /* products of bytes */
    both("[k,n](T, T) -> [k,n](T, T), [k,n](T, T), [k,n](T, T), [k](T, T)", ordered, "i16 u64", SMALL, MATRICES,
         ONE_ROW);
}

/* The order of docs/determinism.md: operators on integers that do not associate show every exchange, and so do sums of
 * floats. */
static sn_scalar chain(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, 3), sn_mul(y, 5));
}

static sn_acc chains(sn_acc a)
{
    sn_acc total, other;
    sn_acc left = sn_scanl_x(sn_associative(chain), 7, a, &total),
           right = sn_scanr_x(sn_associative(chain), 7, a, &other);
    return sn_results(sn_scanl1(sn_associative(chain), a), sn_scanr1(sn_associative(chain), a),
                      sn_postscan(sn_associative(chain), 7, a), left, total, right, other);
}

static sn_acc sums(sn_acc a)
{
    return sn_results(sn_scanl1(sn_add, a), sn_prescan(sn_add, 1, a), sn_prescanr(sn_add, 1, a));
}

static sn_acc running(sn_acc a)
{
    return sn_scanl1(sn_add, a);
}

static void scans_in_the_order_of_the_page(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T, [n]T, T, [n]T, T", chains, "u32 u8", MIXED, SIZES, 4095, 4096, 4097, 8192, 12353);
    both("[k,n]T -> [k,n]T, [k,n]T, [k,n]T, [k,n]T, [k]T, [k,n]T, [k]T", chains, "u64", MIXED, MATRICES, ONE_ROW, 3,
         4160, 2, 8193);
    both("[n]T -> [n]T, [n]T, [n]T", sums, "f32 f64", POSITIVE, SIZES, 4096, 4097, 8193);
    both("[n]T -> [n]T", running, "f32", POSITIVE, 530001); /* beyond a window of 128 pieces */
}

static void what_is_kept(void **state)
{
    (void)state;
    both("[n]T -> [k]T, [n]T, i64, [k]T, T, [k]T", kept, "u8 i32", SMALL, SIZES);
    both("[n,m]T -> [k]T, [l]T, i64, [k]T, T, [k]T", kept, "i64", SMALL, MATRICES, ONE_ROW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_to_with_both),
        cmocka_unit_test(too_small_with_both),
        cmocka_unit_test(pairs_with_both),
        cmocka_unit_test(in_structs_with_both),
        cmocka_unit_test(dimensions_with_both),
        cmocka_unit_test(wrong_arguments_with_both),
        cmocka_unit_test(pending_with_both),
        cmocka_unit_test(kept_and_exact_with_both),
        cmocka_unit_test(by_its_text_with_both),
        cmocka_unit_test(scans_of_rows),
        cmocka_unit_test(sums_of_what_is_converted),
        cmocka_unit_test(scans_that_keep_order),
        cmocka_unit_test(scans_of_scans),
        cmocka_unit_test(what_is_kept),
        cmocka_unit_test(scans_in_the_order_of_the_page),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
