/* Folds of columns. */
#include "../program.h"

static sn_acc sum(sn_acc x)
{
    return sn_sum(sn_transpose(x));
}

static sn_acc maximum(sn_acc x)
{
    return sn_maximum(sn_transpose(x));
}

static sn_acc min_max(sn_acc x)
{
    return sn_results(sn_minimum(sn_transpose(x)), sn_maximum(sn_transpose(x)));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc squares(sn_acc x)
{
    return sum(sn_map(square, x));
}

static sn_scalar over(void *env, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)env);
}

static sn_acc mean(sn_acc x)
{
    sn_scalar count = sn_to_f32(sn_extent(x, 0));
    return sn_map(sn_closure(over, &count), sum(x));
}

static sn_scalar minus_square(sn_scalar squares_, sn_scalar mean_)
{
    return sn_sub(squares_, sn_mul(mean_, mean_));
}

static sn_acc mean_variance(sn_acc x)
{
    sn_acc m = mean(x);
    return sn_results(m, sn_zip_with(minus_square, mean(sn_map(square, x)), m));
}

static sn_scalar above_1(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_acc sum_count(sn_acc x)
{
    return sn_results(sum(x), sn_count(sn_map(above_1, sn_transpose(x))));
}

static sn_acc dot(sn_acc x, sn_acc y)
{
    return sum(sn_zip_with(sn_mul, x, y));
}

static sn_acc vector_times(sn_acc x, sn_acc v)
{
    return sum(sn_zip_with(sn_mul, x, sn_replicate(v, SN_ALL, sn_extent(x, 1))));
}

static sn_scalar below_2(sn_scalar x)
{
    return sn_lt(x, 2);
}

static sn_acc all_small(sn_acc x)
{
    return sn_all(sn_transpose(sn_map(below_2, x)));
}

static sn_acc along_columns(sn_acc of_columns, sn_acc x)
{
    return sn_replicate(of_columns, sn_extent(x, 0), SN_ALL);
}

static sn_scalar squared_distance(sn_scalar x, sn_scalar m)
{
    return square(sn_sub(x, m));
}

static sn_scalar standardised(sn_scalar x, sn_scalar m, sn_scalar variance)
{
    return sn_div(sn_sub(x, m), sn_sqrt(sn_add(variance, 1e-3f)));
}

static sn_acc standardise(sn_acc x)
{
    sn_acc m = mean(x), variance = mean(sn_zip_with(squared_distance, x, along_columns(m, x)));
    return sn_zip_with(standardised, x, along_columns(m, x), along_columns(variance, x));
}

#define NB_GROUP columns
#define NB_TABLE "columns.def"
#include "../table.h"
