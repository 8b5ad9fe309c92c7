/* Arithmetic of extents, none of them negative. */
#ifndef SN_SKELETON_EXTENTS_H
#define SN_SKELETON_EXTENTS_H

#include <stdint.h>

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* How many pieces of so many are needed for n. */
static inline int64_t pieces_of(int64_t n, int64_t piece)
{
    return n / piece + (n % piece != 0);
}

/* n, made up to whole units. */
static inline int64_t round_up(int64_t n, int64_t unit)
{
    return pieces_of(n, unit) * unit;
}

#endif
