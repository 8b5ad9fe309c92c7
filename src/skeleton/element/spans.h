/* What reads go through, in all of a loop (spans.c). */
#ifndef SN_SKELETON_SPANS_H
#define SN_SKELETON_SPANS_H

#include "skeleton/element/lower.h"

/* Of all that is reached from a cluster's elements, sets `span` and `whole_reads`. */
void sk_find_spans(sk_lower *lw, sk_cluster *c, uint32_t n, const ir_id *reached);
/* How many bytes a loop over these extents reads, each counted once. */
double sk_spanned_bytes(const sk_cluster *c, const int64_t *extent);
/* Is this one of the reads of most elements? Where the loop reads more than caches hold, it comes from memory. */
bool sk_reads_most(sk_lower *lw, const ir_node *read);

#endif
