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

static sn_acc transpose_flat(sn_acc x)
{
    return sn_flatten(sn_transpose(x));
}

static sn_acc map_of_transpose_flat(sn_acc x)
{
    return sn_map(affine, sn_flatten(sn_transpose(x)));
}

static sn_scalar of_row(sn_scalar h, sn_scalar i, sn_scalar k)
{
    return sn_tuple(i, h, k);
}

static sn_acc heads(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), k = sn_quot(sn_extent(x, 1), 8);
    return sn_backpermute(sn_shape(8, n, k), of_row, sn_reshape(sn_shape(n, 8, k), x));
}

static sn_acc heads_back(sn_acc x)
{
    sn_scalar n = sn_extent(x, 1), k = sn_extent(x, 2);
    return sn_reshape(sn_shape(n, sn_mul(k, 8)), sn_backpermute(sn_shape(n, 8, k), of_row, x));
}

static sn_scalar of_channel(sn_scalar i, sn_scalar y, sn_scalar j, sn_scalar x)
{
    return sn_tuple(sn_add(sn_mul(y, 2), x), i, j);
}

static sn_acc pixel_shuffle(sn_acc x)
{
    sn_scalar n = sn_extent(x, 1), m = sn_extent(x, 2);
    return sn_reshape(sn_shape(sn_mul(n, 2), sn_mul(m, 2)), sn_backpermute(sn_shape(n, 2, m, 2), of_channel, x));
}

static sn_scalar of_pixel(sn_scalar c, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_add(sn_mul(i, 2), sn_quot(c, 2)), sn_add(sn_mul(j, 2), sn_rem(c, 2)));
}

static sn_acc pixel_unshuffle(sn_acc x)
{
    return sn_backpermute(sn_shape(4, sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2)), of_pixel, x);
}

static sn_acc swap_quads(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 0), 4), of_row, x);
}

static sn_scalar of_patch(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar l)
{
    return sn_tuple(sn_add(sn_mul(i, 4), k), sn_add(sn_mul(j, 4), l));
}

static sn_acc patches_of_4(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_quot(sn_extent(x, 0), 4), sn_quot(sn_extent(x, 1), 4), 4, 4), of_patch, x);
}

static sn_acc small_transposes(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar of_mirrored(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(i, sn_sub(sn_sub(*(sn_scalar *)env, 1), j), c);
}

static sn_acc mirrored_image(sn_acc x)
{
    sn_scalar m = sn_extent(x, 1);
    return sn_backpermute(sn_shape_of(x), sn_closure(of_mirrored, &m), x);
}

static sn_scalar of_turned(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(sn_sub(sn_sub(*(sn_scalar *)env, 1), j), i, c);
}

static sn_acc turned_image(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    return sn_backpermute(sn_shape(sn_extent(x, 1), n, 3), sn_closure(of_turned, &n), x);
}

static sn_acc minus_means(sn_acc x, sn_acc mean)
{
    return sn_zip_with(sn_sub, x, sn_replicate(mean, sn_extent(x, 0), sn_extent(x, 1), SN_ALL));
}

static sn_scalar mixed_channel(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_add(sn_mul(sn_index(x, i, j, c), 0.75f), sn_mul(sn_index(x, i, j, sn_rem(sn_add(c, 1), 3)), 0.25f));
}

static sn_acc mixed_channels(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(mixed_channel, &x));
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
