/* Loops over all elements of several dimensions, where the number of a line and the place in it are found by division:
 * gangs that stay in one line, and such that go over its end once, or often. */
#include "both.h"

/* lines that are shorter than a gang, as long, a little longer, and long */
#define SHAPES 3, 5, 40, 7, 9, 64, 100, 33, 20, 100, 7, 1000, 2, 5000, 1, 300, 300, 1, 0, 7, 7, 0, 131, 127, 64, 128

static sn_scalar with_places(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_add(sn_to_i64(x), sn_sub(sn_mul(i, 3), j));
}

/* a value of each line, one of each column, and the elements */
static sn_scalar with_both(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    return sn_add(sn_index(in[0], i, j), sn_sub(sn_index(in[1], i), sn_index(in[2], j)));
}

static sn_acc generated(sn_acc x, sn_acc line, sn_acc column)
{
    sn_acc in[] = {x, line, column};
    return sn_flatten(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(with_both, in)));
}

static sn_acc folded(sn_acc x, sn_acc line, sn_acc column)
{
    sn_acc all = generated(x, line, column), places = sn_flatten(sn_imap(with_places, x));
    return sn_results(sn_argmax(all), sn_maximum(all), sn_sum(places), sn_argmin(places), sn_minimum(places));
}

static sn_scalar is_even(sn_scalar x)
{
    return sn_eq(sn_rem(sn_to_i64(x), 2), 0);
}

static sn_acc filtered(sn_acc x, sn_acc line, sn_acc column)
{
    return sn_filter(is_even, generated(x, line, column));
}

static sn_acc scanned(sn_acc x, sn_acc line, sn_acc column)
{
    return sn_scanl1(sn_add, generated(x, line, column));
}

static sn_scalar place_of(sn_scalar x)
{
    return sn_mod(sn_to_i64(x), 11);
}

static sn_acc counted(sn_acc x, sn_acc line, sn_acc column)
{
    return sn_histogram(11, sn_map(place_of, generated(x, line, column)));
}

static void in_matrices(void **state)
{
    (void)state;
    both("[n,m]T, [n]T, [m]T -> i64, T, i64, i64, i64", folded, "u8 i32 f32 f64", SMALL, SHAPES);
    both("[n,m]T, [n]T, [m]T -> [k]T", filtered, "u8 i32 f32 i64", SMALL, SHAPES);
    both("[n,m]T, [n]T, [m]T -> [k]T", scanned, "i32 f32", SMALL, SHAPES);
    both("[n,m]T, [n]T, [m]T -> [11]i64", counted, "i32 f32", SMALL, SHAPES);
}

/* --- three dimensions --- */

static sn_scalar with_all(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const sn_acc *in = env;
    sn_scalar near = sn_index(in[0], i, j, k);
    return sn_add(near, sn_mul(sn_index(in[1], i, j), sn_index(in[2], k)));
}

static sn_acc filtered_3(sn_acc x, sn_acc plane, sn_acc column)
{
    sn_acc in[] = {x, plane, column};
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_extent(x, 1), sn_extent(x, 2));
    sn_acc all = sn_flatten(sn_generate(shape, sn_closure(with_all, in)));
    return sn_results(sn_filter(is_even, all), sn_argmax(all));
}

static void in_blocks(void **state)
{
    (void)state;
    both("[n,m,l]T, [n,m]T, [l]T -> [k]T, i64", filtered_3, "u8 i32 f32", SMALL, 3, 5, 7, 4, 3, 100, 2, 40, 33, 5, 1,
         64, 1, 9, 200, 0, 3, 4, 3, 70, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_matrices), cmocka_unit_test(in_blocks)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
