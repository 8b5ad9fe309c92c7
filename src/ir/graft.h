/* Terms and operations of one program made anew in another: what a region uses from outside, and regions within others.
 * Neither program may be one of the two at the same time. */
#ifndef SN_IR_GRAFT_H
#define SN_IR_GRAFT_H

#include "ir/term.h"

typedef struct ir_graft {
    ir_program *from, *to;
    map64 made; /* node -> what it has become */
    /* What becomes of an extent's name, of an array that is not made yet, and of an element that is read of one; 0: of
     * an element, to read it of what the array becomes; of others: nothing can (a mistake that the hook has reported).
     */
    ir_id (*leaf)(void *env, ir_id id);
    void *env;
} ir_graft;

/* 0 where something could not be made. Linear in what is reached, and does not recurse. */
void ir_graft_terms(ir_graft *g, uint32_t n, const ir_id *term, ir_id *out);
ir_id ir_graft_term(ir_graft *g, ir_id term);
/* The operation, whose operands have been made (graft->made) or are leaves. Its own number is noted, too. */
ir_id ir_graft_array(ir_graft *g, ir_id id);
/* All operations that lead to outputs, and conditions, inputs being made already (noted as such). */
void ir_graft_program(ir_graft *g);
void ir_graft_note(ir_graft *g, ir_id from, ir_id to);
ir_id ir_graft_made(const ir_graft *g, ir_id from); /* 0: nothing yet */

#endif
