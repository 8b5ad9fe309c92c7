/* What a call did, step by step, for calls of the same extents that come later.
 *
 * Where all that the host computes is made of extents, so is what it finds right, how launches go about it, and which
 * kernels they take with which arguments. The first call, or round of a region, of some extents writes that down;
 * others find it, look at nothing again, and do what is left: they take memory, launch, copy, and give memory back.
 * Numbers that a region is given, as that of the round, and that are only arguments of launches are no such extents.
 *
 * Calls without a script are those that are recorded in a profile, that have fields of structs, whose results take the
 * memory of parameters, or that launch what depends on where results begin in a line; and all calls of programs with
 * choices, loops or sorts of arrays, and of those with extents that are read from arrays. Their regions may have
 * scripts. */
#ifndef SN_RUN_SCRIPT_H
#define SN_RUN_SCRIPT_H

#include "run/program.h"

typedef struct run_pointer { /* of a launch */
    uint32_t buffer;
    bool array;    /* it goes to the device if it is not there */
    size_t offset; /* bytes behind its beginning */
    uint32_t slot; /* in brief: where its memory is, */
    size_t behind; /* and so many bytes behind */
} run_pointer;

typedef struct run_ready { /* a launch */
    uint32_t launch;       /* the plan's */
    const run_geometry *found;
    const run_variant *variant; /* NULL: there is nothing to do */
    uint32_t pointers;
    const run_pointer *pointer;
    const ir_bits *arg;
    bool again; /* they depend on numbers that differ from round to round, so they are computed again */
    bool apart; /* it may be put off beside others; then: */
    device_reach reach;
} run_ready;

typedef struct run_scripted { /* a step */
    plan_op op;               /* RESULT, ALLOC, CLEAR, BEGIN, SIZE, LAUNCH, SWAP, FREE or COPY */
    uint32_t index, last;     /* as of the plan's step */
    run_sized sized;          /* SIZE */
    const run_ready *ready;   /* LAUNCH */
} run_scripted;

typedef struct run_brief_step {
    const run_ready *ready; /* a launch; NULL: memory, which the call takes, */
    size_t bytes;
    uint32_t slot;
    bool cleared; /* ... or clears */
} run_brief_step;

/* A script that only launches, into the memory that the caller has for results and little of its own. Slots are
 * memory: of parameters' components, constants, results' components, and then the call's own. */
typedef struct run_brief {
    uint32_t slots, ports; /* all, and those that are not the call's own */
    uint32_t launches, steps;
    const run_brief_step *step;
} run_brief;

struct run_script {      /* immutable once published */
    const int64_t *key;  /* extents, and what is given */
    const int64_t *dims; /* what the call then had: per name, */
    const bool *bound;
    const host_value *value; /* per step of the host's code, */
    const int64_t *size;     /* per shape, */
    const run_sized *sized;  /* and per launch: the last time */
    bool again;              /* launches were sized more than once */
    uint32_t pointers;       /* of all launches */
    uint32_t steps;
    const run_scripted *step;
    const run_brief *brief; /* NULL: there is more to it */
};

/* Once per program: which calls may have scripts. */
void run_may_script(run_program *r, arena *a);
/* The script of the call or round, whose extents are not looked at yet; else, if there is to be one, it is begun. */
const run_script *run_find_script(run *c);
/* The call's numbers: those of the script, but for loose ones. */
int64_t *run_script_dims(const run *c, const run_script *s);

/* Steps as they have been done, and launches as they are put into the queue; nothing if no script is begun. */
void run_script_step(run *c, const plan_step *s);
void run_script_launch(run *c, uint32_t launch, const run_geometry *found, const run_variant *v, const ir_bits *arg);
/* All steps are done: other calls may find it. */
void run_script_end(run *c);

/* The same in brief, on devices that do their work at once, in the host's memory; NULL: it cannot be. The slots of its
 * launches' pointers become known. */
const run_brief *run_brief_of(const run *c, const run_script *s, arena *a);

#endif
