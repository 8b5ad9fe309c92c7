/* The builders behind sk_build, one per variant. */
#ifndef SN_SKELETON_VARIANTS_H
#define SN_SKELETON_VARIANTS_H

#include "skeleton/lower.h"

typedef struct sk_outputs { /* values a loop stores, component by component */
    VEC(ir_id) term;
    VEC(ir_id) array;
    VEC(uint32_t) component;
} sk_outputs;

/* Do the cluster's elements depend on index components, beyond the row-major position? */
bool sk_uses_index(const l_program *l, const l_cluster *c, arena *a);
/* Columns a tile of a stencil loop has; rows kept in shared memory have this static width plus their halo. */
int64_t sk_stencil_tile(const l_program *l, const l_cluster *c, arena *a);

sk_kernel *sk_build_map_flat(const l_program *l, const l_cluster *c, const sk_options *options, arena *a, const char **why);
sk_kernel *sk_build_map_rows(const l_program *l, const l_cluster *c, const sk_options *options, arena *a, const char **why);
sk_kernel *sk_build_stencil(const l_program *l, const l_cluster *c, const sk_options *options, arena *a, const char **why);
/* combine: over partial results; brief: rows of at most SK_SHORT elements */
sk_kernel *sk_build_fold(const l_program *l, const l_cluster *c, const sk_options *options, bool combine, bool brief, arena *a,
                         const char **why);

#endif
