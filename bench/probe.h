/* What the memory gives at this moment: the strongest plain loops that read an array, or copy one into another. */
#ifndef SINTER_BENCH_PROBE_H
#define SINTER_BENCH_PROBE_H

#include "team.h"

#include <stddef.h>

struct probe;

/* Holds two arrays of `bytes` each, well beyond the caches. NULL when memory ran out. */
struct probe *probe_new(size_t bytes);
void probe_free(struct probe *probe);

/* Forgets what was measured. */
void probe_reset(struct probe *probe);

/* Runs every loop once and keeps the best. */
void probe_measure(struct probe *probe, struct team *team);

/* Best so far, in useful bytes per second; a copy counts what it reads and what it writes. */
double probe_read(const struct probe *probe);
double probe_copy(const struct probe *probe);

#endif
