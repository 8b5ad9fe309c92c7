/* Elements whose innermost dimensions are a few known components, each made in its own way of what all of them share:
 * pixels, vectors, small matrices. On the CPU a lane has all of them. Against the interpreter, failures included. */
#include "both.h"

#define OF_SHAPE(name, f, shape)                                                                                       \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_generate(shape, sn_closure(f, &a));                                                                  \
    }

static sn_scalar one_of(sn_scalar c, int n, const sn_scalar *v)
{
    sn_scalar one = v[n - 1];
    for (int k = n - 1; k-- > 0;)
        one = sn_if(sn_eq(c, k), v[k], one);
    return one;
}

/* Mirrored at both ends without a comparison. */
static sn_scalar mirrored(sn_scalar i, sn_scalar n)
{
    sn_scalar last = sn_sub(n, 1);
    return sn_sub(last, sn_abs(sn_sub(last, sn_abs(i))));
}

static sn_scalar around_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), here = sn_index(x, i, j);
    sn_scalar across = sn_add(sn_index(x, i, mirrored(sn_sub(j, 1), m)), sn_index(x, i, mirrored(sn_add(j, 1), m)));
    sn_scalar down = sn_add(sn_index(x, mirrored(sn_sub(i, 1), n), j), sn_index(x, mirrored(sn_add(i, 1), n), j));
    sn_scalar odd = sn_eq(sn_rem(j, 2), 1);
    return one_of(c, 3, (sn_scalar[]){sn_if(odd, across, here), sn_sub(down, across), sn_if(odd, here, down)});
}
OF_SHAPE(around, around_at, sn_shape(sn_extent(a, 0), sn_extent(a, 1), 3))

static sn_scalar mirrored_row_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar m = sn_extent(x, 1);
    return sn_sub(sn_index(x, i, mirrored(sn_sub(j, 2), m)), sn_index(x, i, sn_abs(sn_sub(j, sn_quot(m, 2)))));
}
OF_SHAPE(mirrored_rows, mirrored_row_at, sn_shape_of(a))

static sn_scalar mirrored_pixel_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, i, mirrored(sn_sub(j, 1), sn_extent(x, 1)), c), sn_index(x, i, sn_abs(sn_sub(j, 1)), c));
}
OF_SHAPE(mirrored_pixels, mirrored_pixel_at, sn_shape_of(a))

static void reflections(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m,3]T", around, "u8 u16 f32 i64", MIXED, MATRICES, 3, 2, 40, 577, 200, 33);
    both("[n,m]T -> [n,m]T", mirrored_rows, "u8 i32 f64", MIXED, MATRICES, 3, 2, 40, 577, 200, 33);
    both("[n,m,3]T -> [n,m,3]T", mirrored_pixels, "u8 f32", MIXED, MATRICES, 3, 2, 40, 577, 200, 33);
    both("[n,m,k]T -> [n,m,k]T", mirrored_pixels, "i16 f32", MIXED, 5, 100, 4, 300, 2, 3, 70, 200, 9, 2, 700, 16);
}

/* Two neighbours share what is half as large. */
static sn_scalar halved_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar y = sn_index(in[0], i, j), k = sn_quot(i, 2), l = sn_quot(j, 2);
    sn_scalar u = sn_index(in[1], k, l), v = sn_index(in[2], k, l);
    return one_of(c, 3, (sn_scalar[]){sn_sub(y, v), sn_add(sn_mul(y, 3), sn_mul(u, v)), sn_max(y, sn_sub(u, v))});
}

static sn_acc halved(sn_acc y, sn_acc u, sn_acc v)
{
    sn_acc in[] = {y, u, v};
    return sn_generate(sn_shape(sn_extent(y, 0), sn_extent(y, 1), 3), sn_closure(halved_at, in));
}

static void halves(void **state)
{
    (void)state;
    both("[n,m]T, [h,w]T, [h,w]T -> [n,m,3]T", halved, "u8 i16 f32 f64", MIXED, 2, 2, 1, 1, 7, 33, 4, 17, 40, 578, 20,
         289, 300, 64, 150, 32, 4, 64, 2, 31);
}

/* Each component comes from a cell of its own around a torus. */
static sn_scalar upstream(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar dy = sn_sub(sn_quot(c, 3), 1), dx = sn_sub(sn_rem(c, 3), 1);
    return sn_tuple(sn_mod(sn_sub(i, dy), sn_extent(x, 0)), sn_mod(sn_sub(j, dx), sn_extent(x, 1)), c);
}

static sn_acc streamed(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), sn_closure(upstream, &x), x);
}

/* The sum and a moment of all nine in each of them. */
static sn_scalar relaxed_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar sum = sn_index(x, i, j, 0), moment = sum;
    for (int k = 1; k < 9; k++) {
        sn_scalar v = sn_index(x, i, j, k);
        sum = sn_add(sum, v);
        moment = sn_add(sn_mul(moment, 3), v);
    }
    sn_scalar side = sn_if(sn_eq(sn_rem(c, 3), 1), sum, moment);
    return sn_sub(sn_add(side, sn_index(x, i, j, c)), sn_if(sn_lt(sn_quot(c, 3), 1), moment, sum));
}
OF_SHAPE(relaxed, relaxed_at, sn_shape_of(a))

static void cells(void **state)
{
    (void)state;
    both("[n,m,9]T -> [n,m,9]T", streamed, "u8 i32 f32 f64", MIXED, 0, 5, 1, 1, 3, 33, 70, 100, 300, 16, 5, 577);
    both("[n,m,9]T -> [n,m,9]T", relaxed, "u8 i32 f32 f64", MIXED, 0, 5, 1, 1, 3, 33, 70, 100, 300, 16, 5, 577);
    both("[n,m,k]T -> [n,m,k]T", relaxed, "i32 f32", MIXED, 70, 100, 9, 3, 33, 9, 5, 40, 8);
}

/* Places that lie apart: turned pictures, rows that are named, and tables. */
static sn_scalar turned_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_sub(sn_sub(sn_extent(x, 0), 1), j), i, c);
}
OF_SHAPE(turned, turned_at, sn_shape(sn_extent(a, 1), sn_extent(a, 0), 3))

static sn_scalar named_at(void *env, sn_scalar i, sn_scalar c)
{
    const sn_acc *in = env;
    return sn_index(in[1], sn_sub(sn_mul(sn_index(in[0], i), 2), sn_index(in[0], i)), c);
}

static sn_acc named(sn_acc index, sn_acc x)
{
    sn_acc in[] = {index, x};
    return sn_generate(sn_shape(sn_extent(index, 0), 3), sn_closure(named_at, in));
}

static sn_scalar looked_up_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar sum = sn_index(in[1], sn_index(in[0], sn_mul(i, 2), sn_mul(j, 2), c));
    return sn_add(sum, sn_index(in[1], sn_index(in[0], sn_mul(i, 2), sn_add(sn_mul(j, 2), 1), c)));
}

static sn_acc looked_up(sn_acc x, sn_acc table)
{
    sn_acc in[] = {x, table};
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2), 3);
    return sn_generate(shape, sn_closure(looked_up_at, in));
}

static void places_apart(void **state)
{
    (void)state;
    both("[n,m,3]T -> [m,n,3]T", turned, "u8 u16 f32 f64", MIXED, MATRICES, 3, 2, 40, 577, 577, 40);
    both("[m]i64, [m,3]T -> [m,3]T", named, "u8 f32 f64", INDICES, 1, 3, 33, 1000, 4099);
    both("[n,m,3]u8, [256]T -> [h,w,3]T", looked_up, "u8 u16 f32", MIXED, 2, 2, 0, 0, 7, 33, 0, 0, 40, 578, 0, 0);
}

/* Small matrices by their row and column. */
static sn_scalar triangle_at(void *env, sn_scalar i, sn_scalar k, sn_scalar l)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar a = sn_index(x, i, 0, 0), b = sn_add(sn_index(x, i, 1, 0), a), d = sn_sub(sn_index(x, i, 1, 1), b);
    sn_scalar lower = sn_if(sn_eq(k, l), sn_if(sn_eq(k, 0), a, d), b);
    return sn_if(sn_lt(k, l), sn_index(x, i, l, k), sn_if(sn_and(sn_lt(k, 2), sn_lt(l, 2)), lower, sn_mul(a, d)));
}
OF_SHAPE(triangles, triangle_at, sn_shape_of(a))

static void matrices(void **state)
{
    (void)state;
    both("[n,2,2]T -> [n,2,2]T", triangles, "u8 i32 f32 f64", MIXED, SIZES);
    both("[n,3,3]T -> [n,3,3]T", triangles, "i32 f64", MIXED, SIZES);
    both("[n,4,4]T -> [n,4,4]T", triangles, "u8 i32 f32", MIXED, SIZES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reflections),  cmocka_unit_test(halves),   cmocka_unit_test(cells),
        cmocka_unit_test(places_apart), cmocka_unit_test(matrices),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
