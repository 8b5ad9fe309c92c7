/* Several launches, none of which depends on another, as items that threads take: with one wake-up of the workers, and
 * one wait for all. What is made here is one thread's; the items are run by many. */
#ifndef SN_DEVICE_CPU_TOGETHER_H
#define SN_DEVICE_CPU_TOGETHER_H

#include "device/cpu_put_off.h"
#include "kernel/launch.h"

typedef struct scratch {
    struct scratch *next;
} scratch;

typedef struct cpu_part { /* a launch */
    k_launch common;
    k_entry entry;
    bool chained;
    int64_t items;             /* that it is cut into; of a kernel with CHAIN: how many may take part */
    _Alignas(64) int64_t next; /* of those */
} cpu_part;

typedef struct cpu_together {
    uint32_t parts;
    bool by_turns; /* an item is as much of each launch: what one reads of their array the next one finds in a cache */
    int64_t items; /* of all together */
    scratch **block; /* per thread; for the caller to set */
    cpu_part part[CPU_MOST_PUT_OFF];
} cpu_together;

/* How many pieces a thread with CHAIN takes at once. */
uint32_t cpu_pieces_together(int64_t pieces, unsigned threads);
/* Items worth about as much as each other, those of the first launch first. */
void cpu_together_begin(cpu_together *t, cpu_put_off **l, uint32_t n, unsigned threads);
/* For launches that read the same array (cpu_put_offs_sharing): items by turns, as many as make of `bytes` of it parts
 * that fit the second level of caches. False: they have too few pieces to keep all threads at work. */
bool cpu_together_by_turns(cpu_together *t, cpu_put_off **l, uint32_t n, unsigned threads, size_t bytes);
/* A pool's body; env: cpu_together. */
void cpu_together_run(void *env, unsigned worker, int64_t first, int64_t last);

#endif
