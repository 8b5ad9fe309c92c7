/* The rows of the benchmark and what their two sides share. The Sinter side of a program reads the inputs of its struct
 * and writes the fields named `sinter`; it lives in bench/sinter/<program>.c and defines `const struct bench_side
 * sinter_<program>`. The build defines BENCH_HAS_<PROGRAM> for each such file. */
#ifndef SINTER_BENCH_ROWS_H
#define SINTER_BENCH_ROWS_H

#include "c/opponents.h"
#include "harness.h"

/* z = a x + y */
struct saxpy_data {
    struct bench_data base;
    float a;
    float *x;
    float *y;
    float *z;
    float *sinter;
};

/* sum x y */
struct dot_data {
    struct bench_data base;
    float *x;
    float *y;
    float sum;
    float sinter;
};

/* Mean and variance (population) of x, from one sum and one sum of squares. */
struct meanvar_data {
    struct bench_data base;
    float *x;
    struct moments moments;
    struct moments sinter;
};

/* The greatest of x and the first index that holds it. */
struct argmax_data {
    struct bench_data base;
    float *x;
    struct peak peak;
    struct peak sinter;
};

/* Rate 0.02, volatility 0.30. */
struct blackscholes_data {
    struct bench_data base;
    float *price;
    float *strike;
    float *years;
    float *call;
    float *put;
    float *sinter_call;
    float *sinter_put;
};

/* c of pixel (row, column) = (left + column * step) + (top + row * step) i; escape counts up to `limit`. */
struct mandelbrot_data {
    struct bench_data base;
    int64_t height;
    int64_t width;
    struct view view;
    int32_t limit;
    int32_t *count;
    int32_t *sinter;
};

/* Thresholds on the scale of the input, 0 to 255. */
struct canny_data {
    struct bench_data base;
    int64_t height;
    int64_t width;
    uint8_t *red;
    uint8_t *green;
    uint8_t *blue;
    float low;
    float high;
    float *edges;
    float *sinter;
};

struct rowsums_data {
    struct bench_data base;
    int64_t rows;
    int64_t columns;
    float *x;
    float *sums;
    float *sinter;
};

/* The same programs over other types (rows_types.c): up to three inputs, and one result of each side (options:
 * calls, then puts). */
struct typed_data {
    struct bench_data base;
    int64_t rows;
    int64_t columns;
    struct view_f64 view;
    int32_t limit;
    double a;
    void *in[3];
    void *c; /* an array, or one value */
    void *sinter;
    size_t in_bytes; /* of each input that is not NULL */
    size_t out_bytes;
};

struct stencil9_data {
    struct bench_data base;
    int64_t height;
    int64_t width;
    float weight[STENCIL9_SIDE * STENCIL9_SIDE];
    float *x;
    float *sums;
    float *sinter;
};

struct nbody_data {
    struct bench_data base;
    float step;
    struct bodies in;
    struct bodies out;
    struct bodies sinter;
};

/* Keys, and values unless the row has none; what each side makes of them; room for the opponent. */
struct sort_data {
    struct bench_data base;
    uint32_t *key, *value;
    uint32_t *c_key, *c_value;
    uint32_t *sinter_key, *sinter_value;
    uint32_t *room_key, *room_value;
};

/* Keys below `bins`, and how often each occurs; room for the opponent, a table for each worker. */
struct histogram_data {
    struct bench_data base;
    int64_t bins, workers;
    uint32_t *key, *room;
    int64_t *counts, *sinter;
};

/* Scans, filters and loops over rows (rows_scans.c): of floats, or of integers for scan-i32. `kept`: how many elements
 * are in the results that filters make; `most` is filtermax's second one. */
struct scan_data {
    struct bench_data base;
    int64_t rows;
    int64_t columns;
    float limit;
    float factor;
    float summand;
    void *x;
    void *c;
    void *sinter;
    int64_t c_kept;
    int64_t sinter_kept;
    float c_most;
    float sinter_most;
};

/* z, of C, and `sinter` = x times y (rows_products.c); x has `rows` rows of `columns`, y is square. */
struct sgemm_data {
    struct bench_data base;
    int64_t rows;
    int64_t columns;
    float *x;
    float *y;
    float *z;
    float *sinter;
};

/* `steps` steps of c_jacobi. */
struct jacobi_data {
    struct bench_data base;
    int64_t height;
    int64_t width;
    int steps;
    float *x;
    float *spare;
    float *c;
    float *sinter;
};

struct floyd_data {
    struct bench_data base;
    int64_t n;
    int32_t *x;
    int32_t *c;
    int32_t *sinter;
};

/* Lloyd's algorithm (rows_programs.c): points row by row, or, in the plane, all x before all y; so are the centres. */
struct kmeans_data {
    struct bench_data base;
    int64_t dimensions;
    int64_t centres;
    int rounds;
    int64_t room_size;
    float *point;
    float *begin; /* the centres before the first round */
    float *centre;
    float *sinter;
    float *room;
};

/* Corners: all x, and base.n numbers behind them all y. */
struct hull_data {
    struct bench_data base;
    double *x;
    double *y;
    double *corner;
    double *sinter;
    double *room;
    int64_t corners;
    int64_t sinter_corners;
};

#ifdef BENCH_HAS_PROGRAMS
extern const struct bench_side sinter_kmeans, sinter_kmeans_plane, sinter_quickhull;
#define SINTER_PROGRAMS(program) &sinter_##program
#else
#define SINTER_PROGRAMS(program) NULL
#endif
#ifdef BENCH_HAS_JACOBI
extern const struct bench_side sinter_jacobi;
#define SINTER_JACOBI &sinter_jacobi
#else
#define SINTER_JACOBI NULL
#endif
#ifdef BENCH_HAS_FLOYD
extern const struct bench_side sinter_floyd;
#define SINTER_FLOYD &sinter_floyd
#else
#define SINTER_FLOYD NULL
#endif
/* Sums of segments, and matrices whose rows are segments (rows_segments.c): then `column` and `vector`. */
struct segments_data {
    struct bench_data base;
    int64_t segments;
    int64_t room; /* for so many */
    int64_t columns;
    int64_t *offsets;
    int32_t *column;
    float *x;
    float *vector;
    float *sums;
    float *sinter;
};

/* Segmented FilterMax: what C finds, and what Sinter does. */
struct filtermax_data {
    struct bench_data base;
    struct filtermax of;
    int64_t kept;
    float *sinter_far[2];
    float *sinter_above[2];
    int64_t *sinter_counts;
    int64_t sinter_kept[2];
};

#ifdef BENCH_HAS_SEGMENTS
extern const struct bench_side sinter_segsum, sinter_csr, sinter_segfiltermax;
#define SINTER_SEGMENTS(program) &sinter_##program
#else
#define SINTER_SEGMENTS(program) NULL
#endif
#ifdef BENCH_HAS_SGEMM
extern const struct bench_side sinter_sgemm;
#define SINTER_SGEMM &sinter_sgemm
#else
#define SINTER_SGEMM NULL
#endif
#ifdef BENCH_HAS_SCANS
extern const struct bench_side sinter_scan_f32, sinter_scan_i32, sinter_scan_rows, sinter_filter, sinter_ratios,
    sinter_filtermax, sinter_percentages, sinter_softmax;
#define SINTER_SCANS(program) &sinter_##program
#else
#define SINTER_SCANS(program) NULL
#endif
#ifdef BENCH_HAS_STENCIL9
extern const struct bench_side sinter_stencil9;
#define SINTER_STENCIL9 &sinter_stencil9
#else
#define SINTER_STENCIL9 NULL
#endif
#ifdef BENCH_HAS_NBODY
extern const struct bench_side sinter_nbody_loops, sinter_nbody_replicates;
#define SINTER_NBODY(formulation) &sinter_nbody_##formulation
#else
#define SINTER_NBODY(formulation) NULL
#endif

#ifdef BENCH_HAS_F64
extern const struct bench_side sinter_saxpy_f64, sinter_dot_f64, sinter_meanvar_f64, sinter_argmax_f64,
    sinter_mandelbrot_f64, sinter_rowsums_f64, sinter_blackscholes_f64;
#define SINTER_F64(program) &sinter_##program##_f64
#else
#define SINTER_F64(program) NULL
#endif
#ifdef BENCH_HAS_U8
extern const struct bench_side sinter_dot_u8, sinter_argmax_u8, sinter_rowsums_u8;
#define SINTER_U8(program) &sinter_##program##_u8
#else
#define SINTER_U8(program) NULL
#endif

#ifdef BENCH_HAS_SAXPY
extern const struct bench_side sinter_saxpy;
#define SINTER_SAXPY &sinter_saxpy
#else
#define SINTER_SAXPY NULL
#endif
#ifdef BENCH_HAS_DOT
extern const struct bench_side sinter_dot;
#define SINTER_DOT &sinter_dot
#else
#define SINTER_DOT NULL
#endif
#ifdef BENCH_HAS_MEANVAR
extern const struct bench_side sinter_meanvar;
#define SINTER_MEANVAR &sinter_meanvar
#else
#define SINTER_MEANVAR NULL
#endif
#ifdef BENCH_HAS_ARGMAX
extern const struct bench_side sinter_argmax;
#define SINTER_ARGMAX &sinter_argmax
#else
#define SINTER_ARGMAX NULL
#endif
#ifdef BENCH_HAS_BLACKSCHOLES
extern const struct bench_side sinter_blackscholes;
#define SINTER_BLACKSCHOLES &sinter_blackscholes
#else
#define SINTER_BLACKSCHOLES NULL
#endif
#ifdef BENCH_HAS_MANDELBROT
extern const struct bench_side sinter_mandelbrot;
#define SINTER_MANDELBROT &sinter_mandelbrot
#else
#define SINTER_MANDELBROT NULL
#endif
#ifdef BENCH_HAS_CANNY
extern const struct bench_side sinter_canny;
#define SINTER_CANNY &sinter_canny
#else
#define SINTER_CANNY NULL
#endif
#ifdef BENCH_HAS_ROWSUMS
extern const struct bench_side sinter_rowsums;
#define SINTER_ROWSUMS &sinter_rowsums
#else
#define SINTER_ROWSUMS NULL
#endif

extern const struct bench_row saxpy_row;
extern const struct bench_row dot_row;
extern const struct bench_row meanvar_row;
extern const struct bench_row argmax_row;
extern const struct bench_row blackscholes_row;
extern const struct bench_row mandelbrot_rows[2];
extern const struct bench_row canny_row;
extern const struct bench_row rowsums_rows[5];
extern const struct bench_row stencil9_row;
extern const struct bench_row sgemm_row;
extern const struct bench_row jacobi_row, floyd_row;
extern const struct bench_row nbody_rows[2];
enum { TYPED_ROWS = 10, SCAN_ROWS = 8, SORT_ROWS = 2, PERMUTE_ROWS = 2 };
extern const struct bench_row sort_rows[SORT_ROWS];
enum { SEGMENTS_ROWS = 15 };
extern const struct bench_row segments_rows[SEGMENTS_ROWS];
extern const struct bench_row permute_rows[PERMUTE_ROWS];
enum { KMEANS_ROWS = 2 };
extern const struct bench_row kmeans_rows[KMEANS_ROWS];
extern const struct bench_row hull_row;
extern const struct bench_row scan_rows[SCAN_ROWS];
extern const struct bench_row typed_rows[TYPED_ROWS];

/* An array of n elements for a row's data, and its end. */
#define NEW_ARRAY(type, n) ((type *)bench_alloc((size_t)(n) * sizeof(type)))
#define FREE_ARRAY(array, n) bench_free(array, (size_t)(n) * sizeof *(array))

#endif
