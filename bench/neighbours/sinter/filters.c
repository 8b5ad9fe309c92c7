/* What is kept. */
#include "../program.h"

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc positive(sn_acc x)
{
    return sn_filter(is_positive, x);
}

static sn_scalar is_rare(sn_scalar x)
{
    return sn_lt(x, 0.001f);
}

static sn_acc few(sn_acc x)
{
    return sn_filter(is_rare, x);
}

static sn_scalar is_common(sn_scalar x)
{
    return sn_ge(x, 0.001f);
}

static sn_acc most(sn_acc x)
{
    return sn_filter(is_common, x);
}

static sn_scalar is_any(sn_scalar x)
{
    return sn_lt(x, 1000);
}

static sn_acc all(sn_acc x)
{
    return sn_filter(is_any, x);
}

static sn_acc by_tags(sn_acc tags, sn_acc x)
{
    return sn_pack(tags, x);
}

static sn_scalar is_line_end(sn_scalar c)
{
    return sn_eq(c, 10);
}

static sn_acc indices(sn_acc x)
{
    return sn_pack(sn_map(is_line_end, x), sn_iota(sn_size(x)));
}

static sn_scalar first_is_positive(sn_scalar x, sn_scalar y)
{
    (void)y;
    return sn_gt(x, 0);
}

static sn_acc pairs(sn_acc x)
{
    return sn_filter(first_is_positive, x);
}

static sn_scalar line(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc then_map(sn_acc x)
{
    return sn_map(line, positive(x));
}

static sn_acc then_sum(sn_acc x)
{
    sn_acc some = positive(x);
    return sn_results(sn_sum(some), sn_unit(sn_size(some)));
}

static sn_acc then_scan(sn_acc x)
{
    return sn_scanl1(sn_add, positive(x));
}

static sn_acc ratios(sn_acc x)
{
    sn_acc some = positive(x);
    return sn_zip_with(sn_div, sn_prescan(sn_add, 0, some), some);
}

static sn_acc and_maximum(sn_acc x)
{
    return sn_results(positive(x), sn_maximum(x));
}

static sn_scalar is_negative(sn_scalar x)
{
    return sn_lt(x, 0);
}

static sn_acc two(sn_acc x)
{
    return sn_results(positive(x), sn_filter(is_negative, x));
}

static sn_acc of_running_sum(sn_acc x)
{
    return sn_pack(sn_map(is_positive, sn_scanl1(sn_add, x)), x);
}

#define NB_GROUP filters
#define NB_TABLE "filters.def"
#include "../table.h"
