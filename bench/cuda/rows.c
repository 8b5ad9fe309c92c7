/* The programs, and what both sides do for one run. */
#include "rows.h"

#include "../../examples/programs/blackscholes.h"
#include "../../examples/programs/canny.h"
#include "../../examples/programs/mandelbrot.h"
#include "../../examples/programs/nbody.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK = 512 }; /* data of --quick is smaller by */

static int64_t blocks_for(int64_t n)
{
    return (n + THREADS - 1) / THREADS;
}

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

static sn_status two_to_one(struct work *w)
{
    return sn_call(w->program, sn_held(w->held[0]), sn_held(w->held[1]), sn_keep(&w->result[0]));
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

static sn_status one_to_two(struct work *w)
{
    return sn_call(w->program, sn_held(w->held[0]), sn_keep(&w->result[0]), sn_keep(&w->result[1]));
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

static sn_status one_to_one(struct work *w)
{
    return sn_call(w->program, sn_held(w->held[0]), sn_keep(&w->result[0]));
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

static sn_status blackscholes_sinter(struct work *w)
{
    return sn_call(w->program, sn_held(w->held[0]), sn_held(w->held[1]), sn_held(w->held[2]), sn_keep(&w->result[0]),
                   sn_keep(&w->result[1]));
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

const struct row row_list[] = {
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
     .scalar_outputs = true,
     .high = 1,
     .tolerance = 1e-5,
     .body = dot_body,
     .sinter = two_to_one,
     .cuda = dot_cuda},
    {.name = "meanvar",
     .signature = "[n]f32 -> f32, f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 2,
     .scalar_outputs = true,
     .high = 1,
     .tolerance = 1e-5,
     .body = meanvar_body,
     .sinter = one_to_two,
     .cuda = meanvar_cuda},
    {.name = "rowsums",
     .signature = "[n,m]f32 -> [n]f32",
     .height = 8192,
     .width = 8192,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .row_outputs = true,
     .high = 1,
     .tolerance = 1e-5,
     .body = rowsums_body,
     .sinter = one_to_one,
     .cuda = rowsums_cuda},
    {.name = "rowsums_short",
     .signature = "[n,m]f32 -> [n]f32",
     .height = 1 << 20,
     .width = 64,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .row_outputs = true,
     .high = 1,
     .tolerance = 1e-5,
     .body = rowsums_body,
     .sinter = one_to_one,
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
     .sinter = blackscholes_sinter,
     .cuda = blackscholes_cuda},
    {.name = "mandelbrot",
     .signature = MANDELBROT_SIGNATURE,
     .height = 4096,
     .width = 4096,
     .compute_bound = true,
     .bytes = 4,
     .outputs = 1,
     .whole_outputs = true,
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
     .input_bytes = true,
     .high = 255,
     .tolerance = 1e-6,
     .may_differ = 1e-3,
     .body = canny_body,
     .sinter = canny_sinter,
     .cuda = canny_cuda},
    {0},
};

/* --- data --- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool add_input(struct work *w, struct gpu *g, int number)
{
    const struct row *row = w->row;
    size_t bytes = (size_t)w->n * (row->input_bytes ? 1 : sizeof(float));
    void *host = malloc(bytes);
    if (!host)
        return false;
    for (int64_t i = 0; i < w->n; i++) {
        double unit = (double)(mix((uint64_t)i * MOST_ARRAYS + (unsigned)number) >> 11) * 0x1p-53;
        double value = row->low + unit * (row->high - row->low);
        if (row->input_bytes)
            ((uint8_t *)host)[i] = (uint8_t)value;
        else
            ((float *)host)[i] = (float)value;
    }
    const float *f = host;
    const uint8_t *u = host;
    if (row->input_bytes)
        w->held[number] = sn_upload(w->context, sn_in(u, w->height, w->width));
    else if (row->height > 1)
        w->held[number] = sn_upload(w->context, sn_in(f, w->height, w->width));
    else
        w->held[number] = sn_upload(w->context, sn_in(f, w->n));
    bool good = w->held[number] && gpu_alloc(g, bytes, &w->in[number]) && gpu_upload(g, w->in[number], host, bytes);
    free(host);
    return good;
}

static int64_t output_elements(const struct work *w)
{
    return w->row->scalar_outputs ? 1 : w->row->row_outputs ? w->height : w->n;
}

bool work_open(struct work *w, struct gpu *g, sn_context *cx, const struct row *row, bool quick)
{
    char signature[160];
    int64_t by = quick ? QUICK : 1;
    *w = (struct work){.row = row, .context = cx, .scalar = {1.5f}};
    w->height = row->height == 1 ? 1 : row->height / (by > 8 ? by / 8 : 1);
    w->width = row->height == 1     ? row->width / by
               : row->width >= 1024 ? row->width / (by > 8 ? by / 8 : 1)
                                    : row->width;
    w->n = w->height * w->width;
    bool good = true;
    for (int i = 0; good && i < row->inputs; i++)
        good = add_input(w, g, i);
    for (int i = 0; good && i < row->outputs; i++)
        good = gpu_alloc(g, (size_t)output_elements(w) * 4, &w->out[i]);
    size_t room = (size_t)(w->n > 2 * PARTIALS ? w->n : 2 * PARTIALS) * sizeof(float);
    good = good && gpu_alloc(g, row->input_bytes ? room : 2 * PARTIALS * sizeof(float), &w->partial);
    sn_body body = row->body(w);
    /* Extents of results that no input has stand in the signature as numbers. */
    if (row->inputs)
        snprintf(signature, sizeof(signature), "%s", row->signature);
    else
        snprintf(signature, sizeof(signature), MANDELBROT_SIGNATURE, (long long)w->height, (long long)w->width);
    w->program = good ? sn_compile_at(SN_HERE, cx, signature, body) : NULL;
    if (!w->program)
        fprintf(stderr, "%s: %s\n", row->name, sn_message(cx));
    return w->program != NULL;
}

void work_close(struct work *w, struct gpu *g)
{
    for (int i = 0; i < MOST_ARRAYS; i++) {
        sn_free(w->held[i]);
        sn_free(w->result[i]);
        gpu_free(g, w->in[i]);
        gpu_free(g, w->out[i]);
    }
    gpu_free(g, w->partial);
    sn_drop(w->program);
}

/* --- comparing --- */

static double value_of(const struct work *w, const void *at, int64_t i)
{
    return w->row->whole_outputs ? (double)((const int32_t *)at)[i] : (double)((const float *)at)[i];
}

static bool compare(struct work *w, const void *ours, const void *theirs, double *worst, int64_t *different)
{
    double largest = 0;
    int64_t n = output_elements(w), apart = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(value_of(w, theirs, i)));
    for (int64_t i = 0; i < n; i++) {
        double off = fabs(value_of(w, ours, i) - value_of(w, theirs, i)) / (largest > 0 ? largest : 1);
        if (!(off <= w->row->tolerance))
            apart++;
        else
            *worst = fmax(*worst, off);
    }
    *different += apart;
    return (double)apart <= w->row->may_differ * (double)n;
}

bool work_agrees(struct work *w, struct gpu *g, char *text, size_t size)
{
    size_t bytes = (size_t)output_elements(w) * 4;
    void *ours = malloc(bytes), *theirs = malloc(bytes);
    double worst = 0;
    int64_t different = 0;
    bool good = ours && theirs;
    for (int i = 0; good && i < w->row->outputs; i++)
        good = sn_read(w->result[i], ours, bytes) == SN_OK && gpu_download(g, theirs, w->out[i], bytes) &&
               compare(w, ours, theirs, &worst, &different);
    snprintf(text, size, "within %.1e; %lld elements further apart", worst, (long long)different);
    free(ours);
    free(theirs);
    return good;
}
