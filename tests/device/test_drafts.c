/* Drafts of kernels: only large ones have any, code of full effort serves where it is there, and each is kept on disk
 * for itself. */
#include "cache_kernel.h"
#include "support/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ELEMENTS = 64, STEPS = 2000 };

typedef struct fixture {
    arena a;
    device *d;
    const char *folder;
} fixture;

/* y = x after STEPS operations that depend on each other. */
static kernel *long_kernel(arena *a)
{
    k_builder b = {0};
    kernel *k = k_new(a, "long", 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_U32, false, "x"), y = k_global(&b, T_U32, true, "y");
    k_val i = k_for_all(&b, k_i64(&b, ELEMENTS)), v = k_load(&b, x, i);
    for (unsigned s = 0; s < STEPS; s++)
        v = k_let(&b, s % 2 ? OP_MUL : OP_BIT_XOR, v, k_literal(&b, T_U32, 2 * s + 3), 0);
    k_store(&b, y, i, v);
    k_end(&b);
    return k;
}

static uint32_t expected(uint32_t v)
{
    for (uint32_t s = 0; s < STEPS; s++)
        v = s % 2 ? v * (2 * s + 3) : v ^ (2 * s + 3);
    return v;
}

static void check_runs(device *d, device_kernel *k)
{
    uint32_t x[ELEMENTS], y[ELEMENTS] = {0};
    void *mem[] = {x, y};
    k_error error = {0};
    for (uint32_t i = 0; i < ELEMENTS; i++)
        x[i] = i * 0x9e3779b9u;
    assert_true(launch_now(d, k, mem, NULL, 0, 1, true, &error));
    for (uint32_t i = 0; i < ELEMENTS; i++)
        assert_int_equal(y[i], expected(x[i]));
}

static void open_again(fixture *f, device_drafts drafts)
{
    const char *why = "";
    if (f->d)
        f->d->close(f->d);
    f->d = device_cpu_open(&(device_options){.threads = 1, .drafts = drafts}, &f->a, &why);
    if (!f->d)
        fail_msg("%s", why);
}

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    arena_init(&f.a, NULL);
    f.folder = private_folder();
    open_again(&f, DEVICE_DRAFTS);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    f->d->close(f->d);
    remove_folder(f->folder);
    arena_free(&f->a);
    return 0;
}

typedef device_kernel *(*compile)(device *d, const kernel *k, arena *a, const char **why);

/* Runs it, says whether it is a draft, and gives it back. */
static bool is_draft(fixture *f, compile how, const kernel *k)
{
    const char *why = "";
    device_kernel *code = how(f->d, k, &f->a, &why);
    if (!code)
        fail_msg("%s", why);
    if (k->name[0] == 'l')
        check_runs(f->d, code);
    const bool draft = device_is_draft(code);
    device_release_kernel(f->d, code);
    return draft;
}

static void expect(const fixture *f, unsigned compiled, unsigned loaded)
{
    assert_int_equal(device_compiled(f->d), compiled);
    assert_int_equal(device_loaded(f->d), loaded);
}

static void large_kernels_have_drafts(void **state)
{
    fixture *f = *state;
    const kernel *k = long_kernel(&f->a);
    assert_true(is_draft(f, device_draft, k));
    assert_true(is_draft(f, device_draft, k));
    expect(f, 1, 0);
    assert_false(is_draft(f, device_compile, k));
    expect(f, 2, 0);
    assert_false(is_draft(f, device_draft, k)); /* the better one serves from now on */
    expect(f, 2, 0);
}

static void small_kernels_have_none(void **state)
{
    fixture *f = *state;
    const kernel *k = numbered_kernel(&f->a, 7);
    assert_false(is_draft(f, device_draft, k));
    assert_false(is_draft(f, device_compile, k)); /* the same */
    expect(f, 1, 0);
    open_again(f, DEVICE_DRAFTS);
    assert_false(is_draft(f, device_compile, k));
    expect(f, 0, 1);
}

static void full_effort_serves_for_drafts(void **state)
{
    fixture *f = *state;
    const kernel *k = long_kernel(&f->a);
    assert_false(is_draft(f, device_compile, k));
    assert_false(is_draft(f, device_draft, k));
    expect(f, 1, 0);
    open_again(f, DEVICE_DRAFTS);
    assert_false(is_draft(f, device_draft, k));
    expect(f, 0, 1);
}

static void drafts_are_kept_on_disk(void **state)
{
    fixture *f = *state;
    const kernel *k = long_kernel(&f->a);
    assert_true(is_draft(f, device_draft, k));
    open_again(f, DEVICE_DRAFTS);
    assert_true(is_draft(f, device_draft, k));
    expect(f, 0, 1);
    assert_false(is_draft(f, device_compile, k));
    expect(f, 1, 1);
    open_again(f, DEVICE_DRAFTS);
    assert_false(is_draft(f, device_draft, k));
    expect(f, 0, 1);
    assert_int_equal(files_in(f->folder, ".kernel"), 2);
}

static void no_drafts_where_none_are_wanted(void **state)
{
    fixture *f = *state;
    const kernel *k = long_kernel(&f->a);
    assert_true(is_draft(f, device_draft, k));
    open_again(f, DEVICE_NO_DRAFTS);
    assert_true(f->d->limits->draft_work <= 0);
    assert_false(is_draft(f, device_draft, k));
    expect(f, 1, 0);
}

/* Drafts of what is small are not for others. */
static void only_drafts_are_apart(void **state)
{
    fixture *f = *state;
    const kernel *k = numbered_kernel(&f->a, 7);
    open_again(f, DEVICE_ONLY_DRAFTS);
    assert_true(is_draft(f, device_draft, k));
    open_again(f, DEVICE_DRAFTS);
    assert_false(is_draft(f, device_draft, k));
    expect(f, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(large_kernels_have_drafts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_kernels_have_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(full_effort_serves_for_drafts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drafts_are_kept_on_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_drafts_where_none_are_wanted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_drafts_are_apart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
