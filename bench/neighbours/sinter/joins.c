/* Joins and splits. */
#include "../program.h"

static sn_scalar line(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc append(sn_acc x, sn_acc y)
{
    return sn_append(x, y);
}

static sn_acc append_rows(sn_acc x, sn_acc y)
{
    return sn_append_along(0, x, y);
}

static sn_acc append_maps(sn_acc x, sn_acc y)
{
    return sn_append(sn_map(line, x), sn_map(sn_neg, y));
}

static sn_acc append_twice(sn_acc x, sn_acc y)
{
    return sn_append(sn_append(x, sn_map(line, y)), x);
}

static sn_acc append_then_map(sn_acc x, sn_acc y)
{
    return sn_map(line, sn_append(x, y));
}

static sn_acc append_then_sum(sn_acc x, sn_acc y)
{
    return sn_sum(sn_append(x, sn_map(line, y)));
}

static sn_acc append_then_scan(sn_acc x, sn_acc y)
{
    return sn_scanl1(sn_add, sn_append(x, y));
}

static sn_acc concat_5(sn_acc a, sn_acc b, sn_acc c, sn_acc d, sn_acc e)
{
    return sn_concat(a, b, c, d, e);
}

static sn_acc concat_9(sn_acc a, sn_acc b, sn_acc c)
{
    return sn_concat(a, b, c, a, b, c, a, b, c);
}

static sn_acc interleave_2(sn_acc x, sn_acc y)
{
    return sn_interleave(x, y);
}

static sn_acc interleave_3(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_interleave(x, y, z);
}

static void every_other(const struct nb_call *call)
{
    bool *flag = (bool *)call->in[0];
    for (int64_t i = 0; i < call->extent[0]; i++)
        flag[i] = (i * 7 + i / 64) % 2;
    int64_t kept = 0, left = call->extent[1];
    for (int64_t i = 0; i < call->extent[0]; i++)
        kept += flag[i];
    for (int64_t i = call->extent[0]; i-- > 0 && kept != left;) {
        bool wanted = kept < left;
        kept += flag[i] == wanted ? 0 : wanted ? 1 : -1;
        flag[i] = wanted;
    }
}

static sn_acc combine(sn_acc flags, sn_acc x, sn_acc y)
{
    return sn_combine(flags, x, y);
}

static sn_acc append_sums(sn_acc x, sn_acc y)
{
    return sn_append(sn_sum(x), sn_sum(y));
}

static sn_acc append_scans(sn_acc x, sn_acc y)
{
    return sn_append(sn_scanl1(sn_add, x), sn_scanl1(sn_add, y));
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc append_filters(sn_acc x, sn_acc y)
{
    return sn_append(sn_filter(is_positive, x), sn_filter(is_positive, y));
}

static sn_acc split(sn_acc x, sn_acc first, sn_acc second)
{
    sn_acc rest;
    (void)second;
    sn_acc begin = sn_split(sn_size(first), x, &rest);
    return sn_results(begin, rest);
}

static sn_acc split_and_swap(sn_acc x)
{
    sn_acc rest, begin = sn_split_along(0, sn_quot(sn_extent(x, 0), 3), x, &rest);
    return sn_append_along(0, rest, begin);
}

#define NB_GROUP joins
#define NB_TABLE "joins.def"
#include "../table.h"
