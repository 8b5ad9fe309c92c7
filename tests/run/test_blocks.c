/* Blocks between calls: what is given back is handed out again and never above the cap, the device gets back what it
 * gave, and what is kept is released before memory is said to have run out. */
#include "run/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

typedef struct memory { /* a device of nothing but memory */
    device device;
    device_limits limits;
    size_t left, used; /* bytes that may still be taken; that are */
    unsigned blocks, taken;
} memory;

typedef struct block {
    void *at;
    size_t granted;
} block;

/* Of a device with memory of its own blocks are no addresses of ours: these are odd. */
static void *take(device *d, size_t bytes)
{
    memory *m = (memory *)d;
    if (bytes > m->left)
        return NULL;
    size_t *at = aligned_alloc(64, 64 + (bytes + 63) / 64 * 64);
    assert_non_null(at);
    *at = bytes;
    m->left -= bytes;
    m->used += bytes;
    m->blocks++;
    m->taken++;
    return (char *)at + 64 + (m->limits.own_memory ? 1 : 0);
}

static void *map(device *d, void *given)
{
    return ((memory *)d)->limits.own_memory ? NULL : given;
}

static void release(device *d, void *given, size_t bytes)
{
    memory *m = (memory *)d;
    size_t *at = (size_t *)(void *)((char *)given - 64 - (m->limits.own_memory ? 1 : 0));
    assert_int_equal(*at, bytes);
    m->left += bytes;
    m->used -= bytes;
    m->blocks--;
    free(at);
}

static void open_memory(memory *m, bool own, size_t left)
{
    *m = (memory){.left = left};
    m->limits.own_memory = own;
    m->device.limits = &m->limits;
    m->device.alloc = take;
    m->device.release = release;
    m->device.map = map;
}

static void sizes(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 5000; bytes++) {
        size_t granted = run_pool_size(bytes);
        assert_true(granted >= bytes && granted >= 256 && granted % 32 == 0);
        assert_true(bytes <= 256 ? granted == 256 : 8 * (granted - bytes) < granted);
        assert_int_equal(run_pool_size(granted), granted);
    }
    for (unsigned shift = 12; shift < 62; shift++)
        for (int off = -1; off <= 1; off++) {
            size_t bytes = ((size_t)1 << shift) + (size_t)off, granted = run_pool_size(bytes);
            assert_true(granted >= bytes && 8 * ((granted - bytes) / 2) <= granted / 2);
            assert_int_equal(granted == bytes, off == 0);
        }
    assert_int_equal(run_pool_size((size_t)1 << 62), (size_t)1 << 62);
}

static void blocks_are_handed_out_again(void **state)
{
    const bool own = *(const bool *)*state;
    memory m;
    size_t granted, again, other;
    open_memory(&m, own, 1 << 20);
    run_pool *pool = run_pool_new(&m.device, &base_heap_default, 4096);
    void *a = run_pool_take(pool, 1000, &granted);
    assert_non_null(a);
    assert_int_equal(granted, run_pool_size(1000));
    assert_int_equal(run_pool_kept(pool), 0);
    run_pool_give(pool, a, granted);
    run_pool_give(pool, NULL, 0);
    assert_int_equal(run_pool_kept(pool), granted);
    assert_int_equal(m.blocks, 1);
    assert_ptr_equal(run_pool_take(pool, granted, &again), a); /* of the same size, though more was asked for */
    assert_int_equal(again, granted);
    assert_int_equal(run_pool_kept(pool), 0);
    void *b = run_pool_take(pool, 2000, &other);
    assert_int_equal(m.blocks, 2);
    run_pool_give(pool, a, granted);
    run_pool_give(pool, b, other);
    run_pool_counts counts = run_pool_counted(pool);
    assert_int_equal(counts.blocks, 3);
    assert_int_equal(counts.block_bytes, 1000 + granted + 2000);
    assert_int_equal(counts.allocations, 2);
    assert_int_equal(counts.allocated_bytes, granted + other);
    run_pool_flush(pool);
    assert_int_equal(m.blocks, 0);
    assert_int_equal(run_pool_kept(pool), 0);
    assert_int_equal(run_pool_counted(pool).blocks, 3);
    run_pool_free(pool);
    run_pool_free(NULL);
    assert_int_equal(m.used, 0);
}

static void no_more_is_kept_than_the_cap(void **state)
{
    const bool own = *(const bool *)*state;
    memory m;
    block all[5];
    open_memory(&m, own, 1 << 20);
    run_pool *pool = run_pool_new(&m.device, &base_heap_default, 3 * 1024);
    for (int i = 0; i < 5; i++)
        all[i].at = run_pool_take(pool, 1024, &all[i].granted);
    assert_int_equal(m.blocks, 5);
    for (int i = 0; i < 5; i++) {
        run_pool_give(pool, all[i].at, all[i].granted);
        assert_int_equal(run_pool_kept(pool), 1024 * (i < 3 ? i + 1 : 3));
        assert_int_equal(m.blocks, i < 3 ? 5 : 7 - i);
    }
    void *large = run_pool_take(pool, 4096, &all[0].granted);
    run_pool_give(pool, large, all[0].granted); /* larger than all that may be kept */
    assert_int_equal(m.blocks, 3);
    run_pool_free(pool);
    assert_int_equal(m.blocks, 0);
}

static void what_is_kept_makes_room(void **state)
{
    const bool own = *(const bool *)*state;
    memory m;
    size_t granted, wider;
    open_memory(&m, own, 4096);
    run_pool *pool = run_pool_new(&m.device, &base_heap_default, 1 << 20);
    void *a = run_pool_take(pool, 2048, &granted);
    assert_null(run_pool_take(pool, 4096, &wider)); /* in use */
    run_pool_give(pool, a, granted);
    void *b = run_pool_take(pool, 4096, &wider);
    assert_non_null(b);
    assert_int_equal(m.blocks, 1);
    assert_int_equal(run_pool_kept(pool), 0);
    assert_null(run_pool_take(pool, 0, &granted)); /* nothing is left at all */
    run_pool_give(pool, b, wider);
    assert_null(run_pool_take(pool, SIZE_MAX, &granted));
    assert_null(run_pool_take(pool, ((size_t)1 << 62) + 1, &granted));
    run_pool_free(pool);
    assert_int_equal(m.used, 0);
}

/* Any sequence, against a list of what should be kept. */
static void random_sequences(void **state)
{
    const bool own = *(const bool *)*state;
    enum { STEPS = 4000, MOST = 24, CAP = 20000 };
    memory m;
    block used[MOST];
    unsigned n = 0;
    uint32_t seed = 5;
    size_t in_use = 0;
    open_memory(&m, own, (size_t)1 << 30);
    run_pool *pool = run_pool_new(&m.device, &base_heap_default, CAP);
    for (unsigned step = 0; step < STEPS; step++) {
        seed = seed * 1664525 + 1013904223;
        unsigned what = seed >> 24;
        if (what == 0) {
            run_pool_flush(pool);
            assert_int_equal(run_pool_kept(pool), 0);
        } else if (n < MOST && (what & 1 || !n)) {
            size_t bytes = (seed >> 8) % 3000, before = run_pool_kept(pool);
            unsigned taken = m.taken;
            used[n].at = run_pool_take(pool, bytes, &used[n].granted);
            assert_non_null(used[n].at);
            assert_int_equal(used[n].granted, run_pool_size(bytes));
            for (unsigned i = 0; i < n; i++)
                assert_ptr_not_equal(used[i].at, used[n].at);
            assert_int_equal(before - run_pool_kept(pool), m.taken == taken ? used[n].granted : 0);
            if (!own)
                memset(used[n].at, (int)step, used[n].granted);
            in_use += used[n++].granted;
        } else {
            unsigned k = (seed >> 8) % n;
            size_t before = run_pool_kept(pool), granted = used[k].granted;
            run_pool_give(pool, used[k].at, granted);
            assert_int_equal(run_pool_kept(pool), before + granted <= CAP ? before + granted : before);
            in_use -= granted;
            used[k] = used[--n];
        }
        assert_int_equal(m.used, in_use + run_pool_kept(pool));
    }
    while (n--)
        run_pool_give(pool, used[n].at, used[n].granted);
    run_pool_free(pool);
    assert_int_equal(m.used, 0);
}

int main(void)
{
    static bool here = false, there = true;
#define BOTH(name)                                                                                                     \
    {#name ", host memory", name, NULL, NULL, &here},                                                                  \
    {                                                                                                                  \
#name ", its own memory", name, NULL, NULL, &there                                                             \
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        BOTH(blocks_are_handed_out_again),
        BOTH(no_more_is_kept_than_the_cap),
        BOTH(what_is_kept_makes_room),
        BOTH(random_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
