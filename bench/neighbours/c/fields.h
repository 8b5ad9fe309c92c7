/* What C sides of the group `fields` share. */
#ifndef NEIGHBOURS_FIELDS_H
#define NEIGHBOURS_FIELDS_H

#include "c.h"

/* A row of a stencil: left and right are j - 1 and j + 1 but at the ends. */
#define ROW_OF(m, first, last, ...)                                                                                    \
    {                                                                                                                  \
        int64_t j = 0, left = first, right = 1;                                                                        \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    SIMD                                                                                                               \
    for (int64_t j = 1; j < m - 1; j++) {                                                                              \
        int64_t left = j - 1, right = j + 1;                                                                           \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    {                                                                                                                  \
        int64_t j = m - 1, left = m - 2, right = last;                                                                 \
        __VA_ARGS__                                                                                                    \
    }

#endif
