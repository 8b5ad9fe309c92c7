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
extern const struct bench_row rowsums_rows[3];

/* An array of n elements for a row's data, and its end. */
#define NEW_ARRAY(type, n) ((type *)bench_alloc((size_t)(n) * sizeof(type)))
#define FREE_ARRAY(array, n) bench_free(array, (size_t)(n) * sizeof *(array))

#endif
