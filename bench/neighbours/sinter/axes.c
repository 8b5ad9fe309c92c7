/* Transposes, and folds along other axes. */
#include "../program.h"

static sn_acc transpose(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar affine(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc transpose_map(sn_acc x)
{
    return sn_map(affine, sn_transpose(x));
}

static sn_acc add_transpose(sn_acc x)
{
    return sn_zip_with(sn_add, x, sn_transpose(x));
}

static sn_acc zip_transpose(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_mul, x, sn_transpose(y));
}

static sn_acc dot_transpose(sn_acc x, sn_acc y)
{
    return sn_fold_all(sn_add, 0, zip_transpose(x, y));
}

static sn_acc reverse_rows(sn_acc x)
{
    return sn_reverse(x);
}

static sn_acc reverse_columns(sn_acc x)
{
    return sn_transpose(sn_reverse(sn_transpose(x)));
}

static sn_acc reverse_both(sn_acc x)
{
    return sn_reverse(reverse_columns(x));
}

/* The index in x of element (a, b, c) of a permuted array. */
#define PERMUTE(order, first, second, third, A, B, D)                                                                  \
    static sn_scalar index_##order(sn_scalar a, sn_scalar b, sn_scalar c)                                              \
    {                                                                                                                  \
        return sn_tuple(first, second, third);                                                                         \
    }                                                                                                                  \
    static sn_acc permute_##order(sn_acc x)                                                                            \
    {                                                                                                                  \
        return sn_backpermute(sn_shape(sn_extent(x, A), sn_extent(x, B), sn_extent(x, D)), index_##order, x);          \
    }
PERMUTE(021, a, c, b, 0, 2, 1)
PERMUTE(102, b, a, c, 1, 0, 2)
PERMUTE(210, c, b, a, 2, 1, 0)
PERMUTE(120, c, a, b, 1, 2, 0)
PERMUTE(201, b, c, a, 2, 0, 1)

static sn_acc channels_last(sn_acc x)
{
    return permute_120(x);
}

static sn_acc channels_first(sn_acc x)
{
    return permute_201(x);
}

static sn_acc sum_inner(sn_acc x)
{
    return sn_sum(x);
}

static sn_acc sum_middle(sn_acc x)
{
    return sn_sum(permute_021(x));
}

static sn_acc sum_outer(sn_acc x)
{
    return sn_sum(permute_120(x));
}

static sn_acc maximum_middle(sn_acc x)
{
    return sn_maximum(permute_021(x));
}

static sn_acc maximum_outer(sn_acc x)
{
    return sn_maximum(permute_120(x));
}

static sn_acc argmax_middle(sn_acc x)
{
    return sn_argmax(permute_021(x));
}

static sn_acc argmax_outer(sn_acc x)
{
    return sn_argmax(permute_120(x));
}

static sn_acc sum_outer_two(sn_acc x)
{
    return sn_sum(sn_transpose(sum_outer(x)));
}

static sn_acc sum_inner_two(sn_acc x)
{
    return sn_sum(sn_sum(x));
}

#define NB_GROUP axes
#define NB_TABLE "axes.def"
#include "../table.h"
