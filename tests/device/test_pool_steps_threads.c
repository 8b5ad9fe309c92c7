/* The worker pool with a pause wherever another thread's step may fall between two of its own: no wake-up is lost, so nothing
 * waits for good. The pool's source is compiled into this program, with the pauses and under names of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static void pause_between(void);
#define pool_acquire stepped_acquire
#define pool_release stepped_release
#define pool_run stepped_run
#define pool_run_parts stepped_run_parts
#define pool_threads stepped_threads
#define POOL_BETWEEN() pause_between()
#include "device/pool.c"

enum { SECONDS = 20, LONG_PAUSE = 3 * SPIN_NANOSECONDS };

static _Atomic uint64_t asked; /* pauses so far */
static _Atomic bool always;    /* every pause is long; else one in four, in no order that repeats */

static void pause_between(void)
{
    uint64_t mixed = hash_mix(7, atomic_fetch_add(&asked, 1));
    if (!atomic_load(&always) && mixed % 4)
        return;
    struct timespec length = {.tv_nsec = LONG_PAUSE};
    nanosleep(&length, NULL);
}

static void add(void *env, unsigned worker, int64_t first, int64_t last)
{
    _Atomic int64_t *sum = env;
    (void)worker;
    for (int64_t i = first; i < last; i++)
        atomic_fetch_add(sum, i);
}

/* A worker that begins while the pool ends has not looked yet, or looks again. */
static void workers_that_begin_see_the_end(void **state)
{
    (void)state;
    atomic_store(&always, true);
    for (int round = 0; round < 100; round++)
        pool_release(pool_acquire());
    atomic_store(&always, false);
}

/* As long as a worker spins, or longer: the end comes while it works, spins, falls asleep or sleeps. */
static void the_end_comes_at_any_time(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        pool *p = pool_acquire();
        _Atomic int64_t sum = 0;
        assert_non_null(p);
        for (int k = 0; k < round % 3; k++)
            pool_run(p, 2, 0, 20, 1, add, &sum);
        assert_int_equal(sum, round % 3 * 190);
        struct timespec wait = {.tv_nsec = round % 7 * SPIN_NANOSECONDS / 2};
        nanosleep(&wait, NULL);
        pool_release(p);
    }
}

static void regions_end_whatever_comes_between(void **state)
{
    (void)state;
    pool *p = pool_acquire();
    assert_non_null(p);
    for (int round = 0; round < 200; round++) {
        _Atomic int64_t sum = 0;
        atomic_store(&always, round % 2);
        (round % 3 ? pool_run : pool_run_parts)(p, 3, 0, 50, 3, add, &sum);
        assert_int_equal(sum, 49 * 50 / 2);
    }
    atomic_store(&always, false);
    pool_release(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_that_begin_see_the_end),
        cmocka_unit_test(the_end_comes_at_any_time),
        cmocka_unit_test(regions_end_whatever_comes_between),
    };
    alarm(SECONDS); /* whoever waits for good is ended */
    return cmocka_run_group_tests_name("pool, step by step", tests, NULL, NULL);
}
