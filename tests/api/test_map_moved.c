/* Maps that read other elements along a dimension before the innermost ones: neighbours in pictures, borders, parts,
 * pictures side by side, larger and smaller ones. On the CPU few innermost elements are one run with that dimension, or
 * all of a lane's. Against the interpreter, failures included. */
#include "both.h"

#include <stdlib.h>
#include <string.h>

#define OF_SHAPE(name, f, shape)                                                                                       \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_generate(shape, sn_closure(f, &a));                                                                  \
    }
#define OF(name, f) OF_SHAPE(name, f, sn_shape_of(a))

static sn_scalar clamped(sn_scalar i, sn_scalar n)
{
    return sn_max(0, sn_min(i, sn_sub(n, 1)));
}

static sn_scalar clamped_from_below(sn_scalar i, sn_scalar n)
{
    return sn_min(sn_max(i, 0), sn_sub(n, 1));
}

/* The element so many rows and columns away, if it is there; else 7. */
static sn_scalar there(sn_acc x, sn_scalar i, sn_scalar j, sn_scalar c, int down, int across)
{
    sn_scalar y = sn_add(i, down), u = sn_add(j, across);
    sn_scalar inside =
        sn_and(sn_and(sn_ge(y, 0), sn_lt(y, sn_extent(x, 0))), sn_and(sn_ge(u, 0), sn_lt(u, sn_extent(x, 1))));
    return sn_if(inside, sn_index(x, y, u, c), 7);
}

static sn_scalar padded_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return there(*(sn_acc *)env, i, j, c, -2, -3);
}
OF_SHAPE(padded, padded_at, sn_shape(sn_add(sn_extent(a, 0), 4), sn_add(sn_extent(a, 1), 6), sn_extent(a, 2)))

static sn_scalar sides_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_add(sn_sub(there(x, i, j, c, 0, 1), there(x, i, j, c, 0, -1)),
                  sn_mul(sn_sub(there(x, i, j, c, 1, 0), there(x, i, j, c, -1, -2)), 3));
}
OF(sides, sides_at)

static sn_scalar slopes_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar across =
        sn_sub(sn_index(x, i, clamped(sn_add(j, 2), m), c), sn_index(x, i, clamped_from_below(sn_sub(j, 1), m), c));
    return sn_add(sn_mul(across, 3), sn_index(x, clamped(sn_sub(i, 1), n), j, c));
}
OF(slopes, slopes_at)

/* One column is another one's. */
static sn_scalar exchanged_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar last = sn_sub(sn_extent(x, 1), 1);
    return sn_if(sn_eq(j, last), sn_index(x, i, sn_sub(j, last), c),
                 sn_if(sn_ne(j, 4), sn_index(x, i, sn_add(j, 1), c), sn_index(x, i, 0, c)));
}
OF(exchanged, exchanged_at)

static sn_scalar turned_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar next = sn_add(j, 1);
    return sn_index(x, i, sn_if(sn_eq(next, sn_extent(x, 1)), 0, next), c);
}
OF(turned, turned_at)

static sn_scalar beside_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar m = sn_extent(in[0], 1);
    return sn_if(sn_lt(j, m), sn_index(in[0], i, j, c), sn_index(in[1], i, sn_sub(j, m), c));
}

static sn_acc beside(sn_acc a, sn_acc b)
{
    sn_acc in[] = {a, b};
    sn_scalar shape = sn_shape(sn_extent(a, 0), sn_add(sn_extent(a, 1), sn_extent(b, 1)), sn_extent(a, 2));
    return sn_generate(shape, sn_closure(beside_at, in));
}

/* Most are as wide as a few gangs, and some as several pieces. */
#define PICTURES                                                                                                       \
    0, 0, 0, 5, 5, 0, 0, 5, 3, 5, 0, 3, 1, 1, 1, 1, 1, 3, 2, 3, 2, 9, 4, 1, 3, 90, 3, 4, 300, 1, 2, 257, 4, 6, 60, 5,  \
        3, 17, 16, 2, 9, 33, 2, 5, 64, 2, 4, 65, 1, 6001, 3, 2, 1300, 7

static void borders(void **state)
{
    (void)state;
    both("[h,w,c]T -> [k,l,c]T", padded, "f32 u8 i64", SMALL, 0, 0, 0, 3, 1, 5, 9, 90, 3, 2, 100, 16);
    both("[h,w,3]T -> [k,l,3]T", padded, "u8 i16", SMALL, 3, 90, 5, 600, 1, 1);
    both("[h,w,c]T -> [h,w,c]T", sides, "f32 u8", SMALL, PICTURES);
    both("[h,w,4]T -> [h,w,4]T", sides, "f32 u8", SMALL, 0, 0, 1, 1, 3, 70, 2, 300, 1, 3000);
    both("[h,w,c]T -> [h,w,c]T", slopes, "f32 u8", SMALL, PICTURES);
    both("[h,w,2]T -> [h,w,2]T", slopes, "f64", SMALL, 0, 0, 1, 1, 3, 130, 2, 300, 1, 3000);
    both("[h,w,c]T -> [h,w,c]T", exchanged, "f32 u8", SMALL, PICTURES);
    both("[h,w,c]T -> [h,w,c]T", turned, "f32 u8", SMALL, PICTURES);
    both("[h,v,c]T, [h,w,c]T -> [h,m,c]T", beside, "f32 u8", SMALL, 2, 40, 3, 60, 2, 100, 3, 0, 2, 0, 3, 300, 3, 70, 5,
         90);
}

/* --- round and round --- */

static sn_scalar rolled_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar down = sn_index(x, sn_mod(sn_add(i, 5), n), j, c), back = sn_index(x, i, sn_mod(sn_sub(j, 3), m), c);
    return sn_sub(sn_mul(down, 3), back);
}
OF(rolled, rolled_at)

/* As many periods as there are, of a part of the extent; what is beside them is clamped, and told by their number. */
static sn_scalar periods_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar m = sn_extent(x, 1), third = sn_max(sn_quot(m, 3), 1), at = sn_add(j, 7);
    sn_scalar part = sn_index(x, i, sn_rem(at, third), c), number = sn_quot(at, third);
    return sn_add(sn_if(sn_eq(number, 2), part, sn_mul(part, 3)), sn_index(x, i, clamped(sn_sub(j, 2), m), c));
}
OF(periods, periods_at)

typedef struct rolling {
    sn_acc x;
    sn_scalar by;
} rolling;

static sn_scalar rolled_by_at(void *env, sn_scalar i, sn_scalar c)
{
    const rolling *r = env;
    return sn_index(r->x, sn_mod(sn_add(i, r->by), sn_extent(r->x, 0)), c);
}

static sn_acc rolled_by(sn_acc x, sn_acc by)
{
    rolling r = {x, sn_to_i64(sn_the(by))};
    return sn_generate(sn_shape_of(x), sn_closure(rolled_by_at, &r));
}

static void rounds(void **state)
{
    (void)state;
    both("[h,w,c]T -> [h,w,c]T", rolled, "f32 u8 i64", SMALL, PICTURES);
    both("[h,w,3]T -> [h,w,3]T", rolled, "u8 i16", SMALL, 0, 0, 1, 1, 3, 90, 7, 600, 2, 30, 1, 3000);
    both("[h,w,c]T -> [h,w,c]T", periods, "f32 u8", SMALL, PICTURES);
    both("[h,w,2]T -> [h,w,2]T", periods, "i32 u8", SMALL, 0, 0, 1, 1, 3, 130, 2, 300, 1, 3000);
    both("[n,c]T, T -> [n,c]T", rolled_by, "f32 i16", SMALL, 1, 3, 90, 33, 1000, 5, 4000, 2, 3000, 17, 0, 3, 6001, 64);
}

/* --- checked reads: some of them fail --- */

static sn_scalar step_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, sn_add(i, 1), c), sn_index(x, i, c));
}
OF(steps_too_many, step_at)
OF_SHAPE(steps, step_at, sn_shape(sn_sub(sn_extent(a, 0), 1), sn_extent(a, 1)))

static sn_scalar echo_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar before = sn_sub(i, 40);
    return sn_add(sn_index(x, i, c), sn_if(sn_ge(before, 0), sn_mul(sn_index(x, before, c), 3), 0));
}
OF(echo, echo_at)

static sn_scalar part_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, sn_add(i, 1), sn_add(j, 2), c);
}
OF(part_too_large, part_at)
OF_SHAPE(part, part_at, sn_shape(sn_sub(sn_extent(a, 0), 1), sn_sub(sn_extent(a, 1), 2), sn_extent(a, 2)))

static sn_scalar before_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, i, sn_sub(j, 1), c);
}
OF(before_first, before_at)

/* So far away that the position of the run would wrap. */
static sn_scalar far_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, i, sn_add(j, sn_i64((int64_t)1 << 62)), c);
}
OF(far, far_at)

static void checked_reads(void **state)
{
    (void)state;
    both("[n,c]T -> [k,c]T", steps, "f32 u8", SMALL, 1, 3, 2, 3, 400, 3, 100, 7, 7000, 2);
    both("[n,3]T -> [k,3]T", steps, "f32 i16", SMALL, 1, 2, 400, 7000);
    both("[n,c]T -> [n,c]T", steps_too_many, "f32", SMALL, 0, 3, 1, 3, 400, 3, 100, 7, 7000, 2);
    both("[n,c]T -> [n,c]T", echo, "f32 u8", SMALL, 0, 3, 1, 3, 400, 3, 100, 7, 7000, 2, 300, 1);
    both("[h,w,c]T -> [k,l,c]T", part, "f32 u8", SMALL, 1, 2, 3, 2, 3, 4, 5, 102, 3);
    both("[h,w,c]T -> [h,w,c]T", part_too_large, "f32", SMALL, PICTURES);
    both("[h,w,c]T -> [h,w,c]T", before_first, "f32", SMALL, PICTURES);
    both("[h,w,c]T -> [h,w,c]T", far, "f32", SMALL, 3, 90, 3, 2, 100, 4, 2, 300, 1, 0, 5, 3);
}

/* --- several dimensions behind, and reads that are no run --- */

static sn_scalar of_four_at(void *env, sn_scalar i, sn_scalar j, sn_scalar a, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_add(sn_index(x, i, clamped(sn_add(j, 1), sn_extent(x, 1)), a, c), sn_index(x, i, j, a, c));
}
OF(of_four, of_four_at)

static sn_scalar of_channel_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    return sn_mul(there(in[0], i, j, c, 1, 1), sn_index(in[1], c));
}

static sn_acc of_channel(sn_acc a, sn_acc channel)
{
    sn_acc in[] = {a, channel};
    return sn_generate(sn_shape_of(a), sn_closure(of_channel_at, in));
}

static sn_scalar of_row_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    return sn_add(there(in[0], i, j, c, 0, 1), sn_index(in[1], i));
}

static sn_acc of_row(sn_acc a, sn_acc row)
{
    sn_acc in[] = {a, row};
    return sn_generate(sn_shape_of(a), sn_closure(of_row_at, in));
}

static sn_scalar gradient_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar down = sn_sub(sn_index(x, clamped(sn_add(i, 1), n), j), sn_index(x, clamped(sn_sub(i, 1), n), j));
    sn_scalar across = sn_sub(sn_index(x, i, clamped(sn_add(j, 1), m)), sn_index(x, i, clamped(sn_sub(j, 1), m)));
    return sn_if(sn_eq(c, 0), down, across);
}
OF_SHAPE(gradient, gradient_at, sn_shape(sn_extent(a, 0), sn_extent(a, 1), 2))

static sn_scalar divergence_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar m = sn_extent(x, 1);
    sn_scalar next = sn_index(x, i, clamped(sn_add(j, 3), m), 1);
    return sn_sub(next, sn_index(x, i, clamped_from_below(sn_sub(j, 2), m), 0));
}
OF_SHAPE(divergence, divergence_at, sn_shape(sn_extent(a, 0), sn_extent(a, 1)))

static void dimensions_and_arrays(void **state)
{
    (void)state;
    both("[n,m,a,b]T -> [n,m,a,b]T", of_four, "f32 u8", SMALL, 0, 0, 0, 0, 1, 1, 1, 1, 2, 50, 3, 2, 3, 90, 1, 3, 2, 9,
         8, 8, 1, 30, 5, 3);
    both("[n,m,2,3]T -> [n,m,2,3]T", of_four, "f32", SMALL, 0, 0, 1, 1, 2, 50, 3, 300, 1, 2000);
    both("[h,w,c]T, [c]T -> [h,w,c]T", of_channel, "f32", SMALL, PICTURES);
    both("[h,w,c]T, [h]T -> [h,w,c]T", of_row, "f32 u8", SMALL, PICTURES);
    both("[n,m]T -> [n,m,2]T", gradient, "f32 u8", SMALL, 0, 0, 1, 1, 1, 5, 3, 70, 2, 300, 3, 1000);
    both("[n,m,2]T -> [n,m]T", divergence, "f32 u8 f64", SMALL, 0, 0, 1, 1, 1, 5, 3, 70, 2, 300, 3, 1000);
}

/* Rows of several gangs, and of less than one, of images that are large enough for a kernel of their own. */
static sn_scalar filtered_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar n = sn_extent(in[0], 0), m = sn_extent(in[0], 1), sum = sn_index(in[1], 0, 0, c);
    for (int k = 0; k < 9; k++) {
        sn_scalar y = sn_add(i, k / 3 - 1), u = sn_add(j, k % 3 - 1);
        sn_scalar inside = sn_and(sn_and(sn_ge(y, 0), sn_lt(y, n)), sn_and(sn_ge(u, 0), sn_lt(u, m)));
        sn_scalar x = sn_index(in[0], clamped(y, n), clamped(u, m), c);
        sum = sn_add(sum, sn_mul(sn_if(inside, x, 3), sn_index(in[1], k / 3, k % 3, c)));
    }
    return sum;
}

static sn_acc filtered(sn_acc a, sn_acc weights)
{
    sn_acc in[] = {a, weights};
    return sn_generate(sn_shape_of(a), sn_closure(filtered_at, in));
}

static sn_scalar of_one_row_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar x = sn_if(sn_eq(j, 2), sn_index(in[0], i, 0, c), there(in[0], i, j, c, 1, -1));
    return sn_mul(x, sn_index(in[1], c));
}

static sn_acc of_one_row(sn_acc a, sn_acc channel)
{
    sn_acc in[] = {a, channel};
    return sn_generate(sn_shape_of(a), sn_closure(of_one_row_at, in));
}

#define FEATURES 9, 33, 16, 30, 40, 10, 5, 40, 33, 700, 1, 16, 300, 2, 17, 1, 300, 20, 90, 3, 45, 3, 9, 700, 40, 21, 6

static void features(void **state)
{
    (void)state;
    both("[h,w,c]T, [3,3,c]T -> [h,w,c]T", filtered, "f32 u8", SMALL, FEATURES);
    both("[h,w,c]T, [c]T -> [h,w,c]T", of_one_row, "f32 u8 f64", SMALL, FEATURES);
    both("[h,w,16]T, [16]T -> [h,w,16]T", of_one_row, "f32", SMALL, 9, 33, 70, 11, 300, 2, 300, 1);
}

/* --- larger and smaller pictures --- */

static sn_scalar twice_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, sn_quot(i, 2), sn_quot(j, 2), c);
}
OF_SHAPE(twice, twice_at, sn_shape(sn_mul(sn_extent(a, 0), 2), sn_mul(sn_extent(a, 1), 2), sn_extent(a, 2)))

static sn_scalar four_times_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar other = sn_index(x, i, 0, sn_sub(sn_sub(sn_extent(x, 2), 1), c));
    sn_scalar chosen = sn_eq(sn_add(sn_rem(j, 4), sn_mod(j, 2)), 2);
    return sn_sub(sn_index(x, i, sn_quot(j, 4), c), sn_if(chosen, other, sn_mul(other, 2)));
}
OF_SHAPE(four_times, four_times_at, sn_shape(sn_extent(a, 0), sn_mul(sn_extent(a, 1), 4), sn_extent(a, 2)))

static sn_scalar frames_at(void *env, sn_scalar i, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, sn_div(i, 3), c);
}
OF_SHAPE(frames, frames_at, sn_shape(sn_mul(sn_extent(a, 0), 3), sn_extent(a, 1)))

static sn_scalar half_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar y = sn_mul(i, 2), u = sn_mul(j, 2);
    return sn_add(sn_sub(sn_index(x, y, u, c), sn_index(x, y, sn_add(u, 1), c)),
                  sn_mul(sn_index(x, sn_add(y, 1), u, c), 3));
}
OF_SHAPE(half, half_at, sn_shape(sn_quot(sn_extent(a, 0), 2), sn_quot(sn_extent(a, 1), 2), sn_extent(a, 2)))
OF(half_too_large, half_at)

static void sizes(void **state)
{
    (void)state;
    both("[h,w,3]T -> [k,l,3]T", twice, "u8 f32 f64", SMALL, 0, 0, 1, 1, 3, 7, 5, 333);
    both("[h,w,2]T -> [k,l,2]T", twice, "u8 f32", SMALL, 1, 1, 3, 7, 5, 333);
    both("[h,w,4]T -> [k,l,4]T", twice, "u8 i16", SMALL, 1, 1, 3, 7, 5, 333);
    both("[h,w,1]T -> [k,l,1]T", twice, "u8 f32", SMALL, 1, 1, 3, 7, 5, 333);
    both("[h,w,c]T -> [k,l,c]T", twice, "u8 f32", SMALL, 1, 1, 0, 3, 7, 2, 5, 333, 3);
    both("[h,w,2]T -> [h,l,2]T", four_times, "u8 f32", SMALL, 1, 1, 3, 7, 5, 333);
    both("[h,w,3]T -> [h,l,3]T", four_times, "f32 u8", SMALL, 1, 1, 3, 7, 5, 333);
    both("[n,2]T -> [k,2]T", frames, "i16 f32", SMALL, 0, 1, 5, 1111, 7001);
    both("[n,5]T -> [k,5]T", frames, "i16 f32", SMALL, 0, 1, 5, 1111);
    both("[h,w,c]T -> [k,l,c]T", half, "f32 u8", SMALL, 0, 0, 0, 3, 3, 3, 31, 200, 3, 20, 300, 2, 90, 90, 4, 40, 80, 8,
         30, 90, 16, 30, 90, 10);
    both("[h,w,c]T -> [h,w,c]T", half_too_large, "f32", SMALL, 31, 200, 3, 90, 90, 2, 40, 80, 8, 30, 90, 16);
}

static sn_scalar every_second_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_index(*(sn_acc *)env, i, sn_mul(j, 2), c);
}
OF(every_second, every_second_at)

static void says_of(sn_context *cx, sn_body body, int64_t channels, char *message, size_t size)
{
    enum { H = 10, W = 90, MOST = 16 };
    static float in[H * W * MOST], out[H * W * MOST];
    sn_program *p = sn_compile_at(SN_HERE, cx, "[h,w,c]f32 -> [h,w,c]f32", body);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(in, H, W, channels), sn_into(out, H, W, channels)), SN_OUT_OF_RANGE);
    strncpy(message, sn_message(cx), size - 1);
    sn_drop(p);
}

/* The same element of the result, the same index and the same extent. */
static void says_where(void **state)
{
    (void)state;
    sn_body body[] = {SN_BODY(part_too_large), SN_BODY(before_first), SN_BODY(far), SN_BODY(every_second)};
    for (size_t i = 0; i < 2 * sizeof body / sizeof *body; i++) {
        const int64_t channels = i % 2 ? 16 : 3;
        char cpu[1000] = "", interpreter[1000] = "";
        says_of(both_cpu(), body[i / 2], channels, cpu, sizeof cpu);
        says_of(both_interpreter(), body[i / 2], channels, interpreter, sizeof interpreter);
        assert_string_equal(cpu, interpreter);
    }
}

/* What is read moved lies as it does where the loop is. */
static void no_index_is_divided(void **state)
{
    (void)state;
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        skip();
    enum { N = 700, C = 3 };
    static float in[N * C], out[(N - 1) * C];
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n,c]f32 -> [k,c]f32", SN_BODY(steps));
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(in, N, C), sn_into(out, N - 1, C)), SN_OK);
    const char *kernels = sn_explain(p, "kernels");
    assert_non_null(kernels);
    assert_non_null(strstr(kernels, "kernel map_moved"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders),
        cmocka_unit_test(rounds),
        cmocka_unit_test(checked_reads),
        cmocka_unit_test(says_where),
        cmocka_unit_test(dimensions_and_arrays),
        cmocka_unit_test(features),
        cmocka_unit_test(sizes),
        cmocka_unit_test(no_index_is_divided),
    };
    return cmocka_run_group_tests_name("map_moved", tests, both_open, both_close);
}
