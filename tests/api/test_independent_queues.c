/* Which launches of a call go beside each other on devices with queues: on a library that stands in for OpenCL's and
 * tells what was put where. It computes nothing, so only the order is looked at. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sinter/sinter.h>

#include "fake_opencl/control.h"

enum { N = 20000, M = N + 1 }; /* blocks of the same size */

static fake_opencl_control *fake;
static float a[N], b[M], x[N], y[M];

static void hear(void *env, const char *said)
{
    (void)env, (void)said;
}

static int setup(void **state)
{
    void *library = dlopen(SN_TEST_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    fake = dlsym(library, "fake_opencl");
    *fake = (fake_opencl_control){0};
    setenv("SINTER_OPENCL", SN_TEST_FAKE_OPENCL, 1);
    setenv("SINTER_CACHE", "off", 1);
    unsetenv("SINTER_DEVICE");
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "opencl", .message = hear});
    if (!cx)
        fail_msg("no context");
    *state = cx;
    return 0;
}

static int teardown(void **state)
{
    sn_close(*state);
    assert_int_equal(fake->objects, 0);
    return 0;
}

static bool is_launch(const fake_put *p)
{
    return strcmp(p->call, "clEnqueueNDRangeKernel") == 0;
}

typedef struct seen {
    unsigned launches, queues, waits; /* since the last look; of launches alone */
    unsigned least;                   /* the fewest of a queue that has any */
} seen;

static seen look(void)
{
    seen s = {0};
    unsigned in[64] = {0};
    for (unsigned i = 0; i < fake->puts; i++) {
        const fake_put *p = &fake->put[i];
        assert_false(p->early);
        if (!is_launch(p))
            continue;
        s.launches++;
        s.waits += p->waits;
        in[p->queue % 64]++;
    }
    for (int i = 0; i < 64; i++) {
        s.queues += in[i] > 0;
        s.least = in[i] && (!s.least || in[i] < s.least) ? in[i] : s.least;
    }
    fake->puts = 0;
    return s;
}

static sn_scalar square(sn_scalar v)
{
    return sn_mul(v, v);
}

static sn_acc link(sn_acc v)
{
    return sn_scanl1(sn_max, sn_reverse(sn_force(sn_map(square, v))));
}

static sn_acc one_chain(sn_acc v)
{
    for (int i = 0; i < 6; i++)
        v = link(v);
    return v;
}

static sn_acc two_chains(sn_acc v, sn_acc w)
{
    for (int i = 0; i < 6; i++) {
        v = link(v);
        w = link(w);
    }
    return sn_results(v, w);
}

/* Each chain has a queue, and waits for nothing of the other one: blocks that one is done with are not taken for the
 * other one. */
static void chains_do_not_wait_for_each_other(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32, [m]f32 -> [n]f32, [m]f32", two_chains);
    assert_non_null(p);
    for (int turn = 0; turn < 4; turn++) { /* later ones are calls of extents that have been seen */
        fake->puts = 0;
        assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, M), sn_into(x, N), sn_into(y, M)), SN_OK);
        const seen s = look();
        assert_true(s.launches >= 12);
        assert_int_equal(s.queues, 2);
        assert_int_equal(s.least, s.launches / 2);
        assert_int_equal(s.waits, 0);
    }
    sn_drop(p);
}

static void dependent_parts_have_one_queue(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32 -> [n]f32", one_chain);
    const long events = fake->events;
    assert_non_null(p);
    for (int turn = 0; turn < 3; turn++) {
        fake->puts = 0;
        assert_int_equal(sn_call(p, sn_in(a, N), sn_into(x, N)), SN_OK);
        const seen s = look();
        assert_true(s.launches >= 6);
        assert_int_equal(s.queues, 1);
        assert_int_equal(s.waits, 0);
    }
    assert_true(fake->events - events <= 6); /* nothing but what bounds how far the host runs ahead */
    sn_drop(p);
}

/* What takes no time is not worth events; nor does what is recorded go beside others, or times would not be its own. */
static void little_work_and_recorded_calls_have_one_queue(void **state)
{
    sn_program *p = sn_compile(*state, "[n]f32, [m]f32 -> [n]f32, [m]f32", two_chains);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(a, 30), sn_in(b, 40), sn_into(x, 30), sn_into(y, 40)), SN_OK);
    assert_int_equal(look().queues, 1);
    sn_profile(p, true);
    assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, M), sn_into(x, N), sn_into(y, M)), SN_OK);
    assert_int_equal(look().queues, 1);
    sn_profile(p, false);
    assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, M), sn_into(x, N), sn_into(y, M)), SN_OK);
    assert_int_equal(look().queues, 2);
    sn_drop(p);
}

static sn_acc long_chains(sn_acc v, sn_acc w)
{
    for (int i = 0; i < 50; i++) {
        v = link(v);
        w = link(w);
    }
    return sn_results(v, w);
}

static unsigned finishes(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < fake->puts; i++)
        n += strcmp(fake->put[i].call, "clFinish") == 0;
    return n;
}

/* Blocks that are set aside are used again at last, without waiting: memory is bounded, and the same in each call. */
static void memory_is_bounded(void **state)
{
    enum { LARGE = 1 << 21, BLOCK = LARGE * sizeof(float) };
    float *large = malloc(4 * BLOCK);
    assert_non_null(large);
    memset(large, 0, 4 * BLOCK);
    sn_program *p = sn_compile(*state, "[n]f32, [m]f32 -> [n]f32, [m]f32", long_chains);
    assert_non_null(p);
    for (int turn = 0; turn < 2; turn++) {
        const int64_t n = turn ? LARGE : N;
        const sn_counters none = sn_counts(*state);
        sn_counters before = none;
        for (int i = 0; i < 6; i++) {
            fake->puts = 0;
            assert_int_equal(sn_call(p, sn_in(large, n), sn_in(large + LARGE, n), sn_into(large + 2 * LARGE, n),
                                     sn_into(large + 3 * LARGE, n)),
                             SN_OK);
            assert_int_equal(finishes(), 1);
            const seen launched = look();
            assert_true(turn || launched.queues == 2);
            assert_true(turn || launched.least + 2 >= launched.launches / 2);
            if (i == 1)
                before = sn_counts(*state);
        }
        assert_int_equal(sn_counts(*state).allocated_bytes, before.allocated_bytes);
        assert_true(before.allocated_bytes - none.allocated_bytes < 7 * (uint64_t)BLOCK);
    }
    sn_drop(p);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chains_do_not_wait_for_each_other, setup, teardown),
        cmocka_unit_test_setup_teardown(dependent_parts_have_one_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(little_work_and_recorded_calls_have_one_queue, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_is_bounded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
