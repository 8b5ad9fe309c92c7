/* A sparse matrix of a Matrix Market file: sparse [FILE.mtx [ROUNDS]] multiplies it by the vector of ones, and, if it
 * is symmetric, solves matrix x = that product by so many rounds of conjugate gradients. */
#include "programs/sparse.h"

#include "common/arguments.h"
#include "common/clock.h"
#include "common/matrix_market.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool complain(sn_context *cx)
{
    fprintf(stderr, "%s\n", sn_message(cx));
    return false;
}

static bool multiply(sn_context *cx, const matrix_market *m, const double *x, double *y)
{
    sn_program *p = sn_compile(cx, SPARSE_TIMES_SIGNATURE, sparse_times);
    bool good = sn_call(p, sn_in(m->row, m->rows + 1), sn_in(m->column, m->elements), sn_in(m->value, m->elements),
                        sn_in(x, m->columns), sn_into(y, m->rows)) == SN_OK;
    double began = clock_seconds();
    good = good && sn_call(p, sn_in(m->row, m->rows + 1), sn_in(m->column, m->elements), sn_in(m->value, m->elements),
                           sn_in(x, m->columns), sn_into(y, m->rows)) == SN_OK;
    if (good)
        printf("times a vector: %.1f us\n", 1e6 * (clock_seconds() - began));
    sn_drop(p);
    return good || complain(cx);
}

static bool diagonal_of(const matrix_market *m, double *diagonal)
{
    for (int64_t r = 0; r < m->rows; r++) {
        diagonal[r] = 0;
        for (int64_t e = m->row[r]; e < m->row[r + 1]; e++)
            diagonal[r] += m->column[e] == r ? m->value[e] : 0;
        if (!(diagonal[r] > 0)) {
            fprintf(stderr, "element %lld of the diagonal is not positive\n", (long long)r + 1);
            return false;
        }
    }
    return true;
}

static bool solve(sn_context *cx, const matrix_market *m, const double *b, long rounds, double *x)
{
    double *diagonal = malloc(((size_t)m->rows + 1) * sizeof(*diagonal)), left = 0, all = 0;
    bool *counted = calloc((size_t)rounds + 1, sizeof(*counted)),
         good = diagonal && counted && diagonal_of(m, diagonal);
    sn_program *p = good ? sn_compile(cx, SPARSE_SOLVE_SIGNATURE, sparse_solve) : NULL;
    double began = clock_seconds();
    bool called = good && sn_call(p, sn_in(m->row, m->rows + 1), sn_in(m->column, m->elements),
                                  sn_in(m->value, m->elements), sn_in(diagonal, m->rows), sn_in(b, m->rows),
                                  sn_in(counted, rounds), sn_into(x, m->rows), sn_value(&left)) == SN_OK;
    for (int64_t i = 0; i < m->rows && called; i++)
        all += b[i] * b[i];
    if (called)
        printf("%ld rounds of conjugate gradients: %.1f ms, %.2g of the right side is left\n", rounds,
               1e3 * (clock_seconds() - began), all > 0 ? sqrt(left / all) : 0);
    sn_drop(p);
    free(diagonal);
    free(counted);
    return called || !good ? called : complain(cx);
}

static bool show(sn_context *cx, const matrix_market *m, long rounds)
{
    size_t most = (size_t)(m->rows > m->columns ? m->rows : m->columns) + 1;
    double *x = malloc(most * sizeof(*x)), *y = malloc(most * sizeof(*y));
    bool good = x && y;
    for (int64_t i = 0; i < m->columns && good; i++)
        x[i] = 1;
    printf("%lld x %lld, %lld elements, %s\n", (long long)m->rows, (long long)m->columns, (long long)m->elements,
           m->symmetric ? "symmetric" : "general");
    good = good && multiply(cx, m, x, y) && (!m->symmetric || solve(cx, m, y, rounds, x));
    free(x);
    free(y);
    return good;
}

int main(int argc, char **argv)
{
    long rounds = 300;
    if (argc > 3) {
        fprintf(stderr, "usage: sparse [FILE.mtx [ROUNDS]]\n");
        return 2;
    }
    if (argc > 2 && !argument_whole(argv[2], "ROUNDS", 0, 1000000, &rounds))
        return 2;
    matrix_market m;
    bool good = matrix_market_read(argc > 1 ? argv[1] : "data/bcsstk13.mtx", &m);
    sn_context *cx = good ? sn_open(NULL) : NULL;
    good = cx && show(cx, &m, rounds);
    sn_close(cx);
    matrix_market_free(&m);
    return !good;
}
