/* What a machine can do at best: the arithmetic of it on an invented machine, and that the real one can be measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/roof.h"

#include <stdlib.h>

#define NEAR(x, y) assert_true((x) - (y) < 1e-9 * (y) && (y) - (x) < 1e-9 * (y))

/* reads 8 GB/s from memory, copies 4 GB/s; 100 times as fast in the caches; 10 and 5 Gop/s */
static run_roof invented(void)
{
    run_roof r = {.known = true, .levels = 2, .f32 = 10e9, .f64 = 5e9, .launch = 1e-6};
    r.level[0] = (run_level){1e6, 800e9, 400e9};
    r.level[1] = (run_level){0, 8e9, 4e9};
    return r;
}

static void the_higher_of_two_roofs(void **state)
{
    (void)state;
    run_roof r = invented();
    NEAR(run_roof_seconds(&r, 8e9, 0, 0, 0), 1);
    NEAR(run_roof_seconds(&r, 2e9, 2e9, 0, 0), 1);     /* a copy */
    NEAR(run_roof_seconds(&r, 6e9, 2e9, 0, 0), 1.5);   /* a copy, and reading besides */
    NEAR(run_roof_seconds(&r, 0, 1e9, 0, 0), 0.375);   /* what a copy takes beyond reading */
    NEAR(run_roof_seconds(&r, 8e9, 0, 20e9, 0), 2);    /* arithmetic takes longer */
    NEAR(run_roof_seconds(&r, 8e9, 0, 20e9, 10e9), 3); /* half of it on f64 */
    NEAR(run_roof_seconds(&r, 8e5, 0, 1, 0), 1e-6);    /* in the caches */
    NEAR(run_roof_seconds(&r, 4e5, 6e5 + 1, 1, 0), 4e5 / 8e9 + (6e5 + 1) * 0.375e-9); /* just too large for them */
    r.level[1].copy = 8e9; /* writing is no faster than reading */
    NEAR(run_roof_seconds(&r, 0, 8e9, 0, 0), 1);
}

/* What a launch reached the machine can do. */
static void roofs_are_raised(void **state)
{
    (void)state;
    static const struct {
        double loaded, stored, operations, wide, seconds;
    } launches[] = {{8e9, 0, 0, 0, 0.25},     {2e9, 2e9, 0, 0, 0.1},  {6e9, 1e9, 0, 0, 0.2}, {0, 1e9, 0, 0, 0.01},
                    {1e3, 0, 5e9, 1e9, 0.05}, {1e5, 1e5, 0, 0, 1e-9}, {7e9, 2e9, 0, 0, 0.3}};
    for (size_t i = 0; i < ARRAY_LENGTH(launches); i++) {
        run_roof r = invented(), before = r;
        double loaded = launches[i].loaded, stored = launches[i].stored, operations = launches[i].operations;
        run_raise_roof(&r, loaded, stored, operations, launches[i].wide, launches[i].seconds);
        double now = run_roof_seconds(&r, loaded, stored, operations, launches[i].wide);
        assert_true(now <= launches[i].seconds * (1 + 1e-9) && now > launches[i].seconds / 2);
        for (uint32_t k = 0; k < r.levels; k++) {
            assert_true(r.level[k].read >= before.level[k].read && r.level[k].copy >= before.level[k].copy);
            assert_true(r.level[k].read >= r.level[k].copy);
        }
    }
    run_roof r = invented(), before = r; /* slower launches, and those that took no time, say nothing */
    run_raise_roof(&r, 8e9, 0, 1e9, 0, 2);
    run_raise_roof(&r, 8e9, 0, 1e9, 0, 0);
    assert_memory_equal(&r, &before, sizeof(r));
}

static void *counting_alloc(void *env, size_t bytes)
{
    void *block = malloc(bytes);
    *(int *)env += block != NULL;
    return block;
}

static void counting_release(void *env, void *block)
{
    *(int *)env -= block != NULL;
    free(block);
}

/* The caches are said to be small: what is measured in the first ones must be in them. */
static void this_machine_is_measured(void **state)
{
    (void)state;
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    device *d = device_cpu_open(NULL, &a, &why);
    if (!d) {
        arena_free(&a);
        skip();
    }
    run_roof r;
    int held = 0;
    const base_heap counting = {counting_alloc, counting_release, &held};
    device_limits small = *d->limits;
    const device_limits *usual = d->limits;
    small.cache_bytes = (size_t)(128 << 10) * small.workers;
    d->limits = &small;
    run_measure_roof(d, &counting, &r);
    d->limits = usual;
    assert_int_equal(held, r.why ? 1 : 0);
    if (!r.known && r.why) { /* no code generator */
        free(r.why);
        d->close(d);
        arena_free(&a);
        skip();
    }
    assert_true(r.known);
    assert_null(r.why);
    assert_int_equal(r.levels, RUN_LEVELS);
    for (uint32_t i = 0; i < r.levels; i++) {
        assert_true(r.level[i].copy > 1e6 && r.level[i].read >= r.level[i].copy);
        assert_true(i == 0 || r.level[i].bytes > r.level[i - 1].bytes);
    }
    assert_true(r.f32 > 1e7 && r.f64 > 1e7 && r.launch > 0 && r.launch < 1);
    d->close(d);
    arena_free(&a);
}

/* A device with memory of its own says where its caches end by nothing but how fast arrays of some sizes are. */
static void sizes_for_devices_with_memory(void **state)
{
    (void)state;
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    device *d = device_opencl_open(NULL, 0, &a, &why);
    if (!d) {
        arena_free(&a);
        skip();
    }
    run_roof r;
    run_measure_roof(d, &base_heap_default, &r);
    assert_true(r.known);
    assert_int_equal(r.levels, RUN_LEVELS);
    assert_true(r.level[0].bytes == 2 << 20);
    for (uint32_t i = 1; i < r.levels; i++)
        assert_true(r.level[i].bytes > r.level[i - 1].bytes);
    d->close(d);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_higher_of_two_roofs),
        cmocka_unit_test(roofs_are_raised),
        cmocka_unit_test(this_machine_is_measured),
        cmocka_unit_test(sizes_for_devices_with_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
