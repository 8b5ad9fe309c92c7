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
        gang_run *expected = arena_alloc(&a, sizeof(*expected)), *got = arena_alloc(&a, sizeof(*got));
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_gangs), cmocka_unit_test(random_kernels),
                                       cmocka_unit_test(lost_threads_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
