/* Random kernels on the CPU against the interpreter, with gangs of every width; gangs of one thread have no gang-wide
 * statements. Each as one function, taken apart into functions of a few statements, as large ones are, and as a draft.
 * SINTER_TEST_SEED=n runs the kernel of that seed only, SINTER_TEST_COUNT=k besides those of the k - 1 that follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/cpu_codegen.h"
#include "device/cpu_export.h"
#include "device/device.h"
#include "device/kernel_cache.h"
#include "kernel/narrow.h"
#include "support/launch.h"
#include "support/random_kernel.h"

static device *opened(uint32_t part, device_drafts drafts)
{
    arena a;
    const char *why = "";
    arena_init(&a, NULL);
    device *d = device_cpu_open(&(device_options){.threads = 2, .part = part, .drafts = drafts}, &a, &why);
    if (!d)
        fail_msg("%s", why);
    arena_free(&a);
    return d;
}

static void print_kernel(const kernel *k, arena *a)
{
    text t;
    text_init(&t, a);
    k_print(k, &t);
    fputs(t.at, stderr);
}

static void check(device *d, uint64_t seed, uint16_t lanes)
{
    static random_run expected, got;
    arena a;
    const char *why = "";
    arena_init(&a, NULL);
    kernel *k = random_kernel(&a, seed, lanes, true);
    if (!k_verify(k, &a, &why))
        fail_msg("seed %u: %s", (unsigned)seed, why);
    random_fill(&expected, seed);
    random_fill(&got, seed);
    k->narrow = k_indices_fit(k, &a, expected.arg, 0, RANDOM_PIECES);
    device_kernel *compiled = (d->limits->draft_work > 0 ? device_draft : device_compile)(d, k, &a, &why);
    if (!compiled)
        fail_msg("seed %u, %u lanes: %s", (unsigned)seed, lanes, why);
    assert_int_equal(device_is_draft(compiled), d->limits->draft_work > 0);
    k_interpret(k, &a, expected.mem, expected.arg, 0, RANDOM_PIECES, &expected.error);
    assert_true(launch_now(d, compiled, got.mem, got.arg, 0, RANDOM_PIECES, false, &got.error));
    const char *difference = random_difference(&a, &expected, &got);
    if (difference) {
        print_kernel(k, &a);
        fail_msg("seed %u, %u lanes: %s", (unsigned)seed, lanes, difference);
    }
    device_release_kernel(d, compiled);
    arena_free(&a);
}

static void random_kernels(uint32_t part, device_drafts drafts, unsigned share)
{
    device *d = opened(part, drafts);
    static const uint16_t lanes[] = {8, 16, 32, 64, 4, 1};
    const char *one = getenv("SINTER_TEST_SEED"), *count = getenv("SINTER_TEST_COUNT");
    uint64_t first = one ? strtoull(one, NULL, 10) : 0, kernels = one                          ? 1
                                                                  : getenv("SINTER_TEST_LONG") ? 2000
                                                                                               : 60 / share;
    kernels = count ? strtoull(count, NULL, 10) : kernels;
    for (uint64_t seed = first; seed < first + kernels; seed++)
        check(d, seed, lanes[seed % ARRAY_LENGTH(lanes)]);
    d->close(d);
}

static void as_one_function(void **state)
{
    (void)state;
    random_kernels(0, DEVICE_NO_DRAFTS, 1);
}

static void in_small_parts(void **state)
{
    (void)state;
    random_kernels(1, DEVICE_NO_DRAFTS, 4);
}

static void in_larger_parts(void **state)
{
    (void)state;
    random_kernels(12, DEVICE_NO_DRAFTS, 4);
}

static void as_drafts(void **state)
{
    (void)state;
    random_kernels(0, DEVICE_ONLY_DRAFTS, 1);
}

static void as_drafts_in_parts(void **state)
{
    (void)state;
    random_kernels(12, DEVICE_ONLY_DRAFTS, 4);
}

/* No register, and no instruction, that these have not: compiled, not run. */
static void as_drafts_for_older_processors(void **state)
{
    (void)state;
    arena a;
    const char *why = "";
    arena_init(&a, NULL);
    const emit_cpu_module *m = cpu_codegen_open(NULL, &a, &why);
    if (!m)
        fail_msg("%s", why);
    for (uint64_t seed = 0; seed < 40; seed++)
        for (unsigned level = 1; level < CPU_LEVELS; level++) {
            const cpu_level *l = device_cpu_level_at(level);
            char *said = NULL;
            const emit_cpu_options options = {
                .cpu = l ? l->cpu : NULL, .features = l ? l->features : NULL, .draft = EMIT_ALL_AS_DRAFT};
            kernel *k = kernel_prepare(&a, random_kernel(&a, seed, (uint16_t)(8 << seed % 4), true), NULL);
            emit_cpu_code *code = l ? m->compile(k, &options, &said) : NULL;
            if (l && !code)
                fail_msg("seed %u, level %u: %s", (unsigned)seed, level, said);
            if (code)
                m->release(code);
        }
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_function),    cmocka_unit_test(in_small_parts),
        cmocka_unit_test(in_larger_parts),    cmocka_unit_test(as_drafts),
        cmocka_unit_test(as_drafts_in_parts), cmocka_unit_test(as_drafts_for_older_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
