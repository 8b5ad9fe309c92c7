/* Small whole programs. */
#include "../program.h"

#include <math.h>

void nb_make_power_of_two(const struct nb_call *call);
void nb_make_links(const struct nb_call *call);
void nb_make_dominant(const struct nb_call *call);

/* --- learning --- */

static sn_scalar squared(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar normal(sn_scalar d, sn_scalar variance, sn_scalar weight, sn_scalar bias)
{
    return sn_add(sn_mul(sn_div(d, sn_sqrt(sn_add(variance, 1e-5f))), weight), bias);
}

static sn_acc mean_of_rows(sn_acc x)
{
    sn_scalar m = sn_to_f32(sn_extent(x, 1));
    return sn_zip_with(sn_div, sn_sum(x), sn_fill(sn_shape(sn_extent(x, 0)), m));
}

static sn_acc layer_norm(sn_acc x, sn_acc weight, sn_acc bias)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_acc d = sn_zip_with(sn_sub, x, sn_replicate(mean_of_rows(x), SN_ALL, m));
    sn_acc variance = mean_of_rows(sn_map(squared, d));
    return sn_zip_with(normal, d, sn_replicate(variance, SN_ALL, m), sn_replicate(weight, n, SN_ALL),
                       sn_replicate(bias, n, SN_ALL));
}

static sn_scalar exp_less(sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_sub(x, most));
}

static sn_scalar at_target(void *env, sn_scalar i, sn_scalar sum, sn_scalar most, sn_scalar target)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_add(sn_log(sum), most), sn_index(x, i, target));
}

static sn_acc cross_entropy(sn_acc x, sn_acc target)
{
    sn_acc most = sn_maximum(x);
    sn_acc sum = sn_sum(sn_zip_with(exp_less, x, sn_replicate(most, SN_ALL, sn_extent(x, 1))));
    return sn_izip_with(sn_closure(at_target, &x), sum, most, target);
}

static sn_acc product(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_extent(a, 0), m = sn_extent(b, 1);
    return sn_sum(
        sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, m, SN_ALL), sn_replicate(sn_transpose(b), n, SN_ALL, SN_ALL)));
}

static sn_scalar eighth(sn_scalar x)
{
    return sn_mul(x, 0.125f);
}

static sn_acc attention(sn_acc q, sn_acc k, sn_acc v)
{
    sn_scalar n = sn_extent(q, 0);
    sn_acc score = sn_map(eighth, product(q, sn_transpose(k)));
    sn_acc e = sn_zip_with(exp_less, score, sn_replicate(sn_maximum(score), SN_ALL, n));
    return product(sn_zip_with(sn_div, e, sn_replicate(sn_sum(e), SN_ALL, n)), v);
}

static sn_scalar is_class(sn_scalar j, sn_scalar c)
{
    return sn_to_f32(sn_eq(j, c));
}

static sn_scalar class_at(void *env, sn_scalar i, sn_scalar j)
{
    return is_class(j, sn_index(*(sn_acc *)env, i));
}

static sn_acc one_hot(sn_acc classes, sn_acc like)
{
    return sn_generate(sn_shape(sn_extent(classes, 0), sn_extent(like, 0)), sn_closure(class_at, &classes));
}

struct filters {
    sn_acc x, w;
    sn_scalar k, y, at;
};

static sn_scalar next_tap(void *env, sn_scalar tap, sn_scalar sum)
{
    const struct filters *f = env;
    sn_scalar c = sn_quot(tap, 9), dy = sn_rem(sn_quot(tap, 3), 3), dx = sn_rem(tap, 3);
    return sn_add(sum, sn_mul(sn_index(f->w, f->k, c, dy, dx), sn_index(f->x, c, sn_add(f->y, dy), sn_add(f->at, dx))));
}

static sn_scalar convolved(void *env, sn_scalar k, sn_scalar y, sn_scalar x)
{
    struct filters f = *(const struct filters *)env;
    f.k = k;
    f.y = y;
    f.at = x;
    return sn_loop(sn_mul(sn_extent(f.x, 0), 9), sn_closure(next_tap, &f), sn_f32(0));
}

static sn_acc convolve_channels(sn_acc x, sn_acc w)
{
    struct filters f = {.x = x, .w = w};
    sn_scalar height = sn_sub(sn_extent(x, 1), 2), width = sn_sub(sn_extent(x, 2), 2);
    return sn_generate(sn_shape(sn_extent(w, 0), height, width), sn_closure(convolved, &f));
}

static sn_scalar larger_first(sn_scalar p, sn_scalar q)
{
    return sn_if(sn_ge(sn_fst(p), sn_fst(q)), p, q);
}

static sn_scalar best_of_four(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar best = sn_tuple(sn_index(x, sn_mul(i, 2), sn_mul(j, 2)), 0);
    for (int k = 1; k < 4; k++)
        best = larger_first(
            best, sn_tuple(sn_index(x, sn_add(sn_mul(i, 2), k / 2), sn_add(sn_mul(j, 2), k % 2)), (int64_t)k));
    return best;
}

static sn_acc pooled_places(sn_acc x)
{
    sn_acc p =
        sn_generate(sn_shape(sn_quot(sn_extent(x, 0), 2), sn_quot(sn_extent(x, 1), 2)), sn_closure(best_of_four, &x));
    return sn_results(sn_fst(p), sn_snd(p));
}

/* --- numerics --- */

struct stage {
    sn_acc re, im;
    sn_scalar half;
};

/* Stage s of a transform whose input is in order, with results in order (Stockham): pairs n/2 apart. */
static sn_scalar butterfly(void *env, sn_scalar i)
{
    const struct stage *s = env;
    sn_scalar n = sn_size(s->re), k = sn_rem(i, s->half), block = sn_quot(i, sn_mul(s->half, 2));
    sn_scalar second = sn_ne(sn_rem(sn_quot(i, s->half), 2), 0);
    sn_scalar at = sn_add(sn_mul(block, s->half), k), other = sn_add(at, sn_quot(n, 2));
    sn_scalar angle = sn_div(sn_mul(sn_to_f32(k), (float)-M_PI), sn_to_f32(s->half));
    sn_scalar c = sn_cos(angle), sine = sn_sin(angle);
    sn_scalar xr = sn_index(s->re, at), xi = sn_index(s->im, at), yr = sn_index(s->re, other),
              yi = sn_index(s->im, other);
    sn_scalar tr = sn_sub(sn_mul(yr, c), sn_mul(yi, sine)), ti = sn_add(sn_mul(yr, sine), sn_mul(yi, c));
    return sn_if(second, sn_tuple(sn_sub(xr, tr), sn_sub(xi, ti)), sn_tuple(sn_add(xr, tr), sn_add(xi, ti)));
}

static sn_acc fft_stage(sn_acc number, sn_acc re, sn_acc im)
{
    struct stage s = {re, im, sn_shl(sn_i64(1), sn_the(number))};
    sn_acc next = sn_generate(sn_shape(sn_size(re)), sn_closure(butterfly, &s));
    return sn_results(sn_fst(next), sn_snd(next));
}

static sn_acc fft(sn_acc re, sn_acc im)
{
    return sn_aloop(sn_to_i64(sn_round(sn_log2(sn_to_f64(sn_size(re))))), fft_stage, sn_results(re, im));
}

struct graph {
    sn_acc offsets, from;
};

static sn_scalar share_of(void *env, sn_scalar page)
{
    return sn_index(*(sn_acc *)env, page);
}

static sn_scalar new_rank(sn_scalar sum)
{
    return sn_add(0.15f, sn_mul(0.85f, sum));
}

static sn_scalar shared(sn_scalar rank, sn_scalar links)
{
    return sn_mul(rank, links);
}

static sn_acc rank_round(void *env, int count, const sn_acc *state)
{
    const struct graph *g = env;
    (void)count;
    sn_acc rank = state[0];
    return sn_map(new_rank,
                  sn_sum_seg(sn_segments_from_offsets(g->offsets), sn_map(sn_closure(share_of, &rank), g->from)));
}

static sn_acc page_rank(sn_acc offsets, sn_acc from, sn_acc rank)
{
    struct graph g = {offsets, from};
    return sn_aiterate(10, sn_body_of(rank_round, &g, 1), sn_zip_with(shared, rank, rank));
}

static sn_scalar wave_at(sn_scalar s, sn_scalar before)
{
    sn_scalar here = sn_at(s, 0, 0),
              around = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    sn_scalar force = sn_mul(0.2f, sn_sub(around, sn_mul(here, 4)));
    return sn_add(sn_sub(sn_mul(here, 2), sn_at(before, 0, 0)), force);
}

static sn_acc wave_step(sn_acc now, sn_acc before)
{
    return sn_results(
        sn_stencil2(wave_at, sn_pattern(3, 3), sn_constant(0), now, sn_pattern(1, 1), sn_constant(0), before), now);
}

static sn_acc wave(sn_acc now, sn_acc before)
{
    return sn_result(sn_aiterate(10, wave_step, sn_results(now, before)), 0);
}

static sn_scalar seven_points(sn_scalar s)
{
    sn_scalar sum =
        sn_add(sn_add(sn_at(s, -1, 0, 0), sn_at(s, 1, 0, 0)), sn_add(sn_at(s, 0, -1, 0), sn_at(s, 0, 1, 0)));
    sum = sn_add(sum, sn_add(sn_at(s, 0, 0, -1), sn_at(s, 0, 0, 1)));
    return sn_add(sn_mul(0.4f, sn_at(s, 0, 0, 0)), sn_mul(0.1f, sum));
}

static sn_acc heat_step(sn_acc x)
{
    return sn_stencil(seven_points, sn_pattern(3, 3, 3), sn_clamp, x);
}

static sn_acc heat_3d(sn_acc x)
{
    return sn_aiterate(10, heat_step, x);
}

static sn_scalar hit(sn_scalar seed)
{
    sn_scalar a = sn_add(sn_mul(seed, sn_u32(1664525)), sn_u32(1013904223)),
              b = sn_add(sn_mul(a, sn_u32(1664525)), sn_u32(1013904223));
    sn_scalar x = sn_mul(sn_to_f32(sn_shr(a, 8)), 0x1p-24f), y = sn_mul(sn_to_f32(sn_shr(b, 8)), 0x1p-24f);
    return sn_lt(sn_add(sn_mul(x, x), sn_mul(y, y)), 1);
}

static sn_acc monte_carlo(sn_acc seeds)
{
    return sn_count(sn_map(hit, seeds));
}

struct chain {
    sn_acc emit, move;
};

static sn_acc path_round(void *env, int count, const sn_acc *state)
{
    const struct chain *c = env;
    (void)count;
    sn_scalar m = sn_extent(c->move, 0), t = sn_the(state[0]);
    sn_acc best = sn_maximum(sn_zip_with(sn_add, sn_replicate(state[1], m, SN_ALL), c->move));
    return sn_zip_with(sn_add, best, sn_slice(c->emit, t, SN_ALL));
}

static sn_acc best_path(sn_acc emit, sn_acc move)
{
    struct chain c = {emit, move};
    return sn_aloop(sn_extent(emit, 0), sn_body_of(path_round, &c, 2), sn_fill(sn_shape(sn_extent(move, 0)), 0.0f));
}

static sn_acc dot(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, x, y));
}

static sn_scalar along(void *env, sn_scalar x, sn_scalar p)
{
    return sn_add(x, sn_mul(*(const sn_scalar *)env, p));
}

static sn_scalar against(void *env, sn_scalar x, sn_scalar p)
{
    return sn_sub(x, sn_mul(*(const sn_scalar *)env, p));
}

static sn_acc gradient_round(void *env, int count, const sn_acc *state)
{
    sn_acc a = *(sn_acc *)env, x = state[0], r = state[1], p = state[2], rr = state[3];
    (void)count;
    sn_acc ap = sn_sum(sn_zip_with(sn_mul, a, sn_replicate(p, sn_extent(a, 0), SN_ALL)));
    sn_scalar alpha = sn_div(sn_the(rr), sn_the(dot(p, ap)));
    sn_acc rest = sn_zip_with(sn_closure(against, &alpha), r, ap), next = dot(rest, rest);
    sn_scalar beta = sn_div(sn_the(next), sn_the(rr));
    return sn_results(sn_zip_with(sn_closure(along, &alpha), x, p), rest,
                      sn_zip_with(sn_closure(along, &beta), rest, p), next);
}

static sn_acc gradients(sn_acc a, sn_acc b)
{
    sn_acc state = sn_results(sn_fill(sn_shape_of(b), 0.0f), b, b, dot(b, b));
    return sn_result(sn_aiterate(10, sn_body_of(gradient_round, &a, 4), state), 0);
}

static sn_scalar product_at(void *env, sn_scalar i, sn_scalar j)
{
    const struct stage *s = env;
    sn_scalar p = sn_extent(s->im, 0), q = sn_extent(s->im, 1);
    return sn_mul(sn_index(s->re, sn_quot(i, p), sn_quot(j, q)), sn_index(s->im, sn_rem(i, p), sn_rem(j, q)));
}

static sn_acc kronecker(sn_acc x, sn_acc y)
{
    struct stage s = {.re = x, .im = y};
    return sn_generate(sn_shape(sn_mul(sn_extent(x, 0), sn_extent(y, 0)), sn_mul(sn_extent(x, 1), sn_extent(y, 1))),
                       sn_closure(product_at, &s));
}

static sn_scalar step_to(void *env, sn_scalar i)
{
    const struct stage *s = env;
    sn_scalar j = sn_add(i, 1), dx = sn_sub(sn_index(s->re, j), sn_index(s->re, i)),
              dy = sn_sub(sn_index(s->im, j), sn_index(s->im, i));
    return sn_sqrt(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)));
}

static sn_acc path_length(sn_acc x, sn_acc y)
{
    struct stage s = {.re = x, .im = y};
    return sn_sum(sn_generate(sn_shape(sn_sub(sn_size(x), 1)), sn_closure(step_to, &s)));
}

/* --- images --- */

static sn_scalar turned(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_scalar y0 = sn_sub(sn_to_f32(i), sn_mul(sn_to_f32(n), 0.5f)),
              x0 = sn_sub(sn_to_f32(j), sn_mul(sn_to_f32(m), 0.5f));
    sn_scalar y = sn_add(sn_add(sn_mul(x0, 0.5f), sn_mul(y0, 0.8660254f)), sn_mul(sn_to_f32(n), 0.5f));
    sn_scalar at = sn_add(sn_sub(sn_mul(x0, 0.8660254f), sn_mul(y0, 0.5f)), sn_mul(sn_to_f32(m), 0.5f));
    sn_scalar fy = sn_floor(y), fx = sn_floor(at), wy = sn_sub(y, fy), wx = sn_sub(at, fx);
    sn_scalar k = sn_to_i64(fy), l = sn_to_i64(fx);
    sn_scalar inside = sn_and(sn_and(sn_ge(k, 0), sn_lt(k, sn_sub(n, 1))), sn_and(sn_ge(l, 0), sn_lt(l, sn_sub(m, 1))));
    sn_scalar above = sn_add(sn_mul(sn_index(x, k, l), sn_sub(1, wx)), sn_mul(sn_index(x, k, sn_add(l, 1)), wx));
    sn_scalar below = sn_add(sn_mul(sn_index(x, sn_add(k, 1), l), sn_sub(1, wx)),
                             sn_mul(sn_index(x, sn_add(k, 1), sn_add(l, 1)), wx));
    return sn_if(inside, sn_add(sn_mul(above, sn_sub(1, wy)), sn_mul(below, wy)), 0);
}

static sn_acc turn_image(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(turned, &x));
}

/* --- statistics --- */

static sn_acc group_sums(sn_acc keys, sn_acc values)
{
    sn_acc lengths, grouped, own = sn_group(keys, values, &lengths, &grouped);
    return sn_results(own, sn_sum_seg(lengths, grouped));
}

static sn_acc ranks(sn_acc x)
{
    sn_scalar n = sn_size(x);
    sn_acc order = sn_snd(sn_sort_by_key(x, sn_iota(n)));
    return sn_scatter(order, sn_fill(sn_shape(n), sn_i64(0)), sn_iota(n));
}

static sn_scalar own_column(sn_scalar i, sn_scalar j)
{
    (void)i;
    return j;
}

static sn_acc order_of_rows(sn_acc x)
{
    return sn_snd(sn_sort_by_key(x, sn_generate(sn_shape_of(x), own_column)));
}

static sn_acc sort_columns(sn_acc x)
{
    return sn_transpose(sn_sort(sn_transpose(x)));
}

static sn_scalar bin_at(sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)j;
    return sn_tuple(i, sn_to_i64(x));
}

static sn_acc histogram_of_rows(sn_acc x, sn_acc like)
{
    return sn_histogram(sn_shape(sn_extent(x, 0), sn_size(like)), sn_imap(bin_at, x));
}

static sn_scalar over(sn_scalar d, sn_scalar norm)
{
    return sn_div(d, norm);
}

static sn_acc correlation_matrix(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1);
    sn_acc t = sn_transpose(x);
    sn_acc d = sn_zip_with(sn_sub, t, sn_replicate(mean_of_rows(t), SN_ALL, n));
    sn_acc norm = sn_map(sn_sqrt, sn_sum(sn_map(squared, d)));
    sn_acc z = sn_zip_with(over, d, sn_replicate(norm, SN_ALL, n));
    return sn_sum(sn_zip_with(sn_mul, sn_replicate(z, SN_ALL, m, SN_ALL), sn_replicate(z, m, SN_ALL, SN_ALL)));
}

static sn_acc top_10(sn_acc x)
{
    return sn_take(10, sn_sort_descending(x));
}

static sn_scalar quantile_of(void *env, sn_scalar q)
{
    sn_acc sorted = *(sn_acc *)env;
    sn_scalar at = sn_mul(q, sn_to_f32(sn_sub(sn_size(sorted), 1))), low = sn_to_i64(sn_floor(at)),
              rest = sn_sub(at, sn_floor(at));
    sn_scalar x = sn_index(sorted, low), y = sn_index(sorted, sn_min(sn_add(low, 1), sn_sub(sn_size(sorted), 1)));
    return sn_add(x, sn_mul(rest, sn_sub(y, x)));
}

static sn_acc quantiles(sn_acc x, sn_acc q)
{
    sn_acc sorted = sn_sort(x);
    return sn_map(sn_closure(quantile_of, &sorted), q);
}

static sn_scalar median_of_five(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar v[5];
    for (int k = 0; k < 5; k++)
        v[k] = sn_index(x, sn_add(i, k));
    sn_scalar a = sn_min(v[0], v[1]), b = sn_max(v[0], v[1]), c = sn_min(v[2], v[3]), d = sn_max(v[2], v[3]);
    sn_scalar low = sn_max(a, c), high = sn_min(b, d);
    return sn_max(sn_min(low, high), sn_min(sn_max(low, high), v[4]));
}

static sn_acc moving_median(sn_acc x)
{
    return sn_generate(sn_shape(sn_sub(sn_size(x), 4)), sn_closure(median_of_five, &x));
}

static sn_acc weighted_columns(sn_acc x, sn_acc w)
{
    sn_scalar m = sn_extent(x, 1);
    sn_acc sums = sn_sum(sn_transpose(sn_zip_with(sn_mul, x, sn_replicate(w, SN_ALL, m))));
    return sn_zip_with(sn_div, sums, sn_replicate(sn_sum(w), m));
}

/* (longest run, run at the left, run at the right, length): of true elements. */
static sn_scalar run_of(sn_scalar x)
{
    sn_scalar one = sn_to_i64(sn_gt(x, -0.9f));
    return sn_tuple(one, one, one, sn_i64(1));
}

static sn_scalar join_runs(sn_scalar a, sn_scalar b)
{
    sn_scalar best = sn_max(sn_max(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 2), sn_get(b, 1)));
    sn_scalar left = sn_if(sn_eq(sn_get(a, 1), sn_get(a, 3)), sn_add(sn_get(a, 3), sn_get(b, 1)), sn_get(a, 1));
    sn_scalar right = sn_if(sn_eq(sn_get(b, 2), sn_get(b, 3)), sn_add(sn_get(b, 3), sn_get(a, 2)), sn_get(b, 2));
    return sn_tuple(best, left, right, sn_add(sn_get(a, 3), sn_get(b, 3)));
}

static sn_acc longest_run(sn_acc x)
{
    return sn_get(sn_fold1(join_runs, sn_map(run_of, x)), 0);
}

static sn_acc squared_matrix(sn_acc x)
{
    return product(x, x);
}

static sn_acc power_8(sn_acc x)
{
    return sn_aiterate(3, squared_matrix, x);
}

#define NB_GROUP practice
#define NB_TABLE "practice.def"
#include "../table.h"
