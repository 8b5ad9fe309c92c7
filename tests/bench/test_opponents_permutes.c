/* The benchmark's hand-written histogram against plain C: small sizes and large ones, with one to three workers. */
#include "c/opponents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(struct team *team, int workers, int64_t n, int64_t bins)
{
    uint32_t *key = malloc((size_t)(n + 1) * sizeof *key), state = 7;
    uint32_t *room = malloc((size_t)(bins * workers) * sizeof *room);
    int64_t *wanted = calloc((size_t)bins, sizeof *wanted), *found = malloc((size_t)bins * sizeof *found);
    assert_true(key && room && wanted && found);
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        key[i] = (state >> 3 ^ state << 13) % (uint32_t)bins;
        wanted[key[i]]++;
    }
    c_histogram(team, n, bins, key, found, room);
    for (int64_t b = 0; b < bins; b++)
        assert_int_equal(found[b], wanted[b]);
    free(key);
    free(room);
    free(wanted);
    free(found);
}

static void test_histograms(void **state)
{
    static const int64_t sizes[] = {0, 1, 7, 8, 9, 33, 1000, 70001}, bins[] = {1, 2, 17, 256, 100000};
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
                check(team, workers, sizes[i], bins[k]);
        team_free(team);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_histograms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
