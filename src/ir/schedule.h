/* Sharing recovery for scalar code: where each shared term of a function is computed.
 *
 * Terms are DAGs with conditions and loops; code is nested blocks. A shared term is placed in the block that is the
 * lowest common dominator of its uses (Accelerate, ICFP'13 §3, done on the DAG in linear time), inside the loop that
 * binds its variables and never deeper than needed. A *partial* term is placed above its uses only if every path from
 * there evaluates it; otherwise it is computed once per guard (so an error appears only where the unfused program has
 * it). Loops that may not end are treated like partial terms. Reads marked IR_SAFE do not move above a condition
 * either, but out of loops. */
#ifndef SN_IR_SCHEDULE_H
#define SN_IR_SCHEDULE_H

#include "ir/term.h"

typedef struct ir_block ir_block;

typedef struct ir_step {
    ir_id term;     /* IR_OP, IR_READ, IR_WITHIN, IR_AFTER, IR_CALL: computed here. IR_COND with blocks, IR_LOOP: see below */
    uint32_t group; /* IR_COND: number of conditions with this same condition merged into one branch (>= 1) */
    ir_id *cond;    /* IR_COND: the `group` IR_COND terms decided here; all have the same condition term */
    ir_block *then; /* IR_COND evaluated lazily: blocks for both branches; both NULL: total and cheap, use a select */
    ir_block *orelse;
    ir_block *test; /* IR_LOOP, while: block computing loop->cond each time round */
    ir_block *body; /* IR_LOOP: block computing loop->next; lies inside `test` (repeat { test; break?; body }) and uses
                       its steps */
} ir_step;

struct ir_block {
    VEC(ir_step) step; /* in order of evaluation, operands first; IR_CONST, IR_VAR, IR_DIM and IR_PROJ need no step */
};

/* The code of `n` result terms (all with the same free variables), in O(n log n) of its size. Allocated in `a`; what is
 * in `scratch`, which is another arena, is not needed afterwards. The program is not changed. NULL if partial terms under nested guards would multiply to hundreds of thousands of steps. */
ir_block *ir_schedule(const ir_program *p, arena *a, arena *scratch, uint32_t n, const ir_id *result);

#endif
