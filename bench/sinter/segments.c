/* Sums of segments, and a sparse matrix times a vector: the same with products of elements that are looked up. */
#include "../side.h"

static sn_acc segsum(sn_acc offsets, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), x);
}

static sn_scalar times(void *vector, sn_scalar column, sn_scalar x)
{
    return sn_mul(x, sn_index(*(const sn_acc *)vector, column));
}

static sn_acc csr(sn_acc offsets, sn_acc column, sn_acc x, sn_acc vector)
{
    sn_acc products = sn_zip_with(sn_closure(times, &vector), column, x);
    return sn_sum_seg(sn_segments_from_offsets(offsets), products);
}

static void *open_segsum(void *data)
{
    (void)data;
    return side_open("[m]i64, [n]f32 -> [s]f32", SN_BODY(segsum));
}

static int run_segsum(void *state, void *data)
{
    struct side *s = state;
    struct segments_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->offsets, d->segments + 1), sn_in(d->x, d->base.n),
                              sn_into(d->sinter, d->segments)));
}

static void *open_csr(void *data)
{
    (void)data;
    return side_open("[m]i64, [n]i32, [n]f32, [k]f32 -> [s]f32", SN_BODY(csr));
}

static int run_csr(void *state, void *data)
{
    struct side *s = state;
    struct segments_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in(d->offsets, d->segments + 1), sn_in(d->column, d->base.n),
                              sn_in(d->x, d->base.n), sn_in(d->vector, d->columns), sn_into(d->sinter, d->segments)));
}

/* --- FilterMax --- */

/* How far (x, y) is to the left of the line from (x1, y1) to (x2, y2): twice the area of the triangle. */
static sn_scalar distance(sn_scalar x, sn_scalar y, sn_scalar x1, sn_scalar y1, sn_scalar x2, sn_scalar y2)
{
    return sn_sub(sn_mul(sn_sub(x1, x), sn_sub(y2, y)), sn_mul(sn_sub(y1, y), sn_sub(x2, x)));
}

static sn_scalar is_left(sn_scalar distance)
{
    return sn_gt(distance, 0);
}

static sn_scalar further(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_snd(a), sn_snd(b)), a, b);
}

typedef struct lookup {
    sn_acc offsets, coordinates;
} lookup;

static sn_scalar point_at(void *env, sn_scalar segment, sn_scalar place)
{
    const lookup *in = env;
    return sn_index(in->coordinates, sn_add(sn_index(in->offsets, segment), place));
}

static sn_acc segfiltermax(sn_acc offsets, sn_acc points, sn_acc lines)
{
    sn_acc segments = sn_segments_from_offsets(offsets), x = sn_get(points, 0), y = sn_get(points, 1);
    sn_scalar n = sn_size(x);
    sn_acc far =
        sn_zip_with(distance, x, y, sn_replicate_seg(n, segments, sn_get(lines, 0)),
                    sn_replicate_seg(n, segments, sn_get(lines, 1)), sn_replicate_seg(n, segments, sn_get(lines, 2)),
                    sn_replicate_seg(n, segments, sn_get(lines, 3)));
    sn_acc best = sn_fst(
        sn_fold_seg(further, sn_tuple(sn_i64(0), sn_f32(-999999)), segments, sn_zip(sn_iota_seg(n, segments), far)));
    sn_acc left = sn_map(is_left, far), above = sn_pack(left, points);
    lookup in_x = {offsets, x}, in_y = {offsets, y};
    return sn_results(sn_imap(sn_closure(point_at, &in_x), best), sn_imap(sn_closure(point_at, &in_y), best),
                      sn_fst(above), sn_snd(above), sn_count_seg(segments, left));
}

static void *open_segfiltermax(void *data)
{
    (void)data;
    return side_open("[m]i64, [n](f32, f32), [s](f32, f32, f32, f32) -> [s]f32, [s]f32, [k]f32, [k]f32, [s]i64",
                     SN_BODY(segfiltermax));
}

static int run_segfiltermax(void *state, void *data)
{
    struct side *s = state;
    struct filtermax_data *d = data;
    const struct filtermax *of = &d->of;
    int64_t n = d->base.n, m = of->segments;
    return side_ok(s, sn_call(s->program, sn_in(of->offsets, m + 1), sn_in(of->x, n), sn_in(of->y, n),
                              sn_in(of->line[0], m), sn_in(of->line[1], m), sn_in(of->line[2], m),
                              sn_in(of->line[3], m), sn_into(d->sinter_far[0], m), sn_into(d->sinter_far[1], m),
                              sn_upto(d->sinter_above[0], n, &d->sinter_kept[0]),
                              sn_upto(d->sinter_above[1], n, &d->sinter_kept[1]), sn_into(d->sinter_counts, m)));
}

const struct bench_side sinter_segfiltermax = {open_segfiltermax, run_segfiltermax, side_close};
const struct bench_side sinter_segsum = {open_segsum, run_segsum, side_close};
const struct bench_side sinter_csr = {open_csr, run_csr, side_close};
