/* Finds and opens the code generator's module. */
#ifndef SN_DEVICE_CPU_CODEGEN_H
#define SN_DEVICE_CPU_CODEGEN_H

#include "base/digest.h"
#include "emit/emit.h"

/* Opens the module at `path` (a file or its folder), or else that in $SINTER_CODEGEN, or else looks beside this library and where it
 * was built or installed. It stays loaded until the process ends (libLLVM does not survive being unloaded). NULL and
 * *why in `a` if there is none. */
const emit_cpu_module *cpu_codegen_open(const char *path, arena *a, const char **why);

/* Says without opening it which file cpu_codegen_open would try first: a digest of its size and time. False if there is none. */
bool cpu_codegen_find(const char *path, arena *a, digest *out);

#endif
