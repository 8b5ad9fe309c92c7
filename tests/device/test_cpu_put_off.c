/* The list of launches that a queue of the CPU puts off: which level each gets by the memory that it touches. */
#include "device/cpu_put_off.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A launch that reads bytes [read, read + 4) and writes [write, write + 4) of `memory`. */
static bool add(cpu_put_offs *all, char *memory, int read, int write)
{
    const device_touched at[] = {{4, false}, {4, true}};
    void *const mem[] = {memory + read, memory + write};
    const ir_bits arg = (ir_bits)read;
    const cpu_put_off like = {.first = 1, .last = 2, .work = 10};
    return cpu_put_offs_add(all, &like, mem, &arg, &(device_reach){10, 2, 1, at});
}

static void levels_keep_what_depends_in_order(void **state)
{
    static const struct {
        int read, write;
        uint32_t level;
    } launch[] = {
        {0, 100, 0},   {0, 104, 0},   {100, 108, 1}, /* reads what the first one writes */
        {200, 0, 1},                                 /* writes what the first two read */
        {108, 112, 2}, {102, 116, 1},                /* half of each of the first two */
        {300, 100, 2},                               /* writes what is read at level 1 */
        {400, 404, 0},
    };
    enum { N = sizeof(launch) / sizeof(launch[0]) };
    char memory[512];
    cpu_put_off *of[CPU_MOST_PUT_OFF];
    cpu_put_offs *all = cpu_put_offs_new(&base_heap_default);
    uint32_t seen = 0;
    (void)state;
    assert_non_null(all);
    assert_int_equal(cpu_put_offs_count(NULL), 0);
    for (int i = 0; i < N; i++)
        assert_true(add(all, memory, launch[i].read, launch[i].write));
    assert_int_equal(cpu_put_offs_count(all), N);
    assert_true(cpu_put_offs_work(all) == 10 * N);
    for (uint32_t level = 0; level < 3; level++) {
        uint32_t n = cpu_put_offs_level(all, level, of);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(k == 0 || of[k] > of[k - 1]);
            for (int i = 0; i < N; i++)
                if (of[k]->mem[0] == memory + launch[i].read && of[k]->mem[1] == memory + launch[i].write)
                    assert_int_equal(launch[i].level, level);
            assert_int_equal(of[k]->arg[0], (char *)of[k]->mem[0] - memory);
        }
        seen += n;
    }
    assert_int_equal(seen, N);
    assert_int_equal(cpu_put_offs_level(all, 3, of), 0);
    assert_true(cpu_put_offs_touch(all, memory + 403, 1, true) && !cpu_put_offs_touch(all, memory + 403, 1, false));
    assert_true(cpu_put_offs_touch(all, memory + 404, 1, false) && !cpu_put_offs_touch(all, memory + 408, 8, true));
    cpu_put_offs_clear(all);
    assert_int_equal(cpu_put_offs_count(all), 0);
    assert_false(cpu_put_offs_touch(all, memory, sizeof(memory), true));
    cpu_put_offs_free(all, &base_heap_default);
}

static void a_full_list_takes_no_more(void **state)
{
    char memory[CPU_MOST_PUT_OFF * 8 + 8];
    cpu_put_offs *all = cpu_put_offs_new(&base_heap_default);
    (void)state;
    assert_non_null(all);
    for (int i = 0; i < CPU_MOST_PUT_OFF; i++)
        assert_true(add(all, memory, 8 * i, 8 * i + 4));
    assert_false(add(all, memory, 0, 8 * CPU_MOST_PUT_OFF));
    cpu_put_offs_clear(all);
    assert_true(add(all, memory, 0, 8 * CPU_MOST_PUT_OFF));
    cpu_put_offs_free(all, &base_heap_default);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_keep_what_depends_in_order),
        cmocka_unit_test(a_full_list_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
