/* Which permutes may share a loop: those that name the same places, and are cut into the same blocks. */
#ifndef SN_LOOP_PLACES_H
#define SN_LOOP_PLACES_H

#include "loop/fusing.h"

/* How a permute's elements may be divided among workers: those of one loop are divided alike. */
typedef enum {
    L_PERMUTE_LAST,   /* the last element stays */
    L_PERMUTE_FREE,   /* the same bits in any order: as it suits the others */
    L_PERMUTE_ATOMIC, /* the same, and devices whose blocks are many threads have it as atomic operations */
    L_PERMUTE_CHOSEN, /* blocks of operators that choose among operands, */
    L_PERMUTE_FLOATS, /* and of those that compute floats */
    L_PERMUTE_KINDS
} l_permute_kind;

l_permute_kind l_permute_kind_of(const ir_program *p, const ir_array *permute, bool threads);

/* Per array: the first one whose elements are the same terms, itself if there is none. Looks at operations that are
 * delayed, or may be. */
ir_id *l_alike(ir_program *p, uint32_t nodes);

#endif
