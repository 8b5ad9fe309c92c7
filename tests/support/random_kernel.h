/* Random kernels that verify and whose results are determined: fuel for comparing emitters with the interpreter. */
#ifndef SN_TESTS_RANDOM_KERNEL_H
#define SN_TESTS_RANDOM_KERNEL_H

#include "kernel/kernel.h"
#include "kernel/launch.h"

enum {
    RANDOM_INPUT = 64,   /* elements of each input */
    RANDOM_THREADS = 37, /* of each FOR_ALL */
    RANDOM_PIECES = 3,
    RANDOM_OUTPUT = RANDOM_THREADS * RANDOM_PIECES, /* elements of each output */
    RANDOM_TYPES = 4,                               /* inputs, then outputs, of these types */
    RANDOM_MEMORIES = 2 * RANDOM_TYPES + 1          /* and one i64 output per piece */
};

extern const ir_type random_types[RANDOM_TYPES];

typedef struct random_run {
    ir_bits in[RANDOM_TYPES][RANDOM_INPUT]; /* room for the largest element; packed by type */
    ir_bits out[RANDOM_TYPES][RANDOM_OUTPUT];
    ir_bits per_piece[RANDOM_PIECES];
    void *mem[RANDOM_MEMORIES];
    size_t bytes[RANDOM_MEMORIES];
    ir_bits arg[2]; /* i64, f32 */
    k_error error;
} random_run;

/* gang: also COUNT and COMPACT, and variables of the piece set by threads. */
kernel *random_kernel(arena *a, uint64_t seed, uint16_t lanes, bool gang);
void random_fill(random_run *d, uint64_t seed);
/* The first difference as text, or NULL. NaNs are equal. */
const char *random_difference(arena *a, const random_run *expected, const random_run *got);

#endif
