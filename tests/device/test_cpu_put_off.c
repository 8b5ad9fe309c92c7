/* The list of launches that a queue of the CPU puts off: which level each gets by the memory that it touches. */
#include "device/cpu_put_off.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A launch that reads bytes [read, read + 4) and writes [write, write + 4) of `memory`. */
static bool add(cpu_put_offs *all, char *memory, int read, int write)
{
    const device_touched at[] = {{4, false}, {4, true}};
    void *const mem[] = {memory + read, memory + write};
    const ir_bits arg = (ir_bits)read;
    const cpu_put_off like = {.first = 1, .last = 2, .work = 10, .mem = mem, .arg = &arg};
    return cpu_put_offs_add(all, &like, &(device_reach){10, false, 2, 1, at});
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

/* A launch that reads from `from` to `end` of an array of many bytes, at level 0. */
static void add_sharing(cpu_put_offs *all, char *memory, size_t from, size_t end, bool shares)
{
    static char result[64];
    static int next;
    const device_touched at[] = {{end - from, false}, {1, true}};
    void *const mem[] = {memory + from, result + next++ % 64};
    const ir_bits arg = 0;
    const cpu_put_off like = {.first = 0, .last = 100, .work = 10, .shares = shares, .mem = mem, .arg = &arg};
    assert_true(cpu_put_offs_add(all, &like, &(device_reach){10, shares, 2, 1, at}));
}

static void launches_that_read_the_same_are_found(void **state)
{
    enum { MB = CPU_LEAST_SHARED };
    char *memory = malloc(9 * MB);
    cpu_put_offs *all = cpu_put_offs_new(&base_heap_default);
    cpu_put_off *of[CPU_MOST_PUT_OFF], *was[CPU_MOST_PUT_OFF];
    size_t bytes;
    (void)state;
    assert_true(memory && all);
    assert_int_equal(cpu_put_offs_level(all, 0, of), 0);
    assert_int_equal(cpu_put_offs_sharing(all, of, 0, &bytes), 0);
    add_sharing(all, memory, 8 * MB, 9 * MB, true); /* nobody else reads that */
    add_sharing(all, memory, 0, 2 * MB, true);
    add_sharing(all, memory, 0, 2 * MB, false); /* is not asked for */
    add_sharing(all, memory, 4 * MB, 8 * MB, true);
    add_sharing(all, memory, 1 * MB, 4 * MB, true);
    add_sharing(all, memory, 3 * MB + 1, 4 * MB + 1, true); /* with each of its neighbours too little */
    add_sharing(all, memory, 0, 8 * MB, true);
    assert_true(cpu_put_offs_work(all) == 10);
    assert_int_equal(cpu_put_offs_level(all, 0, of), 7);
    memcpy(was, of, sizeof was);
    assert_int_equal(cpu_put_offs_sharing(all, of, 7, &bytes), 3);
    assert_int_equal(bytes, 2 * MB);
    static const int order[] = {1, 4, 6, 0, 2, 3, 5};
    for (int i = 0; i < 7; i++)
        assert_ptr_equal(of[i], was[order[i]]);
    assert_int_equal(cpu_put_offs_sharing(all, of + 3, 4, &bytes), 0);
    for (int i = 0; i < 7; i++)
        assert_ptr_equal(of[i], was[order[i]]);
    cpu_put_offs_free(all, &base_heap_default);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_keep_what_depends_in_order),
        cmocka_unit_test(a_full_list_takes_no_more),
        cmocka_unit_test(launches_that_read_the_same_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
