/* sn_check_operator: right operators pass, wrong ones are found out with values for which they are wrong. */
#include "both.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_scalar mean(sn_scalar a, sn_scalar b)
{
    return sn_mul(sn_add(a, b), 0.5f);
}

static sn_scalar first(sn_scalar a, sn_scalar b)
{
    (void)b;
    return a;
}

static sn_scalar less(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_lt(a, b), a, b);
}

static sn_scalar saturated(sn_scalar a, sn_scalar b)
{
    return sn_to_i8(sn_max(sn_min(sn_add(sn_to_i32(a), sn_to_i32(b)), 127), -128));
}

/* The larger value, and of equal ones the smaller index. */
static sn_scalar larger(sn_scalar a, sn_scalar b)
{
    sn_scalar x = sn_get(a, 0), y = sn_get(b, 0), earlier = sn_lt(sn_get(a, 1), sn_get(b, 1));
    return sn_if(sn_or(sn_gt(x, y), sn_and(sn_eq(x, y), earlier)), a, b);
}

/* Matrices of two rows (a b; 0 1): affine functions, one after the other. */
static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_get(f, 0), sn_get(g, 0)), sn_add(sn_mul(sn_get(f, 0), sn_get(g, 1)), sn_get(f, 1)));
}

/* Counts and means of two parts, the means not weighted. */
static sn_scalar merged(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), mean(sn_get(a, 1), sn_get(b, 1)));
}

static sn_scalar divides(sn_scalar a, sn_scalar b)
{
    return sn_div(a, b);
}

#define PASSES(types, ...) passes(__LINE__, sn_check_operator(both_cpu(), types, __VA_ARGS__))
#define FAILS(says, types, ...) fails(__LINE__, says, sn_check_operator(both_cpu(), types, __VA_ARGS__))

static void passes(int line, sn_status status)
{
    if (status != SN_OK)
        fail_msg("line %d: %s", line, sn_message(both_cpu()));
}

static void fails(int line, const char *says, sn_status status)
{
    if (status != SN_BAD_OPERATOR || !strstr(sn_message(both_cpu()), says) ||
        !strstr(sn_message(both_cpu()), "test_check_operator.c:"))
        fail_msg("line %d: not \"%s\": %d %s", line, says, status, sn_message(both_cpu()));
}

static void right_ones_pass(void **state)
{
    const float zero = 0, one = 1;
    const double nothing = 0;
    const int32_t none = 0;
    const uint8_t all = 255;
    const bool yes = true;
    const struct {
        int32_t scale, offset;
    } same = {1, 0};
    (void)state;
    PASSES("f32", sn_add, sn_value(&zero));
    PASSES("f64", sn_add, sn_value(&nothing));
    PASSES("f32", sn_mul, sn_value(&one));
    PASSES("f32", sn_min);
    PASSES("i32", sn_add, sn_value(&none));
    PASSES("u8", sn_min, sn_value(&all));
    PASSES("bool", sn_land, sn_value(&yes));
    PASSES("char", sn_max);
    PASSES("i64", sn_commutative(sn_bit_xor));
    PASSES("f64", first);
    PASSES("(i32, i64)", sn_commutative(larger));
    PASSES("{scale: i32, offset: i32}", after, sn_struct(&same));
    PASSES("(i32, i32)", after, sn_value(&same.scale), sn_value(&same.offset));
}

static void wrong_ones_are_found_out(void **state)
{
    const float one = 1, infinite = INFINITY;
    const int8_t none = 0;
    (void)state;
    FAILS("the operator is not associative: f(f(a, b), c) = ", "i32", sn_sub);
    FAILS("not associative", "f32", sn_sub);
    FAILS("not associative", "f32", mean);
    FAILS("NaN", "f32", less);
    FAILS("not associative", "i8", saturated);
    FAILS("not associative", "(i32, f32)", merged);
    FAILS("the operator does not commute: f(a, b) = ", "i16", sn_commutative(first));
    FAILS("the initial value is not neutral: f(z, a) = ", "f32", sn_add, sn_value(&one));
    FAILS("not neutral: f(z, a) = inf, but a = NaN, where a = NaN", "f32", sn_min, sn_value(&infinite));
    FAILS("the initial value is not neutral: f(z, a) = 0, but a = ", "i8", first, sn_value(&none));
}

/* The values of a counterexample are one: those of the message, put in. */
static void counterexamples_hold(void **state)
{
    int left, right, a, b, c;
    (void)state;
    assert_int_equal(sn_check_operator(both_cpu(), "i32", sn_sub), SN_BAD_OPERATOR);
    const char *said = strstr(sn_message(both_cpu()), "f(f(a");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "f(f(a, b), c) = %d, but f(a, f(b, c)) = %d, where a = %d, b = %d, c = %d", &left,
                            &right, &a, &b, &c),
                     5);
    assert_int_equal(a - b - c, left);
    assert_int_equal(a - (b - c), right);
    assert_int_not_equal(left, right);
}

static void mistakes_are_explained(void **state)
{
    const int32_t none = 0;
    sn_context *cx = both_cpu();
    (void)state;
    assert_int_equal(sn_check_operator(cx, "f33", sn_add), SN_BAD_PROGRAM);
    assert_int_equal(sn_check_operator(cx, "[m]f32", sn_add), SN_BAD_PROGRAM);
    assert_int_equal(sn_check_operator(cx, "(i32, i32)", sn_add), SN_BAD_PROGRAM);
    assert_int_equal(sn_check_operator(cx, "(i32, i32)", after, sn_value(&none)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "1 values for an initial value of 2 components"));
    assert_int_equal(sn_check_operator(cx, "f32", sn_add, sn_value(&none)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_check_operator(cx, NULL, sn_add), SN_BAD_ARGUMENT);
    assert_int_equal(sn_check_operator(cx, "i32", divides), SN_DIVISION);
    assert_int_equal(sn_check_operator(NULL, "i32", sn_add), SN_BAD_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_ones_pass),
        cmocka_unit_test(wrong_ones_are_found_out),
        cmocka_unit_test(counterexamples_hold),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
