/* Emitted CUDA C++ run on the host (support/cuda_text.h) against the interpreter: random kernels, exchanges between
 * lanes by instructions and through shared memory, carries, for any number of threads of a block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emit/emit.h"
#include "kernel/narrow.h"
#include "support/cuda_text.h"
#include "support/random_gang.h"
#include "support/random_kernel.h"

static bool skips(void)
{
    if (cuda_text_possible())
        return false;
    printf("skipped: no C++ compiler\n");
    return true;
}

/* arg: of all its launches. */
static cuda_text *built(kernel *k, unsigned local, const ir_bits *arg, int64_t pieces, arena *a, const char **source)
{
    const char *why = "";
    text t;
    k->narrow = k_indices_fit(k, a, arg, 0, pieces);
    k = k_split(k, local % emit_gang(&dialect_cuda) ? 0 : emit_gang(&dialect_cuda), 0, a);
    if (!k_verify(k, a, &why))
        fail_msg("%s", why);
    k_expand_math(k);
    k_analyse(k);
    k_layout(k, 128);
    text_init(&t, a);
    if (!emit_text(k, &dialect_cuda, "test", &t, &why))
        fail_msg("%s", why);
    *source = t.at;
    cuda_text *c = cuda_text_build(k, t.at, "test", local, a, &why);
    if (!c) {
        printf("%s", t.at);
        fail_msg("%s", why);
    }
    return c;
}

static void same(const char *difference, const char *why, bool fine, uint64_t seed, const char *source)
{
    if (!difference && fine)
        return;
    printf("%s", source);
    fail_msg("seed %lu: %s", (unsigned long)seed, fine ? difference : why);
}

static unsigned seeds(unsigned few, unsigned many)
{
    return getenv("SINTER_TEST_LONG") ? many : few;
}

static void random_gangs(void **state)
{
    static const uint16_t width[] = {8, 32, 16, 64, 1};
    static const unsigned group[] = {32, 64, 7, 128, 1, 256};
    (void)state;
    for (uint64_t seed = 0; !skips() && seed < seeds(20, 400); seed++) {
        arena a;
        const char *source = "", *why = "";
        arena_init(&a, NULL);
        uint16_t lanes = width[seed % ARRAY_LENGTH(width)];
        kernel *k = random_gang(&a, seed + 9000, lanes, seed % 4 == 0);
        gang_run *expected = arena_new(&a, *expected), *got = arena_new(&a, *got);
        random_gang_fill(expected, seed, lanes);
        random_gang_fill(got, seed, lanes);
        k_interpret(k, &a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
        cuda_text *t = built(k, group[seed % ARRAY_LENGTH(group)], got->arg, GANG_PIECES, &a, &source);
        bool fine = cuda_text_run(t, got->mem, got->arg, 0, GANG_PIECES, 2, &got->error, &why);
        same(random_gang_difference(&a, expected, got), why, fine, seed, source);
        cuda_text_drop(t);
        arena_free(&a);
    }
}

static void random_kernels(void **state)
{
    static const unsigned group[] = {32, 1, 64, 5};
    random_run *expected = malloc(sizeof(*expected)), *got = malloc(sizeof(*got));
    (void)state;
    assert_non_null(expected);
    assert_non_null(got);
    for (uint64_t seed = 0; !skips() && seed < seeds(12, 300); seed++) {
        arena a;
        const char *source = "", *why = "";
        arena_init(&a, NULL);
        kernel *k = random_kernel(&a, seed, seed % 2 ? 32 : 8, seed % 3 == 0);
        random_fill(expected, seed);
        random_fill(got, seed);
        k_interpret(k, &a, expected->mem, expected->arg, 0, RANDOM_PIECES, &expected->error);
        cuda_text *t = built(k, group[seed % ARRAY_LENGTH(group)], got->arg, RANDOM_PIECES, &a, &source);
        bool fine = cuda_text_run(t, got->mem, got->arg, 0, RANDOM_PIECES, 1 + (unsigned)seed % 3, &got->error, &why);
        same(random_difference(&a, expected, got), why, fine, seed, source);
        cuda_text_drop(t);
        arena_free(&a);
    }
    free(expected);
    free(got);
}

/* Threads wait for each other where one may find what another has left, and nowhere else. */
static void barriers_stand_where_needed(void **state)
{
    static const struct {
        const char *body;
        bool waits;
    } cases[] = {
        {"global @1:f32 written once for_all %1:i64 < 64 { store @1[%1] = 1.0:f32 }", false},
        {"global @1:f32 written once for %2:i64 = 0 to 9 { for_all %1:i64 < 64 { store @1[%1] = 1.0:f32 } }", false},
        {"global @1:f32 written for %2:i64 = 0 to 9 { for_all %1:i64 < 64 { store @1[%1] = 1.0:f32 } }", true},
        {"global @1:f32 written once for_all %1:i64 < 64 { store @1[%1] = 1.0:f32 } for_all %2:i64 < 64 { %3:f32 = "
         "load "
         "@1[0] store @1[%2] = %3 }",
         true},
        {"shared @1:f32[64] for_all %1:i64 < 64 { store @1[%1] = 1.0:f32 }", true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        const char *message = "", *why = "";
        text t;
        arena_init(&a, NULL);
        kernel *k = k_parse(&a, arena_printf(&a, "kernel k lanes 8 { %s }", cases[i].body), &message);
        if (!k || !k_verify(k, &a, &why))
            fail_msg("%s: %s%s", cases[i].body, message, why);
        k_analyse(k);
        k_layout(k, 128);
        text_init(&t, &a);
        assert_true(emit_text(k, &dialect_cuda, "test", &t, &why));
        if ((strstr(t.at, "__syncthreads") != NULL) != cases[i].waits)
            fail_msg("%s", t.at);
        arena_free(&a);
    }
}

/* Code has the names of the kernel, as far as the language lets them be. */
static void names_are_kept(void **state)
{
    static const struct {
        const char *name, *code;
    } cases[] = {
        {"ABYZabyz0189", " ABYZabyz0189_"}, {"0189", " _189_"}, {"a-b.c d", " a_b_c_d_"}, {"while", " while_"},
        {"a\xc3\xa9@[`{", " a_______"},     {"/0:9", " _0_9_"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        const char *why = "";
        text t;
        arena_init(&a, NULL);
        kernel *k = k_new(&a, "named", 8);
        k_builder b;
        k_begin(&b, k);
        k_val x = k_arg(&b, T_I64, "x"), y = k_arg(&b, T_I64, cases[i].name);
        k_mem out = k_global(&b, T_I64, true, "out");
        k_store(&b, out, k_i64(&b, 0), k_let(&b, OP_ADD, x, y, 0));
        if (!k_verify(k, &a, &why))
            fail_msg("%s", why);
        k_analyse(k);
        k_layout(k, 128);
        text_init(&t, &a);
        assert_true(emit_text(k, &dialect_cuda, "test", &t, &why));
        if (!strstr(t.at, cases[i].code))
            fail_msg("no%s in\n%s", cases[i].code, t.at);
        arena_free(&a);
    }
}

/* Elements 4 i to 4 i + 3 of x + x * y, a thread each, behind an offset. */
static kernel *packed(arena *a, ir_type t)
{
    kernel *k = k_new(a, "packed", 8);
    k_builder b;
    k_begin(&b, k);
    k_mem x = k_global(&b, t, false, "x"), y = k_global(&b, t, false, "y"), z = k_global(&b, t, true, "z");
    k->mem.at[z].once = true;
    k_val offset = k_arg(&b, T_I64, "offset");
    k_val lane = k_for_all(&b, k_i64(&b, 21));
    k_val start = k_let(&b, OP_ADD, offset, k_let(&b, OP_MUL, lane, k_i64(&b, K_PACK_ROUNDS), 0), 0);
    k_val i = k_let(&b, OP_ADD, k_for_pack(&b), start, 0);
    k_val left = k_load(&b, x, i), right = k_load(&b, y, i);
    k_store(&b, z, i, k_let(&b, OP_ADD, left, k_let(&b, OP_MUL, left, right, 0), 0));
    k_end(&b);
    k_end(&b);
    return k;
}

/* Neighbours as vectors, from pointers and offsets that vectors can be taken at, and from others. */
static void packs(void **state)
{
    static const ir_type types[] = {T_F32, T_U8, T_I16, T_F64, T_I64, T_U32, T_I8, T_U16, T_I32, T_U64};
    enum { BYTES = 1024 };
    static _Alignas(64) unsigned char x[BYTES], y[BYTES], expected[BYTES], got[BYTES];
    (void)state;
    for (size_t i = 0; !skips() && i < seeds(4, ARRAY_LENGTH(types)); i++) {
        arena a;
        const char *source = "", *why = "";
        size_t size = ir_type_size(types[i]);
        arena_init(&a, NULL);
        for (size_t j = 0; j < BYTES; j++) { /* floats of moderate size */
            x[j] = (unsigned char)(ir_type_float(types[i]) && j % size == size - 1 ? 0x3f : hash_mix(1, j));
            y[j] = (unsigned char)(ir_type_float(types[i]) && j % size == size - 1 ? 0x40 : hash_mix(2, j));
        }
        kernel *k = packed(&a, types[i]);
        ir_bits arg = 0;
        cuda_text *t = built(k, 32, &arg, 1, &a, &source);
        assert_non_null(strstr(source, "sn_pack_"));
        for (unsigned place = 0; place < 16; place++) { /* which of the three pointers are off, and the first element */
            k_error error = {0};
            void *mem[3] = {x + (place & 1) * size, y + (place >> 1 & 1) * size, expected + (place >> 2 & 1) * size};
            arg = place >> 3 ? 3 : 4;
            memset(expected, 0x55, BYTES);
            memset(got, 0x55, BYTES);
            assert_true(k_interpret(k, &a, mem, &arg, 0, 1, &error));
            mem[2] = got + (place >> 2 & 1) * size;
            if (!cuda_text_run(t, mem, &arg, 0, 1, 1, &error, &why))
                fail_msg("%s", why);
            assert_memory_equal(got, expected, BYTES);
        }
        cuda_text_drop(t);
        arena_free(&a);
    }
}

/* The check itself: a barrier that some threads never reach is found. */
static void lost_threads_are_found(void **state)
{
    static const char *const lost[] = {
        "extern \"C\" __global__ void test(long first, long last, long *error)\n"
        "{ if (threadIdx.x < 3) __syncthreads(); }\n",
        "extern \"C\" __global__ void test(long first, long last, long *error)\n"
        "{ if (threadIdx.x < 3) error[1] = __ballot_sync(15u, true); __syncthreads(); }\n",
    };
    (void)state;
    for (size_t i = 0; !skips() && i < ARRAY_LENGTH(lost); i++) {
        arena a;
        k_builder b;
        k_error error = {0};
        const char *why = "";
        arena_init(&a, NULL);
        kernel *k = k_new(&a, "lost", 8);
        k_begin(&b, k);
        text t;
        text_init(&t, &a);
        text_printf(&t, "typedef unsigned long long ulong;\n%s", lost[i]);
        cuda_text *c = cuda_text_build(k, t.at, "test", 8, &a, &why);
        assert_non_null(c);
        assert_false(cuda_text_run(c, NULL, NULL, 0, 1, 1, &error, &why));
        assert_non_null(strstr(why, i ? "exchange" : "barrier"));
        cuda_text_drop(c);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_gangs),   cmocka_unit_test(random_kernels),
                                       cmocka_unit_test(packs),          cmocka_unit_test(barriers_stand_where_needed),
                                       cmocka_unit_test(names_are_kept), cmocka_unit_test(lost_threads_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
