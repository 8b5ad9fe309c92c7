/* Folds over blocks of an array that are written with quotients and remainders of a position in the block, in lines of
 * many lengths, moved and clamped, of all types; and folds of a few neighbours. */
#include "both.h"

#define SHAPES 16, 16, 0, 20, 50, 70, 33, 100, 64, 160, 16, 1040

typedef struct block {
    sn_acc x, y;
    int64_t length, line; /* elements of a block, and of a line in it */
} block;

static sn_scalar clamped(sn_scalar i, sn_scalar n)
{
    return sn_max(sn_min(i, sn_sub(n, 1)), 0);
}

static sn_scalar element(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const block *b = env;
    sn_scalar y = sn_add(sn_mul(i, b->length / b->line), sn_quot(k, b->line));
    return sn_index(b->x, y, sn_add(sn_mul(j, b->line), sn_rem(k, b->line)));
}

static sn_scalar beside(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const block *b = env;
    sn_scalar y = sn_add(sn_mul(i, b->length / b->line), sn_div(k, b->line));
    sn_scalar z = sn_add(sn_mul(j, b->line), sn_mod(k, b->line));
    sn_scalar other =
        sn_index(b->y, clamped(sn_sub(y, 3), sn_extent(b->y, 0)), clamped(sn_add(z, 2), sn_extent(b->y, 1)));
    return sn_sub(sn_index(b->x, y, z), other);
}

/* one line too far */
static sn_scalar outside(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const block *b = env;
    sn_scalar y = sn_add(sn_mul(i, b->length / b->line), sn_quot(k, b->line));
    return sn_index(b->x, sn_add(y, 1), sn_add(sn_mul(j, b->line), sn_rem(k, b->line)));
}

static sn_scalar blocks_of(const block *b)
{
    return sn_shape(sn_quot(sn_extent(b->x, 0), b->length / b->line), sn_quot(sn_extent(b->x, 1), b->line), b->length);
}

/* the length of blocks and lines of the body at hand */
static int64_t length, line;

static sn_acc blocks(sn_acc x, sn_acc y)
{
    block *b = &(block){x, y, length, line};
    sn_acc all = sn_generate(blocks_of(b), sn_closure(element, b));
    return sn_results(sn_fold(sn_add, 0, all), sn_maximum(all),
                      sn_fold(sn_add, 0, sn_generate(blocks_of(b), sn_closure(beside, b))),
                      sn_argmin(sn_generate(blocks_of(b), sn_closure(beside, b))));
}

static sn_acc failing(sn_acc x)
{
    block *b = &(block){x, x, length, line};
    return sn_fold(sn_add, 0, sn_generate(blocks_of(b), sn_closure(outside, b)));
}

/* each of some steps away */
static sn_scalar moved(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const block *b = env;
    sn_scalar step = sn_get(x[0], 2), k = sn_get(x[0], 3);
    sn_scalar y = sn_add(sn_mul(sn_get(x[0], 0), b->length / b->line), sn_quot(k, b->line));
    sn_scalar z = sn_add(sn_mul(sn_get(x[0], 1), b->line), sn_rem(k, b->line));
    sn_scalar from_y = clamped(sn_add(y, sn_sub(sn_quot(step, 5), 2)), sn_extent(b->y, 0));
    sn_scalar from_z = clamped(sn_add(z, sn_sub(sn_rem(step, 5), 2)), sn_extent(b->y, 1));
    return sn_abs(sn_sub(sn_to_i32(sn_index(b->x, y, z)), sn_to_i32(sn_index(b->y, from_y, from_z))));
}

static sn_acc motion(sn_acc x, sn_acc y)
{
    block *b = &(block){x, y, length, line};
    sn_scalar shape =
        sn_shape(sn_quot(sn_extent(x, 0), b->length / b->line), sn_quot(sn_extent(x, 1), b->line), 25, b->length);
    sn_acc sums = sn_sum(sn_generate(shape, sn_closure(moved, b)));
    return sn_results(sums, sn_argmin(sums));
}

static void of_lines(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{256, 16}, {64, 8}, {128, 32}, {512, 64}, {64, 4}, {81, 9},   {49, 7},
                                       {100, 10}, {96, 3}, {160, 8},  {48, 16},  {36, 6}, {1280, 16}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        length = sizes[i][0];
        line = sizes[i][1];
        both("[n,m]T, [n,m]T -> [h,w]T, [h,w]T, [h,w]T, [h,w]i64", blocks,
             i < 2 ? "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64" : "u8 f32", SMALL, SHAPES);
        if (i < 6)
            both("[n,m]T -> [h,w]T", failing, "u8 f32", SMALL, SHAPES);
    }
}

static void of_moved_lines(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{64, 8}, {16, 4}, {256, 16}, {49, 7}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        length = sizes[i][0];
        line = sizes[i][1];
        both("[n,m]T, [n,m]T -> [h,w,25]i32, [h,w]i64", motion, "u8 i16 i32", SMALL, 16, 16, 50, 70, 33, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_lines), cmocka_unit_test(of_moved_lines)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
