/* Matrices and pictures, and elements in another order: the programs, and what both sides do for one run. */
#include "rows.h"

enum { JACOBI_STEPS = 20 };

#define BODY(name)                                                                                                     \
    static sn_body name##_body(struct work *w)                                                                         \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        return SN_BODY(name);                                                                                          \
    }

/* --- softmax of rows --- */

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

BODY(softmax)

static bool softmax_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->width};
    return gpu_launch(g, "softmax", w->height, arguments);
}

/* --- another order --- */

static sn_acc transpose(sn_acc x)
{
    return sn_transpose(x);
}

BODY(transpose)

static bool transpose_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->height, &w->width};
    return gpu_launch(g, "transpose", w->height / 64 * (w->width / 64), arguments);
}

static sn_acc reverse(sn_acc x)
{
    return sn_reverse(x);
}

BODY(reverse)

static bool reverse_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->n};
    return gpu_launch(g, "reverse", blocks_for(w->n / 4), arguments);
}

static sn_acc rotate(sn_acc x)
{
    return sn_rotate(1, x);
}

BODY(rotate)

static bool rotate_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->out[0], &w->n};
    return gpu_launch(g, "rotate", blocks_for(w->n / 4), arguments);
}

/* --- steps of Jacobi's --- */

static sn_scalar mean(sn_scalar s)
{
    sn_scalar sum = sn_add(sn_add(sn_at(s, 0, 0), sn_at(s, -1, 0)), sn_at(s, 1, 0));
    return sn_mul(sn_add(sn_add(sum, sn_at(s, 0, -1)), sn_at(s, 0, 1)), 0.2f);
}

static sn_acc step(sn_acc x)
{
    return sn_stencil(mean, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc jacobi(sn_acc x)
{
    return sn_aiterate(JACOBI_STEPS, step, x);
}

BODY(jacobi)

static bool jacobi_cuda(struct gpu *g, struct work *w)
{
    int32_t height = (int32_t)w->height, width = (int32_t)w->width;
    unsigned long long from = w->in[0];
    for (int i = 0; i < JACOBI_STEPS; i++) {
        unsigned long long to = i % 2 ? w->out[0] : w->partial;
        void *arguments[] = {&from, &to, &height, &width};
        if (!gpu_launch(g, "jacobi", blocks_for(w->n / 4), arguments))
            return false;
        from = to;
    }
    return true;
}

/* --- a blur of bytes --- */

static sn_scalar weigh(sn_scalar s)
{
    sn_scalar sum = sn_i32(8);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            sum = sn_add(sum, sn_mul(sn_to_i32(sn_at(s, i, j)), (2 - (i != 0)) * (2 - (j != 0))));
    return sn_to_u8(sn_shr(sum, 4));
}

static sn_acc blur(sn_acc x)
{
    return sn_stencil(weigh, sn_pattern(3, 3), sn_clamp, x);
}

BODY(blur)

static bool blur_cuda(struct gpu *g, struct work *w)
{
    int32_t height = (int32_t)w->height, width = (int32_t)w->width;
    void *arguments[] = {&w->in[0], &w->out[0], &height, &width};
    return gpu_launch(g, "blur", blocks_for(w->n / (16 * 8)), arguments);
}

/* --- the product of matrices --- */

static sn_acc sgemm(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 1), SN_ALL);
    sn_acc columns = sn_replicate(sn_transpose(y), sn_extent(x, 0), SN_ALL, SN_ALL);
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, rows, columns));
}

BODY(sgemm)

static bool sgemm_cuda(struct gpu *g, struct work *w)
{
    int32_t n = (int32_t)w->height, m = (int32_t)w->width; /* square */
    void *arguments[] = {&w->in[0], &w->in[1], &w->out[0], &n, &m, &m};
    return gpu_launch(g, "sgemm", (w->height + 127) / 128 * ((w->width + 127) / 128), arguments);
}

const struct row rows_matrix[] = {
    {.name = "softmax",
     .signature = "[n,m]f32 -> [n,m]f32",
     .height = 16384,
     .width = 4096,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .low = -5,
     .high = 5,
     .tolerance = 1e-5,
     .body = softmax_body,
     .cuda = softmax_cuda},
    {.name = "transpose",
     .signature = "[n,m]f32 -> [m,n]f32",
     .height = 8192,
     .width = 8192,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .body = transpose_body,
     .cuda = transpose_cuda},
    {.name = "reverse",
     .signature = "[n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .body = reverse_body,
     .cuda = reverse_cuda},
    {.name = "rotate",
     .signature = "[n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .high = 1,
     .body = rotate_body,
     .cuda = rotate_cuda},
    {.name = "jacobi_20",
     .signature = "[h,w]f32 -> [h,w]f32",
     .height = 2048,
     .width = 1024,
     .compute_bound = true,
     .bytes = 8 * JACOBI_STEPS,
     .inputs = 1,
     .outputs = 1,
     .scratch = 4,
     .high = 1,
     .tolerance = 1e-6,
     .body = jacobi_body,
     .cuda = jacobi_cuda},
    {.name = "blur",
     .signature = "[h,w]u8 -> [h,w]u8",
     .height = 8192,
     .width = 8192,
     .bytes = 2,
     .inputs = 1,
     .outputs = 1,
     .input = SN_U8,
     .output = {SN_U8},
     .high = 256,
     .body = blur_body,
     .cuda = blur_cuda},
    {.name = "sgemm",
     .signature = "[n,k]f32, [k,m]f32 -> [n,m]f32",
     .height = 2048,
     .width = 2048,
     .compute_bound = true,
     .bytes = 12,
     .inputs = 2,
     .outputs = 1,
     .high = 1,
     .tolerance = 1e-5,
     .body = sgemm_body,
     .cuda = sgemm_cuda},
    {0},
};
