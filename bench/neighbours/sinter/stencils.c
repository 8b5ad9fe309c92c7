/* Stencils. */
#include "../program.h"
#include "../weights.h"

void nb_make_bits_u8(const struct nb_call *call);

static sn_scalar weighted_sum(sn_scalar s, int side)
{
    sn_scalar sum = {0};
    for (int i = 0; i < side * side; i++) {
        double weight = (double)nb_weight(i / side, i % side) / NB_WEIGHT_ONE;
        sn_scalar product = sn_mul(sn_at(s, i / side - side / 2, i % side - side / 2), weight);
        sum = i ? sn_add(sum, product) : product;
    }
    return sum;
}

static sn_scalar position(sn_scalar i, sn_scalar j)
{
    return sn_add(sn_mul(sn_to_f32(i), 0.25f), sn_to_f32(j));
}

static sn_scalar position_f64(sn_scalar i, sn_scalar j)
{
    return sn_to_f64(position(i, j));
}

#define WEIGHTED(K, name, boundary)                                                                                    \
    static sn_acc weighted_##K##_##name(sn_acc x)                                                                      \
    {                                                                                                                  \
        return sn_stencil(weigh_##K, sn_pattern(K, K), boundary, x);                                                   \
    }
#define BOUNDARIES(K)                                                                                                  \
    WEIGHTED(K, clamp, sn_clamp)                                                                                       \
    WEIGHTED(K, constant, sn_constant(1))
#define WEIGH(K)                                                                                                       \
    static sn_scalar weigh_##K(sn_scalar s)                                                                            \
    {                                                                                                                  \
        return weighted_sum(s, K);                                                                                     \
    }
WEIGH(3)
WEIGH(5)
WEIGH(7)
WEIGH(9)
BOUNDARIES(3)
BOUNDARIES(5)
BOUNDARIES(7)
BOUNDARIES(9)
WEIGHTED(3, mirror, sn_mirror)
WEIGHTED(7, mirror, sn_mirror)
WEIGHTED(9, mirror, sn_mirror)
WEIGHTED(3, wrap, sn_wrap)
WEIGHTED(5, wrap, sn_wrap)
WEIGHTED(7, wrap, sn_wrap)
WEIGHTED(9, wrap, sn_wrap)
WEIGHTED(3, outside_f32, sn_outside(position))
WEIGHTED(7, outside_f64, sn_outside(position_f64))
WEIGHTED(9, outside_f32, sn_outside(position))
WEIGHTED(9, outside_f64, sn_outside(position_f64))
#undef WEIGHTED
#undef BOUNDARIES

/* One dimension, and one dimension of two. */
static sn_scalar along(sn_scalar s, int side, int rank, bool down)
{
    sn_scalar sum = {0};
    for (int i = 0; i < side; i++) {
        int d = i - side / 2;
        sn_scalar x = rank == 1 ? sn_at(s, d) : down ? sn_at(s, d, 0) : sn_at(s, 0, d);
        sn_scalar product = sn_mul(x, (double)(i + 1) / 16);
        sum = i ? sn_add(sum, product) : product;
    }
    return sum;
}

static sn_scalar line_of_3(sn_scalar s)
{
    return along(s, 3, 1, false);
}

static sn_scalar line_of_9(sn_scalar s)
{
    return along(s, 9, 1, false);
}

static sn_scalar nine_across(sn_scalar s)
{
    return along(s, 9, 2, false);
}

static sn_scalar nine_down(sn_scalar s)
{
    return along(s, 9, 2, true);
}

static sn_acc line_3(sn_acc x)
{
    return sn_stencil(line_of_3, sn_pattern(3), sn_clamp, x);
}

static sn_acc line_9(sn_acc x)
{
    return sn_stencil(line_of_9, sn_pattern(9), sn_clamp, x);
}

static sn_acc line_9_wrap(sn_acc x)
{
    return sn_stencil(line_of_9, sn_pattern(9), sn_wrap, x);
}

static sn_acc across_9(sn_acc x)
{
    return sn_stencil(nine_across, sn_pattern(1, 9), sn_clamp, x);
}

static sn_acc down_9(sn_acc x)
{
    return sn_stencil(nine_down, sn_pattern(9, 1), sn_clamp, x);
}

static sn_acc separable_9(sn_acc x)
{
    return down_9(across_9(x));
}

static sn_scalar seven(sn_scalar s)
{
    sn_scalar sum = sn_add(sn_at(s, -1, 0, 0), sn_at(s, 1, 0, 0));
    sum = sn_add(sum, sn_add(sn_at(s, 0, -1, 0), sn_at(s, 0, 1, 0)));
    sum = sn_add(sum, sn_add(sn_at(s, 0, 0, -1), sn_at(s, 0, 0, 1)));
    return sn_sub(sum, sn_mul(sn_at(s, 0, 0, 0), 6));
}

static sn_acc seven_clamp(sn_acc x)
{
    return sn_stencil(seven, sn_pattern(3, 3, 3), sn_clamp, x);
}

static sn_acc seven_constant(sn_acc x)
{
    return sn_stencil(seven, sn_pattern(3, 3, 3), sn_constant(1), x);
}

static sn_acc seven_wrap(sn_acc x)
{
    return sn_stencil(seven, sn_pattern(3, 3, 3), sn_wrap, x);
}

static sn_scalar largest(sn_scalar s, int side)
{
    sn_scalar most = sn_at(s, 0, 0);
    for (int i = 0; i < side * side; i++)
        if (i != side * side / 2)
            most = sn_max(most, sn_at(s, i / side - side / 2, i % side - side / 2));
    return most;
}

static sn_scalar largest_3(sn_scalar s)
{
    return largest(s, 3);
}

static sn_scalar largest_5(sn_scalar s)
{
    return largest(s, 5);
}

static sn_acc dilate_3(sn_acc x)
{
    return sn_stencil(largest_3, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc dilate_5(sn_acc x)
{
    return sn_stencil(largest_5, sn_pattern(5, 5), sn_clamp, x);
}

static sn_scalar sum_of_9(sn_scalar s)
{
    sn_scalar sum = sn_to_i32(sn_at(s, 0, 0));
    for (int i = 0; i < 9; i++)
        if (i != 4)
            sum = sn_add(sum, sn_to_i32(sn_at(s, i / 3 - 1, i % 3 - 1)));
    return sum;
}

static sn_scalar ninth(sn_scalar s)
{
    return sn_to_u8(sn_shr(sn_mul(sum_of_9(s), 7282), 16)); /* a ninth, nearly */
}

static sn_acc mean_3(sn_acc x)
{
    return sn_stencil(ninth, sn_pattern(3, 3), sn_clamp, x);
}

static sn_scalar alive(sn_scalar s)
{
    sn_scalar sum = sn_at(s, -1, -1), here = sn_at(s, 0, 0);
    for (int i = 1; i < 9; i++)
        if (i != 4)
            sum = sn_add(sum, sn_at(s, i / 3 - 1, i % 3 - 1));
    return sn_if(sn_lor(sn_eq(sum, 3), sn_land(sn_eq(sum, 2), sn_eq(here, 1))), sn_u8(1), sn_u8(0));
}

static sn_acc life(sn_acc x)
{
    return sn_stencil(alive, sn_pattern(3, 3), sn_wrap, x);
}

static sn_scalar one_two_one(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_add(a, c), sn_mul(b, 2));
}

static sn_scalar slope_across(sn_scalar s)
{
    return sn_sub(one_two_one(sn_at(s, -1, 1), sn_at(s, 0, 1), sn_at(s, 1, 1)),
                  one_two_one(sn_at(s, -1, -1), sn_at(s, 0, -1), sn_at(s, 1, -1)));
}

static sn_scalar slope_down(sn_scalar s)
{
    return sn_sub(one_two_one(sn_at(s, 1, -1), sn_at(s, 1, 0), sn_at(s, 1, 1)),
                  one_two_one(sn_at(s, -1, -1), sn_at(s, -1, 0), sn_at(s, -1, 1)));
}

static sn_scalar magnitude(sn_scalar s)
{
    sn_scalar dx = slope_across(s), dy = slope_down(s);
    return sn_sqrt(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)));
}

static sn_acc sobel(sn_acc x)
{
    return sn_stencil(magnitude, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc gradient(sn_acc x)
{
    return sn_results(sn_stencil(slope_across, sn_pattern(3, 3), sn_clamp, x),
                      sn_stencil(slope_down, sn_pattern(3, 3), sn_clamp, x));
}

static sn_scalar four(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

static sn_scalar relaxed(sn_scalar sum, sn_scalar b)
{
    return sn_mul(sn_add(sum, b), 0.25f);
}

static sn_acc jacobi(sn_acc x, sn_acc b)
{
    return sn_zip_with(relaxed, sn_stencil(four, sn_pattern(3, 3), sn_constant(0), x), b);
}

static sn_scalar sharper(sn_scalar x, sn_scalar blurred)
{
    return sn_add(x, sn_mul(sn_sub(x, blurred), 0.5f));
}

static sn_acc sharpen(sn_acc x)
{
    return sn_zip_with(sharper, x, weighted_5_clamp(x));
}

static sn_acc sum_of_sobel(sn_acc x)
{
    return sn_fold_all(sn_add, 0, sobel(x));
}

static sn_acc maximum_of_sobel(sn_acc x)
{
    return sn_fold1_all(sn_max, sobel(x));
}

#define SUM_OF(name, stencil)                                                                                          \
    static sn_acc sum_of_##name(sn_acc x)                                                                              \
    {                                                                                                                  \
        return sn_sum(sn_flatten(stencil(x)));                                                                         \
    }
SUM_OF(3_clamp, weighted_3_clamp)
SUM_OF(3_wrap, weighted_3_wrap)
SUM_OF(3_constant, weighted_3_constant)
SUM_OF(5_clamp, weighted_5_clamp)
SUM_OF(9_clamp, weighted_9_clamp)
SUM_OF(dilate_3, dilate_3)

static sn_scalar centred_across(sn_scalar s)
{
    return sn_sub(sn_at(s, 0, 1), sn_at(s, 0, -1));
}

static sn_scalar centred_down(sn_scalar s)
{
    return sn_sub(sn_at(s, 1, 0), sn_at(s, -1, 0));
}

static sn_scalar length_of(sn_scalar x, sn_scalar y)
{
    return sn_sqrt(sn_add(sn_mul(x, x), sn_mul(y, y)));
}

static sn_acc sum_of_magnitude(sn_acc x)
{
    return sn_sum(sn_flatten(sn_zip_with(length_of, sn_stencil(centred_across, sn_pattern(1, 3), sn_clamp, x),
                                         sn_stencil(centred_down, sn_pattern(3, 1), sn_clamp, x))));
}

static sn_acc sum_of_line_9(sn_acc x)
{
    return sn_sum(line_9(x));
}

static sn_acc argmax_of_3(sn_acc x)
{
    return sn_argmax(sn_flatten(weighted_3_clamp(x)));
}

static sn_acc argmax_of_9(sn_acc x)
{
    return sn_argmax(sn_flatten(weighted_9_clamp(x)));
}

static sn_acc row_sums_of_3(sn_acc x)
{
    return sn_sum(weighted_3_clamp(x));
}

#define NB_GROUP stencils
#define NB_TABLE "stencils.def"
#include "../table.h"
