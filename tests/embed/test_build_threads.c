/* Builds on several threads at once do not see each other; and large programs build in linear time and flat stack. */
#include "embed_test.h"
#include <pthread.h>

enum { THREADS = 4, BUILDS = 50, LONG = 100000 };

static sn_scalar square_and_add(sn_scalar x)
{
    return sn_add(sn_mul(x, x), 1);
}

static sn_acc chain(sn_acc a)
{
    for (int i = 0; i < 20; i++)
        a = sn_map(square_and_add, a);
    return sn_fold(sn_add, 0, a);
}

static sn_acc wrong_chain(sn_acc a)
{
    return sn_zip_with(sn_add, a, sn_map(sn_to_f32, a));
}

typedef struct tally {
    int good, bad, odd;
} tally;

static void *build_many(void *env)
{
    tally *t = env;
    for (int i = 0; i < BUILDS; i++) {
        arena a;
        embed_result info;
        arena_init(&a, NULL);
        ir_program *p = embed_build(&a, SN_HERE, "[n]f64 -> f64", sn_body_1(i % 2 ? chain : wrong_chain), &info);
        if (p && i % 2 && !p->error.n && p->output.n == 1 && info.params == 1)
            t->good++;
        else if (p && !(i % 2) && p->error.n == 1)
            t->bad++;
        else
            t->odd++;
        arena_free(&a);
    }
    return NULL;
}

static void threads_build_at_once(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    tally count[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, build_many, &count[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(count[i].good, BUILDS / 2);
        assert_int_equal(count[i].bad, BUILDS / 2);
        assert_int_equal(count[i].odd, 0);
    }
}

static sn_scalar long_code(sn_scalar x)
{
    sn_scalar y = x;
    for (int i = 0; i < LONG; i++)
        y = sn_add(sn_mul(y, y), x); /* y used twice: a DAG, never unfolded */
    return y;
}

static sn_acc map_long_code(sn_acc a)
{
    return sn_map(long_code, a);
}

static sn_acc long_pipeline(sn_acc a)
{
    for (int i = 0; i < LONG / 10; i++)
        a = sn_zip_with(sn_add, a, a);
    return a;
}

static sn_acc long_extent(sn_acc a)
{
    sn_scalar n = sn_size(a);
    for (int i = 0; i < LONG; i++)
        n = sn_add(n, i);
    sn_acc b = sn_fill(n, 1);
    for (int i = 0; i < 1000; i++) /* the long term is walked once */
        b = sn_reshape(n, b);
    return b;
}

static void large_programs(void **state)
{
    (void)state;
    arena a;
    embed_result info;
    arena_init(&a, NULL);
    ir_program *p = embed_build(&a, SN_HERE, "[n]f64 -> [n]f64", sn_body_1(map_long_code), &info);
    assert_int_equal(p->error.n, 0);
    assert_in_range(p->node.n, 2 * LONG, 2 * LONG + 20);
    arena_free(&a);
    p = embed_build(&a, SN_HERE, "[n]f64 -> [n]f64", sn_body_1(long_pipeline), &info);
    assert_int_equal(p->error.n, 0);
    assert_in_range(p->node.n, LONG / 10, LONG);
    arena_free(&a);
    p = embed_build(&a, SN_HERE, "[n]f64 -> [k]i32", sn_body_1(long_extent), &info);
    assert_int_equal(p->error.n, 0);
    assert_int_equal(ir_args(p, info.result[0].shape[0])[1], ir_i64(p, (int64_t)LONG * (LONG - 1) / 2));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(threads_build_at_once),
        cmocka_unit_test(large_programs),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
