/* Contexts closed while something of theirs is held: what it is and where it was made is said, and it stays good.
 * Handles used again after they were given back, where that is looked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/dlpack_abi.h"
#include "sinter/dlpack.h"

static char heard[8192]; /* all messages, one after the other */

static void hear(void *env, const char *said)
{
    (void)env;
    size_t n = strlen(heard);
    snprintf(heard + n, sizeof(heard) - n, "%s\n", said);
}

static sn_context *open_hearing(const char *name)
{
    sn_options o = {.size = sizeof(o), .device = name, .message = hear};
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    heard[0] = 0;
    return cx;
}

static void expect_heard(const char *part)
{
    if (!strstr(heard, part))
        fail_msg("\"%s\" is not in \"%s\"", part, heard);
}

static sn_acc twice(sn_acc x)
{
    return sn_zip_with(sn_add, x, x);
}

static const float numbers[3] = {1, 2, 3};

static const char *const devices[] = {NULL, "interpreter"};

/* --- closing --- */

static void nothing_is_held(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(devices); i++) {
        sn_context *cx = open_hearing(devices[i]);
        sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", twice);
        sn_array *x = sn_upload(cx, sn_in(numbers, 3)), *y = NULL;
        assert_null(sn_compile(cx, "[n", twice));
        assert_int_equal(sn_call(p, sn_give(x), sn_keep(&y)), SN_OK);
        assert_int_equal(sn_wait(sn_start(p, sn_held(y), sn_keep(&x))), SN_OK);
        sn_free(x);
        sn_free(y);
        sn_drop(p);
        heard[0] = 0;
        sn_close(cx);
        assert_string_equal(heard, "");
    }
}

#define HERE_TEXT(line) (snprintf(place, sizeof(place), "test_handles_threads.c:%d", line), place)

static void what_is_held_is_named_and_stays_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(devices); i++) {
        char place[64];
        float y[3] = {0};
        sn_array *kept = NULL;
        sn_context *cx = open_hearing(devices[i]);
        const int line = __LINE__ + 1;
        sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", twice);
        sn_array *x = sn_upload(cx, sn_in(numbers, 3));
        assert_int_equal(sn_call(p, sn_held(x), sn_keep(&kept)), SN_OK);
        sn_pending *call = sn_start(p, sn_held(x), sn_into(y, 3));
        sn_close(cx);
        expect_heard("held still");
        expect_heard("a program, made by sn_compile in ");
        expect_heard(HERE_TEXT(line));
        expect_heard("an array, made by sn_upload in ");
        expect_heard(HERE_TEXT(line + 1));
        expect_heard("an array, made by a call in ");
        expect_heard(HERE_TEXT(line + 2));
        expect_heard("a pending call, made by sn_start in ");
        expect_heard(HERE_TEXT(line + 3));
        assert_int_equal(sn_wait(call), SN_OK);
        assert_true(y[0] == 2 && y[2] == 6);
        assert_int_equal(sn_call(p, sn_held(kept), sn_into(y, 3)), SN_OK);
        assert_true(y[0] == 4 && y[2] == 12);
        assert_int_equal(sn_read(x, y, sizeof(y)), SN_OK);
        assert_true(y[0] == 1);
        heard[0] = 0;
        assert_null(sn_compile(cx, "[n]f32 -> [n]f32", twice)); /* what is held keeps the context */
        expect_heard("the context was closed before");
        assert_null(sn_upload(cx, sn_in(numbers, 3)));
        sn_close(cx);
        sn_free(x);
        sn_drop(p);
        sn_free(kept); /* and now it goes */
    }
}

static void many_are_counted(void **state)
{
    sn_array *x[20];
    (void)state;
    sn_context *cx = open_hearing("interpreter");
    for (int i = 0; i < 20; i++)
        x[i] = sn_upload(cx, sn_in(numbers, 3));
    sn_close(cx);
    expect_heard("and 12 more");
    for (int i = 0; i < 20; i++)
        sn_free(x[i]);
}

/* Tensors given out keep an array by right; an array that its user holds, too, is named. */
static void tensors(void **state)
{
    (void)state;
    for (int freed = 0; freed < 2; freed++) {
        sn_context *cx = open_hearing("interpreter");
        sn_array *x = sn_upload(cx, sn_in(numbers, 3));
        struct DLManagedTensor *t = sn_to_dlpack_unversioned(x);
        assert_non_null(t);
        if (freed)
            sn_free(x);
        sn_close(cx);
        assert_int_equal(strstr(heard, "an array") == NULL, freed);
        assert_true(((const float *)t->tensor.data)[2] == 3);
        if (!freed)
            sn_free(x);
        t->deleter(t);
    }
}

typedef struct holder {
    pthread_t thread;
    sn_program *p;
    sn_array *x;
    bool good;
} holder;

static void *use_and_let_go(void *env)
{
    holder *h = env;
    float y[3] = {0};
    h->good = sn_call(h->p, sn_held(h->x), sn_into(y, 3)) == SN_OK && y[1] == 4;
    sn_free(h->x);
    sn_drop(h->p);
    return NULL;
}

/* The last of several threads to let go frees the context. */
static void threads_let_go(void **state)
{
    enum { THREADS = 4, ROUNDS = 20 };
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        holder h[THREADS] = {0};
        sn_context *cx = open_hearing("interpreter");
        for (int i = 0; i < THREADS; i++) {
            h[i].p = sn_compile(cx, "[n]f32 -> [n]f32", twice);
            h[i].x = sn_upload(cx, sn_in(numbers, 3));
            assert_true(h[i].p && h[i].x);
            assert_int_equal(pthread_create(&h[i].thread, NULL, use_and_let_go, &h[i]), 0);
        }
        sn_close(cx);
        for (int i = 0; i < THREADS; i++) {
            pthread_join(h[i].thread, NULL);
            assert_true(h[i].good);
        }
    }
}

/* --- SINTER_DEBUG=handles: stays on, so these tests are last --- */

static void handles_given_back(void **state)
{
    char place[64];
    float y[3];
    sn_array *kept = NULL;
    (void)state;
    setenv("SINTER_DEBUG", "handles", 1);
    sn_context *cx = open_hearing(NULL), *other = open_hearing("interpreter");
    const int line = __LINE__ + 1;
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", twice), *q = sn_compile(cx, "[n]f32 -> [n]f32", twice);
    sn_array *x = sn_upload(cx, sn_in(numbers, 3));
    sn_pending *call = sn_start(p, sn_held(x), sn_keep(&kept));
    assert_int_equal(sn_wait(call), SN_OK);
    assert_int_equal(sn_wait(call), SN_BAD_HANDLE);
    expect_heard("sn_wait: the call was waited for before");
    const sn_arg held = sn_held(x);
    sn_free(x);
    sn_free(x);
    expect_heard("sn_free: the array was freed before; it was made by sn_upload in ");
    expect_heard(HERE_TEXT(line + 1));
    assert_int_equal(sn_read(x, y, sizeof(y)), SN_BAD_HANDLE);
    assert_non_null(strstr(sn_message(cx), "sn_read: the array was freed before"));
    assert_int_equal(sn_call(q, held, sn_into(y, 3)), SN_BAD_HANDLE);
    assert_int_equal(sn_call(q, sn_held(x), sn_into(y, 3)), SN_BAD_HANDLE);
    assert_int_equal(sn_call(q, sn_give(x), sn_into(y, 3)), SN_BAD_HANDLE);
    assert_int_equal(sn_save_npy(x, "/dev/null"), SN_BAD_HANDLE);
    assert_int_equal(sn_print(x), SN_BAD_HANDLE);
    assert_int_equal(sn_format(x, NULL, 0), -1);
    assert_int_equal(sn_array_rank(x), -1);
    assert_int_equal(sn_array_extent(x, 0), -1);
    assert_int_equal(sn_bytes(x), 0);
    assert_null(sn_to_dlpack_unversioned(x));
    sn_drop(p);
    sn_drop(p);
    expect_heard("sn_drop: the program was dropped before; it was made by sn_compile in ");
    assert_int_equal(sn_call(p, sn_held(kept), sn_into(y, 3)), SN_BAD_HANDLE);
    assert_int_equal(sn_wait(sn_start(p, sn_held(kept), sn_into(y, 3))), SN_BAD_HANDLE);
    assert_null(sn_explain(p, "plan"));
    assert_int_equal(sn_call(q, sn_give(kept), sn_into(y, 3)), SN_OK); /* given away: gone */
    assert_int_equal(sn_read(kept, y, sizeof(y)), SN_BAD_HANDLE);
    sn_drop(q);
    sn_close(cx);
    sn_close(cx);
    assert_null(sn_compile(cx, "[n]f32 -> [n]f32", twice));
    assert_null(sn_upload(cx, sn_in(numbers, 3)));
    assert_null(sn_load_npy(cx, "none"));
    assert_string_equal(sn_message(cx), "");
    assert_int_equal(sn_counts(cx).calls, 0);
    assert_int_equal(sn_read(x, y, sizeof(y)), SN_BAD_HANDLE);
    sn_close(other);
    unsetenv("SINTER_DEBUG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held),  cmocka_unit_test(what_is_held_is_named_and_stays_good),
        cmocka_unit_test(many_are_counted), cmocka_unit_test(tensors),
        cmocka_unit_test(threads_let_go),   cmocka_unit_test(handles_given_back),
    };
    return cmocka_run_group_tests_name("handles", tests, NULL, NULL);
}
