/* Row loops: what is computed once a row, in which sweep over the row everything else, and what is kept between sweeps.
 */
#ifndef SN_LOOP_ROWS_H
#define SN_LOOP_ROWS_H

#include "loop/uses.h"

/* More sweeps than this are another loop. */
enum { L_MOST_SWEEPS = 16, L_MOST_SEGMENT_SWEEPS = 4 };

/* Per array node: the fold along whose rows the operation would be computed once a row, as it is an element of the
 * fold's result or is made of such elements, and as some fold result of these rows is read by the same row. 0: none. */
ir_id *l_rows_outer(ir_program *p, const l_options *options, const l_nodes *nodes);

/* Do these anchors, of one loop, need a row loop: has it a scan, a pack, elements that read a fold's result of their
 * row, or short rows of whose results something is made? */
bool l_rows_needed(const ir_program *p, const l_nodes *nodes, const ir_id *outer, uint32_t n, const ir_id *anchor,
                   uint32_t *slot);

/* Chooses the sweeps of a row loop, or of a segment loop, whose scans of what a scan gives are in another sweep, and puts
 * its operations in order of evaluation. `slot` is working memory, zero per
 * node before and after. */
void l_rows_order(ir_program *p, const l_nodes *nodes, l_cluster *c, uint32_t *slot);

/* What later sweeps need of earlier ones: decides what they compute again, and marks the rest as kept in memory. */
void l_rows_keep(const l_program *l, const l_options *options, const l_nodes *nodes, l_cluster *c, uint32_t *slot);

#endif
