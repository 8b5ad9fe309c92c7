/* What all kinds of operations pick from: arrays there are, extents, functions that are filled at random. */
#ifndef SN_TESTS_RANDOM_ARRAYS_H
#define SN_TESTS_RANDOM_ARRAYS_H

#include "support/random_scalar.h"

const ir_array *random_info(const random_maker *m, ir_id array);
int64_t random_size(const random_maker *m, unsigned rank, const ir_id *shape);
/* Are there few enough elements to interpret? Of extents that only the run tells there is a guess. */
bool random_is_small(const random_maker *m, ir_id array);
ir_fn *random_fn(random_maker *m, uint32_t indices, uint32_t components, const ir_type *component);
ir_fn *random_close(random_maker *m, ir_fn *fn, uint32_t results, const ir_type *type);
/* With results of any types: mostly those of the terms made last. */
ir_fn *random_close_any(random_maker *m, ir_fn *fn);
/* An array of a rank in a range; 0 if there is none. */
ir_id random_array(random_maker *m, unsigned least, unsigned most);
/* Can extents be different when it runs, but not as far as is known now? */
bool random_may_differ(const random_maker *m, ir_id a, ir_id b);
/* Another array of the same extents (or only the same rank, where failures are wanted); the array itself if none. */
ir_id random_like(random_maker *m, ir_id array);
/* A small extent that need not be that of an input. */
ir_id random_extent(random_maker *m);

#endif
