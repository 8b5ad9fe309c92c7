/* Every fold of every type of element along every dimension, of elements as they are and of what is made of them: the
 * CPU has the interpreter's bits. Loops differ by how elements lie, kernels by types. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>

/* --- how elements lie: rows that are folded --- */

static sn_acc rows(sn_acc x)
{
    return x;
}

static sn_acc columns(sn_acc x)
{
    return sn_transpose(x);
}

static sn_acc whole(sn_acc x)
{
    return sn_flatten(x);
}

static sn_scalar outermost_last(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(k, i, j);
}

static sn_acc blocks(sn_acc x) /* [n,m] as [n,m,1], folded along n */
{
    sn_acc cube = sn_reshape(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 1), x);
    return sn_backpermute(sn_shape(sn_extent(x, 1), 1, sn_extent(x, 0)), outermost_last, cube);
}

static sn_scalar upside_down(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *x = env;
    return sn_tuple(i, sn_sub(sn_sub(sn_extent(*x, 1), 1), j));
}

static sn_acc reversed(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), sn_closure(upside_down, &x), x);
}

static sn_scalar every_other(sn_scalar i, sn_scalar j)
{
    return sn_tuple(i, sn_mul(j, 2));
}

static sn_acc halves(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 0), sn_quot(sn_add(sn_extent(x, 1), 1), 2)), every_other, x);
}

static sn_scalar window(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const sn_acc *x = env;
    return sn_tuple(i, sn_min(sn_add(j, k), sn_sub(sn_extent(*x, 1), 1)));
}

static sn_acc windows(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 3), sn_closure(window, &x), x);
}

static sn_scalar kept(sn_scalar x)
{
    return sn_ne(x, 2);
}

static sn_acc filtered(sn_acc x)
{
    return sn_filter(kept, sn_flatten(x));
}

/* --- folds --- */

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_scalar later(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(b, a), b, a);
}

static sn_scalar one_if_large(sn_scalar x)
{
    return sn_if(is_large(x), sn_i32(1), sn_i32(0));
}

static sn_acc sum(sn_acc a)
{
    return sn_fold(sn_add, 0, a);
}

static sn_acc wide_sum(sn_acc a)
{
    return sn_sum(sn_map(sn_to_i64, a));
}

static sn_acc product(sn_acc a)
{
    return sn_fold(sn_mul, 1, a);
}

static sn_acc least(sn_acc a)
{
    return sn_fold(sn_min, 3, a);
}

static sn_acc count(sn_acc a)
{
    return sn_count(sn_map(is_large, a));
}

static sn_acc narrow_count(sn_acc a)
{
    return sn_sum(sn_map(one_if_large, a));
}

static sn_acc narrowest_count(sn_acc a)
{
    return sn_fold(sn_add, 0, sn_map(sn_to_u8, sn_map(is_large, a)));
}

static sn_acc all(sn_acc a)
{
    return sn_all(sn_map(is_large, a));
}

static sn_acc any(sn_acc a)
{
    return sn_any(sn_map(is_large, a));
}

static sn_acc latest(sn_acc a)
{
    return sn_fold(later, 0, a);
}

static sn_acc place(sn_acc a)
{
    return sn_argmax(sn_map(sn_to_i32, a));
}

/* --- all of them --- */

static const struct lie {
    sn_acc (*rows)(sn_acc x);
    const char *shape; /* of results */
} lies[] = {{rows, "[n]"},     {columns, "[m]"}, {whole, ""},        {blocks, "[m,1]"},
            {reversed, "[n]"}, {halves, "[n]"},  {windows, "[n,m]"}, {filtered, ""}};

static const struct fold {
    sn_acc (*of)(sn_acc rows);
    const char *type; /* of results */
} folds[] = {{sum, "T"},     {wide_sum, "i64"},     {product, "T"},          {least, "T"},
             {count, "i64"}, {narrow_count, "i32"}, {narrowest_count, "u8"}, {all, "bool"},
             {any, "bool"},  {latest, "T"},         {place, "i64"}};

typedef struct choice {
    const struct lie *lie;
    const struct fold *fold;
} choice;

static sn_acc folded(void *env, int n, const sn_acc *x)
{
    const choice *c = env;
    assert_int_equal(n, 1);
    return c->fold->of(c->lie->rows(x[0]));
}

/* With SINTER_TEST_LONG all types; else bytes, for which loops have the most to choose from, and another one. */
static void folds_have_the_interpreters_bits(void **state)
{
    static const char *const others[] = {"f32", "i16", "u64", "i8", "f64", "u32", "u16", "i64", "i32"};
    static const int64_t extents[] = {3, 5, 1, 1, 40, 7, 300, 33, 2, 5000, 5000, 2, 4200, 12, -1};
    unsigned number = 0;
    (void)state;
    for (size_t l = 0; l < sizeof lies / sizeof *lies; l++)
        for (size_t f = 0; f < sizeof folds / sizeof *folds; f++) {
            choice c = {&lies[l], &folds[f]};
            char signature[64], types[64] = "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64";
            snprintf(signature, sizeof signature, "[n,m]T -> %s%s", c.lie->shape, c.fold->type);
            if (!getenv("SINTER_TEST_LONG"))
                snprintf(types, sizeof types, "u8 %s", others[number++ % (sizeof others / sizeof *others)]);
            both_at(__FILE__, __LINE__, signature, sn_body_env(folded, &c), types, SMALL, extents);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folds_have_the_interpreters_bits)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
