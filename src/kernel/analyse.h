/* What lanes have in common: the analysis behind k_analyse, for passes that must not write into the kernel. */
#ifndef SN_KERNEL_ANALYSE_H
#define SN_KERNEL_ANALYSE_H

#include "kernel/kernel.h"

typedef struct k_shapes {
    uint8_t *shape;  /* k_shape per value */
    int64_t *step;   /* per value, meaningful for K_AFFINE */
    bool *divergent; /* per statement: an IF whose condition or a LOOP whose exit differs between lanes */
} k_shapes;

/* The kernel must have passed the checks of verify.c that come before this one: references in range, lists without
 * cycles. */
k_shapes k_find_shapes(const kernel *k, arena *a);

#endif
