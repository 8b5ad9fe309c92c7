/* Stencils at both ends of rows, which are done in whole gangs where a row has columns enough: against the interpreter,
 * at every boundary, for rows around one and two gangs of any type, alone, fused, and with others in a chain. */
#include "both.h"

static sn_scalar outer(sn_scalar s, int sides)
{
    sn_scalar sum = sn_at(s, 0, 0);
    for (int i = 1; i <= sides; i++)
        sum = sn_add(sn_mul(sum, 3), sn_sub(sn_at(s, 0, i), sn_mul(sn_at(s, 0, -i), i + 1)));
    return sum;
}

static sn_scalar nine(sn_scalar s)
{
    return outer(s, 4);
}

static sn_scalar to_the_left(sn_scalar s)
{
    return sn_sub(sn_at(s, 0, -2), sn_at(s, 0, 0));
}

static sn_scalar cross(sn_scalar s)
{
    sn_scalar sum = sn_mul(sn_at(s, 0, 0), 5);
    for (int i = -1; i <= 1; i += 2)
        sum = sn_add(sum, sn_sub(sn_mul(sn_at(s, i, 0), 3), sn_at(s, 0, i)));
    return sum;
}

static sn_scalar line(sn_scalar s)
{
    return sn_add(sn_sub(sn_at(s, -3), sn_mul(sn_at(s, 0), 2)), sn_at(s, 2));
}

static sn_scalar seven(sn_scalar s)
{
    sn_scalar sum = sn_mul(sn_at(s, 0, 0, 0), 2);
    for (int i = -1; i <= 1; i += 2)
        sum =
            sn_add(sum, sn_add(sn_mul(sn_at(s, i, 0, 0), 3), sn_sub(sn_mul(sn_at(s, 0, i, 0), 5), sn_at(s, 0, 0, i))));
    return sum;
}

static sn_scalar corners(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0, 0);
    for (int i = 0; i < 8; i++)
        sum = sn_add(sum, sn_mul(sn_at(s, i / 4 * 2 - 1, i / 2 % 2 * 2 - 1, i % 2 * 4 - 2), i));
    return sum;
}

static sn_scalar both_of(sn_scalar a, sn_scalar b)
{
    return sn_sub(nine(a), sn_mul(cross(b), 2));
}

static sn_scalar far_out(sn_scalar row, sn_scalar column)
{
    return sn_sub(sn_mul(row, 3), column);
}

static sn_scalar far_out_3(sn_scalar plane, sn_scalar row, sn_scalar column)
{
    return sn_sub(sn_add(plane, sn_mul(row, 3)), column);
}

/* The elements outside fail, but for those just right of a row. */
static sn_scalar fails(sn_scalar row, sn_scalar column)
{
    return sn_quot(row, sn_add(column, 1));
}

static sn_scalar squared(sn_scalar x)
{
    return sn_sub(sn_mul(x, x), 1);
}

#define AT_EACH_BOUNDARY(name, f, pattern, FAR_OUT)                                                                    \
    static sn_acc name##_clamp(sn_acc a)                                                                               \
    {                                                                                                                  \
        return sn_stencil(f, pattern, sn_clamp, a);                                                                    \
    }                                                                                                                  \
    static sn_acc name##_mirror(sn_acc a)                                                                              \
    {                                                                                                                  \
        return sn_stencil(f, pattern, sn_mirror, a);                                                                   \
    }                                                                                                                  \
    static sn_acc name##_wrap(sn_acc a)                                                                                \
    {                                                                                                                  \
        return sn_stencil(f, pattern, sn_wrap, a);                                                                     \
    }                                                                                                                  \
    static sn_acc name##_constant(sn_acc a)                                                                            \
    {                                                                                                                  \
        return sn_stencil(f, pattern, sn_constant(3), a);                                                              \
    }                                                                                                                  \
    static sn_acc name##_outside(sn_acc a)                                                                             \
    {                                                                                                                  \
        return sn_stencil(f, pattern, sn_outside(FAR_OUT), a);                                                         \
    }

AT_EACH_BOUNDARY(nine, nine, sn_pattern(1, 9), far_out)
AT_EACH_BOUNDARY(cross, cross, sn_pattern(3, 3), far_out)
AT_EACH_BOUNDARY(seven, seven, sn_pattern(3, 3, 3), far_out_3)
AT_EACH_BOUNDARY(corners, corners, sn_pattern(3, 3, 5), far_out_3)

#define WIDTHS(h)                                                                                                      \
    h, 0, h, 1, h, 2, h, 3, h, 4, h, 5, h, 6, h, 7, h, 8, h, 9, h, 10, h, 12, h, 13, h, 15, h, 16, h, 17, h, 19, h,    \
        20, h, 24, h, 31, h, 32, h, 33, h, 35, h, 36, h, 40, h, 47, h, 48, h, 63, h, 64, h, 65, h, 68, h, 72, h, 96,   \
        h, 127, h, 128, h, 129, h, 132, h, 200
#define BOXES                                                                                                          \
    0, 3, 9, 1, 1, 1, 2, 9, 4, 1, 8, 5, 2, 5, 7, 2, 6, 8, 2, 4, 10, 1, 2, 40, 2, 1, 33, 3, 3, 16, 2, 5, 17, 3, 2, 18,  \
        2, 3, 32, 3, 4, 33, 2, 2, 34, 3, 5, 64, 2, 3, 66, 2, 4, 100, 2, 3, 129, 3, 2, 140

static void rows(void **state)
{
    (void)state;
    both("[h,w]T -> [h,w]T", nine_clamp, "f32 f64 u8", SMALL, WIDTHS(5));
    both("[h,w]T -> [h,w]T", nine_mirror, "f32 i64 i16", SMALL, WIDTHS(5));
    both("[h,w]T -> [h,w]T", nine_wrap, "f32 f64 u8", SMALL, WIDTHS(3));
    both("[h,w]T -> [h,w]T", nine_constant, "f32 i64 u8", SMALL, WIDTHS(4));
    both("[h,w]i64 -> [h,w]i64", nine_outside, NULL, SMALL, WIDTHS(3));
    both("[h,w]T -> [h,w]T", nine_clamp, "f32", MIXED, 6, 33, 6, 100, 5, 300);
}

static void crosses(void **state)
{
    (void)state;
    both("[h,w]T -> [h,w]T", cross_clamp, "f32 f64 u8", SMALL, WIDTHS(9));
    both("[h,w]T -> [h,w]T", cross_mirror, "f32 i16", SMALL, WIDTHS(9));
    both("[h,w]T -> [h,w]T", cross_wrap, "f64 i32", SMALL, WIDTHS(6));
    both("[h,w]T -> [h,w]T", cross_constant, "f32 u8", SMALL, WIDTHS(9));
    both("[h,w]i64 -> [h,w]i64", cross_outside, NULL, SMALL, WIDTHS(6));
}

static void volumes(void **state)
{
    (void)state;
    both("[n,h,w]T -> [n,h,w]T", seven_clamp, "f32 f64 u8", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", seven_mirror, "f32 f64 i16", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", seven_wrap, "f32 f64 i32", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", seven_constant, "f32 f64 u8", SMALL, BOXES);
    both("[n,h,w]i64 -> [n,h,w]i64", seven_outside, NULL, SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", corners_clamp, "f32 f64", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", corners_mirror, "f32 i32", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", corners_wrap, "f32 f64", SMALL, BOXES);
    both("[n,h,w]T -> [n,h,w]T", corners_constant, "f32 u8", SMALL, BOXES);
    both("[n,h,w]i64 -> [n,h,w]i64", corners_outside, NULL, SMALL, BOXES);
}

static sn_acc lines(sn_acc a)
{
    return sn_results(sn_stencil(line, sn_pattern(7), sn_mirror, a), sn_stencil(line, sn_pattern(7), sn_wrap, a),
                      sn_stencil(line, sn_pattern(7), sn_constant(2), a));
}

static sn_acc left_alone(sn_acc a)
{
    return sn_stencil(to_the_left, sn_pattern(1, 5), sn_mirror, a);
}

static sn_acc of_computed(sn_acc a)
{
    return sn_stencil(nine, sn_pattern(1, 9), sn_wrap, sn_map(squared, a));
}

static sn_acc of_reversed(sn_acc a)
{
    return sn_stencil(nine, sn_pattern(1, 9), sn_clamp, sn_reverse(a));
}

static sn_acc of_two(sn_acc a, sn_acc b)
{
    return sn_stencil2(both_of, sn_pattern(1, 9), sn_mirror, a, sn_pattern(3, 3), sn_constant(1), b);
}

static sn_acc chain(sn_acc a)
{
    return sn_results(nine_clamp(cross_mirror(a)), cross_wrap(a));
}

static sn_acc long_chain(sn_acc a)
{
    return nine_mirror(cross_constant(sn_map(squared, cross_clamp(nine_clamp(a)))));
}

static sn_acc fused_twice(sn_acc a)
{
    return sn_stencil(to_the_left, sn_pattern(1, 5), sn_clamp, sn_fuse(nine_mirror(a)));
}

static sn_acc may_fail(sn_acc a)
{
    return sn_stencil(nine, sn_pattern(1, 9), sn_outside(fails), a);
}

static void programs(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T", lines, "f32 f64 u8", SMALL, SIZES);
    both("[h,w]T -> [h,w]T", left_alone, "f32 u8", SMALL, WIDTHS(3));
    both("[h,w]T -> [h,w]T", of_computed, "f32 i64", SMALL, WIDTHS(5));
    both("[h,w]T -> [h,w]T", of_reversed, "f32", SMALL, WIDTHS(5));
    both("[h,w]T, [h,w]T -> [h,w]T", of_two, "f32 f64", SMALL, WIDTHS(5));
    both("[h,w]T -> [h,w]T, [h,w]T", chain, "f32 f64 i16", SMALL, WIDTHS(9));
    both("[h,w]T -> [h,w]T", long_chain, "i32 f64", SMALL, WIDTHS(9));
    both("[h,w]T -> [h,w]T", fused_twice, "f32", SMALL, WIDTHS(4));
    both("[h,w]i64 -> [h,w]i64", may_fail, NULL, SMALL, 4, 33, 4, 200);
}

/* Tiles of long rows, the last one of them of few columns. */
static void tiles(void **state)
{
    (void)state;
    both("[h,w]f32 -> [h,w]f32", nine_clamp, NULL, SMALL, 3, 8191, 2, 8193, 2, 8200, 2, 1025, 2, 2050, 3, 16401);
    both("[h,w]f32 -> [h,w]f32, [h,w]f32", chain, NULL, SMALL, 7, 4097, 6, 4099, 3, 1026, 6, 4128, 5, 8230);
    both("[h,w]f32 -> [h,w]f32", long_chain, NULL, SMALL, 7, 4097, 6, 4099, 3, 1026, 3, 1030, 6, 4140);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),     cmocka_unit_test(crosses), cmocka_unit_test(volumes),
        cmocka_unit_test(programs), cmocka_unit_test(tiles),
    };
    return cmocka_run_group_tests_name("row_ends", tests, both_open, both_close);
}
