/* How many blocks of many threads a compute unit works on at a time, from its published limits: pure arithmetic. */
#ifndef SN_KERNEL_OCCUPANCY_H
#define SN_KERNEL_OCCUPANCY_H

#include <stddef.h>
#include <stdint.h>

typedef struct k_unit { /* a compute unit (multiprocessor); limits that are 0 are unknown and do not limit */
    uint32_t threads, groups, registers; /* at once */
    uint32_t group;                      /* most threads of a block */
    uint32_t gang;                       /* threads that get registers together (a warp); 0: 1 */
    size_t shared;                       /* bytes of all blocks together */
    /* What is given out at a time; 0: any amount. */
    uint32_t register_grain; /* registers, to a gang */
    uint32_t gang_grain;     /* gangs, of those that registers suffice for */
    size_t shared_grain;     /* bytes, to a block */
    size_t shared_besides;   /* bytes that the device takes for itself in every block */
} k_unit;

typedef struct k_need { /* of a kernel */
    uint32_t registers; /* of a thread; 0: not known yet */
    size_t shared;      /* bytes of a block */
} k_need;

/* Blocks of `threads` that are at work at once; 0: not even one fits. UINT32_MAX if nothing is known. */
uint32_t k_resident(const k_unit *u, const k_need *n, uint32_t threads);
/* How many threads a block should have: `wish`, whole gangs and no more than the device allows, unless smaller blocks
 * bring a quarter more threads to work at once. At least 1. */
uint32_t k_choose_group(const k_unit *u, const k_need *n, uint32_t wish);

#endif
