/* Stencils that read many rows: what they read is copied to kept rows first, and several rows are computed at once.
 * Against the interpreter, at every boundary and for arrays smaller than the pattern. */
#include "both.h"
#include "weigh.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 5, TALL = 9 };

static sn_scalar square(sn_scalar s)
{
    return weigh(s, SIDE, SIDE);
}

static sn_scalar tall(sn_scalar s)
{
    return weigh(s, TALL, 7);
}

static sn_scalar difference(sn_scalar a, sn_scalar b)
{
    return sn_sub(weigh(a, SIDE, SIDE), sn_mul(weigh(b, SIDE, 3), sn_at(b, 0, 0)));
}

/* Selects among what it reads: no sum. */
static sn_scalar ranked(sn_scalar s)
{
    sn_scalar most = sn_at(s, 0, 0);
    for (int i = 0; i < TALL * SIDE; i++) {
        sn_scalar x = sn_at(s, i / SIDE - TALL / 2, i % SIDE - SIDE / 2);
        most = sn_if(sn_gt(x, most), sn_sub(x, 1), most);
    }
    return most;
}

static sn_acc clamped(sn_acc a)
{
    return sn_stencil(square, sn_pattern(SIDE, SIDE), sn_clamp, a);
}

static sn_acc mirrored(sn_acc a)
{
    return sn_stencil(tall, sn_pattern(TALL, 7), sn_mirror, a);
}

static sn_acc wrapped(sn_acc a)
{
    return sn_stencil(tall, sn_pattern(TALL, 7), sn_wrap, a);
}

static sn_acc constant(sn_acc a)
{
    return sn_stencil(square, sn_pattern(SIDE, SIDE), sn_constant(3), a);
}

/* Where it reads outside: what only the border's elements may compute. */
static sn_scalar far_out(sn_scalar row, sn_scalar column)
{
    return sn_sub(sn_mul(row, 3), column);
}

static sn_acc outside(sn_acc a)
{
    return sn_stencil(tall, sn_pattern(TALL, 7), sn_outside(far_out), a);
}

static sn_acc tall_constant(sn_acc a)
{
    return sn_stencil(tall, sn_pattern(TALL, 7), sn_constant(2), a);
}

/* The number outside is an element that another loop computes. */
static sn_acc tall_of_sum(sn_acc a)
{
    return sn_stencil(tall, sn_pattern(TALL, 7), sn_constant(sn_the(sn_sum(sn_flatten(a)))), a);
}

/* Of all rows and columns outside, those far to the left fail; a pattern that is one column wide reads none of them. */
static sn_scalar fails_left(sn_scalar row, sn_scalar column)
{
    return sn_quot(row, sn_add(column, 1));
}

static sn_scalar middle(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0);
    for (int i = 0; i < 40; i++)
        sum = sn_add(sn_mul(sum, 3), sn_at(s, i % TALL - TALL / 2, i % 2));
    return sum;
}

static sn_acc failing_outside(sn_acc a)
{
    return sn_stencil(middle, sn_pattern(TALL, 3), sn_outside(fails_left), a);
}

/* One array, and what two boundaries say of it. */
static sn_acc of_one_twice(sn_acc a)
{
    return sn_stencil2(difference, sn_pattern(SIDE, SIDE), sn_wrap, a, sn_pattern(SIDE, 3), sn_constant(7), a);
}

static sn_acc of_one_twice_alike(sn_acc a)
{
    return sn_stencil2(difference, sn_pattern(SIDE, SIDE), sn_constant(7), a, sn_pattern(SIDE, 3), sn_constant(7), a);
}

static sn_acc of_two_others(sn_acc a, sn_acc b)
{
    return sn_stencil2(difference, sn_pattern(SIDE, SIDE), sn_constant(1), a, sn_pattern(SIDE, 3), sn_wrap, b);
}

static sn_acc largest(sn_acc a)
{
    return sn_stencil(ranked, sn_pattern(TALL, SIDE), sn_clamp, a);
}

static sn_acc of_two(sn_acc a, sn_acc b)
{
    return sn_stencil2(difference, sn_pattern(SIDE, SIDE), sn_clamp, a, sn_pattern(SIDE, 3), sn_mirror, b);
}

/* What is read is another loop's result, and read elementwise, too. */
static sn_acc of_forced(sn_acc a)
{
    sn_acc twice = sn_force(sn_zip_with(sn_add, a, a));
    return sn_results(clamped(twice), sn_zip_with(sn_mul, twice, a));
}

static sn_acc chained(sn_acc a)
{
    return sn_results(clamped(mirrored(a)), sn_stencil(square, sn_pattern(SIDE, SIDE), sn_clamp, a));
}

#define SIZES_2D                                                                                                       \
    0, 0, 0, 5, 5, 0, 1, 1, 1, 33, 33, 1, 3, 17, 4, 4, 5, 64, 6, 65, 17, 3, 9, 100, 33, 65, 64, 64, 70, 33, 130, 70,   \
        9, 1100

static void boundaries(void **state)
{
    (void)state;
    both("[h,w]T -> [h,w]T", clamped, "f32 f64 i32 u8", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", mirrored, "f32 i16", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", wrapped, "f32", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", constant, "f32 i64", SMALL, SIZES_2D);
    both("[h,w]i64 -> [h,w]i64", outside, NULL, SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", tall_constant, "f32 u8", SMALL, SIZES_2D);
    both("[h,w]i64 -> [h,w]i64", tall_of_sum, NULL, SMALL, SIZES_2D);
    both("[h,w]i64 -> [h,w]i64", failing_outside, NULL, SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", clamped, "f32", MIXED, 20, 100);
}

static void no_sums(void **state)
{
    (void)state;
    both("[h,w]T -> [h,w]T", largest, "f32 i32", SMALL, SIZES_2D);
}

static void several_arrays(void **state)
{
    (void)state;
    both("[h,w]T, [h,w]T -> [h,w]T", of_two, "f32 i32", SMALL, SIZES_2D);
    both("[h,w]T, [h,w]T -> [h,w]T", of_two_others, "f32 i16", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", of_one_twice, "i32", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T", of_one_twice_alike, "i32", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T, [h,w]T", of_forced, "f32", SMALL, SIZES_2D);
    both("[h,w]T -> [h,w]T, [h,w]T", chained, "f32", SMALL, SIZES_2D);
}

static sn_scalar across(sn_scalar s)
{
    return weigh(s, 1, TALL);
}

static sn_scalar small(sn_scalar s)
{
    return weigh(s, 3, 3);
}

static sn_acc across_clamped(sn_acc a)
{
    return sn_stencil(across, sn_pattern(1, TALL), sn_clamp, a);
}

static sn_acc small_mirrored(sn_acc a)
{
    return sn_stencil(small, sn_pattern(3, 3), sn_mirror, a);
}

static sn_acc small_wrapped(sn_acc a)
{
    return sn_stencil(small, sn_pattern(3, 3), sn_wrap, a);
}

static sn_acc small_constant(sn_acc a)
{
    return sn_zip_with(sn_add, a, sn_stencil(small, sn_pattern(3, 3), sn_constant(1), a));
}

#define NARROW SIZES_2D, 3, 15, 40, 16, 3, 31, 3, 32, 7, 47, 3, 127, 3, 128, 5, 129, 300, 33

/* Much of them is beside the edge, where rows of a block are done together, and a gang may go round several times. */
static void narrow_images(void **state)
{
    (void)state;
    both("[h,w]T -> [h,w]T", across_clamped, "f32 u8 f64", SMALL, NARROW);
    both("[h,w]T -> [h,w]T", small_mirrored, "f32 i16 u8", SMALL, NARROW);
    both("[h,w]T -> [h,w]T", small_wrapped, "f32 i16 u8", SMALL, NARROW);
    both("[h,w]T -> [h,w]T", small_constant, "f32 u8", SMALL, NARROW);
}

/* Tiles beside each other, and bands below. */
static void large(void **state)
{
    (void)state;
    both("[h,w]f32 -> [h,w]f32", clamped, NULL, SMALL, 12, 9001, 300, 77);
    both("[h,w]f32 -> [h,w]f32", wrapped, NULL, SMALL, 21, 9001, 300, 77);
    both("[h,w]i64 -> [h,w]i64", outside, NULL, SMALL, 21, 9001, 300, 77);
}

/* The copy is there: its rows are kept, and the program's array is read by nothing else. */
static void rows_are_copied(void **state)
{
    (void)state;
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        skip();
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[h,w]f32 -> [h,w]f32", SN_BODY(clamped));
    assert_non_null(p);
    const char *kernel_text = sn_explain(p, "kernels");
    assert_non_null(strstr(kernel_text, "shared @rows_a1"));
    assert_non_null(strstr(kernel_text, "load @input_a1"));
    const char *first = strstr(kernel_text, "load @rows_a1"); /* from here on */
    assert_non_null(first);
    assert_null(strstr(first, "load @input_a1"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries),     cmocka_unit_test(no_sums), cmocka_unit_test(narrow_images),
        cmocka_unit_test(several_arrays), cmocka_unit_test(large),   cmocka_unit_test(rows_are_copied),
    };
    return cmocka_run_group_tests_name("wide_stencils", tests, both_open, both_close);
}
