/* Shortest paths between all pairs, Floyd's and Warshall's, in blocks: a block of the diagonal by itself, then those of
 * its row and column, then all others, which are products of blocks with min for the sum and + for the product, added
 * up in registers. */
#include "opponents.h"

#include <string.h>

enum {
    SIDE = 64,  /* of a block */
    ROWS = 4,   /* rows of a tile in registers, */
    WIDTH = 64, /* and its columns */
};

struct job {
    int64_t n;
    int32_t *d;
    int64_t k; /* the block of the diagonal */
    int64_t blocks;
    atomic_int_fast64_t next;
};

static inline int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Rows [i, i2) and columns [j, j2), by way of [k, k2), one after the other: blocks that depend on themselves. */
static void one_by_one(int32_t *d, int64_t n, int64_t i, int64_t i2, int64_t j, int64_t j2, int64_t k, int64_t k2)
{
    for (int64_t m = k; m < k2; m++)
        for (int64_t r = i; r < i2; r++) {
            int32_t through = d[r * n + m];
            const int32_t *from = d + m * n;
            int32_t *to = d + r * n;
#pragma GCC ivdep
            for (int64_t c = j; c < j2; c++)
                to[c] = least(to[c], through + from[c]);
        }
}

/* A tile of ROWS x WIDTH, by way of [k, k2), none of which is in it. */
static inline void tile(int32_t *d, int64_t n, int64_t i, int64_t j, int64_t k, int64_t k2)
{
    int32_t to[ROWS][WIDTH];
    for (int r = 0; r < ROWS; r++)
        memcpy(to[r], d + (i + r) * n + j, sizeof to[r]);
    for (int64_t m = k; m < k2; m++) {
        const int32_t *from = d + m * n + j;
#pragma GCC unroll 4
        for (int r = 0; r < ROWS; r++) {
            int32_t through = d[(i + r) * n + m];
#pragma GCC unroll 4
            for (int c = 0; c < WIDTH; c++)
                to[r][c] = least(to[r][c], through + from[c]);
        }
    }
    for (int r = 0; r < ROWS; r++)
        memcpy(d + (i + r) * n + j, to[r], sizeof to[r]);
}

static int64_t end_of(const struct job *job, int64_t block)
{
    return (block + 1) * SIDE < job->n ? (block + 1) * SIDE : job->n;
}

static void row_and_column(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct job *job = ctx;
    int64_t task, k = job->k * SIDE, k2 = end_of(job, job->k);
    while ((task = team_claim(&job->next, 2 * job->blocks)) >= 0) {
        int64_t b = task / 2, first = b * SIDE, last = end_of(job, b);
        if (b == job->k)
            continue;
        if (task % 2)
            one_by_one(job->d, job->n, k, k2, first, last, k, k2);
        else
            one_by_one(job->d, job->n, first, last, k, k2, k, k2);
    }
}

static void others(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct job *job = ctx;
    int64_t task, k = job->k * SIDE, k2 = end_of(job, job->k);
    while ((task = team_claim(&job->next, job->blocks * job->blocks)) >= 0) {
        int64_t i = task / job->blocks, j = task % job->blocks;
        if (i == job->k || j == job->k)
            continue;
        int64_t row = i * SIDE, rows = end_of(job, i), column = j * SIDE, columns = end_of(job, j);
        if (columns - column < WIDTH) {
            one_by_one(job->d, job->n, row, rows, column, columns, k, k2);
            continue;
        }
        for (; row + ROWS <= rows; row += ROWS)
            tile(job->d, job->n, row, column, k, k2);
        one_by_one(job->d, job->n, row, rows, column, columns, k, k2);
    }
}

void c_floyd(struct team *team, int64_t n, int32_t *d)
{
    struct job job = {.n = n, .d = d, .blocks = (n + SIDE - 1) / SIDE};
    for (job.k = 0; job.k < job.blocks; job.k++) {
        int64_t first = job.k * SIDE, last = end_of(&job, job.k);
        one_by_one(d, n, first, last, first, last, first, last);
        atomic_store(&job.next, 0);
        team_run(team, row_and_column, &job);
        atomic_store(&job.next, 0);
        team_run(team, others, &job);
    }
}
