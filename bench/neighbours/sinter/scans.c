/* Running folds. */
#include "../program.h"

static sn_acc sum(sn_acc x)
{
    return sn_scanl1(sn_add, x);
}

static sn_acc maximum(sn_acc x)
{
    return sn_scanl1(sn_max, x);
}

static sn_acc before(sn_acc x)
{
    return sn_prescan(sn_add, 0, x);
}

static sn_acc with_total(sn_acc x)
{
    return sn_scanl(sn_add, 0, x);
}

static sn_acc from_right(sn_acc x)
{
    return sn_scanr1(sn_add, x);
}

static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(g), sn_fst(f)), sn_add(sn_mul(sn_fst(g), sn_snd(f)), sn_snd(g)));
}

static sn_acc compose(sn_acc x)
{
    return sn_scanl1(after, x);
}

static sn_acc and_total(sn_acc x)
{
    sn_acc total, sums = sn_scanl_x(sn_add, 0, x, &total);
    return sn_results(sums, total);
}

static sn_acc sum_and_maximum(sn_acc x)
{
    return sn_results(sum(x), maximum(x));
}

static sn_scalar over_count(sn_scalar i, sn_scalar s)
{
    return sn_div(s, sn_to_f32(sn_add(i, 1)));
}

static sn_acc mean_so_far(sn_acc x)
{
    return sn_imap(over_count, sum(x));
}

/* How far each is below the greatest so far, and how far at most. */
static sn_acc below_maximum(sn_acc x)
{
    sn_acc below = sn_zip_with(sn_sub, maximum(x), x);
    return sn_results(below, sn_maximum(below));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc of_squares(sn_acc x)
{
    return sum(sn_map(square, x));
}

static sn_acc columns(sn_acc x)
{
    return sn_transpose(sum(sn_transpose(x)));
}

static sn_acc columns_maximum(sn_acc x)
{
    return sn_transpose(maximum(sn_transpose(x)));
}

static sn_acc columns_before(sn_acc x)
{
    return sn_transpose(before(sn_transpose(x)));
}

static sn_acc columns_right(sn_acc x)
{
    return sn_transpose(from_right(sn_transpose(x)));
}

static sn_acc columns_of_squares(sn_acc x)
{
    return sn_transpose(of_squares(sn_transpose(x)));
}

static sn_acc integral_image(sn_acc x)
{
    return columns(sum(x));
}

#define NB_GROUP scans
#define NB_TABLE "scans.def"
#include "../table.h"
