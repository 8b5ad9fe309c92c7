/* Private to api/: what the public types are made of. */
#ifndef SN_API_API_H
#define SN_API_API_H

#include "embed/build.h"
#include "run/run.h"
#include "sinter/sinter.h"

#include <pthread.h>

typedef struct note { /* a thread's last message in a context */
    struct note *next;
    bool taken; /* by a living thread */
    char *text; /* malloc'd by the context's heap; NULL: none */
} note;

struct sn_context {
    base_heap heap;
    run_engine engine;
    run_counters counters;
    sn_options options;
    char *codegen;        /* of the device, to open another one for explain; NULL: searched */
    pthread_key_t key;    /* -> note of the calling thread */
    pthread_mutex_t lock; /* of notes */
    note *notes;
    bool warned;          /* that programs are interpreted */
};

typedef struct program_text { /* what sn_explain returned: belongs to the program */
    struct program_text *next;
    char *text;
} program_text;

struct sn_program {
    sn_context *context;
    arena arena;          /* of all below */
    ir_program *ir;
    embed_result ports;
    l_program *clusters;
    plan *plan;
    run_program *run;
    uint32_t params, results; /* components: arguments of a call */
    ir_type *type;            /* of each argument, parameters first */
    uint8_t *rank;
    pthread_mutex_t lock; /* of texts */
    program_text *texts;
};

struct sn_array {
    sn_context *context;
    ir_type type;
    uint8_t rank;
    int64_t extent[IR_MAX_RANK];
    void *data;
    size_t bytes, granted;
};

/* Keeps the text as the calling thread's last message and passes it to the user's function; returns the status. */
sn_status api_fail(sn_context *cx, sn_status status, const char *format, ...) SN_PRINTF(3, 4);
void api_warn(const sn_options *options, const char *what); /* without a context: to the user's function, else stderr */
bool api_notes_open(sn_context *cx);
void api_notes_close(sn_context *cx);

/* sn_open with memory functions of one's own, for tests of what happens when memory runs out. They must outlive the context. */
sn_context *api_open(const sn_options *options, const base_heap *heap);

/* Bytes of an array; false if they do not fit, or an extent is negative. */
bool api_size(ir_type type, int rank, const int64_t *extent, size_t *bytes);
/* A new array whose elements are undefined; NULL, reported in the name of `who`, if there is no memory. */
sn_array *api_new_array(sn_context *cx, ir_type type, int rank, const int64_t *extent, const char *who);

/* strided.c. Strides are in bytes, one for each dimension. */
/* Are these elements one after the other in row-major order? */
bool api_contiguous(ir_type type, int rank, const int64_t *extent, const int64_t *stride);
/* Copies elements to contiguous memory in row-major order; neither side needs to be aligned. */
void api_gather(void *to, const void *from, ir_type type, int rank, const int64_t *extent, const int64_t *stride);
/* Must this argument, whose type and rank are valid, be copied to be contiguous, row-major and aligned? */
bool api_needs_copy(const sn_arg *arg);

/* Memory on the context's device. */
void *api_take(sn_context *cx, size_t bytes, size_t *granted);
void api_give(sn_context *cx, void *data, size_t granted);

#endif
