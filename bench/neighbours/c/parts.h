/* What threads do with parts of an array of which each needs what comes before it. */
#ifndef NEIGHBOURS_PARTS_H
#define NEIGHBOURS_PARTS_H

#include "c.h"

#include <omp.h>

/* Each thread counts what its part keeps; then it goes over it again and writes that behind what is before it. */
#define KEEP(n, holds, ...) KEEP_BEGINNING(n, int64_t unused = 0; (void)unused, holds, (void)0, (void)0, __VA_ARGS__)

/* With what else is known before each part: `first` declares it in each thread, `step` takes element `at` into it. */
#define KEEP_BEGINNING(n, first, holds, step, again, ...)                                                              \
    int64_t kept_of[256], total = 0;                                                                                   \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count, k = 0;                                           \
        first;                                                                                                         \
        for (int64_t at = begin; at < end; at++) {                                                                     \
            step;                                                                                                      \
            k += (holds);                                                                                              \
        }                                                                                                              \
        kept_of[id] = k;                                                                                               \
        PRAGMA(omp barrier)                                                                                            \
        k = 0;                                                                                                         \
        for (int64_t other = 0; other < id; other++)                                                                   \
            k += kept_of[other];                                                                                       \
        again;                                                                                                         \
        for (int64_t at = begin; at < end; at++)                                                                       \
            if (holds) {                                                                                               \
                __VA_ARGS__;                                                                                           \
                k++;                                                                                                   \
            }                                                                                                          \
        if (id == count - 1)                                                                                           \
            total = k;                                                                                                 \
    }                                                                                                                  \
    KEPT(0) = total;

/* Each thread folds its part; then it goes over it again, beginning with what is before it. `step` takes element `at`
 * of the array into s, `first` is what nothing is folded to, `join` takes what the thread before has into s, and
 * `store` stands behind or before the step. `length` is that
 * of the part that t is of. */
#define PARTS(S, n, first, step, join, stores)                                                                         \
    S of[256];                                                                                                         \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count;                                                  \
        S s = first;                                                                                                   \
        if (count > 1) {                                                                                               \
            for (int64_t at = begin; at < end; at++) {                                                                 \
                step;                                                                                                  \
            }                                                                                                          \
            of[id] = s;                                                                                                \
            PRAGMA(omp barrier)                                                                                        \
            s = first;                                                                                                 \
            for (int64_t k = 0; k < id; k++) {                                                                         \
                S t = of[k];                                                                                           \
                int64_t length = (n) * (k + 1) / count - (n)*k / count;                                                \
                (void)length;                                                                                          \
                join;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (int64_t at = begin; at < end; at++) {                                                                     \
            stores;                                                                                                    \
        }                                                                                                              \
    }

/* Parts of the threads begin behind a byte for which `ends` holds; `counts` is the number of results of a part. */
#define ENDED(n, ends, counts, ...)                                                                                    \
    int64_t kept_of[257] = {0}, total = 0;                                                                             \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num(), k = 0;                                     \
        int64_t begin = (n)*id / threads, end = (n) * (id + 1) / threads;                                              \
        for (int64_t at = begin; at < end; at++)                                                                       \
            k += (counts);                                                                                             \
        kept_of[id] = k;                                                                                               \
        PRAGMA(omp barrier)                                                                                            \
        k = 0;                                                                                                         \
        for (int64_t other = 0; other < id; other++)                                                                   \
            k += kept_of[other];                                                                                       \
        int64_t at = begin;                                                                                            \
        while (at > 0 && !(ends(at - 1)))                                                                              \
            at--;                                                                                                      \
        __VA_ARGS__;                                                                                                   \
        if (id == threads - 1)                                                                                         \
            total = k;                                                                                                 \
    }                                                                                                                  \
    KEPT(0) = total;

#endif
