/* What is sorted. */
#include "../program.h"

#include <stdint.h>
#include <stdlib.h>

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

static sn_acc group(sn_acc keys, sn_acc values)
{
    sn_acc lengths, grouped, own = sn_group(keys, values, &lengths, &grouped);
    return sn_results(own, lengths, grouped);
}

static sn_acc merge(sn_acc a, sn_acc b)
{
    return sn_merge(a, b);
}

static sn_acc merge_by(sn_acc a, sn_acc b)
{
    return sn_merge_by(is_less, a, b);
}

/* Both rows in order. */
#define IN_ORDER(T)                                                                                                    \
    static int compare_##T(const void *a, const void *b)                                                               \
    {                                                                                                                  \
        T x = *(const T *)a, y = *(const T *)b;                                                                        \
        return (x > y) - (x < y);                                                                                      \
    }                                                                                                                  \
    static void in_order_##T(const struct nb_call *call)                                                               \
    {                                                                                                                  \
        for (int i = 0; i < 2; i++)                                                                                    \
            qsort((void *)(uintptr_t)call->in[i], (size_t)call->extent[i], sizeof(T), compare_##T);                    \
    }
IN_ORDER(uint32_t)
IN_ORDER(float)
IN_ORDER(double)
#undef IN_ORDER

#define NB_GROUP sorts
#define NB_TABLE "sorts.def"
#include "../table.h"
