/* Walks over scalar terms: what a set of terms consists of, and rebuilding it with replacements. Both cost
 * O(n log n) in the number of shared nodes reached (O(n) where their ids stand close, as those of one function do),
 * whatever the size of the program, and do not recurse. They use the program's working memory: one at a time. */
#ifndef SN_OPT_REWRITE_H
#define SN_OPT_REWRITE_H

#include "ir/term.h"

typedef VEC(ir_id) opt_ids;

/* All scalar nodes reached from the roots, variables and insides of loops included, ascending: operands before users.
 */
void opt_reach(ir_program *p, arena *a, uint32_t n, const ir_id *root, opt_ids *out);

/* Called for every array read that is rebuilt, with its new index; returns the term to use instead, or 0 to read. */
typedef ir_id (*opt_read_hook)(void *env, const ir_node *read, const ir_id *index);

/* Rebuilds n terms with from[i] replaced by to[i] and reads passed to the hook (may be NULL). Loops get fresh
 * variables. */
void opt_rewrite(ir_program *p, arena *a, uint32_t count, const ir_id *from, const ir_id *to, opt_read_hook hook,
                 void *env, uint32_t n, const ir_id *term, ir_id *out);

/* Called for every operator node before it is rebuilt, with its old id and its new operands; returns the term to use
 * instead, or 0. */
typedef ir_id (*opt_op_hook)(void *env, ir_id id, const ir_id *operand);

/* Rebuilds n terms with operators and reads passed to the hooks; either may be NULL. */
void opt_rewrite_ops(ir_program *p, arena *a, opt_op_hook op_hook, opt_read_hook read_hook, void *env, uint32_t n,
                     const ir_id *term, ir_id *out);

/* A place where a term is used: the number of an argument in program->arg, or the address of an entry in the lists of a
 * loop or of the terms that are rebuilt. */
typedef uint64_t opt_slot;
static inline opt_slot opt_slot_at(const ir_id *entry)
{
    return (opt_slot)(uintptr_t)entry;
}

/* Called for every place of a constant; `user` has it as an argument, 0: it stands in a list. Returns the term to use
 * there instead, or 0. Of loops these are initial and next states and counts. */
typedef ir_id (*opt_slot_hook)(void *env, opt_slot slot, ir_id user, ir_id constant);

/* Rebuilds n terms with the places of constants, and reads, passed to the hooks; read_hook may be NULL. */
void opt_rewrite_slots(ir_program *p, arena *a, opt_slot_hook slot_hook, opt_read_hook read_hook, void *env, uint32_t n,
                       const ir_id *term, ir_id *out);

#endif
