/* Array operations made anew: for passes that replace some of a program's operations, and with them all that depend on
 * those. New operations stand behind the old ones, so ids stay in order; old ones that nobody needs are dead. */
#ifndef SN_OPT_REMAKE_H
#define SN_OPT_REMAKE_H

#include "opt/rewrite.h"

typedef struct opt_remake {
    ir_program *p;
    uint32_t nodes; /* the program's when the pass started: what it looks at, and the length of `array` */
    ir_id *array;   /* array -> what replaces it, 0: nothing */
    bool replaces;  /* some array is replaced */
    ir_id *
        number; /* array of rank 0 and one component -> the term that its element is known as, 0: none; NULL: of none */
    /* What becomes of an operation's functions, fn itself if nothing does; NULL: only what they read is replaced. */
    ir_fn *(*function)(void *env, ir_id array, ir_fn *fn);
    /* What becomes of extents, seeds and other closed terms, the list itself if nothing does; NULL: the same. */
    ir_id *(*closed)(void *env, uint32_t n, ir_id *term);
    void *env;
} opt_remake;

void opt_remake_begin(opt_remake *r, ir_program *p);
/* The terms with operators passed to the hook (may be NULL) and reads of replaced arrays replaced; the same list if
 * nothing changes. */
ir_id *opt_remake_terms(opt_remake *r, opt_op_hook hook, void *env, uint32_t n, ir_id *term);
/* fn with those results. */
ir_fn *opt_remake_function(opt_remake *r, opt_op_hook hook, void *env, ir_fn *fn);
/* Makes the operation anew if anything it uses or its function changes. To be called for every array, in order of ids.
 */
void opt_remake_array(opt_remake *r, ir_id id);
/* `info` replaces the operation `id` (its kind and flags stay). */
void opt_remake_as(opt_remake *r, ir_id id, const ir_array *info);
void opt_remake_end(opt_remake *r); /* outputs and conditions */

#endif
