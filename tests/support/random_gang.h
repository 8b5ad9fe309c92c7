/* Random kernels whose lanes exchange values: counts, votes, shuffles, compactions and variables of the piece, in
 * uniform and divergent control. They verify, and their results are determined. */
#ifndef SN_TESTS_RANDOM_GANG_H
#define SN_TESTS_RANDOM_GANG_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

enum { GANG_INPUT = 64, GANG_PIECES = 3, GANG_OUTPUT = 256 * GANG_PIECES, GANG_TOTALS = 4 };

typedef struct gang_run {
    int64_t in[GANG_INPUT], out[GANG_OUTPUT], total[GANG_PIECES * GANG_TOTALS];
    void *mem[3];
    size_t bytes[3];
    ir_bits arg[1]; /* threads of the FOR_ALL, at most the lanes */
    k_error error;
} gang_run;

/* checks: lanes may fail on the way; without, lanes may shuffle. */
kernel *random_gang(arena *a, uint64_t seed, uint16_t lanes, bool checks);
void random_gang_fill(gang_run *r, uint64_t seed, uint16_t lanes);
/* The first difference as text, or NULL. */
const char *random_gang_difference(arena *a, const gang_run *expected, const gang_run *got);

#endif
