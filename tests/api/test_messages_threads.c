/* Messages: each thread's own, while threads end and contexts close, and while the user's function that gets one makes
 * calls that fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"

enum { ROUNDS = 300, THREADS = 40 };

static sn_acc same(sn_acc x)
{
    return x;
}

static sn_context *open_interpreter(void (*message)(void *env, const char *said), void *env)
{
    sn_options o = {.size = sizeof(o), .device = "interpreter", .message = message, .env = env};
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    return cx;
}

/* --- threads that end --- */

typedef struct failing {
    sn_context *cx;
    sem_t failed;
    bool silent_before;
} failing;

static void *fail_and_end(void *env)
{
    failing *f = env;
    f->silent_before = !*sn_message(f->cx);
    sn_compile(f->cx, "[n", same);
    f->silent_before &= *sn_message(f->cx) != 0;
    sem_post(&f->failed);
    return NULL;
}

/* Nobody waits for the thread: it ends before, after, or while its context is closed. */
static void contexts_close_while_threads_end(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        failing f = {.cx = open_interpreter(NULL, NULL)};
        pthread_t thread;
        sem_init(&f.failed, 0, 0);
        assert_int_equal(pthread_create(&thread, NULL, fail_and_end, &f), 0);
        sem_wait(&f.failed);
        sn_close(f.cx);
        pthread_join(thread, NULL);
        assert_true(f.silent_before);
        sem_destroy(&f.failed);
    }
}

static void notes_of_ended_threads_are_used_again(void **state)
{
    (void)state;
    failing f = {.cx = open_interpreter(NULL, NULL)};
    sem_init(&f.failed, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, fail_and_end, &f), 0);
        pthread_join(thread, NULL);
        assert_true(f.silent_before); /* also if the system gives it the number of another */
    }
    int notes = 0;
    for (const note *n = f.cx->notes; n; n = n->next)
        notes++;
    assert_true(notes < THREADS / 4);
    assert_string_equal(sn_message(f.cx), "");
    sn_close(f.cx);
    sem_destroy(&f.failed);
}

/* --- calls in the user's function --- */

typedef struct listener {
    sn_context *cx;
    int depth, most, heard;
    bool changed;
} listener;

static void listen(void *env, const char *said)
{
    listener *l = env;
    char before[512];
    l->heard++;
    snprintf(before, sizeof(before), "%s", said);
    if (l->depth < l->most) {
        l->depth++;
        char signature[32];
        snprintf(signature, sizeof(signature), "[depth%d", l->depth);
        sn_compile(l->cx, signature, same);
        l->depth--;
    }
    l->changed |= strcmp(before, said) != 0;
}

static void texts_stay_while_the_users_function_runs(void **state)
{
    (void)state;
    listener l = {.most = 4};
    l.cx = open_interpreter(listen, &l);
    for (int i = 0; i < 3; i++) {
        l.heard = 0;
        assert_null(sn_compile(l.cx, "[outermost", same));
        assert_int_equal(l.heard, l.most + 1);
        assert_false(l.changed);
        assert_non_null(strstr(sn_message(l.cx), "outermost"));
    }
    sn_close(l.cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_close_while_threads_end),
        cmocka_unit_test(notes_of_ended_threads_are_used_again),
        cmocka_unit_test(texts_stay_while_the_users_function_runs),
    };
    return cmocka_run_group_tests_name("messages", tests, NULL, NULL);
}
