/* Vectors of three scalars. */
#ifndef NEIGHBOURS_VECTORS_H
#define NEIGHBOURS_VECTORS_H

#include "functions.h"

static inline sn_scalar add3(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_add(a, b), c);
}

static inline sn_scalar dot3(const sn_scalar *a, const sn_scalar *b)
{
    return add3(sn_mul(a[0], b[0]), sn_mul(a[1], b[1]), sn_mul(a[2], b[2]));
}

static inline void minus3(const sn_scalar *a, const sn_scalar *b, sn_scalar *c)
{
    for (int k = 0; k < 3; k++)
        c[k] = sn_sub(a[k], b[k]);
}

static inline void cross3(const sn_scalar *a, const sn_scalar *b, sn_scalar *c)
{
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        c[k] = sn_sub(sn_mul(a[p], b[q]), sn_mul(a[q], b[p]));
    }
}

static inline void row3(sn_acc x, sn_scalar i, sn_scalar *v)
{
    for (int k = 0; k < 3; k++)
        v[k] = sn_index(x, i, k);
}

static inline void tuple3(sn_scalar t, sn_scalar *v)
{
    for (int k = 0; k < 3; k++)
        v[k] = sn_get(t, k);
}

#endif
