/* Columns of tables. */
#include "../program.h"

void nb_make_offsets(const struct nb_call *call);
static sn_scalar revenue_of(sn_scalar day, sn_scalar many, sn_scalar price, sn_scalar discount)
{
    sn_scalar in = sn_and(sn_and(sn_ge(day, 3), sn_lt(day, 9)), sn_lt(many, 24));
    return sn_if(in, sn_mul(price, discount), 0);
}

static sn_acc revenue(sn_acc day, sn_acc many, sn_acc price, sn_acc discount)
{
    return sn_sum(sn_zip_with(revenue_of, day, many, price, discount));
}

static sn_scalar status(sn_scalar x)
{
    return sn_to_i64(sn_bit_and(x, 7));
}

static sn_scalar amounts(sn_scalar price, sn_scalar discount)
{
    return sn_tuple(price, sn_mul(price, sn_sub(1, discount)), sn_i64(1));
}

static sn_scalar add_amounts(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)));
}

static sn_acc by_status(sn_acc keys, sn_acc price, sn_acc discount)
{
    sn_acc all =
        sn_reduce_by_key(sn_commutative(sn_associative(add_amounts)), sn_tuple(sn_f64(0), sn_f64(0), sn_i64(0)), 8,
                         sn_map(status, keys), sn_zip_with(amounts, price, discount));
    return sn_results(sn_get(all, 0), sn_get(all, 1), sn_get(all, 2));
}

static sn_scalar is_chosen(sn_scalar x, sn_scalar y)
{
    return sn_and(sn_gt(x, 0), sn_lt(y, 50));
}

static sn_acc selected(sn_acc x, sn_acc y, sn_acc z)
{
    sn_acc all = sn_pack(sn_zip_with(is_chosen, x, y), sn_zip(x, y, z));
    return sn_results(sn_get(all, 0), sn_get(all, 1), sn_get(all, 2));
}

static sn_scalar known(sn_scalar x)
{
    return sn_tuple(sn_gt(x, -1), x);
}

static sn_scalar later_known(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_fst(b), b, a);
}

static sn_acc last_known(sn_acc x)
{
    return sn_snd(sn_scanl1(later_known, sn_map(known, x)));
}

static sn_scalar if_there(sn_scalar x, sn_scalar there)
{
    return sn_if(there, x, 0);
}

static sn_scalar or_mean(void *env, sn_scalar x, sn_scalar there)
{
    return sn_if(there, x, *(sn_scalar *)env);
}

static sn_acc mean_for_missing(sn_acc x, sn_acc there)
{
    sn_scalar mean = sn_div(sn_the(sn_sum(sn_zip_with(if_there, x, there))), sn_to_f32(sn_the(sn_count(there))));
    return sn_zip_with(sn_closure(or_mean, &mean), x, there);
}

static sn_scalar begins_session(void *env, sn_scalar i, sn_scalar t)
{
    sn_scalar before = sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0));
    return sn_if(sn_gt(sn_sub(t, before), 30), sn_i32(1), sn_i32(0));
}

static sn_acc sessions(sn_acc t)
{
    return sn_scanl1(sn_add, sn_imap(sn_closure(begins_session, &t), t));
}

static sn_scalar differs(void *env, sn_scalar i, sn_scalar x)
{
    return sn_or(sn_eq(i, 0), sn_ne(x, sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0))));
}

static sn_acc changes(sn_acc x)
{
    sn_acc at = sn_pack(sn_imap(sn_closure(differs, &x), x), sn_zip(sn_iota(sn_size(x)), x));
    return sn_results(sn_fst(at), sn_snd(at));
}

static sn_scalar low_half(sn_scalar x)
{
    return sn_to_i64(sn_bit_and(x, 15));
}

static sn_scalar less_mean(void *env, sn_scalar key, sn_scalar x)
{
    return sn_sub(x, sn_index(*(sn_acc *)env, key));
}

static sn_scalar mean_of(sn_scalar sum, sn_scalar count)
{
    return sn_div(sum, sn_to_f32(sn_max(count, 1)));
}

static sn_acc from_mean_of_key(sn_acc codes, sn_acc x)
{
    sn_acc keys = sn_map(low_half, codes);
    sn_acc mean = sn_zip_with(mean_of, sn_histogram_weighted(16, keys, x), sn_histogram(16, keys));
    return sn_zip_with(sn_closure(less_mean, &mean), keys, x);
}

static sn_scalar cell(sn_scalar a, sn_scalar b)
{
    return sn_to_i64(sn_add(sn_mul(sn_to_i32(sn_bit_and(a, 15)), 16), sn_to_i32(sn_bit_and(b, 15))));
}

static sn_acc crosstab(sn_acc a, sn_acc b)
{
    return sn_reshape(sn_shape(16, 16), sn_histogram(256, sn_zip_with(cell, a, b)));
}

static sn_scalar one_more(void *env, sn_scalar so_far, sn_scalar limit)
{
    return sn_add(so_far, sn_if(sn_ge(*(sn_scalar *)env, limit), sn_u8(1), sn_u8(0)));
}

static sn_scalar bucket(void *env, sn_scalar x)
{
    return sn_sfold(sn_closure(one_more, &x), sn_u8(0), *(sn_acc *)env);
}

static sn_acc buckets(sn_acc x, sn_acc limits)
{
    return sn_map(sn_closure(bucket, &limits), x);
}

static sn_scalar number_at(void *env, sn_scalar i)
{
    sn_scalar n = sn_u32(0);
    for (int k = 0; k < 8; k++)
        n = sn_add(sn_mul(n, 10), sn_to_u32(sn_index(*(sn_acc *)env, i, k)));
    return n;
}

static sn_acc numbers_of_digits(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(number_at, &x));
}

static sn_scalar date(sn_scalar day)
{
    sn_scalar z = sn_add(day, 719468), era = sn_quot(z, 146097), of_era = sn_sub(z, sn_mul(era, 146097));
    sn_scalar year = sn_quot(
        sn_sub(sn_add(sn_sub(of_era, sn_quot(of_era, 1460)), sn_quot(of_era, 36524)), sn_quot(of_era, 146096)), 365);
    sn_scalar of_year = sn_sub(of_era, sn_sub(sn_add(sn_mul(year, 365), sn_quot(year, 4)), sn_quot(year, 100)));
    sn_scalar mp = sn_quot(sn_add(sn_mul(of_year, 5), 2), 153);
    sn_scalar month = sn_if(sn_lt(mp, 10), sn_add(mp, 3), sn_sub(mp, 9));
    return sn_tuple(sn_add(sn_add(year, sn_mul(era, 400)), sn_if(sn_le(month, 2), sn_i32(1), sn_i32(0))),
                    sn_to_u8(month), sn_to_u8(sn_add(sn_sub(of_year, sn_quot(sn_add(sn_mul(mp, 153), 2), 5)), 1)));
}

static sn_acc civil_dates(sn_acc day)
{
    sn_acc all = sn_map(date, day);
    return sn_results(sn_get(all, 0), sn_get(all, 1), sn_get(all, 2));
}

static sn_scalar wide(sn_scalar x)
{
    return sn_to_i64(x);
}

static sn_acc decoded_bytes(sn_acc codes, sn_acc values)
{
    return sn_gather(sn_map(wide, codes), values);
}

static sn_scalar value_of(void *env, sn_scalar code)
{
    return sn_index(*(sn_acc *)env, sn_to_i64(code));
}

static sn_acc decoded_words(sn_acc codes, sn_acc values)
{
    return sn_map(sn_closure(value_of, &values), codes);
}

static sn_acc deltas_added(sn_acc x)
{
    return sn_scanl1(sn_add, sn_map(sn_to_i32, x));
}

static sn_scalar delta(void *env, sn_scalar i, sn_scalar x)
{
    return sn_to_i16(sn_if(sn_eq(i, 0), x, sn_sub(x, sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0)))));
}

static sn_acc deltas_taken(sn_acc x)
{
    return sn_imap(sn_closure(delta, &x), x);
}

static sn_scalar is_third(sn_scalar code)
{
    return sn_eq(sn_rem(code, 3), 0);
}

static sn_scalar or_most(sn_scalar x, sn_scalar code)
{
    return sn_if(is_third(code), x, 1000);
}

static sn_scalar or_least(sn_scalar x, sn_scalar code)
{
    return sn_if(is_third(code), x, -1000);
}

static sn_acc range_where(sn_acc x, sn_acc codes)
{
    return sn_results(sn_minimum(sn_zip_with(or_most, x, codes)), sn_maximum(sn_zip_with(or_least, x, codes)),
                      sn_count(sn_map(is_third, codes)));
}

static sn_scalar bit_at(void *env, sn_scalar i)
{
    sn_scalar byte = sn_to_i32(sn_index(*(sn_acc *)env, sn_quot(i, 8)));
    return sn_ne(sn_bit_and(sn_shr(byte, sn_to_i32(sn_rem(i, 8))), 1), 0);
}

static sn_acc set_bits(sn_acc x)
{
    sn_scalar n = sn_mul(sn_size(x), 8);
    return sn_pack(sn_generate(sn_shape(n), sn_closure(bit_at, &x)), sn_map(sn_to_i32, sn_iota(n)));
}

static sn_scalar hash_at(void *env, sn_scalar i)
{
    sn_scalar h = sn_u64(14695981039346656037u);
    for (int k = 0; k < 16; k++)
        h = sn_mul(sn_bit_xor(h, sn_to_u64(sn_index(*(sn_acc *)env, i, k))), sn_u64(1099511628211u));
    return h;
}

static sn_acc hashes(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(hash_at, &x));
}

static sn_acc equal_names(sn_acc names, sn_acc name)
{
    return sn_count(sn_all(sn_zip_with(sn_eq, names, sn_replicate(name, sn_extent(names, 0), SN_ALL))));
}

static sn_scalar breaks(void *env, sn_scalar i, sn_scalar x)
{
    return sn_or(sn_eq(i, 0), sn_gt(x, sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0))));
}

static sn_acc records_broken(sn_acc x)
{
    sn_acc most = sn_scanl1(sn_max, x), new = sn_imap(sn_closure(breaks, &most), x);
    return sn_results(new, sn_count(new));
}

static sn_scalar step_in(void *env, sn_scalar i, sn_scalar place, sn_scalar x)
{
    return sn_if(sn_eq(place, 0), sn_f32(0), sn_sub(x, sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0))));
}

static sn_acc steps_in_groups(sn_acc offsets, sn_acc x)
{
    sn_acc places = sn_iota_seg(sn_size(x), sn_segments_from_offsets(offsets));
    return sn_izip_with(sn_closure(step_in, &x), places, x);
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_fst(a), sn_fst(b)), a, b);
}

static sn_acc sum_and_place(sn_acc offsets, sn_acc x)
{
    sn_acc groups = sn_segments_from_offsets(offsets);
    return sn_results(sn_sum_seg(groups, x),
                      sn_snd(sn_fold1_seg(greater, groups, sn_zip(x, sn_iota_seg(sn_size(x), groups)))));
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar if_positive(sn_scalar x)
{
    return sn_if(sn_gt(x, 0), x, 0);
}

static sn_acc mean_where(sn_acc offsets, sn_acc x)
{
    sn_acc groups = sn_segments_from_offsets(offsets);
    return sn_zip_with(mean_of, sn_sum_seg(groups, sn_map(if_positive, x)),
                       sn_count_seg(groups, sn_map(is_positive, x)));
}

static sn_acc above_level(sn_acc offsets, sn_acc x, sn_acc levels)
{
    sn_acc groups = sn_segments_from_offsets(offsets);
    sn_acc above = sn_zip_with(sn_gt, x, sn_replicate_seg(sn_size(x), groups, levels));
    sn_acc all = sn_pack(above, sn_zip(x, sn_iota(sn_size(x))));
    return sn_results(sn_fst(all), sn_snd(all));
}

static sn_scalar bin_1024(sn_scalar x)
{
    return sn_to_i64(sn_bit_and(x, 1023));
}

static sn_scalar quotient(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_gt(b, 0), sn_div(a, b), 0);
}

static sn_acc weighted_mean_by_key(sn_acc codes, sn_acc x, sn_acc weights)
{
    sn_acc keys = sn_map(bin_1024, codes);
    return sn_zip_with(quotient, sn_histogram_weighted(1024, keys, sn_zip_with(sn_mul, x, weights)),
                       sn_histogram_weighted(1024, keys, weights));
}

static sn_acc first_of_key(sn_acc codes)
{
    return sn_reduce_by_key(sn_min, sn_i64(INT64_MAX), 65536, sn_map(wide, codes), sn_iota(sn_size(codes)));
}

static sn_acc latest_by_key(sn_acc keys, sn_acc x)
{
    return sn_reduce_by_key(sn_max, sn_i32(INT32_MIN), sn_size(keys), sn_map(wide, keys), x);
}

static sn_scalar is_there(sn_scalar n)
{
    return sn_if(sn_gt(n, 0), sn_i32(1), sn_i32(0));
}

static sn_scalar code_at(void *env, sn_scalar x)
{
    return sn_to_u8(sn_index(*(sn_acc *)env, sn_to_i64(x)));
}

static sn_acc dense_codes(sn_acc x)
{
    sn_acc there = sn_map(is_there, sn_histogram(256, sn_map(wide, x)));
    sn_acc number = sn_prescan(sn_add, sn_i32(0), there);
    return sn_results(sn_map(sn_closure(code_at, &number), x), sn_sum(there));
}

static sn_scalar is_missing(sn_scalar x)
{
    return sn_eq(x, 7);
}

static sn_acc missing_of_columns(sn_acc x)
{
    return sn_count(sn_transpose(sn_map(is_missing, x)));
}

static sn_scalar discounted(sn_scalar price, sn_scalar many)
{
    sn_scalar rate = sn_if(sn_ge(many, 12), 0.8, sn_if(sn_ge(many, 6), 0.9, sn_if(sn_ge(many, 3), 0.95, sn_f64(1))));
    return sn_mul(sn_mul(price, sn_to_f64(many)), rate);
}

static sn_acc discounts(sn_acc price, sn_acc many)
{
    return sn_zip_with(discounted, price, many);
}

static sn_scalar pair(sn_scalar a, sn_scalar b)
{
    return sn_bit_or(sn_shl(sn_to_u16(a), 8), sn_to_u16(b));
}

static sn_acc pairs_of_codes(sn_acc a, sn_acc b)
{
    return sn_zip_with(pair, a, b);
}

static sn_scalar above_mean(void *env, sn_scalar x)
{
    return sn_if(sn_gt(x, *(sn_scalar *)env), x, 0);
}

static sn_acc share_above_mean(sn_acc x)
{
    sn_acc sum = sn_sum(x);
    sn_scalar mean = sn_div(sn_the(sum), sn_to_f64(sn_size(x)));
    return sn_results(sum, sn_sum(sn_map(sn_closure(above_mean, &mean), x)));
}

#define NB_GROUP tables
#define NB_TABLE "tables.def"
#include "../table.h"
