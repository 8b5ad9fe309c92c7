/* Compiled kernels in memory: found by content, kept while used, the oldest of the unused thrown away, all given back. */
#include "cache_kernel.h"
#include "device/kernel_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PLENTY = 2000, KEPT = 512 };

typedef struct {
    kernel_entry entry;
    void *code;
} fake_kernel;

typedef struct {
    device device; /* no function of it is called */
    int living;
    bool fails;
} fake_device;

static bool obtain(device *d, const kernel *k, const text *key, kernel_entry *e, arena *a, const char **why)
{
    fake_device *f = (fake_device *)d;
    (void)k, (void)key, (void)a;
    *why = "it fails on purpose";
    if (f->fails)
        return false;
    ((fake_kernel *)e)->code = malloc(16);
    f->living++;
    return true;
}

static void discard(device *d, kernel_entry *e)
{
    void *code = ((fake_kernel *)e)->code;
    ((fake_device *)d)->living -= code != NULL;
    free(code);
}

static void open_cache(kernel_cache *c, fake_device *f)
{
    *c = (kernel_cache){.obtain = obtain,
                        .discard = discard,
                        .owner = &f->device,
                        .heap = &base_heap_default,
                        .entry_bytes = sizeof(fake_kernel)};
    kernel_cache_open(c);
}

static device_kernel *get(kernel_cache *c, int number)
{
    arena a;
    const char *why;
    arena_init(&a, NULL);
    device_kernel *e = device_compile(c->owner, numbered_kernel(&a, number), &a, &why);
    arena_free(&a);
    return e;
}

static void used_kernels_stay(void **state)
{
    (void)state;
    fake_device f = {.living = 0};
    kernel_cache c;
    open_cache(&c, &f);
    static device_kernel *kept[PLENTY];
    for (int i = 0; i < PLENTY; i++)
        kept[i] = get(&c, i);
    for (int i = 0; i < PLENTY; i++) {
        assert_ptr_equal(get(&c, i), kept[i]);
        device_release_kernel(c.owner, kept[i]);
    }
    assert_int_equal(f.living, PLENTY);
    assert_int_equal(device_compiled(c.owner), PLENTY);
    for (int i = 0; i < PLENTY; i++)
        device_release_kernel(c.owner, kept[i]);
    assert_int_equal(f.living, KEPT);
    kernel_cache_close(&c);
    assert_int_equal(f.living, 0);
}

static void the_oldest_unused_go(void **state)
{
    (void)state;
    fake_device f = {.living = 0};
    kernel_cache c;
    open_cache(&c, &f);
    for (int i = 0; i < KEPT; i++)
        device_release_kernel(c.owner, get(&c, i));
    device_release_kernel(c.owner, get(&c, 0));    /* used again: the youngest now */
    device_release_kernel(c.owner, get(&c, KEPT)); /* one too many: 1 goes */
    assert_int_equal(f.living, KEPT);
    device_release_kernel(c.owner, get(&c, 0));
    assert_int_equal(device_compiled(c.owner), KEPT + 1);
    device_release_kernel(c.owner, get(&c, 1));
    assert_int_equal(device_compiled(c.owner), KEPT + 2);
    kernel_cache_close(&c);
    assert_int_equal(f.living, 0);
}

static void failures_are_tried_again(void **state)
{
    (void)state;
    fake_device f = {.fails = true};
    kernel_cache c;
    open_cache(&c, &f);
    assert_null(get(&c, 7));
    f.fails = false;
    device_kernel *e = get(&c, 7);
    assert_non_null(e);
    assert_int_equal(device_compiled(c.owner), 1);
    device_release_kernel(c.owner, e);
    kernel_cache_close(&c);
    assert_int_equal(f.living, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_kernels_stay),
        cmocka_unit_test(the_oldest_unused_go),
        cmocka_unit_test(failures_are_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
