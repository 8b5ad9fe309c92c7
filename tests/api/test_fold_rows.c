/* Folds of rows: the kernels made for rows of a few whole groups against the interpreter, and against the kernel for
 * rows of any length, which few rows use. */
#include "both.h"
#include "counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES                                                                                                         \
    40, 33, 33, 48, 32, 63, 32, 64, 33, 64, 70, 65, 40, 96, 33, 128, 34, 160, 50, 256, 40, 300, 33, 512, 33, 528, 33,  \
        544, 1, 64, 31, 64, 0, 64

static sn_acc sums(sn_acc x)
{
    return sn_fold(sn_add, 5, x);
}

static sn_scalar twice_plus(sn_scalar x)
{
    return sn_add(sn_add(x, x), 1);
}

static sn_scalar product(sn_scalar x, sn_scalar y)
{
    return sn_mul(x, twice_plus(y));
}

static sn_acc several(sn_acc x)
{
    return sn_results(sn_fold(sn_max, 0, sn_map(twice_plus, x)), sn_fold(sn_add, 0, sn_zip_with(product, x, x)),
                      sn_fold1(sn_min, x));
}

/* commutes, and has no identity that we know */
static sn_scalar larger_pair(sn_scalar a, sn_scalar b)
{
    sn_scalar right =
        sn_lor(sn_gt(sn_fst(b), sn_fst(a)), sn_land(sn_eq(sn_fst(b), sn_fst(a)), sn_lt(sn_snd(b), sn_snd(a))));
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_scalar with_column(sn_scalar row, sn_scalar column, sn_scalar x)
{
    (void)row;
    return sn_tuple(x, sn_to_i32(column));
}

static sn_acc greatest(sn_acc x)
{
    sn_acc all = sn_fold1(sn_commutative(larger_pair), sn_imap(with_column, x));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static sn_acc leftmost(sn_acc x)
{
    sn_acc all = sn_fold1(larger_pair, sn_imap(with_column, x));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static void rows_of_all_lengths(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", sums, "u8 i32 i64 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]T, [n]T", several, "i8 u16 i32 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", greatest, "u8 i32 f32 f64", SMALL, SHAPES);
    both("[n,m]T -> [n]T, [n]i32", leftmost, "u8 i32 f32 f64", SMALL, SHAPES);
}

/* --- bytes, in 32 bits --- */

static sn_acc byte_sums(sn_acc x, sn_acc y)
{
    return sn_results(sn_fold(sn_add, 1, sn_map(sn_to_i32, x)), sn_fold(sn_add, 0, sn_map(sn_to_u32, y)));
}

static sn_scalar wide_product(sn_scalar x, sn_scalar y)
{
    return sn_mul(sn_to_i32(x), sn_to_i32(y));
}

static sn_acc byte_dots(sn_acc x, sn_acc y)
{
    return sn_results(sn_fold(sn_add, 0, sn_zip_with(wide_product, x, y)),
                      sn_fold(sn_add, 0, sn_zip_with(wide_product, x, x)));
}

static sn_acc tests(sn_acc x)
{
    return sn_results(sn_any(x), sn_all(x), sn_count(x));
}

static void rows_of_tests(void **state)
{
    (void)state;
    both("[n,m]bool -> [n]bool, [n]bool, [n]i64", tests, NULL, MIXED, SHAPES, 500, 3, 300, 5, 1, 70001);
}

static void sums_of_bytes(void **state)
{
    (void)state;
    both("[n,m]T, [n,m]u8 -> [n]i32, [n]u32", byte_sums, "u8 i8 u16 bool", MIXED, SHAPES, 3, 5000, 1, 70001);
    both("[n,m]T, [n,m]u8 -> [n]i32, [n]i32", byte_dots, "u8 i8 i16", MIXED, SHAPES, 3, 5000, 1, 70001);
}

/* --- the same bits, however many rows there are --- */

static sn_acc dots(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, x, y));
}

static float noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((float)(*seed >> 8) * 0x1p-24f - 0.3f) * (float)(1u << (*seed & 15));
}

static void bits_do_not_depend_on_rows(void **state)
{
    enum { ROWS = 45, FEW = 31, MOST = 544 };
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32, [n,m]f32 -> [n]f32", dots);
    assert_non_null(p);
    float *x = malloc(2 * ROWS * MOST * sizeof *x), *y = x + ROWS * MOST, all[ROWS], few[FEW];
    assert_non_null(x);
    uint32_t seed = 3;
    for (int i = 0; i < 2 * ROWS * MOST; i++)
        x[i] = noise(&seed);
    for (int64_t m = 32; m <= MOST; m += 32) {
        assert_int_equal(sn_call(p, sn_in(x, ROWS, m), sn_in(y, ROWS, m), sn_into(all, ROWS)), SN_OK);
        assert_int_equal(sn_call(p, sn_in(x, FEW, m), sn_in(y, FEW, m), sn_into(few, FEW)), SN_OK);
        assert_memory_equal(all, few, sizeof few);
        double exact = 0;
        for (int64_t k = 0; k < m; k++)
            exact += (double)x[(ROWS - 1) * m + k] * (double)y[(ROWS - 1) * m + k];
        double size = 0;
        for (int64_t k = 0; k < m; k++)
            size += fabs((double)x[(ROWS - 1) * m + k] * (double)y[(ROWS - 1) * m + k]);
        assert_true(fabs((double)all[ROWS - 1] - exact) <= 1e-5 * size);
    }
    free(x);
    sn_drop(p);
}

/* --- rows that come from memory, with the bits of one at a time --- */

static void check_large(int64_t rows, int64_t m)
{
    sn_options two = {.size = sizeof two, .threads = 2}; /* with more, fewer rows are left for each */
    sn_context *cx = sn_open(&two);
    assert_non_null(cx);
    sn_program *p = sn_compile(cx, "[n,m]f32, [n,m]f32 -> [n]f32", dots);
    sn_program *q = sn_compile(cx, "[n,m]f32 -> [n]f32", sums);
    assert_true(p && q);
    float *x = malloc((size_t)(rows * m) * sizeof *x), *all = malloc((size_t)rows * 2 * sizeof *all), one;
    assert_true(x && all);
    uint32_t seed = 7;
    for (int64_t i = 0; i < rows * m; i++)
        x[i] = noise(&seed);
    assert_int_equal(sn_call(p, sn_in(x, rows, m), sn_in(x, rows, m), sn_into(all, rows)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, rows, m), sn_into(all + rows, rows)), SN_OK);
    if (on_cpu())
        assert_non_null(strstr(sn_explain(q, "kernels"), "fold_ahead"));
    for (int64_t r = 0; r < rows; r++) {
        const float *row = x + r * m;
        assert_int_equal(sn_call(p, sn_in(row, 1, m), sn_in(row, 1, m), sn_into(&one, 1)), SN_OK);
        assert_memory_equal(&one, all + r, sizeof one);
        assert_int_equal(sn_call(q, sn_in(row, 1, m), sn_into(&one, 1)), SN_OK);
        assert_memory_equal(&one, all + rows + r, sizeof one);
    }
    free(x);
    free(all);
    sn_drop(p);
    sn_drop(q);
    sn_close(cx);
}

static void large_rows_have_the_same_bits(void **state)
{
    (void)state;
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        skip(); /* blocks of many threads need no such kernels */
    check_large(2603, 1999);
    check_large(71, 65536 + 513);
    check_large(70, 3 * 65536);
}

/* --- operators that keep order: lanes walk rows where there are enough, gangs a row else --- */

static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc compositions(sn_acc a, sn_acc b)
{
    sn_acc part[2];
    sn_unzip(sn_fold1(compose, sn_zip(a, b)), 2, part);
    return sn_results(part[0], part[1]);
}

static void ordered_bits_do_not_depend_on_rows(void **state)
{
    enum { ROWS = 70, MOST = 16640, CASES = 9 };
    static const int64_t length[CASES] = {33, 520, 1040, 1041, 2080, 3000, 5201, 10000, MOST};
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32, [n,m]f32 -> [n]f32, [n]f32", compositions);
    assert_non_null(p);
    float *x = malloc(2 * ROWS * MOST * sizeof *x), *y = x + ROWS * MOST, all[2][ROWS], one[2];
    assert_non_null(x);
    uint32_t seed = 5;
    for (int i = 0; i < 2 * ROWS * MOST; i++)
        x[i] = i < ROWS * MOST ? 1 + noise(&seed) * 1e-7f : noise(&seed);
    for (int c = 0; c < CASES; c++) {
        int64_t m = length[c];
        assert_int_equal(sn_call(p, sn_in(x, ROWS, m), sn_in(y, ROWS, m), sn_into(all[0], ROWS), sn_into(all[1], ROWS)),
                         SN_OK);
        for (int64_t r = 0; r < ROWS; r++) {
            assert_int_equal(
                sn_call(p, sn_in(x + r * m, 1, m), sn_in(y + r * m, 1, m), sn_into(&one[0], 1), sn_into(&one[1], 1)),
                SN_OK);
            assert_memory_equal(&all[0][r], &one[0], sizeof one[0]);
            assert_memory_equal(&all[1][r], &one[1], sizeof one[1]);
        }
    }
    free(x);
    sn_drop(p);
}

static sn_acc made_of_short_rows(sn_acc x)
{
    sn_acc sum = sn_sum(x), most = sn_maximum(x), less = sn_map(twice_plus, most);
    return sn_results(sn_map(twice_plus, sum), less, sn_zip_with(sn_add, sn_map(sn_abs, most), less), most);
}

static sn_acc made_of_first(sn_acc x)
{
    return sn_map(twice_plus, sn_zip_with(product, sn_fold1(product, x), sn_fold(sn_max, 1, sn_map(twice_plus, x))));
}

static sn_acc made_of_argmax(sn_acc x)
{
    return sn_map(twice_plus, sn_argmax(x));
}

/* Loops of the CPU alone: other devices take minutes to compile what they have in other tests. */
static void only_on_the_cpu(void)
{
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        skip();
}

/* One loop has rows of a small known length and what is made of their results. */
static void what_is_made_of_short_rows(void **state)
{
    (void)state;
    both("[n,5]T -> [n]i64", made_of_argmax, "i8", SMALL, 0, 1, 40, 700);
    only_on_the_cpu();
    both("[n,3]T -> [n]T, [n]T, [n]T, [n]T", made_of_short_rows, "f32 f64 i32", SMALL, 0, 1, 31, 33, 200, 1000);
    both("[n,16]T -> [n]T, [n]T, [n]T, [n]T", made_of_short_rows, "f32 f64 i64", SMALL, 0, 1, 31, 33, 200, 1000);
    both("[n,1]T -> [n]T", made_of_first, "f32 i16 u8", SMALL, 0, 1, 40, 700);
    both("[n,7]T -> [n]T", made_of_first, "f32 i16 u8", SMALL, 0, 1, 40, 700);
    both("[n,5]T -> [n]i64", made_of_argmax, "f32", SMALL, 0, 1, 40, 700);
    both("[n,3]T -> [n]T, [n]T, [n]T, [n]T", made_of_short_rows, "f32", MIXED, 100);
}

static sn_scalar nearly_all_ones(sn_scalar x)
{
    return sn_to_i64(sn_bit_or(sn_to_u8(x), 254));
}

static sn_scalar least_of_bytes(sn_scalar x)
{
    return sn_to_i64(sn_to_i8(sn_bit_or(sn_bit_and(sn_to_u8(x), 1), 128)));
}

static sn_scalar this_or_that(sn_scalar x)
{
    return sn_if(sn_gt(x, 1), sn_i64(255), sn_i64(-255));
}

static sn_scalar far_apart(sn_scalar x)
{
    return sn_if(sn_gt(x, 1), sn_i64(1000000000000), sn_i64(-3));
}

static sn_scalar without_sign(sn_scalar x)
{
    return sn_to_u64(sn_to_i8(x));
}

static sn_acc wide_sums(sn_acc x)
{
    return sn_results(sn_sum(sn_map(nearly_all_ones, x)), sn_fold(sn_add, 7, sn_map(least_of_bytes, x)),
                      sn_fold1(sn_add, sn_map(this_or_that, x)), sn_sum(sn_map(far_apart, x)),
                      sn_fold(sn_add, 3, sn_map(without_sign, x)), sn_sum(x));
}

static sn_acc wide_sums_of_columns(sn_acc x)
{
    return wide_sums(sn_transpose(x));
}

/* Sums in 64 bits of numbers that are known to be small: in blocks, of rows, of columns, of stencils. */
static void sums_of_small_numbers(void **state)
{
    (void)state;
    only_on_the_cpu();
    const char *whole = "[n,m]T -> [n]i64, [n]i64, [n]i64, [n]i64, [n]u64, [n]T",
               *columns = "[n,m]T -> [m]i64, [m]i64, [m]i64, [m]i64, [m]u64, [m]T";
    both(whole, wide_sums, "f32 i32", MIXED, 1, 1, 1, 4096, 1, 66000, 2, 140000, 40, 33, 35, 48, 33, 300, 3, 1000);
    both(whole, wide_sums, "i64", MIXED, 1, 70000, 40, 100);
    both(columns, wide_sums_of_columns, "f32 i32", MIXED, 1, 1, 40, 33, 5000, 17, 300, 64, 129, 100, 9000, 3);
}

/* Elements that mention one outer index, or the other, or neither. */
static sn_scalar of_planes(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    (void)j;
    return sn_add(x, sn_to_i32(sn_add(i, k)));
}

static sn_scalar of_lines(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    (void)i, (void)k;
    return sn_add(x, sn_to_i32(j));
}

static sn_acc planes(sn_acc x)
{
    return sn_results(sn_sum(sn_imap(of_planes, x)), sn_imap(of_planes, x));
}

static sn_acc lines(sn_acc x)
{
    return sn_results(sn_sum(sn_imap(of_lines, x)), sn_maximum(sn_imap(of_planes, x)));
}

static void elements_with_outer_indices(void **state)
{
    (void)state;
    both("[l,n,m]T -> [l,n]T, [l,n,m]T", planes, "i32", SMALL, 3, 4, 5, 1, 2, 33, 2, 3, 1000, 5, 7, 1);
    both("[l,n,m]T -> [l,n]T, [l,n]T", lines, "i32", SMALL, 3, 4, 5, 1, 2, 33, 2, 3, 1000, 5, 7, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_with_outer_indices),
        cmocka_unit_test(rows_of_all_lengths),
        cmocka_unit_test(sums_of_bytes),
        cmocka_unit_test(rows_of_tests),
        cmocka_unit_test(bits_do_not_depend_on_rows),
        cmocka_unit_test(large_rows_have_the_same_bits),
        cmocka_unit_test(ordered_bits_do_not_depend_on_rows),
        cmocka_unit_test(what_is_made_of_short_rows),
        cmocka_unit_test(sums_of_small_numbers),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
