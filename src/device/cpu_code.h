/* Executable memory for machine code, and what tells code of one machine and code generator from another's. */
#ifndef SN_DEVICE_CPU_CODE_H
#define SN_DEVICE_CPU_CODE_H

#include "emit/emit.h"

typedef struct cpu_code { /* mapped; never writable and executable at once */
    void *map;
    size_t bytes;
    k_entry entry;
} cpu_code;

/* Copies the blob to pages of its own. False if the system has no memory or refuses, or the blob has no such entry. */
bool cpu_code_map(const emit_cpu_blob *blob, cpu_code *out);
void cpu_code_unmap(cpu_code *code);

/* The beginning of a key: this processor, the sources of the code generator. False where code is not
 * kept from one process to the next: on processors that we cannot describe without LLVM. */
bool cpu_code_identity(text *out);

#endif
