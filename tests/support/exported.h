/* Drivers of programs that are exported as sources, compiled with a host program of the test's. */
#ifndef SN_TESTS_EXPORTED_H
#define SN_TESTS_EXPORTED_H

#include "api/both.h"

#include <stdbool.h>

const char *exported_folder(void); /* the test's own; it makes it */
/* NAME and an ending in it; good until the fourth call from now on. */
const char *exported_path(const char *name, const char *ending);
void exported_write(const char *path, const void *data, size_t bytes);
void exported_must_run(const char *command);
/* A host program begins with it: C(NAME, _run) is the driver's function of that name; what opens driver `s` for a
 * queue `q`; arrays `in` and `out`, a `path`, and what main was given in `arg`. */
#define EXPORTED_HOST_OPENS                                                                                            \
    "#include HEADER\n"                                                                                                \
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"                                                   \
    "#define C_(a, b) a##b\n#define C(a, b) C_(a, b)\n"                                                                \
    "#ifdef OPENCL\n"                                                                                                  \
    "typedef cl_mem memory;\nstatic cl_context cx;\nstatic cl_command_queue q;\n"                                      \
    "#else\n"                                                                                                          \
    "typedef CUdeviceptr memory;\nstatic CUstream q;\n"                                                                \
    "#endif\n"                                                                                                         \
    "int main(int n, char **arg)\n{\n"                                                                                 \
    "    memory in[8] = {0}, out[8] = {0};\n    char path[500];\n    (void)n;\n"                                       \
    "#ifdef OPENCL\n"                                                                                                  \
    "    cl_platform_id platform; cl_device_id d; cl_int status;\n"                                                    \
    "    clGetPlatformIDs(1, &platform, NULL);\n"                                                                      \
    "    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &d, NULL);\n"                                                 \
    "    cx = clCreateContext(NULL, 1, &d, NULL, NULL, &status);\n"                                                    \
    "    q = clCreateCommandQueue(cx, d, 0, &status);\n"                                                               \
    "    struct C(NAME, _driver) *s = C(NAME, _open)(cx, d);\n"                                                        \
    "#else\n"                                                                                                          \
    "    CUdevice d; CUcontext c;\n"                                                                                   \
    "    cuInit(0); cuDeviceGet(&d, 0); cuDevicePrimaryCtxRetain(&c, d); cuCtxPushCurrent(c); cuStreamCreate(&q, "     \
    "1);\n"                                                                                                            \
    "    struct C(NAME, _driver) *s = C(NAME, _open)(d);\n"                                                            \
    "#endif\n"
/* NAME.host from NAME.c and the source of a host program, which is compiled with HEADER, NAME, and OPENCL or CUDA. */
void exported_compile(const char *name, const char *host, bool opencl);
/* "opencl", "cuda", or what else the context's device is. */
const char *exported_kind(sn_context *cx);

#endif
