/* Guards behind the blocks of arenas, which builds for finding mistakes have: here in any build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SN_ARENA_GUARDS
#include "base/base.c"

/* Writes `size` bytes at an offset of a block of 12 bytes between others. */
static void write_at(size_t offset, size_t size)
{
    arena a;
    arena_init(&a, NULL);
    arena_alloc(&a, 100);
    char *block = arena_alloc(&a, 12);
    arena_alloc(&a, 8);
    memset(block + offset, 1, size);
    arena_free(&a);
}

static bool survives(size_t offset, size_t size)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        assert_non_null(freopen("/dev/null", "w", stderr));
        write_at(offset, size);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void what_is_written_behind_a_block_is_seen(void **state)
{
    (void)state;
    assert_true(survives(0, 12));
    assert_false(survives(16, 4));
    assert_false(survives(16, 8));
    assert_false(survives(24, 8));
    assert_false(survives(0, 20));
}

static void what_was_not_written_is_not_zero(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    VEC(uint32_t) v = {0};
    vec_reserve(&a, &v, 10);
    assert_int_not_equal(v.at[9], 0);
    uint32_t *zero = arena_array(&a, *zero, 10);
    assert_int_equal(zero[9], 0);
    arena_free(&a);
}

static void blocks_may_be_given_back(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    void *first = arena_alloc(&a, 30), *second = arena_alloc(&a, 50);
    arena_release(&a, second, 50);
    arena_release(&a, first, 30);
    assert_ptr_equal(arena_alloc(&a, 1), first);
    arena_free(&a);
    assert_null(a.guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_behind_a_block_is_seen),
        cmocka_unit_test(what_was_not_written_is_not_zero),
        cmocka_unit_test(blocks_may_be_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
