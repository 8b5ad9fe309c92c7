/* Loops and choices of arrays: their values, which extents stay known, and what is said of wrong ones. */
#include "embed_test.h"
#include <string.h>

#define VALUES(...) (int)ARRAY_LENGTH(NUMBERS(__VA_ARGS__)), NUMBERS(__VA_ARGS__)
#define ROW(n, ...) ((const numbers[]){{1, {n}, NUMBERS(__VA_ARGS__)}})

/* --- values --- */

static sn_scalar doubled(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar is_small(sn_scalar x)
{
    return sn_lt(x, 100);
}

static sn_acc all_small(sn_acc a)
{
    return sn_all(sn_map(is_small, a));
}

static sn_acc double_all(sn_acc a)
{
    return sn_map(doubled, a);
}

static sn_acc until_hundred(sn_acc a)
{
    return sn_awhile(all_small, double_all, a);
}

static sn_acc thrice(sn_acc a)
{
    return sn_aiterate(3, double_all, a);
}

static sn_scalar plus(void *env, sn_scalar x)
{
    return sn_add(x, *(sn_scalar *)env);
}

static sn_acc add_round(sn_acc k, sn_acc a)
{
    sn_scalar round = sn_to_i32(sn_the(k));
    return sn_map(sn_closure(plus, &round), a);
}

static sn_acc triangle(sn_acc a)
{
    return sn_aloop(5, add_round, a);
}

static sn_acc tail(sn_acc a)
{
    return sn_tail(a);
}

static sn_acc longer_or_double(sn_acc a)
{
    return sn_acond(sn_gt(sn_extent(a, 0), 2), tail, double_all, a);
}

static sn_acc pair_step(sn_acc a, sn_acc b)
{
    return sn_results(b, sn_zip_with(sn_add, a, b));
}

static sn_acc fibonacci(sn_acc a, sn_acc b)
{
    return sn_result(sn_aiterate(10, pair_step, sn_results(a, b)), 0);
}

static void values(void **state)
{
    (void)state;
    expect_values(build("[n]i32 -> [n]i32", until_hundred), ROW(2, 3, 5), VALUES(96, 160));
    expect_values(build("[n]i32 -> [n]i32", thrice), ROW(2, 3, 5), VALUES(24, 40));
    expect_values(build("[n]i32 -> [n]i32", triangle), ROW(2, 3, 5), VALUES(13, 15));
    expect_values(build("[n]i32 -> [m]i32", longer_or_double), ROW(3, 1, 2, 3), VALUES(2, 3));
    expect_values(build("[n]i32 -> [m]i32", longer_or_double), ROW(2, 1, 2), VALUES(2, 4));
    expect_values(build("[n]i32, [n]i32 -> [n]i32", fibonacci),
                  (const numbers[]){{1, {1}, NUMBERS(0)}, {1, {1}, NUMBERS(1)}}, VALUES(55));
}

/* --- extents --- */

static sn_acc still_known(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_add, sn_aiterate(3, double_all, a), b);
}

static sn_acc drop_last(sn_acc a)
{
    return sn_init(a);
}

static sn_acc shorter(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_add, sn_aiterate(3, drop_last, a), b);
}

/* Extents that visibly stay are those outside: nothing is left to be compared when it runs. */
static void extents(void **state)
{
    (void)state;
    built *b = build("[n]i32, [n]i32 -> [n]i32", still_known);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->program->check.n, 0);
    assert_null(strstr(b->text, "extent step"));
    built_free(b);
    b = build("[n]i32, [n]i32 -> [m]i32", shorter);
    assert_string_equal(b->messages, "");
    assert_int_equal(b->program->check.n, 1);
    assert_non_null(strstr(b->text, "part@"));
    built_free(b);
}

/* --- mistakes --- */

static sn_acc stolen;

static sn_acc keeps(sn_acc a)
{
    stolen = sn_map(doubled, a);
    return stolen;
}

enum { STOLEN_LINE = __LINE__ + 4 };
static sn_acc uses_outside(sn_acc a)
{
    sn_acc end = sn_aiterate(2, keeps, a);
    return sn_zip_with(sn_add, end, stolen);
}

static sn_acc to_float(sn_acc a)
{
    return sn_map(sn_to_f32, a);
}

enum { TYPE_LINE = __LINE__ + 3 };
static sn_acc other_type(sn_acc a)
{
    return sn_aiterate(2, to_float, a);
}

enum { COUNT_LINE = __LINE__ + 3 };
static sn_acc other_count(sn_acc a)
{
    return sn_aiterate(2, pair_step, a);
}

static sn_acc no_bool(sn_acc a)
{
    return sn_sum(a);
}

enum { CONDITION_LINE = __LINE__ + 3 };
static sn_acc wrong_condition(sn_acc a)
{
    return sn_awhile(no_bool, double_all, a);
}

enum { CHOICE_LINE = __LINE__ + 3 };
static sn_acc other_choice(sn_acc a)
{
    return sn_acond(sn_bool(true), to_float, double_all, a);
}

static sn_scalar loop_inside(void *env, sn_scalar x)
{
    (void)sn_aiterate(2, double_all, *(sn_acc *)env);
    return x;
}

enum { INSIDE_LINE = __LINE__ - 4 };
static sn_acc inside_scalars(sn_acc a)
{
    return sn_map(sn_closure(loop_inside, &a), a);
}

enum { NUMBER_LINE = __LINE__ + 3 };
static sn_acc no_such_result(sn_acc a)
{
    return sn_result(sn_aiterate(2, double_all, a), 1);
}

static sn_acc deeper(void *env, int count, const sn_acc *a)
{
    int left = *(int *)env - 1;
    (void)count;
    return left > 0 ? sn_aiterate(1, sn_body_of(deeper, &left, 1), a[0]) : a[0];
}

static sn_acc too_deep(sn_acc a)
{
    int depth = 20;
    return deeper(&depth, 1, &a);
}

static void mistakes(void **state)
{
    (void)state;
    const char *row = "[n]i32 -> [n]i32";
    expect_message(build(row, uses_outside), __FILE__, STOLEN_LINE, "zip_with", "function given to aiterate",
                   "leaves the function only as its result", NULL);
    expect_message(build(row, other_type), __FILE__, TYPE_LINE, "aiterate", "[n]f32", "[n]i32", "types and ranks stay",
                   NULL);
    expect_message(build(row, other_count), __FILE__, COUNT_LINE, "aiterate", "2 parameters", "given 1 array", NULL);
    expect_message(build(row, wrong_condition), __FILE__, CONDITION_LINE, "awhile", "one bool", "i32", "sn_any", NULL);
    expect_message(build(row, other_choice), __FILE__, CHOICE_LINE, "acond", "same types", "[n]f32", "[n]i32", NULL);
    expect_message(build(row, inside_scalars), __FILE__, INSIDE_LINE, "aiterate", "inside a scalar function", NULL);
    expect_message(build(row, no_such_result), __FILE__, NUMBER_LINE, "result", "no result 1", "there are 1", NULL);
    built *b = build(row, too_deep);
    assert_non_null(strstr(b->messages, "within each other"));
    built_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values), cmocka_unit_test(extents), cmocka_unit_test(mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
