/* Stencils that read no neighbours along the last dimensions: colour images, sound of several channels, paths of
 * points. On the CPU elements of these dimensions count as columns of the one before, if they are few. Against the
 * interpreter, at every boundary, and for images smaller than the pattern. */
#include "both.h"

#include <stdlib.h>
#include <string.h>

/* Sums of products, of which no two neighbours have the same factor. */
static sn_scalar weighed(sn_scalar s, int down, int across)
{
    sn_scalar sum = sn_at(s, 0, 0, 0);
    for (int i = 0; i < down * across; i++)
        sum = sn_add(sn_mul(sn_at(s, i / across - down / 2, i % across - across / 2, 0), i % 5 + 1), sum);
    return sum;
}

static sn_scalar small(sn_scalar s)
{
    return weighed(s, 3, 3);
}

static sn_scalar wide(sn_scalar s)
{
    return weighed(s, 3, 7);
}

static sn_scalar across(sn_scalar s)
{
    return weighed(s, 1, 5);
}

#define OF(name, f, pattern, boundary)                                                                                 \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_stencil(f, pattern, boundary, a);                                                                    \
    }

static sn_scalar position(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_sub(sn_mul(sn_add(sn_mul(i, 3), j), 5), c);
}

/* What lies outside fails in some places. */
static sn_scalar quotient(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_quot(sn_add(i, c), sn_add(j, 1));
}

OF(small_clamped, small, sn_pattern(3, 3, 1), sn_clamp)
OF(small_mirrored, small, sn_pattern(3, 3, 1), sn_mirror)
OF(small_wrapped, small, sn_pattern(3, 3, 1), sn_wrap)
OF(small_constant, small, sn_pattern(3, 3, 1), sn_constant(3))
OF(small_outside, small, sn_pattern(3, 3, 1), sn_outside(position))
OF(small_failing, small, sn_pattern(3, 3, 1), sn_outside(quotient))
OF(wide_clamped, wide, sn_pattern(3, 7, 1), sn_clamp)
OF(wide_mirrored, wide, sn_pattern(3, 7, 1), sn_mirror)
OF(wide_wrapped, wide, sn_pattern(3, 7, 1), sn_wrap)
OF(wide_constant, wide, sn_pattern(3, 7, 1), sn_constant(2))
OF(across_mirrored, across, sn_pattern(1, 5, 1), sn_mirror)

#define IMAGES                                                                                                         \
    0, 0, 0, 5, 5, 0, 0, 5, 3, 5, 0, 3, 1, 1, 1, 1, 1, 3, 2, 1, 3, 1, 2, 3, 3, 3, 2, 9, 4, 1, 3, 17, 4, 7, 33, 3, 6,   \
        21, 5, 4, 40, 7, 5, 19, 8, 5, 23, 11, 4, 17, 16, 3, 9, 17, 3, 5, 32, 2, 7, 45, 2, 5, 64, 2, 5, 65, 2, 3, 131

static void boundaries(void **state)
{
    (void)state;
    both("[h,w,c]T -> [h,w,c]T", small_clamped, "f32 u8 i64", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", small_mirrored, "f32 i16", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", small_wrapped, "f32 u8", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", small_constant, "f64 u8", SMALL, IMAGES);
    both("[h,w,c]i64 -> [h,w,c]i64", small_outside, NULL, SMALL, IMAGES);
    both("[h,w,c]i64 -> [h,w,c]i64", small_failing, NULL, SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", small_clamped, "f32", MIXED, 20, 100, 3);
}

static void far_neighbours(void **state)
{
    (void)state;
    both("[h,w,c]T -> [h,w,c]T", wide_clamped, "f32 u8", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", wide_mirrored, "f32 u8", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", wide_wrapped, "f32 i16", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", wide_constant, "f32 u8", SMALL, IMAGES);
    both("[h,w,c]T -> [h,w,c]T", across_mirrored, "f32 u8", SMALL, IMAGES);
}

static void known_channels(void **state)
{
    (void)state;
    both("[h,w,3]T -> [h,w,3]T", small_clamped, "f32 u8", SMALL, 0, 5, 5, 0, 1, 1, 9, 33, 70, 577, 3, 4001);
    both("[h,w,4]T -> [h,w,4]T", wide_wrapped, "f32 u8", SMALL, 1, 1, 2, 5, 9, 33, 70, 300);
    both("[h,w,1]T -> [h,w,1]T", small_mirrored, "f32", SMALL, 1, 1, 2, 5, 9, 33, 70, 300);
}

/* --- sound and paths: along the first of two dimensions --- */

static sn_scalar along(sn_scalar s, int taps)
{
    sn_scalar sum = sn_at(s, 0, 0);
    for (int i = 0; i < taps; i++)
        sum = sn_add(sn_mul(sn_at(s, i - taps / 2, 0), i % 5 + 1), sum);
    return sum;
}

static sn_scalar nine(sn_scalar s)
{
    return along(s, 9);
}

static sn_scalar three(sn_scalar s)
{
    return along(s, 3);
}

OF(nine_clamped, nine, sn_pattern(9, 1), sn_clamp)
OF(nine_wrapped, nine, sn_pattern(9, 1), sn_wrap)
OF(nine_mirrored, nine, sn_pattern(9, 1), sn_mirror)
OF(nine_constant, nine, sn_pattern(9, 1), sn_constant(1))
OF(three_clamped, three, sn_pattern(3, 1), sn_clamp)

/* A stencil of a stencil is kept row by row. */
static sn_acc twice(sn_acc a)
{
    return three_clamped(nine_clamped(a));
}

#define FRAMES                                                                                                         \
    0, 0, 0, 2, 5, 0, 1, 1, 1, 2, 3, 2, 7, 1, 9, 3, 64, 4, 100, 2, 129, 5, 70, 8, 33, 16, 50, 17, 40, 32, 40, 33, 30,  \
        100, 20000, 2, 3001, 7

static void sound(void **state)
{
    (void)state;
    both("[n,c]T -> [n,c]T", nine_clamped, "f32 i16", SMALL, FRAMES);
    both("[n,c]T -> [n,c]T", nine_wrapped, "f32 i16", SMALL, FRAMES);
    both("[n,c]T -> [n,c]T", nine_mirrored, "f32 u8", SMALL, FRAMES);
    both("[n,c]T -> [n,c]T", nine_constant, "f32 u8", SMALL, FRAMES);
    both("[n,c]T -> [n,c]T", three_clamped, "f32 i16", SMALL, FRAMES);
    both("[n,c]T -> [n,c]T", twice, "f32", SMALL, FRAMES);
    both("[n,3]T -> [n,3]T", nine_clamped, "f32", SMALL, 0, 1, 5, 8, 9, 1000, 70001);
}

/* --- several dimensions, several arrays, and what asks for indices --- */

static sn_scalar line(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0, 0);
    for (int i = 0; i < 5; i++)
        sum = sn_add(sn_mul(sn_at(s, i - 2, 0, 0), i + 1), sum);
    return sum;
}

OF(line_clamped, line, sn_pattern(5, 1, 1), sn_clamp)
OF(line_wrapped, line, sn_pattern(5, 1, 1), sn_wrap)

static sn_scalar of_both(sn_scalar a, sn_scalar b)
{
    return sn_sub(weighed(a, 3, 3), sn_mul(sn_at(b, 0, -1, 0), sn_at(b, 1, 0, 0)));
}

static sn_acc of_two(sn_acc a, sn_acc b)
{
    return sn_stencil2(of_both, sn_pattern(3, 3, 1), sn_clamp, a, sn_pattern(3, 3, 1), sn_constant(4), b);
}

/* One of them reads along the channels, too. */
static sn_scalar all_around(sn_scalar a, sn_scalar b)
{
    return sn_add(weighed(a, 3, 3), sn_mul(sn_at(b, 0, 0, -1), sn_at(b, 0, 1, 1)));
}

static sn_acc of_all_around(sn_acc a, sn_acc b)
{
    return sn_stencil2(all_around, sn_pattern(3, 3, 1), sn_clamp, a, sn_pattern(1, 3, 3), sn_wrap, b);
}

static sn_scalar with_index(sn_scalar i, sn_scalar j, sn_scalar c, sn_scalar x)
{
    return sn_add(x, sn_add(sn_mul(sn_add(sn_mul(i, 7), j), 11), c));
}

/* What is read is made of its index. */
static sn_acc of_indexed(sn_acc a)
{
    return sn_stencil(small, sn_pattern(3, 3, 1), sn_clamp, sn_imap(with_index, a));
}

/* What reads the result knows its index, and reads what belongs to a channel or to a pixel. */
static sn_scalar scaled(sn_scalar x, sn_scalar of_channel, sn_scalar of_pixel)
{
    return sn_add(sn_mul(x, of_channel), of_pixel);
}

static sn_acc of_pixels_and_channels(sn_acc a, sn_acc channel, sn_acc pixel)
{
    sn_scalar h = sn_extent(a, 0), w = sn_extent(a, 1), c = sn_extent(a, 2);
    sn_acc blurred = sn_stencil(small, sn_pattern(3, 3, 1), sn_mirror, a);
    return sn_imap(with_index, sn_zip_with(scaled, blurred, sn_replicate(channel, h, w, SN_ALL),
                                           sn_replicate(pixel, SN_ALL, SN_ALL, c)));
}

static void dimensions_and_arrays(void **state)
{
    (void)state;
    both("[n,2,3]T -> [n,2,3]T", line_clamped, "f32 u8", SMALL, 0, 1, 4, 33, 1000);
    both("[n,2,3]T -> [n,2,3]T", line_wrapped, "f32", SMALL, 0, 1, 4, 33, 1000);
    both("[n,m,3]T -> [n,m,3]T", line_clamped, "f32", SMALL, 0, 0, 1, 1, 9, 2, 70, 33);
    both("[n,m,c]T -> [n,m,c]T", line_clamped, "f32", SMALL, 0, 0, 0, 1, 1, 1, 9, 2, 3, 70, 33, 4);
    both("[h,w,c]T, [h,w,c]T -> [h,w,c]T", of_two, "f32 i32", SMALL, IMAGES);
    both("[h,w,c]T, [h,w,c]T -> [h,w,c]T", of_all_around, "i32", SMALL, IMAGES);
    both("[h,w,c]i64 -> [h,w,c]i64", of_indexed, NULL, SMALL, IMAGES);
    both("[h,w,c]i64, [c]i64, [h,w]i64 -> [h,w,c]i64", of_pixels_and_channels, NULL, SMALL, IMAGES);
}

/* Tiles beside each other that begin anywhere in a pixel, and bands below. */
static void large(void **state)
{
    (void)state;
    both("[h,w,c]f32 -> [h,w,c]f32", small_clamped, NULL, SMALL, 9, 3001, 3, 300, 77, 5, 12, 1025, 8);
    both("[h,w,c]u8 -> [h,w,c]u8", wide_mirrored, NULL, SMALL, 9, 3001, 3, 300, 77, 5, 12, 1025, 8);
}

/* Rows of one pixel after the other are read as they lie: without a division but for the row's number. */
static void no_index_is_divided(void **state)
{
    (void)state;
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        return;
    enum { H = 70, W = 70, C = 3 };
    static float in[H * W * C], out[H * W * C];
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[h,w,3]f32 -> [h,w,3]f32", SN_BODY(small_clamped));
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(in, H, W, C), sn_into(out, H, W, C)), SN_OK);
    const char *profile = sn_explain(p, "profile");
    assert_non_null(profile);
    assert_null(strstr(profile, "gathered"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries),
        cmocka_unit_test(far_neighbours),
        cmocka_unit_test(known_channels),
        cmocka_unit_test(sound),
        cmocka_unit_test(dimensions_and_arrays),
        cmocka_unit_test(large),
        cmocka_unit_test(no_index_is_divided),
    };
    return cmocka_run_group_tests_name("stencil_channels", tests, both_open, both_close);
}
