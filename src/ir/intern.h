/* Private to ir/: how the builders find equal scalar terms and walk the terms below a root. */
#ifndef SN_IR_INTERN_H
#define SN_IR_INTERN_H

#include "ir/term.h"

typedef VEC(ir_id) ir_ids;

/* Working memory of the builders of one program. */
typedef struct ir_state {
    intern_table loops, sites;
    map64 warned;  /* sites, and 1 */
    map64 checks;  /* pairs of extents already in program->check */
    map64 extents; /* sums and products: their normal form */
    map64 counts;  /* arrays of bool -> the array that counts what holds (ir_pack) */
    map64 opaque;  /* sums and products too large for a normal form */
    /* Walks number themselves; mark[id] == walk says that the walk has met the node, slot[id] is the walk's to use. */
    VEC(uint32_t) mark;
    VEC(uint32_t) slot;
    uint32_t walk;
    ir_ids stack, reached;
    /* substitution in progress: to[id] is valid where stamp[id] == substitution */
    ir_ids to;
    VEC(uint32_t) stamp;
    uint32_t substitution;
} ir_state;

/* The node equal to *key (kind, type, flags, op, array, literal) over these arguments; made if there is none, exactly
 * as given: types must be right, nothing is simplified. Fills in scope and partial. */
ir_id ir_intern(ir_program *p, uint32_t site, const ir_node *key, uint32_t n, const ir_id *args);

/* Calls visit for every operand of a scalar node; for a loop: its variables, initial values, inside and count. */
void ir_each_operand(const ir_program *p, ir_id id, void (*visit)(void *env, ir_id operand), void *env);

/* Appends to *out, in ascending order, the scalar nodes reachable from the roots whose scope is at least `least` (0:
 * all), the insides of loops included. Marks them in state->mark with state->walk. Returns the largest scope among
 * the nodes left out. Linear in what is reached, but for the sorting. */
ir_id ir_reach(ir_program *p, uint32_t n, const ir_id *root, ir_id least, ir_ids *out);
static inline bool ir_reached(const ir_program *p, ir_id id)
{
    return id < p->state->mark.n && p->state->mark.at[id] == p->state->walk;
}

/* Is this a scalar with a value? Reports what stands there otherwise ("add: expected a scalar, found an array"). */
bool ir_expect_scalar(ir_program *p, uint32_t site, const char *what, ir_id id);

/* The name messages use for the operation at a site: the user's, or `otherwise`. */
const char *ir_operation(const ir_program *p, uint32_t site, const char *otherwise);

/* "map", "fold" ...: the text form's word for an array operation, NULL for other kinds. */
const char *ir_kind_name(ir_kind kind);

/* Operators, conditions and final states as given, after the type checks: what the builders do when nothing simplifies.
 * `to` is the result type of conversions. */
ir_id ir_op_plain(ir_program *p, uint32_t site, ir_op op, ir_type to, uint32_t n, const ir_id *args);
ir_id ir_cond_plain(ir_program *p, uint32_t site, ir_id c, ir_id then, ir_id otherwise);
ir_id ir_proj_plain(ir_program *p, ir_id loop, uint32_t component);

/* A variable in fn's results that neither fn nor a loop inside binds; 0 if there is none. */
ir_id ir_free_variable(ir_program *p, const ir_fn *fn);

/* An extent given by the user or computed, in normal form; reports a term that is no i64 or not closed. */
ir_id ir_extent_normal(ir_program *p, uint32_t site, ir_id e);
ir_id ir_extent_product(ir_program *p, uint32_t site, unsigned n, const ir_id *e);

#endif
