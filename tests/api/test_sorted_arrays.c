/* What is made of sorted arrays: distinct elements, groups, and merges, of rows in order or not. The device's results
 * beside C's, or the interpreter's. */
#include "both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- distinct elements, groups --- */

static sn_acc distinct(sn_acc a)
{
    return sn_unique(a);
}

static void distinct_elements(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32 -> [k]f32", distinct);
    const float x[] = {3, 1, NAN, 3, -0.0f, 0, 1, NAN, -INFINITY};
    float y[9];
    int64_t n = -1;
    assert_int_equal(sn_call(p, sn_in(x, 9), sn_upto(y, 9, &n)), SN_OK);
    assert_int_equal(n, 6);
    assert_true(y[0] == -INFINITY && y[1] == 0 && signbit(y[1]) && y[2] == 0 && !signbit(y[2]) && y[3] == 1 &&
                y[4] == 3 && isnan(y[5]));
    assert_int_equal(sn_call(p, sn_in(x, 0), sn_upto(y, 9, &n)), SN_OK);
    assert_int_equal(n, 0);
    sn_drop(p);
}

static sn_acc groups(sn_acc keys, sn_acc values)
{
    sn_acc lengths, grouped, own = sn_group(keys, values, &lengths, &grouped);
    return sn_results(own, lengths, grouped);
}

static void grouped_values(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]u8, [n]i32 -> [k]u8, [k]i64, [n]i32", groups);
    const uint8_t key[] = {7, 3, 7, 9, 3, 7};
    const int32_t value[] = {1, 2, 3, 4, 5, 6}, wanted[] = {2, 5, 1, 3, 6, 4};
    uint8_t own[6];
    int64_t lengths[6], n = -1, m = -1;
    int32_t all[6];
    assert_non_null(p);
    assert_int_equal(
        sn_call(p, sn_in(key, 6), sn_in(value, 6), sn_upto(own, 6, &n), sn_upto(lengths, 6, &m), sn_into(all, 6)),
        SN_OK);
    assert_true(n == 3 && m == 3 && own[0] == 3 && own[1] == 7 && own[2] == 9);
    assert_true(lengths[0] == 2 && lengths[1] == 3 && lengths[2] == 1);
    assert_memory_equal(all, wanted, sizeof(all));
    assert_int_equal(
        sn_call(p, sn_in(key, 0), sn_in(value, 0), sn_upto(own, 6, &n), sn_upto(lengths, 6, &m), sn_into(all, 0)),
        SN_OK);
    assert_true(n == 0 && m == 0);
    sn_drop(p);
}

/* --- merges --- */

static sn_acc merged(sn_acc a, sn_acc b)
{
    return sn_merge(a, b);
}

static void merged_arrays(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[m]f32, [n]f32 -> [k]f32", merged);
    const float x[] = {-1, -0.0f, 2, NAN}, y[] = {-2, 0, 2, 3, 4}, wanted[] = {-2, -1, -0.0f, 0, 2, 2, 3, 4, NAN};
    float z[9];
    if (!p)
        fail_msg("%s", sn_message(cx));
    assert_int_equal(sn_call(p, sn_in(x, 4), sn_in(y, 5), sn_into(z, 9)), SN_OK);
    assert_memory_equal(z, wanted, sizeof(z));
    assert_int_equal(sn_call(p, sn_in(x, 0), sn_in(y, 5), sn_into(z, 5)), SN_OK);
    assert_memory_equal(z, y, sizeof(y));
    sn_drop(p);
}

static sn_scalar by_last_digit(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_bit_and(x, 7), sn_bit_and(y, 7));
}

static sn_scalar always(sn_scalar x, sn_scalar y)
{
    (void)y;
    return sn_eq(x, x);
}

static sn_acc merged_by_digit(sn_acc a, sn_acc b)
{
    return sn_merge_by(by_last_digit, a, b);
}

static sn_acc merged_without_order(sn_acc a, sn_acc b)
{
    return sn_merge_by(always, a, b);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* In the order of the digits alone, as it came otherwise. */
static void order_by_digit(const uint32_t *from, int64_t n, uint32_t *to)
{
    for (uint32_t d = 0; d < 8; d++)
        for (int64_t i = 0; i < n; i++)
            if ((from[i] & 7) == d)
                *to++ = from[i];
}

/* Of two rows, each in order or not, of m and n numbers: all programs, against C. */
static void merge_of(sn_program *const *p, int64_t m, int64_t n, int in_order)
{
    uint32_t *all = calloc((size_t)(m + n) + 1, 4), *digits = calloc((size_t)(m + n) + 1, 4),
             *wanted = calloc((size_t)(m + n) + 1, 4), *out = calloc((size_t)(m + n) + 1, 4);
    for (int64_t i = 0; i < m + n; i++)
        all[i] = (uint32_t)((uint64_t)i * 2654435761u % 30011);
    if (in_order & 1)
        qsort(all, (size_t)m, 4, compare_numbers);
    if (in_order & 2)
        qsort(all + m, (size_t)n, 4, compare_numbers);
    memcpy(wanted, all, (size_t)(m + n) * 4);
    qsort(wanted, (size_t)(m + n), 4, compare_numbers);
    assert_int_equal(sn_call(p[0], sn_in(all, m), sn_in(all + m, n), sn_into(out, m + n)), SN_OK);
    assert_memory_equal(out, wanted, (size_t)(m + n) * 4);
    order_by_digit(all, m, digits);
    order_by_digit(all + m, n, digits + m);
    const uint32_t *rows = in_order ? digits : all;
    order_by_digit(rows, m + n, wanted);
    assert_int_equal(sn_call(p[1], sn_in(rows, m), sn_in(rows + m, n), sn_into(out, m + n)), SN_OK);
    assert_memory_equal(out, wanted, (size_t)(m + n) * 4);
    assert_int_equal(sn_call(p[2], sn_in(all, m), sn_in(all + m, n), sn_into(out, m + n)), SN_OK);
    qsort(out, (size_t)(m + n), 4, compare_numbers);
    qsort(all, (size_t)(m + n), 4, compare_numbers);
    assert_memory_equal(out, all, (size_t)(m + n) * 4);
    free(all);
    free(digits);
    free(wanted);
    free(out);
}

static void merges(sn_context *cx)
{
    static const int64_t of[][2] = {{0, 1},       {1, 0},       {1, 1},         {3, 100},      {100, 33},  {513, 512},
                                    {1025, 3},    {4095, 4097}, {0, 5000},      {5000, 0},     {20011, 1}, {1, 20011},
                                    {8192, 8192}, {6000, 9000}, {30001, 40001}, {16384, 16384}};
    sn_program *p[] = {sn_compile(cx, "[m]u32, [n]u32 -> [k]u32", merged),
                       sn_compile(cx, "[m]u32, [n]u32 -> [k]u32", merged_by_digit),
                       sn_compile(cx, "[m]u32, [n]u32 -> [k]u32", merged_without_order)};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        if (!p[i])
            fail_msg("%s", sn_message(cx));
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int in_order = getenv("SINTER_TEST_SAMPLE") ? 3 : 0; in_order < 4; in_order++)
            merge_of(p, of[i][0], of[i][1], in_order);
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        sn_drop(p[i]);
}

static void two_rows(void **state)
{
    (void)state;
    both_in_turn(merges);
}

static sn_acc merged_pairs(sn_acc a, sn_acc b)
{
    return sn_merge(a, b);
}

/* Tuples of any types, NaNs among them: the device beside the interpreter. Of rows in order the plan merges. */
static void two_rows_of_tuples(void **state)
{
    (void)state;
    enum { M = 3000, N = 2500 };
    struct pair {
        double x;
        int8_t y;
    } *a = calloc(M + N, sizeof *a), *out[2] = {calloc(M + N, sizeof *a), calloc(M + N, sizeof *a)};
    sn_context *cx[] = {both_cpu(), both_interpreter()};
    for (int i = 0; i < M + N; i++) {
        int k = i < M ? i : i - M;
        a[i] = (struct pair){k / 3 > 800 ? NAN : k / 3 - 400.5, (int8_t)(k % 3 + (i < M))};
    }
    for (int i = 0; i < 2; i++) {
        sn_program *p = sn_compile(cx[i], "[m](f64, i8), [n](f64, i8) -> [k](f64, i8)", merged_pairs);
        if (!p)
            fail_msg("%s", sn_message(cx[i]));
        assert_int_equal(sn_call(p, sn_structs(a, M), sn_structs(a + M, N), sn_structs(out[i], M + N)), SN_OK);
        assert_non_null(strstr(sn_explain(p, "plan"), "find sorted runs"));
        sn_drop(p);
    }
    for (int i = 0; i < M + N; i++)
        assert_true(!memcmp(&out[0][i].x, &out[1][i].x, sizeof(double)) && out[0][i].y == out[1][i].y);
    free(a);
    free(out[0]);
    free(out[1]);
}

static void made_of_sorted_arrays(void **state)
{
    (void)state;
    both_in_turn(merged_arrays);
    both_in_turn(distinct_elements);
    both_in_turn(grouped_values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_of_sorted_arrays),
        cmocka_unit_test(two_rows),
        cmocka_unit_test(two_rows_of_tuples),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
