/* The folder of the code generator's module, up to the end of the line: the build's own folder in what is built, the
 * installation's in what is installed. cmake/CodegenFolder.cmake replaces this section while installing, as CMake does
 * with search paths of libraries; the size is fixed, since that of a section of a linked file cannot change. */
#include "device/cpu_codegen.h"

#ifndef SN_CODEGEN_FOLDER
#define SN_CODEGEN_FOLDER ""
#endif

__attribute__((section("sinter_folder"))) const char cpu_codegen_folder[CPU_CODEGEN_FOLDER_BYTES] =
    SN_CODEGEN_FOLDER "\n";
