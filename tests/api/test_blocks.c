/* Maps that permute elements within blocks of small and known innermost dimensions: patches of images, transposed small
 * matrices, mirrored pixels. A gang of the CPU's has whole blocks and moves their elements from lane to lane. Against
 * the interpreter, with blocks of many sizes, few and many of them, and indices that are outside. */
#include "both.h"

/* --- small matrices --- */

static sn_acc transposed(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar turned_index(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_tuple(n, sn_sub(sn_sub(sn_extent(x, 1), 1), j), i);
}

static sn_acc turned(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 2), sn_extent(x, 1)), sn_closure(turned_index, &x), x);
}

/* Every element and the one that is opposite to it. */
static sn_scalar with_opposite(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar there = sn_index(x, n, sn_sub(sn_sub(sn_extent(x, 1), 1), i), sn_sub(sn_sub(sn_extent(x, 2), 1), j));
    return sn_sub(sn_add(sn_index(x, n, i, j), sn_index(x, n, i, j)), there);
}

static sn_acc opposites(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(with_opposite, &x));
}

#define MANY 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 64, 65, 100, 1025, 5003

static void small_matrices(void **state)
{
    (void)state;
    both("[n,2,2]T -> [n,2,2]T", transposed, "f32 u8 f64", SMALL, MANY);
    both("[n,3,3]T -> [n,3,3]T", transposed, "f32 u8 i16", SMALL, MANY);
    both("[n,4,4]T -> [n,4,4]T", transposed, "f32 u8 f64 bool", SMALL, MANY);
    both("[n,5,5]T -> [n,5,5]T", transposed, "f32 u8 f64 i16", SMALL, MANY);
    both("[n,3,7]T -> [n,7,3]T", transposed, "f32 u8 f64", SMALL, MANY);
    both("[n,6,6]T -> [n,6,6]T", transposed, "f32 u16 i64", SMALL, MANY);
    both("[n,7,9]T -> [n,9,7]T", transposed, "f32 u8", SMALL, MANY);
    both("[n,8,8]T -> [n,8,8]T", transposed, "f32 u8 f64 i16", SMALL, MANY);
    both("[n,2,20]T -> [n,20,2]T", transposed, "f32 u8", SMALL, MANY);
    both("[n,4,16]T -> [n,16,4]T", turned, "f32 u8 f64", SMALL, MANY);
    both("[n,5,5]T -> [n,5,5]T", turned, "f32 i16", SMALL, MANY);
    both("[n,5,6]T -> [n,5,6]T", opposites, "f32 u8 f64", SMALL, MANY);
    both("[n,8,8]T -> [n,8,8]T", opposites, "f32 i32", SMALL, MANY);
}

static sn_scalar third_last(sn_scalar a, sn_scalar b, sn_scalar i, sn_scalar j)
{
    return sn_tuple(a, b, j, i);
}

static sn_acc transposed_grid(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_extent(x, 1), sn_extent(x, 3), sn_extent(x, 2));
    return sn_backpermute(shape, third_last, x);
}

static void grids(void **state)
{
    (void)state;
    both("[n,m,4,5]T -> [n,m,5,4]T", transposed_grid, "f32 u8 f64", SMALL, 0, 3, 3, 0, 1, 1, 1, 2, 2, 3, 5, 7, 33, 17,
         70, 40);
    both("[n,m,2,3]T -> [n,m,3,2]T", transposed_grid, "f32 u8", SMALL, 0, 3, 3, 0, 1, 1, 1, 9, 2, 10, 5, 11, 33, 17, 70,
         40);
}

/* --- blocks of an image --- */

typedef struct grid {
    sn_acc x;
    int rows, columns;
} grid;

static sn_scalar of_patch(void *env, sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar l)
{
    const grid *g = env;
    return sn_tuple(sn_add(sn_mul(i, g->rows), k), sn_add(sn_mul(j, g->columns), l));
}

/* One more row of patches than there are, or none too many. */
static sn_acc patches(sn_acc x, int rows, int columns, int more)
{
    grid g = {x, rows, columns};
    sn_scalar n = sn_add(sn_quot(sn_extent(x, 0), rows), more), m = sn_add(sn_quot(sn_extent(x, 1), columns), more);
    return sn_backpermute(sn_shape(n, m, rows, columns), sn_closure(of_patch, &g), x);
}

#define PATCHES(rows, columns)                                                                                         \
    static sn_acc patches_##rows##_##columns(sn_acc x)                                                                 \
    {                                                                                                                  \
        return patches(x, rows, columns, 0);                                                                           \
    }
PATCHES(4, 4)
PATCHES(3, 5)
PATCHES(8, 8)
PATCHES(2, 16)
PATCHES(16, 2)
PATCHES(5, 3)

static sn_acc patches_beyond(sn_acc x)
{
    return patches(x, 4, 4, 1);
}

static sn_acc odd_patches_beyond(sn_acc x)
{
    return patches(x, 3, 7, 1);
}

#define IMAGES 0, 9, 9, 0, 3, 3, 4, 4, 5, 9, 8, 8, 16, 16, 16, 64, 17, 70, 40, 41, 64, 64, 33, 300, 100, 129

static void blocks_of_images(void **state)
{
    (void)state;
    both("[h,w]T -> [n,m,4,4]T", patches_4_4, "f32 u8 f64 i16", SMALL, IMAGES);
    both("[h,w]T -> [n,m,3,5]T", patches_3_5, "f32 u8 f64", SMALL, IMAGES);
    both("[h,w]T -> [n,m,8,8]T", patches_8_8, "f32 u8 f64", SMALL, IMAGES);
    both("[h,w]T -> [n,m,2,16]T", patches_2_16, "f32 u8", SMALL, IMAGES);
    both("[h,w]T -> [n,m,16,2]T", patches_16_2, "f32 u8", SMALL, IMAGES);
    both("[h,w]T -> [n,m,5,3]T", patches_5_3, "f32 i64", SMALL, IMAGES);
}

static void outside(void **state)
{
    (void)state;
    both("[h,w]T -> [n,m,4,4]T", patches_beyond, "f32 u8", SMALL, IMAGES);
    both("[h,w]T -> [n,m,3,7]T", odd_patches_beyond, "f32 f64", SMALL, IMAGES);
}

/* --- pixels --- */

static sn_scalar mirrored_index(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(i, sn_sub(sn_sub(*(sn_scalar *)env, 1), j), c);
}

static sn_acc mirrored(sn_acc x)
{
    sn_scalar m = sn_extent(x, 1);
    return sn_backpermute(sn_shape_of(x), sn_closure(mirrored_index, &m), x);
}

static sn_scalar swapped_index(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(j, i, c);
}

static sn_acc swapped(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 0), sn_extent(x, 2)), swapped_index, x);
}

static sn_scalar reversed_index(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(i, j, sn_sub(sn_sub(*(sn_scalar *)env, 1), c));
}

static sn_acc reversed(sn_acc x)
{
    sn_scalar n = sn_extent(x, 2);
    return sn_backpermute(sn_shape_of(x), sn_closure(reversed_index, &n), x);
}

/* A division that fails where an element is 0. */
static sn_scalar divided_index(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_quot(sn_index(x, i, j, sn_sub(sn_sub(sn_extent(x, 2), 1), c)), sn_index(x, i, j, c));
}

static sn_acc divided(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(divided_index, &x));
}

#define PIXELS 0, 5, 5, 0, 1, 1, 1, 20, 1, 21, 1, 22, 3, 31, 2, 32, 7, 43, 19, 64, 33, 65, 70, 130

static void pixels(void **state)
{
    (void)state;
    both("[h,w,3]T -> [h,w,3]T", mirrored, "u8 f32 f64 i16", SMALL, PIXELS);
    both("[h,w,4]T -> [h,w,4]T", mirrored, "u8 f32 f64", SMALL, PIXELS);
    both("[h,w,2]T -> [h,w,2]T", mirrored, "u8 f32", SMALL, PIXELS);
    both("[h,w,5]T -> [h,w,5]T", mirrored, "u8 f32", SMALL, PIXELS);
    both("[h,w,13]T -> [h,w,13]T", mirrored, "u8 f32", SMALL, PIXELS);
    both("[h,w,4]T -> [w,h,4]T", swapped, "u8 f32 f64", SMALL, PIXELS);
    both("[h,w,8]T -> [w,h,8]T", swapped, "u8 f32 f64", SMALL, PIXELS);
    both("[h,w,3]T -> [w,h,3]T", swapped, "u8 f32", SMALL, PIXELS);
    both("[h,w,3]T -> [h,w,3]T", reversed, "u8 f32 f64", SMALL, PIXELS);
    both("[h,w,4]T -> [h,w,4]T", reversed, "u8 f32 bool", SMALL, PIXELS);
    both("[h,w,3]T -> [h,w,3]T", divided, "i32 u8 i64", POSITIVE, PIXELS);
    both("[h,w,3]T -> [h,w,3]T", divided, "i32 u8 i64", SMALL, PIXELS);
}

/* --- elements that are computed with what a block's place says --- */

typedef struct pair {
    sn_acc x, y;
} pair;

static sn_scalar weighed_index(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    const pair *p = env;
    return sn_mul(sn_index(p->x, n, j, i), sn_index(p->y, i, j));
}

static sn_acc weighed(sn_acc x, sn_acc y)
{
    pair p = {x, y};
    return sn_generate(sn_shape_of(x), sn_closure(weighed_index, &p));
}

/* Above the diagonal it is the element itself, else the one below. */
static sn_scalar symmetric_index(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_index(x, n, sn_min(i, j), sn_max(i, j));
}

static sn_acc symmetric(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(symmetric_index, &x));
}

static sn_scalar chosen_index(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    return sn_if(sn_lt(i, j), sn_index(x, n, i, j), sn_index(x, n, j, i));
}

static sn_acc chosen(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(chosen_index, &x));
}

static void computed(void **state)
{
    (void)state;
    both("[n,5,5]T, [5,5]T -> [n,5,5]T", weighed, "f32 f64 i16", SMALL, MANY);
    both("[n,8,8]T, [8,8]T -> [n,8,8]T", weighed, "f32 i32", SMALL, MANY);
    both("[n,6,6]T -> [n,6,6]T", symmetric, "f32 u8 f64", SMALL, MANY);
    both("[n,5,5]T -> [n,5,5]T", chosen, "f32 u8", SMALL, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices), cmocka_unit_test(grids),  cmocka_unit_test(blocks_of_images),
        cmocka_unit_test(outside),        cmocka_unit_test(pixels), cmocka_unit_test(computed),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
