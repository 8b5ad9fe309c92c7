/* Permutes: the second parameter, or the last, has as many elements as there are bins. */
#include "../program.h"

#include <math.h>

/* --- keys --- */

#define KEYS(T)                                                                                                        \
    static void keys_##T(const struct nb_call *call)                                                                   \
    {                                                                                                                  \
        T *key = call->in[0];                                                                                          \
        for (int64_t i = 0; i < call->extent[0]; i++)                                                                  \
            key[i] = (T)(((uint64_t)i * UINT64_C(0x9E3779B97F4A7C15) >> 32) % (uint64_t)call->extent[1]);              \
    }
KEYS(u8)
KEYS(i32)
KEYS(u32)
KEYS(i64)

static void keys_of_cells(const struct nb_call *call)
{
    for (int d = 0; d < 2; d++) {
        i32 *key = call->in[d];
        for (int64_t i = 0; i < call->extent[0]; i++)
            key[i] = (i32)(((uint64_t)i * (d ? UINT64_C(0x9E3779B97F4A7C15) : UINT64_C(0xD1B54A32D192ED03)) >> 32) %
                           (uint64_t)call->extent[1 + d]);
    }
}

static void one_key(const struct nb_call *call)
{
    u32 *key = call->in[0];
    for (int64_t i = 0; i < call->extent[0]; i++)
        key[i] = 7;
}

static void permutation(const struct nb_call *call)
{
    u32 *key = call->in[0];
    for (int64_t i = 0; i < call->extent[0]; i++)
        key[i] = (u32)((uint64_t)i * 7919 % (uint64_t)call->extent[1]);
}

/* --- programs --- */

static sn_acc histogram(sn_acc keys, sn_acc bins)
{
    return sn_histogram(sn_size(bins), keys);
}

static sn_scalar bin_of(void *env, sn_scalar x)
{
    sn_scalar bins = *(const sn_scalar *)env;
    return sn_max(sn_min(sn_to_i64(sn_mul(x, sn_to_f32(bins))), sn_sub(bins, 1)), 0);
}

static sn_acc histogram_floats(sn_acc x, sn_acc like)
{
    sn_scalar bins = sn_size(like);
    return sn_histogram(bins, sn_map(sn_closure(bin_of, &bins), x));
}

static sn_acc weights(sn_acc keys, sn_acc weight, sn_acc bins)
{
    return sn_histogram_weighted(sn_size(bins), keys, weight);
}

static sn_acc greatest(sn_acc keys, sn_acc x, sn_acc bins)
{
    return sn_reduce_by_key(sn_max, sn_i16(INT16_MIN), sn_size(bins), keys, x);
}

static sn_acc greatest_f32(sn_acc keys, sn_acc x, sn_acc bins)
{
    return sn_reduce_by_key(sn_max, sn_f32(-INFINITY), sn_size(bins), keys, x);
}

#define SUMS(T)                                                                                                        \
    static sn_acc sums_of_##T(sn_acc keys, sn_acc x, sn_acc bins)                                                      \
    {                                                                                                                  \
        return sn_reduce_by_key(sn_add, sn_##T(0), sn_size(bins), keys, x);                                            \
    }
SUMS(i32)
SUMS(f64)
#undef SUMS

static sn_acc products(sn_acc keys, sn_acc x, sn_acc bins)
{
    return sn_reduce_by_key(sn_mul, sn_u64(1), sn_size(bins), keys, x);
}

static sn_scalar twice(sn_scalar x)
{
    return sn_tuple(x, x);
}

static sn_scalar wider(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_min(sn_fst(x), sn_fst(y)), sn_max(sn_snd(x), sn_snd(y)));
}

static sn_acc ranges(sn_acc keys, sn_acc x, sn_acc bins)
{
    sn_scalar none = sn_tuple(sn_f32(INFINITY), sn_f32(-INFINITY));
    return sn_reduce_by_key(wider, none, sn_size(bins), keys, sn_map(twice, x));
}

static sn_scalar add_points(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_add(sn_get(x, 1), sn_get(y, 1)),
                    sn_add(sn_get(x, 2), sn_get(y, 2)));
}

static sn_acc points(sn_acc keys, sn_acc x, sn_acc bins)
{
    sn_scalar none = sn_tuple(sn_f32(0), sn_f32(0), sn_f32(0));
    return sn_reduce_by_key(add_points, none, sn_size(bins), keys, x);
}

static sn_scalar mean_of(sn_scalar sum, sn_scalar count)
{
    return sn_div(sum, sn_to_f32(count));
}

/* Reductions one by one, by the same keys. */
static sn_acc ranges_apart(sn_acc keys, sn_acc x, sn_acc bins)
{
    return sn_results(sn_reduce_by_key(sn_min, sn_f32(INFINITY), sn_size(bins), keys, x),
                      sn_reduce_by_key(sn_max, sn_f32(-INFINITY), sn_size(bins), keys, x));
}

static sn_acc points_apart(sn_acc keys, sn_acc x, sn_acc y, sn_acc z, sn_acc bins)
{
    sn_scalar m = sn_size(bins);
    return sn_results(sn_histogram_weighted(m, keys, x), sn_histogram_weighted(m, keys, y),
                      sn_histogram_weighted(m, keys, z));
}

static sn_acc means_apart(sn_acc keys, sn_acc x, sn_acc bins)
{
    sn_acc sums = sn_reduce_by_key(sn_add, sn_f32(0), sn_size(bins), keys, x);
    return sn_zip_with(mean_of, sums, sn_histogram(sn_size(bins), keys));
}

static sn_acc cells(sn_acc rows, sn_acc columns, sn_acc x, sn_acc like)
{
    return sn_reduce_by_key(sn_add, sn_f32(0), sn_shape_of(like), sn_zip(rows, columns), x);
}

static sn_scalar with_one(sn_scalar x)
{
    return sn_tuple(x, sn_i32(1));
}

static sn_scalar add_pairs(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_fst(x), sn_fst(y)), sn_add(sn_snd(x), sn_snd(y)));
}

static sn_scalar mean(sn_scalar x)
{
    return sn_div(sn_fst(x), sn_to_f32(sn_snd(x)));
}

static sn_acc means(sn_acc keys, sn_acc x, sn_acc bins)
{
    sn_acc pairs = sn_map(with_one, x);
    return sn_map(mean, sn_reduce_by_key(add_pairs, sn_tuple(sn_f32(0), sn_i32(0)), sn_size(bins), keys, pairs));
}

static sn_scalar better(sn_scalar x, sn_scalar y)
{
    sn_scalar same = sn_and(sn_eq(sn_fst(x), sn_fst(y)), sn_lt(sn_snd(x), sn_snd(y)));
    return sn_if(sn_or(sn_gt(sn_fst(x), sn_fst(y)), same), x, y);
}

static sn_acc best(sn_acc keys, sn_acc x, sn_acc bins)
{
    sn_acc pairs = sn_zip(x, sn_iota(sn_size(x)));
    return sn_reduce_by_key(better, sn_tuple(sn_f32(-1e30f), sn_i64(INT64_MAX)), sn_size(bins), keys, pairs);
}

static sn_acc scatter(sn_acc keys, sn_acc x, sn_acc bins)
{
    return sn_scatter(keys, sn_fill(sn_size(bins), sn_f32(0)), x);
}

static sn_scalar exchanged(sn_scalar i, sn_scalar j)
{
    return sn_tuple(j, i);
}

static sn_scalar newer(sn_scalar x, sn_scalar y)
{
    (void)y;
    return x;
}

static sn_acc turned(sn_acc x)
{
    return sn_permute(newer, sn_fill(sn_tuple(sn_extent(x, 1), sn_extent(x, 0)), sn_f32(0)), exchanged, x);
}

#define NB_TABLE "permutes.def"
#define NB_GROUP permutes
#include "../table.h"
