/* Calls with the extents of one that went well before, which only launch: they give the same bits wherever arguments
 * are, refuse what others refuse, fail and are cancelled as others, count as others, and come from several threads. */
#include "both.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 300, THREADS = 4, CALLS = 200, SIZES_N = 3 };

static sn_scalar line(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc lines(sn_acc x)
{
    return sn_map(line, x);
}

static sn_acc several(sn_acc x, sn_acc y)
{
    sn_acc prefix = sn_scanl1(sn_add, sn_force(sn_map(line, x)));
    return sn_results(sn_append(prefix, y), sn_sum(prefix), sn_maximum(y));
}

static sn_acc quotients(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_quot, x, y);
}

static sn_context *cx(void)
{
    if (!both_cpu())
        skip();
    return both_cpu();
}

static sn_program *compiled(const char *signature, sn_body body)
{
    sn_program *p = sn_compile_at(SN_HERE, cx(), signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx()));
    return p;
}

/* --- where arguments are, and what they are --- */

static void values_and_places_may_change(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i32 -> [n]i32", SN_BODY(lines));
    for (int i = 0; i < 6; i++) {
        int *x = malloc(N * sizeof(int)), *y = malloc(N * sizeof(int));
        assert_true(x && y);
        for (int k = 0; k < N; k++)
            x[k] = k * i;
        const int n = i % 3 == 2 ? N : N - 1;
        assert_int_equal(sn_call(p, sn_in(x, n), sn_into(y, n)), SN_OK);
        for (int k = 0; k < n; k++)
            assert_int_equal(y[k], 3 * k * i + 1);
        free(x), free(y);
    }
    sn_drop(p);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i32, [n]i32 -> [n]i32", SN_BODY(quotients));
    int x[2 * N], y[N], z[N];
    for (int i = 0; i < N; i++)
        x[i] = x[N + i] = 4 * i, y[i] = 2;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, N)), SN_OK);
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(x + 10, N)), SN_BAD_ARGUMENT);
        assert_non_null(strstr(sn_message(cx()), "overlaps"));
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into((int *)NULL, N)), SN_BAD_ARGUMENT);
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in((int *)(void *)((char *)y + 1), N), sn_into(z, N)),
                         SN_BAD_ARGUMENT);
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, N - 1)), SN_BAD_EXTENT);
        assert_int_equal(sn_call(p, sn_in(x, N - 1), sn_in(y, N), sn_into(z, N)), SN_BAD_EXTENT);
        assert_int_equal(sn_call(p, sn_in((unsigned *)x, N), sn_in(y, N), sn_into(z, N)), SN_BAD_ARGUMENT);
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N)), SN_BAD_ARGUMENT);
        const int64_t extent = N, stride = -(int64_t)sizeof(int);
        assert_int_equal(sn_call(p, sn_strided(x + 2 * N - 1, 1, &extent, &stride), sn_in(y, N), sn_into(z, N)), SN_OK);
        assert_int_equal(z[1], 2 * (N - 2));
        sn_array *kept = NULL;
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_keep(&kept)), SN_OK);
        assert_int_equal(sn_call(p, sn_held(kept), sn_in(y, N), sn_into(z, N)), SN_OK);
        assert_int_equal(z[N - 1], N - 1);
        sn_free(kept);
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(x + N, N), sn_into(z, N)), SN_DIVISION); /* by x[0] */
        assert_non_null(strstr(sn_message(cx()), "at element 0"));
    }
    sn_drop(p);
}

static void elements_may_be_none(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i32, [m]i32 -> [k]i32, i32, i32", SN_BODY(several));
    int y[3] = {1, 2, 3}, z[3], sum, most;
    for (int i = 0; i < 3; i++) {
        sum = most = -1;
        assert_int_equal(sn_call(p, sn_in((int *)NULL, 0), sn_in(y, 3), sn_into(z, 3), sn_value(&sum), sn_value(&most)),
                         SN_OK);
        assert_memory_equal(y, z, sizeof(y));
        assert_int_equal(sum, 0);
        assert_int_equal(most, 3);
        assert_int_equal(sn_call(p, sn_in(y, 3), sn_in((int *)NULL, 0), sn_into(z, 3), sn_value(&sum), sn_value(&most)),
                         SN_EMPTY_FOLD);
    }
    sn_drop(p);
}

static void they_count(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i32, [m]i32 -> [k]i32, i32, i32", SN_BODY(several));
    int x[N] = {1}, y[N] = {2}, z[2 * N], sum, most;
    sn_counters each[4];
    for (int i = 0; i < 4; i++) {
        const sn_counters before = sn_counts(cx());
        assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, 2 * N), sn_value(&sum), sn_value(&most)),
                         SN_OK);
        each[i] = sn_counts(cx());
        each[i].calls -= before.calls;
        each[i].launches -= before.launches;
        each[i].blocks -= before.blocks;
        each[i].block_bytes -= before.block_bytes;
        assert_int_equal(each[i].calls, 1);
        assert_int_equal(each[i].launches, each[0].launches);
        assert_int_equal(each[i].blocks, each[0].blocks);
        assert_int_equal(each[i].block_bytes, each[0].block_bytes);
    }
    sn_profile(p, true); /* from now on they are told */
    assert_int_equal(sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, 2 * N), sn_value(&sum), sn_value(&most)), SN_OK);
    assert_non_null(strstr(sn_explain(p, "profile"), "calls: 1, "));
    sn_drop(p);
}

/* --- cancelling --- */

enum { LONG = 60000, OPERATIONS = 40, RESULTS = 8 };

static sn_scalar long_work(sn_scalar x)
{
    for (int i = 0; i < OPERATIONS; i++)
        x = sn_add(sn_div(x, 3), 1);
    return x;
}

static sn_acc long_loops(void *env, int n, const sn_acc *x)
{
    (void)env;
    sn_acc y[RESULTS];
    for (int i = 0; i < n; i++)
        y[i] = sn_map(long_work, x[i]);
    return sn_results_at(SN_HERE, n, y);
}

typedef struct cancelled {
    pthread_t thread;
    sn_program *p;
    sn_arg *arg;
    sn_status status;
    atomic_bool over;
} cancelled;

static void *until_cancelled(void *env)
{
    cancelled *c = env;
    do {
        c->status = sn_call_n(c->p, 2 * RESULTS, c->arg);
    } while (c->status == SN_OK);
    atomic_store(&c->over, true);
    return NULL;
}

static void they_are_cancelled(void **state)
{
    (void)state;
    sn_program *p = compiled("[a]f64, [b]f64, [c]f64, [d]f64, [e]f64, [f]f64, [g]f64, [h]f64 -> "
                             "[a]f64, [b]f64, [c]f64, [d]f64, [e]f64, [f]f64, [g]f64, [h]f64",
                             sn_body_env(long_loops, NULL));
    double *x = calloc(LONG, sizeof(double)), *y = calloc((size_t)LONG * RESULTS, sizeof(double));
    assert_true(x && y);
    sn_arg arg[2 * RESULTS];
    for (int i = 0; i < RESULTS; i++) {
        arg[i] = sn_in(x, LONG - i);
        arg[RESULTS + i] = sn_into(y + (size_t)LONG * (size_t)i, LONG - i);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call_n(p, 2 * RESULTS, arg), SN_OK);
    cancelled c = {.p = p, .arg = arg};
    assert_int_equal(pthread_create(&c.thread, NULL, until_cancelled, &c), 0);
    while (!atomic_load(&c.over)) {
        const struct timespec moment = {.tv_nsec = 700000};
        nanosleep(&moment, NULL);
        sn_cancel_calls(cx());
    }
    pthread_join(c.thread, NULL);
    assert_int_equal(c.status, SN_CANCELLED);
    assert_int_equal(sn_call_n(p, 2 * RESULTS, arg), SN_OK);
    sn_drop(p);
    free(x), free(y);
}

/* --- threads --- */

typedef struct worker {
    pthread_t thread;
    sn_program *p;
    int number;
    const char *wrong;
} worker;

static void *call_often(void *env)
{
    worker *w = env;
    static const int extents[SIZES_N] = {7, 100, N};
    int64_t x[N], y[N], z[2 * N];
    for (int i = 0; i < N; i++)
        x[i] = i + w->number, y[i] = -i - w->number;
    for (int i = 0; i < CALLS && !w->wrong; i++) {
        const int n = extents[(i + w->number) % SIZES_N], m = extents[i / 2 % SIZES_N];
        int64_t sum = -1, most = 1, prefix = 0, sums = 0;
        memset(z, 0, sizeof(z));
        if (sn_call(w->p, sn_in(x, n), sn_in(y, m), sn_into(z, n + m), sn_value(&sum), sn_value(&most)) != SN_OK)
            w->wrong = "fails";
        for (int k = 0; k < n; k++) {
            prefix += 3 * x[k] + 1;
            sums += prefix;
            if (z[k] != prefix)
                w->wrong = "a prefix";
        }
        if (sum != sums || most != y[0] || memcmp(z + n, y, (size_t)m * sizeof(*y)) != 0)
            w->wrong = "a result";
    }
    return NULL;
}

static void threads_share_a_program(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i64, [m]i64 -> [k]i64, i64, i64", SN_BODY(several));
    worker w[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        w[i].p = p;
        w[i].number = i;
        assert_int_equal(pthread_create(&w[i].thread, NULL, call_often, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].wrong)
            fail_msg("thread %d: %s", i, w[i].wrong);
    }
    sn_drop(p);
}

/* More extents than are kept: those that are known stay so, others are worked out. */
static void extents_are_many(void **state)
{
    (void)state;
    sn_program *p = compiled("[n]i64, [m]i64 -> [k]i64, i64, i64", SN_BODY(several));
    int64_t x[N], z[2 * N], sum, most;
    for (int i = 0; i < N; i++)
        x[i] = i;
    for (int round = 0; round < 2; round++)
        for (int n = 1; n < N; n++) {
            assert_int_equal(sn_call(p, sn_in(x, n), sn_in(x, n), sn_into(z, 2 * n), sn_value(&sum), sn_value(&most)),
                             SN_OK);
            assert_int_equal(most, n - 1);
            assert_memory_equal(z + n, x, (size_t)n * sizeof(*x));
        }
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_places_may_change),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(elements_may_be_none),
        cmocka_unit_test(they_count),
        cmocka_unit_test(they_are_cancelled),
        cmocka_unit_test(threads_share_a_program),
        cmocka_unit_test(extents_are_many),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
