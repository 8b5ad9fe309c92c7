/* Classes, losses, batches and models of statistics, of the group `learning`. */
#ifndef NEIGHBOURS_LEARNING_MODELS_H
#define NEIGHBOURS_LEARNING_MODELS_H

#include "learning_shared.h"

/* --- classes and losses --- */

static sn_acc top_4_mask(sn_acc x)
{
    return sn_zip_with(sn_ge, x, rows_like(sn_slice(sn_sort_descending(x), SN_ALL, 3), x));
}

static sn_scalar at_label(void *x, sn_scalar i, sn_scalar label)
{
    return sn_index(*(sn_acc *)x, i, label);
}

F1(among_5, sn_lt(x, 5))

static sn_acc top_5_accuracy(sn_acc x, sn_acc label)
{
    sn_acc score = sn_imap(sn_closure(at_label, &x), label);
    return sn_count(sn_map(among_5, sn_count(sn_zip_with(sn_gt, x, rows_like(score, x)))));
}

static sn_acc beam_best(sn_acc score, sn_acc step)
{
    sn_acc all = sn_flatten(sn_zip_with(sn_add, rows_like(score, step), step));
    return sn_results(sn_argmax(all), sn_maximum(all));
}

static sn_scalar says_more(void *env, sn_scalar i, sn_scalar x)
{
    sn_scalar before = sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0));
    return sn_land(sn_ne(x, 0), sn_lor(sn_eq(i, 0), sn_ne(x, before)));
}

static sn_acc collapsed_labels(sn_acc x)
{
    return sn_pack(sn_imap(sn_closure(says_more, &x), x), x);
}

/* --- batches --- */

static sn_scalar masked_score(void *lengths, sn_scalar i, sn_scalar j, sn_scalar x)
{
    sn_scalar length = sn_to_i64(sn_index(*(sn_acc *)lengths, i));
    return sn_if(sn_lt(j, length), x, sn_f32(-INFINITY));
}

static sn_acc softmax_of_lengths(sn_acc x, sn_acc lengths)
{
    return softmax(sn_imap(sn_closure(masked_score, &lengths), x));
}

static sn_scalar masked_value(void *env, sn_scalar n, sn_scalar d, sn_scalar t)
{
    sn_acc *p = env; /* values, lengths */
    return sn_if(sn_lt(t, sn_to_i64(sn_index(p[1], n))), sn_index(p[0], n, t, d), sn_f32(0));
}

F2(over_length, sn_div(x, sn_to_f32(y)))

static sn_acc mean_of_lengths(sn_acc x, sn_acc lengths)
{
    sn_acc p[] = {x, lengths};
    sn_scalar n = sn_extent(x, 0), t = sn_extent(x, 1), d = sn_extent(x, 2);
    sn_acc sum = sn_sum(sn_generate(sn_shape(n, d, t), sn_closure(masked_value, p)));
    return sn_zip_with(over_length, sum, rows_like(lengths, sum));
}

static sn_scalar turned_value(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env; /* values, lengths */
    sn_scalar length = sn_to_i64(sn_index(p[1], i));
    return sn_if(sn_lt(j, length), sn_index(p[0], i, sn_sub(sn_sub(length, 1), j)), sn_i32(0));
}

static sn_acc reversed_sequences(sn_acc x, sn_acc lengths)
{
    sn_acc p[] = {x, lengths};
    return sn_generate(sn_shape_of(x), sn_closure(turned_value, p));
}

static sn_scalar is_before(sn_scalar i, sn_scalar j, sn_scalar length)
{
    (void)i;
    return sn_lt(j, sn_to_i64(length));
}

static sn_acc packed_sequences(sn_acc x, sn_acc lengths)
{
    return sn_pack(sn_imap(is_before, rows_like(lengths, x)), x);
}

F2(over_or_zero, sn_div(x, sn_max(sn_to_f32(y), 1)))

static sn_acc ragged_means(sn_acc offsets, sn_acc x)
{
    sn_acc sum = sn_transpose(sn_sum_seg(sn_segments_from_offsets(offsets), sn_transpose(x)));
    sn_acc length = sn_zip_with(sn_sub, sn_tail(offsets), sn_init(offsets));
    return sn_zip_with(over_or_zero, sum, rows_like(length, sum));
}

F1(in_test, sn_lt(sn_bit_and(sn_shr(sn_mul(x, UINT32_C(2654435769)), 16), 255), 51))

static sn_acc split_by_hash(sn_acc id, sn_acc x)
{
    sn_acc test = sn_map(in_test, id);
    return sn_results(sn_pack(sn_map(sn_not, test), x), sn_pack(test, x));
}

/* --- models of statistics --- */

static sn_scalar log_density(void *env, sn_scalar i, sn_scalar k)
{
    sn_acc *p = env; /* points, means, precisions, weights */
    sn_scalar sum = sn_log(sn_index(p[3], k));
    for (int c = 0; c < 3; c++) {
        sn_scalar d = sn_sub(sn_index(p[0], i, c), sn_index(p[1], k, c)), precision = sn_index(p[2], k, c);
        sum = sn_add(sum, sn_mul(0.5f, sn_sub(sn_log(precision), sn_mul(precision, squared(d)))));
    }
    return sum;
}

static sn_acc responsibilities(sn_acc x, sn_acc mean, sn_acc precision, sn_acc weight)
{
    sn_acc p[] = {x, mean, precision, weight};
    return softmax(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(mean, 0)), sn_closure(log_density, p)));
}

static sn_scalar bin_of_value(void *label, sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_tuple(sn_to_i64(sn_index(*(sn_acc *)label, i)), j, sn_to_i64(x));
}

static sn_acc bayes_counts(sn_acc x, sn_acc label)
{
    return sn_histogram(sn_shape(10, sn_extent(x, 1), 16), sn_imap(sn_closure(bin_of_value, &label), x));
}

static sn_scalar log_share(void *env, sn_scalar i, sn_scalar c, sn_scalar j)
{
    sn_acc *p = env;
    return sn_index(p[1], j, sn_index(p[0], i, j), c);
}

static sn_acc bayes_classes(sn_acc x, sn_acc share)
{
    sn_acc p[] = {x, share};
    sn_acc terms = sn_generate(sn_shape(sn_extent(x, 0), 10, sn_extent(x, 1)), sn_closure(log_share, p));
    return sn_argmax(sn_sum(terms));
}

struct nodes {
    sn_acc x, feature, threshold, leaf;
    sn_scalar row, tree;
};

static sn_scalar child(void *env, sn_scalar node)
{
    struct nodes *t = env;
    sn_scalar right = sn_gt(sn_index(t->x, t->row, sn_index(t->feature, node)), sn_index(t->threshold, node));
    return sn_add(sn_mul(2, node), sn_if(right, sn_i64(2), sn_i64(1)));
}

static sn_scalar leaf_of_row(void *env, sn_scalar row)
{
    struct nodes t = *(struct nodes *)env;
    t.row = row;
    return sn_index(t.leaf, sn_sub(sn_iterate(6, sn_closure(child, &t), sn_i64(0)), sn_extent(t.feature, 0)));
}

static sn_acc tree(sn_acc x, sn_acc feature, sn_acc threshold, sn_acc leaf)
{
    struct nodes t = {.x = x, .feature = feature, .threshold = threshold, .leaf = leaf};
    return sn_generate(sn_extent(x, 0), sn_closure(leaf_of_row, &t));
}

static sn_scalar child_in(void *env, sn_scalar node)
{
    struct nodes *t = env;
    sn_scalar feature = sn_index(t->feature, t->tree, node);
    sn_scalar right = sn_gt(sn_index(t->x, t->row, feature), sn_index(t->threshold, t->tree, node));
    return sn_add(sn_mul(2, node), sn_if(right, sn_i64(2), sn_i64(1)));
}

static sn_scalar leaf_of_tree(void *env, sn_scalar row, sn_scalar tree_number)
{
    struct nodes t = *(struct nodes *)env;
    t.row = row;
    t.tree = tree_number;
    sn_scalar node = sn_iterate(6, sn_closure(child_in, &t), sn_i64(0));
    return sn_index(t.leaf, tree_number, sn_sub(node, sn_extent(t.feature, 1)));
}

static sn_acc forest(sn_acc x, sn_acc feature, sn_acc threshold, sn_acc leaf)
{
    struct nodes t = {.x = x, .feature = feature, .threshold = threshold, .leaf = leaf};
    return sn_sum(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(feature, 0)), sn_closure(leaf_of_tree, &t)));
}

static sn_scalar bin_of_feature(sn_scalar i, sn_scalar j, sn_scalar bin)
{
    (void)i;
    return sn_tuple(j, sn_to_i64(bin));
}

static sn_acc gradient_histograms(sn_acc bins, sn_acc gradient, sn_acc hessian)
{
    sn_acc place = sn_imap(bin_of_feature, bins);
    sn_scalar shape = sn_shape(sn_extent(bins, 1), 64);
    return sn_results(sn_histogram_weighted(shape, place, rows_like(gradient, bins)),
                      sn_histogram_weighted(shape, place, rows_like(hessian, bins)));
}

static sn_scalar gain_of(sn_scalar g, sn_scalar h)
{
    return sn_div(squared(g), sn_add(h, 1));
}

static sn_scalar gain_at(sn_scalar g, sn_scalar h, sn_scalar all_g, sn_scalar all_h)
{
    return sn_sub(sn_add(gain_of(g, h), gain_of(sn_sub(all_g, g), sn_sub(all_h, h))), gain_of(all_g, all_h));
}

static sn_acc best_splits(sn_acc g, sn_acc h)
{
    sn_acc gain = sn_zip_with(gain_at, sn_scanl1(sn_add, g), sn_scanl1(sn_add, h), rows_like(sn_sum(g), g),
                              rows_like(sn_sum(h), h));
    return sn_results(sn_argmax(gain), sn_maximum(gain));
}

struct samples {
    sn_acc x, truth;
};

F2(times_error, sn_sub(sigmoid(x), sn_to_f32(y)))
F2(descended, sn_sub(x, sn_mul(0.5f, y)))

static sn_acc descent_step(void *env, int count, const sn_acc *w)
{
    (void)count;
    struct samples *s = env;
    sn_acc x = s->x;
    sn_acc error = sn_zip_with(times_error, sn_sum(sn_zip_with(sn_mul, x, columns_like(w[0], x))), s->truth);
    return sn_zip_with(descended, w[0], means_of_columns(sn_zip_with(sn_mul, x, rows_like(error, x))));
}

static sn_acc descent(sn_acc x, sn_acc truth)
{
    struct samples s = {x, truth};
    return sn_aiterate(20, sn_body_of(descent_step, &s, 1), sn_fill(sn_extent(x, 1), sn_f32(0)));
}

static sn_scalar hashed(sn_scalar h)
{
    h = sn_mul(sn_bit_xor(h, sn_shr(h, 16)), UINT32_C(0x7feb352d));
    h = sn_mul(sn_bit_xor(h, sn_shr(h, 15)), UINT32_C(0x846ca68b));
    return sn_bit_xor(h, sn_shr(h, 16));
}

static sn_scalar drawn_value(void *env, sn_scalar r, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar h = hashed(sn_to_u32(sn_add(sn_mul(r, sn_size(x)), i)));
    return sn_index(x, sn_to_i64(sn_shr(sn_mul(sn_to_u64(h), sn_to_u64(sn_size(x))), 32)));
}

static sn_acc resampled_means(sn_acc x, sn_acc like)
{
    return means_of_rows(sn_generate(sn_shape(sn_size(like), sn_size(x)), sn_closure(drawn_value, &x)));
}

static sn_scalar bit_if_positive(sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)i;
    return sn_if(sn_gt(x, 0), sn_shl(sn_u32(1), sn_to_u32(j)), sn_u32(0));
}

static sn_acc signatures(sn_acc x, sn_acc planes)
{
    return sn_fold(sn_bit_or, 0, sn_imap(bit_if_positive, product(x, planes)));
}

static sn_scalar place_of_feature(sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)j;
    return sn_tuple(i, sn_to_i64(sn_bit_and(hashed(x), 63)));
}

static sn_acc hashed_features(sn_acc x, sn_acc like)
{
    sn_scalar shape = sn_shape(sn_extent(x, 0), sn_size(like));
    return sn_reduce_by_key(sn_add, sn_i32(0), shape, sn_imap(place_of_feature, x), sn_fill(sn_shape_of(x), sn_i32(1)));
}

static sn_scalar goes_to(void *env, sn_scalar e, sn_scalar i)
{
    return sn_to_i32(sn_eq(e, sn_to_i64(sn_bit_and(sn_index(*(sn_acc *)env, i), 7))));
}

static sn_scalar own_place(void *env, sn_scalar i, sn_scalar expert)
{
    return sn_index(*(sn_acc *)env, sn_to_i64(sn_bit_and(expert, 7)), i);
}

static sn_acc places_of_experts(sn_acc expert)
{
    sn_acc chosen = sn_generate(sn_shape(8, sn_size(expert)), sn_closure(goes_to, &expert));
    sn_acc before = sn_prescan(sn_add, 0, chosen);
    return sn_imap(sn_closure(own_place, &before), expert);
}

F3(plus_on_diagonal, sn_if(sn_eq(x, y), sn_add(z, 0.5), z))

static sn_acc normal_equations(sn_acc x, sn_acc y, sn_acc weight)
{
    sn_acc weighted = sn_transpose(sn_zip_with(sn_mul, x, rows_like(weight, x)));
    return sn_results(sn_imap(plus_on_diagonal, times_transpose(weighted, sn_transpose(x))),
                      sn_sum(sn_zip_with(sn_mul, weighted, columns_like(y, weighted))));
}

static sn_acc principal_direction(sn_acc x, sn_acc v)
{
    sn_acc centred = sn_zip_with(sn_sub, x, columns_like(means_of_columns(x), x));
    sn_acc along = sn_sum(sn_zip_with(sn_mul, centred, columns_like(v, x)));
    sn_acc next = sn_sum(sn_transpose(sn_zip_with(sn_mul, centred, rows_like(along, x))));
    sn_scalar length = sn_sqrt(sn_the(sn_sum(sn_map(squared, next))));
    return sn_map(sn_closure(over, &length), next);
}

F2(negatives_before, sn_if(x, sn_i64(0), y))
F1(as_count, sn_to_i64(x))

static sn_acc area_under_curve(sn_acc score, sn_acc truth)
{
    sn_acc ordered = sn_snd(sn_sort_by_key_descending(score, truth));
    sn_acc hits = sn_scanl1(sn_add, sn_map(as_count, ordered));
    sn_scalar all = sn_the(sn_count(truth)), pairs = sn_mul(all, sn_sub(sn_size(truth), all));
    return sn_unit(sn_div(sn_to_f64(sn_the(sn_sum(sn_zip_with(negatives_before, ordered, hits)))), sn_to_f64(pairs)));
}

static sn_acc moving_quantile(sn_acc x)
{
    sn_acc windows = sn_backpermute(sn_shape(sn_sub(sn_size(x), 14), 15), sn_add, x);
    return sn_slice(sn_sort(windows), SN_ALL, 11);
}

static sn_scalar mean_of_others(void *env, sn_scalar key, sn_scalar y)
{
    sn_acc *p = env; /* sums, counts */
    sn_scalar count = sn_to_f32(sn_index(p[1], key));
    return sn_div(sn_sub(sn_index(p[0], key), y), sn_max(sn_sub(count, 1), 1));
}

static sn_acc means_of_others(sn_acc like, sn_acc key, sn_acc y)
{
    sn_scalar keys = sn_size(like);
    sn_acc p[] = {sn_histogram_weighted(keys, key, y), sn_histogram(keys, key)};
    return sn_zip_with(sn_closure(mean_of_others, p), key, y);
}

F2(place_of_word, sn_tuple(x, sn_to_i64(y)))

static sn_acc bags_of_words(sn_acc like, sn_acc offsets, sn_acc word)
{
    sn_scalar documents = sn_sub(sn_size(offsets), 1);
    sn_acc document = sn_replicate_seg(sn_size(word), sn_segments_from_offsets(offsets), sn_iota(documents));
    sn_acc place = sn_zip_with(place_of_word, document, word);
    return sn_reduce_by_key(sn_add, sn_i32(0), sn_shape(documents, sn_size(like)), place,
                            sn_fill(sn_shape_of(word), sn_i32(1)));
}

struct documents {
    sn_acc of_word;
    sn_scalar all;
};

static sn_scalar word_weight(void *env, sn_scalar word, sn_scalar count, sn_scalar all)
{
    struct documents *d = env;
    sn_scalar documents = sn_to_f32(sn_index(d->of_word, word));
    return sn_mul(sn_div(count, all), sn_log(sn_div(d->all, documents)));
}

static sn_acc weights_of_words(sn_acc like, sn_acc offsets, sn_acc word, sn_acc count)
{
    sn_acc s = sn_segments_from_offsets(offsets);
    struct documents d = {sn_histogram(sn_size(like), word), sn_to_f32(sn_sub(sn_size(offsets), 1))};
    sn_acc all = sn_replicate_seg(sn_size(word), s, sn_sum_seg(s, count));
    return sn_zip_with(sn_closure(word_weight, &d), word, count, all);
}

static sn_scalar square_distance(void *env, sn_scalar i, sn_scalar k)
{
    sn_acc *p = env;
    sn_scalar sum = sn_f32(0);
    for (int c = 0; c < 3; c++)
        sum = sn_add(sum, squared(sn_sub(sn_index(p[0], i, c), sn_index(p[1], k, c))));
    return sum;
}

static sn_scalar vote_for(sn_scalar i, sn_scalar c, sn_scalar k, sn_scalar label)
{
    (void)i, (void)k;
    return sn_eq(c, sn_to_i64(sn_bit_and(label, 3)));
}

static sn_acc votes_of_5(sn_acc known, sn_acc label, sn_acc x)
{
    sn_acc p[] = {x, known};
    sn_scalar n = sn_extent(x, 0), k = sn_extent(known, 0);
    sn_acc distance = sn_generate(sn_shape(n, k), sn_closure(square_distance, p));
    sn_acc ordered = sn_snd(sn_sort_by_key(distance, sn_replicate(label, n, SN_ALL)));
    sn_acc votes = sn_imap(vote_for, sn_replicate(sn_take(5, ordered), SN_ALL, 4, SN_ALL));
    return sn_argmax(sn_count(votes));
}

struct factors {
    sn_acc user, item, users, items;
};

static sn_scalar error_of(void *env, sn_scalar u, sn_scalar i, sn_scalar rating)
{
    struct factors *f = env;
    sn_scalar sum = sn_f32(0);
    for (int c = 0; c < 8; c++)
        sum = sn_add(sum, sn_mul(sn_index(f->users, u, c), sn_index(f->items, i, c)));
    return sn_sub(rating, sum);
}

static sn_scalar slope_of(void *env, sn_scalar n, sn_scalar c, sn_scalar error)
{
    struct factors *f = env;
    return sn_mul(sn_mul(0.125f, error), sn_index(f->items, sn_index(f->item, n), c));
}

static sn_acc factors_step(const int64_t *extent, const sn_acc *p)
{
    (void)extent;
    struct factors f = {p[1], p[2], p[4], p[5]};
    sn_acc error = sn_zip_with(sn_closure(error_of, &f), f.user, f.item, p[3]);
    sn_acc slope = sn_imap(sn_closure(slope_of, &f), sn_replicate(error, SN_ALL, 8));
    return sn_results(error, sn_permute(sn_add, f.users, sn_closure(row_of_id, &f.user), slope));
}

#endif
