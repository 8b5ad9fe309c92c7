/* What a launch does, counted from its kernel: operations, and which elements of memory it loads and stores. */
#ifndef SN_KERNEL_WORK_H
#define SN_KERNEL_WORK_H

#include "kernel/kernel.h"

typedef struct k_traffic { /* of a global memory, in one launch */
    double loads, stores;  /* elements, each as often as it is loaded or stored */
    double gathered;       /* of the loads: at indices that differ from lane to lane without rule */
    int64_t low, high;     /* indices lie between them; low > high: there are none */
    bool anywhere;         /* ... or somewhere else: some index is not known */
} k_traffic;

typedef struct k_work {
    double operations;  /* arithmetic on elements, math functions expanded; an fma is two */
    double wide;        /* of them: on types of 8 bytes */
    double alone;       /* of them: one at a time, not in lanes */
    double used, slots; /* in lanes, operations and accesses to global memory together: as they are, and if all lanes of
                           every gang were on; but for */
    double joining;     /* slots of what makes one value of those of many lanes, and stores it */
    bool open_ended;    /* some loop has as many rounds as its data say: it counts as one round */
    k_traffic *memory;  /* per k_mem */
} k_work;

/* Counts a launch of so many pieces with these arguments, with gangs of `width` threads. Lanes that a condition of the
 * program turns off count as on. Many pieces, and loops of many rounds, are sampled: their first and last ones are
 * counted one by one. Results and scratch memory come from `a`; the kernel is not changed. */
void k_find_work(const kernel *k, arena *a, const ir_bits *arg, int64_t pieces, uint32_t width, k_work *out);

/* Elements of an array of this many that the launch had to load, or store, at least once. */
double k_elements_loaded(const k_traffic *t, int64_t elements);
double k_elements_stored(const k_traffic *t, int64_t elements);

#endif
