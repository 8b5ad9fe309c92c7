/* Machine code that leaves the process: for all processors of a level of x86-64, in place of this one alone, and taken
 * from memory in place of disk. */
#ifndef SN_DEVICE_CPU_EXPORT_H
#define SN_DEVICE_CPU_EXPORT_H

#include "device/device.h"
#include "emit/emit.h"

/* The level of x86-64 (2, 3, 4) that code for vectors as long as this device's needs, and whether this processor has
 * it; 0: it is another processor, or does not. */
unsigned device_cpu_level(const device *d);
/* What kernels in memory are made by: code of another interface is not to be run. */
const char *device_cpu_interface(void);
/* The code of a kernel for that level, in `a`. False and *why if it cannot be compiled. */
bool device_cpu_export(device *d, const kernel *k, arena *a, emit_cpu_blob *out, const char **why);
/* From now on, kernels with this key (k_key) have this code. Both stay where they are as long as the device. False: no
 * memory. Thread-safe. */
bool device_cpu_supply(device *d, const void *key, size_t key_bytes, emit_cpu_blob code);

#endif
