/* What the cost model knows of machines, beside the costs of operators (ir/ops.h). Unit: an addition on one element.
 *
 * Measured on Zen 4, one and two threads, y = f(x) used at its own index and from the end backwards, f of 2 to 64
 * operations on f32 and f64: computing y twice takes as long as keeping it at 8 operations where all arrays fit the
 * caches (4 thousand to 400 thousand elements), and at 24 to 40 where they do not (4 and 20 million). At 2 operations
 * it takes 0.6, at 24 operations 1.5 in the caches and 0.3 to 0.9 beyond. */
#ifndef SN_LOOP_COSTS_H
#define SN_LOOP_COSTS_H

enum {                  /* of operations, beside ir_op_cost */
       COST_WIDE = 2,   /* times as much: half as many elements in a register */
       COST_LOOP = 1000 /* nobody knows how long it runs */
};

/* Where arrays are kept. */
typedef enum { LEVEL_CACHES, LEVEL_MEMORY } cost_level;

typedef struct cost_row {
    double kept; /* a byte of a result, written and read again */
    double read; /* a byte of an operand, read once more */
} cost_row;

static const cost_row cost_table[] = {
    [LEVEL_CACHES] = {.kept = 2, .read = 1},
    [LEVEL_MEMORY] = {.kept = 7, .read = 3.5},
};

#endif
