/* Where results of packs go, whose extents are known when what is kept has been counted: arrays that hold no more than
 * they need, memory that they are written to at once if it has room for all, and copies where it has not. */
#include "both.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

enum { N = 100000, BEHIND = -77 };

static sn_scalar by_thousand(sn_scalar x)
{
    return sn_eq(sn_rem(x, 1000), 0);
}

static sn_scalar by_three(sn_scalar x)
{
    return sn_eq(sn_rem(x, 3), 0);
}

static sn_scalar by_seven(sn_scalar x)
{
    return sn_eq(sn_rem(x, 7), 0);
}

static sn_scalar is_negative(sn_scalar x)
{
    return sn_lt(x, 0);
}

static sn_acc thousands(sn_acc xs)
{
    return sn_filter(by_thousand, xs);
}

static sn_acc thirds(sn_acc xs)
{
    return sn_filter(by_three, xs);
}

/* 0, 1, ... */
static int32_t *numbers(int n)
{
    int32_t *x = malloc(((size_t)n + 1) * sizeof(*x));
    assert_non_null(x);
    for (int32_t i = 0; i < n; i++)
        x[i] = i;
    return x;
}

static int32_t *room(int n)
{
    int32_t *y = malloc(((size_t)n + 1) * sizeof(*y));
    assert_non_null(y);
    for (int i = 0; i <= n; i++)
        y[i] = BEHIND;
    return y;
}

static void are_multiples(const int32_t *y, int64_t kept, int32_t of)
{
    for (int64_t i = 0; i < kept; i++)
        assert_int_equal(y[i], i * of);
}

static sn_program *compiled(sn_context *cx, const char *signature, sn_acc (*f)(sn_acc))
{
    sn_program *p = sn_compile(cx, signature, f);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

static void fine(sn_context *cx, sn_status status)
{
    if (status != SN_OK)
        fail_msg("%s", sn_message(cx));
}

typedef struct spent {
    uint64_t copies, bytes;
} spent;

static spent since(sn_context *cx, const sn_counters *before)
{
    sn_counters now = sn_counts(cx);
    return (spent){now.copies - before->copies, now.copied_bytes - before->copied_bytes};
}

/* Of room for 100,000 numbers 100 are needed: the rest goes back. A third is worth no copy. */
static void arrays_hold_little_more_than_they_need(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    int32_t *x = numbers(N), *y = room(N);
    sn_program *few = compiled(cx, "[n]i32 -> [k]i32", thousands);
    sn_array *a = NULL;
    sn_counters before = sn_counts(cx);
    fine(cx, sn_call(few, sn_in(x, N), sn_keep(&a)));
    spent s = since(cx, &before);
    assert_int_equal(s.copies, 1);
    assert_int_equal(s.bytes, 400);
    assert_int_equal(sn_array_extent(a, 0), 100);
    assert_int_equal(sn_bytes(a), 400);
    assert_true(a->granted < 1024);
    fine(cx, sn_read(a, y, 400));
    are_multiples(y, 100, 1000);
    sn_free(a);
    before = sn_counts(cx);
    fine(cx, sn_call(few, sn_in(x, 5000), sn_keep(&a))); /* too little is gained */
    assert_int_equal(since(cx, &before).copies, 0);
    assert_int_equal(sn_array_extent(a, 0), 5);
    sn_free(a);
    sn_drop(few);
    free(x);
    free(y);
}

/* Room for all: written there. Room for what is kept: a copy. Less: nothing is written, and it is said how much is
 * needed.
 */
static void memory_of_the_caller_is_used_where_all_would_fit(void **state)
{
    (void)state;
    const int kept = (N + 2) / 3;
    sn_context *cx = both_cpu();
    sn_program *p = compiled(cx, "[n]i32 -> [k]i32", thirds);
    int32_t *x = numbers(N);
    const int capacity[] = {N + 5, N, N - 1, kept, kept - 1, 0};
    for (size_t i = 0; i < sizeof(capacity) / sizeof(*capacity); i++) {
        int32_t *y = room(capacity[i]);
        int64_t n = -1;
        sn_counters before = sn_counts(cx);
        sn_status status = sn_call(p, sn_in(x, N), sn_upto(y, capacity[i], &n));
        assert_int_equal(status, capacity[i] < kept ? SN_BAD_EXTENT : SN_OK);
        assert_int_equal(n, kept);
        if (on_cpu())
            assert_int_equal(since(cx, &before).copies, capacity[i] >= kept && capacity[i] < N);
        int64_t written = status == SN_OK ? kept : 0;
        are_multiples(y, written, 3);
        for (int64_t k = written; k <= capacity[i]; k++)
            assert_int_equal(y[k], BEHIND);
        free(y);
    }
    sn_drop(p);
    free(x);
}

/* --- several results --- */

static sn_acc three(sn_acc xs)
{
    sn_acc some = sn_filter(by_three, xs), fewer = sn_filter(by_seven, some);
    return sn_results(some, fewer, sn_filter(is_negative, xs));
}

static void all_that_is_needed_is_told(sn_context *cx)
{
    sn_program *p = compiled(cx, "[n]i32 -> [k]i32, [l]i32, [m]i32", three);
    int32_t *x = numbers(N), *y = room(N), *z = room(N), *w = room(N);
    int64_t k = -1, l = -1, m = -1;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_upto(y, 10, &k), sn_upto(z, 20, &l), sn_upto(w, 0, &m)), SN_BAD_EXTENT);
    assert_int_equal(k, 33334);
    assert_int_equal(l, 4762);
    assert_int_equal(m, 0);
    assert_non_null(strstr(sn_message(cx), "result 1 has 33334 elements, but there is memory for 10"));
    fine(cx, sn_call(p, sn_in(x, N), sn_upto(y, k, &k), sn_upto(z, l, &l), sn_upto(w, m, &m)));
    are_multiples(y, 33334, 3);
    are_multiples(z, 4762, 21);
    assert_true(y[33334] == BEHIND && z[4762] == BEHIND && w[0] == BEHIND);
    sn_drop(p);
    free(x);
    free(y);
    free(z);
    free(w);
}

static void several_results(void **state)
{
    (void)state;
    all_that_is_needed_is_told(both_cpu());
    all_that_is_needed_is_told(both_interpreter());
}

/* --- what is made of what is kept --- */

static sn_acc twice(sn_acc xs)
{
    sn_acc some = sn_filter(by_three, xs);
    return sn_results(some, some, sn_reverse(some), sn_filter(by_seven, sn_force(some)), sn_fold_all(sn_add, 0, some));
}

static sn_acc smallest(sn_acc xs)
{
    return sn_fold1(sn_min, sn_filter(is_negative, sn_map(sn_neg, xs)));
}

static sn_acc smallest_forced(sn_acc xs)
{
    return sn_fold1(sn_min, sn_force(sn_filter(is_negative, sn_map(sn_neg, xs))));
}

static void later_loops_have_the_true_extent(void **state)
{
    (void)state;
    both("[n]T -> [k]T, [l]T, [m]T, [o]T, T", twice, "i32 i64", SMALL, SIZES);
    both("[n]T -> T", smallest, "i32", SMALL, SIZES);        /* of none for the sizes 0 and 1 */
    both("[n]T -> T", smallest_forced, "i32", SMALL, SIZES); /* the same, found in another loop */
}

/* One array of what is kept is two results of different memory. */
static void a_pack_may_be_two_results(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    sn_program *p = compiled(cx, "[n]i32 -> [k]i32, [l]i32, [m]i32, [o]i32, i32", twice);
    int32_t *x = numbers(N), *y = room(N), sum, *z = room(N);
    int64_t k = -1, o = -1;
    sn_array *again = NULL, *back = NULL;
    fine(cx, sn_call(p, sn_in(x, N), sn_upto(y, N, &k), sn_keep(&again), sn_keep(&back), sn_upto(z, N, &o),
                     sn_value(&sum)));
    assert_int_equal(k, 33334);
    assert_int_equal(sn_array_extent(again, 0), k);
    assert_int_equal(o, 4762);
    are_multiples(y, k, 3);
    are_multiples(z, o, 21);
    fine(cx, sn_read(again, z, (size_t)k * 4));
    assert_memory_equal(y, z, (size_t)k * 4);
    fine(cx, sn_read(back, z, (size_t)k * 4));
    assert_int_equal(z[0], y[k - 1]);
    sn_free(again);
    sn_free(back);
    sn_drop(p);
    free(x);
    free(y);
    free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_hold_little_more_than_they_need),
        cmocka_unit_test(memory_of_the_caller_is_used_where_all_would_fit),
        cmocka_unit_test(several_results),
        cmocka_unit_test(later_loops_have_the_true_extent),
        cmocka_unit_test(a_pack_may_be_two_results),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
