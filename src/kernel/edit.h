/* What passes over kernels share: where statements stand, what loops change, and how statements come and go. */
#ifndef SN_KERNEL_EDIT_H
#define SN_KERNEL_EDIT_H

#include "kernel/walk.h"

typedef struct k_edit {
    kernel *k;
    arena *arena;
    VEC(k_ref) owner;  /* per statement: the one whose list it is in; 0: the kernel */
    VEC(k_ref) before; /* per statement: the one before it in its list; 0: none */
    uint32_t stmts;    /* the kernel's when the pass began: the length of */
    bool *fixed;       /* per statement: it belongs to a K_MIX, and stays where it is */
    map64 changed;     /* what k_changes answers */
} k_edit;

void k_edit_begin(k_edit *e, kernel *k, arena *a);
/* Does the loop (LOOP, FOR or FOR_ALL) set this variable, or write to this memory? */
bool k_changes_variable(const k_edit *e, k_ref loop, k_val variable);
bool k_changes_memory(const k_edit *e, k_ref loop, k_mem m);
/* Puts a statement in front of another. What it defines becomes its own. */
k_ref k_insert(k_edit *e, k_ref at, const k_stmt *s);
/* At the end of the body of a loop. */
k_ref k_insert_last(k_edit *e, k_ref loop, const k_stmt *s);
/* Makes a statement without lists one that does nothing: it stays in its list until k_sweep. */
void k_remove(kernel *k, k_ref r);
/* Takes what does nothing out of all lists. */
void k_sweep(kernel *k);
/* Is it a loop of one kind or the other? */
static inline bool k_is_loop(const k_stmt *s)
{
    return s->op == K_LOOP || s->op == K_FOR || s->op == K_FOR_ALL;
}
/* Everything a statement uses, the values of a CHAIN included, but for what the CHAIN's code yields: f may replace it.
 */
void k_each_operand(kernel *k, k_ref r, void (*f)(void *env, k_val *v), void *env);
/* May this LET fail for some operands, as far as they are known? */
bool k_partial(const kernel *k, const k_stmt *let);

#endif
