/* Running sums, filters and what is made of what they keep, softmax of rows. */
#include "../side.h"

/* --- scans --- */

static sn_acc running(sn_acc xs)
{
    return sn_scanl1(sn_add, xs);
}

static void *open_f32(void *data)
{
    (void)data;
    return side_open("[n]f32 -> [n]f32", SN_BODY(running));
}

static void *open_i32(void *data)
{
    (void)data;
    return side_open("[n]i32 -> [n]i32", SN_BODY(running));
}

static void *open_rows(void *data)
{
    (void)data;
    return side_open("[n,m]f32 -> [n,m]f32", SN_BODY(running));
}

static int run_f32(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in((float *)d->x, n), sn_into((float *)d->sinter, n)));
}

static int run_i32(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in((int32_t *)d->x, n), sn_into((int32_t *)d->sinter, n)));
}

static int run_rows(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    return side_ok(s, sn_call(s->program, sn_in((float *)d->x, d->rows, d->columns),
                              sn_into((float *)d->sinter, d->rows, d->columns)));
}

const struct bench_side sinter_scan_f32 = {open_f32, run_f32, side_close};
const struct bench_side sinter_scan_i32 = {open_i32, run_i32, side_close};
const struct bench_side sinter_scan_rows = {open_rows, run_rows, side_close};

/* --- filters --- */

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc filter(sn_acc xs)
{
    return sn_filter(is_positive, xs);
}

static void *open_filter(void *data)
{
    (void)data;
    return side_open("[n]f32 -> [k]f32", SN_BODY(filter));
}

static int run_filter(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_in((float *)d->x, n), sn_upto((float *)d->sinter, n, &d->sinter_kept)));
}

static sn_scalar is_something(sn_scalar x)
{
    return sn_ne(x, 0);
}

static sn_acc ratios(sn_acc xs)
{
    sn_acc some = sn_filter(is_something, xs);
    return sn_zip_with(sn_div, sn_prescan(sn_add, 0, some), some);
}

static void *open_ratios(void *data)
{
    (void)data;
    return side_open("[n]f32 -> [k]f32", SN_BODY(ratios));
}

static sn_scalar line(void *env, sn_scalar x)
{
    const sn_scalar *of = env;
    return sn_add(sn_mul(of[0], x), of[1]);
}

static sn_acc filtermax(sn_acc factor, sn_acc summand, sn_acc xs)
{
    sn_scalar of[] = {sn_the(factor), sn_the(summand)};
    sn_acc ys = sn_map(sn_closure(line, of), xs);
    return sn_results(sn_filter(is_positive, ys), sn_fold(sn_max, 0, ys));
}

static void *open_filtermax(void *data)
{
    (void)data;
    return side_open("f32, f32, [n]f32 -> [k]f32, f32", SN_BODY(filtermax));
}

static int run_filtermax(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_value(&d->factor), sn_value(&d->summand), sn_in((float *)d->x, n),
                              sn_upto((float *)d->sinter, n, &d->sinter_kept), sn_value(&d->sinter_most)));
}

static sn_scalar counts(void *limit, sn_scalar x)
{
    return sn_ge(x, *(sn_scalar *)limit);
}

static sn_scalar percent(sn_scalar x)
{
    return sn_mul(x, 100);
}

static sn_acc percentages(sn_acc limit, sn_acc xs)
{
    sn_scalar least = sn_the(limit);
    return sn_map(percent, sn_filter(sn_closure(counts, &least), xs));
}

static void *open_percentages(void *data)
{
    (void)data;
    return side_open("f32, [n]f32 -> [k]f32", SN_BODY(percentages));
}

static int run_percentages(void *state, void *data)
{
    struct side *s = state;
    struct scan_data *d = data;
    int64_t n = d->base.n;
    return side_ok(s, sn_call(s->program, sn_value(&d->limit), sn_in((float *)d->x, n),
                              sn_upto((float *)d->sinter, n, &d->sinter_kept)));
}

const struct bench_side sinter_filter = {open_filter, run_filter, side_close};
const struct bench_side sinter_ratios = {open_ratios, run_filter, side_close};
const struct bench_side sinter_filtermax = {open_filtermax, run_filtermax, side_close};
const struct bench_side sinter_percentages = {open_percentages, run_percentages, side_close};

/* --- softmax --- */

static sn_scalar away(sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_sub(x, most));
}

static sn_acc along(sn_acc of_rows, sn_acc xs)
{
    return sn_replicate(of_rows, SN_ALL, sn_extent(xs, 1));
}

static sn_acc softmax(sn_acc xs)
{
    sn_acc e = sn_zip_with(away, xs, along(sn_maximum(xs), xs));
    return sn_zip_with(sn_div, e, along(sn_sum(e), xs));
}

static void *open_softmax(void *data)
{
    (void)data;
    return side_open("[n,m]f32 -> [n,m]f32", SN_BODY(softmax));
}

const struct bench_side sinter_softmax = {open_softmax, run_rows, side_close};
