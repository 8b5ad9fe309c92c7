/* Scans and what is kept: the values of every operation, from the left and from the right, and what is said of wrong
 * ones. */
#include "embed_test.h"
#include <string.h>

#define VALUES(...) (int)ARRAY_LENGTH(NUMBERS(__VA_ARGS__)), NUMBERS(__VA_ARGS__)
#define ROW(n, ...) ((const numbers[]){{1, {n}, NUMBERS(__VA_ARGS__)}})
#define MATRIX(n, m, ...) ((const numbers[]){{2, {n, m}, NUMBERS(__VA_ARGS__)}})

/* --- values --- */

static sn_acc from_left(sn_acc a)
{
    sn_acc total;
    sn_acc before = sn_scanl_x(sn_add, 10, a, &total);
    return sn_results(sn_scanl(sn_add, 10, a), sn_scanl1(sn_add, a), sn_prescan(sn_add, 10, a),
                      sn_postscan(sn_add, 10, a), before, total);
}

static sn_acc from_right(sn_acc a)
{
    sn_acc total;
    sn_acc behind = sn_scanr_x(sn_add, 10, a, &total);
    return sn_results(sn_scanr(sn_add, 10, a), sn_scanr1(sn_add, a), sn_prescanr(sn_add, 10, a),
                      sn_postscanr(sn_add, 10, a), behind, total);
}

static void sums(void **state)
{
    (void)state;
    const char *row = "[n]i32 -> [m]i32, [n]i32, [n]i32, [n]i32, [n]i32, i32";
    expect_values(build(row, from_left), ROW(3, 1, 2, 4),
                  VALUES(10, 11, 13, 17, /**/ 1, 3, 7, /**/ 10, 11, 13, /**/ 11, 13, 17, /**/ 10, 11, 13, /**/ 17));
    expect_values(build(row, from_right), ROW(3, 1, 2, 4),
                  VALUES(17, 16, 14, 10, /**/ 7, 6, 4, /**/ 16, 14, 10, /**/ 17, 16, 14, /**/ 16, 14, 10, /**/ 17));
    expect_values(build(row, from_left), ROW(0, 0), VALUES(10, 10));
    expect_values(build(row, from_right), ROW(0, 0), VALUES(10, 10));
    expect_values(build(row, from_left), ROW(1, 5), VALUES(10, 15, 5, 10, 15, 10, 15));
    const char *matrix = "[k,n]f64 -> [k,m]f64, [k,n]f64, [k,n]f64, [k,n]f64, [k,n]f64, [k]f64";
    expect_values(build(matrix, from_left), MATRIX(2, 2, 1, 2, 4, 8),
                  VALUES(10, 11, 13, 10, 14, 22, /**/ 1, 3, 4, 12, /**/ 10, 11, 10, 14, /**/ 11, 13, 14, 22, /**/ 10,
                         11, 10, 14, /**/ 13, 22));
    expect_values(build(matrix, from_right), MATRIX(2, 2, 1, 2, 4, 8),
                  VALUES(13, 12, 10, 22, 18, 10, /**/ 3, 2, 12, 8, /**/ 12, 10, 18, 10, /**/ 13, 12, 22, 18, /**/ 12,
                         10, 18, 10, /**/ 13, 22));
}

/* x -> a x + b, the left one applied first: associative, and order matters. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc maps_from_left(sn_acc a)
{
    sn_acc total;
    sn_scalar z = sn_tuple(2, 1);
    sn_acc before = sn_scanl_x(compose, z, a, &total);
    return sn_results(sn_scanl(compose, z, a), sn_scanl1(compose, a), before, total);
}

static sn_acc maps_from_right(sn_acc a)
{
    sn_acc total;
    sn_scalar z = sn_tuple(2, 1);
    sn_acc behind = sn_scanr_x(compose, z, a, &total);
    return sn_results(sn_scanr(compose, z, a), sn_scanr1(compose, a), behind, total);
}

/* z = 2x + 1, f = 3x + 1, g = 5x + 2 */
static void tuples_in_order(void **state)
{
    (void)state;
    const char *signature = "[n](i64, i64) -> [m](i64, i64), [n](i64, i64), [n](i64, i64), (i64, i64)";
    /* z f = 6x + 4; z f g = 30x + 22; f g = 15x + 7; f g z = 30x + 15; g z = 10x + 5 */
    expect_values(build(signature, maps_from_left), ROW(2, 3, 1, 5, 2),
                  VALUES(2, 1, 6, 4, 30, 22, /**/ 3, 1, 15, 7, /**/ 2, 1, 6, 4, /**/ 30, 22));
    expect_values(build(signature, maps_from_right), ROW(2, 3, 1, 5, 2),
                  VALUES(30, 15, 10, 5, 2, 1, /**/ 15, 7, 5, 2, /**/ 10, 5, 2, 1, /**/ 30, 15));
}

static sn_acc without_totals(sn_acc a)
{
    return sn_results(sn_scanl_x(sn_max, 0, a, NULL), sn_scanr_x(sn_max, 0, a, NULL));
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc kept(sn_acc a)
{
    sn_acc count;
    sn_acc both = sn_partition(is_positive, a, &count);
    return sn_results(sn_filter(is_positive, a), sn_pack(sn_map(is_positive, a), a), both, count,
                      sn_partition(is_positive, a, NULL));
}

static void elements_that_are_kept(void **state)
{
    (void)state;
    const char *signature = "[n]i32 -> [k]i32, [k]i32, [n]i32, i64, [n]i32";
    expect_values(build("[n]i32 -> [n]i32, [n]i32", without_totals), ROW(3, 1, 5, 2), VALUES(0, 1, 5, 5, 2, 0));
    expect_values(build(signature, kept), ROW(5, -1, 2, 3, -4, 5),
                  VALUES(2, 3, 5, /**/ 2, 3, 5, /**/ 2, 3, 5, -1, -4, /**/ 3, /**/ 2, 3, 5, -1, -4));
    expect_values(build(signature, kept), ROW(2, -1, -2), VALUES(-1, -2, 0, -1, -2));
    expect_values(build(signature, kept), ROW(2, 1, 2), VALUES(1, 2, 1, 2, 1, 2, 2, 1, 2));
    expect_values(build(signature, kept), ROW(0, 0), VALUES(0));
    expect_values(build("[n,m]i32 -> [k]i32, [k]i32, [l]i32, i64, [l]i32", kept), MATRIX(2, 2, 1, -2, -3, 4),
                  VALUES(1, 4, 1, 4, 1, 4, -2, -3, 2, 1, 4, -2, -3));
    expect_values(build("i32 -> [k]i32, [k]i32, [l]i32, i64, [l]i32", kept), ((const numbers[]){{0, {0}, NUMBERS(7)}}),
                  VALUES(7, 7, 7, 1, 7));
}

static sn_scalar is_first_larger(sn_scalar x, sn_scalar y)
{
    return sn_gt(x, y);
}

static sn_scalar tenth(void *env, sn_scalar i)
{
    const sn_scalar *n = env;
    return sn_add(sn_mul(i, 10), *n);
}

/* Sizes in scalar code and in shapes, before and behind other operations. */
static sn_acc sized(sn_acc a)
{
    sn_acc larger = sn_filter(is_first_larger, a);
    sn_scalar n = sn_size(larger), twice = sn_mul(sn_extent(larger, 0), 2);
    sn_acc tens = sn_generate(n, sn_closure(tenth, &n));
    sn_acc table = sn_replicate(sn_fst(larger), 2, SN_ALL);
    return sn_results(larger, tens, sn_zip_with(sn_add, sn_fst(larger), tens), table, sn_reshape(twice, table),
                      sn_take(sn_sub(n, 1), sn_snd(larger)), sn_unit(n));
}

static void sizes_that_the_run_tells(void **state)
{
    (void)state;
    expect_values(build("[n](i64, i64) -> [k](i64, i64), [k]i64, [k]i64, [2,k]i64, [l]i64, [j]i64, i64", sized),
                  ROW(4, 1, 2, 4, 3, 7, 6, 8, 9),
                  VALUES(4, 3, 7, 6, /**/ 2, 12, /**/ 6, 19, /**/ 4, 7, 4, 7, /**/ 4, 7, 4, 7, /**/ 3, /**/ 2));
}

/* prefix sums of what is not zero, each divided by its own element (LiveFusion, §2.1.2) */
static sn_scalar is_something(sn_scalar x)
{
    return sn_ne(x, 0);
}

static sn_acc ratios(sn_acc xs)
{
    sn_acc nz = sn_filter(is_something, xs);
    return sn_zip_with(sn_div, sn_prescan(sn_add, 0, nz), nz);
}

/* Of a chain of operations over what is kept the extents agree without a look at the run. */
static void ratios_of_what_is_kept(void **state)
{
    (void)state;
    built *b = build("[n]f64 -> [k]f64", ratios);
    assert_int_equal(b->program->check.n, 0);
    expect_values(b, ROW(5, 2, 0, 4, 0, 1), VALUES(0, 0.5, 6));
}

/* --- mistakes --- */

#define MISTAKE(name, ...)                                                                                             \
    enum { name##_line = __LINE__ };                                                                                   \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        (void)a;                                                                                                       \
        return __VA_ARGS__;                                                                                            \
    }
#define EXPECT(name, signature, operation, ...)                                                                        \
    expect_message(build(signature, name), __FILE__, name##_line, operation, __VA_ARGS__, NULL)

static sn_acc other;

static sn_acc keep_other(sn_acc a)
{
    return other = a;
}

MISTAKE(scan_of_single, sn_scanl1(sn_add, a))
MISTAKE(scanl_of_single, sn_scanl(sn_add, 0, a))
MISTAKE(scanr_x_of_single, sn_scanr_x(sn_add, 0, a, NULL))
MISTAKE(seed_of_other_type, sn_prescan(sn_add, sn_f64(0), a))
MISTAKE(seed_that_does_not_fit, sn_postscanr(sn_add, 0.5, a))
MISTAKE(operator_of_other_result, sn_scanr1(sn_lt, a))
MISTAKE(operator_of_one, sn_scanl1(sn_neg, a))
MISTAKE(no_operator, sn_scanl1((sn_fn){0}, a))
MISTAKE(test_without_bool, sn_filter(sn_neg, a))
MISTAKE(test_of_two, sn_filter(is_first_larger, a))
MISTAKE(tags_without_bool, sn_pack(a, a))
MISTAKE(tags_of_other_rank, sn_pack(sn_fill(sn_shape(2, 3), sn_bool(true)), a))
MISTAKE(tags_of_other_extent, sn_pack(sn_fill(5, sn_bool(true)), sn_take(3, sn_fill(4, sn_f32(0)))))
MISTAKE(partition_without_bool, sn_partition(sn_neg, a, &other))
MISTAKE(scalars, sn_map(is_something, sn_scanl1(sn_add, sn_filter(is_positive, a))))
MISTAKE(extent_of_element, sn_fill(sn_index(sn_filter(is_positive, a), 0), sn_f32(0)))

static sn_scalar scans_inside(sn_scalar x)
{
    return sn_the(sn_scanl1(sn_add, sn_unit(x)));
}
enum { scans_inside_line = __LINE__ - 2 };

static sn_acc scan_in_scalar(sn_acc a)
{
    return sn_map(scans_inside, a);
}

static sn_scalar filters_inside(sn_scalar x)
{
    (void)x;
    return sn_size(sn_filter(is_positive, other));
}
enum { filters_inside_line = __LINE__ - 2 };

static sn_acc filter_in_scalar(sn_acc a)
{
    return sn_map(filters_inside, keep_other(a));
}

static sn_acc two_lists(sn_acc a)
{
    return sn_zip(sn_filter(is_positive, a), sn_filter(is_something, a));
}

static void mistakes(void **state)
{
    (void)state;
    const char *single = "an array of rank 0 has no dimension to scan; it is a single value already";
    EXPECT(scan_of_single, "f32 -> f32", "scanl1", single);
    EXPECT(scanl_of_single, "f32 -> [n]f32", "scanl", single);
    EXPECT(scanr_x_of_single, "f32 -> f32", "scanr_x", single);
    EXPECT(seed_of_other_type, "[n]f32 -> [n]f32", "prescan",
           "the initial value is of type f64, but the elements of type f32");
    EXPECT(seed_that_does_not_fit, "[n]i32 -> [n]i32", "postscanr", "the initial value is the literal 0.5");
    EXPECT(operator_of_other_result, "[n]i32 -> [n]i32", "scanr1", "the function must return i32, but returns bool");
    EXPECT(operator_of_one, "[n]i32 -> [n]i32", "scanl1", "the function has 1 parameter, but is called with 2");
    EXPECT(no_operator, "[n]i32 -> [n]i32", "scanl1", "the function is NULL");
    EXPECT(test_without_bool, "[n]i32 -> [n]i32", "filter", "the function must return bool, but returns i32");
    EXPECT(test_of_two, "[n]i32 -> [n]i32", "filter", "the function has 2 parameters, but is called with 1");
    EXPECT(tags_without_bool, "[n]i32 -> [n]i32", "pack", "said by an array of bool, but this one is [n]i32");
    EXPECT(tags_of_other_rank, "[n]f32 -> [k]f32", "pack", "[2,3]bool", "[n]f32", "different ranks");
    EXPECT(tags_of_other_extent, "[n]f32 -> [k]f32", "pack", "the extents of tags and array differ in dimension 0",
           "5 and 3");
    EXPECT(partition_without_bool, "[n]i32 -> [n]i32", "partition", "the function must return bool");
    const int line = __LINE__ + 1;
    expect_message(build("[n]f32 -> [n]f32", scalars), __FILE__, line, "compile",
                   "result 1 is [kept by filter in line ", "]bool, but the signature has [n]f32", NULL);
    EXPECT(extent_of_element, "[n]i64 -> [k]f32", "fill", "an extent depends on an element of an array");
    expect_message(build("[n]f32 -> [n]f32", scan_in_scalar), __FILE__, scans_inside_line, "unit", "scalar", NULL);
    expect_message(build("[n]f32 -> [n]i64", filter_in_scalar), __FILE__, filters_inside_line, "filter", "scalar",
                   NULL);
}

/* Extents that may agree are compared when the program runs. */
static void extents_that_may_differ(void **state)
{
    (void)state;
    built *b = build("[n]f32 -> [k](f32, f32)", two_lists);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->program->check.n, 1);
    assert_string_equal(b->program->check.at[0].what, "zip: the operands' extents differ in dimension 0");
    built_free(b);
}

static sn_fn operator_;

static sn_acc scan_it(sn_acc a)
{
    return sn_scanl1(operator_, a);
}

/* The same warnings as folds give, without a hint at operations that do something else. */
static void operators_that_do_not_associate(void **state)
{
    (void)state;
    operator_ = sn_fn_2(sn_sub);
    built *b = build("[n]f32 -> [n]f32", scan_it);
    assert_int_equal(b->program->warning.n, 1);
    const char *said = b->program->warning.at[0].message;
    assert_non_null(strstr(said, "scanl1: the function is sub, which is not associative"));
    assert_non_null(strstr(said, "sn_associative(f) says that this is meant"));
    assert_null(strstr(said, "sfold"));
    built_free(b);
    operator_ = sn_associative_of(operator_);
    b = build("[n]f32 -> [n]f32", scan_it);
    assert_int_equal(b->program->warning.n, 0);
    built_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(tuples_in_order),
        cmocka_unit_test(elements_that_are_kept),
        cmocka_unit_test(sizes_that_the_run_tells),
        cmocka_unit_test(ratios_of_what_is_kept),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(extents_that_may_differ),
        cmocka_unit_test(operators_that_do_not_associate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
