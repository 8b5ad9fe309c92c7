/* The kernel language's optimiser: passes from kernels to kernels, each in a file of its own. base/passes.def lists
 * them in their order, with what each is for.
 *
 * A pass takes a kernel that k_verify accepts, changes it in place, and leaves one that k_verify accepts. What the
 * kernel does stays the same: every bit it stores in global memory, the failure that is kept, which is the smallest
 * (site, element), and every note, once each. Passes take scratch memory from `a`, keep nothing, and are linear in the
 * size of the kernel but for logarithms and the depth of loops. They may run in any order, and again.
 *
 * Every LET is total, so it may be computed where it was not before; but what is partial in the operator table is never
 * moved above what guards it. Loads, but for those of memory that has `one`, stores, atomics and exchanges between lanes
 * stay where they are, and CHECKs but for k_checks. */
#ifndef SN_KERNEL_PASSES_H
#define SN_KERNEL_PASSES_H

#include "kernel/kernel.h"

/* Common subexpressions: a value that the same operands gave before, where that is seen, is used again. So are elements
 * of memory that nobody may have written since: never of outputs, which other pieces may write. */
void k_share(kernel *k, arena *a);
/* What does not change in a loop is computed before it, out of as many loops as that holds for. Values in an IF stay in
 * it, as its loop may never need them, but for those that single values in memory go into. */
void k_hoist(kernel *k, arena *a);
/* Conditions, minima, maxima and absolute values that are known where they stand: by intervals (ranges.h), by an IF
 * around, or by a CHECK or BREAK_IF before. Of an IF the branch that is taken is left, and a CHECK that holds goes. */
void k_decide(kernel *k, arena *a);
/* Strength reduction: a loop's index divided by what does not change goes along with the index, as a quotient and a
 * remainder. Divisions by literals are left to compilers, which know better. */
void k_reduce(kernel *k, arena *a);
/* CHECKs, with what they look at, come before loads in front of them that they do not need. */
void k_checks(kernel *k, arena *a);
/* Dead code: values that nobody uses, stores to shared and private memory that nobody reads, variables that nobody
 * reads, and loops and conditions around nothing. */
void k_dead(kernel *k, arena *a);
/* For devices with vectors only, and not one of `k_passes`: integers in as few bits as they need, where nothing has to be
 * made longer or shorter for that. What it leaves unused is for k_dead. */
void k_shorten(kernel *k, arena *a);

typedef struct k_pass {
    const char *name, *what;
    void (*run)(kernel *k, arena *a);
} k_pass;

/* The optimiser's passes in their order. */
extern const k_pass k_passes[];
extern const unsigned k_passes_n;
/* All of them. */
void k_optimise(kernel *k, arena *a);

#endif
