/* Elements that walk through memory, each its own way. */
#ifndef SN_SKELETON_WALKS_H
#define SN_SKELETON_WALKS_H

#include "skeleton/element/forms.h"
#include "skeleton/element/interleave.h"

/* Do elements run loops of lengths of their own, in which neighbours mostly read memory that lies apart? A gang of them
 * would wait for the longest, and gather what each alone reads in order. `d` has the variables of the loop over
 * elements.
 */
bool sk_walks_alone(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d);
/* The same of lanes that have several elements each, which are n terms, and go along what these directions say: what
 * they read lies apart, and is not the whole of a stretch of memory. */
bool sk_lanes_walk_alone(const sk_lower *lw, const sk_factor *f, uint32_t n, const ir_id *term, const sk_directions *d);

#endif
