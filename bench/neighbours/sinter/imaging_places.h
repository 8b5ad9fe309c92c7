/* Images in blocks, searched, scanned, turned and warped. */
#ifndef NEIGHBOURS_IMAGING_PLACES_H
#define NEIGHBOURS_IMAGING_PLACES_H

#include "imaging.h"

/* --- blocks and searches --- */

static sn_scalar template_term(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const sn_acc *in = env;
    sn_scalar y = sn_quot(k, 8), z = sn_rem(k, 8);
    return sn_abs(sn_sub(wide(sn_index(in[0], sn_add(i, y), sn_add(j, z))), wide(sn_index(in[1], y, z))));
}

static sn_acc template_sad(sn_acc x, sn_acc t)
{
    sn_acc in[] = {x, t};
    sn_scalar shape = sn_shape(sn_sub(sn_extent(x, 0), 7), sn_sub(sn_extent(x, 1), 7), 64);
    return sn_sum(sn_generate(shape, sn_closure(template_term, in)));
}

static sn_scalar template_row(void *env, sn_scalar k, sn_scalar sum)
{
    const void *const *at = env;
    const sn_acc *in = at[0];
    const sn_scalar *place = at[1];
    for (int z = 0; z < 8; z++) {
        sn_scalar v = wide(sn_index(in[0], sn_add(place[0], k), sn_add(place[1], z)));
        sum = sn_add(sum, sn_abs(sn_sub(v, wide(sn_index(in[1], k, z)))));
    }
    return sum;
}

static sn_scalar template_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar place[] = {i, j};
    const void *at[] = {env, place};
    return sn_loop(8, sn_closure(template_row, at), sn_i32(0));
}

static sn_acc template_loop(sn_acc x, sn_acc t)
{
    sn_acc in[] = {x, t};
    return sn_generate(sn_shape(sn_sub(sn_extent(x, 0), 7), sn_sub(sn_extent(x, 1), 7)), sn_closure(template_at, in));
}

/* (row of blocks, block), (step, pixel) */
static sn_scalar moved_term(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const sn_acc *in = env;
    sn_scalar step = sn_get(x[0], 2), k = sn_get(x[0], 3);
    sn_scalar y = sn_add(sn_mul(sn_get(x[0], 0), 8), sn_quot(k, 8)),
              z = sn_add(sn_mul(sn_get(x[0], 1), 8), sn_rem(k, 8));
    sn_scalar from_y = within(sn_add(y, sn_sub(sn_quot(step, 9), 4)), sn_extent(in[1], 0));
    sn_scalar from_z = within(sn_add(z, sn_sub(sn_rem(step, 9), 4)), sn_extent(in[1], 1));
    return sn_abs(sn_sub(wide(sn_index(in[0], y, z)), wide(sn_index(in[1], from_y, from_z))));
}

static sn_acc block_motion(sn_acc x, sn_acc before)
{
    sn_acc in[] = {x, before};
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 8), sn_quot(sn_extent(x, 1), 8), 81, 64);
    return sn_argmin(sn_sum(sn_generate(shape, sn_closure(moved_term, in))));
}

static sn_scalar bits_apart(void *env, sn_scalar i, sn_scalar j, sn_scalar d)
{
    const sn_acc *in = env;
    sn_scalar there = sn_index(in[1], i, sn_max(sn_sub(j, d), 0));
    return sn_if(sn_ge(j, d), sn_popcount(sn_bit_xor(sn_index(in[0], i, j), there)), sn_i32(32));
}

static sn_acc disparity(sn_acc left, sn_acc right)
{
    sn_acc in[] = {left, right};
    return sn_map(to_byte, sn_argmin(sn_generate(shape_3(left, 16), sn_closure(bits_apart, in))));
}

/* (row of blocks, block), (u, y), pixel of a row */
static sn_scalar across_term(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const sn_acc *in = env;
    sn_scalar u = sn_get(x[0], 2), k = sn_get(x[0], 4), y = sn_add(sn_mul(sn_get(x[0], 0), 8), sn_get(x[0], 3));
    sn_scalar v = sn_index(in[0], y, sn_add(sn_mul(sn_get(x[0], 1), 8), k));
    return sn_mul(sn_index(in[1], u, k), sn_sub(sn_to_f32(v), 128.0f));
}

/* (row of blocks, block), (v, u), row */
static sn_scalar down_term(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const sn_acc *in = env;
    sn_scalar y = sn_get(x[0], 4);
    sn_scalar sum = sn_index(in[2], sn_get(x[0], 0), sn_get(x[0], 1), sn_get(x[0], 3), y);
    return sn_mul(sn_index(in[1], sn_get(x[0], 2), y), sum);
}

static sn_scalar quantised(void *env, int count, const sn_scalar *x)
{
    (void)count;
    sn_scalar step = sn_to_f32(sn_index(*(sn_acc *)env, sn_get(x[0], 2), sn_get(x[0], 3)));
    return sn_to_i16(sn_rint(sn_div(x[1], step)));
}

static sn_acc cosines(void)
{
    float c[64];
    for (int u = 0; u < 8; u++)
        for (int k = 0; k < 8; k++)
            c[u * 8 + k] = (float)((u ? 0.5 : 0.5 / sqrt(2)) * cos((2 * k + 1) * u * M_PI / 16));
    return sn_use(c, 8, 8);
}

static sn_acc dct_8x8(sn_acc x, sn_acc steps)
{
    sn_acc in[] = {x, cosines(), x};
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 8), sn_quot(sn_extent(x, 1), 8), 8, 8, 8);
    in[2] = sn_sum(sn_generate(shape, sn_closure(across_term, in)));
    return sn_imap(sn_closure(quantised, &steps), sn_sum(sn_generate(shape, sn_closure(down_term, in))));
}

static sn_scalar zigzag_at(void *env, sn_scalar b, sn_scalar k)
{
    const sn_acc *in = env;
    return sn_index(in[0], b, sn_index(in[1], k));
}

static sn_scalar number_if_set(sn_scalar b, sn_scalar k, sn_scalar v)
{
    (void)b;
    return sn_if(sn_gt(sn_abs(v), 90), sn_to_i32(sn_add(k, 1)), sn_i32(0));
}

static sn_acc zigzag(sn_acc x)
{
    u8 order[64];
    for (int s = 0, at = 0; s < 15; s++)
        for (int k = 0; k <= s; k++) {
            int y = s % 2 ? k : s - k, z = s - y;
            if (y < 8 && z < 8)
                order[at++] = (u8)(y * 8 + z);
        }
    sn_acc in[] = {x, sn_use(order, 64)}, turned = sn_generate(sn_shape_of(x), sn_closure(zigzag_at, in));
    return sn_results(turned, sn_maximum(sn_imap(number_if_set, turned)));
}

/* The reversible wavelet of JPEG 2000 along rows. */
static sn_scalar detail_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar at = sn_mul(j, 2), next = sn_min(sn_add(at, 2), sn_sub(sn_extent(x, 1), 2));
    sn_scalar mean = sn_shr(sn_add(wide(sn_index(x, i, at)), wide(sn_index(x, i, next))), 1);
    return sn_to_i16(sn_sub(wide(sn_index(x, i, sn_add(at, 1))), mean));
}

static sn_scalar smooth_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar before = wide(sn_index(in[1], i, sn_max(sn_sub(j, 1), 0))), here = wide(sn_index(in[1], i, j));
    return sn_to_i16(sn_add(wide(sn_index(in[0], i, sn_mul(j, 2))), sn_shr(sn_add(sn_add(before, here), 2), 2)));
}

static sn_acc wavelet_53(sn_acc x)
{
    sn_scalar half = sn_shape(sn_extent(x, 0), sn_quot(sn_extent(x, 1), 2));
    sn_acc detail = sn_generate(half, sn_closure(detail_at, &x)), in[] = {x, detail};
    return sn_results(sn_generate(half, sn_closure(smooth_at, in)), detail);
}

static sn_scalar from_frames(sn_scalar i, sn_scalar j, sn_scalar t)
{
    return sn_tuple(t, i, j);
}

static sn_acc median_of_frames(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_extent(x, 1), sn_extent(x, 2), 5);
    return sn_slice(sn_sort(sn_backpermute(shape, from_frames, x)), SN_ALL, SN_ALL, 2);
}

/* --- runs, distances, seams --- */

static sn_scalar begins(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_acc x = *(sn_acc *)env;
    return sn_land(v, sn_lor(sn_eq(j, 0), sn_not(sn_index(x, i, sn_max(sn_sub(j, 1), 0)))));
}

static sn_scalar ends(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar last = sn_sub(sn_extent(x, 1), 1);
    return sn_land(v, sn_lor(sn_eq(j, last), sn_not(sn_index(x, i, sn_min(sn_add(j, 1), last)))));
}

static sn_acc row_runs(sn_acc x)
{
    sn_acc places = sn_generate(sn_shape_of(x), place_of);
    return sn_results(sn_pack(sn_imap(sn_closure(begins, &x), x), places),
                      sn_snd(sn_pack(sn_imap(sn_closure(ends, &x), x), places)));
}

static sn_scalar far_unless_set(sn_scalar v)
{
    return sn_if(sn_gt(v, 195), sn_i16(0), sn_i16(10000));
}

static sn_scalar minus_column(sn_scalar i, sn_scalar j, sn_scalar v)
{
    (void)i;
    return sn_sub(v, sn_to_i16(j));
}

static sn_scalar plus_column(sn_scalar i, sn_scalar j, sn_scalar v)
{
    (void)i;
    return sn_add(v, sn_to_i16(j));
}

static sn_acc near_along_rows(sn_acc x)
{
    sn_acc left = sn_imap(plus_column, sn_scanl1(sn_min, sn_imap(minus_column, x)));
    return sn_imap(minus_column, sn_scanr1(sn_min, sn_imap(plus_column, left)));
}

static sn_acc distance_l1(sn_acc x)
{
    return sn_transpose(near_along_rows(sn_transpose(near_along_rows(sn_map(far_unless_set, x)))));
}

static sn_scalar cheapest(void *env, sn_scalar j, sn_scalar here)
{
    const sn_acc *in = env; /* costs, the row's number, the sums above */
    sn_scalar i = sn_add(sn_the(in[1]), 1), m = sn_extent(in[0], 1);
    sn_scalar least =
        sn_min(sn_min(sn_index(in[2], within(sn_sub(j, 1), m)), here), sn_index(in[2], within(sn_add(j, 1), m)));
    return sn_add(least, sn_index(in[0], i, j));
}

static sn_acc next_seams(void *env, int count, const sn_acc *state)
{
    (void)count;
    sn_acc in[] = {*(sn_acc *)env, state[0], state[1]};
    return sn_imap(sn_closure(cheapest, in), state[1]);
}

static sn_acc seam_costs(sn_acc x)
{
    return sn_aloop(sn_sub(sn_extent(x, 0), 1), sn_body_of(next_seams, &x, 2), sn_slice(x, 0, SN_ALL));
}

/* --- geometry --- */

/* A mixture of four pixels by weights of 1/256. */
static sn_scalar mixture(sn_acc x, sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar s, sn_scalar t)
{
#define BETWEEN(p, q, w) sn_add(sn_mul(p, sn_sub(256, w)), sn_mul(q, w))
    sn_scalar up = BETWEEN(wide(sn_index(x, a, c)), wide(sn_index(x, a, d)), t);
    sn_scalar down = BETWEEN(wide(sn_index(x, b, c)), wide(sn_index(x, b, d)), t);
    return sn_to_u8(sn_shr(sn_add(BETWEEN(up, down, s), 32768), 16));
#undef BETWEEN
}

/* Where the middle of pixel i of `to` lies in `from`, in 1/256. */
static sn_scalar fixed_place(sn_scalar i, sn_scalar from, sn_scalar to)
{
    sn_scalar at = sn_sub(sn_quot(sn_mul(sn_add(sn_mul(i, 2), 1), sn_mul(from, 128)), to), 128);
    return sn_max(sn_min(at, sn_mul(sn_sub(from, 1), 256)), 0);
}

static sn_scalar resized_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar n = sn_extent(in[0], 0), m = sn_extent(in[0], 1);
    sn_scalar y = fixed_place(i, n, sn_size(in[1])), z = fixed_place(j, m, sn_size(in[2]));
    sn_scalar a = sn_shr(y, 8), c = sn_shr(z, 8), b = sn_min(sn_add(a, 1), sn_sub(n, 1)),
              d = sn_min(sn_add(c, 1), sn_sub(m, 1));
    return mixture(in[0], a, b, c, d, wide(sn_bit_and(y, 255)), wide(sn_bit_and(z, 255)));
}

static sn_acc resize_bilinear(sn_acc x, sn_acc rows, sn_acc columns)
{
    sn_acc in[] = {x, rows, columns};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(resized_at, in));
}

static sn_scalar nearest_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    return sn_tuple(sn_quot(sn_mul(i, sn_extent(in[0], 0)), sn_size(in[1])),
                    sn_quot(sn_mul(j, sn_extent(in[0], 1)), sn_size(in[2])));
}

static sn_acc resize_nearest(sn_acc x, sn_acc rows, sn_acc columns)
{
    sn_acc in[] = {x, rows, columns};
    return sn_backpermute(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(nearest_at, in), x);
}

static void cubic(sn_scalar t, sn_scalar *w)
{
    static const float c[4][4] = {{0, -0.5f, 1, -0.5f}, {1, 0, -2.5f, 1.5f}, {0, 0.5f, 2, -1.5f}, {0, 0, -0.5f, 0.5f}};
    for (int k = 0; k < 4; k++)
        w[k] = sn_add(c[k][0], sn_mul(t, sn_add(c[k][1], sn_mul(t, sn_add(c[k][2], sn_mul(t, c[k][3]))))));
}

static sn_scalar bicubic_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar size[] = {sn_extent(in[0], 0), sn_extent(in[0], 1)}, to[] = {sn_size(in[1]), sn_size(in[2])};
    sn_scalar index[] = {i, j}, first[2], w[2][4], sum = sn_f32(0);
    for (int d = 0; d < 2; d++) {
        sn_scalar scale = sn_div(sn_to_f32(size[d]), sn_to_f32(to[d]));
        sn_scalar at = sn_sub(sn_mul(sn_add(sn_to_f32(index[d]), 0.5f), scale), 0.5f), low = sn_floor(at);
        cubic(sn_sub(at, low), w[d]);
        first[d] = sn_sub(sn_to_i64(low), 1);
    }
    for (int y = 0; y < 4; y++) {
        sn_scalar row = sn_f32(0);
        for (int z = 0; z < 4; z++) {
            sn_scalar v = sn_index(in[0], within(sn_add(first[0], y), size[0]), within(sn_add(first[1], z), size[1]));
            row = sn_add(row, sn_mul(w[1][z], v));
        }
        sum = sn_add(sum, sn_mul(w[0][y], row));
    }
    return sum;
}

static sn_acc resize_bicubic(sn_acc x, sn_acc rows, sn_acc columns)
{
    sn_acc in[] = {x, rows, columns};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(bicubic_at, in));
}

static sn_scalar from_half_turn(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    return sn_tuple(sn_sub(sn_sub(sn_extent(x, 0), 1), i), sn_sub(sn_sub(sn_extent(x, 1), 1), j), c);
}

static sn_acc turn_180(sn_acc x)
{
    return sn_backpermute(sn_shape_of(x), sn_closure(from_half_turn, &x), x);
}

static sn_acc turn_90(sn_acc x)
{
    return sn_reverse(sn_transpose(x));
}

/* Black outside. */
static sn_scalar sampled(sn_acc x, sn_scalar y, sn_scalar z)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), low_y = sn_floor(y), low_z = sn_floor(z);
    sn_scalar a = sn_to_i64(low_y), c = sn_to_i64(low_z), b = sn_add(a, 1), d = sn_add(c, 1);
    sn_scalar inside = sn_land(sn_land(sn_ge(a, 0), sn_lt(b, n)), sn_land(sn_ge(c, 0), sn_lt(d, m)));
    sn_scalar s = sn_to_i32(sn_mul(sn_sub(y, low_y), 256.0f)), t = sn_to_i32(sn_mul(sn_sub(z, low_z), 256.0f));
    return sn_if(inside, mixture(x, a, b, c, d, s, t), sn_u8(0));
}

static sn_scalar affine_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar y = sn_to_f32(i), z = sn_to_f32(j);
    sn_scalar from_z = sn_add(sn_sub(sn_mul(0.9375f, z), sn_mul(0.25f, y)), sn_index(in[1], 0));
    sn_scalar from_y = sn_add(sn_add(sn_mul(0.25f, z), sn_mul(0.9375f, y)), sn_index(in[1], 1));
    return sampled(in[0], from_y, from_z);
}

static sn_acc affine_warp(sn_acc x, sn_acc offset)
{
    sn_acc in[] = {x, offset};
    return sn_generate(sn_shape_of(x), sn_closure(affine_at, in));
}

static sn_scalar remapped(void *env, sn_scalar y, sn_scalar z)
{
    return sampled(*(sn_acc *)env, y, z);
}

static sn_acc remap(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_zip_with(sn_closure(remapped, &x), y, z);
}

F2(index_of, sn_tuple(x, y))

static sn_acc remap_nearest(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_gather(sn_zip_with(index_of, y, z), x);
}

static sn_scalar perspective_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar y = sn_to_f32(i), z = sn_to_f32(j), p[3];
    for (int k = 0; k < 3; k++)
        p[k] =
            sn_add(sn_add(sn_mul(sn_index(in[1], k, 0), z), sn_mul(sn_index(in[1], k, 1), y)), sn_index(in[1], k, 2));
    sn_scalar column = sn_to_i64(sn_floor(sn_div(p[0], p[2]))), row = sn_to_i64(sn_floor(sn_div(p[1], p[2])));
    sn_scalar inside = sn_land(sn_land(sn_ge(row, 0), sn_lt(row, sn_extent(in[0], 0))),
                               sn_land(sn_ge(column, 0), sn_lt(column, sn_extent(in[0], 1))));
    return sn_if(inside, sn_index(in[0], row, column), sn_u16(0));
}

static sn_acc perspective(sn_acc x, sn_acc matrix)
{
    sn_acc in[] = {x, matrix};
    return sn_generate(sn_shape_of(x), sn_closure(perspective_at, in));
}

#endif
