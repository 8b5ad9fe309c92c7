/* What is known of the elements of arrays that kernels read. */
#ifndef SN_SKELETON_CONTENTS_H
#define SN_SKELETON_CONTENTS_H

#include "ir/term.h"

/* How many there are where extents are known; 0: there is none, or there are many. */
uint32_t sk_few_elements(const ir_program *p, const ir_array *info);

/* Is the component made of its index by operators whose results go along with it, so that neighbours have numbers
 * that are near each other, but for a few: where columns of a resized picture come from? Only i64. */
bool sk_holds_near_places(ir_program *p, arena *a, ir_id array, uint32_t component);

#endif
