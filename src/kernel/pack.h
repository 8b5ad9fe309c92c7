/* Loops whose rounds work on neighbouring elements (K_PACK), so that these may be loaded and stored together. */
#ifndef SN_KERNEL_PACK_H
#define SN_KERNEL_PACK_H

#include "kernel/kernel.h"

enum { K_PACK_TERMS = 8 };

typedef struct k_pack {       /* where the elements of an access lie: round + term[0] + ... */
    k_val term[K_PACK_TERMS]; /* defined before the loop */
    unsigned terms;
} k_pack;

/* Does this statement, directly in the body of the K_PACK loop `loop`, load or store neighbouring elements of global
 * memory in neighbouring rounds, in a way that all rounds can do together before or after the loop? */
bool k_pack_access(const kernel *k, k_ref loop, const k_stmt *x, k_pack *out);
/* Is a kernel better for its packs? Not where checks may fail, which report the smallest failure of all elements, nor
 * where other elements are read from global memory: neighbouring threads would read them in strides. */
bool k_packs_pay(const kernel *k, arena *a);

#endif
