/* The smaller and the larger of two floats where elements are any bits: zeros of both signs, infinities, NaNs, of which
 * some are signalling ones. In maps, in loops that begin with an element, or are set to one on their way, and of
 * neighbours. */
#include "both.h"

#define LENGTHS 1, 3, 7, 16, 33, 100, 1000, 4099

static sn_acc of_two(sn_acc x, sn_acc y)
{
    return sn_results(sn_zip_with(sn_min, x, y), sn_zip_with(sn_max, x, y));
}

static sn_scalar between(sn_scalar x, sn_scalar low, sn_scalar high)
{
    return sn_min(sn_max(x, low), high);
}

static sn_scalar against_constants(sn_scalar x)
{
    return sn_tuple(sn_min(x, 0), sn_max(x, -0.0), sn_max(sn_abs(x), -3), sn_max(sn_neg(x), x));
}

static sn_acc of_more(sn_acc x, sn_acc y)
{
    sn_acc z = sn_reverse(x);
    return sn_results(sn_zip_with(between, x, y, z), sn_zip_with(between, z, sn_map(sn_neg, x), y),
                      sn_map(against_constants, x));
}

/* --- loops --- */

struct place {
    sn_acc x;
    sn_scalar i;
};

static sn_scalar larger(void *env, sn_scalar k, sn_scalar most)
{
    const struct place *p = env;
    return sn_max(most, sn_index(p->x, sn_add(p->i, k)));
}

static sn_scalar smaller_or_next(void *env, sn_scalar k, sn_scalar least)
{
    const struct place *p = env;
    sn_scalar next = sn_index(p->x, sn_add(p->i, k));
    return sn_if(sn_eq(sn_rem(k, 3), 1), next, sn_min(next, least));
}

static sn_scalar windows_at(void *env, sn_scalar i)
{
    struct place p = {*(sn_acc *)env, i};
    sn_scalar first = sn_index(p.x, i);
    return sn_tuple(sn_loop(5, sn_closure(larger, &p), first), sn_loop(6, sn_closure(smaller_or_next, &p), first));
}

static sn_acc by_loops(sn_acc x, sn_acc like)
{
    return sn_generate(sn_size(like), sn_closure(windows_at, &x));
}

static sn_scalar around(sn_scalar w)
{
    sn_scalar most = sn_at(w, -1);
    for (int d = 0; d < 2; d++)
        most = sn_max(most, sn_at(w, d));
    return most;
}

static sn_acc of_neighbours(sn_acc x)
{
    return sn_stencil(around, sn_pattern(3), sn_clamp, x);
}

static void maps(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T, [n]T", of_two, FLOATS, SIGNALS, LENGTHS);
    both("[n]T, [n]T -> [n]T, [n]T, [n](T, T, T, T)", of_more, FLOATS, SIGNALS, LENGTHS);
}

static void loops(void **state)
{
    (void)state;
    both("[n]T, [m]u8 -> [m](T, T)", by_loops, FLOATS, SIGNALS, 20, 10, 100, 94, 1000, 990, 4099, 4000);
}

static void neighbours(void **state)
{
    (void)state;
    both("[n]T -> [n]T", of_neighbours, FLOATS, SIGNALS, LENGTHS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(loops), cmocka_unit_test(neighbours)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
