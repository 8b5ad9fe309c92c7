/* Pixels, frames of sound, points of paths and vectors of fields. */
#include "../program.h"

static sn_scalar weighted(sn_scalar s)
{
    sn_scalar corners =
        sn_add(sn_add(sn_at(s, -1, -1, 0), sn_at(s, -1, 1, 0)), sn_add(sn_at(s, 1, -1, 0), sn_at(s, 1, 1, 0)));
    sn_scalar sides =
        sn_add(sn_add(sn_at(s, -1, 0, 0), sn_at(s, 1, 0, 0)), sn_add(sn_at(s, 0, -1, 0), sn_at(s, 0, 1, 0)));
    return sn_mul(sn_add(corners, sn_add(sn_mul(sides, 2), sn_mul(sn_at(s, 0, 0, 0), 4))), 0.0625f);
}

static sn_acc blur(sn_acc x)
{
    return sn_stencil(weighted, sn_pattern(3, 3, 1), sn_clamp, x);
}

static sn_acc blur_wrap(sn_acc x)
{
    return sn_stencil(weighted, sn_pattern(3, 3, 1), sn_wrap, x);
}

static sn_scalar wide(sn_scalar s, int i, int j)
{
    return sn_to_u16(sn_at(s, i, j, 0));
}

static sn_scalar weighted_bytes(sn_scalar s)
{
    sn_scalar corners = sn_add(sn_add(wide(s, -1, -1), wide(s, -1, 1)), sn_add(wide(s, 1, -1), wide(s, 1, 1)));
    sn_scalar sides = sn_add(sn_add(wide(s, -1, 0), wide(s, 1, 0)), sn_add(wide(s, 0, -1), wide(s, 0, 1)));
    sn_scalar all = sn_add(corners, sn_add(sn_mul(sides, 2), sn_mul(wide(s, 0, 0), 4)));
    return sn_to_u8(sn_shr(sn_add(all, 8), 4));
}

static sn_acc blur_bytes(sn_acc x)
{
    return sn_stencil(weighted_bytes, sn_pattern(3, 3, 1), sn_clamp, x);
}

static sn_scalar largest(sn_scalar s)
{
    sn_scalar most = sn_at(s, -1, -1, 0);
    for (int k = 1; k < 9; k++)
        most = sn_max(most, sn_at(s, k / 3 - 1, k % 3 - 1, 0));
    return most;
}

static sn_acc dilate(sn_acc x)
{
    return sn_stencil(largest, sn_pattern(3, 3, 1), sn_clamp, x);
}

static sn_scalar slope(sn_scalar s)
{
    sn_scalar a = sn_sub(sn_at(s, 0, 1, 0), sn_at(s, 0, -1, 0)), b = sn_sub(sn_at(s, 1, 0, 0), sn_at(s, -1, 0, 0));
    return sn_add(sn_mul(a, a), sn_mul(b, b));
}

/* The steepest of the three channels. */
static sn_acc edges(sn_acc x)
{
    return sn_map(sn_sqrt, sn_maximum(sn_stencil(slope, sn_pattern(3, 3, 1), sn_clamp, x)));
}

static sn_scalar of_block(sn_acc x, sn_scalar i, sn_scalar j, sn_scalar c, int k)
{
    return sn_index(x, sn_add(sn_mul(i, 2), k / 2), sn_add(sn_mul(j, 2), k % 2), c);
}

static sn_scalar mean_of_block(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_scalar sum = sn_u16(2);
    for (int k = 0; k < 4; k++)
        sum = sn_add(sum, sn_to_u16(of_block(*(sn_acc *)env, i, j, c, k)));
    return sn_to_u8(sn_shr(sum, 2));
}

static sn_acc shape_of_half(sn_acc x, sn_scalar (*f)(void *, sn_scalar, sn_scalar, sn_scalar))
{
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2), sn_extent(x, 2));
    return sn_generate(shape, sn_closure(f, &x));
}

static sn_acc half_size(sn_acc x)
{
    return shape_of_half(x, mean_of_block);
}

static sn_scalar mean_of_floats(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar sum = sn_add(sn_add(of_block(x, i, j, c, 0), of_block(x, i, j, c, 1)),
                           sn_add(of_block(x, i, j, c, 2), of_block(x, i, j, c, 3)));
    return sn_mul(sum, 0.25f);
}

static sn_acc half_size_floats(sn_acc x)
{
    return shape_of_half(x, mean_of_floats);
}

static sn_scalar of_half(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(sn_quot(i, 2), sn_quot(j, 2), c);
}

static sn_acc twice_the_size(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_mul(sn_extent(x, 0), 2), sn_mul(sn_extent(x, 1), 2), 3), of_half, x);
}

struct resized {
    sn_acc x;
    sn_scalar down, across;
};

static sn_scalar between(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const struct resized *r = env;
    sn_scalar y = sn_mul(sn_to_f32(i), r->down), u = sn_mul(sn_to_f32(j), r->across);
    sn_scalar y0 = sn_to_i64(y), x0 = sn_to_i64(u), y1 = sn_add(y0, 1), x1 = sn_add(x0, 1);
    sn_scalar fy = sn_sub(y, sn_to_f32(y0)), fx = sn_sub(u, sn_to_f32(x0));
    sn_scalar a = sn_index(r->x, y0, x0, c), b = sn_index(r->x, y0, x1, c);
    sn_scalar d = sn_index(r->x, y1, x0, c), e = sn_index(r->x, y1, x1, c);
    sn_scalar above = sn_add(a, sn_mul(fx, sn_sub(b, a))), below = sn_add(d, sn_mul(fx, sn_sub(e, d)));
    return sn_add(above, sn_mul(fy, sn_sub(below, above)));
}

static sn_acc resize(sn_acc x, sn_acc like)
{
    sn_scalar h = sn_extent(like, 0), w = sn_extent(like, 1);
    struct resized r = {.x = x,
                        .down = sn_div(sn_to_f32(sn_sub(sn_extent(x, 0), 1)), sn_to_f32(h)),
                        .across = sn_div(sn_to_f32(sn_sub(sn_extent(x, 1), 1)), sn_to_f32(w))};
    return sn_generate(sn_shape(h, w, 3), sn_closure(between, &r));
}

static sn_scalar over_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar rest = sn_sub(1.0f, sn_index(in[0], i, j, 3));
    return sn_add(sn_index(in[0], i, j, c), sn_mul(sn_index(in[1], i, j, c), rest));
}

static sn_acc over(sn_acc a, sn_acc b)
{
    sn_acc in[] = {a, b};
    return sn_generate(sn_shape_of(a), sn_closure(over_at, in));
}

static sn_scalar premultiplied_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar alpha = sn_to_u32(sn_index(x, i, j, 3)), value = sn_to_u32(sn_index(x, i, j, c));
    sn_scalar product = sn_quot(sn_add(sn_mul(value, alpha), 127), 255);
    return sn_to_u8(sn_if(sn_eq(c, 3), alpha, product));
}

static sn_acc premultiplied(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(premultiplied_at, &x));
}

static sn_scalar of_blue_first(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(i, j, sn_sub(2, c));
}

static sn_acc blue_first(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), of_blue_first, x);
}

static sn_scalar where_masked(sn_scalar v, sn_scalar mask)
{
    return sn_if(mask, v, 0);
}

static sn_acc masked(sn_acc x, sn_acc mask)
{
    return sn_zip_with(where_masked, x, sn_replicate(mask, SN_ALL, SN_ALL, 3));
}

static sn_scalar padded_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar y = sn_sub(i, 4), u = sn_sub(j, 4);
    sn_scalar inside =
        sn_and(sn_and(sn_ge(y, 0), sn_lt(y, sn_extent(x, 0))), sn_and(sn_ge(u, 0), sn_lt(u, sn_extent(x, 1))));
    return sn_if(inside, sn_index(x, y, u, c), 0);
}

static sn_acc padded(sn_acc x)
{
    return sn_generate(sn_shape(sn_add(sn_extent(x, 0), 8), sn_add(sn_extent(x, 1), 8), 3), sn_closure(padded_at, &x));
}

static sn_scalar of_cropped(sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(sn_add(i, 50), sn_add(j, 50), c);
}

static sn_acc cropped(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_sub(sn_extent(x, 0), 100), sn_sub(sn_extent(x, 1), 100), 3), of_cropped, x);
}

static sn_scalar colour_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    return sn_index(in[1], sn_to_i64(sn_index(in[0], i, j)), c);
}

static sn_acc palette(sn_acc x, sn_acc colours)
{
    sn_acc in[] = {x, colours};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 3), sn_closure(colour_at, in));
}

static sn_scalar bright_at(void *env, sn_scalar i, sn_scalar j)
{
    static const int weight[] = {77, 150, 29};
    sn_scalar sum = sn_u32(0);
    for (int c = 0; c < 3; c++)
        sum = sn_add(sum, sn_mul(sn_to_u32(sn_index(*(sn_acc *)env, i, j, c)), weight[c]));
    return sn_gt(sum, 128 * 256);
}

static sn_acc bright(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(bright_at, &x));
}

/* Rows of all pixels of a channel. */
static sn_acc by_channel(sn_acc x)
{
    sn_scalar pixels = sn_mul(sn_extent(x, 0), sn_extent(x, 1));
    return sn_transpose(sn_reshape(sn_shape(pixels, sn_extent(x, 2)), x));
}

static sn_scalar over_number(void *env, sn_scalar sum)
{
    return sn_div(sum, *(sn_scalar *)env);
}

static sn_acc means(sn_acc x)
{
    sn_scalar pixels = sn_to_f32(sn_mul(sn_extent(x, 0), sn_extent(x, 1)));
    return sn_map(sn_closure(over_number, &pixels), sn_sum(by_channel(x)));
}

static sn_acc sums(sn_acc x)
{
    return sn_sum(sn_map(sn_to_i64, by_channel(x)));
}

static sn_scalar bin(sn_scalar i, sn_scalar j, sn_scalar c, sn_scalar v)
{
    (void)i, (void)j;
    return sn_tuple(c, sn_to_i64(v));
}

static sn_acc histograms(sn_acc x)
{
    return sn_map(sn_to_i32, sn_histogram(sn_shape(3, 256), sn_imap(bin, x)));
}

static sn_scalar stretched(sn_scalar v, sn_scalar least, sn_scalar most)
{
    return sn_div(sn_sub(v, least), sn_max(sn_sub(most, least), 1e-6f));
}

static sn_acc everywhere(sn_acc x, sn_acc of_channels)
{
    return sn_replicate(of_channels, sn_extent(x, 0), sn_extent(x, 1), SN_ALL);
}

static sn_acc contrast(sn_acc x)
{
    sn_acc channels = by_channel(x);
    return sn_zip_with(stretched, x, everywhere(x, sn_minimum(channels)), everywhere(x, sn_maximum(channels)));
}

static sn_acc white_balance(sn_acc x)
{
    sn_acc mean = means(x);
    sn_scalar grey = sn_div(sn_the(sn_sum(mean)), 3.0f);
    sn_acc factor = sn_map(sn_closure(over_number, &grey), mean);
    return sn_zip_with(sn_div, x, everywhere(x, factor));
}

static sn_scalar hue_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar r = sn_index(x, i, j, 0), g = sn_index(x, i, j, 1), b = sn_index(x, i, j, 2);
    sn_scalar most = sn_max(r, sn_max(g, b)), range = sn_sub(most, sn_min(r, sn_min(g, b)));
    sn_scalar d = sn_max(range, 1e-6f);
    sn_scalar h =
        sn_if(sn_eq(most, r), sn_div(sn_sub(g, b), d),
              sn_if(sn_eq(most, g), sn_add(sn_div(sn_sub(b, r), d), 2.0f), sn_add(sn_div(sn_sub(r, g), d), 4.0f)));
    sn_scalar saturation = sn_div(range, sn_max(most, 1e-6f));
    return sn_if(sn_eq(c, 0), h, sn_if(sn_eq(c, 1), saturation, most));
}

static sn_acc hue(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(hue_at, &x));
}

/* --- sound: n frames of c channels --- */

static sn_scalar nine_taps(sn_scalar s)
{
    sn_scalar sum = sn_mul(sn_at(s, -4, 0), 0.0625f);
    for (int k = 1; k < 9; k++)
        sum = sn_add(sum, sn_mul(sn_at(s, k - 4, 0), (float)(k + 1) / 16));
    return sum;
}

static sn_acc fir_9(sn_acc x)
{
    return sn_stencil(nine_taps, sn_pattern(9, 1), sn_constant(0), x);
}

static sn_scalar echo_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar before = sn_sub(i, 4410);
    return sn_add(sn_index(x, i, c), sn_if(sn_ge(before, 0), sn_mul(sn_index(x, before, c), 0.5f), 0.0f));
}

static sn_acc echo(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(echo_at, &x));
}

static sn_scalar mono_at(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    return sn_to_i16(sn_shr(sn_add(sn_to_i32(sn_index(x, i, 0)), sn_to_i32(sn_index(x, i, 1))), 1));
}

static sn_acc mono(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(mono_at, &x));
}

static sn_acc stereo(sn_acc x)
{
    return sn_replicate(x, SN_ALL, 2);
}

static sn_scalar of_transposed(sn_scalar i, sn_scalar c, sn_scalar k)
{
    return sn_tuple(i, k, c);
}

/* The maxima of stretches of frames, for each channel. */
static sn_acc peaks(sn_acc x)
{
    sn_acc t = sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 2), sn_extent(x, 1)), of_transposed, x);
    return sn_maximum(sn_map(sn_abs, t));
}

static sn_scalar faded_at(void *env, sn_scalar i, sn_scalar c, sn_scalar v)
{
    (void)c;
    return sn_mul(v, sn_mul(sn_to_f32(i), *(sn_scalar *)env));
}

static sn_acc faded(sn_acc x)
{
    sn_scalar step = sn_div(1.0f, sn_to_f32(sn_extent(x, 0)));
    return sn_imap(sn_closure(faded_at, &step), x);
}

/* --- paths: n points of three numbers --- */

static sn_scalar step_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, sn_add(i, 1), c), sn_index(x, i, c));
}

static sn_acc steps_of_path(sn_acc x)
{
    return sn_generate(sn_shape(sn_sub(sn_extent(x, 0), 1), 3), sn_closure(step_at, &x));
}

static sn_scalar five_points(sn_scalar s)
{
    sn_scalar sum = sn_at(s, -2, 0);
    for (int k = -1; k <= 2; k++)
        sum = sn_add(sum, sn_at(s, k, 0));
    return sn_mul(sum, 0.2f);
}

static sn_acc smooth_path(sn_acc x)
{
    return sn_stencil(five_points, sn_pattern(5, 1), sn_clamp, x);
}

static sn_acc sums_of_steps(sn_acc x)
{
    return sn_transpose(sn_scanl1(sn_add, sn_transpose(x)));
}

static sn_scalar squared(sn_scalar a, sn_scalar b)
{
    return sn_mul(sn_sub(a, b), sn_sub(a, b));
}

static sn_acc from_centre(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), number = sn_to_f32(n);
    sn_acc centre = sn_map(sn_closure(over_number, &number), sn_sum(sn_transpose(x)));
    return sn_map(sn_sqrt, sn_sum(sn_zip_with(squared, x, sn_replicate(centre, n, SN_ALL))));
}

/* --- fields: vectors of a plane --- */

static sn_scalar clamped(sn_scalar i, sn_scalar n)
{
    return sn_max(0, sn_min(i, sn_sub(n, 1)));
}

static sn_scalar gradient_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar down = sn_sub(sn_index(x, clamped(sn_add(i, 1), n), j), sn_index(x, clamped(sn_sub(i, 1), n), j));
    sn_scalar across = sn_sub(sn_index(x, i, clamped(sn_add(j, 1), m)), sn_index(x, i, clamped(sn_sub(j, 1), m)));
    return sn_mul(sn_if(sn_eq(c, 0), down, across), 0.5f);
}

static sn_acc gradient(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 2), sn_closure(gradient_at, &x));
}

static sn_scalar divergence_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar down = sn_sub(sn_index(x, clamped(sn_add(i, 1), n), j, 0), sn_index(x, clamped(sn_sub(i, 1), n), j, 0));
    sn_scalar across = sn_sub(sn_index(x, i, clamped(sn_add(j, 1), m), 1), sn_index(x, i, clamped(sn_sub(j, 1), m), 1));
    return sn_mul(sn_add(down, across), 0.5f);
}

static sn_acc divergence(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(divergence_at, &x));
}

static sn_scalar square(sn_scalar v)
{
    return sn_mul(v, v);
}

static sn_acc lengths(sn_acc x)
{
    return sn_map(sn_sqrt, sn_sum(sn_map(square, x)));
}

static sn_acc directions(sn_acc x)
{
    return sn_zip_with(sn_div, x, sn_replicate(lengths(x), SN_ALL, SN_ALL, 2));
}

/* --- features --- */

static sn_scalar with_bias(sn_scalar v, sn_scalar bias)
{
    return sn_max(sn_add(v, bias), 0.0f);
}

static sn_acc bias_relu(sn_acc x, sn_acc bias)
{
    return sn_zip_with(with_bias, x, everywhere(x, bias));
}

static sn_scalar standard(sn_scalar v, sn_scalar mean, sn_scalar variance)
{
    return sn_div(sn_sub(v, mean), sn_sqrt(sn_add(variance, 1e-5f)));
}

static sn_scalar variance_of(sn_scalar squares, sn_scalar mean)
{
    return sn_sub(squares, sn_mul(mean, mean));
}

static sn_acc normalised(sn_acc x)
{
    sn_acc mean = means(x), variance = sn_zip_with(variance_of, means(sn_map(square, x)), mean);
    return sn_zip_with(standard, x, everywhere(x, mean), everywhere(x, variance));
}

/* A filter for each feature: outside of the image there are zeros. */
static sn_scalar depthwise_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar sum = sn_f32(0), n = sn_extent(in[0], 0), m = sn_extent(in[0], 1);
    for (int k = 0; k < 9; k++) {
        sn_scalar y = sn_add(i, k / 3 - 1), u = sn_add(j, k % 3 - 1);
        sn_scalar inside = sn_and(sn_and(sn_ge(y, 0), sn_lt(y, n)), sn_and(sn_ge(u, 0), sn_lt(u, m)));
        sn_scalar v = sn_if(inside, sn_index(in[0], clamped(y, n), clamped(u, m), c), 0.0f);
        sum = sn_add(sum, sn_mul(v, sn_index(in[1], k / 3, k % 3, c)));
    }
    return sum;
}

static sn_acc depthwise(sn_acc x, sn_acc weights)
{
    sn_acc in[] = {x, weights};
    return sn_generate(sn_shape_of(x), sn_closure(depthwise_at, in));
}

static sn_scalar largest_of_block(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_scalar most = of_block(*(sn_acc *)env, i, j, c, 0);
    for (int k = 1; k < 4; k++)
        most = sn_max(most, of_block(*(sn_acc *)env, i, j, c, k));
    return most;
}

static sn_acc max_pool(sn_acc x)
{
    return shape_of_half(x, largest_of_block);
}

static sn_acc largest_class(sn_acc x)
{
    return sn_argmax(x);
}

static sn_acc mean_of_features(sn_acc x)
{
    sn_scalar number = sn_to_f32(sn_extent(x, 1));
    sn_acc t = sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 2), sn_extent(x, 1)), of_transposed, x);
    return sn_map(sn_closure(over_number, &number), sn_sum(t));
}

#define NB_GROUP channels
#define NB_TABLE "channels.def"
#include "../table.h"
