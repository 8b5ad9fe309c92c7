/* What kernels that sort by digits share. */
#ifndef SN_SKELETON_SORT_RADIX_H
#define SN_SKELETON_SORT_RADIX_H

#include "skeleton/sort/sort.h"

enum { SK_STAGE = 256 }; /* elements whose digits a core finds at a time */

typedef struct sk_radix_kernel {
    sk_sort s;
    sk_radix r;
    int64_t digits, threads;
    k_val n, pieces, size, shift; /* of a row; pieces of it; elements of one; where the digit is in the key */
    k_val row, number;            /* the piece at hand, in its row */
    k_val begin, count;           /* its elements, in the row */
    k_val linear;                 /* its first element, in the array */
} sk_radix_kernel;

/* The digit of a key, of a component, that begins at bit `shift`, as this type. */
k_val sk_radix_digit(sk_radix_kernel *x, uint32_t component, k_val key, k_val shift, ir_type as_type);

#endif
