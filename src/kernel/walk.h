/* Visiting every statement of a kernel in the order of its text, without recursion: kernels nest as deeply as the
 * programs they come from. */
#ifndef SN_KERNEL_WALK_H
#define SN_KERNEL_WALK_H

#include "kernel/kernel.h"

typedef enum {
    K_WALK_AT,   /* at a statement, before its lists */
    K_WALK_ELSE, /* between body and orelse of an IF */
    K_WALK_LEAVE /* behind the lists of an IF, LOOP, FOR, FOR_ALL or CHAIN */
} k_walk_event;

typedef struct k_walk {
    const kernel *k;
    arena *arena;
    VEC(k_ref) open; /* statements whose lists enclose the current one, outermost first; see k_walk_parent */
    k_ref at;        /* the statement of this event */
    k_ref for_all;   /* the enclosing FOR_ALL; 0 at piece level, and at the AT and LEAVE of a FOR_ALL */
    uint32_t visited;
    uint8_t event;
} k_walk;

/* Starts before the first statement. The stack comes from `a`. */
void k_walk_begin(k_walk *w, const kernel *k, arena *a);
/* Moves to the next event; false at the end. Also false when more statements were met than exist (a cycle): then
 * w->visited > k->stmt.n. */
bool k_walk_next(k_walk *w);
/* The statement whose list holds the current one; 0: the kernel itself. */
k_ref k_walk_parent(const k_walk *w);
k_ref k_walk_open(const k_walk *w, uint32_t i); /* the i-th of w->open, outermost first */

static inline bool k_compound(const k_stmt *s)
{
    return s->op == K_IF || s->op == K_LOOP || s->op == K_FOR || s->op == K_FOR_ALL || s->op == K_CHAIN;
}
/* Number of operands in s->in. */
unsigned k_operands(const k_stmt *s);
/* The word that begins such a statement in the text form; "nop" to "chain". */
const char *k_op_name(k_op op);

#endif
