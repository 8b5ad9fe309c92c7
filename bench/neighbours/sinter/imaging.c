/* Images in fixed point: neighbourhoods, sums, blocks, geometry; what is of single pixels is in imaging.h. */
#include "imaging.h"

#include <math.h>
#include <stdlib.h>

void nb_make_imaging_12_bits(const struct nb_call *call);
void nb_make_imaging_maps(const struct nb_call *call);
void nb_make_imaging_matrix(const struct nb_call *call);
void nb_make_imaging_places(const struct nb_call *call);
void nb_make_imaging_runs(const struct nb_call *call);

/* --- neighbourhoods --- */

static sn_scalar binomial(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e)
{
    return sn_add(sn_add(sn_add(a, e), sn_mul(sn_add(b, d), 4)), sn_mul(c, 6));
}

static sn_scalar across_5(sn_scalar s)
{
#define V(x) to_u16(sn_at(s, 0, x))
    return binomial(V(-2), V(-1), V(0), V(1), V(2));
#undef V
}

static sn_scalar down_5(sn_scalar s)
{
#define V(y) wide(sn_at(s, y, 0))
    return sn_to_u8(sn_shr(sn_add(binomial(V(-2), V(-1), V(0), V(1), V(2)), 128), 8));
#undef V
}

static sn_acc gaussian_5(sn_acc x)
{
    return sn_stencil(down_5, sn_pattern(5, 1), sn_clamp, sn_stencil(across_5, sn_pattern(1, 5), sn_clamp, x));
}

static sn_scalar sharper(sn_scalar x, sn_scalar blurred)
{
    sn_scalar d = sn_sub(wide(x), wide(blurred));
    return sn_if(sn_gt(sn_abs(d), 4), byte_of(sn_add(wide(x), sn_shr(sn_mul(d, 3), 2))), x);
}

static sn_acc unsharp_mask(sn_acc x)
{
    return sn_zip_with(sharper, x, gaussian_5(x));
}

static sn_scalar twice(sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_mul(i, 2), sn_mul(j, 2));
}

static sn_acc pyramid_down(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_quot(sn_add(sn_extent(x, 0), 1), 2), sn_quot(sn_add(sn_extent(x, 1), 1), 2));
    return sn_backpermute(shape, twice, gaussian_5(x));
}

static sn_scalar enlarged_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar odd_row = sn_eq(sn_rem(i, 2), 1), odd = sn_eq(sn_rem(j, 2), 1), sum = sn_i32(32);
    static const int even_weight[] = {1, 6, 1}, odd_weight[] = {0, 4, 4};
    for (int k = 0; k < 9; k++) {
        sn_scalar v = wide(sn_index(x, within(sn_add(sn_quot(i, 2), k / 3 - 1), sn_extent(x, 0)),
                                    within(sn_add(sn_quot(j, 2), k % 3 - 1), sn_extent(x, 1))));
        sn_scalar down = sn_if(odd_row, sn_i32(odd_weight[k / 3]), sn_i32(even_weight[k / 3]));
        sn_scalar across = sn_if(odd, sn_i32(odd_weight[k % 3]), sn_i32(even_weight[k % 3]));
        sum = sn_add(sum, sn_mul(v, sn_mul(down, across)));
    }
    return sn_to_u8(sn_shr(sum, 6));
}

static sn_acc pyramid_up(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(sn_extent(x, 0), 2), sn_mul(sn_extent(x, 1), 2)), sn_closure(enlarged_at, &x));
}

static sn_scalar bilateral_at(void *env, sn_scalar s)
{
    static const float near[] = {1, 0.8f, 0.4f};
    sn_acc table = *(sn_acc *)env;
    sn_scalar here = wide(sn_at(s, 0, 0)), sum = sn_f32(0), weights = sn_f32(0);
    for (int k = 0; k < 25; k++) {
        int y = k / 5 - 2, z = k % 5 - 2;
        sn_scalar v = wide(sn_at(s, y, z));
        sn_scalar w = sn_mul(sn_index(table, sn_abs(sn_sub(v, here))), near[abs(y)] * near[abs(z)]);
        sum = sn_add(sum, sn_mul(w, sn_to_f32(v)));
        weights = sn_add(weights, w);
    }
    return sn_to_u8(sn_add(sn_div(sum, weights), 0.5f));
}

static sn_acc bilateral(sn_acc x, sn_acc table)
{
    return sn_stencil(sn_closure(bilateral_at, &table), sn_pattern(5, 5), sn_clamp, x);
}

/* The least and the greatest of a disc of 21. */
static sn_scalar range_of_disc(sn_scalar s)
{
    sn_scalar least = sn_at(s, 0, 0), most = least;
    for (int k = 0; k < 25; k++) {
        int y = k / 5 - 2, z = k % 5 - 2;
        if (abs(y) + abs(z) == 4)
            continue;
        least = sn_min(least, sn_at(s, y, z));
        most = sn_max(most, sn_at(s, y, z));
    }
    return sn_sub(most, least);
}

static sn_acc gradient_disc(sn_acc x)
{
    return sn_stencil(range_of_disc, sn_pattern(5, 5), sn_clamp, x);
}

#define CROSS(name, f)                                                                                                 \
    static sn_scalar name(sn_scalar s)                                                                                 \
    {                                                                                                                  \
        return f(f(f(sn_at(s, -1, 0), sn_at(s, 1, 0)), f(sn_at(s, 0, -1), sn_at(s, 0, 1))), sn_at(s, 0, 0));           \
    }
CROSS(least_of_cross, sn_min)
CROSS(most_of_cross, sn_max)

static sn_acc open_cross(sn_acc x)
{
    sn_acc eroded = sn_stencil(least_of_cross, sn_pattern(3, 3), sn_clamp, x);
    return sn_stencil(most_of_cross, sn_pattern(3, 3), sn_clamp, eroded);
}

/* The eight neighbours, clockwise from the one above. */
static const int ring[8][2] = {{-1, 0}, {-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}};

/* A step of Zhang's and Suen's thinning. */
static sn_scalar thinned(sn_scalar s)
{
    sn_scalar p[8], count = sn_i32(0), rises = sn_i32(0);
    for (int k = 0; k < 8; k++)
        p[k] = sn_at(s, ring[k][0], ring[k][1]);
    for (int k = 0; k < 8; k++) {
        count = sn_add(count, sn_to_i32(p[k]));
        rises = sn_add(rises, sn_to_i32(sn_land(sn_not(p[k]), p[(k + 1) % 8])));
    }
    sn_scalar some = sn_land(sn_land(sn_ge(count, 2), sn_le(count, 6)), sn_eq(rises, 1));
    sn_scalar open = sn_land(sn_not(sn_land(sn_land(p[0], p[2]), p[4])), sn_not(sn_land(sn_land(p[2], p[4]), p[6])));
    return sn_land(sn_at(s, 0, 0), sn_not(sn_land(some, open)));
}

static sn_acc thin(sn_acc x)
{
    return sn_stencil(thinned, sn_pattern(3, 3), sn_constant(sn_bool(false)), x);
}

static void slopes_of(sn_scalar s, sn_scalar *x, sn_scalar *y)
{
#define V(y, x) wide(sn_at(s, y, x))
    *x = sn_add(sn_add(sn_sub(V(-1, 1), V(-1, -1)), sn_mul(sn_sub(V(0, 1), V(0, -1)), 2)), sn_sub(V(1, 1), V(1, -1)));
    *y = sn_add(sn_add(sn_sub(V(1, -1), V(-1, -1)), sn_mul(sn_sub(V(1, 0), V(-1, 0)), 2)), sn_sub(V(1, 1), V(-1, 1)));
#undef V
}

/* |x| + |y|, and which of four directions: across, falling, down, rising. */
static sn_scalar edge_of(sn_scalar s)
{
    sn_scalar x, y;
    slopes_of(s, &x, &y);
    sn_scalar a = sn_abs(x), b = sn_abs(y);
    sn_scalar slanted = sn_if(sn_gt(sn_bit_xor(x, y), -1), sn_u8(1), sn_u8(3));
    sn_scalar sector =
        sn_if(sn_lt(sn_mul(b, 5), sn_mul(a, 2)), sn_u8(0), sn_if(sn_gt(sn_mul(b, 2), sn_mul(a, 5)), sn_u8(2), slanted));
    return sn_tuple(sn_to_i16(sn_add(a, b)), sector);
}

static sn_acc edges_of(sn_acc x)
{
    return sn_stencil(edge_of, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc sobel_direction(sn_acc x)
{
    sn_acc edges = edges_of(x);
    return sn_results(sn_fst(edges), sn_snd(edges));
}

static sn_scalar if_crest(sn_scalar s)
{
    static const int way[4][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}};
    sn_scalar here = sn_fst(sn_at(s, 0, 0)), sector = sn_snd(sn_at(s, 0, 0)), most = sn_i16(0);
    for (int k = 0; k < 4; k++) {
        const int *w = way[k];
        sn_scalar beside = sn_max(sn_fst(sn_at(s, w[0], w[1])), sn_fst(sn_at(s, -w[0], -w[1])));
        most = sn_if(sn_eq(sector, k), beside, most);
    }
    return sn_if(sn_ge(here, most), here, sn_i16(0));
}

static sn_acc canny_thin(sn_acc x)
{
    return sn_stencil(if_crest, sn_pattern(3, 3), sn_clamp, edges_of(x));
}

static sn_scalar binary_pattern(sn_scalar s)
{
    sn_scalar code = sn_u8(0);
    for (int k = 0; k < 8; k++)
        code = sn_bit_or(code, sn_if(sn_ge(sn_at(s, ring[k][0], ring[k][1]), sn_at(s, 0, 0)), sn_u8(1 << k), sn_u8(0)));
    return code;
}

static sn_acc local_patterns(sn_acc x)
{
    return sn_stencil(binary_pattern, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc pattern_histogram(sn_acc x)
{
    return sn_histogram(256, sn_flatten(local_patterns(x)));
}

static sn_scalar census_of(sn_scalar s)
{
    sn_scalar code = sn_u32(0);
    for (int k = 0; k < 25; k++)
        if (k != 12)
            code = sn_bit_or(sn_shl(code, 1), sn_to_u32(sn_lt(sn_at(s, k / 5 - 2, k % 5 - 2), sn_at(s, 0, 0))));
    return code;
}

static sn_acc census(sn_acc x)
{
    return sn_stencil(census_of, sn_pattern(5, 5), sn_clamp, x);
}

static sn_scalar products_of(sn_scalar s)
{
    sn_scalar x, y;
    slopes_of(s, &x, &y);
    return sn_tuple(sn_mul(x, x), sn_mul(x, y), sn_mul(y, y));
}

static sn_scalar corner_of(sn_scalar s)
{
    sn_scalar sum[3];
    for (int c = 0; c < 3; c++) {
        sn_scalar total = sn_i32(0);
        for (int k = 0; k < 9; k++)
            total = sn_add(total, sn_get(sn_at(s, k / 3 - 1, k % 3 - 1), c));
        sum[c] = sn_mul(sn_to_f32(total), 0x1p-10f);
    }
    sn_scalar trace = sn_add(sum[0], sum[2]);
    return sn_sub(sn_sub(sn_mul(sum[0], sum[2]), sn_mul(sum[1], sum[1])), sn_mul(0.04f, sn_mul(trace, trace)));
}

static sn_acc harris(sn_acc x)
{
    sn_acc products = sn_stencil(products_of, sn_pattern(3, 3), sn_clamp, x);
    return sn_stencil(corner_of, sn_pattern(3, 3), sn_clamp, products);
}

static sn_scalar is_peak(sn_scalar s)
{
    sn_scalar most = sn_at(s, ring[0][0], ring[0][1]), here = sn_at(s, 0, 0);
    for (int k = 1; k < 8; k++)
        most = sn_max(most, sn_at(s, ring[k][0], ring[k][1]));
    return sn_land(sn_gt(here, most), sn_gt(here, 0.5f));
}

F2(place_of, sn_tuple(sn_to_i32(x), sn_to_i32(y)))

static sn_acc corner_points(sn_acc x)
{
    return sn_pack(sn_stencil(is_peak, sn_pattern(3, 3), sn_constant(0.0f), x), sn_generate(sn_shape_of(x), place_of));
}

/* Squares and products of the differences across, down and to the next image. */
static sn_scalar differences_of(sn_scalar s, sn_scalar t)
{
    sn_scalar x = sn_sub(wide(sn_at(s, 0, 1)), wide(sn_at(s, 0, -1)));
    sn_scalar y = sn_sub(wide(sn_at(s, 1, 0)), wide(sn_at(s, -1, 0)));
    sn_scalar z = sn_sub(wide(sn_at(t, 0, 0)), wide(sn_at(s, 0, 0)));
    return sn_tuple(sn_mul(x, x), sn_mul(x, y), sn_mul(y, y), sn_mul(x, z), sn_mul(y, z));
}

static sn_scalar flow_of(sn_scalar s)
{
    sn_scalar sum[5];
    for (int c = 0; c < 5; c++) {
        sn_scalar total = sn_i32(0);
        for (int k = 0; k < 25; k++)
            total = sn_add(total, sn_get(sn_at(s, k / 5 - 2, k % 5 - 2), c));
        sum[c] = sn_to_f32(total);
    }
    sn_scalar det = sn_add(sn_sub(sn_mul(sum[0], sum[2]), sn_mul(sum[1], sum[1])), 1.0f);
    return sn_tuple(sn_div(sn_sub(sn_mul(sum[1], sum[4]), sn_mul(sum[2], sum[3])), det),
                    sn_div(sn_sub(sn_mul(sum[1], sum[3]), sn_mul(sum[0], sum[4])), det));
}

static sn_acc optical_flow(sn_acc x, sn_acc next)
{
    sn_acc products = sn_stencil2(differences_of, sn_pattern(3, 3), sn_clamp, x, sn_pattern(1, 1), sn_clamp, next);
    sn_acc flow = sn_stencil(flow_of, sn_pattern(5, 5), sn_clamp, products);
    return sn_results(sn_fst(flow), sn_snd(flow));
}

static sn_scalar in_window(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_index(*(sn_acc *)env, i, sn_add(j, k));
}

static sn_acc range_of_15(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_sub(sn_extent(x, 1), 14), 15);
    sn_acc windows = sn_generate(shape, sn_closure(in_window, &x));
    return sn_zip_with(sn_sub, sn_maximum(windows), sn_minimum(windows));
}

/* --- sums and histograms --- */

F1(to_u32, sn_to_u32(x))
F1(squared, sn_mul(to_u32(x), to_u32(x)))

static sn_acc sums_from_corner(sn_acc x)
{
    return sn_transpose(sn_scanl(sn_add, 0, sn_transpose(sn_scanl(sn_add, 0, x))));
}

static sn_acc integral(sn_acc x)
{
    return sums_from_corner(sn_map(to_u32, x));
}

static sn_scalar box_of(sn_acc s, sn_scalar i0, sn_scalar i1, sn_scalar j0, sn_scalar j1)
{
    return sn_sub(sn_add(sn_index(s, i0, j0), sn_index(s, i1, j1)), sn_add(sn_index(s, i0, j1), sn_index(s, i1, j0)));
}

/* Sauvola's threshold from means and deviations of 15 x 15. */
static sn_scalar is_ink(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    const sn_acc *in = env;
    sn_scalar n = sn_sub(sn_extent(in[0], 0), 1), m = sn_sub(sn_extent(in[0], 1), 1);
    sn_scalar i0 = sn_max(sn_sub(i, 7), 0), i1 = sn_min(sn_add(i, 8), n), j0 = sn_max(sn_sub(j, 7), 0),
              j1 = sn_min(sn_add(j, 8), m);
    sn_scalar count = sn_to_f32(sn_mul(sn_sub(i1, i0), sn_sub(j1, j0)));
    sn_scalar mean = sn_div(sn_to_f32(box_of(in[0], i0, i1, j0, j1)), count);
    sn_scalar square = sn_div(sn_to_f32(box_of(in[1], i0, i1, j0, j1)), count);
    sn_scalar deviation = sn_sqrt(sn_max(sn_sub(square, sn_mul(mean, mean)), 0.0f));
    sn_scalar limit = sn_mul(mean, sn_add(1.0f, sn_mul(0.2f, sn_sub(sn_div(deviation, 128.0f), 1.0f))));
    return sn_if(sn_gt(sn_to_f32(v), limit), sn_u8(255), sn_u8(0));
}

static sn_acc sauvola(sn_acc x)
{
    sn_acc in[] = {integral(x), sums_from_corner(sn_map(squared, x))};
    return sn_imap(sn_closure(is_ink, in), x);
}

static sn_scalar between_classes(void *env, sn_scalar below, sn_scalar sum)
{
    sn_acc *in = env; /* all counts and sums so far */
    sn_scalar count = sn_index(in[0], 255), total = sn_index(in[1], 255), above = sn_sub(count, below);
    sn_scalar a = sn_to_f64(below), b = sn_to_f64(above);
    sn_scalar d = sn_sub(sn_div(sn_to_f64(sum), a), sn_div(sn_to_f64(sn_sub(total, sum)), b));
    return sn_if(sn_lor(sn_eq(below, 0), sn_eq(above, 0)), sn_f64(0), sn_mul(sn_mul(a, b), sn_mul(d, d)));
}

static sn_scalar above_level(void *env, sn_scalar x)
{
    return sn_gt(sn_to_i64(x), sn_the(*(sn_acc *)env));
}

static sn_acc otsu(sn_acc x)
{
    sn_acc counts = sn_histogram(256, sn_flatten(x));
    sn_acc so_far[] = {sn_scanl1(sn_add, counts), sn_scanl1(sn_add, sn_imap(sn_mul, counts))};
    sn_acc level = sn_argmax(sn_zip_with(sn_closure(between_classes, so_far), so_far[0], so_far[1]));
    return sn_map(sn_closure(above_level, &level), x);
}

static sn_scalar tile_of(sn_scalar i, sn_scalar j, sn_scalar v)
{
    return sn_tuple(sn_quot(i, 64), sn_quot(j, 64), sn_to_i64(v));
}

static sn_scalar equalised(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_scalar below = sn_index(*(sn_acc *)env, sn_quot(i, 64), sn_quot(j, 64), v);
    return sn_to_u8(sn_shr(sn_mul(below, 255), 12));
}

static sn_acc equalise_tiles(sn_acc x)
{
    sn_scalar bins = sn_shape(sn_quot(sn_extent(x, 0), 64), sn_quot(sn_extent(x, 1), 64), 256);
    sn_acc below = sn_scanl1(sn_add, sn_histogram(bins, sn_flatten(sn_imap(tile_of, x))));
    return sn_imap(sn_closure(equalised, &below), x);
}

F2(both_levels, sn_tuple(sn_shr(x, 2), sn_shr(y, 2)))

static sn_acc joint_histogram(sn_acc x, sn_acc y)
{
    return sn_histogram(sn_shape(64, 64), sn_flatten(sn_zip_with(both_levels, x, y)));
}

static sn_acc projections(sn_acc x)
{
    return sn_results(sn_count(x), sn_count(sn_transpose(x)));
}

static sn_scalar with_powers(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    const int *power = env;
    v = sn_to_i64(v);
    for (int k = 0; k < power[0]; k++)
        v = sn_mul(v, i);
    for (int k = 0; k < power[1]; k++)
        v = sn_mul(v, j);
    return v;
}

/* Moments up to the third degree: 00 01 02 03 10 11 12 20 21 30. */
static sn_acc moments(sn_acc x)
{
    sn_acc sum[10];
    int count = 0;
    for (int p = 0; p < 4; p++)
        for (int q = 0; p + q < 4; q++) {
            int power[] = {p, q};
            sum[count++] = sn_sum(sn_flatten(sn_imap(sn_closure(with_powers, power), x)));
        }
    return sn_results(sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7], sum[8], sum[9]);
}

static sn_scalar is_moving(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const sn_acc *in = env;
    sn_scalar y = sn_add(sn_mul(i, 16), sn_quot(k, 16)), z = sn_add(sn_mul(j, 16), sn_rem(k, 16));
    return sn_gt(sn_abs(sn_sub(wide(sn_index(in[0], y, z)), wide(sn_index(in[1], y, z)))), 60);
}

static sn_acc moving_blocks(sn_acc x, sn_acc y)
{
    sn_acc in[] = {x, y};
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 16), sn_quot(sn_extent(x, 1), 16), 256);
    return sn_count(sn_generate(shape, sn_closure(is_moving, in)));
}

static sn_scalar voted(void *env, sn_scalar i, sn_scalar j, sn_scalar side)
{
    const sn_acc *in = env; /* slopes across, down */
    sn_scalar x = sn_to_f32(sn_index(in[0], i, j)), y = sn_to_f32(sn_index(in[1], i, j));
    sn_scalar length = sn_sqrt(sn_add(sn_mul(x, x), sn_mul(y, y)));
    sn_scalar radius = sn_div(sn_if(sn_eq(side, 0), sn_f32(10), sn_f32(-10)), length);
    sn_scalar row = sn_add(i, sn_to_i64(sn_rint(sn_mul(y, radius))));
    sn_scalar column = sn_add(j, sn_to_i64(sn_rint(sn_mul(x, radius))));
    sn_scalar inside = sn_land(sn_land(sn_ge(row, 0), sn_lt(row, sn_extent(in[0], 0))),
                               sn_land(sn_ge(column, 0), sn_lt(column, sn_extent(in[0], 1))));
    return sn_tuple(sn_if(sn_land(inside, sn_gt(length, 80.0f)), row, sn_ignore()), column);
}

static sn_acc circle_votes(sn_acc x, sn_acc y)
{
    sn_acc in[] = {x, y};
    return sn_histogram(sn_shape_of(x),
                        sn_flatten(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 2), sn_closure(voted, in))));
}

#include "imaging_places.h"

#define NB_GROUP imaging
#define NB_TABLE "imaging.def"
#include "../table.h"
