/* Private to the export of sources: C that launches what a recorded call has launched. */
#ifndef SN_API_EXPORT_DRIVER_H
#define SN_API_EXPORT_DRIVER_H

#include "api/export.h"
#include "run/sizing.h"
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
    /* Where extents may be others in each run, and rounds of sorts; NULL: all launches are those of the tape. */
    run_sizer *sizer;
    uint8_t *input_varies; /* per input, bits: its extents that may be others; NULL of the outermost program */
    bool *varies;          /* per step of the host's code; */
    host_value *value;     /* of those that do not; */
    int64_t *most;         /* of those that do; -1: it is not known */
} driven;

typedef struct writer { /* of a function */
    driven *d;
    text body, top, end; /* statements; what is declared before them; and what is let go behind them */
    const plan *p;
    uint32_t steps;  /* in the description */
    bool *computed;  /* per step of the host's code: its variable has its value */
    uint32_t tables; /* of stretches */
} writer;

/* export_value.c: whether a step of host code has another value each time, into `varies`, of the steps before it, too;
 * and statements that compute its bits. `goto end` leaves them after a failure. */
bool driven_varies(const driven *d, const host_code *code, uint32_t step, bool *varies);
bool driven_value(driven *d, text *out, const host_code *code, uint32_t step, const char *to);

/* export_program.c: the functions of a tape; false and d->why if what it did cannot be told. */
bool driven_program(driven *d);
/* The statements of a control, whose names are made of a number of its own. */
bool driven_control(writer *w, uint32_t number, uint32_t control);
/* Keeps the first reason. Always false. */
bool driven_refuse(driven *d, const char *why);

/* export_plan.c: what varies of the host's code, and how much at most; and the statements of all steps of the plan. */
void driven_find_values(driven *d);
bool driven_plan(writer *w);
/* A step's value in C. */
const char *driven_number(writer *w, uint32_t step);
/* Says which extents a buffer's array has, in C: `block`. */
bool driven_extents(writer *w, uint32_t buffer, const char *block);
/* The most elements that a result may have in each dimension; -1: it is not known. */
void driven_most(const driven *d, uint32_t result, int64_t extent[IR_MAX_RANK]);

/* export_sort.c: the rounds of a sort behind its first launch. */
bool driven_sort(writer *w, uint32_t cluster);

/* How a launch goes about its extents, which becomes a table in the function's beginning. */
typedef struct sized_launch {
    uint32_t launch;    /* the plan's */
    uint32_t number, n; /* the table's, and how many stretches it has */
    const run_stretch *at;
    int64_t least, most; /* of the number that is not known; alike: there is none */
    const char *unknown; /* it in C; */
    bool flat;           /* or it is how many elements there are */
} sized_launch;
typedef struct sizing_of { /* a round of it */
    sk_round round;
    int64_t behind;       /* as run_asked has it; */
    int64_t least;        /* and the least number that has such rounds */
    const char *partials; /* in C, where how many are left is not known: from 2 to */
    int64_t most_partials;
} sizing_of;
bool driven_size(writer *w, uint32_t launch, const sizing_of *how, sized_launch *out);
/* Statements: the sizes `g` of a launch, once, and the launch. `to`, of sorts, in C: it goes to the result. */
void driven_sizes(writer *w, const sized_launch *l, const char *g);
bool driven_launch(writer *w, const sized_launch *l, const char *g, const char *to);

/* export_runtime.c: the text around tables and functions, for "opencl" or "cuda". The table of sources stands behind
 * DRIVER_BEFORE_SOURCES parts, functions and what the program brings along before the last one. DRIVER in it is the
 * program's name. */
enum { DRIVER_PARTS = 12, DRIVER_BEFORE_SOURCES = 6 };
void export_runtime(const char *kind, bool sized, const char *part[DRIVER_PARTS]);
/* export_sizes.c: those of functions whose launches go about other extents. */
extern const char export_extents[], export_sizes[], export_sorts[];

typedef struct driver_kernel {
    const sk_kernel *k;
    const kernel *ready;
    const char *entry;
    uint32_t group; /* threads that a block has at most */
    bool used;      /* by the driver */
    text source;
} driver_kernel;

/* export_driver.c: PREFIX.h and PREFIX.c, and the programs for the description. export_describe: false
 * and *why if what the recorded call did cannot be told. */
typedef struct described {
    uint32_t (*kernel_number)(void *env, const sk_kernel *k); /* of a kernel of the driver; NULL: there are none yet */
    void *env;
    text *functions, *programs;
    uint32_t first;      /* the number of the outermost function */
    const driven *sized; /* extents may be others in each run; NULL: all are those of the recorded call */
} described;
bool export_describe(exporting *e, const run_program *root, described *to, const char **why);
sn_status export_driver(exporting *e, const run_program *root, const char *kind, const described *from,
                        const driver_kernel *all, uint32_t kernels);

#endif
