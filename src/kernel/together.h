/* Loads and stores of neighbouring elements, one statement each, that one access can do (K_EITHER). */
#ifndef SN_KERNEL_TOGETHER_H
#define SN_KERNEL_TOGETHER_H

#include "kernel/kernel.h"

enum { K_TOGETHER_MOST = 4, K_TOGETHER_TERMS = 6 };

/* Elements first, first + 1, ... of term[0] + term[1] + ..., which is a multiple of their number, as first is. */
typedef struct k_together {
    k_mem mem;
    k_op op;
    unsigned n, found;
    k_ref member[K_TOGETHER_MOST];
    k_ref at; /* where all of them are done: the first load, or the last store */
    k_val term[K_TOGETHER_TERMS];
    unsigned terms;
    int64_t first;
} k_together;

typedef struct k_togethers {
    VEC(k_together) group;
    VEC(k_val) factor; /* arguments of the launch that must be multiples of ... */
    VEC(unsigned) of;  /* ... this number, so that terms are what k_together says */
} k_togethers;

/* Elements of a type that are taken together. */
static inline unsigned k_together_elements(ir_type t)
{
    return ir_type_size(t) == 8 ? 2 : 4;
}

/* Finds those in the lists of the body of an IF. */
void k_find_together(const kernel *k, k_ref either, arena *a, k_togethers *out);

#endif
