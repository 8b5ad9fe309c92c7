/* Random kernels on the CPU against the interpreter, with gangs of every width; gangs of one thread have no gang-wide
 * statements. SINTER_TEST_SEED=n runs the kernel of that seed only, SINTER_TEST_COUNT=k besides those of the k - 1 that
 * follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/device.h"
#include "kernel/narrow.h"
#include "support/random_kernel.h"

static int open_device(void **state)
{
    arena a;
    const char *why = "";
    arena_init(&a, NULL);
    device *d = device_cpu_open(&(device_options){.threads = 2}, &a, &why);
    if (!d)
        fail_msg("%s", why);
    arena_free(&a);
    *state = d;
    return 0;
}

static int close_device(void **state)
{
    device *d = *state;
    d->close(d);
    return 0;
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
    device_kernel *compiled = device_compile(d, k, &a, &why);
    if (!compiled)
        fail_msg("seed %u, %u lanes: %s", (unsigned)seed, lanes, why);
    k_interpret(k, &a, expected.mem, expected.arg, 0, RANDOM_PIECES, &expected.error);
    assert_true(d->launch(d, compiled, got.mem, got.arg, 0, RANDOM_PIECES, false, &got.error));
    const char *difference = random_difference(&a, &expected, &got);
    if (difference) {
        print_kernel(k, &a);
        fail_msg("seed %u, %u lanes: %s", (unsigned)seed, lanes, difference);
    }
    device_release_kernel(d, compiled);
    arena_free(&a);
}

static void random_kernels(void **state)
{
    static const uint16_t lanes[] = {8, 16, 32, 64, 4, 1};
    const char *one = getenv("SINTER_TEST_SEED"), *count = getenv("SINTER_TEST_COUNT");
    uint64_t first = one ? strtoull(one, NULL, 10) : 0, kernels = one ? 1 : getenv("SINTER_TEST_LONG") ? 2000 : 60;
    kernels = count ? strtoull(count, NULL, 10) : kernels;
    for (uint64_t seed = first; seed < first + kernels; seed++)
        check(*state, seed, lanes[seed % ARRAY_LENGTH(lanes)]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_kernels)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
