/* Maps, folds, bodies and pictures: the programs, and what both sides do for one run. */
#include "rows.h"

#include "../../examples/programs/blackscholes.h"
#include "../../examples/programs/canny.h"
#include "../../examples/programs/mandelbrot.h"
#include "../../examples/programs/nbody.h"

/* --- saxpy --- */

static sn_scalar axpy(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(sn_scalar *)env, x), y);
}

static sn_acc saxpy(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_zip_with(sn_closure(axpy, &factor), xs, ys);
}

static sn_body saxpy_body(struct work *w)
{
    (void)w;
    return SN_BODY(saxpy);
}

static sn_status saxpy_sinter(struct work *w)
{
    return sn_call(w->program, sn_value(&w->scalar[0]), sn_held(w->held[0]), sn_held(w->held[1]),
                   sn_keep(&w->result[0]));
}

static bool saxpy_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->scalar[0], &w->in[0], &w->in[1], &w->out[0], &w->n};
    return gpu_launch(g, "saxpy", blocks_for(w->n / 4), arguments);
}

/* --- dot --- */

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

static sn_body dot_body(struct work *w)
{
    (void)w;
    return SN_BODY(dot);
}

static bool dot_cuda(struct gpu *g, struct work *w)
{
    int32_t partials = PARTIALS;
    void *first[] = {&w->in[0], &w->in[1], &w->partial, &w->n}, *second[] = {&w->partial, &w->out[0], &partials};
    return gpu_launch(g, "dot_partial", PARTIALS, first) && gpu_launch(g, "dot_final", 1, second);
}

/* --- mean and variance --- */

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc meanvar(sn_acc xs)
{
    sn_scalar n = sn_to_f32(sn_size(xs));
    sn_scalar mean = sn_div(sn_the(sn_fold(sn_add, 0, xs)), n);
    sn_scalar squares = sn_div(sn_the(sn_fold(sn_add, 0, sn_map(square, xs))), n);
    return sn_results(sn_unit(mean), sn_unit(sn_sub(squares, sn_mul(mean, mean))));
}

static sn_body meanvar_body(struct work *w)
{
    (void)w;
    return SN_BODY(meanvar);
}

static bool meanvar_cuda(struct gpu *g, struct work *w)
{
    int32_t partials = PARTIALS;
    void *first[] = {&w->in[0], &w->partial, &w->n},
         *second[] = {&w->partial, &w->out[0], &w->out[1], &partials, &w->n};
    return gpu_launch(g, "meanvar_partial", PARTIALS, first) && gpu_launch(g, "meanvar_final", 1, second);
}

/* --- row sums --- */

static sn_acc rowsums(sn_acc x)
{
    return sn_fold(sn_add, 0, x);
}

static sn_body rowsums_body(struct work *w)
{
    (void)w;
    return SN_BODY(rowsums);
}

static bool rowsums_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->width};
    return gpu_launch(g, "rowsums", w->height, arguments);
}

/* --- Black-Scholes --- */

static sn_body blackscholes_body(struct work *w)
{
    (void)w;
    return SN_BODY(blackscholes);
}

static bool blackscholes_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->in[1], &w->in[2], &w->out[0], &w->out[1], &w->n};
    return gpu_launch(g, "blackscholes", blocks_for(w->n), arguments);
}

/* --- Mandelbrot --- */

static sn_acc mandelbrot_of(void *env, int count, const sn_acc *in)
{
    const struct work *w = env;
    struct mandelbrot_pixel pixel = {.height = w->height, .width = w->width};
    return mandelbrot(&pixel, count, in);
}

static sn_body mandelbrot_body(struct work *w)
{
    w->limit = 1000;
    w->scalar[0] = -2.0f;
    w->scalar[1] = -1.25f;
    w->scalar[2] = 2.5f / (float)w->height;
    return sn_body_env(mandelbrot_of, w);
}

static sn_status mandelbrot_sinter(struct work *w)
{
    return sn_call(w->program, sn_value(&w->scalar[0]), sn_value(&w->scalar[1]), sn_value(&w->scalar[2]),
                   sn_value(&w->limit), sn_keep(&w->result[0]));
}

static bool mandelbrot_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->scalar[0], &w->scalar[1], &w->scalar[2], &w->limit, &w->out[0], &w->height, &w->width};
    return gpu_launch(g, "mandelbrot", blocks_for(w->n), arguments);
}

/* --- bodies --- */

static sn_body nbody_body(struct work *w)
{
    w->scalar[0] = 0.01f;
    return SN_BODY(nbody_loops);
}

static sn_body replicates_body(struct work *w)
{
    w->scalar[0] = 0.01f;
    return SN_BODY(nbody_replicates);
}

static sn_status nbody_sinter(struct work *w)
{
    sn_arg a[14];
    for (int i = 0; i < 7; i++)
        a[i] = sn_held(w->held[i]);
    a[7] = sn_value(&w->scalar[0]);
    for (int i = 0; i < 6; i++)
        a[8 + i] = sn_keep(&w->result[i]);
    return sn_call_n(w->program, 14, a);
}

static bool nbody_cuda(struct gpu *g, struct work *w)
{
    void *a[15];
    int32_t n = (int32_t)w->n;
    for (int i = 0; i < 7; i++)
        a[i] = &w->in[i];
    a[7] = &w->scalar[0];
    for (int i = 0; i < 6; i++)
        a[8 + i] = &w->out[i];
    a[14] = &n;
    return gpu_launch(g, "nbody", blocks_for(w->n), a);
}

/* --- Canny --- */

static sn_body canny_body(struct work *w)
{
    w->scalar[0] = 50;
    w->scalar[1] = 100;
    return SN_BODY(canny);
}

static sn_status canny_sinter(struct work *w)
{
    return sn_call(w->program, sn_held(w->held[0]), sn_held(w->held[1]), sn_held(w->held[2]), sn_value(&w->scalar[0]),
                   sn_value(&w->scalar[1]), sn_keep(&w->result[0]));
}

static bool canny_cuda(struct gpu *g, struct work *w)
{
    int32_t height = (int32_t)w->height, width = (int32_t)w->width;
    int64_t tiles = (w->width + TILE_X - 1) / TILE_X * ((w->height + TILE_Y - 1) / TILE_Y);
    void *first[] = {&w->in[0], &w->in[1], &w->in[2], &w->partial, &height, &width};
    void *second[] = {&w->partial, &w->scalar[0], &w->scalar[1], &w->out[0], &height, &width};
    return gpu_launch(g, "canny_blur", tiles, first) && gpu_launch(g, "canny_edges", tiles, second);
}

const struct row rows_compute[] = {
    {.name = "saxpy",
     .signature = "f32, [n]f32, [n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 12,
     .inputs = 2,
     .outputs = 1,
     .low = -1,
     .high = 1,
     .tolerance = 1e-6,
     .body = saxpy_body,
     .sinter = saxpy_sinter,
     .cuda = saxpy_cuda},
    {.name = "dot",
     .signature = "[n]f32, [n]f32 -> f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 2,
     .outputs = 1,
     .shape = SCALAR,
     .high = 1,
     .tolerance = 1e-5,
     .body = dot_body,
     .cuda = dot_cuda},
    {.name = "meanvar",
     .signature = "[n]f32 -> f32, f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 2,
     .shape = SCALAR,
     .high = 1,
     .tolerance = 1e-5,
     .body = meanvar_body,
     .cuda = meanvar_cuda},
    {.name = "rowsums",
     .signature = "[n,m]f32 -> [n]f32",
     .height = 8192,
     .width = 8192,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .shape = A_ROW_EACH,
     .high = 1,
     .tolerance = 1e-5,
     .body = rowsums_body,
     .cuda = rowsums_cuda},
    {.name = "rowsums_short",
     .signature = "[n,m]f32 -> [n]f32",
     .height = 1 << 20,
     .width = 64,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .shape = A_ROW_EACH,
     .high = 1,
     .tolerance = 1e-5,
     .body = rowsums_body,
     .cuda = rowsums_cuda},
    {.name = "blackscholes",
     .signature = BLACKSCHOLES_SIGNATURE,
     .height = 1,
     .width = 1 << 25,
     .bytes = 20,
     .inputs = 3,
     .outputs = 2,
     .low = 1,
     .high = 30,
     .tolerance = 1e-5,
     .body = blackscholes_body,
     .cuda = blackscholes_cuda},
    {.name = "mandelbrot",
     .signature = MANDELBROT_SIGNATURE,
     .height = 4096,
     .width = 4096,
     .compute_bound = true,
     .bytes = 4,
     .outputs = 1,
     .output = {SN_I32},
     .tolerance = 1e-3,
     .may_differ = 0.02,
     .body = mandelbrot_body,
     .sinter = mandelbrot_sinter,
     .cuda = mandelbrot_cuda},
    {.name = "nbody",
     .signature = NBODY_F32,
     .height = 1,
     .width = 1 << 16,
     .compute_bound = true,
     .bytes = 52,
     .inputs = 7,
     .outputs = 6,
     .high = 100,
     .tolerance = 1e-3,
     .body = nbody_body,
     .sinter = nbody_sinter,
     .cuda = nbody_cuda},
    {.name = "nbody_arrays",
     .signature = NBODY_F32,
     .height = 1,
     .width = 1 << 16,
     .compute_bound = true,
     .bytes = 52,
     .inputs = 7,
     .outputs = 6,
     .high = 100,
     .tolerance = 1e-3,
     .body = replicates_body,
     .sinter = nbody_sinter,
     .cuda = nbody_cuda},
    {.name = "canny",
     .signature = CANNY_SIGNATURE,
     .height = 8192,
     .width = 8192,
     .bytes = 7,
     .inputs = 3,
     .outputs = 1,
     .input = SN_U8,
     .scratch = 4,
     .high = 255,
     .tolerance = 1e-6,
     .may_differ = 1e-3,
     .body = canny_body,
     .sinter = canny_sinter,
     .cuda = canny_cuda},
    {0},
};
