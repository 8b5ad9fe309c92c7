/* What the two forms of the Canny opponent share. Private to bench/c. */
#ifndef SINTER_BENCH_CANNY_H
#define SINTER_BENCH_CANNY_H

#include "opponents.h"

struct canny {
    int64_t height;
    int64_t width;
    const uint8_t *red;
    const uint8_t *green;
    const uint8_t *blue;
    float low;
    float high;
    float *edges;
    atomic_int_fast64_t next;
    atomic_int out_of_memory;
};

/* Where the gradient points, by the sector of its angle; the second neighbour is opposite. FLAT: neither component is
 * above `low`. */
enum direction {
    FLAT,
    RISING,  /* right and up */
    DOWN,    /* up or down */
    FALLING, /* left and up */
    ACROSS,  /* left or right */
};

#define TAN_PI_8 0.414213562F

/* Weights of the grey value, divided by the 256 of the two Gaussians together: powers of two round nothing. */
#define GREY_RED (0.299F / 256)
#define GREY_GREEN (0.587F / 256)
#define GREY_BLUE (0.114F / 256)

/* Whether canny_strips may be used for this picture on this machine. */
int canny_has_avx512(const struct canny *job);

/* A team_fn over struct canny. */
void canny_strips(void *ctx, int id, int workers);

#endif
