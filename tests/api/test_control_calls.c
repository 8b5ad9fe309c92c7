/* How calls of programs with loops of arrays go: they can be cancelled, take no more memory the longer they run, give
 * their results where the caller wants them, and are in profiles. */
#include "both.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sn_scalar next_up(sn_scalar x)
{
    return sn_add(x, sn_i32(1));
}

static sn_acc one_up(sn_acc a)
{
    return sn_map(next_up, a);
}

static sn_acc five_up(sn_acc a)
{
    return sn_aiterate(5, one_up, a);
}

/* --- updates --- */

enum { LARGE = 300000, ROUNDS = 50 };

static sn_scalar round_of(void *env, sn_scalar j)
{
    return sn_add(sn_mul(*(const sn_scalar *)env, 1000), j);
}

static sn_acc write_three(sn_acc k, sn_acc a)
{
    sn_scalar round = sn_the(k);
    sn_acc to = sn_generate(3, sn_closure(round_of, &round));
    return sn_scatter(to, a, sn_map(sn_to_i32, to));
}

static sn_acc write_often(sn_acc a)
{
    return sn_aloop(ROUNDS, write_three, one_up(a));
}

/* A round costs what it writes: the array is not copied but where it goes to the caller. */
static void updates_cost_what_they_write(void **state)
{
    static int32_t x[LARGE], y[LARGE];
    (void)state;
    sn_context *cx = both_cpu();
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", write_often);
    if (!p)
        fail_msg("%s", sn_message(cx));
    const uint64_t before = sn_counts(cx).copied_bytes;
    assert_int_equal(sn_call(p, sn_in(x, LARGE), sn_into(y, LARGE)), SN_OK);
    assert_true(sn_counts(cx).copied_bytes - before <= 2 * sizeof(x));
    for (int i = 0; i < LARGE; i++)
        assert_int_equal(y[i], i < 1000 * ROUNDS && i % 1000 < 3 ? i : 1);
    sn_drop(p);
}

/* --- cancelling --- */

static sn_scalar always_true(sn_scalar x)
{
    return sn_ge(sn_bit_and(x, 0), 0);
}

static sn_acc forever(sn_acc a)
{
    return sn_all(sn_map(always_true, a));
}

static sn_acc endless(sn_acc a)
{
    return sn_awhile(forever, one_up, a);
}

/* The host knows the condition without asking the device, and could run far ahead of it. */
static sn_acc as_is(sn_acc a)
{
    (void)a;
    return sn_unit(sn_bool(true));
}

static sn_acc endless_unasked(sn_acc a)
{
    return sn_awhile(as_is, one_up, a);
}

static sn_acc endless_rounds(sn_acc a)
{
    return sn_aiterate(INT64_MAX, one_up, a);
}

static void *cancel_all(void *env)
{
    for (int i = 0; i < 3; i++) {
        nanosleep(&(struct timespec){0, 30000000}, NULL);
        sn_cancel_calls(env);
    }
    return NULL;
}

static void started_and_cancelled(sn_program *p)
{
    int32_t x[64] = {0}, y[64];
    sn_pending *started = sn_start_n(p, 2, (const sn_arg[]){sn_in(x, 64), sn_into(y, 64)});
    nanosleep(&(struct timespec){0, 10000000}, NULL);
    sn_cancel(started);
    assert_int_equal(sn_wait(started), SN_CANCELLED);
}

/* A call is in progress as soon as sn_start has returned, wherever its thread is. */
static void started_and_all_cancelled(sn_context *cx, sn_program *p)
{
    int32_t x[64] = {0}, y[64];
    for (int i = 0; i < 20; i++) {
        sn_pending *pending = sn_start(p, sn_in(x, 64), sn_into(y, 64));
        sn_cancel_calls(cx);
        assert_int_equal(sn_wait(pending), SN_CANCELLED);
    }
}

static void cancelled_in(sn_context *cx)
{
    int32_t x[64] = {0}, y[64];
    pthread_t thread;
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", endless), *q = sn_compile(cx, "[n]i32 -> [n]i32", five_up);
    assert_non_null(p);
    assert_int_equal(pthread_create(&thread, NULL, cancel_all, cx), 0);
    assert_int_equal(sn_call(p, sn_in(x, 64), sn_into(y, 64)), SN_CANCELLED);
    assert_non_null(strstr(sn_message(cx), "cancelled"));
    pthread_join(thread, NULL);
    assert_int_equal(sn_call(q, sn_in(x, 64), sn_into(y, 64)), SN_OK); /* later calls go on */
    started_and_cancelled(p);
    sn_program *unasked = sn_compile(cx, "[n]i32 -> [n]i32", endless_unasked);
    sn_program *rounds = sn_compile(cx, "[n]i32 -> [n]i32", endless_rounds);
    started_and_cancelled(unasked);
    started_and_cancelled(rounds);
    started_and_all_cancelled(cx, p);
    sn_drop(unasked);
    sn_drop(rounds);
    sn_cancel(NULL);
    sn_cancel_calls(NULL);
    sn_drop(p);
    sn_drop(q);
}

static void cancelled(void **state)
{
    (void)state;
    cancelled_in(both_cpu());
    cancelled_in(both_interpreter());
}

/* --- memory --- */

static sn_scalar more_rounds(void *env, sn_scalar n)
{
    (void)env;
    return sn_gt(n, 0);
}

static sn_scalar one_less(sn_scalar n)
{
    return sn_sub(n, 1);
}

static sn_acc rounds_left(sn_acc n, sn_acc a)
{
    (void)a;
    return sn_map(sn_closure(more_rounds, NULL), n);
}

static sn_acc long_round(sn_acc n, sn_acc a)
{
    sn_acc up = sn_force(sn_map(next_up, a));
    return sn_results(sn_map(one_less, n), sn_zip_with(sn_sub, sn_reverse(up), sn_map(next_up, sn_reverse(a))));
}

static sn_acc so_many(sn_acc n, sn_acc a)
{
    return sn_result(sn_awhile(rounds_left, long_round, sn_results(n, a)), 1);
}

/* The profile has the kernels of rounds, too. */
static void profile_tells_rounds(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    static int32_t x[3000], y[3000];
    const int32_t few = 10;
    sn_program *p = sn_compile(cx, "i32, [n]i32 -> [n]i32", so_many);
    assert_non_null(p);
    sn_profile(p, true);
    assert_int_equal(sn_call(p, sn_value(&few), sn_in(x, 3000), sn_into(y, 3000)), SN_OK);
    assert_non_null(strstr(sn_explain(p, "profile"), "over [3000]"));
    sn_profile(p, false);
    sn_drop(p);
}

/* Ten thousand rounds take no more memory, and no more kernels, than ten. */
static void memory_is_flat(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    static int32_t x[3000], y[3000];
    const int32_t few = 10, many = getenv("SINTER_TEST_SAMPLE") ? 300 : 10000;
    sn_program *p = sn_compile(cx, "i32, [n]i32 -> [n]i32", so_many);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_value(&few), sn_in(x, 3000), sn_into(y, 3000)), SN_OK);
    assert_int_equal(sn_call(p, sn_value(&few), sn_in(x, 3000), sn_into(y, 3000)), SN_OK);
    const sn_counters before = sn_counts(cx);
    const size_t kept = run_pool_kept(cx->engine.pool);
    assert_int_equal(sn_call(p, sn_value(&many), sn_in(x, 3000), sn_into(y, 3000)), SN_OK);
    const sn_counters after = sn_counts(cx);
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(run_pool_kept(cx->engine.pool), kept);
    assert_true(after.launches - before.launches >= (uint64_t)many);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(y[i], x[i]);
    sn_drop(p);
}

/* --- where rounds give their results --- */

/* both are made anew, of elements of the other one that lie elsewhere */
static sn_acc crossed_round(sn_acc k, sn_acc a, sn_acc b)
{
    (void)k;
    return sn_results(sn_map(next_up, sn_reverse(b)), sn_zip_with(sn_sub, sn_reverse(a), b));
}

static sn_acc crossed(sn_acc n, sn_acc a, sn_acc b)
{
    return sn_aloop(sn_the(n), crossed_round, sn_results(a, b));
}

/* one is passed on to the other's place */
static sn_acc passing_round(sn_acc k, sn_acc a, sn_acc b)
{
    (void)k;
    return sn_results(b, sn_zip_with(sn_sub, sn_reverse(a), b));
}

static sn_acc passing(sn_acc n, sn_acc a, sn_acc b)
{
    return sn_aloop(sn_the(n), passing_round, sn_results(a, b));
}

static sn_acc reversal(sn_acc k, sn_acc a)
{
    (void)k;
    return sn_map(next_up, sn_reverse(a));
}

static sn_acc reversals(sn_acc n, sn_acc a)
{
    return sn_aloop(sn_the(n), reversal, a);
}

static void to_and_fro(void **state)
{
    enum { N = 1000, MOST = 9 };
    (void)state;
    for (int passes = 0; passes < 2; passes++) {
        sn_program *p = sn_compile(both_cpu(), "i64, [n]i32, [n]i32 -> [n]i32, [n]i32", passes ? passing : crossed);
        assert_non_null(p);
        for (int64_t rounds = 0; rounds <= MOST; rounds++) {
            static int32_t a[N], b[N], c[N], d[N], x[N], y[N];
            for (int i = 0; i < N; i++) {
                a[i] = c[i] = i * i % 101;
                b[i] = d[i] = i % 17;
            }
            assert_int_equal(sn_call(p, sn_value(&rounds), sn_in(a, N), sn_in(b, N), sn_into(x, N), sn_into(y, N)),
                             SN_OK);
            for (int64_t k = 0; k < rounds; k++) {
                static int32_t old[N], last[N];
                memcpy(old, c, sizeof(old));
                memcpy(last, d, sizeof(last));
                for (int i = 0; i < N; i++) {
                    c[i] = passes ? last[i] : last[N - 1 - i] + 1;
                    d[i] = old[N - 1 - i] - last[i];
                }
            }
            assert_memory_equal(x, c, sizeof(x));
            assert_memory_equal(y, d, sizeof(y));
        }
        sn_drop(p);
    }
}

/* Rounds whose number is known go between the caller's memory and one block. */
static void one_block_is_enough(void **state)
{
    enum { N = 100000 };
    static int32_t x[N], y[N];
    const int64_t rounds = 8;
    (void)state;
    if (getenv("SINTER_DEVICE")) /* whose rounds may not reach the caller's memory */
        return;
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu"});
    assert_non_null(cx);
    sn_program *p = sn_compile(cx, "i64, [n]i32 -> [n]i32", reversals);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_value(&rounds), sn_in(x, N), sn_into(y, N)), SN_OK);
    assert_true(run_pool_kept(cx->engine.pool) < 2 * sizeof(x));
    for (int i = 0; i < N; i++)
        assert_int_equal(y[i], rounds);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_cost_what_they_write),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(memory_is_flat),
        cmocka_unit_test(profile_tells_rounds),
        cmocka_unit_test(to_and_fro),
        cmocka_unit_test(one_block_is_enough),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
