/* Many threads and devices share one folder: every kernel is right, and one device gets each of its kernels once. */
#include "cache_kernel.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { THREADS = 6, KERNELS = 5 };

typedef struct work {
    device *shared; /* NULL: a device of the thread's own */
    bool good;
} work;

static void *run_all(void *env)
{
    work *w = env;
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    device *d = w->shared ? w->shared : device_cpu_open(&(device_options){.threads = 1}, &a, &why);
    w->good = d != NULL;
    for (int n = 0; n < KERNELS && w->good; n++)
        w->good = run_numbered(d, n, &why, &a);
    if (d && !w->shared) {
        w->good = w->good && device_compiled(d) + device_loaded(d) == KERNELS;
        d->close(d);
    }
    arena_free(&a);
    return NULL;
}

static void run_threads(device *shared)
{
    pthread_t thread[THREADS];
    work w[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (work){.shared = shared};
        assert_int_equal(pthread_create(&thread[i], NULL, run_all, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(w[i].good);
    }
}

static void devices_share_a_folder(void **state)
{
    (void)state;
    const char *folder = private_folder();
    run_threads(NULL);
    assert_int_equal(files_in(folder, ".kernel"), KERNELS);
    assert_int_equal(files_in(folder, ""), KERNELS);
    remove_folder(folder);
}

/* A folder that holds only two entries: while one thread reads, others throw out. */
static void devices_share_a_small_folder(void **state)
{
    (void)state;
    const char *folder = private_folder();
    setenv("SINTER_CACHE_SIZE", "2K", 1);
    run_threads(NULL);
    run_threads(NULL);
    assert_true(files_in(folder, "") < KERNELS);
    unsetenv("SINTER_CACHE_SIZE");
    remove_folder(folder);
}

static void threads_share_a_device(void **state)
{
    (void)state;
    arena a;
    const char *folder = private_folder();
    for (int round = 0; round < 2; round++) {
        arena_init(&a, NULL);
        device *d = open_device(NULL, &a);
        run_threads(d);
        assert_int_equal(device_compiled(d), round ? 0 : KERNELS);
        assert_int_equal(device_loaded(d), round ? KERNELS : 0);
        d->close(d);
        arena_free(&a);
    }
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_share_a_folder),
        cmocka_unit_test(devices_share_a_small_folder),
        cmocka_unit_test(threads_share_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
