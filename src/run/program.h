/* Private to run/: programs, their kernels, and calls in progress. */
#ifndef SN_RUN_PROGRAM_H
#define SN_RUN_PROGRAM_H

#include "ir/evaluate.h"
#include "ir/trace.h"
#include "run/run.h"

#include <pthread.h>
#include <stdatomic.h>

struct run_row { /* of a profile; immutable but for `time` once published */
    struct run_row *next;
    const struct run_variant *variant; /* NULL: launches over further extents, which are not told apart */
    int64_t partials, pieces;
    int64_t extent[IR_MAX_RANK];
    ir_bits *arg;      /* of the first such launch */
    int64_t *elements; /* per memory of the kernel: of the array; of partial results -1 */
    run_timing time;
};

typedef struct run_profile {
    atomic_bool on;
    atomic_bool device_timed, host_timed; /* who timed launches that were waited for */
    pthread_mutex_t lock;                 /* of adding rows */
    run_timing call, step[RUN_STEPS];
    atomic_bool taping,
        stale;               /* tape.h: a call is taped, or its tapes are read; what it leaves is not wanted any more */
    struct run_tapes *tapes; /* NULL: none yet */
} run_profile;

typedef struct run_binding { /* a pointer of a launch */
    sk_role role;
    bool here; /* fields of structs, which the kernel reads or writes where they are */
    bool written;
    uint32_t number; /* ARRAY: buffer; STATE: words a piece before it; else component over all folds */
} run_binding;

typedef struct run_argument_of { /* a scalar argument of a launch */
    bool slot;
    uint32_t number; /* slot of the geometry, or step of the variant's host code */
} run_argument_of;

/* Launches whose indices fit in 32 bits, so that others like them need not be looked at again: those with arguments in
 * these intervals. A writer makes `turn` odd; readers believe what they saw if it was even and stayed so. */
typedef struct run_fit {
    atomic_uint turn;
    uint32_t words;
    _Atomic(int64_t) *low, *high; /* of the number of pieces, then of the arguments */
} run_fit;

typedef struct run_layout { /* which buffers are fields of structs that kernels may use where they are, see fields.h;
                               immutable once published */
    struct run_layout *next;
    const run_field *at; /* per buffer */
} run_layout;

typedef struct run_variant { /* a compiled kernel; immutable once published, but for what *fit says, and
                               what a draft does and becomes */
    uint64_t key;
    const run_layout *layout; /* that it was made for */
    sk_kernel *built;
    _Atomic(device_kernel *) code; /* NULL: built for explain only */
    device_kernel *draft;          /* what `code` was until the launches were worth more (run_code_for), which calls may
                                      still be using; NULL: it is what it was at first */
    _Atomic(uint64_t) done;        /* by a draft: scalar operations */
    atomic_bool replaced;          /* other code is made for it, or has been */
    run_binding *memory;
    run_argument_of *argument;
    host_code host;
    bool joins_rows; /* made for rows of one length, whole groups of lanes: code generators combine many rows at once */
    bool checks;     /* may report errors */
    bool notes;      /* may note values */
    bool loops_on_data; /* what is in memory decides how often: must not see what a failed launch left undone */
    run_fit *fit;       /* of a narrow kernel, else NULL */
    struct run_variant *next;
} run_variant;

typedef struct run_geometry { /* what a cluster does for certain extents; immutable once published */
    int64_t extent[IR_MAX_RANK];
    sk_round round;
    const run_layout *layout;
    sk_geometry geometry;
    const run_variant *variant;
    uint32_t cluster;
    bool final;
    bool kept; /* published, so that it lives as long as the program */
    struct run_geometry *next;
} run_geometry;

enum { MOST_GEOMETRIES = 64 /* remembered per cluster; further extents are worked out anew at each call */ };

typedef struct run_cluster {
    _Atomic(run_variant *) variants;
    _Atomic(run_geometry *) geometries;
    uint32_t remembered; /* under the lock */
    uint32_t recorded;   /* rows; under the profile's lock */
    _Atomic(run_row *) rows;
} run_cluster;

enum { MOST_SCRIPTS = 64 /* of a program: script.h */ };

typedef struct run_scripts {
    bool may;       /* all that the plan's steps depend on are extents */
    bool *loose;    /* per extent: no step depends on it, but arguments of launches may: no key has its value */
    uint32_t words; /* of a key */
    uint32_t steps; /* of all of them; under the lock */
    atomic_uint n;
    uint64_t hash[MOST_SCRIPTS]; /* of their keys */
    struct run_script *at[MOST_SCRIPTS];
} run_scripts;

typedef struct run_pair { /* a parameter and a result: may this be written over that? Immutable once published */
    struct run_pair *next;
    uint32_t from, to; /* buffers */
    bool may;
} run_pair;

struct run_program {
    run_engine engine;
    const l_program *l;
    const sk_cluster *code; /* of each cluster */
    const plan *plan;
    sk_options options;
    pthread_rwlock_t *lock;    /* write: building (the program's arena and terms); read: reading terms */
    pthread_rwlock_t own_lock; /* `lock`, but where the terms are another run_program's, too */
    run_cluster *cluster;
    const kernel *kept;          /* of the variant that was built last, under the lock; NULL: none yet */
    const struct run_uses *uses; /* per buffer */
    _Atomic(run_layout *) layouts;
    uint32_t layouts_n; /* under the lock */
    _Atomic(run_pair *) pairs;
    uint32_t pairs_n; /* under the lock */
    run_scripts scripts;
    atomic_uint_fast64_t conversions, converted_bytes; /* of arrays of structs */
    atomic_uint_fast64_t launches;
    atomic_uint kernels;
    atomic_bool interpreted;    /* a kernel is missing and nothing can compile it: set once, for good */
    const run_control *control; /* by number; NULL: there are none */
    run_profile *profile;       /* own_profile, or that of the other run_program */
    run_profile own_profile;
};

typedef struct run_block {
    void *block;
    size_t granted;
} run_block;

typedef struct run_fields { /* a buffer of fields */
    const void *data;       /* the first one; NULL: it is no such buffer */
    run_block part;         /* what an array of them was taken from */
} run_fields;

typedef struct run_sized {     /* a launch that has been sized */
    const run_geometry *found; /* NULL: there is nothing to do */
    int64_t rows;              /* of its cluster */
} run_sized;

enum { MOST_ASIDE = 64 };

/* Of a kernel among those of its cluster: no two have the same. */
uint64_t run_kernel_key(const sk_geometry *g, bool final, bool narrow);
/* A kernel that is not published, in the program's arena; NULL, *status and *why. The program's lock is held. */
run_variant *run_build(run_program *r, uint32_t cluster, const sk_geometry *g, bool final, bool narrow,
                       const run_layout *layout, sn_status *status, const char **why);

struct run { /* a call, or a round of a region within one */
    run_program *r;
    run *root; /* the call that it is part of, or itself: has the queue, and what is kept while it is busy */
    const plan_control *within; /* a region's; the values of its extents: */
    const int64_t *given_dim;
    const atomic_bool *stop; /* NULL: nobody does; */
    unsigned cancels;        /* and as many had been cancelled when it began */
    const plan *plan;
    arena *arena;
    const run_argument *in;
    run_result *out;
    int64_t *dims;
    bool *bound;
    uint32_t *bound_by; /* argument that determined it */
    host_value *value;
    int64_t *size;            /* per shape: elements */
    void **data;              /* per buffer: a block of the device, or host memory that it reaches */
    size_t *granted;          /* per buffer: to be given back; 0: not ours */
    device_queue *queue;      /* NULL before and after the call's work */
    const void **host;        /* per buffer: its elements in host memory besides; NULL: they are not there */
    const run_layout *layout; /* NULL: no fields are used where they are */
    run_fields *field;        /* per buffer; NULL: there are no fields at all */
    const void **from;        /* per result: what its fields will be made from; NULL: there are no fields at all */
    run_block *put;           /* per result: memory for that */
    run_block *aside; /* MOST_ASIDE blocks that queued work still uses, nobody else; NULL: the queue was never busy */
    uint32_t asides;
    size_t aside_bytes;
    struct round_room *rooms; /* of the root: memory for rounds (control.c) */
    bool unsettled;     /* launches that may fail are queued */
    uint32_t too_small; /* 1 + the first result that there is too little memory for, known when work had been done */
    ir_trace trace;     /* of the launch that runs */
    run_sized *sized;   /* per launch */
    int64_t *left; /* per cluster: partial results a row that its last launch leaves, or 1 + rounds of a sort; up to 1:
                      none */
    struct run_sort *sort; /* per cluster; NULL: none sorts */
    host_world world;
    volatile bool locked; /* holds the program's lock for reading: given back if memory runs out meanwhile */
    sn_status status;
    run_said said;
    bool over;                 /* interpreted: nothing is left to do */
    int64_t launched;          /* so far, regions' too; of the root */
    uint64_t counted;          /* launches that are not among those of the program and the context yet; of the root */
    struct run_scribe *scribe; /* writes the script of this call or round; NULL: it is done without one, or by one */
    bool timed;                /* the device times launches */
    struct run_tapes *tapes;   /* of the root, while it is taped; */
    struct run_tape *tape;     /* and that of this call or round, where it is compared from step `tape_at` on */
    uint32_t tape_at;
    bool recorded;  /* in the profile, */
    uint64_t noted; /* nanoseconds of it so far */
};

/* kernels.c */
/* A kernel that calls have needed, of no layout; NULL: there is none. */
run_variant *run_known_variant(const run_program *r, uint32_t cluster, uint64_t key);
/* What a cluster does for these extents in one round, for as long as the call; compiles what has not been needed
 * before. NULL after a failure, which is in c->status. */
const run_geometry *run_find(run *c, uint32_t cluster, const int64_t *extent, sk_round round);
/* The variant for a launch whose indices do not fit in 32 bits (kernel/narrow.h), where the one found is for those that
 * do. NULL after a failure, which is in c->status. */
const run_variant *run_find_wide(run *c, const run_geometry *found);
/* The same with a kernel that writes through the caches. */
bool run_find_cached(run *c, run_geometry *found);
/* The code of a kernel for a launch of so many scalar operations: a draft is replaced when its launches have done so
 * many that other code is worth the time to make it. */
device_kernel *run_code_for(run *c, const run_variant *v, double work);

/* profile.c */
typedef struct run_watch { /* a step that began */
    uint64_t since;        /* 0: nobody wants to know */
    uint64_t noted;        /* what the call had noted then: steps within steps count once */
} run_watch;
uint64_t run_now(void); /* nanoseconds */
static inline run_watch run_begin_step(const run *c)
{
    return c->recorded ? (run_watch){run_now(), c->noted} : (run_watch){0, 0};
}
void run_record_step(run *c, run_watch w, run_step step, uint64_t bytes);
static inline void run_end_step(run *c, run_watch w, run_step step, uint64_t bytes)
{
    if (w.since)
        run_record_step(c, w, step, bytes);
}
/* A launch of a kernel, with the arguments it got. `device_ns`: what it took, where the device says so, else 0: the
 * time since. */
void run_record_launch(run *c, run_watch w, const run_geometry *found, const run_variant *v, const ir_bits *arg,
                       uint64_t device_ns);
static inline void run_end_launch(run *c, run_watch w, const run_geometry *found, const run_variant *v,
                                  const ir_bits *arg, uint64_t device_ns)
{
    if (w.since)
        run_record_launch(c, w, found, v, arg, device_ns);
}
void run_free_rows(run_program *r);

/* trace.c: says what `trace` saw, and forgets it. Where there is no memory for the text, it is lost. */
void run_say_trace(run_program *r, ir_trace *t);

/* transfer.c */
void run_find_hazards(const kernel *k, arena *a, run_variant *v);

/* control.c: a control's region steps (plan.h). */
bool run_control_step(run *c, uint32_t control);
/* execute.c: runs all steps of a region's round, a run that control.c made, in the call's queue. */
bool run_inside(run *c);
/* Is the call to end? Then it fails. */
bool run_stops(run *c);

/* failure.c: all set status and message and return false. The first failure of a call is kept. */
/* The message begins with the place of the operation, if one is known: 0 is none. */
bool run_fails_at(run *c, uint32_t site, sn_status status, const char *format, ...) SN_PRINTF(4, 5);
bool run_fails(run *c, sn_status status, const char *format, ...) SN_PRINTF(3, 4); /* no operation is to blame */
bool run_fails_host(run *c, uint32_t step, uint32_t site); /* a value that cannot be computed is needed at a site */
bool run_fails_code(run *c, const host_code *code, const host_value *value, uint32_t step, uint32_t site);
bool run_fails_check(run *c, const plan_check *check, int64_t left, int64_t right);
bool run_fails_kernel(run *c, const k_error *error);
/* Bytes of a buffer whose shape has been evaluated; false if they do not fit. */
bool run_bytes(const run *c, const plan_buffer *b, size_t *bytes);
/* The same of what PLAN_ALLOC takes for it; 0: the sized launch has no use for it. */
bool run_alloc_bytes(const run *c, uint32_t buffer, size_t *bytes);
void run_read_terms(run *c); /* the lock for reading, until run_read_ends */
void run_read_ends(run *c);

#endif
