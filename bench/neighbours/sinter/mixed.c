/* Programs as users write them. */
#include "functions.h"

void nb_make_bits_u8(const struct nb_call *call);

static sn_scalar sum_11(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, -4);
    for (int k = -3; k <= 4; k++)
        sum = sn_add(sum, sn_at(s, 0, k));
    return sn_div(sum, 9);
}
static sn_acc blur_11(sn_acc x)
{
    return sn_stencil(sum_11, sn_pattern(1, 9), sn_clamp, x);
}

F1(gamma_of, sn_to_u8(sn_round(sn_mul(255, sn_pow(sn_div(sn_to_f32(x), 255), 0.4545f)))))
static sn_acc gamma_u8(sn_acc x)
{
    return sn_map(gamma_of, x);
}

F3(value_of, sn_to_f32(sn_max(x, sn_max(y, z))))
F3(saturation_of, sn_if(sn_eq(value_of(x, y, z), 0), sn_f32(0),
                        sn_div(sn_sub(value_of(x, y, z), sn_to_f32(sn_min(x, sn_min(y, z)))), value_of(x, y, z))))
static sn_acc value_saturation(sn_acc r, sn_acc g, sn_acc b)
{
    return sn_results(sn_zip_with(value_of, r, g, b), sn_zip_with(saturation_of, r, g, b));
}

struct images {
    sn_acc x, k, l;
};
static sn_scalar bilinear_at(void *env, sn_scalar i, sn_scalar j)
{
    struct images *p = env;
    sn_scalar h = sn_to_f32(sn_sub(sn_extent(p->x, 0), 1)), w = sn_to_f32(sn_sub(sn_extent(p->x, 1), 1));
    sn_scalar y = sn_div(sn_mul(sn_to_f32(i), h), sn_to_f32(sn_size(p->k))),
              x = sn_div(sn_mul(sn_to_f32(j), w), sn_to_f32(sn_size(p->l)));
    sn_scalar y0 = sn_to_i64(y), x0 = sn_to_i64(x), y1 = sn_add(y0, 1), x1 = sn_add(x0, 1);
    sn_scalar fy = sn_sub(y, sn_to_f32(y0)), fx = sn_sub(x, sn_to_f32(x0));
    sn_scalar a = sn_index(p->x, y0, x0), b = sn_index(p->x, y0, x1), c = sn_index(p->x, y1, x0),
              d = sn_index(p->x, y1, x1);
    sn_scalar top = sn_add(a, sn_mul(fx, sn_sub(b, a))), bottom = sn_add(c, sn_mul(fx, sn_sub(d, c)));
    return sn_add(top, sn_mul(fy, sn_sub(bottom, top)));
}
static sn_acc resize(sn_acc x, sn_acc k, sn_acc l)
{
    struct images p = {x, k, l};
    return sn_generate(sn_shape(sn_size(k), sn_size(l)), sn_closure(bilinear_at, &p));
}

static sn_scalar level_of(void *env, sn_scalar v)
{
    sn_acc *t = env;
    return sn_to_u8(sn_quot(sn_mul(sn_index(t[0], sn_to_i64(v)), 255), sn_size(t[1])));
}
static sn_acc equalize(sn_acc x)
{
    sn_acc t[2] = {sn_scanl1(sn_add, sn_histogram(256, x)), x};
    return sn_map(sn_closure(level_of, t), x);
}

static sn_scalar between(void *env, sn_scalar i)
{
    sn_acc s = *(sn_acc *)env;
    return sn_div(sn_sub(sn_index(s, sn_add(i, 32)), sn_index(s, i)), 32);
}
static sn_acc running_mean(sn_acc x, sn_acc k)
{
    sn_acc s = sn_scanl(sn_add, 0, x);
    return sn_generate(sn_size(k), sn_closure(between, &s));
}

static sn_acc count_falls(sn_acc x)
{
    return sn_count(sn_zip_with(sn_gt, sn_init(x), sn_tail(x)));
}
F2(step_of, sn_abs(sn_sub(x, y)))
static sn_acc largest_step(sn_acc x)
{
    return sn_maximum(sn_zip_with(step_of, sn_init(x), sn_tail(x)));
}

static sn_scalar minus_mean_of(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_acc *p = env;
    (void)i;
    return sn_sub(v, sn_div(sn_index(p[0], j), sn_to_f32(sn_extent(p[1], 0))));
}
static sn_acc minus_column_mean(sn_acc x)
{
    sn_acc p[2] = {sn_sum(sn_transpose(x)), x};
    return sn_imap(sn_closure(minus_mean_of, p), x);
}

static sn_acc product_sum(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, x, y));
}
static sn_acc covariance(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_results(product_sum(x, x), product_sum(x, y), product_sum(x, z), product_sum(y, y), product_sum(y, z),
                      product_sum(z, z));
}
F2(mean_2, sn_mul(0.5, sn_add(x, y)))
static sn_acc trapezoid(sn_acc x)
{
    return sn_sum(sn_zip_with(mean_2, sn_init(x), sn_tail(x)));
}
static sn_acc cumprod(sn_acc x)
{
    return sn_scanl1(sn_mul, x);
}

static sn_scalar box_of(sn_scalar s)
{
    sn_scalar sum = {0};
    for (int i = 0; i < 27; i++) {
        sn_scalar v = sn_to_i32(sn_at(s, i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1));
        sum = i ? sn_add(sum, v) : v;
    }
    return sn_to_u8(sn_quot(sum, 27));
}
static sn_acc box_27(sn_acc x)
{
    return sn_stencil(box_of, sn_pattern(3, 3, 3), sn_clamp, x);
}

F3(median_of, sn_max(sn_min(x, y), sn_min(sn_max(x, y), z)))
F1(median_row, median_of(sn_at(x, 0, -1), sn_at(x, 0, 0), sn_at(x, 0, 1)))
static sn_acc median_3(sn_acc x)
{
    return sn_stencil(median_row, sn_pattern(1, 3), sn_clamp, x);
}
static void order(sn_scalar *v, int i, int j)
{
    sn_scalar a = sn_min(v[i], v[j]);
    v[j] = sn_max(v[i], v[j]);
    v[i] = a;
}
static sn_scalar median_square(sn_scalar s)
{
    static const int8_t pair[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 3},
                                       {5, 8}, {4, 7}, {3, 6}, {1, 4}, {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
    sn_scalar v[9];
    for (int i = 0; i < 9; i++)
        v[i] = sn_at(s, i / 3 - 1, i % 3 - 1);
    for (int i = 0; i < 19; i++)
        order(v, pair[i][0], pair[i][1]);
    return v[4];
}
static sn_acc median_9(sn_acc x)
{
    return sn_stencil(median_square, sn_pattern(3, 3), sn_clamp, x);
}

/* The same by a sort of each pixel's neighbours. */
static sn_scalar neighbour(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar row = sn_sub(sn_add(i, sn_quot(k, 3)), 1), column = sn_sub(sn_add(j, sn_rem(k, 3)), 1);
    row = sn_max(sn_min(row, sn_sub(sn_extent(x, 0), 1)), 0);
    return sn_index(x, row, sn_max(sn_min(column, sn_sub(sn_extent(x, 1), 1)), 0));
}
static sn_acc median_9_sorted(sn_acc x)
{
    sn_acc windows = sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 9), sn_closure(neighbour, &x));
    return sn_slice(sn_sort(windows), SN_ALL, SN_ALL, 4);
}

F1(least_5,
   sn_min(sn_min(sn_at(x, -2, 0), sn_at(x, -1, 0)), sn_min(sn_at(x, 0, 0), sn_min(sn_at(x, 1, 0), sn_at(x, 2, 0)))))
static sn_acc erode(sn_acc x)
{
    return sn_stencil(least_5, sn_pattern(5, 1), sn_wrap, x);
}
F1(laplace,
   sn_sub(sn_add(sn_add(sn_add(sn_at(x, -1, 0, 0), sn_at(x, 1, 0, 0)), sn_add(sn_at(x, 0, -1, 0), sn_at(x, 0, 1, 0))),
                 sn_add(sn_at(x, 0, 0, -1), sn_at(x, 0, 0, 1))),
          sn_mul(6, sn_at(x, 0, 0, 0))))
static sn_acc laplacian(sn_acc x)
{
    return sn_stencil(laplace, sn_pattern(3, 3, 3), sn_wrap, x);
}

static sn_scalar wide(sn_scalar s, int i, int j)
{
    return sn_to_i32(sn_at(s, i, j));
}
static sn_scalar is_edge(sn_scalar s)
{
    sn_scalar gx = sn_sub(sn_add(sn_add(wide(s, -1, 1), sn_mul(2, wide(s, 0, 1))), wide(s, 1, 1)),
                          sn_add(sn_add(wide(s, -1, -1), sn_mul(2, wide(s, 0, -1))), wide(s, 1, -1)));
    sn_scalar gy = sn_sub(sn_add(sn_add(wide(s, 1, -1), sn_mul(2, wide(s, 1, 0))), wide(s, 1, 1)),
                          sn_add(sn_add(wide(s, -1, -1), sn_mul(2, wide(s, -1, 0))), wide(s, -1, 1)));
    return sn_gt(sn_add(sn_abs(gx), sn_abs(gy)), 100);
}
static sn_acc edges_count(sn_acc x)
{
    return sn_count(sn_flatten(sn_stencil(is_edge, sn_pattern(3, 3), sn_clamp, x)));
}

F1(squared, sn_mul(x, x))
static sn_acc rows_like(sn_acc r, sn_acc x)
{
    return sn_replicate(r, SN_ALL, sn_extent(x, 1));
}
static sn_acc by_norm(sn_acc x)
{
    return sn_zip_with(sn_div, x, rows_like(sn_map(sn_sqrt, sn_sum(sn_map(squared, x))), x));
}
static sn_acc log_sum_exp(sn_acc x)
{
    sn_acc m = sn_maximum(x);
    return sn_zip_with(sn_add, m, sn_map(sn_log, sn_sum(sn_map(sn_exp, sn_zip_with(sn_sub, x, rows_like(m, x))))));
}
static sn_acc argmin_columns(sn_acc x)
{
    return sn_argmin(sn_transpose(x));
}
static sn_acc argmax_abs(sn_acc x)
{
    return sn_argmax(sn_map(sn_abs, x));
}
static sn_scalar upper_of(sn_scalar i, sn_scalar j, sn_scalar v)
{
    return sn_if(sn_ge(j, i), v, sn_f64(0));
}
static sn_acc upper(sn_acc x)
{
    return sn_imap(upper_of, x);
}
static sn_acc plus_outer(sn_acc a, sn_acc u, sn_acc v)
{
    sn_acc uu = sn_replicate(u, SN_ALL, sn_size(v)), vv = sn_replicate(v, sn_size(u), SN_ALL);
    return sn_zip_with(sn_add, a, sn_zip_with(sn_mul, uu, vv));
}
static sn_scalar cross_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc *p = env;
    sn_scalar d = sn_rem(sn_add(c, 1), 3), e = sn_rem(sn_add(c, 2), 3);
    return sn_sub(sn_mul(sn_index(p[0], i, d), sn_index(p[1], i, e)),
                  sn_mul(sn_index(p[0], i, e), sn_index(p[1], i, d)));
}
static sn_acc cross(sn_acc x, sn_acc y)
{
    sn_acc p[2] = {x, y};
    return sn_generate(sn_shape_of(x), sn_closure(cross_at, p));
}
F2(square_of_difference, squared(sn_sub(x, y)))
static sn_acc distance(sn_acc x, sn_acc p)
{
    return sn_map(sn_sqrt, sn_sum(sn_zip_with(square_of_difference, x, sn_replicate(p, sn_extent(x, 0), SN_ALL))));
}
static sn_scalar rotate_by(sn_scalar q, sn_scalar v)
{
    sn_scalar w = sn_get(q, 0), a = sn_get(q, 1), b = sn_get(q, 2), c = sn_get(q, 3), x = sn_get(v, 0),
              y = sn_get(v, 1), z = sn_get(v, 2);
    sn_scalar tx = sn_mul(2, sn_sub(sn_mul(b, z), sn_mul(c, y))), ty = sn_mul(2, sn_sub(sn_mul(c, x), sn_mul(a, z))),
              tz = sn_mul(2, sn_sub(sn_mul(a, y), sn_mul(b, x)));
    return sn_tuple(sn_add(sn_add(x, sn_mul(w, tx)), sn_sub(sn_mul(b, tz), sn_mul(c, ty))),
                    sn_add(sn_add(y, sn_mul(w, ty)), sn_sub(sn_mul(c, tx), sn_mul(a, tz))),
                    sn_add(sn_add(z, sn_mul(w, tz)), sn_sub(sn_mul(a, ty), sn_mul(b, tx))));
}
static sn_acc quaternion(sn_acc q, sn_acc v)
{
    return sn_zip_with(rotate_by, q, v);
}
static sn_scalar row_from(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    return sn_tuple(sn_to_i64(sn_index(p[0], i)), j);
}
static sn_acc dot_gathered(sn_acc x, sn_acc at, sn_acc y)
{
    sn_acc p[1] = {at};
    return sn_sum(sn_zip_with(sn_mul, y, sn_backpermute(sn_shape_of(y), sn_closure(row_from, p), x)));
}
static sn_scalar column_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    return sn_index(p[0], sn_to_i64(sn_index(p[1], j)), i);
}
static sn_acc gather_columns(sn_acc x, sn_acc at)
{
    sn_acc p[2] = {x, at};
    return sn_generate(sn_shape(sn_extent(x, 1), sn_size(at)), sn_closure(column_at, p));
}
static sn_scalar column_at_2(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    return sn_index(p[0], i, sn_to_i64(sn_index(p[1], j)));
}
static sn_acc gather_columns_2(sn_acc s, sn_acc x, sn_acc at)
{
    sn_acc p[2] = {x, at};
    (void)s;
    return sn_generate(sn_shape(sn_extent(x, 0), sn_size(at)), sn_closure(column_at_2, p));
}
static sn_scalar between_entries(void *env, sn_scalar x)
{
    sn_acc t = *(sn_acc *)env;
    sn_scalar i = sn_to_i64(sn_shr(x, 8)), f = sn_div(sn_to_f32(sn_bit_and(x, 255)), 256);
    sn_scalar a = sn_index(t, i), b = sn_index(t, sn_add(i, 1));
    return sn_add(a, sn_mul(f, sn_sub(b, a)));
}
static sn_acc interpolate_u16(sn_acc t, sn_acc x)
{
    return sn_map(sn_closure(between_entries, &t), x);
}
F1(is_10, sn_eq(x, 10))
static sn_acc line_lengths(sn_acc x)
{
    sn_acc at = sn_pack(sn_map(is_10, x), sn_iota(sn_size(x)));
    return sn_zip_with(sn_sub, sn_tail(at), sn_init(at));
}
F1(upper_char, sn_if(sn_and(sn_ge(x, 97), sn_le(x, 122)), sn_sub(x, 32), x))
static sn_acc upper_case(sn_acc x)
{
    return sn_map(upper_char, x);
}
F2(weigh, sn_mul(sn_add(sn_rem(x, 251), 1), sn_to_i64(y)))
static sn_acc checksum(sn_acc x)
{
    return sn_sum(sn_imap(weigh, x));
}
F1(bits_of, sn_to_i64(sn_popcount(x)))
static sn_acc popcount_sum(sn_acc x)
{
    return sn_sum(sn_map(bits_of, x));
}
static sn_acc xor_scan(sn_acc x)
{
    return sn_scanl1(sn_bit_xor, x);
}
static sn_acc drawdown(sn_acc x)
{
    return sn_maximum(sn_zip_with(sn_sub, sn_scanl1(sn_max, x), x));
}
F1(as_affine, sn_tuple(sn_f32(0.9f), sn_mul(0.1f, x)))
F2(after, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_fst(y), sn_snd(x)), sn_snd(y))))
static sn_acc ema(sn_acc x)
{
    return sn_snd(sn_scanl1(after, sn_map(as_affine, x)));
}
static sn_acc masked_mean(sn_acc m, sn_acc x)
{
    sn_acc kept = sn_pack(m, x);
    return sn_unit(sn_div(sn_the(sn_sum(kept)), sn_to_f32(sn_size(kept))));
}
F1(is_positive, sn_gt(x, 0))
F1(low_bits, sn_bit_and(x, 15))
static sn_acc filter_histogram(sn_acc x)
{
    return sn_histogram(16, sn_map(low_bits, sn_filter(is_positive, x)));
}
F1(is_even, sn_eq(sn_bit_and(x, 1), 0))
static sn_acc partition_even(sn_acc x)
{
    sn_acc count;
    return sn_partition(is_even, x, &count);
}
static sn_acc palindrome(sn_acc x)
{
    return sn_append(x, sn_reverse(x));
}
static sn_acc plus_transpose(sn_acc x)
{
    return sn_zip_with(sn_add, x, sn_transpose(x));
}
F3(inner_first, sn_tuple(y, z, x))
static sn_acc permute_axes(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 2), sn_extent(x, 0), sn_extent(x, 1)), inner_first, x);
}
F1(over_4, sn_to_i16(sn_shr(x, 2)))
static sn_acc means_of_4(sn_acc x, sn_acc k)
{
    return sn_map(over_4, sn_sum(sn_reshape(sn_shape(sn_size(k), 4), x)));
}
static sn_scalar cube_of(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar sum = {0};
    for (int c = 0; c < 8; c++) {
        sn_scalar v =
            sn_index(x, sn_add(sn_mul(i, 2), c / 4), sn_add(sn_mul(j, 2), c / 2 % 2), sn_add(sn_mul(k, 2), c % 2));
        sum = c ? sn_max(sum, v) : v;
    }
    return sum;
}
static sn_acc pool_8(sn_acc x, sn_acc a, sn_acc b, sn_acc c)
{
    return sn_generate(sn_shape(sn_size(a), sn_size(b), sn_size(c)), sn_closure(cube_of, &x));
}
static sn_scalar horner_of(sn_scalar x)
{
    sn_scalar s = sn_f64(0.5);
    for (int i = 0; i < 7; i++)
        s = sn_add(sn_mul(s, x), 0.25 * (i + 1));
    return s;
}
static sn_acc horner(sn_acc x)
{
    return sn_map(horner_of, x);
}
F2(radius, sn_sqrt(sn_add(sn_mul(x, x), sn_mul(y, y))))
static sn_acc polar(sn_acc x, sn_acc y)
{
    return sn_results(sn_zip_with(radius, x, y), sn_zip_with(sn_atan2, y, x));
}
F1(clipped, sn_to_u8(sn_rint(sn_min(sn_max(sn_mul(x, 255), 0), 255))))
static sn_acc clip_round(sn_acc x)
{
    return sn_map(clipped, x);
}
F3(channel_last, sn_tuple(z, x, y))
static sn_acc mix_channels(sn_acc x, sn_acc w)
{
    sn_acc t = sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 2), sn_extent(x, 0)), channel_last, x);
    return sn_sum(sn_zip_with(sn_mul, t, sn_replicate(w, sn_extent(x, 1), sn_extent(x, 2), SN_ALL)));
}
static sn_scalar grey_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar r = sn_to_i32(sn_index(x, i, j, 0)), g = sn_to_i32(sn_index(x, i, j, 1)),
              b = sn_to_i32(sn_index(x, i, j, 2));
    return sn_to_u8(sn_shr(sn_add(sn_add(sn_mul(77, r), sn_mul(150, g)), sn_mul(29, b)), 8));
}
static sn_acc grey(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(grey_at, &x));
}
static sn_acc to_rgb(sn_acc x)
{
    return sn_replicate(x, SN_ALL, SN_ALL, 3);
}
static sn_acc to_channels(sn_acc x, sn_acc k)
{
    return sn_replicate(x, SN_ALL, SN_ALL, sn_size(k));
}
static sn_acc repeat_each(sn_acc x, sn_acc k)
{
    return sn_replicate(x, SN_ALL, sn_size(k));
}
static sn_acc scale_rows(sn_acc x, sn_acc s)
{
    return sn_zip_with(sn_mul, x, rows_like(s, x));
}
static sn_acc mirror_rows(sn_acc x)
{
    return sn_reverse(x);
}
static sn_acc turn_90(sn_acc x)
{
    return sn_reverse(sn_transpose(x));
}
F1(is_bright, sn_gt(x, 128))
static sn_acc count_rows(sn_acc x)
{
    return sn_count(sn_map(is_bright, x));
}
static sn_scalar convolved(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    sn_scalar s = {0};
    for (int k = 0; k < 5; k++) {
        sn_scalar t = sn_mul(sn_index(p[1], k), sn_index(p[0], i, sn_add(j, k)));
        s = k ? sn_add(s, t) : t;
    }
    return s;
}
static sn_acc convolve_rows(sn_acc x, sn_acc w, sn_acc l)
{
    sn_acc p[2] = {x, w};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_size(l)), sn_closure(convolved, p));
}
struct square {
    sn_acc x, w;
    sn_scalar i, j, r;
};
static sn_scalar square_column(void *env, sn_scalar c, sn_scalar sum)
{
    struct square *p = env;
    return sn_add(sum, sn_mul(sn_index(p->w, p->r, c), sn_index(p->x, sn_add(p->i, p->r), sn_add(p->j, c))));
}
static sn_scalar square_row(void *env, sn_scalar r, sn_scalar sum)
{
    struct square p = *(struct square *)env;
    p.r = r;
    return sn_loop(7, sn_closure(square_column, &p), sum);
}
static sn_scalar square_at(void *env, sn_scalar i, sn_scalar j)
{
    struct square p = *(struct square *)env;
    p.i = i, p.j = j;
    return sn_loop(7, sn_closure(square_row, &p), 0);
}
static sn_acc convolve_7(sn_acc x, sn_acc w, sn_acc k, sn_acc l)
{
    struct square p = {.x = x, .w = w};
    return sn_generate(sn_shape(sn_size(k), sn_size(l)), sn_closure(square_at, &p));
}
static sn_acc distribution(sn_acc x)
{
    return sn_zip_with(sn_div, sn_scanl1(sn_add, x), rows_like(sn_sum(x), x));
}
static sn_acc sums_right(sn_acc x)
{
    return sn_scanr1(sn_add, x);
}
F1(warm, sn_add(sn_at(x, 0), sn_mul(0.2, sn_add(sn_sub(sn_at(x, -1), sn_mul(2, sn_at(x, 0))), sn_at(x, 1)))))
static sn_acc heat_step(sn_acc x)
{
    return sn_stencil(warm, sn_pattern(3), sn_clamp, x);
}
static sn_acc heat(sn_acc x)
{
    return sn_aiterate(10, heat_step, x);
}
static sn_scalar alive(sn_scalar s)
{
    sn_scalar n = {0};
    for (int i = 0; i < 9; i++)
        if (i != 4)
            n = i ? sn_add(n, sn_at(s, i / 3 - 1, i % 3 - 1)) : sn_at(s, -1, -1);
    return sn_if(sn_eq(n, 3), sn_u8(1), sn_if(sn_eq(n, 2), sn_at(s, 0, 0), sn_u8(0)));
}
static sn_acc life_step(sn_acc x)
{
    return sn_stencil(alive, sn_pattern(3, 3), sn_wrap, x);
}
static sn_acc life_4(sn_acc x)
{
    return life_step(life_step(life_step(life_step(x))));
}
static sn_acc nearest_1d(sn_acc x, sn_acc y)
{
    return sn_minimum(sn_zip_with(step_of, sn_replicate(x, SN_ALL, sn_size(y)), sn_replicate(y, sn_size(x), SN_ALL)));
}
static sn_scalar is_close(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d)
{
    return sn_lt(sn_add(squared(sn_sub(a, b)), squared(sn_sub(c, d))), 0.01f);
}
static sn_acc close_pairs(sn_acc x, sn_acc y)
{
    sn_scalar n = sn_size(x);
    return sn_count(sn_flatten(sn_zip_with(is_close, sn_replicate(x, n, SN_ALL), sn_replicate(x, SN_ALL, n),
                                           sn_replicate(y, n, SN_ALL), sn_replicate(y, SN_ALL, n))));
}
F2(average_of, sn_to_u8(sn_shr(sn_add(sn_add(sn_to_u16(x), sn_to_u16(y)), 1), 1)))
static sn_acc average(sn_acc x, sn_acc y)
{
    return sn_zip_with(average_of, x, y);
}
static sn_acc sum_axis_0(sn_acc x)
{
    return sn_sum(sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 2), sn_extent(x, 0)), channel_last, x));
}
F3(middle_last, sn_tuple(x, z, y))
static sn_acc max_axis_1(sn_acc x)
{
    return sn_maximum(sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 2), sn_extent(x, 1)), middle_last, x));
}
F1(is_large, sn_gt(x, 98))
static sn_acc any_rows(sn_acc x)
{
    return sn_any(sn_map(is_large, x));
}
F1(mod_7, sn_mod(x, 7))
static sn_acc modulo_7(sn_acc x)
{
    return sn_map(mod_7, x);
}
static sn_acc divide(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_quot, x, y);
}
F2(half_sum, sn_mul(0.5f, sn_add(x, y)))
F2(half_difference, sn_mul(0.5f, sn_sub(x, y)))
F1(twice, sn_mul(x, 2))
F1(twice_1, sn_add(sn_mul(x, 2), 1))
static sn_acc haar(sn_acc x, sn_acc k)
{
    sn_acc a = sn_backpermute(sn_size(k), twice, x), b = sn_backpermute(sn_size(k), twice_1, x);
    return sn_results(sn_zip_with(half_sum, a, b), sn_zip_with(half_difference, a, b));
}
static sn_scalar number_of(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    return sn_add(v, sn_to_i32(sn_add(sn_mul(i, sn_extent(*(sn_acc *)env, 1)), j)));
}
static sn_acc flat_index(sn_acc x)
{
    return sn_imap(sn_closure(number_of, &x), x);
}

#define NB_GROUP mixed
#define NB_TABLE "mixed.def"
#include "../table.h"
