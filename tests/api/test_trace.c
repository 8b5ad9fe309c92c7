/* sn_trace: what is said, in which order and where, by the CPU's code and by the interpreter; that it changes nothing,
 * and stays behind its conditions. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1100 };
static char *said[MOST];
static int lines, traced_at;

static void hear(void *env, const char *text)
{
    (void)env;
    if (lines < MOST)
        said[lines++] = strdup(text);
}

static void forget(void)
{
    while (lines)
        free(said[--lines]);
}

static sn_context *opened(const char *device, int threads)
{
    sn_options options = {.size = sizeof(options), .message = hear, .device = device, .threads = threads};
    sn_context *cx = sn_open(&options);
    assert_non_null(cx);
    return cx;
}

/* Line number `at` of what was said. */
static void expect(int at, int line, long long element, const char *value)
{
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "test_trace.c:%d: trace: element %lld: %s", line, element, value);
    assert_true(at < lines);
    if (!strstr(said[at], wanted))
        fail_msg("%s\ninstead of %s", said[at], wanted);
}

static sn_scalar halved(sn_scalar x)
{
    traced_at = __LINE__ + 1;
    return sn_trace(sn_mul(x, 0.5f));
}

static sn_acc halves(sn_acc xs)
{
    return sn_map(halved, xs);
}

static void says_values(const char *device)
{
    sn_context *cx = opened(device, 1);
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", halves);
    float x[] = {1, -3, 1e10f}, y[3];
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(y, 3)), SN_OK);
    assert_true(y[0] == 0.5f && y[1] == -1.5f && y[2] == 5e9f);
    assert_int_equal(lines, 3);
    expect(0, traced_at, 0, "0.5");
    expect(1, traced_at, 1, "-1.5");
    expect(2, traced_at, 2, "5e+09");
    forget();
    sn_drop(p);
    sn_close(cx);
}

static void values(void **state)
{
    (void)state;
    says_values("cpu");
    says_values("interpreter");
}

/* Only what is evaluated is traced: behind a condition, and before an error. */
static sn_scalar divided(sn_scalar x)
{
    traced_at = __LINE__ + 1;
    return sn_if(sn_gt(x, 2), sn_div(sn_i32(100), sn_sub(sn_trace(x), 5)), 0);
}

static sn_acc quotients(sn_acc xs)
{
    return sn_map(divided, xs);
}

static void says_some(const char *device)
{
    sn_context *cx = opened(device, 1);
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", quotients);
    int32_t x[40], y[40];
    for (int i = 0; i < 40; i++)
        x[i] = i % 4 == 3 ? 7 + i : -i;
    assert_int_equal(sn_call(p, sn_in(x, 40), sn_into(y, 40)), SN_OK);
    assert_int_equal(lines, 10);
    for (int i = 0; i < 10; i++) {
        char value[16];
        snprintf(value, sizeof(value), "%d", x[4 * i + 3]);
        expect(i, traced_at, 4 * i + 3, value);
    }
    forget();
    x[7] = 5;
    assert_int_equal(sn_call(p, sn_in(x, 40), sn_into(y, 40)), SN_DIVISION);
    assert_true(lines >= 2);
    expect(0, traced_at, 3, "10");
    expect(1, traced_at, 7, "5");
    assert_non_null(strstr(said[lines - 1], "division by zero"));
    forget();
    sn_drop(p);
    sn_close(cx);
}

static void behind_conditions(void **state)
{
    (void)state;
    says_some("cpu");
    says_some("interpreter");
}

/* In a loop: each round, in order, per element. */
static sn_scalar counted(sn_scalar i, sn_scalar x)
{
    traced_at = __LINE__ + 1;
    return sn_trace(sn_add(x, i));
}

static sn_scalar added(sn_scalar x)
{
    return sn_loop(3, counted, x);
}

static sn_acc sums(sn_acc xs)
{
    return sn_map(added, xs);
}

static void says_rounds(const char *device)
{
    sn_context *cx = opened(device, 1);
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", sums);
    int64_t x[] = {10, 20}, y[2];
    assert_int_equal(sn_call(p, sn_in(x, 2), sn_into(y, 2)), SN_OK);
    assert_true(y[0] == 13 && y[1] == 23);
    assert_int_equal(lines, 6);
    const char *wanted[] = {"10", "11", "13", "20", "21", "23"};
    for (int i = 0; i < 6; i++)
        expect(i, traced_at, i / 3, wanted[i]);
    forget();
    sn_drop(p);
    sn_close(cx);
}

static void in_loops(void **state)
{
    (void)state;
    says_rounds("cpu");
    says_rounds("interpreter");
}

/* The first thousand elements of many, whichever thread saw them first, and how many more there were. */
static void the_first_of_many(void **state)
{
    (void)state;
    enum { N = 200000 };
    static float x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = 2 * (float)i;
    sn_context *cx = opened("cpu", 0);
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", halves);
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    assert_int_equal(lines, 1001);
    for (int i = 0; i < 1000; i++) {
        char value[16];
        snprintf(value, sizeof(value), "%g", (double)i);
        expect(i, traced_at, i, value);
    }
    assert_string_equal(said[1000], "trace: and 199000 more values");
    forget();
    sn_drop(p);
    sn_close(cx);
}

/* Of a fold's elements and of all types. */
static sn_scalar both_traced(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_trace(sn_lt(x, sn_to_f64(y))), sn_trace(sn_to_f64(sn_trace(y))));
}

static sn_acc all_types(sn_acc xs, sn_acc ys)
{
    sn_acc pairs = sn_zip_with(both_traced, xs, ys);
    return sn_results(sn_get(pairs, 0), sn_fold(sn_add, 0, sn_get(pairs, 1)));
}

static void says_types(const char *device)
{
    sn_context *cx = opened(device, 1);
    sn_program *p = sn_compile(cx, "[n]f64, [n]u8 -> [n]bool, f64", all_types);
    double x[] = {0.25, 300}, sum = 0;
    uint8_t y[] = {255, 1};
    bool less[2];
    assert_int_equal(sn_call(p, sn_in(x, 2), sn_in(y, 2), sn_into(less, 2), sn_value(&sum)), SN_OK);
    assert_true(less[0] && !less[1] && sum == 256);
    const char *wanted[] = {"element 0: true", "element 1: false", "element 0: 255", "element 1: 1"};
    for (int k = 0; k < 4; k++) {
        bool found = false;
        for (int i = 0; i < lines; i++)
            found |= strstr(said[i], wanted[k]) != NULL;
        assert_true(found);
    }
    forget();
    sn_drop(p);
    sn_close(cx);
}

/* Numbers of every type of integers are said as they are. */
static sn_acc each_traced(sn_acc a, sn_acc b, sn_acc c, sn_acc d)
{
    return sn_results(sn_map(sn_trace, a), sn_map(sn_trace, b), sn_map(sn_trace, c), sn_map(sn_trace, d));
}

static void says_integers(const char *device)
{
    sn_context *cx = opened(device, 1);
    sn_program *p = sn_compile(cx, "[n]u64, [n]u32, [n]u16, [n]i8 -> [n]u64, [n]u32, [n]u16, [n]i8", each_traced);
    uint64_t a[] = {UINT64_MAX}, ra[1];
    uint32_t b[] = {UINT32_MAX}, rb[1];
    uint16_t c[] = {UINT16_MAX}, rc[1];
    int8_t d[] = {INT8_MIN}, rd[1];
    assert_int_equal(sn_call(p, sn_in(a, 1), sn_in(b, 1), sn_in(c, 1), sn_in(d, 1), sn_into(ra, 1), sn_into(rb, 1),
                             sn_into(rc, 1), sn_into(rd, 1)),
                     SN_OK);
    assert_true(ra[0] == a[0] && rb[0] == b[0] && rc[0] == c[0] && rd[0] == d[0]);
    const char *wanted[] = {": 18446744073709551615", ": 4294967295", ": 65535", ": -128"};
    assert_int_equal(lines, 4);
    for (int k = 0; k < 4; k++) {
        bool found = false;
        for (int i = 0; i < lines; i++)
            found |= strstr(said[i], wanted[k]) != NULL;
        if (!found)
            fail_msg("%s, %s: %s, %s, %s", wanted[k], said[0], said[1], said[2], said[3]);
    }
    forget();
    sn_drop(p);
    sn_close(cx);
}

static void types(void **state)
{
    (void)state;
    says_integers("cpu");
    says_integers("interpreter");
    says_types("cpu");
    says_types("interpreter");
}

/* Loops that lanes, cuts or lines rearrange: each element is said once, whatever the extent. */
static sn_scalar twice(void *a, sn_scalar i)
{
    return sn_trace(sn_index(*(sn_acc *)a, sn_quot(i, 2)));
}

static sn_acc each_twice(sn_acc a)
{
    return sn_generate(sn_shape(sn_mul(sn_size(a), 2)), sn_closure(twice, &a));
}

static sn_scalar by_three(sn_scalar i, sn_scalar k, sn_scalar x)
{
    (void)i;
    return sn_trace(sn_mul(x, sn_to_f32(k)));
}

static sn_acc interleaved(sn_acc a)
{
    return sn_imap(by_three, a);
}

static sn_scalar turned(void *a, sn_scalar i)
{
    sn_scalar n = sn_size(*(sn_acc *)a);
    return sn_trace(sn_index(*(sn_acc *)a, sn_rem(sn_add(i, 5), n)));
}

static sn_acc rotated(sn_acc a)
{
    return sn_generate(sn_shape(sn_size(a)), sn_closure(turned, &a));
}

static sn_acc column_sums(sn_acc a)
{
    return sn_sum(sn_map(halved, sn_transpose(a)));
}

static sn_acc scan_and_sum(sn_acc a)
{
    sn_acc b = sn_map(halved, a);
    return sn_results(sn_postscan(sn_add, 0, b), sn_sum(b));
}

static void expect_lines(sn_context *cx, sn_status status, int n)
{
    if (status != SN_OK)
        fail_msg("%s", sn_message(cx));
    assert_int_equal(lines, n);
    forget();
}

static void once_an_element(void **state)
{
    (void)state;
    static float x[MOST], y[MOST], total;
    static const int extent[] = {1, 3, 17, 38, 75, 149, 260, 333}, columns[] = {1, 2, 7, 16, 20, 24};
    sn_context *cx = opened("cpu", 1);
    sn_program *two = sn_compile(cx, "[n]f32 -> [m]f32", each_twice);
    sn_program *three = sn_compile(cx, "[n,3]f32 -> [n,3]f32", interleaved);
    sn_program *turn = sn_compile(cx, "[n]f32 -> [n]f32", rotated);
    sn_program *sums = sn_compile(cx, "[n,m]f32 -> [m]f32", column_sums);
    sn_program *both = sn_compile(cx, "[n]f32 -> [n]f32, f32", scan_and_sum);
    for (unsigned i = 0; i < sizeof(extent) / sizeof(*extent); i++) {
        int n = extent[i];
        expect_lines(cx, sn_call(two, sn_in(x, n), sn_into(y, 2 * n)), 2 * n);
        expect_lines(cx, sn_call(three, sn_in(x, n, 3), sn_into(y, n, 3)), 3 * n);
        expect_lines(cx, sn_call(turn, sn_in(x, n), sn_into(y, n)), n);
        expect_lines(cx, sn_call(both, sn_in(x, n), sn_into(y, n), sn_value(&total)), n);
    }
    for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++)
        expect_lines(cx, sn_call(sums, sn_in(x, 40, columns[i]), sn_into(y, columns[i])), 40 * columns[i]);
    sn_drop(two);
    sn_drop(three);
    sn_drop(turn);
    sn_drop(sums);
    sn_drop(both);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),   cmocka_unit_test(behind_conditions),
                                       cmocka_unit_test(in_loops), cmocka_unit_test(the_first_of_many),
                                       cmocka_unit_test(types),    cmocka_unit_test(once_an_element)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
