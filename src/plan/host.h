/* What the host computes: closed scalar terms (extents, shape conditions, seeds) as straight-line code that needs no
 * program. Kernels are built while other threads call, and building moves the tables of terms; this code stays put.
 *
 * Everything is computed at once, also what a condition guards: a value that cannot be computed is *bad*, as is what is
 * made from it, and only using it is an error. Immutable once built; safe from any thread. */
#ifndef SN_PLAN_HOST_H
#define SN_PLAN_HOST_H

#include "ir/term.h"

typedef enum {
    HOST_LITERAL,
    HOST_DIM,  /* `number`: of the extent in the signature */
    HOST_READ, /* component `number` of `array` at the indices in[0 .. n), LINEAR: one row-major position */
    HOST_OP,
    HOST_COND,
    HOST_TERM /* a loop's result: left to ir/evaluate.h, which needs the program (and its lock) */
} host_kind;

typedef struct host_step {
    uint8_t kind, n, op;
    uint8_t type, result; /* of the operands and of the result */
    uint8_t rank;         /* HOST_READ: of the array */
    bool linear;
    uint32_t site;
    uint32_t *in; /* earlier steps; HOST_READ: the array's extents follow the indices */
    uint32_t number;
    ir_id array, term;
    ir_bits literal;
} host_step;

typedef struct host_code {
    VEC(host_step) step; /* operands first */
    map64 of;            /* term -> 1 + step */
    VEC(ir_id) found;    /* of use to host_add alone */
} host_code;

typedef struct host_value {
    ir_bits bits;
    uint32_t bad; /* 0, or 1 + the step that failed first */
} host_value;

/* Adds a closed term with everything it is made of; the number of its step. Linear in what is new. */
uint32_t host_add(const ir_program *p, arena *a, host_code *code, ir_id term);
/* A copy to run, to which nothing is added any more. */
host_code host_keep(const host_code *code, arena *a);

typedef struct host_world {
    const int64_t *dims; /* per name */
    const bool *bound;   /* per name: is it known? */
    /* The element of an array in memory, at a position inside it. */
    ir_bits (*read)(void *env, ir_id array, uint32_t component, int64_t position);
    /* The value of a HOST_TERM; false if it fails. */
    bool (*term)(void *env, ir_id term, ir_bits *out);
    void *env;
} host_world;

/* Computes steps [first, last) of a code; `value` has room for all its steps. */
void host_run(const host_code *code, uint32_t first, uint32_t last, const host_world *world, host_value *value);

typedef struct host_index { /* inside if 0 <= index < extent */
    int64_t index, extent;
    unsigned component; /* 1 + the dimension that is outside if the array has several, else 0 */
} host_index;

/* The row-major position of a HOST_READ in its array, or the first index that is outside. */
host_index host_find(const host_step *s, const host_value *value);

static inline int64_t host_i64(const host_value *value, uint32_t step)
{
    return (int64_t)value[step].bits;
}

#endif
