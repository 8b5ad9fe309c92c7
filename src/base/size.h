/* Sizes in checked arithmetic. Sizes, and offsets into what has them, are numbers of 63 bits: what a program, its
 * caller or a file says may be larger, and is refused where it is first multiplied or added. */
#ifndef SN_BASE_SIZE_H
#define SN_BASE_SIZE_H

#include "base/base.h"

/* a * b and a + b; false if that has more than 63 bits, and *out is not to be used. */
static inline bool size_times(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out) && *out <= INT64_MAX;
}

static inline bool size_plus(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out) && *out <= INT64_MAX;
}

/* Bytes of an array of elements of so many bytes: 0 if one of the extents is, whatever the others are. False if an
 * extent is negative, or there are too many. */
bool size_of_array(size_t element, unsigned rank, const int64_t *extent, size_t *bytes);
/* The number of its elements. */
bool size_count(unsigned rank, const int64_t *extent, int64_t *count);
/* Bytes from an element to the next in each dimension, in row-major order, of an array whose size is known to be right;
 * an array without elements has strides of 0 where they would be too large. */
void size_strides(size_t element, unsigned rank, const int64_t *extent, int64_t *stride);

#endif
