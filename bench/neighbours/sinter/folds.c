/* Whole folds. */
#include "../program.h"

void nb_make_sorted_i32(const struct nb_call *call);

static sn_acc sum(sn_acc x)
{
    return sn_sum(x);
}

static sn_acc sum_all(sn_acc x)
{
    return sn_fold_all(sn_add, 0, x);
}

static sn_acc minimum(sn_acc x)
{
    return sn_minimum(x);
}

static sn_acc maximum(sn_acc x)
{
    return sn_maximum(x);
}

static sn_acc product(sn_acc x)
{
    return sn_fold(sn_mul, 1, x);
}

static sn_acc xor_all(sn_acc x)
{
    return sn_fold(sn_bit_xor, 0, x);
}

static sn_acc and_all(sn_acc x)
{
    return sn_fold(sn_bit_and, 255, x);
}

static sn_acc count(sn_acc x)
{
    return sn_count(x);
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

static sn_acc sorted(sn_acc x)
{
    return sn_all(sn_zip_with(sn_le, sn_init(x), sn_tail(x)));
}

static sn_acc dot(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, x, y));
}

static sn_scalar wide_product(sn_scalar x, sn_scalar y)
{
    return sn_mul(sn_to_i32(x), sn_to_i32(y));
}

static sn_acc dot_wide(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(wide_product, x, y));
}

static sn_scalar product_in_f64(sn_scalar x, sn_scalar y)
{
    return sn_mul(sn_to_f64(x), sn_to_f64(y));
}

static sn_acc dot_f64(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(product_in_f64, x, y));
}

static sn_scalar product_of_three(sn_scalar x, sn_scalar y, sn_scalar w)
{
    return sn_mul(sn_mul(x, y), w);
}

static sn_acc dot_of_three(sn_acc x, sn_acc y, sn_acc w)
{
    return sn_fold(sn_add, 0, sn_zip_with(product_of_three, x, y, w));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc sum_of_squares(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_map(square, x));
}

static sn_scalar distance(sn_scalar x, sn_scalar y)
{
    return sn_abs(sn_sub(x, y));
}

static sn_acc differences(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(distance, x, y));
}

static sn_scalar wide_distance(sn_scalar x, sn_scalar y)
{
    return sn_abs(sn_sub(sn_to_i32(x), sn_to_i32(y)));
}

static sn_acc differences_wide(sn_acc x, sn_acc y)
{
    return sn_fold(sn_add, 0, sn_zip_with(wide_distance, x, y));
}

static sn_acc largest_difference(sn_acc x, sn_acc y)
{
    return sn_maximum(sn_zip_with(distance, x, y));
}

static sn_acc neighbours_squared(sn_acc x)
{
    return sum_of_squares(sn_zip_with(sn_sub, sn_tail(x), sn_init(x)));
}

static sn_acc sum_of_exp(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_map(sn_exp, x));
}

static sn_scalar quarter_circle(void *env, sn_scalar i)
{
    sn_scalar x = sn_mul(sn_add(sn_to_f64(i), 0.5), *(sn_scalar *)env);
    return sn_div(sn_f64(4), sn_add(sn_mul(x, x), 1));
}

static sn_acc integral(const int64_t *extent, const sn_acc *p)
{
    sn_scalar step = sn_the(p[0]);
    return sn_fold(sn_add, 0, sn_generate(extent[0], sn_closure(quarter_circle, &step)));
}

#define MEAN_VARIANCE(T)                                                                                               \
    static sn_acc mean_variance_##T(sn_acc x)                                                                          \
    {                                                                                                                  \
        sn_scalar n = sn_to_##T(sn_size(x));                                                                           \
        sn_scalar mean = sn_div(sn_the(sn_sum(x)), n);                                                                 \
        sn_scalar squares = sn_div(sn_the(sum_of_squares(x)), n);                                                      \
        return sn_results(sn_unit(mean), sn_unit(sn_sub(squares, sn_mul(mean, mean))));                                \
    }
MEAN_VARIANCE(f32)
MEAN_VARIANCE(f64)

static sn_acc mean_variance_of_integers(sn_acc x)
{
    return mean_variance_f64(sn_map(sn_to_f64, x));
}

static sn_acc min_max(sn_acc x)
{
    return sn_results(sn_minimum(x), sn_maximum(x));
}

static sn_acc sum_max(sn_acc x)
{
    return sn_results(sn_sum(x), sn_maximum(x));
}

static sn_acc sum_min_max(sn_acc x)
{
    return sn_results(sn_sum(x), sn_minimum(x), sn_maximum(x));
}

static sn_acc sum_count(sn_acc x)
{
    return sn_results(sn_sum(x), count_above(x));
}

static sn_scalar one_above(sn_scalar x)
{
    return sn_if(sn_gt(x, 1), sn_i32(1), sn_i32(0));
}

static sn_acc sum_count_32(sn_acc x)
{
    return sn_results(sn_sum(x), sn_fold(sn_add, 0, sn_map(one_above, x)));
}

static sn_acc mean(sn_acc x)
{
    return sn_unit(sn_div(sn_the(sn_sum(x)), sn_to_f32(sn_size(x))));
}

static sn_acc sum_count_mean(sn_acc x)
{
    return sn_results(sn_sum(x), count_above(x), mean(x));
}

static sn_acc sum_count_min(sn_acc x)
{
    return sn_results(sn_sum(x), count_above(x), sn_minimum(x));
}

static sn_acc sum_count_all(sn_acc x)
{
    return sn_results(sn_sum(x), count_above(x), mean(x), sn_minimum(x), sn_maximum(x));
}

static sn_scalar cube(sn_scalar x)
{
    return sn_mul(sn_mul(x, x), x);
}

static sn_scalar fourth(sn_scalar x)
{
    return square(square(x));
}

static sn_acc moments(sn_acc x)
{
    return sn_results(sn_sum(x), sum_of_squares(x), sn_sum(sn_map(cube, x)), sn_sum(sn_map(fourth, x)));
}

static sn_acc dot_norms(sn_acc x, sn_acc y)
{
    return sn_results(dot(x, y), sum_of_squares(x), sum_of_squares(y));
}

static sn_acc map_and_sum(sn_acc x)
{
    sn_acc y = sn_map(square, x);
    return sn_results(y, sn_sum(y));
}

static sn_acc map_and_max(sn_acc x)
{
    sn_acc y = sn_map(square, x);
    return sn_results(y, sn_maximum(y));
}

static sn_scalar complex_add(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_add(sn_snd(a), sn_snd(b)));
}

static sn_acc complex_sum(sn_acc x)
{
    return sn_fold(complex_add, sn_tuple(0, 0), x);
}

static sn_scalar complex_mul(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_sub(sn_mul(sn_fst(a), sn_fst(b)), sn_mul(sn_snd(a), sn_snd(b))),
                    sn_add(sn_mul(sn_fst(a), sn_snd(b)), sn_mul(sn_snd(a), sn_fst(b))));
}

static sn_acc complex_dot(sn_acc x, sn_acc y)
{
    return complex_sum(sn_zip_with(complex_mul, x, y));
}

/* x -> a x + b, then x -> c x + d: does not commute. */
static sn_scalar after(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(g), sn_fst(f)), sn_add(sn_mul(sn_fst(g), sn_snd(f)), sn_snd(g)));
}

static sn_acc compose(sn_acc x)
{
    return sn_fold(sn_associative(after), sn_tuple(1, 0), x);
}

/* Largest sum of a slice, of one at the beginning, of one at the end, and of all. */
static sn_scalar slice_of_one(sn_scalar x)
{
    sn_scalar most = sn_max(x, 0);
    return sn_tuple(most, most, most, x);
}

static sn_scalar join_slices(sn_scalar a, sn_scalar b)
{
    sn_scalar across = sn_add(sn_get(a, 2), sn_get(b, 1));
    return sn_tuple(sn_max(sn_max(sn_get(a, 0), sn_get(b, 0)), across),
                    sn_max(sn_get(a, 1), sn_add(sn_get(a, 3), sn_get(b, 1))),
                    sn_max(sn_get(b, 2), sn_add(sn_get(a, 2), sn_get(b, 3))), sn_add(sn_get(a, 3), sn_get(b, 3)));
}

static sn_acc largest_slice(sn_acc x)
{
    return sn_fold(sn_associative(join_slices), sn_tuple(0, 0, 0, 0), sn_map(slice_of_one, x));
}

#define NB_GROUP folds
#define NB_TABLE "folds.def"
#include "../table.h"
