/* Folds of rows. */
#include "../program.h"

static sn_acc sum(sn_acc x)
{
    return sn_sum(x);
}

static sn_acc maximum(sn_acc x)
{
    return sn_maximum(x);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc squares(sn_acc x)
{
    return sn_sum(sn_map(square, x));
}

static sn_acc dot(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, x, y));
}

static sn_acc times_vector(sn_acc m, sn_acc x)
{
    return sn_sum(sn_zip_with(sn_mul, m, sn_replicate(x, sn_extent(m, 0), SN_ALL)));
}

static sn_scalar below_2(sn_scalar x)
{
    return sn_lt(x, 2);
}

static sn_acc all_small(sn_acc x)
{
    return sn_all(sn_map(below_2, x));
}

static sn_scalar above_1(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_acc count_above(sn_acc x)
{
    return sn_count(sn_map(above_1, x));
}

static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(g), sn_fst(f)), sn_add(sn_mul(sn_fst(g), sn_snd(f)), sn_snd(g)));
}

static sn_acc compose(sn_acc x)
{
    return sn_fold(sn_associative(after), sn_tuple(1, 0), x);
}

static sn_acc min_max(sn_acc x)
{
    return sn_results(sn_minimum(x), sn_maximum(x));
}

static sn_scalar over(void *env, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)env);
}

static sn_acc mean(sn_acc x)
{
    sn_scalar count = sn_to_f32(sn_extent(x, 1));
    return sn_map(sn_closure(over, &count), sn_sum(x));
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

static sn_acc sum_count(sn_acc x)
{
    return sn_results(sn_sum(x), count_above(x));
}

static sn_acc sum_max_argmax(sn_acc x)
{
    return sn_results(sn_sum(x), sn_maximum(x), sn_argmax(x));
}

static sn_acc along_rows(sn_acc of_rows, sn_acc x)
{
    return sn_replicate(of_rows, SN_ALL, sn_extent(x, 1));
}

static sn_scalar squared_distance(sn_scalar x, sn_scalar m)
{
    return square(sn_sub(x, m));
}

static sn_acc statistics(sn_acc x)
{
    sn_acc m = mean(x);
    return sn_results(m, sn_minimum(x), sn_maximum(x), mean(sn_zip_with(squared_distance, x, along_rows(m, x))));
}

static sn_acc rows_and_columns(sn_acc x)
{
    return sn_results(sn_sum(x), sn_sum(sn_transpose(x)));
}

static sn_acc rows_and_all(sn_acc x)
{
    return sn_results(sn_sum(x), sn_fold_all(sn_add, 0, x));
}

static sn_scalar exp_of_difference(sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_sub(x, most));
}

static sn_acc softmax(sn_acc x)
{
    sn_acc e = sn_zip_with(exp_of_difference, x, along_rows(sn_maximum(x), x));
    return sn_zip_with(sn_div, e, along_rows(sn_sum(e), x));
}

static sn_scalar standardised(sn_scalar x, sn_scalar m, sn_scalar variance)
{
    return sn_div(sn_sub(x, m), sn_sqrt(sn_add(variance, 1e-3f)));
}

static sn_acc standardise(sn_acc x)
{
    sn_acc m = mean(x), variance = mean(sn_zip_with(squared_distance, x, along_rows(m, x)));
    return sn_zip_with(standardised, x, along_rows(m, x), along_rows(variance, x));
}

static sn_acc minus_mean(sn_acc x)
{
    return sn_zip_with(sn_sub, x, along_rows(mean(x), x));
}

static sn_acc over_sum(sn_acc x)
{
    return sn_zip_with(sn_div, x, along_rows(sn_sum(x), x));
}

static sn_acc sum_of_maxima(sn_acc x)
{
    return sn_sum(sn_maximum(x));
}

#define NB_GROUP rows
#define NB_TABLE "rows.def"
#include "../table.h"
