/* Gangs of threads that take two lanes each compute what gangs twice as wide did: random kernels, and what the pass
 * leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "kernel/walk.h"
#include "support/random_gang.h"

static const char *print(arena *a, const kernel *k)
{
    text t;
    text_init(&t, a);
    k_print(k, &t);
    return t.at;
}

/* A gang of a known number of threads that sets no variables of the piece. */
static kernel *whole_gang(arena *a, uint64_t seed, uint16_t lanes)
{
    kernel *k = random_gang(a, seed, lanes, false);
    k_builder b;
    k_begin(&b, k);
    k_val all = k_i64(&b, lanes);
    for (k_ref id = 1; id < k->stmt.n; id++) {
        k_stmt *x = &k->stmt.at[id];
        if (x->op == K_FOR_ALL && k->value.at[x->in[0]].kind == KV_RESULT)
            x->in[0] = all;
        const char *name = x->op == K_SET ? k->value.at[x->dst].name : NULL;
        if (name && !strcmp(name, "total"))
            *x = (k_stmt){.op = K_NOP, .next = x->next};
    }
    return k;
}

static void well_formed(const kernel *k, arena *a, uint64_t seed)
{
    const char *why = "";
    if (!k_verify(k, a, &why))
        fail_msg("seed %lu: %s\n%s", (unsigned long)seed, why, print(a, k));
}

static void same_results(arena *a, uint64_t seed, uint16_t lanes, unsigned *pairs)
{
    kernel *k = whole_gang(a, seed, lanes), *pair = k_pair(k, lanes / 2u, a);
    well_formed(k, a, seed);
    well_formed(pair, a, seed);
    *pairs += pair != k;
    gang_run *expected = arena_new(a, *expected), *got = arena_new(a, *got);
    random_gang_fill(expected, seed, lanes);
    random_gang_fill(got, seed, lanes);
    k_interpret(k, a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
    k_interpret(pair, a, got->mem, got->arg, 0, GANG_PIECES, &got->error);
    const char *difference = random_gang_difference(a, expected, got);
    if (difference)
        fail_msg("seed %lu, %u lanes: %s\n%s\n%s", (unsigned long)seed, lanes, difference, print(a, k), print(a, pair));
}

static void random_kernels(void **state)
{
    (void)state;
    static const uint16_t width[] = {4, 8, 16, 64, 256};
    unsigned pairs = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        arena a;
        arena_init(&a, NULL);
        same_results(&a, seed, width[seed % ARRAY_LENGTH(width)], &pairs);
        arena_free(&a);
    }
    assert_true(pairs > 1000);
}

/* Every shuffle of every distance, of lanes that know their number. */
static void shuffles(void **state)
{
    enum { LANES = 64 };
    static const uint8_t kind[] = {K_ROTATE, K_LEFT, K_LANE, K_PAIR};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(kind); i++)
        for (int64_t d = 0; d < LANES; d++) {
            arena a;
            k_builder b;
            int64_t got[LANES], expected[LANES];
            k_error error = {0};
            if ((kind[i] == K_LEFT && (!d || (d & (d - 1)))) || (kind[i] == K_PAIR && d > 1))
                continue;
            arena_init(&a, NULL);
            kernel *k = k_new(&a, "shuffles", LANES);
            k_begin(&b, k);
            k_mem out = k_global(&b, T_I64, true, "out");
            k_val lane = k_for_whole(&b, k_i64(&b, LANES));
            k_val x = k_let(&b, OP_MUL, lane, lane, 0);
            k_val y = kind[i] == K_ROTATE ? k_shuffle(&b, x, d)
                      : kind[i] == K_LEFT ? k_take_left(&b, x, d)
                      : kind[i] == K_LANE ? k_take_lane(&b, x, d)
                                          : k_take_pair(&b, x, d);
            k_store(&b, out, lane, y);
            k_end(&b);
            kernel *pair = k_pair(k, LANES / 2, &a);
            assert_ptr_not_equal(pair, k);
            assert_int_equal(pair->lanes, LANES / 2);
            well_formed(pair, &a, (uint64_t)d);
            assert_true(k_interpret(k, &a, (void *[]){expected}, NULL, 0, 1, &error));
            assert_true(k_interpret(pair, &a, (void *[]){got}, NULL, 0, 1, &error));
            assert_memory_equal(got, expected, sizeof got);
            arena_free(&a);
        }
}

static kernel *parsed(arena *a, const char *source)
{
    const char *message = "";
    kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s", message);
    return k;
}

static void what_is_left_alone(void **state)
{
    static const char *const source[] = {
        /* nothing is exchanged */
        "kernel k lanes 8 { global @1:i64 written for_all %1:i64 < 8 { store @1[%1] = %1 } }",
        /* a number of threads that is not known, or half a gang and a little */
        "kernel k lanes 8 { global @1:i64 written arg %1:i64 %2:i64 = min %1, 8 for_all %3:i64 < %2 { %4:i64 = shuffle "
        "%3, 1 "
        "store @1[%3] = %4 } }",
        "kernel k lanes 8 { global @1:i64 written for_all %3:i64 < 5 { %4:i64 = shuffle %3, 1 store @1[%3] = %4 } }",
        /* a lane that fails does not come to the exchange */
        "kernel k lanes 8 { global @1:i64 written for_all %3:i64 < 8 { %4:bool = lt %3, 7 check 1: %4, %3, %3, %3 "
        "%5:i64 = shuffle %3, 1 store @1[%3] = %5 } }",
        /* private memory, and a variable of the piece */
        "kernel k lanes 8 threads 8 { global @1:i64 written private @2:i64[1] for_all %3:i64 < 8 { store @2[0] = %3 "
        "%4:i64 = shuffle %3, 1 store @1[%3] = %4 } }",
        "kernel k lanes 8 { global @1:i64 written %2:i64 = var 0 for_all %3:i64 < 8 { %4:bool = lt %3, 7 %5:i64 = "
        "count %4 "
        "set %2 = %5 store @1[%3] = %5 } }",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(source); i++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = parsed(&a, source[i]);
        well_formed(k, &a, i);
        assert_ptr_equal(k_pair(k, 4, &a), k);
        arena_free(&a);
    }
    arena a;
    arena_init(&a, NULL);
    kernel *k = parsed(&a, "kernel k lanes 8 { global @1:i64 written for_all %3:i64 < 8 { %4:i64 = shuffle %3, 1 "
                           "store @1[%3] = %4 } }");
    assert_ptr_equal(k_pair(k, 0, &a), k);
    assert_ptr_equal(k_pair(k, 8, &a), k);
    assert_ptr_equal(k_pair(k, 2, &a), k);
    assert_ptr_not_equal(k_pair(k, 4, &a), k);
    k = parsed(
        &a,
        "kernel k lanes 4 { global @1:i64 written for_all %3:i64 < 4 { %4:i64 = shuffle %3, 1 store @1[%3] = %4 } }");
    assert_ptr_not_equal(k_pair(k, 2, &a), k); /* two lanes are the least that are a gang */
    k = parsed(
        &a,
        "kernel k lanes 2 { global @1:i64 written for_all %3:i64 < 2 { %4:i64 = shuffle %3, 1 store @1[%3] = %4 } }");
    assert_ptr_equal(k_pair(k, 1, &a), k);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(what_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
