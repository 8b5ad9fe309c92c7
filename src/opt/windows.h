/* Folds of windows of a few elements. */
#ifndef SN_OPT_WINDOWS_H
#define SN_OPT_WINDOWS_H

#include "ir/term.h"

/* fold f z (backpermute {i, k -> i + k} x) and its like, where rows have few elements, as many as the program says, are
 * read by their own number and that of their place together, and can neither fail nor be read by others:
 *
 *   map {x0, x1, ... -> f(z, f(f(x0, x1), ...))} (x at 0) (x at 1) ...
 *
 * Rows of so few are folded from left to right anyway (docs/determinism.md). A map goes along what is read, whatever
 * dimension windows lie along and however short the others are. Linear. */
enum { OPT_MOST_OF_WINDOW = 8 };
void opt_unfold_windows(ir_program *p);

#endif
