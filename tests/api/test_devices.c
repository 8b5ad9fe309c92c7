/* Calls that are started and waited for, several at once, from several threads and contexts, on the device that SINTER_DEVICE names,
 * else on the CPU. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 3000, PENDING = 8, THREADS = 3, ROUNDS = 10 };

static sn_scalar twice(sn_scalar x)
{
    return sn_mul(x, 2);
}

static sn_acc doubled(sn_acc a)
{
    return sn_map(twice, a);
}

static sn_acc total(sn_acc a)
{
    return sn_fold(sn_add, 0, sn_map(twice, a));
}

static sn_acc gathered(sn_acc index, sn_acc a)
{
    return sn_gather(index, a);
}

static sn_scalar halved(sn_scalar x, sn_scalar y)
{
    return sn_quot(x, y);
}

/* The element that a gather takes divides: what a failed gather leaves behind must not be looked at. */
static sn_acc divided(sn_acc index, sn_acc a)
{
    return sn_zip_with(halved, index, sn_force(sn_gather(index, a)));
}

static sn_program *compiled(sn_context *cx, const char *signature, sn_body body)
{
    if (!cx)
        skip();
    sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

static void contains(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, message);
}

static void several_pending(void **state)
{
    (void)state;
    static float a[PENDING][N], b[PENDING][N];
    float sum[PENDING];
    sn_pending *map[PENDING], *fold[PENDING];
    sn_program *p = compiled(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(doubled));
    sn_program *q = compiled(both_cpu(), "[n]f32 -> f32", SN_BODY(total));
    for (int k = 0; k < PENDING; k++) {
        for (int i = 0; i < N; i++)
            a[k][i] = (float)(i % (k + 2));
        map[k] = sn_start(p, sn_in(a[k], N - k), sn_into(b[k], N - k));
        fold[k] = sn_start(q, sn_in(a[k], N - k), sn_value(&sum[k]));
    }
    for (int k = PENDING - 1; k >= 0; k--) {
        assert_int_equal(sn_wait(fold[k]), SN_OK);
        assert_int_equal(sn_wait(map[k]), SN_OK);
        double wanted = 0;
        for (int i = 0; i < N - k; i++) {
            assert_true(b[k][i] == 2 * a[k][i]);
            wanted += (double)b[k][i];
        }
        assert_true((double)sum[k] == wanted);
    }
    sn_drop(p);
    sn_drop(q);
}

static void arrays_pending(void **state)
{
    (void)state;
    static float a[N], b[N];
    for (int i = 0; i < N; i++)
        a[i] = (float)i;
    sn_program *p = compiled(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(doubled));
    sn_array *x = sn_upload(both_cpu(), sn_in(a, N)), *y = NULL, *z = NULL;
    assert_int_equal(sn_wait(sn_start(p, sn_held(x), sn_keep(&y))), SN_OK);
    assert_int_equal(sn_wait(sn_start(p, sn_give(y), sn_keep(&z))), SN_OK);
    assert_int_equal(sn_read(z, b, sizeof(b)), SN_OK);
    for (int i = 0; i < N; i++)
        assert_true(b[i] == 4 * a[i]);
    sn_free(x);
    sn_free(z);
    sn_drop(p);
}

static void failures_pending(void **state)
{
    (void)state;
    static float a[7];
    int32_t index[4] = {0, 6, -3, 9};
    float out[4];
    sn_array *kept = (sn_array *)(uintptr_t)8;
    sn_program *p = compiled(both_cpu(), "[n]i32, [m]f32 -> [n]f32", SN_BODY(gathered));
    sn_pending *w = sn_start(p, sn_in(index, 4), sn_in(a, 7), sn_into(out, 4));
    assert_non_null(w);
    assert_int_equal(sn_wait(w), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index -3 is outside the extent 7");
    contains(sn_message(both_cpu()), "at element 2");
    w = sn_start(p, sn_in(index, 4), sn_in(a, 7), sn_keep(&kept));
    assert_int_equal(sn_wait(w), SN_OUT_OF_RANGE);
    assert_null(kept);
    w = sn_start(p, sn_in(index, 4), sn_in(a, 7));
    assert_int_equal(sn_call(p, sn_in(index, 4), sn_in(index, 4), sn_into(out, 4)), SN_BAD_ARGUMENT); /* another message between */
    assert_int_equal(sn_wait(w), SN_BAD_ARGUMENT);
    contains(sn_message(both_cpu()), "takes 3 arguments");
    w = sn_start(p, sn_in(index, 4), sn_in(a, 7), sn_into(out, 3));
    assert_int_equal(sn_wait(w), SN_BAD_EXTENT);
    assert_int_equal(sn_wait(sn_start_n(NULL, 0, NULL)), SN_NO_PROGRAM);
    assert_int_equal(sn_wait(NULL), SN_BAD_ARGUMENT);
    index[2] = index[3] = 1;
    assert_int_equal(sn_wait(sn_start(p, sn_in(index, 4), sn_in(a, 7), sn_into(out, 4))), SN_OK);
    sn_drop(p);
}

/* Of several failing operations the first, as on a device that does one after the other. */
static void first_failure(void **state)
{
    (void)state;
    int32_t index[5] = {4, 5, 1, 9, 2}, a[5] = {3, 0, 1, 0, 7}, out[5];
    sn_program *p = compiled(both_cpu(), "[n]i32, [m]i32 -> [n]i32", SN_BODY(divided));
    assert_int_equal(sn_call(p, sn_in(index, 5), sn_in(a, 5), sn_into(out, 5)), SN_OUT_OF_RANGE);
    contains(sn_message(both_cpu()), "index 5 is outside the extent 5");
    contains(sn_message(both_cpu()), "at element 1");
    index[1] = index[3] = 0;
    assert_int_equal(sn_call(p, sn_in(index, 5), sn_in(a, 5), sn_into(out, 5)), SN_DIVISION);
    contains(sn_message(both_cpu()), "division by zero, at element 2");
    sn_drop(p);
}

typedef struct worker {
    pthread_t thread;
    sn_program *map, *fold;
    sn_array *held;
    int number;
    bool good;
} worker;

static void *work(void *env)
{
    worker *w = env;
    float x[N], y[N], sum = 0;
    w->good = true;
    for (int round = 0; round < ROUNDS && w->good; round++) {
        int n = 100 + 311 * round % (N - 100);
        double wanted = 0;
        for (int i = 0; i < n; i++) {
            x[i] = (float)((i + w->number) % 5);
            wanted += 2 * (double)x[i];
        }
        sn_array *twice_held = NULL;
        sn_pending *p = sn_start(w->map, sn_in(x, n), sn_into(y, n));
        w->good = sn_call(w->fold, sn_in(x, n), sn_value(&sum)) == SN_OK && (double)sum == wanted;
        w->good &= sn_wait(p) == SN_OK;
        for (int i = 0; i < n; i++)
            w->good &= y[i] == 2 * x[i];
        w->good &= sn_call(w->map, sn_held(w->held), sn_keep(&twice_held)) == SN_OK;
        w->good &= twice_held && sn_read(twice_held, y, 4 * sizeof(float)) == SN_OK && y[3] == 6;
        sn_free(twice_held);
    }
    return NULL;
}

/* Two contexts on one device, each used by several threads. */
static void threads_and_contexts(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu", .contract = SN_OFF};
    sn_context *cx[2] = {both_cpu(), sn_open(&o)};
    worker w[2][THREADS] = {{{0}}};
    const float four[4] = {0, 1, 2, 3};
    for (int c = 0; c < 2; c++) {
        sn_program *map = compiled(cx[c], "[n]f32 -> [n]f32", SN_BODY(doubled));
        sn_program *fold = compiled(cx[c], "[n]f32 -> f32", SN_BODY(total));
        sn_array *held = sn_upload(cx[c], sn_in(four, 4));
        for (int t = 0; t < THREADS; t++) {
            w[c][t] = (worker){.map = map, .fold = fold, .held = held, .number = t};
            assert_int_equal(pthread_create(&w[c][t].thread, NULL, work, &w[c][t]), 0);
        }
    }
    for (int c = 0; c < 2; c++) {
        for (int t = 0; t < THREADS; t++) {
            pthread_join(w[c][t].thread, NULL);
            assert_true(w[c][t].good);
        }
        sn_free(w[c][0].held);
        sn_drop(w[c][0].map);
        sn_drop(w[c][0].fold);
    }
    sn_close(cx[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_pending), cmocka_unit_test(arrays_pending),       cmocka_unit_test(failures_pending),
        cmocka_unit_test(first_failure),   cmocka_unit_test(threads_and_contexts),
    };
    return cmocka_run_group_tests_name("devices", tests, both_open, both_close);
}
