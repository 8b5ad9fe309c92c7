/* Results that are parts of something which is in memory anyway. */
#ifndef SN_LOOP_PARTS_H
#define SN_LOOP_PARTS_H

#include "loop/cluster.h"

/* Where each component of the program's results is found, in order (l_program.part). An output that only picks
 * components of folds, scans, packs and forced arrays (unzip) is computed by nobody: it has those as its parts. Other
 * outputs have themselves. taken[k]: output k is such a pick. Linear in the results. */
l_part *l_parts(const ir_program *p, const l_options *options, bool *taken);
/* One step of such a pick: from a component of a map to the operand's component that it is. False if it is none. */
bool l_picked(const ir_program *p, l_part *part);

#endif
