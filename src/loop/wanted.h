/* Which components of arrays anybody reads. */
#ifndef SN_LOOP_WANTED_H
#define SN_LOOP_WANTED_H

#include "loop/cluster.h"

/* Per array node a set of components: those that are results, or that an operation which results need reads from it. Of
 * pairs of which a map takes one, as of `sn_snd(sn_scanl1(f, pairs))`, that is one. Linear in the size of the program. */
uint64_t *l_wanted(const ir_program *p, const l_part *part);

#endif
