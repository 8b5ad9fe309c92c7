/* Index arithmetic in 32 bits (k->narrow). */
#ifndef SN_KERNEL_NARROW_H
#define SN_KERNEL_NARROW_H

#include "kernel/ranges.h"

/* Per value, in `a`: is it index arithmetic, computed from pieces, threads, arguments and small literals alone? These
 * are the values that a kernel with `narrow` may compute in 32 bits. Variables are such values if they choose among
 * them.
 */
bool *k_find_indices(const kernel *k, arena *a);
/* What a kernel does in its lanes with indices. */
typedef enum {
    K_INDICES_LINEAR,   /* they go up or down by a small constant step, if at all, */
    K_INDICES_USED,     /* and are compared, which makes masks of numbers of lanes where differences fit, or converted, */
    K_INDICES_VECTORS   /* or differ otherwise, so that vectors of them are made */
} k_index_vectors;
k_index_vectors k_find_index_vectors(const kernel *k, arena *a);
/* Indices that a narrow kernel converts to 32 bits and back stay what they are, which the analysis of shapes follows.
 */
void k_keep_indices(kernel *k, arena *a);
/* Do these values fit in 32 bits with room to spare, in a launch of pieces [first, last) with these arguments? False
 * when in doubt. Takes scratch memory from `a`. */
bool k_indices_fit(const kernel *k, arena *a, const ir_bits *arg, int64_t first, int64_t last);
/* The same for all launches whose arguments of type i64 lie in these intervals. */
bool k_indices_fit_between(const kernel *k, arena *a, const k_range *arg, int64_t first, int64_t last);

#endif
