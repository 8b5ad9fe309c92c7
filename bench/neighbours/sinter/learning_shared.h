/* What the programs of the group `learning` share. */
#ifndef NEIGHBOURS_LEARNING_SHARED_H
#define NEIGHBOURS_LEARNING_SHARED_H

#include "functions.h"

#include <math.h>

F1(squared, sn_mul(x, x))
F1(relu, sn_max(x, 0))
F1(sigmoid, sn_div(1, sn_add(1, sn_exp(sn_neg(x)))))
F2(exp_less, sn_exp(sn_sub(x, y)))

static sn_acc rows_like(sn_acc r, sn_acc x) /* one number a row */
{
    return sn_replicate(r, SN_ALL, sn_extent(x, 1));
}

static sn_acc columns_like(sn_acc r, sn_acc x) /* one number a column */
{
    return sn_replicate(r, sn_extent(x, 0), SN_ALL);
}

static sn_acc channels_like(sn_acc r, sn_acc x) /* one number a channel of [n,c,h,w] */
{
    return sn_replicate(r, sn_extent(x, 0), SN_ALL, sn_extent(x, 2), sn_extent(x, 3));
}

static sn_scalar over(void *count, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)count);
}

static sn_acc divided(sn_acc x, sn_scalar count)
{
    count = sn_to_f32(count);
    return sn_map(sn_closure(over, &count), x);
}

static sn_acc means_of_rows(sn_acc x)
{
    return divided(sn_sum(x), sn_extent(x, 1));
}

static sn_acc means_of_columns(sn_acc x)
{
    return divided(sn_sum(sn_transpose(x)), sn_extent(x, 0));
}

static sn_acc times_transpose(sn_acc a, sn_acc b)
{
    return sn_sum(sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, sn_extent(b, 0), SN_ALL),
                              sn_replicate(b, sn_extent(a, 0), SN_ALL, SN_ALL)));
}

static sn_acc product(sn_acc a, sn_acc b)
{
    return times_transpose(a, sn_transpose(b));
}

static sn_acc softmax(sn_acc x)
{
    sn_acc e = sn_zip_with(exp_less, x, rows_like(sn_maximum(x), x));
    return sn_zip_with(sn_div, e, rows_like(sn_sum(e), x));
}

static sn_scalar row_of_id(void *ids, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_to_i64(sn_index(*(sn_acc *)ids, i)), j);
}

#endif
