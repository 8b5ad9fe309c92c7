/* What is measured on a GPU: programs, their data, both sides; and the GPU as the hand-written side sees it. */
#ifndef SINTER_BENCH_CUDA_ROWS_H
#define SINTER_BENCH_CUDA_ROWS_H

#include <sinter/sinter.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_ARRAYS = 8, THREADS = 256, PARTIALS = 1024, TILE_X = 32, TILE_Y = 8 };

/* --- gpu.c: the driver API; messages of failures go to stderr --- */

struct gpu;
struct gpu *gpu_open(char *why, size_t size); /* the first device, with the kernels compiled; NULL and why not */
void gpu_close(struct gpu *g);
const char *gpu_name(const struct gpu *g);
bool gpu_alloc(struct gpu *g, size_t bytes, unsigned long long *out);
void gpu_free(struct gpu *g, unsigned long long block); /* 0 is ignored */
bool gpu_upload(struct gpu *g, unsigned long long to, const void *from, size_t bytes);
bool gpu_download(struct gpu *g, void *to, unsigned long long from, size_t bytes);
bool gpu_copy(struct gpu *g, unsigned long long to, unsigned long long from, size_t bytes); /* does not wait */
/* Blocks of THREADS threads; arguments: their addresses, in order. Does not wait. */
bool gpu_launch(struct gpu *g, const char *kernel, int64_t blocks, void **arguments);
bool gpu_wait(struct gpu *g);

/* --- rows.c --- */

struct row;

/* A row at work: the data of both sides. */
struct work {
    const struct row *row;
    sn_context *context;
    sn_program *program;
    int64_t n, height, width; /* n = height * width elements of each array, as far as it is not told otherwise */
    float scalar[3];
    int32_t limit;
    sn_array *held[MOST_ARRAYS], *result[MOST_ARRAYS];
    unsigned long long in[MOST_ARRAYS], out[MOST_ARRAYS], partial; /* of the hand-written side */
    size_t bytes_of_copy;
};

struct row {
    const char *name, *signature;
    int64_t height, width; /* rank 1: height 1 */
    bool compute_bound;
    double bytes; /* read and written for one of the n elements */
    int inputs, outputs;
    bool input_bytes;                                /* inputs are u8, else f32 */
    float low, high;                                 /* of the inputs */
    bool scalar_outputs, row_outputs, whole_outputs; /* one element; one per row; i32 instead of f32 */
    double tolerance;                                /* of what differs: relative to the largest */
    double may_differ;                               /* share of elements that may differ by more */
    sn_body (*body)(struct work *w);
    sn_status (*sinter)(struct work *w);
    bool (*cuda)(struct gpu *g, struct work *w);
};

extern const struct row row_list[]; /* ends with a row without a name */

/* Makes inputs and programs; `quick`: small. False on failure, with a message; work_close in any case. */
bool work_open(struct work *w, struct gpu *g, sn_context *cx, const struct row *row, bool quick);
/* Compares both sides' results; how far they are apart, in words. */
bool work_agrees(struct work *w, struct gpu *g, char *text, size_t size);
void work_close(struct work *w, struct gpu *g);

double bench_cuda_now(void);

#endif
