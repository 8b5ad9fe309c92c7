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
/* NAME.host from NAME.c and the source of a host program, which is compiled with HEADER, NAME, and OPENCL or CUDA. */
void exported_compile(const char *name, const char *host, bool opencl);
/* "opencl", "cuda", or what else the context's device is. */
const char *exported_kind(sn_context *cx);

#endif
