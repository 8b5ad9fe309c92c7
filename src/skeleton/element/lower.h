/* Scalar terms become kernel statements: the last step of every skeleton. */
#ifndef SN_SKELETON_LOWER_H
#define SN_SKELETON_LOWER_H

#include "skeleton/element/body.h"

#include "opt/rewrite.h"

/* Where an array of the cluster's own rows lives while a stencil loop runs: position of (row, column) in shared memory. */
typedef struct sk_lower sk_lower;
/* Resolves a read to memory and position; returns 0 for the default (the array's global memory, row-major). */
typedef k_mem (*sk_place)(void *env, sk_lower *lw, const ir_node *read, const k_val *index, k_val *position);

/* The index variables of a loop. Runs of dimensions (sk_cluster.run) have a position in place of values for their
 * variables. */
typedef struct sk_space {
    unsigned rank; /* 0: nothing is known of the indices */
    ir_id var[IR_MAX_RANK];
    ir_id extent[IR_MAX_RANK];
    uint8_t run[IR_MAX_RANK]; /* dimensions from here on that a position stands for, where a read has all of them */
    bool used[IR_MAX_RANK];
    k_val position[IR_MAX_RANK]; /* of runs of several dimensions, where they begin */
} sk_space;

struct sk_lower {
    const l_program *l;
    const sk_cluster *cluster;
    const sk_options *options;
    arena *arena, *scratch; /* scratch: beside it, empty most of the time; NULL at first */
    const char *name; /* of the kernel, but for the program's operations */
    sk_pass pass;     /* that it runs in */
    sk_body body;     /* the cluster's elements, and */
    sk_index at;      /* variables that stand for the indices of the one at hand */
    sk_kernel *out;
    k_builder b;
    map64 memory;    /* (array, component) -> k_mem */
    map64 argument;  /* term -> k_val: closed terms passed by the host */
    map64 counted;   /* index of an open loop -> term that counts its rounds */
    map64 projected; /* (loop, state) -> 1 if the state is read after the loop */
    map64 value;     /* term -> k_val: what is computed in the open lists */
    VEC(uint64_t) undo; /* terms to forget at the end of a scope */
    k_val element;   /* number of the element, for error reports */
    struct sk_along *along; /* loops of elements go along rows (along.h); NULL: they do not */
    bool ahead; /* loads are of elements that others follow in memory, soon: K_AHEAD, where they begin at line ends */
    int64_t behind; /* ... and how many elements after such an end they begin */
    sk_space space;
    sk_place place;
    void *place_env;
    sk_reason why; /* text NULL: nothing went wrong so far */
};

/* Begins a kernel: program, cluster, options, arena, name and pass are set, and all else is new. */
void sk_open(sk_lower *lw, uint16_t lanes);
k_mem sk_array_memory(sk_lower *lw, ir_id array, uint32_t component, bool written);
k_mem sk_partial_memory(sk_lower *lw, sk_role role, uint32_t component, ir_type type);
k_val sk_closed(sk_lower *lw, ir_id term);      /* a closed term as an argument of the launch */
k_val sk_slot(sk_lower *lw, uint32_t slot, const char *name); /* a geometry argument */

/* Scopes: values computed after sk_scope are forgotten at sk_scope_end (they were made inside a list that is closed). */
uint32_t sk_scope(sk_lower *lw);
void sk_scope_end(sk_lower *lw, uint32_t mark);
void sk_bind(sk_lower *lw, ir_id variable, k_val value);

/* To the end of the scope the term is the same as another one, less a value that all lanes share (0: nothing). */
void sk_stand_for(sk_lower *lw, ir_id term, ir_id other, k_val less);
ir_id sk_stands_for(const sk_lower *lw, ir_id term, k_val *less); /* 0: for itself */

k_val sk_known(const sk_lower *lw, ir_id term); /* 0: not computed in the open lists */
k_val sk_value(sk_lower *lw, ir_id term);       /* of a term that is known or needs no code */
/* The extent that the index of an IR_WITHIN is checked against. */
k_val sk_extent_within(sk_lower *lw, const ir_node *within);
/* Is the index known to be inside of the extent? To the end of the scope it is checked no more. */
void sk_note_extent(sk_lower *lw, ir_id index, ir_id extent);
/* Emits a step that is a plain operation or select, unless it is known. */
struct ir_step;
void sk_run_step(sk_lower *lw, const struct ir_step *s);

/* Emits the code of n terms in the open list and gives their values. */
void sk_emit(sk_lower *lw, uint32_t n, const ir_id *term, k_val *out);

/* Hints that what the terms read at the loop's own element is read soon, `further` elements on, and `a_piece` for each
 * piece in between: of arrays that are read at `at` as it is, its `rank` variables or the linear one. In a scope in which these
 * are bound. */
void sk_fetch(sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, k_val further, k_val a_piece);
/* What is read so at `count` elements from the loop's own one on, each line once, into the nearest cache. */
void sk_fetch_lines(sk_lower *lw, uint32_t n, const ir_id *term, const sk_index *at, int64_t count);

/* Statements often needed by skeletons */
static inline k_val sk_add(sk_lower *lw, k_val a, k_val b)
{
    return k_let(&lw->b, OP_ADD, a, b, 0);
}
static inline k_val sk_sub(sk_lower *lw, k_val a, k_val b)
{
    return k_let(&lw->b, OP_SUB, a, b, 0);
}
static inline k_val sk_mul(sk_lower *lw, k_val a, k_val b)
{
    return k_let(&lw->b, OP_MUL, a, b, 0);
}
/* number = number / of; returns the rest. */
static inline k_val sk_take_digit(sk_lower *lw, k_val *number, k_val of)
{
    k_val all = *number;
    *number = k_let(&lw->b, OP_QUOT, all, of, 0);
    return sk_sub(lw, all, sk_mul(lw, *number, of));
}
static inline k_val sk_min(sk_lower *lw, k_val a, k_val b)
{
    return k_let(&lw->b, OP_MIN, a, b, 0);
}
static inline k_val sk_max(sk_lower *lw, k_val a, k_val b)
{
    return k_let(&lw->b, OP_MAX, a, b, 0);
}

/* Index components of the outer dimensions of `shape` from the number of a row (all but the innermost dimension). */
void sk_row_indices(sk_lower *lw, unsigned rank, const ir_id *shape, k_val row, k_val *index);
k_val sk_product(sk_lower *lw, unsigned n, const ir_id *shape);

/* Does any of the terms mention the variable? */
bool sk_mentions(sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable);
/* Is it little more than a load of the element at hand, which every element has, so that it may be computed where
 * nobody wants it? What else is read is at `outer`, a variable; 0: nothing is. */
bool sk_is_direct(sk_lower *lw, ir_id term, ir_id outer);
/* What is packed in shared memory, a memory for each component, becomes elements `offset` ... of the array. */
void sk_copy_packed(sk_lower *lw, ir_id array, uint32_t components, const k_mem *kept, k_val offset, k_val count);
/* Bytes of the widest element among what these n terms reach, and themselves, of which vectors are made. */
uint32_t sk_widest(const l_program *l, const opt_ids *reached, uint32_t n, const ir_id *term);
/* How many lanes suit these terms: several registers a value for small bodies, one for large ones. */
uint16_t sk_lanes_for(const l_program *l, arena *a, uint32_t n, const ir_id *term, uint32_t vector_bytes);
/* The same where the first `inner` terms are not stored as they are: indices that become places of 32 bits. */
uint16_t sk_lanes_stored(const l_program *l, arena *a, uint32_t inner, uint32_t n, const ir_id *term,
                         uint32_t vector_bytes);

#endif
