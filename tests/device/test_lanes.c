/* Which lane work goes into, and what it waits for, by the memory that it touches: what depends on something comes
 * behind it, what does not has a lane of its own, and nothing is waited for twice. */
#include "device/lanes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NOTHING = -1 };

/* A piece that reads 4 bytes at one address and writes 4 at another one. */
static lanes_place put(lanes *l, int read, int write, double load)
{
    lanes_touched at[2];
    lanes_place out;
    uint32_t n = 0;
    if (read != NOTHING)
        at[n++] = (lanes_touched){(uintptr_t)read, (uintptr_t)read + 4, false};
    if (write != NOTHING)
        at[n++] = (lanes_touched){(uintptr_t)write, (uintptr_t)write + 4, true};
    assert_true(lanes_put(l, at, n, load, &out));
    return out;
}

static void goes(lanes_place p, uint32_t lane, int first, int second)
{
    assert_int_equal(p.lane, lane);
    assert_int_equal(p.waits.n, (first != NOTHING) + (second != NOTHING));
    if (first != NOTHING)
        assert_int_equal(p.waits.of[0], first);
    if (second != NOTHING)
        assert_int_equal(p.waits.of[1], second);
}

static void what_is_independent_has_lanes_of_its_own(void **state)
{
    lanes l = {0};
    (void)state;
    assert_false(l.open);
    lanes_begin(&l, false);
    assert_true(l.open);
    goes(put(&l, 1000, 0, 5), 0, NOTHING, NOTHING);
    goes(put(&l, 1000, 4, 4), 1, NOTHING, NOTHING); /* all read the same */
    goes(put(&l, 1000, 8, 3), 2, NOTHING, NOTHING);
    goes(put(&l, 1000, 12, 6), 3, NOTHING, NOTHING);
    goes(put(&l, 1000, 16, 3), 2, NOTHING, NOTHING); /* which has the least to do */
    goes(put(&l, 1000, 20, 3), 1, NOTHING, NOTHING);
    assert_true(l.open);
}

static void chains_stay_in_their_lanes(void **state)
{
    lanes l = {0};
    (void)state;
    lanes_begin(&l, false);
    for (int i = 0; i < 10; i++)
        for (int chain = 0; chain < 3; chain++)
            goes(put(&l, 100 * chain + 4 * i, 100 * chain + 4 * i + 4, 1 + chain), (uint32_t)chain, NOTHING, NOTHING);
    goes(put(&l, 4, 400, 1), 3, 0, NOTHING); /* the end of no lane, so it goes where least is */
    goes(put(&l, 40, 404, 1), 0, NOTHING, NOTHING);
}

static void joins_wait_for_what_they_need(void **state)
{
    lanes l = {0};
    (void)state;
    lanes_begin(&l, false);
    goes(put(&l, NOTHING, 0, 1), 0, NOTHING, NOTHING);
    goes(put(&l, 0, 4, 1), 0, NOTHING, NOTHING);
    goes(put(&l, 0, 8, 1), 1, 0, NOTHING);
    lanes_touched both[] = {{4, 12, false}, {12, 16, true}};
    lanes_place p;
    assert_true(lanes_put(&l, both, 2, 1, &p)); /* behind the later one, and the other one is waited for */
    goes(p, 1, 1, NOTHING);
    goes(put(&l, NOTHING, 0, 1), 0, 2, NOTHING); /* two have read what is written over */
    goes(put(&l, 12, 0, 1), 0, 3, NOTHING);
    goes(put(&l, 4, 16, 1), 2, 1, NOTHING);
    goes(put(&l, 0, 20, 9), 0, NOTHING, NOTHING);
    goes(put(&l, 8, 24, 1), 3, 2, NOTHING);
    lanes_waits w = lanes_join(&l);
    assert_false(l.open);
    assert_int_equal(w.n, 2); /* not for the second lane: what the first one waited for is its end */
    assert_int_equal(w.of[0], 8);
    assert_int_equal(w.of[1], 6);
    assert_int_equal(lanes_join(&l).n, 0);
}

/* The last of what is waited for knows of the others. */
static void nothing_is_waited_for_twice(void **state)
{
    lanes l = {0};
    (void)state;
    lanes_begin(&l, false);
    put(&l, NOTHING, 0, 1);
    goes(put(&l, NOTHING, 4, 1), 1, NOTHING, NOTHING);
    lanes_touched two[] = {{0, 8, false}, {8, 12, true}};
    lanes_place p;
    assert_true(lanes_put(&l, two, 2, 1, &p));
    goes(p, 1, 0, NOTHING);
    goes(put(&l, NOTHING, 12, 1), 2, NOTHING, NOTHING);
    lanes_touched all[] = {{0, 12, false}, {12, 16, true}};
    assert_true(lanes_put(&l, all, 2, 1, &p));
    goes(p, 2, 2, NOTHING);
    lanes_waits w = lanes_join(&l);
    assert_int_equal(w.n, 1);
    assert_int_equal(w.of[0], 4);
}

static void what_was_there_before_is_behind_all(void **state)
{
    lanes l = {0};
    (void)state;
    lanes_begin(&l, true);
    goes(put(&l, NOTHING, 0, 2), 0, NOTHING, NOTHING);
    goes(put(&l, NOTHING, 4, 1), 1, 0, NOTHING);
    goes(put(&l, NOTHING, 8, 1), 2, 0, NOTHING);
    goes(put(&l, NOTHING, 12, 1), 3, 0, NOTHING);
    goes(put(&l, NOTHING, 16, 1), 1, NOTHING, NOTHING); /* it knows by now */
    assert_int_equal(lanes_join(&l).n, 3);
    lanes_begin(&l, true);
    assert_int_equal(lanes_join(&l).n, 0);
    lanes_begin(&l, false);
    goes(put(&l, 0, 16, 1), 0, NOTHING, NOTHING); /* nothing is left of the last time */
    goes(put(&l, 4, 20, 1), 1, NOTHING, NOTHING);
}

static void full_lanes_are_begun_again(void **state)
{
    lanes l = {0};
    lanes_place p;
    lanes_touched at[LANES_MOST_TOUCHED];
    (void)state;
    lanes_begin(&l, true);
    for (int i = 1; i < LANES_MOST_WORK; i++)
        assert_int_equal(put(&l, NOTHING, 4 * i, 1).work, i);
    assert_false(lanes_put(&l, at, 0, 1, &p));
    lanes_begin(&l, false);
    for (uint32_t i = 0; i < LANES_MOST_TOUCHED; i++)
        at[i] = (lanes_touched){i, i + 1, false};
    for (int i = 0; i < LANES_MOST_RANGES / LANES_MOST_TOUCHED; i++)
        assert_true(lanes_put(&l, at, LANES_MOST_TOUCHED, 1, &p));
    assert_false(lanes_put(&l, at, 1, 1, &p));
    assert_true(lanes_put(&l, at, 0, 1, &p));
}

/* Blocks that are handles do not reach others, however many bytes they have. */
static void blocks_are_addresses_or_handles(void **state)
{
    const device_touched of[] = {{100, false}, {0, true}, {8, true}};
    void *const mem[] = {(void *)1000, NULL, (void *)2000};
    lanes_touched at[3];
    (void)state;
    const device_reach reach = {.pointers = 3, .at = of};
    assert_int_equal(lanes_touched_by(&reach, mem, false, at), 2);
    assert_true(at[0].from == 1000 && at[0].end == 1100 && !at[0].written);
    assert_true(at[1].from == 2000 && at[1].end == 2008 && at[1].written);
    assert_int_equal(lanes_touched_by(&reach, mem, true, at), 2);
    assert_true(at[0].from == 1000 && at[0].end == 1001 && at[1].from == 2000 && at[1].end == 2001 && at[1].written);
    at[0] = lanes_touched_block((void *)1000, 24, 8, true, false);
    assert_true(at[0].from == 1024 && at[0].end == 1032 && at[0].written);
    at[0] = lanes_touched_block((void *)1000, 24, 8, false, true);
    assert_true(at[0].from == 1000 && at[0].end == 1001 && !at[0].written);
    at[0] = lanes_touched_block((void *)1000, 24, 0, true, true);
    assert_true(at[0].from == at[0].end);
}

/* --- random work --- */

typedef struct graph {
    uint32_t n;
    lanes_touched at[LANES_MOST_WORK][3];
    lanes_place place[LANES_MOST_WORK];
    uint64_t behind[LANES_MOST_WORK]; /* which are done before it */
} graph;

static bool conflict(const lanes_touched *x, const lanes_touched *y)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (x[i].from < y[k].end && y[k].from < x[i].end && (x[i].written || y[k].written))
                return true;
    return false;
}

static void add(graph *g, lanes *l, unsigned salt)
{
    const uint32_t i = g->n++;
    for (unsigned k = 0; k < 3; k++) {
        const uint64_t h = hash_mix(hash_mix(salt, i), k);
        const uintptr_t from = h % 61;
        g->at[i][k] = (lanes_touched){from, from + 1 + (h >> 8) % 3, k == 2};
    }
    assert_true(lanes_put(l, g->at[i], 3, (double)(hash_mix(salt, i) % 7), &g->place[i]));
    assert_int_equal(g->place[i].work, i);
    uint64_t before = 0;
    for (uint32_t j = 0; j < i; j++)
        if (g->place[j].lane == g->place[i].lane)
            before |= (uint64_t)1 << j | g->behind[j];
    for (uint32_t k = 0; k < g->place[i].waits.n; k++) {
        const uint32_t j = g->place[i].waits.of[k];
        assert_false(before >> j & 1); /* it is known already */
        before |= (uint64_t)1 << j | g->behind[j];
    }
    g->behind[i] = before;
    for (uint32_t j = 0; j < i; j++)
        assert_true(before >> j & 1 || !conflict(g->at[i], g->at[j]));
}

static void random_work_keeps_its_order(void **state)
{
    graph *g = test_malloc(sizeof(*g));
    unsigned used = 0;
    (void)state;
    for (unsigned salt = 0; salt < 300; salt++) {
        lanes l = {0};
        g->n = 0;
        lanes_begin(&l, false);
        for (int i = 0; i < LANES_MOST_WORK; i++)
            add(g, &l, salt);
        uint64_t seen = 0, all = ((uint64_t)1 << LANES_MOST_WORK) - 1;
        for (int i = 0; i < LANES_MOST_WORK; i++) {
            used |= 1u << g->place[i].lane;
            if (g->place[i].lane == 0)
                seen |= (uint64_t)1 << i | g->behind[i];
        }
        const lanes_waits w = lanes_join(&l);
        for (uint32_t k = 0; k < w.n; k++) {
            assert_false(seen >> w.of[k] & 1);
            seen |= (uint64_t)1 << w.of[k] | g->behind[w.of[k]];
        }
        assert_true(seen == all);
    }
    assert_int_equal(used, (1u << LANES) - 1);
    test_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_independent_has_lanes_of_its_own),
        cmocka_unit_test(chains_stay_in_their_lanes),
        cmocka_unit_test(joins_wait_for_what_they_need),
        cmocka_unit_test(nothing_is_waited_for_twice),
        cmocka_unit_test(what_was_there_before_is_behind_all),
        cmocka_unit_test(full_lanes_are_begun_again),
        cmocka_unit_test(blocks_are_addresses_or_handles),
        cmocka_unit_test(random_work_keeps_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
