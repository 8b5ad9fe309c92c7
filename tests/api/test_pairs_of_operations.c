/* What one operation makes, taken by another: each pair has the interpreter's bits. Loops are chosen by what they read
 * and by what they make, so that each pair may be code of its own. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what is made of x, of the same shape --- */

static sn_acc itself(sn_acc x)
{
    return x;
}

static sn_acc turned(sn_acc x)
{
    return sn_transpose(sn_reshape(sn_shape(sn_extent(x, 1), sn_extent(x, 0)), x));
}

static sn_acc reversed(sn_acc x)
{
    return sn_reverse(x);
}

static sn_acc rotated(sn_acc x)
{
    return sn_rotate(3, x);
}

static sn_scalar sum_of_nine(sn_scalar w)
{
    sn_scalar sum = sn_at(w, -1, -1);
    for (int k = 1; k < 9; k++)
        sum = sn_add(sum, sn_at(w, k / 3 - 1, k % 3 - 1));
    return sum;
}

static sn_scalar greatest_beside(sn_scalar w)
{
    return sn_max(sn_max(sn_at(w, 0, -1), sn_at(w, 0, 0)), sn_at(w, 0, 1));
}

static sn_scalar above_and_below(sn_scalar w)
{
    return sn_max(sn_sub(sn_at(w, -1, 0), sn_at(w, 0, 0)), sn_at(w, 1, 0));
}

static sn_acc blurred(sn_acc x)
{
    return sn_stencil(sum_of_nine, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc widened(sn_acc x)
{
    return sn_stencil(greatest_beside, sn_pattern(1, 3), sn_wrap, x);
}

static sn_acc mirrored(sn_acc x)
{
    return sn_stencil(above_and_below, sn_pattern(3, 1), sn_mirror, x);
}

static sn_acc framed(sn_acc x)
{
    return sn_stencil(greatest_beside, sn_pattern(1, 3), sn_constant(2), x);
}

static sn_acc swapped_halves(sn_acc x)
{
    sn_scalar half = sn_quot(sn_extent(x, 1), 2);
    return sn_append(sn_skip(half, x), sn_take(half, x));
}

static sn_acc swapped_rows(sn_acc x)
{
    sn_acc rest, first = sn_split_along(0, sn_quot(sn_extent(x, 0), 2), x, &rest);
    return sn_append_along(0, rest, first);
}

static sn_acc running_sums(sn_acc x)
{
    return sn_scanl1(sn_add, x);
}

static sn_acc running_maxima_of_columns(sn_acc x)
{
    return sn_transpose(sn_scanl1(sn_max, sn_transpose(x)));
}

static sn_acc sorted(sn_acc x)
{
    return sn_sort(x);
}

static sn_scalar twice_and_one(sn_scalar x)
{
    return sn_add(sn_add(x, x), 1);
}

static sn_acc mapped(sn_acc x)
{
    return sn_map(twice_and_one, x);
}

static sn_acc forced(sn_acc x)
{
    return sn_force(mapped(x));
}

static sn_acc less_greatest_of_row(sn_acc x)
{
    return sn_zip_with(sn_sub, x, sn_replicate(sn_fold(sn_max, 0, x), SN_ALL, sn_extent(x, 1)));
}

static sn_acc less_greatest_of_column(sn_acc x)
{
    return sn_zip_with(sn_sub, x, sn_replicate(sn_fold(sn_max, 0, sn_transpose(x)), sn_extent(x, 0), SN_ALL));
}

static sn_scalar every_third(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_if(sn_eq(sn_rem(sn_add(i, j), 3), 0), x, sn_sub(x, x));
}

static sn_acc masked(sn_acc x)
{
    return sn_imap(every_third, x);
}

static sn_scalar of_another_row(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_rem(sn_mul(i, 7), sn_extent(x, 0)), j);
}

static sn_acc gathered(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(of_another_row, &x));
}

/* --- what takes it --- */

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_scalar later(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(b, a), b, a);
}

static sn_scalar key(sn_scalar x)
{
    return sn_mod(sn_to_i64(x), 5);
}

static sn_acc sums_of_rows(sn_acc a)
{
    return sn_fold(sn_add, 0, a);
}

static sn_acc maxima_of_columns(sn_acc a)
{
    return sn_fold(sn_max, 0, sn_transpose(a));
}

static sn_acc sum_of_all(sn_acc a)
{
    return sn_sum(sn_flatten(sn_map(sn_to_i64, a)));
}

static sn_acc count_of_all(sn_acc a)
{
    return sn_count(sn_flatten(sn_map(is_large, a)));
}

static sn_acc counts_of_columns(sn_acc a)
{
    return sn_count(sn_transpose(sn_map(is_large, a)));
}

static sn_acc running_maximum_of_all(sn_acc a)
{
    return sn_scanl1(sn_max, sn_flatten(a));
}

static sn_acc large_ones(sn_acc a)
{
    return sn_filter(is_large, sn_flatten(a));
}

static sn_acc places(sn_acc a)
{
    return sn_argmax(a);
}

static sn_acc histogram(sn_acc a)
{
    return sn_histogram(5, sn_map(key, sn_flatten(a)));
}

static sn_acc latest(sn_acc a)
{
    return sn_fold(later, 0, a);
}

static sn_acc three(sn_acc a)
{
    return sn_results(sums_of_rows(a), mapped(a), count_of_all(a));
}

/* --- all pairs --- */

typedef sn_acc operation(sn_acc x);

static operation *const makers[] = {itself,
                                    turned,
                                    reversed,
                                    rotated,
                                    blurred,
                                    widened,
                                    mirrored,
                                    framed,
                                    swapped_halves,
                                    swapped_rows,
                                    running_sums,
                                    running_maxima_of_columns,
                                    sorted,
                                    mapped,
                                    forced,
                                    less_greatest_of_row,
                                    less_greatest_of_column,
                                    masked,
                                    gathered};

static const struct taker {
    operation *of;
    const char *results;
} takers[] = {{itself, "[n,m]T"},          {sums_of_rows, "[n]T"},
              {maxima_of_columns, "[m]T"}, {sum_of_all, "i64"},
              {count_of_all, "i64"},       {counts_of_columns, "[m]i64"},
              {running_sums, "[n,m]T"},    {running_maximum_of_all, "[k]T"},
              {large_ones, "[k]T"},        {places, "[n]i64"},
              {histogram, "[5]i64"},       {latest, "[n]T"},
              {three, "[n]T, [n,m]T, i64"}};

typedef struct pair {
    operation *maker;
    const struct taker *taker;
} pair;

static sn_acc both_of(void *env, int count, const sn_acc *x)
{
    const pair *p = env;
    assert_int_equal(count, 1);
    return p->taker->of(p->maker(x[0]));
}

/* With SINTER_TEST_LONG all of them, of four types; else every other one, of one type in turn. */
static void pairs_have_the_interpreters_bits(void **state)
{
    static const char *const types[] = {"u8", "f32", "i16", "i64", "f64"};
    static const int64_t extents[] = {3, 5, 1, 1, 40, 7, 300, 33, 2, 3000, 3000, 2, -1};
    unsigned number = 0;
    (void)state;
    for (size_t k = 0; k < sizeof makers / sizeof *makers; k++)
        for (size_t t = 0; t < sizeof takers / sizeof *takers; t++) {
            pair p = {makers[k], &takers[t]};
            if (!getenv("SINTER_TEST_LONG") && (k + t) % 2)
                continue;
            char signature[64];
            snprintf(signature, sizeof signature, "[n,m]T -> %s", p.taker->results);
            const char *some = types[number++ % (sizeof types / sizeof *types)];
            both_at(__FILE__, __LINE__, signature, sn_body_env(both_of, &p),
                    getenv("SINTER_TEST_LONG") ? "u8 i16 i64 f32" : some, SMALL, extents);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_have_the_interpreters_bits)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
