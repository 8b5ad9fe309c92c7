/* Runs scheduled code (ir_schedule) as an emitter would, block by block, and finds operands used where they have not
 * been computed. */
#ifndef SN_TESTS_BLOCK_RUNNER_H
#define SN_TESTS_BLOCK_RUNNER_H

#include "ir/evaluate.h"
#include "ir/schedule.h"

typedef enum { RUN_GOOD, RUN_FAILS, RUN_BROKEN } run_outcome;

typedef struct block_run {
    const ir_program *p;
    const scalar_world *world;
    ir_bits *value;  /* per node */
    bool *known;     /* per node: computed in this block or one around it */
    ir_bits **final; /* per loop node: its states */
    size_t steps;    /* executed so far */
    ir_id missing;   /* RUN_BROKEN: the operand that was not there */
} block_run;

void block_run_init(block_run *r, const ir_program *p, arena *a, const scalar_world *world);
void block_run_set(block_run *r, ir_id variable, ir_bits value);
run_outcome block_run_results(block_run *r, arena *a, const ir_block *code, uint32_t n, const ir_id *result,
                              ir_bits *out);

/* Steps in a block and all below it. */
size_t block_count_steps(const ir_block *code);
/* How often a term is a step, anywhere (members of a group count). */
size_t block_count_term(const ir_block *code, ir_id term);
/* The step of a term directly in this block; NULL if it is elsewhere. */
const ir_step *block_find(const ir_block *code, ir_id term);

#endif
