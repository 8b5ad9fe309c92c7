/* What a program looks like to its user, for the printers of clusters: operations instead of their steps, arguments by
 * their positions, and edges between these. */
#ifndef SN_LOOP_SHOW_H
#define SN_LOOP_SHOW_H

#include "loop/cluster.h"

typedef struct l_shown {
    const l_program *l;
    ir_id *whole;       /* per array node: the operation it is a step of; itself, if it is none */
    uint32_t *argument; /* per input: the number of its first argument in a call; 0: the program brings it along */
    VEC(l_edge) edge;   /* between operations, each once; a step's own only if it did not fuse */
} l_shown;

typedef enum { L_ARGUMENT, L_DATA } l_origin;

l_shown *l_show(const l_program *l, arena *a); /* linear in the size of the program */
bool l_is_fused(l_why why);
/* Of an input: a call's, or the user's data (sn_use). */
l_origin l_origin_of(const l_shown *s, ir_id input);
/* "argument 1 ([n]f32)", "a3 map (file.c:10)". Without its number, "map (file.c:10)", it is what alike ones share. */
void l_print_name(const l_shown *s, ir_id id, bool numbered, text *out);
void l_print_edge_name(const l_shown *s, const l_edge *e, bool numbered, text *out); /* "... -> ..." */
void l_print_extent(const l_program *l, ir_id extent, text *out);
void l_print_rate(const l_program *l, const l_cluster *c, text *out);                /* "[n, m]" */

#endif
