/* Arrays whose elements, read as places, are near those of their neighbours. */
#ifndef SN_SKELETON_NEAR_H
#define SN_SKELETON_NEAR_H

#include "ir/term.h"

/* Is the component made of its index by operators whose results go along with it, so that neighbours have numbers
 * that are near each other, but for a few: where columns of a resized picture come from? Only i64. */
bool sk_holds_near_places(ir_program *p, arena *a, ir_id array, uint32_t component);

#endif
