/* Maps. */
#include "../program.h"

static sn_scalar axpy_of(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(sn_scalar *)env, x), y);
}

static sn_scalar axmy_of(void *env, sn_scalar x, sn_scalar y)
{
    return sn_sub(x, sn_mul(*(sn_scalar *)env, y));
}

static sn_acc axpy(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_zip_with(sn_closure(axpy_of, &factor), xs, ys);
}

static sn_acc axpy_two(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_results(sn_zip_with(sn_closure(axpy_of, &factor), xs, ys),
                      sn_zip_with(sn_closure(axmy_of, &factor), xs, ys));
}

static sn_acc to_f32(sn_acc x)
{
    return sn_map(sn_to_f32, x);
}

static sn_scalar byte_of(sn_scalar x)
{
    return sn_to_u8(sn_mul(x, 255));
}

static sn_acc to_u8(sn_acc x)
{
    return sn_map(byte_of, x);
}

static sn_acc to_f64(sn_acc x)
{
    return sn_map(sn_to_f64, x);
}

static sn_acc to_i32(sn_acc x)
{
    return sn_map(sn_to_i32, x);
}

static sn_scalar grey_of(sn_scalar r, sn_scalar g, sn_scalar b)
{
    sn_scalar sum = sn_add(sn_add(sn_mul(sn_to_i32(r), 77), sn_mul(sn_to_i32(g), 150)), sn_mul(sn_to_i32(b), 29));
    return sn_to_u8(sn_shr(sum, 8));
}

static sn_acc grey(sn_acc r, sn_acc g, sn_acc b)
{
    return sn_zip_with(grey_of, r, g, b);
}

static sn_scalar saturated(sn_scalar x, sn_scalar y)
{
    return sn_to_u8(sn_min(sn_add(sn_to_i32(x), sn_to_i32(y)), 255));
}

static sn_acc saturate(sn_acc x, sn_acc y)
{
    return sn_zip_with(saturated, x, y);
}

static sn_scalar mean_byte(sn_scalar x, sn_scalar y)
{
    return sn_to_u8(sn_shr(sn_add(sn_add(sn_to_i32(x), sn_to_i32(y)), 1), 1));
}

static sn_acc mean_of_bytes(sn_acc x, sn_acc y)
{
    return sn_zip_with(mean_byte, x, y);
}

static sn_scalar if_positive(sn_scalar x, sn_scalar y, sn_scalar w)
{
    return sn_if(sn_gt(x, 0), y, w);
}

static sn_acc select_positive(sn_acc x, sn_acc y, sn_acc w)
{
    return sn_zip_with(if_positive, x, y, w);
}

static sn_acc less(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_lt, x, y);
}

static sn_scalar seventh(sn_scalar x)
{
    return sn_quot(x, 7);
}

static sn_acc quotient_7(sn_acc x)
{
    return sn_map(seventh, x);
}

static sn_acc quotients(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_quot, x, y);
}

static sn_scalar last_digit(sn_scalar x)
{
    return sn_mod(x, 10);
}

static sn_acc mod_10(sn_acc x)
{
    return sn_map(last_digit, x);
}

static sn_acc popcount(sn_acc x)
{
    return sn_map(sn_popcount, x);
}

static sn_scalar horner(sn_scalar x)
{
    static const float c[] = {0.5f, -0.25f, 0.125f, 1, -2, 0.75f, 3, 1};
    sn_scalar sum = sn_mul(x, c[0]);
    for (int i = 1; i < 7; i++)
        sum = sn_mul(sn_add(sum, c[i]), x);
    return sn_add(sum, c[7]);
}

static sn_acc polynomial(sn_acc x)
{
    return sn_map(horner, x);
}

#define POW(tag, exponent)                                                                                             \
    static sn_scalar pow_of_##tag(sn_scalar x)                                                                         \
    {                                                                                                                  \
        return sn_pow(x, exponent);                                                                                    \
    }                                                                                                                  \
    static sn_acc pow_##tag(sn_acc x)                                                                                  \
    {                                                                                                                  \
        return sn_map(pow_of_##tag, x);                                                                                \
    }
POW(2, 2)
POW(3, 3)
POW(half, 0.5f)
POW(minus_1, -1)
POW(2_5, 2.5f)
#undef POW

static sn_acc powers(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_pow, x, y);
}

static sn_scalar sn_sigmoid(sn_scalar x)
{
    return sn_div(sn_sub(x, sn_sub(x, 1)), sn_add(sn_exp(sn_neg(x)), 1));
}

#define UNARY(f)                                                                                                       \
    static sn_acc map_##f(sn_acc x)                                                                                    \
    {                                                                                                                  \
        return sn_map(sn_##f, x);                                                                                      \
    }
UNARY(exp)
UNARY(log)
UNARY(sin)
UNARY(tanh)
UNARY(atan)
UNARY(sigmoid)
#undef UNARY

static sn_scalar square_of_index(void *env, sn_scalar i)
{
    sn_scalar x = sn_mul(sn_to_f32(i), *(sn_scalar *)env);
    return sn_mul(x, x);
}

static sn_acc iota_squared(const int64_t *extent, const sn_acc *p)
{
    sn_scalar step = sn_the(p[0]);
    return sn_generate(extent[0], sn_closure(square_of_index, &step));
}

static sn_scalar by_index(sn_scalar i, sn_scalar x)
{
    return sn_mul(x, sn_to_f32(i));
}

static sn_acc times_index(sn_acc x)
{
    return sn_imap(by_index, x);
}

static sn_scalar by_indices(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_mul(x, sn_to_f32(sn_add(i, j)));
}

static sn_acc times_indices(sn_acc x)
{
    return sn_imap(by_indices, x);
}

static sn_scalar affine_of(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc affine(sn_acc x)
{
    return sn_map(affine_of, x);
}

static sn_acc add_row(sn_acc m, sn_acc row)
{
    return sn_zip_with(sn_add, m, sn_replicate(row, sn_extent(m, 0), SN_ALL));
}

static sn_acc add_column(sn_acc m, sn_acc column)
{
    return sn_zip_with(sn_add, m, sn_replicate(column, SN_ALL, sn_extent(m, 1)));
}

static sn_acc outer(sn_acc xs, sn_acc ys)
{
    sn_acc rows = sn_replicate(xs, SN_ALL, sn_size(ys)), columns = sn_replicate(ys, sn_size(xs), SN_ALL);
    return sn_zip_with(sn_mul, rows, columns);
}

static sn_acc add_inner(sn_acc x, sn_acc v)
{
    return sn_zip_with(sn_add, x, sn_replicate(v, sn_extent(x, 0), sn_extent(x, 1), SN_ALL));
}

static sn_acc add_middle(sn_acc x, sn_acc v)
{
    return sn_zip_with(sn_add, x, sn_replicate(v, sn_extent(x, 0), SN_ALL, sn_extent(x, 2)));
}

static sn_acc add_outer(sn_acc x, sn_acc v)
{
    return sn_zip_with(sn_add, x, sn_replicate(v, SN_ALL, sn_extent(x, 1), sn_extent(x, 2)));
}

static sn_scalar over(void *env, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)env);
}

static sn_acc over_largest(sn_acc xs)
{
    sn_scalar most = sn_the(sn_maximum(sn_map(sn_abs, xs)));
    return sn_map(sn_closure(over, &most), xs);
}

static sn_acc chain(sn_acc x, sn_acc y)
{
    sn_acc s = sn_zip_with(sn_add, x, y), d = sn_zip_with(sn_sub, x, y);
    return sn_map(sn_sqrt, sn_zip_with(sn_add, sn_zip_with(sn_mul, s, s), sn_map(sn_abs, sn_zip_with(sn_mul, s, d))));
}

#define NB_GROUP maps
#define NB_TABLE "maps.def"
#include "../table.h"
