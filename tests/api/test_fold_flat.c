/* Folds of all elements of several dimensions that use their indices: against the interpreter, and against the bits of
 * the same elements brought together in memory first. */
#include "both.h"

#include <stdlib.h>

/* On both sides of a group of lanes, of a round, of a piece. */
#define SHAPES                                                                                                         \
    1, 33, 5, 31, 40, 100, 300, 127, 33, 128, 90, 129, 20, 255, 70, 160, 7, 1000, 3, 5000, 9000, 1, 0, 200, 200, 0

static sn_scalar weighted(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_sub(sn_add(sn_mul(sn_to_i64(x), 3), sn_mul(i, 5)), j);
}

static sn_acc with_indices(sn_acc x)
{
    return sn_fold_all(sn_add, 7, sn_imap(weighted, x));
}

static sn_acc row_and_column(sn_acc x, sn_acc y, sn_acc a)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_size(y)), columns = sn_replicate(y, sn_size(x), SN_ALL);
    sn_acc product = sn_zip_with(sn_mul, rows, columns);
    return sn_results(sn_fold_all(sn_add, 0, product), sn_fold_all(sn_max, -100, sn_zip_with(sn_add, product, a)));
}

static sn_scalar middle(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    return sn_add(sn_mul(sn_to_i64(x), sn_add(j, 1)), sn_sub(sn_mul(k, 2), i));
}

static sn_acc three_dimensions(sn_acc x)
{
    return sn_fold_all(sn_add, 0, sn_imap(middle, x));
}

static sn_acc first_column(sn_acc x, sn_acc a)
{
    return sn_fold_all(sn_min, 100, sn_zip_with(sn_sub, a, sn_replicate(x, SN_ALL, sn_extent(a, 1))));
}

static void shapes(void **state)
{
    (void)state;
    both("[n,m]T -> i64", with_indices, "i32 u8", SMALL, SHAPES);
    both("[n]T, [m]T, [n,m]T -> T, T", row_and_column, "i32 f32 f64", SMALL, SHAPES);
    both("[n]T, [n,m]T -> T", first_column, "f32 i16", SMALL, SHAPES);
    both("[l,n,m]T -> i64", three_dimensions, "i32", SMALL, 2, 3, 130, 3, 50, 33, 130, 3, 1, 4, 1, 200, 2, 40, 128);
}

static sn_acc both_ways(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_size(y)), columns = sn_replicate(y, sn_size(x), SN_ALL);
    sn_acc sum = sn_zip_with(sn_sub, rows, columns);
    return sn_results(sn_fold_all(sn_add, 0, sum), sn_fold_all(sn_add, 0, sn_force(sum)));
}

static void bits_do_not_depend_on_lines(void **state)
{
    static const int64_t shape[][2] = {{5, 31},   {40, 100}, {300, 127}, {33, 128},
                                       {90, 129}, {70, 160}, {7, 1000},  {3, 5000}};
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n]f32, [m]f32 -> f32, f32", both_ways);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        static float x[5000], y[5000];
        float direct, gathered;
        for (int i = 0; i < 5000; i++) {
            x[i] = (float)(rand() % 20000) / 777;
            y[i] = (float)(rand() % 20000) / 555;
        }
        assert_int_equal(
            sn_call(p, sn_in(x, shape[k][0]), sn_in(y, shape[k][1]), sn_value(&direct), sn_value(&gathered)), SN_OK);
        assert_memory_equal(&direct, &gathered, sizeof direct);
    }
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        cmocka_unit_test(bits_do_not_depend_on_lines),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
