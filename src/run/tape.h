/* What a recorded call did, step by step, for whoever repeats it without Sinter: a tape of the call, and one of a round
 * of each region of its loops and choices. Rounds that follow are compared with the first one: a tape that says the
 * same of all of them describes a program for these extents; others say that they do not.
 *
 * Calls are taped on devices behind a driver while they are recorded (profile.h), one at a time; calls of other extents
 * take the place of what was there. */
#ifndef SN_RUN_TAPE_H
#define SN_RUN_TAPE_H

#include "run/program.h"

typedef struct run_taped { /* a step of a plan, done */
    plan_op op;            /* none of those that only compute or compare, and no rounds: they are there one by one */
    uint32_t index, last;  /* as of the plan's step; LAUNCH: the plan's launch */
    size_t bytes;          /* ALLOC, CLEAR, BEGIN, COPY */
    const run_variant *variant; /* LAUNCH, with its pieces, the buffer of each pointer, how many bytes behind its
                                   beginning that points, and the arguments of this once */
    int64_t pieces;
    uint32_t *buffer;
    int64_t *offset;
    ir_bits *arg;
} run_taped;

typedef struct run_tape {
    struct run_tape *next;
    run_program *r;
    int64_t (*in)[IR_MAX_RANK];  /* extents per component of the parameters, */
    int64_t (*out)[IR_MAX_RANK]; /* and of the results */
    int64_t *dim;                /* per extent of the program */
    VEC(run_taped) step;
    bool whole;      /* it was recorded to its end */
    bool differs;    /* another round did something else, or a call of other data may */
    const char *why; /* neither does the plan say what they do; NULL: it does */
} run_tape;

/* Begins or ends the tape of a call or round whose extents are known. */
void run_tape_begin(run *c);
void run_tape_end(run *c, bool good);
/* A step that was done. */
void run_tape_step(run *c, const plan_step *s);
void run_tape_launch(run *c, uint32_t launch, const run_variant *v, int64_t pieces, const ir_bits *arg);
/* The user's function ran in place of a region. */
void run_tape_foreign(run *c);

/* The tape of the last recorded call; NULL: there is none. Nothing is taped between
 * run_tapes_open, which is false while a call is, and run_tapes_close. */
bool run_tapes_open(run_program *r);
void run_tapes_close(run_program *r);
const run_tape *run_tape_of_call(const run_program *r);
const run_tape *run_tapes_all(const run_program *r); /* that of the call, and of each region that has run */

void run_forget_tapes(run_program *r); /* those of the calls so far */
void run_free_tapes(run_program *r);

#endif
