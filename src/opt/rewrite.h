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

#endif
