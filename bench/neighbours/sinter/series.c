/* Series of numbers in time, as vectors, as rows and as columns of matrices. */
#include "functions.h"

void nb_make_gaps(const struct nb_call *call);
void nb_make_rare_flags(const struct nb_call *call);
void nb_make_times(const struct nb_call *call);

F1(squared, sn_mul(x, x))
F2(over, sn_div(x, y))

static sn_acc rows_like(sn_acc r, sn_acc x) /* one number a row */
{
    return sn_replicate(r, SN_ALL, sn_extent(x, 1));
}

static sn_acc columns_like(sn_acc r, sn_acc x) /* one number a column */
{
    return sn_replicate(r, sn_extent(x, 0), SN_ALL);
}

/* --- windows --- */

static sn_acc windows(sn_acc x, int64_t width)
{
    return sn_backpermute(sn_shape(sn_sub(sn_size(x), width - 1), width), sn_add, x);
}

F1(with_square, sn_tuple(x, sn_mul(x, x)))
F2(add_pairs, sn_tuple(sn_add(sn_fst(x), sn_fst(y)), sn_add(sn_snd(x), sn_snd(y))))
F1(mean_of_20, sn_div(x, 20))
F2(deviation_of_20, sn_sqrt(sn_max(sn_sub(sn_div(y, 20), squared(sn_div(x, 20))), 0)))
F1(deviation_of_pair, deviation_of_20(sn_fst(x), sn_snd(x)))

static sn_acc moments_20(sn_acc x)
{
    sn_acc sums = sn_fold(add_pairs, sn_tuple(sn_f32(0), sn_f32(0)), sn_map(with_square, windows(x, 20)));
    return sn_results(sn_map(mean_of_20, sn_fst(sums)), sn_map(deviation_of_pair, sums));
}

static sn_acc window_sums(sn_acc x, int64_t width)
{
    sn_acc s = sn_scanl(sn_add, 0, x);
    return sn_zip_min_with(sn_sub, sn_skip(width, s), s);
}

F2(above_by_2, sn_add(x, sn_mul(2, y)))
F2(below_by_2, sn_sub(x, sn_mul(2, y)))

static sn_acc bollinger_20(sn_acc x)
{
    sn_acc sums = window_sums(x, 20), squares = window_sums(sn_map(squared, x), 20);
    sn_acc mean = sn_map(mean_of_20, sums), deviation = sn_zip_with(deviation_of_20, sums, squares);
    return sn_results(mean, sn_zip_with(above_by_2, mean, deviation), sn_zip_with(below_by_2, mean, deviation));
}

static sn_acc volatility_20(sn_acc x)
{
    sn_acc returns = sn_map(sn_log, sn_zip_with(sn_div, sn_tail(x), sn_init(x)));
    sn_acc w = windows(returns, 20);
    return sn_zip_with(deviation_of_20, sn_sum(w), sn_sum(sn_map(squared, w)));
}

F2(turnover, sn_mul(x, sn_to_f64(y)))
F2(over_volume, sn_div(x, sn_to_f64(y)))

static sn_acc vwap_20(sn_acc price, sn_acc volume)
{
    return sn_zip_with(over_volume, window_sums(sn_zip_with(turnover, price, volume), 20), window_sums(volume, 20));
}

F3(fast_above, sn_gt(sn_mul(4, sn_sub(x, y)), sn_sub(x, z)))

static sn_acc crossings(sn_acc x)
{
    sn_acc s = sn_scanl(sn_add, 0, x);
    sn_acc above = sn_zip_min_with(fast_above, sn_skip(20, s), sn_skip(15, s), s);
    return sn_count(sn_zip_with(sn_ne, sn_tail(above), sn_init(above)));
}

static sn_acc rolling_minimum_50(sn_acc x)
{
    int64_t width = 1;
    for (; width * 2 <= 50; width *= 2)
        x = sn_zip_min_with(sn_min, x, sn_skip(width, x));
    return sn_zip_min_with(sn_min, x, sn_skip(50 - width, x));
}

F3(row_later, sn_tuple(sn_add(x, z), y))

static sn_acc rolling_maximum_columns(sn_acc x)
{
    return sn_maximum(sn_backpermute(sn_shape(sn_sub(sn_extent(x, 0), 4), sn_extent(x, 1), 5), row_later, x));
}

/* --- recurrences --- */

F1(as_affine, sn_tuple(sn_f32(0.9f), sn_mul(0.1f, x)))
F2(after, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_fst(y), sn_snd(x)), sn_snd(y))))

static sn_acc smoothed_rows(sn_acc x)
{
    return sn_snd(sn_scanl1(after, sn_map(as_affine, x)));
}

static sn_acc smoothed_columns(sn_acc x)
{
    return sn_transpose(smoothed_rows(sn_transpose(x)));
}

F1(gain_and_loss, sn_tuple(sn_f64(13.0 / 14), sn_div(sn_max(x, 0), 14), sn_div(sn_max(sn_neg(x), 0), 14)))
F2(after_both, sn_tuple(sn_mul(sn_get(x, 0), sn_get(y, 0)), sn_add(sn_mul(sn_get(y, 0), sn_get(x, 1)), sn_get(y, 1)),
                        sn_add(sn_mul(sn_get(y, 0), sn_get(x, 2)), sn_get(y, 2))))
F1(strength, sn_div(sn_mul(100, sn_get(x, 1)), sn_add(sn_get(x, 1), sn_get(x, 2))))

static sn_acc rsi(sn_acc x)
{
    sn_acc steps = sn_zip_with(sn_sub, sn_tail(x), sn_init(x));
    return sn_map(strength, sn_scanl1(after_both, sn_map(gain_and_loss, steps)));
}

/* y = 0.25 x + 0.5 x' + 0.25 x'' + 1.2 y' - 0.5 y''; a step is a matrix and a vector. */
F1(fed, sn_add(sn_mul(0.25, sn_add(sn_at(x, 0), sn_at(x, -2))), sn_mul(0.5, sn_at(x, -1))))
F1(as_step, sn_tuple(sn_f64(1.2), sn_f64(-0.5), sn_f64(1), sn_f64(0), x, sn_f64(0)))

static sn_scalar row_times(sn_scalar q, int row, sn_scalar p, int column, int below)
{
    return sn_add(sn_mul(sn_get(q, 2 * row), sn_get(p, column)), sn_mul(sn_get(q, 2 * row + 1), sn_get(p, below)));
}
F2(step_after,
   sn_tuple(row_times(y, 0, x, 0, 2), row_times(y, 0, x, 1, 3), row_times(y, 1, x, 0, 2), row_times(y, 1, x, 1, 3),
            sn_add(row_times(y, 0, x, 4, 5), sn_get(y, 4)), sn_add(row_times(y, 1, x, 4, 5), sn_get(y, 5))))

static sn_acc biquad(sn_acc x)
{
    sn_acc u = sn_stencil(fed, sn_pattern(5), sn_constant(0), x);
    return sn_get(sn_scanl1(step_after, sn_map(as_step, u)), 4);
}

/* --- gaps and flags --- */

F2(later_known, sn_if(sn_is_nan(y), x, y))

static sn_acc forward_fill(sn_acc x)
{
    return sn_scanl1(later_known, x);
}

static sn_acc forward_fill_columns(sn_acc x)
{
    return sn_transpose(sn_scanl1(later_known, sn_transpose(x)));
}

F2(index_or_none, sn_if(y, x, sn_i64(-1)))
F2(index_or_end, sn_if(y, x, sn_i64(INT64_MAX)))

static sn_scalar known_at(void *env, sn_scalar i)
{
    return sn_if(sn_lt(i, 0), sn_i32(0), sn_index(*(sn_acc *)env, i));
}

static sn_acc forward_fill_mask(sn_acc mask, sn_acc x)
{
    return sn_map(sn_closure(known_at, &x), sn_scanl1(sn_max, sn_imap(index_or_none, mask)));
}

static sn_scalar between(void *env, sn_scalar i, sn_scalar a, sn_scalar b)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar none_before = sn_lt(a, 0), none_after = sn_eq(b, INT64_MAX);
    sn_scalar xa = sn_index(x, a), xb = sn_index(x, b);
    sn_scalar share = sn_div(sn_to_f32(sn_sub(i, a)), sn_to_f32(sn_sub(b, a)));
    sn_scalar inside = sn_if(sn_eq(a, b), xa, sn_add(xa, sn_mul(share, sn_sub(xb, xa))));
    return sn_if(none_before, sn_if(none_after, sn_f32(0), xb), sn_if(none_after, xa, inside));
}

static sn_acc interpolated_gaps(sn_acc mask, sn_acc x)
{
    sn_acc before = sn_scanl1(sn_max, sn_imap(index_or_none, mask));
    sn_acc behind = sn_scanr1(sn_min, sn_imap(index_or_end, mask));
    return sn_izip_with(sn_closure(between, &x), before, behind);
}

F2(or_restart, sn_tuple(sn_lor(sn_fst(x), sn_fst(y)), sn_if(sn_fst(y), sn_snd(y), sn_add(sn_snd(x), sn_snd(y)))))

static sn_acc reset_sums(sn_acc flags, sn_acc x)
{
    return sn_snd(sn_scanl1(or_restart, sn_zip(flags, x)));
}

F2(distance_to, sn_to_i32(sn_sub(x, y)))

static sn_acc steps_since(sn_acc flags)
{
    return sn_imap(distance_to, sn_scanl1(sn_max, sn_imap(index_or_none, flags)));
}

F1(on_or_off, sn_if(sn_gt(x, 0.5f), sn_u8(2), sn_if(sn_lt(x, -0.5f), sn_u8(1), sn_u8(0))))
F2(last_change, sn_if(sn_eq(y, 0), x, y))
F1(is_on, sn_eq(x, 2))

static sn_acc hysteresis(sn_acc x)
{
    return sn_map(is_on, sn_scanl1(last_change, sn_map(on_or_off, x)));
}

/* --- statistics --- */

static sn_scalar by_count(void *count, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)count);
}

F2(clipped_score, sn_max(sn_min(sn_div(x, sn_sqrt(y)), 1.5f), -1.5f))

static sn_acc clipped_scores(sn_acc x)
{
    sn_scalar count = sn_to_f32(sn_extent(x, 0));
    sn_acc mean = sn_map(sn_closure(by_count, &count), sn_sum(sn_transpose(x)));
    sn_acc d = sn_zip_with(sn_sub, x, columns_like(mean, x));
    sn_acc variance = sn_map(sn_closure(by_count, &count), sn_sum(sn_transpose(sn_map(squared, d))));
    return sn_zip_with(clipped_score, d, columns_like(variance, x));
}

static sn_scalar is_near(void *env, sn_scalar x)
{
    sn_scalar *p = env;
    return sn_le(sn_abs(sn_sub(x, p[0])), sn_mul(1.5f, p[1]));
}

static sn_scalar square_from(void *mean, sn_scalar x)
{
    return squared(sn_sub(x, *(sn_scalar *)mean));
}

static sn_scalar mean_of(sn_acc x)
{
    return sn_div(sn_the(sn_sum(x)), sn_to_f32(sn_size(x)));
}

static sn_acc without_outliers(sn_acc x)
{
    sn_scalar p[2] = {mean_of(x)};
    p[1] = sn_sqrt(mean_of(sn_map(sn_closure(square_from, p), x)));
    return sn_filter(sn_closure(is_near, p), x);
}

F1(mean_of_60, sn_div(x, 60))
static sn_acc means_of_60(sn_acc x)
{
    return sn_map(mean_of_60, sn_sum(sn_reshape(sn_shape(sn_quot(sn_size(x), 60), 60), x)));
}

F1(mean_of_7, sn_div(x, 7))
static sn_acc weekly_means(sn_acc x)
{
    sn_acc weeks = sn_reshape(sn_shape(sn_quot(sn_extent(x, 0), 7), 7, sn_extent(x, 1)), x);
    return sn_map(mean_of_7, sn_sum(sn_transpose(weeks)));
}

static sn_scalar week_apart(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, sn_add(i, 7), j), sn_index(x, i, j));
}

static sn_acc seasonal(sn_acc x)
{
    return sn_generate(sn_shape(sn_sub(sn_extent(x, 0), 7), sn_extent(x, 1)), sn_closure(week_apart, &x));
}

static sn_scalar minus(void *y, sn_scalar x)
{
    return sn_sub(x, *(sn_scalar *)y);
}

static sn_acc lag(sn_acc d, int64_t k)
{
    return sn_zip_with(over, sn_sum(sn_zip_min_with(sn_mul, d, sn_skip(k, d))), sn_sum(sn_map(squared, d)));
}

static sn_acc autocorrelation(sn_acc x)
{
    sn_scalar mean = mean_of(x);
    sn_acc d = sn_map(sn_closure(minus, &mean), x);
    return sn_results(lag(d, 1), lag(d, 2), lag(d, 3), lag(d, 10), lag(d, 50));
}

F1(is_peak, sn_and(sn_gt(sn_at(x, 0), 0.5f), sn_and(sn_gt(sn_at(x, 0), sn_at(x, -1)), sn_gt(sn_at(x, 0), sn_at(x, 1)))))

static sn_acc peaks(sn_acc x)
{
    sn_acc tags = sn_stencil(is_peak, sn_pattern(3), sn_clamp, x);
    return sn_results(sn_pack(tags, sn_iota(sn_size(x))), sn_pack(tags, x));
}

F1(hundredth, sn_min(sn_to_i64(sn_mul(x, 100)), 99))

static sn_acc weighted_histogram(sn_acc x, sn_acc w)
{
    return sn_histogram_weighted(100, sn_map(hundredth, x), w);
}

static sn_scalar count_below(void *x, sn_scalar count, sn_scalar cut)
{
    return sn_add(count, sn_if(sn_le(cut, *(sn_scalar *)x), sn_u8(1), sn_u8(0)));
}

static sn_scalar bucket_of(void *cuts, sn_scalar x)
{
    return sn_sfold(sn_closure(count_below, &x), sn_u8(0), *(sn_acc *)cuts);
}

static sn_acc quantile_buckets(sn_acc x, sn_acc cuts)
{
    return sn_map(sn_closure(bucket_of, &cuts), x);
}

static sn_scalar share_of(void *count, sn_scalar x)
{
    return sn_div(sn_to_f32(x), *(sn_scalar *)count);
}

static sn_acc distribution_at(sn_acc x, sn_acc points)
{
    sn_scalar count = sn_to_f32(sn_size(x));
    sn_acc below =
        sn_zip_with(sn_le, sn_replicate(x, sn_size(points), SN_ALL), sn_replicate(points, SN_ALL, sn_size(x)));
    return sn_map(sn_closure(share_of, &count), sn_count(below));
}

F1(minute_of, sn_quot(x, 60))
static sn_acc by_minute(sn_acc times, sn_acc minutes)
{
    return sn_histogram(sn_size(minutes), sn_map(minute_of, times));
}

static sn_scalar count_less(void *x, sn_scalar count, sn_scalar y)
{
    return sn_add(count, sn_to_i32(sn_lt(y, *(sn_scalar *)x)));
}

static sn_scalar rank_in_row(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)j;
    return sn_sfold(sn_closure(count_less, &x), sn_i32(0), *(sn_acc *)env, i);
}

static sn_acc ranks_of_rows(sn_acc x)
{
    return sn_imap(sn_closure(rank_in_row, &x), x);
}

F3(correlation_of, sn_div(x, sn_sqrt(sn_mul(y, z))))

static sn_acc correlations_with(sn_acc x, sn_acc y)
{
    sn_scalar count = sn_to_f32(sn_size(y)), mean = mean_of(y);
    sn_acc means = sn_map(sn_closure(by_count, &count), sn_sum(x));
    sn_acc dx = sn_zip_with(sn_sub, x, rows_like(means, x)), dy = sn_map(sn_closure(minus, &mean), y);
    sn_acc yy = sn_replicate(sn_sum(sn_map(squared, dy)), sn_extent(x, 0));
    return sn_zip_with(correlation_of, sn_sum(sn_zip_with(sn_mul, dx, columns_like(dy, x))),
                       sn_sum(sn_map(squared, dx)), yy);
}

static sn_scalar product_from(void *env, sn_scalar x, sn_scalar y)
{
    sn_scalar *mean = env;
    return sn_mul(sn_sub(x, mean[0]), sn_sub(y, mean[1]));
}

static sn_acc masked_covariance(sn_acc x, sn_acc y, sn_acc mask)
{
    x = sn_pack(mask, x);
    y = sn_pack(mask, y);
    sn_scalar count = sn_to_f64(sn_size(x));
    sn_scalar mean[2] = {sn_div(sn_the(sn_sum(x)), count), sn_div(sn_the(sn_sum(y)), count)};
    sn_scalar sum = sn_the(sn_sum(sn_zip_with(sn_closure(product_from, mean), x, y)));
    return sn_unit(sn_div(sum, sn_sub(count, 1)));
}

static sn_acc rows_by_first(sn_acc x)
{
    return sn_zip_with(sn_div, x, rows_like(sn_slice(x, SN_ALL, 0), x));
}

F3(place_in, sn_div(sn_sub(x, y), sn_sub(z, y)))
static sn_acc rows_by_range(sn_acc x)
{
    return sn_zip_with(place_in, x, rows_like(sn_minimum(x), x), rows_like(sn_maximum(x), x));
}

static sn_scalar heated(void *env, sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_div(sn_sub(x, most), *(sn_scalar *)env));
}

static sn_acc softmax_columns(sn_acc x, sn_acc temperature)
{
    sn_scalar t = sn_the(temperature);
    sn_acc e = sn_zip_with(sn_closure(heated, &t), x, columns_like(sn_maximum(sn_transpose(x)), x));
    return sn_zip_with(sn_div, e, columns_like(sn_sum(sn_transpose(e)), x));
}

/* --- prices --- */

F2(loss_from, sn_div(sn_sub(x, y), x))

static sn_acc drawdown_rows(sn_acc x)
{
    return sn_maximum(sn_zip_with(loss_from, sn_scanl1(sn_max, x), x));
}

static sn_acc drawdown_columns(sn_acc x)
{
    return drawdown_rows(sn_transpose(x));
}

F1(small, sn_div(x, 64))
static sn_acc price_paths(sn_acc x)
{
    return sn_transpose(sn_map(sn_exp, sn_scanl1(sn_add, sn_map(small, sn_transpose(x)))));
}

F2(return_of, sn_sub(sn_div(x, y), 1))
static sn_acc portfolio_returns(sn_acc prices, sn_acc shares)
{
    sn_acc value = sn_sum(sn_zip_with(sn_mul, prices, columns_like(shares, prices)));
    return sn_zip_with(return_of, sn_tail(value), sn_init(value));
}

static sn_scalar hash(sn_scalar h)
{
    h = sn_mul(sn_bit_xor(h, sn_shr(h, 16)), 0x7feb352du);
    h = sn_mul(sn_bit_xor(h, sn_shr(h, 15)), 0x846ca68bu);
    return sn_bit_xor(h, sn_shr(h, 16));
}

F1(uniform, sn_mul(sn_add(sn_to_f32(sn_shr(x, 8)), 0.5f), 0x1p-24f))

static sn_scalar european_payoff(sn_scalar seed)
{
    sn_scalar h = hash(seed), u = uniform(h), v = uniform(hash(sn_add(h, 1)));
    sn_scalar z = sn_mul(sn_sqrt(sn_mul(-2, sn_log(u))), sn_cos(sn_mul(6.2831853f, v)));
    sn_scalar price = sn_mul(100, sn_exp(sn_add(0.03f, sn_mul(0.2f, z))));
    return sn_max(sn_sub(price, 105), 0);
}

static sn_acc european(sn_acc seeds)
{
    return sn_unit(mean_of(sn_map(european_payoff, seeds)));
}

static sn_scalar asian_step(sn_scalar i, sn_scalar state)
{
    (void)i;
    sn_scalar h = hash(sn_get(state, 0)), h2 = hash(sn_add(h, 1)), h3 = hash(sn_add(h2, 1));
    sn_scalar z = sn_mul(2, sn_sub(sn_add(uniform(h), sn_add(uniform(h2), uniform(h3))), 1.5f));
    sn_scalar price = sn_mul(sn_get(state, 1), sn_exp(sn_add(0.002f, sn_mul(0.06f, z))));
    return sn_tuple(h3, price, sn_add(sn_get(state, 2), price));
}

static sn_scalar asian_payoff(sn_scalar seed)
{
    sn_scalar end = sn_loop(12, asian_step, sn_tuple(seed, sn_f32(100), sn_f32(0)));
    return sn_max(sn_sub(sn_div(sn_get(end, 2), 12), 100), 0);
}

static sn_acc asian(sn_acc seeds)
{
    return sn_unit(mean_of(sn_map(asian_payoff, seeds)));
}

/* --- signals --- */

struct tap {
    sn_acc x, w;
    sn_scalar i;
};

static sn_scalar add_tap(void *env, sn_scalar j, sn_scalar sum)
{
    struct tap *p = env;
    return sn_add(sum, sn_mul(sn_index(p->w, j), sn_index(p->x, sn_add(sn_mul(p->i, 4), j))));
}

static sn_scalar decimated_at(void *env, sn_scalar i)
{
    struct tap p = *(struct tap *)env;
    p.i = i;
    return sn_loop(sn_size(p.w), sn_closure(add_tap, &p), sn_f32(0));
}

static sn_scalar decimated_size(sn_acc x, sn_acc w)
{
    return sn_add(sn_quot(sn_sub(sn_size(x), sn_size(w)), 4), 1);
}

static sn_acc decimated_loop(sn_acc x, sn_acc w)
{
    struct tap p = {.x = x, .w = w};
    return sn_generate(decimated_size(x, w), sn_closure(decimated_at, &p));
}

F2(of_fourth, sn_add(sn_mul(x, 4), y))
static sn_acc decimated_fold(sn_acc x, sn_acc w)
{
    sn_scalar k = decimated_size(x, w);
    sn_acc parts = sn_backpermute(sn_shape(k, sn_size(w)), of_fourth, x);
    return sn_sum(sn_zip_with(sn_mul, parts, columns_like(w, parts)));
}

static sn_scalar resonate(void *env, sn_scalar s, sn_scalar x)
{
    return sn_tuple(sn_sub(sn_add(x, sn_mul(*(sn_scalar *)env, sn_fst(s))), sn_snd(s)), sn_fst(s));
}

static sn_scalar power_at(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    sn_scalar c = sn_index(p[1], j);
    sn_scalar s = sn_sfold(sn_closure(resonate, &c), sn_tuple(sn_f32(0), sn_f32(0)), p[0], i);
    sn_scalar a = sn_fst(s), b = sn_snd(s);
    return sn_sub(sn_add(sn_mul(a, a), sn_mul(b, b)), sn_mul(c, sn_mul(a, b)));
}

static sn_acc goertzel(sn_acc frames, sn_acc coefficients)
{
    sn_acc p[2] = {frames, coefficients};
    return sn_generate(sn_shape(sn_extent(frames, 0), sn_size(coefficients)), sn_closure(power_at, p));
}

F2(by_hop, sn_add(sn_mul(x, 160), y))
F1(wide_square, squared(sn_to_i64(x)))
F2(changes_sign, sn_ne(sn_lt(x, 0), sn_lt(y, 0)))

static sn_acc frames_energy(sn_acc x)
{
    sn_scalar k = sn_add(sn_quot(sn_sub(sn_size(x), 400), 160), 1);
    sn_acc frames = sn_backpermute(sn_shape(k, 400), by_hop, x);
    return sn_results(sn_sum(sn_map(wide_square, frames)),
                      sn_count(sn_zip_with(changes_sign, sn_init(frames), sn_tail(frames))));
}

F2(by_half, sn_add(sn_mul(x, 256), y))
F1(hann, sn_sub(0.5f, sn_mul(0.5f, sn_cos(sn_mul(sn_to_f32(x), (float)(6.283185307179586 / 512))))))

static sn_acc hann_frames(sn_acc x)
{
    sn_acc frames = sn_backpermute(sn_shape(sn_sub(sn_quot(sn_size(x), 256), 1), 512), by_half, x);
    return sn_zip_with(sn_mul, frames, columns_like(sn_generate(512, hann), frames));
}

static sn_scalar added_frames(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar hop = sn_quot(sn_extent(x, 1), 2), frame = sn_quot(i, hop), at = sn_rem(i, hop);
    sn_scalar own = sn_if(sn_lt(frame, sn_extent(x, 0)), sn_index(x, frame, at), sn_f32(0));
    return sn_add(own, sn_if(sn_gt(frame, 0), sn_index(x, sn_sub(frame, 1), sn_add(at, hop)), sn_f32(0)));
}

static sn_acc overlap_add(sn_acc x)
{
    sn_scalar size = sn_mul(sn_add(sn_extent(x, 0), 1), sn_quot(sn_extent(x, 1), 2));
    return sn_generate(size, sn_closure(added_frames, &x));
}

static sn_scalar rise(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_max(sn_sub(sn_index(x, sn_add(i, 1), j), sn_index(x, i, j)), 0);
}

static sn_acc spectral_flux(sn_acc x)
{
    return sn_sum(sn_generate(sn_shape(sn_sub(sn_extent(x, 0), 1), sn_extent(x, 1)), sn_closure(rise, &x)));
}

static sn_scalar minus_tap(void *env, sn_scalar j, sn_scalar sum)
{
    struct tap *p = env;
    sn_scalar at = sn_sub(sn_add(p->i, sn_size(p->w)), sn_add(j, 1));
    return sn_sub(sum, sn_mul(sn_index(p->w, j), sn_index(p->x, at)));
}

static sn_scalar residual_at(void *env, sn_scalar i)
{
    struct tap p = *(struct tap *)env;
    p.i = i;
    return squared(sn_loop(sn_size(p.w), sn_closure(minus_tap, &p), sn_index(p.x, sn_add(i, sn_size(p.w)))));
}

static sn_acc residual_variance(sn_acc x, sn_acc w)
{
    struct tap p = {.x = x, .w = w};
    return sn_unit(mean_of(sn_generate(sn_sub(sn_size(x), sn_size(w)), sn_closure(residual_at, &p))));
}

F3(median_of, sn_max(sn_min(x, y), sn_min(sn_max(x, y), z)))
static sn_scalar despike(sn_scalar s)
{
    sn_scalar x = sn_at(s, 0), median = median_of(sn_at(s, -1), x, sn_at(s, 1));
    return sn_if(sn_gt(sn_abs(sn_sub(x, median)), 40), median, x);
}

static sn_acc despiked(sn_acc x)
{
    return sn_stencil(despike, sn_pattern(3), sn_mirror, x);
}

#define NB_GROUP series
#define NB_TABLE "series.def"
#include "../table.h"
