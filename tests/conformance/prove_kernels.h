/* The parallel patterns whose order of operations is fixed (docs/determinism.md), built directly as kernels: folds of operators
 * that associate but may not commute, scans, stable filters, divergent gathers. Every kernel comes unverified. */
#ifndef SN_TESTS_PROVE_KERNELS_H
#define SN_TESTS_PROVE_KERNELS_H

#include "kernel/kernel.h"

/* An operator on tuples. It associates; nothing else is asked of it. */
typedef struct prove_operator {
    const char *name;
    uint8_t arity;
    ir_type type[4];
    void (*combine)(k_builder *b, const k_val *left, const k_val *right, k_val *out);
} prove_operator;

extern const prove_operator prove_argmax;     /* (f32, i32): larger value, the left one of equals */
extern const prove_operator prove_matrix_u32; /* product of 2x2 matrices, row by row, integers modulo 2^32 */
extern const prove_operator prove_matrix_f32;
extern const prove_operator prove_sum_f32, prove_sum_f64;

/* Constants of the trees, by the size of the largest component. */
typedef enum prove_order { PROVE_SCAN, PROVE_ORDERED, PROVE_COMMUTATIVE } prove_order;
typedef struct prove_tree {
    int64_t lanes, chunk, streams, piece; /* chunk: elements that a lane takes in a row, in scans */
} prove_tree;
prove_tree prove_tree_of(const prove_operator *op, prove_order order);

/* Folds. Globals: one input per component (argmax: only the values, positions are made up, unless `partial`), one
 * output per component. Arguments: n. A piece makes one partial result. */
kernel *prove_fold_ordered(arena *a, const prove_operator *op, bool partial);
kernel *prove_fold_commutative(arena *a, const prove_operator *op);
/* Globals: partials and results, per component. Arguments: n of the whole fold, the seed's components. One piece. */
kernel *prove_fold_finish(arena *a, const prove_operator *op);

/* Inclusive sums. Globals: in, out, state of the chain. Arguments: n, seed. */
kernel *prove_scan_chained(arena *a, const prove_operator *op);
/* In two passes. sums: in, sums per piece; n. carries: sums, turned into carries in place; number of pieces, seed; one
 * piece. apply: in, carries, out; n. */
kernel *prove_scan_sums(arena *a, const prove_operator *op);
kernel *prove_scan_carries(arena *a, const prove_operator *op);
kernel *prove_scan_apply(arena *a, const prove_operator *op);

/* Keeps the elements of `in` (f32) above a limit, in order. chained: in, out, total (i64), state; n, limit. In two
 * passes: count: in, counts (i64); n, limit. offsets: counts, made offsets in place, total; number of pieces; one
 * piece. write: in, offsets, out; n, limit. */
kernel *prove_filter_chained(arena *a);
kernel *prove_filter_count(arena *a);
kernel *prove_filter_offsets(arena *a);
kernel *prove_filter_write(arena *a);

enum { PROVE_SITE = 7, PROVE_CHASE_PIECE = 4096 };
/* Follows links until one is negative or `limit` were followed, summing values: out[i] = value[start[i]] +
 * value[next[start[i]]] ... Links beyond m are errors of PROVE_SITE. Globals: start (i32), next (i32), value (f32), out
 * (f32). Arguments: n, m, limit. */
kernel *prove_chase(arena *a);

#endif
