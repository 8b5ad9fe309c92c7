/* Folds and scans of segments, and elements that know their segment. */
#ifndef SN_TESTS_RANDOM_SEGMENTS_H
#define SN_TESTS_RANDOM_SEGMENTS_H

#include "support/random_scalar.h"

ir_id random_fold_seg(random_maker *m);
ir_id random_scan_seg(random_maker *m);
/* The segment of each element of a row; mostly something is made of it at once, and folded by segments. */
ir_id random_segment_of(random_maker *m);

#endif
