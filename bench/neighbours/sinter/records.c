/* Arrays whose innermost extents are small and known. */
#include "../program.h"

static sn_scalar packed(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar byte = sn_u8(0);
    for (int k = 0; k < 8; k++)
        byte = sn_bit_or(byte, sn_if(sn_index(x, sn_add(sn_mul(i, 8), k)), sn_u8(1 << k), sn_u8(0)));
    return byte;
}

static sn_acc pack_bits(sn_acc x)
{
    return sn_generate(sn_shape(sn_quot(sn_size(x), 8)), sn_closure(packed, &x));
}

static sn_scalar unpacked(void *env, sn_scalar i)
{
    sn_scalar byte = sn_to_i32(sn_index(*(sn_acc *)env, sn_quot(i, 8)));
    return sn_ne(sn_bit_and(sn_shr(byte, sn_to_i32(sn_rem(i, 8))), 1), 0);
}

static sn_acc unpack_bits(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(sn_size(x), 8)), sn_closure(unpacked, &x));
}

static sn_scalar word(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar w = sn_u32(0);
    for (int k = 3; k >= 0; k--)
        w = sn_bit_or(sn_shl(w, 8), sn_to_u32(sn_index(x, sn_add(sn_mul(i, 4), k))));
    return w;
}

static sn_acc words_of_bytes(sn_acc x)
{
    return sn_generate(sn_shape(sn_quot(sn_size(x), 4)), sn_closure(word, &x));
}

static sn_scalar digit(void *env, sn_scalar i)
{
    sn_scalar byte = sn_to_i32(sn_index(*(sn_acc *)env, sn_quot(i, 2)));
    sn_scalar half = sn_if(sn_eq(sn_rem(i, 2), 0), sn_shr(byte, 4), sn_bit_and(byte, 15));
    return sn_to_u8(sn_add(half, sn_if(sn_lt(half, 10), '0', 'a' - 10)));
}

static sn_acc hexadecimal(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(sn_size(x), 2)), sn_closure(digit, &x));
}

static sn_scalar cofactor(const sn_scalar *m, int row, int column)
{
    int r1 = (column + 1) % 3, r2 = (column + 2) % 3, c1 = (row + 1) % 3, c2 = (row + 2) % 3;
    return sn_sub(sn_mul(m[r1 * 3 + c1], m[r2 * 3 + c2]), sn_mul(m[r1 * 3 + c2], m[r2 * 3 + c1]));
}

static sn_scalar inverse_at(void *env, sn_scalar n, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar m[9], c[9];
    for (int k = 0; k < 9; k++)
        m[k] = k % 4 ? sn_index(x, n, k / 3, k % 3) : sn_add(sn_index(x, n, k / 3, k % 3), 3.0f);
    for (int k = 0; k < 9; k++)
        c[k] = cofactor(m, k / 3, k % 3);
    sn_scalar all = sn_add(sn_add(sn_mul(m[0], c[0]), sn_mul(m[1], c[3])), sn_mul(m[2], c[6])), at = c[8];
    for (int k = 7; k >= 0; k--)
        at = sn_if(sn_eq(sn_add(sn_mul(i, 3), j), k), c[k], at);
    return sn_div(at, all);
}

static sn_acc inverses(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(inverse_at, &x));
}

static sn_scalar quaternion_at(void *env, sn_scalar i, sn_scalar c)
{
    const sn_acc *in = env;
    sn_scalar a[4], b[4];
    for (int k = 0; k < 4; k++) {
        a[k] = sn_index(in[0], i, k);
        b[k] = sn_index(in[1], i, k);
    }
    sn_scalar w =
        sn_sub(sn_sub(sn_mul(a[0], b[0]), sn_mul(a[1], b[1])), sn_add(sn_mul(a[2], b[2]), sn_mul(a[3], b[3])));
    sn_scalar x =
        sn_add(sn_add(sn_mul(a[0], b[1]), sn_mul(a[1], b[0])), sn_sub(sn_mul(a[2], b[3]), sn_mul(a[3], b[2])));
    sn_scalar y =
        sn_add(sn_add(sn_mul(a[0], b[2]), sn_mul(a[2], b[0])), sn_sub(sn_mul(a[3], b[1]), sn_mul(a[1], b[3])));
    sn_scalar z =
        sn_add(sn_add(sn_mul(a[0], b[3]), sn_mul(a[3], b[0])), sn_sub(sn_mul(a[1], b[2]), sn_mul(a[2], b[1])));
    return sn_if(sn_eq(c, 0), w, sn_if(sn_eq(c, 1), x, sn_if(sn_eq(c, 2), y, z)));
}

static sn_acc quaternions(sn_acc a, sn_acc b)
{
    sn_acc in[] = {a, b};
    return sn_generate(sn_shape_of(a), sn_closure(quaternion_at, in));
}

static sn_acc bounds(sn_acc x)
{
    sn_acc columns = sn_transpose(x);
    return sn_results(sn_minimum(columns), sn_maximum(columns));
}

static sn_scalar positive(sn_scalar x)
{
    return sn_max(x, 0.0f);
}

static sn_acc bounds_of_positive(sn_acc x)
{
    return bounds(sn_map(positive, x));
}

static sn_scalar moved_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar speed = sn_index(x, i, sn_rem(sn_add(c, 3), 6));
    return sn_add(sn_index(x, i, c), sn_if(sn_lt(c, 3), sn_mul(speed, 0.01f), 0.0f));
}

static sn_acc moved(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(moved_at, &x));
}

static sn_scalar butterfly_at(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar half = sn_quot(sn_extent(x, 0), 2), k = sn_rem(i, half);
    sn_scalar a = sn_index(x, k, c), b = sn_index(x, sn_add(k, half), c);
    return sn_if(sn_lt(i, half), sn_add(a, b), sn_sub(a, b));
}

static sn_acc butterflies(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(butterfly_at, &x));
}

static sn_scalar of_rolled(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    return sn_tuple(i, sn_mod(sn_add(j, 100), *(sn_scalar *)env), c);
}

static sn_acc rolled_pixels(sn_acc x)
{
    sn_scalar m = sn_extent(x, 1);
    return sn_backpermute(sn_shape_of(x), sn_closure(of_rolled, &m), x);
}

/* Some of a record's numbers. */
static sn_scalar of_some(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_add(sn_mul(sn_index(x, i, 0), sn_index(x, i, 2)), sn_index(x, i, 5)), sn_index(x, i, 6));
}

static sn_acc some_columns(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(of_some, &x));
}

static sn_acc one_column(sn_acc x)
{
    return sn_slice(x, SN_ALL, 4);
}

static sn_acc median_of_5(sn_acc x)
{
    return sn_slice(sn_sort(x), SN_ALL, 2);
}

static sn_scalar yuv_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar r = sn_to_i32(sn_index(x, i, j, 0)), g = sn_to_i32(sn_index(x, i, j, 1)),
              b = sn_to_i32(sn_index(x, i, j, 2));
    sn_scalar y = sn_shr(sn_add(sn_add(sn_mul(r, 66), sn_mul(g, 129)), sn_add(sn_mul(b, 25), 4224)), 8);
    sn_scalar u = sn_shr(sn_add(sn_sub(sn_mul(b, 112), sn_add(sn_mul(r, 38), sn_mul(g, 74))), 32896), 8);
    sn_scalar v = sn_shr(sn_add(sn_sub(sn_mul(r, 112), sn_add(sn_mul(g, 94), sn_mul(b, 18))), 32896), 8);
    return sn_to_u8(sn_if(sn_eq(c, 0), y, sn_if(sn_eq(c, 1), u, v)));
}

static sn_acc yuv(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(yuv_at, &x));
}

static sn_acc candles(sn_acc x)
{
    sn_acc rows = sn_reshape(sn_shape(sn_quot(sn_size(x), 60), 60), x);
    return sn_results(sn_slice(rows, SN_ALL, 0), sn_maximum(rows), sn_minimum(rows), sn_slice(rows, SN_ALL, 59));
}

static sn_scalar mixed_tenth(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, i, sn_rem(sn_add(j, 1), 10)), sn_index(x, i, sn_rem(sn_add(j, 9), 10)));
}

static sn_acc mixed_tenths(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(mixed_tenth, &x));
}

#define NB_GROUP records
#define NB_TABLE "records.def"
#include "../table.h"
