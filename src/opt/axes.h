/* Scans along another dimension than the innermost: what a program writes as a transpose, a scan and a transpose. */
#ifndef SN_OPT_AXES_H
#define SN_OPT_AXES_H

#include "ir/term.h"

/* Where P exchanges dimensions, s is a scan, or maps of scans, and x what is scanned:
 * - backpermute P (scan s x)  =  scan along P's dimension s (backpermute P x),
 * - backpermute P (map f x y) =  map f (backpermute P x) (backpermute P y), and the like of generates,
 * - backpermute P (backpermute Q x) = x if P and Q cancel.
 * - fold f (map g (scan s (backpermute P x))) = fold f (backpermute P (map g (scan along P's dimension s x))).
 * It is done where what is scanned is then read along memory, as results are written, and where nothing may fail, as
 * failures say which element of which operation it was. The order of combination stays. Linear. */
void opt_turn_scans(ir_program *p);

#endif
