/* What code that goes along a row reads at the next index each time: looking at both ends will do in place of a check
 * for each. */
#ifndef SN_SKELETON_ROW_READS_H
#define SN_SKELETON_ROW_READS_H

#include "skeleton/element/lower.h"

#include "opt/rewrite.h"

/* The checks of indices (IR_WITHIN) among what these terms compute whatever their conditions say, whose index grows by
 * one where the variable does, or stays. Variables of `n_states` other things may be anything. Such an index is inside for all
 * values of the variable between two for which it is, the second being no smaller. */
void sk_find_row_reads(sk_lower *lw, uint32_t n, const ir_id *term, ir_id variable, uint32_t states, const ir_id *state,
                       opt_ids *out);
/* Are the indices inside where `first` are their values at one end of the row, and `last` at the other? A bool value.
 */
k_val sk_row_is_there(sk_lower *lw, const opt_ids *within, const k_val *first, const k_val *last);
/* To the end of the scope they are checked no more. */
void sk_note_row_reads(sk_lower *lw, const opt_ids *within);

#endif
