/* Several threads call a program with small extents for the first time: one of them makes the program for these. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

enum { THREADS = 4, ROWS = 50, MOST_COLUMNS = 4 };

static sn_acc turned(sn_acc a)
{
    return sn_transpose(a);
}

/* NULL: all went well. */
static void *calls(void *program)
{
    int32_t x[ROWS * MOST_COLUMNS], y[ROWS * MOST_COLUMNS];
    for (int i = 0; i < ROWS * MOST_COLUMNS; i++)
        x[i] = i;
    for (int m = 1; m <= MOST_COLUMNS; m++) {
        if (sn_call(program, sn_in(x, ROWS, m), sn_into(y, m, ROWS)) != SN_OK)
            return program;
        for (int i = 0; i < ROWS * m; i++)
            if (y[i % m * ROWS + i / m] != i)
                return program;
    }
    return NULL;
}

static void one_makes_it(void **state)
{
    (void)state;
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu", .threads = 2});
    if (!cx)
        skip();
    cx->small_from = 0;
    sn_program *p = sn_compile(cx, "[n,m]i32 -> [m,n]i32", turned);
    assert_non_null(p);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, calls, p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    const small_extents *s = atomic_load(&p->small);
    assert_true(s && s->program && s->number == MOST_COLUMNS);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_makes_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
