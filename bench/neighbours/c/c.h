/* What the C sides share: names for a call's memory and the directives of OpenMP. They are compiled by gcc with -O3 for
 * this machine and may reorder sums, as Sinter does; no intrinsics. */
#ifndef NEIGHBOURS_C_H
#define NEIGHBOURS_C_H

#include "../call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define C(name)                                                                                                        \
    nb_c nb_c_##name;                                                                                                  \
    void nb_c_##name(const struct nb_call *call)

#define E(k) (call->extent[k])
#define SIZE (call->size)
#define IN(T, x, k) const T *restrict x = call->in[k]
#define OUT(T, x, k) T *restrict x = call->out[k]
#define KEPT(k) (*call->kept[k])
#define VALUE(T, k) (*(const T *)call->in[k])
#define RESULT(T, k) (*(T *)call->out[k])

#define PRAGMA_(x) _Pragma(#x)
#define PRAGMA(...) PRAGMA_(__VA_ARGS__)
#define PARALLEL PRAGMA(omp parallel)
#define PARALLEL_FOR PRAGMA(omp parallel for schedule(static))
#define PARALLEL_FOR_2 PRAGMA(omp parallel for collapse(2) schedule(static))
#define DYNAMIC_FOR PRAGMA(omp parallel for schedule(dynamic, 8))
#define SPLIT_FOR PRAGMA(omp for schedule(static))
#define SIMD PRAGMA(omp simd)
#define CRITICAL PRAGMA(omp critical)
#define UNROLL(n) PRAGMA(GCC unroll n)

#define FOR(i, n) for (int64_t i = 0; i < (n); i++)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Elementwise over all elements: up to three inputs x, y, w. */
#define MAP1(name, X, Z, value)                                                                                        \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = (Z)(value);                                                                                         \
    }
#define MAP2(name, X, Y, Z, value)                                                                                     \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        IN(Y, y, 1);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = (Z)(value);                                                                                         \
    }
#define MAP3(name, X, Y, W, Z, value)                                                                                  \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        IN(Y, y, 1);                                                                                                   \
        IN(W, w, 2);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n)                                                                                                     \
            z[i] = (Z)(value);                                                                                         \
    }

#endif
