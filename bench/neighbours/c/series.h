/* What C sides of the group `series` share. */
#ifndef NEIGHBOURS_SERIES_H
#define NEIGHBOURS_SERIES_H

#include "parts.h"

/* Code is compiled with -ffast-math. */
static inline bool missing(u32 bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* The same along the columns of a matrix of m columns: s, t are those of column j. */
#define COLUMN_PARTS(S, n, m, first, step, join, stores)                                                               \
    S *of = malloc((size_t)((m)*omp_get_max_threads()) * sizeof *of);                                                  \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count;                                                  \
        S *restrict states = malloc((size_t)(m) * sizeof *states);                                                     \
        FOR (j, m)                                                                                                     \
            states[j] = first;                                                                                         \
        if (count > 1) {                                                                                               \
            for (int64_t i = begin; i < end; i++)                                                                      \
                FOR (j, m) {                                                                                           \
                    S s = states[j];                                                                                   \
                    int64_t at = i * (m) + j;                                                                          \
                    step;                                                                                              \
                    states[j] = s;                                                                                     \
                }                                                                                                      \
            memcpy(of + id * (m), states, (size_t)(m) * sizeof *states);                                               \
            PRAGMA(omp barrier)                                                                                        \
            FOR (j, m)                                                                                                 \
                states[j] = first;                                                                                     \
            for (int64_t k = 0; k < id; k++) {                                                                         \
                int64_t length = (n) * (k + 1) / count - (n)*k / count;                                                \
                (void)length;                                                                                          \
                FOR (j, m) {                                                                                           \
                    S s = states[j], t = of[k * (m) + j];                                                              \
                    join;                                                                                              \
                    states[j] = s;                                                                                     \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t i = begin; i < end; i++)                                                                          \
            FOR (j, m) {                                                                                               \
                S s = states[j];                                                                                       \
                int64_t at = i * (m) + j;                                                                              \
                stores;                                                                                                \
                states[j] = s;                                                                                         \
            }                                                                                                          \
        free(states);                                                                                                  \
    }                                                                                                                  \
    free(of);

/* Elements `at` of which `condition` holds: each thread counts its part, then stores at `to`. */
#define PACK(n, condition, stores, k)                                                                                  \
    int64_t of[256];                                                                                                   \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count, to = 0;                                          \
        if (count > 1) {                                                                                               \
            int64_t own = 0;                                                                                           \
            for (int64_t at = begin; at < end; at++)                                                                   \
                own += (condition);                                                                                    \
            of[id] = own;                                                                                              \
            PRAGMA(omp barrier)                                                                                        \
            FOR (t, id)                                                                                                \
                to += of[t];                                                                                           \
        }                                                                                                              \
        for (int64_t at = begin; at < end; at++)                                                                       \
            if (condition) {                                                                                           \
                stores;                                                                                                \
                to++;                                                                                                  \
            }                                                                                                          \
        if (id == count - 1)                                                                                           \
            k = to;                                                                                                    \
    }

#define SUMS(...) PRAGMA(omp parallel for schedule(static) reduction(+ : __VA_ARGS__))

enum { BLOCK = 512 };

#endif
