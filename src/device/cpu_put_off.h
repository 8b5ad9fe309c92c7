/* Launches that a queue of the CPU puts off, to do those that do not depend on each other at the same time: with one
 * wake-up of the workers, and one wait for all. Two depend on each other where one writes memory that the other one
 * touches. A launch's level is one more than the highest among those before it that it depends on, so launches of one
 * level are independent, and level after level they do what they would have done one after the other.
 *
 * The list copies pointers and arguments. One queue's, so one thread at a time uses it. */
#ifndef SN_DEVICE_CPU_PUT_OFF_H
#define SN_DEVICE_CPU_PUT_OFF_H

#include "device/device.h"
#include "kernel/launch.h"

/* Launches that read at least so many bytes of an array go over it together: less stays in a cache in any case. */
enum { CPU_MOST_PUT_OFF = 64, CPU_LEAST_SHARED = 1 << 20 };

typedef struct cpu_put_off { /* a launch */
    k_entry entry;
    bool chained, large; /* its kernel has CHAIN; its scratch block is a large one */
    int64_t first, last; /* pieces */
    double work;         /* scalar operations */
    bool small;          /* alone it is worth less than waking up threads */
    bool shares;         /* it is expected that another one reads as much of the same array */
    void *const *mem;
    const ir_bits *arg;
    k_error error;
    uint32_t level, read, reads; /* the last two: which ranges it reads */
} cpu_put_off;

typedef struct cpu_put_offs cpu_put_offs;

/* What its kernel is called with; its errors go into it. */
k_launch cpu_launch_of(cpu_put_off *l);

/* NULL: no memory. */
cpu_put_offs *cpu_put_offs_new(const base_heap *heap);
void cpu_put_offs_free(cpu_put_offs *all, const base_heap *heap); /* NULL is ignored */

/* False: there is no room, so that those on the list have to be done first; where it is empty, it is no launch to put
 * off. `like` says all but the last line. */
bool cpu_put_offs_add(cpu_put_offs *all, const cpu_put_off *like, const device_reach *reach);
/* Does it read much of an array that another one is expected to read? */
bool cpu_reads_shared(const device_reach *reach);
uint32_t cpu_put_offs_count(const cpu_put_offs *all); /* 0 of NULL */
double cpu_put_offs_work(const cpu_put_offs *all);    /* of all of them but those that share */
/* Is there one that has to be done before this memory is written, or read? */
bool cpu_put_offs_touch(const cpu_put_offs *all, const void *at, size_t bytes, bool written);

/* Those of a level, in their order; how many, 0 behind the last level. `out` has room for all. */
uint32_t cpu_put_offs_level(cpu_put_offs *all, uint32_t level, cpu_put_off **out);
/* Of those of a level, brings those in front that share an array with the first one that shares one, which is among
 * them, in their order; how many, 0: none share any. *bytes: what of it is read. */
uint32_t cpu_put_offs_sharing(const cpu_put_offs *all, cpu_put_off **of, uint32_t n, size_t *bytes);
void cpu_put_offs_clear(cpu_put_offs *all);

#endif
