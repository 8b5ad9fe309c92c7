/* Many contexts: hundreds at once, more than there can be, opened and used by several threads, each with messages and
 * counters of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sinter/sinter.h"

enum { MANY = 200, TOO_MANY = 5000, THREADS = 4, EACH = 25 };

static const char *last_said; /* by contexts that do not open */

static void remember(void *env, const char *said)
{
    (void)env;
    last_said = strstr(said, "too many contexts") ? "too many contexts" : "something else";
}

static sn_acc doubled(sn_acc x)
{
    return sn_zip_with(sn_add, x, x);
}

static bool works(sn_context *cx, float value)
{
    float x[3] = {value, 0, 1}, y[3] = {0};
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", doubled);
    bool good = p && sn_call(p, sn_in(x, 3), sn_into(y, 3)) == SN_OK && y[0] == 2 * value && y[2] == 2;
    sn_drop(p);
    return good;
}

/* All open at once; each works while the others are open, and is closed in another order. */
static void many_are_open_at_once(void **state)
{
    (void)state;
    static sn_context *cx[MANY];
    for (int i = 0; i < MANY; i++) {
        cx[i] = sn_open(NULL);
        assert_non_null(cx[i]);
    }
    for (int i = 0; i < MANY; i++) {
        assert_true(works(cx[i], (float)i));
        assert_int_equal(sn_counts(cx[i]).calls, 1);
    }
    assert_null(sn_compile(cx[7], "[n", doubled));
    assert_true(*sn_message(cx[7]));
    assert_string_equal(sn_message(cx[8]), "");
    for (int i = 0; i < MANY; i++)
        sn_close(cx[i * 7 % MANY]);
}

/* A context needs a key for its threads' messages, and a process has a limited number of these. */
static void too_many_are_refused(void **state)
{
    (void)state;
    static sn_context *cx[TOO_MANY];
    const sn_options o = {.size = sizeof(o), .device = "interpreter", .message = remember};
    int n = 0;
    while (n < TOO_MANY && (cx[n] = sn_open(&o)))
        n++;
    if (n < MANY || n == TOO_MANY)
        fail_msg("%d contexts were open at once", n);
    assert_string_equal(last_said, "too many contexts");
    assert_true(works(cx[n - 1], 3));
    sn_close(cx[--n]);
    assert_non_null(cx[n] = sn_open(&o)); /* there is room for one again */
    assert_true(works(cx[n], 4));
    for (int i = 0; i <= n; i++)
        sn_close(cx[i]);
}

/* Threads open, compile, call, explain and close, each with contexts of its own, beside one that all of them use. */
typedef struct worker {
    pthread_t thread;
    sn_context *shared;
    int number;
    const char *wrong;
} worker;

static void *work(void *env)
{
    worker *w = env;
    for (int i = 0; i < EACH && !w->wrong; i++) {
        sn_context *own = sn_open(NULL);
        if (!own || !works(own, (float)i) || sn_counts(own).calls != 1)
            w->wrong = "a context of its own";
        if (!works(w->shared, (float)(w->number * EACH + i)))
            w->wrong = "the shared context";
        if (sn_compile(own, "no signature", doubled) || !*sn_message(own))
            w->wrong = "a message";
        sn_close(own);
    }
    return NULL;
}

static void threads_open_and_close(void **state)
{
    (void)state;
    worker w[THREADS];
    sn_context *shared = sn_open(NULL);
    assert_non_null(shared);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.shared = shared, .number = i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].wrong)
            fail_msg("thread %d: %s", i, w[i].wrong);
    }
    assert_int_equal(sn_counts(shared).calls, THREADS * EACH);
    assert_string_equal(sn_message(shared), "");
    sn_close(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_are_open_at_once),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(threads_open_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
