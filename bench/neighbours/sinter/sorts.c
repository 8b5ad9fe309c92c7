/* What is sorted. */
#include "../program.h"

static sn_acc ascending(sn_acc x)
{
    return sn_sort(x);
}

static sn_acc descending(sn_acc x)
{
    return sn_sort_descending(x);
}

static sn_scalar as_key(sn_scalar i)
{
    return sn_to_u32(i);
}

static sn_acc of_indices(sn_acc x)
{
    return sn_sort(sn_map(as_key, sn_iota(sn_size(x))));
}

static sn_scalar scaled(sn_scalar x)
{
    return sn_sub(1, sn_mul(x, x));
}

static sn_acc of_map(sn_acc x)
{
    return sn_sort(sn_map(scaled, x));
}

static sn_acc by_key(sn_acc keys, sn_acc values)
{
    return sn_sort_by_key(keys, values);
}

static sn_scalar is_less(sn_scalar x, sn_scalar y)
{
    return sn_lt(x, y);
}

static sn_acc by_comparison(sn_acc x)
{
    return sn_sort_by(is_less, x);
}

static sn_scalar is_smaller(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_abs(x), sn_abs(y));
}

static sn_acc by_size(sn_acc x)
{
    return sn_sort_by(is_smaller, x);
}

static sn_acc unique(sn_acc x)
{
    return sn_unique(x);
}

#define NB_GROUP sorts
#define NB_TABLE "sorts.def"
#include "../table.h"
