/* Exchanges between lanes and carries between pieces, as OpenCL C: random kernels against the interpreter, with fewer
 * real threads than lanes and with more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emit/emit.h"
#include "support/opencl_runner.h"
#include "support/random_gang.h"

static int open_device(void **state)
{
    const char *why = "";
    opencl_runner *r = opencl_open(&why);
    if (r)
        printf("OpenCL device: %s\n", opencl_device(r));
    else
        printf("skipped: %s\n", why);
    *state = r;
    return 0;
}

static int close_device(void **state)
{
    opencl_close(*state);
    return 0;
}

static const char *emitted(kernel *k, arena *a)
{
    const char *why = "";
    text t;
    k = k_split(k, emit_gang(&dialect_opencl), 0, a);
    if (!k_verify(k, a, &why))
        fail_msg("%s", why);
    k_analyse(k);
    k_layout(k, 128);
    text_init(&t, a);
    if (!emit_text(k, &dialect_opencl, "test", &t, &why))
        fail_msg("%s", why);
    return t.at;
}

static opencl_program *built(opencl_runner *r, const char *source, size_t local, arena *a)
{
    const char *log = "";
    opencl_program *p = opencl_build(r, source, "test", local, a, &log);
    if (!p)
        fail_msg("%s\n%s", log, source);
    return p;
}

static void random_gangs(void **state)
{
    static const uint16_t width[] = {8, 16, 32};
    static const size_t group[] = {16, 5, 8, 3};
    unsigned seeds = getenv("SINTER_TEST_LONG") ? 300 : 6; /* PoCL takes seconds for some of them */
    if (!*state)
        skip();
    for (uint64_t seed = 0; seed < seeds; seed++) {
        arena a;
        arena_init(&a, NULL);
        uint16_t lanes = width[seed % ARRAY_LENGTH(width)];
        kernel *k = random_gang(&a, seed + 5000, lanes, seed % 4 == 0);
        gang_run *expected = arena_new(&a, *expected), *got = arena_new(&a, *got);
        random_gang_fill(expected, seed, lanes);
        random_gang_fill(got, seed, lanes);
        k_interpret(k, &a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
        const char *source = emitted(k, &a);
        opencl_program *p = built(*state, source, group[seed / 3 % ARRAY_LENGTH(group)], &a);
        assert_true(opencl_run(p, k, got->mem, got->bytes, got->arg, 0, GANG_PIECES, 2, &got->error));
        const char *difference = random_gang_difference(&a, expected, got);
        if (difference) {
            printf("%s", source); /* longer than messages may be */
            fail_msg("seed %lu: %s", (unsigned long)seed, difference);
        }
        opencl_drop(p);
        arena_free(&a);
    }
}

/* Affine maps handed from piece to piece, an operator that keeps order. One group: nobody waits for a group that does
 * not run. */
static void carries_go_from_piece_to_piece(void **state)
{
    enum { PIECES = 40 };
    static int64_t in[PIECES], expected[PIECES], got[PIECES];
    static uint64_t first_state[PIECES * 5], second_state[PIECES * 5];
    arena a;
    k_builder b;
    if (!*state)
        skip();
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "chained", 8);
    k_begin(&b, k);
    k_mem from = k_global(&b, T_I64, false, "in"), out = k_global(&b, T_I64, true, "out"),
          carry = k_global(&b, T_U64, true, "carry");
    k_val x = k_load(&b, from, k_piece(&b));
    k_val aggregate[4] = {k_convert(&b, OP_CONVERT, T_F32, x), k_let(&b, OP_BIT_OR, x, k_i64(&b, 1), 0),
                          k_convert(&b, OP_CONVERT, T_F64, x), k_convert(&b, OP_CONVERT, T_I16, x)};
    k_val initial[4] = {k_literal(&b, T_F32, ir_bits_f32(0.5f)), k_i64(&b, 3), k_literal(&b, T_F64, ir_bits_f64(0.25)),
                        k_literal(&b, T_I16, 5)};
    k_chain *c = k_chain_begin(&b, 4, aggregate, initial, carry);
    k_val result[4] = {k_let(&b, OP_SUB, c->right[0], c->left[0], 0),
                       k_let(&b, OP_ADD, k_let(&b, OP_MUL, c->left[1], c->right[1], 0), c->right[1], 0),
                       k_let(&b, OP_SUB, c->right[2], c->left[2], 0), k_let(&b, OP_SUB, c->right[3], c->left[3], 0)};
    k_chain_end(&b, c, result);
    k_val sum = c->before[1];
    for (unsigned i = 0; i < 4; i++)
        sum = i == 1 ? sum : k_let(&b, OP_ADD, k_convert(&b, OP_CONVERT, T_I64, c->before[i]), sum, 0);
    k_store(&b, out, k_piece(&b), sum);
    for (unsigned i = 0; i < PIECES; i++)
        in[i] = (int64_t)(hash_mix(3, i) % 1000) - 500;
    k_error error = {0};
    assert_true(k_interpret(k, &a, (void *[]){in, expected, first_state}, NULL, 0, PIECES, &error));
    opencl_program *p = built(*state, emitted(k, &a), 8, &a);
    size_t bytes[] = {sizeof(in), sizeof(got), sizeof(second_state)};
    assert_true(opencl_run(p, k, (void *[]){in, got, second_state}, bytes, NULL, 0, 17, 1, &error));
    assert_true(opencl_run(p, k, (void *[]){in, got, second_state}, bytes, NULL, 17, PIECES, 1, &error));
    assert_memory_equal(got, expected, sizeof(got));
    assert_memory_equal(second_state, first_state, sizeof(first_state));
    opencl_drop(p);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_gangs),
                                       cmocka_unit_test(carries_go_from_piece_to_piece)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
