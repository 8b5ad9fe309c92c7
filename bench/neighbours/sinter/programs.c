/* Parts of larger programs. */
#include "../program.h"

#include <math.h>

void nb_make_offsets(const struct nb_call *call);
void nb_make_csr(const struct nb_call *call);
void nb_make_words(const struct nb_call *call);

/* --- k-means --- */

struct search {
    sn_acc centres;
    sn_scalar point;
};

static sn_scalar square_apart(sn_scalar p, sn_scalar q, int dimensions)
{
    sn_scalar sum = {0};
    for (int d = 0; d < dimensions; d++) {
        sn_scalar apart = sn_sub(sn_get(p, d), sn_get(q, d)), square = sn_mul(apart, apart);
        sum = d ? sn_add(sum, square) : square;
    }
    return sum;
}

#define SEARCH(name, dimensions, none)                                                                                 \
    static sn_scalar nearer_##name(void *env, sn_scalar j, sn_scalar best)                                             \
    {                                                                                                                  \
        const struct search *s = env;                                                                                  \
        sn_scalar apart = square_apart(s->point, sn_index(s->centres, j), dimensions);                                 \
        return sn_if(sn_lt(apart, sn_fst(best)), sn_tuple(apart, j), best);                                            \
    }                                                                                                                  \
    static sn_scalar nearest_##name(void *env, sn_scalar point)                                                        \
    {                                                                                                                  \
        struct search s = {*(sn_acc *)env, point};                                                                     \
        return sn_loop(sn_extent(s.centres, 0), sn_closure(nearer_##name, &s), sn_tuple(none, sn_i64(0)));             \
    }                                                                                                                  \
    static sn_scalar place_##name(void *env, sn_scalar point)                                                          \
    {                                                                                                                  \
        return sn_snd(nearest_##name(env, point));                                                                     \
    }
SEARCH(f32, 2, sn_f32(INFINITY))
SEARCH(f64, 2, sn_f64(INFINITY))
SEARCH(f32_3d, 3, sn_f32(INFINITY))

static sn_scalar counted(sn_scalar p)
{
    return sn_tuple(sn_get(p, 0), sn_get(p, 1), sn_i64(1));
}

static sn_scalar counted_3d(sn_scalar p)
{
    return sn_tuple(sn_get(p, 0), sn_get(p, 1), sn_get(p, 2), sn_i64(1));
}

static sn_scalar add_counted(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)));
}

static sn_scalar add_counted_3d(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_get(a, 0), sn_get(b, 0)), sn_add(sn_get(a, 1), sn_get(b, 1)),
                    sn_add(sn_get(a, 2), sn_get(b, 2)), sn_add(sn_get(a, 3), sn_get(b, 3)));
}

static sn_scalar mean(sn_scalar s)
{
    sn_scalar n = sn_to_f32(sn_get(s, 2));
    return sn_tuple(sn_div(sn_get(s, 0), n), sn_div(sn_get(s, 1), n));
}

static sn_scalar mean_f64(sn_scalar s)
{
    sn_scalar n = sn_to_f64(sn_get(s, 2));
    return sn_tuple(sn_div(sn_get(s, 0), n), sn_div(sn_get(s, 1), n));
}

static sn_scalar mean_3d(sn_scalar s)
{
    sn_scalar n = sn_to_f32(sn_get(s, 3));
    return sn_tuple(sn_div(sn_get(s, 0), n), sn_div(sn_get(s, 1), n), sn_div(sn_get(s, 2), n));
}

static sn_acc kmeans_round(sn_acc points, sn_acc centres)
{
    sn_acc place = sn_map(sn_closure(place_f32, &centres), points);
    return sn_map(
        mean, sn_reduce_by_key(add_counted, sn_tuple(0.0f, 0.0f, 0), sn_size(centres), place, sn_map(counted, points)));
}

static sn_acc kmeans_round_f64(sn_acc points, sn_acc centres)
{
    sn_acc place = sn_map(sn_closure(place_f64, &centres), points);
    return sn_map(mean_f64, sn_reduce_by_key(add_counted, sn_tuple(0.0, 0.0, 0), sn_size(centres), place,
                                             sn_map(counted, points)));
}

static sn_acc kmeans_round_3d(sn_acc points, sn_acc centres)
{
    sn_acc place = sn_map(sn_closure(place_f32_3d, &centres), points);
    return sn_map(mean_3d, sn_reduce_by_key(add_counted_3d, sn_tuple(0.0f, 0.0f, 0.0f, 0), sn_size(centres), place,
                                            sn_map(counted_3d, points)));
}

static sn_acc kmeans_cost(sn_acc points, sn_acc centres)
{
    return sn_sum(sn_fst(sn_map(sn_closure(nearest_f32, &centres), points)));
}

/* --- hulls --- */

static sn_acc extremes(sn_acc x, sn_acc y)
{
    sn_acc sum = sn_zip_with(sn_add, x, y);
    return sn_results(sn_argmin(x), sn_argmax(x), sn_argmin(sum), sn_argmax(sum));
}

static sn_scalar outside(sn_scalar x, sn_scalar y)
{
    return sn_gt(sn_add(sn_abs(x), sn_abs(y)), 1.75);
}

static sn_acc outside_diamond(sn_acc x, sn_acc y)
{
    sn_acc tags = sn_zip_with(outside, x, y);
    return sn_results(sn_pack(tags, x), sn_pack(tags, y));
}

static sn_scalar further(sn_scalar p, sn_scalar q)
{
    return sn_if(sn_ge(sn_fst(p), sn_fst(q)), p, q);
}

static sn_acc furthest(sn_acc offsets, sn_acc x, sn_acc y)
{
    return sn_fold1_seg(further, sn_segments_from_offsets(offsets), sn_zip(x, y));
}

static sn_acc above(sn_acc offsets, sn_acc x, sn_acc limit)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_acc tags = sn_zip_with(sn_gt, x, sn_replicate_seg(sn_size(x), segments, limit));
    return sn_results(sn_pack(tags, x), sn_count_seg(segments, tags));
}

/* --- sparse matrices --- */

static sn_acc csr_vector(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(begin), sn_zip_with(sn_mul, value, sn_gather(column, x)));
}

static sn_acc csr_largest(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    return sn_maximum_seg(sn_segments_from_offsets(begin), sn_zip_with(sn_mul, value, sn_gather(column, x)));
}

static sn_acc csr_of_ones(sn_acc begin, sn_acc column, sn_acc unused, sn_acc x)
{
    (void)unused;
    return sn_sum_seg(sn_segments_from_offsets(begin), sn_gather(column, x));
}

/* --- texts --- */

static sn_scalar is_newline(sn_scalar c)
{
    return sn_eq(c, '\n');
}

static sn_scalar is_ink(sn_scalar c)
{
    return sn_gt(c, ' ');
}

static sn_scalar begins_word(void *env, sn_scalar i, sn_scalar ink)
{
    return sn_and(ink, sn_or(sn_eq(i, 0), sn_not(sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0)))));
}

static sn_acc words(sn_acc text)
{
    sn_acc ink = sn_map(is_ink, text);
    return sn_results(sn_count(sn_map(is_newline, text)), sn_count(sn_imap(sn_closure(begins_word, &ink), ink)));
}

static sn_scalar begins_run(void *env, sn_scalar i, sn_scalar c)
{
    return sn_or(sn_eq(i, 0), sn_ne(c, sn_index(*(sn_acc *)env, sn_max(sn_sub(i, 1), 0))));
}

struct runs {
    sn_acc first;
    sn_scalar end;
};

static sn_scalar run_length(void *env, sn_scalar k, sn_scalar first)
{
    const struct runs *r = env;
    sn_scalar next = sn_add(k, 1);
    return sn_sub(sn_if(sn_lt(next, sn_size(r->first)), sn_index(r->first, next), r->end), first);
}

static sn_acc run_lengths(sn_acc text)
{
    sn_acc begins = sn_imap(sn_closure(begins_run, &text), text);
    struct runs r = {sn_pack(begins, sn_iota(sn_size(text))), sn_size(text)};
    return sn_results(sn_pack(begins, text), sn_imap(sn_closure(run_length, &r), r.first));
}

#define NB_GROUP programs
#define NB_TABLE "programs.def"
#include "../table.h"
