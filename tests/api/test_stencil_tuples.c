/* Stencils whose elements are tuples: what they make, what they read, and both, by rows one at a time and several at once. */
#include "both.h"

/* Sums that weigh columns and rows, such as gradients do. */
static sn_scalar across(sn_scalar s)
{
    return sn_add(sn_sub(sn_at(s, -1, 1), sn_at(s, -1, -1)),
                  sn_add(sn_mul(sn_sub(sn_at(s, 0, 1), sn_at(s, 0, -1)), 2), sn_sub(sn_at(s, 1, 1), sn_at(s, 1, -1))));
}

static sn_scalar along(sn_scalar s)
{
    return sn_add(sn_sub(sn_at(s, 1, -1), sn_at(s, -1, -1)),
                  sn_add(sn_mul(sn_sub(sn_at(s, 1, 0), sn_at(s, -1, 0)), 3), sn_sub(sn_at(s, 1, 1), sn_at(s, -1, 1))));
}

static sn_scalar two_sums(sn_scalar s)
{
    return sn_tuple(across(s), along(s));
}

static sn_scalar three_of_types(sn_scalar s)
{
    return sn_tuple(across(s), sn_to_i16(sn_at(s, 0, 0)), sn_gt(along(s), 0));
}

/* Of pairs: the sum of the first ones, and the differences of the second. */
static sn_scalar of_pairs(sn_scalar s)
{
    sn_scalar here = sn_at(s, 0, 0), left = sn_at(s, 0, -1), below = sn_at(s, 1, 0);
    return sn_tuple(sn_add(sn_add(sn_get(here, 0), sn_get(left, 0)), sn_get(below, 0)),
                    sn_sub(sn_sub(sn_get(here, 1), sn_get(left, 1)), sn_get(below, 1)));
}

static sn_acc gradients(sn_acc a)
{
    return sn_stencil(two_sums, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc gradients_wrapped(sn_acc a)
{
    return sn_stencil(two_sums, sn_pattern(3, 3), sn_wrap, a);
}

static sn_acc types(sn_acc a)
{
    return sn_stencil(three_of_types, sn_pattern(3, 3), sn_mirror, a);
}

static sn_acc pairs(sn_acc a, sn_acc b)
{
    return sn_stencil(of_pairs, sn_pattern(3, 3), sn_clamp, sn_zip(a, b));
}

static sn_acc twice(sn_acc a)
{
    return sn_stencil(of_pairs, sn_pattern(3, 3), sn_wrap, sn_stencil(two_sums, sn_pattern(3, 3), sn_clamp, a));
}

static void tuples(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m](T, T)", gradients, "i32 f32 f64 u8", SMALL, MATRICES);
    both("[n,m]T -> [n,m](T, T)", gradients_wrapped, "i32 f32", SMALL, MATRICES);
    both("[n,m]T -> [n,m](T, i16, bool)", types, "i32 f32 i64", SMALL, MATRICES);
    both("[n,m]T, [n,m]T -> [n,m](T, T)", pairs, "i32 f32", SMALL, MATRICES);
    both("[n,m]T -> [n,m](T, T)", twice, "i32 f32", SMALL, MATRICES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuples)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
