/* What drivers of exported programs use of NVRTC, for the library that stands in for it. */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

#include <stddef.h>

typedef struct program *nvrtcProgram;
typedef int nvrtcResult;

nvrtcResult nvrtcCreateProgram(nvrtcProgram *p, const char *source, const char *name, int headers,
                               const char *const *header, const char *const *include);
nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int options, const char *const *option);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t *bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char *out);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *p);

#endif
