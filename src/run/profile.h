/* What the calls of a program spent their time on, where somebody asked to know: recorded by calls, told by explain.
 *
 * A launch is recorded with what its work can be counted from later (profile_print.c): its kernel, arguments, and sizes
 * of arrays. Nothing is counted while calls run. Thread-safe. */
#ifndef SN_RUN_PROFILE_H
#define SN_RUN_PROFILE_H

#include "run/roof.h"

typedef enum {                /* what takes time besides kernels */
               RUN_COMPILE,   /* building and compiling kernels, or loading them from disk */
               RUN_PLANNING,  /* how to launch for new extents */
               RUN_EVALUATE,  /* extents, conditions and other values that the host computes */
               RUN_ALLOCATE,  /* memory for arrays and intermediate results */
               RUN_UPLOAD,    /* arguments that go to the device's memory, */
               RUN_DOWNLOAD,  /* results that come from there */
               RUN_COPY,      /* results that are parameters, or given twice */
               RUN_STRIDED,   /* strided arguments that become contiguous */
               RUN_CONVERT,   /* arrays of C structs, taken apart and put together */
               RUN_WAIT,      /* for a device at the end of a call, or for a value that the host reads */
               RUN_INTERPRET, /* calls without compiled code */
               RUN_STEPS
} run_step;

typedef struct run_timing { /* nanoseconds */
    atomic_uint_fast64_t count, total, least, bytes;
} run_timing;

typedef struct run_row run_row; /* launches of one kernel over the same extents */

struct run_program;
struct run_profile;

/* --- recording --- */

/* From now on calls that begin are recorded, and what was recorded is forgotten; or they are no more. */
void run_record(struct run_program *r, bool on);
bool run_recording(const struct run_program *r);
bool run_recorded(const struct run_program *r); /* is there anything to tell? */

/* The time now if calls are recorded, else 0, with which the other functions do nothing. */
uint64_t run_clock(const struct run_program *r);
void run_note_step(struct run_program *r, run_step step, uint64_t since, uint64_t bytes);
void run_note_call(struct run_program *r, uint64_t since);

/* --- telling --- */

typedef struct sk_kernel sk_kernel;
typedef struct run_launched { /* a launch that was recorded, of which there may have been many */
    uint32_t cluster;
    const sk_kernel *kernel;
    int64_t pieces;
    const ir_bits *arg;      /* what the kernel got */
    const int64_t *elements; /* per memory of it; -1: of partial results */
} run_launched;
/* Cluster by cluster, as they came. */
void run_visit_launches(const struct run_program *r, void (*visit)(void *env, const run_launched *l), void *env);

typedef struct run_told { /* a version of a program, all of which record in the same profile */
    struct run_program *r;
    bool large, one_sweep; /* the calls that run it: whose arguments are large, whose rows are not worth going over
                              several times */
} run_told;

/* A table for people, and JSON, of `n` versions, the first of which every program has. `roof`: NULL if the machine's
 * was not measured. */
void run_print_profile(uint32_t n, const run_told *version, const run_roof *roof, text *out);
void run_print_profile_json(uint32_t n, const run_told *version, const run_roof *roof, text *out);

#endif
