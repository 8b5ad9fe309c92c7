/* Several rounds of a counted loop over arrays at once, element by element. */
#ifndef SN_OPT_SWEEPS_H
#define SN_OPT_SWEEPS_H

#include "ir/term.h"

/* Gives counted loops in whose rounds an element needs the old elements at its own place, and slices of the old state
 * that are the same for many elements, a region that goes over the state once for many rounds: the slices of all these
 * rounds are computed first, by a loop of their own, then each element goes through all rounds. `prepare`: whatever
 * decides how values are computed in a round's program (opt/row_loops.h, opt/contract.h) is to be done now, before
 * anything is composed of it, and never in the new region. */
void opt_sweep_rounds(ir_program *p, void (*prepare)(void *env, ir_program *round), void *env);

#endif
