/* Which arrays an array is joined of. */
#ifndef SN_PLAN_JOINED_H
#define SN_PLAN_JOINED_H

#include "loop/cluster.h"

enum { PLAN_MOST_PARTS = 16 };

/* The arrays that lie one behind the other in this one, in order, each once; what is delayed in between is looked
 * through. How many; 0: it is not made so. */
uint32_t plan_parts_of(const l_program *l, ir_id array, ir_id part[PLAN_MOST_PARTS]);

#endif
