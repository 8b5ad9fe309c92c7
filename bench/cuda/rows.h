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
bool gpu_clear(struct gpu *g, unsigned long long block, size_t bytes);                      /* does not wait */
/* Blocks of THREADS threads; arguments: their addresses, in order. `kernel`: a string literal. Does not wait. */
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

/* An input on the host, before it goes to the device. */
struct data {
    sn_type type;
    int rank;
    int64_t extent[2];
    void *at;
};

enum shape { AS_INPUTS, A_ROW_EACH, SCALAR };

struct row {
    const char *name, *signature;
    int64_t height, width; /* rank 1: height 1 */
    bool compute_bound;
    double bytes; /* read and written for one of the n elements */
    int inputs, outputs;
    sn_type input;                                                   /* of elements; 0: f32 */
    float low, high;                                                 /* of the inputs, evenly spread */
    bool (*fill)(const struct work *w, int number, struct data *to); /* NULL: as input, low and high say */
    sn_type output[MOST_ARRAYS];                                     /* 0: f32 */
    int64_t segment;                                                 /* length of segments, */
    bool uneven;                                                     /* or about that */
    enum shape shape;                                                /* of the outputs, */
    int64_t elements;  /* and how many elements they have, if that is a number of its own */
    int scratch;       /* what the hand-written side needs besides: bytes for one of the n elements */
    double tolerance;  /* of what differs: relative to the largest */
    double may_differ; /* share of elements that may differ by more */
    sn_body (*body)(struct work *w);
    sn_status (*sinter)(struct work *w);         /* NULL: a call with the inputs and the results alone */
    bool (*cuda)(struct gpu *g, struct work *w); /* NULL: CUB has it (cub.cu); results are compared with the CPU's */
};

/* Each ends with a row without a name. */
extern const struct row rows_compute[], rows_scans[], rows_keys[], rows_matrix[];

/* Makes inputs and programs; `quick`: small. False on failure, with a message; work_close in any case. */
bool work_open(struct work *w, struct gpu *g, sn_context *cx, const struct row *row, bool quick);
sn_status work_call(struct work *w); /* one run of Sinter's side */
/* Compares results with those of the other side, or bit for bit with those of the context `cpu`; how far they are
 * apart, in words. */
bool work_agrees(struct work *w, struct gpu *g, sn_context *cpu, char *text, size_t size);
void work_close(struct work *w, struct gpu *g);

/* For filling: memory for an array of extent n, or of n times m if m > 0; a number in [0, 1) for each element and
 * input. */
bool data_alloc(struct data *to, sn_type type, int64_t n, int64_t m);
double data_unit(int64_t element, int number);

static inline int64_t blocks_for(int64_t n)
{
    return (n + THREADS - 1) / THREADS;
}

double bench_cuda_now(void);

#endif
