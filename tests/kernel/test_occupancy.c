/* Blocks at work at once, against what NVIDIA publishes for its devices (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability", and the occupancy calculator's grains), and on invented devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "kernel/occupancy.h"

#define KB(n) ((size_t)(n) << 10)
#define UNIT(most_threads, most_groups, bytes, grain, besides)                                                         \
    {                                                                                                                  \
        .threads = most_threads, .groups = most_groups, .registers = 65536, .group = 1024, .gang = 32,                 \
        .shared = bytes, .register_grain = 256, .gang_grain = 4, .shared_grain = grain, .shared_besides = besides      \
    }

static const k_unit cc70 = UNIT(2048, 32, KB(96), 256, 0), cc75 = UNIT(1024, 16, KB(64), 256, 0),
                    cc80 = UNIT(2048, 32, KB(164), 128, 1024), cc86 = UNIT(1536, 16, KB(100), 128, 1024),
                    cc90 = UNIT(2048, 32, KB(228), 128, 1024);

static void published_limits(void **state)
{
    static const struct {
        const k_unit *unit;
        uint32_t threads, registers;
        size_t shared;
        uint32_t blocks;
    } rows[] = {
        {&cc80, 256, 32, 0, 8},                              /* all 2048 threads */
        {&cc80, 256, 64, 0, 4},                              /* half of them: registers */
        {&cc80, 128, 40, 0, 12},                             /* 51 gangs have registers, whole fours count */
        {&cc80, 64, 40, 0, 24},                              /* 48 of 51 gangs */
        {&cc80, 32, 56, 0, 32},      {&cc80, 32, 72, 0, 28}, /* of 28; a block of one gang takes what is left of a four
                                                              */
        {&cc80, 32, 80, 0, 24},                              /* 24 of 25 gangs */
        {&cc80, 128, 33, 0, 12},                             /* registers of a gang come in 256s */
        {&cc80, 256, 255, 0, 1},     {&cc80, 1024, 64, 0, 1},      {&cc80, 1024, 65, 0, 0}, /* cannot run */
        {&cc80, 32, 16, 0, 32},                                                             /* no more blocks than 32 */
        {&cc80, 48, 16, 0, 32}, /* part of a gang counts as a gang */
        {&cc80, 128, 32, KB(48), 3}, {&cc80, 128, 32, KB(163), 1}, {&cc80, 128, 32, KB(164), 0},
        {&cc86, 256, 32, 0, 6},      {&cc86, 1024, 32, 0, 1},      {&cc86, 64, 32, 0, 16},
        {&cc75, 256, 32, 0, 4},      {&cc75, 32, 32, 0, 16},       {&cc75, 256, 64, KB(32), 2},
        {&cc70, 256, 32, KB(48), 2}, {&cc90, 256, 32, KB(100), 2}, {&cc90, 512, 32, KB(227), 1},
        {&cc90, 2048, 32, 0, 0}, /* no such block */
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        const k_need need = {rows[i].registers, rows[i].shared};
        uint32_t blocks = k_resident(rows[i].unit, &need, rows[i].threads);
        if (blocks != rows[i].blocks)
            fail_msg("row %zu: %u blocks, not %u", i, blocks, rows[i].blocks);
    }
}

static void what_is_unknown_does_not_limit(void **state)
{
    const k_unit nothing = {0}, threads = {.threads = 100}, shared = {.shared = 1000};
    (void)state;
    assert_int_equal(k_resident(&nothing, &(k_need){64, 5000}, 256), UINT32_MAX);
    assert_int_equal(k_resident(&threads, &(k_need){64, 5000}, 30), 3);
    assert_int_equal(k_resident(&shared, &(k_need){64, 400}, 30), 2);
    assert_int_equal(k_resident(&shared, &(k_need){64, 0}, 30), UINT32_MAX);
    assert_int_equal(k_resident(&nothing, &(k_need){0}, 0), 0);
}

static void blocks_have_as_many_threads_as_wished(void **state)
{
    const k_unit nothing = {0}, small = {.threads = 64, .group = 32, .gang = 32}, single = {.threads = 1, .group = 1};
    (void)state;
    assert_int_equal(k_choose_group(&cc80, &(k_need){32, 0}, 256), 256);
    assert_int_equal(k_choose_group(&cc80, &(k_need){0, KB(20)}, 128), 128);
    assert_int_equal(k_choose_group(&cc80, &(k_need){32, 0}, 250), 256);
    assert_int_equal(k_choose_group(&cc80, &(k_need){32, 0}, 1), 32);
    assert_int_equal(k_choose_group(&cc80, &(k_need){32, 0}, 5000), 1024);
    assert_int_equal(k_choose_group(&small, &(k_need){32, 0}, 256), 32);
    assert_int_equal(k_choose_group(&single, &(k_need){32, 0}, 256), 1);
    assert_int_equal(k_choose_group(&nothing, &(k_need){64, 5000}, 256), 256);
    assert_int_equal(k_choose_group(&nothing, &(k_need){0}, 0), 1);
}

/* Smaller blocks where they bring at least a quarter more threads to work, and where larger ones do not fit. */
static void blocks_shrink_where_that_pays(void **state)
{
    (void)state;
    assert_int_equal(k_choose_group(&cc86, &(k_need){32, 0}, 1024), 512); /* 1536 threads instead of 1024 */
    assert_int_equal(k_choose_group(&cc80, &(k_need){168, 0}, 256),
                     128);                                               /* 12 gangs: 3 blocks of 4 instead of 1 of 8 */
    assert_int_equal(k_choose_group(&cc80, &(k_need){72, 0}, 256), 256); /* 28 gangs instead of 24 do not pay */
    assert_int_equal(k_choose_group(&cc80, &(k_need){80, 0}, 1024),
                     256); /* 1024 have no registers, 512 once, 256 thrice */
    assert_int_equal(k_choose_group(&cc90, &(k_need){32, KB(100)}, 256), 256); /* as many blocks, of fewer threads */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_limits),
        cmocka_unit_test(what_is_unknown_does_not_limit),
        cmocka_unit_test(blocks_have_as_many_threads_as_wished),
        cmocka_unit_test(blocks_shrink_where_that_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
