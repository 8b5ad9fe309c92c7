/* Many contexts: hundreds at once, thousands, opened and used by several threads, each with messages and
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

enum { MANY = 200, THOUSANDS = 3000, THREADS = 4, EACH = 25 };

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

/* More than a process has keys of thread-local memory, which messages do not need. */
static void thousands_are_open(void **state)
{
    (void)state;
    static sn_context *cx[THOUSANDS];
    const sn_options o = {.size = sizeof(o), .device = "interpreter"};
    for (int n = 0; n < THOUSANDS; n++) {
        cx[n] = sn_open(&o);
        assert_non_null(cx[n]);
        assert_null(sn_compile(cx[n], n % 2 ? "[n" : "[n]f32 ->", doubled));
    }
    assert_true(works(cx[THOUSANDS - 1], 3));
    assert_string_equal(sn_message(cx[1]), sn_message(cx[THOUSANDS - 1]));
    assert_string_not_equal(sn_message(cx[0]), sn_message(cx[THOUSANDS - 1]));
    for (int n = 0; n < THOUSANDS; n++)
        sn_close(cx[n]);
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
        cmocka_unit_test(thousands_are_open),
        cmocka_unit_test(threads_open_and_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
