/* Memory of the CPU device. */
#ifndef SN_DEVICE_CPU_MEMORY_H
#define SN_DEVICE_CPU_MEMORY_H

#include "base/base.h"

/* 64-byte aligned; from 4 MiB on aligned to and backed by huge pages. NULL when there is none. Thread-safe. */
void *cpu_memory_alloc(const base_heap *heap, size_t bytes);
void cpu_memory_release(const base_heap *heap, void *block, size_t bytes); /* the size it was allocated with */

#endif
