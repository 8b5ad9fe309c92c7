/* The optimiser's sequence, from the list of all passes. */
#include "kernel/passes.h"

#define PASS_KERNEL(name, what) {#name, what, k_##name},
const k_pass k_passes[] = {
#include "base/passes.def"
};

const unsigned k_passes_n = ARRAY_LENGTH(k_passes);

void k_optimise(kernel *k, arena *a)
{
    for (unsigned i = 0; i < k_passes_n; i++)
        k_passes[i].run(k, a);
}
