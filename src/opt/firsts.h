/* The first few elements of what is sorted. */
#ifndef SN_OPT_FIRSTS_H
#define SN_OPT_FIRSTS_H

#include "ir/term.h"

/* take K (sort x), where K is a small number and nobody else reads the sorted elements:
 *
 *   best = least of each block of x;  t = best in order, number K
 *   take K (sort (pack (not (x > t)) x))
 *
 * K blocks have an element each that is no greater than t, so the first K are among what is packed, in the order that
 * they had: the result is the same, ties and NaNs included, as sorts are stable. Of fewer than K blocks all elements are
 * packed. Greatest elements, and keys with values, likewise. Linear. */
enum { OPT_MOST_FIRSTS = 256, OPT_FIRSTS_BLOCK = 256 };
void opt_take_firsts(ir_program *p);

#endif
