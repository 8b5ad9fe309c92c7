/* Segments described by offsets. */
#include "../program.h"

void nb_make_offsets(const struct nb_call *call);
void nb_make_mixed_offsets(const struct nb_call *call);
void nb_make_offsets_of_rows(const struct nb_call *call);
void nb_make_lengths(const struct nb_call *call);

static sn_acc sum(sn_acc offsets, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), x);
}

static sn_acc count(sn_acc offsets, sn_acc x)
{
    return sn_count_seg(sn_segments_from_offsets(offsets), x);
}

static sn_acc maximum(sn_acc offsets, sn_acc x)
{
    return sn_fold1_seg(sn_max, sn_segments_from_offsets(offsets), x);
}

static sn_acc sum_and_maximum(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_results(sn_sum_seg(segments, x), sn_maximum_seg(segments, x));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc of_squares(sn_acc offsets, sn_acc x)
{
    return sum(offsets, sn_map(square, x));
}

static sn_acc dot(sn_acc offsets, sn_acc x, sn_acc y)
{
    return sum(offsets, sn_zip_with(sn_mul, x, y));
}

static sn_acc running_sum(sn_acc offsets, sn_acc x)
{
    return sn_scanl1_seg(sn_add, sn_segments_from_offsets(offsets), x);
}

static sn_acc scaled_sum(sn_acc offsets, sn_acc x, sn_acc factor)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_sum_seg(segments, sn_zip_with(sn_mul, sn_replicate_seg(sn_extent(x, 0), segments, factor), x));
}

static sn_acc replicate(sn_acc offsets, sn_acc x, sn_acc a)
{
    return sn_replicate_seg(sn_extent(x, 0), sn_segments_from_offsets(offsets), a);
}

static sn_acc append(sn_acc offsets, sn_acc x, sn_acc y)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_append_seg(segments, x, segments, y);
}

static sn_scalar mean_of(sn_scalar sum, sn_scalar length)
{
    return sn_div(sum, sn_to_f32(length));
}

static sn_acc mean(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_zip_with(mean_of, sn_sum_seg(segments, x), segments);
}

static sn_acc minus_sum(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_zip_with(sn_sub, x, sn_replicate_seg(sn_extent(x, 0), segments, sn_sum_seg(segments, x)));
}

static sn_scalar exp_of_difference(sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_sub(x, most));
}

static sn_acc softmax(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_scalar n = sn_extent(x, 0);
    sn_acc most = sn_replicate_seg(n, segments, sn_maximum_seg(segments, x));
    sn_acc e = sn_zip_with(exp_of_difference, x, most);
    return sn_zip_with(sn_div, e, sn_replicate_seg(n, segments, sn_sum_seg(segments, e)));
}

static sn_scalar height(sn_scalar x, sn_scalar y, sn_scalar slope)
{
    return sn_sub(y, sn_mul(slope, x));
}

static sn_scalar higher(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_snd(a), sn_snd(b)), a, b);
}

static sn_scalar is_above(sn_scalar height)
{
    return sn_gt(height, 0);
}

static sn_acc furthest(sn_acc offsets, sn_acc x, sn_acc y, sn_acc slope)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_scalar n = sn_extent(x, 0);
    sn_acc d = sn_zip_with(height, x, y, sn_replicate_seg(n, segments, slope));
    sn_acc best = sn_fold1_seg(higher, segments, sn_zip(sn_iota_seg(n, segments), d));
    return sn_results(sn_fst(best), sn_count_seg(segments, sn_map(is_above, d)));
}

static sn_acc place_of_greatest(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_fst(sn_fold1_seg(higher, segments, sn_zip(sn_iota_seg(sn_extent(x, 0), segments), x)));
}

/* Of equal ones the first, as it is often written. */
static sn_scalar higher_or_first(sn_scalar a, sn_scalar b)
{
    sn_scalar before = sn_and(sn_eq(sn_snd(a), sn_snd(b)), sn_lt(sn_fst(a), sn_fst(b)));
    return sn_if(sn_or(sn_gt(sn_snd(a), sn_snd(b)), before), a, b);
}

static sn_acc place_with_ties(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_fst(sn_fold1_seg(higher_or_first, segments, sn_zip(sn_iota_seg(sn_extent(x, 0), segments), x)));
}

static sn_acc running_right(sn_acc offsets, sn_acc x)
{
    return sn_scanr1_seg(sn_add, sn_segments_from_offsets(offsets), x);
}

static sn_acc running_before(sn_acc offsets, sn_acc x)
{
    return sn_prescan_seg(sn_add, 0, sn_segments_from_offsets(offsets), x);
}

static sn_acc running_maximum(sn_acc offsets, sn_acc x)
{
    return sn_scanl1_seg(sn_max, sn_segments_from_offsets(offsets), x);
}

static sn_acc places(sn_acc offsets, sn_acc x)
{
    return sn_iota_seg(sn_extent(x, 0), sn_segments_from_offsets(offsets));
}

static sn_acc ramps(sn_acc offsets, sn_acc x, sn_acc first, sn_acc step)
{
    return sn_enum_from_step_n_seg(sn_extent(x, 0), sn_segments_from_offsets(offsets), first, step);
}

static sn_acc size_of_segment(sn_acc offsets, sn_acc x)
{
    return sn_map(sn_sqrt, of_squares(offsets, x));
}

static sn_acc replicate_rows(sn_acc offsets, sn_acc x, sn_acc a)
{
    return sn_replicate_seg(sn_extent(x, 1), sn_segments_from_offsets(offsets), a);
}

static sn_acc weighted_sum_of_rows(sn_acc offsets, sn_acc x, sn_acc weight)
{
    sn_acc weights = sn_replicate(weight, sn_extent(x, 0), SN_ALL);
    return sn_sum_seg(sn_segments_from_offsets(offsets), sn_zip_with(sn_mul, x, weights));
}

static sn_acc minus_sum_of_rows(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    return sn_zip_with(sn_sub, x, sn_replicate_seg(sn_extent(x, 1), segments, sn_sum_seg(segments, x)));
}

static sn_acc softmax_of_rows(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_scalar n = sn_extent(x, 1);
    sn_acc most = sn_replicate_seg(n, segments, sn_maximum_seg(segments, x));
    sn_acc e = sn_zip_with(exp_of_difference, x, most);
    return sn_zip_with(sn_div, e, sn_replicate_seg(n, segments, sn_sum_seg(segments, e)));
}

static sn_acc normalise(sn_acc offsets, sn_acc x)
{
    return sn_zip_with(
        sn_div, x, sn_replicate_seg(sn_extent(x, 0), sn_segments_from_offsets(offsets), size_of_segment(offsets, x)));
}

static sn_acc minimum(sn_acc offsets, sn_acc x)
{
    return sn_minimum_seg(sn_segments_from_offsets(offsets), x);
}

static sn_scalar step_at(void *env, sn_scalar i, sn_scalar place)
{
    sn_acc x = *(sn_acc *)env;
    return sn_if(sn_eq(place, 0), sn_f32(0), sn_sub(sn_index(x, i), sn_index(x, sn_sub(i, 1))));
}

static sn_acc steps(sn_acc offsets, sn_acc x)
{
    return sn_imap(sn_closure(step_at, &x), places(offsets, x));
}

static sn_acc of_lengths(sn_acc lengths, sn_acc x)
{
    return sn_sum_seg(lengths, x);
}

static sn_scalar is_negative(sn_scalar x)
{
    return sn_lt(x, 0);
}

static sn_acc keep(sn_acc offsets, sn_acc x)
{
    sn_acc negative = sn_map(is_negative, x);
    return sn_results(sn_count_seg(sn_segments_from_offsets(offsets), negative), sn_pack(negative, x));
}

static sn_acc any_negative(sn_acc offsets, sn_acc x)
{
    return sn_fold_seg(sn_or, false, sn_segments_from_offsets(offsets), sn_map(is_negative, x));
}

#define NB_GROUP segments
#define NB_TABLE "segments.def"
#include "../table.h"
