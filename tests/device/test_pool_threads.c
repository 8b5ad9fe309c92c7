/* The worker pool: every item once, in ascending batches, by at most so many threads; nested and simultaneous regions;
 * starting, stopping and waking after sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { ITEMS = 5000, USERS = 4 };

typedef struct {
    pool *pool;
    int written[ITEMS]; /* not atomic: the pool must order it */
    _Atomic int64_t sum;
    _Atomic unsigned workers; /* bits of those seen */
    int64_t batch;
} job;

static void count(void *env, unsigned worker, int64_t first, int64_t last)
{
    job *j = env;
    atomic_fetch_or(&j->workers, 1u << worker);
    for (int64_t i = first; i < last; i++) {
        j->written[i]++;
        atomic_fetch_add(&j->sum, i);
    }
}

static void check_all(const job *j, int64_t first, int64_t last, int times)
{
    for (int64_t i = 0; i < ITEMS; i++)
        assert_int_equal(j->written[i], i >= first && i < last ? times : 0);
}

static void every_item_once(void **state)
{
    (void)state;
    static const int64_t batch[] = {1, 3, 64, ITEMS, 10 * ITEMS};
    pool *p = pool_acquire();
    assert_non_null(p);
    assert_true(pool_threads(p) >= 1);
    for (unsigned b = 0; b < ARRAY_LENGTH(batch); b++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            job *j = calloc(1, sizeof(*j));
            assert_non_null(j);
            pool_run(p, threads, 7, ITEMS - 5, batch[b], count, j);
            check_all(j, 7, ITEMS - 5, 1);
            pool_run_parts(p, threads, 7, ITEMS - 5, batch[b], count, j);
            check_all(j, 7, ITEMS - 5, 2);
            pool_run_parts(p, threads, 0, 3, 1, count, j);
            assert_int_equal(j->written[0] + j->written[1] + j->written[2], 3);
            assert_true(j->workers < 1u << threads);
            free(j);
        }
    pool_release(p);
}

static void nothing_to_do(void **state)
{
    (void)state;
    pool *p = pool_acquire();
    job *j = calloc(1, sizeof(*j));
    assert_non_null(j);
    pool_run(p, 2, 5, 5, 1, count, j);
    pool_run(p, 2, 5, 3, 1, count, j);
    check_all(j, 0, 0, 0);
    free(j);
    pool_release(p);
}

/* Items are claimed in ascending order, so an item may wait for the one before it: what chains of pieces need. */
static void wait_for_predecessor(void *env, unsigned worker, int64_t first, int64_t last)
{
    job *j = env;
    (void)worker;
    assert_int_equal(last, first + 1);
    while (atomic_load(&j->sum) != first)
        ;
    j->written[first]++;
    atomic_store(&j->sum, first + 1);
}

static void items_may_wait_for_earlier_ones(void **state)
{
    (void)state;
    pool *p = pool_acquire();
    job *j = calloc(1, sizeof(*j));
    assert_non_null(j);
    if (pool_threads(p) > 1)
        pool_run(p, pool_threads(p), 0, 300, 1, wait_for_predecessor, j);
    check_all(j, 0, pool_threads(p) > 1 ? 300 : 0, 1);
    free(j);
    pool_release(p);
}

static void nest(void *env, unsigned worker, int64_t first, int64_t last)
{
    job *outer = env;
    (void)worker;
    for (int64_t i = first; i < last; i++) {
        job *j = calloc(1, sizeof(*j));
        assert_non_null(j);
        pool_run(outer->pool, 2, 0, 100, 7, count, j);
        assert_int_equal(j->sum, 99 * 100 / 2);
        free(j);
        outer->written[i]++;
    }
}

static void regions_inside_regions(void **state)
{
    (void)state;
    job *j = calloc(1, sizeof(*j));
    assert_non_null(j);
    j->pool = pool_acquire();
    pool_run(j->pool, 2, 0, 200, 1, nest, j);
    check_all(j, 0, 200, 1);
    pool_release(j->pool);
    free(j);
}

static void *user(void *env)
{
    pool *p = pool_acquire();
    (void)env;
    for (int round = 0; p && round < 200; round++) {
        job *j = calloc(1, sizeof(*j));
        pool_run(p, 3, 0, 400, 9, count, j);
        if (j->sum != 399 * 400 / 2)
            return "sum";
        free(j);
    }
    pool_release(p);
    return p ? NULL : "no pool";
}

static void several_users_at_once(void **state)
{
    pthread_t thread[USERS];
    (void)state;
    for (unsigned i = 0; i < USERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, user, NULL), 0);
    for (unsigned i = 0; i < USERS; i++) {
        void *why = NULL;
        pthread_join(thread[i], &why);
        assert_null(why);
    }
}

static void workers_wake_after_sleep(void **state)
{
    (void)state;
    pool *p = pool_acquire();
    for (int round = 0; round < 20; round++) {
        job *j = calloc(1, sizeof(*j));
        struct timespec pause = {.tv_nsec = 1000000}; /* longer than workers spin */
        assert_non_null(j);
        nanosleep(&pause, NULL);
        pool_run(p, 2, 0, ITEMS, 10, count, j);
        check_all(j, 0, ITEMS, 1);
        free(j);
    }
    pool_release(p);
}

static void the_last_user_stops_it(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        pool *a = pool_acquire(), *b = pool_acquire();
        assert_ptr_equal(a, b);
        pool_release(a);
        job *j = calloc(1, sizeof(*j));
        assert_non_null(j);
        pool_run(b, 2, 0, 50, 1, count, j);
        check_all(j, 0, 50, 1);
        free(j);
        pool_release(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once),          cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(items_may_wait_for_earlier_ones), cmocka_unit_test(regions_inside_regions),
        cmocka_unit_test(several_users_at_once),    cmocka_unit_test(workers_wake_after_sleep),
        cmocka_unit_test(the_last_user_stops_it),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
