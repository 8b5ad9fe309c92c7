/* Pixels of cameras and screens: raw data, colours, packing, blending. */
#ifndef NEIGHBOURS_IMAGING_H
#define NEIGHBOURS_IMAGING_H

#include "functions.h"

F1(wide, sn_to_i32(x))
F1(to_u16, sn_to_u16(x))
F1(byte_of, sn_to_u8(sn_max(sn_min(x, 255), 0)))
F2(within, sn_max(sn_min(x, sn_sub(y, 1)), 0))
F2(mirrored, sn_sub(sn_sub(y, 1), sn_abs(sn_sub(sn_sub(y, 1), sn_abs(x)))))
F2(share, sn_mul(wide(x), y))

static sn_scalar shape_2(sn_acc x)
{
    return sn_shape(sn_extent(x, 0), sn_extent(x, 1));
}

static sn_scalar shape_3(sn_acc x, int channels)
{
    return sn_shape(sn_extent(x, 0), sn_extent(x, 1), channels);
}

static sn_scalar one_of_3(sn_scalar c, sn_scalar r, sn_scalar g, sn_scalar b)
{
    return sn_if(sn_eq(c, 0), r, sn_if(sn_eq(c, 1), g, b));
}

static void pixel_of(sn_acc x, sn_scalar i, sn_scalar j, sn_scalar *p)
{
    for (int c = 0; c < 3; c++)
        p[c] = wide(sn_index(x, i, j, c));
}

/* --- raw data --- */

/* The red, green and blue of a pixel at (i, j) of a pattern RG GB, from sums of neighbours. */
static void colours(sn_scalar i, sn_scalar j, const sn_scalar *s, sn_scalar *rgb)
{
    sn_scalar odd_row = sn_eq(sn_bit_and(i, 1), 1), odd = sn_eq(sn_bit_and(j, 1), 1);
    sn_scalar across = sn_shr(s[1], 1), down = sn_shr(s[2], 1), corners = sn_shr(s[3], 2);
    sn_scalar around = sn_shr(sn_add(s[1], s[2]), 2);
    rgb[0] = to_u16(sn_if(odd_row, sn_if(odd, corners, down), sn_if(odd, across, s[0])));
    rgb[1] = to_u16(sn_if(sn_eq(odd_row, odd), around, s[0]));
    rgb[2] = to_u16(sn_if(odd_row, sn_if(odd, s[0], across), sn_if(odd, down, corners)));
}

static sn_scalar sums_around(sn_scalar s)
{
#define W(y, x) wide(sn_at(s, y, x))
    return sn_tuple(W(0, 0), sn_add(W(0, -1), W(0, 1)), sn_add(W(-1, 0), W(1, 0)),
                    sn_add(sn_add(W(-1, -1), W(-1, 1)), sn_add(W(1, -1), W(1, 1))));
#undef W
}

static sn_scalar colours_by_place(sn_scalar i, sn_scalar j, sn_scalar sums)
{
    sn_scalar s[4], rgb[3];
    for (int k = 0; k < 4; k++)
        s[k] = sn_get(sums, k);
    colours(i, j, s, rgb);
    return sn_tuple(rgb[0], rgb[1], rgb[2]);
}

static sn_acc demosaic(sn_acc x)
{
    sn_acc rgb = sn_imap(colours_by_place, sn_stencil(sums_around, sn_pattern(3, 3), sn_mirror, x));
    return sn_results(sn_get(rgb, 0), sn_get(rgb, 1), sn_get(rgb, 2));
}

static sn_scalar demosaiced_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), v[9], rgb[3];
    for (int k = 0; k < 9; k++)
        v[k] = wide(sn_index(x, mirrored(sn_add(i, k / 3 - 1), n), mirrored(sn_add(j, k % 3 - 1), m)));
    sn_scalar s[] = {v[4], sn_add(v[3], v[5]), sn_add(v[1], v[7]), sn_add(sn_add(v[0], v[2]), sn_add(v[6], v[8]))};
    colours(i, j, s, rgb);
    return one_of_3(c, rgb[0], rgb[1], rgb[2]);
}

static sn_acc demosaic_interleaved(sn_acc x)
{
    return sn_generate(shape_3(x, 3), sn_closure(demosaiced_at, &x));
}

static sn_scalar levelled(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    const sn_acc *in = env; /* levels of columns, gains of colours */
    sn_scalar above = sn_max(sn_sub(wide(v), wide(sn_index(in[0], j))), 0);
    sn_scalar gain = wide(sn_index(in[1], sn_bit_and(i, 1), sn_bit_and(j, 1)));
    return to_u16(sn_min(sn_shr(sn_mul(above, gain), 6), 4095));
}

static sn_acc black_level(sn_acc x, sn_acc levels, sn_acc gains)
{
    sn_acc in[] = {levels, gains};
    return sn_imap(sn_closure(levelled, in), x);
}

static sn_scalar in_table(void *env, sn_scalar x)
{
    return sn_index(*(sn_acc *)env, x);
}

static sn_acc gamma_12(sn_acc table, sn_acc x)
{
    return sn_map(sn_closure(in_table, &table), x);
}

static sn_scalar brightened(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar y = sn_to_f32(sn_sub(i, sn_quot(sn_extent(x, 0), 2)));
    sn_scalar z = sn_to_f32(sn_sub(j, sn_quot(sn_extent(x, 1), 2)));
    sn_scalar gain = sn_add(1.0f, sn_mul(1e-6f, sn_add(sn_mul(y, y), sn_mul(z, z))));
    return to_u16(sn_min(sn_mul(sn_to_f32(v), gain), 65535.0f));
}

static sn_acc vignette(sn_acc x)
{
    return sn_imap(sn_closure(brightened, &x), x);
}

/* A pixel far brighter than the four of its colour nearby is their mean. */
static sn_scalar without_hot(sn_scalar s)
{
    static const int offset[4][2] = {{-2, 0}, {2, 0}, {0, -2}, {0, 2}};
    sn_scalar here = wide(sn_at(s, 0, 0)), most = sn_i32(0), sum = sn_i32(2);
    for (int k = 0; k < 4; k++) {
        sn_scalar v = wide(sn_at(s, offset[k][0], offset[k][1]));
        most = sn_max(most, v);
        sum = sn_add(sum, v);
    }
    return to_u16(sn_if(sn_gt(here, sn_add(most, 20)), sn_shr(sum, 2), here));
}

static sn_acc hot_pixels(sn_acc x)
{
    return sn_stencil(without_hot, sn_pattern(5, 5), sn_mirror, x);
}

static sn_scalar twelve_bits(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar at = sn_mul(sn_quot(i, 2), 3), odd = sn_eq(sn_rem(i, 2), 1);
    sn_scalar a = to_u16(sn_index(x, at)), b = to_u16(sn_index(x, sn_add(at, 1))),
              c = to_u16(sn_index(x, sn_add(at, 2)));
    return sn_if(odd, sn_bit_or(sn_shr(b, 4), sn_shl(c, 4)), sn_bit_or(a, sn_shl(sn_bit_and(b, 15), 8)));
}

static sn_acc unpack_12(sn_acc x)
{
    return sn_generate(sn_mul(sn_quot(sn_size(x), 3), 2), sn_closure(twelve_bits, &x));
}

static sn_scalar packed_12(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar at = sn_mul(sn_quot(i, 3), 2), a = sn_index(x, at), b = sn_index(x, sn_add(at, 1));
    return sn_to_u8(one_of_3(sn_rem(i, 3), a, sn_bit_or(sn_bit_and(sn_shr(a, 8), 15), sn_shl(b, 4)), sn_shr(b, 4)));
}

static sn_acc pack_12(sn_acc x)
{
    return sn_generate(sn_mul(sn_quot(sn_size(x), 2), 3), sn_closure(packed_12, &x));
}

static sn_scalar ten_bits(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar low = sn_bit_and(sn_shr(to_u16(sn_index(x, i, j, 4)), to_u16(sn_mul(c, 2))), 3);
    return sn_bit_or(sn_shl(to_u16(sn_index(x, i, j, c)), 2), low);
}

static sn_acc unpack_10(sn_acc x)
{
    return sn_generate(shape_3(x, 4), sn_closure(ten_bits, &x));
}

/* --- bits --- */

static sn_scalar bit_of(void *env, sn_scalar i, sn_scalar j, sn_scalar b)
{
    sn_scalar on = sn_gt(sn_index(*(sn_acc *)env, i, sn_add(sn_mul(j, 8), b)), 127);
    return sn_if(on, sn_shr(sn_u8(128), sn_to_u8(b)), sn_u8(0));
}

static sn_acc pack_bits_fold(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_quot(sn_extent(x, 1), 8), 8);
    return sn_fold(sn_bit_or, 0, sn_generate(shape, sn_closure(bit_of, &x)));
}

static sn_scalar bits_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar byte = sn_u8(0);
    for (int b = 0; b < 8; b++) {
        sn_scalar at = sn_add(sn_mul(j, 8), b), inside = sn_lt(at, sn_extent(x, 1));
        sn_scalar on = sn_and(inside, sn_gt(sn_index(x, i, at), 127));
        byte = sn_bit_or(byte, sn_if(on, sn_u8(128 >> b), sn_u8(0)));
    }
    return byte;
}

static sn_acc pack_bits_reads(sn_acc x)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_quot(sn_add(sn_extent(x, 1), 7), 8));
    return sn_generate(shape, sn_closure(bits_at, &x));
}

static sn_scalar unpacked_bit(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar byte = sn_index(*(sn_acc *)env, i, sn_quot(j, 8));
    sn_scalar bit = sn_bit_and(sn_shr(byte, sn_to_u8(sn_sub(7, sn_rem(j, 8)))), 1);
    return sn_if(sn_ne(bit, 0), sn_u8(255), sn_u8(0));
}

static sn_acc unpack_bits(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_mul(sn_extent(x, 1), 8)), sn_closure(unpacked_bit, &x));
}

static sn_scalar packed_565(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar p[3];
    pixel_of(*(sn_acc *)env, i, j, p);
    return to_u16(sn_bit_or(sn_bit_or(sn_shl(sn_shr(p[0], 3), 11), sn_shl(sn_shr(p[1], 2), 5)), sn_shr(p[2], 3)));
}

static sn_acc pack_565(sn_acc x)
{
    return sn_generate(shape_2(x), sn_closure(packed_565, &x));
}

static sn_scalar unpacked_565(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_scalar v = wide(sn_index(*(sn_acc *)env, i, j));
    sn_scalar r = sn_shr(v, 11), g = sn_bit_and(sn_shr(v, 5), 63), b = sn_bit_and(v, 31);
    return sn_to_u8(one_of_3(c, sn_bit_or(sn_shl(r, 3), sn_shr(r, 2)), sn_bit_or(sn_shl(g, 2), sn_shr(g, 4)),
                             sn_bit_or(sn_shl(b, 3), sn_shr(b, 2))));
}

static sn_acc unpack_565(sn_acc x)
{
    return sn_generate(shape_3(x, 3), sn_closure(unpacked_565, &x));
}

/* --- brightness and colour differences --- */

static sn_scalar weighted(const sn_scalar *p, int r, int g, int b, int plus)
{
    sn_scalar sum = sn_add(sn_add(sn_mul(p[0], r), sn_mul(p[1], g)), sn_mul(p[2], b));
    return sn_to_u8(sn_add(sn_shr(sn_add(sum, 128), 8), plus));
}

static sn_scalar luma_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar p[3];
    pixel_of(*(sn_acc *)env, i, j, p);
    return weighted(p, 66, 129, 25, 16);
}

static sn_scalar chroma_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar p[3];
    for (int c = 0; c < 3; c++) {
        p[c] = sn_i32(2);
        for (int k = 0; k < 4; k++)
            p[c] = sn_add(p[c], wide(sn_index(x, sn_add(sn_mul(i, 2), k / 2), sn_add(sn_mul(j, 2), k % 2), c)));
        p[c] = sn_shr(p[c], 2);
    }
    return sn_tuple(weighted(p, -38, -74, 112, 128), weighted(p, 112, -94, -18, 128));
}

static sn_acc to_yuv_420(sn_acc x)
{
    sn_scalar half = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2));
    sn_acc chroma = sn_generate(half, sn_closure(chroma_at, &x));
    return sn_results(sn_generate(shape_2(x), sn_closure(luma_at, &x)), sn_fst(chroma), sn_snd(chroma));
}

static void rgb_of(sn_scalar y, sn_scalar u, sn_scalar v, sn_scalar *rgb)
{
    y = sn_add(sn_mul(sn_sub(y, 16), 298), 128);
    u = sn_sub(u, 128);
    v = sn_sub(v, 128);
    rgb[0] = byte_of(sn_shr(sn_add(y, sn_mul(v, 409)), 8));
    rgb[1] = byte_of(sn_shr(sn_sub(sn_sub(y, sn_mul(u, 100)), sn_mul(v, 208)), 8));
    rgb[2] = byte_of(sn_shr(sn_add(y, sn_mul(u, 516)), 8));
}

static sn_scalar from_yuv_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar k = sn_quot(i, 2), l = sn_quot(j, 2), rgb[3];
    rgb_of(wide(sn_index(in[0], i, j)), wide(sn_index(in[1], k, l)), wide(sn_index(in[2], k, l)), rgb);
    return one_of_3(c, rgb[0], rgb[1], rgb[2]);
}

static sn_acc from_yuv_420(sn_acc y, sn_acc u, sn_acc v)
{
    sn_acc in[] = {y, u, v};
    return sn_generate(shape_3(y, 3), sn_closure(from_yuv_at, in));
}

/* Colour differences of half the size are interpolated with weights of 3/4 and 1/4. */
static sn_scalar from_nv12_at(void *env, sn_scalar i, sn_scalar j, sn_scalar y)
{
    sn_acc uv = *(sn_acc *)env;
    sn_scalar k = sn_quot(i, 2), l = sn_quot(j, 2), difference[2], rgb[3];
    sn_scalar far_k = within(sn_add(k, sn_sub(sn_mul(sn_rem(i, 2), 2), 1)), sn_extent(uv, 0));
    sn_scalar far_l = within(sn_add(l, sn_sub(sn_mul(sn_rem(j, 2), 2), 1)), sn_extent(uv, 1));
    for (int c = 0; c < 2; c++) {
        sn_scalar near = sn_add(sn_mul(wide(sn_index(uv, k, l, c)), 3), wide(sn_index(uv, k, far_l, c)));
        sn_scalar far = sn_add(sn_mul(wide(sn_index(uv, far_k, l, c)), 3), wide(sn_index(uv, far_k, far_l, c)));
        difference[c] = sn_shr(sn_add(sn_add(sn_mul(near, 3), far), 8), 4);
    }
    rgb_of(wide(y), difference[0], difference[1], rgb);
    return sn_tuple(rgb[0], rgb[1], rgb[2]);
}

static sn_acc from_nv12(sn_acc y, sn_acc uv)
{
    sn_acc rgb = sn_imap(sn_closure(from_nv12_at, &uv), y);
    return sn_results(sn_get(rgb, 0), sn_get(rgb, 1), sn_get(rgb, 2));
}

static sn_scalar from_yuyv_at(void *env, sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar rgb[3];
    rgb_of(wide(sn_index(x, i, j, sn_mul(k, 2))), wide(sn_index(x, i, j, 1)), wide(sn_index(x, i, j, 3)), rgb);
    return one_of_3(c, rgb[0], rgb[1], rgb[2]);
}

static sn_acc from_yuyv(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 2, 3), sn_closure(from_yuyv_at, &x));
}

/* --- blending --- */

static sn_scalar over_255(sn_scalar x)
{
    x = sn_add(x, 128);
    return sn_shr(sn_add(x, sn_shr(x, 8)), 8);
}

static sn_scalar above(sn_scalar s, sn_scalar d, sn_scalar alpha)
{
    return byte_of(sn_add(wide(s), over_255(share(d, sn_sub(255, wide(alpha))))));
}

static sn_scalar over_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c, sn_scalar s, sn_scalar d)
{
    (void)c;
    return above(s, d, sn_index(*(sn_acc *)env, i, j, 3));
}

static sn_scalar over_channel(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return over_at(env, sn_get(x[0], 0), sn_get(x[0], 1), sn_get(x[0], 2), x[1], x[2]);
}

static sn_acc over_u8(sn_acc s, sn_acc d)
{
    return sn_izip_with(sn_closure(over_channel, &s), s, d);
}

static sn_scalar over_pixel(sn_scalar s, sn_scalar d)
{
    sn_scalar z[4];
    for (int c = 0; c < 4; c++)
        z[c] = above(sn_get(s, c), sn_get(d, c), sn_get(s, 3));
    return sn_tuple(z[0], z[1], z[2], z[3]);
}

static sn_acc over_pixels(sn_acc s, sn_acc d)
{
    return sn_zip_with(over_pixel, s, d);
}

F3(mixed_by, sn_to_u8(over_255(sn_add(share(x, wide(z)), share(y, sn_sub(255, wide(z)))))))

static sn_acc blend_mask(sn_acc a, sn_acc b, sn_acc mask)
{
    return sn_zip_with(mixed_by, a, b, mask);
}

static sn_scalar key_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar p[3];
    pixel_of(*(sn_acc *)env, i, j, p);
    return sn_sub(255, sn_max(sn_min(sn_mul(sn_sub(p[1], sn_max(p[0], p[2])), 4), 255), 0));
}

static sn_scalar keyed(void *env, int count, const sn_scalar *x)
{
    (void)count;
    sn_scalar alpha = sn_index(*(sn_acc *)env, sn_get(x[0], 0), sn_get(x[0], 1));
    return sn_to_u8(over_255(sn_add(share(x[1], alpha), share(x[2], sn_sub(255, alpha)))));
}

static sn_acc chroma_key(sn_acc front, sn_acc back)
{
    sn_acc alpha = sn_generate(shape_2(front), sn_closure(key_at, &front));
    return sn_izip_with(sn_closure(keyed, &alpha), front, back);
}

static sn_scalar joined_at(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *in = env;
    sn_scalar m = sn_extent(in[0], 1), begin = sn_sub(m, 100), t = sn_sub(j, begin), of = sn_to_i32(t);
    sn_scalar a = sn_index(in[0], i, sn_min(j, sn_sub(m, 1))), b = sn_index(in[1], i, sn_max(t, 0));
    sn_scalar both = sn_quot(sn_add(sn_add(share(a, sn_sub(100, of)), share(b, of)), 50), 100);
    return sn_if(sn_lt(t, 0), a, sn_if(sn_ge(t, 100), b, sn_to_u8(both)));
}

static sn_acc panorama(sn_acc a, sn_acc b)
{
    sn_acc in[] = {a, b};
    sn_scalar columns = sn_sub(sn_mul(sn_extent(a, 1), 2), 100);
    return sn_generate(sn_shape(sn_extent(a, 0), columns), sn_closure(joined_at, in));
}

/* --- colours --- */

static sn_scalar apart_from(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const sn_acc *in = env;
    sn_scalar sum = sn_i32(0);
    for (int c = 0; c < 3; c++) {
        sn_scalar d = sn_sub(wide(sn_index(in[0], i, j, c)), wide(sn_index(in[1], k, c)));
        sum = sn_add(sum, sn_mul(d, d));
    }
    return sum;
}

F1(to_byte, sn_to_u8(x))

static sn_acc to_palette(sn_acc x, sn_acc palette)
{
    sn_acc in[] = {x, palette};
    return sn_map(to_byte, sn_argmin(sn_generate(shape_3(x, 16), sn_closure(apart_from, in))));
}

static sn_scalar hsv_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_scalar p[3];
    pixel_of(*(sn_acc *)env, i, j, p);
    sn_scalar most = sn_max(sn_max(p[0], p[1]), p[2]), d = sn_sub(most, sn_min(sn_min(p[0], p[1]), p[2]));
    sn_scalar gb = sn_mul(30, sn_sub(p[1], p[2])), br = sn_add(sn_mul(30, sn_sub(p[2], p[0])), sn_mul(60, d)),
              rg = sn_add(sn_mul(30, sn_sub(p[0], p[1])), sn_mul(120, d));
    sn_scalar top =
        sn_if(sn_eq(most, p[0]), sn_if(sn_lt(gb, 0), sn_add(gb, sn_mul(180, d)), gb), sn_if(sn_eq(most, p[1]), br, rg));
    sn_scalar hue = sn_if(sn_eq(d, 0), sn_i32(0), sn_quot(top, d));
    sn_scalar saturation = sn_if(sn_eq(most, 0), sn_i32(0), sn_quot(sn_mul(255, d), most));
    return sn_to_u8(one_of_3(c, hue, saturation, most));
}

static sn_acc to_hsv(sn_acc x)
{
    return sn_generate(shape_3(x, 3), sn_closure(hsv_at, &x));
}

F1(linear_of, sn_if(sn_le(x, 0.04045f), sn_div(x, 12.92f), sn_pow(sn_div(sn_add(x, 0.055f), 1.055f), sn_f32(2.4f))))

static sn_acc srgb_linear(sn_acc x)
{
    return sn_map(linear_of, x);
}

static sn_scalar half_linear_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar sum = sn_i32(2);
    for (int k = 0; k < 4; k++) {
        sn_scalar v = sn_index(in[0], sn_add(sn_mul(i, 2), k / 2), sn_add(sn_mul(j, 2), k % 2), c);
        sum = sn_add(sum, wide(sn_index(in[1], v)));
    }
    return sn_index(in[2], sn_shr(sum, 2));
}

static sn_acc half_linear(sn_acc x, sn_acc linear, sn_acc back)
{
    sn_acc in[] = {x, linear, back};
    sn_scalar shape = sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2), 3);
    return sn_generate(shape, sn_closure(half_linear_at, in));
}

static sn_scalar luminance_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_add(sn_add(sn_mul(0.2126f, sn_index(x, i, j, 0)), sn_mul(0.7152f, sn_index(x, i, j, 1))),
                  sn_mul(0.0722f, sn_index(x, i, j, 2)));
}

static sn_scalar toned(void *env, sn_scalar i, sn_scalar j, sn_scalar c, sn_scalar v)
{
    (void)c;
    const sn_acc *in = env;
    sn_scalar l = sn_index(in[0], i, j), most = sn_the(in[1]);
    sn_scalar scale = sn_div(sn_add(1.0f, sn_div(l, sn_mul(most, most))), sn_add(1.0f, l));
    return sn_to_u8(sn_min(sn_mul(sn_mul(v, scale), 255.0f), 255.0f));
}

static sn_scalar toned_channel(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return toned(env, sn_get(x[0], 0), sn_get(x[0], 1), sn_get(x[0], 2), x[1]);
}

static sn_acc tone_map(sn_acc x)
{
    sn_acc luminance = sn_generate(shape_2(x), sn_closure(luminance_at, &x));
    sn_acc in[] = {luminance, sn_maximum(sn_flatten(luminance))};
    return sn_imap(sn_closure(toned_channel, in), x);
}

static sn_scalar dithered(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    return sn_gt(v, sn_index(*(sn_acc *)env, sn_bit_and(i, 7), sn_bit_and(j, 7)));
}

static sn_acc dither(sn_acc x)
{
    static u8 limits[64];
    for (int k = 0; k < 64; k++) {
        int y = k / 8, z = k % 8, d = y ^ z, limit = 0;
        for (int b = 0; b < 3; b++)
            limit |= (d >> b & 1) << (5 - 2 * b) | (y >> b & 1) << (4 - 2 * b);
        limits[k] = (u8)(limit * 4 + 2);
    }
    sn_acc table = sn_use(limits, 8, 8);
    return sn_imap(sn_closure(dithered, &table), x);
}

/* Along a row there are as many white pixels as 255 goes into the sum so far. */
F2(is_next, sn_gt(sn_quot(y, 255), sn_quot(sn_sub(y, wide(x)), 255)))

static sn_acc dither_rows(sn_acc x)
{
    return sn_zip_with(is_next, x, sn_scanl1(sn_add, sn_map(wide, x)));
}

static sn_scalar to_levels(void *env, sn_scalar x)
{
    const sn_acc *in = env;
    sn_scalar least = wide(sn_the(in[0])), range = sn_max(sn_sub(wide(sn_the(in[1])), least), 1);
    return sn_to_u8(sn_quot(sn_mul(sn_sub(wide(x), least), 255), range));
}

static sn_acc window_levels(sn_acc x)
{
    sn_acc in[] = {sn_minimum(sn_flatten(x)), sn_maximum(sn_flatten(x))};
    return sn_map(sn_closure(to_levels, in), x);
}

static sn_scalar field_at(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), up = sn_index(x, within(sn_sub(i, 1), n), j),
              down = sn_index(x, within(sn_add(i, 1), n), j);
    return sn_if(sn_eq(sn_rem(i, 2), 0), v, sn_to_u8(sn_shr(sn_add(sn_add(wide(up), wide(down)), 1), 1)));
}

static sn_acc deinterlace(sn_acc x)
{
    return sn_imap(sn_closure(field_at, &x), x);
}

#endif
