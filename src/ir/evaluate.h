/* Values of scalar terms, one evaluation at a time: the part of the reference interpreter below array operations. Lazy,
 * memoised, without recursion; independent of the scheduler. One thread at a time per evaluator. */
#ifndef SN_IR_EVALUATE_H
#define SN_IR_EVALUATE_H

#include "ir/term.h"

#define NO_SLOT UINT32_MAX

typedef enum { FAILS_ARITHMETIC, FAILS_INDEX, FAILS_EXTENT, FAILS_READ } scalar_mistake;

typedef struct scalar_failure {
    scalar_mistake mistake;
    ir_id term;           /* IR_OP, IR_READ or IR_DIM that failed */
    unsigned component;   /* FAILS_INDEX: 1 + the dimension that is outside if the array has several, else 0 */
    int64_t value, bound; /* divisor, or index and extent */
} scalar_failure;

/* Where the values of extents and of elements come from. A function that returns false sets *failure but for `term`. */
typedef struct scalar_world {
    bool (*dim)(void *env, uint32_t number, int64_t *out);
    bool (*read)(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *failure);
    void *env;
    void (*trace)(void *env, const ir_node *node, ir_bits value); /* NULL: nobody listens */
} scalar_world;

typedef struct evaluator evaluator;

/* Prepares n terms for repeated evaluation. */
evaluator *evaluator_new(const ir_program *p, arena *a, uint32_t n, const ir_id *term);
/* The place of a free variable, NO_SLOT if the terms do not depend on it. */
uint32_t evaluator_slot(const evaluator *e, ir_id variable);
/* Forgets all values; variables must be set again. */
void evaluator_restart(evaluator *e);
void evaluator_set(evaluator *e, uint32_t slot, ir_bits value); /* NO_SLOT is ignored */
/* Evaluates one of the terms, or all of them in order. After one has failed the others may still be asked for. */
bool evaluator_value(evaluator *e, uint32_t term, const scalar_world *world, ir_bits *out, scalar_failure *failure);
bool evaluator_run(evaluator *e, const scalar_world *world, ir_bits *out, scalar_failure *failure);
/* Calls visit for the array of every read in the terms, taken or not. */
void evaluator_arrays(const evaluator *e, void (*visit)(void *env, ir_id array), void *env);

#endif
