/* Folds that look for an element. */
#include "../program.h"

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, sn_to_i32(i));
}

static sn_scalar with_wide_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, i);
}

static sn_scalar choose(sn_scalar right, sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    return choose(sn_gt(sn_fst(b), sn_fst(a)), a, b);
}

static sn_scalar greater_or_earlier(sn_scalar a, sn_scalar b)
{
    sn_scalar earlier = sn_and(sn_eq(sn_fst(b), sn_fst(a)), sn_lt(sn_snd(b), sn_snd(a)));
    return choose(sn_or(sn_gt(sn_fst(b), sn_fst(a)), earlier), a, b);
}

static sn_scalar less_or_earlier(sn_scalar a, sn_scalar b)
{
    sn_scalar earlier = sn_and(sn_eq(sn_fst(b), sn_fst(a)), sn_lt(sn_snd(b), sn_snd(a)));
    return choose(sn_or(sn_lt(sn_fst(b), sn_fst(a)), earlier), a, b);
}

static sn_acc argmax_written(sn_acc x)
{
    return sn_fold1(greater, sn_imap(with_index, x));
}

static sn_acc argmax_wide(sn_acc x)
{
    return sn_fold1(greater, sn_imap(with_wide_index, x));
}

static sn_acc argmax_ties(sn_acc x)
{
    return sn_fold1(greater_or_earlier, sn_imap(with_index, x));
}

static sn_acc argmin_ties(sn_acc x)
{
    return sn_fold1(less_or_earlier, sn_imap(with_index, x));
}

static sn_acc argmax_builtin(sn_acc x)
{
    return sn_argmax(x);
}

static sn_acc argmax_payload(sn_acc x, sn_acc y)
{
    return sn_fold1(greater, sn_zip(x, y));
}

static sn_scalar with_both(sn_scalar i, sn_scalar x, sn_scalar y)
{
    return sn_tuple(x, sn_to_i32(i), y);
}

static sn_scalar greater_of_three(sn_scalar a, sn_scalar b)
{
    sn_scalar right = sn_gt(sn_get(b, 0), sn_get(a, 0));
    return sn_tuple(sn_if(right, sn_get(b, 0), sn_get(a, 0)), sn_if(right, sn_get(b, 1), sn_get(a, 1)),
                    sn_if(right, sn_get(b, 2), sn_get(a, 2)));
}

static sn_acc argmax_payload_index(sn_acc x, sn_acc y)
{
    return sn_fold1(greater_of_three, sn_izip_with(with_both, x, y));
}

static sn_acc argmax_of_product(sn_acc x, sn_acc y)
{
    return argmax_written(sn_zip_with(sn_mul, x, y));
}

static sn_acc argmax_of_absolute(sn_acc x)
{
    return argmax_written(sn_map(sn_abs, x));
}

static sn_scalar cubic(sn_scalar x)
{
    return sn_mul(sn_add(sn_mul(sn_add(sn_mul(x, -0.5f), 1), x), 0.25f), x);
}

static sn_acc argmax_of_stored(sn_acc x)
{
    sn_acc y = sn_map(cubic, x);
    return sn_results(y, argmax_written(y));
}

static sn_scalar wave(sn_scalar x)
{
    return sn_mul(sn_exp(sn_mul(x, x)), sn_sin(x));
}

static sn_acc argmax_of_long(sn_acc x)
{
    return argmax_written(sn_map(wave, x));
}

static sn_acc argmin_argmax(sn_acc x)
{
    return sn_results(sn_argmin(x), sn_argmax(x));
}

static sn_acc argmax_sum(sn_acc x)
{
    return sn_results(sn_argmax(x), sn_sum(x));
}

static sn_scalar twice(sn_scalar x)
{
    return sn_tuple(x, sn_f32(-1));
}

static sn_scalar two_of_four(sn_scalar a, sn_scalar b)
{
    sn_scalar most = sn_max(sn_fst(a), sn_fst(b));
    return sn_tuple(most, sn_max(sn_min(sn_fst(a), sn_fst(b)), sn_max(sn_snd(a), sn_snd(b))));
}

static sn_acc largest_two(sn_acc x)
{
    return sn_fold1(sn_associative(two_of_four), sn_map(twice, x));
}

static sn_acc argmax_columns(sn_acc x)
{
    return sn_argmax(sn_transpose(x));
}

static sn_scalar with_column(sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)i;
    return sn_tuple(x, sn_to_i32(j));
}

static sn_acc argmax_rows_written(sn_acc x)
{
    return sn_fold1(greater, sn_imap(with_column, x));
}

static sn_acc argmax_columns_written(sn_acc x)
{
    return argmax_rows_written(sn_transpose(x));
}

#define NB_GROUP argmax
#define NB_TABLE "argmax.def"
#include "../table.h"
