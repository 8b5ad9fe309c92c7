/* CUDA's run-time compiler, opened at run time: CUDA C++ text becomes a binary for one architecture, or PTX. */
#ifndef SN_DEVICE_NVRTC_H
#define SN_DEVICE_NVRTC_H

#include "base/base.h"

typedef struct nvrtc nvrtc; /* thread-safe */

typedef struct nvrtc_code {
    const char *bytes; /* PTX with a NUL behind */
    size_t size;
} nvrtc_code;

typedef struct nvrtc_options {
    unsigned arch;     /* 80, 90 ...: major and minor number of the compute capability */
    unsigned local;    /* threads of a block: SN_LOCAL */
    bool ptx;          /* text for the driver to compile, not a binary */
    const char *flags; /* words; NULL: nvrtc_flags */
} nvrtc_options;

/* $SINTER_NVRTC (a library or its folder), else libnvrtc.so.13, .12 or .11.2 as the loader finds it or in
 * /usr/local/cuda. `most_major`: none newer than that, since a driver refuses what it does not know; 0: any. NULL and
 * *why in `a`. What it returns is in `a`, too; the library stays loaded. */
const nvrtc *nvrtc_open(unsigned most_major, arena *a, const char **why);

const char *nvrtc_name(const nvrtc *n); /* "NVRTC 12.9" */
/* Can it make binaries for this architecture? */
bool nvrtc_makes(const nvrtc *n, unsigned arch);
/* The newest architecture that is not newer than `arch`; 0: none. */
unsigned nvrtc_nearest(const nvrtc *n, unsigned arch);

/* What decides about the code besides source, architecture and version; for keys. */
extern const char nvrtc_flags[];

/* False and the compiler's log, in `a`, as *log. */
bool nvrtc_compile(const nvrtc *n, const char *source, const nvrtc_options *options, arena *a, nvrtc_code *out,
                   const char **log);

#endif
