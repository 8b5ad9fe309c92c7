/* Segments described by offsets. */
#include "../program.h"

void nb_make_offsets(const struct nb_call *call);
void nb_make_mixed_offsets(const struct nb_call *call);

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

#define NB_GROUP segments
#define NB_TABLE "segments.def"
#include "../table.h"
