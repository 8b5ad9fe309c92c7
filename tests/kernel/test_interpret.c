/* The plain interpreter, statement by statement, against values worked out here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"
#include "kernel/launch.h"

typedef struct {
    arena a;
    kernel *k;
    k_builder b;
    k_error error;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f = (fixture){0};
    arena_init(&f.a, NULL);
    f.k = k_new(&f.a, "test", 4);
    k_begin(&f.b, f.k);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    arena_free(&f->a);
    return 0;
}

static bool run(fixture *f, void *const *mem, const ir_bits *arg, int64_t pieces)
{
    const char *why = "";
    if (!k_verify(f->k, &f->a, &why))
        fail_msg("%s", why);
    f->error = (k_error){0};
    return k_interpret(f->k, &f->a, mem, arg, 0, pieces, &f->error);
}

/* out[i] = 2 * in[i] + 1 for all i below n, n no multiple of the lanes */
static void threads_cover_a_ragged_count(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem in = k_global(b, T_I32, false, "in"), out = k_global(b, T_I32, true, "out");
    k_val n = k_arg(b, T_I64, "n");
    k_val i = k_for_all(b, n);
    k_val x = k_load(b, in, i);
    k_val y = k_let(b, OP_ADD, k_let(b, OP_ADD, x, x, 0), k_literal(b, T_I32, 1), 0);
    k_store(b, out, i, y);
    k_end(b);
    int32_t from[7] = {1, 2, 3, 4, 5, 6, 7}, to[8] = {0};
    assert_true(run(f, (void *[]){from, to}, (ir_bits[]){7}, 1));
    for (int j = 0; j < 7; j++)
        assert_int_equal(to[j], 2 * from[j] + 1);
    assert_int_equal(to[7], 0);
}

/* Collatz lengths: a loop that each lane leaves at its own time, with a branch inside. */
static void lanes_leave_loops_one_by_one(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out");
    k_val i = k_for_all(b, k_i64(b, 9));
    k_val x = k_decl(b, k_let(b, OP_ADD, i, k_i64(b, 1), 0), "x");
    k_val steps = k_decl(b, k_i64(b, 0), "steps");
    k_loop(b);
    k_break_if(b, k_let(b, OP_EQ, x, k_i64(b, 1), 0));
    k_if(b, k_let(b, OP_EQ, k_let(b, OP_BIT_AND, x, k_i64(b, 1), 0), k_i64(b, 0), 0));
    k_set(b, x, k_let(b, OP_SHR, x, k_i64(b, 1), 0));
    k_else(b);
    k_set(b, x, k_let(b, OP_ADD, k_let(b, OP_MUL, x, k_i64(b, 3), 0), k_i64(b, 1), 0));
    k_end(b);
    k_set(b, steps, k_let(b, OP_ADD, steps, k_i64(b, 1), 0));
    k_end(b);
    k_store(b, out, i, steps);
    k_end(b);
    int64_t got[9], expected[9] = {0, 1, 7, 2, 5, 8, 16, 3, 19};
    assert_true(run(f, (void *[]){got}, NULL, 1));
    assert_memory_equal(got, expected, sizeof(got));
}

/* Reversal through shared memory: the end of the first FOR_ALL makes its writes visible. */
static void for_all_ends_with_a_barrier(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out"), tile = k_shared(b, T_I64, 10, "tile");
    k_val i = k_for_all(b, k_i64(b, 10));
    k_store(b, tile, i, k_let(b, OP_MUL, i, i, 0));
    k_end(b);
    k_val base = k_let(b, OP_MUL, k_piece(b), k_i64(b, 10), 0);
    k_val j = k_for_all(b, k_i64(b, 10));
    k_val x = k_load(b, tile, k_let(b, OP_SUB, k_i64(b, 9), j, 0));
    k_store(b, out, k_let(b, OP_ADD, base, j, 0), x);
    k_end(b);
    int64_t got[20];
    assert_true(run(f, (void *[]){got}, NULL, 2));
    for (int64_t t = 0; t < 20; t++)
        assert_int_equal(got[t], (9 - t % 10) * (9 - t % 10));
}

static void private_memory_survives(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out"), own = k_private(b, T_I64, 2, "own");
    k_val i = k_for_all(b, k_i64(b, 6));
    k_store(b, own, k_i64(b, 0), i);
    k_store(b, own, k_i64(b, 1), k_let(b, OP_NEG, i, 0, 0));
    k_end(b);
    k_val j = k_for_all(b, k_i64(b, 6));
    k_val first = k_load(b, own, k_i64(b, 0)), second = k_load(b, own, k_i64(b, 1));
    k_store(b, out, j, k_let(b, OP_SUB, first, second, 0));
    k_end(b);
    int64_t got[6];
    assert_true(run(f, (void *[]){got}, NULL, 1));
    for (int64_t t = 0; t < 6; t++)
        assert_int_equal(got[t], 2 * t);
}

/* The failing lanes are off from the CHECK on, the others go on, and the smallest (site, element) is kept. */
static void checks_switch_lanes_off(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out");
    k_val i = k_for_all(b, k_i64(b, 6));
    k_check(b, 9, k_let(b, OP_NE, i, k_i64(b, 0), 0), i, i, k_i64(b, 1));
    k_check(b, 5, k_let(b, OP_LT, i, k_i64(b, 4), 0), i, k_let(b, OP_MUL, i, k_i64(b, 10), 0), k_i64(b, 4));
    k_store(b, out, i, k_i64(b, 1));
    k_end(b);
    int64_t got[6] = {0}, expected[6] = {0, 1, 1, 1, 0, 0};
    assert_false(run(f, (void *[]){got}, NULL, 1));
    assert_memory_equal(got, expected, sizeof(got));
    assert_int_equal(f->error.site, 5);
    assert_int_equal(f->error.element, 4);
    assert_int_equal(f->error.value, 40);
    assert_int_equal(f->error.bound, 4);
}

static void a_failed_piece_stores_nothing_more(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out");
    k_val p = k_piece(b);
    k_store(b, out, k_let(b, OP_MUL, p, k_i64(b, 2), 0), k_i64(b, 1));
    k_check(b, 3, k_let(b, OP_NE, p, k_i64(b, 1), 0), p, p, p);
    k_for_all(b, k_i64(b, 1));
    k_store(b, out, k_let(b, OP_ADD, k_let(b, OP_MUL, p, k_i64(b, 2), 0), k_i64(b, 1), 0), k_i64(b, 1));
    k_end(b);
    int64_t got[6] = {0}, expected[6] = {1, 1, 1, 0, 1, 1};
    assert_false(run(f, (void *[]){got}, NULL, 3));
    assert_memory_equal(got, expected, sizeof(got));
}

/* A stable filter: COUNT and COMPACT in a gang, the base carried in a variable of the piece. */
static void compact_keeps_order(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem in = k_global(b, T_I32, false, "in"), out = k_global(b, T_I32, true, "out"),
          total = k_global(b, T_I64, true, "total");
    k_val n = k_arg(b, T_I64, "n");
    k_val at = k_decl(b, k_i64(b, 0), "at");
    k_val gangs = k_let(b, OP_SHR, k_let(b, OP_ADD, n, k_i64(b, 3), 0), k_i64(b, 2), 0);
    k_val g = k_for(b, k_i64(b, 0), gangs, false);
    k_val start = k_let(b, OP_MUL, g, k_i64(b, 4), 0);
    k_val rest = k_let(b, OP_MIN, k_let(b, OP_SUB, n, start, 0), k_i64(b, 4), 0);
    k_val lane = k_for_all(b, rest);
    k_val x = k_load(b, in, k_let(b, OP_ADD, start, lane, 0));
    k_val keep = k_let(b, OP_GT, x, k_literal(b, T_I32, 0), 0);
    k_compact(b, out, at, x, keep);
    k_val c = k_count(b, keep);
    k_set(b, at, k_let(b, OP_ADD, at, c, 0));
    k_end(b);
    k_end(b);
    k_store(b, total, k_i64(b, 0), at);
    int32_t from[10] = {3, -1, 4, -1, 5, 9, -2, 6, -5, 3}, to[10] = {0}, expected[10] = {3, 4, 5, 9, 6, 3};
    int64_t kept = -1;
    assert_true(run(f, (void *[]){from, to, &kept}, (ir_bits[]){10}, 1));
    assert_int_equal(kept, 6);
    assert_memory_equal(to, expected, sizeof(to));
}

/* Affine maps compose from piece to piece; composition does not commute. */
static void chains_carry_a_tuple(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out"), carry = k_global(b, T_U64, true, "state");
    k_val p = k_piece(b), two = k_i64(b, 2);
    k_val aggregate[2] = {k_let(b, OP_ADD, p, two, 0), k_let(b, OP_SUB, two, p, 0)};
    k_val initial[2] = {k_i64(b, 3), k_i64(b, 7)};
    k_chain *c = k_chain_begin(b, 2, aggregate, initial, carry);
    /* x -> l0 x + l1, then x -> r0 x + r1 */
    k_val slope = k_let(b, OP_MUL, c->left[0], c->right[0], 0);
    k_val offset = k_let(b, OP_ADD, k_let(b, OP_MUL, c->right[0], c->left[1], 0), c->right[1], 0);
    k_chain_end(b, c, (k_val[]){slope, offset});
    k_store(b, out, k_let(b, OP_MUL, p, two, 0), c->before[0]);
    k_store(b, out, k_let(b, OP_ADD, k_let(b, OP_MUL, p, two, 0), k_i64(b, 1), 0), c->before[1]);
    int64_t got[10], slope_now = 3, offset_now = 7;
    uint64_t words[15] = {0};
    assert_true(run(f, (void *[]){got, words}, NULL, 5));
    for (int64_t t = 0; t < 5; t++) {
        assert_int_equal(got[2 * t], slope_now);
        assert_int_equal(got[2 * t + 1], offset_now);
        offset_now = (t + 2) * offset_now + (2 - t);
        slope_now *= t + 2;
    }
}

static void atomics_return_the_old_value(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem out = k_global(b, T_I64, true, "out"), sum = k_global(b, T_I64, true, "sum");
    k_val i = k_for_all(b, k_i64(b, 6));
    k_store(b, out, i, k_atomic(b, OP_ADD, sum, k_i64(b, 0), i));
    k_end(b);
    int64_t got[6], expected[6] = {100, 100, 101, 103, 106, 110}, total = 100;
    assert_true(run(f, (void *[]){got, &total}, NULL, 1));
    assert_int_equal(total, 115);
    assert_memory_equal(got, expected, sizeof(got));
}

static void shared_memory_has_bounds(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem tile = k_shared(b, T_F32, 3, "tile");
    k_val i = k_for_all(b, k_i64(b, 4));
    k_store(b, tile, i, k_literal(b, T_F32, 0));
    k_end(b);
    assert_false(run(f, NULL, NULL, 1));
    assert_int_equal(f->error.site, UINT32_MAX);
    assert_int_equal(f->error.value, 3);
}

static void private_memory_has_threads(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_mem own = k_private(b, T_I64, 2, "own");
    k_val i = k_for_all(b, k_arg(b, T_I64, "n"));
    k_store(b, own, k_i64(b, 1), i);
    k_end(b);
    f->k->threads = 9;
    const ir_bits n = 10;
    assert_false(run(f, NULL, &n, 1));
    assert_int_equal(f->error.site, UINT32_MAX);
    assert_int_equal(f->error.element, 9);
    assert_int_equal(f->error.value, 9);
    assert_int_equal(f->error.bound, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_cover_a_ragged_count, setup, teardown),
        cmocka_unit_test_setup_teardown(lanes_leave_loops_one_by_one, setup, teardown),
        cmocka_unit_test_setup_teardown(for_all_ends_with_a_barrier, setup, teardown),
        cmocka_unit_test_setup_teardown(private_memory_survives, setup, teardown),
        cmocka_unit_test_setup_teardown(checks_switch_lanes_off, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_piece_stores_nothing_more, setup, teardown),
        cmocka_unit_test_setup_teardown(compact_keeps_order, setup, teardown),
        cmocka_unit_test_setup_teardown(chains_carry_a_tuple, setup, teardown),
        cmocka_unit_test_setup_teardown(atomics_return_the_old_value, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_memory_has_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(private_memory_has_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
