/* The hand-written parallel C programs that Sinter is measured against.
 *
 * Contracts for all of them: arrays are dense, row-major and owned by the caller; inputs and outputs do not overlap;
 * any alignment is right, 64 bytes is fastest; any extent from 0 is right unless said otherwise. Results do not depend
 * on the number of workers except in the last bits of float sums. One call at a time per team. Nothing fails unless
 * said. */
#ifndef SINTER_BENCH_OPPONENTS_H
#define SINTER_BENCH_OPPONENTS_H

#include "team.h"

#include <stdint.h>

/* z[i] = a * x[i] + y[i], in one fma where the machine has it. */
void c_saxpy(struct team *team, int64_t n, float a, const float *x, const float *y, float *z);

/* Sum of x[i] * y[i], in f32 over at least 128 partial sums. */
float c_dot(struct team *team, int64_t n, const float *x, const float *y);

/* Mean and variance (of the population: the mean of the squares less the square of the mean) from one pass. n >= 1. */
struct moments {
    float mean;
    float variance;
};
struct moments c_meanvar(struct team *team, int64_t n, const float *x);

/* The greatest element and the smallest index that holds it. NaNs never win; with nothing above minus infinity the
 * index is 0. n from 1 to 2^31 - 1. */
struct peak {
    float value;
    int32_t index;
};
struct peak c_argmax(struct team *team, int64_t n, const float *x);

/* The same in f64, and over bytes with sums in i32 (which wrap). */
void c_saxpy_f64(struct team *team, int64_t n, double a, const double *x, const double *y, double *z);
double c_dot_f64(struct team *team, int64_t n, const double *x, const double *y);
int32_t c_dot_u8(struct team *team, int64_t n, const uint8_t *x, const uint8_t *y);
struct moments_f64 {
    double mean;
    double variance;
};
struct moments_f64 c_meanvar_f64(struct team *team, int64_t n, const double *x);
struct peak_f64 {
    double value;
    int32_t index;
};
struct peak_f64 c_argmax_f64(struct team *team, int64_t n, const double *x);
struct peak_u8 {
    uint8_t value;
    int32_t index;
};
struct peak_u8 c_argmax_u8(struct team *team, int64_t n, const uint8_t *x);

/* z = x times y, of rows x inner and inner x columns numbers, by OpenBLAS if c_sgemm_has_blas. That opens it, which
 * starts its threads: they may run wherever the thread may that asks first. */
void c_sgemm(struct team *team, int64_t rows, int64_t columns, int64_t inner, const float *x, const float *y, float *z);
void c_sgemm_by_hand(struct team *team, int64_t rows, int64_t columns, int64_t inner, const float *x, const float *y,
                     float *z);
int c_sgemm_has_blas(void);

/* Running sums: z[i] = x[0] + ... + x[i]. Of integers they wrap. Floats are added up piece by piece, and in lanes. */
void c_scan_f32(struct team *team, int64_t n, const float *x, float *z);
void c_scan_i32(struct team *team, int64_t n, const int32_t *x, int32_t *z);
/* The same along each row. */
void c_scan_rows(struct team *team, int64_t rows, int64_t columns, const float *x, float *z);

/* Results of these four have room for n elements; what lies behind those that they return the number of is as before.
 * The elements above `limit`, in their order. */
int64_t c_filter(struct team *team, int64_t n, float limit, const float *x, float *z);
/* 100 times those that are not below `limit`. */
int64_t c_percentages(struct team *team, int64_t n, float limit, const float *x, float *z);
/* Those of factor * x + summand (in one fma where the machine has it) that are above 0, and the greatest of them in
 * *most, 0 if there is none. */
int64_t c_filtermax(struct team *team, int64_t n, float factor, float summand, const float *x, float *z, float *most);
/* Of the elements that are not 0: the sum of those before each, divided by it. */
int64_t c_ratios(struct team *team, int64_t n, const float *x, float *z);

/* The keys in ascending order, those that are equal in theirs, and the values with them. `room` has n elements and lies
 * at a multiple of 64 bytes; n < 2^32. Return 0 when memory ran out. */
int c_sort_keys(struct team *team, int64_t n, const uint32_t *key, uint32_t *to, uint32_t *room);
int c_sort_pairs(struct team *team, int64_t n, const uint32_t *key, const uint32_t *value, uint32_t *to_key,
                 uint32_t *to_value, uint32_t *room_key, uint32_t *room_value);

/* How often each key below `bins` occurs; all keys are. `room` has as many elements for each worker; n < 2^32. */
void c_histogram(struct team *team, int64_t n, int64_t bins, const uint32_t *key, int64_t *to, uint32_t *room);

/* z(r, c) = exp(x(r, c) - most(r)) / sum over the row of these, most(r) being the row's greatest. Returns 0 when memory
 * ran out. */
int c_softmax(struct team *team, int64_t rows, int64_t columns, const float *x, float *z);

/* European options at rate 0.02 and volatility 0.30: prices of the call and the put from the stock's price, the strike
 * and the years left. exp and log within 2 ulp, division and square root rounded correctly. */
void c_blackscholes(struct team *team, int64_t n, const float *price, const float *strike, const float *years,
                    float *call, float *put);

/* Escape counts of z := z*z + c from z = 0: the number of steps taken while |z|^2 < 4, at most `limit` (>= 0). Pixel
 * (row, column) stands for c = (left + column * step) + (top + row * step) i, each by one fma. */
struct view {
    float left;
    float top;
    float step;
};
void c_mandelbrot(struct team *team, int64_t height, int64_t width, struct view view, int32_t limit, int32_t *count);
struct view_f64 {
    double left;
    double top;
    double step;
};
/* As c_blackscholes, in f64. */
void c_blackscholes_f64(struct team *team, int64_t n, const double *price, const double *strike, const double *years,
                        double *call, double *put);
void c_mandelbrot_f64(struct team *team, int64_t height, int64_t width, struct view_f64 view, int32_t limit,
                      int32_t *count);

/* Canny's detector up to suppression: grey, Gaussian in X and in Y, Sobel, magnitude, direction, non-maximum
 * suppression. `edges` gets 0, 0.5 (weak: magnitude >= low) or 1 (strong: magnitude >= high); thresholds on the 0 to
 * 255 scale of the input. Every stage clamps its own input at the image's edge. dx is right less left, dy is above less
 * below, so that the direction's neighbour lies along the gradient. Returns 0 when memory ran out. */
int c_canny(struct team *team, int64_t height, int64_t width, const uint8_t *red, const uint8_t *green,
            const uint8_t *blue, float low, float high, float *edges);

/* sums[r] = sum of row r of a rows x columns matrix. */
/* The sum of each of `segments` segments of x; the offsets say where they begin, and where the last one ends. */
void c_segsum(struct team *team, int64_t segments, const int64_t *offsets, const float *x, float *sums);
/* y = a sparse matrix times `vector`: row r has the elements x of segment r, in columns `column`. */
void c_csr(struct team *team, int64_t rows, const int64_t *offsets, const int32_t *column, const float *x,
           const float *vector, float *y);
/* Points in segments, none of which is empty, and for each segment a line, from (line[0], line[1]) to (line[2], line[3]).
 * far: the point of a segment that is furthest to the left of the line, the first of equals; counts: how many are to the
 * left; above: all of these, one behind the other. */
struct filtermax {
    int64_t segments;
    const int64_t *offsets;
    const float *x, *y;
    const float *line[4];
    float *far[2];
    float *above[2];
    int64_t *counts;
};
int64_t c_segfiltermax(struct team *team, const struct filtermax *of); /* how many are in `above` */
void c_rowsums(struct team *team, int64_t rows, int64_t columns, const float *x, float *sums);
void c_rowsums_f64(struct team *team, int64_t rows, int64_t columns, const double *x, double *sums);
void c_rowsums_u8(struct team *team, int64_t rows, int64_t columns, const uint8_t *x, int32_t *sums);

/* sums(y, x) = sum over (dy, dx) of weight[dy][dx] * x(y + dy - 4, x + dx - 4), row by row, positions clamped at the
 * edges. */
enum { STENCIL9_SIDE = 9 };
void c_stencil9(struct team *team, int64_t height, int64_t width, const float *weight, const float *x, float *sums);

/* So many steps of height x width numbers: each becomes the mean of itself and its four neighbours, added up in the
 * order itself, above, below, left, right; positions are clamped at the edges. `spare` has room for as many. 0: no
 * memory. */
int c_jacobi(struct team *team, int64_t height, int64_t width, int steps, const float *x, float *spare, float *to);

/* d, n x n lengths of edges, becomes the lengths of shortest paths; none of their sums overflows. */
void c_floyd(struct team *team, int64_t n, int32_t *d);

/* Corners of the convex hull of n points, clockwise from the leftmost one, of several the lowest; points on a side
 * between two corners are none. There is room for n corners, and, in `room`, for 12 n + 160. Returns how many there
 * are, of no points, or without memory, -1. */
int64_t c_quickhull(struct team *team, int64_t n, const double *x, const double *y, double *corner_x, double *corner_y,
                    double *room);

/* `rounds` rounds of Lloyd's algorithm over n points of KMEANS_DIMENSIONS coordinates each, row by row: each of k
 * centres, at least one, moves to the mean of the points nearest to it (of equal distances, to the first); one without
 * points stays. Sums in f32, of each worker's points in their order. `room` has c_kmeans_room(workers, k) numbers. The
 * same of points in the plane. */
enum { KMEANS_DIMENSIONS = 16 };
int64_t c_kmeans_room(int workers, int64_t k);
void c_kmeans(struct team *team, int rounds, int64_t n, const float *point, int64_t k, float *centre, float *room);
void c_kmeans_plane(struct team *team, int rounds, int64_t n, const float *x, const float *y, int64_t k,
                    float *centre_x, float *centre_y, float *room);

/* One step of n bodies under gravity (G = 1), velocities first, then positions with the new velocities. A body is not
 * pulled by bodies in its own place. Square root and division are rounded correctly; sums go from body to body. */
struct bodies {
    float *position[3];
    float *velocity[3];
    float *mass; /* of the output: not written */
};
void c_nbody(struct team *team, int64_t n, float step, const struct bodies *in, const struct bodies *out);

#endif
