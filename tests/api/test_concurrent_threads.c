/* Many threads at once: one program called, programs compiled, dropped and explained, messages of one's own. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 12 };

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc norm(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_map(square, x));
}

static sn_scalar element_of(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_mul(i, 2));
}

static sn_acc every_other(sn_acc a)
{
    return sn_generate(sn_extent(a, 0), sn_closure(element_of, &a));
}

typedef struct worker {
    pthread_t thread;
    int number;
    sn_context *cx;
    sn_program *shared;
    const char *wrong;
} worker;

/* Extents differ by thread and round: kernels are built while others run. */
static bool call_shared(worker *w, int round)
{
    int64_t n = 1 + (int64_t)round * 37 * (w->number + 1) + (round % 3 == 0 ? 100000 : 0);
    float *x = malloc((size_t)n * sizeof(float)), r = -1;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i % 3);
    double wanted = 0;
    for (int64_t i = 0; i < n; i++)
        wanted += (double)(x[i] * x[i]);
    bool good = sn_call(w->shared, sn_in(x, n), sn_value(&r)) == SN_OK && (double)r == wanted;
    free(x);
    return good;
}

static bool fail_alone(worker *w)
{
    float a[8] = {0}, r[8];
    char wanted[64];
    int n = 2 + w->number;
    sn_program *p = sn_compile(w->cx, "[n]f32 -> [n]f32", every_other);
    bool good = p && sn_call(p, sn_in(a, n), sn_into(r, n)) == SN_OUT_OF_RANGE;
    snprintf(wanted, sizeof(wanted), "outside the extent %d,", n);
    good = good && strstr(sn_message(w->cx), wanted);
    good = good && sn_explain(p, "kernels") && sn_explain(p, "clusters");
    sn_drop(p);
    return good;
}

static void *work(void *env)
{
    worker *w = env;
    for (int round = 0; round < ROUNDS && !w->wrong; round++) {
        if (!call_shared(w, round))
            w->wrong = "a call of the shared program";
        else if (round % 4 == 1 && !fail_alone(w))
            w->wrong = "a program that fails";
        else if (round % 5 == 2 && !sn_explain(w->shared, "term"))
            w->wrong = "explain";
    }
    return NULL;
}

static void threads_share_a_context(void **state)
{
    (void)state;
    sn_context *cx = both_cpu() ? both_cpu() : both_interpreter();
    sn_program *shared = sn_compile(cx, "[n]f32 -> f32", norm);
    assert_non_null(shared);
    worker w[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.number = i, .cx = cx, .shared = shared};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].wrong)
            fail_msg("thread %d: %s: %s", i, w[i].wrong, sn_message(cx));
    }
    assert_string_equal(sn_message(cx), ""); /* this thread has not failed */
    sn_drop(shared);
}

static void *open_and_close(void *env)
{
    const char **wrong = env;
    sn_context *cx = sn_open(NULL);
    sn_program *p = sn_compile(cx, "[n]f32 -> f32", norm);
    float x[100] = {1, 2, 3}, r = 0;
    if (!p || sn_call(p, sn_in(x, 100), sn_value(&r)) != SN_OK || r != 14)
        *wrong = "a context of its own";
    sn_drop(p);
    sn_close(cx);
    return NULL;
}

static void contexts_come_and_go(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    for (int round = 0; round < 3; round++) {
        pthread_t thread[THREADS];
        const char *wrong[THREADS] = {0};
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, &wrong[i]), 0);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
            assert_null(wrong[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_context),
        cmocka_unit_test(contexts_come_and_go),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
