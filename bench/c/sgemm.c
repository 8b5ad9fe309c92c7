/* The product of two matrices by OpenBLAS, where the system has it, on as many threads as the team; else by hand: a
 * worker has some rows; of the second matrix a panel of three vectors of columns is packed, part by part, and tiles of
 * eight rows go along it with their sums in registers. */
#include "opponents.h"
#include "simd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { ROWS = 8, VECTORS = 3, WIDTH = VECTORS * LANES, PART = 256, ROW_MAJOR = 101, AS_IT_IS = 111 };

/* --- OpenBLAS --- */

typedef void sgemm_fn(int order, int turn_x, int turn_y, int rows, int columns, int inner, float alpha, const float *x,
                      int stride_x, const float *y, int stride_y, float beta, float *z, int stride_z);
typedef void threads_fn(int threads);

static struct {
    pthread_once_t once;
    sgemm_fn *sgemm;
    threads_fn *set_threads;
} blas = {.once = PTHREAD_ONCE_INIT};

static void open_blas(void)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    *(void **)&blas.sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&blas.set_threads = dlsym(library, "openblas_set_num_threads");
    if (!blas.sgemm || !blas.set_threads)
        blas.sgemm = NULL;
}

int c_sgemm_has_blas(void)
{
    pthread_once(&blas.once, open_blas);
    return blas.sgemm != NULL;
}

/* --- by hand --- */

struct job {
    int64_t rows, columns, inner;
    const float *x, *y;
    float *z;
};

/* Columns [first, first + WIDTH) of rows [from, to) of y, zeros beside it. */
static void pack(const struct job *j, int64_t first, int64_t from, int64_t to, float *packed)
{
    for (int64_t k = from; k < to; k++)
        for (int64_t c = 0; c < WIDTH; c++)
            *packed++ = first + c < j->columns ? j->y[k * j->columns + first + c] : 0;
}

static void tile(const struct job *j, int64_t row, int64_t first, int64_t from, int64_t to, const float *packed)
{
    vf32 sum[ROWS][VECTORS];
    int64_t rows = j->rows - row < ROWS ? j->rows - row : ROWS;
    const float *x[ROWS];
    for (int r = 0; r < ROWS; r++) {
        x[r] = j->x + (row + (r < rows ? r : 0)) * j->inner;
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = v_set(0);
    }
    for (int64_t k = from; k < to; k++, packed += WIDTH) {
        vf32 y[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            y[v] = v_load(packed + v * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vf32 one = v_set(x[r][k]);
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] = v_fma(one, y[v], sum[r][v]);
        }
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < WIDTH && first + c < j->columns; c++) {
            float part, *z = j->z + (row + r) * j->columns + first + c;
            memcpy(&part, (const float *)&sum[r][c / LANES] + c % LANES, sizeof part);
            *z = from ? *z + part : part;
        }
}

static void multiply(void *ctx, int id, int workers)
{
    const struct job *j = ctx;
    struct team_range mine = team_part(j->rows, ROWS, id, workers);
    _Alignas(VECTOR_BYTES) float packed[PART * WIDTH];
    for (int64_t first = 0; first < j->columns; first += WIDTH)
        for (int64_t from = 0; from < j->inner; from += PART) {
            int64_t to = j->inner - from < PART ? j->inner : from + PART;
            pack(j, first, from, to, packed);
            for (int64_t row = mine.first; row < mine.last; row += ROWS)
                tile(j, row, first, from, to, packed);
        }
    for (int64_t i = mine.first * j->columns; i < mine.last * j->columns && !j->inner; i++)
        j->z[i] = 0;
}

void c_sgemm_by_hand(struct team *team, int64_t rows, int64_t columns, int64_t inner, const float *x, const float *y,
                     float *z)
{
    team_run(team, multiply, &(struct job){rows, columns, inner, x, y, z});
}

void c_sgemm(struct team *team, int64_t rows, int64_t columns, int64_t inner, const float *x, const float *y, float *z)
{
    if (!c_sgemm_has_blas()) {
        c_sgemm_by_hand(team, rows, columns, inner, x, y, z);
        return;
    }
    blas.set_threads(team_workers(team));
    blas.sgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, (int)rows, (int)columns, (int)inner, 1, x, (int)inner, y, (int)columns, 0,
               z, (int)columns);
}
