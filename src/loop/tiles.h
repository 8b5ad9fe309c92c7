/* Tile loops: what is made of a contraction's results where these are computed. */
#ifndef SN_LOOP_TILES_H
#define SN_LOOP_TILES_H

#include "loop/uses.h"

/* Per array node: is it to be made of tiles of a fold's results? Sets `outer` of these to the fold, and leaves what has
 * one as it is. Behind l_rows_outer; linear. */
bool *l_tiles_outer(ir_program *p, const l_options *options, const l_nodes *nodes, ir_id *outer);

#endif
