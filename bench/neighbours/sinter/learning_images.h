/* Images, boxes and what convolutions are made of, of the group `learning`. */
#ifndef NEIGHBOURS_LEARNING_IMAGES_H
#define NEIGHBOURS_LEARNING_IMAGES_H

#include "learning_shared.h"

struct convolution {
    sn_acc x, w;
    sn_scalar place[3];
};

static sn_scalar taps_of_channel(void *env, sn_scalar c, sn_scalar sum)
{
    struct convolution *v = env;
    for (int t = 0; t < 5; t++)
        sum = sn_add(sum, sn_mul(sn_index(v->x, c, sn_add(v->place[1], t)), sn_index(v->w, v->place[0], c, t)));
    return sum;
}

static sn_scalar convolved_1d(void *env, sn_scalar k, sn_scalar i)
{
    struct convolution v = *(struct convolution *)env;
    v.place[0] = k, v.place[1] = i;
    return sn_loop(sn_extent(v.x, 0), sn_closure(taps_of_channel, &v), sn_f32(0));
}

static sn_acc convolution_1d(sn_acc x, sn_acc w)
{
    struct convolution v = {.x = x, .w = w};
    return sn_generate(sn_shape(sn_extent(w, 0), sn_sub(sn_extent(x, 1), 4)), sn_closure(convolved_1d, &v));
}

static sn_scalar term_last(void *env, sn_scalar i) /* row, column, kernel, row and column in it, channel */
{
    struct convolution *v = env;
    sn_scalar at[6];
    for (int k = 0; k < 6; k++)
        at[k] = sn_get(i, k);
    return sn_mul(sn_index(v->x, sn_add(at[0], at[3]), sn_add(at[1], at[4]), at[5]),
                  sn_index(v->w, at[3], at[4], at[5], at[2]));
}

static sn_acc convolution_last(sn_acc x, sn_acc w)
{
    struct convolution v = {.x = x, .w = w};
    sn_scalar shape = sn_shape(sn_sub(sn_extent(x, 0), 2), sn_sub(sn_extent(x, 1), 2), 8, 3, 3, 3);
    return sn_sum(sn_sum(sn_sum(sn_generate(shape, sn_closure(term_last, &v)))));
}

static sn_scalar taps_of_bytes(void *env, sn_scalar c, sn_scalar sum) /* of kernel k at row y, column x */
{
    struct convolution *v = env;
    for (int t = 0; t < 9; t++) {
        sn_scalar x = sn_index(v->x, c, sn_add(v->place[1], t / 3), sn_add(v->place[2], t % 3));
        sn_scalar w = sn_index(v->w, v->place[0], c, t / 3, t % 3);
        sum = sn_add(sum, sn_mul(sn_sub(sn_to_i32(x), 128), sn_to_i32(w)));
    }
    return sum;
}

static sn_scalar convolved_bytes(void *env, sn_scalar k, sn_scalar y, sn_scalar x)
{
    struct convolution v = *(struct convolution *)env;
    v.place[0] = k, v.place[1] = y, v.place[2] = x;
    sn_scalar sum = sn_loop(sn_extent(v.x, 0), sn_closure(taps_of_bytes, &v), sn_i32(0));
    return sn_to_u8(sn_min(sn_max(sn_add(sn_shr(sn_add(sum, 512), 10), 128), 0), 255));
}

static sn_acc convolution_of_bytes(sn_acc x, sn_acc w)
{
    struct convolution v = {.x = x, .w = w};
    sn_scalar shape = sn_shape(sn_extent(w, 0), sn_sub(sn_extent(x, 1), 2), sn_sub(sn_extent(x, 2), 2));
    return sn_generate(shape, sn_closure(convolved_bytes, &v));
}

static sn_scalar term_of_gradient(void *env, sn_scalar i) /* kernel, channel, row and column in it, row, column */
{
    struct convolution *v = env;
    sn_scalar at[6];
    for (int k = 0; k < 6; k++)
        at[k] = sn_get(i, k);
    return sn_mul(sn_index(v->x, at[1], sn_add(at[2], at[4]), sn_add(at[3], at[5])),
                  sn_index(v->w, at[0], at[4], at[5]));
}

static sn_acc kernel_gradient(sn_acc x, sn_acc g)
{
    struct convolution v = {.x = x, .w = g};
    sn_scalar shape = sn_shape(sn_extent(g, 0), sn_extent(x, 0), 3, 3, sn_extent(g, 1), sn_extent(g, 2));
    return sn_sum(sn_sum(sn_generate(shape, sn_closure(term_of_gradient, &v))));
}

static sn_scalar inside(sn_acc x, sn_scalar y, sn_scalar z)
{
    return sn_land(sn_land(sn_ge(y, 0), sn_lt(y, sn_extent(x, 1))), sn_land(sn_ge(z, 0), sn_lt(z, sn_extent(x, 2))));
}

static sn_scalar depthwise_at(void *env, sn_scalar c, sn_scalar y, sn_scalar z)
{
    struct convolution *v = env;
    sn_scalar sum = sn_f32(0);
    for (int k = 0; k < 9; k++) {
        sn_scalar i = sn_add(y, k / 3 - 1), j = sn_add(z, k % 3 - 1);
        sn_scalar here = sn_if(inside(v->x, i, j), sn_index(v->x, c, i, j), sn_f32(0));
        sum = sn_add(sum, sn_mul(here, sn_index(v->w, c, k / 3, k % 3)));
    }
    return sum;
}

static sn_acc depthwise(sn_acc x, sn_acc w)
{
    struct convolution v = {.x = x, .w = w};
    return sn_generate(sn_shape_of(x), sn_closure(depthwise_at, &v));
}

static sn_scalar largest_at(void *env, sn_scalar c, sn_scalar y, sn_scalar z)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar best = sn_f32(-INFINITY), place = sn_i32(0);
    for (int k = 0; k < 9; k++) {
        sn_scalar i = sn_add(sn_mul(y, 2), k / 3), j = sn_add(sn_mul(z, 2), k % 3), v = sn_index(x, c, i, j);
        sn_scalar more = sn_gt(v, best);
        place = sn_if(more, sn_to_i32(sn_add(sn_mul(i, sn_extent(x, 2)), j)), place);
        best = sn_if(more, v, best);
    }
    return sn_tuple(best, place);
}

static sn_acc max_pool_places(sn_acc x, sn_acc y, sn_acc z)
{
    sn_acc both = sn_generate(sn_shape(sn_extent(x, 0), sn_size(y), sn_size(z)), sn_closure(largest_at, &x));
    return sn_results(sn_fst(both), sn_snd(both));
}

static sn_scalar unpooled(void *env, sn_scalar c, sn_scalar y, sn_scalar z)
{
    sn_acc *p = env;
    sn_scalar i = sn_quot(y, 2), j = sn_quot(z, 2);
    sn_scalar here = sn_add(sn_mul(2, sn_rem(y, 2)), sn_rem(z, 2));
    sn_scalar which = sn_to_i64(sn_bit_and(sn_index(p[1], c, i, j), 3));
    return sn_if(sn_eq(which, here), sn_index(p[0], c, i, j), sn_f32(0));
}

static sn_acc unpool(sn_acc x, sn_acc which, sn_acc y, sn_acc z)
{
    sn_acc p[] = {x, which};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_size(y), sn_size(z)), sn_closure(unpooled, p));
}

static sn_scalar average_at(void *env, sn_scalar c, sn_scalar y, sn_scalar z)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar sum = sn_f32(0), count = sn_f32(0);
    for (int k = 0; k < 9; k++) {
        sn_scalar i = sn_add(y, k / 3 - 1), j = sn_add(z, k % 3 - 1), in = inside(x, i, j);
        sum = sn_add(sum, sn_if(in, sn_index(x, c, i, j), sn_f32(0)));
        count = sn_add(count, sn_to_f32(in));
    }
    return sn_div(sum, count);
}

static sn_acc average_pool(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(average_at, &x));
}

static sn_acc global_average_first(sn_acc x)
{
    return divided(sn_sum(sn_sum(x)), sn_mul(sn_extent(x, 2), sn_extent(x, 3)));
}

static sn_acc global_average_last(sn_acc x)
{
    sn_scalar places = sn_mul(sn_extent(x, 1), sn_extent(x, 2));
    sn_acc planes = sn_reshape(sn_shape(sn_extent(x, 0), places, sn_extent(x, 3)), x);
    return divided(sn_sum(sn_transpose(planes)), places);
}

static sn_scalar linear_at(void *env, sn_scalar c, sn_scalar y, sn_scalar z)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar place[] = {y, z}, low[2], high[2], share[2];
    for (int k = 0; k < 2; k++) {
        sn_scalar last = sn_sub(sn_extent(x, k + 1), 1);
        sn_scalar at = sn_max(sn_sub(sn_mul(sn_add(sn_to_f32(place[k]), 0.5f), 0.5f), 0.5f), 0);
        low[k] = sn_to_i64(at);
        high[k] = sn_min(sn_add(low[k], 1), last);
        share[k] = sn_sub(at, sn_to_f32(low[k]));
    }
    sn_scalar a = sn_index(x, c, low[0], low[1]), b = sn_index(x, c, low[0], high[1]);
    sn_scalar d = sn_index(x, c, high[0], low[1]), e = sn_index(x, c, high[0], high[1]);
    sn_scalar above = sn_add(a, sn_mul(share[1], sn_sub(b, a))), below = sn_add(d, sn_mul(share[1], sn_sub(e, d)));
    return sn_add(above, sn_mul(share[0], sn_sub(below, above)));
}

static sn_acc upsample_linear(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_size(y), sn_size(z)), sn_closure(linear_at, &x));
}

static sn_scalar channel_at(void *env, sn_scalar n, sn_scalar c, sn_scalar y, sn_scalar z)
{
    sn_acc *p = env; /* images, means, deviations */
    sn_scalar x = sn_div(sn_to_f32(sn_index(p[0], n, y, z, c)), 255);
    return sn_div(sn_sub(x, sn_index(p[1], c)), sn_index(p[2], c));
}

static sn_acc normalised_images(sn_acc x, sn_acc mean, sn_acc deviation)
{
    sn_acc p[] = {x, mean, deviation};
    return sn_generate(sn_shape(sn_extent(x, 0), 3, sn_extent(x, 1), sn_extent(x, 2)), sn_closure(channel_at, p));
}

static sn_scalar patch_place(sn_scalar c, sn_scalar dy, sn_scalar dx, sn_scalar y, sn_scalar x)
{
    return sn_tuple(c, sn_add(y, dy), sn_add(x, dx));
}

static sn_acc patches(sn_acc x, sn_acc y, sn_acc z)
{
    sn_scalar c = sn_extent(x, 0), h = sn_size(y), w = sn_size(z);
    return sn_reshape(sn_shape(sn_mul(c, 9), h, w), sn_backpermute(sn_shape(c, 3, 3, h, w), patch_place, x));
}

static sn_scalar place_in_row(sn_scalar y, sn_scalar x, sn_scalar dy, sn_scalar dx, sn_scalar c)
{
    return sn_tuple(sn_add(y, dy), sn_add(x, dx), c);
}

static sn_acc patches_as_rows(sn_acc x, sn_acc y, sn_acc z)
{
    sn_scalar c = sn_extent(x, 2), h = sn_size(y), w = sn_size(z);
    return sn_reshape(sn_shape(h, w, sn_mul(9, c)), sn_backpermute(sn_shape(h, w, 3, 3, c), place_in_row, x));
}

struct crop {
    sn_acc drawn;
    sn_scalar room[2], width;
};

static sn_scalar cropped_from(void *env, sn_scalar i)
{
    struct crop *c = env;
    sn_scalar n = sn_get(i, 0), y = sn_get(i, 1), x = sn_get(i, 2);
    sn_scalar r = sn_to_i64(sn_index(c->drawn, n));
    sn_scalar flipped = sn_if(sn_eq(sn_bit_and(r, 1), 1), sn_sub(sn_sub(c->width, 1), x), x);
    return sn_tuple(n, sn_add(y, sn_rem(sn_shr(r, 1), c->room[0])), sn_add(flipped, sn_rem(sn_shr(r, 4), c->room[1])),
                    sn_get(i, 3));
}

static sn_acc crop_flip(sn_acc x, sn_acc drawn, sn_acc y, sn_acc z)
{
    sn_scalar h = sn_size(y), w = sn_size(z);
    struct crop c = {drawn, {sn_add(sn_sub(sn_extent(x, 1), h), 1), sn_add(sn_sub(sn_extent(x, 2), w), 1)}, w};
    return sn_backpermute(sn_shape(sn_extent(x, 0), h, w, 3), sn_closure(cropped_from, &c), x);
}

/* --- boxes: a corner and the extents --- */

static sn_scalar shared_length(sn_scalar a, sn_scalar width_a, sn_scalar b, sn_scalar width_b)
{
    return sn_max(sn_sub(sn_min(sn_add(a, width_a), sn_add(b, width_b)), sn_max(a, b)), 0);
}

static sn_scalar overlap(sn_acc a, sn_scalar i, sn_acc b, sn_scalar j)
{
    sn_scalar p[4], q[4];
    for (int k = 0; k < 4; k++) {
        p[k] = sn_index(a, i, k);
        q[k] = sn_index(b, j, k);
    }
    sn_scalar both = sn_mul(shared_length(p[0], p[2], q[0], q[2]), shared_length(p[1], p[3], q[1], q[3]));
    sn_scalar all = sn_sub(sn_add(sn_mul(p[2], p[3]), sn_mul(q[2], q[3])), both);
    return sn_div(both, sn_add(all, 1e-9f));
}

static sn_scalar overlap_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    return overlap(p[0], i, p[1], j);
}

static sn_acc box_overlaps(sn_acc a, sn_acc b)
{
    sn_acc p[] = {a, b};
    return sn_generate(sn_shape(sn_extent(a, 0), sn_extent(b, 0)), sn_closure(overlap_at, p));
}

static sn_scalar beaten_by(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env; /* boxes, scores */
    return sn_land(sn_gt(sn_index(p[1], j), sn_index(p[1], i)), sn_gt(overlap(p[0], i, p[0], j), 0.5f));
}

static sn_acc suppressed_boxes(sn_acc boxes, sn_acc score)
{
    sn_acc p[] = {boxes, score};
    sn_scalar n = sn_size(score);
    return sn_any(sn_generate(sn_shape(n, n), sn_closure(beaten_by, p)));
}

#endif
