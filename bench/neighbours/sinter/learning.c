/* Layers, losses, optimisers and steps of statistical learning. */
#include "learning_images.h"
#include "learning_models.h"

void nb_make_learning_labels(const struct nb_call *call);
void nb_make_learning_runs(const struct nb_call *call);
void nb_make_learning_lengths(const struct nb_call *call);
void nb_make_learning_offsets(const struct nb_call *call);
void nb_make_learning_documents(const struct nb_call *call);
void nb_make_learning_values(const struct nb_call *call);
void nb_make_learning_bins(const struct nb_call *call);
void nb_make_learning_tree(const struct nb_call *call);
void nb_make_learning_items(const struct nb_call *call);

/* --- layers --- */

F2(plus_relu, relu(sn_add(x, y)))

static sn_acc dense_relu(sn_acc x, sn_acc w, sn_acc bias)
{
    sn_acc y = product(x, w);
    return sn_zip_with(plus_relu, y, columns_like(bias, y));
}

static sn_acc weight_gradients(sn_acc x, sn_acc g)
{
    return sn_results(product(sn_transpose(x), g), sn_sum(sn_transpose(g)));
}

static sn_scalar normal(sn_scalar d, sn_scalar variance, sn_scalar w, sn_scalar b)
{
    return sn_add(sn_mul(sn_div(d, sn_sqrt(sn_add(variance, 1e-5f))), w), b);
}

static sn_scalar normal_from(sn_scalar x, sn_scalar mean, sn_scalar variance, sn_scalar w, sn_scalar b)
{
    return normal(sn_sub(x, mean), variance, w, b);
}

static sn_acc batch_norm_columns(sn_acc x, sn_acc w, sn_acc b)
{
    sn_acc mean = means_of_columns(x), d = sn_zip_with(sn_sub, x, columns_like(mean, x));
    sn_acc variance = means_of_columns(sn_map(squared, d));
    sn_acc y = sn_zip_with(normal, d, columns_like(variance, x), columns_like(w, x), columns_like(b, x));
    return sn_results(y, mean, variance);
}

static sn_acc batch_norm_apply(sn_acc x, sn_acc mean, sn_acc variance, sn_acc w, sn_acc b)
{
    return sn_zip_with(normal_from, x, channels_like(mean, x), channels_like(variance, x), channels_like(w, x),
                       channels_like(b, x));
}

static sn_acc sums_of_channels(sn_acc x)
{
    return sn_sum(sn_transpose(sn_sum(sn_sum(x))));
}

F2(variance_of, sn_sub(x, squared(y)))

static sn_acc batch_norm_channels(sn_acc x, sn_acc w, sn_acc b)
{
    sn_scalar count = sn_mul(sn_extent(x, 0), sn_mul(sn_extent(x, 2), sn_extent(x, 3)));
    sn_acc mean = divided(sums_of_channels(x), count);
    sn_acc variance = sn_zip_with(variance_of, divided(sums_of_channels(sn_map(squared, x)), count), mean);
    return batch_norm_apply(x, mean, variance, w, b);
}

/* The gradient at x, its place on the normal scale, the sum of gradients, that of gradients times places, the weight.
 */
static sn_scalar back_from(void *count, int n, const sn_scalar *x)
{
    (void)n;
    sn_scalar mean = sn_div(x[2], *(sn_scalar *)count), slope = sn_div(x[3], *(sn_scalar *)count);
    return sn_mul(x[4], sn_sub(sn_sub(x[0], mean), sn_mul(x[1], slope)));
}

static sn_acc layer_norm_gradients(sn_acc x, sn_acc g, sn_acc w, sn_acc scale)
{
    sn_scalar count = sn_to_f32(sn_extent(x, 1));
    sn_acc weighted = sn_zip_with(sn_mul, g, columns_like(w, x));
    sn_acc sum = sn_sum(weighted), slope = sn_sum(sn_zip_with(sn_mul, weighted, x));
    sn_acc back = sn_zip_with(sn_closure(back_from, &count), weighted, x, rows_like(sum, x), rows_like(slope, x),
                              rows_like(scale, x));
    return sn_results(back, sn_sum(sn_transpose(sn_zip_with(sn_mul, g, x))), sn_sum(sn_transpose(g)));
}

static sn_acc group_norm(sn_acc x, sn_acc w, sn_acc b)
{
    sn_scalar groups = sn_quot(sn_mul(sn_extent(x, 0), sn_extent(x, 1)), 8);
    sn_acc rows = sn_reshape(sn_shape(groups, sn_mul(8, sn_mul(sn_extent(x, 2), sn_extent(x, 3)))), x);
    sn_acc d = sn_zip_with(sn_sub, rows, rows_like(means_of_rows(rows), rows));
    sn_acc variance = rows_like(means_of_rows(sn_map(squared, d)), rows);
    return sn_zip_with(normal, sn_reshape(sn_shape_of(x), d), sn_reshape(sn_shape_of(x), variance), channels_like(w, x),
                       channels_like(b, x));
}

struct labelled {
    sn_acc x, label;
    sn_scalar count;
};

static sn_scalar less_label(void *env, sn_scalar i, sn_scalar j, sn_scalar p)
{
    struct labelled *l = env;
    sn_scalar hit = sn_eq(j, sn_to_i64(sn_index(l->label, i)));
    return sn_div(sn_sub(p, sn_if(hit, sn_f32(1), sn_f32(0))), l->count);
}

static sn_scalar log_at_label(void *env, sn_scalar i, sn_scalar label)
{
    return sn_log(sn_index(*(sn_acc *)env, i, label));
}

static sn_acc entropy_gradient(sn_acc x, sn_acc label)
{
    struct labelled l = {softmax(x), label, sn_to_f32(sn_extent(x, 0))};
    sn_acc loss = sn_sum(sn_imap(sn_closure(log_at_label, &l.x), label));
    return sn_results(sn_imap(sn_closure(less_label, &l), l.x), sn_map(sn_neg, divided(loss, sn_extent(x, 0))));
}

/* --- attention --- */

F3(if_before, sn_if(sn_le(y, x), sn_mul(z, 0.125f), sn_f32(-INFINITY)))

static sn_acc causal_attention(sn_acc q, sn_acc k, sn_acc v)
{
    return product(softmax(sn_imap(if_before, times_transpose(q, k))), v);
}

F3(last_first, sn_tuple(z, x, y))
F3(turned_first, sn_tuple(z, y, x))
F1(eighth, sn_mul(x, 0.125f))

static sn_acc attention_of_one(sn_acc q, sn_acc k, sn_acc v)
{
    sn_scalar t = sn_extent(k, 0), h = sn_extent(k, 1), d = sn_extent(k, 2);
    sn_acc score = sn_sum(sn_zip_with(sn_mul, sn_replicate(q, t, SN_ALL, SN_ALL), k));
    sn_acc share = softmax(sn_map(eighth, sn_transpose(score)));
    return sn_sum(
        sn_zip_with(sn_mul, sn_replicate(share, SN_ALL, d, SN_ALL), sn_backpermute(sn_shape(h, d, t), last_first, v)));
}

struct rotation {
    sn_acc x, cosine, sine;
};

static sn_scalar turned_half(void *env, sn_scalar t, sn_scalar h, sn_scalar j)
{
    struct rotation *r = env;
    sn_scalar half = sn_extent(r->cosine, 1), first = sn_lt(j, half), p = sn_if(first, j, sn_sub(j, half));
    sn_scalar other = sn_if(first, sn_neg(sn_index(r->x, t, h, sn_add(j, half))), sn_index(r->x, t, h, p));
    return sn_add(sn_mul(sn_index(r->x, t, h, j), sn_index(r->cosine, t, p)), sn_mul(other, sn_index(r->sine, t, p)));
}

static sn_acc rotary_halves(sn_acc x, sn_acc cosine, sn_acc sine)
{
    struct rotation r = {x, cosine, sine};
    return sn_generate(sn_shape_of(x), sn_closure(turned_half, &r));
}

static sn_scalar angle_at(void *half, sn_scalar t, sn_scalar p)
{
    sn_scalar share = sn_div(sn_to_f32(p), *(sn_scalar *)half);
    return sn_mul(sn_to_f32(t), sn_exp2(sn_mul(share, -13.287712f)));
}

static sn_scalar turned_pair(void *env, sn_scalar t, sn_scalar h, sn_scalar j)
{
    struct rotation *r = env;
    sn_scalar p = sn_quot(j, 2), here = sn_index(r->x, t, h, j), other = sn_index(r->x, t, h, sn_bit_xor(j, 1));
    other = sn_if(sn_eq(sn_bit_and(j, 1), 0), sn_neg(other), other);
    return sn_add(sn_mul(here, sn_index(r->cosine, t, p)), sn_mul(other, sn_index(r->sine, t, p)));
}

static sn_acc rotary_pairs(sn_acc x)
{
    sn_scalar half = sn_quot(sn_extent(x, 2), 2), count = sn_to_f32(half);
    sn_acc angle = sn_generate(sn_shape(sn_extent(x, 0), half), sn_closure(angle_at, &count));
    struct rotation r = {x, sn_map(sn_cos, angle), sn_map(sn_sin, angle)};
    return sn_generate(sn_shape_of(x), sn_closure(turned_pair, &r));
}

static sn_acc softmax_channels(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0), c = sn_extent(x, 1), places = sn_mul(sn_extent(x, 2), sn_extent(x, 3));
    sn_acc planes = sn_reshape(sn_shape(n, c, places), x);
    sn_acc most = sn_replicate(sn_maximum(sn_transpose(planes)), SN_ALL, c, SN_ALL);
    sn_acc e = sn_zip_with(exp_less, planes, most), sum = sn_sum(sn_transpose(e));
    return sn_reshape(sn_shape_of(x), sn_zip_with(sn_div, e, sn_replicate(sum, SN_ALL, c, SN_ALL)));
}

static sn_scalar with_bias(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    sn_acc *bias = env; /* 2 n - 1 of them */
    sn_scalar zero = sn_quot(sn_size(*bias), 2);
    return sn_add(x, sn_index(*bias, sn_add(sn_sub(j, i), zero)));
}

static sn_acc position_bias(sn_acc x, sn_acc bias)
{
    return sn_imap(sn_closure(with_bias, &bias), x);
}

static sn_scalar embedded(void *env, sn_scalar b, sn_scalar t, sn_scalar d)
{
    sn_acc *p = env; /* the table, places, identities */
    return sn_add(sn_index(p[0], sn_index(p[2], b, t), d), sn_index(p[1], t, d));
}

static sn_acc embedding(sn_acc table, sn_acc places, sn_acc ids)
{
    sn_acc p[] = {table, places, ids};
    return sn_generate(sn_shape(sn_extent(ids, 0), sn_extent(ids, 1), sn_extent(table, 1)), sn_closure(embedded, p));
}

static sn_acc embedding_gradient(sn_acc table, sn_acc ids, sn_acc g)
{
    return sn_permute(sn_add, table, sn_closure(row_of_id, &ids), g);
}

/* --- recurrent cells --- */

static sn_scalar lstm_at(void *env, sn_scalar i, sn_scalar j, sn_scalar cell)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar h = sn_quot(sn_extent(x, 1), 4), gate[4];
    for (int k = 0; k < 4; k++)
        gate[k] = sn_index(x, i, sn_add(sn_mul(h, k), j));
    sn_scalar next = sn_add(sn_mul(sigmoid(gate[1]), cell), sn_mul(sigmoid(gate[0]), sn_tanh(gate[2])));
    return sn_tuple(sn_mul(sigmoid(gate[3]), sn_tanh(next)), next);
}

static sn_acc lstm_cell(sn_acc gates, sn_acc cell)
{
    sn_acc both = sn_imap(sn_closure(lstm_at, &gates), cell);
    return sn_results(sn_fst(both), sn_snd(both));
}

/* Gates of the input, then of the state, and the state. */
struct recurrence {
    sn_acc x, w;
};

F2(next_of, sn_tanh(sn_add(sn_mul(0.25f, x), y)))

static sn_acc recurrent_step(void *env, int count, const sn_acc *state)
{
    (void)count;
    struct recurrence *r = env;
    sn_acc along = sn_sum(sn_zip_with(sn_mul, r->w, columns_like(state[1], r->w)));
    return sn_zip_with(next_of, along, sn_slice(r->x, sn_the(state[0]), SN_ALL));
}

static sn_acc recurrent(sn_acc x, sn_acc w)
{
    struct recurrence r = {x, w};
    return sn_aloop(sn_extent(x, 0), sn_body_of(recurrent_step, &r, 2), sn_fill(sn_extent(x, 1), sn_f32(0)));
}

F2(after, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_fst(y), sn_snd(x)), sn_snd(y))))

static sn_scalar step_of_state(void *env, sn_scalar d, sn_scalar s, sn_scalar t)
{
    sn_acc *p = env; /* steps, x, rates, inputs */
    sn_scalar step = sn_index(p[0], t, d);
    return sn_tuple(sn_exp(sn_neg(sn_mul(step, sn_index(p[2], d, s)))),
                    sn_mul(sn_mul(step, sn_index(p[3], t, s)), sn_index(p[1], t, d)));
}

F3(state_first, sn_tuple(y, z, x))

static sn_acc state_space(sn_acc step, sn_acc x, sn_acc rate, sn_acc in, sn_acc out)
{
    sn_scalar t = sn_extent(x, 0), d = sn_extent(x, 1), s = sn_extent(rate, 1);
    sn_acc p[] = {step, x, rate, in};
    sn_acc state = sn_snd(sn_scanl1(after, sn_generate(sn_shape(d, s, t), sn_closure(step_of_state, p))));
    return sn_sum(sn_zip_with(sn_mul, sn_backpermute(sn_shape(t, d, s), state_first, state),
                              sn_replicate(out, SN_ALL, d, SN_ALL)));
}

static sn_acc linear_attention(sn_acc q, sn_acc k, sn_acc v)
{
    sn_scalar t = sn_extent(q, 0), d = sn_extent(q, 1), e = sn_extent(v, 1);
    sn_acc outer = sn_zip_with(sn_mul, sn_replicate(sn_transpose(k), SN_ALL, e, SN_ALL),
                               sn_replicate(sn_transpose(v), d, SN_ALL, SN_ALL));
    sn_acc state = sn_scanl1(sn_add, outer); /* [d,e,t] */
    return sn_sum(sn_zip_with(sn_mul, sn_backpermute(sn_shape(t, e, d), turned_first, state),
                              sn_replicate(q, SN_ALL, e, SN_ALL)));
}

/* --- optimisers, narrow numbers --- */

static sn_scalar adam_of(void *rate, int count, const sn_scalar *x)
{
    (void)count;
    sn_scalar g = x[1], m = sn_add(sn_mul(0.9f, x[2]), sn_mul(0.1f, g));
    sn_scalar v = sn_add(sn_mul(0.999f, x[3]), sn_mul(0.001f, squared(g)));
    sn_scalar step = sn_div(sn_mul(sn_the(*(sn_acc *)rate), m), sn_add(sn_sqrt(v), 1e-8f));
    return sn_tuple(sn_sub(x[0], step), m, v);
}

static sn_acc adam(sn_acc w, sn_acc g, sn_acc m, sn_acc v, sn_acc rate)
{
    sn_acc all = sn_zip_with(sn_closure(adam_of, &rate), w, g, m, v);
    return sn_results(sn_get(all, 0), sn_get(all, 1), sn_get(all, 2));
}

F1(by_127, sn_div(x, 127))
F2(quantised, sn_to_i8(sn_rint(sn_div(x, y))))

static sn_acc quantise_rows(sn_acc x)
{
    sn_acc scale = sn_map(by_127, sn_maximum(sn_map(sn_abs, x)));
    return sn_results(sn_zip_with(quantised, x, rows_like(scale, x)), scale);
}

F2(wide_product, sn_mul(sn_to_i32(x), sn_to_i32(y)))
F3(scaled, sn_mul(sn_mul(sn_to_f32(x), y), z))
F2(scaled_by, sn_mul(sn_to_f32(x), y))

static sn_acc quantised_products(sn_acc a, sn_acc b, sn_acc scale_a, sn_acc scale_b)
{
    sn_acc y = sn_sum(sn_zip_with(wide_product, sn_replicate(a, SN_ALL, sn_extent(b, 0), SN_ALL),
                                  sn_replicate(b, sn_extent(a, 0), SN_ALL, SN_ALL)));
    return sn_zip_with(scaled, y, rows_like(scale_a, y), columns_like(scale_b, y));
}

static sn_acc quantised_vector(sn_acc a, sn_acc x, sn_acc scale)
{
    return sn_zip_with(scaled_by, sn_sum(sn_zip_with(wide_product, a, columns_like(x, a))), scale);
}

static sn_scalar two_products(void *env, sn_scalar i, sn_scalar j, sn_scalar w)
{
    (void)i;
    sn_acc x = *(sn_acc *)env;
    sn_scalar low = sn_sub(sn_to_i32(sn_bit_and(w, 15)), 8), high = sn_sub(sn_to_i32(sn_shr(w, 4)), 8);
    return sn_add(sn_mul(sn_to_f32(low), sn_index(x, j, 0)), sn_mul(sn_to_f32(high), sn_index(x, j, 1)));
}

static sn_acc four_bit_vector(sn_acc w, sn_acc x, sn_acc scale)
{
    return sn_zip_with(sn_mul, sn_sum(sn_imap(sn_closure(two_products, &x), w)), scale);
}

F2(brain_product, sn_mul(sn_bitcast(SN_F32, sn_shl(sn_to_u32(x), 16)), y))

static sn_acc brain_vector(sn_acc w, sn_acc x)
{
    return sn_sum(sn_zip_with(brain_product, w, columns_like(x, w)));
}

F2(differing_bits, sn_popcount(sn_bit_xor(x, y)))

static sn_scalar agreement(void *bits, sn_scalar x)
{
    return sn_sub(*(sn_scalar *)bits, sn_mul(2, x));
}

static sn_acc binary_products(sn_acc a, sn_acc b)
{
    sn_scalar bits = sn_to_i32(sn_mul(64, sn_extent(a, 1)));
    sn_acc apart = sn_sum(sn_zip_with(differing_bits, sn_replicate(a, SN_ALL, sn_extent(b, 0), SN_ALL),
                                      sn_replicate(b, sn_extent(a, 0), SN_ALL, SN_ALL)));
    return sn_map(sn_closure(agreement, &bits), apart);
}

#define NB_GROUP learning
#define NB_TABLE "learning.def"
#include "../table.h"
