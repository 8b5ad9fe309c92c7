/* Runs of dimensions: where the indices of neighbouring dimensions are only ever used side by side, to read arrays that
 * have the same extents there, these dimensions count as one. Rows of all of them are copied as such, and what would be
 * the row and column of a position needs no division. */
#ifndef SN_SKELETON_RUNS_H
#define SN_SKELETON_RUNS_H

#include "skeleton/element/lower.h"

#include "opt/rewrite.h"

/* Finds the runs of a loop over c->loop->shape that computes n terms of the variables at->at: sets c->run, used, inner
 * and uses_index. Linear in the size of the terms. */
void sk_find_runs(ir_program *p, sk_cluster *c, arena *a, uint32_t n, const ir_id *term, const sk_index *at);
/* From now on lowering knows that lw->at are the loop's indices. */
void sk_open_space(sk_lower *lw);
/* The index in the run that begins at dimension d. */
void sk_bind_run(sk_lower *lw, unsigned d, k_val index);
/* The indices of the runs in dimensions [first, end) from the row-major position in all of them: those that matter, by
 * division. */
void sk_bind_runs(sk_lower *lw, unsigned first, unsigned end, k_val position);

/* All dimensions from `first` on are one run of a loop at `at`, wherever reads have the indices of all of them: once for
 * a kernel, and for each position. Where reads leave the run, its indices are taken apart. index: the one in the first
 * dimension, if it is known. */
void sk_open_columns(sk_lower *lw, const sk_index *at, unsigned first);
void sk_bind_column(sk_lower *lw, const sk_index *at, unsigned first, k_val column, k_val index);

/* If the indices of a read from number k on are a run of the space, perhaps moved along its first dimension, the run's
 * length, and where it is; else 1. */
unsigned sk_run_at(sk_lower *lw, const ir_node *read, uint32_t k, k_val *position);
/* Is the index of a run's first dimension, moved by a constant, inside of the extent? Then the run's position is, too:
 * what is asked for, as lanes know it without a division. 0: it is something else. */
k_val sk_run_inside(sk_lower *lw, ir_id index, k_val extent);

/* The same as sk_bind_runs for positions one after the other, which count up instead of being divided: begun before the loop, bound in
 * it, and moved on at the end of each turn. n = 0: nothing is divided. */
typedef struct sk_odometer {
    uint32_t n;                      /* dimensions */
    unsigned dimension[IR_MAX_RANK]; /* innermost first */
    k_val extent[IR_MAX_RANK];       /* 0: of the outermost one of all, whose index goes on and on */
    k_val index[IR_MAX_RANK];        /* variables */
} sk_odometer;
void sk_begin_odometer(sk_lower *lw, sk_odometer *o, unsigned first, unsigned end, k_val position);
void sk_bind_odometer(sk_lower *lw, const sk_odometer *o);
void sk_move_odometer(sk_lower *lw, const sk_odometer *o);

#endif
