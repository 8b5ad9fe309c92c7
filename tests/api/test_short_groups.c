/* Maps over short rows whose elements lanes would have to look for: pairs that are interleaved, bits of bytes, indices
 * that are divided or clamped. Where a lane has a group of elements, gangs overlap at the end of a row; rows of up to
 * 64 elements, as a call gives them, are blocks. Against the interpreter, for rows around one gang and several, of all
 * sizes of elements. */
#include "both.h"

/* Rows of some groups, and of some elements more. */
#define ROWS                                                                                                           \
    0, 5, 5, 0, 3, 7, 700, 1, 700, 2, 700, 3, 700, 4, 700, 5, 700, 7, 501, 9, 501, 15, 501, 16, 501, 17, 501, 18, 301, \
        23, 301, 31, 301, 32, 301, 33, 201, 34, 201, 50, 201, 63, 101, 65, 101, 66, 101, 99, 101, 129, 101, 136, 101,  \
        200, 40, 257, 20, 700
#define PLANES 3, 200, 9, 7, 101, 17, 30, 20, 33, 1, 400, 34, 2, 300, 50, 5, 50, 99, 0, 3, 17, 70, 0, 17

static sn_acc pairs(sn_acc a, sn_acc b)
{
    return sn_interleave(sn_zip_with(sn_add, a, b), sn_zip_with(sn_sub, a, b));
}

#define PARTS_OF(n)                                                                                                    \
    static sn_scalar part_##n(void *env, sn_scalar i, sn_scalar j)                                                     \
    {                                                                                                                  \
        const sn_acc x = *(sn_acc *)env;                                                                               \
        sn_scalar here = sn_index(x, i, sn_quot(j, n)), rest = sn_rem(j, n);                                           \
        return sn_if(sn_eq(rest, 0), here, sn_if(sn_eq(rest, n - 1), sn_sub(here, 1), sn_mul(here, 2)));               \
    }                                                                                                                  \
    static sn_acc parts_##n(sn_acc x)                                                                                  \
    {                                                                                                                  \
        return sn_generate(sn_shape(sn_extent(x, 0), sn_mul(sn_extent(x, 1), n)), sn_closure(part_##n, &x));           \
    }

PARTS_OF(2)
PARTS_OF(3)
PARTS_OF(4)
PARTS_OF(5)
PARTS_OF(8)

/* Rows of elements and half as many more, which need not be whole groups. */
static sn_scalar spread_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_mul(sn_index(x, i, sn_quot(j, 2)), 3), sn_index(x, i, sn_quot(sn_add(j, 1), 2)));
}

static sn_acc spread(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_max(sn_sub(sn_mul(sn_extent(x, 1), 2), 1), 0)),
                       sn_closure(spread_at, &x));
}

static sn_scalar part_of_three(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_add(sn_mul(sn_index(x, i, sn_quot(j, 3)), 2), sn_index(x, i, j));
}

static sn_acc of_three(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(part_of_three, &x));
}

static sn_acc several(sn_acc x)
{
    return sn_results(of_three(x), parts_3(x), sn_map(sn_neg, of_three(x)));
}

/* Clamped neighbours of every second element of every second row. */
static sn_scalar clamped(sn_scalar i, sn_scalar extent)
{
    return sn_max(sn_min(i, sn_sub(extent, 1)), 0);
}

static sn_scalar halved_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar sum = sn_index(x, sn_mul(i, 2), sn_mul(j, 2));
    for (int k = 0; k < 9; k++)
        sum = sn_add(sum, sn_mul(sn_index(x, clamped(sn_add(sn_mul(i, 2), k / 3 - 1), sn_extent(x, 0)),
                                          clamped(sn_add(sn_mul(j, 2), k % 3 - 1), sn_extent(x, 1))),
                                 k % 4));
    return sum;
}

static sn_acc halved(sn_acc x)
{
    return sn_generate(sn_shape(sn_quot(sn_add(sn_extent(x, 0), 1), 2), sn_quot(sn_add(sn_extent(x, 1), 1), 2)),
                       sn_closure(halved_at, &x));
}

/* Odd rows and columns are between others. */
static sn_scalar doubled_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar down = clamped(sn_quot(sn_add(i, 1), 2), sn_extent(x, 0)),
              right = clamped(sn_quot(sn_add(j, 1), 2), sn_extent(x, 1));
    sn_scalar here = sn_index(x, sn_quot(i, 2), sn_quot(j, 2)), below = sn_index(x, down, sn_quot(j, 2));
    return sn_if(sn_eq(sn_rem(i, 2), 1), sn_sub(sn_add(here, below), sn_index(x, down, right)), below);
}

static sn_acc doubled(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(sn_extent(x, 0), 2), sn_mul(sn_extent(x, 1), 2)), sn_closure(doubled_at, &x));
}

static sn_scalar folded_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar last = sn_sub(sn_extent(x, 1), 1);
    return sn_sub(sn_index(x, i, sn_min(j, sn_sub(last, j))), sn_index(x, sn_quot(i, 3), sn_max(j, sn_sub(last, j))));
}

static sn_acc folded(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(folded_at, &x));
}

/* The last row reads behind its end. */
static sn_scalar fails_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar last = sn_eq(i, sn_sub(sn_extent(x, 0), 1));
    return sn_index(x, i, sn_add(sn_quot(j, 4), sn_if(last, sn_i64(1), sn_i64(0))));
}

static sn_acc fails(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_mul(sn_extent(x, 1), 4)), sn_closure(fails_at, &x));
}

static void rows(void **state)
{
    (void)state;
    both("[n,m]T, [n,m]T -> [n,k]T", pairs, "f32 f64 u8 i16 i64", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", parts_2, "f32 u8 i16", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", parts_3, "f32 u8 f64", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", parts_4, "i32 u8 i64", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", parts_5, "f32 u16", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", parts_8, "f32 u8 f64", SMALL, ROWS);
    both("[n,m]T -> [n,k]T", spread, "f32 u8 f64 u16", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", of_three, "f32 u8 f64", SMALL, ROWS);
    both("[n,m]T -> [n,m]T, [n,k]T, [n,m]T", several, "f32 i16", SMALL, ROWS);
}

static void rows_alone(void **state)
{
    (void)state;
    both("[n,m]T -> [k,l]T", halved, "f32 u8 f64 i16", SMALL, ROWS);
    both("[n,m]T -> [k,l]T", doubled, "f32 u8 f64 i16", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", folded, "f32 u8 f64", SMALL, ROWS);
    both("[n,17]T -> [k,l]T", halved, "f32 u8 f64", SMALL, 0, 1, 2, 3, 700, 701);
    both("[n,9]T -> [k,l]T", doubled, "f32 u8 f64", SMALL, 0, 1, 2, 3, 700, 701);
    both("[n,33]T -> [n,33]T", folded, "f32 u8 f64", SMALL, 0, 1, 2, 3, 700, 701);
}

static sn_scalar part_of_plane(void *env, sn_scalar k, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_add(sn_index(x, k, i, sn_quot(j, 2)), sn_mul(sn_index(x, k, sn_quot(i, 2), j), 2));
}

static sn_acc of_planes(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(part_of_plane, &x));
}

static void planes(void **state)
{
    (void)state;
    both("[l,n,m]T -> [l,n,m]T", of_planes, "f32 u8 f64 i16", SMALL, PLANES);
}

static void indices_outside(void **state)
{
    (void)state;
    both("[n,m]T -> [n,k]T", fails, "f32 u8", SMALL, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows),
        cmocka_unit_test(rows_alone),
        cmocka_unit_test(planes),
        cmocka_unit_test(indices_outside),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
