/* Kernels without exchanges between lanes compute what those with them did: random kernels of every width, and what the pass leaves
 * alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/walk.h"
#include "support/random_gang.h"

static const char *print(arena *a, const kernel *k)
{
    text t;
    text_init(&t, a);
    k_print(k, &t);
    return t.at;
}

static unsigned statements(const kernel *k, arena *a, k_op op)
{
    unsigned n = 0;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w))
        n += w.event == K_WALK_AT && k->stmt.at[w.at].op == op;
    return n;
}

static void well_formed(const kernel *k, arena *a, uint64_t seed)
{
    const char *why = "";
    if (!k_verify(k, a, &why))
        fail_msg("seed %lu: %s\n%s", (unsigned long)seed, why, print(a, k));
}

static void same_results(arena *a, uint64_t seed, uint16_t lanes, bool checks)
{
    kernel *k = random_gang(a, seed, lanes, checks);
    well_formed(k, a, seed);
    kernel *split = k_split_gangs(k, 0, a);
    well_formed(split, a, seed);
    assert_int_equal(statements(split, a, K_COUNT) + statements(split, a, K_COMPACT) + statements(split, a, K_SHUFFLE), 0);
    gang_run *expected = arena_alloc(a, sizeof(*expected)), *got = arena_alloc(a, sizeof(*got));
    random_gang_fill(expected, seed, lanes);
    random_gang_fill(got, seed, lanes);
    k_interpret(k, a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
    k_interpret(split, a, got->mem, got->arg, 0, GANG_PIECES, &got->error);
    const char *difference = random_gang_difference(a, expected, got);
    if (difference)
        fail_msg("seed %lu, %u lanes: %s\n%s\n%s", (unsigned long)seed, lanes, difference, print(a, k), print(a, split));
}

static void test_random(void **state)
{
    (void)state;
    static const uint16_t width[] = {1, 4, 16, 32, 64, 256};
    for (uint64_t seed = 0; seed < 1200; seed++) {
        arena a;
        arena_init(&a, NULL);
        same_results(&a, seed, width[seed % ARRAY_LENGTH(width)], seed % 3 == 0);
        arena_free(&a);
    }
}

/* a kernel of one gang: shuffles and a count, then stores; `check`: lanes may fail */
static kernel *small_kernel(arena *a, uint16_t lanes, bool check)
{
    kernel *k = k_new(a, "small", lanes);
    k_builder b;
    k_begin(&b, k);
    k_mem out = k_global(&b, T_I64, true, "out");
    k_val lane = k_for_all(&b, k_i64(&b, lanes));
    if (check)
        k_check(&b, 1, k_let(&b, OP_NE, lane, k_i64(&b, 3), 0), lane, lane, lane);
    k_val n = k_count(&b, k_let(&b, OP_GT, k_shuffle(&b, lane, 1), k_i64(&b, 2), 0));
    k_store(&b, out, lane, n);
    k_end(&b);
    return k;
}

static void test_native(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *k = small_kernel(&a, 32, false);
    assert_ptr_equal(k_split_gangs(k, 32, &a), k);
    assert_ptr_not_equal(k_split_gangs(k, 16, &a), k);
    k = small_kernel(&a, 32, true); /* a lane that failed does not come to the exchange */
    assert_ptr_not_equal(k_split_gangs(k, 32, &a), k);
    assert_int_equal(statements(k_split_gangs(k, 32, &a), &a, K_COUNT), 0);
    arena_free(&a);
}

/* One barrier for the shuffle, one for the count. */
static void test_segments(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *split = k_split_gangs(small_kernel(&a, 32, false), 0, &a);
    assert_int_equal(statements(split, &a, K_FOR_ALL), 3);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_native), cmocka_unit_test(test_segments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
