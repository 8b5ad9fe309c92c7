/* Pieces that the kernels of prove_kernels.h are put together from. */
#ifndef SN_TESTS_PROVE_PARTS_H
#define SN_TESTS_PROVE_PARTS_H

#include "conformance/prove_kernels.h"

typedef struct prove_part {
    const prove_operator *op;
    prove_tree tree;
    k_builder b;
    k_mem in[4], out[4]; /* per component; in 0: the position itself */
    k_val start, count;  /* first element of the piece, number of its elements */
    k_val valid, whole;  /* lanes that have elements; is the piece full? */
} prove_part;

void prove_begin(prove_part *p, arena *a, const char *name, const prove_operator *op, prove_order order);
void prove_range(prove_part *p, k_val n, int64_t piece); /* sets start, count */
void prove_tile(prove_part *p, int64_t count, k_mem *tile);
/* Ordered fold of each lane's elements into tile[lane]; sets valid, whole. */
void prove_lanes(prove_part *p, const k_mem *tile);
void prove_element(prove_part *p, k_val index, k_val *out);
void prove_load(prove_part *p, const k_mem *m, k_val index, k_val *out);
void prove_store(prove_part *p, const k_mem *m, k_val index, const k_val *value);
void prove_variables(prove_part *p, const k_val *initial, k_val *out);
void prove_accumulate(prove_part *p, const k_val *variable, const k_val *value); /* variable = variable (+) value */

#endif
