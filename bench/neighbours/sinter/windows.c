/* Windows. */
#include "../program.h"

/* What the scalar functions see of their program: arrays, and where they stand. */
struct place {
    sn_acc x, w;
    sn_scalar i, j;
    int64_t width;
};

static sn_scalar sum_index(sn_scalar i, sn_scalar j)
{
    return sn_add(i, j);
}

static sn_acc windows(sn_acc x, sn_scalar count, sn_scalar width)
{
    return sn_backpermute(sn_shape(count, width), sum_index, x);
}

static sn_scalar add_next(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, sn_add(p->i, k)));
}

static sn_scalar multiply_next(void *env, sn_scalar k, sn_scalar product)
{
    const struct place *p = env;
    return sn_mul(product, sn_index(p->x, sn_add(p->i, k)));
}

static sn_scalar larger_next(void *env, sn_scalar k, sn_scalar most)
{
    const struct place *p = env;
    return sn_max(most, sn_index(p->x, sn_add(p->i, k)));
}

static sn_scalar sum_at(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(p.width, sn_closure(add_next, &p), 0);
}

static sn_scalar product_at(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(p.width, sn_closure(multiply_next, &p), 1);
}

static sn_scalar maximum_at(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(p.width, sn_closure(larger_next, &p), sn_index(p.x, i));
}

#define WINDOW(K)                                                                                                      \
    static sn_acc window_##K##_loop(sn_acc x, sn_acc shape)                                                            \
    {                                                                                                                  \
        struct place p = {.x = x, .width = K};                                                                         \
        return sn_generate(sn_size(shape), sn_closure(sum_at, &p));                                                    \
    }                                                                                                                  \
    static sn_acc window_##K##_fold(sn_acc x, sn_acc shape)                                                            \
    {                                                                                                                  \
        return sn_sum(windows(x, sn_size(shape), sn_i64(K)));                                                          \
    }
WINDOW(8)
WINDOW(33)

static sn_acc product_20_loop(sn_acc x, sn_acc shape)
{
    struct place p = {.x = x, .width = 20};
    return sn_generate(sn_size(shape), sn_closure(product_at, &p));
}

static sn_acc product_20_fold(sn_acc x, sn_acc shape)
{
    return sn_product(windows(x, sn_size(shape), sn_i64(20)));
}

static sn_acc maximum_20_loop(sn_acc x, sn_acc shape)
{
    struct place p = {.x = x, .width = 20};
    return sn_generate(sn_size(shape), sn_closure(maximum_at, &p));
}

static sn_acc maximum_20_fold(sn_acc x, sn_acc shape)
{
    return sn_maximum(windows(x, sn_size(shape), sn_i64(20)));
}

static sn_scalar add_weighted(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_mul(sn_index(p->w, k), sn_index(p->x, sn_add(p->i, k))));
}

static sn_scalar convolution_at(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_size(p.w), sn_closure(add_weighted, &p), 0);
}

static sn_acc convolution_loop(sn_acc x, sn_acc w, sn_acc shape)
{
    struct place p = {.x = x, .w = w};
    return sn_generate(sn_size(shape), sn_closure(convolution_at, &p));
}

static sn_acc convolution_fold(sn_acc x, sn_acc w, sn_acc shape)
{
    sn_acc each = windows(x, sn_size(shape), sn_size(w));
    return sn_sum(sn_zip_with(sn_mul, each, sn_replicate(w, sn_size(shape), SN_ALL)));
}

/* Only the part of the kernel that lies inside: bounds that depend on the row. */
static sn_scalar add_inside(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    sn_scalar at = sn_add(p->j, k);
    return sn_add(sum, sn_mul(sn_index(p->w, sn_sub(sn_add(at, 16), p->i)), sn_index(p->x, at)));
}

static sn_scalar inside_at(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.j = sn_max(sn_sub(i, 16), 0);
    return sn_loop(sn_sub(sn_min(sn_add(i, 17), sn_size(p.x)), p.j), sn_closure(add_inside, &p), 0);
}

static sn_acc convolution_edges(sn_acc x, sn_acc w)
{
    struct place p = {.x = x, .w = w};
    return sn_generate(sn_size(x), sn_closure(inside_at, &p));
}

static sn_scalar second(sn_scalar i, sn_scalar j)
{
    (void)i;
    return j;
}

static sn_acc correlation(sn_acc x, sn_acc lags, sn_acc shape)
{
    sn_scalar n = sn_size(shape), m = sn_size(lags);
    return sn_sum(sn_zip_with(sn_mul, windows(x, m, n), sn_backpermute(sn_shape(m, n), second, x)));
}

static sn_scalar in_square_of_2(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(sn_add(sn_mul(i, 2), sn_quot(k, 2)), sn_add(sn_mul(j, 2), sn_rem(k, 2)));
}

static sn_acc pool_fold(sn_acc x, sn_acc rows, sn_acc columns)
{
    return sn_maximum(sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), 4), in_square_of_2, x));
}

static sn_scalar largest_of_4(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar r = sn_mul(i, 2), c = sn_mul(j, 2), r1 = sn_add(r, 1), c1 = sn_add(c, 1);
    return sn_max(sn_max(sn_index(x, r, c), sn_index(x, r, c1)), sn_max(sn_index(x, r1, c), sn_index(x, r1, c1)));
}

static sn_acc pool_reads(sn_acc x, sn_acc rows, sn_acc columns)
{
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(largest_of_4, &x));
}

static sn_scalar in_square_of_5(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(sn_add(i, sn_quot(k, 5)), sn_add(j, sn_rem(k, 5)));
}

static sn_acc square_fold(sn_acc x, sn_acc rows, sn_acc columns)
{
    return sn_sum(sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), 25), in_square_of_5, x));
}

static sn_scalar add_of_row(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, p->i, sn_add(p->j, k)));
}

static sn_scalar add_row(void *env, sn_scalar k, sn_scalar sum)
{
    struct place p = *(const struct place *)env;
    p.i = sn_add(p.i, k);
    return sn_loop(5, sn_closure(add_of_row, &p), sum);
}

static sn_scalar square_at(void *env, sn_scalar i, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.j = j;
    return sn_loop(5, sn_closure(add_row, &p), 0);
}

static sn_acc square_loop(sn_acc x, sn_acc rows, sn_acc columns)
{
    struct place p = {.x = x};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(square_at, &p));
}

#define NB_GROUP windows
#define NB_TABLE "windows.def"
#include "../table.h"
