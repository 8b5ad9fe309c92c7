/* Launches that a queue of the CPU puts off, to do those that do not depend on each other at the same time: with one
 * wake-up of the workers, and one wait for all. Two depend on each other where one writes memory that the other one
 * touches. A launch's level is one more than the highest among those before it that it depends on, so launches of one
 * level are independent, and level after level they do what they would have done one after the other.
 *
 * The list copies pointers and arguments. One queue's, so one thread at a time uses it. */
#ifndef SN_DEVICE_CPU_PUT_OFF_H
#define SN_DEVICE_CPU_PUT_OFF_H

#include "device/device.h"

enum { CPU_MOST_PUT_OFF = 64 };

typedef struct cpu_put_off { /* a launch */
    device_kernel *kernel;
    int64_t first, last; /* pieces */
    double work;         /* scalar operations */
    bool small;          /* alone it is worth less than waking up threads */
    void *const *mem;
    const ir_bits *arg;
    uint32_t level;
    k_error error;
} cpu_put_off;

typedef struct cpu_put_offs cpu_put_offs;

/* NULL: no memory. */
cpu_put_offs *cpu_put_offs_new(const base_heap *heap);
void cpu_put_offs_free(cpu_put_offs *all, const base_heap *heap); /* NULL is ignored */

/* False: there is no room, so that those on the list have to be done first; where it is empty, it is no launch to put
 * off. `like` says all but mem, arg and level. */
bool cpu_put_offs_add(cpu_put_offs *all, const cpu_put_off *like, void *const *mem, const ir_bits *arg,
                      const device_reach *reach);
uint32_t cpu_put_offs_count(const cpu_put_offs *all); /* 0 of NULL */
double cpu_put_offs_work(const cpu_put_offs *all);    /* of all of them */
/* Is there one that has to be done before this memory is written, or read? */
bool cpu_put_offs_touch(const cpu_put_offs *all, const void *at, size_t bytes, bool written);

/* Those of a level, in their order; how many, 0 behind the last level. `out` has room for all. */
uint32_t cpu_put_offs_level(cpu_put_offs *all, uint32_t level, cpu_put_off **out);
void cpu_put_offs_clear(cpu_put_offs *all);

#endif
