/* Finds and opens the code generator's module. */
#ifndef SN_DEVICE_CPU_CODEGEN_H
#define SN_DEVICE_CPU_CODEGEN_H

#include "base/digest.h"
#include "emit/emit.h"

/* Where the module was installed or, until then, built; ends with the line. */
enum { CPU_CODEGEN_FOLDER_BYTES = 4096 };
extern const char cpu_codegen_folder[CPU_CODEGEN_FOLDER_BYTES];

/* Opens the module at `path` (a file or its folder), or else that in $SINTER_CODEGEN, or else looks beside this shared
 * library and in cpu_codegen_folder, where only what nobody else can have put there counts (device/trust.h). A program
 * into which this code is linked statically does not look beside itself: who starts it chooses what it is called. The
 * module stays loaded until the process ends (libLLVM does not survive being unloaded). NULL and *why in `a` if there
 * is none. */
const emit_cpu_module *cpu_codegen_open(const char *path, arena *a, const char **why);

/* Says without opening it which file cpu_codegen_open would try first: a digest of its size and time. False if there is none. */
bool cpu_codegen_find(const char *path, arena *a, digest *out);

#endif
