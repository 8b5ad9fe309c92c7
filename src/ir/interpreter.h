/* Private to the reference interpreter: what a run knows, and the helpers its two halves share. interpret.c prepares
 * the needed operations, binds extents and runs checks; interpret_array.c and those after it
 * compute elements. */
#ifndef SN_IR_INTERPRETER_H
#define SN_IR_INTERPRETER_H

#include "ir/evaluate.h"
#include "ir/interpret.h"

typedef struct function { /* terms prepared for evaluation */
    evaluator *e;         /* NULL: there are none */
    uint32_t *slot;       /* per parameter */
    uint32_t terms;
    ir_bits *out; /* per term */
    bool *failed; /* per term: the last call gave it no value */
} function;

typedef struct operation { /* an array node that is needed */
    function body, seed, shape;
    function *boundary;     /* STENCIL: what lies outside, per input */
    struct operation *part; /* CONTROL: its results, of which values are set */
    ir_value value;
    bool **missing; /* per component and element: it has no value; NULL: all have (interpreter.faults) */
} operation;

typedef struct check_state {
    function sides;
    ir_id after; /* the last array it reads, 0: none */
} check_state;

typedef struct interpreter {
    const ir_program *p;
    arena *arena;
    const ir_value *input;
    int64_t *dim;          /* per name */
    uint32_t *dim_input;   /* 1 + the input that determined it, 0: not known */
    operation **operation; /* per node; NULL: not needed */
    check_state *check;
    bool *needed;    /* per node */
    ir_id last_read; /* largest array met by note_read */
    scalar_world world;
    bool failed; /* *failure is the smallest (site, element) so far */
    ir_failure *failure;
    struct ir_trace *trace; /* NULL: nobody listens */
    int64_t element;        /* that is computed now, of the operation */
    ir_faults *faults;      /* a run that goes on without the elements that fail; NULL: it does not */
    const ir_stop *stop;    /* NULL: nobody does */
    bool ends;              /* something failed that is no element */
} interpreter;

/* Keeps the failure with the smallest (site, element). `message` must stay. */
void interpret_fails(interpreter *in, ir_mistake mistake, uint32_t site, int64_t element, int64_t value, int64_t bound,
                     const char *message);
/* The same for a segment, without whose elements the run goes on where it can, but if it `ends`. */
void interpret_fails_segment(interpreter *in, ir_segment_mistake what, uint32_t site, int64_t segment, int64_t value,
                             int64_t bound, bool ends);
/* The same for a scalar term that failed inside the operation at `site`. */
void interpret_fails_scalar(interpreter *in, uint32_t site, int64_t element, const scalar_failure *f);
/* The user's name of the operation at a site. */
const char *interpret_name(const ir_program *p, uint32_t site, const char *otherwise);

/* Gives f the parameters' values: indices from parameter `from` on. */
void interpret_set_index(function *f, uint32_t from, unsigned rank, const int64_t *index);
/* The results of a function whose parameters are set, in f->out; false after a failure, which is kept. A run that goes
 * on looks at f->failed: parameters that are not set are elements without a value. `site` and `element`: of the
 * operation that calls it. */
bool interpret_call(interpreter *in, function *f, uint32_t site, int64_t element);

int64_t interpret_size(const ir_value *v); /* number of elements */
ir_bits interpret_load(const ir_value *v, uint32_t component, int64_t element);
/* The number of the element at an index; false, with the first offending dimension, if it is outside. */
bool interpret_find(const ir_value *v, const int64_t *index, int64_t *element, scalar_failure *f);

/* Has this element no value, in a run that goes on? */
static inline bool interpret_missing(const operation *op, uint32_t component, int64_t element)
{
    return op->missing && op->missing[component][element];
}

/* Sets parameters from `from` on to the components of one element, but for those that are missing; returns the number
 * of the next parameter. */
uint32_t interpret_set_element(function *f, uint32_t from, const operation *source, int64_t element);
void interpret_put(ir_value *v, uint32_t component, int64_t element, ir_bits bits);
/* The components of an element; those that failed are missing. */
void interpret_store(operation *op, int64_t element, const ir_bits *value, const bool *failed);
void interpret_copy(operation *to, int64_t i, const operation *from, int64_t j); /* an element */
void interpret_lose(operation *op, int64_t element);                             /* it has no value */

/* Folds and scans, of rows and of segments (interpret_fold.c). */
void interpret_fold(interpreter *in, ir_id id);
void interpret_scan(interpreter *in, ir_id id);
void interpret_fold_seg(interpreter *in, ir_id id);
void interpret_scan_seg(interpreter *in, ir_id id);
void interpret_segment_of(interpreter *in, ir_id id);
/* The rows of a sort (interpret_sort.c). */
void interpret_sort(interpreter *in, ir_id id);
/* A region's program, run as part of another one: failures, and what is seen, are the other one's. */
typedef struct interpret_call_of {
    interpreter *in;
    int64_t *dim;
    bool *known; /* per extent: its value comes from outside */
    ir_value *input;
    bool ***missing;   /* per input, as in `operation` */
    operation *output; /* values are set, elements belong to the arena */
} interpret_call_of;
bool interpret_program(const ir_program *p, const interpret_call_of *call);
/* Runs a control whose operands are computed; its results are in operation->part. */
bool interpret_control(interpreter *in, ir_id id);

/* Computes the elements of an operation whose extents are known and whose operands are computed. */
void interpret_elements(interpreter *in, ir_id id);

#endif
