/* Operations put one behind the other at random, and what an element takes: where a composition takes many times as
 * long as its parts, there is a cliff. There is no opponent; the worst lines are to be explained.
 *
 *     compositions [--count N] [--first SEED] [--depth N] [--explain FORM] [operation ...]
 *
 * With operations, before which "vector" or rows of so many elements ("rows-8", "rows-33", ...) may stand, that
 * composition alone. Worst first: nanoseconds an element of the largest of what comes in and goes out, milliseconds,
 * the seed. */
#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 1000000, MOST_DEPTH = 8, CALLS = 5, LINE = 256 };

typedef sn_acc array_function(sn_acc x);

/* --- scalar functions --- */

static sn_scalar affine(sn_scalar x)
{
    return sn_add(sn_mul(x, 0.5f), 1.0f);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, 0.3f);
}

static sn_scalar of_three(sn_scalar s)
{
    return sn_mul(sn_add(sn_add(sn_at(s, -1), sn_at(s, 0)), sn_at(s, 1)), 0.3f);
}

static sn_scalar of_four(sn_scalar s)
{
    sn_scalar across = sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)), down = sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0));
    return sn_mul(sn_add(across, down), 0.25f);
}

static sn_scalar far_away(void *env, sn_scalar i)
{
    return sn_rem(sn_mul(i, 7919), *(sn_scalar *)env);
}

static sn_scalar half(sn_scalar i)
{
    return sn_quot(i, 2);
}

static sn_scalar twice(sn_scalar i)
{
    return sn_mul(i, 2);
}

static sn_scalar step_at(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    return sn_sub(sn_index(x, sn_add(i, 1)), sn_index(x, i));
}

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_add(x, sn_mul(sn_to_f32(sn_rem(i, 10)), 0.1f));
}

static sn_scalar of_triangle(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_if(sn_lt(i, j), x, sn_neg(x));
}

static sn_scalar window(sn_scalar i, sn_scalar k)
{
    return sn_add(i, k);
}

static sn_scalar exchanged(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_tuple(b, a, c);
}

static sn_scalar turned(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_tuple(c, a, b);
}

static sn_scalar as_float(sn_scalar x)
{
    return sn_to_f32(x);
}

static sn_scalar as_key(sn_scalar x)
{
    return sn_to_i64(sn_mul(sn_sub(x, sn_floor(x)), 100));
}

static sn_scalar as_byte(sn_scalar x)
{
    return sn_to_u8(sn_mul(sn_abs(x), 20));
}

static sn_scalar padded(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar j = sn_sub(i, 5);
    return sn_if(sn_and(sn_ge(j, 0), sn_lt(j, sn_size(x))), sn_index(x, j), 0.0f);
}

static sn_scalar around(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar sum = sn_f32(0);
    for (int k = -2; k < 3; k++)
        sum = sn_add(sum, sn_index(x, sn_mod(sn_add(i, k), sn_size(x))));
    return sum;
}

static sn_scalar padded_2(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar a = sn_sub(i, 2), b = sn_sub(j, 2);
    sn_scalar inside =
        sn_and(sn_and(sn_ge(a, 0), sn_lt(a, sn_extent(x, 0))), sn_and(sn_ge(b, 0), sn_lt(b, sn_extent(x, 1))));
    return sn_if(inside, sn_index(x, a, b), 0.0f);
}

static sn_scalar other_row(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_rem(sn_mul(i, 7919), sn_extent(x, 0)), j);
}

static sn_scalar other_column(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, i, sn_rem(sn_mul(j, 7), sn_extent(x, 1)));
}

static sn_scalar enlarged(void *env, sn_scalar i, sn_scalar j)
{
    return sn_index(*(sn_acc *)env, sn_quot(i, 2), sn_quot(j, 2));
}

static sn_scalar rolled(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, sn_mod(sn_add(i, 3), sn_extent(x, 0)), sn_mod(sn_sub(j, 5), sn_extent(x, 1)));
}

static sn_scalar sheared(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    return sn_index(x, i, sn_mod(sn_add(i, j), sn_extent(x, 1)));
}

static sn_scalar on_diagonal(sn_scalar i)
{
    return sn_tuple(i, i);
}

/* --- operations on vectors --- */

static sn_acc lengths(sn_scalar n, int64_t each)
{
    return sn_fill(sn_shape(sn_quot(n, each)), sn_i64(each));
}

static sn_acc whole(sn_acc x, int64_t each)
{
    return sn_take(sn_mul(sn_quot(sn_extent(x, 0), each), each), x);
}

static sn_acc permuted(sn_acc x)
{
    sn_scalar n = sn_size(x);
    sn_acc to = sn_backpermute(sn_shape(n), sn_closure(far_away, &n), sn_iota(n));
    return sn_scatter(to, sn_fill(sn_shape(n), 0.0f), x);
}

static sn_acc gathered(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_backpermute(sn_shape(n), sn_closure(far_away, &n), x);
}

static sn_acc cubes(sn_acc x)
{
    return sn_reshape(sn_shape(sn_quot(sn_size(x), 400), 20, 20), whole(x, 400));
}

static sn_acc reverse(sn_acc x)
{
    return sn_reverse(x);
}

static sn_acc rotate(sn_acc x)
{
    return sn_rotate(3, x);
}

static sn_acc map(sn_acc x)
{
    return sn_map(affine, x);
}

static sn_acc scan(sn_acc x)
{
    return sn_scanl1(sn_add, sn_map(square, x));
}

static sn_acc scan_right(sn_acc x)
{
    return sn_scanr1(sn_max, x);
}

static sn_acc prescan(sn_acc x)
{
    return sn_prescan(sn_add, 0.0f, x);
}

static sn_acc filter(sn_acc x)
{
    return sn_filter(is_large, x);
}

static sn_acc stencil(sn_acc x)
{
    return sn_stencil(of_three, sn_pattern(3), sn_clamp, x);
}

static sn_acc stencils(sn_acc x)
{
    return sn_aiterate(3, stencil, x);
}

static sn_acc shorter(sn_acc x)
{
    return sn_take(sn_sub(sn_size(x), 7), x);
}

static sn_acc later(sn_acc x)
{
    return sn_skip(7, x);
}

static sn_acc interleave(sn_acc x)
{
    return sn_interleave(x, sn_reverse(x));
}

static sn_acc each_twice(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_mul(sn_size(x), 2)), half, x);
}

static sn_acc every_second(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_quot(sn_size(x), 2)), twice, x);
}

static sn_acc append(sn_acc x)
{
    return sn_append(x, sn_map(square, x));
}

static sn_acc append_filter(sn_acc x)
{
    return sn_append(sn_filter(is_large, x), x);
}

static sn_acc steps(sn_acc x)
{
    return sn_generate(sn_shape(sn_sub(sn_size(x), 1)), sn_closure(step_at, &x));
}

static sn_acc indexed(sn_acc x)
{
    return sn_imap(with_index, x);
}

static sn_acc sums_of_segments(sn_acc x)
{
    return sn_sum_seg(lengths(sn_size(x), 100), whole(x, 100));
}

static sn_acc scans_of_segments(sn_acc x)
{
    return sn_scanl1_seg(sn_add, lengths(sn_size(x), 50), whole(x, 50));
}

static sn_acc replicate_segments(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_replicate_seg(sn_mul(n, 2), sn_fill(sn_shape(n), sn_i64(2)), x);
}

static sn_acc append_segments(sn_acc x)
{
    sn_acc l = lengths(sn_size(x), 50), y = whole(x, 50);
    return sn_append_seg(l, y, l, sn_map(square, y));
}

static sn_acc sort(sn_acc x)
{
    return sn_sort(x);
}

static sn_acc sums_by_key(sn_acc x)
{
    return sn_reduce_by_key(sn_add, 0.0f, 100, sn_map(as_key, x), x);
}

static sn_acc bytes(sn_acc x)
{
    return sn_map(as_float, sn_map(as_byte, x));
}

static sn_acc pad(sn_acc x)
{
    return sn_generate(sn_shape(sn_add(sn_size(x), 10)), sn_closure(padded, &x));
}

static sn_acc wrapped_taps(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(around, &x));
}

static sn_acc times_rotated(sn_acc x)
{
    return sn_zip_with(sn_mul, x, sn_rotate(1, x));
}

static sn_acc minus_mean(sn_acc x)
{
    sn_scalar n = sn_size(x), mean = sn_div(sn_the(sn_sum(x)), sn_to_f32(n));
    return sn_zip_with(sn_sub, x, sn_fill(sn_shape(n), mean));
}

static sn_acc exchange_blocks(sn_acc x)
{
    return sn_flatten(sn_backpermute(sn_shape(20, sn_quot(sn_size(x), 400), 20), exchanged, cubes(x)));
}

static sn_acc turn_blocks(sn_acc x)
{
    return sn_flatten(sn_backpermute(sn_shape(20, 20, sn_quot(sn_size(x), 400)), turned, cubes(x)));
}

static sn_acc rows_of_1000(sn_acc x)
{
    return sn_reshape(sn_shape(sn_quot(sn_size(x), 1000), 1000), whole(x, 1000));
}

static sn_acc rows_of_8(sn_acc x)
{
    return sn_reshape(sn_shape(sn_quot(sn_size(x), 8), 8), whole(x, 8));
}

static sn_acc windows(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_sub(sn_size(x), 4), 5), window, x);
}

/* --- operations on matrices --- */

static sn_scalar rows_of(sn_acc x)
{
    return sn_extent(x, 0);
}

static sn_scalar columns_of(sn_acc x)
{
    return sn_extent(x, 1);
}

static sn_acc transpose(sn_acc x)
{
    return sn_transpose(x);
}

static sn_acc stencil_2(sn_acc x)
{
    return sn_stencil(of_four, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc stencils_2(sn_acc x)
{
    return sn_aiterate(3, stencil_2, x);
}

static sn_acc scan_columns(sn_acc x)
{
    return sn_transpose(sn_scanl1(sn_add, sn_transpose(x)));
}

static sn_acc minus_row(sn_acc x)
{
    return sn_zip_with(sn_sub, x, sn_replicate(sn_sum(x), SN_ALL, columns_of(x)));
}

static sn_acc minus_column(sn_acc x)
{
    return sn_zip_with(sn_sub, x, sn_replicate(sn_sum(sn_transpose(x)), rows_of(x), SN_ALL));
}

static sn_acc crop(sn_acc x)
{
    return sn_take(sn_sub(columns_of(x), 1), x);
}

static sn_acc append_below(sn_acc x)
{
    return sn_append_along(0, x, sn_map(square, x));
}

static sn_acc append_beside(sn_acc x)
{
    return sn_append(x, sn_map(affine, x));
}

static sn_acc flatten(sn_acc x)
{
    return sn_flatten(x);
}

static sn_acc sums_of_rows(sn_acc x)
{
    return sn_sum(x);
}

static sn_acc sums_of_columns(sn_acc x)
{
    return sn_sum(sn_transpose(x));
}

static sn_acc maxima_of_rows(sn_acc x)
{
    return sn_maximum(x);
}

static sn_acc diagonal(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_min(rows_of(x), columns_of(x))), on_diagonal, x);
}

static sn_acc column(sn_acc x)
{
    return sn_slice(x, SN_ALL, 1);
}

static sn_acc triangle(sn_acc x)
{
    return sn_imap(of_triangle, x);
}

static sn_acc shear(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(sheared, &x));
}

static sn_acc halves_apart(sn_acc x)
{
    sn_scalar n = rows_of(x), k = sn_quot(columns_of(x), 2);
    sn_acc y = sn_reshape(sn_shape(n, 2, k), sn_take(sn_mul(k, 2), x));
    return sn_reshape(sn_shape(sn_mul(n, 2), k), sn_backpermute(sn_shape(2, n, k), exchanged, y));
}

static sn_acc pad_2(sn_acc x)
{
    return sn_generate(sn_shape(sn_add(rows_of(x), 4), sn_add(columns_of(x), 4)), sn_closure(padded_2, &x));
}

static sn_acc gather_rows(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(other_row, &x));
}

static sn_acc gather_columns(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(other_column, &x));
}

static sn_acc enlarge(sn_acc x)
{
    return sn_generate(sn_shape(sn_mul(rows_of(x), 2), sn_mul(columns_of(x), 2)), sn_closure(enlarged, &x));
}

static sn_acc roll(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(rolled, &x));
}

static sn_acc softmax(sn_acc x)
{
    sn_acc e = sn_map(sn_exp, sn_zip_with(sn_sub, x, sn_replicate(sn_maximum(x), SN_ALL, columns_of(x))));
    return sn_zip_with(sn_div, e, sn_replicate(sn_sum(e), SN_ALL, columns_of(x)));
}

static sn_acc sums_of_fours(sn_acc x)
{
    sn_scalar k = sn_quot(columns_of(x), 4);
    return sn_sum_seg(sn_fill(sn_shape(k), sn_i64(4)), sn_take(sn_mul(k, 4), x));
}

static const struct {
    const char *name;
    array_function *f;
    int from, to; /* ranks */
    int dear;     /* times as long as others */
} operations[] = {
    {"reverse", reverse, 1, 1, 1},
    {"rotate", rotate, 1, 1, 1},
    {"map", map, 1, 1, 1},
    {"scan", scan, 1, 1, 1},
    {"scan-right", scan_right, 1, 1, 1},
    {"prescan", prescan, 1, 1, 1},
    {"filter", filter, 1, 1, 1},
    {"stencil", stencil, 1, 1, 1},
    {"stencils", stencils, 1, 1, 1},
    {"shorter", shorter, 1, 1, 1},
    {"later", later, 1, 1, 1},
    {"interleave", interleave, 1, 1, 1},
    {"each-twice", each_twice, 1, 1, 1},
    {"every-second", every_second, 1, 1, 1},
    {"append", append, 1, 1, 1},
    {"append-filter", append_filter, 1, 1, 1},
    {"gather", gathered, 1, 1, 2},
    {"scatter", permuted, 1, 1, 4},
    {"steps", steps, 1, 1, 1},
    {"indexed", indexed, 1, 1, 1},
    {"sums-of-segments", sums_of_segments, 1, 1, 1},
    {"scans-of-segments", scans_of_segments, 1, 1, 1},
    {"replicate-segments", replicate_segments, 1, 1, 1},
    {"append-segments", append_segments, 1, 1, 1},
    {"sort", sort, 1, 1, 12},
    {"sums-by-key", sums_by_key, 1, 1, 1},
    {"bytes", bytes, 1, 1, 1},
    {"pad", pad, 1, 1, 1},
    {"wrapped-taps", wrapped_taps, 1, 1, 1},
    {"times-rotated", times_rotated, 1, 1, 1},
    {"minus-mean", minus_mean, 1, 1, 1},
    {"exchange-blocks", exchange_blocks, 1, 1, 1},
    {"turn-blocks", turn_blocks, 1, 1, 1},
    {"to-rows-of-1000", rows_of_1000, 1, 2, 1},
    {"to-rows-of-8", rows_of_8, 1, 2, 1},
    {"windows", windows, 1, 2, 1},
    {"transpose", transpose, 2, 2, 1},
    {"reverse", reverse, 2, 2, 1},
    {"rotate", rotate, 2, 2, 1},
    {"map", map, 2, 2, 1},
    {"scan", scan, 2, 2, 1},
    {"scan-columns", scan_columns, 2, 2, 1},
    {"stencil", stencil_2, 2, 2, 1},
    {"stencils", stencils_2, 2, 2, 1},
    {"minus-row", minus_row, 2, 2, 1},
    {"minus-column", minus_column, 2, 2, 1},
    {"crop", crop, 2, 2, 1},
    {"append-below", append_below, 2, 2, 1},
    {"append-beside", append_beside, 2, 2, 1},
    {"flatten", flatten, 2, 1, 1},
    {"sums-of-rows", sums_of_rows, 2, 1, 1},
    {"sums-of-columns", sums_of_columns, 2, 1, 1},
    {"maxima-of-rows", maxima_of_rows, 2, 1, 1},
    {"diagonal", diagonal, 2, 1, 1},
    {"column", column, 2, 1, 1},
    {"triangle", triangle, 2, 2, 1},
    {"shear", shear, 2, 2, 1},
    {"halves-apart", halves_apart, 2, 2, 1},
    {"pad", pad_2, 2, 2, 1},
    {"gather-rows", gather_rows, 2, 2, 1},
    {"gather-columns", gather_columns, 2, 2, 1},
    {"enlarge", enlarge, 2, 2, 1},
    {"roll", roll, 2, 2, 1},
    {"softmax", softmax, 2, 2, 2},
    {"sums-of-fours", sums_of_fours, 2, 2, 1},
    {"sort", sort, 2, 2, 12},
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

/* --- compositions --- */

typedef struct composition {
    int64_t columns; /* of the matrix that it begins with; 0: a vector */
    int depth, rank, dear, of[MOST_DEPTH];
    char text[LINE];
} composition;

static sn_acc composed(void *env, int count, const sn_acc *x)
{
    const composition *c = env;
    sn_acc y = x[0];
    (void)count;
    for (int k = 0; k < c->depth; k++)
        y = operations[c->of[k]].f(y);
    return y;
}

static void add(composition *c, int operation)
{
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof(c->text) - used, " %s", operations[operation].name);
    c->of[c->depth++] = operation;
    c->rank = operations[operation].to;
    c->dear += operations[operation].dear - 1;
}

static void begin(composition *c, int64_t columns)
{
    *c = (composition){.columns = columns, .rank = columns ? 2 : 1, .dear = 1};
    if (columns)
        snprintf(c->text, sizeof(c->text), "rows-%lld", (long long)columns);
    else
        snprintf(c->text, sizeof(c->text), "vector");
}

static unsigned next(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*state >> 33) % below);
}

static void draw(composition *c, uint64_t seed, int depth)
{
    static const int64_t columns[] = {0, 0, 0, 0, 1000, 300, 33, 8};
    uint64_t state = seed * 977 + 13;
    next(&state, 2);
    begin(c, columns[next(&state, 8)]);
    while (c->depth < depth) {
        int o = (int)next(&state, OPERATIONS);
        if (operations[o].from == c->rank)
            add(c, o);
    }
}

/* False: there is no such operation. */
static bool read_names(composition *c, int names, char **name)
{
    long long columns = 0;
    bool matrix = sscanf(name[0], "rows-%lld", &columns) == 1 && columns > 0;
    begin(c, matrix ? columns : 0);
    for (int k = matrix || !strcmp(name[0], "vector"); k < names; k++) {
        int o = 0;
        while (o < OPERATIONS && (operations[o].from != c->rank || strcmp(operations[o].name, name[k]) != 0))
            o++;
        if (o == OPERATIONS || c->depth == MOST_DEPTH) {
            fprintf(stderr, "compositions: there is no operation %s here\n", name[k]);
            return false;
        }
        add(c, o);
    }
    return true;
}

/* --- measuring --- */

typedef struct line {
    double each, ms;
    char text[LINE + 32];
} line;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The least time of a call, and how many elements it gives; below 0: it fails. */
static double time_call(sn_program *p, const float *x, const composition *c, int64_t *elements)
{
    double least = -1;
    for (int k = 0; k < CALLS; k++) {
        sn_array *result = NULL;
        double since = seconds();
        sn_status status =
            sn_call(p, c->columns ? sn_in(x, ELEMENTS / c->columns, c->columns) : sn_in(x, ELEMENTS), sn_keep(&result));
        double took = seconds() - since;
        if (status != SN_OK)
            return -1;
        *elements = sn_array_extent(result, 0) * (c->rank == 2 ? sn_array_extent(result, 1) : 1);
        sn_free(result);
        if (k && (least < 0 || took < least))
            least = took;
    }
    return least;
}

static bool measure(sn_context *cx, const float *x, const composition *c, const char *form, uint64_t seed, line *out)
{
    char signature[64];
    snprintf(signature, sizeof(signature), "%s -> %s", c->columns ? "[n,m]f32" : "[n]f32",
             c->rank == 2 ? "[a,b]f32" : "[a]f32");
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, sn_body_of(composed, (void *)(uintptr_t)c, 1));
    int64_t elements = 0;
    double took = p ? time_call(p, x, c, &elements) : -1;
    if (took < 0)
        fprintf(stderr, "%s: %s\n", c->text, sn_message(cx));
    if (took >= 0 && form) {
        const char *text = sn_explain(p, form);
        printf("%s\n%s\n", c->text, text ? text : sn_message(cx));
    }
    const int64_t most = elements > ELEMENTS ? elements : ELEMENTS;
    *out = (line){.each = took * 1e9 / (double)most / c->dear, .ms = took * 1e3};
    snprintf(out->text, sizeof(out->text), "%s (%llu)", c->text, (unsigned long long)seed);
    sn_drop(p);
    return took >= 0;
}

static int worse(const void *a, const void *b)
{
    double x = ((const line *)a)->each, y = ((const line *)b)->each;
    return (x < y) - (x > y);
}

int main(int argc, char **argv)
{
    long count = 100, first = 0, depth = 3;
    const char *form = NULL;
    int at = 1;
    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        if (!strcmp(argv[at], "--count"))
            count = atol(argv[at + 1]);
        else if (!strcmp(argv[at], "--first"))
            first = atol(argv[at + 1]);
        else if (!strcmp(argv[at], "--depth"))
            depth = atol(argv[at + 1]);
        else if (!strcmp(argv[at], "--explain"))
            form = argv[at + 1];
        else
            break;
    }
    if ((at < argc && argv[at][0] == '-') || depth < 1 || depth > MOST_DEPTH || count < 1) {
        fprintf(stderr, "usage: %s [--count N] [--first SEED] [--depth N] [--explain FORM] [operation ...]\n", argv[0]);
        return 2;
    }
    float *x = malloc(ELEMENTS * sizeof *x);
    sn_context *cx = sn_open(NULL);
    long lines = 0, all = at < argc ? 1 : count, failed = 0;
    line *out = calloc((size_t)all, sizeof *out);
    if (!x || !cx || !out) {
        fprintf(stderr, "compositions: no memory, or no device\n");
        return 1;
    }
    for (int64_t i = 0; i < ELEMENTS; i++)
        x[i] = (float)((uint32_t)i * 2654435761U >> 16) / 65536;
    for (long k = 0; k < all; k++) {
        composition c;
        uint64_t seed = (uint64_t)(first + k);
        if (at < argc) {
            if (!read_names(&c, argc - at, argv + at))
                return 2;
        } else {
            draw(&c, seed, (int)depth);
        }
        bool good = measure(cx, x, &c, form, seed, &out[lines]);
        lines += good;
        failed += !good;
    }
    qsort(out, (size_t)lines, sizeof *out, worse);
    for (long k = 0; k < lines && !form; k++)
        printf("%8.3f ns %9.3f ms  %s\n", out[k].each, out[k].ms, out[k].text);
    free(out);
    free(x);
    sn_close(cx);
    return failed > all / 10; /* some have no elements left for what they do */
}
