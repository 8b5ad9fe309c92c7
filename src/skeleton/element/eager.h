/* While loops of simple arithmetic, several turns at a time. */
#ifndef SN_SKELETON_EAGER_H
#define SN_SKELETON_EAGER_H

#include "ir/schedule.h"
#include "skeleton/element/lower.h"

/* May the loop of this step run that way? Only on devices whose gangs agree in a few instructions. */
bool sk_may_run_eagerly(const sk_lower *lw, const ir_step *s);
/* Emits the loop and binds its projections. */
void sk_eager_loop(sk_lower *lw, const ir_step *s);

#endif
