/* sn_options.progress: launches are counted as they come and a call can be ended from there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sinter/sinter.h>

enum { ELEMENTS = 3000 };

typedef struct watch {
    sn_context *cx;
    int64_t calls, done, known, end_at; /* 0: it goes on */
} watch;

static void note(void *env, int64_t done, int64_t known)
{
    watch *w = env;
    w->calls++;
    assert_int_equal(done, w->done + 1);
    assert_true(known >= done && known >= w->known);
    w->done = done;
    w->known = known;
    if (done == w->end_at)
        sn_cancel_calls(w->cx);
}

static void ignore(void *env, const char *said)
{
    (void)env, (void)said;
}

static sn_context *opened(watch *w)
{
    *w = (watch){0};
    w->cx = sn_open(&(sn_options){.size = sizeof(sn_options), .env = w, .message = ignore, .progress = note});
    assert_non_null(w->cx);
    return w->cx;
}

static sn_acc steps(sn_acc a)
{
    for (int i = 0; i < 5; i++)
        a = sn_force(sn_map(sn_neg, a));
    return a;
}

static sn_acc many_steps(sn_acc a)
{
    for (int i = 0; i < 12; i++)
        a = sn_force(sn_map(sn_neg, a));
    return a;
}

static void launches_are_counted(void **state)
{
    watch w;
    float x[ELEMENTS] = {1, 2}, y[ELEMENTS];
    (void)state;
    sn_context *cx = opened(&w);
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", steps);
    assert_non_null(p);
    assert_int_equal(w.calls, 0);
    for (int i = 0; i < 2; i++) {
        uint64_t launches = sn_counts(cx).launches;
        w = (watch){.cx = cx};
        assert_int_equal(sn_call(p, sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)), SN_OK);
        assert_int_equal(w.calls, sn_counts(cx).launches - launches);
        assert_int_equal(w.done, w.known);
        assert_true(y[1] == -2);
    }
    sn_drop(p);
    sn_close(cx);
}

static void calls_are_ended(void **state)
{
    watch w;
    int32_t x[ELEMENTS] = {1, 2}, y[ELEMENTS];
    (void)state;
    sn_context *cx = opened(&w);
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", many_steps);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)), SN_OK);
    assert_int_equal(y[1], 2);
    const int64_t all = w.done;
    if (all > 5) { /* the interpreter has no launches */
        w = (watch){.cx = cx, .end_at = 5};
        assert_int_equal(sn_call(p, sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)), SN_CANCELLED);
        assert_int_equal(w.done, 5);
    }
    w = (watch){.cx = cx};
    assert_int_equal(sn_call(p, sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)), SN_OK);
    assert_int_equal(w.done, all);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_counted),
        cmocka_unit_test(calls_are_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
