/* Index maps. */
#include "../program.h"

static sn_acc rotate_1(sn_acc x)
{
    return sn_rotate(1, x);
}

static sn_acc rotate_third(sn_acc x)
{
    return sn_rotate(sn_quot(sn_size(x), 3), x);
}

static sn_acc rotate_rows(sn_acc x)
{
    return sn_rotate(5, x);
}

static sn_scalar below(void *env, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_mod(sn_add(i, 5), *(sn_scalar *)env), j);
}

static sn_acc rotate_outer(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    return sn_backpermute(sn_shape_of(x), sn_closure(below, &n), x);
}

static sn_acc rotate_add(sn_acc x)
{
    return sn_zip_with(sn_add, x, sn_rotate(1, x));
}

struct array {
    sn_acc at;
    sn_scalar n, m;
};

static sn_scalar one_before(void *env, sn_scalar i)
{
    const struct array *x = env;
    return sn_if(sn_gt(i, 0), sn_index(x->at, sn_sub(i, 1)), 0);
}

static sn_acc shift(sn_acc xs)
{
    struct array x = {.at = xs};
    return sn_generate(sn_size(xs), sn_closure(one_before, &x));
}

static sn_scalar padded(void *env, sn_scalar i)
{
    const struct array *x = env;
    sn_scalar at = sn_sub(i, 50);
    return sn_if(sn_and(sn_ge(at, 0), sn_lt(at, x->n)), sn_index(x->at, at), 0);
}

static sn_acc pad(sn_acc xs, sn_acc unused)
{
    struct array x = {.at = xs, .n = sn_size(xs)};
    (void)unused;
    return sn_generate(sn_add(x.n, 100), sn_closure(padded, &x));
}

static sn_scalar padded_2(void *env, sn_scalar i, sn_scalar j)
{
    const struct array *x = env;
    sn_scalar row = sn_sub(i, 4), column = sn_sub(j, 4);
    sn_scalar rows = sn_and(sn_ge(row, 0), sn_lt(row, x->n)), columns = sn_and(sn_ge(column, 0), sn_lt(column, x->m));
    return sn_if(sn_and(rows, columns), sn_index(x->at, row, column), 0);
}

static sn_acc pad_2(sn_acc xs)
{
    struct array x = {.at = xs, .n = sn_extent(xs, 0), .m = sn_extent(xs, 1)};
    return sn_generate(sn_shape(sn_add(x.n, 8), sn_add(x.m, 8)), sn_closure(padded_2, &x));
}

static sn_scalar inside(sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_add(i, 4), sn_add(j, 4));
}

static sn_acc crop(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_sub(sn_extent(x, 0), 8), sn_sub(sn_extent(x, 1), 8)), inside, x);
}

static sn_scalar modulo(void *env, sn_scalar i)
{
    return sn_mod(i, *(sn_scalar *)env);
}

static sn_acc tile_to(sn_scalar size, sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_backpermute(size, sn_closure(modulo, &n), x);
}

static sn_acc tile_twice(sn_acc x)
{
    return tile_to(sn_mul(sn_size(x), 2), x);
}

static sn_acc tile_short(sn_acc x, sn_acc shape)
{
    return tile_to(sn_size(shape), x);
}

static sn_scalar half(sn_scalar i)
{
    return sn_quot(i, 2);
}

static sn_acc each_twice(sn_acc x)
{
    return sn_backpermute(sn_mul(sn_size(x), 2), half, x);
}

static sn_scalar third(sn_scalar i)
{
    return sn_quot(i, 3);
}

static sn_acc each_3_times(sn_acc x)
{
    return sn_backpermute(sn_mul(sn_size(x), 3), third, x);
}

static sn_scalar modulo_row(void *env, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_mod(i, *(sn_scalar *)env), j);
}

static sn_acc tile_rows(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    return sn_backpermute(sn_shape(sn_mul(n, 2), sn_extent(x, 1)), sn_closure(modulo_row, &n), x);
}

static sn_scalar halves(sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_quot(i, 2), sn_quot(j, 2));
}

static sn_acc upsample(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_mul(sn_extent(x, 0), 2), sn_mul(sn_extent(x, 1), 2)), halves, x);
}

static sn_scalar doubles(sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_mul(i, 2), sn_mul(j, 2));
}

static sn_acc downsample(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2)), doubles, x);
}

static sn_scalar pooled(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar row = sn_mul(i, 2), column = sn_mul(j, 2), below = sn_add(row, 1), right = sn_add(column, 1);
    sn_scalar a = sn_max(sn_index(x, row, column), sn_index(x, row, right));
    return sn_max(a, sn_max(sn_index(x, below, column), sn_index(x, below, right)));
}

static sn_scalar halved(sn_acc x)
{
    return sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2));
}

static sn_acc max_pool(sn_acc x)
{
    return sn_generate(halved(x), sn_closure(pooled, &x));
}

#define CORNER(name, down, right)                                                                                      \
    static sn_scalar name(sn_scalar i, sn_scalar j)                                                                    \
    {                                                                                                                  \
        return sn_tuple(sn_add(sn_mul(i, 2), down), sn_add(sn_mul(j, 2), right));                                      \
    }
CORNER(corner_00, 0, 0)
CORNER(corner_01, 0, 1)
CORNER(corner_10, 1, 0)
CORNER(corner_11, 1, 1)

static sn_acc max_pool_slices(sn_acc x)
{
    sn_acc above =
        sn_zip_with(sn_max, sn_backpermute(halved(x), corner_00, x), sn_backpermute(halved(x), corner_01, x));
    sn_acc below =
        sn_zip_with(sn_max, sn_backpermute(halved(x), corner_10, x), sn_backpermute(halved(x), corner_11, x));
    return sn_zip_with(sn_max, above, below);
}

static sn_scalar complex_part(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *p = env;
    sn_scalar a = sn_index(p[0], i, 0), b = sn_index(p[0], i, 1), c = sn_index(p[1], i, 0), d = sn_index(p[1], i, 1);
    return sn_if(sn_eq(j, 0), sn_sub(sn_mul(a, c), sn_mul(b, d)), sn_add(sn_mul(a, d), sn_mul(b, c)));
}

static sn_acc complex_product(sn_acc x, sn_acc y)
{
    sn_acc p[] = {x, y};
    return sn_generate(sn_shape(sn_extent(x, 0), 2), sn_closure(complex_part, p));
}

static sn_acc times(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_mul, x, y);
}

/* By arrays of real and imaginary parts. */
static sn_acc complex_product_parts(sn_acc x, sn_acc y)
{
    sn_acc a = sn_slice(x, SN_ALL, 0), b = sn_slice(x, SN_ALL, 1), c = sn_slice(y, SN_ALL, 0),
           d = sn_slice(y, SN_ALL, 1);
    sn_acc real = sn_zip_with(sn_sub, times(a, c), times(b, d)),
           imaginary = sn_zip_with(sn_add, times(a, d), times(b, c));
    return sn_transpose(sn_append_along(0, sn_replicate(real, 1, SN_ALL), sn_replicate(imaginary, 1, SN_ALL)));
}

static sn_scalar from_two(void *env, sn_scalar i)
{
    const sn_acc *x = env;
    sn_scalar at = sn_quot(i, 2);
    return sn_if(sn_eq(sn_rem(i, 2), 0), sn_index(x[0], at), sn_index(x[1], at));
}

static sn_acc interleave(sn_acc x, sn_acc y)
{
    sn_acc both[] = {x, y};
    return sn_generate(sn_mul(sn_size(x), 2), sn_closure(from_two, both));
}

static sn_scalar from_column(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *x = env;
    return sn_if(sn_eq(j, 0), sn_index(x[0], i), sn_index(x[1], i));
}

static sn_acc interleave_columns(sn_acc x, sn_acc y)
{
    sn_acc both[] = {x, y};
    return sn_generate(sn_shape(sn_size(x), 2), sn_closure(from_column, both));
}

static sn_scalar even(sn_scalar i)
{
    return sn_mul(i, 2);
}

static sn_scalar odd(sn_scalar i)
{
    return sn_add(sn_mul(i, 2), 1);
}

static sn_acc deinterleave(sn_acc x, sn_acc shape)
{
    return sn_results(sn_backpermute(sn_size(shape), even, x), sn_backpermute(sn_size(shape), odd, x));
}

static sn_scalar thrice(sn_scalar i)
{
    return sn_add(sn_mul(i, 3), 1);
}

static sn_acc every_third(sn_acc x, sn_acc shape)
{
    return sn_backpermute(sn_size(shape), thrice, x);
}

static sn_acc pair_sums(sn_acc x, sn_acc shape)
{
    return sn_zip_with(sn_add, sn_backpermute(sn_size(shape), even, x), sn_backpermute(sn_size(shape), odd, x));
}

static sn_scalar from_first_or_second(void *env, sn_scalar i)
{
    const sn_acc *x = env;
    sn_scalar n = sn_size(x[0]);
    return sn_if(sn_lt(i, n), sn_index(x[0], i), sn_index(x[1], sn_sub(i, n)));
}

static sn_acc concatenate(sn_acc x, sn_acc y)
{
    sn_acc both[] = {x, y};
    return sn_generate(sn_add(sn_size(x), sn_size(y)), sn_closure(from_first_or_second, both));
}

static sn_acc reverse(sn_acc x)
{
    return sn_reverse(x);
}

static sn_acc palindrome(sn_acc x)
{
    return sn_zip_with(sn_add, x, sn_reverse(x));
}

static sn_acc differences(sn_acc x)
{
    return sn_zip_with(sn_sub, sn_tail(x), sn_init(x));
}

static sn_acc reshape_rows(sn_acc x, sn_acc rows, sn_acc columns)
{
    sn_acc m = sn_reshape(sn_shape(sn_size(rows), sn_size(columns)), x);
    return sn_zip_with(sn_add, m, sn_replicate(columns, sn_size(rows), SN_ALL));
}

static sn_scalar both(sn_scalar i)
{
    return sn_tuple(i, i);
}

static sn_acc diagonal(sn_acc x)
{
    return sn_backpermute(sn_extent(x, 0), both, x);
}

static sn_scalar turned(void *env, sn_scalar i, sn_scalar j)
{
    return sn_tuple(i, sn_mod(sn_add(i, j), *(sn_scalar *)env));
}

static sn_acc skew(sn_acc x)
{
    sn_scalar m = sn_extent(x, 1);
    return sn_backpermute(sn_shape_of(x), sn_closure(turned, &m), x);
}

static sn_acc gather(sn_acc x, sn_acc index)
{
    return sn_gather(index, x);
}

static sn_scalar looked_up(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

static sn_acc table(sn_acc entries, sn_acc x)
{
    return sn_map(sn_closure(looked_up, &entries), x);
}

static sn_scalar in_row(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *p = env;
    return sn_index(p[0], sn_index(p[1], i), sn_to_i32(j));
}

static sn_acc gather_rows(sn_acc x, sn_acc index)
{
    sn_acc p[] = {x, index};
    return sn_generate(sn_shape(sn_extent(index, 0), sn_extent(x, 1)), sn_closure(in_row, p));
}

#define NB_GROUP indices
#define NB_TABLE "indices.def"
#include "../table.h"
