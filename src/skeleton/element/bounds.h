/* Which indices are inside an extent for sure: those checks are dropped. */
#ifndef SN_SKELETON_BOUNDS_H
#define SN_SKELETON_BOUNDS_H

#include "ir/term.h"

/* What is known of terms wherever they are evaluated: they are inside 0 .. extent - 1. */
typedef struct sk_facts {
    map64 inside; /* term (0: the number 0) and extent (0: any) -> 1 */
    map64 below;  /* variable -> such an extent */
} sk_facts;

void sk_note_inside(const ir_program *p, sk_facts *f, arena *a, ir_id term, ir_id extent);

/* Can the term be nothing but a number in 0 .. extent - 1, whenever it has a value at all? Looks a few operators deep,
 * and further where it is made of variables and extents alone (ir/inside.h). Extents that the program checks to be equal count as one: the check is made before any kernel that has both. */
bool sk_surely_inside(const ir_program *p, const sk_facts *f, ir_id term, ir_id extent);

#endif
