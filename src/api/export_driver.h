/* Private to the export of sources: C that launches what a recorded call has launched. */
#ifndef SN_API_EXPORT_DRIVER_H
#define SN_API_EXPORT_DRIVER_H

#include "api/export.h"
#include "run/tape.h"

typedef struct driven { /* a program that becomes a function of the driver */
    arena *arena;
    const run_program *root;
    const run_tape *tape;
    uint32_t number;  /* of the function */
    bool *dim_varies; /* per extent: another value each time, which the function is given */
    uint32_t (*kernel_number)(void *env, const sk_kernel *k);
    void *env;
    text *functions; /* those of programs inside come first, */
    text *programs;  /* and so they do in the description, for other hosts */
    text *json;      /* this program's in it */
    uint32_t *count; /* of functions */
    const char *why; /* there is none */
} driven;

/* export_value.c: whether a step of host code has another value each time, into `varies`, of the steps before it, too;
 * and statements that compute its bits. `goto end` leaves them after a failure. */
bool driven_varies(const driven *d, const host_code *code, uint32_t step, bool *varies);
bool driven_value(driven *d, text *out, const host_code *code, uint32_t step, const char *to);

/* export_program.c: the functions of a tape; false and d->why if what it did cannot be told. */
bool driven_program(driven *d);

/* export_runtime.c: the text around tables and functions, for "opencl" or "cuda". The table of sources stands behind
 * DRIVER_BEFORE_SOURCES parts, functions and what the program brings along before the last one. DRIVER in it is the
 * program's name. */
enum { DRIVER_PARTS = 8, DRIVER_BEFORE_SOURCES = 5 };
void export_runtime(const char *kind, const char *part[DRIVER_PARTS]);

typedef struct driver_kernel {
    const sk_kernel *k;
    const kernel *ready;
    const char *entry;
    uint32_t group; /* threads that a block has at most */
    text source;
} driver_kernel;

/* export_driver.c: PREFIX.h and PREFIX.c, and the programs for the description. export_describe: false
 * and *why if what the recorded call did cannot be told. */
bool export_describe(exporting *e, const run_program *root, uint32_t (*kernel_number)(void *env, const sk_kernel *k),
                     void *env, text *functions, text *programs, uint32_t *first, const char **why);
/* `first`: the number of the outermost function, which export_describe gave. */
sn_status export_driver(exporting *e, const run_program *root, const char *kind, const text *functions, uint32_t first,
                        const driver_kernel *all, uint32_t kernels);

#endif
