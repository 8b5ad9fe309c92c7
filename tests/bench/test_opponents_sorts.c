/* The benchmark's hand-written sorts against plain C: small sizes and large ones, with one to three workers, keys of
 * all kinds. */
#include "c/opponents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pair {
    uint32_t key, value;
};

static int by_both(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static uint32_t *room(int64_t n)
{
    uint32_t *p = aligned_alloc(64, ((size_t)n * 4 + 64) / 64 * 64);
    assert_non_null(p);
    return p;
}

static void check(struct team *team, int64_t n, uint32_t mask, uint32_t high)
{
    uint32_t *key = room(n), *value = room(n), *to_key = room(n), *to_value = room(n), *alone = room(n);
    uint32_t *room_key = room(n), *room_value = room(n), state = 7;
    struct pair *wanted = malloc(((size_t)n + 1) * sizeof *wanted);
    assert_non_null(wanted);
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        key[i] = ((state >> 3 ^ state << 13) & mask) | high;
        value[i] = (uint32_t)i;
        wanted[i] = (struct pair){key[i], value[i]};
    }
    qsort(wanted, (size_t)n, sizeof *wanted, by_both);
    assert_int_equal(c_sort_keys(team, n, key, alone, room_key), 1);
    assert_int_equal(c_sort_pairs(team, n, key, value, to_key, to_value, room_key, room_value), 1);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(alone[i], wanted[i].key);
        assert_int_equal(to_key[i], wanted[i].key);
        assert_int_equal(to_value[i], wanted[i].value);
    }
    uint32_t *all[] = {key, value, to_key, to_value, alone, room_key, room_value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(wanted);
}

static void test_sorts(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 5003, 60000};
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check(team, sizes[i], UINT32_MAX, 0);
            check(team, sizes[i], 0x00F00F0F, 0);
            check(team, sizes[i], 3, 0xFFFF0000);
        }
        check(team, 200000, 0xFF, 0x80000000); /* one bucket, larger than expected */
        team_free(team);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
