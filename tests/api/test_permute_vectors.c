/* Permutes of several components that are combined alike, whose totals are vectors: the bits are the interpreter's,
 * which combines component by component. */
#include "counts.h"

#include <stdlib.h>

static sn_scalar key_at(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

/* Every seventh element goes nowhere. */
static sn_scalar key_or_none(void *env, sn_scalar i)
{
    return sn_if(sn_eq(sn_rem(i, 7), 3), sn_ignore(), key_at(env, i));
}

/* As far as the key's own place or, seldom, behind the last one. */
static sn_scalar key_or_outside(void *env, sn_scalar i)
{
    return sn_if(sn_eq(sn_rem(i, 60013), 60012), 1 << 20, key_at(env, i));
}

static sn_scalar add_two(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_add(sn_get(x, 1), sn_get(y, 1)));
}

static sn_scalar add_three(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_add(sn_get(y, 1), sn_get(x, 1)),
                    sn_add(sn_get(x, 2), sn_get(y, 2)));
}

static sn_scalar add_five(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_add(sn_get(x, 1), sn_get(y, 1)),
                    sn_add(sn_get(x, 2), sn_get(y, 2)), sn_add(sn_get(x, 3), sn_get(y, 3)),
                    sn_add(sn_get(x, 4), sn_get(y, 4)));
}

static sn_scalar multiply_two(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_mul(sn_get(x, 0), sn_get(y, 0)), sn_mul(sn_get(x, 1), sn_get(y, 1)));
}

static sn_scalar add_and_multiply(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_mul(sn_get(x, 1), sn_get(y, 1)));
}

/* Sums of these are rounded. */
static sn_scalar roots(sn_scalar x)
{
    return sn_tuple(sn_sqrt(sn_fst(x)), sn_sqrt(sn_snd(x)));
}

static sn_scalar counted_roots(sn_scalar x)
{
    return sn_tuple(sn_sqrt(sn_fst(x)), sn_i64(1), sn_sqrt(sn_snd(x)));
}

static sn_scalar counted(sn_scalar x)
{
    return sn_tuple(sn_fst(x), sn_snd(x), sn_i64(1));
}

static sn_scalar counted_in_32(sn_scalar x)
{
    return sn_tuple(sn_i32(1), sn_snd(x), sn_fst(x));
}

static sn_scalar counted_by_twos(sn_scalar x)
{
    return sn_tuple(sn_fst(x), sn_snd(x), sn_i64(2));
}

static sn_scalar five_of(sn_scalar x)
{
    sn_scalar a = sn_fst(x), b = sn_snd(x);
    return sn_tuple(a, b, sn_add(a, b), sn_mul(a, b), sn_sub(b, a));
}

#define PERMUTE(name, operator, of, made)                                                                              \
    static sn_acc name(sn_acc defaults, sn_acc keys, sn_acc source)                                                    \
    {                                                                                                                  \
        return sn_permute(operator, defaults, sn_closure(of, &keys), made);                                            \
    }
PERMUTE(two, add_two, key_at, source)
PERMUTE(two_roots, add_two, key_at, sn_map(roots, source))
PERMUTE(counted_between, add_three, key_or_none, sn_map(counted_roots, source))
PERMUTE(two_products, multiply_two, key_at, source)
PERMUTE(sum_and_product, add_and_multiply, key_at, source)
PERMUTE(two_or_none, add_two, key_or_none, source)
PERMUTE(two_or_outside, add_two, key_or_outside, source)
PERMUTE(three, add_three, key_at, sn_map(counted, source))
PERMUTE(three_or_none, add_three, key_or_none, sn_map(counted, source))
PERMUTE(three_in_32, add_three, key_at, sn_map(counted_in_32, source))
PERMUTE(three_by_twos, add_three, key_at, sn_map(counted_by_twos, source))
PERMUTE(five, add_five, key_at, sn_map(five_of, source))

/* Sum and number, each by an operation of its own: one loop. */
static sn_acc apart(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_results(sn_permute(sn_add, defaults, sn_closure(key_at, &keys), source),
                      sn_histogram(sn_size(defaults), keys));
}

#define BY_SIZES 1, 0, 5, 100, 300, 4099, 7, 65537, 33, 70001, 16, 200003, 5000, 140001

#define VECTORS(name, result, source, types)                                                                           \
    static void by_##name(void **env)                                                                                  \
    {                                                                                                                  \
        (void)env;                                                                                                     \
        both("[m]" result ", [n]i64, [n]" source " -> [m]" result, name, types, INDICES, BY_SIZES);                    \
    }
VECTORS(two, "(T, T)", "(T, T)", "i32 u64 f32 f64 i16")
VECTORS(two_roots, "(T, T)", "(T, T)", FLOATS)
VECTORS(counted_between, "(T, i64, T)", "(T, T)", FLOATS)
VECTORS(two_products, "(T, T)", "(T, T)", "u32 i64 f32 f64")
VECTORS(sum_and_product, "(T, T)", "(T, T)", "i64 f32")
VECTORS(two_or_none, "(T, T)", "(T, T)", "i64 f32 f64")
VECTORS(two_or_outside, "(T, T)", "(T, T)", "i64 f32 f64")
VECTORS(three, "(T, T, i64)", "(T, T)", "i32 u64 f32 f64 i16")
VECTORS(three_or_none, "(T, T, i64)", "(T, T)", "i32 f32 f64")
VECTORS(three_in_32, "(i32, T, T)", "(T, T)", "u64 i32 f32 f64")
VECTORS(three_by_twos, "(T, T, i64)", "(T, T)", "i32 f32")
VECTORS(five, "(T, T, T, T, T)", "(T, T)", "i32 f32 f64")

static void by_operations_apart(void **env)
{
    (void)env;
    both("[m]T, [n]i64, [n]T -> [m]T, [m]i64", apart, "f32 f64 i32", INDICES, BY_SIZES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_two_roots),        cmocka_unit_test(by_counted_between), cmocka_unit_test(by_two),
        cmocka_unit_test(by_two_products),     cmocka_unit_test(by_sum_and_product), cmocka_unit_test(by_two_or_none),
        cmocka_unit_test(by_two_or_outside),   cmocka_unit_test(by_three),           cmocka_unit_test(by_three_or_none),
        cmocka_unit_test(by_three_in_32),      cmocka_unit_test(by_three_by_twos),   cmocka_unit_test(by_five),
        cmocka_unit_test(by_operations_apart),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, both_open, both_close);
}
