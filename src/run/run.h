/* Calls: a plan executed on a device, with the caller's memory.
 *
 * A run_program is made once and called from any number of threads. Its kernels are built and compiled when a call
 * first needs them and kept; a call whose extents have been seen finds its kernels and geometry without a lock.
 * Building a kernel adds terms to the program, so it excludes everything else that reads terms (run_program's lock);
 * what a call needs otherwise was copied into the plan. */
#ifndef SN_RUN_RUN_H
#define SN_RUN_RUN_H

#include "ir/interpret.h"
#include "plan/plan.h"
#include "run/counters.h"
#include "run/pool.h"
#include "run/profile.h"
#include "sinter/sinter.h"
#include "skeleton/skeleton.h"

#include <stdatomic.h>

typedef struct run_engine { /* of a context */
    device *device;         /* NULL: programs are interpreted */
    run_pool *pool;         /* NULL exactly if device is */
    const base_heap *heap;
    run_counters *counters; /* NULL: nobody counts */
    void (*say)(void *env,
                const char *said); /* what `trace` saw, a line a time, on the thread that calls; NULL: nobody listens */
    void *say_env;
    void (*progress)(void *env, int64_t done, int64_t known); /* launches of a call; NULL: nobody wants to know */
    void *progress_env;
    const atomic_uint *cancels; /* counts up when all calls in progress are to end; NULL: nobody does that */
} run_engine;

typedef struct run_program run_program;
typedef struct run_argument run_argument;

/* The programs of a control's region, and which of them a call with these arguments runs. */
typedef struct run_region {
    run_program *(*choose)(void *env, const run_argument *in, size_t bytes, void *room);
    void *env;
    size_t room; /* bytes of memory for choose */
} run_region;
typedef struct run_control {
    run_region *region;
} run_control;

/* Elements that are fields of an array of structs in the caller's memory, aligned or not: each so many bytes behind the
 * one before. Bytes of the structs that are of no such field are never written. */
typedef struct run_field {
    uint32_t every;   /* bytes of a struct; 0: no field, elements lie one behind the other */
    uint32_t at;      /* where in the struct */
    uint32_t structs; /* from 1: arguments with equal numbers are fields of the same structs */
    uint32_t over;    /* of a result in a layout: 1 + the buffer of the parameter whose memory it takes; 0: none */
} run_field;

/* One component of a parameter; validated by the caller: type, rank, extents not negative, size in bytes has 63 bits.
 */
struct run_argument {
    int64_t extent[IR_MAX_RANK];
    uint32_t number;  /* what messages call it */
    const void *data; /* host memory, borrowed until the call is over: the first element; NULL if `block` is set */
    run_field field;
    bool aside;  /* fields: results are written over them */
    bool needed; /* fields: the program looks at elements */
    /* What the device's pool has granted for the elements, which may be overwritten, and are nobody's afterwards but a
     * result's: then it is 0. NULL: they stay as they are. */
    size_t *given;
    /* Devices with memory of their own: elements that are there already. `data` may be set besides: the same ones. */
    void *block;
};

/* One component of a result. */
typedef struct run_result {
    uint32_t number; /* what messages call it */
    bool given;      /* the caller's host memory: `extent` and `data` are set. Else the call sets them */
    bool upto;       /* given, but `extent` is the call's to set: there is memory for `capacity` elements */
    bool known;      /* upto: set as soon as `extent` is, also if the call fails for want of memory */
    int64_t capacity;
    int64_t extent[IR_MAX_RANK];
    run_field field; /* given */
    bool aside;      /* fields: parameters are read from there */
    void *data;      /* not given: of the engine's pool, or heap if there is no device; the caller's from then on */
    size_t granted;
} run_result;

/* The program and plan (and everything behind them) live in an arena that outlives the run_program; it belongs to the
 * run_program from now on: builds allocate there. `other` has other clusters of the same terms, and is freed later;
 * NULL: there is none. Jumps to the arena's failure handler when memory runs out. */
run_program *run_program_new(const run_engine *engine, const sk_program *s, const plan *p, const sk_options *options,
                             const run_program *other);
/* The programs within it, by the numbers of controls (plan_control): they stay as long. */
void run_attach(run_program *r, const run_control *control);
void run_program_free(run_program *r); /* gives compiled kernels back */

typedef struct run_said { /* of a call that failed */
    const char *text;
    bool placed; /* it begins with the place of an operation in the user's code */
} run_said;

/* Arguments: one per component of the parameters, results likewise. On failure *said (its text in `a`) says why, and
 * results that were not given are NULL. On success the text is NULL or, the first time, says why the program is
 * interpreted. `a` is the caller's, with a failure handler that it does not rely on afterwards. */
sn_status run_call(run_program *r, const run_argument *in, run_result *out, arena *a, run_said *said);

/* The same in two steps: on devices with queues the first returns when everything is queued (kernels are compiled,
 * values that the host computes from device memory are waited for), elsewhere when everything is done. All arguments
 * and `a` stay as they are until run_end. The second is called once, by any thread. */
typedef struct run run;
/* Whether run_begin may wait for the device: the program has loops or choices of arrays, or needs a number that it
 * computes. */
bool run_begin_waits(const run_program *r);
run *run_begin(run_program *r, const run_argument *in, run_result *out, arena *a);
/* How often all calls were cancelled so far. */
unsigned run_cancels(const run_program *r);
/* The same of a call that ends, with SN_CANCELLED, soon after *stop is set, or all calls are cancelled once more than
 * `cancels` times. run_begin and run_call: NULL, and those so far. */
run *run_begin_until(run_program *r, const run_argument *in, run_result *out, arena *a, const atomic_bool *stop,
                     unsigned cancels);
sn_status run_end(run *c, run_said *said);

/* Calls like one that went well: of the same extents, with memory for all results, none of them in structs. The script
 * that it left (script.h), for as long as the program; NULL: there is none, or none that is brief. */
typedef struct run_script run_script;
const run_script *run_brief_script(const run_program *r, const run_argument *in, const run_result *out);
/* Makes such a call; `port`: memory of the parameters' components, of constants, and of the results' components. False:
 * it is to be made as others are, whatever has been done so far, because it fails, is cancelled or recorded, or kernels
 * are to be compiled. */
bool run_repeat(run_program *r, const run_script *s, void *const *port, unsigned cancels);

/* What is said of a result of so many elements that does not fit the memory there is (SN_BAD_EXTENT). */
const char *run_too_small(arena *a, const run_result *out, int64_t elements);

/* What a call does when there is no device, or no code and nothing that compiles: the reference interpreter. */
sn_status run_interpreted(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                          run_result *out, arena *a, struct ir_trace *trace, const ir_stop *stop, run_said *said);

/* Number of launches so far, all calls together; of kernels built. For tests and explain. */
uint64_t run_launches(const run_program *r);
uint32_t run_kernels(run_program *r);
/* How often arrays of structs were taken apart or put together, and how many bytes were written. */
void run_conversions(const run_program *r, uint64_t *conversions, uint64_t *bytes);

/* Visits the kernels built so far; if there are none, builds (without compiling) those a call with these extents of
 * every parameter dimension would start with. Holds the program's lock meanwhile. */
typedef void (*run_visit)(void *env, uint32_t cluster, const sk_kernel *kernel);
sn_status run_visit_kernels(run_program *r, run_visit visit, void *env, arena *a, const char **message);

/* Builds and visits, without compiling, the kernels that calls with any extents may need: those of launches over
 * extents and numbers of workers of all sizes, in general forms (sk_general) and as they are chosen; and those that
 * `called`, a program of the same terms for other vectors, has needed (NULL: there is none). They stay in the program's
 * arena. */
sn_status run_visit_possible(run_program *r, const run_program *called, run_visit visit, void *env, arena *a,
                             const char **message);

/* Takes and gives back the lock under which terms may be read. */
void run_lock(run_program *r);
void run_lock_alone(run_program *r); /* nobody else reads them: for walks over terms, which use their working memory */
void run_unlock(run_program *r);

#endif
