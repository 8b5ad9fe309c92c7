/* Folds of every aspect ratio against the interpreter: few long rows, many short ones, 1 x n, n x 1, nothing; operators
 * that commute and operators that keep order, of 1 to 8 bytes, of several components, several in one loop. Values are
 * small whole numbers or wrap, so every order of combination gives the same bits if no element is lost or taken twice.
 */
#include "both.h"

/* rows, columns: around the row of 32 elements that is folded in one go, the pieces of 4096 elements, the sixteen
 * pieces that one worker folds, and the numbers of rows that make a gang */
#define FEW_LONG_ROWS 1, 200003, 2, 70001, 3, 65536, 3, 65537, 5, 32769, 7, 16641, 9, 4161
#define MANY_SHORT_ROWS                                                                                                \
    200003, 1, 70001, 2, 50021, 3, 33000, 4, 10007, 7, 6007, 31, 6007, 32, 6007, 33, 1009, 63, 1009, 65
#define IN_BETWEEN                                                                                                     \
    1, 1, 1, 31, 1, 32, 1, 33, 31, 31, 33, 33, 63, 129, 64, 128, 65, 127, 100, 1000, 17, 520, 15, 521, 257, 255
/* a few rows that are no multiple of anything, around a piece and two */
/* a few rows that are folded together, and what is left of them, of groups of 16, 32 and 64 lanes */
#define ROWS_TOGETHER 32, 47, 33, 48, 39, 34, 40, 63, 41, 96, 47, 130, 48, 512, 49, 200
#define SOME_PIECES 20, 1040, 17, 2081, 17, 4095, 17, 4097, 17, 8193
#define NOTHING 0, 0, 0, 1, 1, 0, 5, 0, 0, 5, 70000, 0, 0, 70000
#define EVERY_SHAPE FEW_LONG_ROWS, MANY_SHORT_ROWS, IN_BETWEEN, ROWS_TOGETHER, SOME_PIECES, NOTHING

static sn_acc sums(sn_acc a)
{
    return sn_fold(sn_add, 0, a);
}

static void commuting_folds(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", sums, "i8 u16 f32 i64 f64", SMALL, EVERY_SHAPE);
}

static sn_scalar not_far(sn_scalar x)
{
    return sn_le(x, 100);
}

static sn_scalar one_if_even(sn_scalar x)
{
    return sn_if(sn_eq(sn_mod(sn_to_i32(x), 2), 0), sn_i32(1), sn_i32(0));
}

static sn_scalar rises(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_gt(x, sn_index(*(sn_acc *)env, i, sn_max(sn_sub(j, 1), 0)));
}

/* All elements are counted, some are, and those that differ from their neighbours. */
static sn_acc counts(sn_acc a)
{
    return sn_results(sn_count(sn_map(not_far, a)), sn_sum(sn_map(one_if_even, a)),
                      sn_count(sn_imap(sn_closure(rises, &a), a)));
}

/* Beside sums that are as wide as they are, and narrower than the elements. */
static sn_acc counts_and_others(sn_acc a)
{
    return sn_results(sn_count(sn_map(not_far, a)), sn_sum(sn_map(sn_to_i64, a)), sn_maximum(a));
}

static void counts_of_elements(void **state)
{
    (void)state;
    both("[n,m]T -> [n]i64, [n]i32, [n]i64", counts, "i8 u8 i16 i32 f32 f64", SMALL, EVERY_SHAPE);
    both("[n,m]T -> [n]i64, [n]i64, [n]T", counts_and_others, "u8 u16 f32", SMALL, FEW_LONG_ROWS, MANY_SHORT_ROWS,
         IN_BETWEEN);
}

static sn_scalar second(sn_scalar x, sn_scalar y)
{
    (void)x;
    return y;
}

static sn_acc last_elements(sn_acc a)
{
    return sn_fold1(second, a);
}

/* Keeps order and changes with every element: the composition of x -> a x + b. */
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

static void ordered_folds(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T", last_elements, "u8 i16 f32 f64", MIXED, EVERY_SHAPE);
    both("[n,m]T, [n,m]T -> [n]T, [n]T", compositions, "i32 u64", MIXED, EVERY_SHAPE);
}

static sn_acc positions(sn_acc a)
{
    return sn_results(sn_argmax(a), sn_argmin(a));
}

static void positions_of_extremes(void **state)
{
    (void)state;
    both("[n,m]T -> [n]i64, [n]i64", positions, "i8 f32", SMALL, EVERY_SHAPE);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

/* Commuting and ordered, of 4 and of 8 bytes, over one array and something computed from it. */
static sn_acc statistics(sn_acc a, sn_acc b)
{
    sn_acc products = sn_zip_with(sn_mul, a, b);
    return sn_results(sn_sum(products), sn_maximum(sn_map(square, a)), sn_fold1(second, products),
                      sn_sum(sn_map(sn_to_i64, b)), sn_map(sn_neg, products));
}

static void several_folds(void **state)
{
    (void)state;
    both("[n,m]i32, [n,m]i32 -> [n]i32, [n]i32, [n]i32, [n]i64, [n,m]i32", statistics, NULL, MIXED, FEW_LONG_ROWS,
         MANY_SHORT_ROWS, IN_BETWEEN, NOTHING);
}

static sn_acc by_dimension(sn_acc a)
{
    return sn_results(sn_sum(a), sn_sum(sn_sum(a)), sn_fold_all(sn_add, 0, a), sn_sum(sn_transpose(a)));
}

/* Rows of rows, and rows across the memory. */
static void three_dimensions(void **state)
{
    (void)state;
    both("[n,m,k]f32 -> [n,m]f32, [n]f32, f32, [n,k]f32", by_dimension, NULL, SMALL, 0, 0, 0, 1, 1, 1, 1, 70001, 1, 1,
         1, 70001, 70001, 1, 1, 3, 5, 7, 40, 1, 900, 2, 300, 33, 300, 2, 33, 33, 300, 2, 5, 0, 7, 0, 5, 7, 5, 7, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commuting_folds), cmocka_unit_test(counts_of_elements),
        cmocka_unit_test(ordered_folds),   cmocka_unit_test(positions_of_extremes),
        cmocka_unit_test(several_folds),   cmocka_unit_test(three_dimensions),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
