/* Private to api/: what the public types are made of. */
#ifndef SN_API_API_H
#define SN_API_API_H

#include "api/handles.h"
#include "base/size.h"
#include "embed/build.h"
#include "run/run.h"
#include "sinter/sinter.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct note { /* a thread's last message in a context */
    struct note *next;
    uint64_t thread; /* whose it is, */
    pid_t id;        /* and what the system calls it: another thread's once it has ended */
    char *text;      /* malloc'd by the context's heap; NULL: none */
    bool lent;       /* the text is in the hands of the user's function, and will be released when that returns */
} note;

struct sn_context {
    base_heap heap;
    run_engine engine;
    const struct device_kind *kind; /* of the device, */
    unsigned number;                /* and which of its kind */
    run_counters counters;
    sn_options options;
    size_t small_from;      /* bytes of parameters: programs for small extents are made for calls with so many */
    bool row_loops;         /* folds along rows fuse with what the same rows do with their results (l_options.rows) */
    char *codegen;          /* of the device, to open another one for explain; NULL: searched */
    pthread_mutex_t moving; /* of `data` and `block` of all arrays */
    pthread_mutex_t lock;   /* of notes */
    note *notes;
    atomic_uint cancels;       /* times that all calls were cancelled */
    bool warned;               /* that programs are interpreted */
    bool profile;              /* programs record their calls from the beginning */
    pthread_mutex_t measuring; /* of `roof` */
    run_roof *roof;            /* of the device; NULL: nobody has asked */
    handle *held;              /* programs, arrays, pending calls; `lock` is of these, too */
    handle_files *files;
    atomic_int holders; /* the user, until sn_close, and all that is held: the context lives until each has let go */
    atomic_bool closed;
};

typedef struct program_text { /* what sn_explain returned: belongs to the program */
    struct program_text *next;
    char *text;
} program_text;

typedef struct program_version { /* of a program: its loops, for arrays of some sizes */
    l_program *clusters;
    const sk_program *code;
    plan *plan;
    run_program *run;
} program_version;

/* What a program's results and conditions were after a pass over terms: the pass after it made others, but these are
 * there still (opt/remake.h). */
typedef struct program_terms {
    VEC(ir_id) output;
    VEC(ir_check) check;
} program_terms;

#define PASS_TERM(name, what) API_PASS_##name,
enum { /* passes over terms */
#include "base/passes.def"
       API_TERM_PASSES
};

struct sn_program {
    handle handle; /* first */
    sn_program
        *outer; /* that this one is a region's program of, with its context, arena and lock; NULL: it is the user's */
    sn_program *general; /* that this one is the same as, for small extents (small_extents.c); NULL: it is the user's */
    VEC(sn_program *) inside; /* programs of its controls' regions */
    bool sweeps; /* it, or what it is within, does many rounds of a loop at once: loops within it are made for that */
    sn_context *context;
    arena arena;       /* of all below */
    embed_owner owner; /* while it is built */
    sn_site made;      /* where it was compiled; file may be NULL */
    uint32_t vector_bytes; /* that its kernels are made for; 0: the device's */
    int64_t largest;   /* extent that an argument may have */
    ir_program *ir;
    program_terms built, after[API_TERM_PASSES]; /* before all passes; after each */
    uint32_t names;   /* of extents, as it was built */
    uint64_t counts;  /* ... of which those in this set, of the first 64, are numbers of rounds in scalar code, */
    uint64_t blocks;  /* ... and those in this one make rows blocks where they are small (skeleton/skeleton.h) */
    ir_program *copy; /* of a program with regions, as it was built, that no pass has seen; NULL: there is none */
    embed_result ports;
    l_program *clusters;
    plan *plan;
    run_program *run;
    program_version *large;    /* where parameters are beyond the caches; NULL: as above */
    program_version *once[2];  /* the same two, where loops are to go over rows once; NULL: they do anyhow */
    struct program_rows *rows; /* of loops that go over rows several times (versions.c); NULL: there are none */
    uint32_t params, results;  /* components: arguments of a call */
    sn_array **constant; /* devices with memory of their own: the program's data, which go there once; NULL on others */
    ir_type *type;       /* of each argument, parameters first */
    uint8_t *rank;
    bool *needed;         /* per parameter's component: its elements are read */
    pthread_mutex_t lock; /* of texts */
    program_text *texts;
    _Atomic(struct call_again *) again; /* calls that may come again (again.c) */
    _Atomic(struct small_extents *) small; /* programs for small extents (small_extents.c) */
};

struct sn_array {
    handle handle; /* first */
    sn_context *context;
    ir_type type;
    uint8_t rank;
    int64_t extent[IR_MAX_RANK];
    void *data;            /* elements in host memory; NULL: they are only in `block`: api_look brings them here */
    void *block;           /* devices with memory of their own: elements there, NULL: not there yet (api_place) */
    size_t bytes, granted; /* granted: with what the pool gave, which is `block` on those devices, `data` on others */
    void (*let_go)(void *owner); /* the elements are borrowed: called when the array is freed; NULL: they are ours */
    void *owner;
    bool lent_block;    /* ... what is borrowed is `block`, not `data` */
    atomic_int sharers; /* beyond the one holder: the array lives until each has freed it */
    atomic_int lent;    /* tensors given out, who are such holders */
};

/* versions.c: the pass "literals"; keeps the clusters that it had to look at, if they are right still. */
void api_share_literals(sn_program *p);
/* A program has loops for parameters within the caches, for larger ones, which are worth computing more to keep less,
 * and for rows that are not worth going over several times: few and long ones, which would not keep all workers busy,
 * and short ones, where ends of sweeps take longer than elements. Makes those that differ, in the program's arena. */
void api_make_versions(sn_program *p);
void api_free_versions(sn_program *p);
sn_program *api_outermost(sn_program *p);
void api_attach_regions(sn_program *p); /* for its versions to run */
/* compile.c: all passes over the terms of `p` and of the programs within it, and their versions. */
void api_make_program(sn_program *p);

size_t api_large(const sn_program *p);  /* from so many bytes on */
/* The version for parameters (one run_argument a component) of so many bytes together. `room` is api_version_room
 * bytes. */
run_program *api_version(const sn_program *p, const run_argument *in, size_t bytes, void *room);
size_t api_version_room(const sn_program *p);
/* Versions besides the first are numbered by what they are for; NULL: there is none. */
enum { API_LARGE = 1, API_ONE_SWEEP = 2, API_VERSIONS = 4 };
const program_version *api_other_version(const sn_program *p, unsigned k);
program_version api_first_version(const sn_program *p); /* number 0 */
void api_record(sn_program *p, bool on);                         /* run_record of all of them */
void api_print_when(const sn_program *p, unsigned k, text *out); /* "where ...:" */

/* Keeps the text as the calling thread's last message and passes it to the user's function; returns the status. */
sn_status api_fail(sn_context *cx, sn_status status, const char *format, ...) SN_PRINTF(3, 4);

/* small_extents.c: extents that a call gives, and which are small, are constants in a program made for them. The program
 * for parameters (one run_argument a component) of so many bytes together: `p` itself where none are small, or where
 * there is none for them and none can be made. Thread-safe. */
sn_program *api_for_extents(sn_program *p, const run_argument *in, size_t bytes);
enum { SMALL_EXTENTS = 16 /* at most, of one program */ };
typedef struct small_extents { /* the program for some of them; in the order in which they were made, last first */
    struct small_extents *next;
    sn_program *program; /* NULL: it could not be made */
    uint32_t number;     /* from 1: so many there are with the next ones */
    uint32_t n;
    ir_number known[];
} small_extents;
/* That for these, in ascending order of names, made if it is not there; NULL: it cannot be made. Thread-safe. */
sn_program *api_program_for(sn_program *p, uint32_t n, const ir_number *known);
void api_print_extents(const sn_program *p, const small_extents *s, text *out); /* "where m is 4:" */
/* As a line of their own, "m=4,k=3"; and read for the same program from another text. The next line; NULL: none of it. */
void api_list_extents(const sn_program *p, const small_extents *s, text *out);
const char *api_read_extents(const sn_program *p, const char *line, uint32_t *n, ir_number *known);
uint64_t api_find_counts(const ir_program *p); /* as sn_program.counts: of a program as it was built */
void api_keep_copy(sn_program *p); /* before all passes, for programs that are made later */
void api_free_small_extents(sn_program *p);

typedef struct api_who { /* whose failure it is */
    sn_site at;          /* ... at this place, if the file is not NULL */
    const char *what;    /* a function, or "call"; NULL: neither this nor the place is said */
    sn_site also;        /* another place that matters, if the file is not NULL: */
    const char *how;     /* "called in" */
} api_who;

static inline api_who api_function(const char *name)
{
    return (api_who){.what = name};
}

static inline api_who api_function_at(sn_site at, const char *name)
{
    return (api_who){.at = at, .what = name};
}

/* What sn_parse_program gives for a text that is there, in a context that is open, with kernels for vectors of so many
 * bytes (0: the device's). *no_memory (NULL: not wanted) becomes true if it was that. */
sn_program *api_parse_for(api_who who, sn_context *cx, const char *terms, uint32_t vector_bytes, bool *no_memory);

/* The same as api_fail with who it is: "file:line: what: ... ; how file:line". */
sn_status api_fail_at(sn_context *cx, api_who who, sn_status status, const char *format, ...) SN_PRINTF(4, 5);
void api_say(sn_context *cx, api_who who, const char *format, va_list args);
void api_warn(const sn_options *options, const char *what); /* without a context: to the user's function, else stderr */
/* The same for a failure that has been passed on: only keeps it, as the calling thread's. */
void api_note(sn_context *cx, const char *said);
void api_notes_close(sn_context *cx);

/* devices.c */
sn_status
api_open_device(sn_context *cx); /* sets cx->engine.device, NULL for the interpreter; what fails is told to the user */
/* The context's device once more, keeping the text of its kernels. NULL and *why in `a`. */
device *api_open_again(const sn_context *cx, arena *a, const char **why);

/* sn_open with memory functions of one's own, for tests of what happens when memory runs out. They must outlive the
 * context. */
sn_context *api_open(const sn_options *options, const base_heap *heap);

/* Bytes of an array; false if they do not fit, or an extent is negative. */
bool api_size(ir_type type, int rank, const int64_t *extent, size_t *bytes);
/* A new array whose elements are undefined, in host memory; NULL, reported in the name of `who`, if there is no memory.
 */
sn_array *api_new_array(sn_context *cx, ir_type type, int rank, const int64_t *extent, api_who who);

/* An array of memory that is not ours: aligned to its type, not written to while the array lives. It is made by `who`,
 * of no name if it is the context's own. NULL, reported, if there is no memory: let_go is not called then. */
sn_array *api_borrow_array(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, const void *data,
                           void (*let_go)(void *owner), void *owner);
/* The same of memory of the context's device, which has its own: found to be so by its `foreign`. */
sn_array *api_borrow_block(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, void *block,
                           void (*let_go)(void *owner), void *owner);
/* A tensor is given out that has to api_end_loan. */
void api_lend_array(sn_array *a);
void api_end_loan(sn_array *a);
bool api_is_lent(const sn_array *a); /* does nobody hold it but tensors? */
/* context.c: one holder less; the last frees the context. */
void api_context_let_go(sn_context *cx);
/* Is the context there to make something new? False if it is NULL, or closed, which is reported. */
bool api_is_open(sn_context *cx, api_who who);

/* strided.c. Strides are in bytes, one for each dimension. */
/* Are these elements one after the other in row-major order? */
bool api_contiguous(ir_type type, int rank, const int64_t *extent, const int64_t *stride);
/* Copies elements to contiguous memory in row-major order; neither side needs to be aligned. */
void api_gather(void *to, const void *from, ir_type type, int rank, const int64_t *extent, const int64_t *stride);
/* Must this argument, whose type and rank are valid, be copied to be contiguous, row-major and aligned? */
bool api_needs_copy(const sn_arg *arg);

/* transfer.c: elements of arrays between the host and a device with memory of its own. Thread-safe; what fails is
 * reported in the name of `who`. */
bool api_own_memory(const sn_context *cx); /* does the context's device have memory of its own? */
const void *api_look(const sn_array *a, api_who who,
                     sn_status *status); /* all elements in host memory, as long as the array; NULL: failed */
/* Brings them to the device unless they are there. *block: there; *data: in host memory, NULL if they are not. */
sn_status api_place(sn_array *a, api_who who, void **block, const void **data);
sn_status api_get(const sn_array *a, api_who who, void *to); /* copies all elements to host memory */
sn_status api_get_part(const sn_array *a, api_who who, size_t offset, size_t bytes, void *to); /* these bytes of them */
/* A new array from host memory that goes straight to the device, without a copy for the host; NULL: failed. */
sn_array *api_send(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, const void *from);

/* A new array of a block of the device, from this byte of it on; NULL: failed. */
sn_array *api_copy_block(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, void *block,
                         size_t offset);

/* Host memory: on devices that use it, from their pool. */
void *api_take(sn_context *cx, size_t bytes, size_t *granted);
void api_give(sn_context *cx, void *data, size_t granted);

#endif
