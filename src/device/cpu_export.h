/* Machine code that leaves the process: for all processors of a level, in place of this one alone, and taken from
 * memory in place of disk. */
#ifndef SN_DEVICE_CPU_EXPORT_H
#define SN_DEVICE_CPU_EXPORT_H

#include "device/device.h"
#include "emit/emit.h"

/* What a set of processors has in common. x86-64: levels 2 (all that count), 3 (AVX2) and 4 (AVX-512); AArch64: 1. */
typedef struct cpu_level {
    const char *name;
    const char *cpu, *features; /* as LLVM calls them */
    uint32_t vector_bytes;       /* that its kernels are made for */
} cpu_level;
enum { CPU_LEVELS = 5 };

const cpu_level *device_cpu_level_at(unsigned level); /* NULL: processors of this kind have no such level */
unsigned device_cpu_machine(void);                    /* ELF's number of this kind of processor; 0: code is for none */
/* The highest level that this processor has, with vectors no longer than the device's; 0: none. */
unsigned device_cpu_level(const device *d);
/* What kernels in memory are made by: code of another interface is not to be run. */
const char *device_cpu_interface(void);
/* The code of a kernel for a level, which need not be this processor's, in `a`. False and *why if it cannot be
 * compiled, *why NULL if there was no memory. */
bool device_cpu_export(device *d, const kernel *k, unsigned level, arena *a, emit_cpu_blob *out, const char **why);
/* From now on, kernels with this key (k_key) have this code. Both stay where they are as long as the device. False: no
 * memory. Thread-safe. */
bool device_cpu_supply(device *d, const void *key, size_t key_bytes, emit_cpu_blob code);

#endif
