/* Sizes of arrays. */
#include "base/size.h"

bool size_of_array(size_t element, unsigned rank, const int64_t *extent, size_t *bytes)
{
    bool empty = false, large = element > INT64_MAX;
    *bytes = element;
    for (unsigned d = 0; d < rank; d++) {
        if (extent[d] < 0)
            return false;
        empty |= extent[d] == 0;
        large = large || !size_times(*bytes, (size_t)extent[d], bytes);
    }
    if (empty)
        *bytes = 0;
    return empty || !large;
}

bool size_count(unsigned rank, const int64_t *extent, int64_t *count)
{
    size_t n = 0;
    bool good = size_of_array(1, rank, extent, &n);
    *count = good ? (int64_t)n : 0;
    return good;
}

void size_strides(size_t element, unsigned rank, const int64_t *extent, int64_t *stride)
{
    size_t next = element;
    for (unsigned d = rank; d-- > 0;) {
        stride[d] = (int64_t)next;
        if (!size_times(next, (size_t)extent[d], &next))
            next = 0;
    }
}
