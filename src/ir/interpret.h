/* The reference interpreter: the executable specification. Slow, plain, sequential; shares no code with the compiler
 * but the operator table's ir_op_apply. Folds and scans combine in the order of docs/determinism.md. */
#ifndef SN_IR_INTERPRET_H
#define SN_IR_INTERPRET_H

#include "ir/term.h"

typedef struct ir_value { /* an array value */
    uint8_t rank, components;
    ir_type type[64]; /* per component; components <= 64 here */
    int64_t extent[IR_MAX_RANK];
    void *data[64]; /* per component, row-major, ir_type_size bytes an element */
} ir_value;

typedef enum {
    IR_WRONG_EXTENT,     /* of an input; negative; not determined */
    IR_WRONG_SHAPES,     /* operands of different shapes, sizes */
    IR_WRONG_SIZE,       /* too many elements */
    IR_WRONG_INDEX,      /* outside an array */
    IR_WRONG_ARITHMETIC, /* integer division */
    IR_STOPPED,          /* somebody asked for it */
    IR_WRONG_EMPTY,      /* a fold without seed of no elements */
    IR_WRONG_SEGMENTS    /* offsets that fall, or do not go from 0 to the extent */
} ir_mistake;

typedef struct ir_failure { /* why a run failed */
    ir_mistake mistake;
    uint32_t site;
    unsigned component;  /* IR_WRONG_INDEX: 1 + the dimension if the array has several, else 0. Of a segment:
                            IR_SEGMENT_COMPONENT + an ir_segment_mistake */
    int64_t element;     /* linear element of the operation */
    int64_t value;       /* offending index, extent or divisor */
    int64_t bound;       /* the extent it should be below or equal to, where there is one */
    const char *message; /* in the arena */
} ir_failure;

typedef struct ir_stop { /* asked before every operation */
    bool (*stops)(void *env);
    void *env;
} ir_stop;

/* Runs a program: dims are bound from the inputs' extents (one name, one extent, else an error). Results are allocated
 * in `a`. Returns false with *failure set on a run-time error. */
struct ir_trace;
bool ir_interpret_traced(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_failure *failure,
                         struct ir_trace *trace,
                         const ir_stop *stop); /* NULL: nothing does. Keeps there what `trace` sees; NULL: nowhere */
bool ir_interpret(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_failure *failure);

/* What a run found that goes on after elements have failed. */
typedef struct ir_faults {
    VEC(ir_failure)
    all;         /* every element that failed by itself, wherever it is, and what ended the run, if anything did */
    bool needed; /* some element of a result cannot be had without one that failed, or the run ended */
} ir_faults;

/* The same lazily: an element that cannot be computed leaves those without a value that use it, and only those; what no
 * result needs may fail unseen. Returns true if every element of every result has a value. A run of the compiled
 * program must succeed or report one of faults->all; it must fail if faults->needed. */
bool ir_interpret_lazily(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_faults *faults);

/* Of an extent below 0: is it, without a sign, the sum of two numbers that are none, or twice one? */
bool ir_is_long_sum(ir_op op, ir_bits a, ir_bits b);
/* What is wrong with an extent below 0. */
const char *ir_extent_text(unsigned dimension, int64_t extent, bool long_sum, arena *a);
/* An index as messages give it: a number of the type that it has at this site. `component` as in ir_failure. */
const char *ir_index_text(ir_site site, unsigned component, int64_t value, arena *a);

/* What can be wrong with a segment, and how messages say it. `value`: where the first one begins; where it ends,
 * `bound` being where it begins; how many elements the segments have up to this one, where there are `bound`. */
typedef enum {
    IR_SEGMENTS_BEGIN,
    IR_SEGMENT_FALLS,
    IR_SEGMENTS_END,
    IR_SEGMENT_EMPTY,
    IR_SEGMENT_MISTAKES
} ir_segment_mistake;
enum { IR_SEGMENT_COMPONENT = 12 };
const char *ir_segment_text(ir_site site, ir_segment_mistake what, int64_t segment, int64_t value, int64_t bound, arena *a);

/* Values of closed scalar terms (extents, seeds). dims[k] is the value of IR_DIM k; `scalar(env, array, component)`
 * gives the value of a rank-0 array node read by the term, NULL if there can be none. */
typedef struct ir_host {
    const int64_t *dims;
    bool (*scalar)(void *env, ir_id array, uint32_t component, ir_bits *out);
    void *env;
} ir_host;
bool ir_evaluate(const ir_program *p, arena *a, ir_id term, const ir_host *host, ir_bits *out);

/* What an element is compared by in a sort: an unsigned number, the smaller the earlier. NaNs have the greatest. */
ir_bits ir_order_bits(ir_type t, ir_bits bits, bool descending);

#endif
