/* Kernels without exchanges between lanes compute what those with them did: random kernels of every width, and what the
 * pass leaves alone. */
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
    kernel *split = k_split(k, 0, 0, a);
    well_formed(split, a, seed);
    assert_int_equal(statements(split, a, K_COUNT) + statements(split, a, K_RANK) + statements(split, a, K_COMPACT) +
                         statements(split, a, K_SHUFFLE),
                     0);
    gang_run *expected = arena_new(a, *expected), *got = arena_new(a, *got);
    random_gang_fill(expected, seed, lanes);
    random_gang_fill(got, seed, lanes);
    k_interpret(k, a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
    k_interpret(split, a, got->mem, got->arg, 0, GANG_PIECES, &got->error);
    const char *difference = random_gang_difference(a, expected, got);
    if (difference)
        fail_msg("seed %lu, %u lanes: %s\n%s\n%s", (unsigned long)seed, lanes, difference, print(a, k),
                 print(a, split));
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
    assert_ptr_equal(k_split(k, 32, 0, &a), k);
    assert_ptr_not_equal(k_split(k, 16, 0, &a), k);
    k = small_kernel(&a, 32, true); /* a lane that failed does not come to the exchange */
    assert_ptr_not_equal(k_split(k, 32, 0, &a), k);
    assert_int_equal(statements(k_split(k, 32, 0, &a), &a, K_COUNT), 0);
    arena_free(&a);
}

/* One barrier for the shuffle, one for the count. */
static void test_segments(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *split = k_split(small_kernel(&a, 32, false), 0, 0, &a);
    assert_int_equal(statements(split, &a, K_FOR_ALL), 3);
    arena_free(&a);
}

static unsigned loops_of(const kernel *k, uint8_t sub)
{
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        n += k->stmt.at[r].op == K_FOR && k->stmt.at[r].sub == sub;
    return n;
}

/* Loops on the way keep what is said of them, and their statements. */
static void test_loops(void **state)
{
    static const char source[] =
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 0 to 4 pack { %4:i64 = mul %2, 4 %5:i64 = add %4, %3 %6:i64 = load @1[%5] store @2[%5] = %6 } "
        "%7:i64 = var 0 for %8:i64 = 0 to 3 unroll { %9:i64 = bitcast %7 %10:i64 = add %9, %8 set %7 = %10 } "
        "for %11:i64 = 1 to %1 { %12:i64 = bitcast %7 %13:i64 = mul %12, %11 set %7 = %13 } "
        "%14:i64 = bitcast %7 %15:i64 = shuffle %14, 1 %16:i64 = add %2, 32 store @2[%16] = %15 } }";
    int64_t in[32], expected[40] = {0}, got[40] = {0};
    arena a;
    const char *message = "";
    (void)state;
    arena_init(&a, NULL);
    for (int64_t i = 0; i < 32; i++)
        in[i] = 1000 + i;
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s", message);
    kernel *split = k_split(k, 0, 0, &a);
    assert_ptr_not_equal(split, k);
    well_formed(split, &a, 0);
    assert_int_equal(loops_of(split, K_PACK), 1);
    assert_int_equal(loops_of(split, K_UNROLL), 1);
    assert_int_equal(loops_of(split, 0), 1);
    ir_bits arg = 5;
    k_error error = {0};
    assert_true(k_interpret(k, &a, (void *[]){in, expected}, &arg, 0, 1, &error));
    assert_true(k_interpret(split, &a, (void *[]){in, got}, &arg, 0, 1, &error));
    assert_int_equal(expected[31], 1031);
    assert_memory_equal(got, expected, sizeof(got));
    arena_free(&a);
}

/* Every element of x against all of y: the inner loop of N-body. */
static kernel *all_pairs(arena *a, int64_t threads)
{
    kernel *k = k_new(a, "all_pairs", 8);
    k_builder b;
    k_begin(&b, k);
    k_mem x = k_global(&b, T_I64, false, "x"), y = k_global(&b, T_I64, false, "y"), z = k_global(&b, T_I64, false, "z");
    k_mem out = k_global(&b, T_I64, true, "out");
    k_val n = k_arg(&b, T_I64, "n"), from = k_arg(&b, T_I64, "from");
    k_val first = k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, threads), 0);
    k_val lane = k_for_all(&b, k_let(&b, OP_MIN, k_i64(&b, threads), k_let(&b, OP_SUB, n, first, 0), 0));
    k_val i = k_let(&b, OP_ADD, first, lane, 0), mine = k_load(&b, x, i);
    k_val sum = k_decl(&b, k_i64(&b, 1), "sum");
    k_val j = k_for(&b, from, n, false);
    k_val pull = k_let(&b, OP_SUB, k_let(&b, OP_MUL, k_load(&b, y, j), mine, 0), k_load(&b, z, j), 0);
    k_set(&b, sum,
          k_let(&b, OP_ADD, k_let(&b, OP_MUL, k_get(&b, sum), k_i64(&b, 3), 0), k_let(&b, OP_ADD, pull, j, 0), 0));
    k_end(&b);
    k_store(&b, out, i, k_let(&b, OP_ADD, k_get(&b, sum), mine, 0));
    k_end(&b);
    return k;
}

static void test_tiles(void **state)
{
    enum { MOST = 700 };
    static const int64_t size[] = {0, 1, 15, 16, 17, 63, 64, 65, 256, MOST};
    static int64_t x[MOST], y[MOST], z[MOST], expected[MOST], got[MOST];
    (void)state;
    for (unsigned i = 0; i < MOST; i++) {
        x[i] = (int64_t)hash_mix(1, i);
        y[i] = (int64_t)hash_mix(2, i);
        z[i] = (int64_t)hash_mix(3, i);
    }
    for (size_t s = 0; s < ARRAY_LENGTH(size); s++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = all_pairs(&a, 64), *tiled = k_split(k, 0, s % 2 ? 16 : 256, &a);
        assert_ptr_not_equal(tiled, k);
        well_formed(tiled, &a, s);
        assert_int_equal(statements(tiled, &a, K_FOR_ALL), 4); /* before, a tile, the loop on it, behind */
        ir_bits arg[2] = {(ir_bits)size[s], (ir_bits)(s % 3)};
        k_error error = {0};
        memset(expected, 0, sizeof(expected));
        memset(got, 0, sizeof(got));
        assert_true(k_interpret(k, &a, (void *[]){x, y, z, expected}, arg, 0, (size[s] + 63) / 64, &error));
        assert_true(k_interpret(tiled, &a, (void *[]){x, y, z, got}, arg, 0, (size[s] + 63) / 64, &error));
        assert_memory_equal(got, expected, sizeof(got));
        arena_free(&a);
    }
}

/* What may fail, or is not read by all, is not read ahead. */
static void test_untiled(void **state)
{
    static const char *const source[] = {
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { check 1: false, 0, 0, "
        "0 "
        "for %3:i64 = 0 to %1 { %4:i64 = load @1[%3] store @2[%2] = %4 } } }",
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 0 to %1 { %5:bool = gt %2, %3 if %5 { %4:i64 = load @1[%3] store @2[%2] = %4 } } } }",
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 0 to 9 { %4:i64 = load @1[%3] store @2[%2] = %4 } } }",
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 20 to 35 { %4:i64 = load @1[%3] store @2[%2] = %4 } } }",
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < %1 { "
        "for %3:i64 = 0 to %1 { %4:i64 = load @1[%3] store @2[%2] = %4 } } }",
        "kernel k lanes 8 { global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 0 to %1 { %4:i64 = load @2[%3] store @2[%2] = %4 } } }",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(source); i++) {
        arena a;
        const char *message = "";
        arena_init(&a, NULL);
        kernel *k = k_parse(&a, source[i], &message);
        if (!k)
            fail_msg("%s", message);
        assert_ptr_equal(k_split(k, 0, 16, &a), k);
        arena_free(&a);
    }
}

/* What only some threads read in a round is read ahead where its index is in range for all. */
static void test_total(void **state)
{
    static const char source[] =
        "kernel k lanes 8 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < 8 { %6:i64 = var 0 "
        "for %3:i64 = 0 to %1 { %5:bool = gt %2, %3 if %5 { %7:bool = lt %3, 5 if %7 { %4:i64 = load total @1[%3] "
        "set %6 = %4 } } } %8:i64 = bitcast %6 store @2[%2] = %8 } }";
    int64_t in[40], expected[8] = {0}, got[8] = {0};
    arena a;
    const char *message = "";
    (void)state;
    arena_init(&a, NULL);
    for (int64_t i = 0; i < 40; i++)
        in[i] = 1000 + i;
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s", message);
    kernel *tiled = k_split(k, 0, 16, &a);
    assert_ptr_not_equal(tiled, k);
    well_formed(tiled, &a, 0);
    ir_bits arg = 40;
    k_error error = {0};
    assert_true(k_interpret(k, &a, (void *[]){in, expected}, &arg, 0, 1, &error));
    assert_true(k_interpret(tiled, &a, (void *[]){in, got}, &arg, 0, 1, &error));
    assert_memory_equal(got, expected, sizeof(got));
    for (k_ref r = 1; r < tiled->stmt.n; r++) /* global memory is read by all together only */
        if (tiled->stmt.at[r].op == K_LOAD && tiled->stmt.at[r].mem == 1)
            assert_int_not_equal(tiled->stmt.at[r].sub, K_TOTAL);
    arena_free(&a);
}

/* A value carried from piece to piece: what the pieces so far make of it, by the functions x -> a x + b. */
static void carry(k_builder *b, k_mem state, k_val slope, k_val offset, k_val before[2])
{
    k_chain *c = k_chain_begin(b, 2, (k_val[]){slope, offset}, (k_val[]){k_i64(b, 3), k_i64(b, 7)}, state);
    k_val moved = k_let(b, OP_MUL, c->right[0], c->left[1], 0);
    k_val both[2] = {k_let(b, OP_MUL, c->left[0], c->right[0], 0), k_let(b, OP_ADD, moved, c->right[1], 0)};
    k_chain_end(b, c, both);
    before[0] = c->before[0];
    before[1] = c->before[1];
}

/* Chains of pieces stay as they are, each with its own code, beside threads that are split. */
static void test_chains(void **state)
{
    (void)state;
    enum { LANES = 8, PIECES = 5 };
    arena a;
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "chains", LANES);
    k_builder b;
    k_begin(&b, k);
    k_mem out = k_global(&b, T_I64, true, "out");
    k_mem one = k_global(&b, T_U64, true, "one"), other = k_global(&b, T_U64, true, "other");
    k_val piece = k_piece(&b), two = k_i64(&b, 2), first[2], second[2];
    carry(&b, one, k_let(&b, OP_ADD, piece, two, 0), k_let(&b, OP_SUB, two, piece, 0), first);
    carry(&b, other, k_let(&b, OP_SUB, piece, two, 0), first[0], second);
    k_val lane = k_for_all(&b, k_i64(&b, LANES));
    k_val n = k_count(&b, k_let(&b, OP_GT, k_shuffle(&b, lane, 1), two, 0));
    k_val sum = k_let(&b, OP_ADD, k_let(&b, OP_ADD, first[1], second[0], 0), k_let(&b, OP_MUL, second[1], n, 0), 0);
    k_val begin = k_let(&b, OP_MUL, piece, k_i64(&b, LANES), 0);
    k_store(&b, out, k_let(&b, OP_ADD, begin, lane, 0), k_let(&b, OP_ADD, sum, lane, 0));
    k_end(&b);
    well_formed(k, &a, 0);
    kernel *split = k_split(k, 0, 0, &a);
    assert_ptr_not_equal(split, k);
    well_formed(split, &a, 0);
    assert_int_equal(statements(split, &a, K_CHAIN), 2);
    assert_int_equal(statements(split, &a, K_COUNT), 0);

    int64_t expected[LANES * PIECES] = {0}, got[LANES * PIECES] = {0};
    uint64_t words[2][16 * PIECES] = {{0}}, more[2][16 * PIECES] = {{0}};
    k_error error = {0};
    assert_true(k_interpret(k, &a, (void *[]){expected, words[0], words[1]}, NULL, 0, PIECES, &error));
    assert_true(k_interpret(split, &a, (void *[]){got, more[0], more[1]}, NULL, 0, PIECES, &error));
    assert_memory_equal(got, expected, sizeof(got));
    assert_int_not_equal(expected[LANES * (PIECES - 1)], expected[0]);
    arena_free(&a);
}

/* Whether something holds in all lanes: under a condition that lanes do not share, each thread decides for itself and
 * nothing is cut; where all lanes come, also behind such a condition, they meet. */
static void test_votes(void **state)
{
    static const struct {
        const char *condition;
        bool meets;
    } vote[] = {
        {"%4:bool = lt %2, 3 if %4 { %5:bool = all %3 store @1[%2] = %5 }", false},
        {"%4:bool = lt %1, 3 if %4 { %5:bool = all %3 store @1[%2] = %5 }", true},
        {"%4:bool = lt %2, 3 if %4 { store @1[%2] = %3 } %5:bool = all %3 store @1[%2] = %5", true},
        {"%4:bool = lt %2, 3 if %4 { %6:bool = lt %1, 3 if %6 { store @1[%2] = %3 } %5:bool = all %3 "
         "store @1[%2] = %5 }",
         false},
        {"%5:bool = all %3 store @1[%2] = %5", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(vote); i++) {
        arena a;
        const char *message = "";
        arena_init(&a, NULL);
        kernel *k = k_parse(&a,
                            arena_printf(&a,
                                         "kernel k lanes 8 { global @1:bool written arg %%1:i64 for_all %%2:i64 < 8 { "
                                         "%%3:bool = gt %%2, %%1 %s } }",
                                         vote[i].condition),
                            &message);
        if (!k)
            fail_msg("%s", message);
        kernel *split = k_split(k, 0, 0, &a);
        well_formed(split, &a, i);
        if ((split != k) != vote[i].meets)
            fail_msg("%s: lanes %s\n%s", vote[i].condition, vote[i].meets ? "do not meet" : "meet", print(&a, split));
        arena_free(&a);
    }
}

/* However often lanes exchange values, all of it goes through the same shared memory: two of a type. */
static void test_shared_bytes(void **state)
{
    (void)state;
    enum { LANES = 64, TIMES = 50 };
    arena a;
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "exchanges", LANES);
    k_builder b;
    k_begin(&b, k);
    k_mem out = k_global(&b, T_I64, true, "out");
    k_val lane = k_for_all(&b, k_i64(&b, LANES)), sum = k_decl(&b, lane, "sum"),
          small = k_decl(&b, k_convert(&b, OP_CONVERT, T_I32, lane), "small");
    k_for(&b, k_i64(&b, 0), k_i64(&b, 3), false);
    for (int i = 0; i < TIMES; i++) {
        k_set(&b, sum, k_let(&b, OP_ADD, k_get(&b, sum), k_shuffle(&b, k_get(&b, sum), 1 + i), 0));
        if (i % 3 == 0)
            k_set(&b, small,
                  k_let(&b, OP_ADD, k_shuffle(&b, k_get(&b, small), 1),
                        k_convert(&b, OP_CONVERT, T_I32, k_rank(&b, k_let(&b, OP_GT, k_get(&b, sum), k_i64(&b, 0), 0))),
                        0));
    }
    k_end(&b);
    k_store(&b, out, lane, k_let(&b, OP_ADD, k_get(&b, sum), k_convert(&b, OP_CONVERT, T_I64, k_get(&b, small)), 0));
    k_end(&b);
    well_formed(k, &a, 0);
    kernel *split = k_split(k, 0, 0, &a);
    well_formed(split, &a, 0);
    k_layout(split, 128);
    assert_true(k_shared_bytes(split) <= 2 * LANES * (8 + 4));
    int64_t expected[LANES], got[LANES];
    struct k_error error = {0};
    assert_true(k_interpret(k, &a, (void *const[]){expected}, NULL, 0, 1, &error));
    assert_true(k_interpret(split, &a, (void *const[]){got}, NULL, 0, 1, &error));
    assert_memory_equal(expected, got, sizeof(got));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random),   cmocka_unit_test(test_native),
                                       cmocka_unit_test(test_segments), cmocka_unit_test(test_loops),
                                       cmocka_unit_test(test_tiles),    cmocka_unit_test(test_untiled),
                                       cmocka_unit_test(test_total),    cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_votes),    cmocka_unit_test(test_shared_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
