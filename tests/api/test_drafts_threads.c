/* What takes long to compile is a draft while it has little to do, and is compiled again, once, when it has done more:
 * also where several threads call it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "sinter/sinter.h"

enum { STEPS = 600, FEW = 1000, MANY = 100000, CALLS = 60, THREADS = 4 };

static sn_scalar long_way(sn_scalar x)
{
    sn_scalar v = x;
    for (int s = 0; s < STEPS; s++)
        v = s % 2 ? sn_mul(v, sn_u32((uint32_t)(2 * s + 3))) : sn_bit_xor(v, sn_u32((uint32_t)(2 * s + 3)));
    return v;
}

static sn_acc long_map(sn_acc x)
{
    return sn_map(long_way, x);
}

static uint32_t expected(uint32_t v)
{
    for (uint32_t s = 0; s < STEPS; s++)
        v = s % 2 ? v * (2 * s + 3) : v ^ (2 * s + 3);
    return v;
}

static uint32_t *x;

static int set_up(void **state)
{
    (void)state;
    setenv("SINTER_CACHE", "off", 1);
    unsetenv("SINTER_DRAFTS");
    unsetenv("SINTER_DEVICE");
    x = malloc(MANY * sizeof(*x));
    for (uint32_t i = 0; x && i < MANY; i++)
        x[i] = i * 0x9e3779b9u;
    return x ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(x);
    return 0;
}

static bool call(sn_program *p, int n)
{
    uint32_t *y = calloc((size_t)n, sizeof(*y));
    bool good = y && sn_call(p, sn_in(x, n), sn_into(y, n)) == SN_OK;
    for (int i = 0; i < n && good; i++)
        good = y[i] == expected(x[i]);
    free(y);
    return good;
}

static sn_context *opened(sn_switch drafts)
{
    sn_context *cx =
        sn_open(&(sn_options){.size = sizeof(sn_options), .threads = 2, .device = "cpu", .drafts = drafts});
    assert_non_null(cx);
    return cx;
}

static sn_program *compiled(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]u32 -> [n]u32", long_map);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

static void drafts_are_replaced(void **state)
{
    (void)state;
    sn_context *cx = opened(SN_DEFAULT);
    sn_program *p = compiled(cx);
    assert_true(call(p, FEW));
    assert_true(call(p, FEW));
    assert_int_equal(sn_counts(cx).compiled, 1);
    for (int i = 0; i < CALLS; i++)
        assert_true(call(p, FEW));
    assert_int_equal(sn_counts(cx).compiled, 2);
    sn_drop(p);
    sn_close(cx);
}

static void no_drafts_for_much_work(void **state)
{
    (void)state;
    sn_context *cx = opened(SN_DEFAULT);
    sn_program *p = compiled(cx);
    for (int i = 0; i < 3; i++)
        assert_true(call(p, MANY));
    assert_int_equal(sn_counts(cx).compiled, 1);
    sn_drop(p);
    sn_close(cx);
}

static void no_drafts_where_they_are_off(void **state)
{
    (void)state;
    sn_context *cx = opened(SN_OFF);
    sn_program *p = compiled(cx);
    for (int i = 0; i < CALLS; i++)
        assert_true(call(p, FEW));
    assert_int_equal(sn_counts(cx).compiled, 1);
    sn_drop(p);
    sn_close(cx);
}

static void *call_often(void *env)
{
    bool good = true;
    for (int i = 0; i < CALLS && good; i++)
        good = call(env, FEW);
    return good ? env : NULL;
}

static void threads_replace_once(void **state)
{
    (void)state;
    sn_context *cx = opened(SN_DEFAULT);
    sn_program *p = compiled(cx);
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&thread[t], NULL, call_often, p), 0);
    for (int t = 0; t < THREADS; t++) {
        void *good = NULL;
        pthread_join(thread[t], &good);
        assert_ptr_equal(good, p);
    }
    assert_int_equal(sn_counts(cx).compiled, 2);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drafts_are_replaced),
        cmocka_unit_test(no_drafts_for_much_work),
        cmocka_unit_test(no_drafts_where_they_are_off),
        cmocka_unit_test(threads_replace_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
