/* Where elements come from. */
#include "../program.h"

void nb_make_four(const struct nb_call *call);
void nb_make_four_third(const struct nb_call *call);
void nb_make_bits(const struct nb_call *call);
void nb_make_edges_of_chains(const struct nb_call *call);

struct source {
    sn_acc x, y;
    sn_scalar a, b, i, j;
};

static sn_scalar reversed_bits(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar v = sn_to_u32(i), bits = sn_to_u32(sn_round(sn_log2(sn_to_f64(sn_size(x)))));
    v = sn_bit_or(sn_shl(sn_bit_and(v, 0x55555555), 1), sn_bit_and(sn_shr(v, 1), 0x55555555));
    v = sn_bit_or(sn_shl(sn_bit_and(v, 0x33333333), 2), sn_bit_and(sn_shr(v, 2), 0x33333333));
    v = sn_bit_or(sn_shl(sn_bit_and(v, 0x0f0f0f0f), 4), sn_bit_and(sn_shr(v, 4), 0x0f0f0f0f));
    v = sn_bit_or(sn_shl(sn_bit_and(v, 0x00ff00ff), 8), sn_bit_and(sn_shr(v, 8), 0x00ff00ff));
    v = sn_bit_or(sn_shl(v, 16), sn_shr(v, 16));
    return sn_index(x, sn_to_i64(sn_shr(v, sn_sub(sn_u32(32), bits))));
}

static sn_acc bit_reversal(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(reversed_bits, &x));
}

/* Tiles of 8 x 8 one behind the other. */
static sn_scalar in_block(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar m = sn_extent(x, 1), linear = sn_add(sn_mul(i, m), j), across = sn_quot(m, 8);
    sn_scalar block = sn_quot(linear, 64), within = sn_rem(linear, 64);
    sn_scalar row = sn_add(sn_mul(sn_quot(block, across), 8), sn_quot(within, 8));
    return sn_index(x, row, sn_add(sn_mul(sn_rem(block, across), 8), sn_rem(within, 8)));
}

static sn_acc blocks_of_8(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(in_block, &x));
}

static sn_scalar of_rows_in_block(sn_scalar b, sn_scalar c, sn_scalar i, sn_scalar j)
{
    return sn_tuple(b, i, c, j);
}

static sn_acc blocks_by_axes(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), down = sn_quot(n, 8), across = sn_quot(m, 8);
    sn_acc blocks = sn_reshape(sn_shape(down, 8, across, 8), x);
    return sn_reshape(sn_shape(n, m), sn_backpermute(sn_shape(down, across, 8, 8), of_rows_in_block, blocks));
}

static sn_scalar around(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_mod(sn_sub(j, i), sn_size(x)));
}

static sn_acc circulant(sn_acc x)
{
    return sn_generate(sn_shape(sn_size(x), sn_size(x)), sn_closure(around, &x));
}

static sn_scalar rolled(void *env, sn_scalar i, sn_scalar j)
{
    const struct source *s = env;
    return sn_index(s->x, sn_mod(sn_add(i, s->a), sn_extent(s->x, 0)), sn_mod(sn_add(j, s->b), sn_extent(s->x, 1)));
}

static sn_acc roll(sn_acc x, sn_acc a, sn_acc b)
{
    struct source s = {.x = x, .a = sn_the(a), .b = sn_the(b)};
    return sn_generate(sn_shape_of(x), sn_closure(rolled, &s));
}

static sn_scalar of_block(void *env, sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar l)
{
    const struct source *s = env;
    return sn_index(s->x, sn_add(sn_mul(i, s->a), k), sn_add(sn_mul(j, s->a), l));
}

static sn_acc block_means(sn_acc x, sn_acc factor)
{
    struct source s = {.x = x, .a = sn_the(factor)};
    sn_scalar h = sn_quot(sn_extent(x, 0), s.a), w = sn_quot(sn_extent(x, 1), s.a);
    sn_acc sums = sn_sum(sn_sum(sn_generate(sn_shape(h, w, s.a, s.a), sn_closure(of_block, &s))));
    return sn_zip_with(sn_div, sums, sn_fill(sn_shape(h, w), sn_to_f32(sn_mul(s.a, s.a))));
}

static sn_scalar by_parity(sn_scalar i, sn_scalar j, sn_scalar x, sn_scalar y)
{
    return sn_if(sn_eq(sn_rem(sn_add(i, j), 2), 0), x, y);
}

static sn_acc checkerboard(sn_acc x, sn_acc y)
{
    return sn_izip_with(by_parity, x, y);
}

static sn_scalar strided_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    sn_scalar dy = sn_quot(k, 5), dx = sn_rem(k, 5);
    return sn_add(
        sum, sn_mul(sn_index(s->y, dy, dx), sn_index(s->x, sn_add(sn_mul(s->i, 2), dy), sn_add(sn_mul(s->j, 2), dx))));
}

static sn_scalar strided_at(void *env, sn_scalar i, sn_scalar j)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    s.j = j;
    return sn_loop(25, sn_closure(strided_tap, &s), sn_f32(0));
}

static sn_acc strided_convolution(sn_acc x, sn_acc w)
{
    struct source s = {.x = x, .y = w};
    return sn_generate(
        sn_shape(sn_add(sn_quot(sn_sub(sn_extent(x, 0), 5), 2), 1), sn_add(sn_quot(sn_sub(sn_extent(x, 1), 5), 2), 1)),
        sn_closure(strided_at, &s));
}

/* Every fourth element of a signal that is filtered by sixteen numbers. */
static sn_scalar decimated_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    return sn_add(sum, sn_mul(sn_index(s->y, k), sn_index(s->x, sn_add(sn_mul(s->i, 4), k))));
}

static sn_scalar decimated_at(void *env, sn_scalar i)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    return sn_loop(16, sn_closure(decimated_tap, &s), sn_f32(0));
}

static sn_acc decimated(sn_acc x, sn_acc taps)
{
    struct source s = {.x = x, .y = taps};
    return sn_generate(sn_shape(sn_sub(sn_quot(sn_extent(x, 0), 4), 4)), sn_closure(decimated_at, &s));
}

static sn_scalar dilated_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    return sn_add(sum, sn_mul(sn_index(s->y, k), sn_index(s->x, sn_add(s->i, sn_mul(k, s->a)))));
}

static sn_scalar dilated_at(void *env, sn_scalar i)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    return sn_loop(sn_size(s.y), sn_closure(dilated_tap, &s), sn_f32(0));
}

static sn_acc dilated_convolution(sn_acc x, sn_acc w, sn_acc by)
{
    struct source s = {.x = x, .y = w, .a = sn_the(by)};
    return sn_generate(sn_shape(sn_sub(sn_size(x), sn_mul(sn_sub(sn_size(w), 1), s.a))), sn_closure(dilated_at, &s));
}

/* `a` times as many elements, each by the weights of its phase. */
static sn_scalar phase_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    sn_scalar weight = sn_index(s->y, sn_add(sn_mul(k, s->a), sn_rem(s->i, s->a)));
    return sn_add(sum, sn_mul(weight, sn_index(s->x, sn_add(sn_quot(s->i, s->a), k))));
}

static sn_scalar resampled(void *env, sn_scalar i)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    return sn_loop(sn_quot(sn_size(s.y), s.a), sn_closure(phase_tap, &s), sn_f32(0));
}

static sn_acc resample(sn_acc x, sn_acc w, sn_acc by)
{
    struct source s = {.x = x, .y = w, .a = sn_the(by)};
    return sn_generate(sn_shape(sn_sub(sn_mul(sn_size(x), s.a), sn_size(w))), sn_closure(resampled, &s));
}

/* Each block of 8 x 8 times the matrix from the left, as an inner product for each element. */
static sn_scalar cosine_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    return sn_add(
        sum, sn_mul(sn_index(s->y, sn_rem(s->i, 8), k), sn_index(s->x, sn_add(sn_mul(sn_quot(s->i, 8), 8), k), s->j)));
}

static sn_scalar cosine_at(void *env, sn_scalar i, sn_scalar j)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    s.j = j;
    return sn_loop(8, sn_closure(cosine_tap, &s), sn_f32(0));
}

static sn_acc cosine_blocks(sn_acc x, sn_acc c)
{
    struct source s = {.x = x, .y = c};
    return sn_generate(sn_shape_of(x), sn_closure(cosine_at, &s));
}

static sn_scalar row_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const struct source *s = env;
    return sn_add(sum, sn_mul(sn_index(s->y, k), sn_index(s->x, s->i, sn_add(s->j, k))));
}

static sn_scalar row_weighted(void *env, sn_scalar i, sn_scalar j)
{
    struct source s = *(const struct source *)env;
    s.i = i;
    s.j = j;
    return sn_loop(sn_size(s.y), sn_closure(row_tap, &s), sn_f32(0));
}

static sn_acc weights_of_rows(sn_acc x, sn_acc w)
{
    struct source s = {.x = x, .y = w};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_add(sn_sub(sn_extent(x, 1), sn_size(w)), 1)),
                       sn_closure(row_weighted, &s));
}

static sn_acc sums_of_blocks(sn_acc x, sn_acc length)
{
    sn_scalar l = sn_the(length);
    return sn_sum(sn_reshape(sn_shape(sn_quot(sn_size(x), l), l), x));
}

static sn_scalar exchanged(void *env, sn_scalar i)
{
    const struct source *s = env;
    sn_scalar other = sn_bit_xor(i, s->b), x = sn_index(s->x, i), y = sn_index(s->x, other);
    sn_scalar up = sn_eq(sn_bit_and(i, s->a), 0), first = sn_lt(i, other);
    return sn_if(sn_eq(up, first), sn_min(x, y), sn_max(x, y));
}

struct exchange {
    sn_scalar size;
};

static sn_acc exchange_round(void *env, int count, const sn_acc *state)
{
    const struct exchange *e = env;
    (void)count;
    sn_acc x = state[1];
    struct source s = {.x = x, .a = e->size, .b = sn_shr(e->size, sn_add(sn_the(state[0]), 1))};
    return sn_generate(sn_shape_of(x), sn_closure(exchanged, &s));
}

static sn_acc bitonic_round(sn_acc k, sn_acc x)
{
    struct exchange e = {sn_shl(sn_i64(2), sn_the(k))};
    return sn_aloop(sn_add(sn_the(k), 1), sn_body_of(exchange_round, &e, 2), x);
}

static sn_acc bitonic(sn_acc x)
{
    return sn_aloop(sn_to_i64(sn_round(sn_log2(sn_to_f64(sn_size(x))))), bitonic_round, x);
}

static sn_scalar rule(sn_scalar s)
{
    sn_scalar n = sn_bit_or(sn_bit_or(sn_shl(sn_at(s, -1), 2), sn_shl(sn_at(s, 0), 1)), sn_at(s, 1));
    return sn_bit_and(sn_shr(sn_u8(110), n), 1);
}

static sn_acc rule_round(sn_acc x)
{
    return sn_stencil(rule, sn_pattern(3), sn_wrap, x);
}

static sn_acc rule_110(sn_acc x)
{
    return sn_aiterate(100, rule_round, x);
}

static sn_scalar lives(sn_scalar s)
{
    sn_scalar sum = sn_u8(0);
    for (int y = -1; y < 2; y++)
        for (int x = -1; x < 2; x++)
            if (x || y)
                sum = sn_add(sum, sn_at(s, y, x));
    return sn_if(sn_or(sn_eq(sum, 3), sn_and(sn_eq(sum, 2), sn_eq(sn_at(s, 0, 0), 1))), sn_u8(1), sn_u8(0));
}

static sn_acc life_round(sn_acc x)
{
    return sn_stencil(lives, sn_pattern(3, 3), sn_constant(0), x);
}

static sn_acc life_50(sn_acc x)
{
    return sn_aiterate(50, life_round, x);
}

/* Diagonals of the table of distances, from two before. */
struct texts {
    sn_acc a, b, last, before;
    sn_scalar d;
};

static sn_scalar distance_at(void *env, sn_scalar i)
{
    const struct texts *t = env;
    sn_scalar j = sn_sub(t->d, i), n = sn_size(t->a);
    sn_scalar inner = sn_and(sn_and(sn_gt(i, 0), sn_gt(j, 0)), sn_le(j, n));
    sn_scalar same = sn_eq(sn_index(t->a, sn_sub(i, 1)), sn_index(t->b, sn_sub(j, 1)));
    sn_scalar moved = sn_add(sn_min(sn_index(t->last, i), sn_index(t->last, sn_sub(i, 1))), 1);
    sn_scalar kept = sn_add(sn_index(t->before, sn_sub(i, 1)), sn_if(same, sn_i64(0), sn_i64(1)));
    return sn_if(inner, sn_min(moved, kept), t->d);
}

static sn_acc diagonal(void *env, int count, const sn_acc *state)
{
    struct texts t = *(const struct texts *)env;
    (void)count;
    t.d = sn_add(sn_the(state[0]), 1);
    t.last = state[1];
    t.before = state[2];
    return sn_results(sn_generate(sn_shape_of(t.last), sn_closure(distance_at, &t)), t.last);
}

static sn_acc edit_distance(sn_acc a, sn_acc b)
{
    struct texts t = {.a = a, .b = b};
    sn_scalar n = sn_size(a);
    sn_acc first = sn_fill(sn_shape(sn_add(n, 1)), sn_i64(0));
    sn_acc end = sn_aloop(sn_mul(n, 2), sn_body_of(diagonal, &t, 3), sn_results(first, first));
    return sn_unit(sn_index(sn_result(end, 0), n));
}

static sn_scalar found_twice(void *env, sn_scalar x)
{
    const struct source *s = env;
    return sn_index(s->y, sn_to_i64(sn_index(s->x, sn_to_i64(x))));
}

static sn_acc lookup_twice(sn_acc x, sn_acc first, sn_acc second)
{
    struct source s = {.x = first, .y = second};
    return sn_map(sn_closure(found_twice, &s), x);
}

static sn_scalar label_of(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

static sn_acc labels_move(sn_acc now, sn_acc before)
{
    return sn_any(sn_zip_with(sn_ne, now, before));
}

static sn_acc label_round(void *env, int count, const sn_acc *state)
{
    const struct source *s = env;
    (void)count;
    sn_acc label = state[0], n = label;
    sn_acc to_b = sn_reduce_by_key(sn_min, INT64_MAX, sn_size(n), s->y, sn_map(sn_closure(label_of, &label), s->x));
    sn_acc to_a = sn_reduce_by_key(sn_min, INT64_MAX, sn_size(n), s->x, sn_map(sn_closure(label_of, &label), s->y));
    return sn_results(sn_zip_with(sn_min, label, sn_zip_with(sn_min, to_a, to_b)), label);
}

static sn_acc components(sn_acc a, sn_acc b)
{
    struct source s = {.x = a, .y = b};
    sn_acc label = sn_iota(sn_quot(sn_size(a), 2));
    return sn_result(sn_awhile(labels_move, sn_body_of(label_round, &s, 2), sn_results(label, sn_map(sn_neg, label))),
                     0);
}

static sn_scalar by_coefficient(sn_scalar x, sn_scalar k)
{
    sn_scalar c = sn_at(k, 0, 0),
              around_it = sn_add(sn_add(sn_at(x, -1, 0), sn_at(x, 1, 0)), sn_add(sn_at(x, 0, -1), sn_at(x, 0, 1)));
    return sn_add(sn_at(x, 0, 0), sn_mul(c, sn_sub(around_it, sn_mul(4, sn_at(x, 0, 0)))));
}

static sn_acc variable_stencil(sn_acc x, sn_acc k)
{
    return sn_stencil2(by_coefficient, sn_pattern(3, 3), sn_clamp, x, sn_pattern(1, 1), sn_clamp, k);
}

#define NB_GROUP sources
#define NB_TABLE "sources.def"
#include "../table.h"
