/* Folds that share a loop, running sums and filters: the programs, and what both sides do for one run. */
#include "rows.h"

#define BODY(name)                                                                                                     \
    static sn_body name##_body(struct work *w)                                                                         \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        return SN_BODY(name);                                                                                          \
    }

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

/* --- folds --- */

static sn_acc sum(sn_acc xs)
{
    return sn_sum(xs);
}

BODY(sum)

static bool sum_cuda(struct gpu *g, struct work *w)
{
    int32_t partials = PARTIALS;
    void *first[] = {&w->in[0], &w->partial, &w->n}, *second[] = {&w->partial, &w->out[0], &partials};
    return gpu_launch(g, "sum_partial", PARTIALS, first) && gpu_launch(g, "dot_final", 1, second);
}

static sn_acc sumcountmax(sn_acc xs)
{
    return sn_results(sn_sum(xs), sn_count(sn_map(is_positive, xs)), sn_maximum(xs));
}

BODY(sumcountmax)

static bool sumcountmax_cuda(struct gpu *g, struct work *w)
{
    int32_t partials = PARTIALS;
    void *first[] = {&w->in[0], &w->partial, &w->n},
         *second[] = {&w->partial, &w->out[0], &w->out[1], &w->out[2], &partials};
    return gpu_launch(g, "sumcountmax_partial", PARTIALS, first) && gpu_launch(g, "sumcountmax_final", 1, second);
}

static sn_acc argmax(sn_acc xs)
{
    return sn_argmax(xs);
}

BODY(argmax)

/* --- scans --- */

static sn_acc running(sn_acc xs)
{
    return sn_scanl1(sn_add, xs);
}

BODY(running)

static bool scan_rows_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->width};
    return gpu_launch(g, "scan_rows", w->height, arguments);
}

/* --- filters --- */

static sn_acc filter(sn_acc xs)
{
    return sn_filter(is_positive, xs);
}

BODY(filter)

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

static sn_body filtermax_body(struct work *w)
{
    w->scalar[0] = 0.75f;
    w->scalar[1] = 0.125f;
    return SN_BODY(filtermax);
}

static sn_status filtermax_sinter(struct work *w)
{
    return sn_call(w->program, sn_value(&w->scalar[0]), sn_value(&w->scalar[1]), sn_held(w->held[0]),
                   sn_keep(&w->result[0]), sn_keep(&w->result[1]));
}

const struct row rows_scans[] = {
    {.name = "sum",
     .signature = "[n]f32 -> f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .shape = SCALAR,
     .high = 1,
     .tolerance = 1e-5,
     .body = sum_body,
     .cuda = sum_cuda},
    {.name = "sumcountmax",
     .signature = "[n]f32 -> f32, i64, f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 3,
     .output = {SN_F32, SN_I64, SN_F32},
     .shape = SCALAR,
     .low = -1,
     .high = 3,
     .tolerance = 1e-5,
     .body = sumcountmax_body,
     .cuda = sumcountmax_cuda},
    {.name = "argmax",
     .signature = "[n]f32 -> i64",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .body = argmax_body},
    {.name = "scan_f32",
     .signature = "[n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .body = running_body},
    {.name = "scan_i32",
     .signature = "[n]i32 -> [n]i32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .input = SN_I32,
     .low = -100,
     .high = 100,
     .body = running_body},
    {.name = "scan_rows",
     .signature = "[n,m]f32 -> [n,m]f32",
     .height = 4096,
     .width = 16384,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .tolerance = 1e-5,
     .body = running_body,
     .cuda = scan_rows_cuda},
    {.name = "filter",
     .signature = "[n]f32 -> [k]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 6,
     .inputs = 1,
     .outputs = 1,
     .low = -1,
     .high = 1,
     .body = filter_body},
    {.name = "filtermax",
     .signature = "f32, f32, [n]f32 -> [k]f32, f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 6,
     .inputs = 1,
     .outputs = 2,
     .low = -1,
     .high = 1,
     .body = filtermax_body,
     .sinter = filtermax_sinter},
    {0},
};
