/* Reading an .npy file that is open already; for tests that have no file. */
#ifndef SN_API_NPY_H
#define SN_API_NPY_H

#include "sinter/sinter.h"

#include <stdio.h>

/* As sn_load_npy_at; `path` is for messages. */
sn_array *npy_load(sn_site at, sn_context *cx, FILE *file, const char *path);

#endif
