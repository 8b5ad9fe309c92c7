/* The optimiser's sequence, from the list of all passes. */
#include "kernel/passes.h"

#define PASS_TERM(name, what)
#define PASS_CLUSTER(name, what)
#define PASS_LOWER(name, what)
#define PASS_KERNEL(name, what) {#name, what, k_##name},
#define PASS_DEVICE(name, what)
#define PASS_CODE(name, what)
#define PASS(STAGE, name, what) PASS_##STAGE(name, what)

const k_pass k_passes[] = {
#include "base/passes.def"
};

const unsigned k_passes_n = ARRAY_LENGTH(k_passes);

void k_optimise(kernel *k, arena *a)
{
    for (unsigned i = 0; i < k_passes_n; i++)
        k_passes[i].run(k, a);
}
