/* Finds and opens the code generator's module. */
#ifndef SN_DEVICE_CPU_CODEGEN_H
#define SN_DEVICE_CPU_CODEGEN_H

#include "emit/emit.h"

/* Opens the module at `path`, or else looks in $SINTER_CODEGEN, beside this library and where it was built or installed.
 * The module stays loaded until the process ends (libLLVM does not survive being unloaded). NULL and *why in `a` if there is none. */
const emit_cpu_module *cpu_codegen_open(const char *path, arena *a, const char **why);

#endif
